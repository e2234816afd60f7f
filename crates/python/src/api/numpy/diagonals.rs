//! Triangles and diagonals of matrices, and the Kronecker product.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{canonical, no_out, one};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(kron, m)?)?;
    m.add_function(wrap_pyfunction!(tril, m)?)?;
    m.add_function(wrap_pyfunction!(triu, m)?)?;
    m.add_function(wrap_pyfunction!(diag, m)?)?;
    m.add_function(wrap_pyfunction!(diagflat, m)?)?;
    m.add_function(wrap_pyfunction!(diagonal, m)?)?;
    m.add_function(wrap_pyfunction!(trace, m)?)?;
    Ok(())
}

/// The Kronecker product: each element of `a` times the whole of `b`, as blocks.
///
/// Args:
///   a, b: arrays; the one of fewer axes gets axes of size 1 in front.
/// Returns: an array whose sizes are the products of those of `a` and `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.kron(jnp.array([1, 10]), jnp.array([1, 2, 3])))
///   [ 1  2  3 10 20 30]
#[pyfunction]
#[pyo3(signature = (a, b), text_signature = "(a, b)")]
fn kron(py: Python<'_>, a: ArrayLike, b: ArrayLike) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "kron", 0)?;
    let b = b.val(py, "kron", 1)?;
    one(py, || numpy::kron(&a, &b))
}

/// The elements on and below a diagonal; others are 0.
///
/// Args:
///   m: an array `[..., n, k]`.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.tril(jnp.array([[1, 2], [3, 4]])))
///   [[1 0]
///    [3 4]]
#[pyfunction]
#[pyo3(signature = (m, k=0), text_signature = "(m, k=0)")]
fn tril(py: Python<'_>, m: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "tril", 0)?;
    one(py, || numpy::tril(&m, k))
}

/// The elements on and above a diagonal; others are 0.
///
/// Args:
///   m: an array `[..., n, k]`.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: an array of the shape and dtype of `m`.
/// Raises:
///   TypeError: `m` is neither an array nor a number (lists are refused).
///   ValueError: `m` has fewer than two axes.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.triu(jnp.array([[1, 2], [3, 4]])))
///   [[1 2]
///    [0 4]]
#[pyfunction]
#[pyo3(signature = (m, k=0), text_signature = "(m, k=0)")]
fn triu(py: Python<'_>, m: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let m = m.val(py, "triu", 0)?;
    one(py, || numpy::triu(&m, k))
}

/// A matrix with a vector on a diagonal, or the diagonal of a matrix.
///
/// Args:
///   v: a vector `[n]` or a matrix.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: the matrix `[n + |k|, n + |k|]` of a vector, the vector of a matrix.
/// Raises:
///   TypeError: `v` is neither an array nor a number (lists are refused).
///   ValueError: `v` is neither a vector nor a matrix.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diag(jnp.array([1, 2]), k=1))
///   [[0 1 0]
///    [0 0 2]
///    [0 0 0]]
///   >>> print(jnp.diag(jnp.array([[1, 2], [3, 4]])))
///   [1 4]
#[pyfunction]
#[pyo3(signature = (v, k=0), text_signature = "(v, k=0)")]
fn diag(py: Python<'_>, v: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let v = v.val(py, "diag", 0)?;
    one(py, || numpy::diag(&v, k))
}

/// A matrix with all elements of an array, taken as flat, on a diagonal.
///
/// Args:
///   v: an array or number of n elements.
///   k: the diagonal: 0, the default, is the main one, positive ones are above it.
/// Returns: an array `[n + |k|, n + |k|]` of the dtype of `v`.
/// Raises:
///   TypeError: `v` is neither an array nor a number (lists are refused).
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diagflat(jnp.array([[1, 2]])))
///   [[1 0]
///    [0 2]]
#[pyfunction]
#[pyo3(signature = (v, k=0), text_signature = "(v, k=0)")]
fn diagflat(py: Python<'_>, v: ArrayLike, k: i64) -> PyResult<Py<PyAny>> {
    let v = v.val(py, "diagflat", 0)?;
    one(py, || numpy::diagflat(&v, k))
}

/// The diagonals of planes, along a new last axis.
///
/// Args:
///   a: an array of at least two axes.
///   offset: the diagonal: 0, the default, is the main one, positive ones are above it.
///   axis1, axis2: the rows and columns of the planes; the first two axes by default.
/// Returns: an array of the dtype of `a`, without the two axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: fewer than two axes, an axis is out of bounds, or both are the same.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.diagonal(jnp.array([[1, 2], [3, 4]])))
///   [1 4]
#[pyfunction]
#[pyo3(signature = (a, offset=0, axis1=0, axis2=1), text_signature = "(a, offset=0, axis1=0, axis2=1)")]
fn diagonal(py: Python<'_>, a: ArrayLike, offset: i64, axis1: i64, axis2: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "diagonal", 0)?;
    one(py, || numpy::diagonal(&a, offset, [axis1, axis2]))
}

/// The sums of the diagonals of planes; narrow integers and booleans widen as by `sum`.
///
/// Args:
///   a: an array of at least two axes.
///   offset: the diagonal: 0, the default, is the main one, positive ones are above it.
///   axis1, axis2: the rows and columns of the planes; the first two axes by default.
///   dtype: the dtype in which to add, and that of the result.
///   out: for compatibility; must be None.
/// Returns: an array without the two axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: fewer than two axes, an axis is out of bounds, or both are the same.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.trace(jnp.array([[1, 2], [3, 4]])))
///   5
#[pyfunction]
#[pyo3(signature = (a, offset=0, axis1=0, axis2=1, dtype=None, out=None), text_signature = "(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)")]
fn trace(
    py: Python<'_>,
    a: ArrayLike,
    offset: i64,
    axis1: i64,
    axis2: i64,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "trace", 0)?;
    let dtype = canonical(py, dtype, "trace")?;
    no_out("trace", out.as_ref())?;
    one(py, || numpy::trace(&a, offset, [axis1, axis2], dtype))
}
