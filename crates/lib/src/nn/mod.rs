//! `jax.nn`: activations, softmax and its relatives, initializers.

mod activations;
mod initializers;
mod softmax;

pub use activations::*;
pub use initializers::*;
pub use softmax::*;
