"""Sparse matrices by rows, and by columns."""

import numpy as _np

from pullback import numpy as _jnp
from pullback._core import user_error as _user_error
from pullback.experimental.sparse import bcoo as _bcoo, coo as _coo
from pullback.experimental.sparse._base import JAXSparse as _JAXSparse
from pullback.experimental.sparse.bcsr import BCSR as _BCSR
from pullback.tree_util import register_pytree_node_class as _register_pytree_node_class


class _Compressed(_JAXSparse):
    """What matrices by rows and by columns have in common."""

    def __init__(self, args, *, shape):
        super().__init__(args, shape=shape)
        self.data, self.indices, self.indptr = map(_jnp.asarray, args)

    def _fill(self, buffers, info):
        self.data, self.indices, self.indptr = buffers
        self.__dict__.update(info)

    nse = property(lambda self: self.data.size, doc="How many elements are stored.")

    @property
    def _bufs(self):
        return self.data, self.indices, self.indptr

    def tree_flatten(self):
        """The buffers, and what else tells the matrix."""
        return self._bufs, (("shape", self.shape),)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32"):
        if len(tuple(shape)) != 2:
            raise _user_error(ValueError, f"{cls.__name__} must have ndim=2; got {shape=}")
        ends = _jnp.zeros(shape[cls._major] + 1, index_dtype)
        return cls((_jnp.zeros(0, dtype), _jnp.zeros(0, index_dtype), ends), shape=shape)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32"):
        if cls._major:
            return CSR._eye(M, N, -k, dtype=dtype, index_dtype=index_dtype).T
        return _of_bcsr(_BCSR._eye(N, M, k, dtype=dtype, index_dtype=index_dtype))

    def transpose(self, axes=None):
        """The transposed matrix, of the other format."""
        if axes is not None and tuple(axes) != (1, 0):
            raise _user_error(NotImplementedError, f"{type(self).__name__}.transpose with axes {axes}")
        return (CSR if self._major else CSC)(self._bufs, shape=self.shape[::-1])


def _of_bcsr(mat):
    return CSR((mat.data, mat.indices, mat.indptr), shape=mat.shape)


@_register_pytree_node_class
class CSR(_Compressed):
    """A sparse matrix by rows: for each, where in `indices` and `data` its columns and elements begin.

    Args:
      args: `data`, `indices` and `indptr`, vectors.
      shape: rows and columns.

    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.CSR.fromdense(jnp.eye(2)) @ jnp.array([3.0, 4.0])
      Array([3., 4.], dtype=float32)
    """

    _major = 0

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=_np.int32):
        """The sparse matrix of a dense one, as `csr_fromdense`."""
        return csr_fromdense(mat, nse=nse, index_dtype=index_dtype)

    def todense(self):
        """The matrix with all its elements."""
        return csr_todense(self)

    def __matmul__(self, other):
        return _coo.matmul(self, other, csr_matvec, csr_matmat)


@_register_pytree_node_class
class CSC(_Compressed):
    """A sparse matrix by columns: for each, where in `indices` and `data` its rows and elements begin.

    Args:
      args: `data`, `indices` and `indptr`, vectors.
      shape: rows and columns.

    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.CSC.fromdense(jnp.eye(2)) @ jnp.array([3.0, 4.0])
      Array([3., 4.], dtype=float32)
    """

    _major = 1

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=_np.int32):
        """The sparse matrix of a dense one, as `csr_fromdense`."""
        return csr_fromdense(_jnp.asarray(mat).T, nse=nse, index_dtype=index_dtype).T

    def todense(self):
        """The matrix with all its elements."""
        return csr_todense(self.T).T

    def __matmul__(self, other):
        matvec, matmat = (lambda mat, x, f=f: f(mat.T, x, transpose=True) for f in (csr_matvec, csr_matmat))
        return _coo.matmul(self, other, matvec, matmat)


def csr_fromdense(mat, *, nse=None, index_dtype=_np.int32):
    """The sparse matrix of the elements of a dense one that are not zero.

    Args:
      mat: a matrix.
      nse: how many elements are stored; by default as many as there are.
      index_dtype: the type of the indices.
    Returns: a `CSR`.
    Raises:
      ConcretizationTypeError: `nse` is not given, and the matrix is traced.
    Differentiable: yes, in the elements that are stored.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.csr_fromdense(jnp.eye(2)).indptr
      Array([0, 1, 2], dtype=int32)
    """
    return _of_bcsr(_BCSR.from_bcoo(_bcoo.bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype)))


def _rows(mat):
    """The rows and columns of the elements; out of bounds past the last."""
    indices = _BCSR(mat._bufs, shape=mat.shape).to_bcoo().indices
    return indices[:, 0], indices[:, 1]


def csr_todense(mat):
    """The dense matrix of a sparse one.

    Args:
      mat: a `CSR`.
    Returns: an array.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.csr_todense(sparse.csr_fromdense(jnp.eye(2))).tolist()
      [[1.0, 0.0], [0.0, 1.0]]
    """
    return _BCSR(mat._bufs, shape=mat.shape).todense()


def csr_matvec(mat, v, transpose=False):
    """The product of a sparse matrix and a vector.

    Args:
      mat: a `CSR`.
      v: a vector.
      transpose: whether the matrix is transposed.
    Returns: a vector.
    Raises:
      TypeError: the sizes do not fit.
    Differentiable: yes, bilinear.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.csr_matvec(sparse.csr_fromdense(jnp.eye(2)), jnp.array([3.0, 4.0]))
      Array([3., 4.], dtype=float32)
    """
    v = _jnp.asarray(v)
    _coo.check_product(mat, v, transpose, 1)
    return _coo.product(mat.data, *_rows(mat), v, mat.shape[1 if transpose else 0], transpose)


def csr_matmat(mat, B, *, transpose=False):
    """The product of a sparse and a dense matrix.

    Args:
      mat: a `CSR`.
      B: a matrix.
      transpose: whether the sparse matrix is transposed.
    Returns: a matrix.
    Raises:
      TypeError: the sizes do not fit.
    Differentiable: yes, bilinear.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.csr_matmat(sparse.csr_fromdense(jnp.eye(2)), jnp.ones((2, 1))).shape
      (2, 1)
    """
    B = _jnp.asarray(B)
    _coo.check_product(mat, B, transpose, 2)
    return _coo.product(mat.data, *_rows(mat), B, mat.shape[1 if transpose else 0], transpose)
