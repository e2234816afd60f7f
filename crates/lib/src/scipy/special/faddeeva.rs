//! The Faddeeva function and its kin: `erfcx`, Dawson's integral.

use std::f64::consts::PI;
use std::sync::OnceLock;

use pullback_base::dtype::Typed;
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{floating, in_single};
use crate::convert::{convert, weak_complex};
use crate::custom::CustomJvp;
use crate::formula::{
    Formula, abs, complex, cos, erfc, exp, full_like, imag, is_finite, is_infinite, minimum, of, real, sin, where_,
};
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::{result_type, typed};

/// How many terms the rational function and the continued fraction take, in single and double precision.
fn terms(dtype: DType) -> (usize, i64) {
    if matches!(dtype, DType::F64 | DType::C128) { (48, 60) } else { (24, 25) }
}

/// Scale and coefficients, the highest power first, of J. Weideman, "Computation of the complex error function", 1994.
fn weideman(n: usize) -> &'static (f64, Vec<f64>) {
    static KNOWN: [OnceLock<(f64, Vec<f64>)>; 2] = [const { OnceLock::new() }; 2];
    KNOWN[usize::from(n == 48)].get_or_init(|| {
        let scale = (n as f64 / 2f64.sqrt()).sqrt();
        let size = 4 * n as i64;
        let value = |j: i64| {
            let t = scale * (j as f64 * PI / size as f64).tan();
            (-t * t).exp() * (scale * scale + t * t)
        };
        // The transform of an even function; at half the period it is 0.
        let coefficient = |k: i64| {
            let wave = |j: i64| value(j) * (2.0 * PI * ((j * k) % size) as f64 / size as f64).cos();
            (1 - size / 2..size / 2).map(wave).sum::<f64>() / size as f64
        };
        (scale, (1..=n as i64).rev().map(coefficient).collect())
    })
}

/// `wofz(i s)` for `s` in the right half plane.
fn rational(s: &Formula, n: usize) -> Formula {
    let (scale, coefficients) = weideman(n);
    let turned = (*scale - s) / (*scale + s);
    let first = full_like(s, coefficients[0]);
    let value = coefficients[1..].iter().fold(first, |value, &c| value * &turned + c);
    let inverse = 1 / (*scale + s);
    (2 * value * &inverse + 1.0 / PI.sqrt()) * inverse
}

/// `exp(x²)` with what the square loses by rounding.
fn exp_of_square(x: &Formula, dtype: DType) -> Formula {
    let square = x * x;
    let (exponent, mantissa) = if dtype == DType::F64 { (11, 26) } else { (8, 11) };
    let head = x.then(|x| lax::reduce_precision(x, exponent, mantissa));
    let tail = x - &head;
    let lost = &head * &head - &square + tail * (x + &head);
    where_(is_infinite(&square), &square, exp(&square) * (1 + where_(is_finite(&lost), &lost, 0)))
}

fn along(dot: Option<&Val>, slope: Formula) -> Result<Option<Val>> {
    dot.map(|dot| (of(dot) * slope).done()).transpose()
}

static ERFCX: CustomJvp = CustomJvp::new(
    "_erfcx",
    |args| named_jit_one("_erfcx", &[], args, |args| erfcx_value(&args[0])),
    "_erfcx_jvp",
    |out, args, tangents| along(tangents[0].as_ref(), 2 * of(&args[0]) * out - 2.0 / PI.sqrt()),
);

fn erfcx_value(x: &Val) -> Result<Val> {
    let (dtype, x) = (x.aval().dtype, of(x));
    let right = where_(x.ge(1), where_(is_infinite(&x), 1, &x), 1);
    let decaying = where_(is_infinite(&x), 0, rational(&right, terms(dtype).0));
    where_(x.ge(1), decaying, exp_of_square(&minimum(&x, 1), dtype) * erfc(&x)).done()
}

fn exp_of_minus_square(z: &Formula) -> Formula {
    let (x, y) = (real(z), imag(z));
    let (size, angle) = (exp((&y - &x) * (&y + &x)), -2 * &x * &y);
    complex(&size * cos(&angle), &size * sin(&angle))
}

static WOFZ: CustomJvp = CustomJvp::new(
    "_wofz",
    |args| named_jit_one("_wofz", &[], args, |args| wofz_value(&args[0])),
    "_wofz_jvp",
    |out, args, tangents| {
        let slope = of(&weak_complex(0.0, 2.0 / PI.sqrt())) - 2 * of(&args[0]) * out;
        along(tangents[0].as_ref(), slope)
    },
);

