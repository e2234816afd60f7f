"""Sparse arrays by the indices of their elements: batches of them, whose elements may be dense blocks."""

import functools as _functools
import math as _math
import operator as _operator

import numpy as _np

from pullback import _core, lax as _lax, numpy as _jnp
from pullback._core import user_error as _user_error
from pullback._api import vmap as _vmap
from pullback.experimental.sparse._base import JAXSparse as _JAXSparse, SparseInfo as _SparseInfo, _by_sparsify
from pullback.interpreters.batching import register_vmappable as _register_vmappable
from pullback.tree_util import register_pytree_node_class as _register_pytree_node_class


@_register_pytree_node_class
class BCOO(_JAXSparse):
    """A sparse array by the indices of its elements.

    The axes are in three groups: `n_batch` of a batch, `n_sparse` that are indexed, and `n_dense` of the blocks that are
    elements. Indices out of bounds stand for nothing: they fill up what is stored.

    Args:
      args: `data`, of shape `(*batch, nse, *dense)`, and `indices`, of shape `(*batch, nse, n_sparse)`; batch axes may have size 1.
      shape: the sizes of all axes.
      indices_sorted: whether the indices are in order.
      unique_indices: whether no index is there twice.
    Raises:
      ValueError: data, indices and shape do not fit.

    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.BCOO.fromdense(jnp.array([[0.0, 1.0], [2.0, 0.0]]))
      >>> a @ jnp.array([3.0, 4.0])
      Array([4., 6.], dtype=float32)
    """

    def __init__(self, args, *, shape, indices_sorted=False, unique_indices=False):
        super().__init__(args, shape=shape)
        self.data, self.indices = map(_jnp.asarray, args)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        self._validate()

    def _fill(self, buffers, info):
        self.data, self.indices = buffers
        self.__dict__.update(info)

    def _validate(self):
        data, indices, n_batch = self.data, self.indices, self.indices.ndim - 2
        if n_batch < 0 or data.ndim < n_batch + 1 or data.shape[n_batch] != indices.shape[-2]:
            n_dense = data.ndim - 1 - n_batch
            raise _user_error(ValueError, f"Invalid data.shape={data.shape} for nse={indices.shape[-2]}, n_batch={n_batch}, n_dense={n_dense}")
        fits = lambda sizes: all(size in (1, whole) for size, whole in zip(sizes[:n_batch], self.shape))  # noqa: E731
        dense = data.shape[n_batch + 1 :]
        if n_batch + indices.shape[-1] + len(dense) != self.ndim or dense != self.shape[self.ndim - len(dense) :]:
            raise _user_error(ValueError, f"Invalid shapes: data {data.shape} and indices {indices.shape} for an array of shape {self.shape}")
        if not (fits(data.shape) and fits(indices.shape)):
            raise _user_error(ValueError, f"Invalid batch of data {data.shape} or indices {indices.shape} for an array of shape {self.shape}")

    nse = property(lambda self: self.indices.shape[-2], doc="How many elements are stored, for each element of the batch.")
    n_batch = property(lambda self: self.indices.ndim - 2, doc="The number of batch axes.")
    n_sparse = property(lambda self: self.indices.shape[-1], doc="The number of indexed axes.")
    n_dense = property(lambda self: self.data.ndim - 1 - self.n_batch, doc="The number of axes of an element.")

    @property
    def _info(self):
        return _SparseInfo(self.shape, self.indices_sorted, self.unique_indices)

    @property
    def _bufs(self):
        return self.data, self.indices

    @property
    def _groups(self):
        """The sizes of batch, sparse and dense axes."""
        b, s = self.n_batch, self.n_batch + self.n_sparse
        return self.shape[:b], self.shape[b:s], self.shape[s:]

    def _more(self):
        return "".join(f", {name}={getattr(self, name)}" for name in ("n_batch", "n_dense") if getattr(self, name))

    def tree_flatten(self):
        """The buffers, and what else tells the array."""
        return (self.data, self.indices), tuple(self._info._asdict().items())

    def _with(self, data=None, indices=None, shape=None, indices_sorted=False, unique_indices=False):
        made = object.__new__(BCOO)
        made.shape = self.shape if shape is None else tuple(shape)
        made.data = self.data if data is None else data
        made.indices = self.indices if indices is None else indices
        made.indices_sorted, made.unique_indices = indices_sorted, unique_indices
        return made

    def _with_data(self, data):
        return self._with(data, indices_sorted=self.indices_sorted, unique_indices=self.unique_indices)

    @classmethod
    def fromdense(cls, mat, *, nse=None, index_dtype=_np.int32, n_dense=0, n_batch=0):
        """The sparse array of a dense one, as `bcoo_fromdense`."""
        return bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_scipy_sparse(cls, mat, *, index_dtype=None, n_dense=0, n_batch=0):
        """The sparse array of a matrix of SciPy."""
        if n_dense != 0 or n_batch != 0:
            raise _user_error(NotImplementedError, "BCOO from scipy.sparse with n_dense or n_batch")
        mat = mat.tocoo()
        indices = _np.column_stack((mat.row, mat.col)).astype(index_dtype or _np.int32)
        return cls((_jnp.asarray(mat.data), _jnp.asarray(indices)), shape=mat.shape)

    @classmethod
    def _empty(cls, shape, *, dtype=None, index_dtype="int32", n_dense=0, n_batch=0, nse=0):
        shape = tuple(shape)
        n_sparse = len(shape) - n_dense - n_batch
        if n_sparse < 0 or n_dense < 0 or n_batch < 0 or nse < 0:
            raise _user_error(ValueError, f"Invalid inputs: shape={shape}, n_dense={n_dense}, n_batch={n_batch}, nse={nse}")
        data = _jnp.zeros((*shape[:n_batch], nse, *shape[n_batch + n_sparse :]), dtype)
        ends = _jnp.asarray(shape[n_batch : n_batch + n_sparse], index_dtype)
        return cls((data, _jnp.broadcast_to(ends, (*shape[:n_batch], nse, n_sparse))), shape=shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def _eye(cls, N, M, k, *, dtype=None, index_dtype="int32", n_batch=0, n_dense=0):
        if n_batch or n_dense:
            return bcoo_fromdense(_jnp.eye(N, M, k, dtype=dtype), n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
        first, column = max(0, -k), max(0, k)
        nse = max(0, min(N - first, M - column))
        steps = _jnp.arange(nse, dtype=index_dtype)
        indices = _jnp.stack([steps + first, steps + column], axis=1)
        return cls((_jnp.ones(nse, dtype), indices), shape=(N, M), indices_sorted=True, unique_indices=True)

    def todense(self):
        """The array with all its elements."""
        return bcoo_todense(self)

    def transpose(self, axes=None):
        """The array with its axes in another order, each within its group."""
        return bcoo_transpose(self, permutation=tuple(range(self.ndim))[::-1] if axes is None else tuple(axes))

    def astype(self, *args, **kwargs):
        """The array with elements of another type."""
        return self._with_data(self.data.astype(*args, **kwargs))

    def reshape(self, *args, **kwargs):
        """The array with its elements in another shape, each group of axes by itself."""
        from pullback.experimental.sparse.transform import sparsify

        return sparsify(lambda x: _jnp.reshape(x, *_one_shape(args), **kwargs))(self)

    def sort_indices(self):
        """The array with its indices in order."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse=None, remove_zeros=True):
        """The array with each index once, as `bcoo_sum_duplicates`; without stored zeros, if `remove_zeros`."""
        return bcoo_sum_duplicates(bcoo_eliminate_zeros(self) if remove_zeros else self, nse=nse)

    def update_layout(self, *, n_batch=None, n_dense=None, on_inefficient="error"):
        """The array with its axes in other groups, as `bcoo_update_layout`."""
        return bcoo_update_layout(self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, item):
        from pullback.experimental.sparse.transform import sparsify

        return sparsify(lambda x: x[item])(self)

    def __neg__(self):
        return self._with_data(-self.data)

    def __pos__(self):
        return self

    def __abs__(self):
        from pullback.experimental.sparse.transform import sparsify

        return sparsify(_jnp.abs)(self)

    __matmul__, __rmatmul__ = _by_sparsify("matmul"), _by_sparsify("matmul", reflected=True)
    __mul__, __rmul__ = _by_sparsify("multiply"), _by_sparsify("multiply", reflected=True)
    __truediv__, __rtruediv__ = _by_sparsify("divide"), _by_sparsify("divide", reflected=True)
    __add__, __radd__ = _by_sparsify("add"), _by_sparsify("add", reflected=True)
    __sub__, __rsub__ = _by_sparsify("subtract"), _by_sparsify("subtract", reflected=True)
    __eq__, __ne__, __hash__ = _by_sparsify("equal"), _by_sparsify("not_equal"), None
    __gt__, __ge__ = _by_sparsify("greater"), _by_sparsify("greater_equal")
    __lt__, __le__ = _by_sparsify("less"), _by_sparsify("less_equal")

    def __pow__(self, other):
        from pullback.experimental.sparse.transform import sparsify

        return sparsify(lambda x: x**other)(self)

    def __rpow__(self, other):
        raise self._refused("__rpow__")


def _one_shape(args):
    return args if len(args) == 1 and not isinstance(args[0], int) else (args,)


def _over_batch(fun, n_batch):
    """`fun` of one element of the batch, of all."""
    return _functools.reduce(lambda f, _: _vmap(f), range(n_batch), fun)


def _whole(mat):
    """Data and indices with all batch axes in full size."""
    batch = mat._groups[0]
    fill = lambda x: _jnp.broadcast_to(x, (*batch, *x.shape[mat.n_batch :]))  # noqa: E731
    return fill(mat.data), fill(mat.indices)


def _is_inside(indices, sizes):
    """For each row of indices, whether it is in bounds."""
    return _jnp.all((indices >= 0) & (indices < _jnp.asarray(sizes, indices.dtype)), axis=-1)


def _only(mask, data):
    """Data where the mask holds, else zero."""
    return _jnp.where(_jnp.expand_dims(mask, range(mask.ndim, data.ndim)), data, _jnp.zeros((), data.dtype))


def _columns(indices):
    return tuple(indices[:, i] for i in range(indices.shape[1]))


def _scatter(data, indices, sizes):
    """A dense array of the given sparse sizes with blocks added where the indices say."""
    if not sizes:
        return data.sum(0, dtype=data.dtype)
    return _jnp.zeros((*sizes, *data.shape[1:]), data.dtype).at[_columns(indices)].add(data, mode="drop")


def _take(dense, indices):
    """The blocks of an array where the indices say; zeros where they are out of bounds."""
    if not indices.shape[1]:
        return _jnp.broadcast_to(dense, (indices.shape[0], *dense.shape))
    return dense.at[_columns(indices)].get(mode="fill", fill_value=0)


def bcoo_todense(mat):
    """The dense array of a sparse one; elements with the same index are added.

    Args:
      mat: a `BCOO`.
    Returns: an array.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> print(sparse.bcoo_todense(sparse.eye(2)))
      [[1. 0.]
       [0. 1.]]
    """
    sizes = mat._groups[1]
    inside = lambda data, indices: _scatter(_only(_is_inside(indices, sizes), data), indices, sizes)  # noqa: E731
    return _over_batch(inside, mat.n_batch)(*_whole(mat))


def bcoo_fromdense(mat, *, nse=None, n_batch=0, n_dense=0, index_dtype=_np.int32):
    """The sparse array of the elements of a dense one that are not zero.

    Args:
      mat: an array.
      nse: how many elements are stored; by default as many as there are, at most, in an element of the batch.
      n_batch, n_dense: how many axes, in front and at the end, are those of a batch and of blocks.
      index_dtype: the type of the indices.
    Returns: a `BCOO`.
    Raises:
      ConcretizationTypeError: `nse` is not given, and the array is traced.
      ValueError: there are fewer axes.
    Differentiable: yes, in the elements that are stored.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_fromdense(jnp.array([0.0, 3.0])).indices
      Array([[1]], dtype=int32)
    """
    mat = _jnp.asarray(mat)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > mat.ndim:
        raise _user_error(ValueError, f"n_batch={n_batch} and n_dense={n_dense} are no groups of the axes of shape {mat.shape}")
    held = _jnp.any(mat != 0, axis=tuple(range(mat.ndim - n_dense, mat.ndim)))
    sparse_axes = tuple(range(n_batch, mat.ndim - n_dense))
    if nse is None:
        text = "The error arose for the nse argument of bcoo_fromdense. In order for BCOO.fromdense() to be used in traced/compiled code, you must pass a concrete value to the nse (number of stored elements) argument."
        from pullback.core import concrete_or_error

        nse = int(concrete_or_error(None, _jnp.max(held.sum(sparse_axes), initial=0), text))
    sizes = mat.shape[n_batch : mat.ndim - n_dense]

    def extract(block, held):
        if not sizes:
            indices = _jnp.zeros((nse, 0), index_dtype)
            first = _jnp.arange(nse) < held
        else:
            columns = _jnp.nonzero(held, size=nse, fill_value=sizes)
            indices = _jnp.stack(columns, -1).astype(index_dtype)
            first = _is_inside(indices, sizes)
        return _only(first, _take(block, indices)), indices

    data, indices = _over_batch(extract, n_batch)(mat, held)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=True)


def bcoo_extract(sparr, arr, *, assume_unique=None):
    """The elements of a dense array where a sparse one has some.

    Args:
      sparr: a `BCOO`, whose indices are used.
      arr: an array of its shape.
      assume_unique: whether no index is there twice; else the first of each has the element. By default as `sparr` says.
    Returns: a `BCOO` with the indices of `sparr`.
    Raises:
      ValueError: the shapes differ.
    Differentiable: yes, linear in `arr`.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_extract(sparse.eye(2), jnp.array([[1.0, 2.0], [3.0, 4.0]])).data
      Array([1., 4.], dtype=float32)
    """
    arr = _jnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise _user_error(ValueError, f"shape mismatch: {sparr.shape} and {arr.shape}")
    is_unique = sparr.unique_indices if assume_unique is None else assume_unique
    batch, sizes, _ = sparr._groups
    indices = sparr.indices

    def extract(block, indices):
        data = _only(_is_inside(indices, sizes), _take(block, indices))
        return data if is_unique else _only(_is_first(indices), data)

    data = _over_batch(extract, len(batch))(arr, _whole(sparr)[1])
    return sparr._with_data(data) if indices.shape == sparr.indices.shape else sparr._with(data, indices)


def _order(indices):
    """What puts rows of indices in order."""
    if not indices.shape[1]:
        return _jnp.arange(indices.shape[0])
    return _jnp.lexsort(_columns(indices)[::-1])


def _is_first(indices):
    """For each row of indices, whether no row before it is the same."""
    order = _order(indices)
    return _jnp.zeros(len(indices), bool).at[order].set(_starts(indices[order]))


def _starts(ordered):
    """For each row of indices in order, whether it differs from the one before."""
    return _jnp.concatenate([_jnp.ones(min(1, len(ordered)), bool), _jnp.any(ordered[1:] != ordered[:-1], axis=-1)])


def bcoo_sort_indices(mat):
    """The array with its indices in order.

    Args:
      mat: a `BCOO`.
    Returns: a `BCOO`.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.BCOO((jnp.array([1.0, 2.0]), jnp.array([[1], [0]])), shape=(2,))
      >>> sparse.bcoo_sort_indices(a).data
      Array([2., 1.], dtype=float32)
    """

    def sort(data, indices):
        order = _order(indices)
        return data[order], indices[order]

    data, indices = _over_batch(sort, mat.n_batch)(*_whole(mat))
    return mat._with(data, indices, indices_sorted=True, unique_indices=mat.unique_indices)


def bcoo_eliminate_zeros(mat, nse=None):
    """The array without stored zeros; what is left over stays as indices out of bounds.

    Args:
      mat: a `BCOO`.
      nse: how many elements are stored; by default as many as before.
    Returns: a `BCOO`.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.BCOO((jnp.array([1.0, 0.0]), jnp.array([[0], [1]])), shape=(2,))
      >>> sparse.bcoo.bcoo_eliminate_zeros(a).indices.tolist()
      [[0], [2]]
    """
    sizes = mat._groups[1]

    def clear(data, indices):
        held = _jnp.any(data != 0, axis=tuple(range(1, data.ndim)))
        return data, _jnp.where(held[:, None], indices, _jnp.asarray(sizes, indices.dtype))

    found = mat._with(*_over_batch(clear, mat.n_batch)(*_whole(mat)), unique_indices=False)
    return found if nse is None else bcoo_sum_duplicates(found, nse=nse)


def bcoo_sum_duplicates(mat, nse=None):
    """The array with each index once, in order; elements with the same index are added.

    Args:
      mat: a `BCOO`.
      nse: how many elements are stored; by default as many as there are, at most, in an element of the batch. What does not find
        room is lost.
    Returns: a `BCOO`.
    Raises:
      ConcretizationTypeError: `nse` is not given, and the array is traced.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.BCOO((jnp.array([1.0, 2.0]), jnp.array([[1], [1]])), shape=(2,))
      >>> sparse.bcoo_sum_duplicates(a).data
      Array([3.], dtype=float32)
    """
    sizes = mat._groups[1]
    data, indices = _whole(mat)
    ends = _jnp.asarray(sizes, indices.dtype)

    def prepare(data, indices):
        inside = _is_inside(indices, sizes)
        indices = _jnp.where(inside[:, None], indices, ends)
        order = _order(indices)
        starts = _starts(indices[order]) & inside[order]
        return _only(inside[order], data[order]), indices[order], starts

    data, indices, starts = _over_batch(prepare, mat.n_batch)(data, indices)
    if nse is None:
        from pullback.core import concrete_or_error

        text = "The error arose for the nse argument of bcoo_sum_duplicates. In order for it to be used in traced/compiled code, you must pass a concrete value to the nse (number of stored elements) argument."
        nse = int(concrete_or_error(None, _jnp.max(starts.sum(-1), initial=0), text))

    def gather(data, indices, starts):
        places = _jnp.where(_is_inside(indices, sizes), _jnp.cumsum(starts) - 1, nse)
        summed = _jnp.zeros((nse, *data.shape[1:]), data.dtype).at[places].add(data, mode="drop")
        return summed, _jnp.broadcast_to(ends, (nse, len(sizes))).at[places].set(indices, mode="drop")

    return mat._with(*_over_batch(gather, mat.n_batch)(data, indices, starts), indices_sorted=True, unique_indices=True)


def bcoo_transpose(mat, *, permutation):
    """The array with its axes in another order.

    Args:
      mat: a `BCOO`.
      permutation: the axes; those of a batch, those that are indexed and those of blocks stay among themselves.
    Returns: a `BCOO`.
    Raises:
      TypeError: `permutation` is none of the axes.
      NotImplementedError: it mixes the groups.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_transpose(sparse.eye(2, 3), permutation=(1, 0)).shape
      (3, 2)
    """
    permutation = tuple(map(_operator.index, permutation))
    if sorted(permutation) != list(range(mat.ndim)):
        text = f"transpose permutation isn't a permutation of operand dimensions, got permutation {permutation} for shape {mat.shape}."
        raise _user_error(TypeError, text)
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    batch, sparse, dense = permutation[:b], permutation[b:s], permutation[s:]
    if any(axis >= b for axis in batch) or any(not b <= axis < s for axis in sparse):
        raise _user_error(NotImplementedError, f"transpose of a BCOO that mixes batch, sparse and dense axes: {permutation}")
    data = mat.data.transpose(*batch, b, *(axis - s + b + 1 for axis in dense))
    indices = mat.indices.transpose(*batch, b, b + 1)[..., _np.array([axis - b for axis in sparse], int)]
    is_sorted = mat.indices_sorted and sparse == tuple(range(b, s))
    return mat._with(data, indices, [mat.shape[i] for i in permutation], is_sorted, mat.unique_indices)


def bcoo_update_layout(mat, *, n_batch=None, n_dense=None, on_inefficient="error"):
    """The array with its axes in other groups.

    Args:
      mat: a `BCOO`.
      n_batch, n_dense: how many axes, in front and at the end, are those of a batch and of blocks; by default as they are.
      on_inefficient: what is done if the new one stores more than it must: "error", "warn", or None.
    Returns: a `BCOO`.
    Raises:
      ValueError: there are fewer axes.
      SparseEfficiencyError: the new one is inefficient, and `on_inefficient` is "error".
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> a = sparse.BCOO.fromdense(jnp.ones((2, 3)), n_batch=1)
      >>> sparse.bcoo_update_layout(a, n_batch=0)
      BCOO(float32[2, 3], nse=6)
    """
    n_batch = mat.n_batch if n_batch is None else _operator.index(n_batch)
    n_dense = mat.n_dense if n_dense is None else _operator.index(n_dense)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > mat.ndim:
        raise _user_error(ValueError, f"n_batch={n_batch} and n_dense={n_dense} are no groups of the axes of shape {mat.shape}")
    _warn_of_storage(mat, n_batch, n_dense, on_inefficient)
    mat = _dense_to_sparse(_batch_to_sparse(mat, min(n_batch, mat.n_batch)), min(n_dense, mat.n_dense))
    return _sparse_to_batch(_sparse_to_dense(mat, n_dense), n_batch)


def _warn_of_storage(mat, n_batch, n_dense, on_inefficient):
    from pullback.experimental.sparse._base import SparseEfficiencyError, SparseEfficiencyWarning

    for name, old, new, sizes in (
        ("n_batch", mat.n_batch, n_batch, mat.shape[mat.n_batch : n_batch]),
        ("n_dense", mat.n_dense, n_dense, mat.shape[mat.ndim - n_dense : mat.ndim - mat.n_dense]),
    ):
        if new > old and _math.prod(sizes) > 1 and on_inefficient is not None and (name == "n_batch" or mat.nse > 0):
            text = (
                f"For matrix of shape {mat.shape}, increasing {name} from {old} to {new} results in inefficient storage. To disable "
                "this error, set the on_inefficient argument of bcoo_update_layout to 'warn' or None."
            )
            if on_inefficient == "error":
                raise _user_error(SparseEfficiencyError, text)
            import warnings

            warnings.warn(text, SparseEfficiencyWarning, stacklevel=4)


def _batch_to_sparse(mat, n_batch):
    data, indices = _whole(mat)
    for axis in range(mat.n_batch - 1, n_batch - 1, -1):
        size, nse = mat.shape[axis], indices.shape[-2]
        number = _jnp.broadcast_to(_jnp.arange(size, dtype=indices.dtype)[:, None, None], (*indices.shape[:-1], 1))
        indices = _jnp.concatenate([number, indices], -1)
        indices = indices.reshape(*indices.shape[:axis], size * nse, indices.shape[-1])
        data = data.reshape(*data.shape[:axis], size * nse, *data.shape[axis + 2 :])
    return mat._with(data, indices, indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def _dense_to_sparse(mat, n_dense):
    moved = mat._groups[2][: mat.n_dense - n_dense]
    if not moved:
        return mat
    n = _math.prod(moved)
    grid = _jnp.stack([x.ravel() for x in _jnp.indices(moved, dtype=mat.indices.dtype)], -1)
    old = _jnp.repeat(mat.indices, n, axis=-2)
    # The blocks of an index out of bounds are out of bounds too.
    new = _jnp.broadcast_to(_jnp.tile(grid, (mat.nse, 1)), (*old.shape[:-1], len(moved)))
    b = mat.n_batch
    data = mat.data.reshape(*mat.data.shape[:b], mat.nse * n, *mat.data.shape[b + 1 + len(moved) :])
    return mat._with(data, _jnp.concatenate([old, new], -1), indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def _sparse_to_dense(mat, n_dense):
    """Each element becomes a block with one element; a block that several share is stored for each."""
    moved = n_dense - mat.n_dense
    if not moved:
        return mat
    kept = mat.n_sparse - moved
    sizes = mat._groups[1][kept:]

    def block(data, indices):
        place = lambda x, i: _scatter(x[None], i[None], sizes)  # noqa: E731
        inside = _is_inside(indices, mat._groups[1])
        ends = _jnp.asarray(mat._groups[1][:kept], indices.dtype)
        blocks = _vmap(place)(_only(inside, data), indices[:, kept:]) if len(data) else _jnp.zeros((0, *sizes, *data.shape[1:]), data.dtype)
        return blocks, _jnp.where(inside[:, None], indices[:, :kept], ends)

    return mat._with(*_over_batch(block, mat.n_batch)(*_whole(mat)))


def _sparse_to_batch(mat, n_batch):
    """Each element of the new batch stores what was stored of all, and its own alone has values."""
    for axis in range(mat.n_batch, n_batch):
        size, sizes = mat.shape[axis], mat._groups[1]

        def choose(data, indices, size=size, sizes=sizes):
            mine = (indices[:, 0] == _jnp.arange(size, dtype=indices.dtype)[:, None]) & _is_inside(indices, sizes)
            ends = _jnp.asarray(sizes[1:], indices.dtype)
            return _only(mine, _jnp.broadcast_to(data, (size, *data.shape))), _jnp.where(mine[..., None], indices[:, 1:], ends)

        mat = mat._with(*_over_batch(choose, mat.n_batch)(*_whole(mat)), unique_indices=False)
    return mat


# Products


def _dot_core(data, indices, dense, sizes, contracted):
    """Products of blocks with what a dense array, whose first axes are contracted, has for them, added by the free indices."""
    rest = dense.ndim - len(contracted)
    inside = _is_inside(indices, sizes)
    values = _take(dense, indices[:, _np.array(contracted, int)])
    free = [i for i in range(len(sizes)) if i not in contracted]
    if not free:
        return _jnp.tensordot(_only(inside, data), values, (0, 0))
    data, blocks = _only(inside, data), data.ndim - 1
    products = data.reshape(*data.shape, *(1,) * rest) * values.reshape(len(values), *(1,) * blocks, *values.shape[1:])
    return _scatter(products, indices[:, _np.array(free)], [sizes[i] for i in free])


def _sparse_dot_dense(mat, dense, dimension_numbers):
    """The general product of a sparse and a dense array; first batch, then free axes of both."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = [tuple(map(tuple, pair)) for pair in dimension_numbers]
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    if any(axis >= s for axis in lhs_contract):
        raise _user_error(NotImplementedError, "bcoo_dot_general: contracting over dense dimensions.")
    if any(axis >= b for axis in lhs_batch):
        raise _user_error(NotImplementedError, "bcoo_dot_general: batch dimensions of the product must be batch dimensions of the sparse array.")
    partner = dict(zip((*lhs_batch, *lhs_contract), (*rhs_batch, *rhs_contract)))
    sparse_pairs = [(left, partner[left]) for left in lhs_contract if left >= b]
    free_right = [axis for axis in range(dense.ndim) if axis not in partner.values()]
    # The dense array: axes that the sparse batch maps over, contracted ones, the others.
    mapped = [partner[axis] for axis in range(b) if axis in partner]
    dense = dense.transpose(*mapped, *(right for _, right in sparse_pairs), *free_right)
    run = _functools.partial(_dot_core, sizes=mat._groups[1], contracted=tuple(left - b for left, _ in sparse_pairs))
    for axis in reversed(range(b)):
        run = _vmap(run, in_axes=(0, 0, 0 if axis in partner else None))
    out = run(*_whole(mat), dense)
    summed = [axis for axis in range(b) if axis in lhs_contract]
    left = [axis for axis in range(b) if axis not in summed]
    out = out.sum(tuple(summed), dtype=out.dtype) if summed else out
    order = [left.index(axis) for axis in lhs_batch] + [i for i, axis in enumerate(left) if axis not in lhs_batch]
    return out.transpose(*order, *range(len(left), out.ndim))


def bcoo_dot_general(lhs, rhs, *, dimension_numbers, precision=None, preferred_element_type=None, out_sharding=None):
    """The general product of arrays of which at least one is sparse, as `lax.dot_general`.

    Args:
      lhs, rhs: arrays, `BCOO` or dense.
      dimension_numbers: `((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))`.
      precision, out_sharding: accepted for compatibility; without effect.
      preferred_element_type: the type of the result; by default that of the operands.
    Returns: an array; a `BCOO` if both are.
    Raises:
      TypeError: the axes do not fit, as `lax.dot_general`.
      NotImplementedError: axes of blocks are contracted, or batch axes of the product are none of the sparse array.
    Differentiable: yes, bilinear in data and dense arrays.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_dot_general(sparse.eye(2), jnp.array([3.0, 4.0]), dimension_numbers=(([1], [0]), ([], [])))
      Array([3., 4.], dtype=float32)
    """
    sparse_left, sparse_right = isinstance(lhs, BCOO), isinstance(rhs, BCOO)
    shapes = [_core_struct(x) for x in (lhs, rhs)]
    import pullback

    expected = pullback.eval_shape(
        lambda a, b: _lax.dot_general(a, b, dimension_numbers, preferred_element_type=preferred_element_type), *shapes
    )
    if sparse_left and sparse_right:
        from pullback.experimental.sparse.bcoo_products import sparse_dot_sparse

        out = sparse_dot_sparse(lhs, rhs, dimension_numbers)
        return out if out.dtype == expected.dtype else out.astype(expected.dtype)
    if sparse_left:
        out = _sparse_dot_dense(lhs, _jnp.asarray(rhs), dimension_numbers)
    elif sparse_right:
        (lc, rc), (lb, rb) = dimension_numbers
        out = _sparse_dot_dense(rhs, _jnp.asarray(lhs), ((rc, lc), (rb, lb)))
        n_batch, n_left = len(lb), lhs.ndim - len(lb) - len(lc)
        n_right = out.ndim - n_batch - n_left
        middle = n_batch + n_right
        out = out.transpose(*range(n_batch), *range(middle, out.ndim), *range(n_batch, middle))
    else:
        return _lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
    return out.astype(expected.dtype)


def _core_struct(x):
    from pullback import ShapeDtypeStruct

    return ShapeDtypeStruct(x.shape, x.dtype) if isinstance(x, BCOO) else ShapeDtypeStruct(_jnp.shape(x), _core.typeof(x).dtype)


def bcoo_dot_general_sampled(A, B, indices, *, dimension_numbers):
    """The elements of a general product of dense arrays at some indices.

    Args:
      A, B: arrays.
      indices: of shape `(*batch, nse, n_sparse)`, where the leading axes are those of the product.
      dimension_numbers: `((lhs_contract, rhs_contract), (lhs_batch, rhs_batch))`.
    Returns: data for a `BCOO` of these indices.
    Differentiable: yes, bilinear.
    Example:
      >>> from pullback.experimental import sparse
      >>> numbers = (([1], [0]), ([], []))
      >>> sparse.bcoo_dot_general_sampled(jnp.ones((2, 3)), jnp.ones((3, 2)), jnp.array([[0, 1]]), dimension_numbers=numbers)
      Array([3.], dtype=float32)
    """
    product = _lax.dot_general(A, B, dimension_numbers)
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    sizes = product.shape[n_batch : n_batch + n_sparse]
    indices = _jnp.broadcast_to(indices, (*product.shape[:n_batch], *indices.shape[n_batch:]))
    return _over_batch(lambda x, i: _only(_is_inside(i, sizes), _take(x, i)), n_batch)(product, indices)


def bcoo_multiply_dense(sp_mat, v):
    """The data of the product of a sparse and a dense array, element by element.

    Args:
      sp_mat: a `BCOO`.
      v: an array that broadcasts to its shape.
    Returns: data for a `BCOO` with the indices of `sp_mat`.
    Raises:
      NotImplementedError: the product is larger than `sp_mat`.
    Differentiable: yes, bilinear.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_multiply_dense(sparse.eye(2), jnp.array([3.0, 4.0]))
      Array([3., 4.], dtype=float32)
    """
    v = _jnp.asarray(v)
    if v.ndim == 0:
        return sp_mat.data * v
    if _np.broadcast_shapes(v.shape, sp_mat.shape) != sp_mat.shape:
        text = (
            "multiplication between sparse and dense is only implemented for cases where the output shape matches the sparse matrix "
            f"shape. Got spmat.shape={sp_mat.shape}, v.shape={v.shape}"
        )
        raise _user_error(NotImplementedError, text)
    v = v.reshape((1,) * (sp_mat.ndim - v.ndim) + v.shape)
    data, indices = _whole(sp_mat)
    b, s = sp_mat.n_batch, sp_mat.n_batch + sp_mat.n_sparse
    v = _jnp.broadcast_to(v, (*sp_mat.shape[:b], *v.shape[b:]))
    # Axes of size 1 need no index.
    real = [i for i in range(sp_mat.n_sparse) if v.shape[b + i] != 1]
    v = v.reshape(*v.shape[:b], *(v.shape[b + i] for i in real), *v.shape[s:])
    return _over_batch(lambda d, i, x: d * _take(x, i[:, _np.array(real, int)]), b)(data, indices, v)


# Under `vmap`


def _to_element(element_of, size, mat, axis):
    if not -mat.ndim <= axis < mat.ndim or axis % mat.ndim >= mat.n_batch:
        text = (
            f"Cannot map in_axis={axis} for {type(mat).__name__} array with n_batch={mat.n_batch}. in_axes for batched "
            f"{type(mat).__name__} operations must correspond to a batched dimension."
        )
        raise _user_error(ValueError, text)
    axis %= mat.ndim
    batch, info = mat.shape[: mat.n_batch], dict(mat.tree_flatten()[1])
    buffers = [_jnp.broadcast_to(x, (*batch, *x.shape[mat.n_batch :])) for x in mat._bufs]
    info["shape"] = (*mat.shape[:axis], *mat.shape[axis + 1 :])
    return type(mat).tree_unflatten(info, [element_of(size, x, axis) for x in buffers])


def _from_element(batch_of, size, mat, axis):
    if axis > mat.n_batch:
        text = f"{type(mat).__name__}: cannot add out_axis={axis} for array with n_batch={mat.n_batch}."
        raise _user_error(ValueError, f"{text} Mapped axes must be in the batch dimensions.")
    info = dict(mat.tree_flatten()[1])
    info["shape"] = (*mat.shape[:axis], size, *mat.shape[axis:])
    return type(mat).tree_unflatten(info, [batch_of(size, x, axis) for x in mat._bufs])


_register_vmappable(BCOO, int, int, _to_element, _from_element, None)
