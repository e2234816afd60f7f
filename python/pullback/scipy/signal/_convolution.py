"""Convolution and correlation of arrays of any rank, directly and by way of Fourier transforms.

The sums of products are those of `jax.lax.conv_general_dilated`; here are the three ways to cut out the result.
"""

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.lax import conv_general_dilated as _conv
from pullback.numpy import fft as _fft

_n = _core.numpy

__all__ = ["convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve"]

_MODES = ("full", "same", "valid")


def _check_mode(mode):
    if mode not in _MODES:
        raise _user_error(ValueError, f"mode must be one of {list(_MODES)}, got {mode!r}")


def _fits(inner, outer):
    return all(small <= large for small, large in zip(inner, outer))


def _check_valid(shape1, shape2):
    if not _fits(shape1, shape2) and not _fits(shape2, shape1):
        raise _user_error(ValueError, f"One input must be smaller than the other in every dimension for mode 'valid', got shapes {shape1} and {shape2}.")


def _operands(name, in1, in2):
    """Both operands in their common floating dtype."""
    in1, in2 = _n._promote_inexact(name, in1, in2)
    if in1.ndim != in2.ndim:
        raise _user_error(ValueError, f"{name}: in1 and in2 must have the same number of dimensions, got shapes {in1.shape} and {in2.shape}")
    return in1, in2


def _paddings(sizes, mode, starts):
    """How much to pad around the first operand, of which mode 'same' begins at `starts` in the full result."""
    if mode == "valid":
        return [(0, 0)] * len(sizes)
    if mode == "full":
        return [(size - 1, size - 1) for size in sizes]
    return [(size - 1 - start, start) for size, start in zip(sizes, starts)]


def _direct(name, in1, in2, mode, starts, precision):
    _check_mode(mode)
    if 0 in in1.shape or 0 in in2.shape:
        raise _user_error(ValueError, f"{name}: zero-size arrays not supported in convolutions, got shapes {in1.shape} and {in2.shape}.")
    if mode == "valid":
        _check_valid(in1.shape, in2.shape)
        if not _fits(in2.shape, in1.shape):
            in1, in2 = in2, in1
    padding = _paddings(in2.shape, mode, starts)
    return _conv(in1[None, None], _n.flip(in2)[None, None], (1,) * in1.ndim, padding, precision=precision)[0, 0]


