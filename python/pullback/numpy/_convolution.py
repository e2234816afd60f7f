"""Convolution and correlation of vectors."""

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax import conv_general_dilated as _conv

_n = _core.numpy

__all__ = ["convolve", "correlate"]


def _sliding(name, x, y, mode, precision, preferred):
    """Sums of products of `x` with `y` at each place, without turning `y`."""
    n = y.shape[0]
    if mode == "full":
        padding = [(n - 1, n - 1)]
    elif mode == "same":
        padding = [(n // 2, n - n // 2 - 1)]
    elif mode == "valid":
        padding = [(0, 0)]
    else:
        raise _user_error(ValueError, "mode must be one of ['full', 'same', 'valid']")
    return _conv(x[None, None], y[None, None], (1,), padding, precision=precision, preferred_element_type=preferred)[0, 0]


def _operands(name, a, v):
    if _n.ndim(a) != 1 or _n.ndim(v) != 1:
        raise _user_error(ValueError, f"{name}() only support 1-dimensional inputs.")
    a, v = _n.asarray(a), _n.asarray(v)
    dtype = _n.result_type(a, v)
    if dtype.kind in "iub":
        dtype = _n.result_type(dtype, float)
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise _user_error(ValueError, f"{name}: inputs cannot be empty, got shapes {a.shape} and {v.shape}.")
    return a.astype(dtype), v.astype(dtype)


def convolve(a, v, mode="full", *, precision=None, preferred_element_type=None):
    """The convolution of two vectors: `sum(a[i] * v[k - i])` for each k.

    Args:
      a, v: vectors of at least one element; integers become floating.
      mode: 'full' (the default) for all places where they meet, `n + m - 1`; 'same' for as many as the longer has
        elements; 'valid' for those where they meet wholly.
      precision: as `jax.lax.conv_general_dilated` takes it.
      preferred_element_type: the dtype in which to add, and that of the result.
    Returns: a vector of the promoted floating or complex dtype.
    Raises:
      TypeError: an argument that is no array.
      ValueError: an operand is no vector or empty, or another `mode`.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])))
      [ 1. 12. 23. 30.]
    """
    a, v = _operands("convolve", a, v)
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    return _sliding("convolve", a, v[::-1], mode, precision, preferred_element_type)


def correlate(a, v, mode="valid", *, precision=None, preferred_element_type=None):
    """The cross-correlation of two vectors: `sum(a[i + k] * conj(v[i]))` for each lag k.

    Args:
      a, v: vectors of at least one element; integers become floating.
      mode: 'valid' (the default) for the lags where they meet wholly, 'same' for as many as the longer has
        elements, 'full' for all lags.
      precision: as `jax.lax.conv_general_dilated` takes it.
      preferred_element_type: the dtype in which to add, and that of the result.
    Returns: a vector of the promoted floating or complex dtype.
    Raises:
      TypeError: an argument that is no array.
      ValueError: an operand is no vector or empty, or another `mode`.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])))
      [21. 32.]
    """
    a, v = _operands("correlate", a, v)
    v = _n.conj(v) if _n.iscomplexobj(v) else v
    if a.shape[0] >= v.shape[0]:
        return _sliding("correlate", a, v, mode, precision, preferred_element_type)
    return _sliding("correlate", v, a, mode, precision, preferred_element_type)[::-1]


for _function in (convolve, correlate):
    _function.__module__ = "pullback.numpy"
