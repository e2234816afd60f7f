//! The Poisson distribution.

use std::f64::consts::{E, PI};

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::broadcast::broadcast_arrays;
use crate::formula::{Formula, exp, floor, gammaincc, gammaln, log, of, promoted, round, where_, xlogy};
use crate::lax;
use crate::numpy::{self, Order};
use crate::promotion::promote_inexact;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the probability of `k` in the Poisson distribution: of `mu**k exp(-mu) / k!`.
///
/// Args:
///   k: integers; the probability of other numbers is 0.
///   mu: means that are not negative.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `mu`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.poisson.logpmf(2, 3.0)), 4)
///   -1.4959
#[public("scipy.stats.poisson.logpmf(k, mu, loc=0)")]
pub fn logpmf(k: &Val, mu: &Val, loc: &Val) -> Result<Val> {
    let [k, mu, loc] = promoted("poisson.logpmf", [k, mu, loc])?;
    let y = &k - &loc;
    let value = xlogy(&y, &mu) - gammaln(&y + 1) - &mu;
    where_(y.lt(0) | round(&k).differs(&k), -INF, &value).done()
}

/// The probability of `k` in the Poisson distribution: `mu**k exp(-mu) / k!`.
///
/// Args:
///   k: integers; the probability of other numbers is 0.
///   mu: means that are not negative.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `mu`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.poisson.pmf(2, 3.0)), 4)
///   0.224
#[public("scipy.stats.poisson.pmf(k, mu, loc=0)")]
pub fn pmf(k: &Val, mu: &Val, loc: &Val) -> Result<Val> {
    exp(logpmf(k, mu, loc)).done()
}

/// The probability of at most `k` in the Poisson distribution.
///
/// Args:
///   k: integers; the probability of other numbers is 0.
///   mu: means that are not negative.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `mu`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.poisson.cdf(2, 3.0)), 4)
///   0.4232
#[public("scipy.stats.poisson.cdf(k, mu, loc=0)")]
pub fn cdf(k: &Val, mu: &Val, loc: &Val) -> Result<Val> {
    let [k, mu, loc] = promoted("poisson.cdf", [k, mu, loc])?;
    let y = &k - &loc;
    let value = gammaincc(floor(&y + 1), &mu);
    where_(y.lt(0), 0.0, &value).typed_like(&value).strong_if_array().done()
}

/// The entropy, in nats, of the Poisson distribution.
///
/// Args:
///   mu: means that are not negative.
///   loc: by how much the distribution is shifted.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `mu`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.poisson.entropy(3.0)), 4)
///   1.9315
#[public("scipy.stats.poisson.entropy(mu, loc=0)")]
pub fn entropy(mu: &Val, loc: &Val) -> Result<Val> {
    let ins = broadcast_arrays(&promote_inexact(&[mu.clone(), loc.clone()])?)?;
    let (mu, aval) = (of(&ins[0]), ins[0].aval());
    let small = where_(mu.le(10), &mu, 1);
    let mut column = vec![1; aval.rank()];
    column.insert(0, 60);
    let k = Formula::from(lax::iota(aval.dtype, 60)).then(|k| numpy::reshape(k, &column, Order::RowMajor));
    let log_terms = xlogy(&k, &small) - gammaln(&k + 1) - &small;
    let near = -(exp(&log_terms) * &log_terms).sum(0);
    let large = where_(mu.gt(10), &mu, 11);
    let far = 0.5 * log(2.0 * PI * E * &large)
        - 1 / (12 * &large)
        - 1 / (24 * large.to_the(2))
        - 19 / (360 * large.to_the(3));
    let out = where_(mu.is(0), 0.0, where_(mu.le(10), near, far)).typed_as(&mu);
    where_(mu.lt(0), NAN, out).done()
}
