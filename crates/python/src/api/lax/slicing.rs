//! Parts of axes, at known and at computed positions.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, bail};
use pullback_lib::axes::{canonical_axis, shape_of};
use pullback_lib::lax;
use pyo3::prelude::*;

use super::support::{at_least_zero, each, from_the_front, negatives_allowed, sizes, starts};
use crate::api::arguments::{ShapeArg, one};
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim dynamic_update_slice dynamic_update_slice_in_dim index_in_dim slice slice_in_dim);
    Ok(())
}

/// A computed position of one axis, moved into bounds.
///
/// Args:
///   operand: array of any dtype.
///   index: an integer scalar; negative ones count from the end.
///   axis: the axis, negative counted from the end.
///   keepdims: whether the axis stays, with size 1.
///   allow_negative_indices: whether negative ones count from the end; otherwise they are moved to 0.
/// Returns: an array of the same rank, or one less.
/// Raises:
///   TypeError: the position is no integer.
///   ValueError: the axis is out of bounds.
/// Differentiable: in `operand`, linear.
/// Example:
///   >>> lax.dynamic_index_in_dim(jnp.arange(5), 2, keepdims=False)
///   Array(2, dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, index, axis=0, keepdims=true, *, allow_negative_indices=None), text_signature = "(operand, index, axis=0, keepdims=True, *, allow_negative_indices=True)")]
fn dynamic_index_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    index: ArrayLike,
    axis: i64,
    keepdims: bool,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_index_in_dim", 0)?;
    let index = index.val(py, "dynamic_index_in_dim", 1)?;
    let allowed = negatives_allowed(allow_negative_indices, operand.aval().rank())?;
    one(py, || {
        let at = canonical_axis(axis, operand.aval().rank())?;
        let index = if allowed[at] { index.clone() } else { at_least_zero(&index)? };
        let starts = each(&operand, at, &index);
        let mut full = operand.aval().shape.to_vec();
        full[at] = 1;
        let part = lax::dynamic_slice(&operand, &starts, &full)?;
        if keepdims { Ok(part) } else { lax::squeeze_axes(&part, &[at]) }
    })
}

/// A part of fixed size at a computed position, which is moved so that the part lies inside.
///
/// Args:
///   operand: array of any dtype.
///   start_indices: a vector of integers, or integer scalars of one dtype: one for each axis. Negative ones count
///     from the end.
///   slice_sizes: the sizes of the part, at most those of `operand`.
///   allow_negative_indices: whether negative positions count from the end, for all axes or for each; otherwise computed
///     ones are moved to 0.
/// Returns: an array of shape `slice_sizes`.
/// Raises:
///   ValueError: a known position is negative and may not be.
///   TypeError: there is not one number for each axis, a size is too great, or positions are no integers.
/// Differentiable: in `operand`, linear; the transpose adds to zeros at the position.
/// Example:
///   >>> lax.dynamic_slice(jnp.arange(5), (1,), (2,))
///   Array([1, 2], dtype=int32)
///   >>> lax.dynamic_slice(jnp.arange(5), (9,), (2,))
///   Array([3, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, start_indices, slice_sizes, *, allow_negative_indices=None), text_signature = "(operand, start_indices, slice_sizes, *, allow_negative_indices=True)")]
fn dynamic_slice(
    py: Python<'_>,
    operand: ArrayLike,
    start_indices: &Bound<'_, PyAny>,
    slice_sizes: ShapeArg,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_slice", 0)?;
    let slice_sizes = slice_sizes.0;
    let allowed = negatives_allowed(allow_negative_indices, operand.aval().rank())?;
    let starts = starts(py, start_indices)?;
    one(py, || lax::dynamic_slice(&operand, &from_the_front(&operand, starts, &allowed)?, &shape_of(&slice_sizes)?))
}

/// A part of fixed size of one axis at a computed position, which is moved so that the part lies inside.
///
/// Args:
///   operand: array of any dtype.
///   start_index: an integer scalar; negative ones count from the end.
///   slice_size: the size of the part, known.
///   axis: the axis, negative counted from the end.
///   allow_negative_indices: whether negative ones count from the end; otherwise a computed one is moved to 0.
/// Returns: an array of the same rank.
/// Raises:
///   TypeError: the position is no integer, or the size is greater than that of the axis.
///   ValueError: the axis is out of bounds, or a known position is negative and may not be.
/// Differentiable: in `operand`, linear.
/// Example:
///   >>> lax.dynamic_slice_in_dim(jnp.arange(5), 3, 4)
///   Array([1, 2, 3, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, start_index, slice_size, axis=0, *, allow_negative_indices=None), text_signature = "(operand, start_index, slice_size, axis=0, *, allow_negative_indices=True)")]
fn dynamic_slice_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    start_index: ArrayLike,
    slice_size: usize,
    axis: i64,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_slice_in_dim", 0)?;
    let start_index = start_index.val(py, "dynamic_slice_in_dim", 1)?;
    let allowed = negatives_allowed(allow_negative_indices, operand.aval().rank())?;
    one(py, || {
        let at = canonical_axis(axis, operand.aval().rank())?;
        let starts = from_the_front(&operand, each(&operand, at, &start_index), &allowed)?;
        let mut full = operand.aval().shape.to_vec();
        full[at] = slice_size;
        lax::dynamic_slice(&operand, &starts, &full)
    })
}

