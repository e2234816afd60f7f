//! Whether the first element is the second or before it in the total order of floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
//!
//! le_to : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct LeTo;

impl CompareOp for LeTo {
    const NAME: &'static str = "le_to";
    const ACCEPTS: DTypes = DTypes::ORDERED;
    const COMPARISON: Comparison = Comparison::Le;
    const IS_TOTAL: bool = true;
}
