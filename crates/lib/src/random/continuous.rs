//! Continuous distributions that one uniform sample gives, by inverting the distribution function or a formula.

use std::f64::consts::{PI, SQRT_2};

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::fine_gumbel::gumbel_of_two_words;
use super::key::{checked_key, two_keys};
use super::uniform::{
    Mode, above_minus_one, check_float, check_parameters, check_shape, doubled, epsilon, statics, two_uniforms,
    uniform, uniform_by_name, uniform_unit,
};
use super::{bernoulli, rademacher};
use crate::axes::Axes;
use crate::broadcast::{broadcast_shapes, broadcast_to};
use crate::convert::{literal, number, to_dtype, weak_float, weak_int};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{self, Reduction, clip, true_divide, where_};

/// Jits a sampler of a key alone.
pub(super) fn sampler(
    name: &'static str,
    key: &Val,
    shape: &[usize],
    dtype: DType,
    f: impl FnOnce(&Val) -> Result<Val>,
) -> Result<Val> {
    named_jit_one(name, &statics(shape, dtype), std::slice::from_ref(key), |ins| f(&ins[0]))
}

/// The shape that is asked for, or that of the parameters together.
pub(super) fn sample_shape(name: &str, shape: Option<&[usize]>, parameters: &[&Val]) -> Result<Vec<usize>> {
    if let Some(shape) = shape {
        check_shape(name, shape, parameters)?;
        return Ok(shape.to_vec());
    }
    let avals: Vec<_> = parameters.iter().map(|x| x.aval()).collect();
    let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
    Ok(broadcast_shapes(&shapes)?.to_vec())
}

fn least_normal(dtype: DType) -> Result<f64> {
    Ok(match dtype {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F32 | DType::BF16 => f32::MIN_POSITIVE.into(),
        DType::F16 => 2f64.powi(-14),
        other => bail!(NotImplemented, "samples of dtype {other} of a distribution with logarithms"),
    })
}

/// Normal numbers with mean 0 and variance 1: sqrt(2) times the inverse error function of uniform ones.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating or complex dtype; float32 by default. Parts of complex numbers are independent, with variance
///     1/2.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is neither floating nor complex.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> jax.random.normal(jax.random.key(0), (2, 3)).shape
///   (2, 3)
#[public("random.normal(key: Key, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn normal(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("normal", key)?;
    if !dtype.is_inexact() {
        bail!(Value, "dtype argument to `normal` must be a float or complex dtype, got {dtype}");
    }
    sampler("_normal", &key, shape, dtype, |key| {
        if dtype.is_complex() { complex_normal(key, shape, dtype) } else { real_normal(key, shape, dtype) }
    })
}

fn complex_normal(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let (re, im) = two_keys(key)?;
    let re = to_dtype(&real_normal(&re, shape, dtype.real())?, dtype)?;
    let im = to_dtype(&real_normal(&im, shape, dtype.real())?, dtype)?;
    let i = to_dtype(&crate::convert::weak_complex(0.0, 1.0), dtype)?;
    lax::div(&lax::add(&re, &lax::mul(&i, &im)?)?, &literal(dtype, SQRT_2))
}

fn real_normal(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    sampler("_normal_real", key, shape, dtype, |key| {
        let inverse = lax::erf_inv(&open_interval(key, shape, dtype)?)?;
        lax::mul(&literal(dtype, SQRT_2), &inverse)
    })
}

/// Uniform numbers between -1 and 1, neither of them included.
pub(crate) fn open_interval(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    uniform(key, shape, dtype, &literal(dtype, above_minus_one(dtype)?), &literal(dtype, 1.0))
}

/// Standard normal numbers, given that they lie between two bounds, by the inverse of the distribution function.
///
/// Args:
///   key: a key, typed or of two words.
///   lower: lower bounds; real numbers, not included.
///   upper: upper bounds above them; real numbers, not included.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in both bounds.
/// Example:
///   >>> x = jax.random.truncated_normal(jax.random.key(0), -1.0, 1.0, (100,))
///   >>> bool((abs(x) < 1).all())
///   True
#[public(
    "random.truncated_normal(key: Key, lower, upper, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)"
)]
pub fn truncated_normal(key: &Val, lower: &Val, upper: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked_key("truncated_normal", key)?;
    check_float("truncated_normal", dtype)?;
    let shape = sample_shape("truncated_normal", shape, &[lower, upper])?;
    let ins = [key, lower.clone(), upper.clone()];
    named_jit_one("_truncated_normal", &statics(&shape, dtype), &ins, |ins| {
        normal_between(&ins[0], &to_dtype(&ins[1], dtype)?, &to_dtype(&ins[2], dtype)?, &shape, dtype)
    })
}

