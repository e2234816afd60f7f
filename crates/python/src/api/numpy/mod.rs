//! The glue of `pullback.numpy`: arguments parsed, one call into `lib`, the result wrapped.

mod creation;
mod cumulative;
mod diagonals;
mod elementwise;
pub mod irregular;
mod joining;
mod products;
mod sampled;
mod shaping;
mod statistics;
mod support;
mod ufunc;

use pyo3::prelude::*;

/// Adds `_core.numpy`, whose functions say that they live in `pullback.numpy`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.numpy")?;
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
