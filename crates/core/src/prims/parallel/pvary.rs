//! A value that is the same for all devices along some axes, taken as one that may differ.
//!
//! pvary : x[...] -> [...]        the same elements
//! Linear; the transpose is `psum_invariant`. It exists where types say along which axes values differ.

use crate::prims::splits::leading;
use pullback_base::{Aval, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose, Val, Varying,
};
use smallvec::smallvec;

use super::axes::AxisNames;
use super::psum_invariant::{PSUM_INVARIANT, PsumInvariant};
use crate::prims::{V, zeros};

/// Params of `pvary`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Pvary {
    /// Along which axes.
    pub axes: AxisNames,
}

struct PvaryPrim;

/// The primitive `pvary`.
pub static PVARY: PrimRef = PrimRef(&PvaryPrim);

impl Prim for PvaryPrim {
    type Params = Pvary;
    const NAME: &'static str = "pvary";

    fn abstract_eval(&self, p: &Pvary, ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![ins[0].varying(&[&ins[0].vma[..], &p.axes.0].concat())])
    }

    fn derivative(&self) -> Derivative<Pvary> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Pvary> {
        Transpose::Rule(|p, e, cts, _ins| {
            let params = Params::new(PsumInvariant { axes: p.axes.clone() });
            let back = |ct: &Val| V::new(e, ct).bind(PSUM_INVARIANT, &params, &[]).done();
            Ok(smallvec![cts[0].as_ref().map(back).transpose()?])
        })
    }

    fn splits(&self) -> Splits<Pvary> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<Pvary> {
        Batching::Pointwise
    }

    fn cpu(&self, _p: &Pvary, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Alias
    }

    fn hlo(&self) -> Hlo<Pvary> {
        // A fact about types, which StableHLO lacks.
        Hlo::Rule(|_p, _cx, ins, _outs| Ok(smallvec![ins[0]]))
    }

    // Covered by the tests of maps: there is no sample outside of one.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn varying(&self, _p: &Pvary) -> Varying {
        Varying::Own
    }

    fn axis_names(&self, p: &Pvary) -> Option<Vec<AxisName>> {
        Some(p.axes.0.clone())
    }
}
