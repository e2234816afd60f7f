//! A call whose intermediate values are computed again for the reverse derivative instead of kept.
//!
//! remat2 : operands -> results of the jaxpr

use pullback_base::{Aval, DType, Result, Span};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Atom, Avals, Batching, Builder, Derivative, Effects, Emit, Eqn, Hlo, Jaxpr, JaxprRef, Operand, Params, Prim,
    PrimRef, Sample, Split, SplitJaxpr, Splits, Tangents, TraceId, Transpose, Val, Vals, VarId, eval_jaxpr,
};

use super::jit::{JIT, Jit, batch_in_front, check_call};
use super::shared::shared_rule;
use crate::prims::{REDUCE_PRECISION, ReducePrecision, V};
use crate::transforms::{batch_jaxpr, dce_inner_jaxpr, dce_jaxpr, jvp_jaxpr, transpose_jaxpr};

/// Which intermediate values are kept for the derivative.
pub trait SavePolicy: Send + Sync {
    /// Whether the results of this application are kept.
    fn saves(&self, prim: PrimRef, params: &Params, ins: &[Aval]) -> Result<bool>;
    /// How it prints.
    fn name(&self) -> String;
}
shared_rule!(PolicyRef SavePolicy, SavePolicy::name, "A shared policy.");

/// Params of `remat2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Checkpoint {
    /// What is called.
    pub jaxpr: JaxprRef,
    /// Whether this is the part that a derivative computes again.
    pub differentiated: bool,
    /// Which values to keep; none when there is no policy.
    pub policy: Option<PolicyRef>,
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
pub static CHECKPOINT: PrimRef = PrimRef(&CheckpointPrim);

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
    fn splits(&self) -> Splits<Checkpoint> {
        Splits::Inside
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
        let pruned = dce_inner_jaxpr(&p.jaxpr, used, &vec![false; p.jaxpr.invars.len()]);
        Some((Params::new(Checkpoint { jaxpr: pruned.jaxpr, ..p.clone() }), pruned.used_in, used.to_vec()))
    }
}

/// Known results are computed now, with those residuals that the policy keeps; the unknown part computes the other
/// residuals again from these and the known operands.
fn split_checkpoint(p: &Checkpoint, split: &dyn Split, ins: &[Val]) -> Result<Vals> {
    let unknown_in: Vec<bool> = ins.iter().map(|val| split.is_unknown(val)).collect();
    // A policy looks at operations, so calls must not hide them.
    let jaxpr = if p.policy.is_some() { inlined(&p.jaxpr)? } else { p.jaxpr.clone() };
    let parts = split.split_jaxpr(&jaxpr, &unknown_in)?;
    let pick = |want: bool| {
        ins.iter().zip(&unknown_in).filter(move |(_, unknown)| **unknown == want).map(|(val, _)| val.clone())
    };
    let known_ins: Vec<Val> = pick(false).collect();
    let n_known_outs = parts.known.outs.len() - parts.n_residuals;
    let kept = Kept::of(p, &parts)?;

    // The values are wanted as they are: no derivative will recompute them.
    let mut known_outs = kept.evaluate_known(&parts.known, n_known_outs, split.known(), &known_ins)?;
    let saved = known_outs.split_off(n_known_outs);
    let again = recomputation(&parts, &kept)?;
    let unknown_ins = saved.into_iter().chain(known_ins).chain(pick(true));
    let all_outs = vec![true; again.outs.len()];
    let pruned = dce_jaxpr(&again, &all_outs, &vec![false; again.invars.len()]);
    let unknown_ins: Vec<Val> =
        unknown_ins.zip(&pruned.used_in).filter(|(_, used)| **used).map(|(val, _)| val).collect();
    let differentiated = Checkpoint { differentiated: true, ..p.clone() };
    let mut unknown_outs = differentiated.bind(split.unknown(), pruned.jaxpr, &unknown_ins)?.into_iter();
    let mut known_outs = known_outs.into_iter();
    let merge = |unknown: &bool| if *unknown { unknown_outs.next() } else { known_outs.next() };
    Ok(parts.unknown_out.iter().map(merge).map(|out| out.expect("as many results as marks")).collect())
}

/// An emitter that binds what `jit` calls hold instead of the calls.
struct Inliner<'a>(&'a Builder);

impl Emit for Inliner<'_> {
    fn id(&self) -> TraceId {
        self.0.id()
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        match params.get::<Jit>() {
            Some(call) if prim == JIT => Ok(eval_jaxpr(self, &call.jaxpr, ins)?.into()),
            _ => self.0.bind(prim, params, ins),
        }
    }
}

fn inlined(jaxpr: &JaxprRef) -> Result<JaxprRef> {
    if !jaxpr.eqns.iter().any(|eqn| eqn.prim == JIT) {
        return Ok(jaxpr.clone());
    }
    let b = Builder::new();
    let ins: Vec<Val> = jaxpr.in_avals().into_iter().map(|aval| b.input(aval)).collect();
    let outs = eval_jaxpr(&Inliner(&b), jaxpr, &ins)?;
    Ok(JaxprRef::interned(b.finish(&outs, None).0))
}

/// Which values of the known part are kept, and which of its equations are done again.
struct Kept {
    vars: Vec<VarId>,
    again: Vec<bool>,
}

