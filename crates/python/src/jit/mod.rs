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

/// Programs that were loaded from the persistent cache in place of being compiled.
#[pyfunction]
fn n_loaded() -> u64 {
    pullback_backend::n_loaded()
}

/// Executables alive in this process, and the bytes of their code and constants.
#[pyfunction]
fn executable_stats() -> (usize, usize) {
    pullback_backend::executable_stats()
}

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PjitFunction>()?;
    m.add_class::<function::JitCache>()?;
    m.add_function(wrap_pyfunction!(clear_executables, m)?)?;
    m.add_function(wrap_pyfunction!(n_compiled, m)?)?;
    m.add_function(wrap_pyfunction!(executable_stats, m)?)?;
    m.add_function(wrap_pyfunction!(n_loaded, m)?)?;
    m.add_function(wrap_pyfunction!(function::set_monitored, m)?)?;
    stage::register(m)
}
