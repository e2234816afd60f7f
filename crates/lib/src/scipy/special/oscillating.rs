//! Integrals of waves: of the sine, the cosine and Fresnel's.

use std::f64::consts::{FRAC_PI_2, PI};

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::{Tangents, Val, Vals};
use smallvec::smallvec;

use super::{EULER_GAMMA, Quadrature, floating, in_single};
use crate::convert::convert;
use crate::custom::CustomJvpMany;
use crate::formula::{
    Formula, abs, copysign, cos, floor, full_like, is_infinite, is_nan, log, of, sin, where_, zeros_like,
};
use crate::jit::named_jit;
use crate::lax::{self, RoundingMethod};

/// From this phase on the integrals come from quadrature rules for what is left of the wave.
const FAR_PHASE: f64 = 3.0;
/// Weights below this are left out.
const LEAST_WEIGHT: f64 = 1e-19;

/// How many terms the series take.
fn n_terms(dtype: DType) -> i64 {
    if dtype == DType::F64 { 18 } else { 11 }
}

/// The two amplitudes `Σ w / (1 + r²)` and `Σ w r / (1 + r²)`, `r = node / x`, from the smallest weight.
fn amplitudes(x: &Formula, rule: &[(f64, f64)]) -> [Formula; 2] {
    let (mut even, mut odd) = (zeros_like(x), zeros_like(x));
    let inverse = 1 / x;
    for &(node, weight) in rule.iter().rev().filter(|(_, weight)| *weight > LEAST_WEIGHT) {
        let ratio = node * &inverse;
        let term = weight / (1 + &ratio * &ratio);
        even = even + &term;
        odd = odd + term * ratio;
    }
    [even, odd]
}

/// The series of DLMF 6.6.5 and 6.6.6.
fn sici_near(x: &Formula, dtype: DType) -> [Formula; 2] {
    let square = x * x;
    let (mut sine, mut cosine) = (zeros_like(x), zeros_like(x));
    for k in (1..=n_terms(dtype)).rev() {
        sine = -&square / (2 * k * (2 * k + 1)) * (1.0 / (2 * k + 1) as f64 + sine);
        cosine = -&square / ((2 * k - 1) * (2 * k)) * (1.0 / (2 * k) as f64 + cosine);
    }
    let logarithm = log(where_(x.is(0), 1, abs(x)));
    [x * (1 + sine), where_(x.is(0), -f64::INFINITY, EULER_GAMMA + logarithm + cosine)]
}

/// DLMF 6.2 with the auxiliary functions of 6.7 by Gauss and Laguerre's rule.
fn sici_far(x: &Formula, dtype: DType) -> [Formula; 2] {
    let rule: Vec<_> = Quadrature::laguerre(if dtype == DType::F64 { 96 } else { 24 }).collect();
    let [even, odd] = amplitudes(x, &rule);
    let (sine, cosine) = (sin(x), cos(x));
    [FRAC_PI_2 - (&even * &cosine + &odd * &sine) / x, (&even * &sine - &odd * &cosine) / x]
}

fn done(pair: [Formula; 2]) -> Result<Vec<Val>> {
    pair.into_iter().map(Formula::done).collect()
}

fn sici_value(args: &[Val]) -> Result<Vec<Val>> {
    let (dtype, x) = (args[0].aval().dtype, of(&args[0]));
    let size = abs(&x);
    let (is_far, is_infinite) = (size.gt(FAR_PHASE), is_infinite(&x));
    let [near_sine, near_cosine] = sici_near(&where_(&is_far, 1, &x), dtype);
    let [far_sine, far_cosine] = sici_far(&where_(&is_far & !&is_infinite, &size, FAR_PHASE), dtype);
    let of_infinity = where_(x.gt(0), zeros_like(&x), f64::NAN);
    let sine = where_(&is_infinite, full_like(&x, FRAC_PI_2), where_(&is_far, far_sine, near_sine));
    let cosine = where_(&is_infinite, of_infinity, where_(&is_far, far_cosine, near_cosine));
    done([where_(&is_far, copysign(&sine, &x), &sine), where_(is_nan(&x), &x, cosine)])
}

static SICI: CustomJvpMany = CustomJvpMany::new(
    "_sici",
    |args| named_jit("_sici", &[], args, sici_value).map(Vals::into_vec),
    |args, tangents| {
        let x = of(&args[0]);
        let ratio = sin(&x) / where_(x.is(0), 1, &x);
        with_slopes(&SICI, args, tangents, [where_(x.is(0), 1, ratio), cos(&x) / &x])
    },
);

fn with_slopes(
    function: &'static CustomJvpMany,
    args: &[Val],
    tangents: &[Option<Val>],
    slopes: [Formula; 2],
) -> Result<(Vals, Tangents)> {
    let outs = function.call(args)?;
    let Some(dot) = &tangents[0] else { return Ok((outs, smallvec![None, None])) };
    let dots = slopes.map(|slope| (of(dot) * slope).done());
    Ok((outs, dots.into_iter().map(|dot| dot.map(Some)).collect::<Result<_>>()?))
}

/// Both results in the dtype of the operand.
fn pair(function: &'static CustomJvpMany, x: &Val) -> Result<(Val, Val)> {
    let outs = function.call(&[in_single(x)?])?;
    let to = |out: &Val| convert(out, x.aval().dtype, false);
    Ok((to(&outs[0])?, to(&outs[1])?))
}

