"""Images of any number of axes, with SciPy's names."""

import functools as _functools
import itertools as _itertools
import operator as _operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax

_n = _core.numpy

__all__ = ["map_coordinates"]


def _mirror(index, size):
    """Positions reflected at the first and the last element, which are not repeated."""
    half = size - 1
    return _n.abs((index + half) % max(2 * half, 1) - half)


def _reflect(index, size):
    """Positions reflected at the edges, so that the first and the last element are repeated."""
    return _n.floor_divide(_mirror(2 * index + 1, 2 * size + 1), 2)


_MODES = {
    "constant": lambda index, size: index,
    "nearest": lambda index, size: _n.clip(index, 0, size - 1),
    "wrap": lambda index, size: index % size,
    "mirror": _mirror,
    "reflect": _reflect,
}


def _nearest(coordinate):
    coordinate = coordinate if coordinate.dtype.kind in "iu" else _n.floor(coordinate + 0.5)
    return [(coordinate.astype(_np.int32), None)]


def _linear(coordinate):
    lower = _n.floor(coordinate)
    share = coordinate - lower
    index = lower.astype(_np.int32)
    return [(index, 1 - share), (index + 1, share)]


def map_coordinates(input, coordinates, order, mode="constant", cval=0.0):
    """An array at coordinates between its elements.

    Args:
      input: an array of `d` axes.
      coordinates: `d` arrays of one shape: where to evaluate, in elements.
      order: 0 for the nearest element, 1 for linear interpolation.
      mode: what lies outside: "constant", "nearest", "wrap", "mirror" (edges not repeated) or "reflect" (repeated).
      cval: the value outside in mode "constant".
    Returns: an array of the shape of the coordinates and the dtype of `input`; integers are rounded.
    Raises:
      ValueError: another number of coordinates than axes.
      NotImplementedError: another mode or order.
    Differentiable: yes, with respect to `input`, and for order 1 almost everywhere to the coordinates.
    Example:
      >>> print(jax.scipy.ndimage.map_coordinates(jnp.array([0.0, 10.0]), [jnp.array([0.25])], order=1))
      [2.5]
    """
    image = _n.asarray(input)
    places = [_n.asarray(c) for c in coordinates]
    if len(places) != image.ndim:
        raise _user_error(ValueError, f"coordinates must be a sequence of length input.ndim, but {len(places)} != {image.ndim}")
    if mode not in _MODES:
        raise _user_error(NotImplementedError, f"jax.scipy.ndimage.map_coordinates does not yet support mode {mode}. Currently supported modes are {set(_MODES)}.")
    if order not in (0, 1):
        raise _user_error(NotImplementedError, "jax.scipy.ndimage.map_coordinates currently requires order<=1")
    cval = _n.asarray(cval, image.dtype)
    corners = [
        [(_MODES[mode](index, size), (index >= 0) & (index < size) if mode == "constant" else None, weight)
         for index, weight in (_nearest if order == 0 else _linear)(place)]
        for place, size in zip(places, image.shape)
    ]
    terms = []
    for corner in _itertools.product(*corners):
        value = image[tuple(index for index, _, _ in corner)]
        inside = [valid for _, valid, _ in corner if valid is not None]
        if inside:
            value = _n.where(_functools.reduce(_operator.and_, inside), value, cval)
        weights = [weight for _, _, weight in corner if weight is not None]
        terms.append(_functools.reduce(_operator.mul, weights) * value if weights else value)
    result = _functools.reduce(_operator.add, terms)
    if image.dtype.kind in "iu":
        result = lax.round(result, lax.RoundingMethod.AWAY_FROM_ZERO) if result.dtype.kind not in "iu" else result
    return result.astype(image.dtype)


map_coordinates.__module__ = "pullback.scipy.ndimage"
