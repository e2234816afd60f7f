//! Jaxprs from parts that Python code made.
//!
//! Variables are renumbered by first definition, so that parts of several jaxprs can meet. A use before its definition, a
//! second definition, and an operand that abstract evaluation refuses are errors here, not later.

use pullback_base::Aval;
use pullback_ir::{Atom, Eqn, Jaxpr, Val, VarId};
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::{Name, PyEqn, PyJaxpr, PyLiteral, PyVar, aval_of_atom};
use crate::errors::{named, value_error};

#[derive(Default)]
struct Numbers {
    numbers: FxHashMap<Name, VarId>,
    vars: Vec<Aval>,
}

/// The error of parts that do not fit together.
fn misfit(py: Python<'_>, text: String) -> PyErr {
    named(py, "JaxprTypeError", text)
}

impl Numbers {
    fn define(&mut self, var: &Bound<'_, PyAny>) -> PyResult<VarId> {
        let py = var.py();
        let var = var.cast::<PyVar>()?.get();
        let number = VarId(u32::try_from(self.vars.len()).expect("fewer than 2^32 variables"));
        self.vars.push(var.aval.0);
        match self.numbers.insert(var.id, number) {
            None => Ok(number),
            Some(_) => Err(misfit(py, format!("Variable '{}' already bound", var.__repr__()))),
        }
    }

    fn define_all(&mut self, vars: &Bound<'_, PyAny>) -> PyResult<Vec<VarId>> {
        vars.try_iter()?.map(|var| self.define(&var?)).collect()
    }

    fn atom(&self, atom: &Bound<'_, PyAny>) -> PyResult<Atom> {
        if let Ok(literal) = atom.cast::<PyLiteral>() {
            return Ok(Atom::Literal(literal.get().scalar));
        }
        let var = atom.cast::<PyVar>()?.get();
        let number = self.numbers.get(&var.id);
        let unknown = || misfit(atom.py(), format!("Variable '{}' not defined", var.__repr__()));
        number.map(|&number| Atom::Var(number)).ok_or_else(unknown)
    }

    fn eqn(&mut self, py: Python<'_>, eqn: &PyEqn) -> PyResult<Eqn> {
        let (prim, params, span) = eqn.application();
        let mut ins = smallvec::SmallVec::new();
        for operand in eqn.invars(py)? {
            ins.push(self.atom(&operand)?);
        }
        let first_out = VarId(u32::try_from(self.vars.len()).expect("fewer than 2^32 variables"));
        let n_outs = self.define_all(eqn.outvars(py)?.as_any())?.len() as u32;
        Ok(Eqn { prim, params: params.clone(), ins, first_out, n_outs, span })
    }
}

/// Values in the places of constvars.
pub fn const_vals(consts: &Bound<'_, PyAny>) -> PyResult<Vec<Val>> {
    consts.try_iter()?.map(|item| crate::value::to_val(&item?)).collect()
}

/// A jaxpr of parts.
pub fn jaxpr(
    constvars: &Bound<'_, PyAny>,
    consts: Option<&Bound<'_, PyAny>>,
    invars: &Bound<'_, PyAny>,
    outvars: &Bound<'_, PyAny>,
    eqns: &Bound<'_, PyAny>,
) -> PyResult<PyJaxpr> {
    let mut numbers = Numbers::default();
    let constvars = numbers.define_all(constvars)?;
    let consts = consts.map_or_else(|| Ok(vec![]), const_vals)?;
    let invars = numbers.define_all(invars)?;
    if !consts.is_empty() && consts.len() != constvars.len() {
        let (wanted, given) = (constvars.len(), consts.len());
        return Err(value_error(format!("the jaxpr has {wanted} constvars, but {given} consts were given")));
    }
    let mut all = vec![];
    for eqn in eqns.try_iter()? {
        let eqn = eqn?.cast_into::<PyEqn>()?;
        all.push(numbers.eqn(eqn.py(), eqn.get())?);
    }
    let outs: PyResult<Vec<Atom>> = outvars.try_iter()?.map(|out| numbers.atom(&out?)).collect();
    let jaxpr = Jaxpr { vars: numbers.vars, constvars, consts: vec![], invars, eqns: all, outs: outs?, debug: None };
    Ok(PyJaxpr::with_consts(jaxpr, consts))
}

/// The jaxpr of one equation: its operands are the inputs, its results the results.
pub fn single(py: Python<'_>, eqn: &PyEqn) -> PyResult<Jaxpr> {
    let mut numbers = Numbers::default();
    let mut invars = vec![];
    for operand in eqn.invars(py)? {
        if let Ok(var) = operand.cast::<PyVar>()
            && !numbers.numbers.contains_key(&var.get().id)
        {
            invars.push(numbers.define(&operand)?);
        }
        aval_of_atom(&operand)?;
    }
    let eqn = numbers.eqn(py, eqn)?;
    let outs = eqn.outs().map(Atom::Var).collect();
    Ok(Jaxpr { vars: numbers.vars, constvars: vec![], consts: vec![], invars, eqns: vec![eqn], outs, debug: None })
}
