//! Discrete distributions: signs, categories, counts.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::continuous::{coin, gumbel, sample_shape};
use super::key::checked_key;
use super::uniform::{Mode, statics, uniform_unit};
use crate::convert::{default_int, number, to_dtype, weak_int};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy::{add, multiply, subtract, where_};

/// -1 or 1, equally likely.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: any numeric dtype; int32 by default.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> jax.random.rademacher(jax.random.key(0), (4,))
///   Array([-1, -1,  1,  1], dtype=int32)
#[public("random.rademacher(key: Key, shape=(), dtype: IntByDefault=None, *, out_sharding: Sharded=None)")]
pub fn rademacher(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("rademacher", key)?;
    named_jit_one("_rademacher", &statics(shape, dtype), &[key], |ins| {
        let heads = to_dtype(&coin(&ins[0], shape)?, dtype)?;
        to_dtype(&subtract(&multiply(&weak_int(2), &heads)?, &weak_int(1))?, dtype)
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
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: int32 of `shape`.
/// Raises:
///   TypeError: `key` is no key.
///   ValueError: several keys are given, the axis is out of bounds, shapes do not go together, the mode is unknown,
///     logits are integers, or more is drawn without replacement than there are categories.
/// Differentiable: no, positions are integers.
/// Example:
///   >>> jax.random.categorical(jax.random.key(0), jnp.array([-jnp.inf, 0.0]), shape=(3,))
///   Array([1, 1, 1], dtype=int32)
#[public(
    "random.categorical(key: Key, logits, axis=-1, shape=None, replace=True, mode=None, *, out_sharding: Sharded=None)"
)]
pub fn categorical(
    key: &Val,
    logits: &Val,
    axis: i64,
    shape: Option<&[usize]>,
    replace: bool,
    mode: Option<Mode>,
) -> Result<Val> {
    let key = checked_key("categorical", key)?;
    let aval = logits.aval();
    let at = crate::axes::canonical_axis(axis, aval.rank())?;
    let mut batch = aval.shape.to_vec();
    let n_categories = batch.remove(at);
    let shape = shape.map_or_else(|| batch.clone(), <[usize]>::to_vec);
    check_batch(&shape, &batch)?;
    let n_prefix = shape.len() - batch.len();
    if !replace {
        return without_replacement(&key, logits, at, &shape, n_prefix, mode);
    }
    let mut noise_shape = shape.clone();
    noise_shape.insert(n_prefix + at, n_categories);
    let noise = gumbel(&key, &noise_shape, aval.dtype, mode)?;
    let logits = lax::expand_axes(logits, &(0..n_prefix).collect::<Vec<_>>())?;
    lax::argmax(&add(&noise, &logits)?, n_prefix + at, default_int())
}

fn check_batch(shape: &[usize], batch: &[usize]) -> Result<()> {
    let result = crate::broadcast::broadcast_shapes(&[shape, batch])?;
    if result[..] == *shape {
        return Ok(());
    }
    bail!(
        Value,
        "categorical parameter shapes must be broadcast-compatible with shape argument, and the result of broadcasting \
         the shapes must equal the shape argument, but got result {} for shape argument {}.",
        tuple_text(&result),
        tuple_text(shape)
    )
}

/// The first of the categories in a random order that respects the weights.
fn without_replacement(
    key: &Val,
    logits: &Val,
    axis: usize,
    shape: &[usize],
    n_prefix: usize,
    mode: Option<Mode>,
) -> Result<Val> {
    let aval = logits.aval();
    let n_draws: usize = pullback_base::extent(&shape[..n_prefix]);
    if n_draws > aval.shape[axis] {
        bail!(
            Value,
            "Number of samples without replacement ({n_draws}) cannot exceed number of categories ({}).",
            aval.shape[axis]
        );
    }
    let noisy = add(logits, &gumbel(key, &aval.shape, aval.dtype, mode)?)?;
    let last = aval.rank() - 1;
    let order: Vec<usize> = (0..aval.rank()).filter(|&i| i != axis).chain([axis]).collect();
    let drawn = lax::top_k(&lax::transpose(&noisy, &order)?, n_draws, last)?.swap_remove(1);
    let draws_first: Vec<usize> = std::iter::once(last).chain(0..last).collect();
    lax::reshape(&lax::transpose(&drawn, &draws_first)?, shape, None)
}

/// Numbers of trials up to the first success, itself counted: k with probability `(1 - p)**(k - 1) p`.
///
/// Args:
///   key: a key, typed or of two words.
///   p: probabilities from 0 to 1; 0 gives the greatest integer.
///   shape: the shape of the result, to which `p` broadcasts; its shape by default.
///   dtype: an integer dtype; int32 by default, int64 with x64.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or the dtype is not of integers.
///   ValueError: several keys are given, or shapes do not go together.
/// Differentiable: no, counts are integers.
/// Example:
///   >>> jax.random.geometric(jax.random.key(0), 1.0, (3,))
///   Array([1, 1, 1], dtype=int32)
#[public("random.geometric(key: Key, p, shape=None, dtype: IntByDefault=None, *, out_sharding: Sharded=None)")]
pub fn geometric(key: &Val, p: &Val, shape: Option<&[usize]>, dtype: DType) -> Result<Val> {
    let key = checked_key("geometric", key)?;
    if !dtype.is_integer() {
        bail!(Value, "dtype argument to `geometric` must be an int dtype, got {dtype}");
    }
    let shape = sample_shape("geometric", shape, &[p])?;
    named_jit_one("_geometric", &statics(&shape, dtype), &[key, p.clone()], |ins| {
        let p = crate::promotion::promote_inexact(&ins[1..])?.swap_remove(0);
        let unit = uniform_unit(&ins[0], &shape, p.aval().dtype)?;
        let is_zero = lax::eq(&unit, &number(&unit, 0.0))?;
        let log = lax::log(&where_(&is_zero, &weak_int(1), &unit)?)?;
        let rate = crate::broadcast::broadcast_to(&lax::log1p(&lax::neg(&p)?)?, &shape)?;
        let n_failures = lax::floor(&lax::div(&log, &to_dtype(&rate, log.aval().dtype)?)?)?;
        to_dtype(&lax::add(&n_failures, &number(&n_failures, 1.0))?, dtype)
    })
}
