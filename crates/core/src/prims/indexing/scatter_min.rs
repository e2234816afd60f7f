//! The smaller of each element and the updates that computed positions send there.
//!
//! scatter-min : x[...] indices[batch..., n] updates[...] -> x[...]
//! The tangent follows what is kept; equal candidates share it.

use pullback_ir::{JvpRule, PrimRef, Transpose};
use pullback_loops::Combine;

use super::SCATTER_MIN;
use super::scatter::{Scatter, ScatterOp, extreme_jvp};
use crate::prims::MIN;

pub(super) struct ScatterMin;

impl ScatterOp for ScatterMin {
    const NAME: &'static str = "scatter-min";
    const JOIN: Option<PrimRef> = Some(MIN);
    const COMBINE: Option<Combine> = Some(Combine::Min);
    const JVP: JvpRule<Scatter> = |p, e, xs, ts| extreme_jvp(SCATTER_MIN, p, e, xs, ts);

    fn transpose() -> Transpose<Scatter> {
        Transpose::NotLinear
    }
}
