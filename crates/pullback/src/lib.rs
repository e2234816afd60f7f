//! Pullback for Rust: arrays, and composable transformations of the functions that compute with them.
//!
//! ```
//! use pullback::prelude::*;
//!
//! let energy = |x: &Array| x.tanh().square().sum();
//! let x = arr![0.0, 1.0, 2.0];
//! let slope = grad(energy)(&x)?;
//! let fast = jit(grad(energy));
//! assert_eq!(slope, fast(&x)?);
//! # Ok::<(), pullback::Error>(())
//! ```
//!
//! Operators cannot fail to write: an operation that is wrong (shapes that do not fit, a missing rule) panics with the
//! line of the operator when it runs at once; inside `grad`, `jit`, `vmap` and on [`Array::checked`] arrays the error
//! waits and comes back once, as `Err`, from the call of the transformed function. There the first error wins: to ask an
//! array for its shape after something went wrong on the way to it ends the function, and the call gives that error.
//!
//! What takes an argument by value *owns* it: [`jit_owned`] may compute its result in the memory of what was moved in, and
//! [`vmap_owned`] and loops consume random keys. To use either again does not compile.
//!
//! With the feature `safetensors` trees are saved to files and loaded (`pullback::files`).
//!
//! This crate is the only promise to Rust users; the crates below it change freely. It owns no mathematics.
#![forbid(unsafe_code)]

// So that derived code may name this crate from inside of it.
extern crate self as pullback;

mod array;
mod call;
mod callables;
mod callback;
mod control;
mod display;
mod element;
mod executable;
mod explain;
#[cfg(feature = "safetensors")]
pub mod files;
mod functions;
pub mod guide {
    //! Chapters for those who come from elsewhere.

    #[doc = include_str!("../guide/from-candle-and-burn.md")]
    pub mod from_candle_and_burn {}

    #[doc = include_str!("../guide/from-jax.md")]
    pub mod from_jax {}

    #[doc = include_str!("../guide/from-ndarray.md")]
    pub mod from_ndarray {}
}
mod index;
mod library;
pub mod nn;
pub mod optim;
pub mod random;
mod transforms;
mod tree;

pub use array::Array;
pub use call::{Function, Operand, Operands};
pub use callables::{apply_along_axis, fromfunction, piecewise};
pub use callback::pure_callback;
pub use control::{cond, fori_loop, map_slices, scan, switch, while_loop};
pub use element::{Element, Nested};
pub use executable::Executable;
pub use explain::{Explanation, checked, explain_grad, fault_of};
pub use functions::{
    arange, concatenate, einsum, eye, full, log_softmax, one_hot, ones, select, softmax, stack, zeros,
};
pub use index::{At, Ellipsis, Index, NewAxis};
pub use library::{image, lax, masked, numpy, ops, scipy};
pub use pullback_base::{DType, Error, ErrorKind, Result};
pub use pullback_core::prims::DotPrecision;
pub use pullback_core::transforms::Linear;
pub use pullback_derive::Tree;
pub use pullback_explain::{Fault, Kind as TroubleKind, Leaf as LeafCounts, Trouble};
pub use pullback_lib::axes::Axes;
pub use pullback_lib::declare::NestedInts;
pub use transforms::{
    AxesOf, Batching, ByName, EachLeaf, Output, Ruled, checkpoint, custom_jvp, custom_vjp, eval_shape, grad, hessian,
    hvp, jacfwd, jacrev, jit, jit_owned, jvp, linearize, make_jaxpr, safe_grads, value_and_grad, value_and_grad_aux,
    vjp, vmap, vmap_owned, vmap_with,
};
pub use tree::{Static, Structure, Tree, map, zip_map};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// The programs in Rust that these pages show are tested with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/guides/serving-from-rust.md")]
mod pages {}

/// Whether numbers without a type of their own, such as those of [`zeros`] and [`arange`], have 64 bits from now on, on all
/// threads. Arrays of named 64-bit types are what they are either way.
pub fn enable_x64(on: bool) {
    pullback_trace::settings::set(pullback_trace::settings::Setting::X64, on);
}

/// What most programs need.
pub mod prelude {
    pub use crate::random::Key;
    pub use crate::{
        Array, DType, Error, ErrorKind, Result, Static, Tree, arange, arr, cond, einsum, fori_loop, full, grad, jit,
        jit_owned, jvp, log_softmax, make_jaxpr, map, one_hot, ones, s, scan, softmax, stack, switch, value_and_grad,
        vmap, vmap_owned, vmap_with, while_loop, zeros, zip_map,
    };
}

/// An array from its elements: `arr![1.0, 2.0]` is a vector, `arr![[1.0, 2.0], [3.0, 4.0]]` a matrix, and so on. Rows of
/// different lengths do not compile.
///
/// Floats become `float32`, the usual type, whether they are written `1.0` or come from an `f64`; integers become `int32`.
/// A type in front says which other type is meant: `arr![f64; 0.1, 0.2]`. [`Array::from_slice`](crate::Array::from_slice)
/// keeps the type of its elements.
///
/// ```
/// use pullback::prelude::*;
/// assert_eq!(arr![[[1.0, 2.0]], [[3.0, 4.0]]].shape(), [2, 1, 2]);
/// assert_eq!(arr![1.0, -2.5].dtype(), DType::F32);
/// assert_eq!(arr![f64; 0.1].to_vec::<f64>()?, [0.1]);
/// # Ok::<(), pullback::Error>(())
/// ```
#[macro_export]
macro_rules! arr {
    (f64; $($x:expr),* $(,)?) => { $crate::Array::nested_of::<f64, _>(&[$($x),*]) };
    (f32; $($x:expr),* $(,)?) => { $crate::Array::nested_of::<f32, _>(&[$($x),*]) };
    (i64; $($x:expr),* $(,)?) => { $crate::Array::nested_of::<i64, _>(&[$($x),*]) };
    (i32; $($x:expr),* $(,)?) => { $crate::Array::nested_of::<i32, _>(&[$($x),*]) };
    (u32; $($x:expr),* $(,)?) => { $crate::Array::nested_of::<u32, _>(&[$($x),*]) };
    (u64; $($x:expr),* $(,)?) => { $crate::Array::nested_of::<u64, _>(&[$($x),*]) };
    ($($x:expr),* $(,)?) => { $crate::Array::literal(&[$($x),*]) };
}

/// Indices of an array, one for each axis, as [`Array::slice`](crate::Array::slice) and [`Array::at`](crate::Array::at) take
/// them: positions, ranges (with a step after `;`), arrays of positions or masks, [`NewAxis`](crate::NewAxis) and
/// [`Ellipsis`](crate::Ellipsis). Negative positions count from the end.
///
/// ```
/// use pullback::prelude::*;
///
/// let x = arr![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(x.slice(s![.., 1..]), arr![[2, 3], [5, 6]]);
/// assert_eq!(x.slice(s![-1, ..;2]), arr![4, 6]);
/// assert_eq!(x.slice(s![.., ..;-1]), arr![[3, 2, 1], [6, 5, 4]]);
/// assert_eq!(x.slice(s![.., &arr![2, 0]]), arr![[3, 1], [6, 4]]);
/// ```
#[macro_export]
macro_rules! s {
    ($($index:expr $(; $step:expr)?),* $(,)?) => { [$($crate::Index::from($index)$(.step($step))?),*] };
}
