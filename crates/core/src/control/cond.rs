//! A choice between jaxprs by an index.
//!
//! cond : index operands -> results of the chosen branch        index int32, clamped; false is 0, true is 1
//! Under batching with an index for each example, all branches run and their results are selected.

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue};
use pullback_ir::lower::{Control, CpuForm};
use pullback_ir::{
    Atom, Avals, Batch, BatchDims, Batching, Builder, Derivative, Effects, Emit, Eqn, Hlo, Jaxpr, JaxprRef, Operand,
    Params, Prim, PrimRef, Sample, Split, SplitJaxpr, Splits, Tangents, Transpose, Val, Vals, Varying, eval_jaxpr,
    not_linear,
};
use smallvec::smallvec;

use super::host_call::IO_CALLBACK;
use super::jit::{batch_in_front, check_call, forward_inputs};
use super::while_loop::choose;
use crate::prims::{SELECT_N, V, batch_to_front, zeros};
use crate::transforms::{batch_jaxpr, dce_inner_jaxpr, jvp_jaxpr, split_jaxpr_forced, transpose_jaxpr};

/// Params of `cond`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Cond {
    /// The branches; all take the same operands and give the same types.
    pub branches: Vec<JaxprRef>,
    /// Always `None` until branches can depend on the platform.
    #[param(hidden)]
    pub branches_platforms: Option<bool>,
}

impl Cond {
    /// A choice between branches.
    pub fn new(branches: Vec<JaxprRef>) -> Cond {
        Cond { branches, branches_platforms: None }
    }

    fn bind(branches: Vec<JaxprRef>, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
        e.bind(COND, &Params::new(Cond::new(branches)), ins)
    }

    fn n_outs(&self) -> usize {
        self.branches[0].outs.len()
    }
}

struct CondPrim;

/// The primitive `cond`.
pub static COND: PrimRef = PrimRef(&CondPrim);

fn union(all: &[Vec<bool>]) -> Vec<bool> {
    (0..all[0].len()).map(|i| all.iter().any(|marks| marks[i])).collect()
}

impl Prim for CondPrim {
    type Params = Cond;
    const NAME: &'static str = "cond";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Cond, ins: &[Aval]) -> Result<Avals> {
        if p.branches.is_empty() || ins.is_empty() || ins[0].rank() > 0 || ins[0].dtype != DType::I32 {
            bail!(Type, "cond takes at least one branch and a scalar int32 index, got {ins:?}");
        }
        let outs = p.branches[0].out_avals();
        let same = |(a, b): (&Aval, &Aval)| a.shape == b.shape && a.dtype == b.dtype;
        for branch in &p.branches {
            check_call("cond branch", branch, &ins[1..])?;
            let others = branch.out_avals();
            if others.len() != outs.len() || !others.iter().zip(&outs).all(same) {
                bail!(Type, "cond branches must have equal output types but they differ: {outs:?} and {others:?}.");
            }
        }
        Ok(outs.into())
    }

    fn derivative(&self) -> Derivative<Cond> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<Cond> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<Cond> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<Cond> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &Cond, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Control(Control::Switch(p.branches.clone()))
    }

    fn hlo(&self) -> Hlo<Cond> {
        // The last branch runs for an index that is none, where the CPU clamps; whoever makes a switch clamps first.
        Hlo::Rule(|p, cx, ins, outs| {
            let operands = &ins[1..];
            let mut bodies: Vec<_> = p
                .branches
                .iter()
                .map(|branch| move |cx: &mut dyn HloCx, _: &[HloValue]| cx.inline(branch, operands))
                .collect();
            let mut regions: Vec<HloRegion<'_>> =
                bodies.iter_mut().map(|body| HloRegion { args: vec![], body }).collect();
            cx.generic("stablehlo.case", "", &ins[..1], &mut regions, outs)
        })
    }

    // Covered by the tests of control flow: there is no sample without traced branches.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    // Which branch or how many rounds may differ, so all results may.
    fn varying(&self, _p: &Cond) -> Varying {
        Varying::Everywhere
    }

    fn effects(&self, p: &Cond) -> Effects {
        p.branches.iter().fold(Effects::NONE, |all, branch| all.union(branch.effects()))
    }

    fn split(&self, p: &Cond, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
        if split.is_unknown(&ins[0]) { Ok(None) } else { split_cond(p, split, ins).map(Some) }
    }

    fn drop_unused(&self, p: &Cond, used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        let none = vec![false; p.branches[0].invars.len()];
        let used_in =
            union(&p.branches.iter().map(|branch| dce_inner_jaxpr(branch, used, &none).used_in).collect::<Vec<_>>());
        // With the union kept, each branch has the same inputs.
        let branches = p.branches.iter().map(|branch| dce_inner_jaxpr(branch, used, &used_in).jaxpr).collect();
        let kept = std::iter::once(true).chain(used_in).collect();
        Some((Params::new(Cond::new(branches)), kept, used.to_vec()))
    }
}

