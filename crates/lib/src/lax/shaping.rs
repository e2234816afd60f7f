//! Functions of `lax` that move, repeat, join and rename elements.

use pullback_base::array::check_room;
use pullback_base::aval::tuple_text;
use pullback_base::{Error, Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::{Val, Vals};

use crate::axes::{canonical_axes, canonical_axis, signed_tuple_text};
use crate::broadcast::broadcast_in_dim;
use crate::declare::{NestedInts, TupleOf};
use crate::primitive::Bind;

/// The elements under another shape, in row-major order or with `dimensions` as the order in which axes are read.
///
/// # Errors
/// A `Type` error when the sizes differ.
pub fn reshape(x: &Val, sizes: &[usize], dimensions: Option<&[usize]>) -> Result<Val> {
    let aval = x.aval();
    if aval.size() != pullback_base::extent(sizes) {
        bail!(
            Type,
            "reshape total size must be unchanged, got new_sizes {} for shape {}.",
            tuple_text(sizes),
            tuple_text(&aval.shape)
        );
    }
    if let Some(order) = dimensions {
        return reshape(&transpose(x, order)?, sizes, None);
    }
    if aval.shape[..] == *sizes && !sizes.is_empty() {
        return Ok(x.clone());
    }
    reshape_always(x, sizes)
}

/// As [`reshape`], also when it changes nothing.
///
/// # Errors
/// What the primitive raises.
pub fn reshape_always(x: &Val, sizes: &[usize]) -> Result<Val> {
    let params = prims::Reshape { new_sizes: sizes.to_vec(), dimensions: None, sharding: None };
    prims::RESHAPE.bind_with(params, std::slice::from_ref(x))
}

/// The axes in another order.
///
/// # Errors
/// A `Type` error when `permutation` is none.
pub fn transpose(x: &Val, permutation: &[usize]) -> Result<Val> {
    let rank = x.aval().rank();
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank) {
        bail!(
            Type,
            "transpose permutation isn't a permutation of operand dimensions, got permutation {} for operand shape {}.",
            tuple_text(permutation),
            tuple_text(&x.aval().shape)
        );
    }
    if permutation.iter().copied().eq(0..rank) {
        return Ok(x.clone());
    }
    prims::TRANSPOSE.bind_with(prims::TransposeParams { permutation: permutation.to_vec() }, std::slice::from_ref(x))
}

/// The array without some axes of size 1.
///
/// Args:
///   array: array of any dtype.
///   dimensions: an axis or several of size 1, negative ones counted from the end.
/// Returns: an array of lower rank with the same elements.
/// Raises:
///   ValueError: an axis is not of size 1, out of bounds or occurs twice.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.squeeze(jnp.array([[1, 2]]), (0,))
///   Array([1, 2], dtype=int32)
#[public("lax.squeeze(array, dimensions: Sizes)")]
pub fn squeeze(array: &Val, dimensions: &[i64]) -> Result<Val> {
    let aval = array.aval();
    let mut axes = canonical_axes(dimensions, aval.rank())?;
    axes.sort_unstable();
    if axes.iter().any(|&axis| aval.shape[axis] != 1) {
        bail!(
            Value,
            "cannot select an axis to squeeze out which has size not equal to one, got shape={} and dimensions={}",
            tuple_text(&aval.shape),
            tuple_text(&axes)
        );
    }
    squeeze_axes(array, &axes)
}

/// Without the given axes, which have size 1.
///
/// # Errors
/// What the primitive raises.
pub fn squeeze_axes(x: &Val, axes: &[usize]) -> Result<Val> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    prims::SQUEEZE.bind_with(prims::Squeeze { dimensions: axes.to_vec() }, std::slice::from_ref(x))
}

