//! The sum over axes of devices, which is the same for all of them.
//!
//! psum_invariant : x[...] -> [...]        x a number
//! Linear; the transpose is `pvary`. It exists where types say along which axes values differ.

use std::sync::Arc;

use crate::prims::splits::leading;
use pullback_base::{Aval, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose, Val, Varying,
};
use smallvec::smallvec;

use super::axes::AxisNames;
use super::collective;
use super::exchange::AllReduce;
use super::pvary::{PVARY, Pvary};
use crate::prims::{V, zeros};
use pullback_loops::Combine;

/// Params of `psum_invariant`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct PsumInvariant {
    /// Over which axes.
    pub axes: AxisNames,
}

struct PsumInvariantPrim;

/// The primitive `psum_invariant`.
pub static PSUM_INVARIANT: PrimRef = PrimRef(&PsumInvariantPrim);

impl Prim for PsumInvariantPrim {
    type Params = PsumInvariant;
    const NAME: &'static str = "psum_invariant";

    fn abstract_eval(&self, _p: &PsumInvariant, ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![ins[0]])
    }

    fn derivative(&self) -> Derivative<PsumInvariant> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<PsumInvariant> {
        Transpose::Rule(|p, e, cts, _ins| {
            let params = Params::new(Pvary { axes: p.axes.clone() });
            let back = |ct: &Val| V::new(e, ct).bind(PVARY, &params, &[]).done();
            Ok(smallvec![cts[0].as_ref().map(back).transpose()?])
        })
    }

    fn splits(&self) -> Splits<PsumInvariant> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<PsumInvariant> {
        Batching::Pointwise
    }

    fn cpu(&self, p: &PsumInvariant, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(Arc::new(AllReduce {
            name: "psum_invariant",
            names: p.axes.0.clone(),
            groups: None,
            combine: Combine::Add,
            dtype: ins[0].dtype,
        }))
    }

    fn hlo(&self) -> Hlo<PsumInvariant> {
        Hlo::Rule(|p, cx, ins, _outs| {
            let all = (&p.axes.0[..], &None);
            Ok(smallvec![collective::all_reduce("psum_invariant", cx, all, ins[0], Combine::Add)?])
        })
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn varying(&self, p: &PsumInvariant) -> Varying {
        Varying::Without(p.axes.0.clone())
    }

    fn axis_names(&self, p: &PsumInvariant) -> Option<Vec<AxisName>> {
        Some(p.axes.0.clone())
    }
}
