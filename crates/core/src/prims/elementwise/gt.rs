//! Whether the first element is greater than the second.
//!
//! gt : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct Gt;

impl CompareOp for Gt {
    const NAME: &'static str = "gt";
    const ACCEPTS: DTypes = DTypes::ORDERED;
    const COMPARISON: Comparison = Comparison::Gt;
}
