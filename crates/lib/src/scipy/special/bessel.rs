//! Modified Bessel functions of the first kind.

use pullback_base::Result;
use pullback_derive::public;
use pullback_ir::Val;

use super::{check_real, floating};
use crate::convert::{weak_float, weak_int};
use crate::custom::CustomJvp;
use crate::formula::{Formula, of};
use crate::lax;
use crate::numpy;

/// The modified Bessel function of order 0, scaled: `exp(-|x|) i0(x)`, which does not overflow.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `i1e(x) - sign(x) i0e(x)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.i0e(0.0))
///   1.0
#[public("scipy.special.i0e(x)")]
pub fn i0e(x: &Val) -> Result<Val> {
    lax::bessel_i0e(&floating(x)?)
}

/// The modified Bessel function of the first kind and order 0; DLMF 10.25.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `i1(x)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.i0(0.0))
///   1.0
#[public("scipy.special.i0(x)")]
pub fn i0(x: &Val) -> Result<Val> {
    check_real("i0", &[x])?;
    I0.call(&[floating(x)?])
}

static I0: CustomJvp = CustomJvp::new(
    "_i0",
    |args| lax::mul(&lax::exp(&lax::abs(&args[0])?)?, &lax::bessel_i0e(&args[0])?),
    "_i0_jvp",
    |_, args, tangents| tangents[0].as_ref().map(|dot| numpy::multiply(dot, &I1.call(args)?)).transpose(),
);

/// The modified Bessel function of order 1, scaled: `exp(-|x|) i1(x)`, which does not overflow.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> float(jax.scipy.special.i1e(0.0))
///   0.0
#[public("scipy.special.i1e(x)")]
pub fn i1e(x: &Val) -> Result<Val> {
    lax::bessel_i1e(&floating(x)?)
}

/// The modified Bessel function of the first kind and order 1; DLMF 10.25.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `i0(x) - i1(x) / x`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.i1(0.0))
///   0.0
#[public("scipy.special.i1(x)")]
pub fn i1(x: &Val) -> Result<Val> {
    check_real("i1", &[x])?;
    I1.call(&[floating(x)?])
}

static I1: CustomJvp = CustomJvp::new(
    "_i1",
    |args| lax::mul(&lax::exp(&lax::abs(&args[0])?)?, &lax::bessel_i1e(&args[0])?),
    "_i1_jvp",
    |_, args, tangents| tangents[0].as_ref().map(|dot| numpy::multiply(dot, &i1_derivative(&args[0])?)).transpose(),
);

/// `i0(x) - i1(x) / x`, near 0, where these cancel, by the series of DLMF 10.25.2.
fn i1_derivative(x: &Val) -> Result<Val> {
    let is_near = numpy::less(&numpy::absolute(x)?, &weak_float(0.5))?;
    let small = numpy::where_(&is_near, x, &weak_int(0))?;
    let large = numpy::where_(&is_near, &weak_int(1), x)?;
    let mut near: Option<Formula> = None;
    let mut divisor = 2.0;
    for k in 0..8i64 {
        let term = ((2 * k + 1) as f64 / divisor) * of(&small).to_the(weak_int(2 * k));
        near = Some(match near {
            None => 0 + term,
            Some(near) => near + term,
        });
        divisor *= (4 * (k + 1) * (k + 2)) as f64;
    }
    let near = near.expect("the series has terms").done()?;
    let far =
        Formula::from(I0.call(std::slice::from_ref(&large))) - of(&I1.call(std::slice::from_ref(&large))?) / &large;
    numpy::where_(&is_near, &near, &far.done()?)
}
