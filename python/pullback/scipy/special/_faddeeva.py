"""The error function of complex numbers, scaled so that it does not overflow, and what it is on the axes: `erfcx` and Dawson's integral.

All come from two approximations without branches: J. Weideman's rational function in the upper half plane, and J. McCabe's
continued fraction on the real line.
"""

import functools as _functools
import math as _math

import numpy as _np

from pullback import _core, lax
from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback.custom_derivatives import custom_jvp as _custom_jvp

_n = _core.numpy

__all__ = ["dawsn", "erfcx", "wofz"]

_ROOT_PI = _math.sqrt(_math.pi)


def in_single(x):
    """A number of 16 bits in single precision: coefficients of approximations would be lost in fewer bits."""
    return x.astype(_np.float32) if x.dtype.itemsize < 4 else x


# How many terms are exact to rounding: of Weideman's function and of the continued fraction. Complex dtypes count as their parts.
_TERMS = {"float32": (24, 25), "complex64": (24, 25), "float64": (48, 60), "complex128": (48, 60)}


@_functools.cache
def _weideman(n):
    """The scale `L` and the coefficients, highest power first, of J. Weideman's approximation of order `n`.

    "Computation of the complex error function", SIAM Journal on Numerical Analysis 31 (1994): the coefficients of Fourier for
    `(L² + t²) exp(-t²)` with `t = L tan(θ / 2)`.
    """
    scale = _math.sqrt(n / _math.sqrt(2))
    angles = _np.arange(1 - 2 * n, 2 * n) * _np.pi / (2 * n)
    t = scale * _np.tan(angles / 2)
    values = _np.concatenate([[0], _np.exp(-t * t) * (scale * scale + t * t)])
    coefficients = _np.fft.fft(_np.fft.fftshift(values)).real / (4 * n)
    return scale, coefficients[n:0:-1].tolist()


def _rational(s, n):
    """Weideman's function of `s = -i z`, which is real on the imaginary axis."""
    scale, coefficients = _weideman(n)
    turned = (scale - s) / (scale + s)
    value = _n.full_like(s, coefficients[0])
    for c in coefficients[1:]:
        value = value * turned + c
    inverse = 1 / (scale + s)
    return (2 * value * inverse + 1 / _ROOT_PI) * inverse


def _exp_of_square(x):
    """`exp(x²)` with what rounding takes from the square."""
    square = x * x
    # Half the bits, whose square is exact.
    head = lax.reduce_precision(x, *((8, 11) if x.dtype == _np.float32 else (11, 26)))
    tail = x - head
    lost = (head * head - square) + tail * (x + head)
    return _n.where(_n.isinf(square), square, lax.exp(square) * (1 + _n.where(_n.isfinite(lost), lost, 0)))


@_custom_jvp
@_jit
def _erfcx(x):
    right = _n.where(x >= 1, _n.where(_n.isinf(x), 1, x), 1)
    decaying = _n.where(_n.isinf(x), 0, _rational(right, _TERMS[x.dtype.name][0]))
    return _n.where(x >= 1, decaying, _exp_of_square(_n.minimum(x, 1)) * lax.erfc(x))


@_erfcx.defjvp
def _erfcx_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    out = _erfcx(x)
    return out, x_dot * (2 * x * out - 2 / _ROOT_PI)


def _exp_of_minus_square(z):
    x, y = _n.real(z), _n.imag(z)
    size, angle = lax.exp((y - x) * (y + x)), -2 * x * y
    return lax.complex(size * lax.cos(angle), size * lax.sin(angle))


@_custom_jvp
@_jit
def _wofz(z):
    is_lower = _n.imag(z) < 0
    up = _n.where(is_lower, -z, z)
    value = _rational(lax.complex(_n.imag(up), -_n.real(up)), _TERMS[z.dtype.name][0])
    # On the real line the real part is known, however small.
    on_line = lax.complex(lax.exp(-_n.real(z) ** 2), 2 / _ROOT_PI * _dawsn(_n.real(z)))
    value = _n.where(_n.imag(z) == 0, on_line, value)
    return _n.where(is_lower, 2 * _exp_of_minus_square(_n.where(is_lower, z, 0)) - value, value)


@_wofz.defjvp
def _wofz_jvp(primals, tangents):
    (z,), (z_dot,) = primals, tangents
    out = _wofz(z)
    return out, z_dot * (2j / _ROOT_PI - 2 * z * out)


# From where on `1 / 2 x` is exact.
_FAR = {"float32": 1e4, "float64": 1e8}


@_custom_jvp
@_jit
def _dawsn(x):
    is_far = lax.abs(x) > _FAR[x.dtype.name]
    near = _n.where(is_far, 1, x)
    n = _TERMS[x.dtype.name][1]
    t = 2 * near * near
    value = t + (2 * n + 1)
    for k in range(n, 0, -1):
        value = t + (2 * k - 1) - 2 * k * t / value
    return _n.where(is_far, 0.5 / x, near / value)


@_dawsn.defjvp
def _dawsn_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    out = _dawsn(x)
    return out, x_dot * (1 - 2 * x * out)


def dawsn(x):
    """Dawson's integral: `exp(-x²)` times the integral of `exp(t²)` from 0 to `x`; DLMF 7.2.5.

    J. McCabe, "A continued fraction expansion, with a truncation error estimate, for Dawson's integral" (1974).

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      ValueError: complex numbers.
      TypeError: `x` is no array or number.
    Differentiable: yes: `1 - 2 x dawsn(x)`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.dawsn(1.0)), 4)
      0.5381
    """
    (x,) = _n._promote_inexact("dawsn", x)
    if x.dtype.kind == "c":
        raise _user_error(ValueError, f"dawsn does not support complex-valued inputs, got {x.dtype}; wofz does.")
    return lax.convert_element_type(_dawsn(in_single(x)), x.dtype)


def erfcx(x):
    """The complementary error function, scaled: `exp(x²) erfc(x)`, which does not underflow; DLMF 7.2.

    J. Weideman, "Computation of the complex error function" (1994).

    Args:
      x: an array of real or complex numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: `x` is no array or number.
    Differentiable: yes: `2 x erfcx(x) - 2 / sqrt(π)`, in both modes, for complex numbers holomorphic.
    Example:
      >>> round(float(jax.scipy.special.erfcx(10.0)), 5)
      0.05614
    """
    (x,) = _n._promote_inexact("erfcx", x)
    value = _wofz(lax.complex(-_n.imag(x), _n.real(x))) if x.dtype.kind == "c" else _erfcx(in_single(x))
    return lax.convert_element_type(value, x.dtype)


def wofz(z):
    """The Faddeeva function: `exp(-z²) erfc(-i z)`; DLMF 7.2.3.

    J. Weideman, "Computation of the complex error function" (1994); below the real line by DLMF 7.4.3.

    Args:
      z: an array of real or complex numbers; others become complex.
    Returns: a complex array of the shape of `z`.
    Raises:
      TypeError: `z` is no array or number.
    Differentiable: yes: `2 i / sqrt(π) - 2 z wofz(z)`, in both modes, holomorphic.
    Example:
      >>> print(jax.scipy.special.wofz(1j).round(4))
      (0.4276+0j)
    """
    (z,) = _n._promote_inexact("wofz", z)
    z = z if z.dtype.kind == "c" else in_single(z)
    z = lax.convert_element_type(z, _n.result_type(z.dtype, _np.complex64))
    return _wofz(z)
