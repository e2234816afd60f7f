//! The error function, the normal distribution and its integrals.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{Quadrature, Terms, check_real, floating, in_single};
use crate::broadcast::broadcast_arrays;
use crate::convert::convert;
use crate::custom::{CustomJvp, CustomJvpWith};
use crate::formula::{
    self, Formula, abs, copysign, exp, full_like, is_infinite, is_nan, log, maximum, minimum, of, ones_like, sqrt,
    square, where_, zeros_like,
};
use crate::jit::named_jit_one;
use crate::lax;
use crate::promotion::promote_inexact;

const INF: f64 = f64::INFINITY;

/// The value in a real floating dtype.
fn real_one(name: &str, x: &Val) -> Result<Val> {
    let x = floating(x)?;
    if x.aval().dtype.is_complex() {
        let dtype = x.aval().dtype;
        bail!(Type, "jax.scipy.special.{name} does not support complex-valued inputs, got {dtype}");
    }
    Ok(x)
}

/// The value, of single or double precision; no other numbers are converted.
fn wide_one(name: &str, x: &Val) -> Result<Val> {
    let dtype = x.aval().dtype;
    if dtype.is_complex() {
        return real_one(name, x);
    }
    if !matches!(dtype, DType::F32 | DType::F64) {
        bail!(Type, "x.dtype={dtype} is not supported, see docstring for supported types.");
    }
    Ok(x.clone())
}

/// The error function `2 / sqrt(π)` times the integral of `exp(-t²)` from 0 to `x`; DLMF 7.2.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `2 exp(-x²) / sqrt(π)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.erf(0.0))
///   0.0
#[public("scipy.special.erf(x)")]
pub fn erf(x: &Val) -> Result<Val> {
    lax::erf(&real_one("erf", x)?)
}

/// The complementary error function `1 - erf(x)`, exact for large `x`; DLMF 7.2.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `-2 exp(-x²) / sqrt(π)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.erfc(0.0))
///   1.0
#[public("scipy.special.erfc(x)")]
pub fn erfc(x: &Val) -> Result<Val> {
    lax::erfc(&real_one("erfc", x)?)
}

/// The inverse of the error function.
///
/// Args:
///   x: an array of real numbers from -1 to 1, infinite at the ends; NaN outside.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `sqrt(π) exp(erfinv(x)²) / 2`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.erfinv(0.0))
///   0.0
///   >>> float(jax.scipy.special.erfinv(1.0))
///   inf
#[public("scipy.special.erfinv(x)")]
pub fn erfinv(x: &Val) -> Result<Val> {
    lax::erf_inv(&real_one("erfinv", x)?)
}

/// The inverse of `erfc`, by `ndtri`.
///
/// Args:
///   y: an array of real numbers from 0 to 2, infinite at the ends; NaN outside.
/// Returns: an array of the shape of `y`.
/// Raises:
///   TypeError: complex numbers, or `y` is no array or number.
/// Differentiable: yes: `-sqrt(π) exp(erfcinv(y)²) / 2`, in both modes.
/// Example:
///   >>> abs(float(jax.scipy.special.erfcinv(1.0))) < 1e-6
///   True
#[public("scipy.special.erfcinv(y)")]
pub fn erfcinv(y: &Val) -> Result<Val> {
    check_real("erfcinv", &[y])?;
    let y = real_one("erfcinv", y)?;
    let quantile = Formula::from(ndtri(&(of(&in_single(&y)?) * 0.5).done()?));
    (-quantile * FRAC_1_SQRT_2).astype(y.aval().dtype).done()
}

/// The probability that a standard normal number is at most `x`: `erfc(-x / sqrt(2)) / 2`.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: complex numbers, or `x` is no array or number.
/// Differentiable: yes: `exp(-x² / 2) / sqrt(2 π)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.ndtr(0.0))
///   0.5
#[public("scipy.special.ndtr(x)")]
pub fn ndtr(x: &Val) -> Result<Val> {
    half_erfc(&of(&wide_one("ndtr", x)?)).strong().done()
}

