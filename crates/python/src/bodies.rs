//! What the bodies of control flow were traced to, so that a loop in a loop of Python is traced once.
//!
//! Goes by the identity of the function, which is held weakly, the structures and avals of its arguments, and the
//! settings. A body that uses tracers from outside belongs to their trace and is not kept.

use std::sync::{Mutex, PoisonError};

use pullback_base::Aval;
use pullback_base::tree::TreeDef;
use pullback_ir::Val;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyWeakrefMethods, PyWeakrefReference};
use rustc_hash::FxHashMap;

use crate::control::TracedFun;

/// What a trace of a function depends on.
#[derive(PartialEq, Eq)]
pub struct Key {
    transform: &'static str,
    /// Structures of the arguments.
    pub args: Vec<TreeDef>,
    avals: Vec<Aval>,
    settings: u64,
}

impl Key {
    /// The key of a trace under the settings of this thread.
    pub fn new(transform: &'static str, args: Vec<TreeDef>, avals: &[Aval]) -> Key {
        Key { transform, args, avals: avals.to_vec(), settings: pullback_trace::settings::settings() }
    }
}

/// The traces of one function.
struct Body {
    fun: Py<PyWeakrefReference>,
    traces: Vec<(Key, TracedFun)>,
}

impl Body {
    fn is_of(&self, fun: &Bound<'_, PyAny>) -> bool {
        self.fun.bind(fun.py()).upgrade().is_some_and(|alive| alive.is(fun))
    }
}

type Bodies = FxHashMap<usize, Body>;

static BODIES: Mutex<Option<Bodies>> = Mutex::new(None);
/// Traces of one function before they are forgotten.
const MAX_TRACES: usize = 64;
/// Functions before dead ones are looked for.
const MAX_FUNCTIONS: usize = 512;

fn with<T>(body: impl FnOnce(&mut Bodies) -> T) -> T {
    body(BODIES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// What the function was traced to before.
pub fn find(fun: &Bound<'_, PyAny>, key: &Key) -> PyResult<Option<TracedFun>> {
    // Equality of keys may ask objects of the user, so the lock is not held meanwhile.
    let candidates = with(|bodies| match bodies.get_mut(&(fun.as_ptr() as usize)) {
        Some(body) if body.is_of(fun) => std::mem::take(&mut body.traces),
        _ => vec![],
    });
    if candidates.is_empty() {
        return Ok(None);
    }
    let found = candidates.iter().find(|(known, _)| known == key).map(|(_, traced)| traced.clone());
    with(|bodies| {
        if let Some(body) = bodies.get_mut(&(fun.as_ptr() as usize)) {
            body.traces.extend(candidates);
        }
    });
    Ok(found)
}

/// Remembers what the function was traced to, if others may use it.
pub fn keep(fun: &Bound<'_, PyAny>, key: Key, traced: &TracedFun) -> PyResult<()> {
    if traced.traced.captured.iter().any(Val::is_tracer) {
        return Ok(());
    }
    // A native function has no lines of its own: its equations are where it was given, each time on another line.
    if fun.is_instance_of::<PyCFunction>() || fun.is_instance_of::<crate::declared::Function>() {
        return Ok(());
    }
    // Some callables cannot be held weakly.
    let Ok(weak) = PyWeakrefReference::new(fun) else { return Ok(()) };
    let weak = weak.unbind();
    let dropped = with(|bodies| {
        let mut dropped = vec![];
        if bodies.len() >= MAX_FUNCTIONS {
            dropped.extend(bodies.extract_if(|_, body| body.fun.bind(fun.py()).upgrade().is_none()).map(|(_, b)| b));
            if dropped.is_empty() {
                dropped.extend(bodies.drain().map(|(_, body)| body));
            }
        }
        match bodies.get_mut(&(fun.as_ptr() as usize)) {
            Some(body) if body.is_of(fun) && body.traces.len() < MAX_TRACES => {
                body.traces.push((key, traced.clone()));
            }
            _ => {
                let fresh = Body { fun: weak, traces: vec![(key, traced.clone())] };
                dropped.extend(bodies.insert(fun.as_ptr() as usize, fresh));
            }
        }
        dropped
    });
    // Arrays and functions may go with it: outside of the lock.
    drop(dropped);
    Ok(())
}

/// Forgets all traces of bodies.
#[pyfunction]
fn clear_bodies() {
    let old = with(std::mem::take);
    drop(old);
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(clear_bodies, m)?)
}
