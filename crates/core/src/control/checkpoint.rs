//! A call whose intermediate values are computed again for the reverse derivative instead of kept.
//!
//! remat2 : operands -> results of the jaxpr

use pullback_base::{Aval, Result};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Avals, Batching, Builder, Derivative, Effects, Emit, Hlo, JaxprRef, Operand, Params, Prim, PrimRef, Sample, Split,
    SplitJaxpr, Tangents, Transpose, Val, Vals, eval_jaxpr,
};

use super::jit::{batch_in_front, check_call};
use crate::transforms::{batch_jaxpr, dce_jaxpr, jvp_jaxpr, transpose_jaxpr};

/// Params of `remat2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Checkpoint {
    /// What is called.
    pub jaxpr: JaxprRef,
    /// Whether this is the part that a derivative computes again.
    pub differentiated: bool,
    /// Always `None`: which values to keep is not yet a choice.
    pub policy: Option<bool>,
    /// Whether the recomputation must not be merged with the first computation.
    pub prevent_cse: bool,
}

impl Checkpoint {
    /// A call of `jaxpr` as the user writes it.
    pub fn new(jaxpr: JaxprRef, prevent_cse: bool) -> Checkpoint {
        Checkpoint { jaxpr, differentiated: false, policy: None, prevent_cse }
    }

    fn bind(&self, e: &dyn Emit, jaxpr: JaxprRef, ins: &[Val]) -> Result<Vals> {
        e.bind(CHECKPOINT, &Params::new(Checkpoint { jaxpr, ..self.clone() }), ins)
    }
}

struct CheckpointPrim;

/// The primitive `remat2`.
pub const CHECKPOINT: PrimRef = PrimRef(&CheckpointPrim);

impl Prim for CheckpointPrim {
    type Params = Checkpoint;
    const NAME: &'static str = "remat2";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Checkpoint, ins: &[Aval]) -> Result<Avals> {
        check_call("checkpoint", &p.jaxpr, ins)?;
        Ok(p.jaxpr.out_avals().into())
    }
    fn derivative(&self) -> Derivative<Checkpoint> {
        Derivative::Jvp(|p, e, xs, ts| {
            let nonzero: Vec<bool> = ts.iter().map(Option::is_some).collect();
            let derived = jvp_jaxpr(&p.jaxpr, &nonzero, &vec![false; p.jaxpr.outs.len()])?;
            let ins: Vec<Val> = xs.iter().cloned().chain(ts.iter().flatten().cloned()).collect();
            let mut outs = p.bind(e, derived.jaxpr, &ins)?;
            let mut dots = outs.drain(p.jaxpr.outs.len()..).collect::<Vec<_>>().into_iter();
            let tangents =
                derived.nonzero_out.iter().map(|&nonzero| if nonzero { dots.next() } else { None }).collect();
            Ok((outs, tangents))
        })
    }
    fn transpose(&self) -> Transpose<Checkpoint> {
        Transpose::Rule(transpose)
    }
    fn batching(&self) -> Batching<Checkpoint> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let (ins, batched) = batch_in_front(e, ins, dims, batch.size)?;
            let derived = batch_jaxpr(&p.jaxpr, batch, &batched, &vec![false; p.jaxpr.outs.len()])?;
            let outs = p.bind(e, derived.jaxpr, &ins)?;
            Ok((outs, derived.batched_out.iter().map(|&batched| batched.then_some(0)).collect()))
        })
    }
    fn cpu(&self, p: &Checkpoint, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Control(Control::Call(p.jaxpr.clone()))
    }
    fn hlo(&self) -> Hlo<Checkpoint> {
        Hlo::Rule(|p, cx, ins, _| {
            if !p.differentiated {
                return cx.call("checkpoint", &p.jaxpr, ins);
            }
            let ins = if p.prevent_cse { cx.barrier(ins) } else { ins.into() };
            cx.inline(&p.jaxpr, &ins)
        })
    }
    // Covered by the tests of control flow: there is no sample without a traced function.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn effects(&self, p: &Checkpoint) -> Effects {
        p.jaxpr.effects()
    }
    fn split(&self, p: &Checkpoint, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
        split_checkpoint(p, split, ins).map(Some)
    }
    fn drop_unused(&self, p: &Checkpoint, used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        let pruned = dce_jaxpr(&p.jaxpr, used, &vec![false; p.jaxpr.invars.len()]);
        Some((Params::new(Checkpoint { jaxpr: pruned.jaxpr, ..p.clone() }), pruned.used_in, used.to_vec()))
    }
}

