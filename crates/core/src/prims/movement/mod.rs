//! Primitives that move, repeat or rename elements without computing.

mod broadcast_in_dim;
mod concatenate;
mod iota;
mod pad;
mod reshape;
mod rev;
mod slice;
mod split;
mod squeeze;
mod stack;
mod tile;
mod transpose;
mod unstack;

use pullback_base::Result;
use pullback_base::sharding::spec_text;
use pullback_ir::{Emit, Passing, Val};

use super::value::V;

pub use broadcast_in_dim::{BROADCAST_IN_DIM, BroadcastInDim};
pub use concatenate::{CONCATENATE, Concatenate};
pub use iota::{IOTA, Iota, iota};
pub use pad::{PAD, Pad, PadAxis};
pub use reshape::{RESHAPE, Reshape};
pub use rev::{REV, Rev};
pub use slice::{SLICE, Slice};
pub use split::{SPLIT, Split, split};
pub use squeeze::{SQUEEZE, Squeeze};
pub use stack::{STACK, Stack};
pub use tile::{TILE, Tile};
pub use transpose::{TRANSPOSE, TransposeParams};
pub use unstack::{UNSTACK, Unstack, unstack};

/// An axis as it is called once a batch axis is at `dim`.
pub(super) fn batch_axis(axis: usize, dim: usize) -> usize {
    if axis >= dim { axis + 1 } else { axis }
}

/// Axes as they are called once a batch axis is at `dim`.
pub(super) fn past(axes: &[usize], dim: usize) -> Vec<usize> {
    axes.iter().map(|&axis| batch_axis(axis, dim)).collect()
}

/// Sizes without those of some axes.
pub(super) fn without(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    (0..shape.len()).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).collect()
}

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

    /// The slice at one position of an axis, without that axis.
    pub fn index_in_dim(&self, position: usize, dim: usize) -> V<'e> {
        let shape = &self.aval().data().shape;
        let start: Vec<usize> = (0..shape.len()).map(|axis| if axis == dim { position } else { 0 }).collect();
        let limit: Vec<usize> =
            (0..shape.len()).map(|axis| if axis == dim { position + 1 } else { shape[axis] }).collect();
        self.slice(&start, &limit, None).squeeze(&[dim])
    }
}

/// The error of operands that are split differently.
fn unlike(x: &Passing<'_>) -> String {
    let shown: Vec<String> = x.specs.iter().map(spec_text).collect();
    format!("All operands should have the same sharding. Got shardings {}", shown.join(", "))
}
