//! Functions of exponentials and logarithms: logistic, entropies and Box-Cox transforms.

use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{alike, check_real, floating, promoted};
use crate::axes::Axes;
use crate::broadcast::broadcast_arrays;
use crate::convert::constant;
use crate::custom::{CustomJvp, xlogx};
use crate::declare::OneOrTuple;
use crate::formula::{Formula, full_like, is_nan, log, log1p, of, where_, zeros_like};
use crate::lax;
use crate::nn::{self, LogSumExp};
use crate::numpy;
use crate::promotion::promote_inexact;

/// The logistic function `1 / (1 + exp(-x))`.
///
/// Args:
///   x: an array of real or complex numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `expit(x) (1 - expit(x))`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.expit(0.0))
///   0.5
#[public("scipy.special.expit(x)")]
pub fn expit(x: &Val) -> Result<Val> {
    lax::logistic(&floating(x)?)
}

/// The inverse of the logistic function: `log(x / (1 - x))`.
///
/// Args:
///   x: an array of real numbers; integers become floating. `-inf` at 0, `inf` at 1, NaN outside.
/// Returns: an array of the shape of `x`.
/// Raises:
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `1 / (x (1 - x))`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.logit(0.5))
///   0.0
#[public("scipy.special.logit(x)")]
pub fn logit(x: &Val) -> Result<Val> {
    static LOGIT: CustomJvp = CustomJvp::new("logit", logit_value, "jvp", logit_tangent);
    LOGIT.call(std::slice::from_ref(x))
}

fn logit_value(args: &[Val]) -> Result<Val> {
    let x = floating(&args[0])?;
    lax::log(&lax::div(&x, &lax::sub(&constant(&x, 1.0), &x)?)?)
}

fn logit_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let x = &args[0];
    tangents[0].as_ref().map(|dot| lax::div(dot, &lax::mul(x, &(1 - of(x)).done()?)?)).transpose()
}

/// The sum of the terms of several tangents, in the dtype of the result. An operand without a tangent counts with zeros, so
/// that what is not defined stays so.
fn summed(out: &Val, args: &[Val], tangents: &[Option<Val>], weights: [Formula; 2]) -> Result<Option<Val>> {
    let dots = args.iter().zip(tangents).map(|(x, dot)| dot.as_ref().map_or_else(|| zeros_like(x), of));
    let sum = dots.zip(weights).map(|(dot, weight)| dot * weight).reduce(|x, y| x + y);
    sum.map(|sum| sum.astype(out.aval().dtype).done()).transpose()
}

/// `x f(y)`, 0 where `x` is 0 unless `y` is NaN.
fn product(args: &[Val], f: fn(&Val) -> Result<Val>) -> Result<Val> {
    let ins = promote_inexact(args)?;
    let (x, y) = (of(&ins[0]), of(&ins[1]));
    let is_zero = x.is(0) & !is_nan(&y);
    let pair = broadcast_arrays(&[ins[0].clone(), f(&ins[1])?])?;
    let zero = full_like(&x, 0.0);
    where_(is_zero, zero, lax::mul(&pair[0], &pair[1])).done()
}

/// `x log(y)`, which is 0 where `x` is 0, whatever `y` is but NaN.
///
/// Args:
///   x, y: arrays of numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes: `log(y)` and `x / y`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.xlogy(0.0, 0.0))
///   0.0
#[public("scipy.special.xlogy(x, y)")]
pub fn xlogy(x: &Val, y: &Val) -> Result<Val> {
    static XLOGY: CustomJvp = CustomJvp::new(
        "xlogy",
        |args| product(args, numpy::log),
        "_xlogy_jvp",
        |out, args, tangents| {
            let (x, y) = (of(&args[0]), of(&args[1]));
            summed(out, args, tangents, [log(&y), &x / &y])
        },
    );
    XLOGY.call(&[x.clone(), y.clone()])
}

