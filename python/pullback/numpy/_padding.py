"""`pad` in all its modes."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["pad"]

# Which options each mode knows.
_OPTIONS = {
    "constant": ("constant_values",), "edge": (), "empty": (), "wrap": (), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
    "reflect": ("reflect_type",), "symmetric": ("reflect_type",),
}


def pad(array, pad_width, mode="constant", **kwargs):
    """The array with elements added before and behind each axis.

    Args:
      array: an array or number.
      pad_width: how many: a number, a pair (before, behind), or a pair for each axis; static.
      mode: what is added: 'constant', 'edge', 'empty' (zeros), 'wrap', 'linear_ramp', 'maximum', 'mean', 'median',
        'minimum', 'reflect', 'symmetric', or a function of a vector, the widths, the axis and the options that
        gives the vector.
      kwargs: options of the mode: `constant_values` (0 by default), `end_values`, `stat_length`, `reflect_type`.
    Returns: an array of the dtype of `array`, longer along each axis.
    Raises:
      TypeError: widths that are no integers.
      ValueError: options that the mode does not know, or widths that are negative or do not fit.
      NotImplementedError: another mode.
    Differentiable: yes, in both modes, with respect to `array`, `constant_values` and `end_values`.
    Example:
      >>> print(jnp.pad(jnp.array([1, 2]), (1, 2)), jnp.pad(jnp.array([1, 2]), 1, mode="reflect"))
      [0 1 2 0 0] [2 1 2 1]
    """
    if isinstance(pad_width, dict):
        raise _user_error(TypeError, "`pad_width` must be of integral type.")
    if callable(mode):
        return _pad_by_function(_n.asarray(array), _widths(pad_width, _n.ndim(array)), mode, kwargs)
    if mode not in _OPTIONS:
        raise _user_error(NotImplementedError, f"Unimplemented padding mode '{mode}' for np.pad.")
    if unknown := set(kwargs) - set(_OPTIONS[mode]):
        raise _user_error(ValueError, f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if mode == "median" or "stat_length" in kwargs:
        array, widths = _n.asarray(array), _widths(pad_width, _n.ndim(array))
        return _pad_with_statistic(array, widths, mode, kwargs.get("stat_length"))
    if "end_values" in kwargs:
        return _pad_ramp(_n.asarray(array), _widths(pad_width, _n.ndim(array)), kwargs["end_values"])
    if mode == "empty":
        return _n.pad(array, pad_width)
    if kwargs.get("reflect_type", "even") == "odd":
        return _pad_odd(_n.asarray(array), _widths(pad_width, _n.ndim(array)), mode)
    kwargs.pop("reflect_type", None)
    return _n.pad(array, pad_width, mode=mode, **kwargs)


def _widths(given, ndim):
    """A pair of widths for each axis."""
    given = _np.asarray(given)
    if given.dtype.kind not in "iu":
        raise _user_error(TypeError, "`pad_width` must be of integral type.")
    if (given < 0).any():
        raise _user_error(ValueError, "index can't contain negative values")
    return [tuple(int(w) for w in pair) for pair in _pairs(given, ndim, "pad_width")]


def _pairs(given, ndim, name):
    try:
        return _np.broadcast_to(given, (ndim, 2))
    except ValueError:
        raise _user_error(ValueError, f"jnp.pad: {name} with shape {_np.shape(given)} could not be broadcast to {(ndim, 2)}") from None


_STATISTICS = {"maximum": _n.max, "minimum": _n.min, "mean": _n.mean, "median": _n.median}


def _pad_with_statistic(array, widths, mode, lengths):
    lengths = _pairs(_np.asarray([[None, None]] if lengths is None else lengths), array.ndim, "stat_length")
    if any(length is not None and length <= 0 for pair in lengths for length in pair):
        raise _user_error(ValueError, "stat_length of 0 yields no value for padding")
    for axis, (before, after) in enumerate(widths):
        size = array.shape[axis]
        low, high = (size if length is None else min(int(length), size) for length in lengths[axis])
        parts = [
            _repeated(array, slice(0, low), axis, mode, before), array,
            _repeated(array, slice(size - high, size), axis, mode, after),
        ]
        array = _n.concatenate(parts, axis=axis)
    return array


def _repeated(array, part, axis, mode, times):
    value = _STATISTICS[mode](array[(slice(None),) * axis + (part,)], axis=axis, keepdims=True)
    value = _n.round(value) if array.dtype.kind in "iu" else value
    return _n.repeat(value.astype(array.dtype), times, axis=axis)


def _pad_ramp(array, widths, ends):
    """Even steps from the end values, which are outermost, to the edges."""
    ends = _n.broadcast_to(_n.asarray(ends), (array.ndim, 2))
    for axis, (before, after) in enumerate(widths):
        front, back = _n.take(array, 0, axis=axis), _n.take(array, -1, axis=axis)
        low = _n.linspace(ends[axis, 0], front, before, endpoint=False, dtype=array.dtype, axis=axis)
        high = _n.linspace(ends[axis, 1], back, after, endpoint=False, dtype=array.dtype, axis=axis)
        array = _n.concatenate([low, array, _n.flip(high, axis)], axis=axis)
    return array


def _pad_odd(array, widths, mode):
    """Reflections that continue the slope: twice the edge less what even reflection gives, again and again."""
    for axis, (before, after) in enumerate(widths):
        size = array.shape[axis]
        if size == 0 and before + after:
            raise _user_error(ValueError, f"Cannot apply '{mode}' padding to empty axis")
        array = _grown_odd(array, axis, before, mode)
        array = _n.flip(_grown_odd(_n.flip(array, axis), axis, after, mode, size), axis)
    return array


# Reflections are made one after the other.
_PIECES = 10_000


def _grown_odd(array, axis, missing, mode, size=None):
    """`missing` elements in front, in pieces that the array before padding allows."""
    skip = 1 if mode == "reflect" else 0
    step = (size or array.shape[axis]) - skip
    if step and missing // step > _PIECES:
        raise _user_error(
            NotImplementedError,
            f"jnp.pad with reflect_type='odd' by {missing} elements, which are {missing // step} reflections of {step}; at most "
            f"{_PIECES} are made",
        )
    at = lambda part: (slice(None),) * axis + (part,)  # noqa: E731
    while missing > 0:
        if step == 0:
            edge = array[at(slice(0, 1))]
            return _n.concatenate([_n.repeat(edge, missing, axis=axis), array], axis=axis)
        n = min(missing, step)
        piece = 2 * array[at(slice(0, 1))] - _n.flip(array[at(slice(skip, skip + n))], axis)
        array = _n.concatenate([piece, array], axis=axis)
        missing -= n
    return array


def _pad_by_function(array, widths, function, kwargs):
    from pullback.numpy._vectorize import apply_along_axis

    out = _n.pad(array, widths)
    for axis, pair in enumerate(widths):
        out = apply_along_axis(function, axis, out, pair, axis, kwargs)
    return out


pad.__module__ = "pullback.numpy"
