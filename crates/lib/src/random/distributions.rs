//! Samples of distributions, made of even ones.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use super::keys::{single_key, split_pair};
use super::uniform::{Bounds, below_one, check_float, epsilon, statics, tiny, uniform_typed};
use crate::bind::{self, Fields};
use crate::broadcast::{broadcast_shapes, broadcast_to};
use crate::convert::{literal, number, to_dtype, weak_float};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{self, where_};

/// A sampler without parameters: jitted under `name`, over a single typed key.
fn sampler(
    name: &'static str,
    key: &Val,
    shape: &[usize],
    dtype: DType,
    f: impl FnOnce(&Val) -> Result<Val>,
) -> Result<Val> {
    let (key, _) = single_key(name.trim_start_matches('_'), key)?;
    named_jit_one(name, &statics(dtype, 0, shape), &[key], |args| f(&args[0]))
}

/// A sampler with parameters, whose shape is that of the parameters unless given.
fn sampler_of(
    name: &'static str,
    key: &Val,
    parameters: &[&Val],
    shape: Option<&[usize]>,
    dtype: DType,
    f: impl FnOnce(&Val, &[Val], &[usize]) -> Result<Val>,
) -> Result<Val> {
    let short = name.trim_start_matches('_');
    let (key, _) = single_key(short, key)?;
    check_float(short, dtype)?;
    let shape = parameter_shape(short, parameters, shape)?;
    let args: Vec<Val> = std::iter::once(&key).chain(parameters.iter().copied()).cloned().collect();
    named_jit_one(name, &statics(dtype, 0, &shape), &args, |args| f(&args[0], &args[1..], &shape))
}

fn parameter_shape(name: &str, parameters: &[&Val], shape: Option<&[usize]>) -> Result<Vec<usize>> {
    let avals: Vec<pullback_base::Aval> = parameters.iter().map(|x| x.aval()).collect();
    let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
    let natural = broadcast_shapes(&shapes)?;
    let Some(shape) = shape else { return Ok(natural.to_vec()) };
    let fits = broadcast_shapes(&[shape, &natural]).is_ok_and(|joined| joined[..] == *shape);
    if !fits {
        let texts: Vec<String> = shapes.iter().map(|shape| tuple_text(shape)).collect();
        bail!(
            Value,
            "{name} got shape {} that does not broadcast from those of its parameters: {}.",
            tuple_text(shape),
            texts.join(", ")
        );
    }
    Ok(shape.to_vec())
}

fn even(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    uniform_typed(key, shape, dtype, &weak_float(0.0), &weak_float(1.0), Bounds::LowHigh)
}

/// Standard normal samples; complex ones have variance 1 in all.
///
/// # Errors
/// A `Value` error for a dtype that is neither floating nor complex.
pub fn normal(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    if !dtype.is_inexact() {
        bail!(Value, "dtype argument to `normal` must be a float or complex dtype, got {dtype}");
    }
    sampler("_normal", key, shape, dtype, |key| {
        if !dtype.is_complex() {
            return normal_real(key, shape, dtype);
        }
        let (first, second) = split_pair(key)?;
        let re = to_dtype(&normal_real(&first, shape, dtype.real())?, dtype)?;
        let im = to_dtype(&normal_real(&second, shape, dtype.real())?, dtype)?;
        let unit = pullback_base::Scalar::new(dtype, pullback_base::scalar::Number::Complex(0.0, 1.0));
        let sum = lax::add(&re, &lax::mul(&Val::Literal(unit), &im)?)?;
        lax::div(&sum, &number(&sum, std::f64::consts::SQRT_2))
    })
}

fn normal_real(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    sampler("_normal_real", key, shape, dtype, |key| {
        let (low, high) = (literal(dtype, -below_one(dtype)), literal(dtype, 1.0));
        let samples = uniform_typed(key, shape, dtype, &low, &high, Bounds::LowHigh)?;
        lax::mul(&number(&samples, std::f64::consts::SQRT_2), &lax::erf_inv(&samples)?)
    })
}