/// Known results are computed now without residuals; the unknown part computes the residuals again from the known operands.
fn split_checkpoint(p: &Checkpoint, split: &dyn Split, ins: &[Val]) -> Result<Vals> {
    let unknown_in: Vec<bool> = ins.iter().map(|val| split.is_unknown(val)).collect();
    let parts = split.split_jaxpr(&p.jaxpr, &unknown_in)?;
    let pick = |want: bool| {
        ins.iter().zip(&unknown_in).filter(move |(_, unknown)| **unknown == want).map(|(val, _)| val.clone())
    };
    let known_ins: Vec<Val> = pick(false).collect();
    let n_known_outs = parts.known.outs.len() - parts.n_residuals;
    let wanted: Vec<bool> = (0..parts.known.outs.len()).map(|i| i < n_known_outs).collect();
    let known_only = dce_jaxpr(&parts.known, &wanted, &vec![true; known_ins.len()]).jaxpr;
    // The values are wanted as they are: no derivative will recompute them.
    let mut known_outs = eval_jaxpr(split.known(), &known_only, &known_ins)?.into_iter();
    let again = recomputation(&parts, known_ins.len())?;
    let unknown_ins: Vec<Val> = known_ins.iter().cloned().chain(pick(true)).collect();
    let differentiated = Checkpoint { differentiated: true, ..p.clone() };
    let mut unknown_outs = differentiated.bind(split.unknown(), again, &unknown_ins)?.into_iter();
    let merge = |unknown: &bool| if *unknown { unknown_outs.next() } else { known_outs.next() };
    Ok(parts.unknown_out.iter().map(merge).map(|out| out.expect("as many results as marks")).collect())
}

fn recomputation(parts: &SplitJaxpr, n_known: usize) -> Result<JaxprRef> {
    let b = Builder::new();
    let known_ins: Vec<Val> = parts.known.in_avals().into_iter().map(|aval| b.input(aval)).collect();
    debug_assert_eq!(known_ins.len(), n_known);
    let unknown_avals = parts.unknown.in_avals().split_off(parts.n_residuals);
    let unknown_ins: Vec<Val> = unknown_avals.into_iter().map(|aval| b.input(aval)).collect();
    let mut known_outs = eval_jaxpr(&b, &parts.known, &known_ins)?;
    let residuals = known_outs.split_off(parts.known.outs.len() - parts.n_residuals);
    let outs = eval_jaxpr(&b, &parts.unknown, &[residuals, unknown_ins].concat())?;
    let whole = JaxprRef::new(b.finish(&outs, None).0);
    let all_outs = vec![true; whole.outs.len()];
    let all_ins = vec![true; whole.invars.len()];
    Ok(dce_jaxpr(&whole, &all_outs, &all_ins).jaxpr)
}

fn transpose(p: &Checkpoint, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let linear: Vec<bool> = ins.iter().map(Operand::is_linear).collect();
    let nonzero: Vec<bool> = cts.iter().map(Option::is_some).collect();
    let transposed = transpose_jaxpr(&p.jaxpr, &linear, &nonzero, false)?;
    let args: Vec<Val> = ins.iter().filter_map(|x| x.known().cloned()).chain(cts.iter().flatten().cloned()).collect();
    let mut outs = p.bind(e, transposed.jaxpr, &args)?.into_iter();
    let mut nonzero = transposed.nonzero.iter();
    let mut next = || if *nonzero.next().expect("one mark for each linear operand") { outs.next() } else { None };
    Ok(linear.iter().map(|&linear| if linear { next() } else { None }).collect())
}
