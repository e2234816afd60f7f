//! Running minima along an axis.
//!
//! cummin : x[...] -> x[...]        from the first element on, or from the last in reverse
//! The tangent is that of a tree of minima; equal elements share it.

use super::cumulative::{CumulativeOp, JoinFn, join_by};
use crate::prims::MIN;
use pullback_loops::Combine;

pub(super) struct CumMin;

impl CumulativeOp for CumMin {
    const NAME: &'static str = "cummin";
    const COMBINE: Option<Combine> = Some(Combine::Min);
    const JOIN: Option<JoinFn> = Some(|e, x, y| join_by(e, MIN, x, y));
}
