//! Compiled programs: machine code with its kernels and the memory of a run.
//!
//! [`Code`] runs on bytes, [`Compiled`] on arrays. Both are what a compiler made, in this process or in another: a
//! [`Compiled`] is saved to a file and loaded from it, and runs where there is neither tracer nor compiler. This crate
//! makes no code and knows no jaxpr.

mod checked;
mod code;
mod compiled;
mod file;
mod host;
mod layout;
mod level;
mod memory;
mod pages;

pub use checked::check_lengths;
pub use code::{Code, Machine};
pub use compiled::{Compiled, Output};
pub use host::{
    BoundKernel, DONE, FAILED, INTERRUPTED, Main, buffer_entry, call_kernel, frame_entry, rem_f32, rem_f64, share,
    size_entry,
};
pub use layout::{Layout, aligned};
pub use level::{Level, best_level};
pub use memory::{CodeMemory, Relocation, Symbol};
pub use pullback_base::{Array, Aval, DType, Error, Result};
pub use pullback_runtime::sealed::write_whole;
