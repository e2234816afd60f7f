//! The Bernoulli distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::convert::weak_int;
use crate::formula::{Formula, exp, full_like, is_nan, of, ones_like, promoted, where_, xlog1py, xlogy, zeros_like};
use crate::numpy;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the probability of `k` in the Bernoulli distribution: of `p**k (1 - p)**(1 - k)`.
///
/// Args:
///   k: integers.
///   p: probabilities of 1.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.bernoulli.logpmf(1, 0.25)), 4)
///   -1.3863
#[public("scipy.stats.bernoulli.logpmf(k, p, loc=0)")]
pub fn logpmf(k: &Val, p: &Val, loc: &Val) -> Result<Val> {
    let [k, p, loc] = promoted("bernoulli.logpmf", [k, p, loc])?;
    let x = &k - &loc;
    let value = xlogy(&x, &p) + xlog1py(1 - &x, -&p);
    where_(x.lt(0) | x.gt(1), -INF, &value).strong_if_array().done()
}

/// The probability of `k` in the Bernoulli distribution: `p**k (1 - p)**(1 - k)`.
///
/// Args:
///   k: integers.
///   p: probabilities of 1.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.bernoulli.pmf(1, 0.25)), 4)
///   0.25
#[public("scipy.stats.bernoulli.pmf(k, p, loc=0)")]
pub fn pmf(k: &Val, p: &Val, loc: &Val) -> Result<Val> {
    exp(logpmf(k, p, loc)).done()
}

/// The probability of at most `k` in the Bernoulli distribution.
///
/// Args:
///   k: integers.
///   p: probabilities of 1.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.bernoulli.cdf(1, 0.25)), 4)
///   1.0
#[public("scipy.stats.bernoulli.cdf(k, p)")]
pub fn cdf(k: &Val, p: &Val) -> Result<Val> {
    let [k, p] = promoted("bernoulli.cdf", [k, p])?;
    let is_invalid = is_nan(&k) | is_nan(&p) | p.lt(0) | p.gt(1);
    let conditions = [is_invalid, k.lt(0), k.lt(1), k.ge(1)].map(Formula::done);
    let choices = [full_like(&p, f64::NAN), zeros_like(&p), 1 - &p, ones_like(&p)].map(Formula::done);
    let [conditions, choices] = [conditions, choices].map(|all| all.into_iter().collect::<Result<Vec<Val>>>());
    of(&numpy::select(&conditions?, &choices?, &weak_int(0))?).strong_if_array().done()
}

/// The value that is not exceeded with probability `q` in the Bernoulli distribution, the inverse of `cdf`.
///
/// Args:
///   q: probabilities, from 0 to 1.
///   p: probabilities of 1.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.bernoulli.ppf(0.9, 0.25)), 4)
///   1.0
#[public("scipy.stats.bernoulli.ppf(q, p)")]
pub fn ppf(q: &Val, p: &Val) -> Result<Val> {
    let [q, p] = promoted("bernoulli.ppf", [q, p])?;
    let is_invalid = is_nan(&q) | is_nan(&p) | p.lt(0) | p.gt(1) | q.lt(0) | q.gt(1);
    where_(&is_invalid, NAN, where_(q.is(0), -1.0, where_(q.le(1 - &p), 0.0, 1.0)))
        .typed_like(&q)
        .strong_if_array()
        .done()
}