/// The array with new axes of size 1.
///
/// Args:
///   array: array of any dtype.
///   dimensions: where the new axes are in the result, negative positions counted from its end.
/// Returns: an array of higher rank with the same elements.
/// Raises:
///   ValueError: a position is out of bounds or occurs twice.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.expand_dims(jnp.array([1, 2]), (0, 2)).shape
///   (1, 2, 1)
#[public("lax.expand_dims(array, dimensions: Sizes)")]
pub fn expand_dims(array: &Val, dimensions: &[i64]) -> Result<Val> {
    if dimensions.is_empty() {
        return Ok(array.clone());
    }
    let rank = array.aval().rank() + dimensions.len();
    let found: Vec<usize> = dimensions.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<_>>()?;
    if found.iter().enumerate().any(|(i, axis)| found[..i].contains(axis)) {
        bail!(Value, "repeated axis in lax.expand_dims: {}", crate::axes::signed_tuple_text(dimensions));
    }
    expand_axes(array, &found)
}

/// With new axes of size 1 at the given positions of the result, which are in range.
///
/// # Errors
/// What the primitive raises.
pub fn expand_axes(x: &Val, axes: &[usize]) -> Result<Val> {
    let aval = x.aval();
    let kept: Vec<usize> = (0..aval.rank() + axes.len()).filter(|axis| !axes.contains(axis)).collect();
    let mut shape = vec![1; kept.len() + axes.len()];
    for (&axis, &size) in kept.iter().zip(&aval.shape) {
        shape[axis] = size;
    }
    broadcast_in_dim(x, &shape, &kept)
}

/// Arrays one after the other along an axis.
///
/// # Errors
/// A `Type` error when ranks or other sizes differ.
pub fn concatenate(xs: &[Val], axis: usize) -> Result<Val> {
    let shapes = || xs.iter().map(|x| tuple_text(&x.aval().shape)).collect::<Vec<_>>().join(", ");
    let first = xs[0].aval();
    if xs.iter().any(|x| x.aval().rank() != first.rank()) {
        bail!(Type, "Cannot concatenate arrays with different numbers of dimensions: got {}.", shapes());
    }
    let differs = |x: &Val| (0..first.rank()).any(|i| i != axis && x.aval().shape[i] != first.shape[i]);
    if xs.iter().any(differs) {
        bail!(
            Type,
            "Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated: \
             concatenating along dimension {axis} for shapes {}.",
            shapes()
        );
    }
    if let [only] = xs {
        return Ok(only.clone());
    }
    prims::CONCATENATE.bind_with(prims::Concatenate { dimension: axis }, xs)
}

/// Arrays of one shape along a new axis.
///
/// # Errors
/// What the primitive raises.
pub fn stack(xs: &[Val], axis: usize) -> Result<Val> {
    prims::STACK.bind_with(prims::Stack { axis }, xs)
}

/// The slices along an axis, without it.
///
/// # Errors
/// What the primitive raises.
pub fn unstack(x: &Val, axis: usize) -> Result<Vals> {
    check_room(x.aval().shape[axis], BYTES_PER_PIECE)?;
    prims::UNSTACK.bind_many(prims::Unstack { axis }, std::slice::from_ref(x))
}

/// What the memory of a small array takes, at least.
pub(crate) const BYTES_PER_PIECE: usize = 256;

/// Consecutive parts along an axis.
///
/// # Errors
/// What the primitive raises.
pub fn split(x: &Val, sizes: &[usize], axis: usize) -> Result<Vals> {
    let params = prims::Split { sizes: sizes.to_vec(), axis };
    prims::SPLIT.bind_many(params, std::slice::from_ref(x))
}

/// The array repeated as a whole along each axis.
///
/// Args:
///   operand: array of any dtype.
///   reps: how often, for each axis.
/// Returns: an array whose sizes are multiplied by `reps`.
/// Raises:
///   TypeError: there is not one number for each axis, or one is negative.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.tile(jnp.array([[1, 2]]), (2, 2))
///   Array([[1, 2, 1, 2],
///          [1, 2, 1, 2]], dtype=int32)
#[public("lax.tile(operand, reps)")]
pub fn tile(operand: &Val, reps: &[usize]) -> Result<Val> {
    prims::TILE.bind_with(prims::Tile { reps: reps.to_vec() }, std::slice::from_ref(operand))
}

