"""Sparse matrices by rows: batches of them, whose elements may be dense blocks."""

import numpy as _np

from pullback import numpy as _jnp
from pullback._core import user_error as _user_error
from pullback.experimental.sparse import bcoo as _bcoo
from pullback.experimental.sparse._base import JAXSparse as _JAXSparse, SparseInfo as _SparseInfo, _by_sparsify
from pullback.interpreters.batching import register_vmappable as _register_vmappable
from pullback.tree_util import register_pytree_node_class as _register_pytree_node_class


@_register_pytree_node_class
class BCSR(_JAXSparse):
    """A sparse matrix by rows: for each row, where in `indices` and `data` its columns and elements begin.

    Args:
      args: `data`, of shape `(*batch, nse, *dense)`, `indices`, of shape `(*batch, nse)`, and `indptr`, of shape `(*batch, rows + 1)`.
      shape: the sizes of all axes.
      indices_sorted: whether the columns of each row are in order.
      unique_indices: whether no column is there twice in a row.
    Raises:
      ValueError: the buffers and the shape do not fit.

    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.BCSR.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
      >>> a @ jnp.array([3.0, 4.0])
      Array([4., 6.], dtype=float32)
    """

    n_sparse = 2

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        super().__init__(args, shape=shape)
        self.data, self.indices, self.indptr = map(_jnp.asarray, args)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        b = self.n_batch
        fits = b >= 0 and self.data.ndim > b and self.data.shape[b] == self.nse and self.indptr.ndim == b + 1
        if not fits or b + 2 + self.n_dense != self.ndim or self.indptr.shape[-1] != self.shape[b] + 1 or self.data.shape[b + 1 :] != self.shape[b + 2 :]:
            shapes = [x.shape for x in (self.data, self.indices, self.indptr)]
            raise _user_error(ValueError, f"Invalid shapes: data, indices and indptr {shapes} for an array of shape {self.shape}")

    def _fill(self, buffers, info):
        self.data, self.indices, self.indptr = buffers
        self.__dict__.update(info)

    nse = property(lambda self: self.indices.shape[-1], doc="How many elements are stored, for each element of the batch.")
    n_batch = property(lambda self: self.indices.ndim - 1, doc="The number of batch axes.")
    n_dense = property(lambda self: self.data.ndim - self.indices.ndim, doc="The number of axes of an element.")

    @property
    def _info(self):
        return _SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    @property
    def _bufs(self):
        return self.data, self.indices, self.indptr

    def _more(self):
        return "".join(f", {name}={getattr(self, name)}" for name in ("n_batch", "n_dense") if getattr(self, name))

    def tree_flatten(self):
        """The buffers, and what else tells the array."""
        return self._bufs, tuple(self._info._asdict().items())

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=_np.int32, n_dense=0, n_batch=0):
        """The sparse array of a dense one, as `bcsr_fromdense`."""
        return bcsr_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_bcoo(cls, arr):
        """The matrix of a `BCOO` with two indexed axes."""
        if arr.n_sparse != 2:
            raise _user_error(NotImplementedError, f"BCSR.from_bcoo requires n_sparse=2; got {arr.n_sparse}")
        arr = arr if arr.indices_sorted else arr.sort_indices()
        data, indices = _bcoo._whole(arr)
        rows = arr._groups[1][0]
        count = lambda i: _jnp.searchsorted(i[:, 0], _jnp.arange(rows + 1, dtype=i.dtype)).astype(i.dtype)  # noqa: E731
        indptr = _bcoo._over_batch(count, arr.n_batch)(indices)
        return cls((data, indices[..., 1], indptr), shape=arr.shape, indices_sorted=True, unique_indices=arr.unique_indices)

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype=None, n_dense=0, n_batch=0):
        """The matrix of one of SciPy."""
        if n_dense != 0 or n_batch != 0:
            raise _user_error(NotImplementedError, "BCSR from scipy.sparse with n_dense or n_batch")
        mat = mat.tocsr()
        buffers = [_jnp.asarray(mat.data), *(_jnp.asarray(x.astype(index_dtype or _np.int32)) for x in (mat.indices, mat.indptr))]
        return cls(buffers, shape=mat.shape)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        return cls.from_bcoo(_bcoo.BCOO._empty(shape, dtype=dtype, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch, nse=nse))

    @classmethod
    def _eye(cls, N, M, k, **options):
        return cls.from_bcoo(_bcoo.BCOO._eye(N, M, k, **options))

    def to_bcoo(self):
        """The matrix by the indices of its elements."""
        nse, rows, columns = self.nse, self.indptr.shape[-1] - 1, self.shape[self.n_batch + 1]

        def spread(indices, indptr):
            places = _jnp.arange(nse, dtype=indptr.dtype)
            row = _jnp.searchsorted(indptr, places, side="right").astype(indices.dtype) - 1
            return _jnp.where((places < indptr[-1])[:, None], _jnp.stack([row, indices], -1), _jnp.asarray([rows, columns], indices.dtype))

        batch = self.shape[: self.n_batch]
        fill = lambda x: _jnp.broadcast_to(x, (*batch, *x.shape[self.n_batch :]))  # noqa: E731
        indices = _bcoo._over_batch(spread, self.n_batch)(fill(self.indices), fill(self.indptr))
        return _bcoo.BCOO((self.data, indices), shape=self.shape, indices_sorted=self.indices_sorted, unique_indices=self.unique_indices)

    def todense(self):
        """The array with all its elements."""
        return bcsr_todense(self)

    def transpose(self, axes=None):
        """Not of this format: `to_bcoo` can be transposed."""
        raise _user_error(NotImplementedError, "Transpose is not implemented.")

    def sum_duplicates(self, nse=None, remove_zeros=True):
        """The matrix with each index once."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse=nse, remove_zeros=remove_zeros))

    __matmul__, __rmatmul__ = _by_sparsify("matmul"), _by_sparsify("matmul", reflected=True)
    __mul__, __rmul__ = _by_sparsify("multiply"), _by_sparsify("multiply", reflected=True)

    def __getitem__(self, item):
        return self.to_bcoo()[item]


def bcsr_fromdense(mat, *, nse=None, n_batch=0, n_dense=0, index_dtype=_np.int32):
    """The sparse matrix of the elements of a dense one that are not zero.

    Args:
      mat: an array with two axes between those of a batch and those of blocks.
      nse: how many elements are stored; by default as many as there are, at most, in an element of the batch.
      n_batch, n_dense: how many axes, in front and at the end, are those of a batch and of blocks.
      index_dtype: the type of the indices.
    Returns: a `BCSR`.
    Raises:
      ValueError: there are not two other axes.
      ConcretizationTypeError: `nse` is not given, and the array is traced.
    Differentiable: yes, in the elements that are stored.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcsr_fromdense(jnp.eye(2)).indptr
      Array([0, 1, 2], dtype=int32)
    """
    mat = _jnp.asarray(mat)
    if mat.ndim - n_batch - n_dense != 2:
        raise _user_error(ValueError, "bcsr_fromdense: must have 2 sparse dimensions.")
    return BCSR.from_bcoo(_bcoo.bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype))


def bcsr_todense(mat):
    """The dense array of a sparse matrix.

    Args:
      mat: a `BCSR`.
    Returns: an array.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcsr_todense(sparse.bcsr_fromdense(jnp.eye(2))).tolist()
      [[1.0, 0.0], [0.0, 1.0]]
    """
    return mat.to_bcoo().todense()


def bcsr_extract(indices, indptr, mat):
    """The elements of a dense matrix at the indices of a sparse one.

    Args:
      indices, indptr: buffers of a `BCSR`.
      mat: an array.
    Returns: data for it.
    Differentiable: yes, linear in `mat`.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcsr_extract(jnp.array([0, 1]), jnp.array([0, 1, 2]), jnp.array([[1.0, 2.0], [3.0, 4.0]]))
      Array([1., 4.], dtype=float32)
    """
    mat = _jnp.asarray(mat)
    n_dense = mat.ndim - indices.ndim - 1
    data = _jnp.zeros((*indices.shape, *mat.shape[mat.ndim - n_dense :]), mat.dtype)
    return _bcoo.bcoo_extract(BCSR((data, indices, indptr), shape=mat.shape).to_bcoo(), mat, assume_unique=True).data


def bcsr_dot_general(lhs, rhs, *, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None):
    """The general product of a sparse matrix and a dense array, as `lax.dot_general`.

    Args:
      lhs: a `BCSR`, or an array.
      rhs: an array.
      dimension_numbers: `((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))`.
      precision, out_sharding: accepted for compatibility; without effect.
      preferred_element_type: the type of the result; by default that of the operands.
    Returns: an array.
    Raises:
      TypeError: the axes do not fit, as `lax.dot_general`.
    Differentiable: yes, bilinear in data and dense arrays.
    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.bcsr_fromdense(jnp.eye(2))
      >>> sparse.bcsr_dot_general(a, jnp.array([3.0, 4.0]), dimension_numbers=(([1], [0]), ([], [])))
      Array([3., 4.], dtype=float32)
    """
    lhs = lhs.to_bcoo() if isinstance(lhs, BCSR) else lhs
    return _bcoo.bcoo_dot_general(lhs, rhs, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type)


def bcsr_sum_duplicates(mat, nse=None):
    """The matrix with each index once, in order; elements with the same index are added.

    Args:
      mat: a `BCSR`.
      nse: how many elements are stored; by default as many as there are.
    Returns: a `BCSR`.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcsr_sum_duplicates(sparse.bcsr_fromdense(jnp.eye(2))).nse
      2
    """
    return BCSR.from_bcoo(_bcoo.bcoo_sum_duplicates(mat.to_bcoo(), nse=nse))


def bcsr_concatenate(operands, *, dimension):
    """Matrices one after the other along an axis, as `bcoo_concatenate`.

    Args:
      operands: `BCSR` with the same groups of axes.
      dimension: the axis.
    Returns: a `BCSR`.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.bcsr_fromdense(jnp.eye(2))
      >>> sparse.bcsr_concatenate([a, a], dimension=0).shape
      (4, 2)
    """
    from pullback.experimental.sparse.bcoo_shapes import bcoo_concatenate

    return BCSR.from_bcoo(bcoo_concatenate([x.to_bcoo() for x in operands], dimension=dimension))


def bcsr_broadcast_in_dim(mat, *, shape, broadcast_dimensions, sharding=None):
    """The matrix with further batch axes or axes of blocks, as `bcoo_broadcast_in_dim`.

    Args:
      mat: a `BCSR`.
      shape: the new shape.
      broadcast_dimensions: for each axis, where it is in the new shape; ascending.
      sharding: accepted for compatibility; without effect.
    Returns: a `BCSR`.
    Raises:
      NotImplementedError: there would not be two indexed axes.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.bcsr_fromdense(jnp.ones((1, 2)))
      >>> sparse.bcsr_broadcast_in_dim(a, shape=(3, 2), broadcast_dimensions=(0, 1)).nse
      6
    """
    from pullback.experimental.sparse.bcoo_shapes import bcoo_broadcast_in_dim

    return BCSR.from_bcoo(bcoo_broadcast_in_dim(mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions))


_register_vmappable(BCSR, int, int, _bcoo._to_element, _bcoo._from_element, None)
