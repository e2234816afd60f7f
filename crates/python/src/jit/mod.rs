//! `jit`: signatures of calls, staging of Python functions, and the callable class with its cache.

mod function;
mod signature;
mod stage;

use pyo3::prelude::*;

pub use function::PjitFunction;
pub use signature::{Signature, Statics};
pub use stage::{CallSpec, Job, Staged, StagedCall, bad_output, stage, stage_avals};

/// Adds classes and functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<PjitFunction>()?;
    m.add_class::<function::JitCache>()?;
    stage::register(m)
}
