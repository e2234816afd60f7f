//! Derivatives that users write in Python: `custom_jvp` and `custom_vjp`.
//!
//! A rule holds Python functions and the structure of what they take and give; it runs them with the emitter that the
//! transform hands it as the current one.

use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::tree::TreeDef;
use pullback_base::{DType, Result, Scalar};
use pullback_core::control::{
    CUSTOM_JVP_CALL, CUSTOM_VJP_CALL, CustomJvpCall, CustomVjpCall, JvpRuleRef, VjpRule, VjpRuleRef,
};
use pullback_core::prims::instantiate;
use pullback_ir::{CustomRule, EmitRef, Operand, Params, Tangents, Val, Vals};
use pullback_trace::with_current;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::call::{not_a_jax_type, tree_of, tree_vals};
use crate::control::trace_fun;
use crate::errors::{Carry, type_error};
use crate::gate::gate;
use crate::names::{function_and_place, function_name};

/// A rule of `custom_jvp`.
struct PyJvpRule {
    rule: Py<PyAny>,
    name: String,
    in_tree: TreeDef,
    out_tree: TreeDef,
    n_captured: usize,
}

/// Tangents as the user's rule sees them: zeros are arrays.
fn full_tangents(e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<Vec<Val>> {
    let full = |(x, t): (&Val, &Option<Val>)| {
        let aval = x.aval().tangent();
        if aval.dtype == DType::Float0 {
            return Ok(Val::Array(pullback_base::Array::full(aval, Scalar::zero(DType::Float0))));
        }
        instantiate(&**e, x.aval(), t.clone())
    };
    primals.iter().zip(tangents).map(full).collect()
}

impl PyJvpRule {
    fn call(&self, py: Python<'_>, primals: &[Val], tangents: &[Val]) -> PyResult<(Vec<Val>, Vec<Val>)> {
        let primals = tree_of(py, &self.in_tree, primals.iter().cloned())?;
        let tangents = tree_of(py, &self.in_tree, tangents.iter().cloned())?;
        let pair = self.rule.bind(py).call1((primals, tangents))?;
        let pair = pair.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
        let Some(pair) = pair else {
            return Err(type_error(format!(
                "Custom JVP rule {} must produce a pair (list or tuple of length two) representing primal and tangent outputs.",
                function_and_place(self.rule.bind(py))
            )));
        };
        let (outs, out_tree) = tree_vals(&pair.get_item(0)?, &not_a_jax_type)?;
        let (dots, dot_tree) = tree_vals(&pair.get_item(1)?, &not_a_jax_type)?;
        if out_tree != self.out_tree || dot_tree != self.out_tree {
            return Err(type_error(format!(
                "Custom JVP rule {} must produce primal and tangent outputs with equal container (pytree) structures, but got \
                 {out_tree} and {dot_tree} respectively, for a function with output structure {}.",
                function_and_place(self.rule.bind(py)),
                self.out_tree
            )));
        }
        self.check_types(py, &outs, &dots)?;
        Ok((outs, dots))
    }

    fn check_types(&self, py: Python<'_>, outs: &[Val], dots: &[Val]) -> PyResult<()> {
        for (out, dot) in outs.iter().zip(dots) {
            let (wanted, found) = (out.aval().tangent().weak(false), dot.aval().weak(false));
            if wanted != found {
                return Err(type_error(format!(
                    "Custom JVP rule {} must produce primal and tangent outputs with corresponding shapes and dtypes. Expected a \
                     tangent of type {} but got {}.",
                    function_and_place(self.rule.bind(py)),
                    wanted.long(),
                    found.long()
                )));
            }
        }
        Ok(())
    }
}

impl CustomRule for PyJvpRule {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        let (primals, tangents) = (&primals[self.n_captured..], &tangents[self.n_captured..]);
        let tangents = full_tangents(e, primals, tangents)?;
        let (outs, dots) =
            Python::attach(|py| with_current(e.clone(), || self.call(py, primals, &tangents).carry(py)))?;
        let dots = dots.into_iter().map(|dot| (dot.aval().dtype != DType::Float0).then_some(dot)).collect();
        Ok((outs.into(), dots))
    }

    fn transpose(&self, _: &EmitRef, _: &[Option<Val>], _: &[Operand]) -> Result<Tangents> {
        Err(pullback_base::Error::internal("custom_jvp_call is not linear"))
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Calls a function with a forward rule of its own: `rule(primals, tangents) -> (out, out_dot)` on tuples of arguments.
#[pyfunction]
fn custom_jvp_call(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    rule: &Bound<'_, PyAny>,
    rule_name: String,
    args: &Bound<'_, PyTuple>,
) -> PyResult<Py<PyAny>> {
    if !pullback_trace::is_tracing() {
        return Ok(fun.call1(args)?.unbind());
    }
    let (vals, in_tree) = tree_vals(args.as_any(), &not_a_jax_type)?;
    let avals: Vec<_> = vals.iter().map(Val::aval).collect();
    let traced = trace_fun("custom_jvp", fun, in_tree.children().to_vec(), &avals)?;
    let rule = PyJvpRule {
        rule: rule.clone().unbind(),
        name: rule_name,
        in_tree,
        out_tree: traced.out_tree.clone(),
        n_captured: traced.traced.captured.len(),
    };
    let params = CustomJvpCall {
        name: function_name(fun).into(),
        call_jaxpr: traced.traced.jaxpr,
        jvp: JvpRuleRef(Arc::new(rule)),
        symbolic_zeros: false,
    };
    let operands = [&traced.traced.captured[..], &vals].concat();
    let outs = gate(py, || pullback_trace::bind(CUSTOM_JVP_CALL, &Params::new(params), &operands))?;
    tree_of(py, &traced.out_tree, outs)
}

/// The functions of `custom_vjp`.
struct PyVjpRule {
    fwd: Py<PyAny>,
    bwd: Py<PyAny>,
    names: [String; 2],
    in_tree: TreeDef,
    out_tree: TreeDef,
    n_captured: usize,
    /// Structure of the residuals, known after the first forward pass.
    residuals: Mutex<Option<TreeDef>>,
    /// Avals of the arguments, captured ones apart.
    in_avals: Vec<pullback_base::Aval>,
    /// Avals of the results.
    out_avals: Vec<pullback_base::Aval>,
}

impl PyVjpRule {
    fn residual_tree(&self) -> std::sync::MutexGuard<'_, Option<TreeDef>> {
        self.residuals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call_forward(&self, py: Python<'_>, primals: &[Val]) -> PyResult<(Vec<Val>, Vec<Val>)> {
        let args = tree_of(py, &self.in_tree, primals.iter().cloned())?.into_bound(py).cast_into::<PyTuple>()?;
        let fwd = self.fwd.bind(py);
        let pair = fwd.call1(args)?;
        let pair = pair.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
        let Some(pair) = pair else {
            return Err(type_error(format!(
                "Custom VJP fwd rule {} must produce a pair (list or tuple of length two) where the first element represents the \
                 primal output and the second element represents residuals.",
                function_and_place(fwd)
            )));
        };
        let (outs, out_tree) = tree_vals(&pair.get_item(0)?, &not_a_jax_type)?;
        if out_tree != self.out_tree {
            return Err(type_error(format!(
                "Custom VJP fwd rule {} must produce a pair whose first element has the structure of the function's output, {}, \
                 but it has {out_tree}.",
                function_and_place(fwd),
                self.out_tree
            )));
        }
        let (residuals, tree) = tree_vals(&pair.get_item(1)?, &not_a_jax_type)?;
        *self.residual_tree() = Some(tree);
        Ok((outs, residuals))
    }

    fn call_backward(&self, py: Python<'_>, residuals: &[Val], cts: &[Val]) -> PyResult<Vec<Option<Val>>> {
        let tree = self.residual_tree().clone().expect("the forward function ran before");
        let residuals = tree_of(py, &tree, residuals.iter().cloned())?;
        let cts = tree_of(py, &self.out_tree, cts.iter().cloned())?;
        let bwd = self.bwd.bind(py);
        let result = bwd.call1((residuals, cts))?;
        let wrong = |found: String| {
            type_error(format!(
                "Custom VJP bwd rule {} must produce a tuple of cotangents with the structure of the function's arguments, {}, \
                 but got {found}.",
                function_and_place(bwd),
                self.in_tree
            ))
        };
        let parts: Vec<_> = result.try_iter().map_err(|_| wrong(result.to_string()))?.collect::<PyResult<_>>()?;
        if parts.len() != self.in_tree.children().len() {
            return Err(wrong(format!("{} entries", parts.len())));
        }
        let mut all = vec![];
        for (part, tree) in parts.iter().zip(self.in_tree.children()) {
            if part.is_none() {
                all.extend(std::iter::repeat_n(None, tree.n_leaves()));
                continue;
            }
            let (cts, found) = tree_vals(part, &not_a_jax_type)?;
            if found != *tree {
                return Err(wrong(format!("an entry of structure {found} in place of {tree}")));
            }
            all.extend(cts.into_iter().map(|ct| (ct.aval().dtype != DType::Float0).then_some(ct)));
        }
        self.check_types(&all, &wrong)?;
        Ok(all)
    }

    fn check_types(&self, cts: &[Option<Val>], wrong: &dyn Fn(String) -> PyErr) -> PyResult<()> {
        // Under batching shapes have more axes than at the call; the rank tells.
        for (ct, aval) in cts.iter().zip(&self.in_avals) {
            let Some(ct) = ct else { continue };
            let (found, wanted) = (ct.aval().weak(false), aval.tangent().weak(false));
            if found.rank() == wanted.rank() && found != wanted {
                return Err(wrong(format!("a cotangent of type {} for an argument of type {}", found.long(), aval.long())));
            }
        }
        Ok(())
    }
}

impl VjpRule for PyVjpRule {
    fn forward(&self, e: &EmitRef, primals: &[Val]) -> Result<(Vals, Vec<Val>)> {
        let primals = &primals[self.n_captured..];
        let (outs, residuals) =
            Python::attach(|py| with_current(e.clone(), || self.call_forward(py, primals).carry(py)))?;
        Ok((outs.into(), residuals))
    }

    fn backward(&self, e: &EmitRef, residuals: &[Val], cts: &[Option<Val>]) -> Result<Tangents> {
        let full: Result<Vec<Val>> =
            cts.iter().zip(&self.out_avals).map(|(ct, &aval)| instantiate(&**e, aval, ct.clone())).collect();
        let full = full?;
        let found =
            Python::attach(|py| with_current(e.clone(), || self.call_backward(py, residuals, &full).carry(py)))?;
        let captured = std::iter::repeat_n(None, self.n_captured);
        Ok(captured.chain(found).collect())
    }

    fn names(&self) -> [String; 2] {
        self.names.clone()
    }
}

/// Calls a function with a reverse rule of its own: `fwd(*args) -> (out, residuals)`, `bwd(residuals, ct) -> cotangents`.
#[pyfunction]
fn custom_vjp_call(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    fwd: &Bound<'_, PyAny>,
    bwd: &Bound<'_, PyAny>,
    names: [String; 2],
    args: &Bound<'_, PyTuple>,
) -> PyResult<Py<PyAny>> {
    if !pullback_trace::is_tracing() {
        return Ok(fun.call1(args)?.unbind());
    }
    let (vals, in_tree) = tree_vals(args.as_any(), &not_a_jax_type)?;
    let in_avals: Vec<_> = vals.iter().map(Val::aval).collect();
    let traced = trace_fun("custom_vjp", fun, in_tree.children().to_vec(), &in_avals)?;
    let bwd_name = names[1].clone();
    let rule = PyVjpRule {
        fwd: fwd.clone().unbind(),
        bwd: bwd.clone().unbind(),
        names,
        in_tree,
        out_tree: traced.out_tree.clone(),
        n_captured: traced.traced.captured.len(),
        residuals: Mutex::new(None),
        in_avals,
        out_avals: traced.out_avals(),
    };
    let params = CustomVjpCall {
        name: function_name(fun).into(),
        call_jaxpr: traced.traced.jaxpr,
        fwd: VjpRuleRef(Arc::new(rule)),
        bwd: bwd_name.into(),
        symbolic_zeros: false,
    };
    let operands = [&traced.traced.captured[..], &vals].concat();
    let outs = gate(py, || pullback_trace::bind(CUSTOM_VJP_CALL, &Params::new(params), &operands))?;
    tree_of(py, &traced.out_tree, outs)
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(custom_jvp_call, m)?)?;
    m.add_function(wrap_pyfunction!(custom_vjp_call, m)?)
}
