//! Whether the first element is at most the second.
//!
//! le : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct Le;

impl CompareOp for Le {
    const NAME: &'static str = "le";
    const ACCEPTS: DTypes = DTypes::ORDERED;
    const COMPARISON: Comparison = Comparison::Le;
}
