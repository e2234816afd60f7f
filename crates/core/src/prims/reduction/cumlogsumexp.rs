//! Running logarithms of sums of exponentials along an axis, without overflow.
//!
//! cumlogsumexp : x[...] -> x[...]        x floating or complex
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
    const ACCEPTS: DTypes = DTypes::INEXACT;
}

fn join(e: &dyn Emit, (x, t): &Pair, (y, u): &Pair) -> Result<Pair> {
    let (x, y) = (V::new(e, x), V::new(e, y));
    let out = if x.aval().dtype.is_complex() { complex_sum(&x, &y) } else { real_sum(&x, &y) };
    let (Some(t), Some(u)) = (t, u) else { return Ok((out.done()?, None)) };
    let tangent = V::new(e, t) * weight(&x, &out) + V::new(e, u) * weight(&y, &out);
    Ok((out.done()?, Some(tangent.done()?)))
}

fn real_sum<'e>(x: &V<'e>, y: &V<'e>) -> V<'e> {
    let (greater, difference) = (x.max(y), x - y);
    // The difference of equal infinities is NaN; their sum is right.
    let is_nan = difference.ne(&difference);
    let smooth = greater + (-difference.abs()).exp().log1p();
    is_nan.select(&smooth, &(x + y))
}

/// With the imaginary part brought back into (-π, π].
fn complex_sum<'e>(x: &V<'e>, y: &V<'e>) -> V<'e> {
    let greater = x.max(y);
    let less = (x + y) - 2.0 * &greater;
    let sum = greater + less.exp().log1p();
    let angle = sum.imag();
    sum.real().complex(&angle.sin().atan2(&angle.cos()))
}

/// `e^(x - out)`, where an infinite term counts as 0 so that the difference stays a number.
fn weight<'e>(x: &V<'e>, out: &V<'e>) -> V<'e> {
    let finite = |v: &V<'e>| v.eq(&v.number(f64::INFINITY)).select(v, &v.full(0.0));
    (finite(x) - finite(out)).exp()
}
