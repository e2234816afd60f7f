"""The gamma function and its kin: factorials, binomial coefficients, beta and incomplete functions, zeta."""

import fractions as _fractions
import math as _math
import operator as _operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.custom_derivatives import custom_jvp as _custom_jvp

_n = _core.numpy

__all__ = [
    "bernoulli", "beta", "betainc", "betaln", "comb", "digamma", "factorial", "gamma", "gammainc", "gammaincc", "gammaln",
    "gammasgn", "i0", "i0e", "i1", "i1e", "multigammaln", "poch", "polygamma", "zeta",
]


def gammaln(x):
    """The logarithm of the absolute value of the gamma function; DLMF 5.2.

    Args:
      x: an array of real numbers; integers become floating. `inf` at 0 and negative integers.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `digamma(x)`, in both modes.
    Example:
      >>> float(jax.scipy.special.gammaln(1.0))
      0.0
      >>> float(jax.scipy.special.gammaln(-1.0))
      inf
    """
    (x,) = _n._promote_inexact("gammaln", x)
    return lax.lgamma(x)


def gammasgn(x):
    """The sign of the gamma function; that of zero at -0 and 0, NaN at negative integers and `-inf`.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x` with elements 1, -1 and NaN.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: almost everywhere, with derivative zero.
    Example:
      >>> float(jax.scipy.special.gammasgn(-0.5))
      -1.0
    """
    (x,) = _n._promote_inexact("gammasgn", x)
    floor = lax.floor(x)
    is_odd = lax.ne(floor % 2, _n.zeros_like(x))
    sign = _n.where((x < 0) & is_odd, -1, 1).astype(x.dtype)
    sign = _n.where(x == 0, _n.copysign(_n.ones_like(x), x), sign)
    is_pole = ((x < 0) & (x == floor)) | (x == -_np.inf)
    return _n.where(is_pole | _n.isnan(x), _n.full_like(x, _np.nan), sign)


def gamma(x):
    """The gamma function, `(x - 1)!` continued to real numbers; DLMF 5.2.

    Args:
      x: an array of real numbers; integers become floating. NaN at negative integers.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `gamma(x) digamma(x)`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.gamma(5.0)), 3)
      24.0
    """
    (x,) = _n._promote_inexact("gamma", x)
    return gammasgn(x) * lax.exp(lax.lgamma(x))


def digamma(x):
    """The derivative of `gammaln`; DLMF 5.2.

    Args:
      x: an array of real numbers; integers become floating. NaN at 0 and negative integers.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `polygamma(1, x)`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.digamma(1.0)), 4)
      -0.5772
      >>> float(jax.scipy.special.digamma(-1.0))
      nan
    """
    (x,) = _n._promote_inexact("digamma", x)
    return lax.digamma(x)


def polygamma(n, x):
    """The `n`-th derivative of `digamma`; DLMF 5.15.

    Args:
      n: integers that are not negative.
      x: real numbers; they broadcast with `n`.
    Returns: an array of the broadcast shape and a floating dtype.
    Raises:
      ValueError: `n` is floating, or shapes do not broadcast.
      TypeError: an argument is no array or number.
    Differentiable: yes, with respect to `x`: `polygamma(n + 1, x)`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.polygamma(1, 1.0)), 4)
      1.6449
    """
    if not _n.result_type(n).kind in "iu":
        raise _user_error(ValueError, f"Argument `n` to polygamma must be of integer type, got dtype {_n.result_type(n)}.")
    n, x = _n._promote_inexact("polygamma", n, x)
    return lax.polygamma(*_n.broadcast_arrays(n, x))


def factorial(n, exact=False):
    """`n!` by the gamma function, so `n` need not be whole; 0 for negative numbers.

    Args:
      n: an array of real numbers; integers become floating.
      exact: must be False.
    Returns: an array of the shape of `n`.
    Raises:
      NotImplementedError: `exact` is true.
      TypeError: `n` is no array or number.
    Differentiable: yes: `factorial(n) digamma(n + 1)`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.factorial(4)), 3)
      24.0
    """
    if exact:
        raise _user_error(NotImplementedError, "factorial with exact=True")
    (n,) = _n._promote_inexact("factorial", n)
    return _n.where(n < 0, _n.zeros_like(n), lax.exp(lax.lgamma(n + 1)))


