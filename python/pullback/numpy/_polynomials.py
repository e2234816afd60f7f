"""Polynomials by their coefficients, the highest power first: what needs factorizations."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._jit import jit as _jit

_n = _core.numpy

__all__ = ["poly", "polyfit", "roots"]


def _linalg():
    try:
        from pullback.numpy import linalg
    except ImportError:
        raise _user_error(NotImplementedError, "matrix factorizations (jax.numpy.linalg) are not implemented") from None
    return linalg


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
