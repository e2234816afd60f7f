//! What the functions of `numpy` need beside their arguments.

use pyo3::prelude::*;

use crate::gate::gate;
use crate::value::ArrayLike;

/// Refuses a traced array where a function needs to know its elements to know the size of the result.
#[pyfunction]
pub fn _check_known(py: Python<'_>, x: ArrayLike, function: &str) -> PyResult<()> {
    let x = x.val(py, function, 0)?;
    gate(py, || pullback_lib::convert::known(&x, function, "The size argument").map(|_| ()))
}

pub use pullback_lib::numpy::nonzero;
