//! Whether an odd number hold over axes; bit by bit for integers.
//!
//! reduce_xor : x[...] -> [... without axes]        booleans or integers
//! No derivative.

use pullback_loops::Combine;

use super::logical::LogicalOp;
use crate::prims::V;

pub(super) struct ReduceXor;

impl LogicalOp for ReduceXor {
    const NAME: &'static str = "reduce_xor";
    const COMBINE: Combine = Combine::Xor;
}

impl<'e> V<'e> {
    /// Whether an odd number hold over axes; bit by bit for integers.
    pub fn reduce_xor(&self, axes: &[usize]) -> V<'e> {
        self.bind(super::REDUCE_XOR, &super::logical::params(axes.to_vec()), &[])
    }
}