/// The rational function above the real line, Dawson's integral on it, and `2 exp(-z²) - wofz(-z)` below.
fn wofz_value(z: &Val) -> Result<Val> {
    let (dtype, z) = (z.aval().dtype, of(z));
    let is_lower = imag(&z).lt(0);
    let up = where_(&is_lower, -&z, &z);
    let value = rational(&complex(imag(&up), -real(&up)), terms(dtype).0);
    let dawson = real(&z).then(|x| DAWSN.call(std::slice::from_ref(x)));
    let on_line = complex(exp(-real(&z).to_the(2)), 2.0 / PI.sqrt() * dawson);
    let value = where_(imag(&z).is(0), on_line, value);
    where_(&is_lower, 2 * exp_of_minus_square(&where_(&is_lower, &z, 0)) - &value, &value).done()
}

static DAWSN: CustomJvp = CustomJvp::new(
    "_dawsn",
    |args| named_jit_one("_dawsn", &[], args, |args| dawsn_value(&args[0])),
    "_dawsn_jvp",
    |out, args, tangents| along(tangents[0].as_ref(), 1 - 2 * of(&args[0]) * out),
);

/// The continued fraction of DLMF 7.9, from its end; far away `1 / (2 x)`.
fn dawsn_value(x: &Val) -> Result<Val> {
    let (dtype, x) = (x.aval().dtype, of(x));
    let is_far = abs(&x).gt(if dtype == DType::F64 { 1e8 } else { 1e4 });
    let near = where_(&is_far, 1, &x);
    let n = terms(dtype).1;
    let t = 2 * &near * &near;
    let mut value = &t + (2 * n + 1);
    for k in (1..=n).rev() {
        value = &t + (2 * k - 1) - 2 * k * &t / value;
    }
    where_(is_far, 0.5 / x, near / value).done()
}

/// Dawson's integral: `exp(-x²)` times the integral of `exp(t²)` from 0 to `x`; DLMF 7.2.5.
///
/// J. McCabe, "A continued fraction expansion, with a truncation error estimate, for Dawson's integral" (1974).
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   ValueError: complex numbers.
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `1 - 2 x dawsn(x)`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.dawsn(1.0)), 4)
///   0.5381
#[public("scipy.special.dawsn(x)")]
pub fn dawsn(x: &Val) -> Result<Val> {
    let x = floating(x)?;
    let dtype = x.aval().dtype;
    if dtype.is_complex() {
        bail!(Value, "dawsn does not support complex-valued inputs, got {dtype}; wofz does.");
    }
    convert(&DAWSN.call(&[in_single(&x)?])?, dtype, false)
}

/// The complementary error function, scaled: `exp(x²) erfc(x)`, which does not underflow; DLMF 7.2.
///
/// J. Weideman, "Computation of the complex error function" (1994).
///
/// Args:
///   x: an array of real or complex numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `2 x erfcx(x) - 2 / sqrt(π)`, in both modes, for complex numbers holomorphic.
/// Example:
///   >>> round(float(jax.scipy.special.erfcx(10.0)), 5)
///   0.05614
#[public("scipy.special.erfcx(x)")]
pub fn erfcx(x: &Val) -> Result<Val> {
    let x = floating(x)?;
    let dtype = x.aval().dtype;
    let value = if dtype.is_complex() {
        WOFZ.call(&[complex(-imag(&x), real(&x)).done()?])?
    } else {
        ERFCX.call(&[in_single(&x)?])?
    };
    convert(&value, dtype, false)
}

/// The Faddeeva function: `exp(-z²) erfc(-i z)`; DLMF 7.2.3.
///
/// J. Weideman, "Computation of the complex error function" (1994); below the real line by DLMF 7.4.3.
///
/// Args:
///   z: an array of real or complex numbers; others become complex.
/// Returns: a complex array of the shape of `z`.
/// Raises:
///   TypeError: `z` is no array or number.
/// Differentiable: yes: `2 i / sqrt(π) - 2 z wofz(z)`, in both modes, holomorphic.
/// Example:
///   >>> print(jax.scipy.special.wofz(1j).round(4))
///   (0.4276+0j)
#[public("scipy.special.wofz(z)")]
pub fn wofz(z: &Val) -> Result<Val> {
    let z = floating(z)?;
    let z = if z.aval().dtype.is_complex() { z } else { in_single(&z)? };
    let single = Typed { dtype: DType::C64, weak_type: false };
    let strong = Typed { weak_type: false, ..typed(&z) };
    let dtype = result_type(&[strong, single])?.dtype;
    WOFZ.call(&[convert(&z, dtype, false)?])
}
