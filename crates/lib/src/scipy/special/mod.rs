//! `jax.scipy.special`: special functions.

pub mod bessel;
pub mod gamma;
pub mod zeta;

pub use bessel::*;
pub use gamma::*;
pub use zeta::*;

use pullback_base::Result;
use pullback_ir::Val;

use crate::broadcast::broadcast_arrays;
use crate::promotion::{Operands, promote_inexact};

/// The value in a floating or complex dtype.
fn floating(x: &Val) -> Result<Val> {
    Ok(promote_inexact(std::slice::from_ref(x))?.swap_remove(0))
}

/// The values in their floating or complex dtype.
fn promoted(xs: &[&Val]) -> Result<Operands> {
    promote_inexact(&xs.iter().map(|&x| x.clone()).collect::<Vec<_>>())
}

/// The values in their floating or complex dtype and in one shape.
fn alike(xs: &[&Val]) -> Result<Operands> {
    broadcast_arrays(&promoted(xs)?)
}
