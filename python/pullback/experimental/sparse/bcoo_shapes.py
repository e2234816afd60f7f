"""Parts, reductions and other shapes of `BCOO`."""

import math as _math
import operator as _operator

import numpy as _np

from pullback import numpy as _jnp
from pullback._core import user_error as _user_error
from pullback.experimental.sparse.bcoo import BCOO, _is_inside, _only, _over_batch, _whole, bcoo_sum_duplicates


def _axes(axes, ndim):
    axes = (axes,) if isinstance(axes, int) else tuple(map(_operator.index, axes))
    if any(not -ndim <= axis < ndim for axis in axes) or len({axis % ndim for axis in axes}) != len(axes):
        raise _user_error(ValueError, f"invalid axes {axes} for an array of {ndim} dimensions")
    return tuple(sorted(axis % ndim for axis in axes))


def _cleared(mat):
    """Data and indices, in full size, where what is out of bounds is zero."""
    data, indices = _whole(mat)
    sizes = mat._groups[1]
    return _over_batch(lambda d, i: _only(_is_inside(i, sizes), d), mat.n_batch)(data, indices), indices


def bcoo_reduce_sum(mat, *, axes):
    """The sum over axes.

    Args:
      mat: a `BCOO`.
      axes: the axes.
    Returns: a `BCOO` without them.
    Raises:
      ValueError: the axes are none of the array.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_reduce_sum(sparse.eye(2), axes=(0,)).todense()
      Array([1., 1.], dtype=float32)
    """
    axes = _axes(axes, mat.ndim)
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = _cleared(mat)
    data = data.sum(tuple(axis - s + b + 1 for axis in axes if axis >= s), dtype=data.dtype)
    indices = indices[..., _np.array([i for i in range(mat.n_sparse) if b + i not in axes], int)]
    # What a batch axis tells apart lies side by side.
    for axis in reversed([axis for axis in axes if axis < b]):
        n_left = indices.ndim - 2
        data, indices = (_jnp.moveaxis(x, axis, n_left - 1) for x in (data, indices))
        merge = lambda x, n=n_left: x.reshape(*x.shape[: n - 1], x.shape[n - 1] * x.shape[n], *x.shape[n + 1 :])  # noqa: E731
        data, indices = merge(data), merge(indices)
    shape = [size for axis, size in enumerate(mat.shape) if axis not in axes]
    return BCOO((data, indices), shape=shape)


