//! Distributions that gamma samples give.

use pullback_base::{DType, Result, bail};
use pullback_core::control::{RANDOM_GAMMA, RandomGamma};
use pullback_derive::public;
use pullback_ir::Val;

use super::approximate::{SampleMethod, gamma_approximately};
use super::continuous::{normal, sample_shape};
use super::key::{checked_key, two_keys};
use super::rademacher;
use super::uniform::{check_float, check_parameters, statics};
use crate::axes::Axes;
use crate::broadcast::broadcast_to;
use crate::convert::{number, to_dtype, weak_float};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{power, true_divide};
use crate::primitive::Bind;

fn checked(name: &str, key: &Val, dtype: DType) -> Result<Val> {
    let key = checked_key(name, key)?;
    check_float(name, dtype)?;
    Ok(key)
}

/// Numbers of the gamma distribution with scale 1: density `x**(a - 1) exp(-x) / Γ(a)` from 0 on, by rejection
/// (Marsaglia, Tsang, A simple method for generating gamma variables, 2000).
///
/// Args:
///   key: a key, typed or of two words.
///   a: the shape parameter; real numbers. 0 gives 0, negative ones NaN.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   method: 'exact', or 'approximate': without loops, faster, and with a distribution slightly off; gradients are those of its map.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
/// Differentiable: in `a`, by implicit reparameterization (Figurnov et al., 2018); once, not twice.
/// Example:
///   >>> jax.random.gamma(jax.random.key(0), jnp.array([0.0, 0.0]))
///   Array([0., 0.], dtype=float32)
#[public(
    "random.gamma(key: Key, a, shape=None, dtype: FloatByDefault=None, *, method='exact', out_sharding: Sharded=None)"
)]
pub fn gamma(key: &Val, a: &Val, shape: Option<&[usize]>, dtype: DType, method: SampleMethod) -> Result<Val> {
    gamma_or_log("gamma", key, a, shape, dtype, method)
}

/// Logarithms of numbers of the gamma distribution, exact where those underflow because `a` is small.
///
/// Args:
///   key: a key, typed or of two words.
///   a: the shape parameter; real numbers. 0 gives minus infinity, negative ones NaN.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   method: 'exact', or 'approximate': without loops, faster, and with a distribution slightly off; gradients are those of its map.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
/// Differentiable: in `a`, by implicit reparameterization (Figurnov et al., 2018); once, not twice.
/// Example:
///   >>> bool(jax.random.loggamma(jax.random.key(0), 1e-3) < 0)
///   True
#[public(
    "random.loggamma(key: Key, a, shape=None, dtype: FloatByDefault=None, *, method='exact', out_sharding: Sharded=None)"
)]
pub fn loggamma(key: &Val, a: &Val, shape: Option<&[usize]>, dtype: DType, method: SampleMethod) -> Result<Val> {
    gamma_or_log("loggamma", key, a, shape, dtype, method)
}

fn gamma_or_log(
    name: &str,
    key: &Val,
    a: &Val,
    shape: Option<&[usize]>,
    dtype: DType,
    method: SampleMethod,
) -> Result<Val> {
    let log = name == "loggamma";
    let key = checked(name, key, dtype)?;
    let shape = sample_shape(name, shape, &[a])?;
    if method == SampleMethod::Approximate {
        return gamma_approximately(&key, a, &shape, dtype, log);
    }
    let statics = [statics(&shape, dtype), vec![log.into()]].concat();
    named_jit_one("_gamma", &statics, &[key, a.clone()], |ins| {
        let a = broadcast_to(&to_dtype(&ins[1], dtype)?, &shape)?;
        RANDOM_GAMMA.bind_with(RandomGamma { log_space: log }, &[ins[0].clone(), a])
    })
}

