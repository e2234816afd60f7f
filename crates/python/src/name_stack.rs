//! Names that users give to parts of their programs, as Python sees them: `named_scope`, and what equations remember.

use pullback_base::{NamePart, NameStack, Span};
use pyo3::prelude::*;

/// Nested names, the outermost first; prints as `transpose(jvp(layer))/dense`.
#[pyclass(name = "NameStack", module = "pullback.extend.source_info_util", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct PyNameStack(pub NameStack);

#[pymethods]
impl PyNameStack {
    /// No names.
    #[new]
    fn new() -> PyNameStack {
        PyNameStack(NameStack::EMPTY)
    }

    /// The stack with a name inside of it.
    fn extend(&self, name: &str) -> PyNameStack {
        PyNameStack(self.0.push(NamePart::Scope(name.into())))
    }

    /// The names and transforms, the outermost first.
    #[getter]
    fn stack(&self) -> Vec<String> {
        let text = |part: NamePart| match part {
            NamePart::Scope(name) => name.to_string(),
            NamePart::Transform(name) => format!("{name}()"),
        };
        self.0.parts().into_iter().map(text).collect()
    }

    /// This stack, with another one inside of it.
    fn __add__(&self, inner: &PyNameStack) -> PyNameStack {
        PyNameStack(self.0.then(inner.0))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// Where an equation comes from: the user's line, as text, and the names around it.
#[pyclass(module = "pullback.extend.source_info_util", frozen)]
pub struct SourceInfo {
    span: Span,
}

#[pymethods]
impl SourceInfo {
    /// The names around the equation.
    #[getter]
    fn name_stack(&self) -> PyNameStack {
        PyNameStack(self.span.names())
    }

    /// Frames are not kept, only the user's line.
    #[getter]
    fn traceback(&self) -> Option<Py<PyAny>> {
        None
    }

    fn __bool__(&self) -> bool {
        self.span.is_known()
    }

    fn __str__(&self) -> String {
        self.span.resolve().map(|place| place.to_string()).unwrap_or_default()
    }

    fn __repr__(&self) -> String {
        format!("SourceInfo({}, {:?})", self.__str__(), self.span.names())
    }
}

impl SourceInfo {
    /// Of an equation.
    pub fn of(span: Span) -> SourceInfo {
        SourceInfo { span }
    }
}

/// The names around what is traced now.
///
/// Returns: a `NameStack`.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> from pullback.extend import source_info_util
///   >>> with jax.named_scope("a"):
///   ...     print(source_info_util.current_name_stack())
///   a
#[pyfunction]
fn current_name_stack() -> PyNameStack {
    PyNameStack(Span::current().names())
}

/// Makes the names those around what is traced next, and gives the names before.
#[pyfunction]
fn _set_name_stack(names: &PyNameStack) -> PyNameStack {
    let span = Span::current();
    PyNameStack(span.with_names(names.0).replace_current().names())
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PyNameStack>()?;
    m.add_class::<SourceInfo>()?;
    m.add_function(wrap_pyfunction!(current_name_stack, m)?)?;
    m.add_function(wrap_pyfunction!(_set_name_stack, m)?)
}
