//! Sorting, the greatest elements, and search in sorted arrays.

use pullback_base::{DType, Result, bail};
use pullback_core::prims;
use pullback_derive::public;
use pullback_ir::{Val, Vals};

use super::{GatherDimensions, GatherMode, IndexOptions};
use crate::axes::canonical_axis;
use crate::convert::{int_literal, number};
use crate::declare::{Argument, Arguments, Constant, OneOrTuple, TupleOf, Type};
use crate::primitive::Bind;

/// Operands sorted together along an axis by the first `num_keys` of them.
///
/// # Errors
/// What the primitive raises.
pub fn sort(xs: &[Val], axis: usize, num_keys: usize, is_stable: bool) -> Result<Vals> {
    if let Some(key) = xs.iter().take(num_keys).map(|x| x.aval().dtype).find(|dtype| dtype.is_key()) {
        bail!(
            Type,
            "lt_to does not accept dtype {key} at position 0. Accepted dtypes at position 0 are subtypes of integer, bool, \
             floating."
        );
    }
    let params = prims::Sort { dimension: axis, num_keys, is_stable };
    prims::SORT.bind_many(params, xs)
}

/// The `k` greatest elements along an axis, greatest first, and their positions; of equal ones the first come first.
///
/// # Errors
/// A `Value` error when there are fewer than `k`.
pub fn top_k(x: &Val, k: usize, axis: usize) -> Result<Vals> {
    let size = x.aval().shape[axis];
    if x.aval().dtype.is_complex() {
        bail!(Value, "top_k is not compatible with complex inputs.");
    }
    if k > size {
        bail!(Value, "k argument to top_k must be no larger than size along axis; got k={k} with size {size}.");
    }
    let params = prims::TopK { k, axis, is_stable: true };
    prims::TOP_K.bind_many(params, std::slice::from_ref(x))
}

/// Positions at which queries would be inserted in a sorted vector; NaN comes after all numbers.
///
/// # Errors
/// What the primitives raise.
pub fn search_sorted(sorted: &Val, query: &Val, right: bool) -> Result<Val> {
    let n = sorted.aval().shape[0];
    let shape = query.aval().shape.to_vec();
    let at = |value: usize| super::full(&shape, &int_literal(DType::I32, value as i128));
    let (mut low, mut high) = (at(0)?, at(n)?);
    for _ in 0..usize::BITS - n.leading_zeros() {
        let middle = super::shift_right_logical(&super::add(&low, &high)?, &number(&low, 1.0))?;
        let found = take_clipped(sorted, &middle)?;
        let goes_left = if right { is_before(query, &found)? } else { super::bitwise_not(&is_before(&found, query)?)? };
        let is_open = super::lt(&low, &high)?;
        let left = super::bitwise_and(&goes_left, &is_open)?;
        let rest = super::bitwise_and(&super::bitwise_not(&goes_left)?, &is_open)?;
        let next = super::add(&middle, &number(&middle, 1.0))?;
        high = super::select(&left, &middle, &high)?;
        low = super::select(&rest, &next, &low)?;
    }
    Ok(low)
}

fn take_clipped(x: &Val, places: &Val) -> Result<Val> {
    let dims =
        GatherDimensions { collapsed_slice_dims: vec![0], start_index_map: vec![0], ..GatherDimensions::default() };
    let positions = super::expand_axes(places, &[places.aval().rank()])?;
    let options = IndexOptions { mode: GatherMode::Clip, sorted: false, unique: false };
    super::gather(x, &positions, &dims, &[1], options, None)
}

fn is_before(x: &Val, y: &Val) -> Result<Val> {
    // Complex numbers by real part, then imaginary part.
    let less = crate::numpy::less(x, y)?;
    if !x.aval().dtype.is_float() {
        return Ok(less);
    }
    let (x_nan, y_nan) = (super::ne(x, x)?, super::ne(y, y)?);
    super::bitwise_or(&less, &super::bitwise_and(&y_nan, &super::bitwise_not(&x_nan)?)?)
}

/// One array, or several.
#[derive(Clone, Debug)]
pub enum OneOrSeveral {
    /// One.
    One(Val),
    /// Several, in a tuple or list.
    Several(Vec<Val>),
}

