//! `jax.random`: keys, bits, and samples of distributions, equal to the reference's bit for bit.
//!
//! Keys come in two kinds: typed ones, and raw arrays of `uint32` whose last axis has two words. Functions take both and
//! give back the kind they were given.

mod distributions;
mod integers;
mod keys;
mod shuffle;
mod uniform;

pub use distributions::*;
pub use integers::*;
pub use keys::*;
pub use shuffle::*;
pub use uniform::*;
