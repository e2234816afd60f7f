//! Calls of Python functions from inside programs: printing, debugging, pure callbacks.

use std::sync::Arc;

use pullback_base::{Array, Aval, Result};
use pullback_core::control::{DEBUG_PRINT, DebugCallback, HostFunction, PURE_CALLBACK, PureCallback};
use pullback_ir::{Params, Val};
use pullback_loops::HostCall;
use pullback_trace::bind;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::aval::PyAval;
use crate::errors::{Carry, value_error};
use crate::gate::gate;
use crate::numpy;
use crate::value::{to_val, wrap, wrap_all};

/// A Python function of flat arrays; its results, if any, have known avals.
struct PyHostCall {
    function: Py<PyAny>,
    name: String,
    in_avals: Vec<Aval>,
    out_avals: Vec<Aval>,
}

impl PyHostCall {
    fn run(&self, py: Python<'_>, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> PyResult<()> {
        let mut args = vec![];
        for (&aval, bytes) in self.in_avals.iter().zip(ins) {
            args.push(wrap(py, Array::from_bytes(aval, &bytes[..aval.size_bytes()]).into())?);
        }
        let result = self.function.bind(py).call1(PyTuple::new(py, args)?)?;
        if self.out_avals.is_empty() {
            return Ok(());
        }
        let results: Vec<Bound<'_, PyAny>> = result.extract()?;
        if results.len() != self.out_avals.len() {
            return Err(value_error(format!(
                "callback {} returned {} arrays, but {} were announced",
                self.name,
                results.len(),
                self.out_avals.len()
            )));
        }
        for ((result, &aval), out) in results.iter().zip(&self.out_avals).zip(outs) {
            let array = numpy::exact_array(result)?;
            if array.aval().weak(false) != aval.weak(false) {
                return Err(value_error(format!(
                    "callback {} returned an array of type {}, but {} was announced",
                    self.name,
                    array.aval().weak(false).long(),
                    aval.weak(false).long()
                )));
            }
            let bytes = array.to_bytes().map_err(|error| crate::errors::to_py(py, &error))?;
            out[..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }
}

impl HostCall for PyHostCall {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        Python::attach(|py| self.run(py, ins, outs).carry(py))
    }
    fn name(&self) -> String {
        self.name.clone()
    }
}

fn host_function(function: Py<PyAny>, name: &str, ins: &[Val], out_avals: Vec<Aval>) -> HostFunction {
    let in_avals = ins.iter().map(|val| val.aval().weak(false)).collect();
    HostFunction(Arc::new(PyHostCall { function, name: name.into(), in_avals, out_avals }))
}

/// Calls a Python function for its effect, with flat arrays.
#[pyfunction]
fn debug_callback(
    py: Python<'_>,
    function: Py<PyAny>,
    name: String,
    ordered: bool,
    leaves: Vec<Bound<'_, PyAny>>,
) -> PyResult<()> {
    let ins: PyResult<Vec<Val>> = leaves.iter().map(to_val).collect();
    let ins = ins?;
    let callback = host_function(function, &name, &ins, vec![]);
    let params = Params::new(DebugCallback { fmt: name.into(), ordered, callback });
    gate(py, || bind(DEBUG_PRINT, &params, &ins))?;
    Ok(())
}

/// Calls a Python function of flat arrays that gives a list of arrays of the announced types.
#[pyfunction]
fn pure_callback(
    py: Python<'_>,
    function: Py<PyAny>,
    name: String,
    results: Vec<PyRef<'_, PyAval>>,
    leaves: Vec<Bound<'_, PyAny>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let ins: PyResult<Vec<Val>> = leaves.iter().map(to_val).collect();
    let ins = ins?;
    let result_avals: Vec<Aval> = results.iter().map(|aval| aval.0).collect();
    let callback = host_function(function, &name, &ins, result_avals.clone());
    let params = Params::new(PureCallback { callback, result_avals });
    let outs = gate(py, || bind(PURE_CALLBACK, &params, &ins))?;
    wrap_all(py, outs)
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(debug_callback, m)?)?;
    m.add_function(wrap_pyfunction!(pure_callback, m)?)
}
