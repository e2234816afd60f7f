"""Initial values of weights: functions that make functions of key, shape and dtype."""

import functools as _functools
import math as _math
from typing import Protocol as _Protocol
from typing import runtime_checkable as _runtime_checkable

from pullback._core import user_error as _user_error
from pullback import _core

__all__ = [
    "Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform",
    "kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones", "orthogonal",
    "truncated_normal", "uniform", "variance_scaling", "xavier_normal", "xavier_uniform", "zeros",
]


@_runtime_checkable
class Initializer(_Protocol):
    """A function of key, shape and dtype that makes initial weights."""

    def __call__(self, key, shape, dtype=None, out_sharding=None):
        raise NotImplementedError


def _split(make, out_sharding):
    """What `make` gives, split as `out_sharding` says."""
    return make() if out_sharding is None else _core.split_call("an initializer", out_sharding, make)


def _splits(initializer):
    """The initializer with its result split as `out_sharding` says."""

    @_functools.wraps(initializer)
    def split(key, shape, dtype=None, out_sharding=None):
        return _split(lambda: initializer(key, shape, dtype), out_sharding)

    return split


def zeros(key, shape, dtype=None, out_sharding=None):
    """Zeros, as an initializer: the key is not used.

    Args:
      key: any value.
      shape: the shape of the result.
      dtype: its dtype; float32 by default, float64 with x64.
      out_sharding: how the result is split over devices: a `NamedSharding`, or a spec on the mesh of the context.
    Returns: an array of `shape` and `dtype`.
    Raises:
      TypeError: a size is negative.
    Differentiable: nothing to differentiate.
    Example:
      >>> jax.nn.initializers.zeros(jax.random.key(0), (2,))
      Array([0., 0.], dtype=float32)
    """
    return _split(lambda: _core.nn.init_constant(0, shape, dtype), out_sharding)


def ones(key, shape, dtype=None, out_sharding=None):
    """Ones, as an initializer: the key is not used.

    Args:
      key: any value.
      shape: the shape of the result.
      dtype: its dtype; float32 by default, float64 with x64.
      out_sharding: how the result is split over devices: a `NamedSharding`, or a spec on the mesh of the context.
    Returns: an array of `shape` and `dtype`.
    Raises:
      TypeError: a size is negative.
    Differentiable: nothing to differentiate.
    Example:
      >>> jax.nn.initializers.ones(jax.random.key(0), (2,))
      Array([1., 1.], dtype=float32)
    """
    return _split(lambda: _core.nn.init_constant(1, shape, dtype), out_sharding)


def constant(value, dtype=None):
    """An initializer that repeats a value.

    Args:
      value: a scalar, or an array that broadcasts to the shape.
      dtype: the dtype, if the call gives none; float32 by default.
    Returns: an initializer, a function of key, shape and dtype; the key is not used.
    Differentiable: in `value`, linear.
    Example:
      >>> jax.nn.initializers.constant(2.0)(jax.random.key(0), (2,))
      Array([2., 2.], dtype=float32)
    """
    default = dtype

    @_splits
    def init(key, shape, dtype=None, out_sharding=None):
        return _core.nn.init_constant(value, shape, default if dtype is None else dtype)

    return init


def uniform(scale=1e-2, dtype=None):
    """An initializer of uniform numbers from 0 to `scale`.

    Args:
      scale: the upper bound, not included.
      dtype: the dtype, if the call gives none; float32 by default.
    Returns: an initializer, a function of key, shape and dtype; it raises ValueError for a dtype that is not floating.
    Differentiable: in `scale`, linear.
    Example:
      >>> weights = jax.nn.initializers.uniform(0.5)(jax.random.key(0), (100,))
      >>> bool(((weights >= 0) & (weights < 0.5)).all())
      True
    """
    default = dtype

    @_splits
    def init(key, shape, dtype=None, out_sharding=None):
        return _core.nn.init_uniform(key, shape, default if dtype is None else dtype, scale)

    return init


