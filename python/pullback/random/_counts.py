"""Samples of counts: the Poisson, binomial and multinomial distributions.

Each is made by rejection from uniform numbers in loops that run until every element has accepted one, so a sample depends
on the shape of its array. Which key gives which uniform number is JAX's, so that samples have its values.
"""

import math as _math
from functools import partial as _partial

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback._jit import jit as _jit

_n, _r = _core.numpy, _core.random


def _float_max(dtype):
    return float(_np.finfo(dtype).max) if dtype.kind == "f" else float(_n.finfo(dtype).max)


def _broadcast_shape(name, shape, *parameters):
    """The shape that was asked for, to which the parameters must broadcast, or theirs."""
    shapes = [_n.shape(x) for x in parameters]
    if shape is None:
        return _n.broadcast_shapes(*shapes)
    shape = tuple(int(size) for size in shape) if not isinstance(shape, int) else (shape,)
    found = _n.broadcast_shapes(shape, *shapes)
    if found != shape:
        raise _user_error(
            ValueError,
            f"{name} parameter shapes must be broadcast-compatible with shape argument, and the result of broadcasting the "
            f"shapes must equal the shape argument, but got result {found} for shape argument {shape}."
        )
    return shape


def check_method(name, method):
    """Raises for a method of sampling that is unknown or not served."""
    if method == "approximate":
        raise _user_error(NotImplementedError, f"method='approximate' of jax.random.{name} is not implemented; use method='exact'")
    if method != "exact":
        raise _user_error(ValueError, f"method argument to `{name}` must be one of {{'exact', 'approximate'}}, got {method!r}")


def poisson(key, lam, shape=None, dtype=None, *, method="exact", out_sharding=None):
    """Numbers of events of a Poisson process, with probability `lam**k exp(-lam) / k!`.

    Rates below 10 multiply uniform numbers until the product is below `exp(-lam)` (Knuth); others take the transformed
    rejection of Hörmann (The transformed rejection method for generating Poisson random variables, 1993).

    Args:
      key: a key, typed or of two words.
      lam: the rates: real numbers; they broadcast to `shape`. 0 gives 0; NaN and negative rates give -1.
      shape: the shape of the result; that of `lam` by default.
      dtype: an integer dtype, int32 by default.
      method: only 'exact' is served.
      out_sharding: None, or a sharding that splits nothing over devices.
    Returns: an array of `shape` and `dtype`.
    Raises:
      TypeError: `key` is no key.
      ValueError: several keys are given, the dtype is not of integers, shapes do not go together, or the method is
        unknown.
      NotImplementedError: the method is 'approximate', or the key is of another generator than threefry2x32.
    Differentiable: no, counts are integers.
    Example:
      >>> jax.random.poisson(jax.random.key(0), jnp.zeros(3))
      Array([0, 0, 0], dtype=int32)
    """
    key = _r.checked_key("poisson", key)
    check_method("poisson", method)
    if key.dtype.name != "key<fry>":
        tag = key.dtype.name[4:-1]
        raise _user_error(NotImplementedError, f"`poisson` with method='exact' is only implemented for the threefry2x32 RNG, not {tag}")
    if out_sharding is not None:
        from pullback._out_sharding import check_out_sharding

        check_out_sharding("poisson", out_sharding)
    dtype = _core.as_dtype(dtype if dtype is not None else int)
    if dtype.kind not in "iu":
        raise _user_error(ValueError, f"Invalid integer data type {dtype.kind!r}.")
    shape = _n.shape(lam) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    lam = _n.broadcast_to(lax.convert_element_type(lam, _np.float32), shape)
    return _poisson(key, lam, shape, dtype)


@_partial(_jit, static_argnums=(2, 3))
def _poisson(key, lam, shape, dtype):
    # A rate of NaN ends Knuth's loop at once; that of the other loop must be one that it can accept.
    is_small = _n.isnan(lam) | (lam < 10)
    few = lax.select(is_small, lam, lax.full_like(lam, 0.0))
    many = lax.select(is_small, lax.full_like(lam, 1e5), lam)
    max_steps = int(_np.iinfo(dtype).max)
    counts = lax.select(is_small, _poisson_knuth(key, few, shape, dtype, max_steps), _poisson_rejection(key, many, shape, dtype, max_steps))
    return lax.select(lam == 0, lax.full_like(counts, 0), counts)


@_partial(_jit, static_argnums=(2, 3, 4))
def _poisson_knuth(key, lam, shape, dtype, max_steps):
    def goes_on(carry):
        i, _, _, log_product = carry
        return (log_product > -lam).any() & (i < max_steps)

    def step(carry):
        i, count, key, log_product = carry
        key, own = _two_keys(key)
        count = lax.select(log_product > -lam, count + 1, count)
        unit = _r.uniform(own, shape, _np.float32)
        return i + 1, count, key, log_product + _n.log(unit)

    start = (0, lax.full_like(lam, 0, dtype, shape), key, lax.full_like(lam, 0, _np.float32, shape))
    return (lax.while_loop(goes_on, step, start)[1] - 1).astype(dtype)