/// Normal samples between bounds.
///
/// # Errors
/// A `Value` error for a dtype that is not floating or a shape that does not fit.
pub fn truncated_normal(key: &Val, low: &Val, high: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    sampler_of("_truncated_normal", key, &[low, high], shape, dtype, |key, bounds, shape| {
        let (low, high) = (to_dtype(&bounds[0], dtype)?, to_dtype(&bounds[1], dtype)?);
        let root2 = literal(dtype, std::f64::consts::SQRT_2);
        let a = lax::erf(&lax::div(&low, &root2)?)?;
        let b = lax::erf(&lax::div(&high, &root2)?)?;
        let samples = uniform_typed(key, shape, dtype, &a, &b, Bounds::LowHigh)?;
        let out = lax::mul(&root2, &lax::erf_inv(&samples)?)?;
        let inner = |bound: &Val, towards: f64| lax::nextafter(&lax::stop_gradient(bound)?, &literal(dtype, towards));
        let least = inner(&low, f64::INFINITY)?;
        numpy::clip(&out, Some(&least), Some(&inner(&high, f64::NEG_INFINITY)?))
    })
}

/// True with probability `p`.
///
/// # Errors
/// A `Type` error for a `p` that is not floating.
pub fn bernoulli(key: &Val, p: &Val, shape: Option<&[usize]>) -> Result<Val> {
    let (key, _) = single_key("bernoulli", key)?;
    if !p.aval().dtype.is_float() {
        bail!(Type, "bernoulli probability `p` must have a floating dtype, got {}.", p.aval().dtype);
    }
    let p = to_dtype(p, p.aval().dtype)?;
    let shape = parameter_shape("bernoulli", &[&p], shape)?;
    named_jit_one("_bernoulli", &statics(DType::Bool, 0, &shape), &[key, p], |args| {
        lax::lt(&even(&args[0], &shape, args[1].aval().dtype)?, &args[1])
    })
}

/// -1 or 1.
///
/// # Errors
/// A `Type` error for something that is no key.
pub fn rademacher(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    sampler("_rademacher", key, shape, dtype, |key| {
        let half = literal(crate::convert::default_float(), 0.5);
        let coin = to_dtype(&bernoulli(key, &half, Some(shape))?, dtype)?;
        lax::sub(&lax::mul(&number(&coin, 2.0), &coin)?, &number(&coin, 1.0))
    })
}

/// Gumbel samples.
///
/// # Errors
/// A `Value` error for a dtype that is not floating.
pub fn gumbel(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    check_float("gumbel", dtype)?;
    sampler("_gumbel", key, shape, dtype, |key| {
        let low = literal(dtype, tiny(dtype));
        let samples = uniform_typed(key, shape, dtype, &low, &weak_float(1.0), Bounds::HighLow)?;
        lax::neg(&lax::log(&lax::neg(&lax::log(&samples)?)?)?)
    })
}

/// Exponential samples.
///
/// # Errors
/// A `Value` error for a dtype that is not floating.
pub fn exponential(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    check_float("exponential", dtype)?;
    sampler("_exponential", key, shape, dtype, |key| lax::neg(&lax::log1p(&lax::neg(&even(key, shape, dtype)?)?)?))
}

/// Laplace samples.
///
/// # Errors
/// A `Value` error for a dtype that is not floating.
pub fn laplace(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    check_float("laplace", dtype)?;
    sampler("_laplace", key, shape, dtype, |key| {
        let low = literal(dtype, epsilon(dtype) / 2.0 - 1.0);
        let samples = uniform_typed(key, shape, dtype, &low, &weak_float(1.0), Bounds::LowHigh)?;
        lax::mul(&lax::sign(&samples)?, &lax::log1p(&lax::neg(&lax::abs(&samples)?)?)?)
    })
}

/// Logistic samples.
///
/// # Errors
/// A `Value` error for a dtype that is not floating.
pub fn logistic(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    check_float("logistic", dtype)?;
    sampler("_logistic", key, shape, dtype, |key| {
        let low = literal(dtype, tiny(dtype));
        let samples = uniform_typed(key, shape, dtype, &low, &weak_float(1.0), Bounds::LowHigh)?;
        lax::sub(&lax::log(&samples)?, &lax::log1p(&lax::neg(&samples)?)?)
    })
}

/// Cauchy samples.
///
/// # Errors
/// A `Value` error for a dtype that is not floating.
pub fn cauchy(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    check_float("cauchy", dtype)?;
    sampler("_cauchy", key, shape, dtype, |key| {
        let low = literal(dtype, epsilon(dtype));
        let samples = uniform_typed(key, shape, dtype, &low, &weak_float(1.0), Bounds::LowHigh)?;
        let centered = lax::sub(&samples, &number(&samples, 0.5))?;
        lax::tan(&lax::mul(&number(&samples, std::f64::consts::PI), &centered)?)
    })
}

