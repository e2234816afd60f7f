//! What a cache of programs was asked for: hits counted, misses kept with all that `cache_info` needs to explain them.
//!
//! Nothing is explained here, so that a miss costs little more than its trace.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use pullback_base::tree::TreeDef;
use pullback_base::{Aval, Span};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::stage::CallSpec;
use crate::aval::PyAval;
use crate::gate::user_span;
use crate::tree::unflatten;

/// A call that was traced.
pub struct Miss {
    span: Span,
    tree: TreeDef,
    avals: Vec<Aval>,
    /// Static arguments by position or name, as texts: the objects may be large.
    statics: Vec<(Py<PyAny>, String)>,
    settings: u64,
    captures: bool,
}

/// Characters of a static value that are kept.
const MAX_TEXT: usize = 200;

impl Miss {
    /// The miss of a call on the user's current line.
    pub fn new(py: Python<'_>, spec: &CallSpec, avals: &[Aval], captures: bool) -> Miss {
        let text = |value: &Py<PyAny>| {
            let text = value.bind(py).repr().map_or_else(|_| "<no repr>".into(), |text| text.to_string());
            text.chars().take(MAX_TEXT).collect()
        };
        let statics = spec.static_values(py).iter().map(|(key, value)| (key.clone_ref(py), text(value))).collect();
        let settings = pullback_trace::settings::settings();
        Miss { span: user_span(py), tree: spec.in_tree(py), avals: avals.to_vec(), statics, settings, captures }
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let avals: PyResult<Vec<_>> =
            self.avals.iter().map(|&aval| Py::new(py, PyAval(aval)).map(Py::into_any)).collect();
        dict.set_item("place", self.span.resolve().map(|place| (place.file, place.line, place.function)))?;
        dict.set_item("arguments", unflatten(py, &self.tree, avals?)?)?;
        let statics: Vec<_> = self.statics.iter().map(|(key, text)| (key.clone_ref(py), text.clone())).collect();
        dict.set_item("statics", statics)?;
        dict.set_item("settings", self.settings)?;
        dict.set_item("captures", self.captures)?;
        Ok(dict)
    }
}

/// Misses that are kept.
const MAX_MISSES: usize = 256;

/// Hits and misses of one cache.
#[derive(Default)]
pub struct Record {
    hits: AtomicU64,
    misses: Mutex<(u64, VecDeque<Miss>)>,
}

impl Record {
    /// Counts a call that found its program.
    pub fn hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Calls that found their program.
    pub fn n_hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, (u64, VecDeque<Miss>)> {
        self.misses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a miss; the oldest goes when there are many.
    pub fn miss(&self, miss: Miss) {
        let mut misses = self.lock();
        misses.0 += 1;
        let old = if misses.1.len() == MAX_MISSES { misses.1.pop_front() } else { None };
        misses.1.push_back(miss);
        drop(misses);
        drop(old);
    }

    /// The number of misses, and those that are kept, oldest first.
    pub fn misses<'py>(&self, py: Python<'py>) -> PyResult<(u64, Vec<Bound<'py, PyDict>>)> {
        // Trees may be put together by functions of the user, so the lock is not held meanwhile.
        let (n_misses, kept) = std::mem::take(&mut *self.lock());
        let dicts: PyResult<_> = kept.iter().map(|miss| miss.to_dict(py)).collect();
        let mut misses = self.lock();
        misses.0 += n_misses;
        for miss in kept.into_iter().rev() {
            misses.1.push_front(miss);
        }
        Ok((n_misses, dicts?))
    }

    /// Starts anew.
    pub fn clear(&self) {
        self.hits.store(0, Ordering::Relaxed);
        let old = std::mem::take(&mut *self.lock());
        drop(old);
    }
}
