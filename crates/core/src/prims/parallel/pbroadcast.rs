//! The value of one member, for all members along named axes.
//!
//! pbroadcast : x[...] -> [...]
//! Linear; the transpose gives the source the sum of the cotangents, and the others zero.

use std::sync::Arc;

use crate::prims::splits::leading;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Splits,
    Tangents, Transpose, Val, Vals,
};
use smallvec::smallvec;

use super::all_reduce::AllReduce;
use super::axes::{Axis, BareNames, only_name};
use super::axis_index::{AxisIndex, axis_index};
use super::collective;
use super::exchange::Broadcast;
use super::psum::PSUM;
use crate::prims::{V, zeros};

/// Params of `pbroadcast`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Pbroadcast {
    /// Along which axes.
    pub axis_name: BareNames,
    /// Whose value.
    pub source: usize,
}

struct PbroadcastPrim;

/// The primitive `pbroadcast`.
pub static PBROADCAST: PrimRef = PrimRef(&PbroadcastPrim);

impl Prim for PbroadcastPrim {
    type Params = Pbroadcast;
    const NAME: &'static str = "pbroadcast";

    fn abstract_eval(&self, _p: &Pbroadcast, ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![ins[0]])
    }

    fn derivative(&self) -> Derivative<Pbroadcast> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Pbroadcast> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Pbroadcast> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<Pbroadcast> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Pbroadcast, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(Arc::new(Broadcast { names: p.axis_name.0.clone(), source: p.source }))
    }

    fn hlo(&self) -> Hlo<Pbroadcast> {
        // All parts are gathered, and one is taken: not every plugin has stablehlo.collective_broadcast.
        Hlo::Rule(|p, cx, ins, outs| {
            let shape: Vec<usize> = std::iter::once(1).chain(ins[0].aval.shape.iter().copied()).collect();
            let row = cx.reshape(ins[0], &shape);
            let all = collective::all_gather("pbroadcast", cx, (&p.axis_name.0, &None), row, 0)?;
            let one = cx.slice_axis(all, 0, p.source, p.source + 1);
            Ok(smallvec![cx.reshape(one, &outs[0].shape)])
        })
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn axis_names(&self, p: &Pbroadcast) -> Option<Vec<AxisName>> {
        Some(p.axis_name.0.clone())
    }
}

fn transpose(p: &Pbroadcast, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(ct) = &cts[0] else { return Ok(smallvec![None]) };
    let [name] = &p.axis_name.0[..] else {
        bail!(NotImplemented, "the transpose of pbroadcast over several axes {:?}", p.axis_name.0);
    };
    let sum = V::new(e, ct).bind(PSUM, &Params::new(AllReduce::new(vec![Axis::Named(name.clone())])), &[]);
    let index = AxisIndex { axis_name: name.clone(), check_vma: !ct.aval().vma.is_empty() };
    let index = V::new(e, &axis_index(e, &index)?);
    let source = V::new(e, &Val::Literal(Scalar::int(DType::I32, p.source as i128)));
    let zero = V::new(e, &zeros(e, ins[0].aval().tangent())?);
    Ok(smallvec![Some(index.eq(&source).select(&zero, &sum).done()?)])
}

fn batch(
    p: &Pbroadcast,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let x = V::new(e, &ins[0]);
    if !batch.name.as_ref().is_some_and(|name| p.axis_name.0.contains(name)) {
        return Ok((smallvec![x.bind(PBROADCAST, &Params::new(p.clone()), &[]).done()?], smallvec![dims[0]]));
    }
    only_name("pbroadcast", &p.axis_name.0, &None)?;
    if p.source >= batch.size {
        bail!(Value, "pbroadcast source {} is out of bounds for an axis of size {}.", p.source, batch.size);
    }
    let out = dims[0].map_or(Ok(ins[0].clone()), |dim| x.index_in_dim(p.source, dim).done())?;
    Ok((smallvec![out], smallvec![None]))
}
