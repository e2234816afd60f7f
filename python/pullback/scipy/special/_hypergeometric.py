"""Hypergeometric functions of real numbers: Kummer's 1F1 and Gauss's 2F1.

Each is a power series, summed until its terms vanish, at an argument to which a transformation leads. Derivatives with respect
to parameters are those of the sums.
"""

import math as _math

import numpy as _np

from pullback import _core, lax
from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback.custom_derivatives import custom_jvp as _custom_jvp
from pullback.dtypes import finfo as _finfo

_n = _core.numpy
_digamma, _gamma = _core.scipy.special.digamma, _core.scipy.special.gamma

__all__ = ["hyp1f1", "hyp2f1"]

# No sum goes further: what has not converged by then is what it is.
_MOST_TERMS = 20_000
# Sums are scaled down when they are larger than this.
_LARGE = 1e15


def in_single(x):
    """Numbers of less than 32 bits in 32 bits."""
    return x.astype(_np.float32) if x.dtype.itemsize < 4 else x


def _tolerance(x):
    return 0.1 * float(_finfo(x.dtype).eps)


def _bound(x):
    """What a factor counts for in the test of convergence: one that vanishes ends a series, but not its derivative."""
    return _n.maximum(lax.abs(x), 0.5)


def _series(first, ratio, bound, is_wanted):
    """A sum of terms, each `ratio(k)` times the one before, until each is small: the sum and the logarithm of its scale.

    `bound(k)` is the ratio of a series that ends no sooner and whose terms are not less.
    """

    def goes_on(carry):
        k, _, largest, total, _ = carry
        return (k < _MOST_TERMS) & _n.any(is_wanted & ~(largest <= _tolerance(total) * lax.abs(total)))

    def step(carry):
        k, term, largest, total, log_scale = carry
        term, largest = term * ratio(k), largest * bound(k)
        total = total + term
        is_large = (lax.abs(total) > _LARGE) & _n.isfinite(total)
        scale = _n.where(is_large, 1 / _LARGE, 1).astype(total.dtype)
        log_scale = log_scale + _n.where(is_large, _math.log(_LARGE), 0).astype(total.dtype)
        return k + 1, term * scale, largest * scale, total * scale, log_scale

    ones = _n.ones_like(first)
    _, _, _, total, log_scale = lax.while_loop(goes_on, step, (0, first, ones, first, _n.zeros_like(first)))
    return total, log_scale


def _with_partials(value, by_x):
    """A function of parameters and a number whose derivative by the number is `by_x`, those by the parameters those of the sums."""
    function = _custom_jvp(value)

    def rule(primals, tangents):
        from pullback import jvp
        from pullback.custom_derivatives import SymbolicZero

        *parameters, x = primals
        out_dot = _n.zeros_like(x)
        if not isinstance(tangents[-1], SymbolicZero):
            out_dot = out_dot + tangents[-1] * by_x(*primals)
        for i, tangent in enumerate(tangents[:-1]):
            if not isinstance(tangent, SymbolicZero):
                along = [_n.full_like(x, float(i == j)) for j in range(len(primals))]
                out_dot = out_dot + tangent * jvp(value, tuple(primals), tuple(along))[1]
        return function(*primals), out_dot

    function.defjvp(rule, symbolic_zeros=True)
    return function


def _checked(name, *xs):
    xs = _n._promote_inexact(name, *map(_n.asarray, xs))
    if xs[0].dtype.kind == "c":
        raise _user_error(ValueError, f"{name} does not support complex-valued inputs, got {xs[0].dtype}.")
    return [in_single(x) for x in _n.broadcast_arrays(*xs)], xs[0].dtype


def _is_ending(a):
    """Whether a parameter is zero or a negative integer, so that as an upper one it ends a sum, and as a lower one has a pole."""
    return (a <= 0) & (a == lax.floor(a))


def _is_pole(lower, *upper):
    """Whether a lower parameter has a pole before an upper one ends the sum."""
    is_pole = _is_ending(lower)
    for a in upper:
        is_pole = is_pole & ~(_is_ending(a) & (a >= lower))
    return is_pole


def _divided(x, lower, k):
    """`x / (lower + k)`, nothing behind the end of a sum."""
    below = lower + k
    is_over = below == 0
    return _n.where(is_over, 0, x / _n.where(is_over, 1, below))


