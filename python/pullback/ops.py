"""Sums and extremes over segments of an array."""

import operator as _operator

from pullback._core import user_error as _user_error
from pullback import _core


def _segment(name, data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, identity):
    from pullback import numpy as jnp

    data, ids = _arrays(name, data, segment_ids)
    if not jnp.issubdtype(ids.dtype, jnp.integer):
        raise _user_error(TypeError, "segment_ids must be integers")
    if data.shape[: ids.ndim] != ids.shape:
        raise _user_error(ValueError, f"segment_ids of shape {ids.shape} do not index the leading axes of data of shape {data.shape}")
    if num_segments is None:
        num_segments = _number_of_segments(name, ids)
    num_segments = _operator.index(num_segments)
    if num_segments < 0:
        raise _user_error(ValueError, "num_segments must be non-negative.")
    n_buckets = 1 if bucket_size is None else -(-ids.size // bucket_size)
    update, reduce = _COMBINED[name]
    options = dict(indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode, wrap_negative_indices=False)
    shape = (num_segments, *data.shape[ids.ndim :])
    if n_buckets == 1:
        return getattr(jnp.full(shape, identity(data.dtype), data.dtype).at[ids], update)(data, **options)
    # Each bucket has sums of its own, which are added in the end: fewer additions follow one another.
    bucket = jnp.arange(ids.size).reshape(ids.shape) // bucket_size
    parts = jnp.full((n_buckets, *shape), identity(data.dtype), data.dtype)
    parts = getattr(parts.at[bucket, ids], update)(data, **{**options, "indices_are_sorted": False})
    return getattr(jnp, reduce)(parts, axis=0).astype(data.dtype)


# How updates are made, and how those of buckets come together.
_COMBINED = {"sum": ("add", "sum"), "prod": ("multiply", "prod"), "min": ("min", "min"), "max": ("max", "max")}


def _arrays(name, *args):
    from pullback import numpy as jnp

    for position, arg in enumerate(args):
        if isinstance(arg, (list, tuple)):
            raise _user_error(TypeError, f"segment_{name} requires ndarray or scalar arguments, got {type(arg)} at position {position}.")
    return [jnp.asarray(arg) for arg in args]


def _number_of_segments(name, ids):
    if not _core.is_concrete(ids):
        raise _user_error(ValueError, f"num_segments must be given when segment_ids are traced in jax.ops.segment_{name}")
    return max(int(ids.max()) + 1, 0)


def _extreme(sign):
    """The identity of a minimum (sign 1) or maximum (sign -1)."""

    def identity(dtype):
        from pullback import numpy as jnp

        if dtype == bool:
            return sign > 0
        if jnp.issubdtype(dtype, jnp.integer):
            return jnp.iinfo(dtype).max if sign > 0 else jnp.iinfo(dtype).min
        return sign * jnp.inf

    return identity


def segment_sum(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None):
    """The sum of the slices of `data` in each segment.

    Args:
      data: an array `[*ids, *rest]`; `segment_ids` index its leading axes.
      segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too, are
        dropped.
      num_segments: number of segments; by default one more than the largest id, which must then be known.
      indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
      bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at once.
      mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
    Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are 0.
    Raises:
      TypeError: ids are no integers.
      ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are traced.
      ZeroDivisionError: `bucket_size` is 0.
    Differentiable: yes, with respect to `data`, in which it is linear.
    Example:
      >>> print(jax.ops.segment_sum(jnp.arange(5.0), jnp.array([0, 0, 1, 1, 2])))
      [1. 5. 4.]
    """
    return _segment("sum", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, lambda dtype: 0)


def segment_prod(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None):
    """The product of the slices of `data` in each segment.

    Args:
      data: an array `[*ids, *rest]`; `segment_ids` index its leading axes.
      segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too, are
        dropped.
      num_segments: number of segments; by default one more than the largest id, which must then be known.
      indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
      bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at once.
      mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
    Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are 1.
    Raises:
      TypeError: ids are no integers.
      ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are traced.
      ZeroDivisionError: `bucket_size` is 0.
    Differentiable: yes, with respect to `data` where `unique_indices` is true; else a derivative raises NotImplementedError.
    Example:
      >>> print(jax.ops.segment_prod(jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 0, 1])))
      [6. 4.]
    """
    return _segment("prod", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, lambda dtype: 1)


def segment_max(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None):
    """The maximum of the slices of `data` in each segment.

    Args:
      data: an array `[*ids, *rest]` of real numbers or bools; `segment_ids` index its leading axes.
      segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too, are
        dropped.
      num_segments: number of segments; by default one more than the largest id, which must then be known.
      indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
      bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at once.
      mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
    Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are the least value: `-inf`, the least integer, False.
    Raises:
      TypeError: ids are no integers.
      ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are traced.
      ZeroDivisionError: `bucket_size` is 0.
    Differentiable: yes, with respect to `data`; equal maxima share the cotangent.
    Example:
      >>> print(jax.ops.segment_max(jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 0, 1]), num_segments=3))
      [  3.   4. -inf]
    """
    return _segment("max", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, _extreme(-1))


def segment_min(data, segment_ids, num_segments=None, indices_are_sorted=False, unique_indices=False, bucket_size=None, mode=None):
    """The minimum of the slices of `data` in each segment.

    Args:
      data: an array `[*ids, *rest]` of real numbers or bools; `segment_ids` index its leading axes.
      segment_ids: integers `[*ids]`, the segment of each slice; those outside of `num_segments`, negative ones too, are
        dropped.
      num_segments: number of segments; by default one more than the largest id, which must then be known.
      indices_are_sorted, unique_indices: promises about the ids; a broken one may give other results.
      bucket_size: how many slices are summed up on their own, before these sums are; None (the default) for all at once.
      mode: what to do with ids outside: "drop" (the default), or "clip" to take the nearest segment.
    Returns: an array `[num_segments, *rest]` of `data`'s dtype; empty segments are the greatest value: `inf`, the greatest integer,
      True.
    Raises:
      TypeError: ids are no integers.
      ValueError: shapes do not fit, the number of segments is negative, or it is not known because the ids are traced.
      ZeroDivisionError: `bucket_size` is 0.
    Differentiable: yes, with respect to `data`; equal minima share the cotangent.
    Example:
      >>> print(jax.ops.segment_min(jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 0, 1]), num_segments=3))
      [ 2.  4. inf]
    """
    return _segment("min", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode, _extreme(1))


__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]
