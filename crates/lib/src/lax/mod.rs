//! `jax.lax`: one function for each primitive, with the reference's checks and without promotion.
//!
//! Where the public function looks at what users give (axes that count from the end, sizes that may be negative), it stands
//! beside the one that the library calls, and bears the name that its declaration says.

macro_rules! unary {
    ($($(#[$($meta:tt)*])* fn $name:ident $prim:ident;)*) => {$(
        $(#[$($meta)*])*
        pub fn $name(x: &Val) -> Result<Val> {
            prims::$prim.bind(std::slice::from_ref(x))
        }
    )*};
}

macro_rules! binary {
    ($($(#[$($meta:tt)*])* fn $name:ident $prim:ident;)*) => {$(
        $(#[$($meta)*])*
        pub fn $name(x: &Val, y: &Val) -> Result<Val> {
            same_rank(stringify!($name), x, y)?;
            prims::$prim.bind(&[x.clone(), y.clone()])
        }
    )*};
}

pub mod arithmetic;
pub mod bits;
pub mod comparison;
pub mod contraction;
pub mod conversion;
pub mod creation;
pub mod indexing;
pub mod linalg;
pub mod parallel;
pub mod parts;
pub mod reduction;
pub mod shaping;
pub mod slicing;
pub mod sorting;
pub mod special;
pub mod transcendental;

use pullback_base::{Error, Result};
use pullback_ir::Val;

pub use arithmetic::*;
pub use bits::*;
pub use comparison::*;
pub use contraction::*;
pub use conversion::*;
pub use creation::*;
pub use indexing::*;
pub use parallel::*;
pub use parts::*;
pub use reduction::*;
pub use shaping::*;
pub use slicing::*;
pub use sorting::*;
pub use special::*;
pub use transcendental::*;

pub use crate::broadcast::{broadcast_in_dim, broadcast_shapes};
pub use crate::convert::convert as convert_element_type;

/// Refuses operands of different ranks, unless one is a scalar.
fn same_rank(name: &str, x: &Val, y: &Val) -> Result<()> {
    let (a, b) = (x.aval().rank(), y.aval().rank());
    if a == b || a == 0 || b == 0 {
        return Ok(());
    }
    let (low, high) = (a.min(b), a.max(b));
    Err(Error::type_error(format!("{name}: arrays must have the same number of dimensions, got {{{low}, {high}}}")))
}
