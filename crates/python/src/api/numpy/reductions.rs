//! Reductions over axes: sums, products, extremes, truth and counts.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{is_true, options};
use crate::api::arguments::{AxesArg, canonical, initial_value, mask, no_out, one};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_lib::numpy::{self, Reduction};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(prod, m)?)?;
    m.add_function(wrap_pyfunction!(max, m)?)?;
    m.add_function(wrap_pyfunction!(min, m)?)?;
    m.add_function(wrap_pyfunction!(amax, m)?)?;
    m.add_function(wrap_pyfunction!(amin, m)?)?;
    m.add_function(wrap_pyfunction!(any, m)?)?;
    m.add_function(wrap_pyfunction!(all, m)?)?;
    m.add_function(wrap_pyfunction!(argmax, m)?)?;
    m.add_function(wrap_pyfunction!(argmin, m)?)?;
    m.add_function(wrap_pyfunction!(ptp, m)?)?;
    m.add_function(wrap_pyfunction!(count_nonzero, m)?)?;
    m.add_function(wrap_pyfunction!(nansum, m)?)?;
    m.add_function(wrap_pyfunction!(nanprod, m)?)?;
    m.add_function(wrap_pyfunction!(nanmax, m)?)?;
    m.add_function(wrap_pyfunction!(nanmin, m)?)?;
    Ok(())
}

/// The product of the elements over axes; 1 where there are none.
/// Integers narrower than the default integer and booleans widen to it.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype in which to multiply, and that of the result; by default that of `a`, widened.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a number that the product starts from; 1 by default.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
///   promote_integers: whether narrow integers and booleans widen; if false, they do not.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, where elements are 0 too.
/// Example:
///   >>> print(jnp.prod(jnp.array([[1, 2], [3, 4]]), axis=1))
///   [ 2 12]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, initial=None, r#where=None, promote_integers=true), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True)")]
fn prod(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
    promote_integers: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "prod", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "prod")?;
    no_out("prod", out.as_ref())?;
    let initial = initial_value(py, initial, "prod", 5)?;
    let r#where = mask(py, r#where, "prod", 6)?;
    one(py, || {
        numpy::prod(
            &a,
            &Reduction { axis, dtype, keepdims, initial, where_: r#where, promote_integers, ..Reduction::default() },
        )
    })
}

