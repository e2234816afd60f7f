//! The part of `jax.numpy.ufunc` that calls: a function as an object that Python classes can give methods.
//!
//! Calls of `jnp.add` are hot, so they go from here to the function without a Python frame.

use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

/// A function of arrays that is called element by element.
#[pyclass(name = "UfuncBase", module = "pullback._core", frozen, subclass, weakref, dict)]
pub struct UfuncBase {
    call: Py<PyAny>,
    name: String,
}

#[pymethods]
impl UfuncBase {
    /// The function that is called, and its name.
    #[new]
    #[pyo3(signature = (call, name, /))]
    fn new(call: Py<PyAny>, name: String) -> UfuncBase {
        UfuncBase { call, name }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = self.call.bind(args.py());
        match kwargs.filter(|kwargs| !kwargs.is_empty()) {
            None => call.call1(args),
            Some(kwargs) => call.call(args, Some(&self.without_absent(kwargs)?)),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.call)
    }
}

impl UfuncBase {
    /// The keywords but for `out` and `where`, which exist for NumPy's sake and must be absent.
    fn without_absent<'py>(&self, kwargs: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let rest = kwargs.copy()?;
        for name in ["out", "where"] {
            let Some(given) = rest.get_item(name)? else { continue };
            if !given.is_none() {
                let text = format!("{name} argument of <jnp.ufunc '{}'>", self.name);
                return Err(PyNotImplementedError::new_err(text));
            }
            rest.del_item(name)?;
        }
        Ok(rest)
    }
}
