//! The normal distribution.

use std::f64::consts::PI;

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, log, log_ndtr, ndtr, ndtri, of, promoted};

/// The logarithm of the density at `x` of the normal distribution: of `exp(-x**2 / 2) / sqrt(2 pi)`.
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
///   >>> round(float(jax.scipy.stats.norm.logpdf(1.0)), 4)
///   -1.4189
#[public("scipy.stats.norm.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("norm.logpdf", [x, loc, scale])?;
    let variance = &scale * &scale;
    (-0.5 * (log(2.0 * PI * &variance) + (&x - &loc).to_the(2) / &variance)).strong_if_array().done()
}

/// The density at `x` of the normal distribution: `exp(-x**2 / 2) / sqrt(2 pi)`.
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
///   >>> round(float(jax.scipy.stats.norm.pdf(1.0)), 4)
///   0.242
#[public("scipy.stats.norm.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The probability of at most `x` in the normal distribution.
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
///   >>> round(float(jax.scipy.stats.norm.cdf(1.0)), 4)
///   0.8413
#[public("scipy.stats.norm.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("norm.cdf", [x, loc, scale])?;
    ndtr((&x - &loc) / &scale).strong().done()
}

/// The logarithm of the probability of at most `x` in the normal distribution.
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
///   >>> round(float(jax.scipy.stats.norm.logcdf(1.0)), 4)
///   -0.1728
#[public("scipy.stats.norm.logcdf(x, loc=0, scale=1)")]
pub fn logcdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("norm.logcdf", [x, loc, scale])?;
    log_ndtr((&x - &loc) / &scale).done()
}

/// The probability of more than `x` in the normal distribution.
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
///   >>> round(float(jax.scipy.stats.norm.sf(1.0)), 4)
///   0.1587
#[public("scipy.stats.norm.sf(x, loc=0, scale=1)")]
pub fn sf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("norm.sf", [x, loc, scale])?;
    cdf(&(-&x).done()?, &(-&loc).done()?, &scale.clone().done()?)
}

/// The logarithm of the probability of more than `x` in the normal distribution.
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
///   >>> round(float(jax.scipy.stats.norm.logsf(1.0)), 4)
///   -1.841
#[public("scipy.stats.norm.logsf(x, loc=0, scale=1)")]
pub fn logsf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("norm.logsf", [x, loc, scale])?;
    logcdf(&(-&x).done()?, &(-&loc).done()?, &scale.clone().done()?)
}

/// The value that is not exceeded with probability `q` in the normal distribution, the inverse of `cdf`.
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
///   >>> round(float(jax.scipy.stats.norm.ppf(0.25)), 4)
///   -0.6745
#[public("scipy.stats.norm.ppf(q, loc=0, scale=1)")]
pub fn ppf(q: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    (ndtri(of(q)) * scale + loc).done()
}

/// The value that is exceeded with probability `q` in the normal distribution, the inverse of `sf`.
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
///   >>> round(float(jax.scipy.stats.norm.isf(0.25)), 4)
///   0.6745
#[public("scipy.stats.norm.isf(q, loc=0, scale=1)")]
pub fn isf(q: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [q] = promoted("norm.isf", [q])?;
    ppf(&(1 - q).done()?, loc, scale)
}