def _centred(shape):
    return [(size - 1) // 2 for size in shape]


def _convolved(name, in1, in2, mode, method, precision):
    if method == "fft":
        return fftconvolve(in1, in2, mode=mode)
    if method not in ("direct", "auto"):
        raise _user_error(ValueError, f"{name}: got method={method!r}; expected 'auto', 'fft', or 'direct'.")
    return _direct(name, in1, in2, mode, _centred(in2.shape), precision)


def _conjugate(x):
    return _n.conj(x) if x.dtype.kind == "c" else x


def _turned(x):
    """An array with which a convolution is a correlation."""
    return _n.flip(_conjugate(x))


def convolve(in1, in2, mode="full", method="auto", precision=None):
    """The convolution of two arrays of one rank: `sum(in1[i] * in2[k - i])` for each place k.

    Args:
      in1, in2: arrays of the same rank; integers become floating.
      mode: "full" for all places where they meet, of sizes `n1 + n2 - 1`; "same" for the middle of these, of the sizes of
        `in1`; "valid" for those where the smaller lies wholly within the larger.
      method: "direct" or "auto" for sums of products, "fft" for `fftconvolve`.
      precision: as `jax.lax.conv_general_dilated` takes it; without influence on "fft".
    Returns: an array of the promoted floating or complex dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: ranks differ, an array is empty, no array fits into the other in mode "valid", or there is no such mode,
        method or precision.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.signal.convolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0]), mode="same"))
      [ 1. 12. 23.]
    """
    in1, in2 = _operands("convolve", in1, in2)
    return _convolved("convolve", in1, in2, mode, method, precision)


def correlate(in1, in2, mode="full", method="auto", precision=None):
    """The cross-correlation of two arrays of one rank: `sum(in1[i + k] * conj(in2[i]))` for each lag k.

    Args:
      in1, in2: arrays of the same rank; integers become floating.
      mode: "full" for all lags where they meet, of sizes `n1 + n2 - 1`; "same" for the middle of these, of the sizes of `in1`;
        "valid" for those where the smaller lies wholly within the larger.
      method: "direct" or "auto" for sums of products, "fft" for Fourier transforms.
      precision: as `jax.lax.conv_general_dilated` takes it; without influence on "fft".
    Returns: an array of the promoted floating or complex dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: ranks differ, an array is empty, no array fits into the other in mode "valid", or there is no such mode,
        method or precision.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.signal.correlate(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])))
      [10. 21. 32.  3.]
    """
    in1, in2 = _operands("correlate", in1, in2)
    return _convolved("correlate", in1, _turned(in2), mode, method, precision)


def _images(name, in1, in2, boundary, fillvalue):
    if boundary != "fill" or fillvalue != 0:
        raise _user_error(NotImplementedError, f"{name}() only supports boundary='fill', fillvalue=0; got boundary={boundary!r}, fillvalue={fillvalue!r}. "
                          "Pad the first array with jax.numpy.pad and use mode='valid'.")
    if _n.ndim(in1) != 2 or _n.ndim(in2) != 2:
        raise _user_error(ValueError, f"{name}() only supports 2-dimensional inputs, got shapes {_n.shape(in1)} and {_n.shape(in2)}.")
    return _operands(name, in1, in2)


def convolve2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The convolution of two matrices: `sum(in1[i, j] * in2[k - i, l - j])` for each place.

    Args:
      in1, in2: matrices; integers become floating.
      mode: "full" for all places where they meet; "same" for the middle of these, of the shape of `in1`; "valid" for those
        where the smaller lies wholly within the larger.
      boundary: must be "fill".
      fillvalue: must be 0.
      precision: as `jax.lax.conv_general_dilated` takes it.
    Returns: a matrix of the promoted floating or complex dtype.
    Raises:
      NotImplementedError: another boundary or value.
      TypeError: an argument is no array.
      ValueError: an argument is no matrix or empty, no matrix fits into the other in mode "valid", or there is no such mode.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.signal.convolve2d(jnp.eye(2), jnp.array([[1.0, 2.0]])))
      [[1. 2. 0.]
       [0. 1. 2.]]
    """
    in1, in2 = _images("convolve2d", in1, in2, boundary, fillvalue)
    return _direct("convolve2d", in1, in2, mode, _centred(in2.shape), precision)


def correlate2d(in1, in2, mode="full", boundary="fill", fillvalue=0, precision=None):
    """The cross-correlation of two matrices: `sum(in1[i + k, j + l] * conj(in2[i, j]))` for each pair of lags.

    Args:
      in1, in2: matrices; integers become floating.
      mode: "full" for all lags where they meet; "same" for the middle of these, of the shape of `in1`, where of two middles it
        is the later one; "valid" for those where the smaller lies wholly within the larger, and is the one that is conjugated.
      boundary: must be "fill".
      fillvalue: must be 0.
      precision: as `jax.lax.conv_general_dilated` takes it.
    Returns: a matrix of the promoted floating or complex dtype.
    Raises:
      NotImplementedError: another boundary or value.
      TypeError: an argument is no array.
      ValueError: an argument is no matrix or empty, no matrix fits into the other in mode "valid", or there is no such mode.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.signal.correlate2d(jnp.eye(2), jnp.array([[1.0, 2.0]])))
      [[2. 1. 0.]
       [0. 2. 1.]]
    """
    in1, in2 = _images("correlate2d", in1, in2, boundary, fillvalue)
    if mode == "valid" and not _fits(in2.shape, in1.shape):
        in1, in2 = _conjugate(in1), _conjugate(in2)
    return _direct("correlate2d", in1, _turned(in2), mode, [size // 2 for size in in2.shape], precision)


def _quick_length(size):
    """The least length from `size` on without prime factors above 5, whose transform takes `n log n`."""
    while True:
        rest = size
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 1


def _transforms(dtype):
    return (_fft.fftn, _fft.ifftn) if dtype.kind == "c" else (_fft.rfftn, _fft.irfftn)


def _full_by_fft(in1, in2, axes, sizes):
    if not axes:
        return in1 * in2
    forward, backward = _transforms(in1.dtype)
    lengths = [_quick_length(size) for size in sizes]
    out = backward(forward(in1, lengths, axes) * forward(in2, lengths, axes), lengths, axes)
    return _cut(out, axes, [0] * len(axes), sizes).astype(in1.dtype)


def _cut(x, axes, starts, sizes):
    parts = [slice(None)] * x.ndim
    for axis, start, size in zip(axes, starts, sizes):
        parts[axis] = slice(start, start + size)
    return x[tuple(parts)]


def _axes(axes, ndim):
    given = range(ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    for axis in given:
        if not -ndim <= axis < ndim:
            raise _user_error(ValueError, f"fftconvolve: axis {axis} is out of bounds for array of dimension {ndim}")
    return sorted({axis % ndim for axis in given})


def fftconvolve(in1, in2, mode="full", axes=None):
    """The convolution of two arrays of one rank as a product of their Fourier transforms (DLMF 1.14.5), padded with zeros.

    It takes `n log n` products, but its error is that of the largest element everywhere.

    Args:
      in1, in2: arrays of the same rank; integers become floating.
      mode: "full" for all places where they meet, of sizes `n1 + n2 - 1`; "same" for the middle of these, of the sizes of
        `in1`; "valid" for those where the smaller lies wholly within the larger.
      axes: an axis or several along which to convolve, all by default; along the others the arrays have equal sizes.
    Returns: an array of the promoted floating or complex dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: ranks or sizes of other axes differ, an axis is out of bounds, the dtype has 16 bits, no array fits into the
        other in mode "valid", or there is no such mode.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.signal.fftconvolve(jnp.array([1.0, 2.0, 3.0]), jnp.array([1.0, 10.0])).round(3))
      [ 1. 12. 23. 30.]
    """
    in1, in2 = _operands("fftconvolve", in1, in2)
    _check_mode(mode)
    axes = _axes(axes, in1.ndim)
    if any(a != b for axis, (a, b) in enumerate(zip(in1.shape, in2.shape)) if axis not in axes):
        raise _user_error(ValueError, f"fftconvolve: mapped axes must have same shape; got in1.shape={in1.shape} in2.shape={in2.shape} axes={axes}")
    shape1, shape2 = ([x.shape[axis] for axis in axes] for x in (in1, in2))
    if mode == "valid":
        _check_valid(shape1, shape2)
    full = [max(a + b - 1, 0) for a, b in zip(shape1, shape2)]
    if 0 in in1.shape or 0 in in2.shape:
        out = _n.zeros([full[axes.index(axis)] if axis in axes else size for axis, size in enumerate(in1.shape)], in1.dtype)
    else:
        out = _full_by_fft(in1, in2, axes, full)
    return _cut_to(mode, out, axes, full, shape1, shape2)


def _cut_to(mode, full, axes, sizes, shape1, shape2):
    """The part of a full convolution that a mode asks for, which begins where as much is left out on either side."""
    if mode == "full":
        return full
    wanted = shape1 if mode == "same" else [abs(a - b) + 1 for a, b in zip(shape1, shape2)]
    starts = [(have - want) // 2 for have, want in zip(sizes, wanted)]
    return _cut(full, axes, starts, wanted)


