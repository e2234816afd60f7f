//! Functions of `lax` that move, repeat, join and rename elements.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_ir::{ParamValue, Val, Vals};

use crate::axes::{canonical_axes, canonical_axis};
use crate::bind::{self, Fields};
use crate::broadcast::broadcast_in_dim;

/// The elements under another shape, in row-major order or with `dimensions` as the order in which axes are read.
///
/// # Errors
/// A `Type` error when the sizes differ.
pub fn reshape(x: &Val, sizes: &[usize], dimensions: Option<&[usize]>) -> Result<Val> {
    let aval = x.aval();
    if aval.size() != sizes.iter().product::<usize>() {
        bail!(
            Type,
            "reshape total size must be unchanged, got new_sizes {} for shape {}.",
            tuple_text(sizes),
            tuple_text(&aval.shape)
        );
    }
    let is_same_order = dimensions.is_none_or(|dims| dims.iter().copied().eq(0..aval.rank()));
    if aval.shape[..] == *sizes && is_same_order && !sizes.is_empty() {
        return Ok(x.clone());
    }
    reshape_always(x, sizes, dimensions.filter(|_| !is_same_order))
}

/// As [`reshape`], also when it changes nothing.
///
/// # Errors
/// What the primitive raises.
pub fn reshape_always(x: &Val, sizes: &[usize], dimensions: Option<&[usize]>) -> Result<Val> {
    let dimensions = dimensions.map(<[usize]>::to_vec);
    let params = Fields::new().with("new_sizes", &sizes.to_vec()).with("dimensions", &dimensions).none("sharding");
    bind::RESHAPE.call_with(params, std::slice::from_ref(x))
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
    bind::TRANSPOSE.call_with(Fields::new().with("permutation", &permutation.to_vec()), std::slice::from_ref(x))
}

/// Without axes of size 1, given as users give them.
///
/// # Errors
/// A `Value` error when an axis is out of range, occurs twice, or has another size.
pub fn squeeze(x: &Val, axes: &[i64]) -> Result<Val> {
    let aval = x.aval();
    let mut axes = canonical_axes(axes, aval.rank())?;
    axes.sort_unstable();
    if axes.iter().any(|&axis| aval.shape[axis] != 1) {
        bail!(
            Value,
            "cannot select an axis to squeeze out which has size not equal to one, got shape={} and dimensions={}",
            tuple_text(&aval.shape),
            tuple_text(&axes)
        );
    }
    squeeze_axes(x, &axes)
}

/// Without the given axes, which have size 1.
///
/// # Errors
/// What the primitive raises.
pub fn squeeze_axes(x: &Val, axes: &[usize]) -> Result<Val> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    bind::SQUEEZE.call_with(Fields::new().with("dimensions", &axes.to_vec()), std::slice::from_ref(x))
}

/// With new axes of size 1 at the given positions of the result.
///
/// # Errors
/// A `Value` error when a position is out of range or occurs twice.
pub fn expand_dims(x: &Val, axes: &[i64]) -> Result<Val> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    let rank = x.aval().rank() + axes.len();
    let found: Vec<usize> = axes.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<_>>()?;
    if found.iter().enumerate().any(|(i, axis)| found[..i].contains(axis)) {
        bail!(Value, "repeated axis in lax.expand_dims: {}", crate::axes::signed_tuple_text(axes));
    }
    expand_axes(x, &found)
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
    bind::CONCATENATE.call_with(Fields::new().with("dimension", &axis), xs)
}

/// Arrays of one shape along a new axis.
///
/// # Errors
/// What the primitive raises.
pub fn stack(xs: &[Val], axis: usize) -> Result<Val> {
    bind::STACK.call_with(Fields::new().with("axis", &axis), xs)
}

/// The slices along an axis, without it.
///
/// # Errors
/// What the primitive raises.
pub fn unstack(x: &Val, axis: usize) -> Result<Vals> {
    bind::UNSTACK.call_many(Fields::new().with("axis", &axis), std::slice::from_ref(x))
}

/// Consecutive parts along an axis.
///
/// # Errors
/// What the primitive raises.
pub fn split(x: &Val, sizes: &[usize], axis: usize) -> Result<Vals> {
    let params = Fields::new().with("sizes", &sizes.to_vec()).with("axis", &axis);
    bind::SPLIT.call_many(params, std::slice::from_ref(x))
}

/// The array repeated along each axis.
///
/// # Errors
/// What the primitive raises.
pub fn tile(x: &Val, reps: &[usize]) -> Result<Val> {
    bind::TILE.call_with(Fields::new().with("reps", &reps.to_vec()), std::slice::from_ref(x))
}

/// The elements in reverse order along axes.
///
/// # Errors
/// What the primitive raises.
pub fn rev(x: &Val, axes: &[usize]) -> Result<Val> {
    if axes.is_empty() {
        return Ok(x.clone());
    }
    bind::REV.call_with(Fields::new().with("dimensions", &axes.to_vec()), std::slice::from_ref(x))
}

/// The array with `fill` around and between its elements: `(low, high, interior)` for each axis.
///
/// # Errors
/// What the primitive raises.
pub fn pad(x: &Val, fill: &Val, config: &[(i64, i64, i64)]) -> Result<Val> {
    let entry = |&(low, high, interior): &(i64, i64, i64)| {
        ParamValue::Tuple(vec![ParamValue::Int(low), ParamValue::Int(high), ParamValue::Int(interior)])
    };
    let config = ParamValue::Tuple(config.iter().map(entry).collect());
    bind::PAD.call_with(Fields::new().value("padding_config", config), &[x.clone(), fill.clone()])
}

/// 0, 1, 2, … along an axis.
///
/// # Errors
/// What the primitive raises.
pub fn broadcasted_iota(dtype: DType, shape: &[usize], axis: usize) -> Result<Val> {
    let params =
        Fields::new().with("dtype", &dtype).with("shape", &shape.to_vec()).with("dimension", &axis).none("sharding");
    bind::IOTA.call_with(params, &[])
}

/// 0, 1, 2, …
///
/// # Errors
/// What the primitive raises.
pub fn iota(dtype: DType, size: usize) -> Result<Val> {
    broadcasted_iota(dtype, &[size], 0)
}
