//! Primitives that hold jaxprs, and their rules, which call transforms on them.

mod jit;

use pullback_ir::PrimRef;

pub use jit::{JIT, Jit};

/// All of them.
pub const ALL: &[PrimRef] = &[JIT];
