"""The multivariate normal distribution."""

import math as _math

from pullback import _core, lax
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy


def logpdf(x, mean, cov, allow_singular=None):
    """The logarithm of the density at `x` of the multivariate normal distribution.

    Args:
      x: points `[..., n]`, or numbers.
      mean: means `[..., n]`, or a number.
      cov: covariances `[..., n, n]`, or the variance of every coordinate as a number.
      allow_singular: must be None.
    Returns: an array of the shape of the batch.
    Raises:
      NotImplementedError: `allow_singular` is given; ValueError: shapes that do not go together.
    Differentiable.
    """
    if allow_singular is not None:
        raise NotImplementedError("allow_singular argument of multivariate_normal.logpdf")
    x, mean, cov = _promote("multivariate_normal.logpdf", x, mean, cov)
    if not mean.shape:
        return -0.5 * _n.square(x - mean) / cov - 0.5 * (_math.log(2 * _math.pi) + _n.log(cov))
    n = mean.shape[-1]
    if not cov.shape:
        y = x - mean
        return -0.5 * (_n.einsum("...i,...i->...", y, y) / cov + n * (_math.log(2 * _math.pi) + _n.log(cov)))
    if cov.ndim < 2 or cov.shape[-2:] != (n, n):
        raise ValueError("multivariate_normal.logpdf got incompatible shapes")
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
    """The density at `x` of the multivariate normal distribution.

    Args:
      x: points `[..., n]`, or numbers.
      mean: means `[..., n]`, or a number.
      cov: covariances `[..., n, n]`, or the variance of every coordinate as a number.
    Returns: an array of the shape of the batch.
    Raises:
      ValueError: shapes that do not go together.
    Differentiable.
    """
    return _n.exp(logpdf(x, mean, cov))