/// `erfc(-x / √2) / 2`, in three parts that keep the tails exact.
fn half_erfc(x: &Formula) -> Formula {
    let w = x * FRAC_1_SQRT_2;
    let z = abs(&w);
    let tail = where_(w.gt(0), 2 - formula::erfc(&z), formula::erfc(&z));
    0.5 * where_(z.lt(FRAC_1_SQRT_2), 1 + formula::erf(&w), tail)
}

/// Coefficients of rational functions, highest power first: Moshier, Cephes Mathematical Library, ndtri.
const CENTRE: [&[f64]; 2] = [
    &[-59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968, -1.2391658386738125],
    &[
        1.0,
        1.9544885833814176,
        4.676279128988815,
        86.36024213908905,
        -225.46268785411937,
        200.26021238006066,
        -82.03722561683334,
        15.90562251262117,
        -1.1833162112133,
    ],
];
const TAIL: [&[f64]; 2] = [
    &[
        4.0554489230596245,
        31.525109459989388,
        57.16281922464213,
        44.08050738932008,
        14.684956192885803,
        2.1866330685079025,
        -0.1402560791713545,
        -0.03504246268278482,
        -0.0008574567851546854,
    ],
    &[
        1.0,
        15.779988325646675,
        45.39076351288792,
        41.3172038254672,
        15.04253856929075,
        2.504649462083094,
        -0.14218292285478779,
        -0.03808064076915783,
        -0.0009332594808954574,
    ],
];
const FAR_TAIL: [&[f64]; 2] = [
    &[
        3.2377489177694603,
        6.915228890689842,
        3.9388102529247444,
        1.3330346081580755,
        0.20148538954917908,
        0.012371663481782003,
        0.00030158155350823543,
        2.6580697468673755e-06,
        6.239745391849833e-09,
    ],
    &[
        1.0,
        6.02427039364742,
        3.6798356385616087,
        1.3770209948908132,
        0.21623699359449663,
        0.013420400608854318,
        0.00032801446468212774,
        2.8924786474538068e-06,
        6.790194080099813e-09,
    ],
];

fn polynomial(coefficients: &[f64], x: &Formula) -> Formula {
    let first = full_like(x, coefficients[0]);
    coefficients[1..].iter().fold(first, |value, &c| value * x + c)
}

fn ratio(coefficients: &[&[f64]; 2], x: &Formula) -> Formula {
    polynomial(coefficients[0], x) / polynomial(coefficients[1], x)
}

static NDTRI: CustomJvp = CustomJvp::new(
    "_ndtri",
    |args| quantile(&of(&args[0])).done(),
    "_ndtri_jvp",
    |x, _, tangents| {
        let slope = (2.0 * PI).sqrt() * exp(0.5 * of(x) * x);
        tangents[0].as_ref().map(|dot| (of(dot) * &slope).done()).transpose()
    },
);

/// S. Moshier's rational functions for the centre and two parts of the tail.
fn quantile(p: &Formula) -> Formula {
    let is_upper = p.gt(-(-2f64).exp_m1());
    let mirrored = where_(&is_upper, 1 - p, p);
    let safe = where_(mirrored.is(0), full_like(p, 0.5), &mirrored);
    let centred = &safe - 0.5;
    let square = square(&centred);
    let centre = (&centred + &centred * &square * ratio(&CENTRE, &square)) * (2.0 * PI).sqrt();
    let z = sqrt(-2 * log(&safe));
    let first = &z - log(&z) / &z;
    let inverse = 1 / &z;
    let tail = where_(z.ge(8), &first - ratio(&FAR_TAIL, &inverse) / &z, &first - ratio(&TAIL, &inverse) / &z);
    let x = where_(safe.gt((-2f64).exp()), centre, where_(is_upper, &tail, -&tail));
    let infinite = full_like(p, INF);
    let is_outside = p.lt(0) | p.gt(1) | is_nan(p);
    let x = where_(p.is(0), -&infinite, where_(p.is(1), &infinite, x));
    where_(is_outside, full_like(p, f64::NAN), x)
}

