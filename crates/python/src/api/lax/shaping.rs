//! Shapes, creation, slices, gathers and contractions.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{axes_of, each, fill_of, gather_dimensions, index_options, sizes, starts};
use crate::api::arguments::{Arrays, ShapeArg, canonical, list, one, tuple};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::{Scalar, bail};
use pullback_lib::axes::{canonical_axis, shape_of};
use pullback_lib::convert::to_dtype;
use pullback_lib::lax::{self};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(reshape, m)?)?;
    m.add_function(wrap_pyfunction!(transpose, m)?)?;
    m.add_function(wrap_pyfunction!(squeeze, m)?)?;
    m.add_function(wrap_pyfunction!(expand_dims, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(broadcast_to_rank, m)?)?;
    m.add_function(wrap_pyfunction!(collapse, m)?)?;
    m.add_function(wrap_pyfunction!(concatenate, m)?)?;
    m.add_function(wrap_pyfunction!(stack, m)?)?;
    m.add_function(wrap_pyfunction!(unstack, m)?)?;
    m.add_function(wrap_pyfunction!(split, m)?)?;
    m.add_function(wrap_pyfunction!(tile, m)?)?;
    m.add_function(wrap_pyfunction!(rev, m)?)?;
    m.add_function(wrap_pyfunction!(pad, m)?)?;
    m.add_function(wrap_pyfunction!(iota, m)?)?;
    m.add_function(wrap_pyfunction!(broadcasted_iota, m)?)?;
    m.add_function(wrap_pyfunction!(full, m)?)?;
    m.add_function(wrap_pyfunction!(full_like, m)?)?;
    m.add_function(wrap_pyfunction!(slice, m)?)?;
    m.add_function(wrap_pyfunction!(slice_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(index_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_slice, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_update_slice, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_slice_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_index_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_update_slice_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(dynamic_update_index_in_dim, m)?)?;
    m.add_function(wrap_pyfunction!(gather, m)?)?;
    m.add_function(wrap_pyfunction!(dot_general, m)?)?;
    m.add_function(wrap_pyfunction!(dot, m)?)?;
    m.add_function(wrap_pyfunction!(batch_matmul, m)?)?;
    m.add_function(wrap_pyfunction!(top_k, m)?)?;
    Ok(())
}

/// The elements under another shape.
#[pyfunction]
#[pyo3(signature = (operand, new_sizes, dimensions=None, *, out_sharding=None), text_signature = "(operand, new_sizes, dimensions=None, *, out_sharding=None)")]
fn reshape(
    py: Python<'_>,
    operand: ArrayLike,
    new_sizes: ShapeArg,
    dimensions: Option<ShapeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "reshape", 0)?;
    let new_sizes = new_sizes.0;
    let dimensions = dimensions.map(|shape| shape.0);
    let _ = out_sharding;
    one(py, || {
        let dims = dimensions.map(|dims| sizes(&dims)).transpose()?;
        let new = pullback_lib::numpy::reshape(&operand, &new_sizes, pullback_lib::numpy::Order::RowMajor);
        match dims {
            Some(dims) => {
                let moved = lax::transpose(&operand, &dims)?;
                pullback_lib::numpy::reshape(&moved, &new_sizes, pullback_lib::numpy::Order::RowMajor)
            }
            None => new,
        }
    })
}

/// The axes in another order.
#[pyfunction]
#[pyo3(signature = (operand, permutation), text_signature = "(operand, permutation)")]
fn transpose(py: Python<'_>, operand: ArrayLike, permutation: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "transpose", 0)?;
    let permutation = permutation.0;
    one(py, || lax::transpose(&operand, &sizes(&permutation)?))
}

/// Without axes of size 1.
#[pyfunction]
#[pyo3(signature = (array, dimensions), text_signature = "(array, dimensions)")]
fn squeeze(py: Python<'_>, array: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "squeeze", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::squeeze(&array, &dimensions))
}

/// With new axes of size 1.
#[pyfunction]
#[pyo3(signature = (array, dimensions), text_signature = "(array, dimensions)")]
fn expand_dims(py: Python<'_>, array: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let array = array.val(py, "expand_dims", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::expand_dims(&array, &dimensions))
}

/// Repeated along new axes in front.
#[pyfunction]
#[pyo3(signature = (operand, sizes, *, out_sharding=None), text_signature = "(operand, sizes, *, out_sharding=None)")]
fn broadcast(
    py: Python<'_>,
    operand: ArrayLike,
    sizes: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "broadcast", 0)?;
    let sizes = sizes.0;
    let _ = out_sharding;
    one(py, || {
        let mut shape = shape_of(&sizes)?;
        let n = shape.len();
        shape.extend(operand.aval().shape.iter());
        lax::broadcast_in_dim(&operand, &shape, &(n..shape.len()).collect::<Vec<_>>())
    })
}

