//! Sorting, the greatest elements, and search in sorted arrays.

use pullback_base::{DType, Result, bail};
use pullback_ir::{ParamValue, Val, Vals};

use super::{GatherDimensions, IndexMode, IndexOptions};
use crate::bind::{self, Fields};
use crate::convert::{int_literal, number};

/// Operands sorted together along an axis by the first `num_keys` of them.
///
/// # Errors
/// What the primitive raises.
pub fn sort(xs: &[Val], axis: usize, num_keys: usize, is_stable: bool) -> Result<Vals> {
    let params = Fields::new().with("dimension", &axis).with("num_keys", &num_keys).with("is_stable", &is_stable);
    bind::SORT.call_many(params, xs)
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
    let params = Fields::new().with("k", &k).with("axis", &axis).with("is_stable", &true);
    bind::TOP_K.call_many(params, std::slice::from_ref(x))
}

/// Positions at which queries would be inserted in a sorted vector; NaN comes after all numbers.
///
/// # Errors
/// What the primitives raise.
pub fn search_sorted(sorted: &Val, query: &Val, right: bool) -> Result<Val> {
    if bind::SEARCH_SORTED.exists() {
        let side = if right { "right" } else { "left" };
        let params = Fields::new()
            .value("side", ParamValue::Name(side.into()))
            .with("dimension", &0usize)
            .with("batch_dims", &0usize)
            .value("method", ParamValue::Name("scan".into()));
        return bind::SEARCH_SORTED.call_with(params, &[sorted.clone(), query.clone()]);
    }
    bisect(sorted, query, right)
}

/// Halves the range of each query until it is one position.
fn bisect(sorted: &Val, query: &Val, right: bool) -> Result<Val> {
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
    let options = IndexOptions { mode: IndexMode::Clip, sorted: false, unique: false };
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