def normal(stddev=1e-2, dtype=None):
    """An initializer of normal numbers with mean 0.

    Args:
      stddev: their deviation.
      dtype: the dtype, if the call gives none; float32 by default.
    Returns: an initializer, a function of key, shape and dtype; it raises TypeError for a dtype that is neither
      floating nor complex.
    Differentiable: in `stddev`, linear.
    Example:
      >>> jax.nn.initializers.normal(0.0)(jax.random.key(0), (2,)) == 0
      Array([ True,  True], dtype=bool)
    """
    default = dtype

    @_splits
    def init(key, shape, dtype=None, out_sharding=None):
        return _core.nn.init_normal(key, shape, default if dtype is None else dtype, stddev)

    return init


def truncated_normal(stddev=1e-2, dtype=None, lower=-2.0, upper=2.0):
    """An initializer of normal numbers between bounds, with mean 0 if these are symmetric.

    Args:
      stddev: the deviation of the numbers.
      dtype: the dtype, if the call gives none; float32 by default.
      lower, upper: the bounds, in deviations of the normal distribution that is cut.
    Returns: an initializer, a function of key, shape and dtype; it raises ValueError for a dtype that is not floating.
    Differentiable: in `stddev`, linear.
    Example:
      >>> jax.nn.initializers.truncated_normal(0.1)(jax.random.key(0), (2, 3)).shape
      (2, 3)
    """
    default = dtype

    @_splits
    def init(key, shape, dtype=None, out_sharding=None):
        dtype = default if dtype is None else dtype
        return _core.nn.init_truncated_normal(key, shape, dtype, stddev, lower, upper)

    return init


def _axes(axis):
    return [axis] if isinstance(axis, int) else list(axis)


_DEFAULT_IN_AXIS = -2


