//! Functions of two operands: arithmetic, comparison, bits, and the operators of arrays.

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use super::where_;
use crate::broadcast::{broadcast_shapes, promote_ranks};
use crate::convert::{convert, inexact, literal, number, to_dtype};
use crate::custom;
use crate::jit::{named_jit, named_jit_one};
use crate::lax::{self, Rounding};
use crate::promotion::{Operands, check_arguments, promote, promote_args_inexact, promote_dtypes};

type Binary = fn(&Val, &Val) -> Result<Val>;

fn promoted(name: &str, x: &Val, y: &Val, op: Binary) -> Result<Val> {
    let ins = promote(name, &[x.clone(), y.clone()])?;
    op(&ins[0], &ins[1])
}

fn promoted_inexact(name: &str, x: &Val, y: &Val, op: Binary) -> Result<Val> {
    let ins = promote_args_inexact(name, &[x.clone(), y.clone()])?;
    op(&ins[0], &ins[1])
}

/// Keys of one generator have an identity, though they are no numbers.
fn identity(name: &str, x: &Val, y: &Val, op: Binary) -> Result<Val> {
    let (a, b) = (x.aval().dtype, y.aval().dtype);
    if !a.is_key() && !b.is_key() {
        return promoted(name, x, y, op);
    }
    if a != b {
        bail!(Type, "{name} does not accept dtypes {a}, {b}.");
    }
    let ins = promote_ranks(name, [x.clone(), y.clone()].into_iter().collect())?;
    op(&ins[0], &ins[1])
}

/// Whether `x == y`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn equal(x: &Val, y: &Val) -> Result<Val> {
    identity("equal", x, y, lax::eq)
}

/// Whether `x != y`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn not_equal(x: &Val, y: &Val) -> Result<Val> {
    identity("not_equal", x, y, lax::ne)
}

fn is_bool(x: &Val) -> bool {
    x.aval().dtype == DType::Bool
}

macro_rules! promoting {
    ($($(#[$doc:meta])* $name:ident $text:literal $op:path;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// When dtypes or shapes do not go together.
        pub fn $name(x: &Val, y: &Val) -> Result<Val> {
            promoted($text, x, y, $op)
        }
    )*};
}
promoting! {
    /// `x - y`.
    subtract "subtract" lax::sub;
    /// The greater of both; NaN when either is.
    maximum "maximum" lax::max;
    /// The smaller of both; NaN when either is.
    minimum "minimum" lax::min;
    /// Bits set in both.
    bitwise_and "bitwise_and" lax::bitwise_and;
    /// Bits set in either.
    bitwise_or "bitwise_or" lax::bitwise_or;
    /// Bits set in one of both.
    bitwise_xor "bitwise_xor" lax::bitwise_xor;
    /// Bits shifted to the left.
    left_shift "left_shift" lax::shift_left;
}

/// `x + y`; disjunction of booleans.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn add(x: &Val, y: &Val) -> Result<Val> {
    promoted("add", x, y, |x, y| if is_bool(x) { lax::bitwise_or(x, y) } else { lax::add(x, y) })
}

/// `x * y`; conjunction of booleans.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn multiply(x: &Val, y: &Val) -> Result<Val> {
    promoted("multiply", x, y, |x, y| if is_bool(x) { lax::bitwise_and(x, y) } else { lax::mul(x, y) })
}

/// `x / y`; integers become floating.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn true_divide(x: &Val, y: &Val) -> Result<Val> {
    promoted_inexact("true_divide", x, y, lax::div)
}

/// Bits shifted to the right; the sign stays.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn right_shift(x: &Val, y: &Val) -> Result<Val> {
    promoted("right_shift", x, y, |x, y| match x.aval().dtype.kind() {
        Kind::Unsigned => lax::shift_right_logical(x, y),
        _ => lax::shift_right_arithmetic(x, y),
    })
}

/// Angle of the point `(y, x)`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn arctan2(y: &Val, x: &Val) -> Result<Val> {
    promoted_inexact("arctan2", y, x, lax::atan2)
}

