//! Running sums and products.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{canonical, no_out, one};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_lib::numpy;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(cumsum, m)?)?;
    m.add_function(wrap_pyfunction!(cumprod, m)?)?;
    m.add_function(wrap_pyfunction!(nancumsum, m)?)?;
    m.add_function(wrap_pyfunction!(nancumprod, m)?)?;
    m.add_function(wrap_pyfunction!(cumulative_sum, m)?)?;
    m.add_function(wrap_pyfunction!(cumulative_prod, m)?)?;
    Ok(())
}

/// The sums of all elements up to each one.
/// Unlike `sum`, narrow integers do not widen; booleans become the default integer.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to add; None (the default) takes the flat array.
///   dtype: the dtype in which to add, and that of the result; by default that of `a`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.cumsum(jnp.array([1, 2, 3])))
///   [1 3 6]
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn cumsum(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "cumsum", 0)?;
    let dtype = canonical(py, dtype, "cumsum")?;
    no_out("cumsum", out.as_ref())?;
    one(py, || numpy::cumsum(&a, axis, dtype))
}

/// The products of all elements up to each one.
/// Unlike `prod`, narrow integers do not widen; booleans become the default integer.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to multiply; None (the default) takes the flat array.
///   dtype: the dtype in which to multiply, and that of the result; by default that of `a`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, where elements are 0 too.
/// Example:
///   >>> print(jnp.cumprod(jnp.array([1, 2, 3])))
///   [1 2 6]
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn cumprod(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "cumprod", 0)?;
    let dtype = canonical(py, dtype, "cumprod")?;
    no_out("cumprod", out.as_ref())?;
    one(py, || numpy::cumprod(&a, axis, dtype))
}

/// The sums of all elements up to each one, NaNs counting as 0.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to add; None (the default) takes the flat array.
///   dtype: the dtype in which to add, and that of the result; by default as for `cumsum`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nancumsum(jnp.array([1.0, jnp.nan, 3.0])))
///   [1. 1. 4.]
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn nancumsum(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nancumsum", 0)?;
    let dtype = canonical(py, dtype, "nancumsum")?;
    no_out("nancumsum", out.as_ref())?;
    one(py, || numpy::nancumsum(&a, axis, dtype))
}

/// The products of all elements up to each one, NaNs counting as 1.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis along which to multiply; None (the default) takes the flat array.
///   dtype: the dtype in which to multiply, and that of the result; by default as for `cumprod`.
///   out: for compatibility; must be None.
/// Returns: an array of the shape of `a`, or flat without `axis`.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: the axis is out of bounds.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nancumprod(jnp.array([2.0, jnp.nan, 3.0])))
///   [2. 2. 6.]
#[pyfunction]
#[pyo3(signature = (a, axis=None, dtype=None, out=None), text_signature = "(a, axis=None, dtype=None, out=None)")]
fn nancumprod(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nancumprod", 0)?;
    let dtype = canonical(py, dtype, "nancumprod")?;
    no_out("nancumprod", out.as_ref())?;
    one(py, || numpy::nancumprod(&a, axis, dtype))
}

/// The sums of all elements up to each one along an axis, as the array API has them: narrow integers widen.
///
/// Args:
///   x: an array of at least one axis.
///   axis: the axis along which to add; may be left out for vectors only.
///   dtype: the dtype in which to add, and that of the result; by default that of `x`, widened to the default
///     integer.
///   include_initial: whether a 0 comes first, so that the axis gets one longer.
/// Returns: an array of the shape of `x`, one longer along `axis` with `include_initial`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has no axes, or several and `axis` is None; the axis is out of bounds.
/// Differentiable: yes, in both modes; it is linear.
/// Example:
///   >>> print(jnp.cumulative_sum(jnp.array([1, 2, 3]), include_initial=True))
///   [0 1 3 6]
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, include_initial=false), text_signature = "(x, /, *, axis=None, dtype=None, include_initial=False)")]
fn cumulative_sum(
    py: Python<'_>,
    x: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    include_initial: bool,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cumulative_sum", 0)?;
    let dtype = canonical(py, dtype, "cumulative_sum")?;
    one(py, || numpy::cumulative_sum(&x, axis, dtype, include_initial))
}

/// The products of all elements up to each one along an axis, as the array API has them: narrow integers widen.
///
/// Args:
///   x: an array of at least one axis.
///   axis: the axis along which to multiply; may be left out for vectors only.
///   dtype: the dtype in which to multiply, and that of the result; by default that of `x`, widened to the default
///     integer.
///   include_initial: whether a 1 comes first, so that the axis gets one longer.
/// Returns: an array of the shape of `x`, one longer along `axis` with `include_initial`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` has no axes, or several and `axis` is None; the axis is out of bounds.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.cumulative_prod(jnp.array([1, 2, 3]), include_initial=True))
///   [1 1 2 6]
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, dtype=None, include_initial=false), text_signature = "(x, /, *, axis=None, dtype=None, include_initial=False)")]
fn cumulative_prod(
    py: Python<'_>,
    x: ArrayLike,
    axis: Option<i64>,
    dtype: Option<DTypeArg>,
    include_initial: bool,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "cumulative_prod", 0)?;
    let dtype = canonical(py, dtype, "cumulative_prod")?;
    one(py, || numpy::cumulative_prod(&x, axis, dtype, include_initial))
}
