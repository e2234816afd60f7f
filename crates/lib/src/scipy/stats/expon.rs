//! The exponential distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, expm1, is_nan, log, log1p, promoted, where_};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the exponential distribution: of `exp(-x)`.
///
/// Args:
///   x: real numbers.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.expon.logpdf(1.0)), 4)
///   -1.0
#[public("scipy.stats.expon.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("expon.logpdf", [x, loc, scale])?;
    let value = -((&x - &loc) / &scale + log(&scale));
    where_(x.lt(&loc), -INF, &value).done()
}

/// The density at `x` of the exponential distribution: `exp(-x)`.
///
/// Args:
///   x: real numbers.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.expon.pdf(1.0)), 4)
///   0.3679
#[public("scipy.stats.expon.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The probability of at most `x` in the exponential distribution.
///
/// Args:
///   x: real numbers.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.expon.cdf(1.0)), 4)
///   0.6321
#[public("scipy.stats.expon.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("expon.cdf", [x, loc, scale])?;
    where_(x.lt(&loc), 0.0, -expm1(-(&x - &loc) / &scale)).typed_like(&x).done()
}

/// The logarithm of the probability of at most `x` in the exponential distribution.
///
/// Args:
///   x: real numbers.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.expon.logcdf(1.0)), 4)
///   -0.4587
#[public("scipy.stats.expon.logcdf(x, loc=0, scale=1)")]
pub fn logcdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("expon.logcdf", [x, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(x.lt(&loc), -INF, log1p(-exp(-&y))).done()
}

/// The probability of more than `x` in the exponential distribution.
///
/// Args:
///   x: real numbers.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.expon.sf(1.0)), 4)
///   0.3679
#[public("scipy.stats.expon.sf(x, loc=0, scale=1)")]
pub fn sf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("expon.sf", [x, loc, scale])?;
    where_(x.lt(&loc), 1.0, exp(-(&x - &loc) / &scale)).typed_like(&x).done()
}

/// The logarithm of the probability of more than `x` in the exponential distribution.
///
/// Args:
///   x: real numbers.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.expon.logsf(1.0)), 4)
///   -1.0
#[public("scipy.stats.expon.logsf(x, loc=0, scale=1)")]
pub fn logsf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("expon.logsf", [x, loc, scale])?;
    where_(x.lt(&loc), 0.0, -(&x - &loc) / &scale).typed_like(&x).done()
}

/// The value that is not exceeded with probability `q` in the exponential distribution, the inverse of `cdf`.
///
/// Args:
///   q: probabilities, from 0 to 1.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `q`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.expon.ppf(0.5)), 4)
///   0.6931
#[public("scipy.stats.expon.ppf(q, loc=0, scale=1)")]
pub fn ppf(q: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [q, loc, scale] = promoted("expon.ppf", [q, loc, scale])?;
    where_(is_nan(&q) | q.lt(0) | q.gt(1), NAN, &loc - &scale * log1p(-&q)).done()
}
