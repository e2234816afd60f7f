//! `jax.lax`: one function for each primitive, with the reference's checks and without promotion.

pub(crate) mod contraction;
pub(crate) mod elementwise;
pub(crate) mod parallel;
pub(crate) mod reduction;
pub(crate) mod shaping;
pub(crate) mod slicing;
pub(crate) mod sorting;

pub use contraction::*;
pub use elementwise::*;
pub use parallel::*;
pub use reduction::*;
pub use shaping::*;
pub use slicing::*;
pub use sorting::*;

pub use crate::broadcast::{broadcast_in_dim, broadcast_shapes};
pub use crate::convert::convert as convert_element_type;
