//! The negative binomial distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{converted, exp, gammaln, log, promoted, where_, xlogy};

const INF: f64 = f64::INFINITY;

/// The logarithm of the probability of `k` in the negative binomial distribution: of `comb(k + n - 1, n - 1) p**n (1
/// - p)**k`.
///
/// Args:
///   k: integers: the number of failures.
///   n: positive numbers of successes.
///   p: probabilities of success.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.nbinom.logpmf(1, 2, 0.25)), 4)
///   -2.3671
#[public("scipy.stats.nbinom.logpmf(k, n, p, loc=0)")]
pub fn logpmf(k: &Val, n: &Val, p: &Val, loc: &Val) -> Result<Val> {
    let [k, n, p, loc] = promoted("nbinom.logpmf", [k, n, p, loc])?;
    let y = &k - &loc;
    let ways = gammaln(&y + &n) - gammaln(&n) - gammaln(&y + 1);
    let value = &ways + &n * log(&p) + xlogy(&y, 1 - &p);
    converted(where_(y.lt(0), -INF, &value), &k).done()
}

/// The probability of `k` in the negative binomial distribution: `comb(k + n - 1, n - 1) p**n (1 - p)**k`.
///
/// Args:
///   k: integers: the number of failures.
///   n: positive numbers of successes.
///   p: probabilities of success.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.nbinom.pmf(1, 2, 0.25)), 4)
///   0.0938
#[public("scipy.stats.nbinom.pmf(k, n, p, loc=0)")]
pub fn pmf(k: &Val, n: &Val, p: &Val, loc: &Val) -> Result<Val> {
    exp(logpmf(k, n, p, loc)).done()
}
