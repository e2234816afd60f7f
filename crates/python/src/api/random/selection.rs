//! Random integers, truth values, orders, and choices.
#![allow(clippy::too_many_arguments, reason = "numbers of parameters are the reference's")]

use pullback_lib::convert::{default_int, weak_float};
use pullback_lib::random::{self, Choice, Mode, Population};
use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::{Key, ONE, Object, check_options, dtype_or, mode_of, sizes};
use crate::api::arguments::{ShapeArg, one, operand, optional};
use crate::dtypes::DTypeArg;
use crate::errors::type_error;
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; randint bernoulli permutation choice categorical);
    Ok(())
}

/// Uniform integers from `minval` up to but not including `maxval`.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result.
///   minval: lower bounds, broadcast to `shape`.
///   maxval: upper bounds, broadcast to `shape`; where they are not above the lower ones, the result is `minval`.
///   dtype: an integer dtype; int32 by default, int64 with x64. Bounds beyond it are moved into its range.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or the dtype is not of integers.
///   ValueError: several keys are given, or bounds do not broadcast.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: no, there are no tangents of integers.
/// Example:
///   >>> jax.random.randint(jax.random.key(0), (4,), 0, 10)
///   Array([9, 0, 2, 3], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (key, shape, minval, maxval, dtype=None, *, out_sharding=None),
    text_signature = "(key, shape, minval, maxval, dtype=None, *, out_sharding=None)"
)]
fn randint(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let (minval, maxval) = (minval.val(py, "randint", 2)?, maxval.val(py, "randint", 3)?);
    let dtype = dtype_or(py, dtype, "randint", default_int())?;
    one(py, || {
        check_options("randint", out_sharding, None)?;
        random::randint(&key.0, &shape.sizes()?, &minval, &maxval, dtype)
    })
}

/// Booleans that hold with probability `p`: whether a uniform number is below it.
///
/// Args:
///   key: a key, typed or of two words.
///   p: floating probabilities; from 1 on all hold, up to 0 none.
///   shape: the shape of the result, to which `p` broadcasts; its shape by default.
///   mode: 'low' takes one word for each; 'high' takes two, which matters for tiny probabilities.
///   out_sharding: not served; None.
/// Returns: booleans of `shape`.
/// Raises:
///   TypeError: `key` is no key, or `p` is not floating.
///   ValueError: several keys are given, shapes do not go together, or the mode is unknown.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: no, the result is boolean.
/// Example:
///   >>> jax.random.bernoulli(jax.random.key(0), 1.0, (2,))
///   Array([ True,  True], dtype=bool)
#[pyfunction]
#[pyo3(
    signature = (key, p=None, shape=None, mode="low", *, out_sharding=None),
    text_signature = "(key, p=0.5, shape=None, mode='low', *, out_sharding=None)"
)]
fn bernoulli(
    py: Python<'_>,
    key: Key,
    p: Option<ArrayLike>,
    shape: Option<ShapeArg>,
    mode: &str,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let p = optional(py, p, "bernoulli", 1)?.unwrap_or_else(|| weak_float(0.5));
    one(py, || {
        check_options("bernoulli", out_sharding, None)?;
        random::bernoulli(&key.0, &p, sizes(shape)?.as_deref(), Mode::parse(mode)?)
    })
}

/// What is permuted or chosen from: integers count, arrays have parts. A concrete scalar array is its integer.
fn population(obj: &Bound<'_, PyAny>, function: &str, argument: &str) -> PyResult<Population> {
    if obj.is_instance_of::<PyInt>() {
        // As an array it would be of the default integers.
        operand(obj, function, 1)?;
        return Ok(Population::Below(obj.extract()?));
    }
    let val = operand(obj, function, 1)?;
    let aval = val.aval();
    if aval.rank() > 0 {
        return Ok(Population::Array(val));
    }
    if !aval.dtype.is_integer() {
        return Err(type_error(format!("{argument} must be an integer or at least 1-dimensional")));
    }
    obj.call_method0("__index__")?.extract().map(Population::Below)
}

