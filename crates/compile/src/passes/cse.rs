//! Common subexpressions: equal equations without effects are made once.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use pullback_ir::{Atom, Jaxpr, Params, PrimRef, Vals};
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::Copier;

/// What an equation computes: equal keys give equal results.
type Key = (PrimRef, Params, SmallVec<[Atom; 3]>);

/// The jaxpr with equal equations made once.
pub(super) fn share_equal(jaxpr: &Jaxpr) -> Jaxpr {
    let mut copier = Copier::new(jaxpr);
    let mut known: HashMap<Key, Vals, BuildHasherDefault<FxHasher>> = HashMap::default();
    for eqn in &jaxpr.eqns {
        let ins = copier.operands(eqn);
        if !eqn.effects().is_none() {
            let outs = copier.copy(jaxpr, eqn, &ins);
            copier.define(eqn, outs);
            continue;
        }
        let key = (eqn.prim, eqn.params.clone(), ins.iter().map(|val| copier.builder.atom(val)).collect());
        let outs = known.entry(key).or_insert_with(|| copier.copy(jaxpr, eqn, &ins)).clone();
        copier.define(eqn, outs);
    }
    copier.finish(jaxpr)
}
