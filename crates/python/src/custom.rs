//! Functions with derivatives that the user wrote in Python.
//!
//! Where nothing is traced the function itself runs. Otherwise its jaxpr is bound with the rule, an object that holds
//! the user's functions and calls them on the emitter that a transform gives it.

use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::tree::TreeDef;
use pullback_base::{Aval, DType, Error, ErrorKind, Result};
use pullback_core::control::{
    CUSTOM_JVP_CALL, CUSTOM_VJP_CALL, CustomJvpCall, CustomVjpCall, JvpRuleRef, VjpRule, VjpRuleRef,
};
use pullback_core::prims::instantiate;
use pullback_ir::{CustomRule, Emit, EmitRef, Jaxpr, JaxprRef, Params, Tangents, Val, Vals};
use pullback_trace::{Traced, bind, is_tracing, with_current};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::call::{not_a_jax_type, tree_of, tree_vals};
use crate::errors::{Carry, exception_class, type_error, value_error};
use crate::gate::gate;
use crate::jit::{CallSpec, Job, StagedCall, Statics, stage};
use crate::names::{function_and_place, function_name};
use crate::tracer::concrete;
use crate::tree::{broadcast_prefix, flatten_all, unflatten};
use crate::value::{to_val, try_val, wrap, wrap_all};

/// One call of a function with a custom derivative.
struct Call<'a, 'py> {
    fun: &'a Bound<'py, PyAny>,
    args: &'a Bound<'py, PyTuple>,
    vals: Vec<Val>,
}

impl<'a, 'py> Call<'a, 'py> {
    fn new(fun: &'a Bound<'py, PyAny>, args: &'a Bound<'py, PyTuple>) -> PyResult<(Call<'a, 'py>, TreeDef)> {
        let (leaves, tree) = flatten_all(args.as_any())?;
        let vals: PyResult<Vec<Val>> = leaves.iter().map(to_val).collect();
        Ok((Call { fun, args, vals: vals? }, tree))
    }

    /// Whether the function itself runs: on plain values, with nothing staged around.
    fn is_eager(&self) -> bool {
        let is_at_once = || {
            let current = pullback_trace::current();
            chain(&current).last().is_some_and(|emit| emit.id() == pullback_ir::TraceId::EVAL)
        };
        !self.vals.iter().any(Val::is_tracer) && (!is_tracing() || is_at_once())
    }

    /// Whether all values are known, and all traces that they are of differentiate at once, with nothing staged between.
    fn is_known(&self) -> bool {
        let current = pullback_trace::current();
        let is_ours = |val: &Val| match val {
            Val::Tracer(tracer) => concrete(val).is_some() && chain(&current).any(|emit| emit.id() == tracer.trace),
            Val::Literal(_) | Val::Array(_) => true,
        };
        self.vals.iter().all(is_ours)
    }

    /// The jaxpr of the function. Where a derivative of known values is taken, the rule alone is asked, and the function does
    /// not run: an empty jaxpr stands in. A function that looks at values has none.
    fn stage(&self, transform: &'static str) -> Result<Option<StagedCall>> {
        let py = self.fun.py();
        if !pullback_trace::is_recording() && self.is_known() && self.vals.iter().any(Val::is_tracer) {
            return Ok(Some(stand_in(&self.vals)));
        }
        let statics = Statics::default();
        let job = Job { transform, fun: self.fun, args: self.args, kwargs: None, statics: &statics };
        let spec = CallSpec::of_call(self.args, None, &statics, &mut vec![]).carry(py)?;
        let avals: Vec<Aval> = self.vals.iter().map(Val::aval).collect();
        match stage(&job, &spec, &avals) {
            Err(error) if self.is_known() && wants_values(py, &error) => Ok(None),
            result => result.map(|staged| Some(hoisted(staged))),
        }
    }
}

/// An emitter and those around it.
fn chain(emit: &EmitRef) -> impl Iterator<Item = &dyn Emit> {
    std::iter::successors(Some(&**emit), |emit| emit.parent())
}