fn jvp(p: &Cond, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let nonzero_in: Vec<bool> = ts[1..].iter().map(Option::is_some).collect();
    let derive = |force: &[bool]| -> Result<Vec<_>> {
        p.branches.iter().map(|branch| jvp_jaxpr(branch, &nonzero_in, force)).collect()
    };
    let marks: Vec<Vec<bool>> =
        derive(&vec![false; p.n_outs()])?.into_iter().map(|derived| derived.nonzero_out).collect();
    let nonzero_out = union(&marks);
    let branches = derive(&nonzero_out)?.into_iter().map(|derived| derived.jaxpr).collect();
    let ins: Vec<Val> = xs.iter().cloned().chain(ts[1..].iter().flatten().cloned()).collect();
    let mut outs = Cond::bind(branches, e, &ins)?;
    let mut dots = outs.drain(p.n_outs()..).collect::<Vec<_>>().into_iter();
    let tangents = nonzero_out.iter().map(|&nonzero| if nonzero { dots.next() } else { None }).collect();
    Ok((outs, tangents))
}

/// Branches leave different residuals: the unknown choice takes those of all branches. Those that are operands already
/// are passed on; each known branch computes its others, and gives zeros for those that other branches compute.
fn split_cond(p: &Cond, split: &dyn Split, ins: &[Val]) -> Result<Vals> {
    let unknown_in: Vec<bool> = ins[1..].iter().map(|val| split.is_unknown(val)).collect();
    let (parts, unknown_out) = split_branches(p, &unknown_in)?;
    let n_known_outs = unknown_out.iter().filter(|unknown| !**unknown).count();
    let residuals = avals_from(parts.iter().map(|part| &part.known), n_known_outs);
    let (unknown_operands, known_operands): (Vec<Val>, Vec<Val>) =
        ins[1..].iter().cloned().partition(|val| split.is_unknown(val));
    let (knowns, forwarded): (Vec<JaxprRef>, Vec<Vec<Option<Val>>>) =
        parts.iter().map(|part| forward_inputs(part, &known_operands)).unzip();
    let computed = avals_from(knowns.iter(), n_known_outs);

    let known: Result<Vec<JaxprRef>> =
        (0..parts.len()).map(|i| padded_known(&knowns[i], n_known_outs, &computed, i)).collect();
    let mut known_outs = Cond::bind(known?, split.known(), &[&ins[..1], &known_operands].concat())?;
    let mut computed = known_outs.drain(n_known_outs..).collect::<Vec<_>>().into_iter();
    let saved = forwarded.into_iter().flatten().map(|value| value.or_else(|| computed.next()));
    let saved: Vec<Val> = saved.map(|residual| residual.expect("one value for each residual")).collect();
    let unknown = (0..parts.len()).map(|i| padded_unknown(&parts[i].unknown, &residuals, i)).collect();
    let unknown_ins = [&ins[..1], &saved, &unknown_operands].concat();
    let mut unknown_outs = Cond::bind(unknown, split.unknown(), &unknown_ins)?.into_iter();
    let mut known_outs = known_outs.into_iter();
    let merge = |unknown: &bool| if *unknown { unknown_outs.next() } else { known_outs.next() };
    Ok(unknown_out.iter().map(merge).map(|out| out.expect("as many results as marks")).collect())
}

