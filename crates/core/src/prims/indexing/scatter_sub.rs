//! Windows subtracted at computed positions.
//!
//! scatter-sub : x[...] indices[batch..., n] updates[...] -> x[...]
//! Linear in x and updates together; the transpose reads the windows.

use pullback_ir::{JvpRule, PrimRef, Transpose};
use pullback_loops::Combine;

use super::SCATTER_SUB;
use super::scatter::{Scatter, ScatterOp, additive_transpose, linear_jvp};
use crate::prims::SUB;

pub(super) struct ScatterSub;

impl ScatterOp for ScatterSub {
    const NAME: &'static str = "scatter-sub";
    const JOIN: Option<PrimRef> = Some(SUB);
    const COMBINE: Option<Combine> = Some(Combine::Add);
    const NEGATES: bool = true;
    const JVP: JvpRule<Scatter> = |p, e, xs, ts| linear_jvp(SCATTER_SUB, p, e, xs, ts);

    fn transpose() -> Transpose<Scatter> {
        Transpose::Rule(|p, e, cts, ins| additive_transpose(p, e, cts, ins, true))
    }
}
