//! Functions of one operand.

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{rad2deg, where_};
use crate::convert::{constant, convert, default_float, int_literal, literal, number, own, to_dtype};
use crate::jit::{named_jit, named_jit_one};
use crate::lax::{self, RoundingMethod};
use crate::promotion::{check_arguments, promote_inexact};

pub(super) fn floating(name: &str, x: &Val) -> Result<Val> {
    check_arguments(name, std::slice::from_ref(x))?;
    Ok(promote_inexact(std::slice::from_ref(x))?.swap_remove(0))
}

/// Each element with its sign changed; unsigned integers wrap around.
///
/// Args:
///   args: one array or number `x`; not boolean.
///   out, where: for compatibility; must be None.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is boolean, or neither an array nor a number.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.negative(jnp.array([1, -2])))
///   [-1  2]
#[public("numpy.negative(x, /)")]
pub fn negative(x: &Val) -> Result<Val> {
    lax::neg(x)
}

/// The elements unchanged, as an array.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.positive(jnp.array([1, -2])))
///   [ 1 -2]
#[public("numpy.positive(x, /)")]
pub fn positive(x: &Val) -> Result<Val> {
    check_arguments("positive", std::slice::from_ref(x))?;
    own(x)
}

/// The absolute value of each element; the modulus `sqrt(re² + im²)` of complex numbers.
/// The least signed integer has no positive counterpart and stays as it is; booleans and unsigned integers come
/// back unchanged.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape of `x` and its dtype; the real floating dtype of the same precision for complex
///   `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: almost everywhere; at 0 the derivative of a real number is 1, as at positive ones.
/// Example:
///   >>> print(jnp.absolute(jnp.array([-3, 0, 2])))
///   [3 0 2]
///   >>> print(jnp.absolute(jnp.array([3 - 4j])))
///   [5.]
#[public("numpy.absolute(x, /)", "numpy.abs")]
pub fn absolute(x: &Val) -> Result<Val> {
    match x.aval().dtype.kind() {
        Kind::Bool | Kind::Unsigned => own(x),
        Kind::Signed | Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => lax::abs(x),
    }
}

/// The absolute value as a floating number.
///
/// Args:
///   x: a real array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating dtype.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: almost everywhere; at 0 the derivative is 1.
/// Example:
///   >>> print(jnp.fabs(jnp.array([-3, 2])))
///   [3. 2.]
#[public("numpy.fabs(x, /)")]
pub fn fabs(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() {
        bail!(Type, "ufunc 'fabs' does not support complex dtypes");
    }
    lax::abs(&floating("fabs", x)?)
}

/// The sign of each element: -1, 0 or 1; `x / abs(x)` of complex numbers, and NaN of NaN.
///
/// Args:
///   x: an array or number of any dtype but boolean.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is boolean, or neither an array nor a number.
/// Differentiable: real numbers with derivative 0 everywhere; complex ones away from 0.
/// Example:
///   >>> print(jnp.sign(jnp.array([-2.0, 0.0, 5.0])))
///   [-1.  0.  1.]
#[public("numpy.sign(x, /)")]
pub fn sign(x: &Val) -> Result<Val> {
    lax::sign(x)
}

/// The complement of all bits of each integer, `-x - 1` of signed ones; the negation of booleans.
///
/// Args:
///   x: an array or number of an integer or boolean dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is floating or complex, or neither an array nor a number.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.invert(jnp.array([0, 5])))
///   [-1 -6]
///   >>> print(jnp.invert(jnp.array([True, False])))
///   [False  True]
#[public("numpy.invert(x, /)", "numpy.bitwise_invert", "numpy.bitwise_not")]
pub fn invert(x: &Val) -> Result<Val> {
    lax::bitwise_not(x)
}

/// For each element whether it is 0; NaN is not.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.logical_not(jnp.array([0, 2])))
///   [ True False]
#[public("numpy.logical_not(x, /)")]
pub fn logical_not(x: &Val) -> Result<Val> {
    lax::bitwise_not(&lax::nonzero_mask(x)?)
}

