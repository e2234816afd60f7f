//! Choosing elements: by condition and by index.

use pullback_base::dtype::Kind;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::remainder;
use crate::axes::canonical_axis;
use crate::broadcast::{broadcast_as, broadcast_in_dim, broadcast_shapes, broadcast_to};
use crate::convert::{concrete_scalar, convert, int_literal, known_for, number, to_dtype};
use crate::declare::WideNumber;
use crate::jit::named_jit_one;
use crate::lax::{self, GatherDimensions, GatherMode, IndexOptions};
use crate::promotion::{check_arguments, promote_dtypes};

/// `x` where the condition holds, else `y`.
///
/// # Errors
/// When dtypes or shapes do not go together.
pub fn where_(condition: &Val, x: &Val, y: &Val) -> Result<Val> {
    named_jit_one("_where", &[], &[condition.clone(), x.clone(), y.clone()], |args| {
        let condition = lax::nonzero_mask(&args[0])?;
        let ins = promote_dtypes(&args[1..])?;
        let avals: Vec<Aval> = [&condition, &ins[0], &ins[1]].map(Val::aval).to_vec();
        let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
        let shape = broadcast_shapes(&shapes)?;
        let split = avals.iter().copied().find(|aval| aval.sharding.is_some() && aval.shape[..] == shape[..]);
        let wide = |x: &Val| match split {
            // What is repeated is split like the array beside it.
            Some(split) if x.aval().shape != split.shape => broadcast_as(x, split),
            Some(_) | None => broadcast_to(x, &shape),
        };
        let condition = if condition.aval().rank() == 0 { condition } else { wide(&condition)? };
        lax::select(&condition, &wide(&ins[0])?, &wide(&ins[1])?)
    })
}

/// For each element the choice of the first condition that holds, else the default.
///
/// # Errors
/// A `Value` error when conditions and choices differ in number or there are none.
pub fn select(conditions: &[Val], choices: &[Val], default: &Val) -> Result<Val> {
    if conditions.len() != choices.len() {
        bail!(Value, "condlist must have length equal to choicelist ({} vs {})", conditions.len(), choices.len());
    }
    if conditions.is_empty() {
        bail!(Value, "condlist must be non-empty");
    }
    let conditions: Vec<Val> = conditions.iter().map(lax::nonzero_mask).collect::<Result<_>>()?;
    let conditions = &conditions[..];
    let cases: Vec<Val> = std::iter::once(default).chain(choices).cloned().collect();
    let cases = promote_dtypes(&cases)?;
    let avals: Vec<Aval> = cases.iter().chain(conditions).map(Val::aval).collect();
    let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
    let shape = broadcast_shapes(&shapes)?;
    let never = lax::full(&shape, &int_literal(DType::Bool, 0))?;
    let masks: Result<Vec<Val>> = conditions.iter().map(|condition| broadcast_to(condition, &shape)).collect();
    let stacked: Vec<Val> = std::iter::once(never).chain(masks?).collect();
    let which = lax::argmax(&lax::stack(&stacked, 0)?, 0, DType::I32)?;
    let cases: Result<Vec<Val>> = cases.iter().map(|case| broadcast_to(case, &shape)).collect();
    lax::select_n(&which, &cases?)
}

/// What [`take`] does with indices out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TakeMode {
    /// Fills, with NaN unless told otherwise; negative indices count from the end.
    Fill,
    /// Takes the nearest; negative ones are 0.
    Clip,
    /// Counts around.
    Wrap,
    /// Promised not to occur; negative indices count from the end.
    PromiseInBounds,
}

/// Options of [`take`].
#[derive(Clone, Copy, Debug)]
pub struct TakeOptions {
    /// Out-of-bounds indices.
    pub mode: TakeMode,
    /// Whether no index occurs twice.
    pub unique: bool,
    /// Whether indices come in order.
    pub sorted: bool,
    /// What out-of-bounds indices give.
    pub fill: Option<Scalar>,
    /// Whether negative indices along an axis count from the end.
    pub wraps_negative: bool,
}

impl Default for TakeOptions {
    fn default() -> TakeOptions {
        TakeOptions { mode: TakeMode::Fill, unique: false, sorted: false, fill: None, wraps_negative: true }
    }
}

