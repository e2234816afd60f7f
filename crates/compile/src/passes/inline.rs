//! Puts the bodies of calls in the place of the calls, and decompositions in the place of what they decompose.
//!
//! Afterwards every equation has a loop form, a kernel, or control flow. Constants of rank 0 become literals, so that
//! rules see them.

use pullback_base::{Aval, Result, bail};
use pullback_ir::lower::{Control, CpuForm, is_computable};
use pullback_ir::{Atom, Builder, Emit, Jaxpr, Params, PrimRef, TraceId, Val, Vals, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The jaxpr without calls and without primitives that are defined by others.
pub(super) fn inline(jaxpr: &Jaxpr) -> Result<Jaxpr> {
    let inline = Inline { builder: Builder::new() };
    let args: Vec<Val> = jaxpr.in_avals().into_iter().map(|aval| inline.builder.input(aval)).collect();
    let outs = inline.walk(jaxpr, &args)?;
    Ok(inline.builder.finish(&outs, None).0)
}

struct Inline {
    builder: Builder,
}

impl Inline {
    fn walk(&self, jaxpr: &Jaxpr, args: &[Val]) -> Result<Vec<Val>> {
        let mut env: Vec<Option<Val>> = vec![None; jaxpr.vars.len()];
        for (var, array) in jaxpr.constvars.iter().zip(&jaxpr.consts) {
            let is_scalar = array.aval().rank() == 0 && is_computable(array.aval());
            let weak = array.aval().weak_type;
            let val = if is_scalar { Val::Literal(array.element(0)?.weak(weak)) } else { Val::Array(array.clone()) };
            env[var.index()] = Some(val);
        }
        for (var, arg) in jaxpr.invars.iter().zip(args) {
            env[var.index()] = Some(arg.clone());
        }
        let read = |env: &[Option<Val>], atom: Atom| match atom {
            Atom::Literal(scalar) => Val::Literal(scalar),
            Atom::Var(var) => env[var.index()].clone().expect("equations come after those they use"),
        };
        for eqn in &jaxpr.eqns {
            let ins: Vals = eqn.ins.iter().map(|&atom| read(&env, atom)).collect();
            let outs = eqn.span.scope(|| self.apply(eqn.prim, &eqn.params, &ins, jaxpr.eqn_out_avals(eqn)))?;
            for (var, out) in eqn.outs().zip(outs) {
                env[var.index()] = Some(out);
            }
        }
        Ok(jaxpr.outs.iter().map(|&out| read(&env, out)).collect())
    }

    fn apply(&self, prim: PrimRef, params: &Params, ins: &[Val], outs: &[Aval]) -> Result<Vals> {
        let in_avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
        let results = match prim.cpu(params, &in_avals, outs) {
            CpuForm::Control(Control::Call(inner)) => self.walk(&inner, ins)?.into(),
            CpuForm::Decompose(decompose) => decompose(self, ins)?,
            CpuForm::Missing(reason) => {
                bail!(NotImplemented, "{} on the CPU is not implemented: {reason}", prim.name())
            }
            CpuForm::Scalar(_)
            | CpuForm::Element(_)
            | CpuForm::Alias
            | CpuForm::Pieces(_)
            | CpuForm::Reduce { .. }
            | CpuForm::ArgReduce { .. }
            | CpuForm::Cumulative { .. }
            | CpuForm::Contract(_)
            | CpuForm::Scatter { .. }
            | CpuForm::Sort { .. }
            | CpuForm::Host(_)
            | CpuForm::Body(_)
            | CpuForm::Control(Control::Switch(_)) => return Ok(self.builder.record(prim, params, ins, outs)),
            CpuForm::Control(Control::Scan { body, n_consts, n_carry, .. }) => {
                let results = self.builder.record(prim, params, ins, outs);
                return Ok(past_loop(results, &body, n_consts, &ins[n_consts..n_consts + n_carry]));
            }
            CpuForm::Control(Control::While { n_cond_consts, body, n_body_consts, .. }) => {
                let results = self.builder.record(prim, params, ins, outs);
                return Ok(past_loop(results, &body, n_body_consts, &ins[n_cond_consts + n_body_consts..]));
            }
        };
        check_results(prim, &results, outs)?;
        Ok(results)
    }
}

/// The results of a loop, where a carried value that the body hands on unchanged is its initial value: whoever reads it
/// reads that one, and its memory is known to be in use.
fn past_loop(mut results: Vals, body: &Jaxpr, n_consts: usize, inits: &[Val]) -> Vals {
    let handed_on = handed_on(body);
    for (at, init) in inits.iter().enumerate() {
        if handed_on[at] == Some(n_consts + at) {
            results[at] = init.clone();
        }
    }
    results
}

/// For each result of a jaxpr, the input that it is, as far as that is seen by looking through calls.
fn handed_on(jaxpr: &Jaxpr) -> Vec<Option<usize>> {
    let mut inputs: FxHashMap<VarId, Option<usize>> = FxHashMap::default();
    inputs.extend(jaxpr.invars.iter().enumerate().map(|(number, &var)| (var, Some(number))));
    let results: FxHashSet<VarId> = jaxpr.outs.iter().filter_map(|out| out.var()).collect();
    let makers = jaxpr.eqns.iter().filter(|eqn| eqn.outs().any(|var| results.contains(&var)));
    for eqn in makers {
        let avals: Vec<Aval> = eqn.ins.iter().map(|&atom| jaxpr.aval(atom)).collect();
        let CpuForm::Control(Control::Call(inner)) = eqn.prim.cpu(&eqn.params, &avals, jaxpr.eqn_out_avals(eqn)) else {
            continue;
        };
        for (var, from) in eqn.outs().zip(handed_on(&inner)) {
            let operand = from.and_then(|number| eqn.ins[number].var());
            inputs.insert(var, operand.and_then(|operand| inputs.get(&operand).copied().flatten()));
        }
    }
    let input = |out: &Atom| out.var().and_then(|var| inputs.get(&var).copied().flatten());
    jaxpr.outs.iter().map(input).collect()
}

fn check_results(prim: PrimRef, results: &[Val], outs: &[Aval]) -> Result<()> {
    let fits = |(result, out): (&Val, &Aval)| {
        let aval = result.aval();
        aval.shape == out.shape && aval.dtype == out.dtype
    };
    if results.len() != outs.len() || !results.iter().zip(outs).all(fits) {
        let got: Vec<Aval> = results.iter().map(Val::aval).collect();
        bail!(Internal, "what {} stands for gives {got:?}, not {outs:?}", prim.name());
    }
    Ok(())
}

impl Emit for Inline {
    fn id(&self) -> TraceId {
        self.builder.id()
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        let in_avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
        let outs = prim.abstract_eval(params, &in_avals)?;
        self.apply(prim, params, ins, &outs)
    }
}
