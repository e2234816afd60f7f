//! `jax.scipy`: functions with SciPy's names.

pub mod cluster;
pub mod fft;
pub mod integrate;
pub mod linalg;
pub mod ndimage;
pub mod signal;
pub mod special;
pub mod stats;
