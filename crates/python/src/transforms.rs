//! Derivatives of Python functions: `grad`, `vjp`, `jvp`, `linearize`.
//!
//! Only arguments of inexact type take part in differentiation; the others are closed over, and their tangents are
//! `float0` zeros made at the user's boundary.

use pullback_base::tree::TreeDef;
use pullback_base::{Aval, DType, Result, Scalar, Span};
use pullback_core::prims::instantiate;
use pullback_core::transforms::{Linear, backward_pass, transpose_function};
use pullback_ir::{EmitRef, Jaxpr, JaxprRef, Slot, Val, eval_jaxpr};
use pullback_trace::Traced;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::call::{call_with, check_callable, not_a_jax_type, tree_of, tree_vals};
use crate::errors::{Carry, type_error, value_error};
use crate::gate::{Found, gate, gate_of_numbers};
use crate::names::{self, function_and_place};
use crate::value::{to_val, wrap, wrap_all};

/// The zero tangent of an aval, at the user's boundary.
fn zero_tangent(aval: Aval) -> Result<Val> {
    let tangent = aval.tangent();
    if tangent.dtype == DType::Float0 {
        return pullback_base::Array::full(tangent, Scalar::zero(DType::Float0)).map(Val::Array);
    }
    instantiate(&*pullback_trace::current(), aval, None)
}

/// Which values take part in differentiation.
fn inexact(vals: &[Val]) -> Vec<bool> {
    vals.iter().map(|val| val.aval().dtype.is_inexact()).collect()
}

fn select<T: Clone>(all: &[T], marks: &[bool]) -> Vec<T> {
    all.iter().zip(marks).filter(|(_, marked)| **marked).map(|(item, _)| item.clone()).collect()
}

/// `all` with the entries at the marks replaced by `new`, in order.
fn merge(all: &[Val], marks: &[bool], new: &[Val]) -> Vec<Val> {
    let mut new = new.iter();
    all.iter()
        .zip(marks)
        .map(|(old, &marked)| if marked { new.next().expect("one for each mark").clone() } else { old.clone() })
        .collect()
}

/// The primal values of results that a differentiated function returned beside the main ones.
fn without_tangent(val: &Val, trace: pullback_ir::TraceId) -> Val {
    match val.tracer_of(trace).map(|tracer| &tracer.slot) {
        Some(Slot::Dual(dual)) => dual.primal.clone(),
        _ => val.clone(),
    }
}

/// A function linearized at a point.
struct Linearized {
    outs: Vec<Val>,
    out_tree: TreeDef,
    aux: Option<Py<PyAny>>,
    linear: Linear,
    marks: Vec<bool>,
}

/// The user's function on flat values, for one transform.
struct Job<'a, 'py> {
    transform: &'static str,
    fun: &'a Bound<'py, PyAny>,
    in_tree: &'a TreeDef,
    has_aux: bool,
}

impl<'py> Job<'_, 'py> {
    /// Main result and auxiliary one.
    fn call(&self, vals: &[Val]) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let out = call_with(self.transform, self.fun, self.in_tree, vals)?;
        if !self.has_aux {
            return Ok((out, None));
        }
        let is_pair = out.is_instance_of::<PyTuple>() || out.is_instance_of::<pyo3::types::PyList>();
        let pair = is_pair.then(|| as_tuple(&out)).transpose()?.filter(|pair| pair.len() == 2);
        let Some(pair) = pair else {
            return Err(type_error(format!(
                "expected function with aux output to return a two-element tuple, but got type {} with value {}",
                out.get_type(),
                out.repr()?
            )));
        };
        Ok((pair.get_item(0)?, Some(pair.get_item(1)?)))
    }

    fn linearize(&self, primals: &[Val]) -> Result<Linearized> {
        let py = self.fun.py();
        let marks = inexact(primals);
        let (mut out_tree, mut aux_out) = (None, None);
        let differentiated = select(primals, &marks);
        let (outs, linear) = pullback_trace::linearize(
            &mut |tracers| {
                let vals = merge(primals, &marks, tracers);
                let (out, aux) = self.call(&vals).carry(py)?;
                let (outs, tree) = tree_vals(&out, &not_a_jax_type).carry(py)?;
                out_tree = Some(tree);
                aux_out = aux.map(|aux| strip_aux(&aux)).transpose().carry(py)?;
                Ok(outs)
            },
            &differentiated,
        )?;
        Ok(Linearized { outs, out_tree: out_tree.expect("the function ran"), aux: aux_out, linear, marks })
    }
}

