//! Staging: running a Python function on tracers to get its jaxpr.

use pullback_base::tree::TreeDef;
use pullback_base::{Array, Aval, Error, Result};
use pullback_core::control::{JIT, Jit};
use pullback_ir::{DebugInfo, JaxprRef, Params, Val};
use pullback_stablehlo::donations;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use super::signature::{Statics, bad_argument};
use crate::aval::{PyAval, aval_of};
use crate::call::path_of;
use crate::errors::{Carry, type_error};
use crate::gate::gate;
use crate::jaxpr::PyJaxpr;
use crate::names::{self, function_name, function_place};
use crate::tree::{PyNode, PyTreeDef, flatten, unflatten};
use crate::value::{try_val, wrap};

/// One argument of a staged function.
enum ArgSpec {
    Static(Py<PyAny>),
    Tree(TreeDef),
}

/// The arguments of a call without the values of their leaves.
pub struct CallSpec {
    args: Vec<ArgSpec>,
    kwargs: Vec<(Py<PyAny>, ArgSpec)>,
    keys: Py<pyo3::types::PyList>,
}

impl CallSpec {
    /// Splits a call into what is static and the leaves.
    pub fn of_call<'py>(
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        statics: &Statics,
        leaves: &mut Vec<Bound<'py, PyAny>>,
    ) -> PyResult<CallSpec> {
        let mut specs = vec![];
        for (position, arg) in args.iter().enumerate() {
            specs.push(spec(&arg, statics.has_position(position), leaves)?);
        }
        let (mut keywords, keys) = (vec![], pyo3::types::PyList::empty(args.py()));
        if let Some(kwargs) = kwargs {
            let sorted = kwargs.keys();
            sorted.sort()?;
            for key in sorted.iter() {
                let arg = kwargs.as_any().get_item(&key)?;
                let spec = spec(&arg, statics.has_name(&key.to_string()), leaves)?;
                if let ArgSpec::Tree(_) = spec {
                    keys.append(&key)?;
                }
                keywords.push((key.unbind(), spec));
            }
        }
        Ok(CallSpec { args: specs, kwargs: keywords, keys: keys.unbind() })
    }

    /// The structure of the arguments that are not static: a pair of a tuple and a dictionary.
    pub fn in_tree(&self, py: Python<'_>) -> TreeDef {
        let tree = |spec: &ArgSpec| match spec {
            ArgSpec::Static(_) => None,
            ArgSpec::Tree(tree) => Some(tree.clone()),
        };
        let args = self.args.iter().filter_map(tree).collect();
        let kwargs = self.kwargs.iter().filter_map(|(_, spec)| tree(spec)).collect();
        let keywords = TreeDef::new(PyNode::dict(self.keys.bind(py).clone()).into_node(), kwargs);
        TreeDef::tuple(vec![TreeDef::tuple(args), keywords])
    }

    /// The static arguments: their positions or names, and what they are.
    pub fn static_values(&self, py: Python<'_>) -> Vec<(Py<PyAny>, Py<PyAny>)> {
        let positional =
            self.args.iter().enumerate().map(|(i, spec)| (i.into_pyobject(py).map(|i| i.into_any().unbind()), spec));
        let keyword = self.kwargs.iter().map(|(key, spec)| (Ok(key.clone_ref(py)), spec));
        let value = |(key, spec): (Result<Py<PyAny>, _>, &ArgSpec)| match spec {
            ArgSpec::Static(value) => key.ok().map(|key| (key, value.clone_ref(py))),
            ArgSpec::Tree(_) => None,
        };
        positional.chain(keyword).filter_map(value).collect()
    }

    /// Calls the function with values in place of the leaves.
    fn call<'py>(&self, fun: &Bound<'py, PyAny>, vals: &[Val]) -> PyResult<Bound<'py, PyAny>> {
        let py = fun.py();
        let mut vals = vals.iter();
        let mut args = vec![];
        for spec in &self.args {
            args.push(build(py, spec, &mut vals)?);
        }
        let args = PyTuple::new(py, args)?;
        if self.kwargs.is_empty() {
            return fun.call1(args);
        }
        let kwargs = PyDict::new(py);
        for (key, spec) in &self.kwargs {
            kwargs.set_item(key, build(py, spec, &mut vals)?)?;
        }
        fun.call(args, Some(&kwargs))
    }
}