/// Pareto samples with exponent `b`.
///
/// # Errors
/// A `Value` error for a dtype that is not floating or a shape that does not fit.
pub fn pareto(key: &Val, b: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    sampler_of("_pareto", key, &[b], shape, dtype, |key, parameters, shape| {
        let b = to_dtype(&parameters[0], dtype)?;
        let waits = exponential(key, shape, dtype)?;
        lax::exp(&numpy::true_divide(&waits, &b)?)
    })
}

/// Rayleigh samples of the given scale.
///
/// # Errors
/// A `Value` error for a dtype that is not floating or a shape that does not fit.
pub fn rayleigh(key: &Val, scale: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    sampler_of("_rayleigh", key, &[scale], shape, dtype, |key, parameters, shape| {
        let samples = even(key, shape, dtype)?;
        let scale = broadcast_to(&to_dtype(&parameters[0], dtype)?, shape)?;
        let log = lax::log(&samples)?;
        lax::mul(&scale, &lax::sqrt(&lax::mul(&log, &number(&log, -2.0))?)?)
    })
}

/// Weibull samples of the given scale and concentration.
///
/// # Errors
/// A `Value` error for a dtype that is not floating or a shape that does not fit.
pub fn weibull_min(key: &Val, scale: &Val, concentration: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    sampler_of("_weibull_min", key, &[scale, concentration], shape, dtype, |key, parameters, shape| {
        let zero_one = (crate::convert::weak_int(0), crate::convert::weak_int(1));
        let samples = uniform_typed(key, shape, dtype, &zero_one.0, &zero_one.1, Bounds::LowHigh)?;
        let waits = lax::neg(&lax::log1p(&lax::neg(&samples)?)?)?;
        let inverse = numpy::true_divide(&weak_float(1.0), &parameters[1])?;
        numpy::multiply(&numpy::power(&waits, &inverse)?, &to_dtype(&parameters[0], dtype)?)
    })
}

/// Exponentials of normal samples of deviation `sigma`.
///
/// # Errors
/// A `Value` error for a dtype that is not floating or a shape that does not fit.
pub fn lognormal(key: &Val, sigma: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    check_float("lognormal", dtype)?;
    let shape = parameter_shape("lognormal", &[sigma], shape)?;
    let samples = normal(key, &shape, dtype)?;
    lax::exp(&numpy::multiply(&samples, &to_dtype(sigma, dtype)?)?)
}

/// Numbers of trials up to the first success of probability `p`.
///
/// # Errors
/// A `Value` error for a shape that does not fit.
pub fn geometric(key: &Val, p: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let (key, _) = single_key("geometric", key)?;
    let shape = parameter_shape("geometric", &[p], shape)?;
    named_jit_one("_geometric", &statics(dtype, 0, &shape), &[key, p.clone()], |args| {
        let p = crate::promotion::promote_inexact(&args[1..])?.swap_remove(0);
        let samples = even(&args[0], &shape, p.aval().dtype)?;
        let is_zero = lax::eq(&samples, &number(&samples, 0.0))?;
        let samples = where_(&is_zero, &crate::convert::weak_int(1), &samples)?;
        let fails = lax::log1p(&lax::neg(&p)?)?;
        let ratio = lax::div(&lax::log(&samples)?, &broadcast_to(&to_dtype(&fails, p.aval().dtype)?, &shape)?)?;
        let trials = lax::add(&lax::floor(&ratio)?, &number(&ratio, 1.0))?;
        to_dtype(&trials, dtype)
    })
}

/// Samples of a triangle with the given ends and mode.
///
/// # Errors
/// A `Value` error for a dtype that is not floating or a shape that does not fit.
pub fn triangular(
    key: &Val,
    left: &Val,
    mode: &Val,
    right: &Val,
    shape: Option<&[usize]>,
    dtype: DType,
) -> Result<Val> {
    let (key, _) = single_key("triangular", key)?;
    check_float("triangular", dtype)?;
    let shape = parameter_shape("triangular", &[left, mode, right], shape)?;
    let full = |x: &Val| broadcast_to(&to_dtype(x, dtype)?, &shape);
    let (left, right, mode) = (full(left)?, full(right)?, full(mode)?);
    let turn = lax::div(&lax::sub(&mode, &left)?, &lax::sub(&right, &left)?)?;
    let samples = even(&key, &shape, dtype)?;
    let rising = lax::mul(&lax::mul(&samples, &lax::sub(&right, &left)?)?, &lax::sub(&mode, &left)?)?;
    let low = lax::add(&left, &lax::sqrt(&rising)?)?;
    let rest = lax::sub(&number(&samples, 1.0), &samples)?;
    let falling = lax::mul(&lax::mul(&rest, &lax::sub(&right, &left)?)?, &lax::sub(&right, &mode)?)?;
    let high = lax::sub(&right, &lax::sqrt(&falling)?)?;
    lax::select(&lax::lt(&samples, &turn)?, &low, &high)
}

