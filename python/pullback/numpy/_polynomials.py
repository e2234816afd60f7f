"""Polynomials by their coefficients, the highest power first."""

from functools import partial as _partial

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._jit import jit as _jit

_n = _core.numpy

__all__ = ["poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "roots"]


def _linalg():
    try:
        from pullback.numpy import linalg
    except ImportError:
        raise _user_error(NotImplementedError, "matrix factorizations (jax.numpy.linalg) are not implemented") from None
    return linalg


def _convolve(name, a, b):
    if not hasattr(_numpy(), "convolve"):
        raise _user_error(NotImplementedError, f"jax.numpy.{name} is not implemented: it needs jax.numpy.convolve")
    return _numpy().convolve(a, b, mode="full")


def _numpy():
    import pullback.numpy

    return pullback.numpy


@_jit
def poly(seq_of_zeros):
    """The polynomial with given zeros, or the characteristic polynomial of a square matrix.

    Args:
      seq_of_zeros: a vector of zeros, or a square matrix, whose eigenvalues they are.
    Returns: the coefficients `[n + 1]`, the highest power first and its coefficient 1, of a floating or complex
      dtype.
    Raises:
      TypeError: `seq_of_zeros` is neither an array nor a number (lists are refused).
      ValueError: neither a vector nor a square matrix.
    Differentiable: yes, in both modes; of a matrix where its eigenvalues are distinct.
    Example:
      >>> print(jnp.poly(jnp.array([1.0, 2.0])))
      [ 1. -3.  2.]
    """
    (zeros,) = _n._promote_inexact("poly", seq_of_zeros)
    zeros = _n.atleast_1d(zeros)
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1]:
        zeros = _linalg().eigvals(zeros) if zeros.shape[0] else zeros.ravel()
    if zeros.ndim != 1:
        raise _user_error(ValueError, "input must be 1d or non-empty square 2d array.")
    if not zeros.shape[0]:
        return _n.ones((), zeros.dtype)
    out = _n.ones((1,), zeros.dtype)
    for i in range(zeros.shape[0]):
        # Times x - z: the same coefficients, and those times -z one place later.
        out = _n.append(out, _n.zeros((1,), out.dtype)) - zeros[i] * _n.concatenate([_n.zeros((1,), out.dtype), out])
    return out


def _aligned(name, a1, a2):
    a1, a2 = _n._promote(name, a1, a2)
    size = max(a1.shape[0], a2.shape[0])
    longer, other = (a2, a1) if a1.shape[0] < size else (a1, a2)
    if other.ndim > longer.ndim:
        raise _user_error(
            ValueError, f"jnp.{name}: coefficients of shape {other.shape} do not go into those of shape {longer.shape}: they have more axes"
        )
    return tuple(_n.pad(a, (size - a.shape[0], 0)) if a.shape[0] < size else a for a in (a1, a2))


@_jit
def polyadd(a1, a2):
    """The sum of two polynomials.

    Args:
      a1, a2: vectors of coefficients, the highest power first.
    Returns: the coefficients of the sum, as many as the longer has, of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.polyadd(jnp.array([1, 2]), jnp.array([1, 0, 5])))
      [1 1 7]
    """
    a1, a2 = _aligned("polyadd", a1, a2)
    return a1 + a2


@_jit
def polysub(a1, a2):
    """The difference of two polynomials.

    Args:
      a1, a2: vectors of coefficients, the highest power first.
    Returns: the coefficients of the difference, as many as the longer has, of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.polysub(jnp.array([1, 2]), jnp.array([1, 0, 5])))
      [-1  1 -3]
    """
    a1, a2 = _aligned("polysub", a1, a2)
    return a1 + -a2


def _order(m):
    import operator

    m = operator.index(m)
    if m < 0:
        raise _user_error(ValueError, "Order of derivative must be positive")
    return m


@_partial(_jit, static_argnames=("m",))
def polyder(p, m=1):
    """The `m`-th derivative of a polynomial.

    Args:
      p: a vector of coefficients, the highest power first; integers become floating.
      m: how often to differentiate, a static integer; 1 by default.
    Returns: `m` coefficients less, of a floating or complex dtype.
    Raises:
      TypeError: `p` is neither an array nor a number (lists are refused), or `m` is no integer.
      ValueError: `m` is negative.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.polyder(jnp.array([1.0, 2.0, 3.0])))
      [2. 2.]
    """
    (p,) = _n._promote_inexact("polyder", p)
    m = _order(m)
    if m == 0:
        return p
    n = p.shape[0]
    powers = _np.arange(m, n)[None, :] - _np.arange(m)[:, None]
    return p[: max(n - m, 0)] * _n.asarray(_np.prod(powers[:, ::-1], axis=0), p.dtype)