# 1F1


def _kummer_series(a, b, x, is_wanted):
    as_float = lambda k: _n.asarray(k, x.dtype)
    ratio = lambda k: _divided((a + as_float(k)) * x, b, as_float(k)) / (as_float(k) + 1)
    bound = lambda k: lax.abs(_divided(_bound(a + as_float(k)) * x, b, as_float(k))) / (as_float(k) + 1)
    return _series(_n.ones_like(x), ratio, bound, is_wanted)


def _kummer_far(a, b, x):
    """The asymptotic series for large positive numbers (DLMF 13.7.1), without its exponential, and where it can be used."""
    total, term = _n.ones_like(x), _n.ones_like(x)
    smallest = _n.ones_like(x)
    for k in range(40):
        following = term * (1 - a + k) * (b - a + k) / ((k + 1) * x)
        # Terms are taken as long as they decrease.
        smallest = _n.where(lax.abs(following) < smallest, lax.abs(following), 0)
        term = _n.where(smallest > 0, following, 0)
        total = total + term
    return total


def _is_far(a, b, x):
    limit = 40.0 if x.dtype == _np.float64 else 20.0
    return (x > limit) & (x > 4 * (lax.abs(1 - a) + 1) * (lax.abs(b - a) + 1))


@_jit
def _hyp1f1(a, b, x):
    is_one = (x == 0) | (a == 0)
    is_pole = _is_pole(b, a) & ~is_one
    is_same = a == b
    value = _hyp1f1_beside_poles(a, _n.where(_is_ending(b) & (is_pole | is_one | is_same), 1, b), x)
    value = _n.where(is_one, 1 + a * 0, _n.where(is_same, lax.exp(x), _n.where(is_pole, _np.inf, value)))
    return _n.where(_n.isnan(a + b + x), _n.full_like(x, _np.nan), value)


def _hyp1f1_beside_poles(a, b, x):
    # Kummer's transformation (DLMF 13.2.39), so that terms have one sign; sums that end do so without it.
    is_negative = (x < 0) & ~_is_ending(a)
    p, y = _n.where(is_negative, b - a, a), _n.where(is_negative, -x, x)
    is_far = _is_far(p, b, y) & ~_is_ending(p)
    total, log_scale = _kummer_series(p, b, _n.where(is_far, 1, y), ~is_far & ~_n.isnan(p + b + y))
    near = total * lax.exp(log_scale + _n.where(is_negative, x, 0))
    safe_y, safe_p = _n.where(is_far, y, 100.0), _n.where(is_far, p, 1)
    factor = lax.exp(_n.where(is_negative, 0, safe_y) + (safe_p - b) * lax.log(safe_y))
    far = _gamma(b) / _gamma(safe_p) * factor * _kummer_far(safe_p, b, safe_y)
    return _n.where(is_far, far, near)


_kummer = _with_partials(_hyp1f1, lambda a, b, x: _n.where(a == 0, 0, a / _n.where(a == 0, 1, b)) * _kummer(a + 1, b + 1, x))


def hyp1f1(a, b, x):
    """Kummer's function: the sum of `(a)_k x**k / ((b)_k k!)`, with `(a)_k = a (a + 1) ... (a + k - 1)`; DLMF 13.2.2.

    By the series, of positive terms after 13.2.39, and far from zero by 13.7.1.

    Args:
      a, b, x: arrays of real numbers that broadcast; integers become floating. `b` is no negative integer.
    Returns: an array of the broadcast shape and the promoted floating dtype; 1 for `a` 0, whatever `b` is.
    Raises:
      ValueError: complex numbers, or shapes that do not broadcast.
      TypeError: an argument is no array or number.
    Differentiable: yes, with respect to all; to `x` in both modes to any order, to the others once in reverse mode.
    Example:
      >>> round(float(jax.scipy.special.hyp1f1(1.0, 1.0, 1.0)), 4)
      2.7183
    """
    args, dtype = _checked("hyp1f1", a, b, x)
    return lax.convert_element_type(_kummer(*args), dtype)


# 2F1


