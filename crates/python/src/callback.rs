//! Functions of Python that programs call while they run: `debug.print`, `debug.callback`, `pure_callback`.

use std::sync::Arc;

use pullback_base::aval::tuple_text;
use pullback_base::{Array, Aval, Result};
use pullback_core::control::{
    Callback, DEBUG_PRINT, DebugCallback, HostFunction, IO_CALLBACK, IoCallback, PURE_CALLBACK, PureCallback,
    VmapMethod,
};
use pullback_ir::{Params, Val};
use pullback_loops::HostCall;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::errors::Carry;
use crate::gate::gate;
use crate::value::{to_val, wrap, wrap_all};

/// A Python function on flat arrays.
struct PyHost {
    fun: Py<PyAny>,
    name: String,
    ins: Vec<Aval>,
    outs: Vec<Aval>,
}

impl PyHost {
    fn call_python(&self, py: Python<'_>, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> PyResult<()> {
        let array =
            |(&aval, bytes): (&Aval, &&[u8])| Array::from_bytes(aval, &bytes[..aval.size_bytes()]).map(Val::Array);
        let arrays = gate(py, || self.ins.iter().zip(ins).map(array).collect::<pullback_base::Result<Vec<Val>>>())?;
        let result = self.fun.bind(py).call1(PyTuple::new(py, wrap_all(py, arrays)?)?)?;
        if outs.is_empty() {
            return Ok(());
        }
        for (number, ((item, &aval), out)) in result.try_iter()?.zip(&self.outs).zip(outs).enumerate() {
            let bytes = Self::result_bytes(&item?, number, aval)?;
            out[..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn result_bytes(item: &Bound<'_, PyAny>, number: usize, aval: Aval) -> PyResult<Vec<u8>> {
        let val = to_val(item)?;
        let found = val.aval();
        let misfit = |what: &str, expected: String, actual: String| {
            let text =
                format!("Incorrect output {what} for return value #{number}: Expected: {expected}, Actual: {actual}");
            item.py().import("pullback._callbacks").and_then(|module| module.call_method1("failed", (text,)))
        };
        if found.shape != aval.shape {
            let (expected, actual) = (tuple_text(&aval.shape), tuple_text(&found.shape));
            return Err(PyErr::from_value(misfit("shape", expected, actual)?));
        }
        if found.dtype != aval.dtype {
            return Err(PyErr::from_value(misfit("dtype", aval.dtype.to_string(), found.dtype.to_string())?));
        }
        let array = val.to_array().ok_or_else(|| crate::errors::type_error("a callback returned a tracer"))?;
        gate(item.py(), || array.to_bytes())
    }
}

impl HostCall for PyHost {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        Python::attach(|py| self.call_python(py, ins, outs).carry(py))
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl Callback for PyHost {
    fn retyped(&self, ins: Vec<Aval>, outs: Vec<Aval>) -> HostFunction {
        let fun = Python::attach(|py| self.fun.clone_ref(py));
        HostFunction(Arc::new(PyHost { fun, name: self.name.clone(), ins, outs }))
    }
}

fn host(fun: &Bound<'_, PyAny>, name: String, vals: &[Val], outs: Vec<Aval>) -> HostFunction {
    let ins = vals.iter().map(|val| val.aval().weak(false)).collect();
    HostFunction(Arc::new(PyHost { fun: fun.clone().unbind(), name, ins, outs }))
}

fn flat_vals(args: &Bound<'_, PyTuple>) -> PyResult<Vec<Val>> {
    args.iter().map(|arg| to_val(&arg)).collect()
}

/// Calls `fun` with concrete arrays whenever the program reaches this point.
#[pyfunction]
fn debug_callback(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    fmt: String,
    ordered: bool,
    args: &Bound<'_, PyTuple>,
) -> PyResult<()> {
    let vals = flat_vals(args)?;
    if !pullback_trace::is_tracing() {
        fun.call1(args)?;
        return Ok(());
    }
    let params = DebugCallback { fmt: fmt.clone().into(), ordered, callback: host(fun, fmt, &vals, vec![]) };
    gate(py, || pullback_trace::bind(DEBUG_PRINT, &Params::new(params), &vals))?;
    Ok(())
}

/// Avals of arrays like those given.
fn avals_like(likes: &[Bound<'_, PyAny>]) -> PyResult<Vec<Aval>> {
    let aval = |like: &Bound<'_, PyAny>| -> PyResult<Aval> {
        let shape: Vec<usize> = like.getattr("shape")?.extract()?;
        let dtype = crate::dtypes::of_object(&like.getattr("dtype")?)?;
        Ok(Aval::new(&shape, dtype))
    };
    likes.iter().map(aval).collect()
}

/// Calls a function without effects; gives flat results of the declared types, from arrays like `result_like`.
#[pyfunction]
fn pure_callback(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    name: String,
    result_like: Vec<Bound<'_, PyAny>>,
    vmap_method: &str,
    args: &Bound<'_, PyTuple>,
) -> PyResult<Vec<Py<PyAny>>> {
    let vals = flat_vals(args)?;
    let result_avals = avals_like(&result_like)?;
    let vmap_method = VmapMethod::of_name(vmap_method)
        .ok_or_else(|| crate::errors::value_error(format!("there is no vmap_method {vmap_method}")))?;
    let callback = host(fun, name, &vals, result_avals.clone());
    let params = Params::new(PureCallback { callback, result_avals, vmap_method });
    let results = gate(py, || pullback_trace::bind(PURE_CALLBACK, &params, &vals))?;
    results.into_iter().map(|val| wrap(py, val)).collect()
}

/// Calls a function with effects; as `pure_callback` otherwise.
#[pyfunction]
fn io_callback(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    name: String,
    result_like: Vec<Bound<'_, PyAny>>,
    ordered: bool,
    args: &Bound<'_, PyTuple>,
) -> PyResult<Vec<Py<PyAny>>> {
    let vals = flat_vals(args)?;
    let result_avals = avals_like(&result_like)?;
    let callback = host(fun, name, &vals, result_avals.clone());
    let params = Params::new(IoCallback { callback, ordered, result_avals });
    let results = gate(py, || pullback_trace::bind(IO_CALLBACK, &params, &vals))?;
    results.into_iter().map(|val| wrap(py, val)).collect()
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(debug_callback, m)?)?;
    m.add_function(wrap_pyfunction!(io_callback, m)?)?;
    m.add_function(wrap_pyfunction!(pure_callback, m)?)
}