/// The integers below `x`, or the parts of the array `x` along an axis, in random order.
///
/// Args:
///   key: a key, typed or of two words.
///   x: an integer, or an array of at least one axis.
///   axis: the axis that is put in order, negative counted from the end.
///   independent: whether each line along the axis gets an order of its own.
///   out_sharding: not served; None.
/// Returns: an array like `x`, or of integers below it.
/// Raises:
///   TypeError: `key` is no key, or `x` is a scalar but no integer.
///   ValueError: several keys are given, or the axis is out of bounds.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: in an array `x`, linear.
/// Example:
///   >>> jax.random.permutation(jax.random.key(0), 4)
///   Array([0, 1, 3, 2], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (key, x, axis=0, independent=false, *, out_sharding=None),
    text_signature = "(key, x, axis=0, independent=False, *, out_sharding=None)"
)]
fn permutation(
    py: Python<'_>,
    key: Key,
    x: &Bound<'_, PyAny>,
    axis: i64,
    independent: bool,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let population = population(x, "permutation", "x")?;
    one(py, || {
        check_options("permutation", out_sharding, None)?;
        random::permutation(&key.0, &population, axis, independent)
    })
}

/// Random integers below `a`, or random parts of the array `a` along an axis.
///
/// Args:
///   key: a key, typed or of two words.
///   a: a positive integer, or an array of at least one axis.
///   shape: the shape of the sample; one by default.
///   replace: whether one thing may be drawn more than once.
///   p: probabilities of the things, a vector; equal by default.
///   axis: the axis of the things, negative counted from the end.
///   mode: with `p`, 'low' or 'high', as `gumbel` takes it for draws without replacement.
/// Returns: int32 of `shape`, or an array like `a` with `shape` in place of the axis.
/// Raises:
///   TypeError: `key` is no key, or `a` is a scalar but no integer.
///   ValueError: several keys are given, there is nothing to draw from, more is drawn without replacement than there
///     is, or `p` has another shape.
/// Differentiable: in an array `a`, linear; not in `p`.
/// Example:
///   >>> jax.random.choice(jax.random.key(0), 5, (3,), replace=False)
///   Array([0, 1, 4], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (key, a, shape=None, replace=true, p=None, axis=0, mode=None),
    text_signature = "(key, a, shape=(), replace=True, p=None, axis=0, mode=None)"
)]
fn choice(
    py: Python<'_>,
    key: Key,
    a: &Bound<'_, PyAny>,
    shape: Option<&Bound<'_, PyAny>>,
    replace: bool,
    p: Option<ArrayLike>,
    axis: i64,
    mode: Option<&str>,
) -> PyResult<Py<PyAny>> {
    if let Some(shape) = shape.filter(|shape| shape.is_instance_of::<PyInt>()) {
        return Err(type_error(format!(
            "shape argument of jax.random.choice must be a sequence, got {}",
            shape.repr()?
        )));
    }
    let shape = shape.map_or(Ok(ONE), |shape| shape.extract::<ShapeArg>())?;
    let population = population(a, "choice", "a")?;
    let p = optional(py, p, "choice", 4)?;
    one(py, || {
        let options = Choice { shape: shape.sizes()?, replace, p, axis, mode: mode_of(mode)? };
        random::choice(&key.0, &population, &options)
    })
}

/// Positions along an axis, with probabilities proportional to the exponentials of `logits`: the places of the
/// greatest sum of logit and Gumbel noise.
///
/// Args:
///   key: a key, typed or of two words.
///   logits: floating array of logarithms of weights; minus infinity is never drawn.
///   axis: the axis of the categories, negative counted from the end.
///   shape: the shape of the result, which ends with that of the batch, the other axes of `logits`; the latter by
///     default.
///   replace: whether draws along the axes that `shape` adds may repeat.
///   mode: 'low', the default, or 'high', as `gumbel` takes it.
///   out_sharding: not served; None.
/// Returns: int32 of `shape`.
/// Raises:
///   TypeError: `key` is no key.
///   ValueError: several keys are given, the axis is out of bounds, shapes do not go together, the mode is unknown,
///     logits are integers, or more is drawn without replacement than there are categories.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: no, positions are integers.
/// Example:
///   >>> jax.random.categorical(jax.random.key(0), jnp.array([-jnp.inf, 0.0]), shape=(3,))
///   Array([1, 1, 1], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (key, logits, axis=-1, shape=None, replace=true, mode=None, *, out_sharding=None),
    text_signature = "(key, logits, axis=-1, shape=None, replace=True, mode=None, *, out_sharding=None)"
)]
fn categorical(
    py: Python<'_>,
    key: Key,
    logits: ArrayLike,
    axis: i64,
    shape: Option<ShapeArg>,
    replace: bool,
    mode: Option<&str>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let logits = logits.val(py, "categorical", 1)?;
    one(py, || {
        check_options("categorical", out_sharding, None)?;
        random::categorical(&key.0, &logits, axis, sizes(shape)?.as_deref(), replace, mode_of(mode)?)
    })
}
