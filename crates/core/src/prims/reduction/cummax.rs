//! Running maxima along an axis.
//!
//! cummax : x[...] -> x[...]        from the first element on, or from the last in reverse
//! The tangent is that of a tree of maxima; equal elements share it.

use super::cumulative::{CumulativeOp, JoinFn, join_by};
use crate::prims::MAX;
use pullback_loops::Combine;

pub(super) struct CumMax;

impl CumulativeOp for CumMax {
    const NAME: &'static str = "cummax";
    const COMBINE: Option<Combine> = Some(Combine::Max);
    const JOIN: Option<JoinFn> = Some(|e, x, y| join_by(e, MAX, x, y));
}
