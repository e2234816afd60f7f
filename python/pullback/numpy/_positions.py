"""Positions in the flat array from coordinates, and coordinates from positions."""

import math as _math
import operator as _operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["ravel_multi_index", "unravel_index"]


def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None):
    """The positions in the flat array of coordinates.

    Args:
      multi_index: a sequence of integer arrays that broadcast, one for each axis.
      dims: the sizes of the axes.
      mode: what coordinates out of bounds do: 'raise' (the default; concrete ones only) raises, 'clip' takes the
        nearest, 'wrap' the coordinate modulo the size, 'ignore' counts with them as they are.
      order: 'C' (the default) if the last axis varies fastest, 'F' if the first does.
      dtype: the dtype of the result; that of the coordinates by default.
    Returns: integers of the broadcast shape.
    Raises:
      ValueError: another number of coordinates, coordinates out of bounds in mode 'raise', another mode or order.
      TracerBoolConversionError: traced coordinates in mode 'raise'.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.ravel_multi_index((jnp.array([0, 1]), jnp.array([2, 1])), (2, 3)))
      [2 4]
    """
    dims = tuple(map(_operator.index, dims))
    index = [_n.asarray(i) for i in multi_index]
    dtype = _flat_dtype(dtype, index, dims)
    if len(index) != len(dims):
        raise _user_error(ValueError, f"len(multi_index)={len(index)} != len(dims)={len(dims)}")
    if mode == "raise":
        for i, size in zip(index, dims):
            if bool(_n.any((i < 0) | (i >= size))):
                raise _user_error(ValueError, "invalid entry in coordinates array")
    elif mode == "clip":
        index = [_n.clip(i, 0, size - 1) for i, size in zip(index, dims)]
    elif mode == "wrap":
        index = [i % size for i, size in zip(index, dims)]
    elif mode != "ignore":
        raise _user_error(ValueError, f"invalid mode={mode!r}. Expected 'raise', 'wrap', 'clip' or 'ignore'")
    if order not in ("C", "F"):
        raise _user_error(ValueError, f"invalid order={order!r}. Expected 'C' or 'F'")
    strides = _np.cumprod((1, *dims[:0:-1]))[::-1] if order == "C" else _np.cumprod((1, *dims[:-1]))
    total = 0
    for i, stride in zip(index, strides):
        total = total + i.astype(dtype) * _np.array(stride, dtype)
    return _n.asarray(total, dtype=dtype)


def _flat_dtype(dtype, index, dims):
    """The dtype of flat positions, which holds the greatest."""
    dtype = _np.dtype(_n.result_type(*index) if dtype is None and index else dtype or int)
    if dtype.kind not in "iu":
        raise _user_error(ValueError, f"{dtype=} is not an integer type.")
    if _math.prod(dims) - 1 > _np.iinfo(dtype).max:
        raise _user_error(
            ValueError, f"jnp.ravel_multi_index: {dtype=} not large enough to hold flattened index for {dims=}. Use the dtype argument to "
            "pass a suitable dtype (e.g. dtype='int32')."
        )
    return dtype


def unravel_index(indices, shape):
    """The coordinates of positions in the flat array; the inverse of `ravel_multi_index`.
    Negative positions count from the end; others out of bounds are brought to the nearest.

    Args:
      indices: integers.
      shape: the sizes of the axes: an integer or a tuple.
    Returns: a tuple with an integer array of the shape of `indices` for each axis.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.unravel_index(jnp.array([2, 4]), (2, 3))
      >>> print(rows, columns)
      [0 1] [2 1]
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    flat = _n.asarray(indices)
    dtype, total = flat.dtype, _math.prod(shape)
    if dtype.kind == "u":
        flat = _n.minimum(flat, _np.array(min(total - 1, _np.iinfo(dtype).max), dtype))
    if dtype.kind == "u" or dtype.itemsize < 4:
        # Sizes need not fit into narrow or unsigned positions.
        flat = flat.astype(_core.as_dtype(int))
    flat = _n.clip(flat, -total, total - 1)
    flat = _n.where(flat < 0, flat + total, flat)
    out = []
    for size in reversed(shape):
        place, flat = flat % size, flat // size
        out.append(place if place.dtype == dtype else place.astype(dtype))
    return tuple(reversed(out))


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
