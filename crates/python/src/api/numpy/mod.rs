//! The glue of `pullback.numpy`: arguments parsed, one call into `lib`, the result wrapped.

mod binary;
mod comparison;
mod creation;
mod cumulative;
mod diagonals;
mod elementwise;
pub mod irregular;
mod joining;
mod powers;
mod products;
mod sampled;
mod shaping;
mod statistics;
mod support;
mod trigonometry;
mod ufunc;
mod unary;

use pyo3::prelude::*;

/// Adds `_core.numpy`, whose functions say that they live in `pullback.numpy`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.numpy")?;
    unary::register(&m)?;
    trigonometry::register(&m)?;
    powers::register(&m)?;
    binary::register(&m)?;
    comparison::register(&m)?;
    elementwise::register(&m)?;
    statistics::register(&m)?;
    cumulative::register(&m)?;
    sampled::register(&m)?;
    creation::register(&m)?;
    shaping::register(&m)?;
    joining::register(&m)?;
    diagonals::register(&m)?;
    products::register(&m)?;
    irregular::register(&m)?;
    m.add_function(wrap_pyfunction!(support::_check_known, &m)?)?;
    core.add_class::<ufunc::UfuncBase>()?;
    core.add("numpy", m)
}
