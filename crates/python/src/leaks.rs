//! Tracers that outlive their trace, found when it ends: `jax.checking_leaks`.
//!
//! While the setting is on, every tracer that Python sees is watched by a weak reference. What is still alive at the end
//! of its trace, after a garbage collection, was kept by someone.

use std::cell::RefCell;

use pullback_base::Result;
use pullback_ir::{TraceId, Val};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use crate::errors::Carry;
use crate::names;
use crate::tracer;
use crate::value::as_val;

thread_local! {
    static WATCHED: RefCell<Vec<(TraceId, Py<PyWeakrefReference>)>> = const { RefCell::new(Vec::new()) };
}

/// Watches a tracer until its trace ends.
pub fn watch(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Some(Val::Tracer(tracer)) = as_val(object) {
        let entry = (tracer.trace, PyWeakrefReference::new(object)?.unbind());
        WATCHED.with_borrow_mut(|watched| watched.push(entry));
    }
    Ok(())
}

/// Looks for tracers of a trace that ended.
///
/// # Errors
/// An `Exception` that names each, the line that made it, and who holds it.
pub fn find(trace: TraceId) -> Result<()> {
    let ended = WATCHED.with_borrow_mut(|watched| {
        let (ended, others) = std::mem::take(watched).into_iter().partition(|(id, _)| *id == trace);
        *watched = others;
        let ended: Vec<(TraceId, Py<PyWeakrefReference>)> = ended;
        ended
    });
    Python::attach(|py| report(py, &ended).carry(py))
}

fn report(py: Python<'_>, ended: &[(TraceId, Py<PyWeakrefReference>)]) -> PyResult<()> {
    let is_alive = || ended.iter().any(|(_, weak)| weak.bind(py).upgrade().is_some());
    if !is_alive() {
        return Ok(());
    }
    let gc = py.import("gc")?;
    gc.call_method0("collect")?;
    let leaked: Vec<Bound<'_, PyAny>> = ended.iter().filter_map(|(_, weak)| weak.bind(py).upgrade()).collect();
    let Some(first) = leaked.first() else { return Ok(()) };
    let mut text = format!("Leaked trace {}. Leaked tracer(s):\n", names::class_name(first).replace("Tracer", "Trace"));
    for object in &leaked {
        text += &format!("\n{}\n", describe(object)?);
    }
    Err(PyException::new_err(text))
}

fn describe(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let Some(Val::Tracer(found)) = as_val(object) else { return Ok(String::new()) };
    let mut lines = vec![tracer::repr(object.py(), found)];
    lines.extend(names::leak_text(object.py(), found));
    let holders = object.py().import("pullback._leaks")?.call_method1("_holders", (object,))?;
    lines.extend(holders.extract::<Vec<String>>()?);
    Ok(lines.join("\n"))
}
