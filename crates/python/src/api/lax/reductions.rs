//! Reductions over axes, running reductions along one, and positions of extremes.

use pullback_lib::lax;
use pyo3::prelude::*;

use super::support::{reduced_axes, running_axis, searched_axis};
use crate::api::arguments::{ShapeArg, check_out_sharding, one};
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor);
    Ok(())
}

/// The position of the greatest element along an axis: the first of several, and that of the first NaN if there is one.
///
/// Args:
///   operand: boolean, integer or floating array.
///   axis: the axis that goes, counted from the front.
///   index_dtype: an integer dtype for the positions; int64 is int32 without x64.
/// Returns: positions in `index_dtype`, of the shape of `operand` without the axis.
/// Raises:
///   TypeError: `operand` is complex, or `index_dtype` is not of integers.
///   ValueError: the axis is empty or out of bounds.
/// Differentiable: no, positions are integers.
/// Example:
///   >>> lax.argmax(jnp.array([1.0, 3.0, 3.0]), 0, jnp.int32)
///   Array(1, dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axis, index_dtype), text_signature = "(operand, axis, index_dtype)")]
fn argmax(py: Python<'_>, operand: ArrayLike, axis: i64, index_dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "argmax", 0)?;
    let dtype = crate::dtypes::canonical(crate::dtypes::of_object(index_dtype)?);
    one(py, || lax::argmax(&operand, searched_axis(&operand, axis)?, dtype))
}

/// The position of the least element along an axis: the first of several, and that of the first NaN if there is one.
///
/// Args:
///   operand: boolean, integer or floating array.
///   axis: the axis that goes, counted from the front.
///   index_dtype: an integer dtype for the positions; int64 is int32 without x64.
/// Returns: positions in `index_dtype`, of the shape of `operand` without the axis.
/// Raises:
///   TypeError: `operand` is complex, or `index_dtype` is not of integers.
///   ValueError: the axis is empty or out of bounds.
/// Differentiable: no, positions are integers.
/// Example:
///   >>> lax.argmin(jnp.array([4.0, 1.0, 1.0]), 0, jnp.int32)
///   Array(1, dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axis, index_dtype), text_signature = "(operand, axis, index_dtype)")]
fn argmin(py: Python<'_>, operand: ArrayLike, axis: i64, index_dtype: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "argmin", 0)?;
    let dtype = crate::dtypes::canonical(crate::dtypes::of_object(index_dtype)?);
    one(py, || lax::argmin(&operand, searched_axis(&operand, axis)?, dtype))
}

/// Running logarithms of sums of exponentials along an axis, without overflow of the exponentials.
///
/// Args:
///   operand: floating or complex array.
///   axis: the axis, counted from the front.
///   reverse: whether to run from the last element to the first.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   TypeError: `operand` is boolean or of integers.
///   ValueError: the axis is negative or out of bounds.
/// Differentiable: yes.
/// Example:
///   >>> lax.cumlogsumexp(jnp.array([0.0, -jnp.inf, 1000.0]))
///   Array([   0.,    0., 1000.], dtype=float32)
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cumlogsumexp(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cumlogsumexp", 0)?;
    one(py, || lax::cumlogsumexp(&operand, running_axis(&operand, axis)?, reverse))
}

/// Running maxima along an axis; NaN from the first one on.
///
/// Args:
///   operand: integer, floating or complex array.
///   axis: the axis, counted from the front.
///   reverse: whether to run from the last element to the first.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   TypeError: `operand` is boolean.
///   ValueError: the axis is negative or out of bounds.
/// Differentiable: yes almost everywhere: each derivative goes to the element that holds the maximum.
/// Example:
///   >>> lax.cummax(jnp.array([1, 3, 2, 5]))
///   Array([1, 3, 3, 5], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cummax(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cummax", 0)?;
    one(py, || lax::cummax(&operand, running_axis(&operand, axis)?, reverse))
}

