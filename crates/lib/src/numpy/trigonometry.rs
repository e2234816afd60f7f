//! Circular and hyperbolic functions of single elements.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use super::elementwise::floating;
use super::where_;
use crate::convert::{constant, number};
use crate::jit::named_jit_one;
use crate::lax::{self, RoundingMethod};

/// The inverse cosine, in radians from 0 to pi; NaN for real numbers outside of [-1, 1].
/// Of complex numbers the principal value with cuts along the real axis outside of [-1, 1] (DLMF 4.23).
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; the derivative `-1 / sqrt(1 - x²)` is infinite at -1 and 1.
/// Example:
///   >>> print(jnp.arccos(jnp.array([1.0, 2.0])))
///   [ 0. nan]
#[public("numpy.arccos(x, /)", "numpy.acos")]
pub fn arccos(x: &Val) -> Result<Val> {
    lax::acos(&floating("arccos", x)?)
}

/// The inverse hyperbolic cosine `log(x + sqrt(x² - 1))`, not negative; NaN for real numbers below 1.
/// Of complex numbers the principal value with a cut along the real axis below 1 (DLMF 4.37).
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; the derivative `1 / sqrt(x² - 1)` is infinite at 1.
/// Example:
///   >>> print(jnp.arccosh(jnp.array([1.0, 0.0])))
///   [ 0. nan]
#[public("numpy.arccosh(x, /)", "numpy.acosh")]
pub fn arccosh(x: &Val) -> Result<Val> {
    named_jit_one("arccosh", &[], std::slice::from_ref(x), |args| lax::acosh(&floating("arccosh", &args[0])?))
}

/// The inverse sine, in radians from -pi/2 to pi/2; NaN for real numbers outside of [-1, 1].
/// Of complex numbers the principal value with cuts along the real axis outside of [-1, 1] (DLMF 4.23).
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; the derivative `1 / sqrt(1 - x²)` is infinite at -1 and 1.
/// Example:
///   >>> print(jnp.arcsin(jnp.array([0.0, 2.0])))
///   [ 0. nan]
#[public("numpy.arcsin(x, /)", "numpy.asin")]
pub fn arcsin(x: &Val) -> Result<Val> {
    lax::asin(&floating("arcsin", x)?)
}

/// The inverse hyperbolic sine `log(x + sqrt(x² + 1))`, odd and defined for all real numbers.
/// Of complex numbers the principal value with cuts along the imaginary axis outside of [-i, i] (DLMF 4.37).
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 / sqrt(x² + 1)`.
/// Example:
///   >>> print(jnp.arcsinh(jnp.array([0.0, jnp.inf])))
///   [ 0. inf]
#[public("numpy.arcsinh(x, /)", "numpy.asinh")]
pub fn arcsinh(x: &Val) -> Result<Val> {
    lax::asinh(&floating("arcsinh", x)?)
}

/// The inverse tangent, in radians from -pi/2 to pi/2, which infinities give.
/// Of complex numbers the principal value with cuts along the imaginary axis outside of [-i, i] (DLMF 4.23).
/// See `arctan2` for the angle of a point of the plane.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 / (1 + x²)`.
/// Example:
///   >>> print(jnp.arctan(jnp.array([0.0])))
///   [0.]
///   >>> jax.grad(jnp.arctan)(1.0).item()
///   0.5
#[public("numpy.arctan(x, /)", "numpy.atan")]
pub fn arctan(x: &Val) -> Result<Val> {
    lax::atan(&floating("arctan", x)?)
}