impl Kept {
    /// From the residuals back to what the policy keeps, or to the operands.
    fn of(p: &Checkpoint, parts: &SplitJaxpr) -> Result<Kept> {
        let known = &parts.known;
        let mut wanted = vec![false; known.vars.len()];
        for out in &known.outs[known.outs.len() - parts.n_residuals..] {
            mark(&mut wanted, *out);
        }
        let (mut vars, mut again) = (vec![], vec![false; known.eqns.len()]);
        for (i, eqn) in known.eqns.iter().enumerate().rev() {
            let needed: Vec<VarId> = eqn.outs().filter(|var| wanted[var.index()]).collect();
            if needed.is_empty() {
                continue;
            }
            if saves(p, known, eqn)? {
                vars.extend(needed.into_iter().rev());
                continue;
            }
            again[i] = true;
            eqn.ins.iter().for_each(|&atom| mark(&mut wanted, atom));
        }
        vars.reverse();
        Ok(Kept { vars, again })
    }

    /// Results of the known part, then the kept values. One that the known part goes on to use is rounded to its own
    /// format, so that nobody takes what a fusion computes with more digits for the value that was kept.
    fn evaluate_known(&self, known: &Jaxpr, n_outs: usize, e: &dyn Emit, ins: &[Val]) -> Result<Vec<Val>> {
        let order: Vec<usize> = (0..known.invars.len()).collect();
        let mut whole = known.reordered(&order, &(0..n_outs).collect::<Vec<_>>());
        whole.outs.extend(self.vars.iter().map(|&var| Atom::Var(var)));
        let whole = dce_jaxpr(&JaxprRef::new(whole), &vec![true; n_outs + self.vars.len()], &vec![true; order.len()]);
        let whole = whole.jaxpr;
        let mut used = vec![false; whole.vars.len()];
        whole.eqns.iter().flat_map(|eqn| &eqn.ins).for_each(|&atom| mark(&mut used, atom));
        let is_kept = |var: VarId| whole.outs[n_outs..].contains(&Atom::Var(var));
        let mut env: Vec<Option<Val>> = vec![None; whole.vars.len()];
        for (var, array) in whole.constvars.iter().zip(&whole.consts) {
            env[var.index()] = Some(Val::Array(array.clone()));
        }
        for (var, val) in whole.invars.iter().zip(ins) {
            env[var.index()] = Some(val.clone());
        }
        let read = |env: &[Option<Val>], atom: Atom| match atom {
            Atom::Literal(scalar) => Val::Literal(scalar),
            Atom::Var(var) => env[var.index()].clone().expect("equations come after those they use"),
        };
        let around = Span::current().names();
        for eqn in &whole.eqns {
            let ins: Vals = eqn.ins.iter().map(|&atom| read(&env, atom)).collect();
            let outs = eqn.span.under(around).scope(|| e.bind(eqn.prim, &eqn.params, &ins))?;
            for (var, out) in eqn.outs().zip(outs) {
                let rounded = used[var.index()] && is_kept(var);
                env[var.index()] = Some(if rounded { in_own_format(e, &out)? } else { out });
            }
        }
        Ok(whole.outs.iter().map(|&out| read(&env, out)).collect())
    }
}

fn mark(marks: &mut [bool], atom: Atom) {
    if let Atom::Var(var) = atom {
        marks[var.index()] = true;
    }
}

fn saves(p: &Checkpoint, jaxpr: &Jaxpr, eqn: &Eqn) -> Result<bool> {
    let Some(policy) = &p.policy else { return Ok(false) };
    let avals: Vec<Aval> = eqn.ins.iter().map(|&atom| jaxpr.aval(atom)).collect();
    policy.0.saves(eqn.prim, &eqn.params, &avals)
}

fn in_own_format(e: &dyn Emit, val: &Val) -> Result<Val> {
    let (exponent_bits, mantissa_bits) = match val.aval().dtype {
        DType::F64 => (11, 52),
        DType::F32 => (8, 23),
        DType::F16 => (5, 10),
        DType::BF16 => (8, 7),
        _ => return Ok(val.clone()),
    };
    let params = Params::new(ReducePrecision { exponent_bits, mantissa_bits });
    V::new(e, val).bind(REDUCE_PRECISION, &params, &[]).done()
}

/// The unknown part, from the kept values, the known operands and the unknown ones.
fn recomputation(parts: &SplitJaxpr, kept: &Kept) -> Result<JaxprRef> {
    let known = &parts.known;
    let mut again = Jaxpr::clone(known);
    let mut marks = kept.again.iter();
    again.eqns.retain(|_| *marks.next().expect("one mark for each equation"));
    again.outs.drain(..known.outs.len() - parts.n_residuals);
    again.invars.splice(0..0, kept.vars.iter().copied());
    let b = Builder::new();
    let known_ins: Vec<Val> = again.in_avals().into_iter().map(|aval| b.input(aval)).collect();
    let unknown_avals = parts.unknown.in_avals().split_off(parts.n_residuals);
    let unknown_ins: Vec<Val> = unknown_avals.into_iter().map(|aval| b.input(aval)).collect();
    let residuals = eval_jaxpr(&b, &again, &known_ins)?;
    let outs = eval_jaxpr(&b, &parts.unknown, &[residuals, unknown_ins].concat())?;
    Ok(JaxprRef::interned(b.finish(&outs, None).0))
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
