//! Slices gathered from computed positions, and updates scattered to them.
#![allow(clippy::too_many_arguments, reason = "numbers of parameters are the reference's")]

use pullback_base::Scalar;
use pullback_lib::axes::shape_of;
use pullback_lib::lax::{self, IndexMode, ScatterKind};
use pyo3::prelude::*;

use super::support::{fill_of, gather_dimensions, index_options, scatter_dimensions, scatter_with};
use crate::api::arguments::{ShapeArg, one};
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; gather scatter scatter_add scatter_max scatter_min scatter_mul scatter_sub);
    Ok(())
}

/// Slices at computed positions, stacked along the axes of the positions (the `gather` of StableHLO).
///
/// Args:
///   operand: array of any dtype.
///   start_indices: integers; the last axis holds one position in several axes of `operand`.
///   dimension_numbers: a `GatherDimensionNumbers`: `offset_dims` are the axes of slices in the result,
///     `collapsed_slice_dims` axes of size 1 that slices lose, `start_index_map` the axes that positions are for;
///     `operand_batching_dims` go along with `start_indices_batching_dims`.
///   slice_sizes: the size of a slice along each axis of `operand`.
///   unique_indices: a promise that no position occurs twice.
///   indices_are_sorted: a promise that positions rise.
///   mode: a `GatherScatterMode` or its name: 'promise_in_bounds' (the default) promises that no slice is out of bounds,
///     'clip' moves them inside, 'fill' gives `fill_value` for them.
///   fill_value: for 'fill'; by default NaN for floating and complex dtypes, the least integer if signed, the
///     greatest if not, or True.
/// Returns: an array of the axes of `start_indices` but the last, and those of slices.
/// Raises:
///   TypeError: numbers and sizes do not fit the shapes.
///   ValueError: positions are no integers, or the mode is unknown, as `ONE_HOT` is here.
/// Differentiable: in `operand`, linear; the transpose is `scatter_add`.
/// Example:
///   >>> rows = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
///   >>> lax.gather(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0], [1]]), rows, (1, 2))
///   Array([[3, 4],
///          [1, 2],
///          [3, 4]], dtype=int32)
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
    let dims = gather_dimensions(dimension_numbers)?;
    let options = index_options(mode, IndexMode::PromiseInBounds, indices_are_sorted, unique_indices)?;
    let fill: Option<Scalar> = fill_of(fill_value, operand.aval().dtype)?;
    one(py, || lax::gather(&operand, &start_indices, &dims, &shape_of(&slice_sizes)?, options, fill))
}

macro_rules! scatters {
    ($($(#[$meta:meta])* $name:ident $kind:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        #[pyo3(
            signature = (operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=false, unique_indices=false, mode=None),
            text_signature = "(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)"
        )]
        fn $name(
            py: Python<'_>,
            operand: ArrayLike,
            scatter_indices: ArrayLike,
            updates: ArrayLike,
            dimension_numbers: &Bound<'_, PyAny>,
            indices_are_sorted: bool,
            unique_indices: bool,
            mode: Option<&Bound<'_, PyAny>>,
        ) -> PyResult<Py<PyAny>> {
            let operand = operand.val(py, stringify!($name), 0)?;
            let scatter_indices = scatter_indices.val(py, stringify!($name), 1)?;
            let updates = updates.val(py, stringify!($name), 2)?;
            let dims = scatter_dimensions(dimension_numbers)?;
            let options = index_options(mode, IndexMode::FillOrDrop, indices_are_sorted, unique_indices)?;
            one(py, || scatter_with(&ScatterKind::$kind, &operand, &scatter_indices, &updates, &dims, options))
        }
    )*};
}

