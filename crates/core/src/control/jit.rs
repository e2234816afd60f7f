//! A call of a jaxpr: what `jax.jit` leaves in a trace.
//!
//! jit : operands -> results of the jaxpr
//! Every rule is the transform of the jaxpr, called in the same way.

use std::sync::Arc;

use pullback_base::{Aval, Result, bail};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Atom, Avals, Batch, BatchDims, Batching, Derivative, Effects, Emit, Hlo, JaxprRef, Operand, Params, Prim, PrimRef,
    Sample, Split, SplitJaxpr, Splits, Tangents, Transpose, Val, Vals,
};

use crate::prims::batch_to_front;
use crate::transforms::{batch_jaxpr, dce_inner_jaxpr, jvp_jaxpr, transpose_jaxpr};

/// Params of `jit`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Jit {
    /// Name of the traced function.
    pub name: Arc<str>,
    /// What is called.
    pub jaxpr: JaxprRef,
    /// Which operands' memory may be taken over.
    pub donated_invars: Vec<bool>,
    /// Whether the call disappears in the trace around it.
    #[param(hidden)]
    pub inline: bool,
    /// Whether unused operands stay.
    pub keep_unused: bool,
}

impl Jit {
    /// A call of `jaxpr` under `name`, without donation.
    pub fn new(name: Arc<str>, jaxpr: JaxprRef) -> Jit {
        let donated_invars = vec![false; jaxpr.invars.len()];
        Jit { name, jaxpr, donated_invars, inline: false, keep_unused: false }
    }

    fn bind(&self, e: &dyn Emit, jaxpr: &JaxprRef, ins: &[Val]) -> Result<Vals> {
        e.bind(JIT, &Params::new(Jit::new(self.name.clone(), jaxpr.clone())), ins)
    }
}

struct JitPrim;

/// The primitive `jit`.
pub static JIT: PrimRef = PrimRef(&JitPrim);

/// Checks operands against the inputs of a jaxpr.
pub(super) fn check_call(name: &str, jaxpr: &JaxprRef, ins: &[Aval]) -> Result<()> {
    let wanted = jaxpr.in_avals();
    let fits = |(a, b): (&Aval, &Aval)| a.shape == b.shape && a.dtype == b.dtype;
    if wanted.len() != ins.len() || !wanted.iter().zip(ins).all(fits) {
        bail!(Type, "{name} was called with operands {ins:?}, its jaxpr takes {wanted:?}");
    }
    Ok(())
}

impl Prim for JitPrim {
    type Params = Jit;
    const NAME: &'static str = "jit";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Jit, ins: &[Aval]) -> Result<Avals> {
        check_call("jit", &p.jaxpr, ins)?;
        Ok(p.jaxpr.out_avals().into())
    }

    fn unprinted(&self, p: &Jit) -> Vec<&'static str> {
        let silent = [(!p.donated_invars.contains(&true), "donated_invars"), (!p.keep_unused, "keep_unused")];
        silent.into_iter().filter(|(is_silent, _)| *is_silent).map(|(_, name)| name).collect()
    }

    fn derivative(&self) -> Derivative<Jit> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<Jit> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Jit> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<Jit> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Jit, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Control(Control::Call(p.jaxpr.clone()))
    }

    fn hlo(&self) -> Hlo<Jit> {
        Hlo::Rule(|p, cx, ins, _| if p.inline { cx.inline(&p.jaxpr, ins) } else { cx.call(&p.name, &p.jaxpr, ins) })
    }

    // Covered by the tests of control flow: there is no sample without a traced function.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn effects(&self, p: &Jit) -> Effects {
        p.jaxpr.effects()
    }

    fn split(&self, p: &Jit, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
        let unknown_in: Vec<bool> = ins.iter().map(|val| split.is_unknown(val)).collect();
        let parts = split.split_jaxpr(&p.jaxpr, &unknown_in)?;
        let pick = |unknown: bool| {
            ins.iter().zip(&unknown_in).filter(move |(_, is)| **is == unknown).map(|(val, _)| val.clone())
        };
        let known_ins: Vec<Val> = pick(false).collect();
        let (known, residuals) = forward_inputs(&parts, &known_ins);
        let mut known_outs = p.bind(split.known(), &known, &known_ins)?.into_iter();
        let n_known = parts.unknown_out.iter().filter(|unknown| !**unknown).count();
        let known_results: Vec<Val> = known_outs.by_ref().take(n_known).collect();
        let residuals = residuals.into_iter().map(|known| known.or_else(|| known_outs.next()));
        let residuals = residuals.map(|residual| residual.expect("one value for each residual"));
        let unknown_ins: Vec<Val> = residuals.chain(pick(true)).collect();
        let mut unknown_results = p.bind(split.unknown(), &parts.unknown, &unknown_ins)?.into_iter();
        let mut known_results = known_results.into_iter();
        let merge = |unknown: &bool| if *unknown { unknown_results.next() } else { known_results.next() };
        Ok(Some(parts.unknown_out.iter().map(merge).map(|out| out.expect("as many results as marks")).collect()))
    }

    fn drop_unused(&self, p: &Jit, used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        let pruned = dce_inner_jaxpr(&p.jaxpr, used, &vec![false; p.jaxpr.invars.len()]);
        let mut new = Jit::new(p.name.clone(), pruned.jaxpr);
        let donated =
            p.donated_invars.iter().zip(&pruned.used_in).filter(|(_, used)| **used).map(|(donated, _)| *donated);
        new.donated_invars = donated.collect();
        Some((Params::new(new), pruned.used_in, used.to_vec()))
    }

    fn shares_names(&self) -> bool {
        true
    }
}

