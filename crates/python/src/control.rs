//! Control flow over staged functions: `cond`, `scan`, `while`, `checkpoint` are bound here; their arguments are
//! checked in Python, see `pullback._control`.

use pullback_base::Result;
use pullback_core::control::{CHECKPOINT, COND, Checkpoint, Cond, SCAN, Scan, WHILE, While};
use pullback_ir::{Params, Val, Vals};
use pullback_trace::{Traced, bind, unify_captures};
use pyo3::prelude::*;

use crate::gate::gate;
use crate::jit::Staged;
use crate::value::{to_val, wrap_all};

fn vals(leaves: &[Bound<'_, PyAny>]) -> PyResult<Vec<Val>> {
    leaves.iter().map(to_val).collect()
}

fn bound(py: Python<'_>, run: impl FnOnce() -> Result<Vals>) -> PyResult<Vec<Py<PyAny>>> {
    wrap_all(py, gate(py, run)?)
}

fn traced(staged: &Staged) -> Traced {
    let (jaxpr, captured, ..) = staged.parts();
    Traced { jaxpr: jaxpr.clone(), captured: captured.to_vec() }
}

/// Runs the branch that `index` names; branches take the same operands.
#[pyfunction]
fn bind_cond(
    py: Python<'_>,
    index: &Bound<'_, PyAny>,
    branches: Vec<PyRef<'_, Staged>>,
    operands: Vec<Bound<'_, PyAny>>,
) -> PyResult<Vec<Py<PyAny>>> {
    let all: Vec<Traced> = branches.iter().map(|branch| traced(branch)).collect();
    let (jaxprs, captured) = unify_captures(&all);
    let ins = [vec![to_val(index)?], captured, vals(&operands)?].concat();
    bound(py, || bind(COND, &Params::new(Cond::new(jaxprs)), &ins))
}

/// Runs the body once for each slice: carried values go in first, then slices.
#[pyfunction]
fn bind_scan(
    py: Python<'_>,
    body: &Staged,
    init: Vec<Bound<'_, PyAny>>,
    xs: Vec<Bound<'_, PyAny>>,
    length: usize,
    reverse: bool,
    unroll: usize,
) -> PyResult<Vec<Py<PyAny>>> {
    let (jaxpr, captured, ..) = body.parts();
    let mut scan = Scan::new(jaxpr.clone(), length, reverse, captured.len(), init.len());
    scan.unroll = unroll;
    let ins = [captured.to_vec(), vals(&init)?, vals(&xs)?].concat();
    bound(py, || bind(SCAN, &Params::new(scan), &ins))
}

/// Runs the body while the condition holds.
#[pyfunction]
fn bind_while(py: Python<'_>, cond: &Staged, body: &Staged, init: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Py<PyAny>>> {
    let ((cond_jaxpr, cond_captured, ..), (body_jaxpr, body_captured, ..)) = (cond.parts(), body.parts());
    let params = While {
        cond_jaxpr: cond_jaxpr.clone(),
        cond_nconsts: cond_captured.len(),
        body_jaxpr: body_jaxpr.clone(),
        body_nconsts: body_captured.len(),
    };
    let ins = [cond_captured.to_vec(), body_captured.to_vec(), vals(&init)?].concat();
    bound(py, || bind(WHILE, &Params::new(params), &ins))
}

/// Calls a staged function whose intermediate values a reverse derivative computes again.
#[pyfunction]
fn bind_checkpoint(
    py: Python<'_>,
    staged: &Staged,
    operands: Vec<Bound<'_, PyAny>>,
    prevent_cse: bool,
) -> PyResult<Vec<Py<PyAny>>> {
    let (jaxpr, captured, ..) = staged.parts();
    let params = Params::new(Checkpoint::new(jaxpr.clone(), prevent_cse));
    let ins = [captured.to_vec(), vals(&operands)?].concat();
    bound(py, || bind(CHECKPOINT, &params, &ins))
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(bind_cond, m)?)?;
    m.add_function(wrap_pyfunction!(bind_scan, m)?)?;
    m.add_function(wrap_pyfunction!(bind_while, m)?)?;
    m.add_function(wrap_pyfunction!(bind_checkpoint, m)?)
}