/// The sine and the cosine integral: of `sin(t) / t` from 0 to `x`, and of `cos(t) / t` from `x` on, negated; DLMF
/// 6.2.
///
/// Args:
///   x: an array of real numbers; integers become floating. The cosine integral of a negative number is the real
///     part, that of
///     `-x`; `-inf` at 0.
/// Returns: a pair of arrays of the shape of `x`.
/// Raises:
///   ValueError: complex numbers.
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `sin(x) / x` and `cos(x) / x`, in both modes.
/// Example:
///   >>> print([round(float(v), 4) for v in jax.scipy.special.sici(1.0)])
///   [0.9461, 0.3374]
#[public("scipy.special.sici(x)")]
pub fn sici(x: &Val) -> Result<(Val, Val)> {
    let x = floating(x)?;
    let dtype = x.aval().dtype;
    if dtype.is_complex() {
        bail!(Value, "Argument `x` to sici must be real-valued. Got dtype {dtype}.");
    }
    pair(&SICI, &x)
}

/// The series of DLMF 7.6.4 and 7.6.6.
fn fresnel_near(x: &Formula, dtype: DType) -> [Formula; 2] {
    let square = (0.5 * PI * x * x).to_the(2);
    let (mut sine, mut cosine) = (zeros_like(x), zeros_like(x));
    for k in (1..=n_terms(dtype)).rev() {
        sine = -&square / (2 * k * (2 * k + 1)) * (1.0 / (4 * k + 3) as f64 + sine);
        cosine = -&square / ((2 * k - 1) * (2 * k)) * (1.0 / (4 * k + 1) as f64 + cosine);
    }
    [0.5 * PI * x * x * x * (1.0 / 3.0 + sine), x * (1 + cosine)]
}

/// `x²` up to multiples of 4, from the whole part and the rest, so that no digit is lost.
fn quarter_turns(x: &Formula) -> Formula {
    let whole = x.then(|x| lax::round(x, RoundingMethod::ToNearestEven));
    let rest = x - &whole;
    let is_odd = &whole - 2 * floor(0.5 * &whole);
    is_odd + rest_of_four(&(2 * &whole * &rest)) + &rest * &rest
}

fn rest_of_four(x: &Formula) -> Formula {
    x - 4 * floor(0.25 * x)
}

/// Sine and cosine of `π x² / 2`.
fn wave(x: &Formula) -> [Formula; 2] {
    let phase = 0.5 * PI * quarter_turns(x);
    [sin(&phase), cos(&phase)]
}

/// DLMF 7.5 with auxiliary functions by Gauss and Hermite's rule, in the squares of its nodes.
fn fresnel_far(x: &Formula, dtype: DType) -> [Formula; 2] {
    let rule = Quadrature::hermite(if dtype == DType::F64 { 128 } else { 40 });
    let squares: Vec<_> =
        rule.filter(|(node, _)| *node > 0.0).map(|(node, weight)| (node * node, 2.0 * weight)).collect();
    let [even, odd] = amplitudes(&(0.5 * PI * x * x), &squares);
    let factor = 1 / (PI.powf(1.5) * x);
    let [sine, cosine] = wave(x);
    [0.5 - &factor * (&even * &cosine + &odd * &sine), 0.5 + &factor * (&even * &sine - &odd * &cosine)]
}

fn fresnel_value(args: &[Val]) -> Result<Vec<Val>> {
    let (dtype, x) = (args[0].aval().dtype, of(&args[0]));
    let size = abs(&x);
    let is_far = (0.5 * PI * &size * &size).gt(FAR_PHASE);
    let is_limit = size.gt(if dtype == DType::F64 { 1e17 } else { 1e8 });
    let near = fresnel_near(&where_(&is_far, 1, &x), dtype);
    let far = fresnel_far(&where_(&is_far & !&is_limit, &size, 2), dtype);
    let mut outs = vec![];
    for (series, wave) in near.into_iter().zip(far) {
        outs.push(where_(&is_far, copysign(where_(&is_limit, 0.5, wave), &x), series).done()?);
    }
    Ok(outs)
}

static FRESNEL: CustomJvpMany = CustomJvpMany::new(
    "_fresnel",
    |args| named_jit("_fresnel", &[], args, fresnel_value).map(Vals::into_vec),
    |args, tangents| with_slopes(&FRESNEL, args, tangents, wave(&of(&args[0]))),
);

/// Fresnel's integrals: of `sin(π t² / 2)` and of `cos(π t² / 2)` from 0 to `x`; DLMF 7.2.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: a pair of arrays of the shape of `x`.
/// Raises:
///   NotImplementedError: complex numbers.
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `sin(π x² / 2)` and `cos(π x² / 2)`, in both modes.
/// Example:
///   >>> print([round(float(v), 4) for v in jax.scipy.special.fresnel(1.0)])
///   [0.4383, 0.7799]
#[public("scipy.special.fresnel(x)")]
pub fn fresnel(x: &Val) -> Result<(Val, Val)> {
    let x = floating(x)?;
    let dtype = x.aval().dtype;
    if dtype.is_complex() {
        bail!(NotImplemented, "fresnel: support for complex-valued inputs is not implemented yet, got {dtype}");
    }
    pair(&FRESNEL, &x)
}
