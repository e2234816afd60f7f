"""`scipy.signal` gives what JAX's gives: lines that are run on both, and windows beside SciPy's."""

import importlib
import warnings

import numpy as np
import pytest
from differential import Asked, check_equal, lines_of, names_of, run

import pullback
from pullback.scipy.signal._windows import _BY_NAME, named_window

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402


def names(system):
    jnp, signal = system.numpy, importlib.import_module(f"{system.__name__}.scipy.signal")
    rng = np.random.RandomState(0)

    def a(*shape):
        return jnp.asarray(rng.randn(*shape))

    time = np.arange(200.0)
    ramp, wave = jnp.asarray(np.sin(time * 0.3) + time / 1000), jnp.asarray(np.cos(time * 0.2))
    A, short = a(5, 6), ramp[:100]
    return names_of(system) | {
        "s": signal, "A": A, "B": a(2, 3), "C": a(4, 1), "D": A + 1j * A[::-1], "E": a(3, 4, 2), "F": a(2, 2, 2), "v": a(5),
        "two": jnp.stack([ramp, wave]), "T": short, "V": wave[:100], "U": jnp.stack([a(2, 60), a(2, 60)], -1), "R": a(100),
        "Z": signal.stft(short, nperseg=16)[2], "Z5": signal.stft(short, nperseg=16, noverlap=5)[2],
        "W": signal.stft(jnp.stack([ramp, wave]), nperseg=16)[2],
        "f64": jnp.arange(20.0), "f32": jnp.arange(20, dtype="float32") ** 2, "i32": jnp.arange(20, dtype="int32"),
    }


