//! `jit`: signatures of calls, staging of Python functions, and the callable class with its cache.

mod function;
mod record;
mod signature;
mod stage;

use pyo3::prelude::*;

pub use function::PjitFunction;
pub use signature::{Signature, Statics, unhashable};
pub use stage::{CallSpec, Job, Staged, StagedCall, bad_output, stage, stage_avals};

/// Forgets all that was compiled.
#[pyfunction]
fn clear_executables() {
    pullback_backend::clear_caches();
}

/// Programs compiled in this process so far.
#[pyfunction]
fn n_compiled() -> u64 {
    pullback_backend::n_compiled()
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PjitFunction>()?;
    m.add_class::<function::JitCache>()?;
    m.add_function(wrap_pyfunction!(clear_executables, m)?)?;
    m.add_function(wrap_pyfunction!(n_compiled, m)?)?;
    m.add_function(wrap_pyfunction!(function::set_monitored, m)?)?;
    stage::register(m)
}