/// The greatest element over axes; NaN if one is among them. Complex numbers compare by real part, then imaginary
/// part.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a lower bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.max(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [5 7]
///   >>> print(jax.grad(jnp.max)(jnp.array([1.0, 3.0, 3.0])))
///   [0.  0.5 0.5]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn max(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "max", 0)?;
    let axis = axis.0;
    no_out("max", out.as_ref())?;
    let initial = initial_value(py, initial, "max", 4)?;
    let r#where = mask(py, r#where, "max", 5)?;
    one(py, || numpy::max(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The least element over axes; NaN if one is among them. Complex numbers compare by real part, then imaginary
/// part.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: an upper bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.min(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [1 2]
///   >>> print(jax.grad(jnp.min)(jnp.array([1.0, 3.0, 1.0])))
///   [0.5 0.  0.5]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn min(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "min", 0)?;
    let axis = axis.0;
    no_out("min", out.as_ref())?;
    let initial = initial_value(py, initial, "min", 4)?;
    let r#where = mask(py, r#where, "min", 5)?;
    one(py, || numpy::min(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The greatest element over axes; NaN if one is among them. Complex numbers compare by real part, then imaginary
/// part.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a lower bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.amax(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [5 7]
///   >>> print(jax.grad(jnp.amax)(jnp.array([1.0, 3.0, 3.0])))
///   [0.  0.5 0.5]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn amax(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "amax", 0)?;
    let axis = axis.0;
    no_out("amax", out.as_ref())?;
    let initial = initial_value(py, initial, "amax", 4)?;
    let r#where = mask(py, r#where, "amax", 5)?;
    one(py, || numpy::max(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The least element over axes; NaN if one is among them. Complex numbers compare by real part, then imaginary
/// part.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: an upper bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.amin(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [1 2]
///   >>> print(jax.grad(jnp.amin)(jnp.array([1.0, 3.0, 1.0])))
///   [0.5 0.  0.5]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn amin(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "amin", 0)?;
    let axis = axis.0;
    no_out("amin", out.as_ref())?;
    let initial = initial_value(py, initial, "amin", 4)?;
    let r#where = mask(py, r#where, "amin", 5)?;
    one(py, || numpy::min(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// Whether any element over axes differs from 0; false where there are none. NaN differs from 0.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: booleans of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.any(jnp.array([[0, 2], [0, 0]]), axis=1))
///   [ True False]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, *, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, *, where=None)")]
fn any(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "any", 0)?;
    let axis = axis.0;
    no_out("any", out.as_ref())?;
    let r#where = mask(py, r#where, "any", 4)?;
    one(py, || numpy::any(&a, &options(axis, None, keepdims, None, r#where)))
}

/// Whether all elements over axes differ from 0; true where there are none. NaN differs from 0.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: booleans of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is boolean.
/// Example:
///   >>> print(jnp.all(jnp.array([[1, 2], [0, 3]]), axis=1))
///   [ True False]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, *, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, *, where=None)")]
fn all(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "all", 0)?;
    let axis = axis.0;
    no_out("all", out.as_ref())?;
    let r#where = mask(py, r#where, "all", 4)?;
    one(py, || numpy::all(&a, &options(axis, None, keepdims, None, r#where)))
}

/// The position of the first greatest element; the first NaN counts as greatest.
///
/// Args:
///   a: a real array or number.
///   axis: the axis along which to look; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   keepdims: whether the axis stays, with size 1; without `axis` all axes do.
/// Returns: integers of the default dtype, of the shape of `a` without the axis.
/// Raises:
///   TypeError: `a` is complex, or neither an array nor a number.
///   ValueError: the axis is out of bounds or has no elements.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argmax(jnp.array([[1, 5, 5], [7, 2, 0]]), axis=1))
///   [1 0]
#[pyfunction]
#[pyo3(signature = (a, axis=None, out=None, keepdims=None), text_signature = "(a, axis=None, out=None, keepdims=None)")]
fn argmax(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argmax", 0)?;
    no_out("argmax", out.as_ref())?;
    one(py, || numpy::argmax(&a, axis, is_true(keepdims)))
}

/// The position of the first least element; the first NaN counts as least.
///
/// Args:
///   a: a real array or number.
///   axis: the axis along which to look; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   keepdims: whether the axis stays, with size 1; without `axis` all axes do.
/// Returns: integers of the default dtype, of the shape of `a` without the axis.
/// Raises:
///   TypeError: `a` is complex, or neither an array nor a number.
///   ValueError: the axis is out of bounds or has no elements.
///   NotImplementedError: `out` is given.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argmin(jnp.array([[1, 5, 1], [7, 2, 0]]), axis=1))
///   [0 2]
#[pyfunction]
#[pyo3(signature = (a, axis=None, out=None, keepdims=None), text_signature = "(a, axis=None, out=None, keepdims=None)")]
fn argmin(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argmin", 0)?;
    no_out("argmin", out.as_ref())?;
    one(py, || numpy::argmin(&a, axis, is_true(keepdims)))
}

/// The greatest element less the least one over axes ("peak to peak"); NaN if one is among them.
///
/// Args:
///   a: an array or number of any dtype but boolean.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: there are no elements; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.ptp(jnp.array([[1, 5], [7, 2]]), axis=1))
///   [4 5]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false), text_signature = "(a, axis=None, out=None, keepdims=False)")]
fn ptp(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "ptp", 0)?;
    let axis = axis.0;
    no_out("ptp", out.as_ref())?;
    one(py, || numpy::ptp(&a, &options(axis, None, keepdims, None, None)))
}

/// How many elements over axes differ from 0; NaN does.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: integers of the default dtype, of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.count_nonzero(jnp.array([[0, 5], [7, 2]]), axis=1))
///   [1 2]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, keepdims=false), text_signature = "(a, axis=None, keepdims=False)")]
fn count_nonzero(py: Python<'_>, a: ArrayLike, axis: AxesArg, keepdims: bool) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "count_nonzero", 0)?;
    let axis = axis.0;
    one(py, || numpy::count_nonzero(&a, &axis, keepdims))
}

/// The sum over axes of the elements that are not NaN; 0 where there are none.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype in which to add, and that of the result; by default as for `sum`.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a number that the sum starts from; 0 by default.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nansum(jnp.array([[1.0, jnp.nan], [3.0, 4.0]]), axis=1))
///   [1. 7.]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None)")]
fn nansum(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nansum", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "nansum")?;
    no_out("nansum", out.as_ref())?;
    let initial = initial_value(py, initial, "nansum", 5)?;
    let r#where = mask(py, r#where, "nansum", 6)?;
    one(py, || numpy::nansum(&a, &options(axis, dtype, keepdims, initial, r#where)))
}

/// The product over axes of the elements that are not NaN; 1 where there are none.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   dtype: the dtype in which to multiply, and that of the result; by default as for `prod`.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a number that the product starts from; 1 by default.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the shape of `a` without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; NaNs have gradient 0.
/// Example:
///   >>> print(jnp.nanprod(jnp.array([[2.0, jnp.nan], [3.0, 4.0]]), axis=1))
///   [ 2. 12.]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, dtype=None, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None)")]
fn nanprod(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    dtype: Option<DTypeArg>,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanprod", 0)?;
    let axis = axis.0;
    let dtype = canonical(py, dtype, "nanprod")?;
    no_out("nanprod", out.as_ref())?;
    let initial = initial_value(py, initial, "nanprod", 5)?;
    let r#where = mask(py, r#where, "nanprod", 6)?;
    one(py, || numpy::nanprod(&a, &options(axis, dtype, keepdims, initial, r#where)))
}

/// The greatest element over axes that is not NaN; NaN where all are.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: a lower bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.nanmax(jnp.array([[1.0, jnp.nan], [jnp.nan, jnp.nan]]), axis=1))
///   [ 1. nan]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn nanmax(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanmax", 0)?;
    let axis = axis.0;
    no_out("nanmax", out.as_ref())?;
    let initial = initial_value(py, initial, "nanmax", 4)?;
    let r#where = mask(py, r#where, "nanmax", 5)?;
    one(py, || numpy::nanmax(&a, &options(axis, None, keepdims, initial, r#where)))
}

/// The least element over axes that is not NaN; NaN where all are.
///
/// Args:
///   a: an array or number of any dtype.
///   axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
///   out: for compatibility; must be None.
///   keepdims: whether reduced axes stay, with size 1.
///   initial: an upper bound of the result; needed where there are no elements, or `where` is given.
///   where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
/// Returns: an array of the dtype of `a` and its shape without the reduced axes.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes; elements that tie share the gradient equally.
/// Example:
///   >>> print(jnp.nanmin(jnp.array([[1.0, jnp.nan], [jnp.nan, jnp.nan]]), axis=1))
///   [ 1. nan]
#[pyfunction]
#[pyo3(signature = (a, axis=AxesArg::ALL, out=None, keepdims=false, initial=None, r#where=None), text_signature = "(a, axis=None, out=None, keepdims=False, initial=None, where=None)")]
fn nanmin(
    py: Python<'_>,
    a: ArrayLike,
    axis: AxesArg,
    out: Option<Bound<'_, PyAny>>,
    keepdims: bool,
    initial: Option<ArrayLike>,
    r#where: Option<ArrayLike>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "nanmin", 0)?;
    let axis = axis.0;
    no_out("nanmin", out.as_ref())?;
    let initial = initial_value(py, initial, "nanmin", 4)?;
    let r#where = mask(py, r#where, "nanmin", 5)?;
    one(py, || numpy::nanmin(&a, &options(axis, None, keepdims, initial, r#where)))
}
