//! The von Mises distribution.

use std::f64::consts::PI;

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::formula::{bessel_i0e, cos, exp, log, promoted, where_};

const NAN: f64 = f64::NAN;

/// The logarithm of the density at `x` of the von Mises distribution: of `exp(kappa cos(x)) / (2 pi i0(kappa))`.
///
/// Args:
///   x: angles in radians.
///   kappa: positive concentrations; NaN for others.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x` and `kappa`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.vonmises.logpdf(0.5, 2.0)), 4)
///   -0.9067
#[public("scipy.stats.vonmises.logpdf(x, kappa)")]
pub fn logpdf(x: &Val, kappa: &Val) -> Result<Val> {
    let [x, kappa] = promoted("vonmises.logpdf", [x, kappa])?;
    let value = -((2.0 * PI).ln() + log(bessel_i0e(&kappa))) + &kappa * (cos(&x) - 1);
    where_(kappa.gt(0), &value, NAN).done()
}

/// The density at `x` of the von Mises distribution: `exp(kappa cos(x)) / (2 pi i0(kappa))`.
///
/// Args:
///   x: angles in radians.
///   kappa: positive concentrations; NaN for others.
/// Returns: an array of the broadcast shape, of a floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x` and `kappa`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.stats.vonmises.pdf(0.5, 2.0)), 4)
///   0.4039
#[public("scipy.stats.vonmises.pdf(x, kappa)")]
pub fn pdf(x: &Val, kappa: &Val) -> Result<Val> {
    exp(logpdf(x, kappa)).done()
}