/// Numbers of the beta distribution: density proportional to `x**(a - 1) (1 - x)**(b - 1)` from 0 to 1; `g / (g + h)` of
/// two of the gamma distribution.
///
/// Args:
///   key: a key, typed or of two words.
///   a, b: the shape parameters, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   method: 'exact', or 'approximate': without loops, faster, and with a distribution slightly off; gradients are those of its map.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
/// Differentiable: in `a` and `b`, as `gamma` is.
/// Example:
///   >>> x = jax.random.beta(jax.random.key(0), 2.0, 3.0, (100,))
///   >>> bool(((x >= 0) & (x <= 1)).all())
///   True
#[public(
    "random.beta(key: Key, a, b, shape=None, dtype: FloatByDefault=None, *, method='exact', out_sharding: Sharded=None)"
)]
pub fn beta(key: &Val, a: &Val, b: &Val, shape: Option<&[usize]>, dtype: DType, method: SampleMethod) -> Result<Val> {
    let key = checked("beta", key, dtype)?;
    check_parameters("beta", dtype, &[a, b])?;
    let shape = sample_shape("beta", shape, &[a, b])?;
    named_jit_one(
        "_beta",
        &[statics(&shape, dtype), vec![method as i64]].concat(),
        &[key, a.clone(), b.clone()],
        |ins| {
            let (a, b) = (to_dtype(&ins[1], dtype)?, to_dtype(&ins[2], dtype)?);
            let (first, second) = two_keys(&ins[0])?;
            let (a, b) = (broadcast_to(&a, &shape)?, broadcast_to(&b, &shape)?);
            let a = loggamma(&first, &a, Some(&shape), dtype, method)?;
            let b = loggamma(&second, &b, Some(&shape), dtype, method)?;
            let peak = lax::max(&a, &b)?;
            let a = lax::exp(&lax::sub(&a, &peak)?)?;
            let b = lax::exp(&lax::sub(&b, &peak)?)?;
            lax::div(&a, &lax::add(&a, &b)?)
        },
    )
}

/// Vectors of the Dirichlet distribution: positive numbers whose sum is 1, from numbers of the gamma distribution.
///
/// Args:
///   key: a key, typed or of two words.
///   alpha: weights along the last axis, positive; the axes before are the batch.
///   shape: the shape of the batch, to which that of `alpha` broadcasts; that of `alpha` by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of the batch's shape and one more axis, the size of the last of `alpha`.
/// Raises:
///   TypeError: `key` is no key.
///   ValueError: several keys are given, the dtype is not floating, `alpha` is a scalar, or shapes do not go together.
/// Differentiable: in `alpha`, as `gamma` is.
/// Example:
///   >>> jax.random.dirichlet(jax.random.key(0), jnp.ones(3), (5,)).shape
///   (5, 3)
#[public("random.dirichlet(key: Key, alpha, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn dirichlet(key: &Val, alpha: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("dirichlet", key, dtype)?;
    let aval = alpha.aval();
    let Some((&size, batch)) = aval.data().shape.split_last() else {
        bail!(Value, "dirichlet requires alpha.ndim >= 1, got alpha.ndim == 0")
    };
    let shape = match shape {
        None => batch.to_vec(),
        Some(shape) => {
            crate::broadcast::broadcast_shapes(&[shape, batch])?;
            shape.to_vec()
        }
    };
    let full = [&shape[..], &[size]].concat();
    named_jit_one("_dirichlet", &statics(&shape, dtype), &[key, alpha.clone()], |ins| {
        let logs = loggamma(&ins[0], &to_dtype(&ins[1], dtype)?, Some(&full), dtype, SampleMethod::Exact)?;
        crate::nn::softmax(&logs, &Axes::One(-1), None)
    })
}

/// Numbers of the chi-square distribution: sums of `df` squared normal numbers, twice those of the gamma distribution of
/// `df / 2`.
///
/// Args:
///   key: a key, typed or of two words.
///   df: degrees of freedom, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   method: 'exact', or 'approximate': without loops, faster, and with a distribution slightly off; gradients are those of its map.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
/// Differentiable: in `df`, as `gamma` is.
/// Example:
///   >>> bool((jax.random.chisquare(jax.random.key(0), 2.0, (100,)) >= 0).all())
///   True
#[public(
    "random.chisquare(key: Key, df, shape=None, dtype: FloatByDefault=None, *, method='exact', out_sharding: Sharded=None)"
)]
pub fn chisquare(key: &Val, df: &Val, shape: Option<&[usize]>, dtype: DType, method: SampleMethod) -> Result<Val> {
    let key = checked("chisquare", key, dtype)?;
    check_parameters("chisquare", dtype, &[df])?;
    let shape = sample_shape("chisquare", shape, &[df])?;
    named_jit_one("_chisquare", &[statics(&shape, dtype), vec![method as i64]].concat(), &[key, df.clone()], |ins| {
        let df = to_dtype(&ins[1], dtype)?;
        let half = lax::div(&df, &number(&df, 2.0))?;
        let sample = lax::exp(&loggamma(&ins[0], &half, Some(&shape), dtype, method)?)?;
        lax::mul(&sample, &number(&sample, 2.0))
    })
}

