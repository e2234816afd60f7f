//! Primitives as Python objects: one object for each.

use std::sync::{Mutex, PoisonError};

use pullback_ir::{PrimRef, Val};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rustc_hash::FxHashMap;

use crate::errors::value_error;
use crate::gate::gate;
use crate::jaxpr::param_value;
use crate::value::{to_val, wrap, wrap_all};

/// An operation of jaxprs.
#[pyclass(name = "Primitive", module = "pullback.core", frozen, subclass, weakref)]
pub struct PyPrimitive(PrimRef);

/// The object of a primitive.
pub fn primitive_object(py: Python<'_>, prim: PrimRef) -> PyResult<Py<PyPrimitive>> {
    static KNOWN: Mutex<Option<FxHashMap<String, Py<PyPrimitive>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(object) = known.get(prim.name()) {
        return Ok(object.clone_ref(py));
    }
    let object = Py::new(py, PyPrimitive(prim))?;
    known.insert(prim.name().to_string(), object.clone_ref(py));
    Ok(object)
}

#[pymethods]
impl PyPrimitive {
    #[getter]
    fn name(&self) -> &str {
        self.0.0.name()
    }
    #[getter]
    fn multiple_results(&self) -> bool {
        self.0.multiple_results()
    }
    #[getter]
    fn call_primitive(&self) -> bool {
        false
    }
    #[getter]
    fn map_primitive(&self) -> bool {
        false
    }

    /// Performs the primitive on arrays, with its parameters by name.
    #[pyo3(signature = (*args, **params))]
    fn bind(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let vals: PyResult<Vec<Val>> = args.iter().map(|arg| to_val(&arg)).collect();
        let vals = vals?;
        let mut fields = vec![];
        for (name, value) in params.into_iter().flat_map(|params| params.iter()) {
            fields.push((name.to_string(), param_value(&value)?));
        }
        let outs = gate(py, || pullback_trace::bind(self.0, &self.0.params_from_fields(&fields)?, &vals))?;
        if self.0.multiple_results() {
            return Ok(wrap_all(py, outs)?.into_pyobject(py)?.into_any().unbind());
        }
        wrap(py, outs.into_iter().next().expect("one result"))
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
