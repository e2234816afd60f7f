//! The gamma distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{at_least, exp, gammainc, gammaincc, gammaln, log, promoted, where_, xlogy};

const INF: f64 = f64::INFINITY;

/// The logarithm of the density at `x` of the gamma distribution: of `x**(a - 1) exp(-x) / gamma(a)`.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gamma.logpdf(1.0, 2.0)), 4)
///   -1.0
#[public("scipy.stats.gamma.logpdf(x, a, loc=0, scale=1)")]
pub fn logpdf(x: &Val, a: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, loc, scale] = promoted("gamma.logpdf", [x, a, loc, scale])?;
    let is_inside = x.ge(&loc);
    let y = where_(&is_inside, (&x - &loc) / &scale, 1);
    let value = xlogy(&a - 1, &y) - &y - (gammaln(&a) + log(&scale));
    where_(&is_inside, &value, -INF).strong_if_array().done()
}

/// The density at `x` of the gamma distribution: `x**(a - 1) exp(-x) / gamma(a)`.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gamma.pdf(1.0, 2.0)), 4)
///   0.3679
#[public("scipy.stats.gamma.pdf(x, a, loc=0, scale=1)")]
pub fn pdf(x: &Val, a: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, a, loc, scale)).done()
}

/// The probability of at most `x` in the gamma distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gamma.cdf(1.0, 2.0)), 4)
///   0.2642
#[public("scipy.stats.gamma.cdf(x, a, loc=0, scale=1)")]
pub fn cdf(x: &Val, a: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, loc, scale] = promoted("gamma.cdf", [x, a, loc, scale])?;
    gammainc(&a, at_least((&x - &loc) / &scale, 0)).strong_if_array().done()
}

/// The logarithm of the probability of at most `x` in the gamma distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gamma.logcdf(1.0, 2.0)), 4)
///   -1.3309
#[public("scipy.stats.gamma.logcdf(x, a, loc=0, scale=1)")]
pub fn logcdf(x: &Val, a: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(cdf(x, a, loc, scale)).done()
}

/// The probability of more than `x` in the gamma distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gamma.sf(1.0, 2.0)), 4)
///   0.7358
#[public("scipy.stats.gamma.sf(x, a, loc=0, scale=1)")]
pub fn sf(x: &Val, a: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, loc, scale] = promoted("gamma.sf", [x, a, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(x.lt(&loc), 1.0, gammaincc(&a, at_least(&y, 0))).typed_like(&x).done()
}

/// The logarithm of the probability of more than `x` in the gamma distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gamma.logsf(1.0, 2.0)), 4)
///   -0.3069
#[public("scipy.stats.gamma.logsf(x, a, loc=0, scale=1)")]
pub fn logsf(x: &Val, a: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(sf(x, a, loc, scale)).done()
}
