//! The Student's t distribution.

use std::f64::consts::PI;

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{exp, lgamma, log, log1p, promoted};

/// The logarithm of the density at `x` of the Student's t distribution: of `gamma((df + 1) / 2) / (sqrt(df pi)
/// gamma(df / 2)) (1 + x**2 / df)**(-(df + 1) / 2)`.
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
///   >>> round(float(jax.scipy.stats.t.logpdf(1.0, 4.0)), 4)
///   -1.5387
#[public("scipy.stats.t.logpdf(x, df, loc=0, scale=1)")]
pub fn logpdf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    let [x, df, loc, scale] = promoted("t.logpdf", [x, df, loc, scale])?;
    let y = (&x - &loc) / &scale;
    let half = (&df + 1) / 2;
    let constant = log(&scale) + 0.5 * log(&df * PI) + lgamma(&df / 2) - lgamma(&half);
    (-(&constant + &half * log1p(&y * &y / &df))).strong_if_array().done()
}

/// The density at `x` of the Student's t distribution: `gamma((df + 1) / 2) / (sqrt(df pi) gamma(df / 2)) (1 + x**2 /
/// df)**(-(df + 1) / 2)`.
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
///   >>> round(float(jax.scipy.stats.t.pdf(1.0, 4.0)), 4)
///   0.2147
#[public("scipy.stats.t.pdf(x, df, loc=0, scale=1)")]
pub fn pdf(x: &Val, df: &Val, loc: &Val, scale: &Val) -> Result<Val> {
    exp(logpdf(x, df, loc, scale)).done()
}
