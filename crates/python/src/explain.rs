//! `explain_grad` and `checked`: the function is run here, what it did is followed in Rust, and the report comes as data.

use std::sync::Arc;

use pullback_explain::{Leaf, Question, Report, Trouble};
use pullback_ir::{Jaxpr, Val};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::gate::gate;
use crate::jaxpr::PyJaxpr;
use crate::value::{to_val, wrap};

/// The text of a file as Python knows it: cells of a notebook have one, too.
fn read(file: &str) -> Option<String> {
    Python::attach(|py| {
        let lines = py.import("linecache").ok()?.call_method1("getlines", (file,)).ok()?;
        let lines: Vec<String> = lines.extract().ok()?;
        (!lines.is_empty()).then(|| lines.concat())
    })
}

/// What is wrong with gradients at points, for a program that was recorded there; without one, what the gradients are.
#[pyfunction]
fn explain(
    py: Python<'_>,
    name: &str,
    closed: Option<&PyJaxpr>,
    points: Vec<Bound<'_, PyAny>>,
    gradients: Vec<Bound<'_, PyAny>>,
    names: Vec<String>,
    notes: Vec<String>,
) -> PyResult<Findings> {
    let points: Vec<Val> = points.iter().map(to_val).collect::<PyResult<_>>()?;
    let gradients: Vec<Val> = gradients.iter().map(to_val).collect::<PyResult<_>>()?;
    let report = gate(py, || match closed.map(PyJaxpr::opened) {
        Some((jaxpr, captured)) => pullback_explain::explain(&Question {
            name,
            jaxpr: &jaxpr,
            captured: &captured,
            points: &points,
            gradients: &gradients,
            names: &names,
            read: &read,
        }),
        None => {
            let leaves = pullback_explain::leaves(&names, &gradients)?;
            Ok(Report { name: name.into(), leaves, troubles: vec![], notes })
        }
    })?;
    Ok(Findings(Arc::new(report)))
}

/// The results of a function at arrays, performed operation by operation with checks.
#[pyfunction]
fn checked_call<'py>(
    py: Python<'py>,
    fun: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyList>> {
    let mut mistake = None;
    let outs = gate(py, || {
        let (traced, vals) = pullback_explain::strict(|| crate::transforms::recorded(py, fun, args))?;
        let outs = pullback_explain::checked(&traced.jaxpr, &traced.captured, &vals);
        // An error that names its own place is not to be given another.
        Ok(outs.map_err(|error| mistake = Some(error)).ok())
    })?;
    match (outs, mistake) {
        (Some(outs), _) => PyList::new(py, outs.into_iter().map(|out| wrap(py, out)).collect::<PyResult<Vec<_>>>()?),
        (None, Some(error)) => Err(crate::errors::to_py(py, &error)),
        (None, None) => unreachable!("there are results, or there is a mistake"),
    }
}

/// What was found in one gradient.
#[pyclass(module = "pullback", frozen)]
struct Findings(Arc<Report>);

#[pymethods]
impl Findings {
    #[getter]
    fn leaves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.leaves.iter().map(|leaf| PyLeaf(leaf.clone())))
    }
    #[getter]
    fn troubles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.troubles.iter().map(|trouble| PyTrouble(trouble.clone())))
    }
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.notes)
    }
    fn to_svg(&self, index: usize) -> String {
        self.0.to_svg(index)
    }
    fn to_html(&self) -> String {
        self.0.to_html()
    }
    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// One differentiated array: how many of its gradient's elements are finite and not zero, zero, NaN and infinite.
#[pyclass(module = "pullback", name = "Leaf", frozen)]
struct PyLeaf(Leaf);

#[pymethods]
impl PyLeaf {
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
    #[getter]
    fn r#type(&self) -> &str {
        &self.0.type_text
    }
    #[getter]
    fn finite(&self) -> usize {
        self.0.finite
    }
    #[getter]
    fn zero(&self) -> usize {
        self.0.zero
    }
    #[getter]
    fn nan(&self) -> usize {
        self.0.nan
    }
    #[getter]
    fn infinite(&self) -> usize {
        self.0.infinite
    }
    fn __str__(&self) -> String {
        self.0.to_string()
    }
    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// One thing that is wrong with a gradient, the operation that made it, and what to do.
///
/// `kind` is "nan", "inf", "zero (structural)", "zero (numeric)" or "empty"; `elements` are positions in the leaf; `chain` names
/// the operations from the one that made it back to the leaf; `values` are the operands there; `iteration` counts that of the
/// innermost loop; `position` is that of the first bad element in the operation's own values, which in a mapped function names the
/// batch member.
#[pyclass(module = "pullback", name = "Trouble", frozen)]
struct PyTrouble(Trouble);

#[pymethods]
impl PyTrouble {
    #[getter]
    fn kind(&self) -> String {
        self.0.kind.to_string()
    }
    #[getter]
    fn leaf(&self) -> &str {
        &self.0.leaf
    }
    #[getter]
    fn elements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let positions = self.0.elements.iter().map(|at| PyTuple::new(py, at)).collect::<PyResult<Vec<_>>>()?;
        PyTuple::new(py, positions)
    }
    #[getter]
    fn primitive(&self) -> &str {
        &self.0.primitive
    }
    #[getter]
    fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }
    #[getter]
    fn line(&self) -> Option<u32> {
        self.0.line
    }
    #[getter]
    fn function(&self) -> Option<&str> {
        self.0.function.as_deref()
    }
    #[getter]
    fn cause(&self) -> &str {
        &self.0.cause
    }
    #[getter]
    fn cure(&self) -> &str {
        &self.0.cure
    }
    #[getter]
    fn chain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.chain)
    }
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let values = PyDict::new(py);
        self.0.values.iter().try_for_each(|(name, value)| values.set_item(name, value))?;
        Ok(values)
    }
    #[getter]
    fn dropped_by(&self) -> Option<&str> {
        self.0.dropped_by.as_deref()
    }
    #[getter]
    fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.context)
    }
    #[getter]
    fn iteration(&self) -> Option<usize> {
        self.0.iteration
    }
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        self.0.position.as_ref().map(|at| PyTuple::new(py, at)).transpose()
    }
    #[getter]
    fn place(&self) -> String {
        self.0.place()
    }
    fn __str__(&self) -> String {
        self.0.to_string()
    }
    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

impl PyJaxpr {
    /// The jaxpr with its consts as its first inputs, and their values.
    fn opened(&self) -> (Jaxpr, Vec<Val>) {
        let (jaxpr, consts) = self.and_consts();
        let mut open = Jaxpr::clone(jaxpr);
        let vars = std::mem::take(&mut open.constvars);
        open.consts.clear();
        open.invars.splice(0..0, vars);
        (open, consts)
    }
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<Findings>()?;
    m.add_class::<PyLeaf>()?;
    m.add_class::<PyTrouble>()?;
    m.add_function(wrap_pyfunction!(explain, m)?)?;
    m.add_function(wrap_pyfunction!(checked_call, m)?)
}