fn normal_between(key: &Val, lower: &Val, upper: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let sqrt2 = literal(dtype, SQRT_2);
    let low = lax::erf(&lax::div(lower, &sqrt2)?)?;
    let high = lax::erf(&lax::div(upper, &sqrt2)?)?;
    let inverse = lax::erf_inv(&uniform(key, shape, dtype, &low, &high)?)?;
    let sample = lax::mul(&sqrt2, &inverse)?;
    // Rounding must not reach the bounds.
    let least = lax::nextafter(&lax::stop_gradient(lower)?, &literal(dtype, f64::INFINITY))?;
    let greatest = lax::nextafter(&lax::stop_gradient(upper)?, &literal(dtype, f64::NEG_INFINITY))?;
    clip(&sample, Some(&least), Some(&greatest))
}

/// Numbers of the Gumbel distribution, with distribution function `exp(-exp(-x))`: `-log(-log(u))` of uniform ones.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   mode: 'low', the default, takes one word for each number; 'high' takes two, which matters for the upper tail; 'highest' makes
///     both tails fine in float32, and is 'high' in others.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or the mode is unknown.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> jax.random.gumbel(jax.random.key(0), (3,)).shape
///   (3,)
#[public("random.gumbel(key: Key, shape=(), dtype: FloatByDefault=None, mode=None, *, out_sharding: Sharded=None)")]
pub fn gumbel(key: &Val, shape: &[usize], dtype: DType, mode: Option<Mode>) -> Result<Val> {
    let key = checked_key("gumbel", key)?;
    check_float("gumbel", dtype)?;
    let mode = mode.unwrap_or_default();
    let statics = [statics(shape, dtype), vec![mode as i64]].concat();
    named_jit_one("_gumbel", &statics, &[key], |ins| match mode {
        Mode::Low => {
            let (tiny, one) = (literal(dtype, least_normal(dtype)?), weak_float(1.0));
            let log = lax::log(&uniform_by_name(&ins[0], shape, dtype, &tiny, &one)?)?;
            lax::neg(&lax::log(&lax::neg(&log)?)?)
        }
        Mode::Highest if dtype == DType::F32 => gumbel_of_two_words(&ins[0], shape),
        Mode::High | Mode::Highest => gumbel_high(&ins[0], shape, dtype),
    })
}

fn gumbel_high(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let both = uniform_by_name(key, &doubled(shape), dtype, &weak_float(0.0), &weak_float(1.0))?;
    let (high, low) = two_uniforms(&both)?;
    let eps = epsilon(dtype)?;
    let is_upper = lax::ge(&high, &literal(dtype, 0.5))?;
    let fine = lax::add(&high, &lax::mul(&literal(dtype, eps), &low)?)?;
    let fine = lax::add(&fine, &literal(dtype, eps * eps / 2.0))?;
    let unit = where_(&is_upper, &high, &fine)?;
    let log = lax::neg(&lax::log1p(&lax::neg(&unit)?)?)?;
    lax::neg(&lax::log(&log)?)
}

/// Numbers of the exponential distribution with mean 1, density `exp(-x)` from 0 on.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> bool((jax.random.exponential(jax.random.key(0), (100,)) >= 0).all())
///   True
#[public("random.exponential(key: Key, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn exponential(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("exponential", key)?;
    check_float("exponential", dtype)?;
    sampler("_exponential", &key, shape, dtype, |key| exponential_of(&uniform_unit(key, shape, dtype)?))
}

fn exponential_of(unit: &Val) -> Result<Val> {
    lax::neg(&lax::log1p(&lax::neg(unit)?)?)
}

