//! The geometric distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, log, promoted, where_, xlog1py};

const INF: f64 = f64::INFINITY;

/// The logarithm of the probability of `k` in the geometric distribution: of `(1 - p)**(k - 1) p`.
///
/// Args:
///   k: integers: the number of trials up to the first success.
///   p: probabilities of success.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.geom.logpmf(2, 0.25)), 4)
///   -1.674
#[public("scipy.stats.geom.logpmf(k, p, loc=0)")]
pub fn logpmf(k: &Val, p: &Val, loc: &Val) -> Result<Val> {
    let [k, p, loc] = promoted("geom.logpmf", [k, p, loc])?;
    let y = &k - &loc;
    let value = xlog1py(&y - 1, -&p) + log(&p);
    where_(y.le(0), -INF, &value).typed_like(&k).strong_if_array().done()
}

/// The probability of `k` in the geometric distribution: `(1 - p)**(k - 1) p`.
///
/// Args:
///   k: integers: the number of trials up to the first success.
///   p: probabilities of success.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.geom.pmf(2, 0.25)), 4)
///   0.1875
#[public("scipy.stats.geom.pmf(k, p, loc=0)")]
pub fn pmf(k: &Val, p: &Val, loc: &Val) -> Result<Val> {
    exp(logpmf(k, p, loc)).done()
}
