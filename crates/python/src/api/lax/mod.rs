//! The glue of `pullback.lax`: functions that stand for one primitive each.

mod binary;
mod combining;
mod shaping;
mod support;
mod unary;

use pyo3::prelude::*;

/// Adds `_core.lax`, whose functions say that they live in `pullback.lax`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.lax")?;
    unary::register(&m)?;
    binary::register(&m)?;
    combining::register(&m)?;
    shaping::register(&m)?;
    support::register(&m)?;
    core.add("lax", m)
}
