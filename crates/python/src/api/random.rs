//! What compositions of samples in Python need of the core.

use pullback_lib::random;
use pyo3::prelude::*;

use super::arguments::one;
use crate::errors::type_error;
use crate::value::try_val;

/// The key of a function, in typed form.
#[pyfunction]
fn checked_key(py: Python<'_>, name: &str, key: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let Some(key) = try_val(key)? else {
        return Err(type_error(format!("unexpected PRNG key type {}", key.get_type())));
    };
    one(py, || random::checked_key(name, &key))
}

/// Adds `_core.random`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.random")?;
    m.add_function(wrap_pyfunction!(checked_key, &m)?)?;
    core.add("random", m)
}