def _gauss_series(a, b, c, x, is_wanted):
    """The sum within the circle, where parameters that are integers end it."""
    as_float = lambda k: _n.asarray(k, x.dtype)

    def ratio(k):
        k = as_float(k)
        return _divided((a + k) * (b + k) * x, c, k) / (k + 1)

    def bound(k):
        k = as_float(k)
        endless = _bound(a + k) * _bound(b + k)
        factor = _n.where(lax.abs(x) < 1, endless, lax.abs((a + k) * (b + k)))
        return lax.abs(_divided(factor * x, c, k)) / (k + 1)

    total, log_scale = _series(_n.ones_like(x), ratio, bound, is_wanted)
    return total * lax.exp(log_scale)


def _reciprocal_gamma(x):
    return _n.where(_is_ending(x), 0, 1 / _gamma(_n.where(_is_ending(x), 1, x)))


def _near_one(a, b, c, x, is_wanted):
    """DLMF 15.8.4, for numbers near 1 where `c - a - b` is no integer."""
    rest, s = 1 - x, c - a - b
    first = _gamma(s) * _reciprocal_gamma(c - a) * _reciprocal_gamma(c - b) * _gauss_series(a, b, 1 - s, rest, is_wanted)
    power = lax.exp(s * lax.log(rest))
    second = _gamma(-s) * _reciprocal_gamma(a) * _reciprocal_gamma(b) * _gauss_series(c - a, c - b, 1 + s, rest, is_wanted)
    return _gamma(c) * (first + power * second)


def _finite_part(a, b, m, rest, is_wanted):
    """The terms below the m-th of DLMF 15.8.10: the sum of `(a)_k (b)_k (m - k - 1)! / k! (-rest)**k`."""

    def step(carry):
        k, term, total = carry
        r = _n.asarray(k, rest.dtype)
        total = total + _n.where(r < m, term, 0)
        following = term * (a + r) * (b + r) / ((r + 1) * _n.maximum(m - r - 1, 1)) * -rest
        return k + 1, following, total

    first = _gamma(_n.maximum(m, 1))
    greatest = _n.max(_n.where(is_wanted, m, 0), initial=0)
    return lax.while_loop(lambda carry: carry[0] < greatest, step, (0, first, _n.zeros_like(rest)))[2]


def _logarithmic(a, b, m, rest, is_wanted):
    """DLMF 15.8.10 for numbers near 1, where `c = a + b + m` with an integer `m` that is not negative."""
    log = lax.log(rest)

    def goes_on(carry):
        k, term, _, total = carry
        return (k < _MOST_TERMS) & _n.any(is_wanted & ~(lax.abs(term) * (1 + lax.abs(log)) <= _tolerance(rest) * lax.abs(total)))

    def step(carry):
        k, term, psis, total = carry
        r = _n.asarray(k, rest.dtype)
        total = total + term * (log + psis)
        psis = psis + 1 / (a + m + r) + 1 / (b + m + r) - 1 / (r + 1) - 1 / (r + m + 1)
        return k + 1, term * (a + m + r) * (b + m + r) / ((r + 1) * (r + m + 1)) * rest, psis, total

    psis = _digamma(a + m) + _digamma(b + m) - _digamma(_n.ones_like(m)) - _digamma(m + 1)
    first = 1 / _gamma(m + 1)
    ascending = lax.while_loop(goes_on, step, (0, first, psis, first * (log + psis) * 0))[3]
    sign = _n.where(m % 2 == 0, 1, -1)
    finite = _finite_part(a, b, m, rest, is_wanted) * _reciprocal_gamma(a + m) * _reciprocal_gamma(b + m)
    power = lax.exp(m * log)
    return _gamma(a + b + m) * (finite - sign * power * _reciprocal_gamma(a) * _reciprocal_gamma(b) * ascending)


def _chosen(condition, values, stand_ins):
    return [_n.where(condition, value, stand_in) for value, stand_in in zip(values, stand_ins)]


