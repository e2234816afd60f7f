//! The beta-binomial distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{betaln, converted, exp, floor, log1p, promoted, where_};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the probability of `k` in the beta-binomial distribution: of `comb(n, k) beta(k + a, n - k + b) /
/// beta(a, b)`.
///
/// Args:
///   k: integers.
///   n: numbers of trials; NaN where negative.
///   a: positive shapes; NaN for others.
///   b: positive shapes; NaN for others.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `a` and `b`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.betabinom.logpmf(1, 4, 2.0, 3.0)), 4)
///   -1.2528
#[public("scipy.stats.betabinom.logpmf(k, n, a, b, loc=0)")]
pub fn logpmf(k: &Val, n: &Val, a: &Val, b: &Val, loc: &Val) -> Result<Val> {
    let [k, n, a, b, loc] = promoted("betabinom.logpmf", [k, n, a, b, loc])?;
    let y = floor(&k) - &loc;
    let ways = -log1p(&n) - betaln(&n - &y + 1, &y + 1);
    let value = &ways + betaln(&y + &a, &n - &y + &b) - betaln(&a, &b);
    let value = where_(y.lt(0) | y.gt(&n), -INF, &value);
    converted(where_(n.lt(0) | a.le(0) | b.le(0), NAN, &value), &k).done()
}

/// The probability of `k` in the beta-binomial distribution: `comb(n, k) beta(k + a, n - k + b) / beta(a, b)`.
///
/// Args:
///   k: integers.
///   n: numbers of trials; NaN where negative.
///   a: positive shapes; NaN for others.
///   b: positive shapes; NaN for others.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `a` and `b`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.betabinom.pmf(1, 4, 2.0, 3.0)), 4)
///   0.2857
#[public("scipy.stats.betabinom.pmf(k, n, a, b, loc=0)")]
pub fn pmf(k: &Val, n: &Val, a: &Val, b: &Val, loc: &Val) -> Result<Val> {
    exp(logpmf(k, n, a, b, loc)).done()
}
