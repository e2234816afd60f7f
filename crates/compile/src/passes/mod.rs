//! Passes from jaxpr to jaxpr, before loops exist: each takes a jaxpr and gives an equivalent one.
//!
//! Results keep their shapes and dtypes; weak types are of no further use and may be lost. No pass fuses, orders or
//! places anything.

mod cse;
mod inline;
mod late;
mod rules;
mod structure;

use pullback_base::Result;
use pullback_ir::{Atom, Builder, Eqn, Jaxpr, JaxprRef, Val, Vals};

use crate::Options;

/// All passes, in their order.
pub(crate) fn simplify(jaxpr: &Jaxpr, options: &Options) -> Result<JaxprRef> {
    jaxpr.vars.iter().try_for_each(|aval| aval.check_extent())?;
    let inlined = inline::inline(jaxpr)?;
    let reduced = rules::apply(&inlined, options)?;
    let unique = late::postpone(cse::share_equal(&reduced));
    let (wanted, keep) = (vec![true; unique.outs.len()], vec![true; unique.invars.len()]);
    Ok(pullback_core::transforms::dce_jaxpr(&JaxprRef::new(unique), &wanted, &keep).jaxpr)
}

/// The walk that copies a jaxpr equation by equation into a new one.
struct Copier {
    builder: Builder,
    env: Vec<Option<Val>>,
}

impl Copier {
    fn new(jaxpr: &Jaxpr) -> Copier {
        let builder = Builder::new();
        let mut env: Vec<Option<Val>> = vec![None; jaxpr.vars.len()];
        for &var in &jaxpr.invars {
            env[var.index()] = Some(builder.input(jaxpr.vars[var.index()]));
        }
        for (var, array) in jaxpr.constvars.iter().zip(&jaxpr.consts) {
            env[var.index()] = Some(Val::Array(array.clone()));
        }
        Copier { builder, env }
    }

    fn read(&self, atom: Atom) -> Val {
        match atom {
            Atom::Literal(scalar) => Val::Literal(scalar),
            Atom::Var(var) => self.env[var.index()].clone().expect("equations come after those they use"),
        }
    }

    fn operands(&self, eqn: &Eqn) -> Vals {
        eqn.ins.iter().map(|&atom| self.read(atom)).collect()
    }

    fn define(&mut self, eqn: &Eqn, outs: impl IntoIterator<Item = Val>) {
        for (var, out) in eqn.outs().zip(outs) {
            self.env[var.index()] = Some(out);
        }
    }

    /// The equation as it is, on the copied operands.
    fn copy(&self, jaxpr: &Jaxpr, eqn: &Eqn, ins: &[Val]) -> Vals {
        eqn.span.scope(|| self.builder.record(eqn.prim, &eqn.params, ins, jaxpr.eqn_out_avals(eqn)))
    }

    fn finish(self, jaxpr: &Jaxpr) -> Jaxpr {
        let outs: Vec<Val> = jaxpr.outs.iter().map(|&out| self.read(out)).collect();
        let (new, captured) = self.builder.finish(&outs, None);
        debug_assert!(captured.is_empty(), "a jaxpr refers to nothing outside");
        new
    }
}