/// The staged function without consts: they become captured values, as rules take them.
fn hoisted(staged: StagedCall) -> StagedCall {
    let traced = Traced { jaxpr: staged.jaxpr, captured: staged.captured }.hoisted();
    StagedCall { jaxpr: traced.jaxpr, captured: traced.captured, out_tree: staged.out_tree }
}

/// Whether tracing failed because a concrete value was needed.
fn wants_values(py: Python<'_>, error: &Error) -> bool {
    if error.kind() == ErrorKind::Concretization {
        return true;
    }
    let Some(raised) = error.payload().and_then(|payload| payload.downcast_ref::<PyErr>()) else { return false };
    exception_class(py, "JAXTypeError").is_ok_and(|class| raised.is_instance(py, &class))
}

fn empty_jaxpr(avals: &[Aval]) -> JaxprRef {
    let builder = pullback_ir::Builder::new();
    for &aval in avals {
        builder.input(aval);
    }
    let (jaxpr, _): (Jaxpr, Vec<Val>) = builder.finish(&[], None);
    JaxprRef::new(jaxpr)
}

/// A tangent or cotangent that is known to be zero, without elements.
///
/// Rules of `custom_jvp` and `custom_vjp` with `symbolic_zeros=True` get and may give them.
///
/// Attributes:
///   aval: the type; `shape`, `dtype` and `ndim` are its.
///
/// Example:
///   >>> jax.custom_derivatives.SymbolicZero.from_primal_value(jnp.ones(2)).aval
///   ShapedArray(float32[2])
#[pyclass(name = "SymbolicZero", module = "pullback.custom_derivatives", frozen, weakref)]
pub struct PySymbolicZero(Aval);

#[pymethods]
impl PySymbolicZero {
    #[new]
    fn new(aval: &crate::aval::PyAval) -> PySymbolicZero {
        PySymbolicZero(aval.0)
    }

    /// The zero tangent of a value.
    #[staticmethod]
    fn from_primal_value(val: &Bound<'_, PyAny>) -> PyResult<PySymbolicZero> {
        Ok(PySymbolicZero(to_val(val)?.aval().tangent()))
    }

    /// The type: shape and dtype.
    #[getter]
    fn aval(&self) -> crate::aval::PyAval {
        crate::aval::PyAval(self.0)
    }

    /// What the aval knows: `shape`, `dtype`, `ndim`.
    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        Py::new(py, self.aval())?.bind(py).getattr(name).map(Bound::unbind)
    }

    fn __repr__(&self) -> &'static str {
        "SymbolicZero"
    }
}

/// An argument of a forward rule that is told which arguments are differentiated.
///
/// Attributes:
///   value: the argument: an array or number.
///   perturbed: whether it is differentiated.
///
/// Example:
///   >>> jax.custom_derivatives.CustomVJPPrimal(1.0, True).perturbed
///   True
#[pyclass(name = "CustomVJPPrimal", module = "pullback.custom_derivatives", frozen, weakref)]
pub struct PyVjpPrimal {
    /// The argument: an array or number.
    #[pyo3(get)]
    value: Py<PyAny>,
    /// Whether it is differentiated.
    #[pyo3(get)]
    perturbed: bool,
}

