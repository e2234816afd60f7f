//! Functions that take parts, gather, scatter and contract.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use super::support::{
    each, fill_of, gather_dimensions, index_options, scatter_dimensions, scatter_with, sizes, starts,
};
use crate::api::arguments::{ShapeArg, canonical, list, one};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;
use pullback_base::{Scalar, bail};
use pullback_lib::axes::{canonical_axis, shape_of};
use pullback_lib::lax;
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
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
    m.add_function(wrap_pyfunction!(scatter, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_add, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_sub, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_mul, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_min, m)?)?;
    m.add_function(wrap_pyfunction!(scatter_max, m)?)?;
    Ok(())
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

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter", 1)?;
    let updates = updates.val(py, "scatter", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Set, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_add(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_add", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_add", 1)?;
    let updates = updates.val(py, "scatter_add", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Add, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_sub(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_sub", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_sub", 1)?;
    let updates = updates.val(py, "scatter_sub", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Sub, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_mul(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_mul", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_mul", 1)?;
    let updates = updates.val(py, "scatter_mul", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Mul, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_min(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_min", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_min", 1)?;
    let updates = updates.val(py, "scatter_min", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Min, &operand, &scatter_indices, &updates, &dims, options))
    }
}

/// Updates at computed positions.
#[pyfunction]
#[pyo3(signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None), text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)")]
fn scatter_max(
    py: Python<'_>,
    operand: ArrayLike,
    scatter_indices: ArrayLike,
    updates: ArrayLike,
    dimension_numbers: &Bound<'_, PyAny>,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let operand = operand.val(py, "scatter_max", 0)?;
    let scatter_indices = scatter_indices.val(py, "scatter_max", 1)?;
    let updates = updates.val(py, "scatter_max", 2)?;
    {
        let dims = scatter_dimensions(dimension_numbers)?;
        let options = index_options(mode, indices_are_sorted, unique_indices)?;
        one(py, || scatter_with(&lax::ScatterKind::Max, &operand, &scatter_indices, &updates, &dims, options))
    }
}
