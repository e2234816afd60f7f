//! Functions of one operand.

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use super::where_;
use crate::convert::{convert, default_float, inexact, int_literal, literal, number, own, to_dtype};
use crate::jit::{named_jit, named_jit_one};
use crate::lax::{self, Rounding};
use crate::promotion::{check_arguments, promote_inexact};

fn floating(name: &str, x: &Val) -> Result<Val> {
    check_arguments(name, std::slice::from_ref(x))?;
    Ok(promote_inexact(std::slice::from_ref(x))?.swap_remove(0))
}

macro_rules! of_floating {
    ($($(#[$doc:meta])* $name:ident $text:literal $op:path;)*) => {$(
        $(#[$doc])*
        /// Integers become floating.
        ///
        /// # Errors
        /// What the primitive raises.
        pub fn $name(x: &Val) -> Result<Val> {
            $op(&floating($text, x)?)
        }
    )*};
}
of_floating! {
    /// e to the power of x.
    exp "exp" lax::exp;
    /// 2 to the power of x.
    exp2 "exp2" lax::exp2;
    /// `exp(x) - 1`, exact near 0.
    expm1 "expm1" lax::expm1;
    /// Natural logarithm.
    log "log" lax::log;
    /// Logarithm to base 2.
    log2 "log2" lax::log2;
    /// `log(1 + x)`, exact near 0.
    log1p "log1p" lax::log1p;
    /// Sine, of radians.
    sin "sin" lax::sin;
    /// Cosine, of radians.
    cos "cos" lax::cos;
    /// Tangent, of radians.
    tan "tan" lax::tan;
    /// Inverse sine.
    arcsin "arcsin" lax::asin;
    /// Inverse cosine.
    arccos "arccos" lax::acos;
    /// Inverse tangent.
    arctan "arctan" lax::atan;
    /// Hyperbolic sine.
    sinh "sinh" lax::sinh;
    /// Hyperbolic cosine.
    cosh "cosh" lax::cosh;
    /// Hyperbolic tangent.
    tanh "tanh" lax::tanh;
    /// Inverse hyperbolic sine.
    arcsinh "arcsinh" lax::asinh;
    /// Inverse hyperbolic tangent.
    arctanh "arctanh" lax::atanh;
    /// Square root.
    sqrt "sqrt" lax::sqrt;
    /// Cube root.
    cbrt "cbrt" lax::cbrt;
    /// `1 / x`.
    reciprocal "reciprocal" lax::reciprocal;
}

/// Inverse hyperbolic cosine.
///
/// # Errors
/// What the primitive raises.
pub fn arccosh(x: &Val) -> Result<Val> {
    named_jit_one("arccosh", &[], std::slice::from_ref(x), |args| lax::acosh(&floating("arccosh", &args[0])?))
}

/// Logarithm to base 10.
///
/// # Errors
/// What the primitive raises.
pub fn log10(x: &Val) -> Result<Val> {
    let log = lax::log(&floating("log10", x)?)?;
    if !log.aval().dtype.is_complex() {
        return scaled_log10(&log);
    }
    // Part by part: an infinite part times a complex number would make the other one NaN.
    lax::complex(&scaled_log10(&lax::real(&log)?)?, &scaled_log10(&lax::imag(&log)?)?)
}

fn scaled_log10(log: &Val) -> Result<Val> {
    lax::mul(log, &literal(log.aval().dtype, 1.0 / std::f64::consts::LN_10))
}

/// Radians of degrees.
///
/// # Errors
/// What the primitive raises.
pub fn deg2rad(x: &Val) -> Result<Val> {
    let x = floating("deg2rad", x)?;
    lax::mul(&x, &number(&x, std::f64::consts::PI / 180.0))
}

/// Degrees of radians.
///
/// # Errors
/// What the primitive raises.
pub fn rad2deg(x: &Val) -> Result<Val> {
    let x = floating("rad2deg", x)?;
    lax::mul(&x, &number(&x, 180.0 / std::f64::consts::PI))
}

/// `-x`.
///
/// # Errors
/// A `Type` error for booleans.
pub fn negative(x: &Val) -> Result<Val> {
    lax::neg(x)
}

/// `x` itself, which must be a number.
///
/// # Errors
/// A `Type` error for keys.
pub fn positive(x: &Val) -> Result<Val> {
    check_arguments("positive", std::slice::from_ref(x))?;
    own(x)
}

/// Absolute value; the modulus of complex numbers.
///
/// # Errors
/// A `Type` error for keys.
pub fn absolute(x: &Val) -> Result<Val> {
    match x.aval().dtype.kind() {
        Kind::Bool | Kind::Unsigned => own(x),
        Kind::Signed | Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => lax::abs(x),
    }
}

/// Absolute value as a floating number.
///
/// # Errors
/// A `Type` error for complex numbers.
pub fn fabs(x: &Val) -> Result<Val> {
    lax::abs(&floating("fabs", x)?)
}

/// Sign: -1, 0 or 1; of complex numbers the direction.
///
/// # Errors
/// A `Type` error for booleans.
pub fn sign(x: &Val) -> Result<Val> {
    lax::sign(x)
}

/// `x * x`; booleans count as integers.
///
/// # Errors
/// What the primitive raises.
pub fn square(x: &Val) -> Result<Val> {
    if x.aval().dtype == DType::Bool {
        return lax::square(&to_dtype(x, DType::I32)?);
    }
    lax::square(x)
}

/// Complement of all bits; negation of booleans.
///
/// # Errors
/// A `Type` error for floating numbers.
pub fn invert(x: &Val) -> Result<Val> {
    lax::bitwise_not(x)
}

/// Whether zero.
///
/// # Errors
/// What the primitive raises.
pub fn logical_not(x: &Val) -> Result<Val> {
    lax::bitwise_not(&lax::nonzero_mask(x)?)
}

fn rounded(x: &Val, op: fn(&Val) -> Result<Val>) -> Result<Val> {
    match x.aval().dtype.kind() {
        Kind::Bool | Kind::Signed | Kind::Unsigned => own(x),
        Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => op(x),
    }
}

/// Greatest integer not above; integers stay.
///
/// # Errors
/// A `Type` error for complex numbers.
pub fn floor(x: &Val) -> Result<Val> {
    rounded(x, lax::floor)
}

/// Least integer not below; integers stay.
///
/// # Errors
/// A `Type` error for complex numbers.
pub fn ceil(x: &Val) -> Result<Val> {
    rounded(x, lax::ceil)
}

/// The integer part, towards zero.
///
/// # Errors
/// A `Type` error for complex numbers.
pub fn trunc(x: &Val) -> Result<Val> {
    named_jit_one("trunc", &[], std::slice::from_ref(x), |args| {
        rounded(&args[0], |x| {
            let is_negative = lax::lt(x, &number(x, 0.0))?;
            where_(&is_negative, &lax::ceil(x)?, &lax::floor(x)?)
        })
    })
}

fn round_parts(x: &Val) -> Result<Val> {
    if !x.aval().dtype.is_complex() {
        return lax::round(x, Rounding::ToNearestEven);
    }
    let (re, im) = (lax::real(x)?, lax::imag(x)?);
    lax::complex(&lax::round(&re, Rounding::ToNearestEven)?, &lax::round(&im, Rounding::ToNearestEven)?)
}

/// The nearest integer, halves to even, as a floating number.
///
/// # Errors
/// What the primitive raises.
pub fn rint(x: &Val) -> Result<Val> {
    named_jit_one("rint", &[], std::slice::from_ref(x), |args| {
        let dtype = args[0].aval().dtype;
        // Integers are whole; as floating numbers they are of strong type.
        if dtype.is_inexact() { round_parts(&args[0]) } else { convert(&args[0], default_float(), false) }
    })
}

/// Rounded to a number of decimals, halves to even.
///
/// # Errors
/// `NotImplemented` for negative decimals of integers.
pub fn round(x: &Val, decimals: i64) -> Result<Val> {
    named_jit_one("round", &[decimals], std::slice::from_ref(x), |args| round_decimals(&args[0], decimals))
}

fn round_decimals(x: &Val, decimals: i64) -> Result<Val> {
    let dtype = x.aval().dtype;
    if dtype == DType::Bool {
        bail!(Value, "jnp.round does not accept dtype bool; convert it to an integer dtype first");
    }
    if !dtype.is_inexact() {
        if decimals < 0 {
            bail!(NotImplemented, "integer np.round not implemented for decimals < 0");
        }
        return Ok(x.clone());
    }
    if decimals == 0 {
        return round_parts(x);
    }
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    let wide = if is_half { to_dtype(x, DType::F32)? } else { x.clone() };
    let scaled = round_scaled(&wide, decimals)?;
    if is_half { to_dtype(&scaled, dtype) } else { Ok(scaled) }
}

/// Rounded after multiplication with a power of ten. So many decimals that the power is infinite change no element.
fn round_scaled(x: &Val, decimals: i64) -> Result<Val> {
    let power = 10f64.powi(decimals.unsigned_abs().min(400) as i32);
    let factor = number(x, power);
    let is_infinite = !matches!(&factor, Val::Literal(factor) if factor.as_f64().is_finite());
    match (decimals > 0, is_infinite) {
        (true, true) => own(x),
        (true, false) => lax::div(&round_parts(&lax::mul(x, &factor)?)?, &factor),
        (false, true) => lax::mul(x, &number(x, 0.0)),
        (false, false) => lax::mul(&round_parts(&lax::div(x, &factor)?)?, &factor),
    }
}

/// Whether NaN.
///
/// # Errors
/// What the primitive raises.
pub fn isnan(x: &Val) -> Result<Val> {
    lax::ne(x, x)
}

/// Whether neither infinite nor NaN.
///
/// # Errors
/// What the primitive raises.
pub fn isfinite(x: &Val) -> Result<Val> {
    match x.aval().dtype.kind() {
        Kind::Float => lax::is_finite(x),
        Kind::Complex => lax::bitwise_and(&lax::is_finite(&lax::real(x)?)?, &lax::is_finite(&lax::imag(x)?)?),
        Kind::Bool | Kind::Signed | Kind::Unsigned | Kind::Float0 | Kind::Key => constant_mask(x, true),
    }
}

fn constant_mask(x: &Val, value: bool) -> Result<Val> {
    lax::full(&x.aval().shape, &int_literal(DType::Bool, value.into()))
}

/// Whether infinite.
///
/// # Errors
/// What the primitive raises.
pub fn isinf(x: &Val) -> Result<Val> {
    named_jit_one("isinf", &[], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let is_infinite = |x: &Val| lax::eq(&lax::abs(x)?, &literal(x.aval().dtype, f64::INFINITY));
        match x.aval().dtype.kind() {
            Kind::Float => is_infinite(x),
            Kind::Complex => lax::bitwise_or(&is_infinite(&lax::real(x)?)?, &is_infinite(&lax::imag(x)?)?),
            Kind::Bool | Kind::Signed | Kind::Unsigned | Kind::Float0 | Kind::Key => constant_mask(x, false),
        }
    })
}

fn is_exactly(x: &Val, value: f64) -> Result<Val> {
    match x.aval().dtype.kind() {
        Kind::Float => lax::eq(x, &literal(x.aval().dtype, value)),
        Kind::Complex => bail!(Value, "isposinf/isneginf are not well defined for complex types"),
        Kind::Bool | Kind::Signed | Kind::Unsigned | Kind::Float0 | Kind::Key => constant_mask(x, false),
    }
}

/// Whether positive infinity.
///
/// # Errors
/// A `Value` error for complex numbers.
pub fn isposinf(x: &Val) -> Result<Val> {
    is_exactly(x, f64::INFINITY)
}

/// Whether negative infinity.
///
/// # Errors
/// A `Value` error for complex numbers.
pub fn isneginf(x: &Val) -> Result<Val> {
    is_exactly(x, f64::NEG_INFINITY)
}

/// Whether the sign bit is set.
///
/// # Errors
/// What the primitive raises.
pub fn signbit(x: &Val) -> Result<Val> {
    named_jit_one("signbit", &[], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let dtype = x.aval().dtype;
        match dtype.kind() {
            Kind::Float => {
                let bits = lax::bitcast_convert_type(x, signed_of_size(dtype.size_bytes()))?;
                let shift = number(&bits, f64::from(dtype.bits() - 1));
                lax::to_bool(&lax::shift_right_arithmetic(&bits, &shift)?)
            }
            Kind::Signed => lax::lt(x, &literal(dtype, 0.0)),
            Kind::Bool | Kind::Unsigned => constant_mask(x, false),
            Kind::Complex | Kind::Float0 | Kind::Key => bail!(Value, "jnp.signbit is not well defined for {dtype}"),
        }
    })
}

