//! Functions of two operands: arithmetic, comparison, bits, and the operators of arrays.

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{greater, less, not_equal, where_};
use crate::broadcast::{broadcast_shapes, promote_ranks};
use crate::convert::{constant, convert, inexact, literal, number, to_dtype};
use crate::custom;
use crate::jit::{named_jit, named_jit_one};
use crate::lax::{self, RoundingMethod};
use crate::promotion::{Operands, check_arguments, promote, promote_args_inexact, promote_dtypes};

pub(super) type Binary = fn(&Val, &Val) -> Result<Val>;

pub(super) fn promoted(name: &str, x: &Val, y: &Val, op: impl Fn(&Val, &Val) -> Result<Val>) -> Result<Val> {
    let ins = promote(name, &[x.clone(), y.clone()])?;
    op(&ins[0], &ins[1])
}

fn promoted_inexact(name: &str, x: &Val, y: &Val, op: Binary) -> Result<Val> {
    let ins = promote_args_inexact(name, &[x.clone(), y.clone()])?;
    op(&ins[0], &ins[1])
}

fn is_bool(x: &Val) -> bool {
    x.aval().dtype == DType::Bool
}

/// The difference of two arrays element by element; unsigned integers wrap around.
/// A `ufunc`: `jnp.subtract.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position; not both boolean.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: both are boolean, an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes, with respect to both; it is linear.
/// Example:
///   >>> print(jnp.subtract(jnp.array([1, 2]), 10))
///   [-9 -8]
#[public("numpy.subtract(x1, x2, /)")]
pub fn subtract(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("subtract", x1, x2, lax::sub)
}

/// The greater of two elements; NaN when either is NaN. Complex numbers compare by real part, then imaginary part.
/// A `ufunc`: `jnp.maximum.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes; where both are equal each gets half of the gradient.
/// Example:
///   >>> print(jnp.maximum(jnp.array([1.0, 5.0, jnp.nan]), 3.0))
///   [ 3.  5. nan]
#[public("numpy.maximum(x1, x2, /)")]
pub fn maximum(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("maximum", x1, x2, lax::max)
}

/// The smaller of two elements; NaN when either is NaN. Complex numbers compare by real part, then imaginary part.
/// A `ufunc`: `jnp.minimum.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes; where both are equal each gets half of the gradient.
/// Example:
///   >>> print(jnp.minimum(jnp.array([1.0, 5.0, jnp.nan]), 3.0))
///   [ 1.  3. nan]
#[public("numpy.minimum(x1, x2, /)")]
pub fn minimum(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("minimum", x1, x2, lax::min)
}

/// The bits that both integers have; of booleans whether both are true.
/// A `ufunc`: `jnp.bitwise_and.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: integer or boolean arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_and(jnp.array([6, 5]), 3))
///   [2 1]
#[public("numpy.bitwise_and(x1, x2, /)")]
pub fn bitwise_and(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("bitwise_and", x1, x2, lax::bitwise_and)
}

/// The bits that either integer has; of booleans whether either is true.
/// A `ufunc`: `jnp.bitwise_or.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: integer or boolean arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_or(jnp.array([6, 5]), 3))
///   [7 7]
#[public("numpy.bitwise_or(x1, x2, /)")]
pub fn bitwise_or(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("bitwise_or", x1, x2, lax::bitwise_or)
}

/// The bits that exactly one integer has; of booleans whether exactly one is true.
/// A `ufunc`: `jnp.bitwise_xor.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: integer or boolean arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is no floating number.
/// Example:
///   >>> print(jnp.bitwise_xor(jnp.array([6, 5]), 3))
///   [5 6]
#[public("numpy.bitwise_xor(x1, x2, /)")]
pub fn bitwise_xor(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("bitwise_xor", x1, x2, lax::bitwise_xor)
}

/// The bits of `x` moved up by `y` places, zeros coming in; 0 when `y` is not below the width.
///
/// Args:
///   x, y: the numbers and the distances: integer or boolean arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype; booleans count as 0 and 1.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.left_shift(jnp.array([1, 5]), 2))
///   [ 4 20]
#[public("numpy.left_shift(x, y, /)", "numpy.bitwise_left_shift")]
pub fn left_shift(x: &Val, y: &Val) -> Result<Val> {
    shifted("left_shift", x, y, lax::shift_left)
}

