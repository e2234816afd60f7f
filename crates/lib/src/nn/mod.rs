//! `jax.nn`: activations, normalizations, attention, and initializers.
//!
//! Functions keep the reference's names in jaxprs and its derivatives at kinks. It owns no primitive.

pub mod activation;
pub mod initializers;
pub mod normalization;

pub use activation::*;
pub use normalization::*;
