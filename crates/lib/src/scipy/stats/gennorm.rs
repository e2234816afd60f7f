//! The generalized normal distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{abs, exp, gammainc, gammaln, log, promoted, sign};

/// The logarithm of the density at `x` of the generalized normal distribution: of `beta exp(-|x|**beta) / (2 gamma(1
/// / beta))`.
///
/// Args:
///   x: real numbers.
///   beta: positive shapes: 1 gives the Laplace distribution, 2 the normal one with variance 1/2.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x` and `beta`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gennorm.logpdf(0.5, 1.5)), 4)
///   -0.9444
#[public("scipy.stats.gennorm.logpdf(x, beta)")]
pub fn logpdf(x: &Val, beta: &Val) -> Result<Val> {
    let [x, beta] = promoted("gennorm.logpdf", [x, beta])?;
    (log(0.5 * &beta) - gammaln(1 / &beta) - abs(&x).to_the(&beta)).done()
}

/// The probability of at most `x` in the generalized normal distribution.
///
/// Args:
///   x: real numbers.
///   beta: positive shapes: 1 gives the Laplace distribution, 2 the normal one with variance 1/2.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x` and `beta`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gennorm.cdf(0.5, 1.5)), 4)
///   0.7417
#[public("scipy.stats.gennorm.cdf(x, beta)")]
pub fn cdf(x: &Val, beta: &Val) -> Result<Val> {
    let [x, beta] = promoted("gennorm.cdf", [x, beta])?;
    (0.5 * (1 + sign(&x) * gammainc(1 / &beta, abs(&x).to_the(&beta)))).done()
}

/// The density at `x` of the generalized normal distribution: `beta exp(-|x|**beta) / (2 gamma(1 / beta))`.
///
/// Args:
///   x: real numbers.
///   beta: positive shapes: 1 gives the Laplace distribution, 2 the normal one with variance 1/2.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x` and `beta`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.gennorm.pdf(0.5, 1.5)), 4)
///   0.3889
#[public("scipy.stats.gennorm.pdf(x, beta)")]
pub fn pdf(x: &Val, beta: &Val) -> Result<Val> {
    exp(logpdf(x, beta)).done()
}
