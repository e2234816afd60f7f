//! Windows multiplied in at computed positions.
//!
//! scatter-mul : x[...] indices[batch..., n] updates[...] -> x[...]
//! Linear in x; in the updates where no two windows overlap.

use pullback_base::{Error, Result};
use pullback_ir::{Emit, JvpRule, Operand, Params, PrimRef, Tangents, Transpose, Val, Vals, not_linear};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::scatter::{Scatter, ScatterOp};
use super::{SCATTER_ADD, SCATTER_MUL};
use crate::prims::{MUL, V, add_any, zeros};

pub(super) struct ScatterMul;

impl ScatterOp for ScatterMul {
    const NAME: &'static str = "scatter-mul";
    const JOIN: Option<PrimRef> = Some(MUL);
    const COMBINE: Option<Combine> = Some(Combine::Mul);
    const JVP: JvpRule<Scatter> = jvp;

    fn transpose() -> Transpose<Scatter> {
        Transpose::Rule(transpose)
    }
}

fn check_unique(p: &Scatter) -> Result<()> {
    if p.unique_indices {
        return Ok(());
    }
    Err(Error::not_implemented("scatter_mul gradients are only implemented if `unique_indices=True`"))
}

fn jvp(p: &Scatter, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let out = e.bind(SCATTER_MUL, &Params::new(p.clone()), xs)?;
    let in_x = ts[0].as_ref().map(|t| p.write(e, SCATTER_MUL, t, &xs[1], &xs[2])).transpose()?;
    let in_updates = match &ts[2] {
        None => None,
        Some(t) => {
            check_unique(p)?;
            let spread = p.write(e, SCATTER_ADD, &zeros(e, xs[0].aval())?, &xs[1], t)?;
            Some((V::new(e, &xs[0]) * V::new(e, &spread)).done()?)
        }
    };
    Ok((out, smallvec![add_any(e, in_x, in_updates)?]))
}

fn transpose(p: &Scatter, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let (Some(ct), Some(indices)) = (&cts[0], ins[1].known()) else { return Ok(smallvec![None; 3]) };
    if let Some(updates) = ins[2].known() {
        return Ok(smallvec![Some(p.write(e, SCATTER_MUL, ct, indices, updates)?), None, None]);
    }
    let Some(x) = ins[0].known() else {
        return Err(not_linear("scatter-mul", " in both operands together"));
    };
    check_unique(p)?;
    let product = (V::new(e, ct) * V::new(e, x)).done()?;
    Ok(smallvec![None, None, Some(p.read(e, &product, indices, ins[2].aval(), p.mode)?)])
}
