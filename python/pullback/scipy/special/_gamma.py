"""What of the gamma function's kin is made of Python's own numbers."""

import math as _math
import operator as _operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax

_n = _core.numpy

__all__ = ["bernoulli", "multigammaln"]


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
