//! `jax.numpy`: functions that promote their operands, take axes as users write them, and check as the reference does.

pub mod contraction;
pub mod creation;
pub mod cumulative;
pub mod diagonal;
pub mod einsum;
pub mod elementwise;
pub mod fft;
pub mod joining;
pub mod linalg;
pub mod logic;
pub mod operators;
pub mod padding;
pub mod powers;
pub mod reductions;
pub mod selection;
pub mod shaping;
pub mod sorting;
pub mod statistics;
pub mod trigonometry;

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
pub use powers::*;
pub use reductions::*;
pub use selection::*;
pub use shaping::*;
pub use sorting::*;
pub use statistics::*;
pub use trigonometry::*;