fn rounded(x: &Val, op: fn(&Val) -> Result<Val>) -> Result<Val> {
    match x.aval().dtype.kind() {
        Kind::Bool | Kind::Signed | Kind::Unsigned => own(x),
        Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => op(x),
    }
}

/// The greatest integer not above each element.
///
/// Args:
///   x: a real array or number; integers and booleans come back unchanged.
/// Returns: an array of the shape and dtype of `x`: floating numbers stay floating.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.floor(jnp.array([-1.5, 0.2, 2.0])))
///   [-2.  0.  2.]
#[public("numpy.floor(x, /)")]
pub fn floor(x: &Val) -> Result<Val> {
    rounded(x, lax::floor)
}

/// The least integer not below each element.
///
/// Args:
///   x: a real array or number; integers and booleans come back unchanged.
/// Returns: an array of the shape and dtype of `x`: floating numbers stay floating.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.ceil(jnp.array([-1.5, 0.2, 2.0])))
///   [-1.  1.  2.]
#[public("numpy.ceil(x, /)")]
pub fn ceil(x: &Val) -> Result<Val> {
    rounded(x, lax::ceil)
}

/// The integer part of each element: rounded towards zero.
///
/// Args:
///   x: a real array or number; integers and booleans come back unchanged.
/// Returns: an array of the shape and dtype of `x`: floating numbers stay floating.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.trunc(jnp.array([-1.5, 0.2, 2.7])))
///   [-1.  0.  2.]
#[public("numpy.trunc(x)")]
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
        return lax::round(x, RoundingMethod::ToNearestEven);
    }
    let (re, im) = (lax::real(x)?, lax::imag(x)?);
    lax::complex(&lax::round(&re, RoundingMethod::ToNearestEven)?, &lax::round(&im, RoundingMethod::ToNearestEven)?)
}

/// The nearest integer as a floating number; halves go to the even one.
///
/// Args:
///   x: an array or number; integers and booleans become floating; of complex numbers both parts are rounded.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.rint(jnp.array([0.5, 1.5, -1.2])))
///   [ 0.  2. -1.]
#[public("numpy.rint(x, /)")]
pub fn rint(x: &Val) -> Result<Val> {
    named_jit_one("rint", &[], std::slice::from_ref(x), |args| {
        let dtype = args[0].aval().dtype;
        // Integers are whole; as floating numbers they are of strong type.
        if dtype.is_inexact() { round_parts(&args[0]) } else { convert(&args[0], default_float(), false) }
    })
}