#[pymethods]
impl PyVjpPrimal {
    #[new]
    fn new(value: Py<PyAny>, perturbed: bool) -> PyVjpPrimal {
        PyVjpPrimal { value, perturbed }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let perturbed = if self.perturbed { "True" } else { "False" };
        Ok(format!("CustomVJPPrimal(value={}, perturbed={perturbed})", self.value.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.value)
    }
}

/// Tangents or cotangents as Python values: symbolic zeros stay such when the rule wants them.
fn linear_leaves(py: Python<'_>, avals: &[Aval], vals: &[Option<Val>], symbolic: bool) -> PyResult<Vec<Py<PyAny>>> {
    let e = pullback_trace::current();
    let leaf = |(&aval, val): (&Aval, &Option<Val>)| -> PyResult<Py<PyAny>> {
        let tangent = aval.tangent();
        match val {
            Some(val) => wrap(py, val.clone()),
            None if symbolic => Ok(Py::new(py, PySymbolicZero(tangent))?.into_any()),
            None if tangent.dtype == DType::Float0 => {
                let zero = pullback_base::Scalar::zero(DType::Float0);
                let zeros = gate(py, || pullback_base::Array::full(tangent, zero))?;
                wrap(py, Val::Array(zeros))
            }
            None => wrap(py, gate(py, || instantiate(&*e, aval, None))?),
        }
    };
    avals.iter().zip(vals).map(leaf).collect()
}

/// A rule `(primals, tangents) -> (out, out tangent)`.
struct PyJvpRule {
    rule: Py<PyAny>,
    symbolic_zeros: bool,
    name: String,
    function: String,
    in_tree: TreeDef,
    n_captured: usize,
    out_tree: Arc<Mutex<Option<TreeDef>>>,
}

impl PyJvpRule {
    fn call(&self, py: Python<'_>, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        let (primals, tangents) = (&primals[self.n_captured..], &tangents[self.n_captured..]);
        let (outs, dots) = self.call_python(py, primals, tangents).carry(py)?;
        Ok((outs.into(), dots.into()))
    }

    fn call_python(
        &self,
        py: Python<'_>,
        primals: &[Val],
        tangents: &[Option<Val>],
    ) -> PyResult<(Vec<Val>, Vec<Option<Val>>)> {
        let avals: Vec<Aval> = primals.iter().map(Val::aval).collect();
        // Tangents of integers are no values of the rule's formulas: it sees zeros of their own type.
        let dots = match self.symbolic_zeros {
            true => linear_leaves(py, &avals, tangents, true)?,
            false => wrap_all(py, self.instantiated(py, primals, tangents)?)?,
        };
        let primals = tree_of(py, &self.in_tree, primals.iter().cloned())?;
        let dots = unflatten(py, &self.in_tree, dots)?;
        let result = self.rule.bind(py).call1((primals, dots))?;
        let pair: Option<Vec<Bound<'_, PyAny>>> = result
            .extract()
            .ok()
            .filter(|pair: &Vec<_>| pair.len() == 2 && !result.is_instance_of::<crate::value::PyArray>());
        let Some(pair) = pair else {
            return Err(type_error(format!(
                "Custom JVP rule {} for function {} must produce a pair (list or tuple of length two) representing primal and \
                 tangent outputs, but got {}.",
                self.name,
                self.function,
                result.str()?
            )));
        };
        let (outs, tree) = tree_vals(&pair[0], &not_a_jax_type)?;
        let (dots, dots_tree) = flatten_all(&pair[1])?;
        if tree != dots_tree {
            return Err(type_error(format!(
                "Custom JVP rule {} for function {} must produce primal and tangent outputs with equal container (pytree) \
                 structures, but got {tree} and {dots_tree} respectively.",
                self.name, self.function
            )));
        }
        let mut found = vec![];
        for (out, dot) in outs.iter().zip(&dots) {
            if dot.is_instance_of::<PySymbolicZero>() {
                found.push(None);
                continue;
            }
            let dot = try_val(dot)?.ok_or_else(|| not_a_jax_type(dot, ""))?;
            check_dot(out.aval(), dot.aval())?;
            found.push((dot.aval().dtype != DType::Float0).then_some(dot));
        }
        put(&self.out_tree, tree);
        Ok((outs, found))
    }

