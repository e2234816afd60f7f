"""Functions given by integrals, summed from series and continued fractions of fixed length."""

import math as _math

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.custom_derivatives import custom_jvp as _custom_jvp

_n = _core.numpy

__all__ = ["exp1", "expi", "expn", "spence"]


def _exp1_fraction(x, n=1):
    """`exp(x) expn(n, x)` for `x` of at least 1: the continued fraction, from its end."""
    steps = 60
    value = x + (n + 2 * steps)
    for k in range(steps, 0, -1):
        value = x + (n + 2 * (k - 1)) - k * (n - 1 + k) / value
    return 1 / value


@_custom_jvp
def _exp1(x):
    small = _n.where(x <= 1, x, _n.ones_like(x))
    near = -_np.euler_gamma - lax.log(small) - _series(-small, 24)
    large = _n.where(x > 1, x, _n.ones_like(x))
    far = lax.exp(-large) * _exp1_fraction(large)
    out = _n.where(x <= 1, near, far)
    out = _n.where(x == 0, _n.full_like(x, _np.inf), out)
    return _n.where(x < 0, _n.full_like(x, _np.nan), out)


def _series(x, n):
    """The sum of `x**k / (k k!)` over `k` from 1 to `n`, smallest terms first."""
    power, total = _n.ones_like(x), _n.zeros_like(x)
    terms = []
    for k in range(1, n + 1):
        power = power * x / k
        terms.append(power / k)
    for term in reversed(terms):
        total = total + term
    return total


@_exp1.defjvp
def _exp1_jvp(primals, tangents):
    (x,), (dot,) = primals, tangents
    # No derivative where there is no value.
    return _exp1(x), dot * _n.where(x >= 0, -lax.exp(-x) / x, _np.nan)


def exp1(x):
    """The exponential integral E1: the integral of `exp(-x t) / t` over `t` from 1; DLMF 6.2.

    Args:
      x: an array of real numbers; integers become floating. `inf` at 0, NaN below.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: `x` is no array or number.
    Differentiable: yes: `-exp(-x) / x`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.exp1(1.0)), 4)
      0.2194
    """
    (x,) = _n._promote_inexact("exp1", x)
    return _n.where(x >= 0, _exp1(x), _n.full_like(x, _np.nan))


@_custom_jvp
def expi(x):
    """The exponential integral Ei: the principal value of the integral of `exp(t) / t` up to `x`; DLMF 6.2.

    Args:
      x: an array of real numbers; integers become floating. `-inf` at 0.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: `x` is no array or number.
    Differentiable: yes: `exp(x) / x`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.expi(1.0)), 4)
      1.8951
    """
    (x,) = _n._promote_inexact("expi", x)
    below = -_exp1(_n.where(x < 0, -x, _n.ones_like(x)))
    middle = _n.where((x > 0) & (x <= 30), x, _n.ones_like(x))
    near = _np.euler_gamma + lax.log(middle) + _series(middle, 90)
    large = _n.where(x > 30, x, _n.full_like(x, 40.0))
    factor, total = _n.ones_like(x), _n.ones_like(x)
    for k in range(1, 25):
        factor = factor * k / large
        total = total + factor
    far = lax.exp(large) / large * total
    out = _n.where(x < 0, below, _n.where(x <= 30, near, far))
    out = _n.where(_n.isnan(x), x, out)
    return _n.where(x == 0, _n.full_like(x, -_np.inf), out)


@expi.defjvp
def _expi_jvp(primals, tangents):
    (x,), (dot,) = primals, tangents
    return expi(x), dot * lax.exp(x) / x


def expn(n, x):
    """The exponential integral of order `n`: the integral of `exp(-x t) / t**n` over `t` from 1; DLMF 8.19.

    Args:
      n: integers that are not negative; NaN for others.
      x: an array of real numbers, which broadcasts with `n`; NaN below 0.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: shapes do not broadcast.
    Differentiable: yes, with respect to `x`: `-expn(n - 1, x)`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.expn(2, 1.0)), 4)
      0.1485
    """
    n, x = _n._promote_inexact("expn", n, x)
    n, x = _n.broadcast_arrays(n, x)
    return lax.convert_element_type(_expn(n, x), x.dtype)


