"""`pad` by a function; all other modes are the core's."""

from pullback import _core
from pullback._core import user_error as _user_error

_n = _core.numpy

__all__ = ["pad"]

_OPTIONS = frozenset({"constant_values", "end_values", "stat_length", "reflect_type"})


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
        return _pad_by_function(array, pad_width, mode, kwargs)
    if unknown := kwargs.keys() - _OPTIONS:
        raise _user_error(ValueError, f"unsupported keyword arguments for mode '{mode}': {unknown}")
    return _n.pad(array, pad_width, mode, **kwargs)


def _pad_by_function(array, pad_width, function, kwargs):
    import numpy as np

    from pullback.numpy._vectorize import apply_along_axis

    out = _n.pad(array, pad_width)
    for axis, pair in enumerate(np.broadcast_to(pad_width, (out.ndim, 2)).tolist()):
        out = apply_along_axis(function, axis, out, tuple(pair), axis, kwargs)
    return out


pad.__module__ = "pullback.numpy"