    fn instantiated(&self, py: Python<'_>, primals: &[Val], tangents: &[Option<Val>]) -> PyResult<Vec<Val>> {
        let e = pullback_trace::current();
        let full = |(x, t): (&Val, &Option<Val>)| instantiate(&*e, x.aval(), t.clone());
        gate(py, || primals.iter().zip(tangents).map(full).collect())
    }
}

/// Keeps a value. What was kept before may run code of the user when it goes, so it goes outside of the lock.
fn put<T>(place: &Mutex<Option<T>>, value: T) {
    let old = place.lock().unwrap_or_else(PoisonError::into_inner).replace(value);
    drop(old);
}

fn check_dot(out: Aval, dot: Aval) -> PyResult<()> {
    let wanted = out.tangent().weak(false);
    if wanted == dot.weak(false) {
        return Ok(());
    }
    Err(type_error(format!(
        "Custom JVP rule must produce primal and tangent outputs with corresponding shapes and dtypes. Expected {} (tangent type \
         of {}) but got {}.",
        wanted.long(),
        out.weak(false).long(),
        dot.weak(false).long()
    )))
}

impl CustomRule for PyJvpRule {
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        Python::attach(|py| with_current(e.clone(), || self.call(py, primals, tangents)))
    }
    fn name(&self) -> String {
        self.name.clone()
    }
}

/// Calls a `custom_jvp` function: `rule` takes the tuples of primals and of tangents.
#[pyfunction]
fn custom_jvp_call(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    rule: &Bound<'_, PyAny>,
    rule_name: String,
    args: &Bound<'_, PyTuple>,
    symbolic_zeros: bool,
) -> PyResult<Py<PyAny>> {
    let name = function_name(fun);
    let (call, in_tree) = Call::new(fun, args)?;
    if call.is_eager() {
        return Ok(fun.call1(args)?.unbind());
    }
    let Some(staged) = gate(py, || call.stage("custom_jvp"))? else { return Ok(fun.call1(args)?.unbind()) };
    let out_tree = Arc::new(Mutex::new(None));
    let rule = PyJvpRule {
        rule: rule.clone().unbind(),
        symbolic_zeros,
        name: rule_name,
        function: name.clone(),
        in_tree,
        n_captured: staged.captured.len(),
        out_tree: out_tree.clone(),
    };
    let params =
        CustomJvpCall { name: name.into(), call_jaxpr: staged.jaxpr, jvp: JvpRuleRef(Arc::new(rule)), symbolic_zeros };
    let ins = [staged.captured, call.vals].concat();
    let outs = gate(py, || bind(CUSTOM_JVP_CALL, &Params::new(params), &ins))?;
    finish(py, staged.out_tree, &out_tree, outs)
}

/// An empty jaxpr for a function whose rule alone runs. A leaf stands for "ask the rule for its structure".
fn stand_in(vals: &[Val]) -> StagedCall {
    let avals: Vec<Aval> = vals.iter().map(Val::aval).collect();
    StagedCall { jaxpr: empty_jaxpr(&avals), captured: vec![], out_tree: TreeDef::leaf() }
}

/// The tree of the results: in the structure of the staged function, or that which the rule gave.
fn finish(py: Python<'_>, staged: TreeDef, ruled: &Mutex<Option<TreeDef>>, outs: Vals) -> PyResult<Py<PyAny>> {
    let ruled = ruled.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let tree = ruled.filter(|tree| tree.n_leaves() == outs.len()).unwrap_or(staged);
    tree_of(py, &tree, outs)
}

/// Rules `args -> (out, residuals)` and `(residuals, cotangent) -> cotangents of args`.
struct PyVjpRule {
    forward: Py<PyAny>,
    backward: Py<PyAny>,
    symbolic_zeros: bool,
    names: [String; 2],
    function: String,
    place: String,
    in_tree: TreeDef,
    n_captured: usize,
    in_avals: Vec<Aval>,
    state: Mutex<Option<Forwarded>>,
    out_tree: Arc<Mutex<Option<TreeDef>>>,
}

/// What the forward rule told of structures and of leaves that are no arrays.
#[derive(Clone)]
struct Forwarded {
    residual_tree: TreeDef,
    out_tree: TreeDef,
    out_avals: Vec<Aval>,
}

