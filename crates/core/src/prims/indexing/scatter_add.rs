//! Windows added at computed positions.
//!
//! scatter-add : x[...] indices[batch..., n] updates[...] -> x[...]
//! Linear in x and updates together; the transpose reads the windows.

use pullback_ir::{JvpRule, PrimRef, Transpose};
use pullback_loops::Combine;

use super::SCATTER_ADD;
use super::scatter::{Scatter, ScatterOp, additive_transpose, linear_jvp};
use crate::prims::ADD;

pub(super) struct ScatterAdd;

impl ScatterOp for ScatterAdd {
    const NAME: &'static str = "scatter-add";
    const JOIN: Option<PrimRef> = Some(ADD);
    const COMBINE: Option<Combine> = Some(Combine::Add);
    const JVP: JvpRule<Scatter> = |p, e, xs, ts| linear_jvp(SCATTER_ADD, p, e, xs, ts);

    fn transpose() -> Transpose<Scatter> {
        Transpose::Rule(|p, e, cts, ins| additive_transpose(p, e, cts, ins, false))
    }
}