/// The sum of two arrays element by element; of booleans whether either is true.
/// Integers wrap around. A `ufunc`: `jnp.add.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes, with respect to both; it is linear.
/// Example:
///   >>> print(jnp.add(jnp.array([1, 2]), 10))
///   [11 12]
#[public("numpy.add(x1, x2, /)")]
pub fn add(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("add", x1, x2, |x1, x2| if is_bool(x1) { lax::bitwise_or(x1, x2) } else { lax::add(x1, x2) })
}

/// The product of two arrays element by element; of booleans whether both are true.
/// Integers wrap around. A `ufunc`: `jnp.multiply.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.multiply(jnp.array([1, 2]), 10))
///   [10 20]
#[public("numpy.multiply(x1, x2, /)")]
pub fn multiply(x1: &Val, x2: &Val) -> Result<Val> {
    promoted("multiply", x1, x2, |x1, x2| if is_bool(x1) { lax::bitwise_and(x1, x2) } else { lax::mul(x1, x2) })
}

/// The quotient of two arrays element by element, never of integer dtype.
/// Division by 0 gives an infinity of the right sign, 0 by 0 NaN.
///
/// Args:
///   x1, x2: the dividend and the divisor: arrays or numbers whose shapes broadcast; integers and booleans become
///     floating.
/// Returns: an array of the broadcast shape and the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.true_divide(jnp.array([1, -1, 0]), jnp.array([2, 0, 0])))
///   [ 0.5 -inf  nan]
#[public("numpy.true_divide(x1, x2, /)", "numpy.divide")]
pub fn true_divide(x1: &Val, x2: &Val) -> Result<Val> {
    promoted_inexact("true_divide", x1, x2, lax::div)
}

/// The bits of `x1` moved down by `x2` places; signed integers keep their sign, so that it divides by `2**x2`
/// rounding down.
///
/// Args:
///   x1, x2: the numbers and the distances: integer or boolean arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted integer dtype; booleans count as 0 and 1.
/// Raises:
///   TypeError: an argument is floating, complex or no array or number, or the shapes do not broadcast.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.right_shift(jnp.array([20, -5]), 1))
///   [10 -3]
#[public("numpy.right_shift(x1, x2, /)", "numpy.bitwise_right_shift")]
pub fn right_shift(x1: &Val, x2: &Val) -> Result<Val> {
    shifted("right_shift", x1, x2, |x1, x2| match x1.aval().dtype.kind() {
        Kind::Unsigned => lax::shift_right_logical(x1, x2),
        _ => lax::shift_right_arithmetic(x1, x2),
    })
}

/// The angle of the point `(x2, x1)` of the plane, in radians from -pi to pi: the inverse tangent of `x1 / x2` in
/// the right quadrant.
/// Signed zeros tell the side of the cut: `arctan2(-0.0, -1.0)` is -pi. Of (0, 0) it is 0.
///
/// Args:
///   x1, x2: the ordinate and the abscissa: real arrays or numbers whose shapes broadcast; integers and booleans
///     become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, away from (0, 0): `x2 / (x1² + x2²)` and `-x1 / (x1² + x2²)`.
/// Example:
///   >>> print(jnp.arctan2(jnp.array([0.0, 0.0]), jnp.array([1.0, -1.0])))
///   [0.        3.1415927]
#[public("numpy.arctan2(x1, x2, /)", "numpy.atan2")]
pub fn arctan2(x1: &Val, x2: &Val) -> Result<Val> {
    promoted_inexact("arctan2", x1, x2, lax::atan2)
}

/// The floating number next to `x` on the way to `y`; `y` where both are equal.
///
/// Args:
///   x, y: start and direction: real arrays or numbers whose shapes broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype; NaN where an argument is NaN.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: with respect to `x`, with derivative 1 where it differs from `y`.
/// Example:
///   >>> print(jnp.nextafter(jnp.array([1.0, 1.0]), jnp.array([2.0, 0.0])) - 1.0)
///   [ 1.1920929e-07 -5.9604645e-08]
#[public("numpy.nextafter(x, y, /)")]
pub fn nextafter(x: &Val, y: &Val) -> Result<Val> {
    promoted_inexact("nextafter", x, y, lax::nextafter)
}

