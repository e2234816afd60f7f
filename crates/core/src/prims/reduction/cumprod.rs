//! Running products along an axis.
//!
//! cumprod : x[...] -> x[...]        from the first element on, or from the last in reverse
//! The tangent is that of a tree of products.

use super::cumulative::{CumulativeOp, JoinFn, join_by};
use crate::prims::MUL;
use pullback_loops::Combine;

pub(super) struct CumProd;

impl CumulativeOp for CumProd {
    const NAME: &'static str = "cumprod";
    const COMBINE: Option<Combine> = Some(Combine::Mul);
    const JOIN: Option<JoinFn> = Some(|e, x, y| join_by(e, MUL, x, y));
}