fn signed_of_size(bytes: usize) -> DType {
    match bytes {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}

/// Real part; real numbers stay.
///
/// # Errors
/// What the primitive raises.
pub fn real(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() { lax::real(x) } else { own(x) }
}

/// Imaginary part; zeros for real numbers.
///
/// # Errors
/// What the primitive raises.
pub fn imag(x: &Val) -> Result<Val> {
    // Zero has the type of the operand, weak or not.
    if x.aval().dtype.is_complex() { lax::imag(x) } else { lax::full_like(x, 0.0) }
}

/// Complex conjugate; real numbers stay.
///
/// # Errors
/// What the primitive raises.
pub fn conjugate(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() { lax::conj(x) } else { own(x) }
}

/// Angle of complex numbers, in radians or degrees.
///
/// # Errors
/// What the primitive raises.
pub fn angle(x: &Val, degrees: bool) -> Result<Val> {
    named_jit_one("angle", &[degrees.into()], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let (dtype, is_scalar) = (inexact(x.aval().dtype), x.aval().rank() == 0);
        // As in the reference, a scalar of half width gives a whole one, and none is of weak type.
        let is_widened = is_scalar && matches!(dtype, DType::F16 | DType::BF16);
        let x = convert(x, if is_widened { DType::F32 } else { dtype }, false)?;
        let (re, im) = (real(&x)?, imag(&x)?);
        let radians = lax::atan2(&im, &re)?;
        if degrees { rad2deg(&radians) } else { Ok(radians) }
    })
}

