//! The logistic distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, expit, log, logaddexp, logit, promoted};

/// The logarithm of the density at `x` of the logistic distribution: of `exp(-x) / (1 + exp(-x))**2`.
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
///   >>> round(float(jax.scipy.stats.logistic.logpdf(1.0)), 4)
///   -1.6265
#[public("scipy.stats.logistic.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("logistic.logpdf", [x, loc, scale])?;
    let y = (&x - &loc) / &scale * 0.5;
    (-2 * logaddexp(&y, -&y) - log(&scale)).strong_if_array().done()
}

/// The density at `x` of the logistic distribution: `exp(-x) / (1 + exp(-x))**2`.
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
///   >>> round(float(jax.scipy.stats.logistic.pdf(1.0)), 4)
///   0.1966
#[public("scipy.stats.logistic.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The value that is not exceeded with probability `x` in the logistic distribution, the inverse of `cdf`.
///
/// Args:
///   x: probabilities, from 0 to 1.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.logistic.ppf(0.25)), 4)
///   -1.0986
#[public("scipy.stats.logistic.ppf(x, loc=0, scale=1)")]
pub fn ppf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("logistic.ppf", [x, loc, scale])?;
    (logit(&x) * &scale + &loc).strong_if_array().done()
}

/// The probability of more than `x` in the logistic distribution.
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
///   >>> round(float(jax.scipy.stats.logistic.sf(1.0)), 4)
///   0.2689
#[public("scipy.stats.logistic.sf(x, loc=0, scale=1)")]
pub fn sf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("logistic.sf", [x, loc, scale])?;
    expit(-(&x - &loc) / &scale).done()
}

/// The value that is exceeded with probability `x` in the logistic distribution, the inverse of `sf`.
///
/// Args:
///   x: probabilities, from 0 to 1.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.logistic.isf(0.25)), 4)
///   1.0986
#[public("scipy.stats.logistic.isf(x, loc=0, scale=1)")]
pub fn isf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("logistic.isf", [x, loc, scale])?;
    (-logit(&x) * &scale + &loc).strong_if_array().done()
}

/// The probability of at most `x` in the logistic distribution.
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
///   >>> round(float(jax.scipy.stats.logistic.cdf(1.0)), 4)
///   0.7311
#[public("scipy.stats.logistic.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("logistic.cdf", [x, loc, scale])?;
    expit((&x - &loc) / &scale).done()
}
