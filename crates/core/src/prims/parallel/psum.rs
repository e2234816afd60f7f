//! The sum over named axes, and positional ones.
//!
//! psum : x[...] -> [... without positional axes]        x a number; booleans are made numbers before
//! Linear; the transpose sums the cotangents over the same named axes and repeats along positional ones.

use pullback_base::Result;
use pullback_ir::{Derivative, Emit, Operand, Params, PrimRef, Tangents, Transpose, Val};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::all_reduce::{AllReduce, Member, Reduction};
use super::axes::Axis;
use crate::prims::{V, zeros};

/// The member.
pub(super) struct Psum;

/// The primitive `psum`.
pub static PSUM: PrimRef = PrimRef(&Reduction::<Psum>(std::marker::PhantomData));

impl Member for Psum {
    const NAME: &'static str = "psum";
    const COMBINE: Combine = Combine::Add;
    const PRIM: PrimRef = PSUM;

    fn repeated<'e>(x: &V<'e>, size: usize) -> V<'e> {
        size as f64 * x
    }
    fn local<'e>(x: &V<'e>, axes: &[usize]) -> V<'e> {
        x.reduce_sum(axes)
    }
    fn derivative() -> Derivative<AllReduce> {
        Derivative::Linear(zeros)
    }
    fn transpose() -> Transpose<AllReduce> {
        Transpose::Rule(transpose)
    }
}

fn transpose(p: &AllReduce, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(ct) = &cts[0] else { return Ok(smallvec![None]) };
    let (names, positions, shape) = (p.names(), p.positions(), &ins[0].aval().data().shape);
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !positions.contains(axis)).collect();
    let mut ct = V::new(e, ct);
    if !positions.is_empty() {
        ct = ct.broadcast_in_dim(shape, &kept);
    }
    if !names.is_empty() {
        let axes = names.into_iter().map(Axis::Named).collect();
        ct = ct.bind(PSUM, &Params::new(AllReduce { axes, axis_index_groups: p.axis_index_groups.clone() }), &[]);
    }
    Ok(smallvec![Some(ct.done()?)])
}
