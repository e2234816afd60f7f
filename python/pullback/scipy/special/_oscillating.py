"""Integrals of sines and cosines: the sine and cosine integrals, and those of Fresnel.

Near zero they are power series. Far from it they are waves whose two slow amplitudes are integrals of decaying functions, for
which a quadrature of Gauss has positive terms alone.
"""

import functools as _functools
import math as _math

import numpy as _np

from pullback import _core, lax
from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback.custom_derivatives import custom_jvp as _custom_jvp
from pullback.scipy.special._faddeeva import in_single as _in_single

_n = _core.numpy

__all__ = ["fresnel", "sici"]

# The phase from which on the quadratures are exact to rounding.
_FAR_PHASE = 3.0
# Orders of the quadratures, and numbers of terms of the series up to that phase.
_LAGUERRE_ORDER = {"float32": 24, "float64": 96}
_HERMITE_ORDER = {"float32": 40, "float64": 128}
_N_TERMS = {"float32": 11, "float64": 18}
# Nodes of less weight say nothing in double precision.
_LEAST_WEIGHT = 1e-19


@_functools.cache
def _laguerre(order):
    """Nodes and weights for the integral of `exp(-u) f(u)` from 0 on (G. Golub and J. Welsch, 1969)."""
    k = _np.arange(1.0, order)
    nodes, vectors = _np.linalg.eigh(_np.diag(2 * _np.arange(order) + 1.0) + _np.diag(k, 1) + _np.diag(k, -1))
    return _heavy(nodes, vectors[0] ** 2)


@_functools.cache
def _squares_of_hermite(order):
    """Nodes and weights for the integral of `exp(-u) f(u) / sqrt(u)` from 0 on: Hermite's at `u = s²`."""
    nodes, weights = _np.polynomial.hermite.hermgauss(order)
    return _heavy(nodes[nodes > 0] ** 2, 2 * weights[nodes > 0])


def _heavy(nodes, weights):
    kept = weights > _LEAST_WEIGHT
    return list(zip(nodes[kept].tolist(), weights[kept].tolist()))


def _amplitudes(x, quadrature):
    """The integrals of `exp(-u) / (1 + (u / x)²)` and of the same times `u / x`, with the weights of a quadrature."""
    even, odd = _n.zeros_like(x), _n.zeros_like(x)
    inverse = 1 / x
    for node, weight in reversed(quadrature):
        ratio = node * inverse
        term = weight / (1 + ratio * ratio)
        even, odd = even + term, odd + term * ratio
    return even, odd


# Sine and cosine integrals


def _sici_near(x):
    """DLMF 6.6.5 and 6.6.6, as nested sums."""
    square = x * x
    sine, cosine = _n.zeros_like(x), _n.zeros_like(x)
    for k in range(_N_TERMS[x.dtype.name], 0, -1):
        sine = -square / ((2 * k) * (2 * k + 1)) * (1 / (2 * k + 1) + sine)
        cosine = -square / ((2 * k - 1) * (2 * k)) * (1 / (2 * k) + cosine)
    logarithm = lax.log(_n.where(x == 0, 1, lax.abs(x)))
    return x * (1 + sine), _n.where(x == 0, -_np.inf, _np.euler_gamma + logarithm + cosine)


def _sici_far(x):
    """DLMF 6.2.19 and 6.2.20, of the amplitudes 6.7.13 and 6.7.14, for positive `x`."""
    even, odd = _amplitudes(x, _laguerre(_LAGUERRE_ORDER[x.dtype.name]))
    sine, cosine = lax.sin(x), lax.cos(x)
    return _math.pi / 2 - (even * cosine + odd * sine) / x, (even * sine - odd * cosine) / x


@_custom_jvp
@_jit
def _sici(x):
    size = lax.abs(x)
    is_far, is_infinite = size > _FAR_PHASE, _n.isinf(x)
    near = _sici_near(_n.where(is_far, 1, x))
    far = _sici_far(_n.where(is_far & ~is_infinite, size, _FAR_PHASE))
    limit = _n.full_like(x, _math.pi / 2), _n.where(x > 0, _n.zeros_like(x), _np.nan)
    sine, cosine = (_n.where(is_infinite, end, _n.where(is_far, wave, series)) for series, wave, end in zip(near, far, limit))
    return _n.where(is_far, _n.copysign(sine, x), sine), _n.where(_n.isnan(x), x, cosine)


@_sici.defjvp
def _sici_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    ratio = lax.sin(x) / _n.where(x == 0, 1, x)
    return _sici(x), (x_dot * _n.where(x == 0, 1, ratio), x_dot * (lax.cos(x) / x))


