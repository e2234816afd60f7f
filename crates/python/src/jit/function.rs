//! The callable that `jit` returns, and the cache of what it traced.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::array::place::places_in_use;
use pullback_base::tree::TreeDef;
use pullback_core::control::{JIT, Jit};

use pullback_ir::{Jaxpr, JaxprRef, Params, Val, eval_jaxpr};
use pullback_trace::settings::{Setting, is_on};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::record::{Miss, Record};
use super::signature::{Leaf, Signature, SignatureError, Statics, bad_argument};
use super::stage::{CallSpec, Job, StagedCall, leaf_path, stage};
use crate::call::tree_of;
use crate::dtypes::warn;
use crate::errors::exception_class;
use crate::gate::{Found, gate, gate_of_numbers};

/// Whether anybody listens to how long tracing and compiling take.
static IS_MONITORED: AtomicBool = AtomicBool::new(false);

/// Says whether `pullback.monitoring` has listeners.
#[pyfunction]
pub fn set_monitored(is_monitored: bool) {
    IS_MONITORED.store(is_monitored, Ordering::Relaxed);
}

/// What is known of one signature.
struct Entry {
    signature: Signature,
    params: Params,
    out_tree: TreeDef,
    /// Positions of leaves whose memory a result takes over.
    donated: Vec<usize>,
    /// The call without the leaves that nothing uses, where there are some.
    pruned: Option<Pruned>,
}

/// A call that takes some of the leaves.
struct Pruned {
    params: Params,
    taken: Vec<usize>,
}

impl Pruned {
    /// The call of `jit` without what it does not use; `None` when it uses all, or must keep the rest.
    fn of(jit: &Jit) -> Option<Pruned> {
        let used = jit.jaxpr.used_inputs();
        if jit.keep_unused || used.iter().all(|used| *used) {
            return None;
        }
        let taken: Vec<usize> = (0..used.len()).filter(|&at| used[at]).collect();
        let mut jaxpr = Jaxpr::clone(&jit.jaxpr);
        jaxpr.invars = taken.iter().map(|&at| jit.jaxpr.invars[at]).collect();
        let donated_invars = taken.iter().map(|&at| jit.donated_invars[at]).collect();
        let params = Params::new(Jit { jaxpr: JaxprRef::new(jaxpr), donated_invars, ..jit.clone() });
        Some(Pruned { params, taken })
    }

    /// The same call with what it takes, where it is performed at once on values of one device.
    fn call(&self, leaves: &[Leaf<'_>], has_tracer: bool) -> Option<(&Params, SmallVec<[Val; 8]>)> {
        let is_plain = !pullback_trace::is_tracing() && !places_in_use() && !has_tracer;
        is_plain.then(|| (&self.params, self.taken.iter().map(|&at| leaves[at].val().clone()).collect()))
    }
}

/// Traced programs of one function under one set of options; shared by all wrappers of the same function.
#[pyclass(module = "pullback._core", frozen)]
#[derive(Default)]
pub struct JitCache {
    entries: Mutex<FxHashMap<u64, SmallVec<[Arc<Entry>; 1]>>>,
    record: Record,
}

/// Entries before a cache starts anew.
const MAX_ENTRIES: usize = 8192;

impl JitCache {
    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<u64, SmallVec<[Arc<Entry>; 1]>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, py: Python<'_>, hash: u64, signature: &Signature) -> PyResult<Option<Arc<Entry>>> {
        // Equality may run Python code, so the lock is not held meanwhile.
        let Some(candidates) = self.lock().get(&hash).cloned() else { return Ok(None) };
        for entry in candidates {
            if entry.signature.equals(py, signature)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn insert(&self, hash: u64, entry: Arc<Entry>) {
        let mut entries = self.lock();
        let is_full = entries.len() + entries.get(&hash).map_or(0, SmallVec::len) >= MAX_ENTRIES;
        let old = if is_full { std::mem::take(&mut *entries) } else { FxHashMap::default() };
        entries.entry(hash).or_default().push(entry);
        drop(entries);
        // Objects of the user may go with the old entries, and run their code: outside of the lock.
        drop(old);
    }
}

#[pymethods]
impl JitCache {
    #[new]
    fn new() -> JitCache {
        JitCache::default()
    }
    fn __len__(&self) -> usize {
        self.lock().values().map(SmallVec::len).sum()
    }
    fn clear(&self) {
        // Functions and arrays may go with the entries: outside of the lock.
        let old = std::mem::take(&mut *self.lock());
        drop(old);
        self.record.clear();
    }
}

/// A function that is traced once for each signature and then runs as a program.
#[pyclass(module = "pullback", frozen, dict, weakref, subclass)]
pub struct PjitFunction {
    fun: Py<PyAny>,
    name: Arc<str>,
    statics: Statics,
    donate: Statics,
    keep_unused: bool,
    inline: bool,
    cache: Py<JitCache>,
}

#[pymethods]
impl PjitFunction {
    #[new]
    #[pyo3(signature = (fun, cache, name, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline))]
    #[allow(clippy::too_many_arguments, reason = "called from one place, by name")]
    fn new(
        fun: Py<PyAny>,
        cache: Py<JitCache>,
        name: String,
        static_argnums: Vec<usize>,
        static_argnames: Vec<String>,
        donate_argnums: Vec<usize>,
        donate_argnames: Vec<String>,
        keep_unused: bool,
        inline: bool,
    ) -> PjitFunction {
        let statics = Statics { argnums: static_argnums, argnames: static_argnames };
        let donate = Statics { argnums: donate_argnums, argnames: donate_argnames };
        PjitFunction { fun, name: name.into(), statics, donate, keep_unused, inline, cache }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        if is_on(Setting::DisableJit) {
            return self.fun.call(py, args, kwargs);
        }
        let (signature, leaves) = match Signature::of_call(args, kwargs, &self.statics) {
            Ok(parts) => parts,
            Err(error) => return Err(self.explain(py, error, args, kwargs)),
        };
        let hash = signature.hash_value();
        if let Some(entry) = self.cache.get().find(py, hash, &signature)? {
            self.cache.get().record.hit();
            return self.run_entry(py, &entry, &leaves, signature.has_tracer());
        }
        let vals = leaves.iter().map(|leaf| leaf.val().clone()).collect();
        self.miss(py, args, kwargs, (hash, signature), vals)
    }

