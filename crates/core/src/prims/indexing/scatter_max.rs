//! The greater of each element and the updates that computed positions send there.
//!
//! scatter-max : x[...] indices[batch..., n] updates[...] -> x[...]
//! The tangent follows what is kept; equal candidates share it.

use pullback_ir::{JvpRule, PrimRef, Transpose};
use pullback_loops::Combine;

use super::SCATTER_MAX;
use super::scatter::{Scatter, ScatterOp, extreme_jvp};
use crate::prims::MAX;

pub(super) struct ScatterMax;

impl ScatterOp for ScatterMax {
    const NAME: &'static str = "scatter-max";
    const JOIN: Option<PrimRef> = Some(MAX);
    const COMBINE: Option<Combine> = Some(Combine::Max);
    const JVP: JvpRule<Scatter> = |p, e, xs, ts| extreme_jvp(SCATTER_MAX, p, e, xs, ts);

    fn transpose() -> Transpose<Scatter> {
        Transpose::NotLinear
    }
}
