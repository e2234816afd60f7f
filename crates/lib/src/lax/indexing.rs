//! Slices gathered from computed positions, and updates scattered to them, as users ask for them.

use pullback_base::{Result, bail};
use pullback_derive::{Keywords, public};
use pullback_ir::Val;

use super::{GatherDimensions, GatherMode, IndexOptions, ScatterDimensions, ScatterKind};
use crate::convert::{concrete_scalar, to_dtype};
use crate::declare::{Argument, Arguments, Constant, NestedInts, Type};

/// Lists of axes, of which those at the end may be left out.
fn axis_lists<const N: usize>(given: &NestedInts) -> Result<[Vec<usize>; N]> {
    let mut lists: [Vec<usize>; N] = std::array::from_fn(|_| vec![]);
    let items = given.items();
    if items.len() > N {
        bail!(Type, "dimension numbers are {N} lists of axes, got {}", items.len());
    }
    for (list, item) in lists.iter_mut().zip(items) {
        let Some(axes) = item.flat() else { bail!(Type, "dimension numbers are lists of axes") };
        *list = super::shaping::nonnegative(&axes)?;
    }
    Ok(lists)
}

impl Argument for GatherDimensions {
    const TYPE: Type = Type { python: "lax.GatherDimensionNumbers", rust: "GatherDimensions" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<GatherDimensions> {
        let [offset_dims, collapsed_slice_dims, start_index_map, operand_batching_dims, start_indices_batching_dims] =
            axis_lists(&args.nested_ints(at)?)?;
        Ok(GatherDimensions {
            offset_dims,
            collapsed_slice_dims,
            start_index_map,
            operand_batching_dims,
            start_indices_batching_dims,
        })
    }
    fn absent(_default: Constant) -> GatherDimensions {
        GatherDimensions::default()
    }
}

impl Argument for ScatterDimensions {
    const TYPE: Type = Type { python: "lax.ScatterDimensionNumbers", rust: "ScatterDimensions" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<ScatterDimensions> {
        let [
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            operand_batching_dims,
            scatter_indices_batching_dims,
        ] = axis_lists(&args.nested_ints(at)?)?;
        Ok(ScatterDimensions {
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
            operand_batching_dims,
            scatter_indices_batching_dims,
        })
    }
    fn absent(_default: Constant) -> ScatterDimensions {
        ScatterDimensions::default()
    }
}

impl Argument for GatherMode {
    const TYPE: Type = Type { python: "str | lax.GatherScatterMode", rust: "GatherMode" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<GatherMode> {
        let shown = args.shown(at)?.to_lowercase();
        match shown.rsplit('.').next().unwrap_or_default() {
            "fill" | "drop" | "fill_or_drop" => Ok(GatherMode::FillOrDrop),
            "clip" => Ok(GatherMode::Clip),
            "promise_in_bounds" => Ok(GatherMode::PromiseInBounds),
            other => bail!(Value, "Unknown gather/scatter mode {other}"),
        }
    }
    fn absent(_default: Constant) -> GatherMode {
        GatherMode::FillOrDrop
    }
}

/// What users say of the indices of a gather or scatter.
#[derive(Clone, Copy, Debug, Default, Keywords)]
pub struct IndexHints {
    /// Whether no index occurs twice.
    pub unique_indices: bool,
    /// Whether indices come in order.
    pub indices_are_sorted: bool,
    /// Out-of-bounds indices; by default as the function has it.
    pub mode: Option<GatherMode>,
}

impl IndexHints {
    fn options(self, default: GatherMode) -> IndexOptions {
        IndexOptions {
            mode: self.mode.unwrap_or(default),
            sorted: self.indices_are_sorted,
            unique: self.unique_indices,
        }
    }
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
#[public(
    "lax.gather(operand, start_indices, dimension_numbers, slice_sizes, *, unique_indices=False, indices_are_sorted=False, mode=None, fill_value=None)"
)]
pub fn checked_gather(
    operand: &Val,
    start_indices: &Val,
    dimension_numbers: &GatherDimensions,
    slice_sizes: &[usize],
    hints: &IndexHints,
    fill_value: Option<&Val>,
) -> Result<Val> {
    let fill = fill_value.map(|fill| concrete_scalar(fill, "the fill value")).transpose()?;
    let fill = fill.map(|fill| fill.convert(operand.aval().dtype));
    let options = hints.options(GatherMode::PromiseInBounds);
    super::gather(operand, start_indices, dimension_numbers, slice_sizes, options, fill)
}

macro_rules! scatters {
    ($($(#[$($meta:tt)*])* fn $name:ident $kind:ident;)*) => {$(
        $(#[$($meta)*])*
        pub fn $name(
            operand: &Val,
            scatter_indices: &Val,
            updates: &Val,
            dimension_numbers: &ScatterDimensions,
            hints: &IndexHints,
        ) -> Result<Val> {
            let is_weak = updates.aval().weak_type;
            let updates = if is_weak { to_dtype(updates, operand.aval().dtype)? } else { updates.clone() };
            let options = hints.options(GatherMode::FillOrDrop);
            super::scatter(&ScatterKind::$kind, operand, scatter_indices, &updates, dimension_numbers, options)
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
    #[public(
        "lax.scatter(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)"
    )]
    fn scatter_set Set;

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
    #[public(
        "lax.scatter_add(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)"
    )]
    fn scatter_add Add;

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
    #[public(
        "lax.scatter_max(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)"
    )]
    fn scatter_max Max;

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
    #[public(
        "lax.scatter_min(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)"
    )]
    fn scatter_min Min;

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
    #[public(
        "lax.scatter_mul(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)"
    )]
    fn scatter_mul Mul;

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
    #[public(
        "lax.scatter_sub(operand, scatter_indices, updates, dimension_numbers, *, indices_are_sorted=False, unique_indices=False, mode=None)"
    )]
    fn scatter_sub Sub;
}
