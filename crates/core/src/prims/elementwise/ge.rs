//! Whether the first element is at least the second.
//!
//! ge : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct Ge;

impl CompareOp for Ge {
    const NAME: &'static str = "ge";
    const ACCEPTS: DTypes = DTypes::ORDERED;
    const COMPARISON: Comparison = Comparison::Ge;
}
