//! The logarithm of the gamma function of complex numbers, and of its products.

use std::f64::consts::PI;

use pullback_base::{DType, Result};
use pullback_derive::public;
use pullback_ir::Val;

use super::{EULER_GAMMA, floating};
use crate::convert::{concrete_scalar, literal, weak_complex};
use crate::formula::{
    Formula, abs, atan2, complex, conj, cos, exp, expm1, floor, imag, lgamma, log, log1p, of, real, sin, where_,
    zeros_like,
};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy;

/// `B_2k / (2k (2k - 1))` for `k` from 1; DLMF 5.11.1.
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360360.0,
    1.0 / 156.0,
    -3617.0 / 122400.0,
];

/// Stirling's series, whose terms are the given coefficients.
fn stirling(z: &Formula, coefficients: &[f64]) -> Formula {
    let inverse = 1 / z;
    let square = &inverse * &inverse;
    let series = coefficients.iter().rev().fold(zeros_like(z), |series, &c| series * &square + c);
    (z - 0.5) * log(z) - z + (0.5 * (2.0 * PI).ln() + series * inverse)
}

/// `ζ(k) - 1` by the Euler-Maclaurin formula; DLMF 25.2.9.
fn zeta_less_one(k: i32) -> f64 {
    let (n, power, order) = (60f64, -k, f64::from(k));
    let rising = order * (order + 1.0) * (order + 2.0);
    let corrections = order * n.powi(power - 1) / 12.0 - rising * n.powi(power - 3) / 720.0
        + rising * (order + 3.0) * (order + 4.0) * n.powi(power - 5) / 30240.0;
    let terms: f64 = (2..60).rev().map(|m| f64::from(m).powi(power)).sum();
    terms + n.powi(1 + power) / (order - 1.0) + 0.5 * n.powi(power) + corrections
}

/// The Taylor series around 2, in `w = z - 2`; DLMF 5.7.3.
fn around_two(w: &Formula) -> Formula {
    let mut series = zeros_like(w);
    for k in (2..=32i32).rev() {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        series = sign * zeta_less_one(k) / f64::from(k) + w * series;
    }
    w * (1.0 - EULER_GAMMA + w * series)
}

/// `log(1 + w)` of complex numbers.
fn complex_log1p(w: &Formula) -> Formula {
    let (a, b) = (real(w), imag(w));
    complex(0.5 * log1p(&a * (2 + &a) + &b * &b), atan2(&b, 1 + &a))
}

/// In the right half plane: around the zeros 1 and 2 by the Taylor series.
fn right_half(z: &Formula, dtype: DType) -> Formula {
    let (of_one, of_two) = (abs(z - 1).lt(0.5), abs(z - 2).lt(0.5));
    let w = where_(&of_two, z - 2, where_(&of_one, z - 1, 0)).astype(dtype);
    let series = around_two(&w) - where_(&of_one & !&of_two, complex_log1p(&w), 0);
    let is_near = of_one | of_two;
    where_(&is_near, series, by_stirling(&where_(&is_near, 2.5, z).astype(dtype), dtype))
}

/// Stirling's series of a number that was moved to where it converges.
fn by_stirling(z: &Formula, dtype: DType) -> Formula {
    let (far, n_terms) = if dtype == DType::C128 { (11, 8) } else { (4, 5) };
    let is_near = real(z).lt(far);
    let (mut shifted, mut total) = (z.clone(), zeros_like(z));
    for _ in 0..far {
        let goes_on = &is_near & real(&shifted).lt(far);
        total = total + where_(&goes_on, log(where_(&goes_on, &shifted, 1)), 0);
        shifted = where_(&goes_on, &shifted + 1, &shifted);
    }
    stirling(&shifted, &STIRLING[..n_terms]) - total
}

/// `log(1 - exp(w))` for `w` whose real part is not positive.
fn log1p_of_minus_exp(w: &Formula) -> Formula {
    let (a, b) = (real(w), imag(w));
    let half = sin(0.5 * &b);
    let real = -(expm1(&a) * cos(&b) - 2 * &half * &half);
    log(complex(real, -exp(&a) * sin(&b)))
}

/// The logarithm of `sin(π z)` in the upper half plane, on the branch that the reflection needs.
fn log_of_sine(z: &Formula) -> Formula {
    let (x, y) = (real(z), imag(z));
    let turned = 2.0 * PI * complex(-&y, &x - floor(&x + 0.5));
    let linear = complex(PI * &y - 2f64.ln(), PI * (0.5 - &x));
    linear + log1p_of_minus_exp(&turned)
}

fn complex_loggamma(z: &Val) -> Result<Val> {
    let (dtype, z) = (z.aval().dtype, of(z));
    let is_below = imag(&z).lt(0);
    let up = where_(&is_below, conj(&z), &z);
    let is_left = real(&up).lt(0.5);
    let right = right_half(&where_(&is_left, 1 - &up, &up), dtype);
    let left = where_(&is_left, &up, weak_complex(0.25, 0.25)).astype(dtype);
    let reflected = PI.ln() - log_of_sine(&left) - &right;
    let value = where_(is_left, reflected, &right);
    where_(is_below, conj(&value), &value).done()
}

/// The logarithm of the gamma function, continued from positive numbers to the plane without the negative ones; DLMF
/// 5.4.
///
/// Its imaginary part is continuous, unlike that of `log(gamma(x))`.
///
/// Args:
///   x: an array of real or complex numbers; integers become floating. Real numbers that are not positive give NaN.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: `x` is no array or number.
/// Differentiable: yes, in both modes, for complex numbers holomorphic.
/// Example:
///   >>> print(jax.scipy.special.loggamma(jnp.array([5.0, -0.5])).round(3))
///   [3.178   nan]
///   >>> print(jax.scipy.special.loggamma(1j).round(4))
///   (-0.6509-1.8724j)
#[public("scipy.special.loggamma(x)")]
pub fn loggamma(x: &Val) -> Result<Val> {
    let x = floating(x)?;
    if x.aval().dtype.is_complex() {
        return named_jit_one("_complex_loggamma", &[], &[x], |args| complex_loggamma(&args[0]));
    }
    where_(of(&x).gt(0), lgamma(&x), f64::NAN).done()
}

/// The logarithm of the gamma function of `d` dimensions: `d (d - 1) log(π) / 4 + Σ gammaln(a - j / 2)` for `j` below
/// `d`.
///
/// Args:
///   a: an array of real numbers greater than `(d - 1) / 2`.
///   d: the dimension, a concrete integer.
/// Returns: an array of the shape of `a`.
/// Raises:
///   ConcretizationTypeError: a traced dimension.
///   TypeError: `a` is no array or number.
/// Differentiable: yes, with respect to `a`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.multigammaln(1.0, 1))
///   0.0
#[public("scipy.special.multigammaln(a, d)")]
pub fn multigammaln(a: &Val, d: &Val) -> Result<Val> {
    let d = concrete_scalar(d, "d argument of multigammaln")?.as_i64();
    let a = floating(a)?;
    let dtype = a.aval().dtype;
    let constant = literal(dtype, 0.25 * d as f64 * (d as f64 - 1.0) * PI.ln());
    let shifts = lax::div(&lax::iota(dtype, d.max(0) as usize)?, &literal(dtype, 2.0))?;
    let spread = numpy::expand_dims(&a, &[a.aval().rank() as i64])?;
    (lgamma(of(&spread) - shifts).sum(-1) + constant).done()
}