/// Repeated to a shape; each axis goes to a named one.
#[pyfunction]
#[pyo3(signature = (operand, shape, broadcast_dimensions, *, out_sharding=None), text_signature = "(operand, shape, broadcast_dimensions, *, out_sharding=None)")]
fn broadcast_in_dim(
    py: Python<'_>,
    operand: ArrayLike,
    shape: ShapeArg,
    broadcast_dimensions: ShapeArg,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "broadcast_in_dim", 0)?;
    let shape = shape.0;
    let broadcast_dimensions = broadcast_dimensions.0;
    let _ = out_sharding;
    one(py, || lax::broadcast_in_dim(&operand, &shape_of(&shape)?, &sizes(&broadcast_dimensions)?))
}

/// With axes of size 1 in front.
#[pyfunction]
#[pyo3(signature = (x, rank), text_signature = "(x, rank)")]
fn broadcast_to_rank(py: Python<'_>, x: ArrayLike, rank: usize) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "broadcast_to_rank", 0)?;
    one(py, || pullback_lib::broadcast::to_rank(&x, rank))
}

/// Consecutive axes merged in one.
#[pyfunction]
#[pyo3(signature = (operand, start_dimension, stop_dimension=None), text_signature = "(operand, start_dimension, stop_dimension=None)")]
fn collapse(
    py: Python<'_>,
    operand: ArrayLike,
    start_dimension: i64,
    stop_dimension: Option<i64>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "collapse", 0)?;
    one(py, || {
        let aval = operand.aval();
        let rank = aval.rank() as i64;
        let wrap = |at: i64| (if at < 0 { at + rank } else { at }).clamp(0, rank) as usize;
        let (from, to) = (wrap(start_dimension), stop_dimension.map_or(rank as usize, wrap));
        if from > to {
            bail!(Value, "collapse: start_dimension {start_dimension} comes after stop_dimension");
        }
        let shape = [&aval.shape[..from], &[aval.shape[from..to].iter().product()], &aval.shape[to..]].concat();
        lax::reshape(&operand, &shape, None)
    })
}

/// Arrays one after the other along an axis.
#[pyfunction]
#[pyo3(signature = (operands, dimension), text_signature = "(operands, dimension)")]
fn concatenate(py: Python<'_>, operands: Arrays, dimension: i64) -> PyResult<Py<PyAny>> {
    let operands = operands.vals(py, "concatenate")?;
    one(py, || {
        let Some(first) = operands.first() else {
            bail!(Value, "concatenate requires a non-empty sequences of arrays")
        };
        lax::concatenate(&operands, canonical_axis(dimension, first.aval().rank())?)
    })
}

/// Arrays along a new axis.
#[pyfunction]
#[pyo3(signature = (operands, axis=0), text_signature = "(operands, axis=0)")]
fn stack(py: Python<'_>, operands: Arrays, axis: i64) -> PyResult<Py<PyAny>> {
    let operands = operands.vals(py, "stack")?;
    one(py, || pullback_lib::numpy::stack(&operands, axis, None))
}

/// The slices along an axis.
#[pyfunction]
#[pyo3(signature = (x, axis=0), text_signature = "(x, axis=0)")]
fn unstack(py: Python<'_>, x: ArrayLike, axis: i64) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "unstack", 0)?;
    tuple(py, || pullback_lib::numpy::unstack(&x, axis))
}

/// Consecutive parts of an axis.
#[pyfunction]
#[pyo3(signature = (operand, sizes, axis=0), text_signature = "(operand, sizes, axis=0)")]
fn split(py: Python<'_>, operand: ArrayLike, sizes: ShapeArg, axis: i64) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "split", 0)?;
    let sizes = sizes.0;
    tuple(py, || lax::split(&operand, &shape_of(&sizes)?, canonical_axis(axis, operand.aval().rank())?))
}

/// Repeated along each axis.
#[pyfunction]
#[pyo3(signature = (operand, reps), text_signature = "(operand, reps)")]
fn tile(py: Python<'_>, operand: ArrayLike, reps: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "tile", 0)?;
    let reps = reps.0;
    one(py, || lax::tile(&operand, &shape_of(&reps)?))
}