/// `x log(1 + y)`, which is 0 where `x` is 0, whatever `y` is but NaN; exact for small `y`.
///
/// Args:
///   x, y: arrays of numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes: `log(1 + y)` and `x / (1 + y)`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.xlog1py(0.0, -1.0))
///   0.0
#[public("scipy.special.xlog1py(x, y)")]
pub fn xlog1py(x: &Val, y: &Val) -> Result<Val> {
    static XLOG1PY: CustomJvp = CustomJvp::new(
        "xlog1py",
        |args| product(args, numpy::log1p),
        "_xlog1py_jvp",
        |out, args, tangents| {
            let (x, y) = (of(&args[0]), of(&args[1]));
            summed(out, args, tangents, [log1p(&y), &x / (1 + &y)])
        },
    );
    XLOG1PY.call(&[x.clone(), y.clone()])
}

/// The entropy of a part: `-x log(x)`, 0 at 0 and `-inf` below.
///
/// Args:
///   x: an array of real numbers; integers become floating.
/// Returns: an array of the shape of `x`.
/// Raises:
///   ValueError: complex numbers.
///   TypeError: `x` is no array or number.
/// Differentiable: yes: `-log(x) - 1`, in both modes.
/// Example:
///   >>> round(float(jax.scipy.special.entr(0.5)), 4)
///   0.3466
#[public("scipy.special.entr(x)")]
pub fn entr(x: &Val) -> Result<Val> {
    let x = floating(x)?;
    if x.aval().dtype.is_complex() {
        bail!(Value, "entr does not support complex-valued inputs.");
    }
    where_(of(&x).lt(0), full_like(&x, -f64::INFINITY), lax::neg(&xlogx(&x)?)).done()
}

/// The relative entropy of parts: `p log(p / q)`, 0 where `p` is 0 and `q` is not negative, else `inf` outside of
/// positive numbers.
///
/// Args:
///   p, q: arrays of real numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not broadcast.
/// Differentiable: yes, where both are positive: `log(p / q) + 1` and `-p / q`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.rel_entr(1.0, 1.0))
///   0.0
#[public("scipy.special.rel_entr(p, q)")]
pub fn rel_entr(p: &Val, q: &Val) -> Result<Val> {
    check_real("rel_entr", &[p, q])?;
    let ins = alike(&[p, q])?;
    let (p, q) = (of(&ins[0]), of(&ins[1]));
    let is_positive = p.gt(0) & q.gt(0);
    let is_zero = p.is(0) & q.ge(0);
    let (safe_p, safe_q) = (where_(&is_positive, &p, 1), where_(&is_positive, &q, 1));
    let value = &safe_p * log(&safe_p / &safe_q);
    where_(is_positive, value, where_(is_zero, full_like(&p, 0.0), outside(&p, &q))).strong_if_array().done()
}

/// What an entropy is outside of its domain: NaN stays NaN.
fn outside(p: &Formula, q: &Formula) -> Formula {
    where_(is_nan(p) | is_nan(q), f64::NAN, full_like(p, f64::INFINITY))
}

/// The terms of the Kullback-Leibler divergence: `rel_entr(p, q) - p + q`.
///
/// Args:
///   p, q: arrays of real numbers that broadcast; integers become floating.
/// Returns: an array of the broadcast shape and the promoted dtype.
/// Raises:
///   TypeError: an argument is no array or number.
///   ValueError: shapes do not broadcast.
/// Differentiable: yes, where both are positive: `log(p / q)` and `1 - p / q`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.kl_div(1.0, 1.0))
///   0.0
#[public("scipy.special.kl_div(p, q)")]
pub fn kl_div(p: &Val, q: &Val) -> Result<Val> {
    check_real("kl_div", &[p, q])?;
    let ins = alike(&[p, q])?;
    let (p, q) = (of(&ins[0]), of(&ins[1]));
    let is_plain = p.gt(0) & q.gt(0);
    let (safe_p, safe_q) = (where_(&is_plain, &p, 1), where_(&is_plain, &q, 1));
    let plain = &safe_p * log(&safe_p / &safe_q) - &safe_p + &safe_q;
    where_(is_plain, plain, where_(p.is(0) & q.ge(0), &q, outside(&p, &q))).strong_if_array().done()
}

