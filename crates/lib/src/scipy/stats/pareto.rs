//! The Pareto distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, is_nan, log, log1p, promoted, where_};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the Pareto distribution: of `b / x**(b + 1)`.
///
/// Args:
///   x: real numbers.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.pareto.logpdf(2.0, 3.0)), 4)
///   -1.674
#[public("scipy.stats.pareto.logpdf(x, b, loc=0, scale=1)")]
pub fn logpdf(x: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, b, loc, scale] = promoted("pareto.logpdf", [x, b, loc, scale])?;
    let y = (&x - &loc) / &scale;
    let value = log(&b / &scale) - (&b + 1) * log(&y);
    where_(x.lt(&loc + &scale), -INF, &value).strong_if_array().done()
}

/// The density at `x` of the Pareto distribution: `b / x**(b + 1)`.
///
/// Args:
///   x: real numbers.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.pareto.pdf(2.0, 3.0)), 4)
///   0.1875
#[public("scipy.stats.pareto.pdf(x, b, loc=0, scale=1)")]
pub fn pdf(x: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, b, loc, scale)).done()
}

/// The probability of at most `x` in the Pareto distribution.
///
/// Args:
///   x: real numbers.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.pareto.cdf(2.0, 3.0)), 4)
///   0.875
#[public("scipy.stats.pareto.cdf(x, b, loc=0, scale=1)")]
pub fn cdf(x: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, b, loc, scale] = promoted("pareto.cdf", [x, b, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(y.lt(1), 0.0, 1 - y.to_the(-&b)).typed_like(&x).strong_if_array().done()
}

/// The logarithm of the probability of at most `x` in the Pareto distribution.
///
/// Args:
///   x: real numbers.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.pareto.logcdf(2.0, 3.0)), 4)
///   -0.1335
#[public("scipy.stats.pareto.logcdf(x, b, loc=0, scale=1)")]
pub fn logcdf(x: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, b, loc, scale] = promoted("pareto.logcdf", [x, b, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(y.lt(1), -INF, log1p(-y.to_the(-&b))).done()
}

/// The probability of more than `x` in the Pareto distribution.
///
/// Args:
///   x: real numbers.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.pareto.sf(2.0, 3.0)), 4)
///   0.125
#[public("scipy.stats.pareto.sf(x, b, loc=0, scale=1)")]
pub fn sf(x: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logsf(x, b, loc, scale)).done()
}

/// The logarithm of the probability of more than `x` in the Pareto distribution.
///
/// Args:
///   x: real numbers.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.pareto.logsf(2.0, 3.0)), 4)
///   -2.0794
#[public("scipy.stats.pareto.logsf(x, b, loc=0, scale=1)")]
pub fn logsf(x: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, b, loc, scale] = promoted("pareto.logsf", [x, b, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(y.lt(1), 0.0, -&b * log(&y)).typed_like(&x).strong_if_array().done()
}

/// The value that is not exceeded with probability `q` in the Pareto distribution, the inverse of `cdf`.
///
/// Args:
///   q: probabilities, from 0 to 1.
///   b: positive shapes.
///   loc: by how much the distribution is shifted.
///   scale: how much it is stretched: a positive factor.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `q`, `b`, `loc` and `scale`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.pareto.ppf(0.5, 3.0)), 4)
///   1.2599
#[public("scipy.stats.pareto.ppf(q, b, loc=0, scale=1)")]
pub fn ppf(q: &Val, b: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [q, b, loc, scale] = promoted("pareto.ppf", [q, b, loc, scale])?;
    where_(is_nan(&q) | q.lt(0) | q.gt(1), NAN, &loc + &scale * (1 - &q).to_the(-1 / &b)).strong_if_array().done()
}
