//! User-level array functions: what `jax.numpy`, `jax.lax`, `jax.nn` and `jax.random` offer, on [`Val`]s.
//!
//! Functions check and promote their operands as the reference does, and bind primitives on whatever is current, so
//! they run, trace, differentiate and batch alike. Owns promotion, broadcasting, axes, indexing and the errors that users
//! read. It deliberately knows no Python, no pytrees and no rule of any primitive.
//!
//! [`Val`]: pullback_ir::Val
#![forbid(unsafe_code)]

pub mod axes;
pub mod broadcast;
pub mod config;
pub mod convert;
mod custom;
pub mod declare;
mod formula;
pub mod image;
pub mod indexing;
mod jit;
pub mod lax;
mod loops;
pub mod masked;
pub mod nn;
pub mod numpy;
pub mod ops;
pub mod precision;
mod primitive;
pub mod promotion;
pub mod random;
pub mod scipy;

pub use jit::{Statics, named_jit, named_jit_one};