/// Elements at indices along an axis, or in the flat array.
///
/// # Errors
/// A `Value` error for indices that are no integers or a bad axis.
pub fn take(x: &Val, indices: &Val, axis: Option<i64>, options: TakeOptions) -> Result<Val> {
    check_arguments("take", std::slice::from_ref(indices))?;
    let TakeOptions { mode, unique, sorted, fill, .. } = options;
    let fill_bits = fill.map_or([0, 0, 0], |fill| [1, fill.to_bits() as i64, fill.dtype() as i64]);
    let mut statics = vec![mode as i64, unique.into(), sorted.into(), axis.is_some().into(), axis.unwrap_or(0)];
    statics.extend(fill_bits);
    named_jit_one("_take", &statics, &[x.clone(), indices.clone()], |args| take_at(&args[0], &args[1], axis, options))
}

fn take_at(x: &Val, indices: &Val, axis: Option<i64>, options: TakeOptions) -> Result<Val> {
    let (x, axis) = match axis {
        None => (lax::reshape(x, &[x.aval().size()], None)?, 0),
        Some(axis) => (x.clone(), canonical_axis(axis, x.aval().rank())?),
    };
    let size = x.aval().shape[axis];
    // Booleans count as 0 and 1.
    let indices = &if indices.aval().dtype == DType::Bool { to_dtype(indices, DType::I32)? } else { indices.clone() };
    if !indices.aval().dtype.is_integer() {
        bail!(Value, "indices must have an integer type");
    }
    let count = indices.aval().size();
    if size == 0 && count > 0 {
        bail!(Index, "cannot do a non-empty jnp.take() from an empty axis.");
    }
    let (indices, mode) = match options.mode {
        TakeMode::Clip => (indices.clone(), GatherMode::Clip),
        TakeMode::Wrap => (remainder(indices, &number(indices, size as f64))?, GatherMode::PromiseInBounds),
        TakeMode::Fill => (wrapped_where(indices, size)?, GatherMode::FillOrDrop),
        TakeMode::PromiseInBounds => (wrapped_where(indices, size)?, GatherMode::PromiseInBounds),
    };
    let indices = as_index(&indices)?;
    let n_index = indices.aval().rank();
    let rank = x.aval().rank();
    let offset_dims = (0..axis).chain(axis + n_index..rank - 1 + n_index).collect();
    let dims = GatherDimensions {
        offset_dims,
        collapsed_slice_dims: vec![axis],
        start_index_map: vec![axis],
        ..GatherDimensions::default()
    };
    let mut sizes = x.aval().shape.to_vec();
    sizes[axis] = 1;
    let positions = lax::expand_axes(&indices, &[n_index])?;
    let options_ = IndexOptions { mode, sorted: options.sorted, unique: options.unique };
    lax::gather(&x, &positions, &dims, &sizes, options_, options.fill)
}

/// Unsigned and narrow indices become 32-bit ones.
pub(crate) fn index_dtype(dtype: DType) -> DType {
    if dtype == DType::I64 { DType::I64 } else { DType::I32 }
}

/// The indices in an index dtype; a weak type stays.
fn as_index(indices: &Val) -> Result<Val> {
    let aval = indices.aval();
    convert(indices, index_dtype(aval.dtype), aval.weak_type)
}

fn wrapped_where(indices: &Val, size: usize) -> Result<Val> {
    if indices.aval().dtype.kind() != Kind::Signed {
        return Ok(indices.clone());
    }
    let is_negative = lax::lt(indices, &number(indices, 0.0))?;
    let wrapped = super::add(indices, &crate::convert::weak_int(size as i64))?;
    where_(&is_negative, &wrapped, indices)
}

/// Elements at indices along an axis, with one index for each other position.
///
/// # Errors
/// A `Type` error for indices that are no integers, a `Value` error for ranks that differ or a bad axis.
pub fn take_along_axis(x: &Val, indices: &Val, axis: Option<i64>, options: TakeOptions) -> Result<Val> {
    if !indices.aval().dtype.is_integer() {
        bail!(Type, "take_along_axis indices must be of integer type, got {}", indices.aval().dtype);
    }
    let TakeOptions { mode, fill, wraps_negative, .. } = options;
    let fill_bits = fill.map_or([0, 0, 0], |fill| [1, fill.to_bits() as i64, fill.dtype() as i64]);
    let mut statics = vec![mode as i64, axis.is_some().into(), axis.unwrap_or(0), wraps_negative.into()];
    statics.extend(fill_bits);
    named_jit_one("take_along_axis", &statics, &[x.clone(), indices.clone()], |args| {
        along_axis(&args[0], &args[1], axis, options)
    })
}

