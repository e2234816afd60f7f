"""The multivariate normal distribution."""

import math as _math

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy


def logpdf(x, mean, cov, allow_singular=None):
    """The logarithm of the density at `x` of the multivariate normal distribution.

    Args:
      x: points `[..., n]`, or numbers.
      mean: means `[..., n]`, or a number.
      cov: positive definite covariances `[..., n, n]`, or the variance of every coordinate as a number. With a number as the
        mean, the variance of each number of `x`.
      allow_singular: must be None.
    Returns: `[...]`, of a floating dtype; NaN where `cov` is not positive definite.
    Raises:
      NotImplementedError: `allow_singular` is given.
      TypeError: an argument is no array or number.
      ValueError: shapes do not go together.
    Differentiable: yes, with respect to all three, in both modes.
    Example:
      >>> round(float(jax.scipy.stats.multivariate_normal.logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))), 4)
      -1.8379
    """
    if allow_singular is not None:
        raise _user_error(NotImplementedError, "allow_singular argument of multivariate_normal.logpdf")
    x, mean, cov = _promote("multivariate_normal.logpdf", x, mean, cov)
    if not mean.shape:
        return -0.5 * _n.square(x - mean) / cov - 0.5 * (_math.log(2 * _math.pi) + _n.log(cov))
    n = mean.shape[-1]
    if not cov.shape:
        y = x - mean
        return -0.5 * (_n.einsum("...i,...i->...", y, y) / cov + n * (_math.log(2 * _math.pi) + _n.log(cov)))
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise _user_error(ValueError, "multivariate_normal.logpdf got incompatible shapes")
    from pullback.numpy import linalg

    root = linalg.cholesky(cov)
    batch = _n.broadcast_shapes(x.shape[:-1], mean.shape[:-1], cov.shape[:-2])
    y = _n.broadcast_to(x - mean, (*batch, n))
    scaled = lax.linalg.triangular_solve(
        _n.broadcast_to(root, (*batch, n, n)), y[..., None], left_side=True, lower=True
    )[..., 0]
    log_det = _n.log(_n.diagonal(root, axis1=-2, axis2=-1)).sum(-1)
    return -0.5 * (scaled * scaled).sum(-1) - n / 2 * _math.log(2 * _math.pi) - log_det


def pdf(x, mean, cov):
    """The density at `x` of the multivariate normal distribution: `exp(-y.T inv(cov) y / 2) / sqrt(det(2 pi cov))`, `y = x - mean`.

    Args:
      x: points `[..., n]`, or numbers.
      mean: means `[..., n]`, or a number.
      cov: positive definite covariances `[..., n, n]`, or the variance of every coordinate as a number. With a number as the
        mean, the variance of each number of `x`.
    Returns: `[...]`, of a floating dtype; NaN where `cov` is not positive definite.
    Raises:
      TypeError: an argument is no array or number.
      ValueError: shapes do not go together.
    Differentiable: yes, with respect to all three, in both modes.
    Example:
      >>> round(float(jax.scipy.stats.multivariate_normal.pdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2))), 4)
      0.1592
    """
    return _n.exp(logpdf(x, mean, cov))