/// The auxiliary tree with primal values in place of tracers of the current trace.
fn strip_aux(aux: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let py = aux.py();
    let trace = pullback_trace::current().id();
    let (leaves, tree) = crate::tree::flatten_all(aux)?;
    let mut stripped = vec![];
    for leaf in leaves {
        stripped.push(match crate::value::as_val(&leaf) {
            Some(val) if val.is_tracer() => wrap(py, without_tangent(val, trace))?,
            _ => leaf.unbind(),
        });
    }
    crate::tree::unflatten(py, &tree, stripped)
}

/// Structure of positional arguments and keyword arguments as one tree, and its leaves.
fn flatten_call<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, TreeDef)> {
    let pair = PyTuple::new(args.py(), [args.as_any(), kwargs.as_any()])?;
    crate::tree::flatten_all(pair.as_any())
}

fn leaf_vals(leaves: &[Bound<'_, PyAny>]) -> PyResult<Vec<Val>> {
    leaves
        .iter()
        .map(|leaf| {
            crate::value::try_val(leaf)?.ok_or_else(|| {
                let text = leaf.str().map(|text| text.to_string()).unwrap_or_default();
                type_error(format!("Argument '{text}' of type {} is not a valid JAX type.", leaf.get_type()))
            })
        })
        .collect()
}

/// Options of `grad` and `value_and_grad`.
struct GradOptions {
    name: String,
    holomorphic: bool,
    allow_int: bool,
}

impl GradOptions {
    fn check_input(&self, aval: Aval) -> PyResult<()> {
        let name = &self.name;
        if self.holomorphic && !aval.dtype.is_complex() {
            return Err(type_error(format!(
                "{name} with holomorphic=True requires inputs with complex dtype, but got {}.",
                aval.dtype
            )));
        }
        if !self.allow_int && !aval.dtype.is_inexact() {
            return Err(type_error(format!(
                "{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got {}. If \
                 you want to use Boolean- or integer-valued inputs, use vjp or set allow_int to True.",
                aval.dtype
            )));
        }
        Ok(())
    }

    fn check_output(&self, aval: Aval) -> PyResult<()> {
        let (name, dtype) = (&self.name, aval.dtype);
        if self.holomorphic {
            return if dtype.is_complex() {
                Ok(())
            } else {
                Err(type_error(format!(
                    "{name} with holomorphic=True requires outputs with complex dtype, but got {dtype}."
                )))
            };
        }
        if dtype.is_complex() {
            return Err(type_error(format!(
                "{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {dtype}. For \
                 holomorphic differentiation, pass holomorphic=True. For differentiation of non-holomorphic functions \
                 involving complex outputs, use jax.vjp directly."
            )));
        }
        if !dtype.is_float() {
            return Err(type_error(format!(
                "{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {dtype}. For \
                 differentiation of functions with integer outputs, use jax.vjp directly."
            )));
        }
        Ok(())
    }
}

fn check_scalar(linearized: &Linearized, py: Python<'_>) -> PyResult<()> {
    if !linearized.out_tree.is_leaf() {
        let out = tree_of(py, &linearized.out_tree, linearized.outs.iter().cloned())?;
        return Err(type_error(format!(
            "Gradient only defined for scalar-output functions. Output was {}.",
            out.bind(py).repr()?
        )));
    }
    let aval = linearized.outs[0].aval();
    if aval.rank() > 0 {
        return Err(type_error(format!(
            "Gradient only defined for scalar-output functions. Output had shape: {}. To get the gradient, reduce the output to \
             a scalar with output.sum(), or use jax.jacobian to differentiate a function with a non-scalar output.",
            pullback_base::aval::tuple_text(&aval.shape)
        )));
    }
    Ok(())
}

/// Value, auxiliary output and gradient of a function with a scalar result.
///
/// Only leaves of the arguments numbered in `argnums` are differentiated. Gives `(value, aux, flat gradients)` with
/// trees of the differentiated arguments.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "called from one place, in order")]
fn value_and_grad(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: &Bound<'_, PyDict>,
    argnums: Vec<usize>,
    is_single: bool,
    has_aux: bool,
    holomorphic: bool,
    allow_int: bool,
    name: String,
) -> PyResult<(Py<PyAny>, Option<Py<PyAny>>, Py<PyAny>)> {
    let options = GradOptions { name, holomorphic, allow_int };
    let picked: PyResult<Vec<_>> = argnums.iter().map(|&i| args.get_item(i)).collect();
    let picked = picked?;
    let target = if is_single { picked[0].clone() } else { PyTuple::new(py, &picked)?.into_any() };
    let (leaves, target_tree) = crate::tree::flatten_all(&target)?;
    let primals = leaf_vals(&leaves)?;
    primals.iter().try_for_each(|primal| options.check_input(primal.aval()))?;

    let others = Others { args, kwargs, argnums: &argnums, is_single };
    let call = others.function(fun)?;
    let in_tree = TreeDef::tuple(vec![TreeDef::tuple(vec![target_tree.clone()]), empty_keywords(py)]);
    let job = Job { transform: "grad", fun: &call, in_tree: &in_tree, has_aux };
    let linearized = gate(py, || job.linearize(&primals))?;
    check_scalar(&linearized, py)?;
    options.check_output(linearized.outs[0].aval())?;

    let grads = gate_of_numbers(py, Found::InBackwardPass, || gradients(&linearized, &primals))?;
    let value = wrap(py, linearized.outs[0].clone())?;
    Ok((value, linearized.aux, tree_of(py, &target_tree, grads)?))
}

fn empty_keywords(py: Python<'_>) -> TreeDef {
    TreeDef::new(crate::tree::PyNode::dict(pyo3::types::PyList::empty(py)).into_node(), vec![])
}

/// The arguments that are not differentiated.
struct Others<'a, 'py> {
    args: &'a Bound<'py, PyTuple>,
    kwargs: &'a Bound<'py, PyDict>,
    argnums: &'a [usize],
    is_single: bool,
}

impl<'py> Others<'_, 'py> {
    /// The function of the differentiated arguments alone.
    fn function(&self, fun: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = fun.py();
        let closure = PartialCall {
            fun: fun.clone().unbind(),
            args: self.args.clone().unbind(),
            kwargs: self.kwargs.clone().unbind(),
            argnums: self.argnums.to_vec(),
            is_single: self.is_single,
        };
        Ok(Bound::new(py, closure)?.into_any())
    }
}