/// The operand with a computed position of one axis replaced; the position is moved into bounds.
///
/// Args:
///   operand: array of any dtype.
///   update: array of its dtype, with or without the axis, of size 1.
///   index: an integer scalar; negative ones count from the end.
///   axis: the axis, negative counted from the end.
///   allow_negative_indices: whether negative ones count from the end; otherwise they are moved to 0.
/// Returns: an array like `operand`.
/// Raises:
///   TypeError: dtypes or ranks differ, or the position is no integer.
///   ValueError: the axis is out of bounds.
/// Differentiable: in `operand` and `update`, linear.
/// Example:
///   >>> lax.dynamic_update_index_in_dim(jnp.zeros((2, 2)), jnp.ones(2), 1, 0)
///   Array([[0., 0.],
///          [1., 1.]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (operand, update, index, axis, *, allow_negative_indices=None), text_signature = "(operand, update, index, axis, *, allow_negative_indices=True)")]
fn dynamic_update_index_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    update: ArrayLike,
    index: ArrayLike,
    axis: i64,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_update_index_in_dim", 0)?;
    let update = update.val(py, "dynamic_update_index_in_dim", 1)?;
    let index = index.val(py, "dynamic_update_index_in_dim", 2)?;
    let allowed = negatives_allowed(allow_negative_indices, operand.aval().rank())?;
    one(py, || {
        let at = canonical_axis(axis, operand.aval().rank())?;
        let index = if allowed[at] { index.clone() } else { at_least_zero(&index)? };
        let update = if update.aval().rank() == operand.aval().rank() {
            update.clone()
        } else {
            lax::expand_axes(&update, &[at])?
        };
        lax::dynamic_update_slice(&operand, &update, &each(&operand, at, &index))
    })
}

/// The operand with another array at a computed position, which is moved so that the update lies inside.
///
/// Args:
///   operand: array of any dtype.
///   update: array of its dtype and rank, in no axis greater.
///   start_indices: a vector of integers, or integer scalars of one dtype: one for each axis. Negative ones count
///     from the end.
///   allow_negative_indices: whether negative positions count from the end, for all axes or for each; otherwise computed
///     ones are moved to 0.
/// Returns: an array like `operand`, which stays as it is.
/// Raises:
///   ValueError: a known position is negative and may not be.
///   TypeError: dtypes or ranks differ, the update is too great, or positions are no integers, one for each axis.
/// Differentiable: in `operand` and `update`, linear.
/// Example:
///   >>> lax.dynamic_update_slice(jnp.arange(5), jnp.array([7, 8]), (1,))
///   Array([0, 7, 8, 3, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, update, start_indices, *, allow_negative_indices=None), text_signature = "(operand, update, start_indices, *, allow_negative_indices=True)")]
fn dynamic_update_slice(
    py: Python<'_>,
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: &Bound<'_, PyAny>,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_update_slice", 0)?;
    let update = update.val(py, "dynamic_update_slice", 1)?;
    let allowed = negatives_allowed(allow_negative_indices, operand.aval().rank())?;
    let starts = starts(py, start_indices)?;
    one(py, || lax::dynamic_update_slice(&operand, &update, &from_the_front(&operand, starts, &allowed)?))
}

/// The operand with another array at a computed position of one axis, which is moved so that the update lies inside.
///
/// Args:
///   operand: array of any dtype.
///   update: array of its dtype and rank, in no axis greater.
///   start_index: an integer scalar; negative ones count from the end.
///   axis: the axis, negative counted from the end.
///   allow_negative_indices: whether negative ones count from the end; otherwise a computed one is moved to 0.
/// Returns: an array like `operand`.
/// Raises:
///   TypeError: dtypes or ranks differ, the update is too great, or the position is no integer.
///   ValueError: the axis is out of bounds, or a known position is negative and may not be.
/// Differentiable: in `operand` and `update`, linear.
/// Example:
///   >>> lax.dynamic_update_slice_in_dim(jnp.arange(5), jnp.array([7, 8]), 1, 0)
///   Array([0, 7, 8, 3, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, update, start_index, axis, *, allow_negative_indices=None), text_signature = "(operand, update, start_index, axis, *, allow_negative_indices=True)")]
fn dynamic_update_slice_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    update: ArrayLike,
    start_index: ArrayLike,
    axis: i64,
    allow_negative_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "dynamic_update_slice_in_dim", 0)?;
    let update = update.val(py, "dynamic_update_slice_in_dim", 1)?;
    let start_index = start_index.val(py, "dynamic_update_slice_in_dim", 2)?;
    let allowed = negatives_allowed(allow_negative_indices, operand.aval().rank())?;
    one(py, || {
        let at = canonical_axis(axis, operand.aval().rank())?;
        let starts = from_the_front(&operand, each(&operand, at, &start_index), &allowed)?;
        lax::dynamic_update_slice(&operand, &update, &starts)
    })
}

