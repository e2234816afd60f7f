"""The error function and the distribution of normal numbers, of one and of two."""

import functools as _functools
import math as _math

import numpy as _np

from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback import _core, lax
from pullback.custom_derivatives import custom_jvp as _custom_jvp

_n = _core.numpy

__all__ = ["erf", "erfc", "erfcinv", "erfinv", "log_ndtr", "ndtr", "ndtri", "owens_t"]


def _real(name, *xs):
    xs = _n._promote_inexact(name, *xs)
    if xs[0].dtype.kind == "c":
        raise _user_error(TypeError, f"jax.scipy.special.{name} does not support complex-valued inputs, got {xs[0].dtype}")
    return xs


def erf(x):
    """The error function `2 / sqrt(π)` times the integral of `exp(-t²)` from 0 to `x`; DLMF 7.2.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `2 exp(-x²) / sqrt(π)`, in both modes.
    Example:
      >>> float(jax.scipy.special.erf(0.0))
      0.0
    """
    return lax.erf(*_real("erf", x))


def erfc(x):
    """The complementary error function `1 - erf(x)`, exact for large `x`; DLMF 7.2.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `-2 exp(-x²) / sqrt(π)`, in both modes.
    Example:
      >>> float(jax.scipy.special.erfc(0.0))
      1.0
    """
    return lax.erfc(*_real("erfc", x))


def erfinv(x):
    """The inverse of the error function.

    Args:
      x: an array of real numbers from -1 to 1, infinite at the ends; NaN outside.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `sqrt(π) exp(erfinv(x)²) / 2`, in both modes.
    Example:
      >>> float(jax.scipy.special.erfinv(0.0))
      0.0
      >>> float(jax.scipy.special.erfinv(1.0))
      inf
    """
    return lax.erf_inv(*_real("erfinv", x))


def erfcinv(y):
    """The inverse of `erfc`, by `ndtri`.

    Args:
      y: an array of real numbers from 0 to 2, infinite at the ends; NaN outside.
    Returns: an array of the shape of `y`.
    Raises:
      TypeError: complex numbers, or `y` is no array or number.
    Differentiable: yes: `-sqrt(π) exp(erfcinv(y)²) / 2`, in both modes.
    Example:
      >>> abs(float(jax.scipy.special.erfcinv(1.0))) < 1e-6
      True
    """
    (y,) = _real("erfcinv", y)
    return -ndtri(y * 0.5) * _math.sqrt(0.5)


def ndtr(x):
    """The probability that a standard normal number is at most `x`: `erfc(-x / sqrt(2)) / 2`.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `exp(-x² / 2) / sqrt(2 π)`, in both modes.
    Example:
      >>> float(jax.scipy.special.ndtr(0.0))
      0.5
    """
    (x,) = _real("ndtr", x)
    return _ndtr(x)


def _ndtr(x):
    root = _math.sqrt(0.5)
    w = x * root
    z = lax.abs(w)
    # Each formula where it cancels least.
    tail = _n.where(w > 0, 2 - lax.erfc(z), lax.erfc(z))
    return 0.5 * _n.where(z < root, 1 + lax.erf(w), tail)


# Coefficients of rational functions, highest power first: Moshier, Cephes Mathematical Library, ndtri.
_CENTRE = (
    (-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1,
     -1.23916583867381258016e0),
    (1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1, -2.25462687854119370527e2,
     2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0),
)
_TAIL = (
    (4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1,
     1.46849561928858024014e1, 2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2,
     -8.57456785154685413611e-4),
    (1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1, 1.50425385692907503408e1,
     2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4),
)
_FAR_TAIL = (
    (3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0,
     2.01485389549179081538e-1, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6,
     6.23974539184983293730e-9),
    (1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0, 2.16236993594496635890e-1,
     1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9),
)


def _polynomial(coefficients, x):
    value = _n.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        value = value * x + c
    return value


def _ratio(coefficients, x):
    return _polynomial(coefficients[0], x) / _polynomial(coefficients[1], x)


