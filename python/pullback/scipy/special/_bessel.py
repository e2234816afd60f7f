"""Bessel functions of the first kind and integer orders, all up to one.

Small numbers by power series, moderate ones by recurrence from orders so high that they vanish, large ones from Hankel's
expansion by recurrence upwards.
"""

import functools as _functools
import math as _math
import operator as _operator

import numpy as _np

from pullback import _core, lax
from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback.custom_derivatives import custom_jvp as _custom_jvp
from pullback.scipy.special._hypergeometric import in_single as _in_single

_n = _core.numpy

__all__ = ["bessel_jn"]

# Below the first by power series; from the second on, and where no order is as large, by Hankel's expansion.
_NEAR, _FAR = 0.01, 50.0
# Values of the recurrence are scaled down when they are larger than this, which no single step exceeds by as much again.
_LARGE = 1e10


def _by_series(z, n_orders):
    """DLMF 10.2.2; for at most 1/100 four terms are exact."""
    half, orders = 0.5 * z, _np.arange(n_orders)
    square = half * half
    rows, power = [], _n.ones_like(z)
    for k in orders.tolist():
        terms = 1 - square / (k + 1) * (1 - square / (2 * (k + 2)) * (1 - square / (3 * (k + 3))))
        rows.append(power * terms)
        power = power * half / (k + 1)
    return _n.stack(rows)


def _first_order(largest):
    """An even order at which the functions of all numbers up to one are of no account (DLMF 10.19.8)."""
    return 2 * _math.ceil((largest + 16 * largest ** (1 / 3) + 20) / 2)


def _by_recurrence(z, n_orders, n_iter):
    """Downwards by DLMF 10.6.1 (J. Miller's method), scaled by the sum 10.12.4 of the even orders."""
    start = max(_first_order(max(_FAR, n_orders)), n_iter + n_iter % 2)

    def step(i, carry):
        k = start - i
        above, here, total, kept = carry
        below = 2 * k / z * here - above
        total = total + _n.where((k - 1) % 2 == 0, _n.where(k == 1, 1, 2), 0) * below
        row = _n.where(k - 1 < n_orders, k - 1, n_orders)
        kept = kept.at[row].set(below)
        scale = _n.where(lax.abs(below) > _LARGE, 1 / _LARGE, 1).astype(z.dtype)
        return here * scale, below * scale, total * scale, kept * scale

    tiny = _n.full_like(z, 1e-20)
    # A row more takes what is not asked for.
    start_values = _n.zeros_like(z), tiny, 2 * tiny, _n.zeros((n_orders + 1, *z.shape), z.dtype)
    *_, total, kept = lax.fori_loop(0, start, step, start_values)
    return kept[:n_orders] / total


def _hankel(z, order):
    """DLMF 10.17.3, whose terms are below rounding after ten for numbers above 50."""
    mu, term = 4 * order * order, _n.ones_like(z)
    even, odd = _n.ones_like(z), _n.zeros_like(z)
    for k in range(1, 20):
        term = term * (mu - (2 * k - 1) ** 2) / (8 * k) / z
        sign = -1 if k % 4 in (2, 3) else 1
        even, odd = (even, odd + sign * term) if k % 2 else (even + sign * term, odd)
    # cos(z - π/4) and sin(z - π/4), without a rounded difference.
    sine, cosine = lax.sin(z), lax.cos(z)
    minus, plus = (cosine + sine), (sine - cosine)
    if order == 1:
        minus, plus = plus, -minus
    return (even * minus - odd * plus) / lax.sqrt(_math.pi * z)


def _upwards(z, n_orders):
    rows = [_hankel(z, 0), _hankel(z, 1)]
    for k in range(1, n_orders - 1):
        rows.append(2 * k / z * rows[k] - rows[k - 1])
    return _n.stack(rows[:n_orders])


@_functools.partial(_jit, static_argnums=(1, 2))
def _bessel(z, n_orders, n_iter):
    size = lax.abs(z)
    is_near, is_far = size < _NEAR, size > max(_FAR, n_orders)
    value = _by_recurrence(_n.where(is_near | is_far | _n.isnan(z), 1, size), n_orders, n_iter)
    far = _upwards(_n.where(is_far, size, 2 * _FAR), n_orders)
    value = _n.where(is_near, _by_series(_n.where(is_near, size, 0), n_orders), _n.where(is_far, far, value))
    value = _n.where(_n.isnan(z), z, _n.where(_n.isinf(z), 0, value))
    signs = _np.where(_np.arange(n_orders) % 2, -1, 1).reshape(-1, *[1] * z.ndim)
    return _n.where(z < 0, value * _n.asarray(signs, z.dtype), value)


@_functools.cache
def _with_derivative(n_orders, n_iter):
    @_custom_jvp
    def bessel(z):
        return _bessel(z, n_orders, n_iter)

    @bessel.defjvp
    def bessel_jvp(primals, tangents):
        (z,), (z_dot,) = primals, tangents
        out = _with_derivative(n_orders + 1, n_iter)(z)
        # DLMF 10.6.1 and 10.6.3.
        first = -out[1:2]
        rest = 0.5 * (out[: n_orders - 1] - out[2 : n_orders + 1])
        return out[:n_orders], z_dot * _n.concatenate([first, rest])

    return bessel


def bessel_jn(z, *, v, n_iter=50):
    """Bessel functions of the first kind, of all integer orders up to one; DLMF 10.2.

    Args:
      z: an array of real numbers; integers become floating.
      v: the greatest order, a Python integer that is not negative.
      n_iter: accepted for compatibility: from which order on to recur at least; more are taken where they are needed.
    Returns: an array `[v + 1, ...]`, the orders first, of a floating dtype.
    Raises:
      ValueError: `v` is negative.
      TypeError: `v` is no integer, complex numbers, or `z` is no array.
    Differentiable: yes: `(bessel(k - 1) - bessel(k + 1)) / 2` for order k, in both modes.
    Example:
      >>> print(jax.scipy.special.bessel_jn(jnp.array([1.0]), v=1).round(4))
      [[0.7652]
       [0.4401]]
    """
    v, n_iter = _operator.index(v), _operator.index(n_iter)
    if v < 0:
        raise _user_error(ValueError, f"bessel_jn: the order v must not be negative, got {v}")
    (z,) = _n._promote_inexact("bessel_jn", _n.asarray(z))
    if z.dtype.kind == "c":
        raise _user_error(TypeError, f"bessel_jn does not support complex-valued inputs, got {z.dtype}.")
    return lax.convert_element_type(_with_derivative(v + 1, n_iter)(_in_single(z)), z.dtype)
