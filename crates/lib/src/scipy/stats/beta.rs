//! The beta distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{betainc, betaln, between, exp, log, promoted, where_, xlog1py, xlogy};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the beta distribution: of `x**(a - 1) (1 - x)**(b - 1) / beta(a, b)`.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.beta.logpdf(0.25, 2.0, 3.0)), 4)
///   0.5232
#[public("scipy.stats.beta.logpdf(x, a, b, loc=0, scale=1)")]
pub fn logpdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, b, loc, scale] = promoted("beta.logpdf", [x, a, b, loc, scale])?;
    let y = (&x - &loc) / &scale;
    let value = xlogy(&a - 1, &y) + xlog1py(&b - 1, -&y) - betaln(&a, &b) - log(&scale);
    let value = where_(y.lt(0) | y.gt(1), -INF, &value);
    where_(a.le(0) | b.le(0) | scale.le(0), NAN, &value).strong_if_array().done()
}

/// The density at `x` of the beta distribution: `x**(a - 1) (1 - x)**(b - 1) / beta(a, b)`.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `a`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.beta.pdf(0.25, 2.0, 3.0)), 4)
///   1.6875
#[public("scipy.stats.beta.pdf(x, a, b, loc=0, scale=1)")]
pub fn pdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, a, b, loc, scale)).done()
}

/// The probability of at most `x` in the beta distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.beta.cdf(0.25, 2.0, 3.0)), 4)
///   0.2617
#[public("scipy.stats.beta.cdf(x, a, b, loc=0, scale=1)")]
pub fn cdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, b, loc, scale] = promoted("beta.cdf", [x, a, b, loc, scale])?;
    betainc(&a, &b, between((&x - &loc) / &scale, 0, 1)).strong_if_array().done()
}

/// The logarithm of the probability of at most `x` in the beta distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.beta.logcdf(0.25, 2.0, 3.0)), 4)
///   -1.3405
#[public("scipy.stats.beta.logcdf(x, a, b, loc=0, scale=1)")]
pub fn logcdf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(cdf(x, a, b, loc, scale)).done()
}

/// The probability of more than `x` in the beta distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.beta.sf(0.25, 2.0, 3.0)), 4)
///   0.7383
#[public("scipy.stats.beta.sf(x, a, b, loc=0, scale=1)")]
pub fn sf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, a, b, loc, scale] = promoted("beta.sf", [x, a, b, loc, scale])?;
    betainc(&b, &a, 1 - between((&x - &loc) / &scale, 0, 1)).strong_if_array().done()
}

/// The logarithm of the probability of more than `x` in the beta distribution.
///
/// Args:
///   x: real numbers.
///   a: positive shapes.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.beta.logsf(0.25, 2.0, 3.0)), 4)
///   -0.3034
#[public("scipy.stats.beta.logsf(x, a, b, loc=0, scale=1)")]
pub fn logsf(x: &Val, a: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(sf(x, a, b, loc, scale)).done()
}
