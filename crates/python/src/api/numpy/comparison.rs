//! Comparisons, logic and extremes of two operands.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::one;
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(equal, m)?)?;
    m.add_function(wrap_pyfunction!(fmax, m)?)?;
    m.add_function(wrap_pyfunction!(fmin, m)?)?;
    m.add_function(wrap_pyfunction!(greater, m)?)?;
    m.add_function(wrap_pyfunction!(greater_equal, m)?)?;
    m.add_function(wrap_pyfunction!(less, m)?)?;
    m.add_function(wrap_pyfunction!(less_equal, m)?)?;
    m.add_function(wrap_pyfunction!(logical_and, m)?)?;
    m.add_function(wrap_pyfunction!(logical_or, m)?)?;
    m.add_function(wrap_pyfunction!(logical_xor, m)?)?;
    m.add_function(wrap_pyfunction!(maximum, m)?)?;
    m.add_function(wrap_pyfunction!(minimum, m)?)?;
    m.add_function(wrap_pyfunction!(not_equal, m)?)?;
    Ok(())
}

/// For each pair of elements whether they are equal; NaN equals nothing.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.equal(jnp.array([1.0, 2.0, jnp.nan]), jnp.array([1.0, 3.0, jnp.nan])))
///   [ True False False]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "equal", 0)?;
    let x2 = x2.val(py, "equal", 1)?;
    one(py, || numpy::equal(&x1, &x2))
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
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2)")]
fn fmax(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "fmax", 0)?;
    let x2 = x2.val(py, "fmax", 1)?;
    one(py, || numpy::fmax(&x1, &x2))
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
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x1, x2)")]
fn fmin(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "fmin", 0)?;
    let x2 = x2.val(py, "fmin", 1)?;
    one(py, || numpy::fmin(&x1, &x2))
}

/// For each pair of elements whether the first is greater; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.greater(jnp.array([1, 2, 3]), 2))
///   [False False  True]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn greater(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "greater", 0)?;
    let x2 = x2.val(py, "greater", 1)?;
    one(py, || numpy::greater(&x1, &x2))
}

/// For each pair of elements whether the first is greater or equal; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.greater_equal(jnp.array([1, 2, 3]), 2))
///   [False  True  True]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn greater_equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "greater_equal", 0)?;
    let x2 = x2.val(py, "greater_equal", 1)?;
    one(py, || numpy::greater_equal(&x1, &x2))
}

/// For each pair of elements whether the first is less; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.less(jnp.array([1, 2, 3]), 2))
///   [ True False False]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn less(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "less", 0)?;
    let x2 = x2.val(py, "less", 1)?;
    one(py, || numpy::less(&x1, &x2))
}

/// For each pair of elements whether the first is less or equal; false where one is NaN.
/// Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.less_equal(jnp.array([1, 2, 3]), 2))
///   [ True  True False]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn less_equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "less_equal", 0)?;
    let x2 = x2.val(py, "less_equal", 1)?;
    one(py, || numpy::less_equal(&x1, &x2))
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
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logical_and(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logical_and", 0)?;
    let x2 = x2.val(py, "logical_and", 1)?;
    one(py, || numpy::logical_and(&x1, &x2))
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
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logical_or(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logical_or", 0)?;
    let x2 = x2.val(py, "logical_or", 1)?;
    one(py, || numpy::logical_or(&x1, &x2))
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
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn logical_xor(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "logical_xor", 0)?;
    let x2 = x2.val(py, "logical_xor", 1)?;
    one(py, || numpy::logical_xor(&x1, &x2))
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
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn maximum(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "maximum", 0)?;
    let x2 = x2.val(py, "maximum", 1)?;
    one(py, || numpy::maximum(&x1, &x2))
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
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(*args, out=None, where=None)")]
fn minimum(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "minimum", 0)?;
    let x2 = x2.val(py, "minimum", 1)?;
    one(py, || numpy::minimum(&x1, &x2))
}

/// For each pair of elements whether they differ; NaN differs from everything.
///
/// Args:
///   x, y: arrays or numbers of any dtype whose shapes broadcast.
/// Returns: booleans of the broadcast shape.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the shapes do not broadcast.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.not_equal(jnp.array([1.0, 2.0, jnp.nan]), jnp.array([1.0, 3.0, jnp.nan])))
///   [False  True  True]
#[pyfunction]
#[pyo3(signature = (x1, x2, /), text_signature = "(x, y, /)")]
fn not_equal(py: Python<'_>, x1: ArrayLike, x2: ArrayLike) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "not_equal", 0)?;
    let x2 = x2.val(py, "not_equal", 1)?;
    one(py, || numpy::not_equal(&x1, &x2))
}