/// Each element rounded to a number of decimals; halves go to the even digit.
///
/// Args:
///   a: an array or number; of complex numbers both parts are rounded.
///   decimals: a static integer: digits behind the point, 0 by default; negative ones round to powers of ten.
///   out: for compatibility; must be None.
/// Returns: an array of the shape and dtype of `a`; integers come back unchanged.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   NotImplementedError: integers with negative `decimals`, or `out` is given.
/// Differentiable: with derivative 0 everywhere.
/// Example:
///   >>> print(jnp.round(jnp.array([0.5, 1.5, 2.6])))
///   [0. 2. 3.]
///   >>> print(jnp.round(jnp.array([1234.0]), -2))
///   [1200.]
#[public("numpy.round(a, decimals=0, out: NoOut=None)", "numpy.around")]
pub fn round(a: &Val, decimals: i64) -> Result<Val> {
    named_jit_one("round", &[decimals], std::slice::from_ref(a), |args| round_decimals(&args[0], decimals))
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

/// For each element whether it is NaN; of complex numbers whether a part is so.
///
/// Args:
///   x: an array or number of any dtype; integers and booleans never are.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isnan(jnp.array([1.0, jnp.inf, jnp.nan])))
///   [False False  True]
#[public("numpy.isnan(x, /)")]
pub fn isnan(x: &Val) -> Result<Val> {
    lax::ne(x, x)
}

/// For each element whether it is neither infinite nor NaN; of complex numbers whether both parts are so.
///
/// Args:
///   x: an array or number of any dtype; integers and booleans are finite.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan])))
///   [ True False False]
#[public("numpy.isfinite(x, /)")]
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

/// For each element whether it is infinite, of either sign; of complex numbers whether a part is so.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isinf(jnp.array([1.0, -jnp.inf, jnp.nan])))
///   [False  True False]
#[public("numpy.isinf(x, /)")]
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

/// For each element whether it is positive infinity.
///
/// Args:
///   x: a real array or number.
///   out: for compatibility; must be None.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is complex.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isposinf(jnp.array([jnp.inf, -jnp.inf, 1.0])))
///   [ True False False]
#[public("numpy.isposinf(x, /, out: NoOut=None)")]
pub fn isposinf(x: &Val) -> Result<Val> {
    is_exactly(x, f64::INFINITY)
}

/// For each element whether it is negative infinity.
///
/// Args:
///   x: a real array or number.
///   out: for compatibility; must be None.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is complex.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isneginf(jnp.array([jnp.inf, -jnp.inf, 1.0])))
///   [False  True False]
#[public("numpy.isneginf(x, /, out: NoOut=None)")]
pub fn isneginf(x: &Val) -> Result<Val> {
    is_exactly(x, f64::NEG_INFINITY)
}

/// For each element whether its sign bit is set: true of -0.0, unlike `x < 0`.
///
/// Args:
///   x: a real array or number.
/// Returns: booleans of the shape of `x`; false for booleans and unsigned integers.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is complex.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.signbit(jnp.array([-1.0, -0.0, 0.0])))
///   [ True  True False]
#[public("numpy.signbit(x, /)")]
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

/// The real part of each element; real numbers come back unchanged.
///
/// Args:
///   val: an array or number of any dtype.
/// Returns: an array of the shape of `val`; complex dtypes give the floating one of the same precision, others
///   stay.
/// Raises:
///   TypeError: `val` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear over the real numbers.
/// Example:
///   >>> print(jnp.real(jnp.array([1 + 2j, 3 - 1j])))
///   [1. 3.]
#[public("numpy.real(val, /)")]
pub fn real(val: &Val) -> Result<Val> {
    if val.aval().dtype.is_complex() { lax::real(val) } else { own(val) }
}

/// The imaginary part of each element; 0 of real numbers.
///
/// Args:
///   val: an array or number of any dtype.
/// Returns: an array of the shape of `val`; complex dtypes give the floating one of the same precision, others
///   stay.
/// Raises:
///   TypeError: `val` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear over the real numbers.
/// Example:
///   >>> print(jnp.imag(jnp.array([1 + 2j, 3 - 1j])))
///   [ 2. -1.]
#[public("numpy.imag(val, /)")]
pub fn imag(val: &Val) -> Result<Val> {
    // Zero has the type of the operand, weak or not.
    if val.aval().dtype.is_complex() { lax::imag(val) } else { lax::full_like(val, 0.0) }
}

/// The complex conjugate; real numbers come back unchanged.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear over the real numbers, not holomorphic.
/// Example:
///   >>> print(jnp.conjugate(jnp.array([1 + 2j, 3 - 1j])))
///   [1.-2.j 3.+1.j]
#[public("numpy.conjugate(x, /)", "numpy.conj")]
pub fn conjugate(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() { lax::conj(x) } else { own(x) }
}

/// The angle of each complex number to the positive real axis: `arctan2(imag, real)`.
///
/// Args:
///   z: an array or number; integers and booleans become floating.
///   deg: whether to give degrees instead of radians.
/// Returns: an array of the shape of `z` and a floating dtype, from -pi to pi; 0 or pi of real numbers.
/// Raises:
///   TypeError: `z` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, away from 0.
/// Example:
///   >>> print(jnp.angle(jnp.array([1 + 0j, -2j]), deg=True))
///   [  0. -90.]
#[public("numpy.angle(z, deg=False)")]
pub fn angle(z: &Val, deg: bool) -> Result<Val> {
    named_jit_one("angle", &[deg.into()], std::slice::from_ref(z), |args| {
        let z = &args[0];
        let aval = z.aval();
        let is_scalar = aval.rank() == 0;
        // As in the reference, a scalar of half width gives a whole one, and neither it nor integers are of weak type.
        let is_weak = aval.weak_type && (aval.dtype.is_complex() || aval.dtype.is_inexact() && !is_scalar);
        let dtype = if aval.dtype.is_inexact() { aval.dtype } else { default_float() };
        let is_widened = is_scalar && matches!(dtype, DType::F16 | DType::BF16);
        let z = convert(z, if is_widened { DType::F32 } else { dtype }, is_weak)?;
        let (re, im) = (real(&z)?, imag(&z)?);
        let radians = lax::atan2(&im, &re)?;
        if deg { rad2deg(&radians) } else { Ok(radians) }
    })
}

/// For each element whether its imaginary part differs from 0; see `iscomplexobj` for the dtype.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.iscomplex(jnp.array([1 + 0j, 1 + 2j])))
///   [False  True]
#[public("numpy.iscomplex(x)")]
pub fn iscomplex(x: &Val) -> Result<Val> {
    named_jit_one("iscomplex", &[], std::slice::from_ref(x), |args| {
        let part = imag(&args[0])?;
        lax::ne(&part, &constant(&part, 0.0))
    })
}

/// For each element whether its imaginary part is 0; see `isrealobj` for the dtype.
///
/// Args:
///   x: an array or number of any dtype.
/// Returns: booleans of the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.isreal(jnp.array([1 + 0j, 1 + 2j])))
///   [ True False]
#[public("numpy.isreal(x)")]
pub fn isreal(x: &Val) -> Result<Val> {
    named_jit_one("isreal", &[], std::slice::from_ref(x), |args| {
        let part = imag(&args[0])?;
        lax::eq(&part, &constant(&part, 0.0))
    })
}

/// The fractional and the integral part of each element, both with its sign: `x = fraction + integral`.
///
/// Args:
///   x: a real array or number; integers and booleans become floating.
///   out: for compatibility; must be None.
/// Returns: a pair of arrays of the shape of `x` and its floating dtype.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
///   NotImplementedError: `out` is given.
/// Differentiable: the fraction with derivative 1, the integral part with derivative 0.
/// Example:
///   >>> fraction, integral = jnp.modf(jnp.array([-1.5, 2.25]))
///   >>> print(fraction, integral)
///   [-0.5   0.25] [-1.  2.]
#[public("numpy.modf(x, /, out: NoOut=None)")]
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

/// The number of bits that are set in the absolute value of each integer.
///
/// Args:
///   x: an integer or boolean array or number.
/// Returns: uint8, of the shape of `x`.
/// Raises:
///   TypeError: `x` is floating or complex, or neither an array nor a number.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.bitwise_count(jnp.array([-7, 0, 255])))
///   [3 0 8]
#[public("numpy.bitwise_count(x, /)")]
pub fn bitwise_count(x: &Val) -> Result<Val> {
    named_jit_one("bitwise_count", &[], std::slice::from_ref(x), |args| {
        let x = &args[0];
        let x = if x.aval().dtype == DType::Bool { convert(x, DType::I32, false)? } else { x.clone() };
        to_dtype(&lax::population_count(&absolute(&x)?)?, DType::U8)
    })
}

/// NaN and infinities replaced by finite numbers, in both parts of complex numbers.
///
/// Args:
///   x: an array or number; integers and booleans come back unchanged.
///   copy: for compatibility; without influence, `x` is never changed.
///   nan: what replaces NaN: a number or an array that broadcasts to `x`; 0 by default.
///   posinf: what replaces infinity; the greatest number of the dtype by default.
///   neginf: what replaces negative infinity; the least number of the dtype by default.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; the gradient at replaced elements is 0.
/// Example:
///   >>> print(jnp.nan_to_num(jnp.array([1.5, jnp.nan, jnp.inf]), posinf=9.0))
///   [1.5 0.  9. ]
#[public("numpy.nan_to_num(x, copy: Ignored=True, nan: OwnDefault=0.0, posinf=None, neginf=None)")]
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
