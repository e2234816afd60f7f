//! Loop programs to machine code.
//!
//! [`compile`] expands a [`Program`](pullback_loops::Program), generates native code with Cranelift, and gives an
//! [`Executable`] with the bits of the interpreter. One native function runs a program; loops that threads share are
//! functions of a range. It keeps no cache and knows nothing of arrays beyond their memory.

mod analysis;
mod arena;
mod checked;
mod emit;
mod executable;
mod host;
mod native;
mod x86;

pub use executable::{Engine, Executable, Options, compile};
