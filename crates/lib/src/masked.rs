//! Statistics and losses over the valid part of arrays: right values and finite gradients, also where nothing is valid.
//!
//! A mask is true where an element counts, and broadcasts to the shape of the array. What is not valid may hold anything, NaN
//! and infinity too: it is replaced before anything is computed, so that neither the value nor the gradient sees it.

use pullback_base::{DType, Result};
use pullback_derive::public;
use pullback_ir::Val;

use crate::axes::Axes;
use crate::broadcast::{broadcast_arrays, broadcast_to};
use crate::convert::{literal, number, to_dtype};
use crate::lax;
use crate::numpy::{self, Reduction, TakeOptions, add, exp, log, multiply, square, subtract, true_divide, where_};
use crate::promotion::promote_inexact;

/// The array as floating numbers, and its mask in its shape.
fn parts(x: &Val, mask: Option<&Val>) -> Result<(Val, Val)> {
    let x = promote_inexact(std::slice::from_ref(x))?.remove(0);
    let mask = full_mask(mask, &x.aval().shape)?;
    Ok((x, mask))
}

fn full_mask(mask: Option<&Val>, shape: &[usize]) -> Result<Val> {
    let truths = match mask {
        None => literal(DType::Bool, 1.0),
        Some(mask) => to_dtype(mask, DType::Bool)?,
    };
    broadcast_to(&truths, shape)
}

fn keep(x: &Val, mask: &Val) -> Result<Val> {
    where_(mask, x, &number(x, 0.0))
}

/// `x` where it is positive and 1 elsewhere, and where it is positive: what a division, root or logarithm of it can bear.
fn guarded(x: &Val) -> Result<(Val, Val)> {
    let is_there = lax::gt(x, &number(x, 0.0))?;
    Ok((where_(&is_there, x, &number(x, 1.0))?, is_there))
}

/// The quotient where there is something to divide by, else `empty`; without slopes there.
fn quotient(total: &Val, count: &Val, empty: f64) -> Result<Val> {
    let (count, is_there) = guarded(count)?;
    where_(&is_there, &true_divide(total, &count)?, &literal(total.aval().dtype, empty))
}

/// The square root whose slope at zero is 0.
fn root(square: &Val) -> Result<Val> {
    let (square, is_there) = guarded(square)?;
    keep(&numpy::sqrt(&square)?, &is_there)
}

fn sum(x: &Val, axis: &Axes, keepdims: bool) -> Result<Val> {
    numpy::sum(x, &Reduction::over(axis.clone(), keepdims))
}

/// How many elements count, in the real dtype of `like`.
fn count(mask: &Val, axis: &Axes, keepdims: bool, like: DType) -> Result<Val> {
    let dtype = Some(like.real());
    numpy::sum(mask, &Reduction { dtype, ..Reduction::over(axis.clone(), keepdims) })
}

/// Squared moduli, which are real.
fn squares(x: &Val) -> Result<Val> {
    match x.aval().dtype.is_complex() {
        true => numpy::real(&multiply(x, &numpy::conjugate(x)?)?),
        false => square(x),
    }
}

/// The greatest valid element along axes, as a constant; 0 where it is not finite.
fn shift(x: &Val, mask: &Val, axis: &Axes) -> Result<Val> {
    let lowest = number(x, f64::NEG_INFINITY);
    let greatest = Reduction { initial: Some(lowest.clone()), ..Reduction::over(axis.clone(), true) };
    let greatest = numpy::max(&where_(mask, x, &lowest)?, &greatest)?;
    lax::stop_gradient(&keep(&greatest, &numpy::isfinite(&greatest)?)?)
}

/// Exponentials of the valid elements of `x - shift`, 0 elsewhere.
fn weights(x: &Val, mask: &Val, shift: &Val) -> Result<Val> {
    keep(&exp(&keep(&subtract(x, shift)?, mask)?)?, mask)
}