/// The next floating number from `x` towards `y`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn nextafter(x: &Val, y: &Val) -> Result<Val> {
    promoted_inexact("nextafter", x, y, lax::nextafter)
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $text:literal $op:path;)*) => {$(
        $(#[$doc])*
        /// Complex numbers compare by real, then by imaginary part.
        ///
        /// # Errors
        /// When dtypes or shapes do not go together.
        pub fn $name(x: &Val, y: &Val) -> Result<Val> {
            promoted($text, x, y, |x, y| ordered(x, y, $op))
        }
    )*};
}
comparisons! {
    /// Whether `x < y`.
    less "less" lax::lt;
    /// Whether `x <= y`.
    less_equal "less_equal" lax::le;
    /// Whether `x > y`.
    greater "greater" lax::gt;
    /// Whether `x >= y`.
    greater_equal "greater_equal" lax::ge;
}

fn ordered(x: &Val, y: &Val, op: Binary) -> Result<Val> {
    if !x.aval().dtype.is_complex() {
        return op(x, y);
    }
    let same_real = lax::eq(&lax::real(x)?, &lax::real(y)?)?;
    let by_imag = op(&lax::imag(x)?, &lax::imag(y)?)?;
    let by_real = op(&lax::real(x)?, &lax::real(y)?)?;
    lax::select(&same_real, &by_imag, &by_real)
}

macro_rules! logical {
    ($($(#[$doc:meta])* $name:ident $text:literal $op:path;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// When dtypes or shapes do not go together.
        pub fn $name(x: &Val, y: &Val) -> Result<Val> {
            promoted($text, x, y, |x, y| {
                let (x, y) = (lax::nonzero_mask(x)?, lax::nonzero_mask(y)?);
                $op(&x, &y)
            })
        }
    )*};
}
logical! {
    /// Whether both are nonzero.
    logical_and "logical_and" lax::bitwise_and;
    /// Whether either is nonzero.
    logical_or "logical_or" lax::bitwise_or;
    /// Whether one of both is nonzero.
    logical_xor "logical_xor" lax::bitwise_xor;
}

/// `x // y`, rounded down.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn floor_divide(x: &Val, y: &Val) -> Result<Val> {
    check_arguments("floor_divide", &[x.clone(), y.clone()])?;
    named_jit_one("floor_divide", &[], &[x.clone(), y.clone()], |args| {
        let ins = promote("floor_divide", args)?;
        let (x, y) = (&ins[0], &ins[1]);
        match x.aval().dtype.kind() {
            Kind::Unsigned => lax::div(x, y),
            Kind::Signed => floor_divide_signed(x, y),
            Kind::Complex => bail!(Type, "floor_divide does not support complex-valued inputs"),
            Kind::Bool => {
                let ins = of_booleans(&ins)?;
                convert(&floor_divide_signed(&ins[0], &ins[1])?, DType::I8, false)
            }
            Kind::Float | Kind::Float0 | Kind::Key => Ok(float_divmod(x, y)?.0),
        }
    })
}

/// Booleans as the integers that they stand for.
fn of_booleans(xs: &[Val]) -> Result<Operands> {
    xs.iter().map(|x| if is_bool(x) { convert(x, DType::I32, false) } else { Ok(x.clone()) }).collect()
}

fn floor_divide_signed(x: &Val, y: &Val) -> Result<Val> {
    let quotient = lax::div(x, y)?;
    let signs_differ = lax::ne(&lax::sign(x)?, &lax::sign(y)?)?;
    let remains = lax::nonzero_mask(&lax::rem(x, y)?)?;
    let rounds_up = lax::bitwise_and(&signs_differ, &remains)?;
    where_(&rounds_up, &lax::sub(&quotient, &number(&quotient, 1.0))?, &quotient)
}