def bcoo_slice(mat, *, start_indices, limit_indices, strides=None):
    """A part of the array, as `lax.slice`.

    Args:
      mat: a `BCOO`.
      start_indices, limit_indices, strides: one for each axis; strides are 1 by default.
    Returns: a `BCOO`.
    Raises:
      ValueError: the limits are not those of a part.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_slice(sparse.eye(3), start_indices=(1, 0), limit_indices=(3, 2)).todense().tolist()
      [[0.0, 1.0], [0.0, 0.0]]
    """
    starts, limits = (tuple(map(_operator.index, x)) for x in (start_indices, limit_indices))
    strides = (1,) * mat.ndim if strides is None else tuple(map(_operator.index, strides))
    if not len(starts) == len(limits) == len(strides) == mat.ndim:
        raise _user_error(ValueError, f"bcoo_slice: indices must have size mat.ndim={mat.ndim}")
    if not all(0 <= a <= z <= n and s > 0 for a, z, s, n in zip(starts, limits, strides, mat.shape)):
        raise _user_error(ValueError, f"bcoo_slice: invalid indices: start={starts}, limit={limits}, strides={strides}, shape={mat.shape}")
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    cuts = [slice(*cut) for cut in zip(starts, limits, strides)]
    data, indices = _whole(mat)
    data, indices = data[(*cuts[:b], slice(None), *cuts[s:])], indices[tuple(cuts[:b])]
    shape = tuple(max(0, -(-(z - a) // step)) for a, z, step in zip(starts, limits, strides))
    return _shifted(mat, data, indices, shape, starts[b:s], limits[b:s], strides[b:s])


def _shifted(mat, data, indices, shape, starts, limits, strides):
    """The array of a window over the indexed axes."""
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    sizes, old = shape[b:s], mat._groups[1]
    row = lambda x: _jnp.stack([_jnp.asarray(i, indices.dtype) for i in x]) if len(x) else _jnp.zeros(0, indices.dtype)  # noqa: E731
    first, last, step = row(starts), row(limits), row(strides)

    def shift(data, indices):
        kept = _jnp.all((indices >= first) & (indices < last) & ((indices - first) % step == 0), -1) & _is_inside(indices, old)
        return _only(kept, data), _jnp.where(kept[:, None], (indices - first) // step, _jnp.asarray(sizes, indices.dtype))

    out = BCOO(_over_batch(shift, b)(data, indices), shape=shape, unique_indices=mat.unique_indices)
    room = _math.prod(sizes)
    return bcoo_sum_duplicates(out, nse=room) if out.nse > room and sizes != old else out


def bcoo_dynamic_slice(mat, start_indices, slice_sizes):
    """A part of the array of fixed size, as `lax.dynamic_slice`: moved inside if it begins elsewhere.

    Args:
      mat: a `BCOO`.
      start_indices: where the part begins, an integer scalar for each axis.
      slice_sizes: its sizes.
    Returns: a `BCOO`.
    Raises:
      ValueError: there are not as many indices and sizes as axes, or a size is greater than the axis.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_dynamic_slice(sparse.eye(3), (2, 1), (2, 2)).todense().tolist()
      [[1.0, 0.0], [0.0, 1.0]]
    """
    from pullback import lax

    sizes = tuple(map(_operator.index, slice_sizes))
    if not len(start_indices) == len(sizes) == mat.ndim:
        raise _user_error(ValueError, f"bcoo_dynamic_slice: indices must have size mat.ndim={mat.ndim}")
    if any(not 0 <= size <= whole for size, whole in zip(sizes, mat.shape)):
        raise _user_error(TypeError, f"slice_sizes must be less than or equal to operand shape: got {sizes} for shape {mat.shape}")
    starts = [_jnp.where(_jnp.asarray(i) < 0, i + n, i) for i, n in zip(start_indices, mat.shape)]
    starts = [_jnp.clip(i, 0, n - size) for i, n, size in zip(starts, mat.shape, sizes)]
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = _whole(mat)
    zero = lambda like: _jnp.zeros_like(like)  # noqa: E731
    like = starts[0] if starts else 0
    data = lax.dynamic_slice(data, [*starts[:b], zero(like), *starts[s:]], [*sizes[:b], mat.nse, *sizes[s:]])
    indices = lax.dynamic_slice(indices, [*starts[:b], zero(like), zero(like)], [*sizes[:b], *indices.shape[b:]])
    ends = [i + size for i, size in zip(starts, sizes)]
    return _shifted(mat, data, indices, sizes, starts[b:s], ends[b:s], (1,) * (s - b))


def bcoo_squeeze(arr, *, dimensions):
    """The array without axes of size 1.

    Args:
      arr: a `BCOO`.
      dimensions: the axes.
    Returns: a `BCOO`.
    Raises:
      ValueError: an axis has another size.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_squeeze(sparse.eye(1, 3), dimensions=(0,)).shape
      (3,)
    """
    dimensions = _axes(dimensions, arr.ndim)
    if any(arr.shape[axis] != 1 for axis in dimensions):
        raise _user_error(ValueError, f"cannot select an axis to squeeze out which has size not equal to one, got shape={arr.shape} and {dimensions=}")
    return bcoo_reduce_sum(arr, axes=dimensions) if dimensions else arr


def bcoo_broadcast_in_dim(mat, *, shape, broadcast_dimensions, sharding=None):
    """The array with further axes, and axes of size 1 repeated.

    Args:
      mat: a `BCOO`.
      shape: the new shape.
      broadcast_dimensions: for each axis, where it is in the new shape; ascending.
      sharding: accepted for compatibility; without effect.
    Returns: a `BCOO`.
    Raises:
      ValueError: the axes do not fit.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_broadcast_in_dim(sparse.eye(2), shape=(3, 2, 2), broadcast_dimensions=(1, 2))
      BCOO(float32[3, 2, 2], nse=2, n_batch=1)
    """
    shape, places = tuple(map(_operator.index, shape)), tuple(map(_operator.index, broadcast_dimensions))
    if len(places) != mat.ndim or list(places) != sorted(set(places)) or any(
        size not in (1, shape[place]) for size, place in zip(mat.shape, places)
    ):
        raise _user_error(ValueError, f"cannot broadcast shape {mat.shape} to {shape} along {places}")
    n, s = mat.n_batch, mat.n_batch + mat.n_sparse
    # What is new in front of all indexed axes is a batch, which stores each element once.
    n_batch = places[n] if s > n else 1 + max(places[:n], default=-1)
    n_dense = len(shape) - min(places[s:]) if mat.n_dense else 0
    end = len(shape) - n_dense
    data, indices = mat.data, mat.indices
    spread = lambda x, sizes, at, tail: _jnp.broadcast_to(  # noqa: E731
        x.reshape(*(x.shape[at.index(i)] if i in at else 1 for i in range(len(sizes))), *x.shape[len(at) :]), (*sizes, *tail(x))
    )
    data = spread(data, shape[:n_batch], places[:n], lambda x: x.shape[n:])
    indices = spread(indices, shape[:n_batch], places[:n], lambda x: x.shape[n:])
    blocks = [1] * n_dense
    for axis, place in enumerate(places[s:]):
        blocks[place - end] = mat.shape[s + axis]
    lead = data.shape[: n_batch + 1]
    data = _jnp.broadcast_to(data.reshape(*lead, *blocks), (*lead, *shape[end:]))
    columns, repeats = [], 1
    for axis in range(n_batch, end):
        at = places.index(axis) if axis in places else None
        column = indices[..., at - n] if at is not None else _jnp.zeros(indices.shape[:-1], indices.dtype)
        size = 1 if at is None else mat.shape[at]
        # An index out of bounds of an axis that grows has to stay so.
        column = _jnp.where(column >= size, shape[axis], column)
        if size != shape[axis]:
            repeats *= shape[axis]
            columns.append((column, shape[axis]))
        else:
            columns.append((column, None))
    data, indices = _repeated(data, columns, repeats, n_batch, indices.dtype)
    return BCOO((data, indices), shape=shape, unique_indices=mat.unique_indices)


def _repeated(data, columns, repeats, n_batch, dtype):
    """Each element once for every index of the axes that grow."""
    if repeats == 1 and not any(grown for _, grown in columns):
        indices = _jnp.stack([column for column, _ in columns], -1) if columns else _jnp.zeros((*data.shape[: n_batch + 1], 0), dtype)
        return data, indices
    grown = [size for _, size in columns if size is not None]
    grid = iter([x.ravel() for x in _jnp.indices(grown, dtype=dtype)])
    nse = data.shape[n_batch]
    whole = []
    for column, size in columns:
        old = _jnp.repeat(column, repeats, axis=-1)
        new = None if size is None else _jnp.tile(next(grid), nse)
        whole.append(old if new is None else _jnp.where(old >= size, old, new))
    return _jnp.repeat(data, repeats, axis=n_batch), _jnp.stack([_jnp.broadcast_to(x, whole[0].shape) for x in whole], -1)


def bcoo_reshape(mat, *, new_sizes, dimensions=None, sharding=None):
    """The array with its elements in another shape, each group of axes by itself.

    Args:
      mat: a `BCOO`.
      new_sizes: the new shape.
      dimensions: must be None.
      sharding: accepted for compatibility; without effect.
    Returns: a `BCOO`.
    Raises:
      TypeError: the sizes differ.
      NotImplementedError: groups of axes mix, or `dimensions` is given.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_reshape(sparse.eye(2), new_sizes=(4,)).todense()
      Array([1., 0., 0., 1.], dtype=float32)
    """
    new_sizes = tuple(map(_operator.index, new_sizes))
    if dimensions is not None and tuple(dimensions) != tuple(range(mat.ndim)):
        raise _user_error(NotImplementedError, "bcoo_reshape with dimensions; transpose first")
    if _math.prod(new_sizes) != mat.size:
        raise _user_error(TypeError, f"cannot reshape array of shape {mat.shape} (size {mat.size}) into shape {new_sizes}")
    batch, sparse, dense = _parted(mat, new_sizes)
    data, indices = _whole(mat)
    old, b = mat._groups[1], mat.n_batch

    def renumber(indices):
        inside = _is_inside(indices, old)
        flat = sum(indices[:, i] * _math.prod(old[i + 1 :]) for i in range(len(old))) if old else _jnp.zeros(len(indices), indices.dtype)
        columns = [flat // _math.prod(sparse[i + 1 :]) % size for i, size in enumerate(sparse)]
        new = _jnp.stack(columns, -1) if columns else _jnp.zeros((len(indices), 0), indices.dtype)
        return _jnp.where(inside[:, None], new.astype(indices.dtype), _jnp.asarray(sparse, indices.dtype))

    indices = _over_batch(renumber, b)(indices)
    data = _cleared(mat)[0].reshape(*batch, mat.nse, *dense)
    indices = indices.reshape(*batch, mat.nse, len(sparse))
    return BCOO((data, indices), shape=new_sizes, indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def _parted(mat, new_sizes):
    """The new sizes of batch, sparse and dense axes."""
    def first(sizes, total, is_any):
        count, product = 0, 1
        while count < len(sizes) and (product != total or not is_any and sizes[count] == 1 and count == 0):
            product *= sizes[count]
            count += 1
        if product != total:
            text = f"reshape of a BCOO of shape {mat.shape} to {new_sizes} that mixes batch, sparse and dense axes"
            raise _user_error(NotImplementedError, text)
        return count

    groups = mat._groups
    b = first(new_sizes, _math.prod(groups[0]), True) if groups[0] else 0
    rest = new_sizes[b:]
    if not groups[2]:
        return new_sizes[:b], rest, ()
    d = first(rest[::-1], _math.prod(groups[2]), True)
    return new_sizes[:b], rest[: len(rest) - d], rest[len(rest) - d :]


def bcoo_concatenate(operands, *, dimension):
    """Arrays one after the other along an axis.

    Args:
      operands: `BCOO` with the same groups of axes.
      dimension: the axis.
    Returns: a `BCOO`.
    Raises:
      ValueError: shapes or groups differ.
      NotImplementedError: the axis is one of blocks.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_concatenate([sparse.eye(2), sparse.eye(2)], dimension=0).shape
      (4, 2)
    """
    operands, dimension = list(operands), _operator.index(dimension)
    first = operands[0]
    if any((x.n_batch, x.n_dense, x.ndim) != (first.n_batch, first.n_dense, first.ndim) for x in operands):
        raise _user_error(ValueError, f"bcoo_concatenate requires operands with the same number of batch, sparse and dense axes, got {operands}")
    cut = lambda x: (*x.shape[:dimension], *x.shape[dimension + 1 :])  # noqa: E731
    if not 0 <= dimension < first.ndim or any(cut(x) != cut(first) for x in operands):
        raise _user_error(ValueError, f"shapes {[x.shape for x in operands]} do not fit along axis {dimension}")
    b, s = first.n_batch, first.n_batch + first.n_sparse
    if dimension >= s:
        raise _user_error(NotImplementedError, "bcoo_concatenate along a dense axis")
    shape = list(first.shape)
    shape[dimension] = sum(x.shape[dimension] for x in operands)
    if dimension < b:
        nse = max(x.nse for x in operands)
        parts = [_padded(x, nse) for x in operands]
        data, indices = (_jnp.concatenate(part, dimension) for part in zip(*parts))
        return BCOO((data, indices), shape=shape)
    offset, parts = 0, []
    for x in operands:
        data, indices = _whole(x)
        column = dimension - b
        inside = _over_batch(lambda i, sizes=x._groups[1]: _is_inside(i, sizes), b)(indices)
        ends = _jnp.asarray(shape[b:s], indices.dtype)
        moved = indices.at[..., column].add(offset)
        parts.append((data, _jnp.where(inside[..., None], moved, ends)))
        offset += x.shape[dimension]
    data, indices = (_jnp.concatenate(part, b) for part in zip(*parts))
    return BCOO((data, indices), shape=shape, unique_indices=all(x.unique_indices for x in operands))


def _padded(mat, nse):
    """Data and indices with room for `nse` elements."""
    data, indices = _whole(mat)
    b, more = mat.n_batch, nse - mat.nse
    fill = _jnp.broadcast_to(_jnp.asarray(mat._groups[1], indices.dtype), (*indices.shape[:b], more, mat.n_sparse))
    zeros = _jnp.zeros((*data.shape[:b], more, *data.shape[b + 1 :]), data.dtype)
    return _jnp.concatenate([data, zeros], b), _jnp.concatenate([indices, fill], b)


def bcoo_rev(operand, dimensions):
    """The array with its elements along axes in reverse.

    Args:
      operand: a `BCOO`.
      dimensions: the axes.
    Returns: a `BCOO`.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.bcoo_rev(sparse.eye(2), (0,)).todense().tolist()
      [[0.0, 1.0], [1.0, 0.0]]
    """
    dimensions = _axes(dimensions, operand.ndim)
    b, s = operand.n_batch, operand.n_batch + operand.n_sparse
    data, indices = _whole(operand)
    sizes = operand._groups[1]
    batch = tuple(axis for axis in dimensions if axis < b)
    data = _jnp.flip(data, (*batch, *(axis - s + b + 1 for axis in dimensions if axis >= s)))
    indices = _jnp.flip(indices, batch) if batch else indices
    turned = _np.array([b + i in dimensions for i in range(len(sizes))], bool)

    def turn(indices):
        last = _jnp.asarray(sizes, indices.dtype) - 1
        return _jnp.where(_is_inside(indices, sizes)[:, None] & turned, last - indices, indices)

    return BCOO((data, _over_batch(turn, b)(indices)), shape=operand.shape, unique_indices=operand.unique_indices)