def _two_keys(key):
    return tuple(_r.split(key))


@_partial(_jit, static_argnums=(2, 3, 4))
def _poisson_rejection(key, lam, shape, dtype, max_steps):
    log_lam = lax.log(lam)
    b = 0.931 + 2.53 * lax.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    squeeze = 0.9277 - 3.6224 / (b - 2)

    def step(carry):
        i, found, is_done, key = carry
        key, key_u, key_v = tuple(_r.split(key, 3))
        u = _r.uniform(key_u, shape, lam.dtype) - 0.5
        v = _r.uniform(key_v, shape, lam.dtype)
        distance = 0.5 - abs(u)
        count = lax.floor((2 * a / distance + b) * u + lam + 0.43)
        log_ratio = lax.log(v * inverse_alpha / (a / (distance * distance) + b))
        bound = -lam + count * log_lam - lax.lgamma(count + 1)
        is_inside = (distance >= 0.07) & (v <= squeeze)
        is_outside = (count < 0) | ((distance < 0.013) & (v > distance))
        accepts = is_inside | (~is_outside & (log_ratio <= bound))
        return i + 1, lax.select(accepts, count, found), is_done | accepts, key

    def goes_on(carry):
        i, _, is_done, _ = carry
        return (~is_done).any() & (i < max_steps)

    start = (0, lax.full_like(lam, -1, lam.dtype, shape), lax.full_like(lam, False, _np.bool_, shape), key)
    return lax.while_loop(goes_on, step, start)[1].astype(dtype)


def binomial(key, n, p, shape=None, dtype=None):
    """Numbers of successes in `n` trials of probability `p`.

    Means of at most 10 (of the rarer outcome) add up waiting times of the geometric distribution; others take the
    transformed rejection of Hörmann (The generation of binomial random variates, 1993).

    Args:
      key: a key, typed or of two words.
      n: numbers of trials; real numbers; negative ones and NaN give NaN.
      p: probabilities; numbers outside of 0 to 1 give NaN. `n` and `p` broadcast to `shape`.
      shape: the shape of the result; that of `n` and `p` together by default.
      dtype: a floating dtype, float32 by default.
    Returns: counts as floating numbers, of `shape` and `dtype`.
    Raises:
      TypeError: `key` is no key.
      ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
    Differentiable: no; the derivative of counts is 0.
    Example:
      >>> jax.random.binomial(jax.random.key(0), 10, jnp.array([0.0, 1.0]))
      Array([ 0., 10.], dtype=float32)
    """
    key = _r.checked_key("binomial", key)
    dtype = _core.as_dtype(dtype if dtype is not None else float)
    if not _is_floating(dtype):
        raise _user_error(ValueError, f"dtype argument to `binomial` must be a float dtype, got {dtype}")
    shape = _broadcast_shape("binomial", shape, n, p)
    # Drawn in the dtype of the parameters, as the reference does; narrow floats there could count no further than a few.
    n, p = _n._promote_inexact("binomial", n, p)
    drawn = n.dtype if n.dtype.itemsize >= 2 else _np.dtype(_np.float32)
    n, p = (_n.broadcast_to(x.astype(drawn), shape) for x in (n, p))
    return _binomial(key, n, p, shape, drawn).astype(dtype)


def _is_floating(dtype):
    return dtype.kind == "f" or "float" in dtype.name


def _binomial(key, n, p, shape, dtype):
    is_rare = p < 0.5
    q = lax.select(is_rare, p, 1.0 - p)
    has_no_n = _n.isnan(n) | (n < 0.0)
    is_endless = _n.isinf(n)
    has_no_q = _n.isnan(q) | (q < 0.0)
    q = lax.select(has_no_q, lax.full_like(q, 0.01), q)
    is_few = has_no_n | (n * q <= 10.0)
    whole = lax.floor(n)
    few, many = lax.select(is_few, whole, lax.full_like(n, 0.0)), lax.select(is_few, lax.full_like(n, 1e4), whole)
    many_q = lax.select(is_few, lax.full_like(q, 0.5), q)
    max_steps = float(_np.finfo(_np.float32).max) if dtype.itemsize <= 4 else float(_np.finfo(dtype).max)
    by_waiting = _binomial_waiting(key, few, q, shape, dtype, max_steps)
    by_rejection = _binomial_rejection(key, many, many_q, shape, dtype, max_steps)
    counts = lax.select(is_few, by_waiting, by_rejection)
    is_invalid = has_no_q | _n.isnan(q) | has_no_n
    counts = lax.select(is_invalid, lax.full_like(counts, _np.nan), counts)
    counts = lax.select(is_endless & ~is_invalid, lax.full_like(counts, _np.inf), counts)
    return lax.select(is_rare | has_no_n | has_no_q | is_endless, counts, whole - counts)