/// The elements in reverse order along axes.
#[pyfunction]
#[pyo3(signature = (operand, dimensions), text_signature = "(operand, dimensions)")]
fn rev(py: Python<'_>, operand: ArrayLike, dimensions: ShapeArg) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "rev", 0)?;
    let dimensions = dimensions.0;
    one(py, || lax::rev(&operand, &axes_of(&operand, &dimensions)?))
}

/// The array with elements around and between its own.
#[pyfunction]
#[pyo3(signature = (operand, padding_value, padding_config), text_signature = "(operand, padding_value, padding_config)")]
fn pad(
    py: Python<'_>,
    operand: ArrayLike,
    padding_value: ArrayLike,
    padding_config: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "pad", 0)?;
    let padding_value = padding_value.val(py, "pad", 1)?;
    {
        let config = super::support::padding(padding_config)?;
        one(py, || {
            let fill = to_dtype(&padding_value, operand.aval().dtype)?;
            lax::pad(&operand, &fill, &config)
        })
    }
}

/// 0, 1, 2, and so on.
#[pyfunction]
#[pyo3(signature = (dtype, size), text_signature = "(dtype, size)")]
fn iota(py: Python<'_>, dtype: &Bound<'_, PyAny>, size: usize) -> PyResult<Py<PyAny>> {
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(dtype)?);
        one(py, || lax::iota(dtype, size))
    }
}

/// 0, 1, 2, and so on along an axis.
#[pyfunction]
#[pyo3(signature = (dtype, shape, dimension, *, out_sharding=None), text_signature = "(dtype, shape, dimension, *, out_sharding=None)")]
fn broadcasted_iota(
    py: Python<'_>,
    dtype: &Bound<'_, PyAny>,
    shape: ShapeArg,
    dimension: i64,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let _ = out_sharding;
    {
        let dtype = crate::dtypes::canonical(crate::dtypes::of_object(dtype)?);
        one(py, || {
            let shape = shape_of(&shape)?;
            let axis = canonical_axis(dimension, shape.len())?;
            lax::broadcasted_iota(dtype, &shape, axis)
        })
    }
}

/// An array of one value.
#[pyfunction]
#[pyo3(signature = (shape, fill_value, dtype=None, *, sharding=None), text_signature = "(shape, fill_value, dtype=None, *, sharding=None)")]
fn full(
    py: Python<'_>,
    shape: ShapeArg,
    fill_value: ArrayLike,
    dtype: Option<DTypeArg>,
    sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let shape = shape.0;
    let fill_value = fill_value.val(py, "full", 1)?;
    let dtype = canonical(py, dtype, "full")?;
    let _ = sharding;
    one(py, || pullback_lib::numpy::full(&shape, &fill_value, dtype))
}

/// An array of one value with shape and dtype of another.
#[pyfunction]
#[pyo3(signature = (x, fill_value, dtype=None, shape=None, sharding=None), text_signature = "(x, fill_value, dtype=None, shape=None, sharding=None)")]
fn full_like(
    py: Python<'_>,
    x: ArrayLike,
    fill_value: ArrayLike,
    dtype: Option<DTypeArg>,
    shape: Option<ShapeArg>,
    sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "full_like", 0)?;
    let fill_value = fill_value.val(py, "full_like", 1)?;
    let dtype = canonical(py, dtype, "full_like")?;
    let shape = shape.map(|shape| shape.0);
    let _ = sharding;
    one(py, || pullback_lib::numpy::full_like(&x, &fill_value, dtype, shape.as_deref()))
}

/// A part of each axis.
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
        lax::slice(&operand, &sizes(&start_indices)?, &sizes(&limit_indices)?, strides.as_deref())
    })
}

/// A part of one axis.
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
        let axis = canonical_axis(axis, operand.aval().rank())?;
        let n = operand.aval().shape[axis] as i64;
        let wrap = |at: i64| (if at < 0 { at + n } else { at }).clamp(0, n) as usize;
        lax::slice_in_dim(
            &operand,
            wrap(start_index.unwrap_or(0)),
            wrap(limit_index.unwrap_or(n)),
            stride.max(1) as usize,
            axis,
        )
    })
}

/// One position of an axis.
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

/// A part of fixed size at a computed position.
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
    {
        let _ = allow_negative_indices;
        let starts = starts(py, start_indices)?;
        one(py, || lax::dynamic_slice(&operand, &starts, &shape_of(&slice_sizes)?))
    }
}

/// The operand with an update at a computed position.
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
    {
        let _ = allow_negative_indices;
        let starts = starts(py, start_indices)?;
        one(py, || lax::dynamic_update_slice(&operand, &update, &starts))
    }
}

