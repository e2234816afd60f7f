"""Sparse matrices by the rows and columns of their elements."""

import numpy as _np

from pullback import numpy as _jnp
from pullback._core import user_error as _user_error
from pullback.experimental.sparse import bcoo as _bcoo
from pullback.experimental.sparse._base import COOInfo as _COOInfo, JAXSparse as _JAXSparse
from pullback.tree_util import register_pytree_node_class as _register_pytree_node_class


def matmul(mat, other, matvec, matmat):
    """`mat @ other` by the functions of a format."""
    if isinstance(other, _JAXSparse):
        raise _user_error(NotImplementedError, "matmul between two sparse objects.")
    other = _jnp.asarray(other)
    if other.ndim not in (1, 2):
        raise _user_error(NotImplementedError, f"matmul with object of shape {other.shape}")
    return matvec(mat, other) if other.ndim == 1 else matmat(mat, other)


def product(data, row, column, x, n_rows, transpose):
    """The product of a matrix, or its transpose, by rows and columns of its elements, with a vector or matrix of one type."""
    n_columns = x.shape[0]
    if transpose:
        row, column = column, row
    mat = _bcoo.BCOO((data, _jnp.stack([row, column], -1)), shape=(n_rows, n_columns))
    return _bcoo.bcoo_dot_general(mat, x, dimension_numbers=(((1,), (0,)), ((), ())))


def check_product(mat, x, transpose, ndim):
    """Refuses operands that do not fit."""
    wanted = mat.shape[0 if transpose else 1]
    if x.ndim != ndim or x.shape[0] != wanted:
        raise _user_error(TypeError, f"product of a sparse matrix of shape {mat.shape}{' transposed' if transpose else ''} with shape {x.shape}")


@_register_pytree_node_class
class COO(_JAXSparse):
    """A sparse matrix by the rows and columns of its elements. Rows and columns out of bounds stand for nothing.

    Args:
      args: `data`, `row` and `col`, vectors of one size.
      shape: rows and columns.
      rows_sorted, cols_sorted: whether the elements are in order of rows, or of columns.

    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.COO.fromdense(jnp.eye(2)) @ jnp.array([3.0, 4.0])
      Array([3., 4.], dtype=float32)
    """

    def __init__(self, args, *, shape, rows_sorted=False, cols_sorted=False):
        super().__init__(args, shape=shape)
        self.data, self.row, self.col = map(_jnp.asarray, args)
        self.rows_sorted, self.cols_sorted = bool(rows_sorted), bool(cols_sorted)

    def _fill(self, buffers, info):
        self.data, self.row, self.col = buffers
        self.__dict__.update(info)

    nse = property(lambda self: self.data.size, doc="How many elements are stored.")

    @property
    def _info(self):
        return _COOInfo(self.shape, self.rows_sorted, self.cols_sorted)

    @property
    def _bufs(self):
        return self.data, self.row, self.col

    def tree_flatten(self):
        """The buffers, and what else tells the matrix."""
        return self._bufs, tuple(self._info._asdict().items())

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=_np.int32):
        """The sparse matrix of a dense one, as `coo_fromdense`."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(tuple(shape)) != 2:
            raise _user_error(ValueError, f"COO must have ndim=2; got {shape=}")
        nothing = _jnp.zeros(0, index_dtype)
        return cls((_jnp.zeros(0, dtype), nothing, nothing), shape=shape, rows_sorted=True, cols_sorted=True)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        mat = _bcoo.BCOO._eye(N, M, k, dtype=dtype, index_dtype=index_dtype)
        return cls((mat.data, mat.indices[:, 0], mat.indices[:, 1]), shape=(N, M), rows_sorted=True, cols_sorted=True)

    def _sort_indices(self):
        order = _jnp.lexsort((self.col, self.row))
        return COO((self.data[order], self.row[order], self.col[order]), shape=self.shape, rows_sorted=True)

    def todense(self):
        """The matrix with all its elements."""
        return coo_todense(self)

    def transpose(self, axes=None):
        """The transposed matrix."""
        if axes is not None and tuple(axes) != (1, 0):
            raise _user_error(NotImplementedError, f"COO.transpose with axes {axes}")
        return COO((self.data, self.col, self.row), shape=self.shape[::-1], rows_sorted=self.cols_sorted, cols_sorted=self.rows_sorted)

    def __matmul__(self, other):
        return matmul(self, other, coo_matvec, coo_matmat)


def coo_fromdense(mat, *, nse=None, index_dtype=_np.int32):
    """The sparse matrix of the elements of a dense one that are not zero.

    Args:
      mat: a matrix.
      nse: how many elements are stored; by default as many as there are.
      index_dtype: the type of rows and columns.
    Returns: a `COO`.
    Raises:
      ConcretizationTypeError: `nse` is not given, and the matrix is traced.
    Differentiable: yes, in the elements that are stored.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.coo_fromdense(jnp.array([[0.0, 3.0]])).col
      Array([1], dtype=int32)
    """
    found = _bcoo.bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return COO((found.data, found.indices[:, 0], found.indices[:, 1]), shape=found.shape, rows_sorted=True)


def coo_todense(mat):
    """The dense matrix of a sparse one; elements in one place are added.

    Args:
      mat: a `COO`.
    Returns: an array.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.coo_todense(sparse.COO.fromdense(jnp.eye(2))).tolist()
      [[1.0, 0.0], [0.0, 1.0]]
    """
    return _bcoo.BCOO((mat.data, _jnp.stack([mat.row, mat.col], -1)), shape=mat.shape).todense()


def coo_matvec(mat, v, transpose=False):
    """The product of a sparse matrix and a vector.

    Args:
      mat: a `COO`.
      v: a vector.
      transpose: whether the matrix is transposed.
    Returns: a vector.
    Raises:
      TypeError: the sizes do not fit.
    Differentiable: yes, bilinear.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.coo_matvec(sparse.COO.fromdense(jnp.eye(2)), jnp.array([3.0, 4.0]))
      Array([3., 4.], dtype=float32)
    """
    v = _jnp.asarray(v)
    check_product(mat, v, transpose, 1)
    return product(mat.data, mat.row, mat.col, v, mat.shape[1 if transpose else 0], transpose)


def coo_matmat(mat, B, *, transpose=False):
    """The product of a sparse and a dense matrix.

    Args:
      mat: a `COO`.
      B: a matrix.
      transpose: whether the sparse matrix is transposed.
    Returns: a matrix.
    Raises:
      TypeError: the sizes do not fit.
    Differentiable: yes, bilinear.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.coo_matmat(sparse.COO.fromdense(jnp.eye(2)), jnp.ones((2, 1))).shape
      (2, 1)
    """
    B = _jnp.asarray(B)
    check_product(mat, B, transpose, 2)
    return product(mat.data, mat.row, mat.col, B, mat.shape[1 if transpose else 0], transpose)
