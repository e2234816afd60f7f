//! Whether any holds over axes; bit by bit for integers.
//!
//! reduce_or : x[...] -> [... without axes]        booleans or integers
//! No derivative.

use pullback_loops::Combine;

use super::logical::LogicalOp;
use crate::prims::V;

pub(super) struct ReduceOr;

impl LogicalOp for ReduceOr {
    const NAME: &'static str = "reduce_or";
    const COMBINE: Combine = Combine::Or;
}

impl<'e> V<'e> {
    /// Whether any holds over axes; bit by bit for integers.
    pub fn reduce_or(&self, axes: &[usize]) -> V<'e> {
        self.bind(super::REDUCE_OR, &super::logical::params(axes.to_vec()), &[])
    }
}
