//! The least over named axes, and positional ones.
//!
//! pmin : x[...] -> [... without positional axes]        x real
//! Not differentiable, as in the reference.

use pullback_ir::{Derivative, Params, PrimRef, Transpose};
use pullback_loops::Combine;

use super::all_reduce::{AllReduce, Member, Reduction};
use crate::prims::{REDUCE_MIN, ReduceExtreme, V};

/// The member.
pub(super) struct Pmin;

/// The primitive `pmin`.
pub static PMIN: PrimRef = PrimRef(&Reduction::<Pmin>(std::marker::PhantomData));

impl Member for Pmin {
    const NAME: &'static str = "pmin";
    const COMBINE: Combine = Combine::Min;
    const PRIM: PrimRef = PMIN;

    fn repeated<'e>(x: &V<'e>, _size: usize) -> V<'e> {
        x.clone()
    }
    fn local<'e>(x: &V<'e>, axes: &[usize]) -> V<'e> {
        let params = ReduceExtreme { axes: axes.to_vec(), out_sharding: None };
        if axes.is_empty() { x.clone() } else { x.bind(REDUCE_MIN, &Params::new(params), &[]) }
    }
    fn derivative() -> Derivative<AllReduce> {
        Derivative::Missing("Differentiation rule for 'pmin' not implemented")
    }
    fn transpose() -> Transpose<AllReduce> {
        Transpose::NotLinear
    }
}
