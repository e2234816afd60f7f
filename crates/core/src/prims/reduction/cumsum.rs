//! Running sums along an axis.
//!
//! cumsum : x[...] -> x[...]        from the first element on, or from the last in reverse
//! Linear; the transpose runs the other way.

use super::cumulative::{CumulativeOp, JoinFn};

use pullback_loops::Combine;

pub(super) struct CumSum;

impl CumulativeOp for CumSum {
    const NAME: &'static str = "cumsum";
    const COMBINE: Option<Combine> = Some(Combine::Add);
    const JOIN: Option<JoinFn> = None;
}
