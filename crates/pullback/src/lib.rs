//! Pullback for Rust: arrays, and composable transformations of the functions that compute with them.
//!
//! ```
//! use pullback::prelude::*;
//!
//! let energy = |x: &Array| x.tanh().square().sum();
//! let x = arr![0.0, 1.0, 2.0];
//! let slope = grad(energy)(&x)?;
//! let fast = jit(grad(energy));
//! assert_eq!(slope.to_vec::<f32>()?, fast.call(&x)?.to_vec::<f32>()?);
//! # Ok::<(), pullback::Error>(())
//! ```
//!
//! Operators cannot fail to write: an operation that is wrong (shapes that do not fit, a missing rule) panics with the
//! line of the operator when it runs at once; inside `grad`, `jit`, `vmap` and on [`Array::checked`] arrays the error
//! waits and comes back once, as `Err`, from the call of the transformed function.
//!
//! This crate is the only promise to Rust users; the crates below it change freely. It owns no mathematics.
#![forbid(unsafe_code)]

mod array;
mod control;
mod element;
mod functions;
pub mod random;
mod transforms;
mod tree;

pub use array::Array;
pub use control::{cond, fori_loop, scan, while_loop};
pub use element::Element;
pub use functions::{arange, concatenate, eye, full, log_softmax, one_hot, ones, select, softmax, stack, zeros};
pub use pullback_base::{DType, Error, ErrorKind, Result};
pub use pullback_core::transforms::Linear;
pub use transforms::{Jit, Output, grad, jit, jvp, make_jaxpr, value_and_grad, vmap, vmap_axes};
pub use tree::{Tree, map, zip_map};

/// What most programs need.
pub mod prelude {
    pub use crate::random::Key;
    pub use crate::{
        Array, DType, Error, Result, Tree, arange, arr, cond, fori_loop, full, grad, jit, jvp, log_softmax, make_jaxpr,
        map, one_hot, ones, scan, softmax, stack, value_and_grad, vmap, vmap_axes, while_loop, zeros, zip_map,
    };
}

/// An array from its elements: `arr![1.0, 2.0]` is a vector of `float32`, `arr![[1.0, 2.0], [3.0, 4.0]]` a matrix.
///
/// Integer literals give `int32`. All rows must have the same length.
#[macro_export]
macro_rules! arr {
    ($([$($x:expr),* $(,)?]),+ $(,)?) => { $crate::Array::from_rows(&[$(&[$($x),*][..]),+]) };
    ($($x:expr),* $(,)?) => { $crate::Array::from_slice(&[$($x),*]) };
}