def _up_to_one(a, b, c, x):
    """For numbers from 0 to below 1."""
    s = c - a - b
    whole = lax.round(s, lax.RoundingMethod.TO_NEAREST_EVEN)
    ends = _is_ending(a) | _is_ending(b)
    is_close = (x > 0.9) & ~ends
    # Between integers both parts of the formula cancel; the series takes long there, but does not.
    is_whole = is_close & (s == whole)
    is_between = is_close & (lax.abs(s - whole) > 0.02)
    plain = ~is_whole & ~is_between
    series = _gauss_series(a, b, c, _n.where(plain, x, 0), plain)
    between = _near_one(*_chosen(is_between, (a, b, c, x), (0.5, 0.25, 1.0, 0.95)), is_between)
    # Euler's transformation (DLMF 15.8.1) makes the integer one that is not negative.
    is_turned = is_whole & (s < 0)
    p, q = _n.where(is_turned, c - a, a), _n.where(is_turned, c - b, b)
    p, q, m, y = _chosen(is_whole, (p, q, lax.abs(whole), x), (0.5, 0.5, 0.0, 0.95))
    logarithmic = _logarithmic(p, q, m, 1 - y, is_whole) * _n.where(is_turned, lax.exp(s * lax.log1p(-y)), 1)
    return _n.where(is_whole, logarithmic, _n.where(is_between, between, series))


def _at_one(a, b, c):
    """Gauss's sum (DLMF 15.4.20)."""
    s = c - a - b
    value = _gamma(c) * _gamma(_n.where(s > 0, s, 1)) * _reciprocal_gamma(c - a) * _reciprocal_gamma(c - b)
    return _n.where(s > 0, value, _np.inf)


def _hyp2f1_beside_poles(a, b, c, x):
    ends = _is_ending(a) | _is_ending(b)
    is_power = ((b == c) | (a == c)) & ~ends
    exponent = _n.where(b == c, a, b)
    is_real = (x <= 1) | (exponent == lax.floor(exponent))
    power = _n.where(is_real, _n.power(_n.where(is_power & is_real, 1 - x, 1), -exponent), _np.inf)
    # Pfaff's transformation (DLMF 15.8.1) takes negative numbers between 0 and 1.
    is_negative = (x < 0) & ~ends
    inside = (x < 1) & ~is_power & ~ends
    p = _n.where(is_negative, c - b, b)
    y = _n.where(inside, _n.where(is_negative, x / (x - 1), x), 0)
    value = _up_to_one(a, p, c, y) * _n.where(is_negative, lax.exp(-a * lax.log1p(-_n.where(is_negative, x, 0))), 1)
    polynomial = _gauss_series(a, b, c, _n.where(ends, x, 0), ends)
    outside = _n.where(x == 1, _at_one(a, b, c), _np.inf)
    return _n.where(is_power, power, _n.where(ends, polynomial, _n.where(inside, value, outside)))


@_jit
def _hyp2f1(a, b, c, x):
    is_one = (x == 0) | (a == 0) | (b == 0)
    is_pole = _is_pole(c, a, b) & ~is_one
    value = _hyp2f1_beside_poles(a, b, _n.where(_is_ending(c) & (is_pole | is_one), 1, c), x)
    value = _n.where(is_pole, _np.inf, _n.where(is_one, 1 + (a + b) * 0, value))
    return _n.where(_n.isnan(a + b + c + x), _n.full_like(x, _np.nan), value)


_gauss = _with_partials(_hyp2f1, lambda a, b, c, x: a * b / c * _gauss(a + 1, b + 1, c + 1, x))


def hyp2f1(a, b, c, x):
    """Gauss's function: the sum of `(a)_k (b)_k x**k / ((c)_k k!)`, with `(a)_k = a (a + 1) ... (a + k - 1)`; DLMF 15.2.

    By the series, after Pfaff's transformation for negative numbers, and near 1 by 15.8.4 and 15.8.10.

    Args:
      a, b, c, x: arrays of real numbers that broadcast; integers become floating. `c` is no negative integer. Above 1, unless
        the sum ends or is a power, the result is infinite.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      ValueError: complex numbers, or shapes that do not broadcast.
      TypeError: an argument is no array or number.
    Differentiable: yes, with respect to all; to `x` in both modes to any order, to the others once in reverse mode.
    Example:
      >>> round(float(jax.scipy.special.hyp2f1(1.0, 1.0, 2.0, 0.5)), 4)
      1.3863
    """
    args, dtype = _checked("hyp2f1", a, b, c, x)
    return lax.convert_element_type(_gauss(*args), dtype)