    /// Binds to an instance, as functions do.
    fn __get__(slf: Bound<'_, Self>, obj: &Bound<'_, PyAny>, _class: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
        if obj.is_none() {
            return Ok(slf.into_any().unbind());
        }
        Ok(slf.py().import("types")?.getattr("MethodType")?.call1((slf, obj))?.unbind())
    }

    /// Number of signatures traced.
    fn _cache_size(&self) -> usize {
        self.cache.get().__len__()
    }

    /// Forgets all that was traced.
    fn clear_cache(&self) {
        self.cache.get().clear();
    }

    /// How often a call found its program, and why it did not: for each trace, which argument differed from those before,
    /// in what, and on which line the call was.
    fn cache_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let cache = self.cache.get();
        let misses = cache.record.misses(py)?;
        let facts =
            (self.fun.clone_ref(py), self.statics.argnums.clone(), cache.record.n_hits(), cache.__len__(), misses);
        py.import("pullback._cache_info")?.call_method1("_info", facts)
    }

    /// Forgets all that was traced, under its older name.
    fn _clear_cache(&self) {
        self.cache.get().clear();
    }

    /// What was asked for at the creation, for `lower` and its kin.
    fn _options(&self) -> (Vec<usize>, Vec<String>, Vec<usize>, Vec<String>, bool) {
        let (statics, donate) = (self.statics.clone(), self.donate.clone());
        (statics.argnums, statics.argnames, donate.argnums, donate.argnames, self.keep_unused)
    }

    #[getter]
    fn _fun(&self, py: Python<'_>) -> Py<PyAny> {
        self.fun.clone_ref(py)
    }

    /// The staged program of a call.
    #[pyo3(signature = (*args, **kwargs))]
    fn trace(
        slf: Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(slf.py().import("pullback.stages")?.call_method1("_trace", (slf, args, kwargs))?.unbind())
    }

    /// The lowered program of a call.
    #[pyo3(signature = (*args, **kwargs))]
    fn lower(
        slf: Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(PjitFunction::trace(slf.clone(), args, kwargs)?.bind(slf.py()).call_method0("lower")?.unbind())
    }

    /// Shapes and dtypes of the results of a call.
    #[pyo3(signature = (*args, **kwargs))]
    fn eval_shape(
        slf: Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(PjitFunction::trace(slf.clone(), args, kwargs)?.bind(slf.py()).getattr("out_info")?.unbind())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<PjitFunction of {}>", self.fun.bind(py).repr()?))
    }

    fn __reduce__(slf: Bound<'_, Self>) -> PyResult<String> {
        Ok(slf.getattr("__qualname__")?.to_string())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.fun)?;
        visit.call(&self.cache)
    }
}

