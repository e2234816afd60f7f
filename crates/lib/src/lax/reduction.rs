//! Reductions, cumulative operations and positions of extremes.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::{PrimRef, Val};
use pullback_trace::settings::{Setting, is_on};

use crate::axes::{canonical_axes, canonical_axis, signed_tuple_text};
use crate::primitive::Bind;

macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $prim:ident $params:ident { $($sharding:ident)? };)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// What the primitive raises.
        pub fn $name(x: &Val, axes: &[usize]) -> Result<Val> {
            let params = prims::$params { axes: axes.to_vec() $(, $sharding: None)? };
            prims::$prim.bind_with(params, std::slice::from_ref(x))
        }
    )*};
}
/// Sum over axes.
///
/// # Errors
/// What the primitive raises; a `Value` error for half-width floats where a setting forbids their sums.
pub fn reduce_sum(x: &Val, axes: &[usize]) -> Result<Val> {
    let aval = x.aval();
    if matches!(aval.dtype, DType::F16 | DType::BF16) && !axes.is_empty() && is_on(Setting::NoHalfWidthSums) {
        bail!(
            Value,
            "reduce_sum on operand {} is not allowed when jax_allow_f16_reductions=False.",
            aval.weak(false).short()
        );
    }
    let params = prims::ReduceSum { axes: axes.to_vec(), out_sharding: None };
    prims::REDUCE_SUM.bind_with(params, std::slice::from_ref(x))
}

reductions! {
    /// Greatest over axes.
    reduce_max REDUCE_MAX ReduceExtreme { out_sharding };
    /// Least over axes.
    reduce_min REDUCE_MIN ReduceExtreme { out_sharding };
    /// Product over axes.
    reduce_prod REDUCE_PROD ReduceProd {};
    /// Whether all hold, or bitwise and, over axes.
    reduce_and REDUCE_AND ReduceLogical {};
    /// Whether any holds, or bitwise or, over axes.
    reduce_or REDUCE_OR ReduceLogical {};
    /// Bitwise exclusive or over axes.
    reduce_xor REDUCE_XOR ReduceLogical {};
}

fn arg_extreme(prim: PrimRef, x: &Val, axis: usize, index_dtype: DType) -> Result<Val> {
    let params = prims::ArgReduce { axes: vec![axis], index_dtype };
    prim.bind_with(params, std::slice::from_ref(x))
}

/// Position of the first greatest element; of the first NaN if there is one.
///
/// # Errors
/// What the primitive raises.
pub fn argmax(x: &Val, axis: usize, index_dtype: DType) -> Result<Val> {
    arg_extreme(prims::ARGMAX, x, axis, index_dtype)
}

/// Position of the first least element; of the first NaN if there is one.
///
/// # Errors
/// What the primitive raises.
pub fn argmin(x: &Val, axis: usize, index_dtype: DType) -> Result<Val> {
    arg_extreme(prims::ARGMIN, x, axis, index_dtype)
}

