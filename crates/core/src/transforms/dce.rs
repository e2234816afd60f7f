//! Dead code elimination: equations without effects whose results nobody uses go away, also inside inner jaxprs.

use pullback_ir::{Atom, Eqn, Jaxpr, JaxprRef, VarId};

use super::cache::Cache;

/// A jaxpr without dead code.
#[derive(Clone, Debug)]
pub struct PrunedJaxpr {
    /// From the used inputs to the wanted results.
    pub jaxpr: JaxprRef,
    /// Which inputs are used.
    pub used_in: Vec<bool>,
}

/// A jaxpr, which of its results are wanted, and which inputs stay.
type Key = (u64, Box<[bool]>, Box<[bool]>);

static INNER: Cache<Key, PrunedJaxpr> = Cache::new();

/// As [`dce_jaxpr`], for the bodies and branches of an equation: remembered, as an equation asks several times, and so
/// would each of those inside of it.
pub(crate) fn dce_inner_jaxpr(jaxpr: &JaxprRef, wanted: &[bool], keep_in: &[bool]) -> PrunedJaxpr {
    let key = (jaxpr.id(), wanted.into(), keep_in.into());
    let made = INNER.get_or_make(key, || Ok(dce_jaxpr(jaxpr, wanted, keep_in)));
    made.expect("dropping dead code cannot fail")
}

/// Drops what the results marked in `wanted` do not need. Inputs marked in `keep_in` stay even when unused.
pub fn dce_jaxpr(jaxpr: &JaxprRef, wanted: &[bool], keep_in: &[bool]) -> PrunedJaxpr {
    let mut used = vec![false; jaxpr.vars.len()];
    let outs: Vec<Atom> = jaxpr.outs.iter().zip(wanted).filter(|(_, wanted)| **wanted).map(|(out, _)| *out).collect();
    mark(&mut used, &outs);
    let mut kept: Vec<(Eqn, Vec<VarId>)> = vec![];
    for eqn in jaxpr.eqns.iter().rev() {
        let used_outs: Vec<bool> = eqn.outs().map(|var| used[var.index()]).collect();
        if !used_outs.contains(&true) && eqn.effects().is_none() {
            continue;
        }
        let (eqn, outs) = prune_eqn(eqn, &used_outs);
        mark(&mut used, &eqn.ins);
        kept.push((eqn, outs));
    }
    kept.reverse();
    let used_in: Vec<bool> = jaxpr.invars.iter().zip(keep_in).map(|(var, &keep)| keep || used[var.index()]).collect();
    PrunedJaxpr { jaxpr: JaxprRef::interned(renumber(jaxpr, &used, &used_in, kept, &outs)), used_in }
}

fn mark(used: &mut [bool], atoms: &[Atom]) {
    for atom in atoms {
        if let Atom::Var(var) = atom {
            used[var.index()] = true;
        }
    }
}

/// The equation without results it need not make, and the old variables of those it makes.
fn prune_eqn(eqn: &Eqn, used_outs: &[bool]) -> (Eqn, Vec<VarId>) {
    let mut eqn = eqn.clone();
    let outs: Vec<VarId> = eqn.outs().collect();
    let Some((params, kept_in, kept_out)) = eqn.prim.drop_unused(&eqn.params, used_outs) else { return (eqn, outs) };
    eqn.params = params;
    let mut kept_in = kept_in.into_iter();
    eqn.ins.retain(|_| kept_in.next().expect("one mark for each operand"));
    (eqn, outs.into_iter().zip(kept_out).filter(|(_, kept)| *kept).map(|(var, _)| var).collect())
}

fn renumber(jaxpr: &Jaxpr, used: &[bool], used_in: &[bool], kept: Vec<(Eqn, Vec<VarId>)>, outs: &[Atom]) -> Jaxpr {
    let mut new = Renumbering { old: jaxpr, vars: vec![], map: vec![None; jaxpr.vars.len()] };
    let consts: Vec<usize> = (0..jaxpr.consts.len()).filter(|&i| used[jaxpr.constvars[i].index()]).collect();
    let constvars = consts.iter().map(|&i| new.define(jaxpr.constvars[i])).collect();
    let invars = jaxpr.invars.iter().zip(used_in).filter(|(_, used)| **used).map(|(&var, _)| new.define(var)).collect();
    let mut eqns = vec![];
    for (mut eqn, old_outs) in kept {
        for atom in &mut eqn.ins {
            *atom = new.atom(*atom);
        }
        eqn.first_out = VarId(new.vars.len() as u32);
        eqn.n_outs = old_outs.len() as u32;
        for var in old_outs {
            new.define(var);
        }
        eqns.push(eqn);
    }
    let outs = outs.iter().map(|&out| new.atom(out)).collect();
    let consts = consts.into_iter().map(|i| jaxpr.consts[i].clone()).collect();
    Jaxpr { vars: new.vars, constvars, consts, invars, eqns, outs, debug: jaxpr.debug.clone() }
}

struct Renumbering<'a> {
    old: &'a Jaxpr,
    vars: Vec<pullback_base::Aval>,
    map: Vec<Option<VarId>>,
}

impl Renumbering<'_> {
    fn define(&mut self, var: VarId) -> VarId {
        self.vars.push(self.old.vars[var.index()]);
        let new = VarId(self.vars.len() as u32 - 1);
        self.map[var.index()] = Some(new);
        new
    }

    fn atom(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Literal(_) => atom,
            Atom::Var(var) => Atom::Var(self.map[var.index()].expect("what is used was kept")),
        }
    }
}
