//! Executables that are kept for jaxprs, and how many: those that ran longest ago go first.
//!
//! Nobody else keeps executables: what a call needs it finds by its jaxpr or its plan, or compiles anew. So memory stays
//! flat however many shapes and functions a process sees. Machine code is unmapped when the last executable that refers
//! to it goes.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pullback_base::Result;
use pullback_ir::JaxprRef;
use rustc_hash::FxBuildHasher;

use crate::{Executable, eval};

/// Executables of the process before those that ran longest ago go.
const MAX_COUNT: usize = 4096;
/// Their bytes before the same.
const MAX_BYTES: usize = 512 << 20;
/// Of what is kept this part goes at once, so that the search for the oldest costs little.
const PART: usize = 4;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// Moves on with each compilation.
static CLOCK: AtomicU64 = AtomicU64::new(1);

/// A place in the account of executables, with the time of the last run.
pub(crate) struct Stamp {
    size_bytes: usize,
    used: AtomicU64,
}

impl Stamp {
    pub(crate) fn new(size_bytes: usize) -> Stamp {
        COUNT.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(size_bytes, Ordering::Relaxed);
        Stamp { size_bytes, used: AtomicU64::new(CLOCK.fetch_add(1, Ordering::Relaxed)) }
    }

    /// Says that the executable runs now.
    pub(crate) fn touch(&self) {
        self.used.store(CLOCK.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(self.size_bytes, Ordering::Relaxed);
    }
}

/// Executables alive in the process, and the bytes of their code and constants.
pub fn executable_stats() -> (usize, usize) {
    (COUNT.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed))
}

/// A jaxpr and which inputs are donated; none when empty.
type Kept = HashMap<(u64, Box<[bool]>), Arc<Executable>, FxBuildHasher>;

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

fn kept() -> std::sync::MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The executable of a jaxpr, compiled at the first call.
///
/// # Errors
/// `NotImplemented` for what cannot be compiled.
pub fn executable(jaxpr: &JaxprRef) -> Result<Arc<Executable>> {
    executable_donating(jaxpr, &[])
}

/// As [`executable`], for calls that donate the marked inputs.
///
/// # Errors
/// As [`executable`].
pub fn executable_donating(jaxpr: &JaxprRef, donated: &[bool]) -> Result<Arc<Executable>> {
    let donated = if donated.contains(&true) { donated } else { &[] };
    let key = (jaxpr.id(), donated.into());
    if let Some(known) = kept().get(&key) {
        return Ok(known.clone());
    }
    // Compiled without the lock: compiling may take long, and a second compilation does no harm.
    let made = Arc::new(Executable::compile_donating(jaxpr, donated)?);
    make_room();
    Ok(kept().entry(key).or_insert(made).clone())
}

/// Drops the executables that ran longest ago where there are too many, or too large ones.
pub(crate) fn make_room() {
    let (count, bytes) = executable_stats();
    if count <= MAX_COUNT && bytes <= MAX_BYTES {
        return;
    }
    let mut times: Vec<u64> = kept().values().map(|executable| executable.stamp.used()).collect();
    times.extend(eval::times());
    if times.is_empty() {
        return;
    }
    let at = times.len() / PART;
    let last = *times.select_nth_unstable(at).1;
    // Functions of a front end may go with them: outside of the lock.
    let old: Vec<_> = kept().extract_if(|_, executable| executable.stamp.used() <= last).collect();
    let plans = eval::forget(last);
    drop((old, plans));
}

/// Drops all kept executables; those in use stay alive with their users.
pub(crate) fn clear() {
    // The lock ends with the statement, before what was kept goes: functions of a front end may go with it.
    let old = std::mem::take(&mut *kept());
    drop(old);
}
