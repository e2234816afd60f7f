//! The right-skewed Gumbel distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, expm1, log, log1p, promoted, where_};

const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the right-skewed Gumbel distribution: of `exp(-(x + exp(-x)))`.
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
///   >>> round(float(jax.scipy.stats.gumbel_r.logpdf(1.0)), 4)
///   -1.3679
#[public("scipy.stats.gumbel_r.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("gumbel_r.logpdf", [x, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(scale.gt(0), -(&y + exp(-&y)) - log(&scale), NAN).done()
}

/// The density at `x` of the right-skewed Gumbel distribution: `exp(-(x + exp(-x)))`.
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
///   >>> round(float(jax.scipy.stats.gumbel_r.pdf(1.0)), 4)
///   0.2546
#[public("scipy.stats.gumbel_r.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The logarithm of the probability of at most `x` in the right-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_r.logcdf(1.0)), 4)
///   -0.3679
#[public("scipy.stats.gumbel_r.logcdf(x, loc=0, scale=1)")]
pub fn logcdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("gumbel_r.logcdf", [x, loc, scale])?;
    where_(scale.gt(0), -exp(-(&x - &loc) / &scale), NAN).done()
}

/// The probability of at most `x` in the right-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_r.cdf(1.0)), 4)
///   0.6922
#[public("scipy.stats.gumbel_r.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logcdf(x, loc, scale)).done()
}

/// The value that is not exceeded with probability `p` in the right-skewed Gumbel distribution, the inverse of `cdf`.
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
///   >>> round(float(jax.scipy.stats.gumbel_r.ppf(0.25)), 4)
///   -0.3266
#[public("scipy.stats.gumbel_r.ppf(p, loc=0, scale=1)")]
pub fn ppf(p: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [p, loc, scale] = promoted("gumbel_r.ppf", [p, loc, scale])?;
    where_(scale.gt(0), &loc - &scale * log(-log(&p)), NAN).done()
}

/// The probability of more than `x` in the right-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_r.sf(1.0)), 4)
///   0.3078
#[public("scipy.stats.gumbel_r.sf(x, loc=0, scale=1)")]
pub fn sf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    (-expm1(logcdf(x, loc, scale))).strong_if_array().done()
}

/// The logarithm of the probability of more than `x` in the right-skewed Gumbel distribution.
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
///   >>> round(float(jax.scipy.stats.gumbel_r.logsf(1.0)), 4)
///   -1.1783
#[public("scipy.stats.gumbel_r.logsf(x, loc=0, scale=1)")]
pub fn logsf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("gumbel_r.logsf", [x, loc, scale])?;
    let z = (&x - &loc) / &scale;
    let is_far = z.gt(40);
    let double = -exp(-where_(&is_far, 0, &z));
    let near = where_(z.gt(0), log(-expm1(&double)), log1p(-exp(&double)));
    where_(&is_far, -&z, &near).done()
}