def comb(N, k, *, repetition=False):
    """Binomial coefficients: how many ways to choose `k` things of `N`; 0 where `k` is negative or greater than `N`.

    Args:
      N, k: arrays of real numbers that broadcast; integers become floating.
      repetition: a thing may be chosen several times.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> round(float(jax.scipy.special.comb(5, 2)), 3)
      10.0
    """
    N, k = _n._promote_inexact("comb", N, k)
    if repetition:
        # Nothing can be chosen of nothing in one way.
        return _n.where((N == 0) & (k == 0), _n.ones_like(N), comb(N + k - 1, k))
    is_valid = (k <= N) & (N >= 0) & (k >= 0)
    value = lax.exp(lax.lgamma(N + 1) - lax.lgamma(k + 1) - lax.lgamma(N - k + 1))
    return _n.where(is_valid, value, _n.zeros_like(value))


def betaln(a, b):
    """The logarithm of the absolute value of the beta function: `gammaln(a) + gammaln(b) - gammaln(a + b)`.

    Where `b` is large, the difference of logarithms comes from Stirling's series, DLMF 5.11.

    Args:
      a, b: arrays of real numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> float(jax.scipy.special.betaln(1.0, 1.0))
      0.0
    """
    a, b = _n._promote_inexact("betaln", a, b)
    a, b = _n.minimum(a, b), _n.maximum(a, b)
    # For a large `b` the two great logarithms cancel; their difference has a series of its own.
    small_b = lax.lgamma(a) + (lax.lgamma(b) - lax.lgamma(a + b))
    large_b = lax.lgamma(a) + _lgamma_difference(a, b)
    return _n.where(b < 8, small_b, large_b)


# The coefficients of Stirling's series for what is left of log gamma.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def _stirling_rest(x):
    value, square = _n.zeros_like(x), 1 / (x * x)
    for c in reversed(_STIRLING):
        value = value * square + c
    return value / x


def _lgamma_difference(a, b):
    """`gammaln(b) - gammaln(a + b)` for `b` of at least 8."""
    b = _n.maximum(b, 8)
    total = a + b
    return _stirling_rest(b) - _stirling_rest(total) - (total - 0.5) * _n.log1p(a / b) - a * (_n.log(b) - 1)


def beta(a, b):
    """The beta function `gamma(a) gamma(b) / gamma(a + b)`; DLMF 5.12.

    Args:
      a, b: arrays of real numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> float(jax.scipy.special.beta(1.0, 1.0))
      1.0
    """
    a, b = _n._promote_inexact("beta", a, b)
    sign = gammasgn(a) * gammasgn(b) * gammasgn(a + b)
    return sign * lax.exp(betaln(a, b))


def betainc(a, b, x):
    """The regularized incomplete beta function, the distribution function of the beta distribution; DLMF 8.17.

    Args:
      a, b: positive numbers.
      x: numbers from 0 to 1; all broadcast.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: shapes do not broadcast; a derivative with respect to `a` or `b`.
    Differentiable: yes, with respect to `x`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.betainc(1.0, 1.0, 0.25)), 4)
      0.25
    """
    a, b, x = _n._promote_inexact("betainc", a, b, x)
    return lax.betainc(*_n.broadcast_arrays(a, b, x))


def gammainc(a, x):
    """The regularized lower incomplete gamma function, the distribution function of the gamma distribution; DLMF 8.2.

    Args:
      a: positive numbers.
      x: numbers that are not negative; they broadcast with `a`.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: shapes do not broadcast.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> round(float(jax.scipy.special.gammainc(1.0, 1.0)), 4)
      0.6321
    """
    a, x = _n._promote_inexact("gammainc", a, x)
    return lax.igamma(*_n.broadcast_arrays(a, x))


def gammaincc(a, x):
    """The regularized upper incomplete gamma function `1 - gammainc(a, x)`; DLMF 8.2.

    Args:
      a: positive numbers.
      x: numbers that are not negative; they broadcast with `a`.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: shapes do not broadcast.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> round(float(jax.scipy.special.gammaincc(1.0, 1.0)), 4)
      0.3679
    """
    a, x = _n._promote_inexact("gammaincc", a, x)
    return lax.igammac(*_n.broadcast_arrays(a, x))


