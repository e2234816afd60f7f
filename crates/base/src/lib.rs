//! Foundations that every room of Pullback stands on, none of which knows a program.
//!
//! Owns element types and their promotion lattice ([`dtype`]), typed scalars ([`scalar`]), abstract values
//! ([`aval`], [`sharding`]), host arrays over shared buffers ([`array`]), pytrees without Python ([`tree`]), errors
//! ([`error`]) and source spans ([`span`]). It deliberately knows no primitive, no jaxpr and no Python.
//! `unsafe` is confined to [`array`].

pub mod array;
pub mod aval;
pub mod dtype;
pub mod error;
mod name_stack;
pub mod pretty;
pub mod scalar;
pub mod sharding;
pub mod span;
pub mod tree;

pub use array::Array;
pub use aval::{Aval, Shape, extent};
pub use dtype::DType;
pub use error::{Error, ErrorKind, Result};
pub use name_stack::{NamePart, NameStack};
pub use scalar::Scalar;
pub use sharding::Sharding;
pub use span::Span;
