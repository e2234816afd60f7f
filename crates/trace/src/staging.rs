//! Tracing a function to a jaxpr, and calling jaxprs.

use std::sync::Arc;

use pullback_base::{Aval, Result};
use pullback_core::control::{JIT, Jit};
use pullback_ir::{Builder, DebugInfo, Jaxpr, JaxprRef, Params, Val, Vals, VarId};

use crate::current::{bind, check_returned, with_current};

/// A function traced at given avals.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The jaxpr: captured inputs first, then the arguments.
    pub jaxpr: JaxprRef,
    /// Outer tracers that the function used; a trace that captured any must not be cached.
    pub captured: Vec<Val>,
}

impl Traced {
    /// The jaxpr without consts: known arrays become captured values, which are its first inputs.
    #[must_use]
    pub fn hoisted(self) -> Traced {
        if self.jaxpr.consts.is_empty() {
            return self;
        }
        let mut jaxpr = Jaxpr::clone(&self.jaxpr);
        let vars = std::mem::take(&mut jaxpr.constvars);
        let arrays = std::mem::take(&mut jaxpr.consts).into_iter().map(Val::Array);
        jaxpr.invars.splice(0..0, vars);
        let captured = arrays.chain(self.captured).collect();
        Traced { jaxpr: JaxprRef::interned(jaxpr), captured }
    }
}

/// Runs `f` on tracers of the given avals and records what it does.
///
/// # Errors
/// What `f` raises.
pub fn trace_to_jaxpr(
    in_avals: &[Aval],
    f: &mut dyn FnMut(&[Val]) -> Result<(Vec<Val>, Option<DebugInfo>)>,
) -> Result<Traced> {
    let builder = Arc::new(Builder::new());
    let args: Vec<Val> = in_avals.iter().map(|&aval| builder.input(aval)).collect();
    let (outs, debug) = with_current(builder.clone(), || f(&args))?;
    let id = pullback_ir::Emit::id(&*builder);
    outs.iter().filter(|out| out.tracer_of(id).is_none()).try_for_each(check_returned)?;
    let (jaxpr, captured) = builder.finish(&outs, debug);
    Ok(Traced { jaxpr: JaxprRef::interned(jaxpr), captured })
}

/// Brings branches that captured different outer values to one list of captured values: each takes them all.
pub fn unify_captures(branches: &[Traced]) -> (Vec<JaxprRef>, Vec<Val>) {
    let same = |a: &Val, b: &Val| match (a, b) {
        (Val::Tracer(a), Val::Tracer(b)) => a.trace == b.trace && a.identity() == b.identity(),
        (Val::Array(a), Val::Array(b)) => a.is_same(b),
        _ => false,
    };
    let mut union: Vec<Val> = vec![];
    for val in branches.iter().flat_map(|branch| &branch.captured) {
        if !union.iter().any(|known| same(known, val)) {
            union.push(val.clone());
        }
    }
    let widen = |branch: &Traced| {
        let mut jaxpr = Jaxpr::clone(&branch.jaxpr);
        let rest = jaxpr.invars.split_off(branch.captured.len());
        let own = std::mem::take(&mut jaxpr.invars);
        for val in &union {
            let known = branch.captured.iter().position(|other| same(other, val)).map(|at| own[at]);
            let var = known.unwrap_or_else(|| {
                jaxpr.vars.push(val.aval());
                VarId(jaxpr.vars.len() as u32 - 1)
            });
            jaxpr.invars.push(var);
        }
        jaxpr.invars.extend(rest);
        JaxprRef::interned(jaxpr)
    };
    (branches.iter().map(widen).collect(), union)
}

/// Calls a jaxpr as a `jit` equation on the current emitter.
///
/// # Errors
/// What the run or a rule raises.
pub fn call_jaxpr(name: Arc<str>, jaxpr: &JaxprRef, args: &[Val]) -> Result<Vals> {
    bind(JIT, &Params::new(Jit::new(name, jaxpr.clone())), args)
}
