"""Associated Legendre functions of all degrees and orders up to one, and spherical harmonics.

One recurrence in the degree, over all orders at once, gives both kinds: plain functions and those of which spherical harmonics
are made, whose factors do not overflow. `lpmn` and `lpmn_values` are deprecated: asking for them warns.
"""

import math as _math

import numpy as _np

from pullback import _core, lax
from pullback._core import user_error as _user_error

_n = _core.numpy

__all__ = ["sph_harm_y"]


def _factors(degree):
    """The factors of the recurrence for plain functions, by degree and order, and those along the diagonal (DLMF 14.10.3)."""
    l, m = _np.arange(degree + 1)[:, None], _np.arange(degree + 1)[None]
    below = l > m
    gap = _np.where(below, l - m, 1)
    first = _np.where(below, (2 * l - 1) / gap, 0.0)
    second = _np.where(below, (l + m - 1) / gap, 0.0)
    return first, second, -(2.0 * _np.arange(degree + 1) - 1), 1.0


def _normal_factors(degree):
    """The same for normalized functions (S. Holmes and W. Featherstone, "A unified approach to the Clenshaw summation", 2002)."""
    l, m = _np.arange(degree + 1.0)[:, None], _np.arange(degree + 1.0)[None]
    below = l > m
    squares = _np.where(below, l * l - m * m, 1)
    first = _np.where(below, _np.sqrt((4 * l * l - 1).clip(0) / squares), 0)
    before = _np.where(l > m + 1, ((l - 1) ** 2 - m * m) / _np.where(l > 1, 4 * (l - 1) ** 2 - 1, 1), 0)
    k = _np.arange(1, degree + 1)
    diagonal = -_np.sqrt((2 * k + 1) / (2 * k))
    return first, first * _np.sqrt(before.clip(0)), _np.concatenate([[0], diagonal]), 1 / _math.sqrt(4 * _math.pi)


def _legendre(factors, cosine, sine):
    """The functions `[order, degree, ...]` at angles, with the phase of Condon and Shortley; zero for orders above the degree."""
    first, second, diagonal, start = factors
    degree, dtype = len(diagonal) - 1, cosine.dtype
    orders = _np.arange(degree + 1)
    spread = lambda row: _n.asarray(row, dtype).reshape(-1, *[1] * cosine.ndim)

    def step(carry, row):
        before, here, corner = carry
        first, second, diagonal, l = row
        corner = corner * diagonal * sine
        following = spread(first) * cosine * here - spread(second) * before
        following = _n.where(spread(orders) == l, corner, following)
        return (here, following, corner), following

    corner = _n.full_like(cosine, start)
    here = _n.where(spread(orders) == 0, corner, 0).astype(dtype)
    rows = tuple(_n.asarray(a[1:], dtype) for a in (first, second, diagonal)) + (_n.arange(1, degree + 1).astype(dtype),)
    _, more = lax.scan(step, (_n.zeros_like(here), here, corner), rows)
    return _n.concatenate([here[None], more]).swapaxes(0, 1)


def _degree(name, m, n, z):
    if m != n:
        raise _user_error(NotImplementedError, f"{name}: computations for m!=n are not yet supported, got m={m} and n={n}.")
    if _n.ndim(z) != 1:
        raise _user_error(ValueError, f"{name}: z must be a 1D array, got shape {_n.shape(z)}.")
    z = _n.asarray(z)
    if z.dtype.name not in ("float32", "float64"):
        raise _user_error(TypeError, f"{name}: z.dtype={z.dtype} is not supported, see docstring for supported types.")
    if n < 0:
        raise _user_error(ValueError, f"{name}: degrees must not be negative, got {n}.")
    return int(n), z


def _sine(z):
    return _n.sqrt(1 - z * z)


def _lpmn_values(m, n, z, is_normalized):
    """Associated Legendre functions of the first kind, of all degrees and orders up to one; DLMF 14.3.

    Args:
      m: the greatest order.
      n: the greatest degree, equal to `m`.
      z: a vector of float32 or float64 from -1 to 1.
      is_normalized: whether to take those of which spherical harmonics are made, whose factor is
        `sqrt((2 l + 1) (l - m)! / (4 π (l + m)!))`.
    Returns: an array `[m + 1, n + 1, len(z)]` by order, degree and number, zero where the order is the greater.
    Raises:
      NotImplementedError: different numbers.
      ValueError: `z` is no vector, or numbers are negative.
      TypeError: another dtype.
    Differentiable: yes, with respect to `z` within its limits, in both modes.
    Example:
      >>> print(jax.scipy.special.lpmn_values(1, 1, jnp.array([0.5]), False)[0])
      [[1. ]
       [0.5]]
    """
    degree, z = _degree("lpmn_values", m, n, z)
    return _legendre((_normal_factors if is_normalized else _factors)(degree), z, _sine(z))


def _derivatives(values, z):
    """Those by `z` of plain functions, from the neighbours in order (DLMF 14.10.5 with 14.10.1), so without dividing by the sine."""
    degree = values.shape[1] - 1
    l, m = _np.arange(degree + 1)[None, :, None], _np.arange(degree + 1)[:, None, None]
    is_end = lax.abs(z) == 1
    square = _n.where(is_end, 1, 1 - z * z)
    before = _n.concatenate([_n.zeros_like(values[:, :1]), values[:, :-1]], 1)
    inside = (_n.asarray((l + m) * 1.0, z.dtype) * before - _n.asarray(l * 1.0, z.dtype) * z * values) / square
    return _n.where(is_end, _end_derivatives(degree, z), inside)


