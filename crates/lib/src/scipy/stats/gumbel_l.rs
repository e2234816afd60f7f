//! The left-skewed Gumbel distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, expm1, log, log1p, promoted, where_};

const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the left-skewed Gumbel distribution: of `exp(x - exp(x))`.
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
///   >>> round(float(jax.scipy.stats.gumbel_l.logpdf(1.0)), 4)
///   -1.7183
#[public("scipy.stats.gumbel_l.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("gumbel_l.logpdf", [x, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(scale.gt(0), &y - exp(&y) - log(&scale), NAN).done()
}

/// The density at `x` of the left-skewed Gumbel distribution: `exp(x - exp(x))`.
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
///   >>> round(float(jax.scipy.stats.gumbel_l.pdf(1.0)), 4)
///   0.1794
#[public("scipy.stats.gumbel_l.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The logarithm of the probability of at most `x` in the left-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_l.logcdf(1.0)), 4)
///   -0.0683
#[public("scipy.stats.gumbel_l.logcdf(x, loc=0, scale=1)")]
pub fn logcdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(cdf(x, loc, scale)).done()
}

/// The probability of at most `x` in the left-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_l.cdf(1.0)), 4)
///   0.934
#[public("scipy.stats.gumbel_l.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    (-expm1(logsf(x, loc, scale))).done()
}

/// The value that is not exceeded with probability `p` in the left-skewed Gumbel distribution, the inverse of `cdf`.
///
/// Args:
///   p: probabilities, from 0 to 1.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `p`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gumbel_l.ppf(0.25)), 4)
///   -1.2459
#[public("scipy.stats.gumbel_l.ppf(p, loc=0, scale=1)")]
pub fn ppf(p: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [p, loc, scale] = promoted("gumbel_l.ppf", [p, loc, scale])?;
    where_(scale.gt(0), &loc + &scale * log(-log1p(-&p)), NAN).done()
}

/// The probability of more than `x` in the left-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_l.sf(1.0)), 4)
///   0.066
#[public("scipy.stats.gumbel_l.sf(x, loc=0, scale=1)")]
pub fn sf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logsf(x, loc, scale)).done()
}

/// The logarithm of the probability of more than `x` in the left-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_l.logsf(1.0)), 4)
///   -2.7183
#[public("scipy.stats.gumbel_l.logsf(x, loc=0, scale=1)")]
pub fn logsf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("gumbel_l.logsf", [x, loc, scale])?;
    where_(scale.gt(0), -exp((&x - &loc) / &scale), NAN).done()
}
