//! The greatest over named axes, and positional ones.
//!
//! pmax : x[...] -> [... without positional axes]        x real
//! Not differentiable, as in the reference.

use pullback_ir::{Derivative, Params, PrimRef, Transpose};
use pullback_loops::Combine;

use super::all_reduce::{AllReduce, Member, Reduction};
use crate::prims::{REDUCE_MAX, ReduceExtreme, V};

/// The member.
pub(super) struct Pmax;

/// The primitive `pmax`.
pub static PMAX: PrimRef = PrimRef(&Reduction::<Pmax>(std::marker::PhantomData));

impl Member for Pmax {
    const NAME: &'static str = "pmax";
    const COMBINE: Combine = Combine::Max;
    const PRIM: PrimRef = PMAX;

    fn repeated<'e>(x: &V<'e>, _size: usize) -> V<'e> {
        x.clone()
    }
    fn local<'e>(x: &V<'e>, axes: &[usize]) -> V<'e> {
        let params = ReduceExtreme { axes: axes.to_vec(), out_sharding: None };
        if axes.is_empty() { x.clone() } else { x.bind(REDUCE_MAX, &Params::new(params), &[]) }
    }
    fn derivative() -> Derivative<AllReduce> {
        Derivative::Missing("Differentiation rule for 'pmax' not implemented")
    }
    fn transpose() -> Transpose<AllReduce> {
        Transpose::NotLinear
    }
}