@_partial(_jit, static_argnames=("m",))
def polyint(p, m=1, k=None):
    """The `m`-th antiderivative of a polynomial.

    Args:
      p: a vector of coefficients, the highest power first; integers become floating.
      m: how often to integrate, a static integer; 1 by default.
      k: the constants of integration, one or `m`, the first one for the first integration; 0 by default.
    Returns: `m` coefficients more, of a floating or complex dtype.
    Raises:
      TypeError: `p` is neither an array nor a number (lists are refused), or `m` is no integer.
      ValueError: `m` is negative, or `k` has another number of constants.
    Differentiable: yes, in both modes, with respect to `p` and `k`; it is linear.
    Example:
      >>> print(jnp.polyint(jnp.array([2.0, 2.0]), k=7))
      [1. 2. 7.]
    """
    import operator

    m = operator.index(m)
    k = 0 if k is None else k
    p, k = _n._promote_inexact("polyint", p, k)
    if m < 0:
        raise _user_error(ValueError, "Order of integral must be positive (see polyder)")
    k = _n.atleast_1d(k)
    if k.shape == (1,):
        k = _n.full((m,), k[0])
    if k.shape != (m,):
        raise _user_error(ValueError, "k must be a scalar or a rank-1 array of length 1 or m.")
    if m == 0:
        return p
    n = p.shape[0]
    grid = (_np.arange(n + m, dtype=_np.float64)[None, :] - _np.arange(m)[:, None])[:, ::-1]
    divisors = _np.maximum(1, grid).prod(0)
    return _n.true_divide(_n.concatenate([p, k]), _n.asarray(divisors, p.dtype))


def polymul(a1, a2, *, trim_leading_zeros=False):
    """The product of two polynomials, by convolution of their coefficients.

    Args:
      a1, a2: vectors of coefficients, the highest power first; integers become floating.
      trim_leading_zeros: whether to drop leading zeros of both first, which needs concrete arrays.
    Returns: the coefficients `[n + m - 1]` of the product, of a floating or complex dtype.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: traced arrays with `trim_leading_zeros`.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.polymul(jnp.array([1.0, 2.0]), jnp.array([1.0, 3.0])))
      [1. 5. 6.]
    """
    a1, a2 = _n._promote_inexact("polymul", a1, a2)
    if trim_leading_zeros and (a1.shape[0] > 1 or a2.shape[0] > 1):
        a1, a2 = _numpy().trim_zeros(a1, trim="f"), _numpy().trim_zeros(a2, trim="f")
    a1, a2 = (_n.zeros(1, a.dtype) if a.shape[0] == 0 else a for a in (a1, a2))
    return _convolve("polymul", a1, a2)