/// Numbers of the Laplace distribution with mean 0 and scale 1, density `exp(-|x|) / 2`.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> jax.random.laplace(jax.random.key(0), (3,)).shape
///   (3,)
#[public("random.laplace(key: Key, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn laplace(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("laplace", key)?;
    check_float("laplace", dtype)?;
    sampler("_laplace", &key, shape, dtype, |key| {
        let low = literal(dtype, above_minus_one(dtype)?);
        let unit = uniform(key, shape, dtype, &low, &weak_float(1.0))?;
        let sign = lax::sign(&unit)?;
        lax::mul(&sign, &lax::log1p(&lax::neg(&lax::abs(&unit)?)?)?)
    })
}

/// Numbers of the logistic distribution, whose distribution function is the sigmoid.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> jax.random.logistic(jax.random.key(0), (3,)).shape
///   (3,)
#[public("random.logistic(key: Key, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn logistic(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("logistic", key)?;
    check_float("logistic", dtype)?;
    sampler("_logistic", &key, shape, dtype, |key| {
        let unit = uniform(key, shape, dtype, &literal(dtype, least_normal(dtype)?), &weak_float(1.0))?;
        let log = lax::log(&unit)?;
        lax::sub(&log, &lax::log1p(&lax::neg(&unit)?)?)
    })
}

/// Numbers of the Cauchy distribution with median 0, density `1 / (π (1 + x**2))`; it has no mean.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> jax.random.cauchy(jax.random.key(0), (3,)).shape
///   (3,)
#[public("random.cauchy(key: Key, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn cauchy(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("cauchy", key)?;
    check_float("cauchy", dtype)?;
    sampler("_cauchy", &key, shape, dtype, |key| {
        let unit = uniform(key, shape, dtype, &literal(dtype, epsilon(dtype)?), &weak_float(1.0))?;
        let centred = lax::sub(&unit, &number(&unit, 0.5))?;
        lax::tan(&lax::mul(&literal(dtype, PI), &centred)?)
    })
}

/// Numbers of the Pareto distribution: density `b x**(-b - 1)` from 1 on.
///
/// Args:
///   key: a key, typed or of two words.
///   b: the exponent, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in `b`.
/// Example:
///   >>> bool((jax.random.pareto(jax.random.key(0), 2.0, (100,)) >= 1).all())
///   True
#[public("random.pareto(key: Key, b, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn pareto(key: &Val, b: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked_key("pareto", key)?;
    check_float("pareto", dtype)?;
    check_parameters("pareto", dtype, &[b])?;
    let shape = sample_shape("pareto", shape, &[b])?;
    named_jit_one("_pareto", &statics(&shape, dtype), &[key, b.clone()], |ins| {
        let b = to_dtype(&ins[1], dtype)?;
        let log = exponential(&ins[0], &shape, dtype)?;
        lax::exp(&true_divide(&log, &b)?)
    })
}

/// Numbers of the Weibull distribution: `scale * e**(1 / concentration)` of exponential ones, so from 0 on.
///
/// Args:
///   key: a key, typed or of two words.
///   scale: the scale, positive; it broadcasts with the samples.
///   concentration: the shape parameter, positive; likewise.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
/// Returns: an array of the common shape.
/// Raises:
///   TypeError: `key` is no key, or shapes do not go together.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: in `scale` and `concentration`.
/// Example:
///   >>> bool((jax.random.weibull_min(jax.random.key(0), 1.0, 2.0, (100,)) >= 0).all())
///   True
#[public("random.weibull_min(key: Key, scale, concentration, shape=(), dtype: FloatByDefault=None)")]
pub fn weibull_min(key: &Val, scale: &Val, concentration: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("weibull_min", key)?;
    check_float("weibull_min", dtype)?;
    let ins = [key, scale.clone(), concentration.clone()];
    named_jit_one("_weibull_min", &statics(shape, dtype), &ins, |ins| {
        let unit = uniform(&ins[0], shape, dtype, &weak_int(0), &weak_int(1))?;
        let log = exponential_of(&unit)?;
        let exponent = true_divide(&weak_float(1.0), &ins[2])?;
        numpy::multiply(&numpy::power(&log, &exponent)?, &ins[1])
    })
}

