//! The least element over axes; NaN if any is.
//!
//! reduce_min : x[...] -> [... without axes]
//! The tangent is the mean of the tangents where the extreme is reached.

use pullback_loops::Combine;

use super::extreme::ExtremeOp;
use crate::prims::V;

pub(super) struct ReduceMin;

impl ExtremeOp for ReduceMin {
    const NAME: &'static str = "reduce_min";
    const COMBINE: Combine = Combine::Min;
}

impl<'e> V<'e> {
    /// The least element over axes; nothing when there are none.
    pub fn reduce_min(&self, axes: &[usize]) -> V<'e> {
        if axes.is_empty() {
            return self.clone();
        }
        self.bind(super::REDUCE_MIN, &super::extreme::params(axes.to_vec()), &[])
    }
}
