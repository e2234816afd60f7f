//! How programs run on the machine: the threads, the floating-point mode, the flag that stops a run, and
//! the way in which long work lets a front end's other threads run.
//!
//! It deliberately knows no program: it runs closures over ranges.

mod detach;
mod flush;
pub mod interrupt;
mod pool;
pub mod sealed;

pub use detach::{Detach, Restart, Unlock, detached, set_detach, set_unlock, unlocked};
pub use flush::FlushSubnormals;
pub use pool::{
    lower_cap, parallel_for, parallel_for_runs, restore_cap, set_awake, set_threads, threads, with_threads,
};
