"""Polynomials by their coefficients, the highest power first: what needs factorizations."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["roots"]


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
    found = _n.linalg.eigvals(companion)
    return _n.concatenate([found, _n.zeros((n_zero,), found.dtype)])


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
