//! The glue of `pullback.lax`: functions that stand for one primitive each.

mod elementwise;
mod indexing;
pub mod parallel;
mod structured;
mod support;

use pyo3::prelude::*;

/// Adds `_core.lax`, whose functions say that they live in `pullback.lax`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.lax")?;
    elementwise::register(&m)?;
    structured::register(&m)?;
    indexing::register(&m)?;
    support::register(&m)?;
    parallel::register(&m)?;
    core.add("lax", m)
}
