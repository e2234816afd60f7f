//! Derivatives where a choice says that it is one.
//!
//! Under where-safe gradients ([`crate::marks`]) what a choice dropped is a structural zero. The ordinary derivatives of a
//! few primitives hide the choice behind a product with numbers; here they are written with the choice in sight. As numbers
//! the two agree wherever the ordinary ones are finite.

use std::cell::Cell;

use pullback_base::Result;
use pullback_ir::{Emit, Params, PrimRef, Tangents, Val, Vals};
use smallvec::smallvec;

use crate::prims::{MAX, MIN, REDUCE_MAX, REDUCE_MIN, ReduceExtreme, SQRT, V, add_any};

thread_local! {
    static SAFE: Cell<bool> = const { Cell::new(false) };
}

/// Whether derivatives that are taken on this thread now keep choices in sight.
pub fn derivatives_are_safe() -> bool {
    SAFE.get()
}

/// Runs `body` with derivatives that keep choices in sight, or without.
pub fn with_safe_derivatives<T>(on: bool, body: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            SAFE.set(self.0);
        }
    }
    let _restore = Restore(SAFE.replace(on));
    body()
}

/// The derivative of an application that keeps its choice in sight; `None` when the ordinary one does.
pub(super) fn safe_jvp(
    prim: PrimRef,
    params: &Params,
    e: &dyn Emit,
    xs: &[Val],
    ts: &[Option<Val>],
) -> Option<Result<(Vals, Tangents)>> {
    if !xs[0].aval().dtype.is_float() {
        return None;
    }
    match prim {
        _ if prim == MAX => Some(extreme_of_two(prim, e, xs, ts, |a, b| a.gt(b))),
        _ if prim == MIN => Some(extreme_of_two(prim, e, xs, ts, |a, b| a.lt(b))),
        _ if prim == SQRT => Some(square_root(e, &xs[0], ts[0].as_ref()?)),
        _ if prim == REDUCE_MAX || prim == REDUCE_MIN => {
            Some(extreme_over_axes(prim, params, e, &xs[0], ts[0].as_ref()?))
        }
        _ => None,
    }
}

/// Elements of the tangent where `is_kept`, else zeros.
fn kept<'e>(is_kept: &V<'e>, t: &V<'e>) -> V<'e> {
    is_kept.select(&t.full(0.0), t)
}

/// The greater or the smaller: the operand that is not chosen drops out, equal ones share.
fn extreme_of_two<'e>(
    prim: PrimRef,
    e: &'e dyn Emit,
    xs: &[Val],
    ts: &[Option<Val>],
    is_before: fn(&V<'e>, &V<'e>) -> V<'e>,
) -> Result<(Vals, Tangents)> {
    let (x, y) = (V::new(e, &xs[0]), V::new(e, &xs[1]));
    let out = V::new(e, &x.bind(prim, &Params::NONE, &[&y]).done()?);
    let shape = out.aval().shape.to_vec();
    let is_equal = x.eq(&y);
    let share =
        is_equal.select(&out.strong_number(1.0).broadcast_to(&shape), &out.strong_number(0.5).broadcast_to(&shape));
    let part = |own: &V<'e>, other: &V<'e>, t: &Option<Val>| -> Result<Option<Val>> {
        let Some(t) = t else { return Ok(None) };
        let is_kept = is_before(own, other).or(&is_equal);
        (kept(&is_kept, &V::new(e, t).broadcast_to(&shape)) * &share).done().map(Some)
    };
    let tangent = add_any(e, part(&x, &y, &ts[0])?, part(&y, &x, &ts[1])?)?;
    Ok((smallvec![out.done()?], smallvec![tangent]))
}

/// The infinite slope at zero stands apart, as a quotient by minus zero: that is how it is known later.
fn square_root(e: &dyn Emit, x: &Val, t: &Val) -> Result<(Vals, Tangents)> {
    let (x, t) = (V::new(e, x), V::new(e, t));
    let root = x.sqrt();
    let is_edge = x.eq(&x.number(0.0));
    let elsewhere = kept(&is_edge.not(), &t) * (0.5 / &root);
    let at_edge = -(kept(&is_edge, &t) / t.number(-0.0));
    let tangent = is_edge.select(&elsewhere, &at_edge);
    Ok((smallvec![root.done()?], smallvec![Some(tangent.done()?)]))
}

/// The mean of the tangents where the extreme is reached.
fn extreme_over_axes(prim: PrimRef, params: &Params, e: &dyn Emit, x: &Val, t: &Val) -> Result<(Vals, Tangents)> {
    let axes = &params.get::<ReduceExtreme>().expect("params of an extreme over axes").axes;
    let (x, t) = (V::new(e, x), V::new(e, t));
    let out = x.bind(prim, params, &[]);
    let mut shape = x.aval().shape.to_vec();
    axes.iter().for_each(|&axis| shape[axis] = 1);
    let is_reached = x.eq(&out.reshape(&shape));
    let count = is_reached.convert(x.aval().dtype).reduce_sum(axes);
    let tangent = kept(&is_reached, &t).reduce_sum(axes) / count;
    Ok((smallvec![out.done()?], smallvec![Some(tangent.done()?)]))
}

/// Whether a divisor stands for the slope of [`square_root`] at zero.
pub(crate) fn is_edge_divisor(val: &Val) -> bool {
    let is_minus_zero = |number: f64| number == 0.0 && number.is_sign_negative();
    matches!(val, Val::Literal(scalar) if scalar.dtype().is_float() && is_minus_zero(scalar.as_f64()))
}
