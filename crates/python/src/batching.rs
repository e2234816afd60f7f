//! Functions whose batching the user wrote in Python: `custom_vmap`.

use std::sync::Arc;

use pullback_base::tree::TreeDef;
use pullback_base::{Aval, Result};
use pullback_core::control::{CUSTOM_VMAP_CALL, CustomVmapCall, VmapRule, VmapRuleRef};
use pullback_ir::{EmitRef, Params, Val, Vals};
use pullback_trace::with_current;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::call::{not_a_jax_type, tree_of, tree_vals};
use crate::control::trace_fun;
use crate::errors::{Carry, not_implemented, type_error, value_error};
use crate::gate::gate;
use crate::names::function_name;
use crate::tree::{flatten_all, unflatten};

/// A rule `(axis_size, in_batched, *args) -> (out, out_batched)`.
struct PyVmapRule {
    rule: Py<PyAny>,
    in_tree: TreeDef,
    out_tree: TreeDef,
    n_captured: usize,
}

impl PyVmapRule {
    fn call(&self, py: Python<'_>, size: usize, ins: &[Val], batched: &[bool]) -> PyResult<(Vals, Vec<bool>)> {
        let (captured, own) = batched.split_at(self.n_captured);
        if captured.contains(&true) {
            return Err(not_implemented(format!(
                "the custom_vmap function of rule {} closes over a value that is mapped over; pass it as an argument",
                function_name(self.rule.bind(py))
            )));
        }
        let args = tree_of(py, &self.in_tree, ins[self.n_captured..].iter().cloned())?;
        let marks = own.iter().map(|&mark| pyo3::types::PyBool::new(py, mark).to_owned().into_any().unbind());
        let marks = unflatten(py, &self.in_tree, marks)?;
        let in_batched = PyList::new(py, marks.bind(py).cast::<PyTuple>()?.iter())?;
        let mut all = vec![size.into_pyobject(py)?.into_any(), in_batched.into_any()];
        all.extend(args.bind(py).cast::<PyTuple>()?.iter());
        let result = self.rule.bind(py).call1(PyTuple::new(py, all)?)?;
        self.results(&result)
    }

    fn results(&self, result: &Bound<'_, PyAny>) -> PyResult<(Vals, Vec<bool>)> {
        let name = function_name(self.rule.bind(result.py()));
        let pair: Vec<Bound<'_, PyAny>> = match result.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => pair.iter().collect(),
            _ => {
                return Err(type_error(format!(
                    "custom vmap rule {name} must return a pair (output, out_batched), got {}",
                    result.repr()?
                )));
            }
        };
        let (outs, tree) = tree_vals(&pair[0], &not_a_jax_type)?;
        let (marks, marks_tree) = flatten_all(&pair[1])?;
        if tree != marks_tree {
            return Err(value_error(format!(
                "structure of output value and output batching specification returned by custom vmap rule ({name}) do not match.\n\
                 Output values: {tree}\nBatching spec: {marks_tree}"
            )));
        }
        if tree != self.out_tree {
            return Err(value_error(format!(
                "structure of output returned by custom vmap rule ({name}) does not match that of original custom-vmapped \
                 function.\nOriginal output: {}\nRule output: {tree}",
                self.out_tree
            )));
        }
        let marks: PyResult<Vec<bool>> = marks.iter().map(|mark| mark.is_truthy()).collect();
        Ok((outs.into(), marks?))
    }
}

impl VmapRule for PyVmapRule {
    fn batch(&self, e: &EmitRef, size: usize, ins: &[Val], batched: &[bool]) -> Result<(Vals, Vec<bool>)> {
        Python::attach(|py| with_current(e.clone(), || self.call(py, size, ins, batched)).carry(py))
    }

    fn name(&self) -> String {
        Python::attach(|py| crate::names::masked_repr(self.rule.bind(py)))
    }
}

/// Calls a `custom_vmap` function.
#[pyfunction]
fn custom_vmap_call(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    rule: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
) -> PyResult<Py<PyAny>> {
    let (vals, in_tree) = tree_vals(args.as_any(), &not_a_jax_type)?;
    let avals: Vec<Aval> = vals.iter().map(Val::aval).collect();
    let traced = trace_fun("custom_vmap", fun, in_tree.children().to_vec(), &avals)?;
    let (out_tree, captured) = (traced.out_tree, traced.traced.captured);
    let rule = PyVmapRule {
        rule: rule.clone().unbind(),
        in_tree: in_tree.clone(),
        out_tree: out_tree.clone(),
        n_captured: captured.len(),
    };
    let params = CustomVmapCall {
        call: traced.traced.jaxpr,
        in_tree: crate::control::call_tree(py, in_tree.children().to_vec()).to_string().into(),
        out_tree: out_tree.to_string().into(),
        rule: VmapRuleRef(Arc::new(rule)),
    };
    let operands = [captured, vals].concat();
    let outs = gate(py, || pullback_trace::bind(CUSTOM_VMAP_CALL, &Params::new(params), &operands))?;
    tree_of(py, &out_tree, outs)
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(custom_vmap_call, m)?)
}