/// The elements in reverse order along axes.
///
/// # Errors
/// What the primitive raises.
pub fn rev(x: &Val, axes: &[usize]) -> Result<Val> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    prims::REV.bind_with(prims::Rev { dimensions: axes.to_vec() }, std::slice::from_ref(x))
}

/// The array with `fill` around and between its elements: `(low, high, interior)` for each axis.
///
/// # Errors
/// What the primitive raises.
pub fn pad(x: &Val, fill: &Val, config: &[(i64, i64, i64)]) -> Result<Val> {
    prims::PAD.bind_with(prims::Pad { padding_config: config.to_vec() }, &[x.clone(), fill.clone()])
}

/// Numbers none of which may be negative.
pub(super) fn nonnegative(numbers: &[i64]) -> Result<Vec<usize>> {
    let convert = |&number: &i64| {
        usize::try_from(number)
            .map_err(|_| Error::type_error(format!("expected a number that is not negative, got {number}")))
    };
    numbers.iter().map(convert).collect()
}

/// The array repeated along new axes in front.
///
/// Args:
///   operand: array or scalar of any dtype.
///   sizes: sizes of the new axes.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of shape `(*sizes, *operand.shape)`.
/// Raises:
///   TypeError: a size is negative.
/// Differentiable: yes, linear; the transpose sums.
/// Example:
///   >>> lax.broadcast(jnp.array([1, 2]), (3,))
///   Array([[1, 2],
///          [1, 2],
///          [1, 2]], dtype=int32)
#[public("lax.broadcast(operand, sizes, *, out_sharding: Sharded=None)")]
pub fn broadcast(operand: &Val, sizes: &[usize]) -> Result<Val> {
    let n = sizes.len();
    let shape = [sizes, &operand.aval().shape].concat();
    broadcast_in_dim(operand, &shape, &(n..shape.len()).collect::<Vec<_>>())
}

/// The array repeated to a shape, with a place given to each of its axes.
///
/// Args:
///   operand: array or scalar of any dtype.
///   shape: the shape of the result.
///   broadcast_dimensions: for each axis of `operand` its axis of the result, rising.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape`; an axis of size 1 and those not named repeat the elements.
/// Raises:
///   TypeError: a size is negative, an axis neither has size 1 nor that of its place, or the axes do not rise or do
///     not fit.
/// Differentiable: yes, linear; the transpose sums.
/// Example:
///   >>> lax.broadcast_in_dim(jnp.array([1, 2]), (2, 3), (0,))
///   Array([[1, 1, 1],
///          [2, 2, 2]], dtype=int32)
#[public("lax.broadcast_in_dim(operand, shape, broadcast_dimensions: Sizes, *, out_sharding: Sharded=None)")]
pub fn checked_broadcast_in_dim(operand: &Val, shape: &[usize], broadcast_dimensions: &[i64]) -> Result<Val> {
    broadcast_in_dim(operand, shape, &nonnegative(broadcast_dimensions)?)
}

/// The array with as many axes of size 1 in front as make up a rank; as it is if it has that many.
///
/// Args:
///   x: array or scalar of any dtype.
///   rank: the number of axes wanted.
/// Returns: an array of at least `rank` axes.
/// Raises:
///   OverflowError: `rank` is negative.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.broadcast_to_rank(jnp.array([1, 2]), 3).shape
///   (1, 1, 2)
#[public("lax.broadcast_to_rank(x, rank)")]
pub fn broadcast_to_rank(x: &Val, rank: usize) -> Result<Val> {
    if rank > 1 << 16 {
        bail!(Value, "broadcast_to_rank: arrays of {rank} axes cannot be made");
    }
    crate::broadcast::to_rank(x, rank)
}