/// A part of one axis at a computed position.
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
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        let starts = each(&operand, at, &start_index);
        let mut full = operand.aval().shape.to_vec();
        full[at] = slice_size;
        lax::dynamic_slice(&operand, &starts, &full)
    })
}

/// A computed position of one axis.
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
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        let starts = each(&operand, at, &index);
        let mut full = operand.aval().shape.to_vec();
        full[at] = 1;
        let part = lax::dynamic_slice(&operand, &starts, &full)?;
        if keepdims { Ok(part) } else { lax::squeeze_axes(&part, &[at]) }
    })
}

/// The operand with an update at a computed position of one axis.
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
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        lax::dynamic_update_slice(&operand, &update, &each(&operand, at, &start_index))
    })
}

/// The operand with one position of an axis replaced.
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
    one(py, || {
        let _ = allow_negative_indices;
        let at = canonical_axis(axis, operand.aval().rank())?;
        let update = if update.aval().rank() == operand.aval().rank() {
            update.clone()
        } else {
            lax::expand_axes(&update, &[at])?
        };
        lax::dynamic_update_slice(&operand, &update, &each(&operand, at, &index))
    })
}

/// Slices at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=false, indices_are_sorted=false, mode=None, fill_value=None), text_signature = "(operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=False, indices_are_sorted=False, mode=None, fill_value=None)")]
fn gather(
    py: Python<'_>,
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    slice_sizes: ShapeArg,
    unique_indices: bool,
    indices_are_sorted: bool,
    mode: Option<&Bound<'_, PyAny>>,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "gather", 0)?;
    let start_indices = start_indices.val(py, "gather", 1)?;
    let slice_sizes = slice_sizes.0;
    {
        let dims = gather_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        let fill: Option<Scalar> = fill_of(fill_value, operand.aval().dtype)?;
        one(py, || lax::gather(&operand, &start_indices, &dims, &shape_of(&slice_sizes)?, options, fill))
    }
}

/// The sum of products over contracted axes.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None), text_signature = "(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None)")]
fn dot_general(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "dot_general", 0)?;
    let rhs = rhs.val(py, "dot_general", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "dot_general")?;
    let _ = out_sharding;
    {
        let dims = super::support::dot_dimensions(dimension_numbers)?;
        one(py, || lax::dot_general(&lhs, &rhs, dims, preferred_element_type))
    }
}

/// The dot product of vectors and matrices.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(lhs, rhs, *, dimension_numbers=None, precision=None, preferred_element_type=None, out_sharding=None)")]
fn dot(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Option<&Bound<'_, PyAny>>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "dot", 0)?;
    let rhs = rhs.val(py, "dot", 1)?;
    let _ = precision;
    let preferred_element_type = canonical(py, preferred_element_type, "dot")?;
    let _ = out_sharding;
    {
        if let Some(dims) = dimension_numbers {
            let dims = super::support::dot_dimensions(dims)?;
            return one(py, || lax::dot_general(&lhs, &rhs, dims, preferred_element_type));
        }
        one(py, || {
            let (a, b) = (lhs.aval(), rhs.aval());
            if !(1..=2).contains(&a.rank()) || !(1..=2).contains(&b.rank()) || a.shape[a.rank() - 1] != b.shape[0] {
                bail!(
                    Type,
                    "Incompatible shapes for dot: got {} and {}.",
                    pullback_base::aval::tuple_text(&a.shape),
                    pullback_base::aval::tuple_text(&b.shape)
                );
            }
            let contract = [vec![a.rank() - 1], vec![0]];
            let dims = pullback_core::prims::DotDimensions { contract, ..Default::default() };
            lax::dot_general(&lhs, &rhs, dims, preferred_element_type)
        })
    }
}

/// Products of matrices in batches.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, precision=None), text_signature = "(lhs, rhs, precision=None)")]
fn batch_matmul(
    py: Python<'_>,
    lhs: ArrayLike,
    rhs: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let lhs = lhs.val(py, "batch_matmul", 0)?;
    let rhs = rhs.val(py, "batch_matmul", 1)?;
    let _ = precision;
    one(py, || pullback_lib::numpy::matmul(&lhs, &rhs, None))
}

/// The greatest elements and their positions.
#[pyfunction]
#[pyo3(signature = (operand, k, *, axis=-1, is_stable=true), text_signature = "(operand, k, *, axis=-1, is_stable=True)")]
fn top_k(py: Python<'_>, operand: ArrayLike, k: usize, axis: i64, is_stable: bool) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "top_k", 0)?;
    list(py, || {
        let _ = is_stable;
        let axis = canonical_axis(axis, operand.aval().rank())?;
        lax::top_k(&operand, k, axis)
    })
}