PAIRS = [("A", "B"), ("B", "A"), ("A", "C"), ("D", "B"), ("B", "D"), ("x", "v"), ("v", "x"), ("c", "v"), ("i", "v"), ("E", "F")]
MODES = ["full", "same", "valid"]
CONVOLUTIONS = [
    f"s.{name}({a}, {b}, {mode!r}{method})"
    for name in ("convolve", "correlate") for a, b in PAIRS for mode in MODES for method in ("", ', "fft"')
]
IMAGES = [f"s.{name}({a}, {b}, {mode!r})" for name in ("convolve2d", "correlate2d") for a, b in PAIRS[:5] for mode in MODES]
ALONG = [
    f"s.fftconvolve({a}, {b}, {mode!r}, axes={axes})"
    for a, b in (("A", "A[:, :3]"), ("A[:2]", "A"), ("D", "D[:, 2:3]")) for mode in MODES for axes in ("0", "1", "(-1,)", "(1, 1)", "None", "()")
]
OTHERS = lines_of("""
    s.convolve(i, i)
    s.convolve(b, b)
    s.convolve(h, h)
    s.convolve(x, x[:0])
    s.convolve(x, m)
    s.convolve(x, x, "foo")
    s.convolve(x, x, method="foo")
    s.convolve(x, x, method="fft", mode="foo")
    s.convolve(x, x, precision="foo")
    s.convolve(A[:, :1], A[:1], "valid")
    s.convolve(jnp.float32(2), jnp.float32(3))
    s.correlate(c, c * 2j)
    s.correlate(i, i)
    s.convolve2d(A, B, boundary="wrap")
    s.convolve2d(A, B, fillvalue=1)
    s.convolve2d(x, x)
    s.correlate2d(A, x)
    s.correlate2d(A, B, "foo")
    s.correlate2d(A[:0], B)
    s.correlate2d(A[:1], A[:, :1], "valid")
    s.correlate2d(A.astype(int), B.astype(int))
    s.fftconvolve(i, i)
    s.fftconvolve(2.0, 3.0)
    s.fftconvolve([1, 2], [3, 4.0])
    s.fftconvolve(h, h)
    s.fftconvolve(x, m)
    s.fftconvolve(x[:0], x)
    s.fftconvolve(A, A, axes=(5,))
    s.fftconvolve(A, B, axes=1)
    s.fftconvolve(A[:, :1], A[:1], "valid")
    s.detrend(v)
    s.detrend(i)
    s.detrend([1, 2, 4])
    s.detrend(c)
    s.detrend(A, 0)
    s.detrend(A, type="constant")
    s.detrend(i, type="constant")
    s.detrend(v, bp=2)
    s.detrend(T, bp=[20, 50])
    s.detrend(v, bp=np.array([1, 5]))
    s.detrend(v, bp=7)
    s.detrend(v, bp=-1)
    s.detrend(v, type="foo")
    s.detrend(v, axis=5)
    s.detrend(2.0)
    s.detrend(v, overwrite_data=False)
    s.detrend(v[:1])
    s.stft(T)
    s.stft(T, nperseg=16)
    s.stft(T, nperseg=17)
    s.stft(T, nperseg=16.5)
    s.stft(T, nperseg=None)
    s.stft(T, nperseg=0)
    s.stft(T, nperseg=16, noverlap=4)
    s.stft(T, nperseg=16, noverlap=15)
    s.stft(T, nperseg=16, noverlap=16)
    s.stft(T, nperseg=16, noverlap=-1)
    s.stft(T, nperseg=16, nfft=21)
    s.stft(T, nperseg=16, nfft=10)
    s.stft(T, nperseg=16, window="hamming")
    s.stft(T, nperseg=16, window=("kaiser", 4.0))
    s.stft(T, nperseg=16, window="kaiser")
    s.stft(T, nperseg=16, window="foo")
    s.stft(T, nperseg=16, window=("foo", 3))
    s.stft(T, nperseg=16, window=3.0)
    s.stft(T, nperseg=16, window=None)
    s.stft(T, nperseg=16, window=np.hanning(16))
    s.stft(T, nperseg=16, window=np.hanning(15))
    s.stft(T, nperseg=16, window=np.ones((2, 2)))
    s.stft(T, window=jnp.ones(16))
    s.stft(T, window=jnp.ones(16), nperseg=None)
    s.stft(T, window=jnp.ones(160), nperseg=None)
    s.stft(T, nperseg=16, window=jnp.ones(16) * (1 + 1j))
    s.stft(T, nperseg=16, detrend="constant")
    s.stft(T, nperseg=16, detrend="linear")
    s.stft(T, nperseg=16, detrend=lambda d: d - 1)
    s.stft(T, nperseg=16, detrend=True)
    s.stft(T, nperseg=16, detrend="foo")
    s.stft(T, nperseg=16, return_onesided=False)
    s.stft(T, nperseg=16, boundary="even")
    s.stft(T, nperseg=16, boundary="odd")
    s.stft(T, nperseg=16, boundary="constant")
    s.stft(T, nperseg=16, boundary=None)
    s.stft(T, nperseg=16, boundary="foo")
    s.stft(T, nperseg=16, boundary=None, padded=False)
    s.stft(T, nperseg=16, padded=False)
    s.stft(T + 1j * V, nperseg=16)
    s.stft(T + 1j * V, nperseg=16, return_onesided=False)
    s.stft(U, nperseg=16, axis=1)
    s.stft(U, nperseg=2, axis=0)
    s.stft(T, nperseg=16, axis=2)
    s.stft(T, fs=10, nperseg=16)
    s.stft(i32, nperseg=4)
    s.stft(h, nperseg=4)
    s.stft(np.arange(5.0), nperseg=4)
    s.stft(x[:0], nperseg=4)
    s.stft(jnp.ones(1))
    s.stft(jnp.ones(2), boundary="odd")
    s.stft(jnp.float32(1))
    s.istft(Z)
    s.istft(Z, nperseg=16)
    s.istft(Z, nperseg=0)
    s.istft(Z, nperseg=14)
    s.istft(Z, nperseg=18)
    s.istft(Z, nperseg=15, nfft=20)
    s.istft(Z, noverlap=2)
    s.istft(Z, noverlap=16)
    s.istft(Z5, noverlap=5)
    s.istft(Z, nfft=17)
    s.istft(Z, nfft=12)
    s.istft(Z, boundary=False)
    s.istft(Z, input_onesided=False)
    s.istft(Z, window="hamming")
    s.istft(Z, window=("kaiser", 4.0))
    s.istft(Z, window="foo")
    s.istft(Z, window=np.hanning(16))
    s.istft(Z, window=np.hanning(15))
    s.istft(Z, window=np.zeros(16))
    s.istft(Z, window=4.0)
    s.istft(Z, fs=5.0)
    s.istft(W)
    s.istft(Z.T, time_axis=0, freq_axis=1)
    s.istft(Z[None], time_axis=2, freq_axis=1)
    s.istft(Z[None].transpose(2, 0, 1), time_axis=0, freq_axis=2)
    s.istft(Z, time_axis=0, freq_axis=-2)
    s.istft(Z[0])
    s.istft(Z.real)
    s.istft([[1, 2], [3, 4]])
    s.istft(Z[:1])
    s.welch(two)
    s.welch(T, nperseg=16)
    s.welch(T, nperseg=300)
    s.welch(T, nperseg=16, scaling="spectrum")
    s.welch(T, nperseg=16, scaling="foo")
    s.welch(T, nperseg=16, average="median")
    s.welch(T, nperseg=17, average="median")
    s.welch(T, nperseg=16, average="foo")
    s.welch(T[:17], nperseg=16, average="median")
    s.welch(T, nperseg=16, return_onesided=False)
    s.welch(T, nperseg=16, detrend=False)
    s.welch(T, nperseg=16, detrend="linear")
    s.welch(T, window=jnp.ones(16))
    s.welch(T, nperseg=16, nfft=31)
    s.welch(T, nperseg=16, fs=100.0)
    s.welch(T, nperseg=16, fs=0)
    s.welch(two.T, nperseg=16, axis=0)
    s.welch(T + 1j * V, nperseg=16)
    s.welch(i32, nperseg=4)
    s.welch(jnp.ones((2, 0)))
    s.csd(T, V, nperseg=16)
    s.csd(T, None, nperseg=16)
    s.csd(T, T, nperseg=16)
    s.csd(T, V[:50], nperseg=64)
    s.csd(T, two, nperseg=16)
    s.csd(two, jnp.ones((3, 200)), nperseg=16)
    s.csd(U[:1], U, nperseg=16, axis=1)
    s.csd(T, V[:0])
    s.csd(T, i32, nperseg=4)
    s.csd(T, 1j * V, nperseg=16)
    s.csd(1j * T, V, nperseg=16)
    s.csd(T, V, nperseg=16, average="median")
    s.csd(T, V, nperseg=16, return_onesided=False)
    jax.jit(lambda f: s.welch(T, fs=f, nperseg=16))(2.0)
    jax.jit(lambda f: s.stft(T, fs=f, nperseg=16))(2.0)
    jax.jit(lambda t: s.istft(s.stft(t, nperseg=16)[2]))(T)
    jax.vmap(lambda t: s.welch(t, nperseg=16)[1])(two)
    jax.vmap(lambda a: s.convolve(a, v))(A)
    jax.grad(lambda a: (s.convolve(a, B, "same") ** 2).sum())(A)
    jax.grad(lambda a: (s.correlate2d(a, B, "same") ** 2).sum())(A)
    jax.grad(lambda a: (s.fftconvolve(A, a, "same") ** 2).sum())(B)
    jax.grad(lambda a: (s.detrend(a, bp=[2]) ** 3).sum())(A)
    jax.grad(lambda t: s.welch(t, nperseg=16)[1].sum())(T)
    jax.grad(lambda f: s.welch(T, fs=f, nperseg=16)[1].sum())(2.0)
    jax.grad(lambda w: s.welch(T, window=w, nperseg=8)[1].sum())(jnp.ones(8))
    jax.grad(lambda t: (s.istft(s.stft(t, nperseg=16)[2] * 2)[1][:100] * R).sum())(T)
    jax.jvp(lambda t: s.welch(t, nperseg=16, average="median")[1], (T,), (R,))
""")
WIDE = lines_of("""
    s.stft(f64, nperseg=4)
    s.stft(f32, nperseg=4)
    s.welch(f32, nperseg=4)
    s.welch(i32, nperseg=4)
    s.welch(jnp.arange(20), nperseg=4)
    s.istft(s.stft(f32, nperseg=4)[2])
    s.detrend(jnp.arange(4) ** 2)
    s.convolve(jnp.arange(4), jnp.arange(3))
    s.fftconvolve(jnp.arange(4), jnp.arange(3))
    s.convolve(f64, f32)
""")
OURS, THEIRS = names(pullback), Asked("scipy_signal", names(jax))
WIDE_THEIRS = Asked("scipy_signal_wide", lambda: names(jax))