/// The branches split alike, and which results are unknown in any of them.
fn split_branches(p: &Cond, unknown_in: &[bool]) -> Result<(Vec<SplitJaxpr>, Vec<bool>)> {
    let divide = |force: &[bool]| -> Result<Vec<SplitJaxpr>> {
        p.branches.iter().map(|branch| split_jaxpr_forced(branch, unknown_in, force)).collect()
    };
    let marks: Vec<Vec<bool>> = divide(&vec![false; p.n_outs()])?.into_iter().map(|parts| parts.unknown_out).collect();
    let unknown_out = union(&marks);
    Ok((divide(&unknown_out)?, unknown_out))
}

/// The types of the results of each jaxpr from the `first` on.
fn avals_from<'a>(jaxprs: impl Iterator<Item = &'a JaxprRef>, first: usize) -> Vec<Vec<Aval>> {
    jaxprs.map(|jaxpr| jaxpr.out_avals().split_off(first)).collect()
}

fn padded_known(known: &JaxprRef, n_outs: usize, residuals: &[Vec<Aval>], branch: usize) -> Result<JaxprRef> {
    let b = Builder::new();
    let args: Vec<Val> = known.in_avals().into_iter().map(|aval| b.input(aval)).collect();
    let mut outs = eval_jaxpr(&b, known, &args)?;
    let own = outs.split_off(n_outs);
    for (i, avals) in residuals.iter().enumerate() {
        if i == branch {
            outs.extend(own.iter().cloned());
            continue;
        }
        for &aval in avals {
            outs.push(zeros(&b, aval)?);
        }
    }
    Ok(JaxprRef::interned(b.finish(&outs, None).0))
}

fn padded_unknown(unknown: &JaxprRef, residuals: &[Vec<Aval>], branch: usize) -> JaxprRef {
    let n_before: usize = residuals[..branch].iter().map(Vec::len).sum();
    let n_all: usize = residuals.iter().map(Vec::len).sum();
    let n_own = residuals[branch].len();
    let mut wider = pullback_ir::Jaxpr::clone(unknown);
    let rest = wider.invars.split_off(n_own);
    let own = std::mem::take(&mut wider.invars);
    let others: Vec<Aval> =
        residuals.iter().enumerate().filter(|(i, _)| *i != branch).flat_map(|(_, avals)| avals.clone()).collect();
    let mut fresh = vec![];
    for aval in others {
        wider.vars.push(aval);
        fresh.push(pullback_ir::VarId(wider.vars.len() as u32 - 1));
    }
    let after = fresh.split_off(n_before);
    wider.invars = [fresh, own, after, rest].concat();
    debug_assert!(wider.invars.len() >= n_all);
    JaxprRef::interned(wider)
}

fn transpose(p: &Cond, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(index) = ins[0].known() else { return Err(not_linear("cond", " in its index")) };
    let linear: Vec<bool> = ins[1..].iter().map(Operand::is_linear).collect();
    let nonzero: Vec<bool> = cts.iter().map(Option::is_some).collect();
    let transposed: Result<Vec<JaxprRef>> =
        (p.branches.iter()).map(|branch| Ok(transpose_jaxpr(branch, &linear, &nonzero, true)?.jaxpr)).collect();
    let known = ins[1..].iter().filter_map(|x| x.known().cloned());
    let args: Vec<Val> = std::iter::once(index.clone()).chain(known).chain(cts.iter().flatten().cloned()).collect();
    let mut outs = Cond::bind(transposed?, e, &args)?.into_iter();
    let cts = linear.iter().map(|&linear| if linear { outs.next() } else { None });
    Ok(std::iter::once(None).chain(cts).collect())
}