/// The mean of the valid elements.
///
/// Args:
///   x: an array.
///   mask: true where an element counts.
///   axis: the axis or axes to reduce; all unless given.
///   keepdims: whether the reduced axes stay, with size 1.
///   empty: the value where nothing is valid.
/// Returns: the mean, of the dtype of `x`; `empty` where nothing is valid.
/// Raises:
///   ValueError: for an axis that is none, or a mask that does not fit.
/// Differentiable: yes; the gradient is 0 where `mask` is false, and where nothing is valid.
/// Example:
///   >>> jax.masked.mean(jnp.array([1.0, 3.0, jnp.nan]), jnp.array([True, True, False]))
///   Array(2., dtype=float32)
///   >>> jax.grad(lambda x: jax.masked.mean(x, jnp.zeros(2)))(jnp.ones(2))
///   Array([0., 0.], dtype=float32)
#[public("masked.mean(x: Convertible, mask: Convertible=None, axis=None, keepdims=False, empty=0.0)")]
pub fn mean(x: &Val, mask: Option<&Val>, axis: &Axes, keepdims: bool, empty: f64) -> Result<Val> {
    let (x, mask) = parts(x, mask)?;
    let total = sum(&keep(&x, &mask)?, axis, keepdims)?;
    quotient(&total, &count(&mask, axis, keepdims, x.aval().dtype)?, empty)
}

/// The variance of the valid elements.
///
/// Args:
///   x: an array; of a complex one the squared moduli are summed.
///   mask: true where an element counts.
///   axis: the axis or axes to reduce; all unless given.
///   ddof: what is subtracted from the number of valid elements in the divisor.
///   keepdims: whether the reduced axes stay, with size 1.
///   empty: the value where no more than `ddof` elements are valid.
/// Returns: the variance, real.
/// Raises:
///   ValueError: for an axis that is none, or a mask that does not fit.
/// Differentiable: yes; the gradient is 0 where `mask` is false.
/// Example:
///   >>> jax.masked.var(jnp.array([1.0, 3.0, 9.0]), jnp.array([True, True, False]))
///   Array(1., dtype=float32)
#[public("masked.var(x: Convertible, mask: Convertible=None, axis=None, ddof=0, keepdims=False, empty=0.0)")]
pub fn var(x: &Val, mask: Option<&Val>, axis: &Axes, ddof: f64, keepdims: bool, empty: f64) -> Result<Val> {
    let (x, mask) = parts(x, mask)?;
    let center = mean(&x, Some(&mask), axis, true, 0.0)?;
    let total = sum(&squares(&keep(&subtract(&x, &center)?, &mask)?)?, axis, keepdims)?;
    let count = count(&mask, axis, keepdims, x.aval().dtype)?;
    quotient(&total, &subtract(&count, &number(&count, ddof))?, empty)
}

/// The standard deviation of the valid elements; its gradient is 0 where it is 0.
///
/// Args:
///   x: an array.
///   mask: true where an element counts.
///   axis: the axis or axes to reduce; all unless given.
///   ddof: what is subtracted from the number of valid elements in the divisor.
///   keepdims: whether the reduced axes stay, with size 1.
///   empty: the value where no more than `ddof` elements are valid.
/// Returns: the standard deviation, real.
/// Raises:
///   ValueError: for an axis that is none, or a mask that does not fit.
/// Differentiable: yes, also where all valid elements are equal.
/// Example:
///   >>> jax.grad(jax.masked.std)(jnp.ones(3))
///   Array([0., 0., 0.], dtype=float32)
#[public("masked.std(x: Convertible, mask: Convertible=None, axis=None, ddof=0, keepdims=False, empty=0.0)")]
pub fn std(x: &Val, mask: Option<&Val>, axis: &Axes, ddof: f64, keepdims: bool, empty: f64) -> Result<Val> {
    let variance = var(x, mask, axis, ddof, keepdims, 0.0)?;
    let count = count(&full_mask(mask, &x.aval().shape)?, axis, keepdims, variance.aval().dtype)?;
    let is_there = lax::gt(&count, &number(&count, ddof))?;
    where_(&is_there, &root(&variance)?, &literal(variance.aval().dtype, empty))
}