/// The array with consecutive axes merged in one.
///
/// Args:
///   operand: array of any dtype.
///   start_dimension: the first axis, negative counted from the end.
///   stop_dimension: the axis after the last, likewise; all that follow by default.
/// Returns: an array of the same elements; bounds beyond the axes are moved to them, and no axes merge to one of size 1.
/// Raises:
///   ValueError: the first axis comes after the last.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.collapse(jnp.zeros((2, 3, 4)), 1).shape
///   (2, 12)
#[public("lax.collapse(operand, start_dimension, stop_dimension=None)")]
pub fn collapse(operand: &Val, start_dimension: i64, stop_dimension: Option<i64>) -> Result<Val> {
    let aval = operand.aval();
    let rank = aval.rank() as i64;
    let wrap = |at: i64| (if at < 0 { at + rank } else { at }).clamp(0, rank) as usize;
    let (from, to) = (wrap(start_dimension), stop_dimension.map_or(rank as usize, wrap));
    if from > to {
        bail!(Value, "collapse: start_dimension {start_dimension} comes after stop_dimension");
    }
    let shape = [&aval.shape[..from], &[pullback_base::extent(&aval.shape[from..to])], &aval.shape[to..]].concat();
    reshape(operand, &shape, None)
}

/// Arrays one after the other along an axis they have.
///
/// Args:
///   operands: at least one array, all of one dtype and of one shape but for `dimension`.
///   dimension: the axis, negative counted from the end.
/// Returns: an array with the sum of the sizes along the axis.
/// Raises:
///   ValueError: there are no arrays, or the axis is out of bounds.
///   TypeError: dtypes, ranks or other sizes differ.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.concatenate([jnp.array([1, 2]), jnp.array([3])], 0)
///   Array([1, 2, 3], dtype=int32)
#[public("lax.concatenate(operands, dimension)")]
pub fn checked_concatenate(operands: &[Val], dimension: i64) -> Result<Val> {
    match operands {
        [] => bail!(Value, "concatenate requires a non-empty sequences of arrays"),
        [single] => Ok(single.clone()),
        _ => concatenate(operands, joined_axis(operands, dimension)?),
    }
}

/// The axis along which arrays are joined: it counts from the first.
fn joined_axis(xs: &[Val], axis: i64) -> Result<usize> {
    let rank = xs.first().map_or(0, |x| x.aval().rank());
    if (0..rank as i64).contains(&axis) {
        return Ok(axis as usize);
    }
    let shapes: Vec<String> = xs.iter().map(|x| tuple_text(&x.aval().shape)).collect();
    bail!(Type, "concatenate dimension out of bounds: dimension {axis} for shapes {}.", shapes.join(", "))
}

/// The array with a value before, after and between its elements.
///
/// Args:
///   operand: array of any dtype.
///   padding_value: a scalar of the dtype of `operand`.
///   padding_config: `(low, high, interior)` for each axis: how many values come before, after and between each two
///     elements. Negative `low` and `high` crop.
/// Returns: an array with sizes `low + high + size + interior * (size - 1)`.
/// Raises:
///   TypeError: the dtypes differ.
///   ValueError: the value is no scalar, there is not one triple for each axis, `interior` or a resulting size is
///     negative.
/// Differentiable: yes, linear in `operand` and in the value.
/// Example:
///   >>> lax.pad(jnp.array([1, 2, 3]), 0, [(1, 2, 0)])
///   Array([0, 1, 2, 3, 0, 0], dtype=int32)
///   >>> lax.pad(jnp.array([1, 2, 3]), 0, [(0, -1, 1)])
///   Array([1, 0, 2, 0], dtype=int32)
#[public("lax.pad(operand, padding_value, padding_config)")]
pub fn checked_pad(operand: &Val, padding_value: &Val, padding_config: &NestedInts) -> Result<Val> {
    let entry = |entry: &NestedInts| match entry.flat().as_deref() {
        Some(&[low, high, interior]) => Ok((low, high, interior)),
        _ => bail!(Type, "padding_config of pad needs three integers (low, high, interior) for each axis"),
    };
    let config = padding_config.items().iter().map(entry).collect::<Result<Vec<_>>>()?;
    let (dtype, fill) = (operand.aval().dtype, padding_value.aval().dtype);
    if dtype != fill {
        bail!(Type, "pad operand and padding_value must be same dtype: got {dtype} and {fill}.");
    }
    pad(operand, padding_value, &config)
}

