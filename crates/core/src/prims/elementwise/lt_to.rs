//! Whether the first element is before the second in the total order of floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
//!
//! lt_to : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct LtTo;

impl CompareOp for LtTo {
    const NAME: &'static str = "lt_to";
    const ACCEPTS: DTypes = DTypes::ORDERED;
    const COMPARISON: Comparison = Comparison::Lt;
    const IS_TOTAL: bool = true;
}
