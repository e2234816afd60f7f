//! `jax.numpy`: functions that promote their operands, take axes as users write them, and check as the reference does.

pub(crate) mod contraction;
pub(crate) mod creation;
pub(crate) mod cumulative;
pub(crate) mod diagonal;
pub(crate) mod einsum;
pub(crate) mod elementwise;
pub(crate) mod joining;
pub(crate) mod logic;
pub(crate) mod operators;
pub(crate) mod padding;
pub(crate) mod reductions;
pub(crate) mod selection;
pub(crate) mod shaping;
pub(crate) mod sorting;
pub(crate) mod statistics;

pub use contraction::*;
pub use creation::*;
pub use cumulative::*;
pub use diagonal::*;
pub use einsum::{Contraction, einsum, einsum_by};
pub use elementwise::*;
pub use joining::*;
pub use logic::*;
pub use operators::*;
pub use padding::*;
pub use reductions::*;
pub use selection::*;
pub use shaping::*;
pub use sorting::*;
pub use statistics::*;
