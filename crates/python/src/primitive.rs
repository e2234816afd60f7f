//! Primitives as Python objects: one object for each, those of the core and those that Python code defines.

use std::sync::{Mutex, PoisonError};

use pullback_base::Aval;
use pullback_ir::{Params, PrimRef};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySet, PyTuple};
use rustc_hash::FxHashMap;

use crate::aval::PyAval;
use crate::defined::{Defined, PyParams, define};
use crate::errors::{not_implemented, type_error, value_error};
use crate::gate::gate;
use crate::jaxpr::param_value;
use crate::value::{to_val, wrap, wrap_all};

/// An operation of jaxprs. `Primitive(name)` makes a new one, whose rules are set through its methods and the tables of
/// `jax.interpreters`.
#[pyclass(name = "Primitive", module = "pullback.core", frozen, subclass, weakref, dict)]
pub struct PyPrimitive {
    prim: PrimRef,
    defined: Option<&'static Defined>,
}

type Known = FxHashMap<(usize, String), Py<PyPrimitive>>;

/// All primitives that have an object. Those of the core are found by name, others by identity.
fn with_known<T>(body: impl FnOnce(&mut Known) -> T) -> T {
    static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
    body(KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

fn key(prim: PrimRef) -> (usize, String) {
    let is_type = std::mem::size_of_val(prim.0) == 0;
    let address = std::ptr::from_ref(prim.0).cast::<()>() as usize;
    (if is_type { 0 } else { address }, prim.name().to_string())
}

/// The object of a primitive.
pub fn primitive_object(py: Python<'_>, prim: PrimRef) -> PyResult<Py<PyPrimitive>> {
    if let Some(object) = with_known(|known| known.get(&key(prim)).map(|object| object.clone_ref(py))) {
        return Ok(object);
    }
    let object = Py::new(py, PyPrimitive { prim, defined: None })?;
    with_known(|known| known.insert(key(prim), object.clone_ref(py)));
    Ok(object)
}

impl PyPrimitive {
    /// The primitive.
    pub fn prim(&self) -> PrimRef {
        self.prim
    }

    fn own(&self) -> PyResult<&'static Defined> {
        let core = || type_error(format!("{} is a primitive of the core; it cannot be changed", self.prim.name()));
        self.defined.ok_or_else(core)
    }

    /// The error of an operand that is no value, which says whose it is.
    fn bad_operand(&self, py: Python<'_>, arg: &Bound<'_, PyAny>, position: usize, error: PyErr) -> PyErr {
        if !error.is_instance_of::<pyo3::exceptions::PyTypeError>(py) {
            return error;
        }
        let (name, class) = (self.prim.name(), arg.get_type());
        type_error(format!(
            "Error interpreting argument to {name} as a JAX value. The problematic value is of type {class} and was passed to \
             {name} at position {position}. {}",
            error.value(py)
        ))
    }

    /// Performs the primitive in the current trace.
    pub fn bind_all(
        &self,
        py: Python<'_>,
        args: &[Bound<'_, PyAny>],
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let mut vals = vec![];
        for (position, arg) in args.iter().enumerate() {
            vals.push(to_val(arg).map_err(|error| self.bad_operand(py, arg, position, error))?);
        }
        let params = self.params(params)?;
        let outs = gate(py, || pullback_trace::bind(self.prim, &params, &vals))?;
        if self.prim.multiple_results() {
            return Ok(PyList::new(py, wrap_all(py, outs)?)?.into_any().unbind());
        }
        wrap(py, outs.into_iter().next().expect("one result"))
    }

    /// Parameters of an application.
    pub fn params(&self, params: Option<&Bound<'_, PyDict>>) -> PyResult<Params> {
        if self.defined.is_some() {
            return PyParams::erased(params);
        }
        let mut fields = vec![];
        for (name, value) in params.into_iter().flat_map(|params| params.iter()) {
            // The reference asks for accuracies; those here are fixed, so only "as it is" is understood.
            if !(value.is_none() && name.to_string() == "accuracy") {
                fields.push((name.to_string(), param_value(&value)?));
            }
        }
        self.prim.params_from_fields(&fields).map_err(|error| type_error(error.to_string()))
    }
}

#[pymethods]
impl PyPrimitive {
    #[new]
    fn new(name: String) -> PyPrimitive {
        let defined = define(name);
        PyPrimitive { prim: defined.this(), defined: Some(defined) }
    }

    fn __init__(slf: &Bound<'_, PyPrimitive>, name: &str) {
        let _ = name;
        with_known(|known| known.insert(key(slf.get().prim), slf.clone().unbind()));
    }

    #[getter]
    fn name(&self) -> &str {
        self.prim.0.name()
    }
    #[getter]
    fn multiple_results(&self) -> bool {
        self.prim.multiple_results()
    }
    #[setter]
    fn set_multiple_results(&self, multiple: bool) -> PyResult<()> {
        self.own()?.set_multiple_results(multiple);
        Ok(())
    }
    /// Whether applications stay when nothing uses their results.
    #[setter]
    fn set_has_effects(&self, has_effects: bool) -> PyResult<()> {
        self.own()?.set_has_effects(has_effects);
        Ok(())
    }
    /// Whether its rules are the core's own.
    #[getter]
    fn is_core(&self) -> bool {
        self.defined.is_none()
    }
    #[getter]
    fn call_primitive(&self) -> bool {
        false
    }
    /// Evaluates the primitive on arrays: the function that `def_impl` was given has its place where there is one.
    #[pyo3(name = "impl", signature = (*args, **params))]
    fn implementation(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        if self.defined.is_some() {
            return Err(not_implemented(format!("Evaluation rule for '{}' not implemented", self.name())));
        }
        self.bind(py, args, params)
    }

    /// Performs the primitive on arrays, with its parameters by name.
    #[pyo3(signature = (*args, **params))]
    fn bind(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.bind_all(py, &args.iter().collect::<Vec<_>>(), params)
    }

    /// Performs the primitive in a trace: one of Python processes it, one of the core does what `bind` does in it.
    #[pyo3(signature = (trace, args, avals, params, /))]
    fn bind_with_trace<'py>(
        slf: Bound<'py, Self>,
        trace: &Bound<'py, PyAny>,
        args: &Bound<'py, PyAny>,
        avals: &Bound<'py, PyAny>,
        params: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = avals;
        slf.py().import("pullback._traces")?.call_method1("_bind_in", (trace, &slf, args, params))
    }

    /// What `bind` takes besides the operands: no functions, and the parameters as they are.
    fn get_bind_params<'py>(
        &self,
        py: Python<'py>,
        params: Bound<'py, PyDict>,
    ) -> (Bound<'py, PyList>, Bound<'py, PyDict>) {
        (PyList::empty(py), params)
    }

    /// Avals of the results, and the effects.
    #[pyo3(signature = (*args, **params))]
    fn abstract_eval<'py>(
        &self,
        py: Python<'py>,
        args: Vec<Bound<'py, PyAny>>,
        params: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut avals: Vec<Aval> = vec![];
        for arg in &args {
            let found = crate::aval::aval_of(arg)?;
            avals.push(found.ok_or_else(|| type_error(format!("abstract_eval takes avals, got {arg}")))?);
        }
        let params = self.params(params)?;
        let outs = gate(py, || self.prim.abstract_eval(&params, &avals))?;
        let mut outs = outs.into_iter().map(PyAval);
        let found = PySet::empty(py)?;
        crate::jaxpr::add_effects(py, self.prim, &params, &found)?;
        let effects = pyo3::types::PyFrozenSet::new(py, found.iter())?;
        let outs = if self.prim.multiple_results() {
            PyList::new(py, outs.map(|aval| Py::new(py, aval)).collect::<PyResult<Vec<_>>>()?)?.into_any()
        } else {
            Py::new(py, outs.next().expect("one result"))?.into_bound(py).into_any()
        };
        Ok((outs, effects).into_pyobject(py)?.into_any())
    }

    /// Sets the function that evaluates the primitive on arrays; gives it back.
    fn def_impl<'py>(slf: &Bound<'py, Self>, implementation: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.setattr("impl", &implementation)?;
        Ok(implementation)
    }

    /// Sets the function from avals and parameters to the avals of the results; gives it back.
    fn def_abstract_eval<'py>(slf: &Bound<'py, Self>, rule: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.setattr("abstract_evaluation", &rule)?;
        Ok(rule)
    }

    /// As `def_abstract_eval`, for a function that gives the effects too; they must be none.
    fn def_effectful_abstract_eval<'py>(
        slf: &Bound<'py, Self>,
        rule: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.setattr("effectful_abstract_evaluation", &rule)?;
        Ok(rule)
    }

    fn __repr__(&self) -> String {
        self.name().to_string()
    }
}

/// The primitive with the given name.
#[pyfunction]
fn find_primitive(py: Python<'_>, name: &str) -> PyResult<Py<PyPrimitive>> {
    let prim =
        pullback_core::find_primitive(name).ok_or_else(|| value_error(format!("there is no primitive {name:?}")))?;
    primitive_object(py, prim)
}

/// Names of all primitives.
#[pyfunction]
fn primitive_names() -> Vec<String> {
    pullback_core::all_primitives().map(|prim| prim.name().to_string()).collect()
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyPrimitive>()?;
    m.add_function(wrap_pyfunction!(find_primitive, m)?)?;
    m.add_function(wrap_pyfunction!(primitive_names, m)?)
}
