"""Cosine transforms with SciPy's names."""

import math

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax._composed import fft as _fft

_n = _core.numpy


def _resized(x, n, axis):
    if n is None or n == x.shape[axis]:
        return x
    if n < 1:
        raise _user_error(ValueError, f"Invalid number of data points ({n}) specified")
    x = x[tuple(slice(n) if a == axis else slice(None) for a in range(x.ndim))]
    return _n.pad(x, [(0, n - x.shape[axis]) if a == axis else (0, 0) for a in range(x.ndim)])


def _real(x, name):
    x = _n.asarray(x)
    if _n.iscomplexobj(x):
        raise _user_error(ValueError, f"{name} takes real numbers, got {x.dtype}")
    return x if x.dtype.kind == "f" else x.astype(_n.result_type(x, float))


def _check(type, norm):
    if type != 2:
        raise _user_error(NotImplementedError, "Only DCT type 2 is implemented.")
    if norm not in (None, "backward", "ortho"):
        raise _user_error(ValueError, f"jax.scipy.fft supports the norms None, 'backward' and 'ortho', got {norm!r}")


def _scales(n, norm, dtype):
    """What each coefficient of the plain transform is multiplied by."""
    if norm == "ortho":
        first = _np.full(n, math.sqrt(1 / (2 * n)))
        first[0] = math.sqrt(1 / (4 * n))
        return _n.asarray(first.astype(dtype))
    return _n.ones(n, dtype)


def dct(x, type=2, n=None, axis=-1, norm=None):
    """The cosine transform of type 2 along an axis: `2 Σ x[j] cos(π k (2 j + 1) / 2 n)` for `k` from 0 to `n - 1`.

    J. Makhoul, "A fast cosine transform in one and two dimensions", 1980.

    Args:
      x: an array of real numbers; integers become floating.
      type: must be 2.
      n: how many elements to take: the first ones, or filled up with zeros; by default all.
      axis: the axis.
      norm: "ortho" divides so that the transform is orthonormal; None and "backward" leave it.
    Returns: an array of the shape of `x` with size `n` along the axis.
    Raises:
      NotImplementedError: another type.
      ValueError: complex numbers, another norm, or `n` below 1.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.fft.dct(jnp.ones(2)))
      [4. 0.]
    """
    _check(type, norm)
    x = _real(x, "dct")
    axis = axis % x.ndim
    x = _n.moveaxis(_resized(x, n, axis), axis, -1)
    n = x.shape[-1]
    # Makhoul (1980): even places forward, then odd ones backward, make it one Fourier transform.
    ordered = _n.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], axis=-1)
    turns = _np.exp(-1j * _np.pi * _np.arange(n) / (2 * n))
    spectrum = _fft(ordered, "fft", (n,))
    out = 2 * _n.real(spectrum * _n.asarray(turns.astype(spectrum.dtype)))
    return _n.moveaxis(out * _scales(n, norm, x.dtype), -1, axis)


def idct(x, type=2, n=None, axis=-1, norm=None):
    """The inverse of `dct`: the cosine transform of type 3, divided by `2 n`.

    Args:
      x: an array of real numbers; integers become floating.
      type: must be 2: that of the transform whose inverse it is.
      n: how many elements to take: the first ones, or filled up with zeros; by default all.
      axis: the axis.
      norm: that of the transform: None, "backward" or "ortho".
    Returns: an array of the shape of `x` with size `n` along the axis.
    Raises:
      NotImplementedError: another type.
      ValueError: complex numbers, another norm, or `n` below 1.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.fft.idct(jnp.array([4.0, 0.0])))
      [1. 1.]
    """
    _check(type, norm)
    x = _real(x, "idct")
    axis = axis % x.ndim
    x = _n.moveaxis(_resized(x, n, axis), axis, -1)
    n = x.shape[-1]
    x = x / _scales(n, norm, x.dtype) / 2
    mirrored = _n.concatenate([_n.zeros_like(x[..., :1]), x[..., 1:][..., ::-1]], axis=-1)
    turns = _np.exp(1j * _np.pi * _np.arange(n) / (2 * n))
    spectrum = _core.lax.complex(x, -mirrored)
    ordered = _n.real(_fft(spectrum * _n.asarray(turns.astype(spectrum.dtype)), "ifft", (n,)))
    places = _np.empty(n, int)
    places[: (n + 1) // 2], places[(n + 1) // 2 :] = _np.arange(0, n, 2), _np.arange(1, n, 2)[::-1]
    return _n.moveaxis(ordered[..., _np.argsort(places)], -1, axis)


def _each(function, x, type, s, axes, norm):
    x = _n.asarray(x)
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    sizes = [None] * len(axes) if s is None else s
    if len(sizes) != len(axes):
        raise _user_error(ValueError, "Axes and shape must have the same length")
    for axis, size in zip(axes, sizes):
        x = function(x, type, size, axis, norm)
    return x


def dctn(x, type=2, s=None, axes=None, norm=None):
    """The cosine transform of type 2 along several axes, one after the other.

    Args:
      x: an array of real numbers; integers become floating.
      type: must be 2.
      s: how many elements to take along each axis; by default all.
      axes: the axes; by default the last ones that `s` names, else all.
      norm: None, "backward" or "ortho".
    Returns: an array of the shape of `x` with sizes `s` along the axes.
    Raises:
      NotImplementedError: another type.
      ValueError: complex numbers, another norm, or another number of sizes than axes.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.fft.dctn(jnp.ones((2, 2))))
      [[16.  0.]
       [ 0.  0.]]
    """
    return _each(dct, x, type, s, axes, norm)


def idctn(x, type=2, s=None, axes=None, norm=None):
    """The inverse of `dctn`.

    Args:
      x: an array of real numbers; integers become floating.
      type: must be 2: that of the transform whose inverse it is.
      s: how many elements to take along each axis; by default all.
      axes: the axes; by default the last ones that `s` names, else all.
      norm: that of the transform: None, "backward" or "ortho".
    Returns: an array of the shape of `x` with sizes `s` along the axes.
    Raises:
      NotImplementedError: another type.
      ValueError: complex numbers, another norm, or another number of sizes than axes.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.fft.idctn(jnp.array([[16.0, 0.0], [0.0, 0.0]])))
      [[1. 1.]
       [1. 1.]]
    """
    return _each(idct, x, type, s, axes, norm)


__all__ = ["dct", "dctn", "idct", "idctn"]
