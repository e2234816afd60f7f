"""Samples of vectors and matrices: points of a ball, normal vectors, orthogonal matrices."""

from functools import partial as _partial

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback._jit import jit as _jit

_n, _r = _core.numpy, _core.random


def _linalg():
    """The factorizations; their absence is the error of the function that needs them."""
    try:
        from pullback.numpy import linalg
    except ImportError:
        raise _user_error(NotImplementedError, "matrix factorizations (jax.numpy.linalg) are not implemented") from None
    return linalg


def _check_sharding(name, out_sharding):
    if out_sharding is not None:
        from pullback._out_sharding import check_out_sharding

        check_out_sharding(name, out_sharding)


def _floating(name, dtype):
    dtype = _core.as_dtype(dtype if dtype is not None else float)
    if not (dtype.kind == "f" or "float" in dtype.name):
        raise _user_error(ValueError, f"dtype argument to `{name}` must be a float dtype, got {dtype}")
    return dtype


def _shape(shape):
    return (shape,) if isinstance(shape, int) else tuple(shape)


_METHODS = {"svd", "eigh", "cholesky"}


def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky", *, out_sharding=None):
    """Normal vectors with the given mean and covariance: standard ones times a root of the covariance, plus the mean.

    Args:
      key: a key, typed or of two words.
      mean: means `[..., n]`.
      cov: covariances `[..., n, n]`, symmetric and positive semidefinite; for 'cholesky' definite, else NaN comes out.
      shape: the shape of the batch; that of `mean` and `cov` together by default.
      dtype: a floating dtype, float32 by default.
      method: how the root is found: 'cholesky', 'eigh' or 'svd'.
      out_sharding: not served; None.
    Returns: an array of shape `(*shape, n)`.
    Raises:
      TypeError: `key` is no key.
      ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
      NotImplementedError: `out_sharding` is given.
    Differentiable: in `mean` and `cov`, as the factorization is.
    Example:
      >>> jax.random.multivariate_normal(jax.random.key(0), jnp.zeros(2), jnp.eye(2), (5,)).shape
      (5, 2)
    """
    key = _r.checked_key("multivariate_normal", key)
    _check_sharding("multivariate_normal", out_sharding)
    mean, cov = _n._promote_inexact("multivariate_normal", mean, cov)
    if method not in _METHODS:
        raise _user_error(ValueError, "method must be one of {'svd', 'eigh', 'cholesky'}")
    dtype = _floating("multivariate_normal", dtype)
    shape = None if shape is None else _shape(shape)
    return _multivariate_normal(key, mean, cov, shape, dtype, method)


@_partial(_jit, static_argnums=(3, 4, 5))
def _multivariate_normal(key, mean, cov, shape, dtype, method):
    if not mean.ndim >= 1:
        raise _user_error(ValueError, f"multivariate_normal requires mean.ndim >= 1, got mean.ndim == {mean.ndim}")
    if not cov.ndim >= 2:
        raise _user_error(ValueError, f"multivariate_normal requires cov.ndim >= 2, got cov.ndim == {cov.ndim}")
    n = mean.shape[-1]
    if cov.shape[-2:] != (n, n):
        raise _user_error(
            ValueError,
            f"multivariate_normal requires cov.shape == (..., n, n) for n={n}, but got cov.shape == {cov.shape}."
        )
    batches = (mean.shape[:-1], cov.shape[:-2])
    if shape is None:
        shape = _n.broadcast_shapes(*batches)
    elif _n.broadcast_shapes(shape, *batches) != shape:
        found = _n.broadcast_shapes(shape, *batches)
        raise _user_error(
            ValueError,
            "multivariate_normal parameter shapes must be broadcast-compatible with shape argument, and the result of "
            f"broadcasting the shapes must equal the shape argument, but got result {found} for shape argument {shape}."
        )
    root = _root(cov, method)
    samples = _r.normal(key, (*shape, n), dtype)
    return mean + _n.einsum("...ij,...j->...i", root, samples)


def _root(cov, method):
    if method == "svd":
        u, s, _ = _linalg().svd(cov)
        return u * _n.sqrt(s[..., None, :])
    if method == "eigh":
        w, v = _linalg().eigh(cov)
        return v * _n.sqrt(w[..., None, :])
    return _linalg().cholesky(cov)


def orthogonal(key, n, shape=(), dtype=None, m=None, *, out_sharding=None):
    """Matrices with orthonormal rows or columns, uniform by the Haar measure.

    The factor Q of a normal matrix, its columns with the signs of the diagonal of R (Mezzadri: How to generate random
    matrices from the classical compact groups, 2007).

    Args:
      key: a key, typed or of two words.
      n: the number of rows.
      shape: the shape of the batch.
      dtype: a floating or complex dtype, float32 by default.
      m: the number of columns; `n` by default.
      out_sharding: not served; None.
    Returns: an array of shape `(*shape, n, m)`: orthonormal columns if `n >= m`, else orthonormal rows.
    Raises:
      TypeError: `key` is no key, or `n` is no integer.
      ValueError: several keys are given, the dtype is neither floating nor complex, or a size is negative.
      NotImplementedError: `out_sharding` is given.
    Differentiable: nothing to differentiate, keys have no tangents.
    Example:
      >>> q = jax.random.orthogonal(jax.random.key(0), 3, m=2)
      >>> bool(jnp.allclose(q.T @ q, jnp.eye(2), atol=1e-5))
      True
    """
    import operator

    key = _r.checked_key("orthogonal", key)
    _check_sharding("orthogonal", out_sharding)
    n = operator.index(n)
    if n < 0 or (m is not None and m < 0):
        raise _user_error(ValueError, f"negative dimensions are not allowed, got {n} and {m}")
    return _orthogonal(key, n, _shape(shape), _core.as_dtype(dtype if dtype is not None else float), m)


@_partial(_jit, static_argnums=(1, 2, 3, 4))
def _orthogonal(key, n, shape, dtype, m):
    m = n if m is None else m
    normal = _r.normal(key, (*shape, max(n, m), min(n, m)), dtype)
    q, r = _linalg().qr(normal)
    diagonal = _n.diagonal(r, axis1=-2, axis2=-1)
    q = q * _n.expand_dims(lax.sign(diagonal), -2)
    return q.mT if n < m else q