fn spec<'py>(arg: &Bound<'py, PyAny>, is_static: bool, leaves: &mut Vec<Bound<'py, PyAny>>) -> PyResult<ArgSpec> {
    if is_static { Ok(ArgSpec::Static(arg.clone().unbind())) } else { flatten(arg, None, leaves).map(ArgSpec::Tree) }
}

fn build(py: Python<'_>, spec: &ArgSpec, vals: &mut std::slice::Iter<'_, Val>) -> PyResult<Py<PyAny>> {
    match spec {
        ArgSpec::Static(obj) => Ok(obj.clone_ref(py)),
        ArgSpec::Tree(tree) => {
            let leaves: PyResult<Vec<_>> =
                vals.by_ref().take(tree.n_leaves()).map(|val| wrap(py, val.clone())).collect();
            unflatten(py, tree, leaves?)
        }
    }
}

/// A staged function.
pub struct StagedCall {
    /// The jaxpr: captured values first, then the leaves.
    pub jaxpr: JaxprRef,
    /// Outer tracers that the function used.
    pub captured: Vec<Val>,
    /// Structure of the result.
    pub out_tree: TreeDef,
}

/// What is staged, and for which transform.
pub struct Job<'a, 'py> {
    /// The transform's name, for errors.
    pub transform: &'static str,
    /// The function.
    pub fun: &'a Bound<'py, PyAny>,
    /// Its positional arguments, for names in errors.
    pub args: &'a Bound<'py, PyTuple>,
    /// Its keyword arguments.
    pub kwargs: Option<&'a Bound<'py, PyDict>>,
    /// Which are static.
    pub statics: &'a Statics,
}

/// Runs a function on tracers.
///
/// # Errors
/// What the function raises; `TypeError` when it returns something that is no value.
pub fn stage(job: &Job<'_, '_>, spec: &CallSpec, avals: &[Aval]) -> Result<StagedCall> {
    names::check_may_trace(job.transform, job.fun)?;
    let py = job.fun.py();
    let mut out_tree = None;
    let mut id = None;
    let traced = pullback_trace::trace_to_jaxpr(avals, &mut |vals| {
        id = Some(pullback_trace::current().id());
        let statics = job.statics.argnums.clone();
        let _guard = names::enter(job.transform, job.fun, job.args, job.kwargs, statics, avals.len());
        let out = spec.call(job.fun, vals).carry(py)?;
        let (outs, tree) = out_vals(job, &out).carry(py)?;
        out_tree = Some(tree);
        Ok((outs, Some(debug_info(job))))
    })?;
    if let Some(id) = id {
        names::remember_lines(id, &traced.jaxpr);
        pullback_trace::find_leaks(id)?;
    }
    let out_tree = out_tree.expect("the function ran");
    Ok(StagedCall { jaxpr: traced.jaxpr, captured: traced.captured, out_tree })
}

fn debug_info(job: &Job<'_, '_>) -> DebugInfo {
    DebugInfo {
        traced_for: job.transform.into(),
        function: function_name(job.fun),
        place: function_place(job.fun),
        arg_names: vec![],
        result_paths: vec![],
    }
}

fn out_vals(job: &Job<'_, '_>, out: &Bound<'_, PyAny>) -> PyResult<(Vec<Val>, TreeDef)> {
    let mut leaves = vec![];
    let tree = flatten(out, None, &mut leaves)?;
    let mut vals = Vec::with_capacity(leaves.len());
    for (i, leaf) in leaves.iter().enumerate() {
        match try_val(leaf)?.map_or_else(|| described(job, leaf), |val| Ok(Some(val)))? {
            Some(val) => vals.push(val),
            None => return Err(bad_output(job.transform, job.fun, leaf, &path_of(out, i)?)),
        }
    }
    Ok((vals, tree))
}

/// A value of the type that a result describes, where only types are asked for: `eval_shape` of a function that gives a
/// `ShapeDtypeStruct`.
fn described(job: &Job<'_, '_>, leaf: &Bound<'_, PyAny>) -> PyResult<Option<Val>> {
    if job.transform != "eval_shape" {
        return Ok(None);
    }
    let Some(aval) = aval_of(leaf)? else { return Ok(None) };
    let zero = Val::Literal(pullback_base::Scalar::zero(aval.dtype).weak(aval.weak_type));
    gate(leaf.py(), || pullback_lib::lax::full(&aval.data().shape, &zero)).map(Some)
}

