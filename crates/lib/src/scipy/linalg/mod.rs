//! `jax.scipy.linalg`: the last two axes are matrices, those before are batches.

pub mod factorizations;
pub mod functions;
pub mod named;
pub mod solutions;

use pullback_base::aval::tuple_text;
use pullback_base::{Result, bail};
use pullback_ir::Val;

use crate::broadcast::{broadcast_shapes, broadcast_to};
use crate::numpy::linalg::inexact_one;
use crate::promotion::Operands;

pub use factorizations::*;
pub use functions::*;
pub use named::*;
pub use solutions::*;

/// The matrices in an inexact dtype.
fn matrices(a: &Val, name: &str) -> Result<Val> {
    let a = inexact_one(a)?;
    if a.aval().rank() < 2 {
        bail!(Value, "{name} takes matrices [..., m, n], got shape {}", tuple_text(&a.aval().shape));
    }
    Ok(a)
}

/// Arrays whose last `core` axes stay, repeated over all leading axes.
fn with_one_batch(xs: &[Val], core: usize) -> Result<Operands> {
    let shapes: Vec<_> = xs.iter().map(|x| x.aval().shape.clone()).collect();
    let batches: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..shape.len() - core]).collect();
    let batch = broadcast_shapes(&batches)?;
    let repeated = |(x, shape): (&Val, &pullback_base::Shape)| {
        broadcast_to(x, &[&batch[..], &shape[shape.len() - core..]].concat())
    };
    xs.iter().zip(&shapes).map(repeated).collect()
}
