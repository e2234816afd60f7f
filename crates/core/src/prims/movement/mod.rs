//! Primitives that move, repeat or rename elements without computing.

mod broadcast_in_dim;
mod reshape;
mod transpose;

use pullback_base::Result;
use pullback_ir::{Emit, Val};

use super::value::V;

pub use broadcast_in_dim::{BROADCAST_IN_DIM, BroadcastInDim};
pub use reshape::{RESHAPE, Reshape};
pub use transpose::{TRANSPOSE, TransposeParams};

/// The value with its batch axis in front; an unbatched one is repeated.
///
/// # Errors
/// What the emitter raises.
pub fn batch_to_front(e: &dyn Emit, val: &Val, dim: Option<usize>, size: usize) -> Result<Val> {
    let v = V::new(e, val);
    match dim {
        Some(0) => Ok(val.clone()),
        Some(dim) => v.move_axis(dim, 0).done(),
        None => v.repeat_in_front(size).done(),
    }
}

impl<'e> V<'e> {
    /// The value with axis `from` moved to position `to`.
    pub fn move_axis(&self, from: usize, to: usize) -> V<'e> {
        if from == to {
            return self.clone();
        }
        let mut permutation: Vec<usize> = (0..self.aval().rank()).filter(|&axis| axis != from).collect();
        permutation.insert(to, from);
        self.transpose(&permutation)
    }

    /// The value repeated along a new first axis.
    pub fn repeat_in_front(&self, size: usize) -> V<'e> {
        let aval = self.aval();
        let shape: Vec<usize> = std::iter::once(size).chain(aval.shape.iter().copied()).collect();
        let dims: Vec<usize> = (1..shape.len()).collect();
        self.broadcast_in_dim(&shape, &dims)
    }

    /// The value repeated to `shape`: a scalar anywhere, or along axes of size 1.
    pub fn broadcast_to(&self, shape: &[usize]) -> V<'e> {
        let aval = self.aval();
        if aval.shape[..] == *shape {
            return self.clone();
        }
        let first = shape.len() - aval.rank();
        let dims: Vec<usize> = (first..shape.len()).collect();
        self.broadcast_in_dim(shape, &dims)
    }
}