/// `op` of whether the operands are nonzero.
fn masked(name: &str, x: &Val, y: &Val, op: Binary) -> Result<Val> {
    promoted(name, x, y, |x, y| op(&lax::nonzero_mask(x)?, &lax::nonzero_mask(y)?))
}

/// For each pair of elements whether both differ from 0; NaN does.
/// A `ufunc`: `jnp.logical_and.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers of any dtype whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.logical_and(jnp.array([0, 1, 2]), 1))
///   [False  True  True]
#[public("numpy.logical_and(x1, x2, /)")]
pub fn logical_and(x1: &Val, x2: &Val) -> Result<Val> {
    masked("logical_and", x1, x2, lax::bitwise_and)
}

/// For each pair of elements whether either differs from 0; NaN does.
/// A `ufunc`: `jnp.logical_or.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers of any dtype whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.logical_or(jnp.array([0, 1]), 0))
///   [False  True]
#[public("numpy.logical_or(x1, x2, /)")]
pub fn logical_or(x1: &Val, x2: &Val) -> Result<Val> {
    masked("logical_or", x1, x2, lax::bitwise_or)
}

/// For each pair of elements whether exactly one differs from 0; NaN does.
/// A `ufunc`: `jnp.logical_xor.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: arrays or numbers of any dtype whose shapes broadcast, passed by position.
///   out, where: for compatibility; must be None.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: `out` or `where` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.logical_xor(jnp.array([0, 1]), 1))
///   [ True False]
#[public("numpy.logical_xor(x1, x2, /)")]
pub fn logical_xor(x1: &Val, x2: &Val) -> Result<Val> {
    masked("logical_xor", x1, x2, lax::bitwise_xor)
}

/// The quotient rounded down, towards minus infinity, element by element.
/// Floating division by 0 gives an infinity or NaN; what integer division by 0 gives is not specified.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype: integers stay integers, booleans become such.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: floating numbers with derivative 0 almost everywhere.
/// Example:
///   >>> print(jnp.floor_divide(jnp.array([7, -7]), 2))
///   [ 3 -4]
#[public("numpy.floor_divide(x1, x2, /)")]
pub fn floor_divide(x1: &Val, x2: &Val) -> Result<Val> {
    check_arguments("floor_divide", &[x1.clone(), x2.clone()])?;
    named_jit_one("floor_divide", &[], &[x1.clone(), x2.clone()], |args| {
        let ins = of_booleans(&promote("floor_divide", args)?)?;
        let (x1, x2) = (&ins[0], &ins[1]);
        match x1.aval().dtype.kind() {
            Kind::Unsigned => lax::div(x1, x2),
            Kind::Signed => floor_divide_signed(x1, x2),
            Kind::Complex => bail!(Type, "floor_divide does not support complex-valued inputs"),
            Kind::Bool | Kind::Float | Kind::Float0 | Kind::Key => Ok(float_divmod(x1, x2)?.0),
        }
    })
}

/// `op` of promoted operands; two booleans are numbers.
fn shifted(name: &str, x: &Val, y: &Val, op: impl Fn(&Val, &Val) -> Result<Val>) -> Result<Val> {
    let ins = of_booleans(&promote(name, &[x.clone(), y.clone()])?)?;
    op(&ins[0], &ins[1])
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
    Ok((lax::round(&quotient, RoundingMethod::AwayFromZero)?, rem))
}

/// The remainder of the division rounded down: `x1 - floor(x1 / x2) * x2`, with the sign of `x2`.
/// By 0 it is NaN; what integers give by 0 is not specified. See `fmod` for the sign of `x1`.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: almost everywhere with respect to both: 1 and `-floor(x1 / x2)`.
/// Example:
///   >>> print(jnp.remainder(jnp.array([7, -7]), 3))
///   [1 2]
///   >>> print(jnp.remainder(jnp.array([7.5, -7.5]), -2.0))
///   [-0.5 -1.5]
#[public("numpy.remainder(x1, x2, /)", "numpy.mod")]
pub fn remainder(x1: &Val, x2: &Val) -> Result<Val> {
    named_jit_one("remainder", &[], &[x1.clone(), x2.clone()], |args| {
        let ins = of_booleans(&promote("remainder", args)?)?;
        let (x1, mut x2) = (&ins[0], ins[1].clone());
        if x1.aval().dtype.is_integer() {
            let by_zero = lax::eq(&x2, &number(&x2, 0.0))?;
            x2 = where_(&by_zero, &lax::full_like(&x2, 1.0)?, &x2)?;
        }
        let rem = lax::rem(x1, &x2)?;
        let zero = number(&rem, 0.0);
        let remains = lax::ne(&rem, &zero)?;
        let signs_differ = lax::ne(&lax::lt(&rem, &zero)?, &lax::lt(&x2, &zero)?)?;
        let adjusts = lax::bitwise_and(&signs_differ, &remains)?;
        lax::select(&adjusts, &lax::add(&rem, &x2)?, &rem)
    })
}