fn float_divmod(x: &Val, y: &Val) -> Result<(Val, Val)> {
    let rem = lax::rem(x, y)?;
    let by_zero = lax::eq(y, &number(y, 0.0))?;
    let whole = where_(&by_zero, x, &lax::sub(x, &rem)?)?;
    let quotient = lax::div(&whole, y)?;
    let remains = lax::nonzero_mask(&rem)?;
    let signs_differ = lax::ne(&lax::sign(y)?, &lax::sign(&rem)?)?;
    let adjusts = lax::bitwise_and(&remains, &signs_differ)?;
    let rem = lax::select(&adjusts, &lax::add(&rem, y)?, &rem)?;
    let quotient = lax::select(&adjusts, &lax::sub(&quotient, &number(&quotient, 1.0))?, &quotient)?;
    Ok((lax::round(&quotient, Rounding::AwayFromZero)?, rem))
}

/// `x % y`, with the sign of `y`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn remainder(x: &Val, y: &Val) -> Result<Val> {
    named_jit_one("remainder", &[], &[x.clone(), y.clone()], |args| {
        let ins = of_booleans(&promote("remainder", args)?)?;
        let (x, mut y) = (&ins[0], ins[1].clone());
        if x.aval().dtype.is_integer() {
            let by_zero = lax::eq(&y, &number(&y, 0.0))?;
            y = where_(&by_zero, &lax::full_like(&y, 1.0)?, &y)?;
        }
        let rem = lax::rem(x, &y)?;
        let zero = number(&rem, 0.0);
        let remains = lax::ne(&rem, &zero)?;
        let signs_differ = lax::ne(&lax::lt(&rem, &zero)?, &lax::lt(&y, &zero)?)?;
        let adjusts = lax::bitwise_and(&signs_differ, &remains)?;
        lax::select(&adjusts, &lax::add(&rem, &y)?, &rem)
    })
}

/// Remainder with the sign of `x`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn fmod(x: &Val, y: &Val) -> Result<Val> {
    named_jit_one("fmod", &[], &[x.clone(), y.clone()], |args| {
        let ins = of_booleans(&promote("fmod", args)?)?;
        let (x, mut y) = (&ins[0], ins[1].clone());
        if x.aval().dtype.is_integer() {
            let by_zero = lax::eq(&y, &number(&y, 0.0))?;
            y = where_(&by_zero, &lax::full_like(&y, 1.0)?, &y)?;
        }
        lax::rem(x, &y)
    })
}

/// Quotient rounded down, and remainder.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn divmod(x: &Val, y: &Val) -> Result<(Val, Val)> {
    let mut outs = named_jit("divmod", &[], &[x.clone(), y.clone()], |args| {
        let ins = of_booleans(&promote("divmod", args)?)?;
        if ins[0].aval().dtype.is_float() {
            let (quotient, rem) = float_divmod(&ins[0], &ins[1])?;
            return Ok(vec![quotient, rem]);
        }
        Ok(vec![floor_divide(&ins[0], &ins[1])?, remainder(&ins[0], &ins[1])?])
    })?;
    let rem = outs.pop().expect("two results");
    Ok((outs.pop().expect("two results"), rem))
}

/// `x ** y`. A fixed integer exponent multiplies; integers take integer exponents.
///
/// # Errors
/// A `Type` error for integers to a fixed negative power, and when dtypes or shapes do not go together.
pub fn power(x: &Val, y: &Val) -> Result<Val> {
    if let Some(exponent) = fixed_exponent(y) {
        return fixed_power(x, exponent);
    }
    let ins = promote("power", &[x.clone(), y.clone()])?;
    let exponent_dtype = y.aval().dtype;
    if ins[0].aval().dtype.is_inexact() && exponent_dtype.is_integer() {
        let ranked = promote_ranks("power", [ins[0].clone(), y.clone()].into_iter().collect())?;
        return lax::pow(&ranked[0], &ranked[1]);
    }
    match ins[0].aval().dtype.kind() {
        Kind::Signed | Kind::Unsigned => integer_power(&ins[0], &ins[1]),
        Kind::Bool => {
            let ins = [convert(&ins[0], DType::I32, false)?, convert(&ins[1], DType::I32, false)?];
            integer_power(&ins[0], &ins[1])
        }
        Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => lax::pow(&ins[0], &ins[1]),
    }
}

