//! Circular and hyperbolic functions, and units of angles.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::one;
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(acos, m)?)?;
    m.add_function(wrap_pyfunction!(acosh, m)?)?;
    m.add_function(wrap_pyfunction!(arccos, m)?)?;
    m.add_function(wrap_pyfunction!(arccosh, m)?)?;
    m.add_function(wrap_pyfunction!(arcsin, m)?)?;
    m.add_function(wrap_pyfunction!(arcsinh, m)?)?;
    m.add_function(wrap_pyfunction!(arctan, m)?)?;
    m.add_function(wrap_pyfunction!(arctanh, m)?)?;
    m.add_function(wrap_pyfunction!(asin, m)?)?;
    m.add_function(wrap_pyfunction!(asinh, m)?)?;
    m.add_function(wrap_pyfunction!(atan, m)?)?;
    m.add_function(wrap_pyfunction!(atanh, m)?)?;
    m.add_function(wrap_pyfunction!(cos, m)?)?;
    m.add_function(wrap_pyfunction!(cosh, m)?)?;
    m.add_function(wrap_pyfunction!(deg2rad, m)?)?;
    m.add_function(wrap_pyfunction!(degrees, m)?)?;
    m.add_function(wrap_pyfunction!(rad2deg, m)?)?;
    m.add_function(wrap_pyfunction!(radians, m)?)?;
    m.add_function(wrap_pyfunction!(sin, m)?)?;
    m.add_function(wrap_pyfunction!(sinc, m)?)?;
    m.add_function(wrap_pyfunction!(sinh, m)?)?;
    m.add_function(wrap_pyfunction!(tan, m)?)?;
    m.add_function(wrap_pyfunction!(tanh, m)?)?;
    Ok(())
}

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
///   >>> print(jnp.acos(jnp.array([1.0, 2.0])))
///   [ 0. nan]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn acos(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "acos", 0)?;
    one(py, || numpy::arccos(&x))
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
///   >>> print(jnp.acosh(jnp.array([1.0, 0.0])))
///   [ 0. nan]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn acosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "acosh", 0)?;
    one(py, || numpy::arccosh(&x))
}

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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arccos(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arccos", 0)?;
    one(py, || numpy::arccos(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arccosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arccosh", 0)?;
    one(py, || numpy::arccosh(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arcsin(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arcsin", 0)?;
    one(py, || numpy::arcsin(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arcsinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arcsinh", 0)?;
    one(py, || numpy::arcsinh(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arctan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arctan", 0)?;
    one(py, || numpy::arctan(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn arctanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "arctanh", 0)?;
    one(py, || numpy::arctanh(&x))
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
///   >>> print(jnp.asin(jnp.array([0.0, 2.0])))
///   [ 0. nan]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn asin(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "asin", 0)?;
    one(py, || numpy::arcsin(&x))
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
///   >>> print(jnp.asinh(jnp.array([0.0, jnp.inf])))
///   [ 0. inf]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn asinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "asinh", 0)?;
    one(py, || numpy::arcsinh(&x))
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
///   >>> print(jnp.atan(jnp.array([0.0])))
///   [0.]
///   >>> jax.grad(jnp.atan)(1.0).item()
///   0.5
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn atan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "atan", 0)?;
    one(py, || numpy::arctan(&x))
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
///   >>> print(jnp.atanh(jnp.array([0.0, 1.0, 2.0])))
///   [ 0. inf nan]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn atanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "atanh", 0)?;
    one(py, || numpy::arctanh(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn cos(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cos", 0)?;
    one(py, || numpy::cos(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn cosh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cosh", 0)?;
    one(py, || numpy::cosh(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn deg2rad(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "deg2rad", 0)?;
    one(py, || numpy::deg2rad(&x))
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
///   >>> print(jnp.degrees(jnp.array([0.0, jnp.pi])))
///   [  0. 180.]
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn degrees(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "degrees", 0)?;
    one(py, || numpy::rad2deg(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn rad2deg(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "rad2deg", 0)?;
    one(py, || numpy::rad2deg(&x))
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
///   >>> bool(jnp.radians(180.0) == jnp.float32(jnp.pi))
///   True
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn radians(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "radians", 0)?;
    one(py, || numpy::deg2rad(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sin(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sin", 0)?;
    one(py, || numpy::sin(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sinc(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sinc", 0)?;
    one(py, || numpy::sinc(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sinh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sinh", 0)?;
    one(py, || numpy::sinh(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn tan(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tan", 0)?;
    one(py, || numpy::tan(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn tanh(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "tanh", 0)?;
    one(py, || numpy::tanh(&x))
}