/// The inverse of `ndtr`: the value below which a standard normal number lies with probability `p`.
///
/// The rational approximations are those of S. Moshier's Cephes library.
///
/// Args:
///   p: probabilities; infinite at 0 and 1, NaN outside.
/// Returns: an array of the shape of `p`.
/// Raises:
///   TypeError: complex numbers, or `p` is no array or number.
/// Differentiable: yes: one over the density, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.ndtri(0.975)), 4)
///   1.96
#[public("scipy.special.ndtri(p)")]
pub fn ndtri(p: &Val) -> Result<Val> {
    let p = wide_one("ndtri", p)?;
    let dtype = p.aval().dtype;
    convert(&NDTRI.call(&[p])?, dtype, false)
}

/// The logarithm of `ndtr`, exact where that underflows.
///
/// Args:
///   x: an array of real numbers of float32 or float64; integers become floating.
///   series_order: how many terms the asymptotic series takes where `x` is far below 0, from 0 to 30.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: another dtype, or an order that is no Python integer.
///   ValueError: an order out of range.
/// Differentiable: yes: the density over `ndtr(x)`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.log_ndtr(-20.0)), 3)
///   -203.917
#[public("scipy.special.log_ndtr(x, series_order=3)")]
pub fn log_ndtr(x: &Val, series_order: Terms) -> Result<Val> {
    let x = wide_one("log_ndtr", x)?;
    let dtype = x.aval().dtype;
    let order = series_order.0;
    if order < 0 {
        bail!(Value, "series_order must be non-negative.");
    }
    if order > 30 {
        bail!(Value, "series_order must be <= 30.");
    }
    let out = LOG_NDTR.call(&[order], &[x])?;
    convert(&out, dtype, false)
}

static LOG_NDTR: CustomJvpWith = CustomJvpWith::new(
    "value",
    |statics, args| log_ndtr_value(&of(&args[0]), args[0].aval().dtype, statics[0]).done(),
    "value_jvp",
    |_, out, args, tangents| {
        let x = of(&args[0]);
        let slope = exp(-0.5 * square(&x) - 0.5 * (2.0 * PI).ln() - of(out));
        tangents[0].as_ref().map(|dot| (of(dot) * &slope).done()).transpose()
    },
);

/// Three parts: the complement far above 0, the logarithm of `ndtr`, and an asymptotic series far below.
fn log_ndtr_value(x: &Formula, dtype: DType, order: i64) -> Formula {
    let (lower, upper) = if dtype == DType::F64 { (-20.0, 8.0) } else { (-10.0, 5.0) };
    let limit = full_like(x, lower);
    let middle = log(half_erfc(&maximum(x, &limit)));
    let far = log_ndtr_below(&minimum(x, &limit), order);
    where_(x.gt(upper), -half_erfc(&-x), where_(x.gt(lower), middle, far))
}

/// `log(pdf(x) / -x * series)`; DLMF 7.12.1 of the error function.
fn log_ndtr_below(x: &Formula, order: i64) -> Formula {
    let square = square(x);
    let (mut series, mut term, mut power) = (ones_like(x), 1.0, ones_like(x));
    for k in 1..=order {
        term *= -(2 * k - 1) as f64;
        power = power * &square;
        series = series + term / &power;
    }
    -0.5 * &square - log(-x) - 0.5 * (2.0 * PI).ln() + log(series)
}

