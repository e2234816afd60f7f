//! `jax.numpy`: functions that promote their operands, take axes as users write them, and check as the reference does.

mod contraction;
mod creation;
mod cumulative;
mod diagonal;
mod einsum;
mod elementwise;
mod joining;
mod logic;
mod operators;
mod padding;
mod reductions;
mod selection;
mod shaping;
mod sorting;
mod statistics;

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
