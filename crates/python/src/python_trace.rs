//! Traces that Python code defines: subclasses of `core.Trace` that process primitives, and of `core.Tracer` for their values.
//!
//! An object of such a class holds what it stands for weakly, as it is that itself; a value that goes into the core holds
//! the object strongly ([`own_val`]). What the trace does with a primitive is up to its methods, see `pullback._traces`.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use pullback_base::{Aval, DType, Result};
use pullback_ir::{Emit, EmitRef, Foreign, Params, PrimRef, Slot, TraceId, Tracer, Val, Vals};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyWeakrefMethods, PyWeakrefReference};

use crate::aval::aval_of;
use crate::errors::{Carry, type_error};
use crate::jaxpr::params_by_name;
use crate::names::class_name;
use crate::primitive::{PyPrimitive, primitive_object};
use crate::value::{PyArray, to_val, wrap};

/// The identity of a trace of Python.
#[pyclass(module = "pullback._core", frozen)]
struct TraceHandle(TraceId);

#[pymethods]
impl TraceHandle {
    #[new]
    fn new() -> TraceHandle {
        TraceHandle(TraceId::fresh())
    }
}

/// A trace of the core, as Python code hands it on.
#[pyclass(module = "pullback.core", frozen)]
struct OpaqueTrace(EmitRef);

#[pymethods]
impl OpaqueTrace {
    /// Performs a primitive in the trace.
    fn process_primitive(
        &self,
        py: Python<'_>,
        primitive: &Bound<'_, PyPrimitive>,
        tracers: Vec<Bound<'_, PyAny>>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        pullback_trace::enter(self.0.clone());
        let _current = Entered;
        primitive.get().bind_all(py, &tracers, params)
    }

    /// The value as one of the trace, which takes any.
    fn stage_value(&self, val: Py<PyAny>) -> Py<PyAny> {
        val
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<OpaqueTrace>().is_ok_and(|other| other.get().0.id() == self.0.id())
    }

    fn __hash__(&self) -> u64 {
        let mut state = rustc_hash::FxHasher::default();
        std::hash::Hash::hash(&self.0.id(), &mut state);
        std::hash::Hasher::finish(&state)
    }

    fn __repr__(&self) -> &'static str {
        if self.0.id() == TraceId::EVAL { "EvalTrace" } else { "<trace of the core>" }
    }
}

/// Ends the scope of a trace that was entered.
struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        pullback_trace::leave();
    }
}

/// Hands primitives to an object of Python.
struct PythonTrace {
    id: TraceId,
    object: Py<PyAny>,
    parent: EmitRef,
}

impl Emit for PythonTrace {
    fn id(&self) -> TraceId {
        self.id
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        Python::attach(|py| self.process(py, prim, params, ins).carry(py))
    }

    fn parent(&self) -> Option<&dyn Emit> {
        Some(&*self.parent)
    }
}

impl PythonTrace {
    fn process(&self, py: Python<'_>, prim: PrimRef, params: &Params, ins: &[Val]) -> PyResult<Vals> {
        let tracers = ins.iter().map(|val| wrap(py, val.clone())).collect::<PyResult<Vec<_>>>()?;
        let facts = (&self.object, primitive_object(py, prim)?, PyList::new(py, tracers)?, params_by_name(py, params)?);
        // What the trace does by itself is evaluated; it emits into another trace by name.
        pullback_trace::enter(pullback_backend::eval());
        let _current = Entered;
        let outs = py.import("pullback._traces")?.call_method1("_process", facts)?;
        outs.try_iter()?.map(|out| to_val(&out?)).collect()
    }
}

/// A tracer's own object, as the values that stand for it hold it.
enum Object {
    /// By the object itself.
    Weak(Py<PyWeakrefReference>),
    /// By all other values.
    Strong(Py<PyAny>),
}

/// What is known of a tracer of Python once its `__init__` ran.
struct Known {
    val: Val,
    trace: Py<PyAny>,
    /// What the values in the core share, so that they are one.
    shared: Mutex<Weak<Foreign>>,
}

/// The place of what is known, in an object that was made without.
struct Unset(OnceLock<Known>);

fn foreign(trace: TraceId, aval: Aval, payload: Arc<Foreign>) -> Val {
    Val::Tracer(Tracer { trace, aval, slot: Slot::Foreign(payload) })
}

/// The value of an object of a class of Python before its `__init__`: one of no trace.
pub fn unset() -> Val {
    let payload = Arc::new(Foreign(Box::new(Unset(OnceLock::new()))));
    foreign(TraceId::fresh(), Aval::scalar(DType::F32, false), payload)
}

fn known(tracer: &Tracer) -> Option<&Known> {
    let Slot::Foreign(payload) = &tracer.slot else { return None };
    payload.0.downcast_ref::<Unset>()?.0.get()
}

/// What the value of an object stands for now.
#[inline]
pub fn resolved(val: &Val) -> &Val {
    match val {
        Val::Tracer(tracer) => known(tracer).map_or(val, |known| &known.val),
        Val::Literal(_) | Val::Array(_) => val,
    }
}

