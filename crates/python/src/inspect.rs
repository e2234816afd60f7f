//! The stages of a compilation as a Python object.

use pyo3::prelude::*;

/// Every stage of a staged function on its way to machine code, as text.
#[pyfunction]
fn inspect(py: Python<'_>, staged: &crate::jit::Staged) -> PyResult<Inspection> {
    crate::gate::gate(py, || pullback_backend::inspect(staged.parts().0)).map(Inspection)
}

/// The stages of one compilation, as text; printed, a summary of them.
#[pyclass(module = "pullback", frozen)]
struct Inspection(pullback_backend::Inspection);

#[pymethods]
impl Inspection {
    #[getter]
    fn jaxpr(&self) -> &str {
        &self.0.jaxpr
    }
    #[getter]
    fn simplified(&self) -> &str {
        &self.0.simplified
    }
    #[getter]
    fn before(&self) -> &str {
        &self.0.before
    }
    #[getter]
    fn after(&self) -> &str {
        &self.0.after
    }
    #[getter]
    fn report(&self) -> &str {
        &self.0.report
    }
    #[getter]
    fn machine_code(&self) -> &str {
        &self.0.machine_code
    }
    /// Time, bytes, operations and part of the machine's roof of each kernel, a line each. They run when it is asked for.
    #[getter]
    fn kernels(&self, py: Python<'_>) -> PyResult<String> {
        crate::gate::gate(py, || self.0.kernels())
    }
    /// All stages, one after the other.
    #[getter]
    fn details(&self) -> String {
        self.0.details()
    }
    fn _repr_html_(&self) -> String {
        self.0.html()
    }
    fn __str__(&self) -> String {
        self.0.to_string()
    }
    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Inspection>()?;
    m.add_function(wrap_pyfunction!(inspect, m)?)
}
