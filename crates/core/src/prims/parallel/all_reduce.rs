//! The family of reductions over named axes: `psum`, `pmax`, `pmin`.
//!
//! member : x[...] -> [... without positional axes]
//! Over named axes every example or device gets the same result. Axes of the operand may be mixed in.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::prims::splits::leading;
use pullback_base::{Aval, Error, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits,
    Transpose, Val, Vals, Varying,
};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::axes::{Axis, Groups};
use super::collective;
use super::exchange::AllReduce as AllReduceCall;
use crate::prims::V;
use crate::prims::reduction::reduced_shape;

/// Params of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct AllReduce {
    /// Axes that are reduced.
    pub axes: Vec<Axis>,
    /// Groups along the named axes.
    pub axis_index_groups: Groups,
}

impl AllReduce {
    /// A reduction of one group.
    pub fn new(axes: Vec<Axis>) -> AllReduce {
        AllReduce { axes, axis_index_groups: None }
    }

    /// The named axes.
    pub fn names(&self) -> Vec<AxisName> {
        self.axes.iter().filter_map(|axis| axis.name().cloned()).collect()
    }

    /// The positional axes.
    pub fn positions(&self) -> Vec<usize> {
        self.axes.iter().filter_map(Axis::position).collect()
    }
}

/// What tells one member of the family from another.
pub trait Member: Send + Sync + 'static {
    /// The primitive's name.
    const NAME: &'static str;
    /// How elements join.
    const COMBINE: Combine;
    /// The primitive.
    const PRIM: PrimRef;
    /// The result where all of `size` examples are `x`.
    fn repeated<'e>(x: &V<'e>, size: usize) -> V<'e>;
    /// The reduction over positional axes.
    fn local<'e>(x: &V<'e>, axes: &[usize]) -> V<'e>;
    /// Forward derivative.
    fn derivative() -> Derivative<AllReduce>;
    /// Transpose.
    fn transpose() -> Transpose<AllReduce>;
}

/// The primitive of a member.
pub struct Reduction<M>(pub(super) PhantomData<M>);

impl<M: Member> Prim for Reduction<M> {
    type Params = AllReduce;
    const NAME: &'static str = M::NAME;

    fn abstract_eval(&self, p: &AllReduce, ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![ins[0].with_shape(&reduced_shape(M::NAME, ins[0], &p.positions())?)])
    }

    fn derivative(&self) -> Derivative<AllReduce> {
        M::derivative()
    }

    fn transpose(&self) -> Transpose<AllReduce> {
        M::transpose()
    }

    fn splits(&self) -> Splits<AllReduce> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<AllReduce> {
        Batching::Rule(batch::<M>)
    }

    fn cpu(&self, p: &AllReduce, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (names, positions) = (p.names(), p.positions());
        if names.is_empty() {
            return CpuForm::Decompose(Box::new(move |e, ins| {
                let x = V::new(e, &ins[0]);
                Ok(smallvec![if positions.is_empty() { ins[0].clone() } else { M::local(&x, &positions).done()? }])
            }));
        }
        if positions.is_empty() {
            let groups = p.axis_index_groups.clone();
            return CpuForm::Host(Arc::new(AllReduceCall {
                name: M::NAME,
                names,
                groups,
                combine: M::COMBINE,
                dtype: ins[0].dtype,
            }));
        }
        let named = AllReduce {
            axes: names.into_iter().map(Axis::Named).collect(),
            axis_index_groups: p.axis_index_groups.clone(),
        };
        CpuForm::Decompose(Box::new(move |e, ins| {
            let x = M::local(&V::new(e, &ins[0]), &positions);
            Ok(smallvec![x.bind(M::PRIM, &Params::new(named.clone()), &[]).done()?])
        }))
    }

    fn hlo(&self) -> Hlo<AllReduce> {
        Hlo::Rule(|p, cx, ins, outs| {
            let (names, positions) = (p.names(), p.positions());
            let mut x = ins[0];
            if !positions.is_empty() {
                x = cx.compose(&|e, ins| Ok(smallvec![M::local(&V::new(e, &ins[0]), &positions).done()?]), ins)?[0];
            }
            if !names.is_empty() {
                x = collective::all_reduce(M::NAME, cx, (&names, &p.axis_index_groups), x, M::COMBINE)?;
            }
            debug_assert_eq!(x.aval.shape, outs[0].shape, "the shape of the result");
            Ok(smallvec![x])
        })
    }

    // Over positional axes only: named ones exist inside of maps, whose tests cover them.
    fn samples(&self) -> Vec<Sample> {
        let params = |axes: &[usize]| Params::new(AllReduce::new(axes.iter().copied().map(Axis::Positional).collect()));
        let sample = |axes: &[usize]| Sample::new(params(axes), pullback_base::DType::F32, (-5.0, 5.0), &[&[3, 4, 5]]);
        vec![sample(&[1]), sample(&[0, 2])]
    }

    fn varying(&self, p: &AllReduce) -> Varying {
        Varying::Without(p.names())
    }

    fn axis_names(&self, p: &AllReduce) -> Option<Vec<AxisName>> {
        Some(p.names())
    }
}

fn batch<M: Member>(
    p: &AllReduce,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let x = V::new(e, &ins[0]);
    let is_here = |axis: &Axis| axis.name().is_some_and(|name| Some(name) == batch.name.as_ref());
    if p.axes.iter().any(is_here) && p.axis_index_groups.is_some() {
        return Err(Error::not_implemented(
            "axis_index_groups not supported in vmap collectives. Please open a feature request!",
        ));
    }
    let bind = |x: V<'_>, axes: Vec<Axis>| {
        let params = AllReduce { axes, axis_index_groups: p.axis_index_groups.clone() };
        if params.axes.is_empty() { x.done() } else { x.bind(M::PRIM, &Params::new(params), &[]).done() }
    };
    let Some(dim) = dims[0] else {
        let rest = p.axes.iter().filter(|axis| !is_here(axis)).cloned().collect();
        return Ok((smallvec![bind(M::repeated(&x, batch.size), rest)?], smallvec![None]));
    };
    let place = |axis: &Axis| match axis {
        Axis::Positional(at) => Axis::Positional(if *at >= dim { at + 1 } else { *at }),
        here if is_here(here) => Axis::Positional(dim),
        other => other.clone(),
    };
    let axes: Vec<Axis> = p.axes.iter().map(place).collect();
    let n_before = axes.iter().filter_map(Axis::position).filter(|&at| at < dim).count();
    let out_dim = if p.axes.iter().any(is_here) { None } else { Some(dim - n_before) };
    Ok((smallvec![bind(x, axes)?], smallvec![out_dim]))
}