/// Whether the imaginary part differs from zero.
///
/// # Errors
/// What the primitive raises.
pub fn iscomplex(x: &Val) -> Result<Val> {
    named_jit_one("iscomplex", &[], std::slice::from_ref(x), |args| {
        let part = imag(&args[0])?;
        lax::ne(&part, &number(&part, 0.0))
    })
}

/// Whether the imaginary part is zero.
///
/// # Errors
/// What the primitive raises.
pub fn isreal(x: &Val) -> Result<Val> {
    named_jit_one("isreal", &[], std::slice::from_ref(x), |args| {
        let part = imag(&args[0])?;
        lax::eq(&part, &number(&part, 0.0))
    })
}

/// Fractional and integral part, both with the sign of `x`.
///
/// # Errors
/// What the primitive raises.
pub fn modf(x: &Val) -> Result<(Val, Val)> {
    let mut outs = named_jit("modf", &[], std::slice::from_ref(x), |args| {
        let x = floating("modf", &args[0])?;
        let is_positive = lax::ge(&x, &number(&x, 0.0))?;
        let whole = where_(&is_positive, &lax::floor(&x)?, &lax::ceil(&x)?)?;
        Ok(vec![lax::sub(&x, &whole)?, whole])
    })?;
    let whole = outs.pop().expect("two results");
    Ok((outs.pop().expect("two results"), whole))
}

