//! Running logarithms of sums of exponentials along an axis, without overflow.
//!
//! cumlogsumexp : x[...] -> x[...]        x floating
//! The tangent is that of a tree of `log(e^x + e^y)`.

use pullback_base::Result;
use pullback_ir::Emit;
use pullback_loops::Combine;

use super::cumulative::{CumulativeOp, JoinFn, Pair};
use crate::prims::{DTypes, V};

pub(super) struct CumLogSumExp;

impl CumulativeOp for CumLogSumExp {
    const NAME: &'static str = "cumlogsumexp";
    const COMBINE: Option<Combine> = None;
    const JOIN: Option<JoinFn> = Some(join);
    const ACCEPTS: DTypes = DTypes::FLOAT;
}

fn join(e: &dyn Emit, (x, t): &Pair, (y, u): &Pair) -> Result<Pair> {
    let (x, y) = (V::new(e, x), V::new(e, y));
    let (greater, difference) = (x.max(&y), &x - &y);
    // The difference of equal infinities is NaN; their sum is right.
    let is_nan = difference.ne(&difference);
    let smooth = greater + (-difference.abs()).exp().log1p();
    let out = is_nan.select(&smooth, &(&x + &y));
    let (Some(t), Some(u)) = (t, u) else { return Ok((out.done()?, None)) };
    let tangent = V::new(e, t) * weight(&x, &out) + V::new(e, u) * weight(&y, &out);
    Ok((out.done()?, Some(tangent.done()?)))
}

/// `e^(x - out)`, where an infinite term counts as 0 so that the difference stays a number.
fn weight<'e>(x: &V<'e>, out: &V<'e>) -> V<'e> {
    let finite = |v: &V<'e>| v.eq(&v.number(f64::INFINITY)).select(v, &v.full(0.0));
    (finite(x) - finite(out)).exp()
}
