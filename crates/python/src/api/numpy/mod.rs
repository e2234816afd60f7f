//! The glue of `pullback.numpy`: arguments parsed, one call into `lib`, the result wrapped.

mod creation;
pub mod irregular;
mod support;
mod ufunc;

use pyo3::prelude::*;

/// Adds `_core.numpy`, whose functions say that they live in `pullback.numpy`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.numpy")?;
    creation::register(&m)?;
    irregular::register(&m)?;
    m.add_function(wrap_pyfunction!(support::_check_known, &m)?)?;
    core.add_class::<ufunc::UfuncBase>()?;
    core.add("numpy", m)
}