@_custom_jvp
def _expn(n, x):
    first = lax.exp(-x) / x
    small = _n.where((x > 0) & (x <= 1), x, _n.ones_like(x))
    large = _n.where(x > 1, x, _n.ones_like(x))
    far = lax.exp(-large) * _exp1_fraction(large, n)
    out = _n.where(x <= 1, _expn_series(n, small), far)
    out = _n.where(n == 0, first, out)
    out = _n.where(x == 0, _n.where(n > 1, 1 / _n.where(n > 1, n - 1, 1), _np.inf), out)
    return _n.where((x >= 0) & (n >= 0), out, _n.full_like(x, _np.nan))


def _expn_series(n, x):
    """`(-x)**(n-1) / (n-1)! (psi(n) - log x)` less the sum of `(-x)**k / ((k - n + 1) k!)` over other `k`."""
    psi = lax.digamma(_n.maximum(n, 1))
    log_power = (n - 1) * lax.log(x) - lax.lgamma(_n.maximum(n, 1))
    sign = _n.where(n % 2 == 1, 1.0, -1.0)
    total = sign * lax.exp(log_power) * (psi - lax.log(x))
    power = _n.ones_like(x)
    for k in range(24):
        gap = k - n + 1
        total = total - _n.where(gap == 0, 0.0, power / _n.where(gap == 0, 1.0, gap))
        power = power * -x / (k + 1)
    return total


@_expn.defjvp
def _expn_jvp(primals, tangents):
    (n, x), (_, dot) = primals, tangents
    return _expn(n, x), -dot * _expn(n - 1, x)


@_custom_jvp
def _spence(x):
    # Reflected to arguments from 1/2 to 3/2, where the series of the dilogarithm converges as 2**-k / k**2.
    is_large = x > 1.5
    inner = _n.where(is_large, 1 / _n.where(is_large, x, 2.0), x)
    is_small = inner < 0.5
    safe = _n.where(is_small, 1 - inner, inner)
    value = _dilogarithm(1 - safe)
    positive = _n.where(is_small & (inner > 0), inner, 0.25)
    reflected = _math.pi**2 / 6 - lax.log(positive) * lax.log1p(-positive) - value
    value = _n.where(is_small, _n.where(inner == 0, _math.pi**2 / 6, reflected), value)
    log = lax.log(_n.where(is_large, x, 1.0))
    value = _n.where(is_large, -0.5 * log * log - value, value)
    return _n.where(x < 0, _n.full_like(x, _np.nan), value).astype(x.dtype)


def _dilogarithm(z):
    power, total, terms = _n.ones_like(z), _n.zeros_like(z), []
    for k in range(1, 48):
        power = power * z
        terms.append(power / (k * k))
    for term in reversed(terms):
        total = total + term
    return total


@_spence.defjvp
def _spence_jvp(primals, tangents):
    (x,), (dot,) = primals, tangents
    is_one = x == 1
    return _spence(x), dot * _n.where(is_one, -1.0, lax.log(x) / (1 - _n.where(is_one, 0.5, x))).astype(dot.dtype)


def spence(x):
    """Spence's function: the integral of `log(t) / (1 - t)` from 1 to `x`, the dilogarithm of `1 - x`; DLMF 25.12.

    Args:
      x: an array of float32 or float64; NaN below 0.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: elements of another dtype.
    Differentiable: yes: `log(x) / (1 - x)`, in both modes.
    Example:
      >>> float(jax.scipy.special.spence(1.0))
      0.0
    """
    x = _n.asarray(x)
    if x.dtype.name not in ("float32", "float64"):
        raise _user_error(TypeError, f"x.dtype={x.dtype} is not supported, see docstring for supported types.")
    return _spence(x)
