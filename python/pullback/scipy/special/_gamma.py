"""The gamma function and its kin: factorials, binomial coefficients, beta and incomplete functions, zeta."""

import math as _math
import operator as _operator

import numpy as _np

from pullback import _core, lax
from pullback.custom_derivatives import custom_jvp as _custom_jvp

_n = _core.numpy

__all__ = [
    "bernoulli", "beta", "betainc", "betaln", "comb", "digamma", "factorial", "gamma", "gammainc", "gammaincc", "gammaln",
    "gammasgn", "i0", "i0e", "i1", "i1e", "multigammaln", "poch", "polygamma", "zeta",
]


def gammaln(x):
    """The logarithm of the absolute value of the gamma function.

    Args:
      x: an array of real numbers.
    Raises:
      TypeError: complex numbers.
    Differentiable: :func:`digamma`.

    >>> from pullback.scipy import special
    >>> float(special.gammaln(1.0))
    0.0
    """
    (x,) = _n._promote_inexact("gammaln", x)
    return lax.lgamma(x)


def gammasgn(x):
    """The sign of the gamma function; that of zero at -0 and 0, NaN at negative integers and `-inf`.

    Args:
      x: an array of real numbers.
    Not differentiable in a useful way: the derivative is zero.

    >>> from pullback.scipy import special
    >>> float(special.gammasgn(-0.5))
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
    """The gamma function: `(x - 1)!` continued to real numbers.

    Args:
      x: an array of real numbers.
    Differentiable.

    >>> from pullback.scipy import special
    >>> abs(float(special.gamma(5.0)) - 24) < 1e-3
    True
    """
    (x,) = _n._promote_inexact("gamma", x)
    return gammasgn(x) * lax.exp(lax.lgamma(x))


def digamma(x):
    """The derivative of :func:`gammaln`.

    Args:
      x: an array of real numbers.
    Differentiable: `polygamma(1, x)`.

    >>> from pullback.scipy import special
    >>> round(float(special.digamma(1.0)), 4)
    -0.5772
    """
    (x,) = _n._promote_inexact("digamma", x)
    return lax.digamma(x)


def polygamma(n, x):
    """The `n`-th derivative of :func:`digamma`.

    Args:
      n: integers that are not negative.
      x: real numbers; they broadcast with `n`.
    Raises:
      ValueError: `n` is floating.
    Differentiable in `x`.

    >>> from pullback.scipy import special
    >>> abs(float(special.polygamma(1, 1.0)) - 1.644934) < 1e-4
    True
    """
    if not _n.result_type(n).kind in "iu":
        raise ValueError(f"Argument `n` to polygamma must be of integer type, got dtype {_n.result_type(n)}.")
    n, x = _n._promote_inexact("polygamma", n, x)
    return lax.polygamma(*_n.broadcast_arrays(n, x))


def factorial(n, exact=False):
    """`n!` by the gamma function; 0 for negative numbers.

    Args:
      n: an array of real numbers.
      exact: must be False.
    Raises:
      NotImplementedError: `exact` is true.
    Differentiable.

    >>> from pullback.scipy import special
    >>> abs(float(special.factorial(4)) - 24) < 1e-3
    True
    """
    if exact:
        raise NotImplementedError("factorial with exact=True")
    (n,) = _n._promote_inexact("factorial", n)
    return _n.where(n < 0, _n.zeros_like(n), lax.exp(lax.lgamma(n + 1)))


def comb(N, k, *, repetition=False):
    """Binomial coefficients: how many ways to choose `k` things of `N`; 0 where `k` is negative or greater than `N`.

    Args:
      N, k: arrays of real numbers that broadcast.
      repetition: a thing may be chosen several times.
    Differentiable.

    >>> from pullback.scipy import special
    >>> abs(float(special.comb(5, 2)) - 10) < 1e-3
    True
    """
    N, k = _n._promote_inexact("comb", N, k)
    if repetition:
        return comb(N + k - 1, k)
    is_valid = (k <= N) & (N >= 0) & (k >= 0)
    value = lax.exp(lax.lgamma(N + 1) - lax.lgamma(k + 1) - lax.lgamma(N - k + 1))
    return _n.where(is_valid, value, _n.zeros_like(value))


def betaln(a, b):
    """The logarithm of the absolute value of the beta function: `gammaln(a) + gammaln(b) - gammaln(a + b)`.

    Args:
      a, b: arrays of real numbers that broadcast.
    Differentiable.

    >>> from pullback.scipy import special
    >>> float(special.betaln(1.0, 1.0))
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
    """The beta function `gamma(a) gamma(b) / gamma(a + b)`.

    Args:
      a, b: arrays of real numbers that broadcast.
    Differentiable.

    >>> from pullback.scipy import special
    >>> float(special.beta(1.0, 1.0))
    1.0
    """
    a, b = _n._promote_inexact("beta", a, b)
    sign = gammasgn(a) * gammasgn(b) * gammasgn(a + b)
    return sign * lax.exp(betaln(a, b))