/// One position of an axis, known.
///
/// Args:
///   operand: array of any dtype.
///   index: the position, negative counted from the end.
///   axis: the axis, negative counted from the end.
///   keepdims: whether the axis stays, with size 1.
/// Returns: an array of the same rank, or one less.
/// Raises:
///   IndexError: the position is out of bounds.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.index_in_dim(jnp.array([[1, 2], [3, 4]]), -1)
///   Array([[3, 4]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, index, axis=0, keepdims=true), text_signature = "(operand, index, axis=0, keepdims=True)")]
fn index_in_dim(py: Python<'_>, operand: ArrayLike, index: i64, axis: i64, keepdims: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "index_in_dim", 0)?;
    one(py, || {
        let axis = canonical_axis(axis, operand.aval().rank())?;
        let n = operand.aval().shape[axis] as i64;
        let at = if index < 0 { index + n } else { index };
        if !(0..n).contains(&at) {
            bail!(Index, "index {index} is out of bounds for axis {axis} with size {n}");
        }
        let part = lax::slice_in_dim(&operand, at as usize, at as usize + 1, 1, axis)?;
        if keepdims { Ok(part) } else { lax::squeeze_axes(&part, &[axis]) }
    })
}

/// A part of each axis, at positions that are known.
///
/// Args:
///   operand: array of any dtype.
///   start_indices: the first position of each axis.
///   limit_indices: for each axis the position after the last, at most its size.
///   strides: for each axis how far positions are apart; 1 by default.
/// Returns: an array with sizes `ceil((limit - start) / stride)`.
/// Raises:
///   TypeError: there is not one number for each axis, one is negative, a limit is before the start or beyond the
///     axis, or a stride is 0.
/// Differentiable: yes, linear; the transpose pads with zeros.
/// Example:
///   >>> lax.slice(jnp.arange(5), (1,), (5,), (2,))
///   Array([1, 3], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, start_indices, limit_indices, strides=None), text_signature = "(operand, start_indices, limit_indices, strides=None)")]
fn slice(
    py: Python<'_>,
    operand: ArrayLike,
    start_indices: ShapeArg,
    limit_indices: ShapeArg,
    strides: Option<ShapeArg>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "slice", 0)?;
    let start_indices = start_indices.0;
    let limit_indices = limit_indices.0;
    let strides = strides.map(|shape| shape.0);
    one(py, || {
        let strides = strides.map(|strides| sizes(&strides)).transpose()?;
        let aval = operand.aval();
        if let Some(strides) = strides.as_ref().filter(|strides| strides.len() != aval.rank()) {
            bail!(
                Type,
                "slice strides must have length equal to the number of dimensions of the operand, got strides {} for \
                 operand shape {}.",
                tuple_text(strides),
                tuple_text(&aval.shape)
            );
        }
        lax::slice(&operand, &sizes(&start_indices)?, &sizes(&limit_indices)?, strides.as_deref())
    })
}

/// A part of one axis, at positions that are known.
///
/// Args:
///   operand: array of any dtype.
///   start_index: the first position, 0 for None. Negative positions count from the end.
///   limit_index: the position after the last, likewise; None is the end.
///   stride: how far positions are apart.
///   axis: the axis, negative counted from the end.
/// Returns: an array of the same rank.
/// Raises:
///   TypeError: the limit is before the start, a position is beyond an end, or the stride is not positive.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, linear; the transpose pads with zeros.
/// Example:
///   >>> lax.slice_in_dim(jnp.arange(5), -3, None)
///   Array([2, 3, 4], dtype=int32)
#[pyfunction]
#[pyo3(signature = (operand, start_index=None, limit_index=None, stride=1, axis=0), text_signature = "(operand, start_index, limit_index, stride=1, axis=0)")]
fn slice_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    start_index: Option<i64>,
    limit_index: Option<i64>,
    stride: i64,
    axis: i64,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "slice_in_dim", 0)?;
    one(py, || {
        let stride = positive_stride(stride)?;
        let axis = canonical_axis(axis, operand.aval().rank())?;
        let n = operand.aval().shape[axis] as i64;
        let wrap = |at: i64| if at < 0 { at + n } else { at };
        let (start, limit) = (wrap(start_index.unwrap_or(0)), wrap(limit_index.unwrap_or(n)));
        if !(0..=n).contains(&start) || !(0..=n).contains(&limit) {
            let shape = tuple_text(&operand.aval().shape);
            bail!(
                Type,
                "slice limit_indices must be less than or equal to operand shape, got positions {start} to {limit} of \
                 axis {axis} for operand shape {shape}."
            );
        }
        lax::slice_in_dim(&operand, start as usize, limit as usize, stride, axis)
    })
}

/// A stride as the primitive wants it.
fn positive_stride(stride: i64) -> Result<usize> {
    match usize::try_from(stride) {
        Ok(stride) if stride > 0 => Ok(stride),
        _ => bail!(Type, "slice strides must be positive, got ({stride},)"),
    }
}
