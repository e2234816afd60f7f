//! Exponentials, logarithms, powers and roots of one operand.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::one;
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(cbrt, m)?)?;
    m.add_function(wrap_pyfunction!(exp, m)?)?;
    m.add_function(wrap_pyfunction!(exp2, m)?)?;
    m.add_function(wrap_pyfunction!(expm1, m)?)?;
    m.add_function(wrap_pyfunction!(log, m)?)?;
    m.add_function(wrap_pyfunction!(log10, m)?)?;
    m.add_function(wrap_pyfunction!(log1p, m)?)?;
    m.add_function(wrap_pyfunction!(log2, m)?)?;
    m.add_function(wrap_pyfunction!(reciprocal, m)?)?;
    m.add_function(wrap_pyfunction!(sqrt, m)?)?;
    m.add_function(wrap_pyfunction!(square, m)?)?;
    Ok(())
}

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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn cbrt(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cbrt", 0)?;
    one(py, || numpy::cbrt(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn exp(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "exp", 0)?;
    one(py, || numpy::exp(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn exp2(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "exp2", 0)?;
    one(py, || numpy::exp2(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn expm1(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "expm1", 0)?;
    one(py, || numpy::expm1(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log", 0)?;
    one(py, || numpy::log(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log10(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log10", 0)?;
    one(py, || numpy::log10(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log1p(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log1p", 0)?;
    one(py, || numpy::log1p(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn log2(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "log2", 0)?;
    one(py, || numpy::log2(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn reciprocal(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "reciprocal", 0)?;
    one(py, || numpy::reciprocal(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn sqrt(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "sqrt", 0)?;
    one(py, || numpy::sqrt(&x))
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
#[pyfunction]
#[pyo3(signature = (x, /), text_signature = "(x, /)")]
fn square(py: Python<'_>, x: ArrayLike) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "square", 0)?;
    one(py, || numpy::square(&x))
}