/// The elements, in row-major order, under another shape.
///
/// Args:
///   operand: array of any dtype.
///   new_sizes: the shape, of which every size is given.
///   dimensions: an order of axes in which the elements are read; their own by default.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of the new shape.
/// Raises:
///   TypeError: a size is negative, or `dimensions` is no order of the axes.
///   ValueError: the sizes do not hold the elements.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.reshape(jnp.arange(6), (3, 2))
///   Array([[0, 1],
///          [2, 3],
///          [4, 5]], dtype=int32)
///   >>> lax.reshape(jnp.arange(6).reshape(2, 3), (6,), (1, 0))
///   Array([0, 3, 1, 4, 2, 5], dtype=int32)
#[public("lax.reshape(operand, new_sizes: Sizes, dimensions: Sizes=None, *, out_sharding: Sharded=None)")]
pub fn checked_reshape(operand: &Val, new_sizes: &[i64], dimensions: Option<&[i64]>) -> Result<Val> {
    let shape = wanted_sizes(operand, new_sizes)?;
    match dimensions {
        Some(dimensions) => reshape(&transpose(operand, &nonnegative(dimensions)?)?, &shape, None),
        None => reshape(operand, &shape, None),
    }
}

/// The sizes of a reshaping, which hold as many elements as `x` has.
fn wanted_sizes(x: &Val, given: &[i64]) -> Result<Vec<usize>> {
    if given.iter().any(|&size| size < 0) {
        bail!(Type, "reshape new_sizes must all be positive, got {}.", signed_tuple_text(given));
    }
    let (new, aval) = (nonnegative(given)?, x.aval());
    let (wanted, size) = (pullback_base::extent(&new), aval.size());
    if wanted != size {
        let (old, new) = (tuple_text(&aval.shape), tuple_text(&new));
        bail!(
            Value,
            "reshape total size must be unchanged, got new_sizes {new} (size {wanted}) for shape {old} (size {size})."
        );
    }
    Ok(new)
}

/// The elements in reverse order along axes.
///
/// Args:
///   operand: array of any dtype.
///   dimensions: an axis or several, negative ones counted from the end.
/// Returns: shape and dtype of `operand`.
/// Raises:
///   ValueError: an axis is out of bounds or occurs twice.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.rev(jnp.array([[1, 2], [3, 4]]), (1,))
///   Array([[2, 1],
///          [4, 3]], dtype=int32)
#[public("lax.rev(operand, dimensions: Sizes)")]
pub fn checked_rev(operand: &Val, dimensions: &[i64]) -> Result<Val> {
    let (rank, text) = (operand.aval().rank(), signed_tuple_text(dimensions));
    if dimensions.iter().any(|&axis| axis < 0) {
        bail!(Type, "rev dimensions must have every element be nonnegative, got {text}.");
    }
    if dimensions.iter().any(|&axis| axis >= rank as i64) {
        bail!(
            Type,
            "rev dimensions must all be less than operand ndim, got dimensions {text} for operand ndim {rank}."
        );
    }
    if (1..dimensions.len()).any(|i| dimensions[..i].contains(&dimensions[i])) {
        bail!(Type, "rev dimensions must be unique, got {text}.");
    }
    rev(operand, &nonnegative(dimensions)?)
}