/// The value of an array or tracer, for keeps; `None` for any other object.
pub fn own_val(obj: &Bound<'_, PyAny>) -> Option<Val> {
    let array = obj.cast::<PyArray>().ok()?.get();
    let Val::Tracer(tracer) = array.held() else { return Some(array.held().clone()) };
    let Some(known) = known(tracer) else { return Some(array.held().clone()) };
    let Val::Tracer(tracer) = &known.val else { return Some(known.val.clone()) };
    let mut shared = known.shared.lock().unwrap_or_else(PoisonError::into_inner);
    let payload = shared.upgrade().unwrap_or_else(|| Arc::new(Foreign(Box::new(Object::Strong(obj.clone().unbind())))));
    *shared = Arc::downgrade(&payload);
    Some(foreign(tracer.trace, tracer.aval, payload))
}

/// The object of a tracer of Python that a value stands for; `None` for other tracers.
pub fn object_of(py: Python<'_>, tracer: &Tracer) -> Option<Py<PyAny>> {
    let Slot::Foreign(payload) = &tracer.slot else { return None };
    match payload.0.downcast_ref::<Object>()? {
        Object::Strong(object) => Some(object.clone_ref(py)),
        Object::Weak(object) => object.bind(py).upgrade().map(Bound::unbind),
    }
}

/// The name of the class of a tracer of Python.
pub fn class_of(py: Python<'_>, tracer: &Tracer) -> Option<String> {
    Some(class_name(object_of(py, tracer)?.bind(py)))
}

/// Says what a tracer of Python stands for: a value of a trace, of which an aval is known.
pub fn set(slf: &Bound<'_, PyAny>, trace: &Bound<'_, PyAny>, aval: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(handle) = trace.getattr("_handle").and_then(|handle| Ok(handle.cast_into::<TraceHandle>()?)) else {
        return Err(type_error(format!(
            "a tracer of {} needs a trace of a subclass of core.Trace, got {trace}",
            slf.get_type()
        )));
    };
    let aval = aval_of(aval)?.ok_or_else(|| type_error(format!("a tracer needs an aval, got {aval}")))?;
    let payload = Arc::new(Foreign(Box::new(Object::Weak(PyWeakrefReference::new(slf)?.unbind()))));
    let known =
        Known { val: foreign(handle.get().0, aval, payload), trace: trace.clone().unbind(), shared: Mutex::default() };
    if let Val::Tracer(Tracer { slot: Slot::Foreign(payload), .. }) = slf.cast::<PyArray>()?.get().held()
        && let Some(unset) = payload.0.downcast_ref::<Unset>()
    {
        // The first call counts.
        unset.0.get_or_init(|| known);
    }
    Ok(())
}

/// The trace object that a tracer of Python was made with.
pub fn trace_of(py: Python<'_>, held: &Val) -> Option<Py<PyAny>> {
    let Val::Tracer(tracer) = held else { return None };
    Some(known(tracer)?.trace.clone_ref(py))
}

/// The current trace: an object of Python, or one that can be handed on.
#[pyfunction]
fn trace_in_force(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let current = pullback_trace::current();
    let known = CURRENT.with_borrow(|stack| {
        let (id, object) = stack.last()?;
        (*id == current.id()).then(|| object.clone_ref(py))
    });
    match known {
        Some(object) => Ok(object),
        None => Ok(Py::new(py, OpaqueTrace(current))?.into_any()),
    }
}

thread_local! {
    /// Traces of Python that are entered, from the outermost.
    static CURRENT: std::cell::RefCell<Vec<(TraceId, Py<PyAny>)>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Makes a trace current until [`leave_trace`]: one of Python, one that [`trace_in_force`] gave, or with `None` evaluation.
#[pyfunction]
fn enter_trace(trace: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let Some(trace) = trace else {
        pullback_trace::enter(pullback_backend::eval());
        return Ok(());
    };
    if let Ok(opaque) = trace.cast::<OpaqueTrace>() {
        pullback_trace::enter(opaque.get().0.clone());
        return Ok(());
    }
    let handle = trace.getattr("_handle")?.cast_into::<TraceHandle>()?;
    let id = handle.get().0;
    let emit = PythonTrace { id, object: trace.clone().unbind(), parent: pullback_trace::current() };
    pullback_trace::enter(Arc::new(emit));
    CURRENT.with_borrow_mut(|stack| stack.push((id, trace.clone().unbind())));
    Ok(())
}

/// Ends the innermost [`enter_trace`].
#[pyfunction]
fn leave_trace() {
    let current = pullback_trace::current().id();
    pullback_trace::leave();
    let left = CURRENT.with_borrow_mut(|stack| stack.pop_if(|(id, _)| *id == current));
    drop(left);
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<TraceHandle>()?;
    m.add_class::<OpaqueTrace>()?;
    m.add_function(wrap_pyfunction!(trace_in_force, m)?)?;
    m.add_function(wrap_pyfunction!(enter_trace, m)?)?;
    m.add_function(wrap_pyfunction!(leave_trace, m)?)
}