impl Argument for OneOrSeveral {
    const TYPE: Type = Type { python: "ArrayLike | Sequence[ArrayLike]", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<OneOrSeveral> {
        if args.is_sequence(at) {
            return args.arrays(at).map(OneOrSeveral::Several);
        }
        args.array(at).map(OneOrSeveral::One)
    }
    fn absent(default: Constant) -> OneOrSeveral {
        OneOrSeveral::One(Val::absent(default))
    }
}

/// An array sorted along an axis, or several together by the first of them. NaN comes last; complex numbers compare
/// by real, then by imaginary part.
///
/// Args:
///   operand: an array, or a sequence of arrays of one shape.
///   dimension: the axis, negative counted from the end.
///   is_stable: whether equal keys keep their order.
///   num_keys: how many of the arrays are keys, the later ones for equal keys of the earlier.
/// Returns: an array, or a tuple of them, of the same shapes and dtypes.
/// Raises:
///   TypeError: the sequence is empty, or shapes differ.
///   ValueError: the axis is out of bounds, or `num_keys` is not from 1 to the number of arrays.
/// Differentiable: yes; derivatives move as the elements do.
/// Example:
///   >>> lax.sort(jnp.array([3, 1, 2]))
///   Array([1, 2, 3], dtype=int32)
///   >>> lax.sort((jnp.array([3, 1, 2]), jnp.array([10, 20, 30])))
///   (Array([1, 2, 3], dtype=int32), Array([20, 30, 10], dtype=int32))
#[public("lax.sort(operand, dimension=-1, is_stable=True, num_keys=1)")]
pub fn checked_sort(operand: &OneOrSeveral, dimension: i64, is_stable: bool, num_keys: usize) -> Result<OneOrTuple> {
    let xs = match operand {
        OneOrSeveral::One(x) => {
            let axis = canonical_axis(dimension, x.aval().rank())?;
            return Ok(OneOrTuple::One(sort(std::slice::from_ref(x), axis, 1, is_stable)?.swap_remove(0)));
        }
        OneOrSeveral::Several(xs) => xs,
    };
    let Some(first) = xs.first() else { bail!(Type, "Sort requires at least one operand") };
    if num_keys == 0 || num_keys > xs.len() {
        bail!(Value, "num_keys={num_keys} must be between 1 and len(operand)={}", xs.len());
    }
    let axis = canonical_axis(dimension, first.aval().rank())?;
    Ok(OneOrTuple::Tuple(sort(xs, axis, num_keys, is_stable)?.into_vec()))
}

/// Keys sorted along an axis, and values that move with them.
///
/// Args:
///   keys: an array; NaN comes last.
///   values: an array of the same shape.
///   dimension: the axis, negative counted from the end.
///   is_stable: whether equal keys keep their order.
/// Returns: a pair of the sorted keys and the values.
/// Raises:
///   TypeError: shapes differ.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes; derivatives move as the elements do.
/// Example:
///   >>> lax.sort_key_val(jnp.array([3, 1, 2]), jnp.array([10, 20, 30]))
///   (Array([1, 2, 3], dtype=int32), Array([20, 30, 10], dtype=int32))
#[public("lax.sort_key_val(keys, values, dimension=-1, is_stable=True)")]
pub fn sort_key_val(keys: &Val, values: &Val, dimension: i64, is_stable: bool) -> Result<TupleOf> {
    let axis = canonical_axis(dimension, keys.aval().rank())?;
    sort(&[keys.clone(), values.clone()], axis, 1, is_stable).map(TupleOf)
}

/// The greatest elements along an axis, descending, and their positions. NaN counts as greatest; of equal elements
/// the first comes first.
///
/// Args:
///   operand: boolean, integer or floating array of at least one axis.
///   k: how many, at most the size of the axis.
///   axis: the axis, negative counted from the end.
///   is_stable: taken for compatibility; the order is stable always.
/// Returns: a list of the elements and their int32 positions, of size `k` along the axis.
/// Raises:
///   ValueError: `k` is too great, the axis is out of bounds, or `operand` is complex.
/// Differentiable: the elements, whose derivatives go to their positions.
/// Example:
///   >>> lax.top_k(jnp.array([3, 1, 2]), 2)
///   [Array([3, 2], dtype=int32), Array([0, 2], dtype=int32)]
#[public("lax.top_k(operand, k, *, axis=-1, is_stable: Ignored=True)")]
pub fn checked_top_k(operand: &Val, k: i64, axis: i64) -> Result<Vals> {
    let axis = canonical_axis(axis, operand.aval().rank())?;
    let Ok(k) = usize::try_from(k) else { bail!(Value, "k argument to top_k must be nonnegative, got {k}") };
    if operand.aval().shape[axis] > i32::MAX as usize {
        bail!(
            Value,
            "top_k returns int32 indices, which will overflow for array dimensions larger than the maximum int32 \
             (2147483647). Got operand.shape={}",
            pullback_base::aval::tuple_text(&operand.aval().shape)
        );
    }
    top_k(operand, k, axis)
}

/// What all approximate searches refuse.
fn check_approximate(operand: &Val, recall_target: f64, aggregate_to_topk: bool) -> Result<()> {
    if !operand.aval().dtype.is_float() {
        bail!(Value, "operand must be a floating type");
    }
    if !(0.0 < recall_target && recall_target <= 1.0) {
        bail!(Value, "recall_target must be in (0, 1], got {recall_target:?}");
    }
    if !aggregate_to_topk {
        bail!(
            NotImplemented,
            "approx_max_k and approx_min_k with aggregate_to_topk=False are not implemented on the CPU"
        );
    }
    Ok(())
}

/// The `k` greatest elements along an axis, descending, and their positions; on the CPU exactly these.
///
/// Args:
///   operand: floating array.
///   k: how many, at most the size of the axis.
///   reduction_dimension: the axis, negative counted from the end.
///   recall_target: above 0 and at most 1; it has no effect, as the answer is exact.
///   reduction_input_size_override: taken for compatibility and ignored.
///   aggregate_to_topk: True.
/// Returns: a list of the elements and their int32 positions, of size `k` along the axis.
/// Raises:
///   ValueError: `operand` is not floating, `recall_target` is out of range, `k` is too great, or the axis is out of
///     bounds.
///   NotImplementedError: `aggregate_to_topk` is False.
/// Differentiable: the elements, whose derivatives go to their positions.
/// Example:
///   >>> jax.lax.approx_max_k(jnp.array([3.0, 1.0, 2.0]), 2)
///   [Array([3., 2.], dtype=float32), Array([0, 2], dtype=int32)]
#[public(
    "lax.approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override: Ignored=-1, aggregate_to_topk=True)"
)]
pub fn approx_max_k(
    operand: &Val,
    k: i64,
    reduction_dimension: i64,
    recall_target: f64,
    aggregate_to_topk: bool,
) -> Result<Vals> {
    check_approximate(operand, recall_target, aggregate_to_topk)?;
    checked_top_k(operand, k, reduction_dimension)
}

