//! Order: arrays that are made of less than they hold come where they are read.
//!
//! An elementwise equation over broadcasts reads little and writes much. Made just before its only reader it shares that
//! one's nest and need not be stored; made early it waits in memory.

use pullback_base::Aval;
use pullback_ir::lower::CpuForm;
use pullback_ir::{Atom, Eqn, Jaxpr};
use smallvec::SmallVec;

use super::Copier;

/// The jaxpr with such equations as late as their readers allow.
pub(super) fn postpone(jaxpr: Jaxpr) -> Jaxpr {
    let is_late = late(&jaxpr);
    if !is_late.contains(&true) {
        return jaxpr;
    }
    let made_by = made_by(&jaxpr);
    let mut copier = Copier::new(&jaxpr);
    for (number, eqn) in jaxpr.eqns.iter().enumerate().filter(|&(number, _)| !is_late[number]) {
        for needed in late_before(&jaxpr, &made_by, &is_late, eqn).into_iter().chain([number]) {
            let eqn = &jaxpr.eqns[needed];
            let ins = copier.operands(eqn);
            let outs = copier.copy(&jaxpr, eqn, &ins);
            copier.define(eqn, outs);
        }
    }
    copier.finish(&jaxpr)
}

fn made_by(jaxpr: &Jaxpr) -> Vec<Option<usize>> {
    let mut made_by = vec![None; jaxpr.vars.len()];
    for (number, eqn) in jaxpr.eqns.iter().enumerate() {
        eqn.outs().for_each(|var| made_by[var.index()] = Some(number));
    }
    made_by
}

/// The late equations that an equation waits for, in their order. Each is read once, so none comes twice.
fn late_before(jaxpr: &Jaxpr, made_by: &[Option<usize>], is_late: &[bool], eqn: &Eqn) -> Vec<usize> {
    let makers = |eqn: &Eqn| -> SmallVec<[usize; 3]> {
        let maker = |&atom: &Atom| atom.var().and_then(|var| made_by[var.index()]).filter(|&number| is_late[number]);
        eqn.ins.iter().filter_map(maker).collect()
    };
    let (mut found, mut open) = (vec![], makers(eqn).to_vec());
    while let Some(number) = open.pop() {
        found.push(number);
        open.extend(makers(&jaxpr.eqns[number]));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Which equations can wait for their only reader.
fn late(jaxpr: &Jaxpr) -> Vec<bool> {
    let mut n_readers = vec![0; jaxpr.vars.len()];
    // A result counts as read for ever.
    let reads = jaxpr.eqns.iter().flat_map(|eqn| &eqn.ins).chain(&jaxpr.outs).chain(&jaxpr.outs);
    reads.filter_map(|atom| atom.var()).for_each(|var| n_readers[var.index()] += 1);
    let mut is_spread = vec![false; jaxpr.vars.len()];
    let mut late = vec![false; jaxpr.eqns.len()];
    for (number, eqn) in jaxpr.eqns.iter().enumerate() {
        let out = eqn.first_out.index();
        if eqn.n_outs != 1 || !eqn.effects().is_none() || jaxpr.vars[out].rank() == 0 {
            continue;
        }
        if eqn.prim.is("broadcast_in_dim") {
            is_spread[out] = 2 * jaxpr.aval(eqn.ins[0]).size() <= jaxpr.vars[out].size();
            continue;
        }
        let is_little = |&atom: &Atom| atom.var().is_none_or(|var| is_spread[var.index()]);
        if eqn.ins.iter().all(is_little) && is_elementwise(jaxpr, eqn) {
            is_spread[out] = n_readers[out] == 1;
            late[number] = is_spread[out];
        }
    }
    late
}

fn is_elementwise(jaxpr: &Jaxpr, eqn: &Eqn) -> bool {
    let ins: SmallVec<[Aval; 4]> = eqn.ins.iter().map(|&atom| jaxpr.aval(atom)).collect();
    matches!(eqn.prim.cpu(&eqn.params, &ins, jaxpr.eqn_out_avals(eqn)), CpuForm::Scalar(_))
}