impl PyVjpRule {
    fn call_forward(&self, py: Python<'_>, primals: &[Val], perturbed: &[bool]) -> PyResult<(Vec<Val>, Vec<Val>)> {
        let mut leaves = wrap_all(py, primals[self.n_captured..].iter().cloned())?;
        if self.symbolic_zeros {
            for (leaf, &perturbed) in leaves.iter_mut().zip(&perturbed[self.n_captured..]) {
                let value = leaf.clone_ref(py);
                *leaf = Py::new(py, PyVjpPrimal { value, perturbed })?.into_any();
            }
        }
        let args = unflatten(py, &self.in_tree, leaves)?;
        let result = self.forward.bind(py).call1(args.bind(py).cast::<PyTuple>()?)?;
        let pair = result.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
        let Some(pair) = pair else {
            let (fwd, function) = (&self.names[0], &self.function);
            return Err(type_error(format!(
                "Custom VJP fwd rule {fwd} for function {function} must produce a pair (list or tuple of length two) where the \
                 first element represents the primal output (equal to those of the custom_vjp-decorated function {function}) and \
                 the second element represents residuals (i.e. values stored from the forward pass for use on the backward pass), \
                 but instead of a pair the fwd rule {fwd} produced {}.",
                result.str()?
            )));
        };
        let (outs, out_tree) = tree_vals(&pair.get_item(0)?, &not_a_jax_type)?;
        let (residuals, residual_tree) = tree_vals(&pair.get_item(1)?, &not_a_jax_type)?;
        let out_avals = outs.iter().map(Val::aval).collect();
        put(&self.out_tree, out_tree.clone());
        let forwarded = Forwarded { residual_tree, out_tree, out_avals };
        put(&self.state, forwarded);
        Ok((outs, residuals))
    }

    fn call_backward(&self, py: Python<'_>, residuals: &[Val], cts: &[Option<Val>]) -> Result<Tangents> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = state.ok_or_else(|| Error::internal("the backward rule ran before the forward rule"))?;
        self.call_backward_python(py, &state, residuals, cts).carry(py)
    }

    fn call_backward_python(
        &self,
        py: Python<'_>,
        state: &Forwarded,
        residuals: &[Val],
        cts: &[Option<Val>],
    ) -> PyResult<Tangents> {
        let residuals = tree_of(py, &state.residual_tree, residuals.iter().cloned())?;
        let ct = unflatten(py, &state.out_tree, linear_leaves(py, &state.out_avals, cts, self.symbolic_zeros)?)?;
        let result = self.backward.bind(py).call1((residuals, ct))?;
        let result = match result.cast::<pyo3::types::PyList>() {
            Ok(list) => list.to_tuple().into_any(),
            Err(_) => result,
        };
        let n_args = self.in_tree.children().len();
        let fits = result.cast::<PyTuple>().is_ok_and(|tuple| tuple.len() == n_args);
        let spread = if fits { broadcast_prefix(&result, &self.in_tree).ok() } else { None };
        let Some(spread) = spread else { return Err(self.wrong_structure(&result)?) };
        let mut found: Tangents = (0..self.n_captured).map(|_| None).collect();
        for (i, (leaf, &aval)) in spread.iter().zip(&self.in_avals).enumerate() {
            found.push(self.cotangent(leaf, aval, i)?);
        }
        Ok(found)
    }

    fn wrong_structure(&self, result: &Bound<'_, PyAny>) -> PyResult<PyErr> {
        let (_, tree) = flatten_all(result)?;
        Ok(type_error(format!(
            "Custom VJP bwd rule must produce an output with the same container (pytree) structure as the args tuple of the primal \
             function, and in particular must produce a tuple of length equal to the number of arguments to the primal function, \
             but got bwd output structure {tree} for primal input structure {}.",
            self.in_tree
        )))
    }

    fn cotangent(&self, leaf: &Bound<'_, PyAny>, aval: Aval, position: usize) -> PyResult<Option<Val>> {
        let is_zero = leaf.is_none() || leaf.is_instance_of::<PySymbolicZero>();
        if is_zero || aval.tangent().dtype == DType::Float0 {
            return Ok(None);
        }
        let ct = to_val(leaf)?;
        let (found, wanted) = (ct.aval(), aval.tangent());
        // As in the reference, the rule's dtype stands.
        if found.shape != wanted.shape {
            return Err(value_error(format!(
                "Custom VJP bwd rule attached to {} must produce an output with the same type as the args tuple of the primal \
                 function, but at output[{position}] the bwd rule produced an output of type {} corresponding to an input of \
                 type {}, so the shapes do not match",
                self.place,
                found.weak(false).long(),
                aval.weak(false).long()
            )));
        }
        Ok(Some(ct))
    }
}

