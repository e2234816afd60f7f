//! The checker of jaxprs; it runs after every transform in tests.
//!
//! It collects all it finds:
//! - (J1) every variable is defined before it is used, once;
//! - (J2) operands are as abstract evaluation wants them;
//! - (J3) the avals of results are those of abstract evaluation;
//! - (J4) consts have the avals of their variables;
//! - (J5) inner jaxprs hold to the same laws.

use pullback_base::{Aval, ErrorKind};

use crate::jaxpr::{Atom, Jaxpr};

/// All violations, in the order of the equations.
pub fn check_jaxpr(jaxpr: &Jaxpr) -> Vec<String> {
    check_with(jaxpr, |a, b| a == b)
}

/// As [`check_jaxpr`], for a jaxpr that was read: weak types and shardings may be others, as they change no memory.
pub fn check_read_jaxpr(jaxpr: &Jaxpr) -> Vec<String> {
    check_with(jaxpr, |a, b| a.shape == b.shape && a.dtype == b.dtype)
}

fn check_with(jaxpr: &Jaxpr, is_same: fn(&Aval, &Aval) -> bool) -> Vec<String> {
    let mut checker = Checker { jaxpr, is_same, defined: vec![false; jaxpr.vars.len()], found: vec![] };
    checker.run();
    checker.found
}

struct Checker<'a> {
    jaxpr: &'a Jaxpr,
    is_same: fn(&Aval, &Aval) -> bool,
    defined: Vec<bool>,
    found: Vec<String>,
}

impl Checker<'_> {
    fn run(&mut self) {
        for (&var, array) in self.jaxpr.constvars.iter().zip(&self.jaxpr.consts) {
            self.define(var.index(), "const");
            if array.aval() != self.jaxpr.vars[var.index()] {
                self.found.push(format!(
                    "(J4) const {var:?} is {}, its variable {}",
                    array.aval(),
                    self.jaxpr.vars[var.index()]
                ));
            }
        }
        for var in &self.jaxpr.invars {
            self.define(var.index(), "input");
        }
        for number in 0..self.jaxpr.eqns.len() {
            self.check_eqn(number);
        }
        for &out in &self.jaxpr.outs {
            self.check_use(out, "result");
        }
    }

    fn define(&mut self, var: usize, what: &str) {
        if std::mem::replace(&mut self.defined[var], true) {
            self.found.push(format!("(J1) {what} defines variable {var} again"));
        }
    }

    fn check_use(&mut self, atom: Atom, what: &str) {
        if let Atom::Var(var) = atom
            && !self.defined.get(var.index()).copied().unwrap_or(false)
        {
            self.found.push(format!("(J1) {what} uses variable {} before it is defined", var.index()));
        }
    }

    fn is_same_list(&self, a: &[Aval], b: &[Aval]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (self.is_same)(a, b))
    }

    fn check_eqn(&mut self, number: usize) {
        let eqn = &self.jaxpr.eqns[number];
        let what = format!("equation {number} ({})", eqn.prim.name());
        for &operand in &eqn.ins {
            self.check_use(operand, &what);
        }
        let ins: Vec<Aval> = eqn.ins.iter().map(|&atom| self.jaxpr.aval(atom)).collect();
        match eqn.prim.abstract_eval(&eqn.params, &ins) {
            // Axes that a call around the program binds.
            Err(error) if error.kind() == ErrorKind::Name => {}
            Err(error) => self.found.push(format!("(J2) {what}: {}", error.message())),
            Ok(outs) if !self.is_same_list(&outs, self.jaxpr.eqn_out_avals(eqn)) => {
                self.found.push(format!("(J3) {what} gives {outs:?}, not {:?}", self.jaxpr.eqn_out_avals(eqn)));
            }
            Ok(_) => {}
        }
        for inner in eqn.params.jaxprs() {
            self.found
                .extend(check_with(&inner, self.is_same).into_iter().map(|found| format!("(J5) {what}: {found}")));
        }
        for var in eqn.outs() {
            self.define(var.index(), &what);
        }
    }
}