fn fixed_exponent(y: &Val) -> Option<i64> {
    match y {
        Val::Literal(scalar) if scalar.dtype().is_integer() => Some(scalar.as_i64()),
        Val::Array(array) if array.shape().is_empty() && array.dtype().is_integer() => {
            array.element(0).ok().map(|scalar| scalar.as_i64())
        }
        Val::Literal(_) | Val::Array(_) | Val::Tracer(_) => None,
    }
}

fn fixed_power(x: &Val, exponent: i64) -> Result<Val> {
    let ins = promote_dtypes(&[x.clone(), crate::convert::weak_int(0)])?;
    let x = &ins[0];
    if exponent < 0 && x.aval().dtype.is_integer() {
        bail!(Type, "Integers cannot be raised to negative powers, got integer_pow({}, {exponent})", x.aval());
    }
    lax::integer_pow(x, exponent)
}

/// By repeated squaring, for exponents below 64.
fn integer_power(x: &Val, y: &Val) -> Result<Val> {
    let zero_base = lax::eq(x, &number(x, 0.0))?;
    let nonzero_exponent = lax::ne(y, &number(y, 0.0))?;
    let is_zero = lax::bitwise_and(&zero_base, &nonzero_exponent)?;
    let mut result = where_(&is_zero, &number(x, 0.0), &number(x, 1.0))?;
    let (mut base, mut exponent) = (x.clone(), y.clone());
    let one = number(y, 1.0);
    for _ in 0..6 {
        let takes = lax::bitwise_and(&exponent, &one)?;
        let product = lax::mul(&result, &base)?;
        result = where_(&takes, &product, &result)?;
        base = lax::mul(&base, &base)?;
        exponent = lax::shift_right_logical(&exponent, &one)?;
    }
    Ok(result)
}

/// `x ** y` in floating numbers.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn float_power(x: &Val, y: &Val) -> Result<Val> {
    promoted_inexact("float_power", x, y, lax::pow)
}

/// `log(exp(x) + exp(y))`, without overflow.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn logaddexp(x: &Val, y: &Val) -> Result<Val> {
    let ins = promote_args_inexact("logaddexp", &[x.clone(), y.clone()])?;
    custom::logaddexp(&ins[0], &ins[1])
}

/// `log2(2**x + 2**y)`, without overflow.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn logaddexp2(x: &Val, y: &Val) -> Result<Val> {
    let ins = promote_args_inexact("logaddexp2", &[x.clone(), y.clone()])?;
    custom::logaddexp2(&ins[0], &ins[1])
}

/// Length of the hypotenuse, without overflow.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn hypot(x: &Val, y: &Val) -> Result<Val> {
    let ins = promote_args_inexact("hypot", &[x.clone(), y.clone()])?;
    if ins[0].aval().dtype.is_complex() {
        bail!(
            Value,
            "jnp.hypot is not well defined for complex-valued inputs. Please convert to real values first, such as by \
             using abs(x)"
        );
    }
    let avals = [ins[0].aval(), ins[1].aval()];
    broadcast_shapes(&[&avals[0].shape, &avals[1].shape])?;
    named_jit_one("hypot", &[], &ins, |args| custom::hypot(&args[0], &args[1]))
}

/// `x` with the sign of `y`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn copysign(x: &Val, y: &Val) -> Result<Val> {
    let ins = promote_args_inexact("copysign", &[x.clone(), y.clone()])?;
    if ins[0].aval().dtype.is_complex() {
        bail!(Type, "copysign does not support complex-valued inputs");
    }
    named_jit_one("copysign", &[], &ins, |args| {
        let is_negative = super::signbit(&args[1])?;
        where_(&is_negative, &lax::neg(&lax::abs(&args[0])?)?, &lax::abs(&args[0])?)
    })
}

