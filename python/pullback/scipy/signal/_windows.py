"""Windows for spectra, by SciPy's names of them.

They are computed in double precision on the host and rounded once: a window has no derivative here.
"""

import numpy as np

from pullback._core import user_error


def _cosines(*weights):
    """A window that is a sum of cosines of whole multiples of the angle from -π to π."""

    def window(size):
        angle = np.linspace(-np.pi, np.pi, size)
        return sum(weight * np.cos(k * angle) for k, weight in enumerate(weights))

    return window


def _centred(size):
    """Places counted from the middle."""
    return np.arange(size) - (size - 1) / 2


def _even(size):
    """Places from -1 to 1."""
    return np.linspace(-1.0, 1.0, size)


def _barthann(size):
    off = np.abs(_even(size)) / 2
    return 0.62 - 0.48 * off + 0.38 * np.cos(2 * np.pi * off)


def _bohman(size):
    off = np.abs(_even(size))
    window = (1 - off) * np.cos(np.pi * off) + np.sin(np.pi * off) / np.pi
    window[[0, -1]] = 0
    return window


def _chebwin(size, attenuation):
    """C. Dolph, "A current distribution for broadside arrays which optimizes the relationship between beam width and side-lobe
    level" (1946): its spectrum is a Chebyshev polynomial."""
    order = size - 1
    stretch = np.cosh(np.arccosh(10 ** (abs(attenuation) / 20)) / order)
    x = stretch * np.cos(np.pi * np.arange(size) / size)
    inside, outside = np.clip(x, -1, 1), np.maximum(np.abs(x), 1)
    sign = np.where(x < 0, (-1) ** order, 1)
    spectrum = np.where(np.abs(x) <= 1, np.cos(order * np.arccos(inside)), sign * np.cosh(order * np.arccosh(outside)))
    if size % 2:
        half = np.fft.fft(spectrum).real[: (size + 1) // 2]
        window = np.concatenate([half[:0:-1], half])
    else:
        half = np.fft.fft(spectrum * np.exp(1j * np.pi * np.arange(size) / size)).real[1 : size // 2 + 1]
        window = np.concatenate([half[::-1], half])
    return window / window.max()


def _dpss(size, half_width):
    """D. Slepian, "Prolate spheroidal wave functions, Fourier analysis, and uncertainty V" (1978): the sequence with most of its
    energy within a band is an eigenvector of a tridiagonal matrix, taken relative to its peak between samples."""
    if not 0 < half_width < size / 2:
        raise user_error(ValueError, f"the half bandwidth NW of a dpss window of {size} points must be between 0 and {size / 2}, got {half_width}")
    places = np.arange(size)
    beside = places[1:] * (size - places[1:]) / 2
    matrix = np.diag(_centred(size) ** 2 * np.cos(2 * np.pi * half_width / size)) + np.diag(beside, 1) + np.diag(beside, -1)
    window = np.linalg.eigh(matrix)[1][:, -1]
    window = np.abs(window) / np.abs(window).max()
    return window if size % 2 else window * size**2 / (size**2 + half_width)


def _exponential(size, center=None, tau=1.0):
    center = (size - 1) / 2 if center is None else center
    return np.exp(-np.abs(np.arange(size) - center) / tau)


def _gaussian(size, std):
    return _general_gaussian(size, 1, std)


def _general_gaussian(size, power, std):
    return np.exp(-0.5 * np.abs(_centred(size) / std) ** (2 * power))


def _general_cosine(size, weights):
    return _cosines(*weights)(size)


def _general_hamming(size, alpha):
    return _cosines(alpha, 1 - alpha)(size)


def _kaiser(size, beta):
    return np.i0(beta * np.sqrt(np.clip(1 - _even(size) ** 2, 0, None))) / np.i0(beta)


def _kaiser_bessel_derived(size, beta):
    if size % 2:
        raise user_error(ValueError, "Kaiser-Bessel Derived windows are only defined for even number of points")
    sums = np.cumsum(_kaiser(size // 2 + 1, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([half, half[::-1]])


def _parzen(size):
    off = np.abs(_centred(size))
    share = off / (size / 2)
    return np.where(off <= (size - 1) / 4, 1 - 6 * share**2 + 6 * share**3, 2 * (1 - share) ** 3)


def _taylor(size, nbar=4, sll=30, norm=True):
    """T. Taylor, "Design of line-source antennas for narrow beamwidth and low side lobes" (1955)."""
    m = np.arange(1, nbar)
    a = np.arccosh(10 ** (sll / 20)) / np.pi
    spread = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    numerator = np.prod(1 - m[:, None] ** 2 / spread / (a**2 + (m - 0.5) ** 2), axis=1)
    ratios = 1 - m[:, None] ** 2 / m**2
    np.fill_diagonal(ratios, 1)
    weights = (-1.0) ** (m + 1) * numerator / (2 * np.prod(ratios, axis=1))
    at = lambda place: 1 + 2 * np.cos(2 * np.pi * np.multiply.outer(place, m) / size) @ weights
    window = at(_centred(size))
    return window / at(0.0) if norm else window


def _triang(size):
    return 1 - 2 * np.abs(_centred(size)) / (size + size % 2)


def _tukey(size, alpha=0.5):
    if alpha <= 0:
        return np.ones(size)
    off = np.abs(_even(size))
    ramp = (off - (1 - min(alpha, 1))) / min(alpha, 1)
    return np.where(ramp > 0, 0.5 * (1 + np.cos(np.pi * ramp)), 1.0)


# F. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform" (1978), where no other source
# is named. Each with how many parameters it needs and takes.
_WINDOWS = {
    ("barthann", "brthan", "bth"): (_barthann, 0, 0),
    ("bartlett", "bart", "brt"): (lambda size: 1 - np.abs(_even(size)), 0, 0),
    ("blackman", "black", "blk"): (_cosines(0.42, 0.5, 0.08), 0, 0),
    ("blackmanharris", "blackharr", "bkh"): (_cosines(0.35875, 0.48829, 0.14128, 0.01168), 0, 0),
    ("bohman", "bman", "bmn"): (_bohman, 0, 0),
    ("boxcar", "box", "ones", "rect", "rectangular"): (np.ones, 0, 0),
    ("chebwin", "cheb"): (_chebwin, 1, 1),
    ("cosine", "halfcosine"): (lambda size: np.sin(np.pi / size * (np.arange(size) + 0.5)), 0, 0),
    ("dpss",): (_dpss, 1, 1),
    ("exponential", "poisson"): (_exponential, 0, 2),
    ("flattop", "flat", "flt"): (_cosines(0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368), 0, 0),
    ("gaussian", "gauss", "gss"): (_gaussian, 1, 1),
    ("general cosine", "general_cosine"): (_general_cosine, 1, 1),
    ("general gaussian", "general_gaussian", "general gauss", "general_gauss", "ggs"): (_general_gaussian, 2, 2),
    ("general hamming", "general_hamming"): (_general_hamming, 1, 1),
    ("hamming", "hamm", "ham"): (_cosines(0.54, 0.46), 0, 0),
    ("hann", "han"): (_cosines(0.5, 0.5), 0, 0),
    ("kaiser", "ksr"): (_kaiser, 1, 1),
    ("kaiser bessel derived", "kaiser_bessel_derived", "kbd"): (_kaiser_bessel_derived, 1, 1),
    ("lanczos", "sinc"): (lambda size: np.sinc(_even(size)), 0, 0),
    ("nuttall", "nutl", "nut"): (_cosines(0.3635819, 0.4891775, 0.1365995, 0.0106411), 0, 0),
    ("parzen", "parz", "par"): (_parzen, 0, 0),
    ("taylor", "taylorwin"): (_taylor, 0, 3),
    ("triang", "triangle", "tri"): (_triang, 0, 0),
    ("tukey", "tuk"): (_tukey, 0, 1),
}
_BY_NAME = {name: entry for names, entry in _WINDOWS.items() for name in names}


def _check_symmetry(formula, parameters, is_symmetric):
    if formula is _kaiser_bessel_derived and not is_symmetric:
        raise user_error(ValueError, "Kaiser-Bessel Derived windows are only defined for symmetric shapes; ask for 'kbd_symmetric'")
    if formula is _exponential and is_symmetric and parameters[:1] not in ([], [None]):
        raise user_error(ValueError, f"a symmetric exponential window has its center in the middle: give None for it, not {parameters[0]}")


def named_window(window, size):
    """The window of `size` points that a name, or a tuple of a name and parameters, stands for.

    It is periodic, the first of `size + 1` points, as a spectrum wants it, unless the name ends in `_symmetric`.
    """
    name, *parameters = (window or ("",)) if isinstance(window, tuple) else (window,)
    if not isinstance(name, str):
        raise user_error(ValueError, f"a tuple for a window begins with its name, but window={window!r}")
    kind, _, symmetry = name.rpartition("_") if name.endswith(("_symmetric", "_periodic")) else (name, "", "periodic")
    if kind not in _BY_NAME:
        raise user_error(ValueError, f"Invalid window name {name!r} in parameter window={window!r}! Known names: {sorted(_BY_NAME)}")
    formula, least, most = _BY_NAME[kind]
    if not least <= len(parameters) <= most:
        raise user_error(ValueError, f"{name!r} must have {least if least == most else f'{least} to {most}'} parameters, but window={window!r}!")
    _check_symmetry(formula, parameters, symmetry == "symmetric")
    if size <= 1:
        return np.ones(size)
    return formula(size, *parameters) if symmetry == "symmetric" else formula(size + 1, *parameters)[:-1]