def betainc(a, b, x):
    """The regularized incomplete beta function: the distribution function of the beta distribution.

    Args:
      a, b: positive numbers.
      x: numbers from 0 to 1; all broadcast.
    Differentiable in `x`.

    >>> from pullback.scipy import special
    >>> abs(float(special.betainc(1.0, 1.0, 0.25)) - 0.25) < 1e-6
    True
    """
    a, b, x = _n._promote_inexact("betainc", a, b, x)
    return lax.betainc(*_n.broadcast_arrays(a, b, x))


def gammainc(a, x):
    """The regularized lower incomplete gamma function: the distribution function of the gamma distribution.

    Args:
      a: positive numbers.
      x: numbers that are not negative; they broadcast with `a`.
    Differentiable.

    >>> from pullback.scipy import special
    >>> abs(float(special.gammainc(1.0, 1.0)) - 0.632121) < 1e-5
    True
    """
    a, x = _n._promote_inexact("gammainc", a, x)
    return lax.igamma(*_n.broadcast_arrays(a, x))


def gammaincc(a, x):
    """The regularized upper incomplete gamma function `1 - gammainc(a, x)`.

    Args:
      a: positive numbers.
      x: numbers that are not negative; they broadcast with `a`.
    Differentiable.

    >>> from pullback.scipy import special
    >>> abs(float(special.gammaincc(1.0, 1.0)) - 0.367879) < 1e-5
    True
    """
    a, x = _n._promote_inexact("gammaincc", a, x)
    return lax.igammac(*_n.broadcast_arrays(a, x))


def multigammaln(a, d):
    """The logarithm of the gamma function of `d` dimensions.

    Args:
      a: an array of real numbers greater than `(d - 1) / 2`.
      d: the dimension, a concrete integer.
    Raises:
      ConcretizationTypeError: a traced dimension.
    Differentiable in `a`.

    >>> from pullback.scipy import special
    >>> float(special.multigammaln(1.0, 1))
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
    """The Hurwitz zeta function: the sum of `(k + q)**-x` over `k` from 0.

    Args:
      x: exponents greater than 1.
      q: positive numbers; they broadcast with `x`.
    Raises:
      NotImplementedError: without `q`: the Riemann zeta function; `q=1` gives it for `x` above 1.
    Differentiable in `q`.

    >>> from pullback.scipy import special
    >>> abs(float(special.zeta(2.0, 1.0)) - 1.644934) < 1e-4
    True
    """
    if q is None:
        raise NotImplementedError("Riemann zeta function not implemented; pass q != None to compute the Hurwitz Zeta function.")
    x, q = _n._promote_inexact("zeta", x, q)
    return lax.zeta(*_n.broadcast_arrays(x, q))


@zeta.defjvp
def _zeta_jvp(primals, tangents):
    (x, q), (_, q_dot) = primals, tangents
    return zeta(x, q), -x * zeta(x + 1, q) * q_dot


@_custom_jvp
def poch(z, m):
    """The rising factorial `gamma(z + m) / gamma(z)`.

    Args:
      z, m: arrays of real numbers that broadcast.
    Differentiable.

    >>> from pullback.scipy import special
    >>> abs(float(special.poch(2.0, 3.0)) - 24) < 1e-3
    True
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
    """`exp(-|x|) i0(x)`.

    Args:
      x: an array of real numbers.
    Differentiable.
    """
    (x,) = _n._promote_inexact("i0e", x)
    return lax.bessel_i0e(x)


def i0(x):
    """The modified Bessel function of the first kind and order 0.

    Args:
      x: an array of real numbers.
    Differentiable.
    """
    (x,) = _n._promote_inexact("i0", x)
    return lax.mul(lax.exp(lax.abs(x)), lax.bessel_i0e(x))


def i1e(x):
    """`exp(-|x|) i1(x)`.

    Args:
      x: an array of real numbers.
    Differentiable.
    """
    (x,) = _n._promote_inexact("i1e", x)
    return lax.bessel_i1e(x)


def i1(x):
    """The modified Bessel function of the first kind and order 1.

    Args:
      x: an array of real numbers.
    Differentiable.
    """
    (x,) = _n._promote_inexact("i1", x)
    return lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x))


def bernoulli(n):
    """The Bernoulli numbers up to the `n`-th, with `B1 = -1/2`.

    Args:
      n: an integer that is not negative.
    Returns: `n + 1` numbers.
    Raises:
      ValueError: `n` is negative.

    >>> from pullback.scipy import special
    >>> print(special.bernoulli(2)[:2])
    [ 1.  -0.5]
    """
    from fractions import Fraction

    n = _operator.index(n)
    if n < 0:
        raise ValueError("n must be a non-negative integer.")
    numbers = [Fraction(1)]
    for m in range(1, n + 1):
        numbers.append(-sum(_math.comb(m + 1, k) * numbers[k] for k in range(m)) / (m + 1) if m == 1 or m % 2 == 0 else Fraction(0))
    return _n.asarray(_np.array([float(b) for b in numbers]), _core.as_dtype(float))