def variance_scaling(scale, mode, distribution, in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
    """An initializer whose variance is `scale` over the number of inputs, of outputs or a mean of both.

    Args:
      scale: a positive factor.
      mode: 'fan_in', 'fan_out', 'fan_avg' (the arithmetic mean) or 'fan_geo_avg' (the geometric).
      distribution: 'truncated_normal' (cut at two deviations), 'normal' or 'uniform' (symmetric around 0).
      in_axis, out_axis: an axis or several of inputs and of outputs.
      batch_axis: an axis or several that count for neither; all others count for both.
      dtype: the dtype, if the call gives none; float32 by default.
    Returns: an initializer, a function of key, shape and dtype; it raises ValueError for an unknown mode or
      distribution and for shapes of fewer than two axes with the default `in_axis`, TypeError for a dtype that is not
      inexact.
    Differentiable: no; initializers take keys and shapes.
    Example:
      >>> jax.nn.initializers.variance_scaling(2.0, "fan_in", "normal")(jax.random.key(0), (3, 4)).shape
      (3, 4)
    """
    default = dtype
    inputs = None if in_axis == _DEFAULT_IN_AXIS else _axes(in_axis)
    outputs, batch = _axes(out_axis), _axes(batch_axis)

    @_splits
    def init(key, shape, dtype=None, out_sharding=None):
        dtype = default if dtype is None else dtype
        return _core.nn.init_variance_scaling(
            key, shape, dtype, float(scale), mode, distribution, inputs, outputs, batch
        )

    return init


_DESCRIPTION = """An initializer that keeps the variance of {purpose}.

{numbers}, whose variance is {scale:g} over {connections}; see `variance_scaling`.

Args:
  in_axis, out_axis: an axis or several of inputs and of outputs.
  batch_axis: an axis or several that count for neither; all others count for both.
  dtype: the dtype, if the call gives none; float32 by default.
Returns: an initializer, a function of key, shape and dtype; it raises ValueError for shapes of fewer than two axes with the
  default `in_axis`, TypeError for a dtype that is not inexact.
Differentiable: no; initializers take keys and shapes.
Example:
  >>> weights = jax.nn.initializers.{name}()(jax.random.key(0), (200, 300))
  >>> bool(abs(weights.var() * {fan} / {scale:g} - 1) < 0.05)
  True
"""
_NUMBERS = {"uniform": "Uniform numbers around 0", "truncated_normal": "Normal numbers, cut at two deviations"}
_CONNECTIONS = {"fan_in": "the number of inputs", "fan_avg": "the mean of the numbers of inputs and outputs"}


def _scaled(name, scale, mode, distribution, purpose):
    def initializer(in_axis=-2, out_axis=-1, batch_axis=(), dtype=None):
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    initializer.__name__ = initializer.__qualname__ = name
    initializer.__doc__ = _DESCRIPTION.format(
        name=name, purpose=purpose, scale=scale, numbers=_NUMBERS[distribution], connections=_CONNECTIONS[mode],
        fan={"fan_in": 200, "fan_avg": 250}[mode],
    )
    return initializer


_BOTH = "values and of gradients (Glorot, Bengio, 2010; also called Xavier's)"
_INPUTS = "values (LeCun et al., 1998)"
_RECTIFIED = "values behind rectified units (He et al., 2015; also called Kaiming's)"

glorot_uniform = _scaled("glorot_uniform", 1.0, "fan_avg", "uniform", _BOTH)
glorot_normal = _scaled("glorot_normal", 1.0, "fan_avg", "truncated_normal", _BOTH)
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform", _INPUTS)
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", "truncated_normal", _INPUTS)
he_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform", _RECTIFIED)
he_normal = _scaled("he_normal", 2.0, "fan_in", "truncated_normal", _RECTIFIED)
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal


def orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """An initializer of matrices with orthonormal columns, or rows where there are more columns (Saxe et al., 2013).

    Args:
      scale: a factor.
      column_axis: the axis of the columns; all others together are the rows.
      dtype: the dtype, if the call gives none; float32 by default.
    Returns: an initializer, a function of key, shape and dtype; it raises ValueError for shapes of fewer than two axes.
    Differentiable: no; initializers take keys and shapes.
    Example:
      >>> q = jax.nn.initializers.orthogonal()(jax.random.key(0), (3, 2))
      >>> bool(jnp.allclose(q.T @ q, jnp.eye(2), atol=1e-5))
      True
    """
    default = dtype

    @_splits
    def init(key, shape, dtype=None, out_sharding=None):
        from pullback import random

        dtype = _core.as_dtype((float if default is None else default) if dtype is None else dtype)
        if len(shape) < 2:
            raise _user_error(ValueError, "orthogonal initializer requires at least a 2D shape")
        n_columns = shape[column_axis]
        n_rows = _math.prod(size for axis, size in enumerate(shape) if axis != column_axis % len(shape))
        q = random.orthogonal(key, n_rows, (), dtype, n_columns)
        others = [size for axis, size in enumerate(shape) if axis != column_axis % len(shape)]
        q = _core.numpy.moveaxis(q.reshape(*others, n_columns), -1, column_axis)
        return _core.numpy.asarray(scale, dtype) * q

    return init


def delta_orthogonal(scale=1.0, column_axis=-1, dtype=None):
    """An initializer of convolution kernels that are orthogonal at their centre and 0 elsewhere (Xiao et al., 2018).

    Args:
      scale: a factor.
      column_axis: the axis of the columns of the matrix at the centre.
      dtype: the dtype, if the call gives none; float32 by default.
    Returns: an initializer, a function of key, shape and dtype; it raises ValueError for shapes of other than 3 to 5
      axes, or with more inputs than outputs.
    Differentiable: no; initializers take keys and shapes.
    Example:
      >>> jax.nn.initializers.delta_orthogonal()(jax.random.key(0), (3, 2, 2))[0]
      Array([[0., 0.],
             [0., 0.]], dtype=float32)
    """
    default = dtype

    @_splits
    def init(key, shape, dtype=None, out_sharding=None):
        dtype = _core.as_dtype((float if default is None else default) if dtype is None else dtype)
        if len(shape) not in (3, 4, 5):
            raise _user_error(ValueError, "Delta orthogonal initializer requires a 3D, 4D or 5D shape.")
        if shape[-1] < shape[-2]:
            raise _user_error(ValueError, "`fan_in` must be less or equal than `fan_out`. ")
        matrix = orthogonal(scale, column_axis, dtype)(key, shape[-2:])
        centre = tuple((size - 1) // 2 for size in shape[:-2])
        return _core.numpy.zeros(shape, dtype).at[centre].set(matrix)

    return init
