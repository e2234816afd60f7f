//! The Python extension module of Pullback: the only crate that knows Python.
use pyo3::prelude::*;

#[pymodule]
mod _core {}
