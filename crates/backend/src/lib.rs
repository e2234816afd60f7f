//! Where programs run: the [`Backend`] contract, the CPU, and the emitter that evaluates at once.
//!
//! [`executable`] compiles a jaxpr once and keeps it; [`eval`] performs single primitives on arrays. This crate makes no
//! loops and no machine code itself, and knows no traces: a tracer that comes here is an error.
#![forbid(unsafe_code)]

mod background;
mod checks;
mod cost;
mod cpu;
mod engine;
mod eval;
mod flags;
mod inspect;
mod kernels;
mod placement;
mod shards;
#[cfg(test)]
mod tests;
mod transfers;
mod untyped;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pullback_base::{Array, Aval, Result, bail};
use pullback_ir::JaxprRef;
use pullback_runtime::{Restart, detached};
use rustc_hash::FxBuildHasher;

pub use checks::{Checker, Forbidden, check_numbers, set_checker, unchecked};
pub use cost::{Memory, RunCost, memory, run_cost};
pub use cpu::{CpuBackend, native};
pub use engine::{DeviceCode, Engine, Program, add_engine, engine_of, put};
pub use eval::{Eval, eval, eval_bind};
pub use inspect::{Inspection, inspect};
pub use kernels::{KernelCost, Roof, kernel_costs};
pub use placement::{
    FindDefault, assemble, default_device, find_default_device_with, set_context_mesh, set_default_device,
    set_process_default_device, uncommitted,
};
pub use shards::{Wait, run_on_devices, set_wait};
pub use transfers::{OnTransfer, Unguarded, are_transfers_guarded, on_transfer, transfer, unguarded};

/// Compiles jaxprs for one kind of device.
pub trait Backend: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// Compiles a jaxpr, of whose inputs those marked may be overwritten; `donated` may be empty.
    ///
    /// # Errors
    /// `NotImplemented` for what the device cannot do.
    fn compile(&self, jaxpr: &JaxprRef, donated: &[bool]) -> Result<Box<dyn Code>>;
}

/// Compiled code that runs on arrays.
pub trait Code: Send + Sync {
    /// Runs on as many arrays as the jaxpr has inputs, of its avals. Donated ones are deleted.
    ///
    /// # Errors
    /// When an argument is deleted, or the run fails.
    fn run(&self, args: &[Array], donated: &[bool]) -> Result<Vec<Array>>;
}

/// A compiled jaxpr.
pub struct Executable {
    in_avals: Vec<Aval>,
    code: Box<dyn Code>,
}

impl Executable {
    /// Compiles a jaxpr for the CPU, without keeping it.
    ///
    /// # Errors
    /// `NotImplemented` for what cannot be compiled.
    pub fn compile(jaxpr: &JaxprRef) -> Result<Executable> {
        Executable::compile_donating(jaxpr, &[])
    }

    /// As [`Executable::compile`]; results may take over the memory of the marked inputs, when a run donates them too.
    ///
    /// # Errors
    /// As [`Executable::compile`].
    pub fn compile_donating(jaxpr: &JaxprRef, donated: &[bool]) -> Result<Executable> {
        pullback_core::control::set_shard_runner(shards::runner);
        count_compilation();
        Ok(Executable {
            in_avals: jaxpr.in_avals(),
            code: detached(Restart::Yes, || {
                background::compile(jaxpr, donated, |jaxpr, donated| CpuBackend.compile(jaxpr, donated))
            })?,
        })
    }

    /// Runs on arrays of the jaxpr's input avals (weak types do not matter). `donated` marks arguments whose memory may
    /// be taken over and which are deleted; it may be empty.
    ///
    /// # Errors
    /// When the arguments do not fit or are deleted, or the run fails.
    pub fn run(&self, args: &[Array], donated: &[bool]) -> Result<Vec<Array>> {
        let fits = |(arg, aval): (&Array, &Aval)| {
            let given = arg.aval();
            given == *aval || (given.shape == aval.shape && given.dtype == aval.dtype)
        };
        if args.len() != self.in_avals.len() || !args.iter().zip(&self.in_avals).all(fits) {
            let given: Vec<Aval> = args.iter().map(Array::aval).collect();
            bail!(Type, "compiled for arguments {:?}, called with {given:?}", self.in_avals);
        }
        self.code.run(args, donated)
    }
}

static N_COMPILED: AtomicU64 = AtomicU64::new(0);

fn count_compilation() {
    N_COMPILED.fetch_add(1, Ordering::Relaxed);
}

/// Jaxprs compiled in this process so far, for tests of caches.
pub fn n_compiled() -> u64 {
    N_COMPILED.load(Ordering::Relaxed)
}

/// Executables before all are dropped; jaxprs that are in use compile again.
const MAX_KEPT: usize = 4096;

/// A jaxpr and which inputs are donated; none when empty.
type Kept = HashMap<(u64, Box<[bool]>), Arc<Executable>, FxBuildHasher>;

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

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
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (jaxpr.id(), donated.into());
    if let Some(known) = kept().get(&key) {
        return Ok(known.clone());
    }
    // Compiled without the lock: compiling may take long, and a second compilation does no harm.
    let made = Arc::new(Executable::compile_donating(jaxpr, donated)?);
    let mut kept = kept();
    let dropped = if kept.len() >= MAX_KEPT { std::mem::take(&mut *kept) } else { HashMap::default() };
    let known = kept.entry(key).or_insert(made).clone();
    drop(kept);
    // Functions of a front end may go with them: outside of the lock.
    drop(dropped);
    Ok(known)
}

/// Drops all kept executables; those in use stay alive with their users.
pub fn clear_caches() {
    // The lock ends with the statement, before what was kept goes: functions of a front end may go with it.
    let old = std::mem::take(&mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner));
    drop(old);
    engine::clear();
    eval::clear();
    untyped::clear();
}