/// Running minima along an axis; NaN from the first one on.
///
/// Args:
///   operand: integer, floating or complex array.
///   axis: the axis, counted from the front.
///   reverse: whether to run from the last element to the first.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   TypeError: `operand` is boolean.
///   ValueError: the axis is negative or out of bounds.
/// Differentiable: yes almost everywhere: each derivative goes to the element that holds the minimum.
/// Example:
///   >>> lax.cummin(jnp.array([4, 3, 5, 1]))
///   Array([4, 3, 3, 1], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cummin(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cummin", 0)?;
    one(py, || lax::cummin(&operand, running_axis(&operand, axis)?, reverse))
}

/// Running products along an axis; integers wrap around.
///
/// Args:
///   operand: integer, floating or complex array.
///   axis: the axis, counted from the front.
///   reverse: whether to run from the last element to the first.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   TypeError: `operand` is boolean.
///   ValueError: the axis is negative or out of bounds.
/// Differentiable: yes, at zeros too.
/// Example:
///   >>> lax.cumprod(jnp.array([1, 2, 3, 4]))
///   Array([ 1,  2,  6, 24], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cumprod(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cumprod", 0)?;
    one(py, || lax::cumprod(&operand, running_axis(&operand, axis)?, reverse))
}

/// Running sums along an axis; integers wrap around.
///
/// Args:
///   operand: integer, floating or complex array.
///   axis: the axis, counted from the front.
///   reverse: whether to run from the last element to the first.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   TypeError: `operand` is boolean.
///   ValueError: the axis is negative or out of bounds.
/// Differentiable: yes, linear; the transpose is the running sum the other way.
/// Example:
///   >>> lax.cumsum(jnp.array([1, 2, 3]))
///   Array([1, 3, 6], dtype=int32)
///   >>> lax.cumsum(jnp.array([1, 2, 3]), reverse=True)
///   Array([6, 5, 3], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axis=0, reverse=false), text_signature = "(operand, axis=0, reverse=False)")]
fn cumsum(py: Python<'_>, operand: ArrayLike, axis: i64, reverse: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "cumsum", 0)?;
    one(py, || lax::cumsum(&operand, running_axis(&operand, axis)?, reverse))
}

/// The bits that all elements over axes have; of booleans whether all hold. Of no elements all bits, or True.
///
/// Args:
///   operand: boolean or integer array.
///   axes: a sequence of axes, counted from the front.
/// Returns: the dtype of `operand`, its shape without the axes.
/// Raises:
///   TypeError: `operand` is neither boolean nor of integers.
///   ValueError: an axis is negative, out of bounds or occurs twice.
/// Differentiable: no, there are no tangents of integers.
/// Example:
///   >>> lax.reduce_and(jnp.array([6, 3]), (0,))
///   Array(2, dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_and(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_and", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_and(&operand, &reduced_axes(&operand, &axes)?))
}

/// The greatest element over axes; NaN if one is. Of no elements it is the least value: `-inf`, the least integer or
/// False.
///
/// Args:
///   operand: boolean, integer, floating or complex array.
///   axes: a sequence of axes, counted from the front.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: the dtype of `operand`, its shape without the axes.
/// Raises:
///   ValueError: an axis is negative, out of bounds or occurs twice.
/// Differentiable: yes; elements that share the maximum share the derivative equally.
/// Example:
///   >>> lax.reduce_max(jnp.array([[1, 7], [3, 4]]), (0,))
///   Array([3, 7], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axes, *, out_sharding=None), text_signature = "(operand, axes, *, out_sharding=None)")]
fn reduce_max(
    py: Python<'_>,
    operand: ArrayLike,
    axes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_max", 0)?;
    let axes = axes.0;
    check_out_sharding("reduce_max", out_sharding.as_ref())?;
    one(py, || lax::reduce_max(&operand, &reduced_axes(&operand, &axes)?))
}

