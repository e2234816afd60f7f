"""Products of two sparse arrays: of every pair of their elements those whose indices meet."""

import math as _math

from pullback import numpy as _jnp
from pullback._core import user_error as _user_error
from pullback.experimental.sparse.bcoo import BCOO, _is_inside, _only, _over_batch, _whole, bcoo_sum_duplicates


def _pairs(left, right):
    """Every row of two arrays with every other, the right one fastest."""
    n, m = len(left), len(right)
    return _jnp.repeat(left, m, axis=0), _jnp.tile(right, (n, *(1,) * (right.ndim - 1)))


def _multiplied(sizes, lhs_contract, rhs_contract):
    lhs_sizes, rhs_sizes = sizes

    def multiply(lhs_data, lhs_indices, rhs_data, rhs_indices):
        x, y = _pairs(lhs_data, rhs_data)
        i, j = _pairs(lhs_indices, rhs_indices)
        meet = _is_inside(i, lhs_sizes) & _is_inside(j, rhs_sizes)
        for left, right in zip(lhs_contract, rhs_contract):
            meet = meet & (i[:, left] == j[:, right])
        free_left = [axis for axis in range(len(lhs_sizes)) if axis not in lhs_contract]
        free_right = [axis for axis in range(len(rhs_sizes)) if axis not in rhs_contract]
        columns = [i[:, axis] for axis in free_left] + [j[:, axis].astype(i.dtype) for axis in free_right]
        ends = [lhs_sizes[axis] for axis in free_left] + [rhs_sizes[axis] for axis in free_right]
        indices = _jnp.stack(columns, -1) if columns else _jnp.zeros((len(i), 0), i.dtype)
        return _only(meet, x * y), _jnp.where(meet[:, None], indices, _jnp.asarray(ends, i.dtype))

    return multiply


def _of_room(mat):
    """Without elements that an array of this shape cannot have."""
    room = _math.prod(mat._groups[1])
    return bcoo_sum_duplicates(mat, nse=room) if mat.nse > room else mat


def sparse_dot_sparse(lhs, rhs, dimension_numbers):
    """The general product of two `BCOO`, whose batch axes are those of the product."""
    (lc, rc), (lb, rb) = [tuple(map(tuple, pair)) for pair in dimension_numbers]
    n = len(lb)
    if lhs.n_dense or rhs.n_dense:
        raise _user_error(NotImplementedError, "bcoo_dot_general of two sparse arrays with dense dimensions.")
    if lb != rb or lb != tuple(range(n)) or lhs.n_batch != n or rhs.n_batch != n:
        raise _user_error(NotImplementedError, "bcoo_dot_general of two sparse arrays whose batch dimensions are not those of the product.")
    multiply = _multiplied((lhs._groups[1], rhs._groups[1]), [a - n for a in lc], [a - n for a in rc])
    data, indices = _over_batch(multiply, n)(*_whole(lhs), *_whole(rhs))
    shape = [
        *lhs.shape[:n],
        *(size for axis, size in enumerate(lhs.shape) if axis >= n and axis not in lc),
        *(size for axis, size in enumerate(rhs.shape) if axis >= n and axis not in rc),
    ]
    return _of_room(BCOO((data, indices), shape=shape))


def bcoo_multiply_sparse(lhs, rhs):
    """The product of two sparse arrays, element by element.

    Args:
      lhs, rhs: `BCOO` of one shape, or of shapes that broadcast to that of one of them, with the same groups of axes.
    Returns: a `BCOO`.
    Raises:
      NotImplementedError: the groups differ, or axes that are indexed have to be broadcast.
    Differentiable: yes, bilinear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> print(sparse.bcoo_multiply_sparse(sparse.eye(2), 3 * sparse.eye(2)).todense())
      [[3. 0.]
       [0. 3.]]
    """
    if lhs.shape != rhs.shape or lhs.n_batch != rhs.n_batch or lhs.n_dense != rhs.n_dense:
        raise _user_error(NotImplementedError, f"product of sparse arrays of different shapes or groups of axes: {lhs} and {rhs}")
    if not lhs.n_sparse:
        return BCOO((lhs.data.sum(-1, keepdims=True) * rhs.data, rhs.indices), shape=lhs.shape)
    sizes, n = lhs._groups[1], lhs.n_batch
    every = list(range(len(sizes)))

    def multiply(lhs_data, lhs_indices, rhs_data, rhs_indices):
        x, y = _pairs(lhs_data, rhs_data)
        i, j = _pairs(lhs_indices, rhs_indices)
        meet = _is_inside(i, sizes) & _jnp.all(_jnp.stack([i[:, a] == j[:, a] for a in every]), 0)
        return _only(meet, x * y), _jnp.where(meet[:, None], i, _jnp.asarray(sizes, i.dtype))

    data, indices = _over_batch(multiply, n)(*_whole(lhs), *_whole(rhs))
    return BCOO((data, indices), shape=lhs.shape)
