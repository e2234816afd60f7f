//! Whether the first element is less than the second.
//!
//! lt : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct Lt;

impl CompareOp for Lt {
    const NAME: &'static str = "lt";
    const ACCEPTS: DTypes = DTypes::ORDERED;
    const COMPARISON: Comparison = Comparison::Lt;
}
