//! Every primitive that holds no jaxpr, one file each, by family.
//!
//! A primitive is added by its file, its `mod` line and its entry in [`ALL`]. What families supply is in their `mod.rs`.

pub mod contraction;
pub mod elementwise;
pub mod movement;
pub mod reduction;
mod value;

use pullback_ir::PrimRef;

pub use contraction::*;
pub use elementwise::*;
pub use movement::*;
pub use reduction::*;
pub use value::{V, add_any, instantiate, zeros};

/// All of them.
pub const ALL: &[PrimRef] = &[
    // elementwise, one operand
    COS,
    NEG,
    SIN,
    // elementwise, several operands
    ADD,
    ADD_ANY,
    MUL,
    SELECT_N,
    SUB,
    // movement
    BROADCAST_IN_DIM,
    RESHAPE,
    TRANSPOSE,
    // reduction
    REDUCE_SUM,
    // contraction
    DOT_GENERAL,
];