/// The error of a staged function that returned something that is no value.
pub fn bad_output(transform: &str, fun: &Bound<'_, PyAny>, leaf: &Bound<'_, PyAny>, path: &str) -> PyErr {
    let at = if path.is_empty() { String::new() } else { format!(" at output component {path}") };
    type_error(format!(
        "function {} traced for {transform} returned a value of type {}{at}, which is not a valid JAX type",
        names::function_and_place(fun),
        leaf.get_type()
    ))
}

/// Stages a call whose leaves need only shape and dtype.
pub fn stage_avals(job: &Job<'_, '_>) -> PyResult<(CallSpec, Vec<Aval>, StagedCall)> {
    let py = job.fun.py();
    let mut leaves = vec![];
    let spec = CallSpec::of_call(job.args, job.kwargs, job.statics, &mut leaves)?;
    let mut avals = vec![];
    for (i, leaf) in leaves.iter().enumerate() {
        match aval_of(leaf)? {
            Some(aval) => avals.push(aval),
            None => return Err(bad_argument(job.fun, leaf, &leaf_path(job, i))),
        }
    }
    let staged = gate(py, || stage(job, &spec, &avals))?;
    Ok((spec, avals, staged))
}

/// The name of the argument that holds a leaf, with the path inside.
pub fn leaf_path(job: &Job<'_, '_>, index: usize) -> String {
    let skip = |position: usize, name: &str| job.statics.has_position(position) || job.statics.has_name(name);
    names::argument_names(job.fun, job.args, job.kwargs, &skip).get(index).cloned().unwrap_or_default()
}

/// The result of staging, for `Traced` and `make_jaxpr`.
#[pyclass(module = "pullback._core", frozen)]
pub struct Staged {
    jaxpr: JaxprRef,
    captured: Vec<Val>,
    in_tree: TreeDef,
    out_tree: TreeDef,
    in_avals: Vec<Aval>,
    name: String,
}

#[pymethods]
impl Staged {
    #[getter]
    fn jaxpr(&self) -> PyJaxpr {
        PyJaxpr::new(self.jaxpr.clone())
    }
    /// The jaxpr of the arguments alone: tracers that the function used are its consts.
    #[getter]
    fn closed_jaxpr(&self) -> PyJaxpr {
        PyJaxpr::closed_over(&self.jaxpr, &self.captured)
    }
    #[getter]
    fn in_tree(&self) -> PyTreeDef {
        PyTreeDef(self.in_tree.clone())
    }
    #[getter]
    fn out_tree(&self) -> PyTreeDef {
        PyTreeDef(self.out_tree.clone())
    }
    #[getter]
    fn flat_in_avals(&self) -> Vec<PyAval> {
        self.in_avals.iter().copied().map(PyAval).collect()
    }
    #[getter]
    fn flat_out_avals(&self) -> Vec<PyAval> {
        self.jaxpr.out_avals().into_iter().map(PyAval).collect()
    }
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Whether the function used tracers from outside.
    #[getter]
    fn captures(&self) -> bool {
        !self.captured.is_empty()
    }

    /// The tracers from outside that the function used.
    #[getter]
    fn captured(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        crate::value::wrap_all(py, self.captured.iter().cloned())
    }

    /// Which captured tracers a derivative may go through: those of inexact type that are not mapped constants.
    fn perturbed_captures(&self) -> Vec<bool> {
        self.captured.iter().map(maybe_perturbed).collect()
    }

    /// What the function does to flat values, with other values in place of the captured ones.
    fn call_closed(
        &self,
        py: Python<'_>,
        captured: Vec<Bound<'_, PyAny>>,
        leaves: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let vals: PyResult<Vec<Val>> = captured.iter().chain(&leaves).map(crate::value::to_val).collect();
        let vals = vals?;
        let outs = gate(py, || pullback_ir::eval_jaxpr(&*pullback_trace::current(), &self.jaxpr, &vals))?;
        crate::call::tree_of(py, &self.out_tree, outs)
    }

    /// Makes the machine code of the program, or finds it when it was made before.
    fn compile(&self, py: Python<'_>) -> PyResult<()> {
        gate(py, || pullback_backend::executable(&self.jaxpr).map(|_| ()))
    }

