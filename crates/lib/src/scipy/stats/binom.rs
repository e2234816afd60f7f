//! The binomial distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, gammaln, promoted, where_, xlog1py, xlogy};

const INF: f64 = f64::INFINITY;

/// The logarithm of the probability of `k` in the binomial distribution: of `comb(n, k) p**k (1 - p)**(n - k)`.
///
/// Args:
///   k: integers.
///   n: numbers of trials.
///   p: probabilities of success.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.binom.logpmf(1, 4, 0.25)), 4)
///   -0.863
#[public("scipy.stats.binom.logpmf(k, n, p, loc=0)")]
pub fn logpmf(k: &Val, n: &Val, p: &Val, loc: &Val) -> Result<Val> {
    let [k, n, p, loc] = promoted("binom.logpmf", [k, n, p, loc])?;
    let y = &k - &loc;
    let ways = gammaln(&n + 1) - (gammaln(&y + 1) + gammaln(&n - &y + 1));
    let value = &ways + xlogy(&y, &p) + xlog1py(&n - &y, -&p);
    where_(y.lt(0) | y.gt(&n), -INF, &value).done()
}

/// The probability of `k` in the binomial distribution: `comb(n, k) p**k (1 - p)**(n - k)`.
///
/// Args:
///   k: integers.
///   n: numbers of trials.
///   p: probabilities of success.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.binom.pmf(1, 4, 0.25)), 4)
///   0.4219
#[public("scipy.stats.binom.pmf(k, n, p, loc=0)")]
pub fn pmf(k: &Val, n: &Val, p: &Val, loc: &Val) -> Result<Val> {
    exp(logpmf(k, n, p, loc)).done()
}
