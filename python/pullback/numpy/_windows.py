"""Windows for filters, and the Bessel function that one of them needs."""

from functools import cache as _cache

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback._jit import jit as _jit

_n = _core.numpy

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser"]


def _window(M, formula):
    if M <= 1:
        return _n.ones(M, _core.as_dtype(float))
    return formula(_n.arange(M, dtype=_core.as_dtype(float)))


def blackman(M):
    """The Blackman window `0.42 - 0.5 cos(2 pi k / (M - 1)) + 0.08 cos(4 pi k / (M - 1))` for k from 0 up to M.

    Args:
      M: the number of points, a static integer; none for less than 1.
    Returns: a vector `[M]` of the default float; `[1.]` for one point.
    Differentiable: no; there is no floating argument.
    Example:
      >>> print(jnp.round(jnp.blackman(5)[1:4], 2))
      [0.34 1.   0.34]
    """
    return _window(
        M, lambda k: 0.42 - 0.5 * _n.cos(2 * _np.pi * k / (M - 1)) + 0.08 * _n.cos(4 * _np.pi * k / (M - 1))
    )


def bartlett(M):
    """The Bartlett window `1 - |2 k + 1 - M| / (M - 1)` for k from 0 up to M: a triangle with zeros at both ends.

    Args:
      M: the number of points, a static integer; none for less than 1.
    Returns: a vector `[M]` of the default float; `[1.]` for one point.
    Differentiable: no; there is no floating argument.
    Example:
      >>> print(jnp.bartlett(5))
      [0.  0.5 1.  0.5 0. ]
    """
    return _window(M, lambda k: 1 - _n.abs(2 * k + 1 - M) / (M - 1))


def hamming(M):
    """The Hamming window `0.54 - 0.46 cos(2 pi k / (M - 1))` for k from 0 up to M.

    Args:
      M: the number of points, a static integer; none for less than 1.
    Returns: a vector `[M]` of the default float; `[1.]` for one point.
    Differentiable: no; there is no floating argument.
    Example:
      >>> print(jnp.round(jnp.hamming(5), 2))
      [0.08 0.54 1.   0.54 0.08]
    """
    return _window(M, lambda k: 0.54 - 0.46 * _n.cos(2 * _np.pi * k / (M - 1)))


def hanning(M):
    """The Hann window `0.5 - 0.5 cos(2 pi k / (M - 1))` for k from 0 up to M.

    Args:
      M: the number of points, a static integer; none for less than 1.
    Returns: a vector `[M]` of the default float; `[1.]` for one point.
    Differentiable: no; there is no floating argument.
    Example:
      >>> print(jnp.round(jnp.hanning(5), 2))
      [0.  0.5 1.  0.5 0. ]
    """
    return _window(M, lambda k: 0.5 * (1 - _n.cos(2 * _np.pi * k / (M - 1))))


@_jit
def i0(x):
    """The modified Bessel function of the first kind and order 0 (DLMF 10.25), as `exp(|x|)` times its scaled form.

    Args:
      x: a real array or number; integers and booleans become floating.
    Returns: an array of the shape of `x` and a floating dtype; infinite where `exp(|x|)` overflows.
    Raises:
      TypeError: `x` is neither an array nor a number (lists are refused).
      ValueError: `x` is complex.
    Differentiable: yes, in both modes; the derivative is the function of order 1.
    Example:
      >>> print(jnp.i0(jnp.array([0.0])))
      [1.]
    """
    (x,) = _n._promote_inexact("i0", x)
    if x.dtype.kind == "c":
        raise _user_error(ValueError, f"Unsupported input type to jax.numpy.i0: {x.dtype}")
    return _i0_rule()(x)


@_cache
def _i0_rule():
    from pullback import custom_jvp

    def function(x):
        size = lax.abs(x)
        return lax.mul(lax.exp(size), lax.bessel_i0e(size))

    rule = custom_jvp(function)

    @rule.defjvp
    def tangents(primals, tangents):
        (x,), (t,) = primals, tangents
        # The derivative is i1 (DLMF 10.29.3), which is odd: by way of |x| the one at 0 would not be 0.
        return rule(x), lax.mul(t, lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x)))

    return rule


def kaiser(M, beta):
    """The Kaiser window `i0(beta sqrt(1 - ((k - a) / a)²)) / i0(beta)` for k from 0 up to M, where `a` is `(M - 1) /
    2`.

    Args:
      M: the number of points, a static integer; none for less than 1.
      beta: how fast it falls off, a real number: 0 is the rectangle.
    Returns: a vector `[M]` of a floating dtype; `[1.]` for one point.
    Raises:
      ValueError: `beta` is complex.
    Differentiable: yes, in both modes, with respect to `beta`.
    Example:
      >>> print(jnp.kaiser(3, 0.0))
      [1. 1. 1.]
    """
    half = 0.5 * (M - 1)
    if M <= 1:
        return _n.ones(M, _n.result_type(beta, _core.as_dtype(float)) if not isinstance(beta, (int, float)) else _core.as_dtype(float))
    k = _n.arange(M, dtype=_core.as_dtype(float))
    return i0(beta * _n.sqrt(1 - ((k - half) / half) ** 2)) / i0(beta)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