macro_rules! cumulative {
    ($($(#[$doc:meta])* $name:ident $prim:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        /// What the primitive raises.
        pub fn $name(x: &Val, axis: usize, reverse: bool) -> Result<Val> {
            let params = prims::Cumulative { axis, reverse };
            prims::$prim.bind_with(params, std::slice::from_ref(x))
        }
    )*};
}
cumulative! {
    /// Sums of all elements so far.
    cumsum CUMSUM;
    /// Products of all elements so far.
    cumprod CUMPROD;
    /// Greatest element so far.
    cummax CUMMAX;
    /// Least element so far.
    cummin CUMMIN;
    /// Logarithm of the sum of exponentials so far.
    cumlogsumexp CUMLOGSUMEXP;
}

/// The axes of a reduction: they count from the first.
fn reduced_axes(x: &Val, axes: &[i64]) -> Result<Vec<usize>> {
    let aval = x.aval();
    if axes.iter().any(|axis| !(0..aval.rank() as i64).contains(axis)) {
        let axes = signed_tuple_text(axes);
        bail!(Value, "reduction axes {axes} contains out-of-bounds indices for {}.", aval.long());
    }
    canonical_axes(axes, aval.rank())
}

macro_rules! over_axes {
    ($($(#[$($meta:tt)*])* fn $name:ident $function:ident;)*) => {$(
        $(#[$($meta)*])*
        pub fn $name(operand: &Val, axes: &[i64]) -> Result<Val> {
            $function(operand, &reduced_axes(operand, axes)?)
        }
    )*};
}
over_axes! {
    /// The sum over axes; integers wrap around, and of no elements it is 0.
    ///
    /// Args:
    ///   operand: integer, floating or complex array.
    ///   axes: a sequence of axes, counted from the front.
    ///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
    /// Returns: the dtype of `operand`, its shape without the axes.
    /// Raises:
    ///   TypeError: `operand` is boolean.
    ///   ValueError: an axis is negative, out of bounds or occurs twice.
    /// Differentiable: yes, linear.
    /// Example:
    ///   >>> lax.reduce_sum(jnp.array([[1, 2], [3, 4]]), (0,))
    ///   Array([4, 6], dtype=int32)
    #[public("lax.reduce_sum(operand, axes: Sizes, *, out_sharding: Sharded=None)")]
    fn checked_reduce_sum reduce_sum;

    /// The greatest element over axes; NaN if one is. Of no elements it is the least value: `-inf`, the least integer or
    /// False.
    ///
    /// Args:
    ///   operand: boolean, integer, floating or complex array.
    ///   axes: a sequence of axes, counted from the front.
    ///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
    /// Returns: the dtype of `operand`, its shape without the axes.
    /// Raises:
    ///   ValueError: an axis is negative, out of bounds or occurs twice.
    /// Differentiable: yes; elements that share the maximum share the derivative equally.
    /// Example:
    ///   >>> lax.reduce_max(jnp.array([[1, 7], [3, 4]]), (0,))
    ///   Array([3, 7], dtype=int32)
    #[public("lax.reduce_max(operand, axes: Sizes, *, out_sharding: Sharded=None)")]
    fn checked_reduce_max reduce_max;

    /// The least element over axes; NaN if one is. Of no elements it is the greatest value: `inf`, the greatest integer
    /// or True.
    ///
    /// Args:
    ///   operand: boolean, integer, floating or complex array.
    ///   axes: a sequence of axes, counted from the front.
    ///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
    /// Returns: the dtype of `operand`, its shape without the axes.
    /// Raises:
    ///   ValueError: an axis is negative, out of bounds or occurs twice.
    /// Differentiable: yes; elements that share the minimum share the derivative equally.
    /// Example:
    ///   >>> lax.reduce_min(jnp.array([[1, 7], [3, 4]]), (0,))
    ///   Array([1, 4], dtype=int32)
    #[public("lax.reduce_min(operand, axes: Sizes, *, out_sharding: Sharded=None)")]
    fn checked_reduce_min reduce_min;

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
    #[public("lax.reduce_prod(operand, axes: Sizes)")]
    fn checked_reduce_prod reduce_prod;

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
    #[public("lax.reduce_and(operand, axes: Sizes)")]
    fn checked_reduce_and reduce_and;

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
    #[public("lax.reduce_or(operand, axes: Sizes)")]
    fn checked_reduce_or reduce_or;

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
    #[public("lax.reduce_xor(operand, axes: Sizes)")]
    fn checked_reduce_xor reduce_xor;
}

/// The axis of a running reduction: it counts from the first.
fn running_axis(x: &Val, axis: i64) -> Result<usize> {
    if axis < 0 {
        bail!(Value, "XLA operations do not allow negative axes, got {axis}");
    }
    canonical_axis(axis, x.aval().rank())
}

macro_rules! along_axis {
    ($($(#[$($meta:tt)*])* fn $name:ident $function:ident;)*) => {$(
        $(#[$($meta)*])*
        pub fn $name(operand: &Val, axis: i64, reverse: bool) -> Result<Val> {
            $function(operand, running_axis(operand, axis)?, reverse)
        }
    )*};
}
along_axis! {
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
    #[public("lax.cumsum(operand, axis=0, reverse=False)")]
    fn checked_cumsum cumsum;

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
    #[public("lax.cumprod(operand, axis=0, reverse=False)")]
    fn checked_cumprod cumprod;

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
    #[public("lax.cummax(operand, axis=0, reverse=False)")]
    fn checked_cummax cummax;

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
    #[public("lax.cummin(operand, axis=0, reverse=False)")]
    fn checked_cummin cummin;

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
    #[public("lax.cumlogsumexp(operand, axis=0, reverse=False)")]
    fn checked_cumlogsumexp cumlogsumexp;
}

macro_rules! extremes {
    ($($(#[$($meta:tt)*])* fn $name:ident $function:ident;)*) => {$(
        $(#[$($meta)*])*
        pub fn $name(operand: &Val, axis: i64, index_dtype: DType) -> Result<Val> {
            let aval = operand.aval();
            if !(0..aval.rank() as i64).contains(&axis) {
                bail!(Value, "Invalid axis {axis} for operand shape {}", tuple_text(&aval.shape));
            }
            $function(operand, axis as usize, index_dtype)
        }
    )*};
}
extremes! {
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
    #[public("lax.argmax(operand, axis, index_dtype: Narrowed)")]
    fn checked_argmax argmax;

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
    #[public("lax.argmin(operand, axis, index_dtype: Narrowed)")]
    fn checked_argmin argmin;
}