/// Number of bits set in the absolute value.
///
/// # Errors
/// A `Type` error for floating numbers.
pub fn bitwise_count(x: &Val) -> Result<Val> {
    named_jit_one("bitwise_count", &[], std::slice::from_ref(x), |args| {
        to_dtype(&lax::population_count(&absolute(&args[0])?)?, DType::U8)
    })
}

/// `sin(πx) / (πx)`, 1 at 0.
///
/// # Errors
/// What the primitive raises.
pub fn sinc(x: &Val) -> Result<Val> {
    named_jit_one("sinc", &[], std::slice::from_ref(x), |args| {
        let x = floating("sinc", &args[0])?;
        // Near 0 the quotient has the value but not the derivatives, in which ever greater numbers cancel.
        let is_near = lax::lt(&lax::abs(&x)?, &number(&lax::abs(&x)?, 0.5))?;
        let far = where_(&is_near, &number(&x, 1.0), &x)?;
        let ratio = lax::div(&sin_pi(&far)?, &lax::mul(&number(&x, std::f64::consts::PI), &far)?)?;
        let near = sinc_series(&where_(&is_near, &x, &number(&x, 0.0))?)?;
        let value = where_(&is_near, &near, &ratio)?;
        where_(&is_real_infinity(&x)?, &number(&x, 0.0), &value)
    })
}

