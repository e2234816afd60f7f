//! The index of the least element along an axis: the first of equals, and of NaN when there is one.
//!
//! argmin : x[...] -> index_dtype[... without the axis]
//! No derivative.

use pullback_base::DType;
use pullback_ir::Params;
use pullback_ir::lower::Extreme;

use super::arg::{ArgOp, ArgReduce};
use crate::prims::V;

pub(super) struct ArgMin;

impl ArgOp for ArgMin {
    const NAME: &'static str = "argmin";
    const EXTREME: Extreme = Extreme::Min;
}

impl<'e> V<'e> {
    /// The index of the least element along an axis.
    pub fn argmin(&self, axis: usize, index_dtype: DType) -> V<'e> {
        self.bind(super::ARGMIN, &Params::new(ArgReduce { axes: vec![axis], index_dtype }), &[])
    }
}
