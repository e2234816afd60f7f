//! User-level functions as Python builtins; one module for each room of `lib`.

pub mod arguments;
pub mod lax;
mod nn;
pub mod numpy;
mod random;

use pyo3::prelude::*;

/// Adds all functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    lax::register(m)?;
    numpy::register(m)?;
    nn::register(m)?;
    random::register(m)
}