/// An array that is given away may be one argument only.
fn check_given_once(py: Python<'_>, entry: &Entry, leaves: &[Val]) -> PyResult<()> {
    let same = |a: &Val, b: &Val| matches!((a, b), (Val::Array(a), Val::Array(b)) if a.is_same(b));
    for &at in &entry.donated {
        if let Some(other) = (0..leaves.len()).find(|&other| other != at && same(&leaves[at], &leaves[other])) {
            let text = format!(
                "Attempt to use a buffer that was previously donated in the same call: flattened arguments {} and {} are one \
                 array of type {}, and it is donated. Toy example for this bug: `f(donate(a), a)`.",
                at.min(other),
                at.max(other),
                leaves[at].aval().weak(false).long()
            );
            let class = exception_class(py, "JaxRuntimeError")?;
            return Err(PyErr::from_type(class, text));
        }
    }
    Ok(())
}

impl PjitFunction {
    /// Runs what was traced before; of the leaves only what the program uses is taken, where that is allowed.
    fn run_entry(&self, py: Python<'_>, entry: &Entry, leaves: &[Leaf<'_>], has_tracer: bool) -> PyResult<Py<PyAny>> {
        if entry.donated.is_empty()
            && let Some((params, taken)) = entry.pruned.as_ref().and_then(|pruned| pruned.call(leaves, has_tracer))
        {
            let outs = gate_of_numbers(py, Found::InOutput, || pullback_trace::bind(JIT, params, &taken))?;
            return tree_of(py, &entry.out_tree, outs);
        }
        let leaves: SmallVec<[Val; 8]> = leaves.iter().map(|leaf| leaf.val().clone()).collect();
        self.run(py, entry, &leaves)
    }

    fn run(&self, py: Python<'_>, entry: &Entry, leaves: &[Val]) -> PyResult<Py<PyAny>> {
        if !pullback_trace::is_tracing() {
            check_given_once(py, entry, leaves)?;
        }
        let given = |&at: &usize| match &leaves[at] {
            Val::Array(array) if !array.is_shared() => Some(array.clone()),
            _ => None,
        };
        let given: SmallVec<[pullback_base::Array; 4]> = entry.donated.iter().filter_map(given).collect();
        let outs = gate_of_numbers(py, Found::InOutput, || match &self.inlined(&entry.params) {
            Some(jit) => eval_jaxpr(&*pullback_trace::current(), &jit.jaxpr, leaves).map(Into::into),
            None => pullback_trace::bind(JIT, &entry.params, leaves),
        })?;
        if !pullback_trace::is_tracing() {
            given.iter().for_each(pullback_base::Array::delete);
        }
        tree_of(py, &entry.out_tree, outs)
    }

    fn inlined<'a>(&self, params: &'a Params) -> Option<&'a Jit> {
        if self.inline && pullback_trace::is_tracing() { params.get::<Jit>() } else { None }
    }

    fn miss(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        (hash, signature): (u64, Signature),
        mut leaves: SmallVec<[Val; 8]>,
    ) -> PyResult<Py<PyAny>> {
        let job = Job { transform: "jit", fun: self.fun.bind(py), args, kwargs, statics: &self.statics };
        let spec = CallSpec::of_call(args, kwargs, &self.statics, &mut vec![])?;
        let avals: Vec<_> = leaves.iter().map(Val::aval).collect();
        let begun = std::time::Instant::now();
        let staged = gate(py, || stage(&job, &spec, &avals))?;
        self.tell_durations(py, begun.elapsed(), &staged)?;
        self.cache.get().record.miss(Miss::new(py, &spec, &avals, !staged.captured.is_empty()));
        self.report_miss(py, &avals)?;
        let n_captured = staged.captured.len();
        let donated = self.donated(py, args, kwargs, &staged)?;
        let entry = self.entry(signature, staged.jaxpr.clone(), staged.out_tree.clone(), donated);
        if n_captured == 0 {
            let entry = Arc::new(entry);
            self.cache.get().insert(hash, entry.clone());
            return self.run(py, &entry, &leaves);
        }
        // What was captured belongs to traces around this call, so nobody else can use the program.
        leaves.insert_many(0, staged.captured);
        self.run(py, &Entry { donated: vec![], pruned: None, ..entry }, &leaves)
    }

    /// Tells listeners of `pullback.monitoring` how long tracing took, and outside of traces how long compiling takes.
    fn tell_durations(&self, py: Python<'_>, tracing: std::time::Duration, staged: &StagedCall) -> PyResult<()> {
        if !IS_MONITORED.load(Ordering::Relaxed) {
            return Ok(());
        }
        let compiling = if pullback_trace::is_tracing() || !staged.captured.is_empty() {
            None
        } else {
            let begun = std::time::Instant::now();
            gate(py, || pullback_backend::executable(&staged.jaxpr).map(|_| ()))?;
            Some(begun.elapsed().as_secs_f64())
        };
        let monitoring = py.import("pullback.monitoring")?;
        monitoring.call_method1("_made_program", (&*self.name, tracing.as_secs_f64(), compiling))?;
        Ok(())
    }

    /// Logs the miss that was just recorded, where the user asks for it.
    fn report_miss(&self, py: Python<'_>, avals: &[pullback_base::Aval]) -> PyResult<()> {
        let (explains, compiles) = (is_on(Setting::ExplainMisses), is_on(Setting::LogCompiles));
        if !explains && !compiles {
            return Ok(());
        }
        let reports = py.import("pullback._cache_info")?;
        if explains {
            let misses = self.cache.get().record.misses(py)?;
            let statics = self.statics.argnums.clone();
            reports.call_method1("_explain_last", (self.fun.clone_ref(py), statics, misses))?;
        }
        if compiles && !pullback_trace::is_tracing() {
            let avals: Vec<String> = avals.iter().map(|aval| crate::aval::repr(*aval)).collect();
            reports.call_method1("_log_compile", (&*self.name, avals))?;
        }
        Ok(())
    }

    fn entry(&self, signature: Signature, jaxpr: JaxprRef, out_tree: TreeDef, donated: Vec<usize>) -> Entry {
        let mut jit = Jit::new(self.name.clone(), jaxpr);
        jit.keep_unused = self.keep_unused;
        jit.inline = self.inline;
        for &at in &donated {
            jit.donated_invars[at] = true;
        }
        let pruned = Pruned::of(&jit);
        Entry { signature, params: Params::new(jit), out_tree, donated, pruned }
    }

    /// Leaves that were offered and that some result of the same type can take over; warns about the others.
    fn donated(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        staged: &StagedCall,
    ) -> PyResult<Vec<usize>> {
        if self.donate.argnums.is_empty() && self.donate.argnames.is_empty() || !staged.captured.is_empty() {
            return Ok(vec![]);
        }
        let offered = self.offered(args, kwargs)?;
        let in_avals = staged.jaxpr.in_avals();
        let mut wanted: Vec<_> = staged.jaxpr.out_avals().into_iter().map(|aval| aval.weak(false)).collect();
        let (mut usable, mut unusable) = (vec![], vec![]);
        for at in offered {
            match wanted.iter().position(|aval| *aval == in_avals[at].weak(false)) {
                Some(found) => {
                    wanted.swap_remove(found);
                    usable.push(at);
                }
                None => unusable.push(in_avals[at].weak(false).long()),
            }
        }
        if !unusable.is_empty() {
            let text = format!(
                "Some donated buffers were not usable: {}.\nNo result has their shape and dtype, so their memory stays with the \
                 arguments.",
                unusable.join(", ")
            );
            warn(py, &text)?;
        }
        Ok(usable)
    }

    /// Positions of the leaves of arguments that were offered.
    fn offered(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<usize>> {
        let (mut found, mut at) = (vec![], 0);
        let mut add = |arg: &Bound<'_, PyAny>, is_static: bool, is_offered: bool| -> PyResult<()> {
            if is_static {
                return Ok(());
            }
            let (leaves, _) = crate::tree::flatten_all(arg)?;
            if is_offered {
                found.extend(at..at + leaves.len());
            }
            at += leaves.len();
            Ok(())
        };
        for (i, arg) in args.iter().enumerate() {
            add(&arg, self.statics.has_position(i), self.donate.has_position(i))?;
        }
        if let Some(kwargs) = kwargs {
            let keys = kwargs.keys();
            keys.sort()?;
            for key in keys.iter() {
                let name = key.to_string();
                add(&kwargs.as_any().get_item(&key)?, self.statics.has_name(&name), self.donate.has_name(&name))?;
            }
        }
        Ok(found)
    }

    fn explain(
        &self,
        py: Python<'_>,
        error: SignatureError,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyErr {
        let bad = match error {
            SignatureError::Raised(raised) => return raised,
            SignatureError::Bad(bad) => bad.0,
        };
        let job = Job { transform: "jit", fun: self.fun.bind(py), args, kwargs, statics: &self.statics };
        let mut leaves = vec![];
        if let Err(raised) = CallSpec::of_call(args, kwargs, &self.statics, &mut leaves) {
            return raised;
        }
        let index = leaves.iter().position(|leaf| leaf.is(&bad)).unwrap_or(0);
        bad_argument(job.fun, bad.bind(py), &leaf_path(&job, index))
    }
}