impl VjpRule for PyVjpRule {
    fn forward(&self, e: &EmitRef, primals: &[Val], perturbed: &[bool]) -> Result<(Vals, Vec<Val>)> {
        Python::attach(|py| {
            let (outs, residuals) = with_current(e.clone(), || self.call_forward(py, primals, perturbed)).carry(py)?;
            Ok((outs.into(), residuals))
        })
    }
    fn backward(&self, e: &EmitRef, residuals: &[Val], cts: &[Option<Val>]) -> Result<Tangents> {
        Python::attach(|py| with_current(e.clone(), || self.call_backward(py, residuals, cts)))
    }
    fn names(&self) -> [String; 2] {
        self.names.clone()
    }
}

/// Calls a `custom_vjp` function: `forward` takes the arguments, `backward` residuals and the cotangent.
#[pyfunction]
fn custom_vjp_call(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    forward: &Bound<'_, PyAny>,
    backward: &Bound<'_, PyAny>,
    rule_names: [String; 2],
    args: &Bound<'_, PyTuple>,
    symbolic_zeros: bool,
) -> PyResult<Py<PyAny>> {
    let name = function_name(fun);
    let (call, in_tree) = Call::new(fun, args)?;
    if call.is_eager() {
        return Ok(fun.call1(args)?.unbind());
    }
    let Some(staged) = gate(py, || call.stage("custom_vjp"))? else { return Ok(fun.call1(args)?.unbind()) };
    let out_tree = Arc::new(Mutex::new(None));
    let rule = PyVjpRule {
        forward: forward.clone().unbind(),
        backward: backward.clone().unbind(),
        symbolic_zeros,
        names: rule_names.clone(),
        function: name.clone(),
        place: function_and_place(fun),
        in_tree,
        n_captured: staged.captured.len(),
        in_avals: call.vals.iter().map(Val::aval).collect(),
        state: Mutex::new(None),
        out_tree: out_tree.clone(),
    };
    let [_, bwd] = rule_names;
    let params = CustomVjpCall {
        name: name.into(),
        call_jaxpr: staged.jaxpr,
        fwd: VjpRuleRef(Arc::new(rule)),
        bwd: bwd.into(),
        symbolic_zeros,
    };
    let ins = [staged.captured, call.vals].concat();
    let outs = gate(py, || bind(CUSTOM_VJP_CALL, &Params::new(params), &ins))?;
    finish(py, staged.out_tree, &out_tree, outs)
}

/// Whether nothing is being traced on this thread.
///
/// Returns: a bool.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> jax.core.trace_state_clean()
///   True
#[pyfunction]
fn trace_state_clean() -> bool {
    !is_tracing()
}

/// A number for the trace that is current on this thread.
#[pyfunction]
fn current_trace() -> String {
    format!("{:?}", pullback_trace::current().id())
}

/// Operations on known values run at once until the matching `leave_evaluation`, whatever is being traced.
#[pyfunction]
fn enter_evaluation() {
    pullback_trace::enter_evaluation();
}

/// Ends `enter_evaluation`.
#[pyfunction]
fn leave_evaluation() {
    pullback_trace::leave();
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PySymbolicZero>()?;
    m.add_class::<PyVjpPrimal>()?;
    m.add_function(wrap_pyfunction!(enter_evaluation, m)?)?;
    m.add_function(wrap_pyfunction!(leave_evaluation, m)?)?;
    m.add_function(wrap_pyfunction!(custom_jvp_call, m)?)?;
    m.add_function(wrap_pyfunction!(custom_vjp_call, m)?)?;
    m.add_function(wrap_pyfunction!(trace_state_clean, m)?)?;
    m.add_function(wrap_pyfunction!(current_trace, m)?)
}