def polydiv(u, v, *, trim_leading_zeros=False):
    """The quotient and the remainder of two polynomials: `u = quotient * v + remainder`.

    Args:
      u: the coefficients `[n]` of the dividend, the highest power first; integers become floating.
      v: the coefficients `[m]` of the divisor, the first of which is not 0.
      trim_leading_zeros: whether to drop leading zeros of the remainder, which needs concrete arrays.
    Returns: the pair of the quotient `[max(n - m + 1, 1)]` and the remainder, `[n]` with leading zeros.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: traced arrays with `trim_leading_zeros`.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> quotient, rest = jnp.polydiv(jnp.array([1.0, -3.0, 2.0]), jnp.array([1.0, -1.0]))
      >>> print(quotient, rest)
      [ 1. -2.] [0. 0. 0.]
    """
    u, v = _n._promote_inexact("polydiv", u, v)
    m, n = u.shape[0] - 1, v.shape[0] - 1
    scale = 1.0 / v[0]
    q = _n.zeros((max(m - n + 1, 1),), u.dtype)
    for k in range(0, m - n + 1):
        d = scale * u[k]
        q = q.at[k].set(d)
        u = u.at[k : k + n + 1].add(-d * v)
    if trim_leading_zeros:
        u = _numpy().trim_zeros(u, trim="f")
    return q, u


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The polynomial of a degree that fits points by least squares.

    Args:
      x: the abscissas `[n]`.
      y: the ordinates `[n]` or `[n, k]`, one fit for each column.
      deg: the degree, a static integer.
      rcond: singular values below this part of the greatest count as zero; the dtype's precision times `n` by
        default.
      full: whether to give residuals, rank, singular values and `rcond` too.
      w: weights of the points `[n]`; they multiply the residuals before these are squared.
      cov: whether to give the covariance of the coefficients too; 'unscaled' for weights that are known deviations.
    Returns: the coefficients `[deg + 1]` or `[deg + 1, k]`, the highest power first, or a tuple with what else was
      asked for.
    Raises:
      TypeError: arrays of the wrong number of axes or length, or empty.
      ValueError: the degree is negative, or too few points for `cov`.
    Differentiable: yes, in both modes, with respect to `x`, `y` and `w`, where the rank is full.
    Example:
      >>> jnp.polyfit(jnp.array([0.0, 1.0, 2.0]), jnp.array([1.0, 3.0, 5.0]), 1).round(3).tolist()
      [2.0, 1.0]
    """
    x, y = _n._promote_inexact("polyfit", x, y)
    deg = int(deg)
    order = deg + 1
    if deg < 0:
        raise _user_error(ValueError, "expected deg >= 0")
    if x.ndim != 1:
        raise _user_error(TypeError, "expected 1D vector for x")
    if x.size == 0:
        raise _user_error(TypeError, "expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise _user_error(TypeError, "expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise _user_error(TypeError, "expected x and y to have same length")
    if rcond is None:
        rcond = x.shape[0] * float(_np.finfo(x.dtype).eps)
    lhs, rhs = _n.vander(x, order), y
    if w is not None:
        (w,) = _n._promote_inexact("polyfit", w)
        if w.ndim != 1:
            raise _user_error(TypeError, "expected a 1-d array for weights")
        if w.shape[0] != y.shape[0]:
            raise _user_error(TypeError, "expected w and y to have the same length")
        lhs = lhs * w[:, None]
        rhs = rhs * (w[:, None] if rhs.ndim == 2 else w)
    scale = _n.sqrt((lhs * lhs).sum(axis=0))
    lhs = lhs / scale[None, :]
    c, residuals, rank, s = _linalg().lstsq(lhs, rhs, rcond)
    c = (c.T / scale).T
    if full:
        return c, residuals, rank, s, _n.asarray(rcond)
    if not cov:
        return c
    base = _linalg().inv(_n.dot(lhs.T, lhs)) / _n.outer(scale, scale)
    factor = 1
    if cov != "unscaled":
        if len(x) <= order:
            raise _user_error(ValueError, "the number of data points must exceed order to scale the covariance matrix")
        factor = residuals / (len(x) - order)
        factor = factor[0] if y.ndim == 1 else factor
    return c, base * factor if y.ndim == 1 else base[:, :, None] * factor


def roots(p, *, strip_zeros=True):
    """The zeros of a polynomial: the eigenvalues of its companion matrix.

    Args:
      p: a vector of coefficients, the highest power first.
      strip_zeros: whether to drop leading and trailing zeros first, which needs a concrete array; otherwise leading
        zeros give NaN.
    Returns: the complex zeros `[n - 1]`, in no order; fewer for leading zeros that are dropped.
    Raises:
      TypeError: `p` is neither an array nor a number (lists are refused).
      ValueError: `p` has several axes.
      TracerArrayConversionError: a traced array with `strip_zeros`.
    Differentiable: where the zeros are distinct, with `strip_zeros=False`.
    Example:
      >>> sorted(jnp.roots(jnp.array([1.0, -3.0, 2.0])).real.round(3).tolist())
      [1.0, 2.0]
    """
    (p,) = _n._promote_inexact("roots", p)
    p = _n.atleast_1d(p)
    if p.ndim != 1:
        raise _user_error(ValueError, "Input must be a rank-1 array.")
    n_zero = 0
    if strip_zeros:
        found = _np.flatnonzero(_np.asarray(p))
        n_zero = 0 if not found.size else p.shape[0] - 1 - int(found[-1])
        p = p[int(found[0]): int(found[-1]) + 1] if found.size else p[:0]
    kind = _n.result_type(p.dtype, _np.complex64)
    if p.shape[0] < 2:
        return _n.zeros((n_zero,), kind)
    companion = _n.eye(p.shape[0] - 1, k=-1, dtype=p.dtype).at[0, :].set(-p[1:] / p[0])
    found = _linalg().eigvals(companion)
    return _n.concatenate([found, _n.zeros((n_zero,), found.dtype)])


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
