//! `jax.scipy.cluster.vq`: the nearest of some points.

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::Axes;
use crate::formula::{of, sqrt};
use crate::indexing::{IndexItem, getitem};
use crate::lax::linalg::column;
use crate::numpy::{self, Reduction};
use crate::promotion::{check_arguments, promote_inexact};

/// For each observation the nearest code, by Euclidean distance, and its distance.
///
/// Args:
///   obs: observations `[m, d]`, or `[m]` numbers.
///   code_book: codes `[k, d]`, or `[k]` numbers.
///   check_finite: accepted for compatibility; nothing is checked.
/// Returns: positions of codes (integers) and distances, `[m]` each; of equally near codes the first.
/// Raises:
///   ValueError: arrays of different or of more than two axes.
///   TypeError: arrays of different size along the last axis, or what is no array.
/// Differentiable: yes, the distances, with respect to both, except where a distance is zero or codes are equally
/// near.
/// Example:
///   >>> print(jax.scipy.cluster.vq.vq(jnp.array([[0.0, 1.0]]), jnp.array([[5.0, 5.0], [0.0, 0.0]]))[0])
///   [1]
#[public("scipy.cluster.vq.vq(obs, code_book, check_finite: Ignored=True)")]
pub fn vq(obs: &Val, code_book: &Val) -> Result<(Val, Val)> {
    let given = [obs.clone(), code_book.clone()];
    check_arguments("vq", &given)?;
    let both = promote_inexact(&given)?;
    let (mut obs, mut code_book) = (both[0].clone(), both[1].clone());
    if obs.aval().rank() != code_book.aval().rank() {
        bail!(Value, "Observation and code_book should have the same rank");
    }
    if obs.aval().rank() == 1 {
        (obs, code_book) = (column(&obs)?, column(&code_book)?);
    }
    if obs.aval().rank() != 2 {
        bail!(Value, "ndim different than 1 or 2 are not supported");
    }
    let rows = getitem(&obs, &[IndexItem::ALL, IndexItem::NewAxis])?;
    let columns = getitem(&code_book, &[IndexItem::NewAxis])?;
    let distances = sqrt((of(&rows) - &columns).to_the(2).sum(-1)).done()?;
    let nearest = numpy::argmin(&distances, Some(-1), false)?;
    Ok((nearest, numpy::min(&distances, &Reduction::over(Axes::One(-1), false))?))
}