def _end_derivatives(degree, z):
    """The limits of the derivatives at -1 and 1, which are those of powers of the sine (DLMF 14.8.1)."""
    l = _np.arange(degree + 1.0)[:, None]
    odd = _n.where(_n.asarray(l % 2 == 0), z, 1)
    zeros = _n.zeros((degree + 1, z.shape[0]), z.dtype)
    infinite = _n.asarray(_np.where(l > 0, _np.inf, 0), z.dtype)
    first = _n.where(_n.asarray(l > 0), infinite * _n.where(_n.asarray(l % 2 == 0), 1, z), 0)
    second = -_n.asarray((l - 1) * l * (l + 1) * (l + 2) / 4, z.dtype) * odd
    rows = [_n.asarray(l * (l + 1) / 2, z.dtype) * odd, first, second]
    return _n.stack([rows[m] if m < len(rows) else zeros for m in range(degree + 1)])


def _lpmn(m, n, z):
    """Associated Legendre functions of the first kind and their derivatives, of all degrees and orders up to one; DLMF 14.3.

    Args:
      m: the greatest order.
      n: the greatest degree, equal to `m`.
      z: a vector of float32 or float64 from -1 to 1.
    Returns: two arrays `[m + 1, n + 1, len(z)]` by order, degree and number, zero where the order is the greater: the values and
      their derivatives by `z`.
    Raises:
      NotImplementedError: different numbers.
      ValueError: `z` is no vector, or numbers are negative.
      TypeError: another dtype.
    Differentiable: yes, with respect to `z` within its limits, in both modes.
    Example:
      >>> values, derivatives = jax.scipy.special.lpmn(1, 1, jnp.array([0.5]))
      >>> print(derivatives[0])
      [[0.]
       [1.]]
    """
    degree, z = _degree("lpmn", m, n, z)
    values = _legendre(_factors(degree), z, _sine(z))
    return values, _derivatives(values, z)


_STATIC = "The `n_max` argument of `jnp.scipy.special.sph_harm_y` must be statically specified to use `sph_harm_y` within JAX transformations."


def sph_harm_y(n, m, theta, phi, diff_n=None, n_max=None):
    """Spherical harmonics: `N P(cos(theta)) exp(i m phi)` with the associated Legendre function P of degree n and order m; DLMF 14.30.

    The factor N makes them orthonormal on the sphere. S. Holmes and W. Featherstone, "A unified approach to the Clenshaw
    summation and the recursive computation of very high degree and order normalised associated Legendre functions" (2002).

    Args:
      n: degrees, integers that are not negative.
      m: orders, integers from `-n` to `n`.
      theta: angles from the pole, from 0 to π.
      phi: angles around it; all broadcast.
      diff_n: must be None.
      n_max: the greatest degree, to which others are clipped; by default that of `n`, which is concrete then.
    Returns: a complex array of the broadcast shape.
    Raises:
      NotImplementedError: `diff_n` is given.
      ConcretizationTypeError: traced degrees without `n_max`.
      TypeError: degrees or orders are no integers.
      ValueError: a negative `n_max`.
    Differentiable: yes, with respect to the angles, in both modes.
    Example:
      >>> print(jax.scipy.special.sph_harm_y(jnp.array([1]), jnp.array([0]), jnp.array([0.0]), jnp.array([0.0])).round(4))
      [0.4886+0.j]
    """
    from pullback.core import concrete_or_error

    if diff_n is not None:
        raise _user_error(NotImplementedError, "The 'diff_n' argument to jax.scipy.special.sph_harm_y is not supported; jax.jacfwd gives derivatives.")
    n, m = _n.asarray(n), _n.asarray(m)
    if n.dtype.kind not in "iu" or m.dtype.kind not in "iu":
        raise _user_error(TypeError, f"sph_harm_y: degrees and orders must be integers, got {n.dtype} and {m.dtype}")
    if n_max is None:
        n_max = concrete_or_error(lambda n: int(_np.max(n)), n, _STATIC)
    if n_max < 0:
        raise _user_error(ValueError, f"sph_harm_y: degrees must not be negative, got at most {n_max}")
    theta, phi = _n._promote_inexact("sph_harm_y", theta, phi)
    n, m, theta, phi = _n.broadcast_arrays(_n.clip(n, 0, n_max), m, theta, phi)
    # The function is one of cos(theta): beyond the poles the sine counts without its sign.
    sine = _n.sin(theta)
    values = _legendre(_normal_factors(int(n_max)), _n.cos(theta), _n.where(sine < 0, -sine, sine))
    order = _n.abs(m)
    chosen = _n.take_along_axis(values.reshape(-1, *n.shape), (order * (n_max + 1) + n)[None], 0)[0]
    angle = order * phi
    wave = lax.complex(chosen * _n.cos(angle), chosen * _n.sin(angle))
    sign = 1 - 2 * (order % 2)
    return _n.where(m < 0, sign * _n.conj(wave), wave)