/// A function with all arguments given but those at some positions.
#[pyclass(module = "pullback._core", frozen)]
struct PartialCall {
    fun: Py<PyAny>,
    args: Py<PyTuple>,
    kwargs: Py<PyDict>,
    argnums: Vec<usize>,
    is_single: bool,
}

#[pymethods]
impl PartialCall {
    fn __call__(&self, py: Python<'_>, target: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let mut args: Vec<_> = self.args.bind(py).iter().collect();
        if self.is_single {
            args[self.argnums[0]] = target.clone();
        } else {
            for (&at, value) in self.argnums.iter().zip(target.try_iter()?) {
                args[at] = value?;
            }
        }
        self.fun.call(py, PyTuple::new(py, args)?, Some(self.kwargs.bind(py)))
    }

    #[getter]
    fn func(&self, py: Python<'_>) -> Py<PyAny> {
        self.fun.clone_ref(py)
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.fun)?;
        visit.call(&self.args)?;
        visit.call(&self.kwargs)
    }
}

fn gradients(linearized: &Linearized, primals: &[Val]) -> Result<Vec<Val>> {
    let out = linearized.outs[0].aval();
    let one = Val::Literal(Scalar::one(out.dtype).weak(out.weak_type));
    cotangents(linearized, primals, &[Some(one)])
}

/// Cotangents of all inputs: zeros of type `float0` for those without derivative.
fn cotangents(linearized: &Linearized, primals: &[Val], cts: &[Option<Val>]) -> Result<Vec<Val>> {
    let found = pullback_trace::pull_back(&linearized.linear, cts)?;
    let mut found = found.into_iter();
    let mut all = vec![];
    for (primal, &marked) in primals.iter().zip(&linearized.marks) {
        let aval = primal.aval();
        all.push(match marked {
            true => found.next().expect("one for each differentiated input"),
            false => zero_tangent(aval)?,
        });
    }
    Ok(all)
}