/// The inverse hyperbolic tangent `log((1 + x) / (1 - x)) / 2`; infinite at -1 and 1, NaN for real numbers beyond.
/// Of complex numbers the principal value with cuts along the real axis outside of [-1, 1] (DLMF 4.37).
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 / (1 - x²)`.
/// Example:
///   >>> print(jnp.arctanh(jnp.array([0.0, 1.0, 2.0])))
///   [ 0. inf nan]
#[public("numpy.arctanh(x, /)", "numpy.atanh")]
pub fn arctanh(x: &Val) -> Result<Val> {
    lax::atanh(&floating("arctanh", x)?)
}

/// The cosine of each element, in radians; NaN for infinities.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `-sin(x)`.
/// Example:
///   >>> print(jnp.cos(jnp.array([0.0, jnp.inf])))
///   [ 1. nan]
#[public("numpy.cos(x, /)")]
pub fn cos(x: &Val) -> Result<Val> {
    lax::cos(&floating("cos", x)?)
}

/// The hyperbolic cosine `(exp(x) + exp(-x)) / 2`.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `sinh(x)`.
/// Example:
///   >>> print(jnp.cosh(jnp.array([0.0, jnp.inf])))
///   [ 1. inf]
#[public("numpy.cosh(x, /)")]
pub fn cosh(x: &Val) -> Result<Val> {
    lax::cosh(&floating("cosh", x)?)
}

/// Degrees as radians: each element times pi / 180.
///
/// Args:
///   x: an array or number, in degrees; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype, in radians.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> bool(jnp.deg2rad(180.0) == jnp.float32(jnp.pi))
///   True
#[public("numpy.deg2rad(x, /)", "numpy.radians")]
pub fn deg2rad(x: &Val) -> Result<Val> {
    let x = floating("deg2rad", x)?;
    lax::mul(&x, &constant(&x, std::f64::consts::PI / 180.0))
}

/// Radians as degrees: each element times 180 / pi.
///
/// Args:
///   x: an array or number, in radians; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype, in degrees.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.rad2deg(jnp.array([0.0, jnp.pi])))
///   [  0. 180.]
#[public("numpy.rad2deg(x, /)", "numpy.degrees")]
pub fn rad2deg(x: &Val) -> Result<Val> {
    let x = floating("rad2deg", x)?;
    lax::mul(&x, &constant(&x, 180.0 / std::f64::consts::PI))
}

/// The sine of each element, in radians; NaN for infinities.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `cos(x)`.
/// Example:
///   >>> print(jnp.sin(jnp.array([0.0, jnp.inf])))
///   [ 0. nan]
#[public("numpy.sin(x, /)")]
pub fn sin(x: &Val) -> Result<Val> {
    lax::sin(&floating("sin", x)?)
}

/// The normalized cardinal sine `sin(pi x) / (pi x)`, 1 at 0.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; at 0 too, where the derivative is 0.
/// Example:
///   >>> print(jnp.sinc(jnp.array([0.0, 0.0])))
///   [1. 1.]
///   >>> jax.grad(jnp.sinc)(0.0).item()
///   0.0
#[public("numpy.sinc(x, /)")]
pub fn sinc(x: &Val) -> Result<Val> {
    named_jit_one("sinc", &[], std::slice::from_ref(x), |args| {
        let x = floating("sinc", &args[0])?;
        // Near 0 the quotient has the value but not the derivatives, in which ever greater numbers cancel.
        let is_near = lax::lt(&lax::abs(&x)?, &number(&lax::abs(&x)?, 0.5))?;
        let far = where_(&is_near, &number(&x, 1.0), &x)?;
        let ratio = lax::div(&sin_pi(&far)?, &lax::mul(&constant(&x, std::f64::consts::PI), &far)?)?;
        let near = sinc_series(&where_(&is_near, &x, &number(&x, 0.0))?)?;
        let value = where_(&is_near, &near, &ratio)?;
        where_(&is_real_infinity(&x)?, &constant(&x, 0.0), &value)
    })
}

/// The hyperbolic sine `(exp(x) - exp(-x)) / 2`.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `cosh(x)`.
/// Example:
///   >>> print(jnp.sinh(jnp.array([0.0, -jnp.inf])))
///   [  0. -inf]
#[public("numpy.sinh(x, /)")]
pub fn sinh(x: &Val) -> Result<Val> {
    lax::sinh(&floating("sinh", x)?)
}

/// The tangent of each element, in radians.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 + tan(x)²`.
/// Example:
///   >>> print(jnp.tan(jnp.array([0.0, jnp.inf])))
///   [ 0. nan]
#[public("numpy.tan(x, /)")]
pub fn tan(x: &Val) -> Result<Val> {
    lax::tan(&floating("tan", x)?)
}

/// The hyperbolic tangent, between -1 and 1.
///
/// Args:
///   x: an array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating or complex dtype.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes, with derivative `1 - tanh(x)²`.
/// Example:
///   >>> print(jnp.tanh(jnp.array([0.0, jnp.inf])))
///   [0. 1.]
#[public("numpy.tanh(x, /)")]
pub fn tanh(x: &Val) -> Result<Val> {
    lax::tanh(&floating("tanh", x)?)
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

/// `sin(πx)`, 0 at infinities: the nearest integer is taken off first, so that whole numbers give 0 exactly.
fn sin_pi(x: &Val) -> Result<Val> {
    if x.aval().dtype.is_complex() {
        return lax::sin(&lax::mul(&number(x, std::f64::consts::PI), x)?);
    }
    let is_infinite = lax::eq(&lax::abs(x)?, &number(x, f64::INFINITY))?;
    let x = &where_(&is_infinite, &number(x, 0.0), x)?;
    let whole = lax::stop_gradient(&lax::round(x, RoundingMethod::ToNearestEven)?)?;
    let rest = lax::sub(x, &whole)?;
    let half = lax::mul(&whole, &number(x, 0.5))?;
    let is_odd = lax::ne(&half, &lax::floor(&half)?)?;
    let sine = lax::sin(&lax::mul(&number(x, std::f64::consts::PI), &rest)?)?;
    where_(&is_odd, &lax::neg(&sine)?, &sine)
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
