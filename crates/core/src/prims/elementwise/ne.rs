//! Whether two elements differ; NaN always does.
//!
//! ne : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct Ne;

impl CompareOp for Ne {
    const NAME: &'static str = "ne";
    const ACCEPTS: DTypes = DTypes::ANY;
    const COMPARISON: Comparison = Comparison::Ne;
}