def multigammaln(a, d):
    """The logarithm of the gamma function of `d` dimensions: `d (d - 1) log(π) / 4 + Σ gammaln(a - j / 2)` for `j` below `d`.

    Args:
      a: an array of real numbers greater than `(d - 1) / 2`.
      d: the dimension, a concrete integer.
    Returns: an array of the shape of `a`.
    Raises:
      ConcretizationTypeError: a traced dimension.
      TypeError: `a` is no array or number.
    Differentiable: yes, with respect to `a`, in both modes.
    Example:
      >>> float(jax.scipy.special.multigammaln(1.0, 1))
      0.0
    """
    from pullback.core import concrete_or_error

    d = concrete_or_error(int, d, "d argument of multigammaln")
    (a,) = _n._promote_inexact("multigammaln", a)
    constant = 0.25 * d * (d - 1) * _math.log(_math.pi)
    shifts = _n.asarray(_np.arange(d) / 2, a.dtype)
    return lax.lgamma(_n.expand_dims(a, a.ndim) - shifts).sum(-1) + _n.asarray(constant, a.dtype)


@_custom_jvp
def zeta(x, q=None):
    """The Hurwitz zeta function: the sum of `(k + q)**-x` over `k` from 0; DLMF 25.11.

    Args:
      x: exponents greater than 1.
      q: positive numbers; they broadcast with `x`.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      NotImplementedError: without `q`: the Riemann zeta function; `q=1` gives it for `x` above 1.
      TypeError: an argument is no array or number.
      ValueError: shapes do not broadcast.
    Differentiable: yes, with respect to both, in both modes: by `q` it is `-x zeta(x + 1, q)`, by `x` for positive `q` the
      derivative of the Euler-Maclaurin formula.
    Example:
      >>> round(float(jax.scipy.special.zeta(2.0, 1.0)), 4)
      1.6449
    """
    if q is None:
        raise _user_error(NotImplementedError, "Riemann zeta function not implemented; pass q != None to compute the Hurwitz Zeta function.")
    x, q = _n._promote_inexact("zeta", x, q)
    return lax.zeta(*_n.broadcast_arrays(x, q))


# B_2k / (2k)! for k from 1.
_EULER_MACLAURIN = [float(_fractions.Fraction(*b) / _math.factorial(2 * k)) for k, b in enumerate(
    [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798), (-174611, 330)], 1
)]


def _zeta_by_terms(x, q):
    """Ten terms and the Euler-Maclaurin formula, DLMF 25.11.43: less exact than the primitive, but differentiable."""
    places = q[..., None] + _n.arange(10, dtype=q.dtype)
    total = _n.exp(-x[..., None] * _n.log(places)).sum(-1)
    a = q + 10
    # Of great powers nothing is left here but what overflows.
    is_small = x < 60
    x = _n.where(is_small, x, 2)
    tail = _n.exp((1 - x) * _n.log(a)) / (x - 1) + 0.5 * _n.exp(-x * _n.log(a))
    rising, power = x, _n.exp(-(x + 1) * _n.log(a))
    for k, factor in enumerate(_EULER_MACLAURIN, 1):
        tail = tail + factor * rising * power
        rising, power = rising * (x + (2 * k - 1)) * (x + 2 * k), power / (a * a)
    return total + _n.where(is_small, tail, 0)


def _zeta_by_x(x_dot, _, x, q):
    from pullback import jvp

    x, q, x_dot = _n.broadcast_arrays(*_n._promote_inexact("zeta", x, q, x_dot))
    return jvp(lambda x: _zeta_by_terms(x, q), (x,), (x_dot,))[1]


zeta.defjvps(_zeta_by_x, lambda q_dot, _, x, q: -x * zeta(x + 1, q) * q_dot)