/// The least element over axes; NaN if one is. Of no elements it is the greatest value: `inf`, the greatest integer
/// or True.
///
/// Args:
///   operand: boolean, integer, floating or complex array.
///   axes: a sequence of axes, counted from the front.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: the dtype of `operand`, its shape without the axes.
/// Raises:
///   ValueError: an axis is negative, out of bounds or occurs twice.
/// Differentiable: yes; elements that share the minimum share the derivative equally.
/// Example:
///   >>> lax.reduce_min(jnp.array([[1, 7], [3, 4]]), (0,))
///   Array([1, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axes, *, out_sharding=None), text_signature = "(operand, axes, *, out_sharding=None)")]
fn reduce_min(
    py: Python<'_>,
    operand: ArrayLike,
    axes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_min", 0)?;
    let axes = axes.0;
    check_out_sharding("reduce_min", out_sharding.as_ref())?;
    one(py, || lax::reduce_min(&operand, &reduced_axes(&operand, &axes)?))
}

/// The bits that some element over axes has; of booleans whether one holds. Of no elements 0, or False.
///
/// Args:
///   operand: boolean or integer array.
///   axes: a sequence of axes, counted from the front.
/// Returns: the dtype of `operand`, its shape without the axes.
/// Raises:
///   TypeError: `operand` is neither boolean nor of integers.
///   ValueError: an axis is negative, out of bounds or occurs twice.
/// Differentiable: no, there are no tangents of integers.
/// Example:
///   >>> lax.reduce_or(jnp.array([6, 3]), (0,))
///   Array(7, dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_or(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_or", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_or(&operand, &reduced_axes(&operand, &axes)?))
}

/// The product over axes; integers wrap around, and of no elements it is 1.
///
/// Args:
///   operand: integer, floating or complex array.
///   axes: a sequence of axes, counted from the front.
/// Returns: the dtype of `operand`, its shape without the axes.
/// Raises:
///   TypeError: `operand` is boolean.
///   ValueError: an axis is negative, out of bounds or occurs twice.
/// Differentiable: yes, at zeros too.
/// Example:
///   >>> lax.reduce_prod(jnp.array([[1, 2], [3, 4]]), (1,))
///   Array([ 2, 12], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_prod(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_prod", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_prod(&operand, &reduced_axes(&operand, &axes)?))
}

/// The sum over axes; integers wrap around, and of no elements it is 0.
///
/// Args:
///   operand: integer, floating or complex array.
///   axes: a sequence of axes, counted from the front.
///   out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
/// Returns: the dtype of `operand`, its shape without the axes.
/// Raises:
///   TypeError: `operand` is boolean.
///   ValueError: an axis is negative, out of bounds or occurs twice.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.reduce_sum(jnp.array([[1, 2], [3, 4]]), (0,))
///   Array([4, 6], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axes, *, out_sharding=None), text_signature = "(operand, axes, *, out_sharding=None)")]
fn reduce_sum(
    py: Python<'_>,
    operand: ArrayLike,
    axes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_sum", 0)?;
    let axes = axes.0;
    check_out_sharding("reduce_sum", out_sharding.as_ref())?;
    one(py, || lax::reduce_sum(&operand, &reduced_axes(&operand, &axes)?))
}

/// The bits that an odd number of elements over axes has; of booleans whether an odd number holds.
///
/// Args:
///   operand: boolean or integer array.
///   axes: a sequence of axes, counted from the front.
/// Returns: the dtype of `operand`, its shape without the axes.
/// Raises:
///   TypeError: `operand` is neither boolean nor of integers.
///   ValueError: an axis is negative, out of bounds or occurs twice.
/// Differentiable: no, there are no tangents of integers.
/// Example:
///   >>> lax.reduce_xor(jnp.array([6, 3]), (0,))
///   Array(5, dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, axes), text_signature = "(operand, axes)")]
fn reduce_xor(py: Python<'_>, operand: ArrayLike, axes: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reduce_xor", 0)?;
    let axes = axes.0;
    one(py, || lax::reduce_xor(&operand, &reduced_axes(&operand, &axes)?))
}
