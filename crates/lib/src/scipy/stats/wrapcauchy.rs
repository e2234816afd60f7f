//! The wrapped Cauchy distribution.

use std::f64::consts::PI;

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{cos, exp, log1p, promoted, where_};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the wrapped Cauchy distribution: of `(1 - c**2) / (2 pi (1 + c**2 - 2 c
/// cos(x)))`.
///
/// Args:
///   x: angles in radians, from 0 to 2 pi; the density is 0 outside.
///   c: shapes between 0 and 1; NaN for others.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x` and `c`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.wrapcauchy.logpdf(0.5, 0.5)), 4)
///   -1.1378
#[public("scipy.stats.wrapcauchy.logpdf(x, c)")]
pub fn logpdf(x: &Val, c: &Val) -> Result<Val> {
    let [x, c] = promoted("wrapcauchy.logpdf", [x, c])?;
    let value = log1p(-&c * &c) - (2.0 * PI).ln() - log1p(&c * &c - 2 * &c * cos(&x));
    let value = where_(x.ge(0) & x.le(2.0 * PI), &value, -INF);
    where_(c.gt(0) & c.lt(1), &value, NAN).done()
}

/// The density at `x` of the wrapped Cauchy distribution: `(1 - c**2) / (2 pi (1 + c**2 - 2 c cos(x)))`.
///
/// Args:
///   x: angles in radians, from 0 to 2 pi; the density is 0 outside.
///   c: shapes between 0 and 1; NaN for others.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x` and `c`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.wrapcauchy.pdf(0.5, 0.5)), 4)
///   0.3205
#[public("scipy.stats.wrapcauchy.pdf(x, c)")]
pub fn pdf(x: &Val, c: &Val) -> Result<Val> {
    exp(logpdf(x, c)).done()
}