/// The derivative of a function at a point, without its residuals: those are passed in front of the arguments.
#[pyclass(module = "pullback._core", frozen, weakref)]
struct LinearRule {
    jaxpr: JaxprRef,
    n_residuals: usize,
    /// Avals of all inputs, and which are differentiated.
    ins: Vec<(Aval, bool)>,
    /// Avals of all results, and which depend on the inputs.
    outs: Vec<(Aval, bool)>,
    in_tree: TreeDef,
    out_tree: TreeDef,
    place: String,
    is_transposed: bool,
    is_safe: bool,
}

/// The same program with its arrays as first inputs, and these: they are residuals as captured tracers are.
fn with_consts_as_inputs(jaxpr: &JaxprRef) -> (JaxprRef, Vec<Val>) {
    if jaxpr.consts.is_empty() {
        return (jaxpr.clone(), vec![]);
    }
    let mut open = Jaxpr::clone(jaxpr);
    let consts = std::mem::take(&mut open.consts);
    open.invars.splice(0..0, std::mem::take(&mut open.constvars));
    (JaxprRef::new(open), consts.into_iter().map(Val::Array).collect())
}

impl LinearRule {
    fn new(
        linearized: &Linearized,
        primals: &[Val],
        in_tree: TreeDef,
        place: String,
        is_transposed: bool,
    ) -> (LinearRule, Vec<Val>) {
        let linear = &linearized.linear;
        let ins = primals.iter().map(Val::aval).zip(linearized.marks.iter().copied()).collect();
        let outs = linear.out_avals().into_iter().zip(linear.depends()).collect();
        let (jaxpr, consts) = with_consts_as_inputs(linear.jaxpr());
        let (n_residuals, out_tree) = (consts.len() + linear.residuals().len(), linearized.out_tree.clone());
        let is_safe = linear.is_safe();
        (LinearRule { jaxpr, n_residuals, ins, outs, in_tree, out_tree, place, is_transposed, is_safe }, consts)
    }

    fn pull_back(&self, residuals: &[Val], cts: &[Option<Val>]) -> Result<Vec<Val>> {
        let e = pullback_trace::current();
        let n_linear = self.jaxpr.invars.len() - self.n_residuals;
        let known: Vec<Option<Val>> =
            residuals.iter().cloned().map(Some).chain(std::iter::repeat_n(None, n_linear)).collect();
        let wanted: Vec<Option<Val>> =
            cts.iter().zip(&self.outs).filter(|(_, (_, depends))| *depends).map(|(ct, _)| ct.clone()).collect();
        let run = |e: &EmitRef, cts: &[Option<Val>]| {
            Span::within_transform("transpose", || backward_pass(e, &self.jaxpr, &known, cts))
        };
        let found = pullback_trace::where_safe(self.is_safe, &e, &wanted, run);
        let mut found = found?.split_off(self.n_residuals).into_iter();
        let mut all = vec![];
        for &(aval, marked) in &self.ins {
            all.push(match marked {
                true => instantiate(&*e, aval.tangent(), found.next().flatten())?,
                false => zero_tangent(aval)?,
            });
        }
        Ok(all)
    }

    fn push_forward(&self, residuals: &[Val], tangents: &[Val]) -> Result<Vec<Val>> {
        let marks: Vec<bool> = self.ins.iter().map(|(_, marked)| *marked).collect();
        let run = |e: &EmitRef, tangents: &[Option<Val>]| {
            let args: Vec<Val> = residuals.iter().cloned().chain(tangents.iter().flatten().cloned()).collect();
            Ok(eval_jaxpr(&**e, &self.jaxpr, &args)?.into_iter().map(Some).collect())
        };
        let tangents: Vec<Option<Val>> = select(tangents, &marks).into_iter().map(Some).collect();
        let found = pullback_trace::where_safe(self.is_safe, &pullback_trace::current(), &tangents, run)?;
        let mut found = found.into_iter().flatten();
        let next = |&(aval, depends): &(Aval, bool)| match depends {
            true => Ok(found.next().expect("one for each dependent result")),
            false => zero_tangent(aval),
        };
        self.outs.iter().map(next).collect()
    }

