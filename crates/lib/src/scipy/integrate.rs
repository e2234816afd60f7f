//! `jax.scipy.integrate`: integrals of samples.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use crate::numpy;

/// The integral of sampled values by the trapezoidal rule: the sum of `(y[i] + y[i + 1]) (x[i + 1] - x[i]) / 2`.
///
/// Args:
///   y: values of a function `[..., n, ...]`.
///   x: where they were taken: `[n]`, or an array that broadcasts with `y`; evenly spaced by default.
///   dx: the distance of the points, without `x`.
///   axis: the axis of the points.
/// Returns: `y` without that axis, of a floating or complex dtype.
/// Raises:
///   ValueError: an axis out of bounds.
///   TypeError: `y` is no array or number, or shapes do not go together.
/// Differentiable: yes, with respect to `y`, `x` and `dx`, in both modes.
/// Example:
///   >>> float(jax.scipy.integrate.trapezoid(jnp.array([0.0, 1.0, 2.0])))
///   2.0
#[public("scipy.integrate.trapezoid(y, x=None, dx=1.0, axis=-1)")]
pub fn trapezoid(y: &Val, x: Option<&Val>, dx: f64, axis: i64) -> Result<Val> {
    numpy::trapezoid_of(y, x, dx, axis)
}