/// The known part without those residuals that are its inputs or numbers, and for each residual its value if so.
pub(super) fn forward_inputs(parts: &SplitJaxpr, known_ins: &[Val]) -> (JaxprRef, Vec<Option<Val>>) {
    let n_outs = parts.known.outs.len() - parts.n_residuals;
    let value = |out: &Atom| match out {
        Atom::Literal(scalar) => Some(Val::Literal(*scalar)),
        Atom::Var(var) => {
            let at = parts.known.invars.iter().position(|other| other == var)?;
            Some(known_ins[at].clone())
        }
    };
    let residuals: Vec<Option<Val>> = parts.known.outs[n_outs..].iter().map(value).collect();
    let computed = residuals.iter().enumerate().filter(|(_, value)| value.is_none()).map(|(i, _)| n_outs + i);
    let out_order: Vec<usize> = (0..n_outs).chain(computed).collect();
    let in_order: Vec<usize> = (0..known_ins.len()).collect();
    (JaxprRef::interned(parts.known.reordered(&in_order, &out_order)), residuals)
}

fn jvp(p: &Jit, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let nonzero: Vec<bool> = ts.iter().map(Option::is_some).collect();
    let derived = jvp_jaxpr(&p.jaxpr, &nonzero, &vec![false; p.jaxpr.outs.len()])?;
    let ins: Vec<Val> = xs.iter().cloned().chain(ts.iter().flatten().cloned()).collect();
    let mut outs = p.bind(e, &derived.jaxpr, &ins)?;
    let mut tangents = outs.drain(p.jaxpr.outs.len()..).collect::<Vec<_>>().into_iter();
    let tangents = derived.nonzero_out.iter().map(|&nonzero| if nonzero { tangents.next() } else { None }).collect();
    Ok((outs, tangents))
}

fn transpose(p: &Jit, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    transpose_call(&p.jaxpr, cts, ins, |transposed, args| p.bind(e, transposed, args))
}

/// The transpose of a call of `jaxpr`; `call` calls what it becomes.
pub(super) fn transpose_call(
    jaxpr: &JaxprRef,
    cts: &[Option<Val>],
    ins: &[Operand],
    call: impl FnOnce(&JaxprRef, &[Val]) -> Result<Vals>,
) -> Result<Tangents> {
    let linear: Vec<bool> = ins.iter().map(Operand::is_linear).collect();
    let nonzero: Vec<bool> = cts.iter().map(Option::is_some).collect();
    let transposed = transpose_jaxpr(jaxpr, &linear, &nonzero, false)?;
    let args: Vec<Val> = ins.iter().filter_map(|x| x.known().cloned()).chain(cts.iter().flatten().cloned()).collect();
    let mut outs = call(&transposed.jaxpr, &args)?.into_iter();
    let mut nonzero = transposed.nonzero.iter();
    let mut next = || if *nonzero.next().expect("one mark for each linear operand") { outs.next() } else { None };
    Ok(linear.iter().map(|&linear| if linear { next() } else { None }).collect())
}

fn batch(p: &Jit, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let (ins, batched) = batch_in_front(e, ins, dims, batch.size)?;
    let derived = batch_jaxpr(&p.jaxpr, batch, &batched, &vec![false; p.jaxpr.outs.len()])?;
    let outs = p.bind(e, &derived.jaxpr, &ins)?;
    Ok((outs, derived.batched_out.iter().map(|&batched| batched.then_some(0)).collect()))
}

/// Operands with their batch axes, where they have one, in front; and which have one.
pub(super) fn batch_in_front(
    e: &dyn Emit,
    ins: &[Val],
    dims: &[Option<usize>],
    size: usize,
) -> Result<(Vec<Val>, Vec<bool>)> {
    let move_one = |(val, dim): (&Val, &Option<usize>)| match dim {
        Some(_) => batch_to_front(e, val, *dim, size),
        None => Ok(val.clone()),
    };
    let moved: Result<Vec<Val>> = ins.iter().zip(dims).map(move_one).collect();
    Ok((moved?, dims.iter().map(Option::is_some).collect()))
}