@_custom_jvp
def _ndtri(p):
    is_upper = p > -_math.expm1(-2)
    mirrored = _n.where(is_upper, 1 - p, p)
    # A stand-in where the result is not used, so that no NaN arises.
    safe = _n.where(mirrored == 0, _n.full_like(p, 0.5), mirrored)
    centred = safe - 0.5
    square = lax.square(centred)
    centre = (centred + centred * square * _ratio(_CENTRE, square)) * _math.sqrt(2 * _math.pi)
    z = lax.sqrt(-2 * lax.log(safe))
    first = z - lax.log(z) / z
    tail = _n.where(z >= 8, first - _ratio(_FAR_TAIL, 1 / z) / z, first - _ratio(_TAIL, 1 / z) / z)
    x = _n.where(safe > _math.exp(-2), centre, _n.where(is_upper, tail, -tail))
    infinite = _n.full_like(p, _np.inf)
    is_outside = (p < 0) | (p > 1) | _n.isnan(p)
    x = _n.where(p == 0, -infinite, _n.where(p == 1, infinite, x))
    return _n.where(is_outside, _n.full_like(p, _np.nan), x)


@_ndtri.defjvp
def _ndtri_jvp(primals, tangents):
    (p,), (dot,) = primals, tangents
    x = _ndtri(p)
    return x, dot * _math.sqrt(2 * _math.pi) * lax.exp(0.5 * x * x)


def ndtri(p):
    """The inverse of `ndtr`: the value below which a standard normal number lies with probability `p`.

    The rational approximations are those of S. Moshier's Cephes library.

    Args:
      p: probabilities; infinite at 0 and 1, NaN outside.
    Returns: an array of the shape of `p`.
    Raises:
      TypeError: complex numbers, or `p` is no array or number.
    Differentiable: yes: one over the density, in both modes.
    Example:
      >>> round(float(jax.scipy.special.ndtri(0.975)), 4)
      1.96
    """
    (p,) = _real("ndtri", p)
    return lax.convert_element_type(_ndtri(p), p.dtype)


def log_ndtr(x, series_order=3):
    """The logarithm of `ndtr`, exact where that underflows.

    Args:
      x: an array of real numbers of float32 or float64; integers become floating.
      series_order: how many terms the asymptotic series takes where `x` is far below 0, from 0 to 30.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: another dtype, or an order that is no Python integer.
      ValueError: an order out of range.
    Differentiable: yes: the density over `ndtr(x)`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.log_ndtr(-20.0)), 3)
      -203.917
    """
    if not isinstance(series_order, int):
        raise _user_error(TypeError, "series_order must be a Python integer.")
    if series_order < 0:
        raise _user_error(ValueError, "series_order must be non-negative.")
    if series_order > 30:
        raise _user_error(ValueError, "series_order must be <= 30.")
    out = _log_ndtr(series_order, x)
    return lax.convert_element_type(out, out.dtype)


# From where on the normal distribution function rounds to 0 and to 1.
_LIMITS = {"float32": (-10.0, 5.0), "float64": (-20.0, 8.0)}


def _log_ndtr(order, x):
    (x,) = _real("log_ndtr", x)
    if x.dtype.name not in _LIMITS:
        raise _user_error(TypeError, f"x.dtype={x.dtype} is not supported, see docstring for supported types.")

    @_custom_jvp
    def value(x):
        lower, upper = _LIMITS[x.dtype.name]
        middle = lax.log(_ndtr(lax.max(x, _n.full_like(x, lower))))
        far = _log_ndtr_below(lax.min(x, _n.full_like(x, lower)), order)
        return _n.where(x > upper, -_ndtr(-x), _n.where(x > lower, middle, far))

    @value.defjvp
    def value_jvp(primals, tangents):
        (x,), (dot,) = primals, tangents
        out = value(x)
        return out, dot * lax.exp(-0.5 * lax.square(x) - 0.5 * _math.log(2 * _math.pi) - out)

    return value(x)


