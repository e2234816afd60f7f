//! How programs run on the machine: the threads, the floating-point mode, and the flag that stops a run.
//!
//! It deliberately knows no program: it runs closures over ranges.

mod flush;
pub mod interrupt;
mod pool;

pub use flush::FlushSubnormals;
pub use pool::{parallel_for, set_threads, threads};