/// `Σ (-1)ᵏ (πx)²ᵏ / (2k + 1)!` by Horner's rule: with these terms exact up to 1/2, some derivatives as well.
fn sinc_series(x: &Val) -> Result<Val> {
    let square = lax::square(&lax::mul(&number(x, std::f64::consts::PI), x)?)?;
    let mut sum = number(x, 1.0);
    for k in (1..=14).rev() {
        let ratio = number(x, -1.0 / f64::from(2 * k * (2 * k + 1)));
        sum = lax::add(&number(x, 1.0), &lax::mul(&lax::mul(&square, &ratio)?, &sum)?)?;
    }
    Ok(sum)
}

/// Whether infinite, and without an imaginary part.
fn is_real_infinity(x: &Val) -> Result<Val> {
    let infinity = |x: &Val| lax::eq(&lax::abs(x)?, &number(x, f64::INFINITY));
    if !x.aval().dtype.is_complex() {
        return infinity(x);
    }
    let (re, im) = (lax::real(x)?, lax::imag(x)?);
    lax::bitwise_and(&infinity(&re)?, &lax::eq(&im, &number(&im, 0.0))?)
}

/// `sin(πx)`, 0 at infinities: the nearest integer is taken off first, so that whole numbers give 0 exactly.
fn sin_pi(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() {
        return lax::sin(&lax::mul(&number(x, std::f64::consts::PI), x)?);
    }
    let is_infinite = lax::eq(&lax::abs(x)?, &number(x, f64::INFINITY))?;
    let x = &where_(&is_infinite, &number(x, 0.0), x)?;
    let whole = lax::stop_gradient(&lax::round(x, Rounding::ToNearestEven)?)?;
    let rest = lax::sub(x, &whole)?;
    let half = lax::mul(&whole, &number(x, 0.5))?;
    let is_odd = lax::ne(&half, &lax::floor(&half)?)?;
    let sine = lax::sin(&lax::mul(&number(x, std::f64::consts::PI), &rest)?)?;
    where_(&is_odd, &lax::neg(&sine)?, &sine)
}

/// NaN and infinities replaced: by 0 and the greatest numbers unless given.
///
/// # Errors
/// What the primitives raise.
pub fn nan_to_num(x: &Val, nan: Option<&Val>, posinf: Option<&Val>, neginf: Option<&Val>) -> Result<Val> {
    let present = |val: Option<&Val>| i64::from(val.is_some());
    let statics = [present(nan), present(posinf), present(neginf)];
    let args: Vec<Val> = std::iter::once(x).chain(nan).chain(posinf).chain(neginf).cloned().collect();
    named_jit_one("nan_to_num", &statics, &args, |args| {
        let mut given = args[1..].iter();
        let mut next = |present: i64| if present == 1 { given.next() } else { None };
        let (nan, posinf, neginf) = (next(statics[0]), next(statics[1]), next(statics[2]));
        replace_special(&args[0], nan, posinf, neginf)
    })
}

fn replace_special(x: &Val, nan: Option<&Val>, posinf: Option<&Val>, neginf: Option<&Val>) -> Result<Val> {
    let dtype = x.aval().dtype;
    if dtype.is_complex() {
        let part = |part: Val| replace_special(&part, nan, posinf, neginf);
        return lax::complex(&part(lax::real(x)?)?, &part(lax::imag(x)?)?);
    }
    if !dtype.is_float() {
        return Ok(x.clone());
    }
    let greatest = greatest_finite(dtype);
    let pick = |given: Option<&Val>, default: f64| given.cloned().unwrap_or_else(|| literal(dtype, default));
    let x = where_(&isnan(x)?, &pick(nan, 0.0), x)?;
    let x = where_(&isposinf(&x)?, &pick(posinf, greatest), &x)?;
    where_(&isneginf(&x)?, &pick(neginf, -greatest), &x)
}

/// The greatest finite number of a floating dtype.
pub fn greatest_finite(dtype: DType) -> f64 {
    match dtype {
        DType::F64 | DType::C128 => f64::MAX,
        DType::F16 => 65504.0,
        DType::BF16 => 3.389_531_389_251_535_5e38,
        DType::F8E4M3FN => 448.0,
        DType::F8E5M2 => 57344.0,
        _ => f32::MAX.into(),
    }
}
