//! User-level functions as Python builtins; one module for each room of `lib`.

use pyo3::prelude::*;

/// Adds all functions to the extension module.
pub fn register(_m: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
