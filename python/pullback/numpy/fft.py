"""Fourier transforms with NumPy's names.

Forward transforms are not scaled, inverse ones by the number of elements; `norm` moves that factor. All are differentiable.
"""

import operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax._composed import fft as _fft
from pullback.lax._records import FftType

_n = _core.numpy


def _factor(lengths, kind, norm):
    """What the transform is to be multiplied by."""
    size = int(_np.prod(lengths))
    is_inverse = kind in (FftType.IFFT, FftType.IRFFT)
    if norm in (None, "backward"):
        return 1
    if norm == "ortho":
        return size**0.5 if is_inverse else 1 / size**0.5
    if norm == "forward":
        return size if is_inverse else 1 / size
    raise _user_error(ValueError, f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')


def _several(name, kind, a, s, axes, norm):
    a = _n.asarray(a)
    if s is not None:
        s = tuple(map(operator.index, s))
        if any(size <= 0 for size in s):
            raise _user_error(ValueError, "Shape should be positive.")
    if s is not None and axes is not None and len(s) != len(axes):
        raise _user_error(ValueError, "Shape and axes have different lengths.")
    given = axes
    if axes is None:
        axes = range(a.ndim) if s is None else range(a.ndim - len(s), a.ndim)
    if len(set(axes)) != len(axes):
        raise _user_error(ValueError, f"jax.numpy.fft.{name} does not support repeated axes. Got axes {given}.")
    axes = [_axis(axis, a.ndim) for axis in axes]
    if not axes:
        return a
    a = _n.moveaxis(a, axes, range(a.ndim - len(axes), a.ndim))
    if s is None:
        s = list(a.shape[a.ndim - len(axes):])
        if kind == FftType.IRFFT:
            s[-1] = max(0, 2 * (s[-1] - 1))
    sizes = list(s)
    if kind == FftType.IRFFT:
        sizes[-1] = sizes[-1] // 2 + 1
    front = a.ndim - len(axes)
    a = a[(..., *(slice(size) for size in sizes))]
    if tuple(a.shape[front:]) != tuple(sizes):
        a = _n.pad(a, [(0, 0)] * front + [(0, size - have) for size, have in zip(sizes, a.shape[front:])])
    out = _fft(a, kind, tuple(s))
    factor = _factor(s, kind, norm)
    if factor != 1:
        out = out * _n.asarray(factor, dtype=_n.abs(out[..., :0]).dtype)
    return _n.moveaxis(out, range(out.ndim - len(axes), out.ndim), axes)


def _axis(axis, rank):
    if not -rank <= axis < rank:
        raise _user_error(ValueError, f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def _one(name, kind, a, n, axis, norm):
    if isinstance(axis, (list, tuple)):
        raise _user_error(ValueError, f"jax.numpy.fft.{name} does not support multiple axes. Please use jax.numpy.fft.{name}n. Got axis = {axis!r}.")
    return _several(name, kind, a, None if n is None else [n], [-1 if axis is None else axis], norm)


def _two(name, kind, a, s, axes, norm):
    if len(axes) != 2:
        raise _user_error(ValueError, f"jax.numpy.fft.{name} only supports 2 axes. Got axes = {axes!r}.")
    return _several(name, kind, a, s, axes, norm)


def fft(a, n=None, axis=-1, norm=None):
    """The discrete Fourier transform along an axis: `sum(a[j] * exp(-2 pi i j k / n))` for k from 0 up to n.

    Args:
      a: an array; real numbers become complex.
      n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
      axis: the axis; the last by default.
      norm: where the factor `1 / n` goes: 'backward' or None (the default) to the inverse, 'forward' here, 'ortho'
        its root to both.
    Returns: a complex array with size `n` along the axis.
    Raises:
      ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.fft(jnp.array([1.0, 0.0, 0.0, 0.0])))
      [1.+0.j 1.+0.j 1.+0.j 1.+0.j]
    """
    return _one("fft", FftType.FFT, a, n, axis, norm)


def ifft(a, n=None, axis=-1, norm=None):
    """The inverse of `fft`: `sum(a[k] * exp(2 pi i j k / n)) / n` for j from 0 up to n.

    Args:
      a: an array; real numbers become complex.
      n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
      axis: the axis; the last by default.
      norm: where the factor `1 / n` goes: 'backward' or None (the default) here, 'forward' to the other one,
        'ortho' its root to both.
    Returns: a complex array with size `n` along the axis.
    Raises:
      ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.ifft(jnp.array([4.0, 0.0, 0.0, 0.0])))
      [1.+0.j 1.+0.j 1.+0.j 1.+0.j]
    """
    return _one("ifft", FftType.IFFT, a, n, axis, norm)


def rfft(a, n=None, axis=-1, norm=None):
    """The transform of real numbers along an axis: the first `n // 2 + 1` elements of `fft`, whose conjugates the
    others are.

    Args:
      a: a real array.
      n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
      axis: the axis; the last by default.
      norm: where the factor `1 / n` goes: 'backward' or None (the default) to the inverse, 'forward' here, 'ortho'
        its root to both.
    Returns: a complex array with size `n // 2 + 1` along the axis.
    Raises:
      ValueError: `a` is complex, `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.abs(jnp.fft.rfft(jnp.array([1.0, 0.0, 0.0, 0.0]))))
      [1. 1. 1.]
    """
    return _one("rfft", FftType.RFFT, a, n, axis, norm)


def irfft(a, n=None, axis=-1, norm=None):
    """The inverse of `rfft`: real numbers from half of their transform.

    Args:
      a: an array; real numbers become complex. The imaginary part of its first element has no influence.
      n: the size of the result; twice that of the axis less 2 by default, so that odd sizes must be given.
      axis: the axis; the last by default.
      norm: where the factor `1 / n` goes: 'backward' or None (the default) here, 'forward' to the other one,
        'ortho' its root to both.
    Returns: a real floating array with size `n` along the axis.
    Raises:
      ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.irfft(jnp.array([4.0, 0.0, 0.0])))
      [1. 1. 1. 1.]
    """
    return _one("irfft", FftType.IRFFT, a, n, axis, norm)


def hfft(a, n=None, axis=-1, norm=None):
    """The transform of a Hermitian signal, half of which is given; it is real: `n` times `irfft` of the conjugate.

    Args:
      a: an array: the first half of the signal.
      n: the size of the result; twice that of the axis less 2 by default.
      axis: the axis; the last by default.
      norm: where the factor `1 / n` goes: 'backward' or None (the default) to the inverse, 'forward' here, 'ortho'
        its root to both.
    Returns: a real floating array with size `n` along the axis.
    Raises:
      ValueError: `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.hfft(jnp.array([1.0, 0.0, 0.0])))
      [1. 1. 1. 1.]
    """
    turned = _turned(norm)
    a = _n.asarray(a)
    return _one("hfft", FftType.IRFFT, _n.conj(a), n, axis, turned)


def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of `hfft`: half of the Hermitian signal whose transform is real.

    Args:
      a: a real array.
      n: how many elements to transform: more are cut off, missing ones are zeros; the size of the axis by default.
      axis: the axis; the last by default.
      norm: where the factor `1 / n` goes: 'backward' or None (the default) here, 'forward' to the other one,
        'ortho' its root to both.
    Returns: a complex array with size `n // 2 + 1` along the axis.
    Raises:
      ValueError: `a` is complex, `n` is not positive, the axis is out of bounds, several axes, or another `norm`.
    Differentiable: yes, in both modes; it is linear over the real numbers.
    Example:
      >>> print(jnp.abs(jnp.fft.ihfft(jnp.array([4.0, 0.0, 0.0, 0.0]))))
      [1. 1. 1.]
    """
    return _n.conj(_one("ihfft", FftType.RFFT, a, n, axis, _turned(norm)))


def _turned(norm):
    if norm in (None, "backward"):
        return "forward"
    return {"forward": "backward"}.get(norm, norm)


def fft2(a, s=None, axes=(-2, -1), norm=None):
    """The discrete Fourier transform along two axes.

    Args:
      a: an array of at least two axes; real numbers become complex.
      s: how many elements to transform along each axis; their sizes by default.
      axes: the two axes; the last ones by default.
      norm: where the factor goes, as for `fft`.
    Returns: a complex array with sizes `s` along the axes.
    Raises:
      ValueError: not two axes, an axis is out of bounds or occurs twice, a size that is not positive, or another
        `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.fft2(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
      [[1.+0.j 1.+0.j]
       [1.+0.j 1.+0.j]]
    """
    return _two("fft2", FftType.FFT, a, s, axes, norm)


def ifft2(a, s=None, axes=(-2, -1), norm=None):
    """The inverse of `fft2`.

    Args:
      a: an array of at least two axes; real numbers become complex.
      s: how many elements to transform along each axis; their sizes by default.
      axes: the two axes; the last ones by default.
      norm: where the factor goes, as for `ifft`.
    Returns: a complex array with sizes `s` along the axes.
    Raises:
      ValueError: not two axes, an axis is out of bounds or occurs twice, a size that is not positive, or another
        `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.ifft2(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
      [[1.+0.j 1.+0.j]
       [1.+0.j 1.+0.j]]
    """
    return _two("ifft2", FftType.IFFT, a, s, axes, norm)


def rfft2(a, s=None, axes=(-2, -1), norm=None):
    """The transform of real numbers along two axes; the last of them is halved as by `rfft`.

    Args:
      a: a real array of at least two axes.
      s: how many elements to transform along each axis; their sizes by default.
      axes: the two axes; the last ones by default.
      norm: where the factor goes, as for `fft`.
    Returns: a complex array with sizes `s[0]` and `s[1] // 2 + 1` along the axes.
    Raises:
      ValueError: `a` is complex, not two axes, an axis is out of bounds or occurs twice, a size that is not
        positive, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.rfft2(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
      [[1.+0.j 1.+0.j]
       [1.+0.j 1.+0.j]]
    """
    return _two("rfft2", FftType.RFFT, a, s, axes, norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None):
    """The inverse of `rfft2`.

    Args:
      a: an array of at least two axes; real numbers become complex.
      s: the sizes of the result along the axes; by default those of `a`, the last doubled less 2.
      axes: the two axes; the last ones by default.
      norm: where the factor goes, as for `ifft`.
    Returns: a real floating array with sizes `s` along the axes.
    Raises:
      ValueError: not two axes, an axis is out of bounds or occurs twice, a size that is not positive, or another
        `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.irfft2(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
      [[1. 1.]
       [1. 1.]]
    """
    return _two("irfft2", FftType.IRFFT, a, s, axes, norm)


def fftn(a, s=None, axes=None, norm=None):
    """The discrete Fourier transform along several axes.

    Args:
      a: an array; real numbers become complex.
      s: how many elements to transform along each axis; their sizes by default.
      axes: the axes; all by default, or as many last ones as `s` has sizes.
      norm: where the factor goes, as for `fft`.
    Returns: a complex array with sizes `s` along the axes.
    Raises:
      ValueError: an axis is out of bounds or occurs twice, a size that is not positive, `s` and `axes` of different
        lengths, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.fftn(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
      [[1.+0.j 1.+0.j]
       [1.+0.j 1.+0.j]]
    """
    return _several("fftn", FftType.FFT, a, s, axes, norm)


def ifftn(a, s=None, axes=None, norm=None):
    """The inverse of `fftn`.

    Args:
      a: an array; real numbers become complex.
      s: how many elements to transform along each axis; their sizes by default.
      axes: the axes; all by default, or as many last ones as `s` has sizes.
      norm: where the factor goes, as for `ifft`.
    Returns: a complex array with sizes `s` along the axes.
    Raises:
      ValueError: an axis is out of bounds or occurs twice, a size that is not positive, `s` and `axes` of different
        lengths, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.ifftn(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
      [[1.+0.j 1.+0.j]
       [1.+0.j 1.+0.j]]
    """
    return _several("ifftn", FftType.IFFT, a, s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None):
    """The transform of real numbers along several axes; the last of them is halved as by `rfft`.

    Args:
      a: a real array.
      s: how many elements to transform along each axis; their sizes by default.
      axes: the axes; all by default, or as many last ones as `s` has sizes.
      norm: where the factor goes, as for `fft`.
    Returns: a complex array with sizes `s` along the axes, but `s[-1] // 2 + 1` along the last.
    Raises:
      ValueError: `a` is complex, an axis is out of bounds or occurs twice, a size that is not positive, `s` and
        `axes` of different lengths, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.rfftn(jnp.array([[1.0, 0.0], [0.0, 0.0]])))
      [[1.+0.j 1.+0.j]
       [1.+0.j 1.+0.j]]
    """
    return _several("rfftn", FftType.RFFT, a, s, axes, norm)


def irfftn(a, s=None, axes=None, norm=None):
    """The inverse of `rfftn`.

    Args:
      a: an array; real numbers become complex.
      s: the sizes of the result along the axes; by default those of `a`, the last doubled less 2.
      axes: the axes; all by default, or as many last ones as `s` has sizes.
      norm: where the factor goes, as for `ifft`.
    Returns: a real floating array with sizes `s` along the axes.
    Raises:
      ValueError: an axis is out of bounds or occurs twice, a size that is not positive, `s` and `axes` of different
        lengths, or another `norm`.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.irfftn(jnp.array([[4.0, 0.0], [0.0, 0.0]])))
      [[1. 1.]
       [1. 1.]]
    """
    return _several("irfftn", FftType.IRFFT, a, s, axes, norm)


def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the elements of `fft`: `[0, 1, ..., -2, -1] / (n d)`, the negative ones in the second half.

    Args:
      n: the number of samples, a static integer.
      d: the distance of the samples, 1 by default; frequencies are in cycles per its unit.
      dtype: the dtype; the default float by default.
      device: for compatibility; without influence.
    Returns: a vector `[n]`.
    Raises:
      ValueError: `n` or `d` is a list or tuple.
      TypeError: `n` is no integer.
    Differentiable: with respect to `d`.
    Example:
      >>> print(jnp.fft.fftfreq(4))
      [ 0.    0.25 -0.5  -0.25]
    """
    n = _length("fftfreq", n, d)
    places = _n.arange(n)
    return _frequencies(_n.where(places < (n + 1) // 2, places, places - n), n, d, dtype)


def _frequencies(k, n, d, dtype):
    out = k / (_n.asarray(d) * n)
    return out.astype(_n.result_type(float) if dtype is None else dtype)


def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the elements of `rfft`: `[0, 1, ..., n // 2] / (n d)`.

    Args:
      n: the number of real samples, a static integer.
      d: the distance of the samples, 1 by default; frequencies are in cycles per its unit.
      dtype: the dtype; the default float by default.
      device: for compatibility; without influence.
    Returns: a vector `[n // 2 + 1]`.
    Raises:
      ValueError: `n` or `d` is a list or tuple.
      TypeError: `n` is no integer.
    Differentiable: with respect to `d`.
    Example:
      >>> print(jnp.fft.rfftfreq(4))
      [0.   0.25 0.5 ]
    """
    n = _length("rfftfreq", n, d)
    return _frequencies(_n.arange(n // 2 + 1), n, d, dtype)


def _length(name, n, d):
    if isinstance(n, (list, tuple)):
        raise _user_error(ValueError, f"The n argument of jax.numpy.fft.{name} only takes an int. Got n = {list(n)}.")
    if isinstance(d, (list, tuple)):
        raise _user_error(ValueError, f"The d argument of jax.numpy.fft.{name} only takes a single value. Got d = {list(d)}.")
    return operator.index(n)


def _shifted(x, axes, sign):
    x = _n.asarray(x)
    axes = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    shift = tuple(x.shape[axis] // 2 if sign > 0 else -(x.shape[axis] // 2) for axis in axes)
    return _n.roll(x, shift, axes)


def fftshift(x, axes=None):
    """The element of frequency zero moved to the middle: each axis rolled by half of its size.

    Args:
      x: an array.
      axes: the axis or axes; all by default.
    Returns: an array of the shape and dtype of `x`.
    Raises:
      IndexError: an axis is out of bounds.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.fftshift(jnp.fft.fftfreq(4)))
      [-0.5  -0.25  0.    0.25]
    """
    return _shifted(x, axes, 1)


def ifftshift(x, axes=None):
    """The inverse of `fftshift`: the element in the middle moved to the front.

    Args:
      x: an array.
      axes: the axis or axes; all by default.
    Returns: an array of the shape and dtype of `x`.
    Raises:
      IndexError: an axis is out of bounds.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.fft.ifftshift(jnp.array([-2, -1, 0, 1])))
      [ 0  1 -2 -1]
    """
    return _shifted(x, axes, -1)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
    "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]
