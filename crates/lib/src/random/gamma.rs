//! Distributions that gamma samples give.

use pullback_base::{DType, Result};
use pullback_ir::Val;

use super::continuous::{normal, sample_shape};
use super::key::{checked_key, two_keys};
use super::rademacher;
use super::uniform::{check_float, statics};
use crate::axes::Axes;
use crate::bind::{self, Fields};
use crate::broadcast::broadcast_to;
use crate::convert::{number, to_dtype, weak_float};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{power, true_divide};

fn checked(name: &str, key: &Val, dtype: DType) -> Result<Val> {
    let key = checked_key(name, key)?;
    check_float(name, dtype)?;
    Ok(key)
}

/// Numbers of the gamma distribution with shape parameter `a` and scale 1.
///
/// # Errors
/// A `Value` error for a dtype that is not floating and shapes that do not go together; errors of keys.
pub fn gamma(key: &Val, a: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    gamma_or_log("gamma", key, a, shape, dtype, false)
}

/// Logarithms of [`gamma`], exact where those underflow.
///
/// # Errors
/// As [`gamma`].
pub fn loggamma(key: &Val, a: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    gamma_or_log("loggamma", key, a, shape, dtype, true)
}

fn gamma_or_log(name: &str, key: &Val, a: &Val, shape: Option<&[usize]>, dtype: DType, log: bool) -> Result<Val> {
    let key = checked(name, key, dtype)?;
    let shape = sample_shape(name, shape, &[a])?;
    let statics = [statics(&shape, dtype), vec![log.into()]].concat();
    named_jit_one("_gamma", &statics, &[key, a.clone()], |ins| {
        let a = broadcast_to(&to_dtype(&ins[1], dtype)?, &shape)?;
        bind::RANDOM_GAMMA.call_with(Fields::new().with("log_space", &log), &[ins[0].clone(), a])
    })
}

/// Numbers of the beta distribution.
///
/// # Errors
/// As [`gamma`].
pub fn beta(key: &Val, a: &Val, b: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("beta", key, dtype)?;
    let shape = sample_shape("beta", shape, &[a, b])?;
    named_jit_one("_beta", &statics(&shape, dtype), &[key, a.clone(), b.clone()], |ins| {
        let (a, b) = (to_dtype(&ins[1], dtype)?, to_dtype(&ins[2], dtype)?);
        let (first, second) = two_keys(&ins[0])?;
        let (a, b) = (broadcast_to(&a, &shape)?, broadcast_to(&b, &shape)?);
        let a = loggamma(&first, &a, Some(&shape), dtype)?;
        let b = loggamma(&second, &b, Some(&shape), dtype)?;
        let peak = lax::max(&a, &b)?;
        let a = lax::exp(&lax::sub(&a, &peak)?)?;
        let b = lax::exp(&lax::sub(&b, &peak)?)?;
        lax::div(&a, &lax::add(&a, &b)?)
    })
}

/// Vectors of the Dirichlet distribution with weights along the last axis of `alpha`; `shape` is that of the batch.
///
/// # Errors
/// As [`gamma`]; a `Value` error for a scalar `alpha`.
pub fn dirichlet(key: &Val, alpha: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("dirichlet", key, dtype)?;
    let aval = alpha.aval();
    let Some((&size, batch)) = aval.data().shape.split_last() else {
        pullback_base::bail!(Value, "dirichlet requires alpha.ndim >= 1, got alpha.ndim == 0")
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
        let logs = loggamma(&ins[0], &to_dtype(&ins[1], dtype)?, Some(&full), dtype)?;
        crate::nn::softmax(&logs, &Axes::One(-1), None)
    })
}

/// Numbers of the chi-square distribution.
///
/// # Errors
/// As [`gamma`].
pub fn chisquare(key: &Val, df: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("chisquare", key, dtype)?;
    let shape = sample_shape("chisquare", shape, &[df])?;
    named_jit_one("_chisquare", &statics(&shape, dtype), &[key, df.clone()], |ins| {
        let df = to_dtype(&ins[1], dtype)?;
        let half = lax::div(&df, &number(&df, 2.0))?;
        let sample = lax::exp(&loggamma(&ins[0], &half, Some(&shape), dtype)?)?;
        lax::mul(&sample, &number(&sample, 2.0))
    })
}

/// Numbers of Student's t distribution.
///
/// # Errors
/// As [`gamma`].
pub fn t(key: &Val, df: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("t", key, dtype)?;
    let shape = sample_shape("t", shape, &[df])?;
    named_jit_one("_t", &statics(&shape, dtype), &[key, df.clone()], |ins| {
        let df = to_dtype(&ins[1], dtype)?;
        let (first, second) = two_keys(&ins[0])?;
        let numerator = normal(&first, &shape, dtype)?;
        let half = lax::div(&df, &number(&df, 2.0))?;
        let sample = gamma(&second, &half, Some(&shape), dtype)?;
        lax::mul(&numerator, &lax::sqrt(&true_divide(&half, &sample)?)?)
    })
}

/// Numbers of the F distribution.
///
/// # Errors
/// As [`gamma`].
pub fn f(key: &Val, dfnum: &Val, dfden: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked("f", key, dtype)?;
    let shape = sample_shape("f", shape, &[dfnum, dfden])?;
    named_jit_one("_f", &statics(&shape, dtype), &[key, dfnum.clone(), dfden.clone()], |ins| {
        let dfden = to_dtype(&ins[2], dtype)?;
        let dfnum = to_dtype(&ins[1], dtype)?;
        let (den, num) = two_keys(&ins[0])?;
        let num = chisquare(&num, &dfnum, Some(&shape), dtype)?;
        let den = chisquare(&den, &dfden, Some(&shape), dtype)?;
        let num = true_divide(&num, &dfnum)?;
        lax::div(&num, &true_divide(&den, &dfden)?)
    })
}

/// Numbers with density proportional to `exp(-|x|**p)`.
///
/// # Errors
/// As [`gamma`].
pub fn generalized_normal(key: &Val, p: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked("generalized_normal", key, dtype)?;
    named_jit_one("_generalized_normal", &statics(shape, dtype), &[key, p.clone()], |ins| {
        let keys = super::key::split_typed(&ins[0], &[2])?;
        let nth = |i: usize| lax::squeeze_axes(&lax::slice_always(&keys, &[i], &[i + 1], None)?, &[0]);
        let inverse = || true_divide(&weak_float(1.0), &ins[1]);
        let size = gamma(&nth(0)?, &inverse()?, Some(shape), dtype)?;
        let sign = rademacher(&nth(1)?, shape, dtype)?;
        lax::mul(&sign, &power(&size, &inverse()?)?)
    })
}
