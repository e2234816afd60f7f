//! The glue of `pullback.numpy`: arguments parsed, one call into `lib`, the result wrapped.

mod binary;
mod creation;
mod elementwise;
mod irregular;
mod products;
mod reductions;
mod shaping;
mod support;
mod ufunc;
mod unary;

use pyo3::prelude::*;

/// Adds `_core.numpy`, whose functions say that they live in `pullback.numpy`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.numpy")?;
    unary::register(&m)?;
    binary::register(&m)?;
    elementwise::register(&m)?;
    reductions::register(&m)?;
    creation::register(&m)?;
    shaping::register(&m)?;
    products::register(&m)?;
    irregular::register(&m)?;
    core.add_class::<ufunc::UfuncBase>()?;
    core.add("numpy", m)
}
