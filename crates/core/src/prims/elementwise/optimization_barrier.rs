//! The operands themselves, of which no optimization may know that they are.
//!
//! optimization_barrier : xs -> xs
//! Programs of this engine are not reordered across it because nothing they compute depends on the order; it stands for
//! the user's wish in jaxprs and in programs for other engines.

use super::*;
use crate::prims::splits::each;
use pullback_ir::Splits;

struct OptimizationBarrier;

/// The primitive `optimization_barrier`.
pub static OPTIMIZATION_BARRIER: PrimRef = prim(&OptimizationBarrier);

/// The barrier for the values that are there.
fn through(e: &dyn Emit, vals: &[Option<Val>]) -> Result<Tangents> {
    let there: Vec<Val> = vals.iter().flatten().cloned().collect();
    if there.is_empty() {
        return Ok(vals.iter().map(|_| None).collect());
    }
    let mut outs = e.bind(OPTIMIZATION_BARRIER, &Params::NONE, &there)?.into_iter();
    Ok(vals.iter().map(|val| if val.is_some() { outs.next() } else { None }).collect())
}

impl Prim for OptimizationBarrier {
    type Params = ();
    const NAME: &'static str = "optimization_barrier";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        Ok(ins.iter().copied().collect())
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Jvp(|(), e, xs, ts| Ok((e.bind(OPTIMIZATION_BARRIER, &Params::NONE, xs)?, through(e, ts)?)))
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::Rule(|(), e, cts, _| through(e, cts))
    }

    fn splits(&self) -> Splits<()> {
        Splits::Rule(each)
    }

    fn batching(&self) -> Batching<()> {
        Batching::Rule(|(), e, _, ins, dims| {
            Ok((e.bind(OPTIMIZATION_BARRIER, &Params::NONE, ins)?, dims.iter().copied().collect()))
        })
    }

    fn cpu(&self, (): &(), _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Decompose(Box::new(|_, ins| Ok(ins.iter().cloned().collect())))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Rule(|(), cx, ins, _| Ok(cx.barrier(ins)))
    }

    fn samples(&self) -> Vec<Sample> {
        vec![Sample::new(Params::NONE, DType::F32, (-5.0, 5.0), &[&[2, 3], &[4]])]
    }
}
