//! `jax.lax`: one function for each primitive, with the reference's checks and without promotion.

pub mod contraction;
pub mod elementwise;
pub mod linalg;
pub mod parallel;
pub mod reduction;
pub mod shaping;
pub mod slicing;
pub mod sorting;

pub use contraction::*;
pub use elementwise::*;
pub use parallel::*;
pub use reduction::*;
pub use shaping::*;
pub use slicing::*;
pub use sorting::*;

pub use crate::broadcast::{broadcast_in_dim, broadcast_shapes};
pub use crate::convert::convert as convert_element_type;
