"""Windows for filters, and the Bessel function that one of them needs."""

import numpy as _np

from pullback import _core, lax
from pullback._jit import jit as _jit

_n = _core.numpy

__all__ = ["bartlett", "blackman", "hamming", "hanning", "i0", "kaiser"]


def _window(M, formula):
    if M <= 1:
        return _n.ones(M, _core.as_dtype(float))
    return formula(_n.arange(M, dtype=_core.as_dtype(float)))


def blackman(M):
    """The Blackman window `0.42 - 0.5 cos(2 pi k / (M - 1)) + 0.08 cos(4 pi k / (M - 1))`.

    Args:
      M: the number of points.
    Returns: `M` numbers of the default floating dtype.

    >>> import pullback.numpy as jnp
    >>> jnp.blackman(4).shape
    (4,)
    """
    return _window(
        M, lambda k: 0.42 - 0.5 * _n.cos(2 * _np.pi * k / (M - 1)) + 0.08 * _n.cos(4 * _np.pi * k / (M - 1))
    )


def bartlett(M):
    """The Bartlett window `1 - |2 k + 1 - M| / (M - 1)`: a triangle with zeros at both ends.

    Args:
      M: the number of points.
    Returns: `M` numbers of the default floating dtype.

    >>> import pullback.numpy as jnp
    >>> print(jnp.bartlett(3))
    [0. 1. 0.]
    """
    return _window(M, lambda k: 1 - _n.abs(2 * k + 1 - M) / (M - 1))


def hamming(M):
    """The Hamming window `0.54 - 0.46 cos(2 pi k / (M - 1))`.

    Args:
      M: the number of points.
    Returns: `M` numbers of the default floating dtype.

    >>> import pullback.numpy as jnp
    >>> jnp.hamming(4).shape
    (4,)
    """
    return _window(M, lambda k: 0.54 - 0.46 * _n.cos(2 * _np.pi * k / (M - 1)))


def hanning(M):
    """The Hann window `0.5 - 0.5 cos(2 pi k / (M - 1))`.

    Args:
      M: the number of points.
    Returns: `M` numbers of the default floating dtype.

    >>> import pullback.numpy as jnp
    >>> print(jnp.hanning(3))
    [0. 1. 0.]
    """
    return _window(M, lambda k: 0.5 * (1 - _n.cos(2 * _np.pi * k / (M - 1))))


@_jit
def i0(x):
    """The modified Bessel function of the first kind and order 0.

    Args:
      x: an array of real numbers.
    Returns: an array of `x`'s floating dtype.
    Raises:
      ValueError: complex numbers.
    Differentiable.
    """
    (x,) = _n._promote_inexact("i0", x)
    if x.dtype.kind == "c":
        raise ValueError(f"Unsupported input type to jax.numpy.i0: {x.dtype}")
    size = lax.abs(x)
    return lax.mul(lax.exp(size), lax.bessel_i0e(size))


def kaiser(M, beta):
    """The Kaiser window `i0(beta sqrt(1 - ((k - a) / a)**2)) / i0(beta)`, where `a` is `(M - 1) / 2`.

    Args:
      M: the number of points.
      beta: how fast it falls off, a scalar.
    Returns: `M` numbers of a floating dtype.
    Differentiable in `beta`.
    """
    half = 0.5 * (M - 1)
    if M <= 1:
        return _n.ones(M, _n.result_type(beta, _core.as_dtype(float)) if not isinstance(beta, (int, float)) else _core.as_dtype(float))
    k = _n.arange(M, dtype=_core.as_dtype(float))
    return i0(beta * _n.sqrt(1 - ((k - half) / half) ** 2)) / i0(beta)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
