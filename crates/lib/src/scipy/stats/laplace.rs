//! The Laplace distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{abs, exp, log, promoted, where_};

/// The logarithm of the density at `x` of the Laplace distribution: of `exp(-|x|) / 2`.
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
///   >>> round(float(jax.scipy.stats.laplace.logpdf(1.0)), 4)
///   -1.6931
#[public("scipy.stats.laplace.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("laplace.logpdf", [x, loc, scale])?;
    (-(abs(&x - &loc) / &scale + log(2 * &scale))).strong_if_array().done()
}

/// The density at `x` of the Laplace distribution: `exp(-|x|) / 2`.
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
///   >>> round(float(jax.scipy.stats.laplace.pdf(1.0)), 4)
///   0.1839
#[public("scipy.stats.laplace.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The probability of at most `x` in the Laplace distribution.
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
///   >>> round(float(jax.scipy.stats.laplace.cdf(1.0)), 4)
///   0.8161
#[public("scipy.stats.laplace.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("laplace.cdf", [x, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(y.le(0), 0.5 * exp(&y), 1 - 0.5 * exp(-&y)).strong_if_array().done()
}
