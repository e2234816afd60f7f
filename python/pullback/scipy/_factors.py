"""Factors of matrices with what no array says."""

from pullback import _core

__all__ = ["cho_factor"]


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """The Cholesky factor and which one it is, for `cho_solve`.

    Args:
      a: positive definite real or complex `[..., n, n]`.
      lower: whether to give the lower factor.
      overwrite_a, check_finite: accepted for compatibility; without effect.
    Returns: the pair of a triangle `[..., n, n]`, NaN where the matrix is not positive definite, and `lower`.
    Raises:
      ValueError: the matrices are not square.
    Differentiable: yes, in both modes.
    Example:
      >>> c, lower = jax.scipy.linalg.cho_factor(jnp.array([[4.0, 0.0], [0.0, 9.0]]))
      >>> print(c, lower)
      [[2. 0.]
       [0. 3.]] False
    """
    return _core.scipy.linalg.cholesky(a, lower=lower), lower


cho_factor.__module__ = "pullback.scipy.linalg"
