//! Whether two elements are equal; NaN never is.
//!
//! eq : x[...] y[...] -> bool[...]        of one dtype
//! No derivative.

use super::*;
use pullback_loops::Comparison;

pub(super) struct Eq;

impl CompareOp for Eq {
    const NAME: &'static str = "eq";
    const ACCEPTS: DTypes = DTypes::ANY;
    const COMPARISON: Comparison = Comparison::Eq;
}