    fn check_cotangents(&self, given: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Val>>> {
        let (leaves, tree) = crate::tree::flatten_all(given)?;
        if tree != self.out_tree {
            return Err(value_error(format!(
                "unexpected tree structure.\n\nThe argument to a VJP function returned by `jax.vjp` must match the pytree\n\
                 structure of the differentiated function {}.\n\nBut the tree structures differ:\n  * the output has structure \
                 {}, but the argument has structure {tree}.",
                self.place, self.out_tree
            )));
        }
        let mut cts = vec![];
        for (leaf, &(aval, _)) in leaves.iter().zip(&self.outs) {
            let wanted = aval.tangent().weak(false);
            let ct = to_val(leaf)?;
            let found = ct.aval().weak(false);
            if wanted.dtype == DType::Float0 && found == aval.weak(false) {
                // Integers have no cotangent; one that is like the result says nothing.
                cts.push(None);
                continue;
            }
            if found != wanted {
                return Err(value_error(format!(
                    "unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got {}, but expected {} because the \
                     corresponding output of the differentiated function had JAX type {}",
                    found.long(),
                    wanted.long(),
                    aval.weak(false).long()
                )));
            }
            cts.push((wanted.dtype != DType::Float0).then_some(ct));
        }
        Ok(cts)
    }

    fn check_tangents(&self, args: &[Bound<'_, PyAny>], py: Python<'_>) -> PyResult<Vec<Val>> {
        let tuple = PyTuple::new(py, args)?;
        let (leaves, tree) = crate::tree::flatten_all(tuple.as_any())?;
        if tree != self.in_tree {
            return Err(type_error(format!(
                "linearized function called with tangents of structure {tree}, but the primals had structure {}",
                self.in_tree
            )));
        }
        let mut tangents = vec![];
        for (leaf, &(aval, _)) in leaves.iter().zip(&self.ins) {
            let tangent = to_val(leaf)?;
            let (found, wanted) = (tangent.aval().weak(false), aval.tangent().weak(false));
            if found != wanted {
                return Err(value_error(format!(
                    "linearized function called on tangent values inconsistent with the original primal values:\nGot tangent \
                     aval {} for primal aval {} but expected {}.",
                    found.long(),
                    aval.weak(false).long(),
                    wanted.long()
                )));
            }
            tangents.push(tangent);
        }
        Ok(tangents)
    }
}

#[pymethods]
impl LinearRule {
    #[pyo3(signature = (*args))]
    fn __call__(&self, py: Python<'_>, args: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
        let args: Vec<_> = args.iter().collect();
        let (residuals, rest) = args.split_at(self.n_residuals.min(args.len()));
        let residuals: PyResult<Vec<Val>> = residuals.iter().map(to_val).collect();
        let residuals = residuals?;
        if !self.is_transposed {
            let tangents = self.check_tangents(rest, py)?;
            let outs = gate(py, || self.push_forward(&residuals, &tangents))?;
            return tree_of(py, &self.out_tree, outs);
        }
        let [ct] = rest else {
            return Err(type_error(format!(
                "The function returned by `jax.vjp` takes one argument, the cotangents of the results; got {}",
                rest.len()
            )));
        };
        let cts = self.check_cotangents(ct)?;
        let found = gate_of_numbers(py, Found::InBackwardPass, || self.pull_back(&residuals, &cts))?;
        tree_of(py, &self.in_tree, found)
    }

    fn __repr__(&self) -> String {
        let kind = if self.is_transposed { "vjp" } else { "jvp" };
        format!("<{kind} of {}>", self.place)
    }
}

/// Linearizes `fun` at `primals`: results, auxiliary output, the rule and its residuals.
#[pyfunction]
fn linearize_at(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    primals: &Bound<'_, PyTuple>,
    has_aux: bool,
    is_transposed: bool,
) -> PyResult<(Py<PyAny>, Option<Py<PyAny>>, Py<PyAny>, Vec<Py<PyAny>>)> {
    check_callable(fun)?;
    let (leaves, tree) = flatten_call(primals, &PyDict::new(py))?;
    let vals = leaf_vals(&leaves)?;
    let transform = if is_transposed { "vjp" } else { "linearize" };
    let job = Job { transform, fun, in_tree: &tree, has_aux };
    let linearized = gate(py, || job.linearize(&vals))?;
    let in_tree = tree.children()[0].clone();
    let (rule, consts) = LinearRule::new(&linearized, &vals, in_tree, function_and_place(fun), is_transposed);
    let residuals = wrap_all(py, consts.into_iter().chain(linearized.linear.residuals().iter().cloned()))?;
    let out = tree_of(py, &linearized.out_tree, linearized.outs)?;
    Ok((out, linearized.aux, Py::new(py, rule)?.into_any(), residuals))
}

fn check_tangent(primal: Aval, tangent: Aval) -> PyResult<()> {
    let wanted = primal.tangent();
    if wanted.dtype != tangent.dtype {
        return Err(type_error(format!(
            "primal and tangent arguments to jax.jvp do not match; dtypes must be equal, or in case of int/bool primal dtype the \
             tangent dtype must be float0. Got primal dtype {} and so expected tangent dtype {}, but got tangent dtype {} \
             instead.",
            primal.dtype, wanted.dtype, tangent.dtype
        )));
    }
    if primal.shape != tangent.shape {
        let text = |aval: Aval| pullback_base::aval::tuple_text(&aval.shape);
        return Err(value_error(format!(
            "jvp called with different primal and tangent shapes; Got primal shape {} and tangent shape as {}",
            text(primal),
            text(tangent)
        )));
    }
    Ok(())
}

fn as_tuple<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(obj.py(), obj.try_iter()?.collect::<PyResult<Vec<_>>>()?)
}

/// Results of `fun` at `primals` and their tangents, and the auxiliary output.
#[pyfunction]
fn jvp(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    primals: &Bound<'_, PyAny>,
    tangents: &Bound<'_, PyAny>,
    has_aux: bool,
) -> PyResult<(Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>)> {
    check_callable(fun)?;
    let is_sequence =
        |obj: &Bound<'_, PyAny>| obj.is_instance_of::<PyTuple>() || obj.is_instance_of::<pyo3::types::PyList>();
    if !is_sequence(primals) || !is_sequence(tangents) {
        return Err(type_error(format!(
            "primal and tangent arguments to jax.jvp must be tuples or lists; found {} and {}.",
            names::class_name(primals),
            names::class_name(tangents)
        )));
    }
    let (kind, other) = (primals.get_type(), tangents.get_type());
    if !kind.is(&other) {
        let tree = |obj: &Bound<'_, PyAny>| Ok::<_, PyErr>(crate::tree::flatten_all(obj)?.1);
        return Err(type_error(format!(
            "primal and tangent arguments to jax.jvp must have the same tree structure; primals have tree structure \
             {} whereas tangents have tree structure {}.",
            tree(primals)?,
            tree(tangents)?
        )));
    }
    let (primals, tangents) = (as_tuple(primals)?, as_tuple(tangents)?);
    let (leaves, tree) = flatten_call(&primals, &PyDict::new(py))?;
    let (dots, dots_tree) = flatten_call(&tangents, &PyDict::new(py))?;
    if tree != dots_tree {
        return Err(type_error(format!(
            "primal and tangent arguments to jax.jvp must have the same tree structure; primals have tree structure {} whereas \
             tangents have tree structure {}.",
            tree.children()[0],
            dots_tree.children()[0]
        )));
    }
    let (xs, dots) = (leaf_vals(&leaves)?, leaf_vals(&dots)?);
    let mut ts = vec![];
    for (x, t) in xs.iter().zip(dots) {
        check_tangent(x.aval(), t.aval())?;
        ts.push((t.aval().dtype != DType::Float0).then_some(t));
    }
    let job = Job { transform: "jvp", fun, in_tree: &tree, has_aux };
    let (mut out_tree, mut aux_out) = (None, None);
    let (outs, out_dots) = gate(py, || {
        let mut flat = |vals: &[Val]| -> Result<Vec<Val>> {
            let (out, aux) = job.call(vals).carry(py)?;
            let (outs, tree) = tree_vals(&out, &not_a_jax_type).carry(py)?;
            out_tree = Some(tree);
            aux_out = aux.map(|aux| strip_aux(&aux)).transpose().carry(py)?;
            Ok(outs)
        };
        let (outs, dots) = pullback_trace::jvp(&mut flat, &xs, &ts)?;
        let full = |(out, dot): (&Val, Option<Val>)| dot.map_or_else(|| zero_tangent(out.aval()), Ok);
        let dots: Result<Vec<Val>> = outs.iter().zip(dots).map(full).collect();
        Ok((outs, dots?))
    })?;
    let out_tree = out_tree.expect("the function ran");
    Ok((tree_of(py, &out_tree, outs)?, tree_of(py, &out_tree, out_dots)?, aux_out))
}

/// What `fun` does at given arrays, with control flow of Python as it goes there; and the arrays.
pub fn recorded(py: Python<'_>, fun: &Bound<'_, PyAny>, args: &Bound<'_, PyTuple>) -> Result<(Traced, Vec<Val>)> {
    let (leaves, tree) = flatten_call(args, &PyDict::new(py)).carry(py)?;
    let vals = leaf_vals(&leaves).carry(py)?;
    let job = Job { transform: "grad", fun, in_tree: &tree, has_aux: false };
    let mut flat = |vals: &[Val]| -> Result<Vec<Val>> {
        let (out, _) = job.call(vals).carry(py)?;
        Ok(tree_vals(&out, &not_a_jax_type).carry(py)?.0)
    };
    Ok((pullback_trace::record(&mut flat, &vals)?, vals))
}

/// The jaxpr of what `fun` does at given arrays.
#[pyfunction]
fn record_call(py: Python<'_>, fun: &Bound<'_, PyAny>, args: &Bound<'_, PyTuple>) -> PyResult<crate::jaxpr::PyJaxpr> {
    let (traced, _) = gate(py, || recorded(py, fun, args))?;
    Ok(crate::jaxpr::PyJaxpr::closed_over(&traced.jaxpr, &traced.captured))
}

/// The transpose of a linear function at a point: cotangents of its inputs.
#[pyfunction]
fn linear_transpose(py: Python<'_>, staged: &crate::jit::Staged, out_cts: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let (jaxpr, captured, in_tree, out_tree) = staged.parts();
    let (leaves, tree) = crate::tree::flatten_all(out_cts)?;
    if tree != *out_tree {
        return Err(type_error(format!(
            "cotangent tree does not match function output, expected {out_tree} but got {tree}"
        )));
    }
    let cts: PyResult<Vec<Option<Val>>> = leaves.iter().map(|leaf| to_val(leaf).map(Some)).collect();
    let cts = cts?;
    check_cotangents(&jaxpr.out_avals(), &cts)?;
    let found = gate(py, || {
        let e = pullback_trace::current();
        let found = Span::within_transform("transpose", || transpose_function(&e, jaxpr, captured, &cts))?;
        let avals = jaxpr.in_avals().split_off(captured.len());
        found.into_iter().zip(avals).map(|(ct, aval)| instantiate(&*e, aval, ct)).collect::<Result<Vec<Val>>>()
    })?;
    tree_of(py, &in_tree.children()[0], found)
}

fn check_cotangents(outs: &[Aval], cts: &[Option<Val>]) -> PyResult<()> {
    let given: Vec<Aval> = cts.iter().flatten().map(Val::aval).collect();
    if outs.iter().zip(&given).all(|(out, ct)| out.data().shape == ct.data().shape && out.dtype == ct.dtype) {
        return Ok(());
    }
    let text = |avals: &[Aval]| avals.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Err(type_error(format!(
        "cotangent type does not match function output, expected ({}) but got ({})",
        text(outs),
        text(&given)
    )))
}

/// The user's line, as text; for Python code that words its own errors.
#[pyfunction]
fn user_line(py: Python<'_>) -> Option<String> {
    let span: Span = crate::gate::user_span(py);
    span.resolve().map(|place| place.to_string())
}

/// Name and place of a function, for errors.
#[pyfunction]
fn describe_function(fun: &Bound<'_, PyAny>) -> String {
    function_and_place(fun)
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(value_and_grad, m)?)?;
    m.add_function(wrap_pyfunction!(linearize_at, m)?)?;
    m.add_function(wrap_pyfunction!(jvp, m)?)?;
    m.add_function(wrap_pyfunction!(linear_transpose, m)?)?;
    m.add_function(wrap_pyfunction!(record_call, m)?)?;
    m.add_function(wrap_pyfunction!(user_line, m)?)?;
    m.add_function(wrap_pyfunction!(describe_function, m)?)
}