def _binomial_waiting(key, n, q, shape, dtype, max_steps):
    """Successes whose waiting times, each of the geometric distribution, add up to at most `n`."""
    log_miss = lax.log1p(-q)

    def goes_on(carry):
        i, _, total, _ = carry
        return (total <= n).any() & (i < max_steps)

    def step(carry):
        i, count, total, key = carry
        own, key = _two_keys(key)
        count = lax.select(total <= n, count + 1, count)
        wait = lax.ceil(lax.log(_r.uniform(own, shape, dtype)) / log_miss)
        return i + 1, count, total + wait, key

    start = (0, lax.full_like(q, 0, dtype, shape), lax.full_like(q, 0, dtype, shape), key)
    return lax.while_loop(goes_on, step, start)[1] - 1


# What Stirling's formula lacks: log(k!) less the logarithm of sqrt(2 pi) (k + 1)**(k + 1/2) exp(-k - 1), for k below 10.
_STIRLING_TAILS = tuple(
    _math.lgamma(k + 1) - (0.5 * _math.log(2 * _math.pi) + (k + 0.5) * _math.log(k + 1) - (k + 1)) for k in range(10)
)


def _stirling_tail(k):
    """What Stirling's formula lacks for `log(k!)`: a table for few, a series for many."""
    tails = _n.array(_STIRLING_TAILS, dtype=k.dtype)
    is_few = k <= 9
    k = lax.clamp(_np.array(0.0, k.dtype), k, _np.array(9.0, k.dtype))
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return lax.select(is_few, tails[lax.floor(k).astype(_np.int32)], series)


def _binomial_rejection(key, n, q, shape, dtype, max_steps):
    deviation = _n.sqrt(n * q * (1 - q))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * q
    centre = n * q + 0.5
    squeeze = 0.92 - 4.2 / b
    odds = q / (1 - q)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = lax.floor((n + 1) * q)

    def step(carry):
        i, found, is_done, key = carry
        key, key_u, key_v = tuple(_r.split(key, 3))
        u, v = _r.uniform(key_u, shape, dtype), _r.uniform(key_v, shape, dtype)
        u = u - 0.5
        distance = 0.5 - abs(u)
        is_inside = (distance >= 0.07) & (v <= squeeze)
        count = lax.floor((2 * a / distance + b) * u + centre)
        is_outside = (count < 0) | (count > n)
        log_ratio = lax.log(v * alpha / (a / (distance * distance) + b))
        bound = (
            (mode + 0.5) * lax.log((mode + 1) / (odds * (n - mode + 1))) + (n + 1) * lax.log((n - mode + 1) / (n - count + 1))
            + (count + 0.5) * lax.log(odds * (n - count + 1) / (count + 1))
            + _stirling_tail(mode) + _stirling_tail(n - mode) - _stirling_tail(count) - _stirling_tail(n - count)
        )
        accepts = is_inside | (~is_outside & (log_ratio <= bound))
        return i + 1, lax.select(accepts, count, found), is_done | accepts, key

    def goes_on(carry):
        i, _, is_done, _ = carry
        return (~is_done).any() & (i < max_steps)

    start = (0, lax.full_like(q, -1, dtype, shape), lax.full_like(q, False, _np.bool_, shape), key)
    return lax.while_loop(goes_on, step, start)[1]


def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """Counts of categories among `n` draws: each in turn is binomial among the draws that are left.

    Args:
      key: a key, typed or of two words.
      n: numbers of draws; real numbers of the batch's shape.
      p: probabilities along the last axis; the rest is the batch.
      shape: the shape of the batch; that of `p` without its last axis by default.
      dtype: the dtype of the result; that of a floating computation by default.
      unroll: how many categories to take together, a hint.
    Returns: an array of the batch's shape and one more axis, that of the categories.
    Raises:
      TypeError: `key` is no key. IndexError: `p` has no axis.
      ValueError: several keys are given, or shapes do not go together.
    Differentiable: no; the derivative of counts is 0.
    Example:
      >>> int(jax.random.multinomial(jax.random.key(0), 7, jnp.array([0.25, 0.25, 0.5])).sum())
      7
    """
    key = _r.checked_key("multinomial", key)
    n, p = _n._promote_inexact("multinomial", n, p)
    if not _n.ndim(p):
        raise _user_error(IndexError, "jax.random.multinomial takes probabilities along the last axis of p, got a scalar")
    n_categories = _n.shape(p)[-1]
    batch = _n.shape(p)[:-1] if shape is None else tuple(shape)
    n = _n.broadcast_to(n, batch)
    p = _n.moveaxis(_n.broadcast_to(p, (*batch, n_categories)), -1, 0)
    rest = lax.cumsum(p, axis=0, reverse=True)
    ratios = p / _n.where(rest == 0, 1, rest)

    def step(left, given):
        ratio, key = given
        count = binomial(key, left, _n.clip(ratio, 0, 1), dtype=left.dtype)
        return left - count, count

    _, counts = lax.scan(step, n, (ratios, _r.split(key, n_categories)), unroll=unroll)
    counts = _n.moveaxis(counts, 0, -1)
    return counts if dtype is None else lax.convert_element_type(counts, _core.as_dtype(dtype))
