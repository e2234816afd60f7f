//! Primitives that combine elements over axes, and what they share.

mod reduce_sum;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, Result, bail};
use pullback_ir::{BatchDims, Emit, Params, PrimRef, Val, Vals};
use smallvec::smallvec;

use super::value::V;

pub use reduce_sum::{REDUCE_SUM, ReduceSum};

/// The shape without `axes`.
///
/// # Errors
/// A `Value` error when an axis is out of range or occurs twice.
pub fn reduced_shape(name: &str, x: Aval, axes: &[usize]) -> Result<Vec<usize>> {
    let is_bad = |(i, &axis): (usize, &usize)| axis >= x.rank() || axes[..i].contains(&axis);
    if axes.iter().enumerate().any(is_bad) {
        bail!(Value, "{name} axes {} do not fit an operand of shape {}.", tuple_text(axes), tuple_text(&x.shape));
    }
    Ok((0..x.rank()).filter(|axis| !axes.contains(axis)).map(|axis| x.shape[axis]).collect())
}

/// Batches a reduction of one operand: `params` makes the params for moved axes.
///
/// # Errors
/// What the emitter raises.
pub fn batch_reduction(
    prim: PrimRef,
    params: impl Fn(Vec<usize>) -> Params,
    axes: &[usize],
    e: &dyn Emit,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let dim = dims[0].expect("the only operand is batched");
    let moved: Vec<usize> = axes.iter().map(|&axis| if axis >= dim { axis + 1 } else { axis }).collect();
    let n_before = moved.iter().filter(|&&axis| axis < dim).count();
    let out = V::new(e, &ins[0]).bind(prim, &params(moved), &[]).done()?;
    Ok((smallvec![out], smallvec![Some(dim - n_before)]))
}