scatters! {
    /// The operand with updates put at computed positions (the `scatter` of StableHLO). Of several updates for one
    /// position one is kept: here the last.
    ///
    /// Args:
    ///   operand: array of any dtype that the operation takes.
    ///   scatter_indices: integers; the last axis holds one position in several axes of `operand`.
    ///   updates: array of the dtype of `operand`, the array that is put there: the axes of positions and those of windows.
    ///   dimension_numbers: a `ScatterDimensionNumbers`: `update_window_dims` are the axes of windows in `updates`,
    ///     `inserted_window_dims` axes of size 1 that windows lack, `scatter_dims_to_operand_dims` the axes that
    ///     positions are for; `operand_batching_dims` go along with `scatter_indices_batching_dims`.
    ///   indices_are_sorted: a promise that positions rise.
    ///   unique_indices: a promise that no position occurs twice.
    ///   mode: a `GatherScatterMode` or its name: 'drop' (the default) leaves out updates out of bounds, 'clip' moves
    ///     them inside, 'promise_in_bounds' promises that there are none.
    /// Returns: an array like `operand`, which stays as it is.
    /// Raises:
    ///   TypeError: dtypes differ, or numbers do not fit the shapes.
    ///   ValueError: positions are no integers, or the mode is unknown.
    /// Differentiable: in `operand` and `updates`.
    /// Example:
    ///   >>> at = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    ///   >>> lax.scatter(jnp.zeros(4), jnp.array([[3], [1]]), jnp.array([7.0, 8.0]), at)
    ///   Array([0., 8., 0., 7.], dtype=float32)
    scatter Set;

    /// The operand with updates added at computed positions, as often as a position occurs.
    ///
    /// Args:
    ///   operand: array of any dtype that the operation takes.
    ///   scatter_indices: integers; the last axis holds one position in several axes of `operand`.
    ///   updates: array of the dtype of `operand`, what is added there: the axes of positions and those of windows.
    ///   dimension_numbers: a `ScatterDimensionNumbers`: `update_window_dims` are the axes of windows in `updates`,
    ///     `inserted_window_dims` axes of size 1 that windows lack, `scatter_dims_to_operand_dims` the axes that
    ///     positions are for; `operand_batching_dims` go along with `scatter_indices_batching_dims`.
    ///   indices_are_sorted: a promise that positions rise.
    ///   unique_indices: a promise that no position occurs twice.
    ///   mode: a `GatherScatterMode` or its name: 'drop' (the default) leaves out updates out of bounds, 'clip' moves
    ///     them inside, 'promise_in_bounds' promises that there are none.
    /// Returns: an array like `operand`, which stays as it is.
    /// Raises:
    ///   TypeError: dtypes differ, or numbers do not fit the shapes.
    ///   ValueError: positions are no integers, or the mode is unknown.
    /// Differentiable: in `operand` and `updates`, linear.
    /// Example:
    ///   >>> at = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    ///   >>> lax.scatter_add(jnp.zeros(4), jnp.array([[1], [1]]), jnp.array([7.0, 8.0]), at)
    ///   Array([ 0., 15.,  0.,  0.], dtype=float32)
    scatter_add Add;

    /// The operand with the greatest of its element and the updates at computed positions.
    ///
    /// Args:
    ///   operand: array of any dtype that the operation takes.
    ///   scatter_indices: integers; the last axis holds one position in several axes of `operand`.
    ///   updates: array of the dtype of `operand`, what is compared: the axes of positions and those of windows.
    ///   dimension_numbers: a `ScatterDimensionNumbers`: `update_window_dims` are the axes of windows in `updates`,
    ///     `inserted_window_dims` axes of size 1 that windows lack, `scatter_dims_to_operand_dims` the axes that
    ///     positions are for; `operand_batching_dims` go along with `scatter_indices_batching_dims`.
    ///   indices_are_sorted: a promise that positions rise.
    ///   unique_indices: a promise that no position occurs twice.
    ///   mode: a `GatherScatterMode` or its name: 'drop' (the default) leaves out updates out of bounds, 'clip' moves
    ///     them inside, 'promise_in_bounds' promises that there are none.
    /// Returns: an array like `operand`, which stays as it is.
    /// Raises:
    ///   TypeError: dtypes differ, or numbers do not fit the shapes.
    ///   ValueError: positions are no integers, or the mode is unknown.
    /// Differentiable: in `operand` and `updates`; the derivative goes to what is kept.
    /// Example:
    ///   >>> at = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    ///   >>> lax.scatter_max(jnp.ones(4), jnp.array([[1], [3]]), jnp.array([-7.0, 8.0]), at)
    ///   Array([1., 1., 1., 8.], dtype=float32)
    scatter_max Max;

    /// The operand with the least of its element and the updates at computed positions.
    ///
    /// Args:
    ///   operand: array of any dtype that the operation takes.
    ///   scatter_indices: integers; the last axis holds one position in several axes of `operand`.
    ///   updates: array of the dtype of `operand`, what is compared: the axes of positions and those of windows.
    ///   dimension_numbers: a `ScatterDimensionNumbers`: `update_window_dims` are the axes of windows in `updates`,
    ///     `inserted_window_dims` axes of size 1 that windows lack, `scatter_dims_to_operand_dims` the axes that
    ///     positions are for; `operand_batching_dims` go along with `scatter_indices_batching_dims`.
    ///   indices_are_sorted: a promise that positions rise.
    ///   unique_indices: a promise that no position occurs twice.
    ///   mode: a `GatherScatterMode` or its name: 'drop' (the default) leaves out updates out of bounds, 'clip' moves
    ///     them inside, 'promise_in_bounds' promises that there are none.
    /// Returns: an array like `operand`, which stays as it is.
    /// Raises:
    ///   TypeError: dtypes differ, or numbers do not fit the shapes.
    ///   ValueError: positions are no integers, or the mode is unknown.
    /// Differentiable: in `operand` and `updates`; the derivative goes to what is kept.
    /// Example:
    ///   >>> at = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    ///   >>> lax.scatter_min(jnp.ones(4), jnp.array([[1], [3]]), jnp.array([-7.0, 8.0]), at)
    ///   Array([ 1., -7.,  1.,  1.], dtype=float32)
    scatter_min Min;

    /// The operand multiplied by updates at computed positions, as often as a position occurs.
    ///
    /// Args:
    ///   operand: array of any dtype that the operation takes.
    ///   scatter_indices: integers; the last axis holds one position in several axes of `operand`.
    ///   updates: array of the dtype of `operand`, the factors: the axes of positions and those of windows.
    ///   dimension_numbers: a `ScatterDimensionNumbers`: `update_window_dims` are the axes of windows in `updates`,
    ///     `inserted_window_dims` axes of size 1 that windows lack, `scatter_dims_to_operand_dims` the axes that
    ///     positions are for; `operand_batching_dims` go along with `scatter_indices_batching_dims`.
    ///   indices_are_sorted: a promise that positions rise.
    ///   unique_indices: a promise that no position occurs twice.
    ///   mode: a `GatherScatterMode` or its name: 'drop' (the default) leaves out updates out of bounds, 'clip' moves
    ///     them inside, 'promise_in_bounds' promises that there are none.
    /// Returns: an array like `operand`, which stays as it is.
    /// Raises:
    ///   TypeError: dtypes differ, or numbers do not fit the shapes.
    ///   ValueError: positions are no integers, or the mode is unknown.
    ///   NotImplementedError: a derivative is taken in `updates` without `unique_indices`.
    /// Differentiable: in `operand`; in `updates` only with `unique_indices=True`.
    /// Example:
    ///   >>> at = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    ///   >>> lax.scatter_mul(jnp.ones(4), jnp.array([[1], [1]]), jnp.array([7.0, 8.0]), at)
    ///   Array([ 1., 56.,  1.,  1.], dtype=float32)
    scatter_mul Mul;

    /// The operand with updates subtracted at computed positions, as often as a position occurs.
    ///
    /// Args:
    ///   operand: array of any dtype that the operation takes.
    ///   scatter_indices: integers; the last axis holds one position in several axes of `operand`.
    ///   updates: array of the dtype of `operand`, what is subtracted there: the axes of positions and those of windows.
    ///   dimension_numbers: a `ScatterDimensionNumbers`: `update_window_dims` are the axes of windows in `updates`,
    ///     `inserted_window_dims` axes of size 1 that windows lack, `scatter_dims_to_operand_dims` the axes that
    ///     positions are for; `operand_batching_dims` go along with `scatter_indices_batching_dims`.
    ///   indices_are_sorted: a promise that positions rise.
    ///   unique_indices: a promise that no position occurs twice.
    ///   mode: a `GatherScatterMode` or its name: 'drop' (the default) leaves out updates out of bounds, 'clip' moves
    ///     them inside, 'promise_in_bounds' promises that there are none.
    /// Returns: an array like `operand`, which stays as it is.
    /// Raises:
    ///   TypeError: dtypes differ, or numbers do not fit the shapes.
    ///   ValueError: positions are no integers, or the mode is unknown.
    /// Differentiable: in `operand` and `updates`, linear.
    /// Example:
    ///   >>> at = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
    ///   >>> lax.scatter_sub(jnp.zeros(4), jnp.array([[1], [1]]), jnp.array([7.0, 8.0]), at)
    ///   Array([  0., -15.,   0.,   0.], dtype=float32)
    scatter_sub Sub;
}
