//! The greatest element over axes; NaN if any is.
//!
//! reduce_max : x[...] -> [... without axes]
//! The tangent is the mean of the tangents where the extreme is reached.

use pullback_loops::Combine;

use super::extreme::ExtremeOp;
use crate::prims::V;

pub(super) struct ReduceMax;

impl ExtremeOp for ReduceMax {
    const NAME: &'static str = "reduce_max";
    const COMBINE: Combine = Combine::Max;
}

impl<'e> V<'e> {
    /// The greatest element over axes; nothing when there are none.
    pub fn reduce_max(&self, axes: &[usize]) -> V<'e> {
        if axes.is_empty() {
            return self.clone();
        }
        self.bind(super::REDUCE_MAX, &super::extreme::params(axes.to_vec()), &[])
    }
}