/// The Box-Cox transform: `(x**lmbda - 1) / lmbda`, the logarithm where `lmbda` is 0.
///
/// Args:
///   x: an array of real numbers; NaN where negative.
///   lmbda: exponents, which broadcast with `x`.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, and to `lmbda` where it is not 0, in both modes.
/// Example:
///   >>> float(jax.scipy.special.boxcox(3.0, 1.0))
///   2.0
#[public("scipy.special.boxcox(x, lmbda)")]
pub fn boxcox(x: &Val, lmbda: &Val) -> Result<Val> {
    let ins = promoted(&[x, lmbda])?;
    over(&log(&ins[0]), &of(&ins[1]))
}

/// The Box-Cox transform of `1 + x`, exact for small `x`.
///
/// Args:
///   x: an array of real numbers; NaN below -1.
///   lmbda: exponents, which broadcast with `x`.
/// Returns: an array of the broadcast shape and the promoted floating dtype.
/// Raises:
///   TypeError: an argument is no array or number, or shapes do not broadcast.
/// Differentiable: yes, with respect to `x`, and to `lmbda` where it is not 0, in both modes.
/// Example:
///   >>> float(jax.scipy.special.boxcox1p(2.0, 1.0))
///   2.0
#[public("scipy.special.boxcox1p(x, lmbda)")]
pub fn boxcox1p(x: &Val, lmbda: &Val) -> Result<Val> {
    let ins = promoted(&[x, lmbda])?;
    over(&log1p(&ins[0]), &of(&ins[1]))
}

/// `(exp(lmbda log) - 1) / lmbda`; the limit where `lmbda` is 0.
fn over(log: &Formula, lmbda: &Formula) -> Result<Val> {
    let is_zero = lmbda.is(0);
    let safe = where_(&is_zero, 1, lmbda);
    where_(is_zero, log, (&safe * log).then(numpy::expm1) / &safe).done()
}

/// The logarithm of the sum of exponentials over axes, without overflow.
///
/// Args:
///   a: an array of real or complex numbers; integers become floating.
///   axis: an axis or several to reduce; None for all.
///   b: factors of the exponentials, which broadcast with `a`.
///   keepdims: keep reduced axes with size 1.
///   return_sign: give the logarithm of the magnitude and the sign of the sum.
///   where: a mask of the elements that take part.
/// Returns: the logarithm, `-inf` of no elements, or the pair with the sign.
/// Raises:
///   ValueError: an axis out of bounds or twice.
///   TypeError: `a` is no array or number.
/// Differentiable: yes, with respect to `a` and `b`, in both modes.
/// Example:
///   >>> float(jax.scipy.special.logsumexp(jnp.zeros(1)))
///   0.0
#[public("scipy.special.logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None)")]
pub fn logsumexp(a: &Val, options: &LogSumExp, return_sign: bool) -> Result<OneOrTuple> {
    nn::logsumexp_or_both(a, options, return_sign)
}

/// Exponentials divided by their sum over axes, without overflow.
///
/// Args:
///   x: an array of numbers; integers become floating.
///   axis: an axis or several; None for all.
/// Returns: an array of the shape of `x`.
/// Raises:
///   ValueError: an axis out of bounds.
///   TypeError: `x` is no array or number.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jax.scipy.special.softmax(jnp.zeros(2)))
///   [0.5 0.5]
#[public("scipy.special.softmax(x, /, *, axis=None)")]
pub fn softmax(x: &Val, axis: &Axes) -> Result<Val> {
    nn::softmax(x, axis, None)
}

/// The logarithm of `softmax`, without overflow.
///
/// Args:
///   x: an array of numbers; integers become floating.
///   axis: an axis or several; None for all.
/// Returns: an array of the shape of `x`.
/// Raises:
///   ValueError: an axis out of bounds.
///   TypeError: `x` is no array or number.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jax.scipy.special.log_softmax(jnp.zeros(1)))
///   [0.]
#[public("scipy.special.log_softmax(x, /, *, axis=None)")]
pub fn log_softmax(x: &Val, axis: &Axes) -> Result<Val> {
    nn::log_softmax(x, axis, None)
}
