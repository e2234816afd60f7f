//! The index of the greatest element along an axis: the first of equals, and of NaN when there is one.
//!
//! argmax : x[...] -> index_dtype[... without the axis]
//! No derivative.

use pullback_base::DType;
use pullback_ir::Params;
use pullback_ir::lower::Extreme;

use super::arg::{ArgOp, ArgReduce};
use crate::prims::V;

pub(super) struct ArgMax;

impl ArgOp for ArgMax {
    const NAME: &'static str = "argmax";
    const EXTREME: Extreme = Extreme::Max;
}

impl<'e> V<'e> {
    /// The index of the greatest element along an axis.
    pub fn argmax(&self, axis: usize, index_dtype: DType) -> V<'e> {
        self.bind(super::ARGMAX, &Params::new(ArgReduce { axes: vec![axis], index_dtype }), &[])
    }
}
