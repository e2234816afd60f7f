//! Loop programs to machine code.
//!
//! [`compile`] expands a [`Program`](pullback_loops::Program), generates native code, and gives an [`Executable`] with
//! the bits of the interpreter. On x86-64 the code comes from an emitter of our own (`x86`), elsewhere from Cranelift
//! (`cranelift`, a feature); [`Engine`] names them all. One native function runs a program; loops that threads share are functions of
//! a range. It keeps no cache and knows nothing of arrays beyond their memory.

mod analysis;
mod arena;
#[cfg(all(feature = "cranelift", not(target_family = "wasm")))]
mod cranelift;
mod executable;
mod x86;

pub use executable::{Engine, Executable, Options, compile};
