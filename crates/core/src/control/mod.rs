//! Primitives that hold jaxprs, and their rules, which call transforms on them.

use pullback_ir::PrimRef;

/// All of them.
pub const ALL: &[PrimRef] = &[];
