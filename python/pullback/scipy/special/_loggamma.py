"""The logarithm of the gamma function, as a function of complex numbers with a cut along the negative real line.

By Stirling's series far from zero, from where a product leads back, by a power series around its zeros, and to the left by reflection (D. Hare, "Computing the
principal branch of log-Gamma", 1997). It has no rule of differentiation: each part has a derivative.
"""

import functools as _functools
import math as _math

import numpy as _np

from pullback import _core, lax
from pullback._jit import jit as _jit

_n = _core.numpy

__all__ = ["loggamma"]

# Coefficients of `z**-1`, `z**-3`, ... (DLMF 5.11.1): B[2k] / (2k (2k - 1)).
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
# The real part from which on, and the number of terms with which, the series is exact to rounding.
_FAR = {"complex64": (4, 5), "complex128": (11, 8)}


def _stirling(z, n_terms):
    inverse = 1 / z
    square = inverse * inverse
    series = _n.zeros_like(z)
    for c in reversed(_STIRLING[:n_terms]):
        series = series * square + c
    return (z - 0.5) * lax.log(z) - z + (0.5 * _math.log(2 * _math.pi) + series * inverse)


@_functools.cache
def _zeta_less_one(k):
    """The zeta function less 1 at an integer above 1, by the formula of Euler and Maclaurin (DLMF 25.2.9)."""
    n, rising = 60.0, k * (k + 1) * (k + 2)
    corrections = k * n ** (-k - 1) / 12 - rising * n ** (-k - 3) / 720 + rising * (k + 3) * (k + 4) * n ** (-k - 5) / 30240
    return sum(m**-k for m in _np.arange(59.0, 1.0, -1.0).tolist()) + n ** (1 - k) / (k - 1) + 0.5 * n**-k + corrections


def _around_two(w):
    """The logarithm of gamma at `2 + w` (DLMF 5.7.3)."""
    series = _n.zeros_like(w)
    for k in range(32, 1, -1):
        series = (-1) ** k * _zeta_less_one(k) / k + w * series
    return w * ((1 - _np.euler_gamma) + w * series)


def _log1p(w):
    a, b = _n.real(w), _n.imag(w)
    return lax.complex(0.5 * lax.log1p(a * (2 + a) + b * b), lax.atan2(b, 1 + a))


def _right(z):
    """For real parts of at least 1/2."""
    of_one, of_two = _n.abs(z - 1) < 0.5, _n.abs(z - 2) < 0.5
    w = _n.where(of_two, z - 2, _n.where(of_one, z - 1, 0)).astype(z.dtype)
    series = _around_two(w) - _n.where(of_one & ~of_two, _log1p(w), 0)
    return _n.where(of_one | of_two, series, _by_stirling(_n.where(of_one | of_two, 2.5, z).astype(z.dtype)))


def _by_stirling(z):
    """The logarithms of factors up to where the series holds are taken off again."""
    far, n_terms = _FAR[z.dtype.name]
    is_near = _n.real(z) < far
    shifted, total = z, _n.zeros_like(z)
    for _ in range(far):
        goes_on = is_near & (_n.real(shifted) < far)
        total = total + _n.where(goes_on, lax.log(_n.where(goes_on, shifted, 1)), 0)
        shifted = _n.where(goes_on, shifted + 1, shifted)
    return _stirling(shifted, n_terms) - total


def _log1p_of_minus_exp(w):
    """`log(1 - exp(w))`, without loss for small `w`."""
    a, b = _n.real(w), _n.imag(w)
    half = lax.sin(0.5 * b)
    real = -(lax.expm1(a) * lax.cos(b) - 2 * half * half)
    return lax.log(lax.complex(real, -lax.exp(a) * lax.sin(b)))


def _log_of_sine(z):
    """`log(sin(π z))` above the real line, the branch that is real between 0 and 1."""
    x, y = _n.real(z), _n.imag(z)
    # exp(2 π i z) has period 1.
    turned = 2 * _math.pi * lax.complex(-y, x - lax.floor(x + 0.5))
    linear = lax.complex(_math.pi * y - _math.log(2), _math.pi * (0.5 - x))
    return linear + _log1p_of_minus_exp(turned)


@_jit
def _complex_loggamma(z):
    is_below = _n.imag(z) < 0
    up = _n.where(is_below, _n.conj(z), z)
    is_left = _n.real(up) < 0.5
    right = _right(_n.where(is_left, 1 - up, up))
    left = _n.where(is_left, up, 0.25 + 0.25j)
    reflected = _math.log(_math.pi) - _log_of_sine(left.astype(z.dtype)) - right
    value = _n.where(is_left, reflected, right)
    return _n.where(is_below, _n.conj(value), value)


def loggamma(x):
    """The logarithm of the gamma function, continued from positive numbers to the plane without the negative ones; DLMF 5.4.

    Its imaginary part is continuous, unlike that of `log(gamma(x))`.

    Args:
      x: an array of real or complex numbers; integers become floating. Real numbers that are not positive give NaN.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: `x` is no array or number.
    Differentiable: yes, in both modes, for complex numbers holomorphic.
    Example:
      >>> print(jax.scipy.special.loggamma(jnp.array([5.0, -0.5])).round(3))
      [3.178   nan]
      >>> print(jax.scipy.special.loggamma(1j).round(4))
      (-0.6509-1.8724j)
    """
    (x,) = _n._promote_inexact("loggamma", x)
    if x.dtype.kind == "c":
        return _complex_loggamma(x)
    return _n.where(x > 0, lax.lgamma(x), _np.nan)