fn batch(p: &Cond, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    if dims[0].is_some() {
        return batch_by_selection(p, e, batch, ins, dims);
    }
    let (operands, batched) = batch_in_front(e, &ins[1..], &dims[1..], batch.size)?;
    let derive = |force: &[bool]| -> Result<Vec<_>> {
        p.branches.iter().map(|branch| batch_jaxpr(branch, batch, &batched, force)).collect()
    };
    let marks: Vec<Vec<bool>> =
        derive(&vec![false; p.n_outs()])?.into_iter().map(|derived| derived.batched_out).collect();
    let batched_out = union(&marks);
    let branches = derive(&batched_out)?.into_iter().map(|derived| derived.jaxpr).collect();
    let outs = Cond::bind(branches, e, &[&[ins[0].clone()], &operands[..]].concat())?;
    Ok((outs, batched_out.iter().map(|&batched| batched.then_some(0)).collect()))
}

/// Whether a program calls a function of the host that may change things. Prints may run for examples that do not take
/// their branch; such calls may not.
fn calls_io(jaxpr: &Jaxpr) -> bool {
    let calls = |eqn: &Eqn| eqn.prim == IO_CALLBACK || eqn.params.jaxprs().iter().any(|inner| calls_io(inner));
    jaxpr.eqns.iter().any(|eqn| !eqn.effects().is_none() && calls(eqn))
}

/// An index for each example: every branch runs for all of them, and results are selected. The index is in range here:
/// who binds a choice has moved it there.
fn batch_by_selection(
    p: &Cond,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    if p.branches.iter().any(|branch| calls_io(branch)) {
        bail!(NotImplemented, "IO effect not supported in vmap-of-cond with a batched predicate.");
    }
    let index = batch_to_front(e, &ins[0], dims[0], batch.size)?;
    let mut operands = vec![];
    for (val, &dim) in ins[1..].iter().zip(&dims[1..]) {
        operands.push(batch_to_front(e, val, dim, batch.size)?);
    }
    let all = vec![true; p.n_outs()];
    let mut results = vec![];
    for (number, branch) in p.branches.iter().enumerate() {
        let own = constant_elsewhere(e, &index, number, &operands)?;
        let derived = batch_jaxpr(branch, batch, &vec![true; own.len()], &all)?;
        results.push(eval_jaxpr(e, &derived.jaxpr, &own)?);
    }
    let (mut outs, mut out_dims): (Vals, BatchDims) = (smallvec![], smallvec![]);
    for i in 0..p.n_outs() {
        if let Some(operand) = passed_through(p, i) {
            // Every branch gives this operand, so no example needs a choice, and it may be one for all.
            outs.push(ins[1 + operand].clone());
            out_dims.push(dims[1 + operand]);
            continue;
        }
        let cases: Vec<Val> = results.iter().map(|result| result[i].clone()).collect();
        outs.push(select_cases(e, &index, &cases)?);
        out_dims.push(Some(0));
    }
    Ok((outs, out_dims))
}

/// The operand that all branches give as the result numbered `at`, if they do.
fn passed_through(p: &Cond, at: usize) -> Option<usize> {
    let of = |branch: &JaxprRef| branch.invars.iter().position(|&var| branch.outs[at] == Atom::Var(var));
    let first = of(&p.branches[0])?;
    p.branches.iter().all(|branch| of(branch) == Some(first)).then_some(first)
}

/// Operands of one branch, constant to derivatives for the examples that take another: a branch that is not taken may be
/// infinite where it is, and zero times that is no number.
fn constant_elsewhere(e: &dyn Emit, index: &Val, branch: usize, operands: &[Val]) -> Result<Vec<Val>> {
    let v = V::new(e, index);
    let is_taken = v.eq(&v.number(branch as f64)).done()?;
    let own = |x: &Val| choose(e, &is_taken, &V::new(e, x).stop_gradient().done()?, x);
    operands.iter().map(own).collect()
}

fn select_cases(e: &dyn Emit, index: &Val, cases: &[Val]) -> Result<Val> {
    if cases.len() == 1 {
        return Ok(cases[0].clone());
    }
    let shape = &cases[0].aval().data().shape;
    let v = V::new(e, index);
    let which = if shape.len() == 1 { index.clone() } else { v.broadcast_in_dim(shape, &[0]).done()? };
    let ins: Vec<Val> = std::iter::once(which).chain(cases.iter().cloned()).collect();
    Ok(e.bind(SELECT_N, &Params::NONE, &ins)?.swap_remove(0))
}
