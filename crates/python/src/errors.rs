//! Errors across the border: Pullback's to Python exceptions and back.
//!
//! Exception classes are defined in `pullback.errors`; builtin ones serve where JAX raises those.

use std::sync::Arc;

use pullback_base::{Error, ErrorKind};
use pullback_explain::Fault;
use pullback_ir::Val;
use pyo3::exceptions::{
    PyAttributeError, PyFloatingPointError, PyIndexError, PyKeyError, PyKeyboardInterrupt, PyNameError,
    PyNotImplementedError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError, PyZeroDivisionError,
};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Result with Pullback's error.
pub type Result<T> = pullback_base::Result<T>;

/// The exception of an error, with the user's line when it is known.
pub fn to_py(py: Python<'_>, error: &Error) -> PyErr {
    if let Some(carried) = error.payload().and_then(|payload| payload.downcast_ref::<PyErr>()) {
        return carried.clone_ref(py);
    }
    let mut text = error.to_string();
    if let Some(Val::Tracer(tracer)) = error.payload().and_then(|payload| payload.downcast_ref::<Val>()) {
        text += &crate::tracer::origin(py, tracer);
    }
    if let Some(fault) = error.payload().and_then(|payload| payload.downcast_ref::<Fault>()) {
        return mistake(py, *fault, error.message().to_string()).unwrap_or_else(|error| error);
    }
    if error.kind() == ErrorKind::Memory {
        text += &live_arrays(py);
    }
    match builtin(error.kind(), &text) {
        Some(exception) => exception,
        None => own(py, error.kind(), text),
    }
}

/// The exception of a mistake that `checked` finds.
fn mistake(py: Python<'_>, fault: Fault, text: String) -> PyResult<PyErr> {
    let class = match fault {
        Fault::ZeroDivision => py.get_type::<PyZeroDivisionError>(),
        Fault::KeyReuse => exception_class(py, "KeyReuseError")?,
        Fault::Matrix => py.import("numpy.linalg")?.getattr("LinAlgError")?.cast_into()?,
    };
    Ok(PyErr::from_type(class, text))
}

/// What an error of memory says of the arrays that live; nothing where there is no memory even for that.
fn live_arrays(py: Python<'_>) -> String {
    let found = py.import("pullback._memory").and_then(|module| module.call_method0("_largest_live"));
    found.and_then(|text| text.extract()).unwrap_or_default()
}

/// Whether an error is an exception of Python code on its way out.
pub fn is_carried(error: &Error) -> bool {
    error.payload().is_some_and(|payload| payload.is::<PyErr>())
}

fn builtin(kind: ErrorKind, text: &str) -> Option<PyErr> {
    let text = text.to_string();
    Some(match kind {
        ErrorKind::Type => PyTypeError::new_err(text),
        ErrorKind::Value => PyValueError::new_err(text),
        ErrorKind::Index => PyIndexError::new_err(text),
        ErrorKind::Overflow => PyOverflowError::new_err(text),
        ErrorKind::NotImplemented => PyNotImplementedError::new_err(text),
        ErrorKind::Runtime | ErrorKind::Foreign => PyRuntimeError::new_err(text),
        ErrorKind::Key => PyKeyError::new_err(text),
        ErrorKind::Attribute => PyAttributeError::new_err(text),
        ErrorKind::Name => PyNameError::new_err(text),
        ErrorKind::Interrupt => PyKeyboardInterrupt::new_err(text),
        ErrorKind::FloatingPoint => PyFloatingPointError::new_err(text),
        ErrorKind::TypePromotion
        | ErrorKind::ShardingType
        | ErrorKind::Concretization
        | ErrorKind::TracerBool
        | ErrorKind::TracerArray
        | ErrorKind::TracerInteger
        | ErrorKind::NonConcreteBooleanIndex
        | ErrorKind::UnexpectedTracer
        | ErrorKind::Memory
        | ErrorKind::Internal => return None,
    })
}

fn own(py: Python<'_>, kind: ErrorKind, text: String) -> PyErr {
    let name = match kind {
        ErrorKind::TypePromotion => "TypePromotionError",
        ErrorKind::ShardingType => "ShardingTypeError",
        ErrorKind::Concretization => "ConcretizationTypeError",
        ErrorKind::TracerBool => "TracerBoolConversionError",
        ErrorKind::TracerArray => "TracerArrayConversionError",
        ErrorKind::TracerInteger => "TracerIntegerConversionError",
        ErrorKind::NonConcreteBooleanIndex => "NonConcreteBooleanIndexError",
        ErrorKind::UnexpectedTracer => "UnexpectedTracerError",
        _ => "JaxRuntimeError",
    };
    named(py, name, text)
}

/// An exception of a class of `pullback.errors`.
pub fn named(py: Python<'_>, name: &str, text: String) -> PyErr {
    match exception_class(py, name) {
        Ok(class) => PyErr::from_type(class, text),
        Err(missing) => missing,
    }
}

/// A class of `pullback.errors`.
pub fn exception_class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("pullback.errors")?.getattr(name)?.cast_into()?)
}

/// A Python exception on its way through Rust; it comes out of the gate unchanged.
pub fn from_py(py: Python<'_>, exception: PyErr) -> Error {
    let text = exception.value(py).to_string();
    Error::foreign(text, Arc::new(exception))
}

/// Results of Python calls inside Rust functions.
pub trait Carry<T> {
    /// The same result with the exception carried.
    fn carry(self, py: Python<'_>) -> Result<T>;
}

impl<T> Carry<T> for PyResult<T> {
    fn carry(self, py: Python<'_>) -> Result<T> {
        self.map_err(|exception| from_py(py, exception))
    }
}

/// The text of an error with the user's line.
fn placed(text: impl Into<String>) -> String {
    let place = Python::attach(|py| crate::gate::user_span(py).resolve());
    let text = text.into();
    place.map_or_else(|| text.clone(), |place| format!("{text}\n  at {place}"))
}

/// A `TypeError` with a text, at the user's line.
pub fn type_error(text: impl Into<String>) -> PyErr {
    PyTypeError::new_err(placed(text))
}

/// A `ValueError` with a text, at the user's line.
pub fn value_error(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(placed(text))
}

/// A `NotImplementedError` with a text, at the user's line.
pub fn not_implemented(text: impl Into<String>) -> PyErr {
    PyNotImplementedError::new_err(placed(text))
}

/// An error of Python code of ours: a class, and a text to which the user's line is added.
#[pyfunction]
fn user_error<'py>(class: &Bound<'py, PyAny>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    class.call1((placed(text.str()?.to_string()),))
}

/// Adds the functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(user_error, m)?)
}
