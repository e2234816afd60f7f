//! The uniform distribution.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, is_nan, log, promoted, where_};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the uniform distribution: of `1 on 0 to 1`.
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
///   >>> round(float(jax.scipy.stats.uniform.logpdf(0.25)), 4)
///   -0.0
#[public("scipy.stats.uniform.logpdf(x, loc=0, scale=1)")]
pub fn logpdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("uniform.logpdf", [x, loc, scale])?;
    where_(x.gt(&loc + &scale) | x.lt(&loc), -INF, -log(&scale)).done()
}

/// The density at `x` of the uniform distribution: `1 on 0 to 1`.
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
///   >>> round(float(jax.scipy.stats.uniform.pdf(0.25)), 4)
///   1.0
#[public("scipy.stats.uniform.pdf(x, loc=0, scale=1)")]
pub fn pdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, loc, scale)).done()
}

/// The probability of at most `x` in the uniform distribution.
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
///   >>> round(float(jax.scipy.stats.uniform.cdf(0.25)), 4)
///   0.25
#[public("scipy.stats.uniform.cdf(x, loc=0, scale=1)")]
pub fn cdf(x: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, loc, scale] = promoted("uniform.cdf", [x, loc, scale])?;
    let y = (&x - &loc) / &scale;
    where_(x.le(&loc), 0.0, where_(x.ge(&loc + &scale), 1.0, &y)).typed_like(&x).done()
}

/// The value that is not exceeded with probability `q` in the uniform distribution, the inverse of `cdf`.
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
///   >>> round(float(jax.scipy.stats.uniform.ppf(0.25)), 4)
///   0.25
#[public("scipy.stats.uniform.ppf(q, loc=0, scale=1)")]
pub fn ppf(q: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [q, loc, scale] = promoted("uniform.ppf", [q, loc, scale])?;
    where_(is_nan(&q) | q.lt(0) | q.gt(1), NAN, &q * &scale + &loc).done()
}
