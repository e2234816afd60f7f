//! Whether all hold over axes; bit by bit for integers.
//!
//! reduce_and : x[...] -> [... without axes]        booleans or integers
//! No derivative.

use pullback_loops::Combine;

use super::logical::LogicalOp;
use crate::prims::V;

pub(super) struct ReduceAnd;

impl LogicalOp for ReduceAnd {
    const NAME: &'static str = "reduce_and";
    const COMBINE: Combine = Combine::And;
}

impl<'e> V<'e> {
    /// Whether all hold over axes; bit by bit for integers.
    pub fn reduce_and(&self, axes: &[usize]) -> V<'e> {
        self.bind(super::REDUCE_AND, &super::logical::params(axes.to_vec()), &[])
    }
}
