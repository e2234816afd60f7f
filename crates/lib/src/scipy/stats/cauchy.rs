//! The Cauchy distribution.

use std::f64::consts::PI;

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{arctan, exp, log, log1p, promoted, tan};

/// The logarithm of the density at `x` of the Cauchy distribution: of `1 / (pi (1 + x**2))`.
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
///   >>> round(float(jax.scipy.stats.cauchy.logpdf(1.0)), 4)
///   -1.8379
#[public("scipy.stats.cauchy.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("cauchy.logpdf", [x, loc, scale])?;
    let y = (&x - &loc) / &scale;
    (-(log(PI * &scale) + log1p(&y * &y))).strong_if_array().done()
}

/// The density at `x` of the Cauchy distribution: `1 / (pi (1 + x**2))`.
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
///   >>> round(float(jax.scipy.stats.cauchy.pdf(1.0)), 4)
///   0.1592
#[public("scipy.stats.cauchy.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The probability of at most `x` in the Cauchy distribution.
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
///   >>> round(float(jax.scipy.stats.cauchy.cdf(1.0)), 4)
///   0.75
#[public("scipy.stats.cauchy.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("cauchy.cdf", [x, loc, scale])?;
    (0.5 + arctan((&x - &loc) / &scale) / PI).strong_if_array().done()
}

/// The logarithm of the probability of at most `x` in the Cauchy distribution.
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
///   >>> round(float(jax.scipy.stats.cauchy.logcdf(1.0)), 4)
///   -0.2877
#[public("scipy.stats.cauchy.logcdf(x, loc=0, scale=1)")]
pub fn logcdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(cdf(x, loc, scale)).done()
}

/// The probability of more than `x` in the Cauchy distribution.
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
///   >>> round(float(jax.scipy.stats.cauchy.sf(1.0)), 4)
///   0.25
#[public("scipy.stats.cauchy.sf(x, loc=0, scale=1)")]
pub fn sf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("cauchy.sf", [x, loc, scale])?;
    cdf(&(-&x).done()?, &(-&loc).done()?, &scale.clone().done()?)
}

/// The logarithm of the probability of more than `x` in the Cauchy distribution.
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
///   >>> round(float(jax.scipy.stats.cauchy.logsf(1.0)), 4)
///   -1.3863
#[public("scipy.stats.cauchy.logsf(x, loc=0, scale=1)")]
pub fn logsf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("cauchy.logsf", [x, loc, scale])?;
    logcdf(&(-&x).done()?, &(-&loc).done()?, &scale.clone().done()?)
}

/// The value that is not exceeded with probability `q` in the Cauchy distribution, the inverse of `cdf`.
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
///   >>> round(float(jax.scipy.stats.cauchy.ppf(0.25)), 4)
///   -1.0
#[public("scipy.stats.cauchy.ppf(q, loc=0, scale=1)")]
pub fn ppf(q: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [q, loc, scale] = promoted("cauchy.ppf", [q, loc, scale])?;
    (tan(PI * &q - PI / 2.0) * &scale + &loc).strong_if_array().done()
}

/// The value that is exceeded with probability `q` in the Cauchy distribution, the inverse of `sf`.
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
///   >>> round(float(jax.scipy.stats.cauchy.isf(0.25)), 4)
///   1.0
#[public("scipy.stats.cauchy.isf(q, loc=0, scale=1)")]
pub fn isf(q: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [q, loc, scale] = promoted("cauchy.isf", [q, loc, scale])?;
    (tan(PI / 2.0 - PI * &q) * &scale + &loc).strong_if_array().done()
}