def magnitude(value):
    """What errors of a transform are relative to."""
    if isinstance(value, (tuple, list)):
        return max(map(magnitude, value))
    sizes = np.abs(np.asarray(value, np.complex128)) if hasattr(value, "dtype") else np.zeros(0)
    return float(sizes.max()) if sizes.size else 0.0


def check_close(ours, theirs, line, rtol=2e-5):
    """As `check_equal`, with sums that cancel allowed the error of their parts."""
    assert not isinstance(theirs, tuple) or isinstance(ours, tuple), f"{line}\n{ours!r}"
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs), line
        for one, other in zip(ours, theirs):
            check_close(one, other, line, rtol)
    elif isinstance(theirs, Exception) or not theirs.size:
        check_equal(ours, theirs, line, rtol)
    else:
        check_equal(ours * 0, theirs * 0, line, rtol)
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=rtol, atol=rtol * magnitude(theirs), err_msg=line)


@pytest.mark.parametrize("line", CONVOLUTIONS + IMAGES + ALONG + OTHERS)
def test_as_jax(line):
    check_close(run(line, OURS), run(line, THEIRS), line)


@pytest.mark.parametrize("line", WIDE)
def test_as_jax_in_double_precision(line):
    with pullback.enable_x64(True), jax.enable_x64(True):
        check_close(run(line, names(pullback)), run(line, WIDE_THEIRS), line, rtol=1e-6 if "f32" in line else 1e-12)