/// Numbers of Student's t distribution: a normal number over the root of one of the chi-square distribution divided
/// by `df`.
///
/// Args:
///   key: a key, typed or of two words.
///   df: degrees of freedom, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in `df`, as `gamma` is.
/// Example:
///   >>> jax.random.t(jax.random.key(0), 3.0, (4,)).shape
///   (4,)
#[public("random.t(key: Key, df, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn t(key: &Val, df: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("t", key, dtype)?;
    check_parameters("t", dtype, &[df])?;
    let shape = sample_shape("t", shape, &[df])?;
    named_jit_one("_t", &statics(&shape, dtype), &[key, df.clone()], |ins| {
        let df = to_dtype(&ins[1], dtype)?;
        let (first, second) = two_keys(&ins[0])?;
        let numerator = normal(&first, &shape, dtype)?;
        let half = lax::div(&df, &number(&df, 2.0))?;
        let sample = gamma(&second, &half, Some(&shape), dtype, SampleMethod::Exact)?;
        lax::mul(&numerator, &lax::sqrt(&true_divide(&half, &sample)?)?)
    })
}

/// Numbers of the F distribution: two of the chi-square distribution, each divided by its degrees of freedom, over
/// each other.
///
/// Args:
///   key: a key, typed or of two words.
///   dfnum: degrees of freedom of the numerator, positive; real numbers.
///   dfden: degrees of freedom of the denominator, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
/// Differentiable: in both, as `gamma` is.
/// Example:
///   >>> bool((jax.random.f(jax.random.key(0), 2.0, 3.0, (100,)) >= 0).all())
///   True
#[public("random.f(key: Key, dfnum, dfden, shape=None, dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn f(key: &Val, dfnum: &Val, dfden: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("f", key, dtype)?;
    check_parameters("f", dtype, &[dfnum, dfden])?;
    let shape = sample_shape("f", shape, &[dfnum, dfden])?;
    named_jit_one("_f", &statics(&shape, dtype), &[key, dfnum.clone(), dfden.clone()], |ins| {
        let dfden = to_dtype(&ins[2], dtype)?;
        let dfnum = to_dtype(&ins[1], dtype)?;
        let (den, num) = two_keys(&ins[0])?;
        let num = chisquare(&num, &dfnum, Some(&shape), dtype, SampleMethod::Exact)?;
        let den = chisquare(&den, &dfden, Some(&shape), dtype, SampleMethod::Exact)?;
        let num = true_divide(&num, &dfnum)?;
        lax::div(&num, &true_divide(&den, &dfden)?)
    })
}

/// Numbers with density proportional to `exp(-|x|**p)`: roots of numbers of the gamma distribution, with random sign.
///
/// Args:
///   key: a key, typed or of two words.
///   p: the exponent, a positive scalar.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: in `p`, as `gamma` is.
/// Example:
///   >>> jax.random.generalized_normal(jax.random.key(0), 2.0, (3,)).shape
///   (3,)
#[public("random.generalized_normal(key: Key, p, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn generalized_normal(key: &Val, p: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked("generalized_normal", key, dtype)?;
    named_jit_one("_generalized_normal", &statics(shape, dtype), &[key, p.clone()], |ins| {
        let keys = super::key::split_typed(&ins[0], &[2])?;
        let nth = |i: usize| lax::squeeze_axes(&lax::slice_always(&keys, &[i], &[i + 1], None)?, &[0]);
        let inverse = || true_divide(&weak_float(1.0), &ins[1]);
        let size = gamma(&nth(0)?, &inverse()?, Some(shape), dtype, SampleMethod::Exact)?;
        let sign = rademacher(&nth(1)?, shape, dtype)?;
        lax::mul(&sign, &power(&size, &inverse()?)?)
    })
}