@_custom_jvp
def poch(z, m):
    """The rising factorial `gamma(z + m) / gamma(z)`, Pochhammer's symbol; DLMF 5.2.

    Args:
      z, m: arrays of real numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> round(float(jax.scipy.special.poch(2.0, 3.0)), 3)
      24.0
    """
    z, m = _n._promote_inexact("poch", z, m)
    sign = gammasgn(z + m) * gammasgn(z)
    return _n.where(m == 0, _n.ones_like(z), sign * lax.exp(lax.lgamma(z + m) - lax.lgamma(z)))


@poch.defjvp
def _poch_jvp(primals, tangents):
    (z, m), (z_dot, m_dot) = primals, tangents
    out = poch(z, m)
    by_m = digamma(z + m) * out
    return out, m_dot * by_m + z_dot * (digamma(z + m) - digamma(z)) * out


def i0e(x):
    """The modified Bessel function of order 0, scaled: `exp(-|x|) i0(x)`, which does not overflow.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `i1e(x) - sign(x) i0e(x)`, in both modes.
    Example:
      >>> float(jax.scipy.special.i0e(0.0))
      1.0
    """
    (x,) = _n._promote_inexact("i0e", x)
    return lax.bessel_i0e(x)


def i0(x):
    """The modified Bessel function of the first kind and order 0; DLMF 10.25.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `i1(x)`, in both modes.
    Example:
      >>> float(jax.scipy.special.i0(0.0))
      1.0
    """
    (x,) = _n._promote_inexact("i0", x)
    return _i0(x)


@_custom_jvp
def _i0(x):
    return lax.mul(lax.exp(lax.abs(x)), lax.bessel_i0e(x))


@_i0.defjvp
def _i0_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return _i0(x), x_dot * _i1(x)


def i1e(x):
    """The modified Bessel function of order 1, scaled: `exp(-|x|) i1(x)`, which does not overflow.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes, in both modes.
    Example:
      >>> float(jax.scipy.special.i1e(0.0))
      0.0
    """
    (x,) = _n._promote_inexact("i1e", x)
    return lax.bessel_i1e(x)


def i1(x):
    """The modified Bessel function of the first kind and order 1; DLMF 10.25.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: complex numbers, or `x` is no array or number.
    Differentiable: yes: `i0(x) - i1(x) / x`, in both modes.
    Example:
      >>> float(jax.scipy.special.i1(0.0))
      0.0
    """
    (x,) = _n._promote_inexact("i1", x)
    return _i1(x)


@_custom_jvp
def _i1(x):
    return lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x))


@_i1.defjvp
def _i1_jvp(primals, tangents):
    """`i0(x) - i1(x) / x`, near 0, where these cancel, by the series of DLMF 10.25.2."""
    (x,), (x_dot,) = primals, tangents
    is_near = _n.abs(x) < 0.5
    small, large = _n.where(is_near, x, 0), _n.where(is_near, 1, x)
    near = sum((2 * k + 1) / (2 * 4**k * _math.factorial(k) * _math.factorial(k + 1)) * small ** (2 * k) for k in range(8))
    return _i1(x), x_dot * _n.where(is_near, near, _i0(large) - _i1(large) / large)


def bernoulli(n):
    """The Bernoulli numbers up to the `n`-th, with `B1 = -1/2`; DLMF 24.2. They are computed as fractions and rounded once.

    Args:
      n: a Python integer that is not negative.
    Returns: a floating vector of `n + 1` numbers.
    Raises:
      ValueError: `n` is negative.
      TypeError: `n` is no integer.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.special.bernoulli(2)[:2])
      [ 1.  -0.5]
    """
    from fractions import Fraction

    n = _operator.index(n)
    if n < 0:
        raise _user_error(ValueError, "n must be a non-negative integer.")
    found = _np.zeros(n + 1)
    numbers = [Fraction(1)]
    # Those beyond exceed every floating number.
    for m in range(1, min(n, 258) + 1):
        numbers.append(-sum(_math.comb(m + 1, k) * numbers[k] for k in range(m)) / (m + 1) if m == 1 or m % 2 == 0 else Fraction(0))
    found[: len(numbers)] = [float(b) for b in numbers]
    found[262::4], found[260::4] = _np.inf, -_np.inf
    return _n.asarray(found, _core.as_dtype(float))