/// Numbers of the Rayleigh distribution: density `x / scale**2 exp(-x**2 / (2 scale**2))` from 0 on.
///
/// Args:
///   key: a key, typed or of two words.
///   scale: the mode, not negative; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in `scale`, linear.
/// Example:
///   >>> jax.random.rayleigh(jax.random.key(0), jnp.zeros(2))
///   Array([0., 0.], dtype=float32)
#[public("random.rayleigh(key: Key, scale, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn rayleigh(key: &Val, scale: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked_key("rayleigh", key)?;
    check_float("rayleigh", dtype)?;
    check_parameters("rayleigh", dtype, &[scale])?;
    let shape = sample_shape("rayleigh", shape, &[scale])?;
    named_jit_one("_rayleigh", &statics(&shape, dtype), &[key, scale.clone()], |ins| {
        let unit = uniform_unit(&ins[0], &shape, dtype)?;
        let scale = broadcast_to(&to_dtype(&ins[1], dtype)?, &shape)?;
        let log = lax::log(&unit)?;
        lax::mul(&scale, &lax::sqrt(&lax::mul(&log, &number(&log, -2.0))?)?)
    })
}

/// Numbers whose logarithm is normal with mean 0 and deviation `sigma`.
///
/// Args:
///   key: a key, typed or of two words.
///   sigma: the deviation of the logarithm; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in `sigma`.
/// Example:
///   >>> jax.random.lognormal(jax.random.key(0), jnp.zeros(2))
///   Array([1., 1.], dtype=float32)
#[public(
    "random.lognormal(key: Key, sigma=1.0, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)"
)]
pub fn lognormal(key: &Val, sigma: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked_key("lognormal", key)?;
    check_float("lognormal", dtype)?;
    check_parameters("lognormal", dtype, &[sigma])?;
    let shape = sample_shape("lognormal", shape, &[sigma])?;
    let sample = normal(&key, &shape, dtype)?;
    lax::exp(&numpy::multiply(&sample, &to_dtype(sigma, dtype)?)?)
}

/// Lengths of normal vectors in three dimensions: density `sqrt(2/π) x**2 exp(-x**2 / 2)` from 0 on.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> bool((jax.random.maxwell(jax.random.key(0), (100,)) >= 0).all())
///   True
#[public("random.maxwell(key: Key, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn maxwell(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("maxwell", key)?;
    check_float("maxwell", dtype)?;
    sampler("_maxwell", &key, shape, dtype, |key| {
        let vectors = normal(key, &[shape, &[3]].concat(), dtype)?;
        named_jit_one("norm", &[-3], &[vectors], |ins| {
            let squares = lax::mul(&ins[0], &ins[0])?;
            lax::sqrt(&numpy::sum(&squares, &Reduction::over(Axes::One(-1), false))?)
        })
    })
}

/// Numbers of the Maxwell distribution with random sign, times `scale`, plus `loc`.
///
/// Args:
///   key: a key, typed or of two words.
///   loc: the centre; it broadcasts with the samples.
///   scale: the scale, positive; likewise.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
/// Returns: an array of the common shape.
/// Raises:
///   TypeError: `key` is no key, or shapes do not go together.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: in `loc` and `scale`, linear.
/// Example:
///   >>> jax.random.double_sided_maxwell(jax.random.key(0), 0.0, 1.0, (3,)).shape
///   (3,)
#[public("random.double_sided_maxwell(key: Key, loc, scale, shape=(), dtype: FloatByDefault=None)")]
pub fn double_sided_maxwell(key: &Val, loc: &Val, scale: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("double_sided_maxwell", key)?;
    check_float("double_sided_maxwell", dtype)?;
    let ins = [key, loc.clone(), scale.clone()];
    // As in the reference, numbers of the asked shape for each pair of parameters; that shape is theirs where none is given.
    let own = lax::broadcast_shapes(&[&loc.aval().shape, &scale.aval().shape])?;
    let shape = &[if shape.is_empty() { &own[..] } else { shape }, &own[..]].concat()[..];
    named_jit_one("_double_sided_maxwell", &statics(shape, dtype), &ins, |ins| {
        let (length, sign) = two_keys(&ins[0])?;
        let length = maxwell(&length, shape, dtype)?;
        let sign = rademacher(&sign, shape, dtype)?;
        let sample = numpy::multiply(&lax::mul(&sign, &length)?, &ins[2])?;
        numpy::add(&sample, &ins[1])
    })
}