/// 0, `y` or 1 for negative, zero and positive `x`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn heaviside(x: &Val, y: &Val) -> Result<Val> {
    let ins = promote_args_inexact("heaviside", &[x.clone(), y.clone()])?;
    named_jit_one("heaviside", &[], &ins, |args| {
        let (x, y) = (&args[0], &args[1]);
        let zero = crate::convert::constant(x, 0.0);
        let (is_negative, is_positive) = (lax::lt(x, &zero)?, lax::gt(x, &zero)?);
        let at_zero = where_(&lax::ne(x, x)?, x, y)?;
        let not_negative = where_(&is_positive, &number(x, 1.0), &at_zero)?;
        where_(&is_negative, &zero, &not_negative)
    })
}

fn ignoring_nan(name: &'static str, x: &Val, y: &Val, wins: Binary) -> Result<Val> {
    named_jit_one(name, &[], &[x.clone(), y.clone()], |args| {
        let ins = promote_ranks(name, promote_dtypes(args)?)?;
        let (x, y) = (&ins[0], &ins[1]);
        let first = lax::bitwise_or(&wins(x, y)?, &not_equal(y, y)?)?;
        where_(&first, x, y)
    })
}

/// The greater of both; a NaN loses.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn fmax(x: &Val, y: &Val) -> Result<Val> {
    ignoring_nan("fmax", x, y, greater)
}

/// The smaller of both; a NaN loses.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn fmin(x: &Val, y: &Val) -> Result<Val> {
    ignoring_nan("fmin", x, y, less)
}

/// `x` times two to the power of the integer `n`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn ldexp(x: &Val, n: &Val) -> Result<Val> {
    named_jit_one("ldexp", &[], &[x.clone(), n.clone()], |args| {
        let dtype = inexact(args[0].aval().dtype);
        // Narrow types are rounded once, at the end.
        let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let mut x = to_dtype(&args[0], wide)?;
        for part in thirds(&args[1], wide)? {
            x = multiply(&x, &power_of_two(&part, wide)?)?;
        }
        to_dtype(&x, dtype)
    })
}

/// The greatest exponent of two whose inverse is no subnormal number, the bias of exponents, and the bits of the mantissa.
fn exponents_of(dtype: DType) -> (i32, i32, i32) {
    if dtype == DType::F64 { (1022, 1023, 52) } else { (126, 127, 23) }
}

/// An integer as the sum of three with its sign, each an exponent of the dtype; cut to what any number reaches 0 or
/// infinity with.
fn thirds(n: &Val, dtype: DType) -> Result<[Val; 3]> {
    let limit = f64::from(3 * exponents_of(dtype).0);
    let given = n.aval().dtype;
    let n = if given == DType::Bool || given.bits() < 32 { to_dtype(n, DType::I32)? } else { n.clone() };
    let least = if n.aval().dtype.kind() == Kind::Unsigned { 0.0 } else { -limit };
    let bounded =
        lax::clamp(&literal(n.aval().dtype, least), &to_dtype(&n, n.aval().dtype)?, &literal(n.aval().dtype, limit))?;
    let n = to_dtype(&bounded, DType::I32)?;
    let first = lax::div(&n, &number(&n, 3.0))?;
    let rest = lax::sub(&n, &first)?;
    let second = lax::div(&rest, &number(&n, 2.0))?;
    let third = lax::sub(&rest, &second)?;
    Ok([first, second, third])
}

/// Two to the power of an exponent that the dtype has, made of bits.
fn power_of_two(n: &Val, dtype: DType) -> Result<Val> {
    let (_, bias, mantissa) = exponents_of(dtype);
    let n = to_dtype(n, if dtype == DType::F64 { DType::I64 } else { DType::I32 })?;
    let biased = lax::add(&n, &number(&n, bias.into()))?;
    lax::bitcast_convert_type(&lax::shift_left(&biased, &number(&n, mantissa.into()))?, dtype)
}
