//! Whether the first element is the second in the total order of floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN.
//!
//! eq_to : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct EqTo;

impl CompareOp for EqTo {
    const NAME: &'static str = "eq_to";
    const ACCEPTS: DTypes = DTypes::ORDERED;
    const COMPARISON: Comparison = Comparison::Eq;
    const IS_TOTAL: bool = true;
}
