//! The chi-square distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{at_least, exp, gammainc, gammaincc, gammaln, log, promoted, where_, xlogy};

const INF: f64 = f64::INFINITY;

/// The logarithm of the density at `x` of the chi-square distribution: of `x**(df / 2 - 1) exp(-x / 2) / (2**(df / 2)
/// gamma(df / 2))`.
///
/// Args:
///   x: real numbers.
///   df: positive numbers of degrees of freedom.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `df`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.chi2.logpdf(1.0, 3.0)), 4)
///   -1.4189
#[public("scipy.stats.chi2.logpdf(x, df, loc=0, scale=1)")]
pub fn logpdf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, df, loc, scale] = promoted("chi2.logpdf", [x, df, loc, scale])?;
    let y = (&x - &loc) / &scale;
    let value = xlogy(&df / 2 - 1, &y) - &y / 2 - gammaln(&df / 2) - &df / 2 * 2.0f64.ln() - log(&scale);
    where_(x.lt(&loc), -INF, &value).strong_if_array().done()
}

/// The density at `x` of the chi-square distribution: `x**(df / 2 - 1) exp(-x / 2) / (2**(df / 2) gamma(df / 2))`.
///
/// Args:
///   x: real numbers.
///   df: positive numbers of degrees of freedom.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `df`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.chi2.pdf(1.0, 3.0)), 4)
///   0.242
#[public("scipy.stats.chi2.pdf(x, df, loc=0, scale=1)")]
pub fn pdf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, df, loc, scale)).done()
}

/// The probability of at most `x` in the chi-square distribution.
///
/// Args:
///   x: real numbers.
///   df: positive numbers of degrees of freedom.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `df`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.chi2.cdf(1.0, 3.0)), 4)
///   0.1987
#[public("scipy.stats.chi2.cdf(x, df, loc=0, scale=1)")]
pub fn cdf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, df, loc, scale] = promoted("chi2.cdf", [x, df, loc, scale])?;
    gammainc(&df / 2, at_least((&x - &loc) / &scale, 0) / 2).strong_if_array().done()
}

/// The logarithm of the probability of at most `x` in the chi-square distribution.
///
/// Args:
///   x: real numbers.
///   df: positive numbers of degrees of freedom.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `df`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.chi2.logcdf(1.0, 3.0)), 4)
///   -1.6157
#[public("scipy.stats.chi2.logcdf(x, df, loc=0, scale=1)")]
pub fn logcdf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(cdf(x, df, loc, scale)).done()
}

/// The probability of more than `x` in the chi-square distribution.
///
/// Args:
///   x: real numbers.
///   df: positive numbers of degrees of freedom.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `df`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.chi2.sf(1.0, 3.0)), 4)
///   0.8013
#[public("scipy.stats.chi2.sf(x, df, loc=0, scale=1)")]
pub fn sf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, df, loc, scale] = promoted("chi2.sf", [x, df, loc, scale])?;
    gammaincc(&df / 2, at_least((&x - &loc) / &scale, 0) / 2).strong_if_array().done()
}

/// The logarithm of the probability of more than `x` in the chi-square distribution.
///
/// Args:
///   x: real numbers.
///   df: positive numbers of degrees of freedom.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `df`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.chi2.logsf(1.0, 3.0)), 4)
///   -0.2216
#[public("scipy.stats.chi2.logsf(x, df, loc=0, scale=1)")]
pub fn logsf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    log(sf(x, df, loc, scale)).done()
}
