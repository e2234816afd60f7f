"""Spectra of signals in short, overlapping segments, and signals from such spectra.

The segments go along two new last axes, [segments, places]; what is done to the one is the transform, to the other the average.
"""

import warnings as _warnings
from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

import numpy as _np

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.numpy import fft as _fft
from pullback.scipy.signal._windows import named_window as _named_window

_n, _detrend = _core.numpy, _core.scipy.signal.detrend

__all__ = ["csd", "istft", "stft", "welch"]

class _Segments(_NamedTuple):
    """How a signal is cut: lengths of segments, of what they share and of their transforms, and the window."""

    length: int
    overlap: int
    n_fft: int
    window: _Any

    @property
    def step(self):
        return self.length - self.overlap

    def places(self, count):
        """The places in the signal of the elements of so many segments."""
        return _np.arange(count)[:, None] * self.step + _np.arange(self.length)


# Checks of what the caller gives


def _axis(name, axis, ndim):
    if not -ndim <= axis < ndim:
        raise _user_error(ValueError, f"{name}: axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def _positive(nperseg):
    nperseg = int(nperseg)
    if nperseg < 1:
        raise _user_error(ValueError, f"nperseg must be a positive integer, got {nperseg}")
    return nperseg


def _given_window(window):
    window = _n.asarray(window)
    if window.ndim != 1:
        raise _user_error(ValueError, f"window must be 1-D, got shape {window.shape}")
    return window


def _window_and_length(window, nperseg, size):
    """The window as an array, and how long segments of a signal of `size` are."""
    if isinstance(window, (str, tuple)):
        nperseg = size if nperseg is None else _positive(nperseg)
        if nperseg > size:
            _warnings.warn(f"nperseg = {nperseg} is greater than signal length {size}, using nperseg = {size}", stacklevel=4)
            nperseg = size
        return _named_window(window, nperseg), nperseg
    window = _given_window(window)
    length = window.shape[0]
    if length > size:
        raise _user_error(ValueError, f"window is longer than input signal: {length} > {size}")
    if nperseg is not None and _positive(nperseg) != length:
        raise _user_error(ValueError, f"value specified for nperseg is different from length of window: {nperseg} and {length}")
    return window, length


def _overlap(noverlap, nperseg):
    noverlap = nperseg // 2 if noverlap is None else int(noverlap)
    if noverlap >= nperseg:
        raise _user_error(ValueError, f"noverlap must be less than nperseg, got {noverlap} and {nperseg}.")
    return noverlap


def _segments(window, nperseg, noverlap, nfft, size):
    window, length = _window_and_length(window, nperseg, size)
    n_fft = length if nfft is None else int(nfft)
    if n_fft < length:
        raise _user_error(ValueError, f"nfft must be greater than or equal to nperseg, got {n_fft} and {length}.")
    return _Segments(length, _overlap(noverlap, length), n_fft, window)


# What surrounds a signal


def _padded_by(widths, **options):
    from pullback.numpy import pad

    return lambda x, size: pad(x, [(0, 0)] * (x.ndim - 1) + [widths(size)], **options)


def _both(size):
    return size, size


_BOUNDARIES = {
    "even": _padded_by(_both, mode="reflect"),
    "odd": _padded_by(_both, mode="reflect", reflect_type="odd"),
    "constant": _padded_by(_both, mode="edge"),
    "zeros": _padded_by(_both),
    None: lambda x, size: x,
}
_zeros_behind = _padded_by(lambda size: (0, size))


def _trend_remover(detrend):
    """What is done to segments, whose places are the last axis."""
    if isinstance(detrend, str):
        return lambda segments: _detrend(segments, -1, detrend)
    if not detrend:
        return lambda segments: segments
    if not callable(detrend):
        raise _user_error(ValueError, f"Unsupported detrend type: {detrend}. It is 'constant', 'linear', False or a function of segments.")
    return detrend


# Transforms


def _transformed(x, segments, remove_trend, is_onesided):
    """The spectrum of each segment: `[..., segments, frequencies]`."""
    count = (x.shape[-1] - segments.length) // segments.step + 1
    cut = remove_trend(x[..., segments.places(count)])
    windowed = cut * _n.asarray(segments.window).astype(x.dtype)
    return (_fft.rfft if is_onesided else _fft.fft)(windowed, segments.n_fft)


def _scale(scaling, window, fs, dtype):
    window = _n.asarray(window).astype(dtype)
    if scaling == "density":
        return 1.0 / (fs * (window * window).sum())
    if scaling == "spectrum":
        return 1.0 / window.sum() ** 2
    raise _user_error(ValueError, f"Unknown scaling: {scaling}; it is 'density' or 'spectrum'")


def _with_negative(spectrum, n_fft):
    """One side of a spectrum with the power of the other, but that of frequency zero, and of half the rate, which have none."""
    twice = _np.full(spectrum.shape[-1], 2)
    twice[0] = 1
    if n_fft % 2 == 0:
        twice[-1] = 1
    return spectrum * _n.asarray(twice, _real_dtype(spectrum))


def _real_dtype(x):
    return _n.real(x[..., :0]).dtype


def _frequencies(segments, fs, is_onesided, dtype):
    return (_fft.rfftfreq if is_onesided else _fft.fftfreq)(segments.n_fft, 1 / fs).astype(dtype)


def _prepared(x, segments, boundary, padded):
    if boundary not in _BOUNDARIES:
        raise _user_error(ValueError, f"Unknown boundary option '{boundary}', must be one of: {list(_BOUNDARIES)}")
    if segments.length > 1:
        x = _BOUNDARIES[boundary](x, segments.length // 2)
    if padded:
        x = _zeros_behind(x, (segments.length - x.shape[-1]) % segments.step % segments.length)
    return x


def _is_onesided(wanted, *xs):
    if wanted and any(x.dtype.kind == "c" for x in xs):
        _warnings.warn("Input data is complex, switching to return_onesided=False", stacklevel=4)
        return False
    return wanted


def _times(segments, n_samples, fs, starts_before, dtype):
    """The middles of the segments; those before the signal begins are at negative places of it."""
    count = (n_samples - segments.length) // segments.step + 1
    middles = _np.arange(count) * segments.step + (0 if starts_before else segments.length / 2)
    return _n.asarray(middles, dtype) / _n.asarray(fs, dtype)


def stft(x, fs=1.0, window="hann", nperseg=256, noverlap=None, nfft=None, detrend=False, return_onesided=True, boundary="zeros",
         padded=True, axis=-1):
    """The spectra of a signal in short, overlapping segments.

    J. Allen and L. Rabiner, "A unified approach to short-time Fourier analysis and synthesis" (1977).

    Args:
      x: an array of numbers, float32 or wider; integers become floating.
      fs: the rate of samples.
      window: a name, a tuple of a name and parameters, or a vector; names are those of `scipy.signal.get_window`.
      nperseg: how long segments are: at most as the signal, and as a window that is a vector.
      noverlap: how many samples neighbouring segments share, half a segment by default.
      nfft: how long transforms are, with zeros behind the segments; `nperseg` by default.
      detrend: "constant" or "linear" for `jax.scipy.signal.detrend` of segments, a function of them, `[..., segments, places]`,
        or False.
      return_onesided: whether to leave out the negative frequencies, if `x` is real.
      boundary: what is put half a segment before and behind: "zeros", "even", "odd" or "constant" continuation, or None.
      padded: whether to put zeros behind so that segments take all samples.
      axis: the axis along which samples follow each other.
    Returns: frequencies, times of the segments' middles, and the complex spectra: frequencies in place of `axis`, times last.
    Raises:
      ValueError: lengths that do not go together, an unknown name or option, 16-bit numbers, or an axis out of bounds.
      TypeError: `x` is no array or number.
    Differentiable: yes, with respect to `x`, where linear, and to a window that is a vector, in both modes.
    Example:
      >>> frequencies, times, spectra = jax.scipy.signal.stft(jnp.ones(8), nperseg=4)
      >>> print(frequencies, times, spectra.shape)
      [0.   0.25 0.5 ] [0. 2. 4. 6. 8.] (3, 5)
    """
    (x,) = _n._promote_inexact("stft", x)
    axis = _axis("stft", axis, x.ndim)
    dtype = _real_dtype(x)
    if x.size == 0:
        empty = _n.zeros(x.shape, dtype)
        return empty, empty, empty.astype(_n.result_type(dtype, _np.complex64))
    x = _n.moveaxis(x, axis, -1)
    segments = _segments(window, nperseg, noverlap, nfft, x.shape[-1])
    is_onesided = _is_onesided(return_onesided, x)
    x = _prepared(x, segments, boundary, padded)
    spectra = _transformed(x, segments, _trend_remover(detrend), is_onesided)
    spectra = spectra * _n.sqrt(_scale("spectrum", segments.window, fs, dtype))
    times = _times(segments, x.shape[-1], fs, boundary is not None, dtype)
    return _frequencies(segments, fs, is_onesided, dtype), times, _n.moveaxis(spectra, -1, axis)


# Powers


def _same_length(x, y):
    """Both with zeros behind the shorter."""
    size = max(x.shape[-1], y.shape[-1])
    return (_zeros_behind(z, size - z.shape[-1]) for z in (x, y))


def _outer_shape(x, y):
    """The shape that all axes but the last broadcast to."""
    try:
        return _np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    except ValueError:
        shapes = f"outside of the axis of samples they have shapes {x.shape[:-1]} and {y.shape[:-1]}"
        raise _user_error(ValueError, f"x and y cannot be broadcast together: {shapes}.") from None


def _median_bias(count):
    """The median of so many exponential numbers over their mean: a sum of `(-1)**k / (k + 1)`.

    B. Allen et al., "FINDCHIRP" (2012), appendix B.
    """
    even = 2 * _np.arange(1, (count - 1) // 2 + 1)
    return 1 + (1 / (even + 1) - 1 / even).sum()


def _median(powers):
    if powers.dtype.kind != "c":
        return _n.median(powers, -2)
    from pullback.lax import complex as with_imaginary

    return with_imaginary(_n.median(_n.real(powers), -2), _n.median(_n.imag(powers), -2))


def _averaged(powers, average):
    count = powers.shape[-2]
    if count == 1:
        return powers[..., 0, :]
    if average == "mean":
        return powers.mean(-2)
    if average == "median":
        return _median(powers) / _n.asarray(_median_bias(count), _real_dtype(powers))
    raise _user_error(ValueError, f'average must be "median" or "mean", got {average}')


def _cross_power(x, y, segments, remove_trend, is_onesided):
    """The products of the spectra of both signals, or of the only one with itself, which is real."""
    spectra = _transformed(x, segments, remove_trend, is_onesided)
    if y is None:
        return _n.real(spectra * _n.conj(spectra))
    return _n.conj(spectra) * _transformed(y, segments, remove_trend, is_onesided)


def _power(name, x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average):
    x, *rest = _n._promote_inexact(name, x, *(() if y is None else (y,)))
    axis = _axis(name, axis, x.ndim)
    if rest and rest[0].ndim != x.ndim:
        raise _user_error(ValueError, f"{name}: two arguments must have the same rank ({x.ndim} vs {rest[0].ndim}).")
    x, y = _n.moveaxis(x, axis, -1), _n.moveaxis(rest[0], axis, -1) if rest else None
    dtype = _real_dtype(x)
    if x.size == 0 or y is not None and y.size == 0:
        return _no_power(x, y, axis, dtype)
    if y is not None:
        _outer_shape(x, y)
        x, y = _same_length(x, y)
    segments = _segments(window, nperseg, noverlap, nfft, x.shape[-1])
    is_onesided = _is_onesided(return_onesided, x)
    powers = _cross_power(x, y, segments, _trend_remover(detrend), is_onesided) * _scale(scaling, segments.window, fs, dtype)
    if is_onesided:
        powers = _with_negative(powers, segments.n_fft)
    return _frequencies(segments, fs, is_onesided, dtype), _n.moveaxis(_averaged(powers, average), -1, axis)


def _no_power(x, y, axis, dtype):
    """Of signals without samples or channels."""
    if y is None:
        empty = _n.moveaxis(_n.zeros(x.shape, dtype), -1, axis)
        return empty, empty
    shape = (*_outer_shape(x, y), min(x.shape[-1], y.shape[-1]))
    empty = _n.moveaxis(_n.zeros(shape, dtype), -1, axis)
    return empty, empty.astype(_n.result_type(dtype, _np.complex64))


def csd(x, y, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
        scaling="density", axis=-1, average="mean"):
    """The cross spectral density of two signals: products of their spectra, averaged over segments.

    P. Welch, "The use of fast Fourier transform for the estimation of power spectra" (1967).

    Args:
      x: an array of numbers, float32 or wider; integers become floating.
      y: another of the same rank, whose other axes broadcast with those of `x`, and with zeros behind the shorter; None is `x`.
      fs: the rate of samples.
      window: a name, a tuple of a name and parameters, or a vector; names are those of `scipy.signal.get_window`.
      nperseg: how long segments are: at most as the signal; by default as a window that is a vector, else as the signal.
      noverlap: how many samples neighbouring segments share, half a segment by default.
      nfft: how long transforms are, with zeros behind the segments; `nperseg` by default.
      detrend: "constant" or "linear" for `jax.scipy.signal.detrend` of segments, a function of them, `[..., segments, places]`,
        or False.
      return_onesided: whether to count the power of negative frequencies to the positive ones, if both are real.
      scaling: "density" for power by frequency, "spectrum" for power.
      axis: the axis along which samples follow each other.
      average: the "mean", or the "median" without its bias.
    Returns: frequencies, and `conj(X) Y` for them along `axis`: complex, real without `y`.
    Raises:
      ValueError: shapes or lengths that do not go together, an unknown name or option, 16-bit numbers, or an axis out of bounds.
      TypeError: a signal is no array or number.
    Differentiable: yes, with respect to both, and to a window that is a vector and `fs`, in both modes.
    Example:
      >>> x = jnp.sin(jnp.arange(64.0))
      >>> frequencies, power = jax.scipy.signal.csd(x, 2 * x, nperseg=8)
      >>> print(frequencies[power.real.argmax()], power.dtype)
      0.125 complex64
    """
    return _power("csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


def welch(x, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, detrend="constant", return_onesided=True,
          scaling="density", axis=-1, average="mean"):
    """The power spectral density of a signal: squares of its spectra, averaged over segments.

    P. Welch, "The use of fast Fourier transform for the estimation of power spectra" (1967).

    Args:
      x: an array of numbers, float32 or wider; integers become floating.
      fs: the rate of samples.
      window: a name, a tuple of a name and parameters, or a vector; names are those of `scipy.signal.get_window`.
      nperseg: how long segments are: at most as the signal; by default as a window that is a vector, else as the signal.
      noverlap: how many samples neighbouring segments share, half a segment by default.
      nfft: how long transforms are, with zeros behind the segments; `nperseg` by default.
      detrend: "constant" or "linear" for `jax.scipy.signal.detrend` of segments, a function of them, `[..., segments, places]`,
        or False.
      return_onesided: whether to count the power of negative frequencies to the positive ones, if `x` is real.
      scaling: "density" for power by frequency, "spectrum" for power.
      axis: the axis along which samples follow each other.
      average: the "mean", or the "median" without its bias.
    Returns: frequencies, and the real powers for them along `axis`.
    Raises:
      ValueError: lengths that do not go together, an unknown name or option, 16-bit numbers, or an axis out of bounds.
      TypeError: `x` is no array or number.
    Differentiable: yes, with respect to `x`, and to a window that is a vector and `fs`, in both modes.
    Example:
      >>> frequencies, power = jax.scipy.signal.welch(jnp.sin(jnp.arange(64.0)), nperseg=8)
      >>> print(frequencies[power.argmax()], power.shape)
      0.125 (5,)
    """
    return _power("welch", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis, average)


# The way back


def _inverse_segments(window, nperseg, noverlap, nfft, n_frequencies, is_onesided):
    """How a signal was cut, from what the caller says and how many frequencies there are."""
    n_default = 2 * (n_frequencies - 1) if is_onesided else n_frequencies
    length = _positive(nperseg or n_default)
    # One side of a spectrum has as many frequencies for an odd length as for the even one below.
    n_fft = length if nfft is None and is_onesided and length == n_default + 1 else int(n_default if nfft is None else nfft)
    if n_fft < length:
        raise _user_error(ValueError, f"FFT length ({n_fft}) must be longer than nperseg ({length}).")
    window = _named_window(window, length) if isinstance(window, (str, tuple)) else _given_window(window)
    if window.shape[0] != length:
        raise _user_error(ValueError, f"window must have length of {length}, got {window.shape[0]}")
    return _Segments(length, _overlap(noverlap, length), n_fft, window)


def _overlapped(pieces, segments):
    """The sum of segments at their places: the transpose of cutting them."""
    places = segments.places(pieces.shape[-2])
    return _n.zeros((*pieces.shape[:-2], places[-1, -1] + 1), pieces.dtype).at[..., places].add(pieces)


def _axes_of_spectra(shape, time_axis, freq_axis):
    if len(shape) < 2:
        raise _user_error(ValueError, f"Input stft must be at least 2d! It has shape {shape}.")
    time_axis, freq_axis = (_axis("istft", axis, len(shape)) for axis in (time_axis, freq_axis))
    if time_axis == freq_axis:
        raise _user_error(ValueError, "Must specify differing time and frequency axes!")
    if not shape[time_axis]:
        raise _user_error(ValueError, f"istft: there are no segments along axis {time_axis} of shape {shape}")
    return time_axis, freq_axis


# Where windows sum to less than this nothing is known of the signal.
_LEAST_WEIGHT = 1e-10


def istft(Zxx, fs=1.0, window="hann", nperseg=None, noverlap=None, nfft=None, input_onesided=True, boundary=True, time_axis=-1,
          freq_axis=-2):
    """The signal of which `stft` gives such spectra, of least squares where none does.

    D. Griffin and J. Lim, "Signal estimation from modified short-time Fourier transform" (1984).

    Args:
      Zxx: spectra of segments.
      fs: the rate of samples.
      window: that of the transform: a name, a tuple of a name and parameters, or a vector.
      nperseg: how long segments were; by default as the number of frequencies says, which is even for one side.
      noverlap: how many samples neighbouring segments shared, half a segment by default.
      nfft: how long transforms were; as `nperseg` by default.
      input_onesided: whether negative frequencies were left out, so that the signal is real.
      boundary: whether half a segment was put before and behind, which is taken away again.
      time_axis: the axis of segments.
      freq_axis: the axis of frequencies.
    Returns: times of samples, and the signal: samples in place of the earlier of the two axes. As in SciPy there are as many
      times as the signal has elements along its first axis.
    Raises:
      ValueError: lengths that do not go together, an unknown window, equal axes, or fewer than two axes.
      TypeError: `Zxx` is no array or number.
    Differentiable: yes, with respect to `Zxx`, where linear, and to a window that is a vector, in both modes.
    Example:
      >>> x = jnp.array([1.0, 2.0, 3.0, 2.0])
      >>> spectra = jax.scipy.signal.stft(x, nperseg=2)[2]
      >>> print(jax.scipy.signal.istft(spectra)[1])
      [1. 2. 3. 2.]
    """
    (spectra,) = _n._promote_inexact("istft", Zxx)
    time_axis, freq_axis = _axes_of_spectra(spectra.shape, time_axis, freq_axis)
    dtype = _real_dtype(spectra)
    spectra = _n.moveaxis(spectra, (time_axis, freq_axis), (-2, -1))
    segments = _inverse_segments(window, nperseg, noverlap, nfft, spectra.shape[-1], input_onesided)
    weights = _n.asarray(segments.window).astype(dtype)
    pieces = (_fft.irfft if input_onesided else _fft.ifft)(spectra, segments.n_fft)[..., : segments.length]
    x = _overlapped(pieces * weights * weights.sum(), segments)
    norm = _overlapped(_n.broadcast_to(weights * weights, pieces.shape[-2:]), segments)
    x = x / _n.where(norm > _LEAST_WEIGHT, norm, 1)
    if boundary and segments.length > 1:
        x = x[..., segments.length // 2 : -(segments.length // 2)]
    x = _n.moveaxis(x, -1, time_axis - (time_axis > freq_axis))
    return _n.arange(x.shape[0]).astype(dtype) / _n.asarray(fs, dtype), x