def test_a_signal_comes_back_from_any_overlap():
    """JAX loses the end of fewer segments than lie over one place, and takes none of odd lengths."""
    signal, x = pullback.scipy.signal, pullback.numpy.arange(20.0) ** 2
    for length, noverlap in [(16, 0), (16, 3), (16, 8), (16, 11), (16, 15), (17, 8), (17, 3), (5, 2)]:
        cut = {"nperseg": length, "noverlap": noverlap, "window": "hamming"}
        back = signal.istft(signal.stft(x, **cut)[2], **cut)[1]
        np.testing.assert_allclose(back[:20], x, rtol=1e-5, atol=1e-3)


def test_arrays_of_which_none_contains_the_other_are_convolved():
    ours = pullback.scipy.signal.convolve(np.ones((3, 4, 2)), np.ones((2, 2, 3)), "same")
    assert ours.shape == (3, 4, 2) and float(ours[1, 1, 1]) == 8


def test_functions_of_segments_get_places_last():
    seen = []
    pullback.scipy.signal.welch(np.ones((3, 100)).T, nperseg=16, noverlap=0, axis=0, detrend=lambda d: seen.append(d.shape) or d)
    assert seen == [(3, 6, 16)]


def test_what_is_done_instead_is_warned_of():
    signal = pullback.scipy.signal
    with pytest.warns(UserWarning, match="Input data is complex"):
        signal.stft(np.ones(8) + 1j, nperseg=4)
    with pytest.warns(UserWarning, match="nperseg = 16 is greater than signal length 8"):
        signal.welch(np.ones(8), nperseg=16)


PARAMETERS = {
    "chebwin": [(60,), (100,)], "dpss": [(2.5,), (3.0,)], "exponential": [(), (None, 3.0), (2.0, 3.0)], "gaussian": [(3.0,)],
    "general cosine": [([1, 0.5, 0.2],)], "general gaussian": [(1.5, 3.0)], "general hamming": [(0.6,)], "kaiser": [(4.0,), (0.0,)],
    "kaiser bessel derived": [(4.0,)], "taylor": [(), (5,), (6, 40, False)], "tukey": [(), (0.3,), (0.0,), (1.0,), (2.0,)],
}
FIRST_NAMES = list({id(entry): name for name, entry in reversed(_BY_NAME.items())}.values())


def outcome(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except ValueError as error:
            return type(error)


@pytest.mark.parametrize("name", FIRST_NAMES)
def test_windows_are_scipys(name):
    scipy = pytest.importorskip("scipy.signal")
    for suffix in ("", "_symmetric", "_periodic"):
        for parameters in PARAMETERS.get(name, [()]):
            window = (name + suffix, *parameters) if parameters else name + suffix
            for size in (2, 3, 8, 9, 16, 33):
                ours, theirs = outcome(named_window, window, size), outcome(scipy.get_window, window, size)
                if isinstance(theirs, type):
                    assert ours is theirs, (window, size, ours)
                else:
                    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11, err_msg=f"{window} {size}")


def test_names_of_windows_are_scipys():
    scipy = pytest.importorskip("scipy.signal")
    for name, (_, least, _) in _BY_NAME.items():
        found = outcome(scipy.get_window, name, 8)
        assert (found is ValueError) == (least > 0), name
