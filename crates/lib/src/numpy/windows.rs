//! Windows for filters, and the Bessel function that one of them needs.

use std::f64::consts::PI;

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use crate::convert::{default_float, literal, weak_float, weak_int};
use crate::custom::CustomJvp;
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::{promote_inexact, result_type_of};

/// The formula at 0, 1, 2, …; one where there is one point.
fn window(points: i64, formula: impl FnOnce(&Val) -> Result<Val>) -> Result<Val> {
    if points <= 1 {
        return super::ones(&[points], Some(default_float()));
    }
    formula(&lax::iota(default_float(), points as usize)?)
}

/// `cos(turns pi k / (points - 1))`.
fn cosine(turns: f64, k: &Val, points: i64) -> Result<Val> {
    let angle = super::multiply(&weak_float(turns * PI), k)?;
    super::cos(&super::true_divide(&angle, &weak_int(points - 1))?)
}

fn scaled(weight: f64, x: &Val) -> Result<Val> {
    super::multiply(&weak_float(weight), x)
}

/// The Blackman window `0.42 - 0.5 cos(2 pi k / (M - 1)) + 0.08 cos(4 pi k / (M - 1))` for k from 0 up to M.
///
/// Args:
///   M: the number of points, a static integer; none for less than 1.
/// Returns: a vector `[M]` of the default float; `[1.]` for one point.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.round(jnp.blackman(5)[1:4], 2))
///   [0.34 1.   0.34]
#[public("numpy.blackman(M)")]
pub fn blackman(m: i64) -> Result<Val> {
    window(m, |k| {
        let slow = super::subtract(&weak_float(0.42), &scaled(0.5, &cosine(2.0, k, m)?)?)?;
        super::add(&slow, &scaled(0.08, &cosine(4.0, k, m)?)?)
    })
}

/// The Bartlett window `1 - |2 k + 1 - M| / (M - 1)` for k from 0 up to M: a triangle with zeros at both ends.
///
/// Args:
///   M: the number of points, a static integer; none for less than 1.
/// Returns: a vector `[M]` of the default float; `[1.]` for one point.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.bartlett(5))
///   [0.  0.5 1.  0.5 0. ]
#[public("numpy.bartlett(M)")]
pub fn bartlett(m: i64) -> Result<Val> {
    window(m, |k| {
        let twice = super::add(&super::multiply(&weak_int(2), k)?, &weak_int(1))?;
        let distance = super::absolute(&super::subtract(&twice, &weak_int(m))?)?;
        super::subtract(&weak_int(1), &super::true_divide(&distance, &weak_int(m - 1))?)
    })
}

/// The Hamming window `0.54 - 0.46 cos(2 pi k / (M - 1))` for k from 0 up to M.
///
/// Args:
///   M: the number of points, a static integer; none for less than 1.
/// Returns: a vector `[M]` of the default float; `[1.]` for one point.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.round(jnp.hamming(5), 2))
///   [0.08 0.54 1.   0.54 0.08]
#[public("numpy.hamming(M)")]
pub fn hamming(m: i64) -> Result<Val> {
    window(m, |k| super::subtract(&weak_float(0.54), &scaled(0.46, &cosine(2.0, k, m)?)?))
}

/// The Hann window `0.5 - 0.5 cos(2 pi k / (M - 1))` for k from 0 up to M.
///
/// Args:
///   M: the number of points, a static integer; none for less than 1.
/// Returns: a vector `[M]` of the default float; `[1.]` for one point.
/// Differentiable: no; there is no floating argument.
/// Example:
///   >>> print(jnp.round(jnp.hanning(5), 2))
///   [0.  0.5 1.  0.5 0. ]
#[public("numpy.hanning(M)")]
pub fn hanning(m: i64) -> Result<Val> {
    window(m, |k| scaled(0.5, &super::subtract(&weak_int(1), &cosine(2.0, k, m)?)?))
}

/// The modified Bessel function of the first kind and order 0 (DLMF 10.25), as `exp(|x|)` times its scaled form.
///
/// Args:
///   x: a real array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and a floating dtype; infinite where `exp(|x|)` overflows.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `x` is complex.
/// Differentiable: yes, in both modes; the derivative is the function of order 1.
/// Example:
///   >>> print(jnp.i0(jnp.array([0.0])))
///   [1.]
#[public("numpy.i0(x)")]
pub fn i0(x: &Val) -> Result<Val> {
    static I0: CustomJvp = CustomJvp::new("function", i0_value, "tangents", i0_tangent);
    named_jit_one("i0", &[], std::slice::from_ref(x), |args| {
        let x = promote_inexact(args)?.swap_remove(0);
        let dtype = x.aval().dtype;
        if dtype.is_complex() {
            bail!(Value, "Unsupported input type to jax.numpy.i0: {dtype}");
        }
        I0.call(&[x])
    })
}

fn i0_value(args: &[Val]) -> Result<Val> {
    let size = lax::abs(&args[0])?;
    lax::mul(&lax::exp(&size)?, &lax::bessel_i0e(&size)?)
}

/// The derivative is `i1` (DLMF 10.29.3), which is odd: by way of |x| the one at 0 would not be 0.
fn i0_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let (x, Some(t)) = (&args[0], &tangents[0]) else { return Ok(None) };
    let slope = lax::mul(&lax::exp(&lax::abs(x)?)?, &lax::bessel_i1e(x)?)?;
    lax::mul(t, &slope).map(Some)
}

/// The Kaiser window `i0(beta sqrt(1 - ((k - a) / a)²)) / i0(beta)` for k from 0 up to M, where `a` is `(M - 1) /
/// 2`.
///
/// Args:
///   M: the number of points, a static integer; none for less than 1.
///   beta: how fast it falls off, a real number: 0 is the rectangle.
/// Returns: a vector `[M]` of a floating dtype; `[1.]` for one point.
/// Raises:
///   ValueError: `beta` is complex.
/// Differentiable: yes, in both modes, with respect to `beta`.
/// Example:
///   >>> print(jnp.kaiser(3, 0.0))
///   [1. 1. 1.]
#[public("numpy.kaiser(M, beta)")]
pub fn kaiser(m: i64, beta: &Val) -> Result<Val> {
    if m <= 1 {
        let dtype = result_type_of(&[beta.clone(), literal(default_float(), 0.0)])?.dtype;
        return super::ones(&[m], Some(dtype));
    }
    let half = weak_float(0.5 * (m - 1) as f64);
    let k = lax::iota(default_float(), m as usize)?;
    let place = super::true_divide(&super::subtract(&k, &half)?, &half)?;
    let height = super::sqrt(&super::subtract(&weak_int(1), &super::power(&place, &weak_int(2))?)?)?;
    super::true_divide(&i0(&super::multiply(beta, &height)?)?, &i0(beta)?)
}
