//! Loop programs to machine code.
//!
//! [`compile`] expands a [`Program`](pullback_loops::Program), generates native code, and gives an [`Executable`] with
//! the bits of the interpreter. On x86-64 the code comes from an emitter of our own (`x86`), elsewhere from Cranelift
//! (`emit`); [`Engine`] names them all. One native function runs a program; loops that threads share are functions of
//! a range. A saved executable ([`Executable::to_bytes`]) runs in
//! another process. It keeps no cache and knows nothing of arrays beyond their memory.

mod analysis;
mod arena;
mod checked;
mod emit;
mod executable;
mod host;
mod native;
mod saved;
mod x86;

pub use executable::{Engine, Executable, Options, compile};