fn along_axis(x: &Val, indices: &Val, axis: Option<i64>, options: TakeOptions) -> Result<Val> {
    let rank = x.aval().rank();
    if axis.is_some() && rank != indices.aval().rank() {
        bail!(Value, "indices and arr must have the same number of dimensions; {} vs. {rank}", indices.aval().rank());
    }
    let (x, axis) = match axis {
        None => (lax::reshape(x, &[x.aval().size()], None)?, 0),
        Some(axis) => (x.clone(), canonical_axis(axis, rank)?),
    };
    let size = x.aval().shape[axis];
    let from_the_end =
        |indices: &Val| if options.wraps_negative { lax::wrap_index(indices, size) } else { Ok(indices.clone()) };
    let (indices, mode) = match options.mode {
        TakeMode::Clip => (from_the_end(indices)?, GatherMode::Clip),
        TakeMode::Wrap => (remainder(indices, &number(indices, size as f64))?, GatherMode::PromiseInBounds),
        TakeMode::Fill => (from_the_end(indices)?, GatherMode::FillOrDrop),
        TakeMode::PromiseInBounds => (from_the_end(indices)?, GatherMode::PromiseInBounds),
    };
    let indices = as_index(&indices)?;
    gather_along(&x, &indices, axis, IndexOptions { mode, sorted: false, unique: false }, options.fill)
}

/// Axes of equal size go along; an axis of size 1 of the array repeats; one of the indices takes the whole axis.
fn gather_along(x: &Val, indices: &Val, axis: usize, options: IndexOptions, fill: Option<Scalar>) -> Result<Val> {
    let (x_shape, i_shape) = (x.aval().shape.to_vec(), indices.aval().shape.to_vec());
    let mut whole = x_shape.clone();
    whole[axis] = 1;
    let whole = broadcast_shapes(&[&whole, &i_shape])?;
    if whole.contains(&0) || x_shape.contains(&0) {
        // Nothing is taken, or from nothing, where the reference has zeros.
        return lax::full(&whole, &Val::Literal(Scalar::zero(x.aval().dtype)));
    }
    let mut dims = GatherDimensions { start_index_map: vec![axis], ..GatherDimensions::default() };
    let mut slice_sizes = vec![1; x_shape.len()];
    let mut kept = vec![];
    for i in 0..x_shape.len() {
        if i == axis || x_shape[i] == 1 {
            dims.collapsed_slice_dims.push(i);
            kept.push(i_shape[i]);
        } else if i_shape[i] == 1 {
            dims.offset_dims.push(i);
            slice_sizes[i] = x_shape[i];
        } else if x_shape[i] == i_shape[i] {
            dims.operand_batching_dims.push(i);
            dims.start_indices_batching_dims.push(kept.len());
            kept.push(i_shape[i]);
        } else {
            return Err(broadcast_shapes(&[&x_shape, &i_shape]).expect_err("sizes differ"));
        }
    }
    kept.push(1);
    let indices = lax::reshape_always(indices, &kept)?;
    lax::gather(x, &indices, &dims, &slice_sizes, options, fill)
}

/// For each element of `which` the element of that choice.
///
/// # Errors
/// A `Type` error for a choice by something that is no integer.
pub fn choose(which: &Val, choices: &[Val], mode: TakeMode) -> Result<Val> {
    if !which.aval().dtype.is_integer() {
        bail!(Type, "`a` array must be integer typed");
    }
    let n = choices.len() as i64;
    let last = crate::convert::weak_int(n - 1);
    let which = match mode {
        TakeMode::Wrap => remainder(which, &crate::convert::weak_int(n))?,
        TakeMode::Clip | TakeMode::Fill | TakeMode::PromiseInBounds => {
            super::clip(which, Some(&crate::convert::weak_int(0)), Some(&last))?
        }
    };
    let cases = promote_dtypes(choices)?;
    let avals: Vec<Aval> = cases.iter().chain([&which]).map(Val::aval).collect();
    let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
    let shape = broadcast_shapes(&shapes)?;
    let which = to_dtype(&broadcast_to(&which, &shape)?, DType::I32)?;
    let cases: Result<Vec<Val>> = cases.iter().map(|case| broadcast_to(case, &shape)).collect();
    lax::select_n(&which, &cases?)
}