/// The `k` least elements along an axis, ascending, and their positions; on the CPU exactly these.
///
/// Args:
///   operand: floating array.
///   k: how many, at most the size of the axis.
///   reduction_dimension: the axis, negative counted from the end.
///   recall_target: above 0 and at most 1; it has no effect, as the answer is exact.
///   reduction_input_size_override: taken for compatibility and ignored.
///   aggregate_to_topk: True.
/// Returns: a list of the elements and their int32 positions, of size `k` along the axis.
/// Raises:
///   ValueError: `operand` is not floating, `recall_target` is out of range, `k` is too great, or the axis is out of
///     bounds.
///   NotImplementedError: `aggregate_to_topk` is False.
/// Differentiable: the elements, whose derivatives go to their positions.
/// Example:
///   >>> jax.lax.approx_min_k(jnp.array([3.0, 1.0, 2.0]), 2)
///   [Array([1., 2.], dtype=float32), Array([1, 2], dtype=int32)]
#[public(
    "lax.approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override: Ignored=-1, aggregate_to_topk=True)"
)]
pub fn approx_min_k(
    operand: &Val,
    k: i64,
    reduction_dimension: i64,
    recall_target: f64,
    aggregate_to_topk: bool,
) -> Result<Vals> {
    check_approximate(operand, recall_target, aggregate_to_topk)?;
    let mut found = checked_top_k(&super::neg(operand)?, k, reduction_dimension)?;
    found[0] = super::neg(&found[0])?;
    Ok(found)
}