/// The remainder of the division rounded towards zero, with the sign of `x1`, as C has it.
/// By 0 it is NaN; what integers give by 0 is not specified. See `remainder` for the sign of `x2`.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: almost everywhere with respect to both: 1 and `-trunc(x1 / x2)`.
/// Example:
///   >>> print(jnp.fmod(jnp.array([7, -7]), 3))
///   [ 1 -1]
#[public("numpy.fmod(x1, x2, /)")]
pub fn fmod(x1: &Val, x2: &Val) -> Result<Val> {
    named_jit_one("fmod", &[], &[x1.clone(), x2.clone()], |args| {
        let ins = of_booleans(&promote("fmod", args)?)?;
        let (x1, mut x2) = (&ins[0], ins[1].clone());
        if x1.aval().dtype.is_integer() {
            let by_zero = lax::eq(&x2, &number(&x2, 0.0))?;
            x2 = where_(&by_zero, &lax::full_like(&x2, 1.0)?, &x2)?;
        }
        lax::rem(x1, &x2)
    })
}

/// The quotient rounded down and its remainder: `(floor_divide(x1, x2), remainder(x1, x2))`.
///
/// Args:
///   x1, x2: the dividend and the divisor: real arrays or numbers whose shapes broadcast.
/// Returns: a pair of arrays of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: as `floor_divide` and `remainder` are.
/// Example:
///   >>> quotient, rest = jnp.divmod(jnp.array([7, -7]), 3)
///   >>> print(quotient, rest)
///   [ 2 -3] [1 2]
#[public("numpy.divmod(x1, x2, /)")]
pub fn divmod(x1: &Val, x2: &Val) -> Result<(Val, Val)> {
    let mut outs = named_jit("divmod", &[], &[x1.clone(), x2.clone()], |args| {
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

/// `x1` to the power of `x2` element by element; `0**0` is 1.
/// A static integer exponent is unrolled to products. Integers stay integers and wrap around; negative
/// floating numbers to fractions are NaN.
///
/// Args:
///   x1, x2: the base and the exponent: arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype; booleans become int32.
/// Raises:
///   TypeError: an integer to a static negative integer (see `float_power`); an argument is neither an array nor a
///     number; or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to floating arguments; NaN with respect to `x2` where `x1` is
///   negative.
/// Example:
///   >>> print(jnp.power(jnp.array([2, 3]), 3))
///   [ 8 27]
///   >>> jnp.power(jnp.array([2, 3]), -1)
///   Traceback (most recent call last):
///       ...
///   TypeError: Integers cannot be raised to negative powers...
#[public("numpy.power(x1, x2, /)", "numpy.pow")]
pub fn power(x1: &Val, x2: &Val) -> Result<Val> {
    if let Some(exponent) = fixed_exponent(x2) {
        return fixed_power(x1, exponent);
    }
    let ins = promote("power", &[x1.clone(), x2.clone()])?;
    let exponent_dtype = x2.aval().dtype;
    if ins[0].aval().dtype.is_inexact() && exponent_dtype.is_integer() {
        let ranked = promote_ranks("power", [ins[0].clone(), x2.clone()].into_iter().collect())?;
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
    let mut result = where_(&is_zero, &constant(x, 0.0), &constant(x, 1.0))?;
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

/// `x` to the power of `y` in floating or complex arithmetic, so that negative powers of integers are defined.
///
/// Args:
///   x, y: the base and the exponent: arrays or numbers whose shapes broadcast; integers and booleans become
///     floating.
/// Returns: an array of the broadcast shape and the promoted floating or complex dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to both; NaN with respect to `y` where `x` is negative.
/// Example:
///   >>> print(jnp.float_power(jnp.array([2, 4]), -1))
///   [0.5  0.25]
#[public("numpy.float_power(x, y, /)")]
pub fn float_power(x: &Val, y: &Val) -> Result<Val> {
    promoted_inexact("float_power", x, y, lax::pow)
}

/// `log(exp(x1) + exp(x2))` without overflow: the greater plus `log1p(exp(-|x1 - x2|))`.
/// A `ufunc`: `jnp.logaddexp.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: real arrays or numbers whose shapes broadcast, passed by position; integers become floating.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted floating dtype; -inf where both are -inf.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: an argument is complex, or `out` or `where` is given.
/// Differentiable: yes, in both modes; the two derivatives sum to 1, and are NaN where both arguments are -inf.
/// Example:
///   >>> print(jnp.logaddexp(jnp.array([1000.0, -jnp.inf]), -jnp.inf))
///   [1000.  -inf]
#[public("numpy.logaddexp(x1, x2, /)")]
pub fn logaddexp(x1: &Val, x2: &Val) -> Result<Val> {
    let ins = promote_args_inexact("logaddexp", &[x1.clone(), x2.clone()])?;
    custom::logaddexp(&ins[0], &ins[1])
}

/// `log2(2**x1 + 2**x2)` without overflow.
/// A `ufunc`: `jnp.logaddexp2.reduce`, `.accumulate`, `.at`, `.outer` and `.reduceat` exist.
///
/// Args:
///   x1, x2: real arrays or numbers whose shapes broadcast, passed by position; integers become floating.
///   out, where: for compatibility; must be None.
/// Returns: an array of the broadcast shape and the promoted floating dtype; -inf where both are -inf.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   NotImplementedError: an argument is complex, or `out` or `where` is given.
/// Differentiable: yes, in both modes; the two derivatives sum to 1, and are NaN where both arguments are -inf.
/// Example:
///   >>> print(jnp.logaddexp2(jnp.array([1.0, 1000.0]), jnp.array([1.0, 1000.0])))
///   [   2. 1001.]
#[public("numpy.logaddexp2(x1, x2, /)")]
pub fn logaddexp2(x1: &Val, x2: &Val) -> Result<Val> {
    let ins = promote_args_inexact("logaddexp2", &[x1.clone(), x2.clone()])?;
    custom::logaddexp2(&ins[0], &ins[1])
}

/// The length `sqrt(x1² + x2²)` of the hypotenuse, without overflow where the result is finite.
///
/// Args:
///   x1, x2: the legs: real arrays or numbers whose shapes broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype, not negative.
/// Raises:
///   TypeError: an argument is complex or neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes, away from (0, 0).
/// Example:
///   >>> print(jnp.hypot(jnp.array([3.0, 5.0]), jnp.array([4.0, 12.0])))
///   [ 5. 13.]
#[public("numpy.hypot(x1, x2, /)")]
pub fn hypot(x1: &Val, x2: &Val) -> Result<Val> {
    let ins = promote_args_inexact("hypot", &[x1.clone(), x2.clone()])?;
    if ins[0].aval().dtype.is_complex() {
        bail!(
            Value,
            "jnp.hypot is not well defined for complex-valued inputs. Please convert to real values first, such as by \
             using abs(x1)"
        );
    }
    let avals = [ins[0].aval(), ins[1].aval()];
    broadcast_shapes(&[&avals[0].shape, &avals[1].shape])?;
    named_jit_one("hypot", &[], &ins, |args| custom::hypot(&args[0], &args[1]))
}

/// The magnitude of `x1` with the sign of `x2`, the sign of zeros included.
///
/// Args:
///   x1, x2: the magnitudes and the signs: real arrays or numbers whose shapes broadcast; integers and booleans
///     become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: an argument is complex, or the shapes do not broadcast.
/// Differentiable: with respect to `x1`, away from 0; the derivative with respect to `x2` is 0.
/// Example:
///   >>> print(jnp.copysign(jnp.array([1.0, -2.0]), jnp.array([-0.0, 3.0])))
///   [-1.  2.]
#[public("numpy.copysign(x1, x2, /)")]
pub fn copysign(x1: &Val, x2: &Val) -> Result<Val> {
    let ins = promote_args_inexact("copysign", &[x1.clone(), x2.clone()])?;
    if ins[0].aval().dtype.is_complex() {
        bail!(Type, "copysign does not support complex-valued inputs");
    }
    named_jit_one("copysign", &[], &ins, |args| {
        let is_negative = super::signbit(&args[1])?;
        where_(&is_negative, &lax::neg(&lax::abs(&args[0])?)?, &lax::abs(&args[0])?)
    })
}

/// The step function: 0 for negative `x1`, `x2` where `x1` is 0, 1 for positive `x1`, and NaN for NaN.
///
/// Args:
///   x1: where to evaluate: a real array or number; integers and booleans become floating.
///   x2: the value at 0: a real array or number that broadcasts with `x1`.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is complex, or neither an array nor a number.
///   ValueError: the shapes do not broadcast.
/// Differentiable: with derivative 0 with respect to `x1`; 1 with respect to `x2` where `x1` is 0.
/// Example:
///   >>> print(jnp.heaviside(jnp.array([-2.0, 0.0, 3.0]), 0.5))
///   [0.  0.5 1. ]
#[public("numpy.heaviside(x1, x2, /)")]
pub fn heaviside(x1: &Val, x2: &Val) -> Result<Val> {
    let ins = promote_args_inexact("heaviside", &[x1.clone(), x2.clone()])?;
    named_jit_one("heaviside", &[], &ins, |args| {
        let (x1, x2) = (&args[0], &args[1]);
        let zero = crate::convert::constant(x1, 0.0);
        let (is_negative, is_positive) = (lax::lt(x1, &zero)?, lax::gt(x1, &zero)?);
        let at_zero = where_(&lax::ne(x1, x1)?, x1, x2)?;
        let not_negative = where_(&is_positive, &number(x1, 1.0), &at_zero)?;
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

/// The greater of two elements; where one is NaN the other one, and NaN only where both are.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes; where both are equal the gradient goes to `x2`.
/// Example:
///   >>> print(jnp.fmax(jnp.array([1.0, 5.0, jnp.nan]), 3.0))
///   [3. 5. 3.]
#[public("numpy.fmax(x1, x2)")]
pub fn fmax(x1: &Val, x2: &Val) -> Result<Val> {
    ignoring_nan("fmax", x1, x2, greater)
}

/// The smaller of two elements; where one is NaN the other one, and NaN only where both are.
///
/// Args:
///   x1, x2: arrays or numbers whose shapes broadcast.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: yes, in both modes; where both are equal the gradient goes to `x2`.
/// Example:
///   >>> print(jnp.fmin(jnp.array([1.0, 5.0, jnp.nan]), 3.0))
///   [1. 3. 3.]
#[public("numpy.fmin(x1, x2)")]
pub fn fmin(x1: &Val, x2: &Val) -> Result<Val> {
    ignoring_nan("fmin", x1, x2, less)
}

/// `x1 * 2**x2`, the inverse of `frexp`.
///
/// Args:
///   x1: the mantissas: a real array or number; integers and booleans become floating.
///   x2: the exponents: an integer array or number that broadcasts with `x1`.
/// Returns: an array of the broadcast shape and the floating dtype of `x1`.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
///   ValueError: `x1` is complex, or `x2` is floating or complex.
/// Differentiable: with respect to `x1`.
/// Example:
///   >>> print(jnp.ldexp(jnp.array([1.5, 0.75]), jnp.array([3, -1])))
///   [12.     0.375]
#[public("numpy.ldexp(x1, x2, /)")]
pub fn ldexp(x1: &Val, x2: &Val) -> Result<Val> {
    let (mantissas, exponents) = (x1.aval().dtype, x2.aval().dtype);
    if mantissas.is_complex() || exponents.is_inexact() {
        bail!(Value, "ldexp takes real mantissas and integer exponents, got {mantissas} and {exponents}");
    }
    named_jit_one("ldexp", &[], &[x1.clone(), x2.clone()], |args| {
        let dtype = inexact(args[0].aval().dtype);
        // Narrow types are rounded once, at the end.
        let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
        let mut x1 = to_dtype(&args[0], wide)?;
        for part in thirds(&args[1], wide)? {
            x1 = multiply(&x1, &power_of_two(&part, wide)?)?;
        }
        to_dtype(&x1, dtype)
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