/// An integer value as an array of the index dtype, repeated to a shape.
pub(crate) fn repeated_index(value: i64, shape: &[usize]) -> Result<Val> {
    let weak = crate::convert::weak_int(value);
    convert(&broadcast_in_dim(&weak, shape, &[])?, DType::I32, false)
}

/// Options as users write them, for a function and the mode that it refuses.
fn take_options(
    (function, refused): (&str, &str),
    mode: Option<&str>,
    fill: Option<WideNumber>,
    x: &Val,
) -> Result<TakeOptions> {
    let mode = match mode {
        Some(mode) if mode == refused => bail!(Value, "Invalid mode '{mode}' for jnp.{function}"),
        None | Some("fill") => TakeMode::Fill,
        Some("clip") => TakeMode::Clip,
        Some("promise_in_bounds") => TakeMode::PromiseInBounds,
        Some("wrap") => TakeMode::Wrap,
        Some("raise") => bail!(NotImplemented, "The 'raise' mode to jnp.take is not supported."),
        Some(other) => bail!(Value, "Invalid mode '{other}' for np.take"),
    };
    let dtype = x.aval().dtype;
    let fill = fill.map(|fill| concrete_scalar(&fill.to_wide(dtype)?, "the fill value")).transpose()?;
    Ok(TakeOptions { mode, fill: fill.map(|fill| fill.convert(dtype)), ..TakeOptions::default() })
}

/// The elements or slices at indices along an axis. Negative indices count from the end.
///
/// Args:
///   a: an array.
///   indices: integers of any shape.
///   axis: the axis; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   mode: what indices out of bounds give: None or 'fill' (the default) `fill_value`, 'clip' the nearest element,
///     also for negative ones, 'wrap' that of the index modulo the size.
///   unique_indices: a promise that no index occurs twice, for speed.
///   indices_are_sorted: a promise that indices ascend, for speed.
///   fill_value: NaN by default, for integers the least of the signed, the greatest of the unsigned, and true for
///     booleans.
/// Returns: an array of the dtype of `a`, with the axes of `indices` in place of `axis`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: indices that are no integers, or the axis is out of bounds.
///   IndexError: elements of an empty axis.
///   NotImplementedError: `mode='raise'`, or `out` is given.
/// Differentiable: yes, in both modes, with respect to `a`.
/// Example:
///   >>> print(jnp.take(jnp.array([5.0, 6.0, 7.0]), jnp.array([0, -1, 9])))
///   [ 5.  7. nan]
///   >>> print(jnp.take(jnp.array([5.0, 6.0, 7.0]), jnp.array([0, 9]), mode="clip"))
///   [5. 7.]
#[public(
    "numpy.take(a, indices, axis=None, out: NoOut=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None)"
)]
pub fn take_by(
    a: &Val,
    indices: &Val,
    axis: Option<i64>,
    mode: Option<&str>,
    unique_indices: bool,
    indices_are_sorted: bool,
    fill_value: Option<WideNumber>,
) -> Result<Val> {
    let (unique, sorted) = (unique_indices, indices_are_sorted);
    let options = TakeOptions { unique, sorted, ..take_options(("take", "promise_in_bounds"), mode, fill_value, a)? };
    take(a, indices, axis, options)
}

