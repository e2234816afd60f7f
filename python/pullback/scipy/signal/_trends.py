"""Trends of signals: their mean, and straight lines fitted piece by piece."""

import numpy as _np

from pullback import _core
from pullback._core import user_error as _user_error

_n = _core.numpy

__all__ = ["detrend"]


def _breaks(bp, size):
    """Where pieces begin and end, in order."""
    places = _np.unique(_np.concatenate([[0], _np.atleast_1d(bp).ravel(), [size]]).astype(int))
    if places[0] < 0 or places[-1] > size:
        raise _user_error(ValueError, f"Breakpoints must be non-negative and less than length of data along given axis; got bp={bp} for length {size}.")
    return places.tolist()


def _without_line(y):
    """What the straight line of least squares leaves of values at even distances along the last axis."""
    size = y.shape[-1]
    y = y - y.mean(-1, keepdims=True)
    if size < 2:
        return y
    # Places from -1 to 1 around the middle: the slope does not depend on the mean, and has a formula of its own.
    places = _np.linspace(-1.0, 1.0, size)
    weights = _n.asarray(places / (places @ places), y.dtype)
    slope = (y * weights).sum(-1, keepdims=True)
    return y - slope * _n.asarray(places, y.dtype)


def detrend(data, axis=-1, type="linear", bp=0, overwrite_data=None):
    """The data without their mean, or without the straight line of least squares.

    Args:
      data: an array of numbers; integers become floating.
      axis: the axis along which they follow each other.
      type: "linear" for the line, "constant" for the mean.
      bp: for "linear", a place or several where a new line begins.
      overwrite_data: must be None.
    Returns: an array of the shape of `data`.
    Raises:
      ValueError: another type, or a place outside of the data.
      NotImplementedError: `overwrite_data` is given.
      IndexError: an axis out of bounds.
      TypeError: `data` is no array or number.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.signal.detrend(jnp.array([1.0, 2.0, 3.0, 2.0]), type="constant"))
      [-1.  0.  1.  0.]
    """
    if overwrite_data is not None:
        raise _user_error(NotImplementedError, "detrend: overwrite_data argument not implemented; arrays are never overwritten.")
    if type not in ("constant", "linear"):
        raise _user_error(ValueError, f"Trend type must be 'linear' or 'constant', got {type!r}.")
    (data,) = _n._promote_inexact("detrend", _n.asarray(data))
    if not -data.ndim <= axis < data.ndim:
        raise _user_error(IndexError, f"detrend: axis {axis} is out of range for data of shape {data.shape}")
    if type == "constant":
        return data - data.mean(axis, keepdims=True)
    data = _n.moveaxis(data, axis, -1)
    breaks = _breaks(bp, data.shape[-1])
    pieces = [_without_line(data[..., start:end]) for start, end in zip(breaks, breaks[1:])]
    return _n.moveaxis(_n.concatenate(pieces, -1) if pieces else data, -1, axis)