/// Lengths of normal vectors of three components.
///
/// # Errors
/// A `Value` error for a dtype that is not floating.
pub fn maxwell(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    check_float("maxwell", dtype)?;
    sampler("_maxwell", key, shape, dtype, |key| {
        let full: Vec<usize> = shape.iter().copied().chain([3]).collect();
        let vectors = normal(key, &full, dtype)?;
        named_jit_one("norm", &[-1], &[vectors], |args| {
            let squares = lax::mul(&args[0], &args[0])?;
            lax::sqrt(&lax::reduce_sum(&squares, &[shape.len()])?)
        })
    })
}

fn gamma_named(
    name: &'static str,
    key: &Val,
    a: &Val,
    shape: Option<&[usize]>,
    dtype: DType,
    log_space: bool,
) -> Result<Val> {
    sampler_of(name, key, &[a], shape, dtype, |key, parameters, shape| {
        let a = broadcast_to(&to_dtype(&parameters[0], dtype)?, shape)?;
        bind::RANDOM_GAMMA.call_with(Fields::new().with("log_space", &log_space), &[key.clone(), a])
    })
}

/// Gamma samples of shape parameter `a`.
///
/// # Errors
/// A `Value` error for a dtype that is not floating or a shape that does not fit.
pub fn gamma(key: &Val, a: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    gamma_named("_gamma", key, a, shape, dtype, false)
}

/// Logarithms of gamma samples, exact for small `a`.
///
/// # Errors
/// As [`gamma`].
pub fn loggamma(key: &Val, a: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    gamma_named("_gamma", key, a, shape, dtype, true)
}

/// Beta samples.
///
/// # Errors
/// As [`gamma`].
pub fn beta(key: &Val, a: &Val, b: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    sampler_of("_beta", key, &[a, b], shape, dtype, |key, parameters, shape| {
        let full = |x: &Val| broadcast_to(&to_dtype(x, dtype)?, shape);
        let (a, b) = (full(&parameters[0])?, full(&parameters[1])?);
        let (first, second) = split_pair(key)?;
        let (x, y) = (loggamma(&first, &a, Some(shape), dtype)?, loggamma(&second, &b, Some(shape), dtype)?);
        let most = lax::max(&x, &y)?;
        let (x, y) = (lax::exp(&lax::sub(&x, &most)?)?, lax::exp(&lax::sub(&y, &most)?)?);
        lax::div(&x, &lax::add(&x, &y)?)
    })
}

/// Chi-square samples of `df` degrees of freedom.
///
/// # Errors
/// As [`gamma`].
pub fn chisquare(key: &Val, df: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    sampler_of("_chisquare", key, &[df], shape, dtype, |key, parameters, shape| {
        let df = broadcast_to(&to_dtype(&parameters[0], dtype)?, shape)?;
        let half = lax::div(&df, &number(&df, 2.0))?;
        let log = loggamma(key, &half, Some(shape), dtype)?;
        lax::mul(&number(&log, 2.0), &lax::exp(&log)?)
    })
}

/// Dirichlet samples: positive numbers with sum 1 along the last axis.
///
/// # Errors
/// A `Value` error for `alpha` without axes, and as [`gamma`].
pub fn dirichlet(key: &Val, alpha: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let (key, _) = single_key("dirichlet", key)?;
    check_float("dirichlet", dtype)?;
    let full = alpha.aval().shape.to_vec();
    let Some((&n, batch)) = full.split_last() else {
        bail!(Value, "dirichlet requires alpha.ndim >= 1, got alpha.ndim == 0");
    };
    let shape: Vec<usize> = shape.unwrap_or(batch).iter().copied().chain([n]).collect();
    named_jit_one("_dirichlet", &statics(dtype, 0, &shape), &[key, alpha.clone()], |args| {
        let alpha = to_dtype(&args[1], dtype)?;
        let logs = loggamma(&args[0], &alpha, Some(&shape), dtype)?;
        crate::nn::softmax(&logs, &crate::axes::Axes::One(-1), None)
    })
}