/// The logarithm of the sum of exponentials of the valid elements.
///
/// Args:
///   x: a real array.
///   mask: true where an element counts.
///   axis: the axis or axes to reduce; all unless given.
///   keepdims: whether the reduced axes stay, with size 1.
/// Returns: the logarithm; that of nothing, minus infinity, where nothing is valid.
/// Raises:
///   ValueError: for an axis that is none, or a mask that does not fit.
/// Differentiable: yes; the gradient is the softmax of the valid elements, and 0 where nothing is valid.
/// Example:
///   >>> jax.masked.logsumexp(jnp.array([0.0, 0.0, jnp.inf]), jnp.array([True, True, False]))
///   Array(0.6931472, dtype=float32)
#[public("masked.logsumexp(x: Convertible, mask: Convertible=None, axis=None, keepdims=False)")]
pub fn logsumexp(x: &Val, mask: Option<&Val>, axis: &Axes, keepdims: bool) -> Result<Val> {
    let (x, mask) = parts(x, mask)?;
    let shift = shift(&x, &mask, axis)?;
    let total = sum(&weights(&x, &mask, &shift)?, axis, true)?;
    let (total, has_sum) = guarded(&total)?;
    let logarithm = add(&log(&total)?, &shift)?;
    let out = where_(&has_sum, &logarithm, &number(&logarithm, f64::NEG_INFINITY))?;
    if keepdims { Ok(out) } else { numpy::squeeze(&out, axis) }
}

/// Exponentials of the valid elements, divided by their sum.
///
/// Args:
///   x: a real array.
///   mask: true where an element counts.
///   axis: the axis or axes along which the result sums to 1.
/// Returns: the weights: 0 where `mask` is false, and everywhere where nothing is valid.
/// Raises:
///   ValueError: for an axis that is none, or a mask that does not fit.
/// Differentiable: yes; the gradient is 0 where nothing is valid.
/// Example:
///   >>> jax.masked.softmax(jnp.array([1.0, 1.0, jnp.nan]), jnp.array([True, True, False]))
///   Array([0.5, 0.5, 0. ], dtype=float32)
#[public("masked.softmax(x: Convertible, mask: Convertible=None, axis=-1)")]
pub fn softmax(x: &Val, mask: Option<&Val>, axis: &Axes) -> Result<Val> {
    let (x, mask) = parts(x, mask)?;
    let weights = weights(&x, &mask, &shift(&x, &mask, axis)?)?;
    quotient(&weights, &sum(&weights, axis, true)?, 0.0)
}

/// The Euclidean norm of the valid elements; its gradient at zero is 0.
///
/// Args:
///   x: an array.
///   mask: true where an element counts.
///   axis: the axis or axes to reduce; all unless given.
///   keepdims: whether the reduced axes stay, with size 1.
/// Returns: the norm, real; 0 where nothing is valid.
/// Raises:
///   ValueError: for an axis that is none, or a mask that does not fit.
/// Differentiable: yes, also at zero.
/// Example:
///   >>> jax.grad(jax.masked.norm)(jnp.zeros(2))
///   Array([0., 0.], dtype=float32)
#[public("masked.norm(x: Convertible, mask: Convertible=None, axis=None, keepdims=False)")]
pub fn norm(x: &Val, mask: Option<&Val>, axis: &Axes, keepdims: bool) -> Result<Val> {
    let (x, mask) = parts(x, mask)?;
    root(&sum(&squares(&keep(&x, &mask)?)?, axis, keepdims)?)
}