/// For each position the element at its index along an axis: `out[i, j] = arr[i, indices[i, j]]` along the last of
/// two.
///
/// Args:
///   arr: an array.
///   indices: integers with as many axes as `arr`; other axes than `axis` broadcast.
///   axis: the axis; the last by default; None takes the flat array.
///   mode: what indices out of bounds give: 'fill' (the default) NaN or the least integer, 'clip' the nearest
///     element; 'promise_in_bounds' promises that there are none; 'one_hot' gives 0, and multiplies `arr` with rows that
///     are 1 at the index.
///   fill_value: what 'fill' gives in place of that.
///   wrap_negative_indices: whether negative indices count from the end; if not, they are out of bounds.
/// Returns: an array of the dtype of `arr` and the shape of `indices`, broadcast.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or indices that are no integers.
///   ValueError: another number of axes, the axis is out of bounds, or shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to `arr`.
/// Example:
///   >>> print(jnp.take_along_axis(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0]]), axis=1))
///   [[2]
///    [3]]
#[public("numpy.take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None, *, wrap_negative_indices=True)")]
pub fn take_along_axis_by(
    arr: &Val,
    indices: &Val,
    axis: Option<i64>,
    mode: Option<&str>,
    fill_value: Option<WideNumber>,
    wrap_negative_indices: bool,
) -> Result<Val> {
    let wraps_negative = wrap_negative_indices;
    if mode == Some("one_hot") {
        return take_by_products(arr, indices, axis, wraps_negative);
    }
    let options = TakeOptions { wraps_negative, ..take_options(("take_along_axis", "wrap"), mode, fill_value, arr)? };
    take_along_axis(arr, indices, axis, options)
}

/// Elements at indices along an axis, as products with rows that are 1 at the index and 0 elsewhere.
fn take_by_products(arr: &Val, indices: &Val, axis: Option<i64>, wraps_negative: bool) -> Result<Val> {
    let (arr, axis) = match axis {
        Some(axis) => (arr.clone(), axis),
        None => (lax::reshape(arr, &[arr.aval().size()], None)?, 0),
    };
    if !indices.aval().dtype.is_integer() {
        bail!(Type, "take_along_axis indices must be of integer type, got {}", indices.aval().dtype);
    }
    if indices.aval().rank() != arr.aval().rank() {
        bail!(
            Value,
            "indices and arr must have the same number of dimensions; {} vs. {}",
            indices.aval().rank(),
            arr.aval().rank()
        );
    }
    let (arr, indices) = (super::moveaxis(&arr, &[axis], &[-1])?, super::moveaxis(indices, &[axis], &[-1])?);
    let n = arr.aval().shape[arr.aval().rank() - 1];
    let size = crate::convert::weak_int(n as i64);
    let wrapped =
        where_(&super::less(&indices, &crate::convert::weak_int(0))?, &super::add(&indices, &size)?, &indices)?;
    let indices = if wraps_negative { wrapped } else { indices };
    let places = lax::iota(indices.aval().dtype, n)?;
    let last = indices.aval().rank();
    let rows = super::equal(&lax::expand_axes(&indices, &[last])?, &places)?;
    let columns = lax::expand_axes(&arr, &[last])?;
    let rows = crate::convert::to_dtype(&rows, arr.aval().dtype)?;
    let found = super::matmul(&rows, &columns, None)?;
    super::moveaxis(&lax::squeeze_axes(&found, &[last])?, &[-1], &[axis])
}

/// For each element that of the first choice whose condition holds.
///
/// Args:
///   condlist: conditions: arrays of booleans that broadcast.
///   choicelist: as many arrays or numbers.
///   default: what to give where no condition holds; 0 by default.
/// Returns: an array of the broadcast shape and the promoted dtype of the choices and the default.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: no conditions, another number of choices, or shapes that do not broadcast.
/// Differentiable: yes, in both modes, with respect to the choices and the default.
/// Example:
///   >>> x = jnp.arange(4)
///   >>> print(jnp.select([x < 1, x < 3], [x, 10 * x], 7))
///   [ 0 10 20  7]
#[public("numpy.select(condlist, choicelist, default=0)")]
pub fn select_first(condlist: &[Val], choicelist: &[Val], default: &Val) -> Result<Val> {
    select(condlist, choicelist, default)
}