def _log_ndtr_below(x, order):
    """By the asymptotic series `1 - 1/x**2 + 3/x**4 - ...` of the ratio to the density over `-x`."""
    square = lax.square(x)
    series, term = _n.ones_like(x), 1.0
    power = _n.ones_like(x)
    for k in range(1, order + 1):
        term *= -(2 * k - 1)
        power = power * square
        series = series + term / power
    return -0.5 * square - lax.log(-x) - 0.5 * _math.log(2 * _math.pi) + lax.log(series)


@_functools.cache
def _legendre(order):
    """Nodes from 0 to 1 and weights of Gauss's quadrature."""
    nodes, weights = _np.polynomial.legendre.leggauss(order)
    return list(zip((0.5 + 0.5 * nodes).tolist(), (0.5 * weights).tolist()))


# Orders of the quadrature of Owen's function, and from where on its integrand is less than rounding.
_OWEN_ORDER = {"float32": 12, "float64": 24}
_OWEN_END = {"float32": 6.0, "float64": 8.7}


def _owens_integral(h, a):
    """T(h, a) for `a` from 0 to 1, over the part of the way on which there is something to add."""
    end = _n.minimum(a, _OWEN_END[h.dtype.name] / _n.maximum(h, 1))
    total = _n.zeros_like(h)
    for node, weight in reversed(_legendre(_OWEN_ORDER[h.dtype.name])):
        square = (node * end) ** 2
        total = total + weight * lax.exp(-0.5 * h * h * square) / (1 + square)
    return lax.exp(-0.5 * h * h) * end * total / (2 * _math.pi)


def _upper(x):
    return 0.5 * lax.erfc(x * _math.sqrt(0.5))


@_custom_jvp
@_jit
def _owens_t(h, a):
    # Even in h and odd in a. Above 1 the rest is a function of the reciprocal (Owen 1956, equation 2.3).
    h, size = lax.abs(h), lax.abs(a)
    is_steep = size > 1
    safe = _n.where(is_steep, size, 1)
    along = _n.where((h == 0) | _n.isnan(h), h, h * safe)
    shallow = _owens_integral(_n.where(is_steep, _n.where(_n.isinf(along), 0, along), h), _n.where(is_steep, 1 / safe, size))
    rest = _n.where(is_steep & _n.isinf(along), 0, shallow)
    steep = 0.5 * (_upper(h) + _upper(along)) - _upper(h) * _upper(along) - rest
    value = _n.where(is_steep, steep, shallow)
    return _n.where(_n.isnan(h) | _n.isnan(a), _n.full_like(h, _np.nan), _n.copysign(value, a))


@_owens_t.defjvp
def _owens_t_jvp(primals, tangents):
    (h, a), (h_dot, a_dot) = primals, tangents
    slope = 1 + a * a
    by_h = -lax.exp(-0.5 * h * h) * lax.erf(a * h * _math.sqrt(0.5)) / _math.sqrt(8 * _math.pi)
    by_a = lax.exp(-0.5 * h * h * slope) / (2 * _math.pi * slope)
    return _owens_t(h, a), h_dot * by_h + a_dot * by_a


def owens_t(h, a):
    """Owen's function: the integral of `exp(-h² (1 + x²) / 2) / (1 + x²)` from 0 to `a`, over 2 π.

    It is the probability of a normal number above `h` with another between 0 and `a` times it. D. Owen, "Tables for computing
    bivariate normal probabilities" (1956); by Gauss's quadrature.

    Args:
      h, a: arrays of real numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted floating dtype, at least float32.
    Raises:
      ValueError: complex numbers, or shapes that do not broadcast.
      TypeError: an argument is no array or number.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> round(float(jax.scipy.special.owens_t(0.0, 1.0)), 4)
      0.125
    """
    h, a = _n._promote_inexact("owens_t", h, a)
    if h.dtype.kind == "c":
        raise _user_error(ValueError, f"owens_t does not support complex-valued inputs, got {h.dtype}.")
    if h.dtype.itemsize < 4:
        h, a = h.astype(_np.float32), a.astype(_np.float32)
    out = _owens_t(*_n.broadcast_arrays(h, a))
    return lax.convert_element_type(out, out.dtype)
