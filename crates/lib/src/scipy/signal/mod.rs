//! `jax.scipy.signal`: convolution and trends.

pub mod convolution;
pub mod trends;

pub use convolution::*;
pub use trends::*;
