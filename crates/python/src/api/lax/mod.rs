//! The glue of `pullback.lax` that is about Python's objects: collectives and the names of axes.

pub mod parallel;

use pyo3::prelude::*;

/// Adds `_core.lax`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.lax")?;
    parallel::register(&m)?;
    core.add("lax", m)
}
