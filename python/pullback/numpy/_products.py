"""Products of matrices and vectors, and parts of matrices, as `linalg` names them."""

import functools
import itertools

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["cross", "diagonal", "matmul", "matrix_transpose", "multi_dot", "outer", "tensordot", "trace", "vecdot"]


def cross(x1, x2, /, *, axis=-1):
    """The cross products of vectors of three elements.

    Args:
      x1, x2: arrays of size 3 along `axis`; other axes broadcast.
      axis: the axis of the vectors; the last by default.
    Returns: an array of the broadcast shape, of the promoted dtype.
    Raises:
      IndexError: the axis is out of bounds.
      ValueError: vectors of another size, or shapes that do not broadcast.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0])))
      [0 0 1]
    """
    x1, x2 = _n.asarray(x1), _n.asarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise _user_error(ValueError, f"Both input arrays must be (arrays of) 3-dimensional vectors, but they have x1.shape[axis]={x1.shape[axis]} and x2.shape[axis]={x2.shape[axis]} dimensions instead.")
    return _n.cross(x1, x2, axis=axis)


def outer(x1, x2, /):
    """The products of all pairs of elements of two vectors.

    Args:
      x1: a vector `[m]`.
      x2: a vector `[n]`.
    Returns: an array `[m, n]` of the promoted dtype.
    Raises:
      ValueError: an operand is no vector.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4])))
      [[3 4]
       [6 8]]
    """
    x1, x2 = _n.asarray(x1), _n.asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise _user_error(ValueError, f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} x2.ndim={x2.ndim}")
    return x1[:, None] * x2[None, :]


def matmul(x1, x2, /, *, precision=None, preferred_element_type=None):
    """The matrix product; the same as `jax.numpy.matmul`.

    Args:
      x1: an array `[..., m, n]` or `[n]`.
      x2: an array `[..., n, k]` or `[n]`.
      precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
      preferred_element_type: the dtype in which to add, and that of the result.
    Returns: an array `[..., m, k]` of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number, or the sizes `n` differ.
      ValueError: an argument has no axes, or batches do not broadcast.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.linalg.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
      [21 43]
    """
    return _n.matmul(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def matrix_transpose(x, /):
    """The last two axes exchanged; complex numbers are not conjugated.

    Args:
      x: an array `[..., m, n]`.
    Returns: an array `[..., n, m]` of the dtype of `x`.
    Raises:
      ValueError: `x` has fewer than two axes.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.linalg.matrix_transpose(jnp.array([[1, 2], [3, 4]])))
      [[1 3]
       [2 4]]
    """
    x = _n.asarray(x)
    if x.ndim < 2:
        raise _user_error(ValueError, f"x must be at least two-dimensional for matrix_transpose; got ndim={x.ndim}")
    return _n.swapaxes(x, -1, -2)


def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None):
    """The inner products of vectors along an axis, the first conjugated; the same as `jax.numpy.vecdot`.

    Args:
      x1, x2: arrays of one size along `axis`; other axes broadcast.
      axis: the axis of the vectors; the last by default.
      precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
      preferred_element_type: the dtype in which to add, and that of the result.
    Returns: an array of the broadcast shape without the axis, of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number.
      ValueError: the sizes differ, the axis is out of bounds, or batches do not broadcast.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.linalg.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
      [21 43]
    """
    return _n.vecdot(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def tensordot(x1, x2, /, *, axes=2, precision=None, preferred_element_type=None, out_sharding=None):
    """The sums of products over several axes of two arrays; the same as `jax.numpy.tensordot`.

    Args:
      x1, x2: arrays.
      axes: an integer: the last axes of `x1` go with as many first ones of `x2`, 2 by default; or a pair of
        (sequences of) axes that go together.
      precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
      preferred_element_type: the dtype in which to add, and that of the result.
      out_sharding: for compatibility; without influence.
    Returns: an array with the other axes of `x1`, then those of `x2`, of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number, more axes than there are, lists of different lengths,
        or sizes that differ.
      ValueError: an axis is out of bounds.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.linalg.tensordot(jnp.ones((2, 3, 4)), jnp.ones((3, 4))))
      [12. 12.]
    """
    return _n.tensordot(x1, x2, axes=axes, precision=precision, preferred_element_type=preferred_element_type)


def diagonal(x, /, *, offset=0):
    """The diagonals of the matrices in the last two axes.

    Args:
      x: an array `[..., m, n]`.
      offset: the diagonal: 0, the default, is the main one, positive ones are above it.
    Returns: an array of the dtype of `x`, with the diagonals along the last axis.
    Raises:
      ValueError: `x` has fewer than two axes.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]])))
      [1 4]
    """
    return _n.diagonal(x, offset=offset, axis1=-2, axis2=-1)


def trace(x, /, *, offset=0, dtype=None):
    """The sums of the diagonals of the matrices in the last two axes.

    Args:
      x: an array `[..., m, n]`.
      offset: the diagonal: 0, the default, is the main one, positive ones are above it.
      dtype: the dtype in which to add, and that of the result; that of `x`, widened as by `sum`, by default.
    Returns: an array `[...]`.
    Raises:
      ValueError: `x` has fewer than two axes.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.linalg.trace(jnp.array([[1, 2], [3, 4]])))
      5
    """
    return _n.trace(x, offset=offset, axis1=-2, axis2=-1, dtype=dtype)


def multi_dot(arrays, *, precision=None):
    """The product of several matrices in the order with the fewest multiplications.

    Args:
      arrays: at least two matrices; the first may be a row vector and the last a column vector.
      precision: as `jax.lax.dot_general` takes it.
    Returns: the product, of the promoted dtype, without the axes that vectors lack.
    Raises:
      ValueError: fewer than two arrays, one that is no matrix, or sizes that do not fit.
    Differentiable: yes, in both modes, with respect to all.
    Example:
      >>> a = jnp.array([[1, 1], [0, 1]])
      >>> print(jnp.linalg.multi_dot([a, a, a]))
      [[1 3]
       [0 1]]
    """
    arrs = [_n.asarray(x) for x in arrays]
    if len(arrs) < 2:
        raise _user_error(ValueError, f"multi_dot requires at least two arrays; got len(arrays)={len(arrs)}")
    if not (arrs[0].ndim in (1, 2) and arrs[-1].ndim in (1, 2) and all(x.ndim == 2 for x in arrs[1:-1])):
        raise _user_error(ValueError, f"multi_dot: input arrays must all be two-dimensional, except for the first and last array which may be 1 or 2 dimensional. Got array shapes {[x.shape for x in arrs]}")
    if any(x.shape[-1] != y.shape[0] for x, y in itertools.pairwise(arrs)):
        raise _user_error(ValueError, f"multi_dot: last dimension of each array must match first dimension of following array. Got array shapes {[x.shape for x in arrs]}")
    first = arrs[0][None] if arrs[0].ndim == 1 else arrs[0]
    last = arrs[-1][:, None] if arrs[-1].ndim == 1 else arrs[-1]
    matrices = [first, *arrs[1:-1], last]
    sizes = [x.shape[0] for x in matrices] + [matrices[-1].shape[1]]

    @functools.cache
    def best(i, j):
        if i == j:
            return 0, i
        return min((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i, j):
        if i == j:
            return matrices[i]
        k = best(i, j)[1]
        return _n.matmul(product(i, k), product(k + 1, j), precision=precision)

    out = product(0, len(matrices) - 1)
    shape = out.shape[arrs[0].ndim == 1:] if arrs[0].ndim == 1 else out.shape
    return out.reshape(shape[:-1] if arrs[-1].ndim == 1 else shape)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy.linalg"