/// For each index the element of the choice with that number.
///
/// Args:
///   a: integers.
///   choices: a sequence of arrays, or one array whose slices are the choices; they broadcast with `a`.
///   out: for compatibility; must be None.
///   mode: what other indices do: 'raise' (the default; concrete ones only) raises, 'clip' takes the nearest
///     choice, 'wrap' that of the index modulo their number.
/// Returns: an array of the broadcast shape and the promoted dtype of the choices.
/// Raises:
///   ValueError: indices that are no integers, one out of bounds in mode 'raise', shapes that do not broadcast, or another mode.
///   ConcretizationTypeError: traced indices in mode 'raise'.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, with respect to `choices`.
/// Example:
///   >>> print(jnp.choose(jnp.array([1, 0]), [jnp.array([5, 6]), jnp.array([7, 8])]))
///   [7 6]
#[public("numpy.choose(a, choices, out: NoOut=None, mode='raise')")]
pub fn choose_by(a: &Val, choices: &[Val], mode: &str) -> Result<Val> {
    let dtype = a.aval().dtype;
    let mode = match mode {
        "wrap" => TakeMode::Wrap,
        "clip" => TakeMode::Clip,
        "raise" => {
            let why = "the indices of jnp.choose in mode 'raise'; mode='wrap' and mode='clip' take traced ones.";
            let known = known_for(a, why)?.elements()?;
            let is_within = |element: &Scalar| (0..choices.len() as i64).contains(&element.as_i64());
            if dtype.is_integer() && !known.iter().all(is_within) {
                bail!(Value, "invalid entry in choice array");
            }
            TakeMode::Clip
        }
        _ => bail!(Value, "mode={mode:?} not understood. Must be 'raise', 'wrap', or 'clip'"),
    };
    if !dtype.is_integer() {
        bail!(Value, "`a` array must be integer typed");
    }
    let chosen = choose(a, choices, mode)?;
    to_dtype(&chosen, chosen.aval().dtype)
}

/// The slices of an axis where a condition holds.
///
/// Args:
///   condition: a vector of booleans; concrete unless `size` is given.
///   a: an array.
///   axis: the axis; None (the default) takes the flat array.
///   size: how many slices to give: more are cut off, missing ones are filled up.
///   fill_value: what fills up; 0 by default.
///   out: for compatibility; must be None.
/// Returns: an array of the dtype of `a`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced condition without `size`.
///   ValueError: the condition is no vector, or holds beyond the axis; a `size` that is not from 1 to that of the axis.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, with respect to `a`.
/// Example:
///   >>> print(jnp.compress(jnp.array([True, False, True]), jnp.array([5, 6, 7])))
///   [5 7]
#[public("numpy.compress(condition, a, axis=None, *, size=None, fill_value=0, out: NoOut=None)")]
pub fn compress(condition: &Val, a: &Val, axis: Option<i64>, size: Option<i64>, fill_value: WideNumber) -> Result<Val> {
    let (x, axis) = match axis {
        None => (super::parts::flat(a)?, 0),
        Some(axis) => (a.clone(), axis),
    };
    let rank = x.aval().rank();
    let Ok(along) = canonical_axis(axis, rank) else { bail!(Index, "tuple index out of range") };
    let n = x.aval().shape[along];
    let [length] = condition.aval().shape[..] else { bail!(Value, "condition must be a 1D array") };
    let shared = n.min(length);
    if let Some(size) = size.filter(|&size| size <= 0 || size > shared as i64) {
        bail!(
            Value,
            "size must be positive and not greater than the size of the array axis; got size={size} for \
             a.shape[axis]={shared}"
        );
    }
    if let Some(known) = condition.to_array()
        && known.elements()?[shared..].iter().any(|element| element.is_nonzero())
    {
        bail!(Value, "condition contains entries that are out of bounds");
    }
    let condition = super::parts::part(condition, 0, None, shared as i64)?;
    let places = match size {
        None => super::nonzero(&condition)?,
        Some(size) => super::nonzero_sized(&condition, size as usize, &[n as i64])?,
    };
    let options = take_options(("take", "promise_in_bounds"), None, Some(fill_value), &x)?;
    take(&x, &places[0], Some(axis), options)
}

/// The elements of a flat array where a condition holds.
///
/// Args:
///   condition: booleans, taken as flat; concrete unless `size` is given.
///   arr: an array, taken as flat.
///   size: how many elements to give: more are cut off, missing ones are filled up.
///   fill_value: what fills up; 0 by default.
/// Returns: a vector of the dtype of `arr`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ConcretizationTypeError: a traced condition without `size`.
/// Differentiable: yes, in both modes, with respect to `arr`.
/// Example:
///   >>> x = jnp.arange(6)
///   >>> print(jnp.extract(x % 2 == 0, x))
///   [0 2 4]
#[public("numpy.extract(condition, arr, *, size=None, fill_value=0)")]
pub fn extract(condition: &Val, arr: &Val, size: Option<i64>, fill_value: WideNumber) -> Result<Val> {
    use super::parts::flat;
    compress(&flat(condition)?, &flat(arr)?, None, size, fill_value)
}
