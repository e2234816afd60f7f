//! `jax.scipy`: functions with SciPy's names.

pub mod special;