/// The cosine of the angle between two vectors, of their valid elements.
///
/// Args:
///   a: a real array.
///   b: a real array that broadcasts with `a`.
///   mask: true where an element of both counts.
///   axis: the axis or axes of the vectors.
///   keepdims: whether the reduced axes stay, with size 1.
/// Returns: the cosine; 0 where either vector is zero or nothing is valid.
/// Raises:
///   ValueError: for an axis that is none, or shapes that do not fit.
/// Differentiable: yes, also at zero vectors, where the gradient is 0.
/// Example:
///   >>> jax.masked.cosine_similarity(jnp.array([1.0, 0.0]), jnp.array([1.0, 1.0]))
///   Array(0.70710677, dtype=float32)
#[public("masked.cosine_similarity(a: Convertible, b: Convertible, mask: Convertible=None, axis=-1, keepdims=False)")]
pub fn cosine_similarity(a: &Val, b: &Val, mask: Option<&Val>, axis: &Axes, keepdims: bool) -> Result<Val> {
    let both = broadcast_arrays(&promote_inexact(&[a.clone(), b.clone()])?)?;
    let mask = full_mask(mask, &both[0].aval().shape)?;
    let (a, b) = (keep(&both[0], &mask)?, keep(&both[1], &mask)?);
    let lengths = multiply(&norm(&a, None, axis, keepdims)?, &norm(&b, None, axis, keepdims)?)?;
    quotient(&sum(&multiply(&a, &b)?, axis, keepdims)?, &lengths, 0.0)
}

/// The mean cross entropy of integer labels over the valid examples.
///
/// Args:
///   logits: a real array, whose `axis` has an entry for each class.
///   labels: whole numbers, of the shape of `logits` without `axis`; any number, -1 too, where an example is not valid.
///   mask: true where an example counts, of the shape of `labels`; or of that of `logits` where there is no
///     `classes`, which it then is.
///   axis: the axis of the classes.
///   classes: true where a class counts, of a shape that broadcasts to that of `logits`.
/// Returns: the mean of -log softmax(logits)[label]; 0 where no example is valid.
/// Raises:
///   ValueError: for an axis that is none, or shapes that do not fit.
/// Differentiable: yes, in `logits`; the gradient is 0 for examples that are not valid.
/// Example:
///   >>> jax.masked.cross_entropy(jnp.zeros((2, 4)), jnp.array([3, -1]), jnp.array([True, False]))
///   Array(1.3862944, dtype=float32)
#[public(
    "masked.cross_entropy(logits: Convertible, labels: Convertible, mask: Convertible=None, axis=-1, classes: Convertible=None)"
)]
pub fn cross_entropy(logits: &Val, labels: &Val, mask: Option<&Val>, axis: i64, classes: Option<&Val>) -> Result<Val> {
    let shape = logits.aval().shape.clone();
    let (mask, classes) = match mask {
        Some(mask) if classes.is_none() && mask.aval().rank() == shape.len() => (None, Some(mask)),
        _ => (mask, classes),
    };
    let last = |x: &Val| numpy::moveaxis(x, &[axis], &[-1]);
    let classes = last(&full_mask(classes, &shape)?)?;
    let logits = last(&promote_inexact(std::slice::from_ref(logits))?[0])?;
    let examples = full_mask(mask, &labels.aval().shape)?;
    let of_example = numpy::expand_dims(&examples, &[-1])?;
    let counted = numpy::logical_or(&numpy::logical_not(&of_example)?, &classes)?;
    let filtered = keep(&logits, &numpy::logical_and(&of_example, &classes)?)?;
    let chosen = numpy::expand_dims(&keep(labels, &examples)?, &[-1])?;
    let own = numpy::take_along_axis(&filtered, &chosen, Some(-1), TakeOptions::default())?;
    let total = logsumexp(&filtered, Some(&counted), &Axes::One(-1), false)?;
    mean(&subtract(&total, &numpy::squeeze(&own, &Axes::One(-1))?)?, Some(&examples), &Axes::All, false, 0.0)
}
