"""What of the gamma function's kin is made of Python's own numbers."""

import math as _math
import operator as _operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["bernoulli"]


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