/// The integral of DLMF-like form `exp(-h² (1 + t²) / 2) / (1 + t²)` from 0 to `a` by Gauss and Legendre's rule; what lies
/// beyond the point where the exponential vanishes is left out.
fn owens_integral(h: &Formula, a: &Formula, dtype: DType) -> Formula {
    let (order, end) = if dtype == DType::F64 { (24, 8.7) } else { (12, 6.0) };
    let end = minimum(a, end / maximum(h, 1));
    let mut total = zeros_like(h);
    for (node, weight) in Quadrature::legendre(order).rev() {
        let square = (node * &end).to_the(2);
        total = total + weight * exp(-0.5 * h * h * &square) / (1 + &square);
    }
    exp(-0.5 * h * h) * end * total / (2.0 * PI)
}

fn upper(x: &Formula) -> Formula {
    0.5 * formula::erfc(x * FRAC_1_SQRT_2)
}

static OWENS_T: CustomJvp = CustomJvp::new(
    "_owens_t",
    |args| named_jit_one("_owens_t", &[], args, |args| owens_value(&args[0], &args[1])),
    "_owens_t_jvp",
    |_, args, tangents| {
        let (h, a) = (of(&args[0]), of(&args[1]));
        let slope = 1 + &a * &a;
        let by_h = -exp(-0.5 * &h * &h) * formula::erf(&a * &h * FRAC_1_SQRT_2) / (8.0 * PI).sqrt();
        let by_a = exp(-0.5 * &h * &h * &slope) / (2.0 * PI * &slope);
        let terms = tangents.iter().zip([by_h, by_a]).filter_map(|(dot, by)| Some(of(dot.as_ref()?) * by));
        terms.reduce(|x, y| x + y).map(Formula::done).transpose()
    },
);

/// By the integral for `|a|` up to 1, and by its complement in the quadrant above; D. Owen, 1956.
fn owens_value(h: &Val, a: &Val) -> Result<Val> {
    let (dtype, of_a) = (h.aval().dtype, of(a));
    let (h, size) = (abs(h), abs(a));
    let is_steep = size.gt(1);
    let safe = where_(&is_steep, &size, 1);
    let along = where_(h.is(0) | is_nan(&h), &h, &h * &safe);
    let far = where_(is_infinite(&along), 0, &along);
    let shallow = owens_integral(&where_(&is_steep, far, &h), &where_(&is_steep, 1 / &safe, &size), dtype);
    let rest = where_(&is_steep & is_infinite(&along), 0, &shallow);
    let steep = 0.5 * (upper(&h) + upper(&along)) - upper(&h) * upper(&along) - rest;
    let value = where_(&is_steep, steep, &shallow);
    where_(is_nan(&h) | is_nan(&of_a), full_like(&h, f64::NAN), copysign(value, &of_a)).done()
}

/// Owen's function: the integral of `exp(-h² (1 + x²) / 2) / (1 + x²)` from 0 to `a`, over 2 π.
///
/// It is the probability of a normal number above `h` with another between 0 and `a` times it. D. Owen, "Tables for
/// computing
/// bivariate normal probabilities" (1956); by Gauss's quadrature.
///
/// Args:
///   h, a: arrays of real numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted floating dtype, at least float32.
/// Raises:
///   ValueError: complex numbers, or shapes that do not broadcast.
///   TypeError: an argument is no array or number.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.owens_t(0.0, 1.0)), 4)
///   0.125
#[public("scipy.special.owens_t(h, a)")]
pub fn owens_t(h: &Val, a: &Val) -> Result<Val> {
    let ins = promote_inexact(&[h.clone(), a.clone()])?;
    let dtype = ins[0].aval().dtype;
    if dtype.is_complex() {
        bail!(Value, "owens_t does not support complex-valued inputs, got {dtype}.");
    }
    let ins = broadcast_arrays(&[in_single(&ins[0])?, in_single(&ins[1])?])?;
    let out = OWENS_T.call(&ins)?;
    let dtype = out.aval().dtype;
    convert(&out, dtype, false)
}