def sici(x):
    """The sine and the cosine integral: of `sin(t) / t` from 0 to `x`, and of `cos(t) / t` from `x` on, negated; DLMF 6.2.

    Args:
      x: an array of real numbers; integers become floating. The cosine integral of a negative number is the real part, that of
        `-x`; `-inf` at 0.
    Returns: a pair of arrays of the shape of `x`.
    Raises:
      ValueError: complex numbers.
      TypeError: `x` is no array or number.
    Differentiable: yes: `sin(x) / x` and `cos(x) / x`, in both modes.
    Example:
      >>> print([round(float(v), 4) for v in jax.scipy.special.sici(1.0)])
      [0.9461, 0.3374]
    """
    (x,) = _n._promote_inexact("sici", x)
    if x.dtype.kind == "c":
        raise _user_error(ValueError, f"Argument `x` to sici must be real-valued. Got dtype {x.dtype}.")
    return tuple(lax.convert_element_type(v, x.dtype) for v in _sici(_in_single(x)))


# Fresnel's integrals


def _fresnel_near(x):
    """DLMF 7.6.4 and 7.6.6, as nested sums."""
    square = (0.5 * _math.pi * x * x) ** 2
    sine, cosine = _n.zeros_like(x), _n.zeros_like(x)
    for k in range(_N_TERMS[x.dtype.name], 0, -1):
        sine = -square / ((2 * k) * (2 * k + 1)) * (1 / (4 * k + 3) + sine)
        cosine = -square / ((2 * k - 1) * (2 * k)) * (1 / (4 * k + 1) + cosine)
    return 0.5 * _math.pi * x * x * x * (1 / 3 + sine), x * (1 + cosine)


def _quarter_turns(x):
    """`x²` up to a multiple of 4, from the nearest integer, so that what rounding takes is of the size of `x`, not of its square."""
    whole = lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    rest = x - whole
    is_odd = whole - 2 * lax.floor(0.5 * whole)
    return is_odd + _rest_of_four(2 * whole * rest) + rest * rest


def _rest_of_four(x):
    return x - 4 * lax.floor(0.25 * x)


def _wave(x):
    """The sine and cosine of `π x² / 2`."""
    phase = 0.5 * _math.pi * _quarter_turns(x)
    return lax.sin(phase), lax.cos(phase)


def _fresnel_far(x):
    """DLMF 7.5.3 and 7.5.4, of the amplitudes 7.7.10 and 7.7.11, for positive `x`."""
    even, odd = _amplitudes(0.5 * _math.pi * x * x, _squares_of_hermite(_HERMITE_ORDER[x.dtype.name]))
    factor = 1 / (_math.pi**1.5 * x)
    sine, cosine = _wave(x)
    return 0.5 - factor * (even * cosine + odd * sine), 0.5 + factor * (even * sine - odd * cosine)


# Where both have become their limits to rounding.
_LIMIT = {"float32": 1e8, "float64": 1e17}


@_custom_jvp
@_jit
def _fresnel(x):
    size = lax.abs(x)
    is_far, is_limit = 0.5 * _math.pi * size * size > _FAR_PHASE, size > _LIMIT[x.dtype.name]
    near = _fresnel_near(_n.where(is_far, 1, x))
    far = _fresnel_far(_n.where(is_far & ~is_limit, size, 2))
    return tuple(
        _n.where(is_far, _n.copysign(_n.where(is_limit, 0.5, wave), x), series) for series, wave in zip(near, far)
    )


@_fresnel.defjvp
def _fresnel_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    sine, cosine = _wave(x)
    return _fresnel(x), (x_dot * sine, x_dot * cosine)


def fresnel(x):
    """Fresnel's integrals: of `sin(π t² / 2)` and of `cos(π t² / 2)` from 0 to `x`; DLMF 7.2.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: a pair of arrays of the shape of `x`.
    Raises:
      NotImplementedError: complex numbers.
      TypeError: `x` is no array or number.
    Differentiable: yes: `sin(π x² / 2)` and `cos(π x² / 2)`, in both modes.
    Example:
      >>> print([round(float(v), 4) for v in jax.scipy.special.fresnel(1.0)])
      [0.4383, 0.7799]
    """
    (x,) = _n._promote_inexact("fresnel", x)
    if x.dtype.kind == "c":
        raise _user_error(NotImplementedError, f"fresnel: support for complex-valued inputs is not implemented yet, got {x.dtype}")
    return tuple(lax.convert_element_type(v, x.dtype) for v in _fresnel(_in_single(x)))
