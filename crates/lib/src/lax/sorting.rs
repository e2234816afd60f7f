//! Sorting, the greatest elements, and search in sorted arrays.

use pullback_base::Result;
use pullback_ir::{ParamValue, Val, Vals};

use crate::bind::{self, Fields};

/// Operands sorted together along an axis by the first `num_keys` of them.
///
/// # Errors
/// What the primitive raises.
pub fn sort(xs: &[Val], axis: usize, num_keys: usize, is_stable: bool) -> Result<Vals> {
    let params = Fields::new().with("dimension", &axis).with("num_keys", &num_keys).with("is_stable", &is_stable);
    bind::SORT.call_many(params, xs)
}

/// The `k` greatest elements along an axis, greatest first, and their positions.
///
/// # Errors
/// What the primitive raises.
pub fn top_k(x: &Val, k: usize, axis: usize) -> Result<Vals> {
    let params = Fields::new().with("k", &k).with("axis", &axis).with("is_stable", &true);
    bind::TOP_K.call_many(params, std::slice::from_ref(x))
}

/// Positions at which queries would be inserted in a sorted vector.
///
/// # Errors
/// What the primitive raises.
pub fn search_sorted(sorted: &Val, query: &Val, right: bool) -> Result<Val> {
    let side = if right { "right" } else { "left" };
    let params = Fields::new()
        .value("side", ParamValue::Name(side.into()))
        .with("dimension", &0usize)
        .with("batch_dims", &0usize)
        .value("method", ParamValue::Name("scan".into()));
    bind::SEARCH_SORTED.call_with(params, &[sorted.clone(), query.clone()])
}
