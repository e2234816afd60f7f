//! Where programs run: the [`Backend`] contract, the CPU, and the emitter that evaluates at once.
//!
//! [`executable`] compiles a jaxpr once and keeps it; [`eval`] performs single primitives on arrays. This crate makes no
//! loops and no machine code itself, and knows no traces: a tracer that comes here is an error.
#![forbid(unsafe_code)]

mod background;
mod checks;
mod cost;
mod cpu;
mod disk;
mod engine;
mod eval;
mod flags;
mod inspect;
mod kept;
mod kernels;
mod placement;
mod shards;
#[cfg(test)]
mod tests;
mod transfers;
mod untyped;

use std::sync::atomic::{AtomicU64, Ordering};

use pullback_base::array::check_memory;
use pullback_base::{Array, Aval, Result, bail};
use pullback_ir::JaxprRef;
use pullback_runtime::{Restart, detached};

pub use checks::{Checker, Forbidden, check_numbers, set_checker, unchecked};
pub use cost::{Memory, RunCost, memory, run_cost};
pub use cpu::{CpuBackend, native};
pub use disk::{CacheSettings, n_loaded, set_cache};
pub use engine::{DeviceCode, Engine, Program, add_engine, engine_of, put};
pub use eval::{Eval, eval, eval_bind};
pub use inspect::{Inspection, inspect};
pub use kept::{executable, executable_donating, executable_stats};
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

    /// Bytes of the code and its constants.
    fn size_bytes(&self) -> usize;
}

/// A compiled jaxpr.
pub struct Executable {
    in_avals: Vec<Aval>,
    code: Box<dyn Code>,
    stamp: kept::Stamp,
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
        check_memory()?;
        pullback_core::control::set_shard_runner(shards::runner);
        count_compilation();
        let code = detached(Restart::Yes, || {
            background::compile(jaxpr, donated, |jaxpr, donated| CpuBackend.compile(jaxpr, donated))
        })?;
        Ok(Executable { in_avals: jaxpr.in_avals(), stamp: kept::Stamp::new(code.size_bytes()), code })
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
        self.stamp.touch();
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

/// Drops all kept executables; those in use stay alive with their users.
pub fn clear_caches() {
    kept::clear();
    engine::clear();
    eval::clear();
    untyped::clear();
}
