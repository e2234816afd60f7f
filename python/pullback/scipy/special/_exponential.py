"""Functions of exponentials and logarithms: sums of exponentials, entropies, and products with logarithms."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.custom_derivatives import custom_jvp as _custom_jvp

_n = _core.numpy

__all__ = [
    "boxcox", "boxcox1p", "entr", "expit", "kl_div", "log_softmax", "logit", "logsumexp", "rel_entr", "softmax", "xlog1py",
    "xlogy",
]


def expit(x):
    """The logistic function `1 / (1 + exp(-x))`.

    Args:
      x: an array of real or complex numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: `x` is no array or number.
    Differentiable: yes: `expit(x) (1 - expit(x))`, in both modes.
    Example:
      >>> float(jax.scipy.special.expit(0.0))
      0.5
    """
    (x,) = _n._promote_inexact("expit", x)
    return lax.logistic(x)


@_custom_jvp
def logit(x):
    """The inverse of the logistic function: `log(x / (1 - x))`.

    Args:
      x: an array of real numbers; integers become floating. `-inf` at 0, `inf` at 1, NaN outside.
    Returns: an array of the shape of `x`.
    Raises:
      TypeError: `x` is no array or number.
    Differentiable: yes: `1 / (x (1 - x))`, in both modes.
    Example:
      >>> float(jax.scipy.special.logit(0.5))
      0.0
    """
    (x,) = _n._promote_inexact("logit", x)
    return lax.log(lax.div(x, lax.sub(_one(x), x)))


def _one(x):
    return _n.asarray(1, x.dtype) if not getattr(x, "weak_type", False) else 1.0


logit.defjvps(lambda dot, out, x: lax.div(dot, lax.mul(x, 1 - x)))


@_custom_jvp
def xlogy(x, y):
    """`x log(y)`, which is 0 where `x` is 0, whatever `y` is but NaN.

    Args:
      x, y: arrays of numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes: `log(y)` and `x / y`, in both modes.
    Example:
      >>> float(jax.scipy.special.xlogy(0.0, 0.0))
      0.0
    """
    x, y = _n._promote_inexact("xlogy", x, y)
    is_zero = x == 0
    return _n.where(is_zero & ~_n.isnan(y), _n.zeros_like(x), lax.mul(*_n.broadcast_arrays(x, _n.log(y))))


def _xlogy_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    out = xlogy(x, y)
    return out, (x_dot * _n.log(y) + y_dot * x / y).astype(out.dtype)


xlogy.defjvp(_xlogy_jvp)


@_custom_jvp
def xlog1py(x, y):
    """`x log(1 + y)`, which is 0 where `x` is 0, whatever `y` is but NaN; exact for small `y`.

    Args:
      x, y: arrays of numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes: `log(1 + y)` and `x / (1 + y)`, in both modes.
    Example:
      >>> float(jax.scipy.special.xlog1py(0.0, -1.0))
      0.0
    """
    x, y = _n._promote_inexact("xlog1py", x, y)
    is_zero = x == 0
    return _n.where(is_zero & ~_n.isnan(y), _n.zeros_like(x), lax.mul(*_n.broadcast_arrays(x, _n.log1p(y))))


def _xlog1py_jvp(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    out = xlog1py(x, y)
    return out, (x_dot * _n.log1p(y) + y_dot * x / (1 + y)).astype(out.dtype)


xlog1py.defjvp(_xlog1py_jvp)


@_custom_jvp
def _xlogx(x):
    return xlogy(x, x)


@_xlogx.defjvp
def _xlogx_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return _xlogx(x), x_dot * (_n.log(x) + 1)


def entr(x):
    """The entropy of a part: `-x log(x)`, 0 at 0 and `-inf` below.

    Args:
      x: an array of real numbers; integers become floating.
    Returns: an array of the shape of `x`.
    Raises:
      ValueError: complex numbers.
      TypeError: `x` is no array or number.
    Differentiable: yes: `-log(x) - 1`, in both modes.
    Example:
      >>> round(float(jax.scipy.special.entr(0.5)), 4)
      0.3466
    """
    (x,) = _n._promote_inexact("entr", x)
    if x.dtype.kind == "c":
        raise _user_error(ValueError, "entr does not support complex-valued inputs.")
    return _n.where(x < 0, _n.full_like(x, -_np.inf), lax.neg(_xlogx(x)))


def rel_entr(p, q):
    """The relative entropy of parts: `p log(p / q)`, 0 where `p` is 0 and `q` is not negative, else `inf` outside of positive numbers.

    Args:
      p, q: arrays of real numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: shapes do not broadcast.
    Differentiable: yes, where both are positive: `log(p / q) + 1` and `-p / q`, in both modes.
    Example:
      >>> float(jax.scipy.special.rel_entr(1.0, 1.0))
      0.0
    """
    p, q = _n._promote_inexact("rel_entr", p, q)
    p, q = _n.broadcast_arrays(p, q)
    is_positive = (p > 0) & (q > 0)
    is_zero = (p == 0) & (q >= 0)
    safe_p, safe_q = _n.where(is_positive, p, 1), _n.where(is_positive, q, 1)
    value = safe_p * lax.log(safe_p / safe_q)
    return _n.where(is_positive, value, _n.where(is_zero, _n.zeros_like(p), _outside(p, q)))


def _outside(p, q):
    """Infinite, but NaN of NaN."""
    return _n.where(_n.isnan(p) | _n.isnan(q), _np.nan, _n.full_like(p, _np.inf))


def kl_div(p, q):
    """The terms of the Kullback-Leibler divergence: `rel_entr(p, q) - p + q`.

    Args:
      p, q: arrays of real numbers that broadcast; integers become floating.
    Returns: an array of the broadcast shape and the promoted dtype.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: shapes do not broadcast.
    Differentiable: yes, where both are positive: `log(p / q)` and `1 - p / q`, in both modes.
    Example:
      >>> float(jax.scipy.special.kl_div(1.0, 1.0))
      0.0
    """
    p, q = _n.broadcast_arrays(*_n._promote_inexact("kl_div", p, q))
    is_plain = (p > 0) & (q > 0)
    safe_p, safe_q = _n.where(is_plain, p, 1), _n.where(is_plain, q, 1)
    plain = safe_p * _n.log(safe_p / safe_q) - safe_p + safe_q
    return _n.where(is_plain, plain, _n.where((p == 0) & (q >= 0), q, _outside(p, q)))


def boxcox(x, lmbda):
    """The Box-Cox transform: `(x**lmbda - 1) / lmbda`, the logarithm where `lmbda` is 0.

    Args:
      x: an array of real numbers; NaN where negative.
      lmbda: exponents, which broadcast with `x`.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes, with respect to `x`, and to `lmbda` where it is not 0, in both modes.
    Example:
      >>> float(jax.scipy.special.boxcox(3.0, 1.0))
      2.0
    """
    x, lmbda = _n._promote_inexact("boxcox", x, lmbda)
    return _over(_n.log(x), lmbda)


def boxcox1p(x, lmbda):
    """The Box-Cox transform of `1 + x`, exact for small `x`.

    Args:
      x: an array of real numbers; NaN below -1.
      lmbda: exponents, which broadcast with `x`.
    Returns: an array of the broadcast shape and the promoted floating dtype.
    Raises:
      TypeError: an argument is no array or number, or shapes do not broadcast.
    Differentiable: yes, with respect to `x`, and to `lmbda` where it is not 0, in both modes.
    Example:
      >>> float(jax.scipy.special.boxcox1p(2.0, 1.0))
      2.0
    """
    x, lmbda = _n._promote_inexact("boxcox1p", x, lmbda)
    return _over(_n.log1p(x), lmbda)


def _over(log, lmbda):
    is_zero = lmbda == 0
    safe = _n.where(is_zero, 1, lmbda)
    return _n.where(is_zero, log, _n.expm1(safe * log) / safe)


def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, where=None):
    """The logarithm of the sum of exponentials over axes, without overflow.

    Args:
      a: an array of real or complex numbers; integers become floating.
      axis: an axis or several to reduce; None for all.
      b: factors of the exponentials, which broadcast with `a`.
      keepdims: keep reduced axes with size 1.
      return_sign: give the logarithm of the magnitude and the sign of the sum.
      where: a mask of the elements that take part.
    Returns: the logarithm, `-inf` of no elements, or the pair with the sign.
    Raises:
      ValueError: an axis out of bounds or twice.
      TypeError: `a` is no array or number.
    Differentiable: yes, with respect to `a` and `b`, in both modes.
    Example:
      >>> float(jax.scipy.special.logsumexp(jnp.zeros(1)))
      0.0
    """
    return _core.nn.logsumexp(a, axis=axis, b=b, keepdims=keepdims, return_sign=return_sign, where=where)


def softmax(x, /, *, axis=None):
    """Exponentials divided by their sum over axes, without overflow.

    Args:
      x: an array of numbers; integers become floating.
      axis: an axis or several; None for all.
    Returns: an array of the shape of `x`.
    Raises:
      ValueError: an axis out of bounds.
      TypeError: `x` is no array or number.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jax.scipy.special.softmax(jnp.zeros(2)))
      [0.5 0.5]
    """
    return _core.nn.softmax(x, axis=axis)


def log_softmax(x, /, *, axis=None):
    """The logarithm of `softmax`, without overflow.

    Args:
      x: an array of numbers; integers become floating.
      axis: an axis or several; None for all.
    Returns: an array of the shape of `x`.
    Raises:
      ValueError: an axis out of bounds.
      TypeError: `x` is no array or number.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jax.scipy.special.log_softmax(jnp.zeros(1)))
      [0.]
    """
    return _core.nn.log_softmax(x, axis=axis)
