//! `jax.random`: keys, and samples of distributions that equal the reference's bit for bit.
//!
//! A key is an element of dtype `key<fry>`, `key<rbg>` or `key<urbg>`, or its raw form, two or four `uint32` words along
//! the last axis; every function takes both. Threefry bits are in the partitionable layout. It owns the ways from bits to distributions;
//! deliberately no generator: that is the primitive's.

pub mod approximate;
pub mod continuous;
pub mod counts;
pub mod discrete;
mod fine_gumbel;
pub mod gamma;
pub mod key;
pub mod selection;
pub mod uniform;
mod unpartitioned;
pub mod vectors;

pub use approximate::SampleMethod;
pub(crate) use continuous::open_interval;
pub use continuous::*;
pub use counts::*;
pub use discrete::*;
pub use gamma::*;
pub use key::*;
pub use selection::*;
pub use uniform::*;
pub use vectors::*;