/// Consecutive parts of an axis.
///
/// Args:
///   operand: array of any dtype.
///   sizes: the sizes of the parts, which add up to that of the axis.
///   axis: the axis, negative counted from the end.
/// Returns: a list of arrays, one for each size.
/// Raises:
///   ValueError: the sizes do not add up, or the axis is out of bounds.
///   TypeError: a size is negative.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.split(jnp.arange(4), (1, 3))
///   [Array([0], dtype=int32), Array([1, 2, 3], dtype=int32)]
#[public("lax.split(operand, sizes: Sizes, axis=0)")]
pub fn checked_split(operand: &Val, sizes: &[i64], axis: i64) -> Result<Vals> {
    if sizes.iter().any(|&size| size < 0) {
        bail!(Value, "Sizes passed to split must be nonnegative, got {sizes:?}");
    }
    split(operand, &nonnegative(sizes)?, canonical_axis(axis, operand.aval().rank())?)
}

/// Arrays side by side along a new axis.
///
/// Args:
///   operands: at least one array, all of one shape and dtype.
///   axis: where the new axis is in the result, negative counted from its end.
/// Returns: an array of one axis more.
/// Raises:
///   ValueError: there are no arrays, shapes differ, or the axis is out of bounds.
///   TypeError: dtypes differ.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.stack([jnp.array([1, 2]), jnp.array([3, 4])])
///   Array([[1, 2],
///          [3, 4]], dtype=int32)
#[public("lax.stack(operands, axis=0)")]
pub fn checked_stack(operands: &[Val], axis: i64) -> Result<Val> {
    if operands.windows(2).any(|pair| pair[0].aval().dtype != pair[1].aval().dtype) {
        let dtypes: Vec<_> = operands.iter().map(|x| x.aval().dtype.to_string()).collect();
        bail!(Type, "lax.stack requires arguments to have the same dtypes, got {}.", dtypes.join(", "));
    }
    crate::numpy::stack(operands, axis, None)
}

/// The axes in another order.
///
/// Args:
///   operand: array of any dtype.
///   permutation: for each axis of the result the one of `operand`, each once and none negative.
/// Returns: an array whose size `i` is that of axis `permutation[i]`.
/// Raises:
///   TypeError: `permutation` is no order of the axes.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.transpose(jnp.array([[1, 2, 3], [4, 5, 6]]), (1, 0))
///   Array([[1, 4],
///          [2, 5],
///          [3, 6]], dtype=int32)
#[public("lax.transpose(operand, permutation: Sizes)")]
pub fn checked_transpose(operand: &Val, permutation: &[i64]) -> Result<Val> {
    transpose(operand, &nonnegative(permutation)?)
}

/// The slices along an axis, which goes.
///
/// Args:
///   x: array of at least one axis.
///   axis: the axis, negative counted from the end.
/// Returns: a tuple of as many arrays as the axis is long.
/// Raises:
///   ValueError: `x` is a scalar, or the axis is out of bounds.
/// Differentiable: yes, linear.
/// Example:
///   >>> lax.unstack(jnp.array([[1, 2], [3, 4]]))
///   (Array([1, 2], dtype=int32), Array([3, 4], dtype=int32))
#[public("lax.unstack(x, axis=0)")]
pub fn checked_unstack(x: &Val, axis: i64) -> Result<TupleOf> {
    crate::numpy::unstack(x, axis).map(TupleOf)
}

/// An array repeated to the shape of another, axes matched from the last.
///
/// Args:
///   arr: array or scalar of any dtype.
///   like_arr: the array whose shape is taken.
/// Returns: an array of the dtype of `arr` and the shape of `like_arr`.
/// Raises:
///   ValueError: an axis has neither size 1 nor that of its match.
/// Differentiable: in `arr`, linear; the transpose sums.
/// Example:
///   >>> jax.lax.broadcast_like(jnp.array([1, 2]), jnp.zeros((3, 2)))
///   Array([[1, 2],
///          [1, 2],
///          [1, 2]], dtype=int32)
#[public("lax.broadcast_like(arr, like_arr)")]
pub fn broadcast_like(arr: &Val, like_arr: &Val) -> Result<Val> {
    crate::broadcast::broadcast_to(arr, &like_arr.aval().shape)
}