/// Numbers of the triangular distribution, whose density rises from `left` to `mode` and falls to `right`.
///
/// Args:
///   key: a key, typed or of two words.
///   left: where the density begins; real numbers.
///   mode: where it is greatest, between the others.
///   right: where it ends, above `left`.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in all three, where the sample does not change sides.
/// Example:
///   >>> x = jax.random.triangular(jax.random.key(0), 0.0, 1.0, 2.0, (100,))
///   >>> bool(((x >= 0) & (x <= 2)).all())
///   True
#[public(
    "random.triangular(key: Key, left, mode, right, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)"
)]
pub fn triangular(
    key: &Val,
    left: &Val,
    mode: &Val,
    right: &Val,
    shape: Option<&[usize]>,
    dtype: DType,
) -> Result<Val> {
    let key = checked_key("triangular", key)?;
    check_float("triangular", dtype)?;
    check_parameters("triangular", dtype, &[left, mode, right])?;
    let shape = sample_shape("triangular", shape, &[left, mode, right])?;
    let full = |x: &Val| broadcast_to(&to_dtype(x, dtype)?, &shape);
    let (left, right, mode) = (full(left)?, full(right)?, full(mode)?);
    let peak = lax::div(&lax::sub(&mode, &left)?, &lax::sub(&right, &left)?)?;
    let unit = uniform_unit(&key, &shape, dtype)?;
    let below = lax::mul(&lax::mul(&unit, &lax::sub(&right, &left)?)?, &lax::sub(&mode, &left)?)?;
    let below = lax::add(&left, &lax::sqrt(&below)?)?;
    let rest = lax::sub(&number(&unit, 1.0), &unit)?;
    let above = lax::mul(&lax::mul(&rest, &lax::sub(&right, &left)?)?, &lax::sub(&right, &mode)?)?;
    let above = lax::sub(&right, &lax::sqrt(&above)?)?;
    lax::select(&lax::lt(&unit, &peak)?, &below, &above)
}

/// Numbers of the inverse Gaussian distribution with scale 1: density `sqrt(1 / (2 π x**3)) exp(-(x - mean)**2 /
/// (2 mean**2 x))` from 0 on (Michael, Schucany, Haas, 1976).
///
/// Args:
///   key: a key, typed or of two words.
///   mean: the mean, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in `mean`, where the choice between the two roots does not change.
/// Example:
///   >>> jax.random.wald(jax.random.key(0), 1.0, (3,)).shape
///   (3,)
#[public("random.wald(key: Key, mean, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn wald(key: &Val, mean: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked_key("wald", key)?;
    check_float("wald", dtype)?;
    check_parameters("wald", dtype, &[mean])?;
    let shape = sample_shape("wald", shape, &[mean])?;
    named_jit_one("_wald", &statics(&shape, dtype), &[key, mean.clone()], |ins| {
        let (first, second) = two_keys(&ins[0])?;
        let mean = broadcast_to(&to_dtype(&ins[1], dtype)?, &shape)?;
        let sample = normal(&first, &shape, dtype)?;
        wald_of(&mean, &sample, &uniform_unit(&second, &shape, dtype)?)
    })
}

/// The smaller root of the equation that a squared normal number satisfies, or the greater by chance.
fn wald_of(mean: &Val, sample: &Val, unit: &Val) -> Result<Val> {
    let times = |factor: f64, x: &Val| lax::mul(&number(x, factor), x);
    let halved = |x: &Val| lax::div(x, &number(x, 2.0));
    let square = lax::integer_pow(sample, 2)?;
    let fourth = lax::integer_pow(&square, 2)?;
    let mean_square = lax::integer_pow(mean, 2)?;
    let linear = lax::mul(&times(4.0, mean)?, &square)?;
    let root = lax::sqrt(&lax::add(&linear, &lax::mul(&mean_square, &fourth)?)?)?;
    let centre = lax::add(mean, &halved(&lax::mul(&mean_square, &square)?)?)?;
    let lesser = lax::sub(&centre, &lax::mul(&halved(mean)?, &root)?)?;
    let takes_lesser = lax::le(unit, &lax::div(mean, &lax::add(mean, &lesser)?)?)?;
    lax::select(&takes_lesser, &lesser, &lax::div(&mean_square, &lesser)?)
}

/// Signs of random numbers: booleans that hold with probability one half.
pub(super) fn coin(key: &Val, shape: &[usize]) -> Result<Val> {
    bernoulli(key, &literal(crate::convert::default_float(), 0.5), Some(shape), Mode::Low)
}
