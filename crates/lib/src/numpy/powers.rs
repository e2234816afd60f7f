//! Powers, exponentials and logarithms of single elements.

use pullback_base::{DType, Result};
use pullback_derive::public;
use pullback_ir::Val;

use super::elementwise::floating;
use crate::convert::{literal, to_dtype};
use crate::lax;

/// The real cube root, of negative numbers too.
///
/// Args:
///   x: an array or number that is not complex; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating dtype.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
/// Differentiable: yes, in both modes; the derivative at 0 is not finite.
/// Example:
///   >>> print(jnp.cbrt(jnp.array([0.0, 1.0, -1.0])))
///   [ 0.  1. -1.]
#[public("numpy.cbrt(x, /)")]
pub fn cbrt(x: &Val) -> Result<Val> {
    lax::cbrt(&floating("cbrt", x)?)
}

/// e to the power of each element.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is its own derivative.
/// Example:
///   >>> print(jnp.exp(jnp.array([0.0, -jnp.inf])))
///   [1. 0.]
#[public("numpy.exp(x, /)")]
pub fn exp(x: &Val) -> Result<Val> {
    lax::exp(&floating("exp", x)?)
}

/// 2 to the power of each element.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `log(2) * 2**x`.
/// Example:
///   >>> print(jnp.exp2(jnp.array([-1.0, 0.0, 3.0])))
///   [0.5 1.  8. ]
#[public("numpy.exp2(x, /)")]
pub fn exp2(x: &Val) -> Result<Val> {
    lax::exp2(&floating("exp2", x)?)
}

/// `exp(x) - 1`, without the cancellation that this formula has near 0.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `exp(x)`.
/// Example:
///   >>> print(jnp.expm1(jnp.array([0.0, -jnp.inf])))
///   [ 0. -1.]
///   >>> bool(jnp.expm1(1e-10) == jnp.float32(1e-10))
///   True
#[public("numpy.expm1(x, /)")]
pub fn expm1(x: &Val) -> Result<Val> {
    lax::expm1(&floating("expm1", x)?)
}

/// The natural logarithm; -inf at 0, NaN for negative real numbers.
/// Of complex numbers the principal value, with imaginary part from -pi to pi (DLMF 4.2).
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 / x`.
/// Example:
///   >>> print(jnp.log(jnp.array([1.0, 0.0, -1.0])))
///   [  0. -inf  nan]
#[public("numpy.log(x, /)")]
pub fn log(x: &Val) -> Result<Val> {
    lax::log(&floating("log", x)?)
}

/// The logarithm to base 10; -inf at 0, NaN for negative real numbers.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 / (x log(10))`.
/// Example:
///   >>> print(jnp.log10(jnp.array([1.0, 0.0, -1.0])))
///   [  0. -inf  nan]
#[public("numpy.log10(x, /)")]
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

/// `log(1 + x)`, without the loss of digits that this formula has near 0; -inf at -1, NaN for real numbers below.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 / (1 + x)`.
/// Example:
///   >>> print(jnp.log1p(jnp.array([0.0, -1.0, -2.0])))
///   [  0. -inf  nan]
///   >>> bool(jnp.log1p(1e-10) == jnp.float32(1e-10))
///   True
#[public("numpy.log1p(x, /)")]
pub fn log1p(x: &Val) -> Result<Val> {
    lax::log1p(&floating("log1p", x)?)
}

/// The logarithm to base 2; -inf at 0, NaN for negative real numbers.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 / (x log(2))`.
/// Example:
///   >>> print(jnp.log2(jnp.array([1.0, 2.0, 0.0])))
///   [  0.   1. -inf]
#[public("numpy.log2(x, /)")]
pub fn log2(x: &Val) -> Result<Val> {
    lax::log2(&floating("log2", x)?)
}

/// One over each element; an infinity at 0.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `-1 / x²`.
/// Example:
///   >>> print(jnp.reciprocal(jnp.array([2, 4, 0])))
///   [0.5  0.25  inf]
#[public("numpy.reciprocal(x, /)")]
pub fn reciprocal(x: &Val) -> Result<Val> {
    lax::reciprocal(&floating("reciprocal", x)?)
}

/// The square root that is not negative; NaN for negative real numbers, and -0.0 of -0.0.
/// Of complex numbers the principal root, whose real part is not negative.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; the derivative `1 / (2 sqrt(x))` is infinite at 0.
/// Example:
///   >>> print(jnp.sqrt(jnp.array([9, 0, -1])))
///   [ 3.  0. nan]
#[public("numpy.sqrt(x, /)")]
pub fn sqrt(x: &Val) -> Result<Val> {
    lax::sqrt(&floating("sqrt", x)?)
}

/// Each element times itself; integers stay integers and wrap around.
///
/// Args:
///   x: an array or number of any dtype but boolean.
/// Returns: an array of the shape and dtype of `x`.
/// Raises:
///   TypeError: `x` is boolean, or neither an array nor a number.
/// Differentiable: yes, in both modes, with derivative `2 x`.
/// Example:
///   >>> print(jnp.square(jnp.array([3, -2])))
///   [9 4]
#[public("numpy.square(x, /)")]
pub fn square(x: &Val) -> Result<Val> {
    if x.aval().dtype == DType::Bool {
        return lax::square(&to_dtype(x, DType::I32)?);
    }
    lax::square(x)
}