    /// The machine code of the program, closed over what it captured, as bytes that a program without Python loads.
    fn saved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let known: Option<Vec<Array>> = self.captured.iter().map(Val::to_array).collect();
        let bytes = gate(py, || {
            let known =
                known.ok_or_else(|| Error::type_error("a compiled function that uses a tracer cannot be saved"))?;
            pullback_backend::native(&JaxprRef::new(self.jaxpr.closed_over(&known)))?.save()
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Runs the staged program on flat values. `donated` marks inputs of the jaxpr whose memory results may take over.
    #[pyo3(signature = (leaves, donated=vec![]))]
    fn call_flat(&self, py: Python<'_>, leaves: Vec<Bound<'_, PyAny>>, donated: Vec<bool>) -> PyResult<Py<PyAny>> {
        let mut vals = self.captured.clone();
        for leaf in &leaves {
            vals.push(crate::value::to_val(leaf)?);
        }
        let mut jit = Jit::new(self.name.as_str().into(), self.jaxpr.clone());
        let (taken, _) = donations(&donated, &self.jaxpr.in_avals(), &self.jaxpr.out_avals());
        jit.donated_invars = taken.iter().map(Option::is_some).collect();
        let outs = gate(py, || pullback_trace::bind(JIT, &Params::new(jit), &vals))?;
        crate::call::tree_of(py, &self.out_tree, outs)
    }
}

fn maybe_perturbed(val: &Val) -> bool {
    match val {
        Val::Literal(_) | Val::Array(_) => false,
        Val::Tracer(tracer) => match &tracer.slot {
            pullback_ir::Slot::Batched(batched) => maybe_perturbed(&batched.value),
            pullback_ir::Slot::Var(_) | pullback_ir::Slot::Dual(_) | pullback_ir::Slot::Foreign(_) => {
                tracer.aval.dtype.is_inexact()
            }
        },
    }
}

impl Staged {
    /// The jaxpr, the values it captured, and the structures of arguments and results.
    pub fn parts(&self) -> (&JaxprRef, &[Val], &TreeDef, &TreeDef) {
        (&self.jaxpr, &self.captured, &self.in_tree, &self.out_tree)
    }
}

/// Stages a call of `fun` for the named transform; leaves need only shape and dtype.
#[pyfunction]
#[pyo3(signature = (fun, args, kwargs, static_argnums=vec![], static_argnames=vec![], transform="jit"))]
fn stage_call(
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: &Bound<'_, PyDict>,
    static_argnums: Vec<usize>,
    static_argnames: Vec<String>,
    transform: &str,
) -> PyResult<Staged> {
    let transform = ["jit", "make_jaxpr", "eval_shape", "checkpoint", "shard_map"]
        .into_iter()
        .find(|known| *known == transform)
        .unwrap_or("jit");
    let statics = Statics { argnums: static_argnums, argnames: static_argnames };
    let job = Job { transform, fun, args, kwargs: (!kwargs.is_empty()).then_some(kwargs), statics: &statics };
    let (spec, in_avals, staged) = stage_avals(&job)?;
    let jaxpr = with_names(&job, &staged);
    Ok(Staged {
        jaxpr,
        captured: staged.captured,
        in_tree: spec.in_tree(fun.py()),
        out_tree: staged.out_tree,
        in_avals,
        name: function_name(fun),
    })
}

/// The jaxpr with the names of its arguments and results.
fn with_names(job: &Job<'_, '_>, staged: &StagedCall) -> JaxprRef {
    let skip = |position: usize, name: &str| job.statics.has_position(position) || job.statics.has_name(name);
    let mut jaxpr = pullback_ir::Jaxpr::clone(&staged.jaxpr);
    let mut info = debug_info(job);
    info.arg_names = names::argument_names(job.fun, job.args, job.kwargs, &skip);
    info.result_paths = result_paths(job.fun.py(), &staged.out_tree).unwrap_or_default();
    jaxpr.debug = Some(std::sync::Arc::new(info));
    JaxprRef::new(jaxpr)
}

fn result_paths(py: Python<'_>, tree: &TreeDef) -> PyResult<Vec<String>> {
    let marks = (0..tree.n_leaves()).map(|_| py.Ellipsis());
    let skeleton = unflatten(py, tree, marks)?;
    let (found, _) = crate::tree::flatten_with_paths(skeleton.bind(py), None, false)?;
    found.iter().map(|(path, _)| Ok(format!("result{}", crate::tree::key_text(path)?))).collect()
}

pub(super) fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Staged>()?;
    m.add_function(wrap_pyfunction!(stage_call, m)?)
}
