"""Arrays with elements replaced, inserted or left out. All give new arrays: `inplace` must be false where it exists."""

import operator as _operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.numpy._vectorize import _axis

_n = _core.numpy

__all__ = ["delete", "fill_diagonal", "insert", "place", "put", "put_along_axis", "trim_zeros"]


def _check_inplace(name, inplace):
    if inplace:
        raise _user_error(
            ValueError,
            f"jax.numpy.{name} cannot modify arrays in-place, because JAX arrays are immutable. Pass inplace=False to "
            "instead return an updated array."
        )


def delete(arr, obj, axis=None, *, assume_unique_indices=False):
    """The array without some slices along an axis.

    Args:
      arr: an array.
      obj: which slices: an integer, which may be traced, a slice, a concrete mask, or integers: concrete, or traced
        with `assume_unique_indices`.
      axis: the axis; None (the default) takes the flat array.
      assume_unique_indices: a promise that no index occurs twice, so that the size of the result is known.
    Returns: an array of the dtype of `arr`, shorter along the axis.
    Raises:
      ValueError: an integer or the axis is out of bounds, or a mask of another length.
      TypeError: indices that are no integers, or `arr` is no array.
      ConcretizationTypeError: traced indices without `assume_unique_indices`.
    Differentiable: yes, in both modes, with respect to `arr`.
    Example:
      >>> print(jnp.delete(jnp.array([5, 6, 7]), 1))
      [5 7]
    """
    (arr,) = _n._promote("delete", arr)
    if axis is None:
        arr, axis = _n.ravel(arr), 0
    axis = _axis(axis, arr.ndim)
    size = arr.shape[axis]
    if hasattr(obj, "__jax_array__"):
        obj = _n.asarray(obj)
    if isinstance(obj, slice):
        kept = _np.delete(_np.arange(size), obj)
        return _n.take(arr, kept, axis=axis)
    if _n.ndim(obj) == 0:
        return _without_one(arr, obj, axis, size)
    if assume_unique_indices and not _n.result_type(obj) == bool:
        return _without_unique(arr, _n.asarray(obj), axis, size)
    places = _concrete("delete", obj)
    if places.dtype.kind not in "biu" and places.size:
        raise _user_error(TypeError, "obj must be a boolean or integer array")
    if places.dtype == bool and places.shape != (size,):
        raise _user_error(ValueError, "np.delete(arr, obj): for boolean indices, obj must be one-dimensional with length matching specified axis.")
    return _n.take(arr, _np.delete(_np.arange(size), places if places.size else places.astype(int)), axis=axis)


def _concrete(name, obj):
    from pullback.core import concrete_or_error

    return concrete_or_error(_np.asarray, obj, f"the array argument of jnp.{name}, which decides about the size of the result")


def _without_one(arr, obj, axis, size):
    if _core.is_concrete(obj):
        place = _operator.index(obj)
        if not -size <= place < size:
            raise _user_error(ValueError, f"axis {place} is out of bounds for array of dimension {size}")
        if not _n.shape(obj) and not isinstance(obj, _core.Array):
            return _n.delete(arr, place, axis=axis)
    place = _n.asarray(obj)
    place = _n.where(place < 0, place + size, place)
    kept = _n.arange(size - 1)
    return _n.take(arr, kept + (kept >= place), axis=axis)


def _without_unique(arr, places, axis, size):
    places = _n.ravel(_n.where(places < 0, places + size, places))
    is_gone = _n.zeros(size, bool).at[places].set(True)
    # The kept ones first, in their order.
    order = _n.argsort(is_gone)
    return _n.take(arr, order[: size - places.shape[0]], axis=axis)


def insert(arr, obj, values, axis=None):
    """The array with slices inserted before given positions along an axis.

    Args:
      arr: an array.
      obj: where: an integer, integers or a slice; positions of `arr`, brought into its bounds.
      values: what; broadcast and converted to the dtype of `arr`.
      axis: the axis; None (the default) takes the flat array.
    Returns: an array of the dtype of `arr`, longer along the axis.
    Raises:
      ValueError: the axis is out of bounds, `obj` has several axes, or shapes do not broadcast.
      TypeError: positions that are no integers.
    Differentiable: yes, in both modes, with respect to `arr` and `values`.
    Example:
      >>> print(jnp.insert(jnp.array([5, 7]), 1, 6))
      [5 6 7]
    """
    arr, values = _n.asarray(arr), _n.asarray(values)
    if axis is None:
        arr, axis = _n.ravel(arr), 0
    axis = _axis(axis, arr.ndim)
    size = arr.shape[axis]
    if isinstance(obj, slice):
        places = _n.arange(*obj.indices(size))
    else:
        places = _n.asarray(obj)
    if places.ndim > 1:
        raise _user_error(ValueError, f"jnp.insert(): obj must be a slice, a one-dimensional array, or a scalar; got {obj}")
    if places.dtype.kind not in "iu":
        if places.size == 0:
            places = places.astype(_np.int32)
        else:
            raise _user_error(TypeError, f"jnp.insert(): obj must be of integer type, got {places.dtype}")
    is_one = places.ndim == 0
    values = _n.reshape(values, (1,) * max(arr.ndim - values.ndim, 0) + values.shape)
    if is_one:
        values = _n.moveaxis(values, 0, axis)
    places = _n.ravel(places)
    n = values.shape[axis] if is_one or places.shape[0] == 1 else places.shape[0]
    places = _n.clip(_n.where(places < 0, places + size, places), 0, size)
    places = _n.broadcast_to(places, (n,))
    shape = list(arr.shape)
    shape[axis] = n
    values = _n.broadcast_to(values, shape).astype(arr.dtype)
    order = _n.argsort(places)
    at = places[order] + _n.arange(n, dtype=places.dtype)
    is_new = _n.zeros(size + n, bool).at[at].set(True)
    old = _n.cumsum(~is_new) - 1
    source = _n.where(is_new, 0, old).at[at].set(size + order)
    return _n.take(_n.concatenate([arr, values], axis=axis), source, axis=axis)


def place(arr, mask, vals, *, inplace=True):
    """The array with the elements where a mask holds replaced by values in turn; a new array.

    Args:
      arr: an array.
      mask: booleans, as many as `arr` has elements.
      vals: values, repeated as often as is needed.
      inplace: must be given as False: arrays are immutable.
    Returns: an array of the shape and dtype of `arr`.
    Raises:
      ValueError: `inplace` is true, sizes differ, or there are no values.
      TypeError: lists or tuples.
    Differentiable: yes, in both modes, with respect to `arr` and `vals`.
    Example:
      >>> x = jnp.arange(4)
      >>> print(jnp.place(x, x % 2 == 0, jnp.array([8, 9]), inplace=False))
      [8 1 9 3]
    """
    _check_inplace("place", inplace)
    for i, x in enumerate((arr, mask, vals)):
        if isinstance(x, (list, tuple)):
            raise _user_error(TypeError, f"place requires ndarray or scalar arguments, got {type(x)} at position {i}.")
    arr, mask, vals = _n.asarray(arr), _n.asarray(mask), _n.ravel(_n.asarray(vals))
    if arr.size != mask.size:
        raise _user_error(ValueError, "place: arr and mask must be the same size")
    if not vals.size:
        raise _user_error(ValueError, "Cannot place values from an empty array")
    if not arr.size:
        return arr
    mask = _n.ravel(mask.astype(bool))
    turn = (_n.cumsum(mask) - 1) % vals.size
    return _n.where(mask, vals[turn].astype(arr.dtype), _n.ravel(arr)).reshape(arr.shape)


def put(a, ind, v, mode=None, *, inplace=True):
    """The array with the elements at positions of the flat array replaced; a new array.

    Args:
      a: an array.
      ind: integers.
      v: values, repeated as often as is needed.
      mode: what positions out of bounds do: None (the default) and 'clip' take the nearest, None after counting
        negative ones from the end; 'wrap' takes them modulo the size.
      inplace: must be given as False: arrays are immutable.
    Returns: an array of the shape and dtype of `a`.
    Raises:
      ValueError: `inplace` is true, or another `mode`.
      NotImplementedError: `mode='raise'`.
    Differentiable: yes, in both modes, with respect to `a` and `v`.
    Example:
      >>> print(jnp.put(jnp.zeros(3), jnp.array([0, 2]), jnp.array([1.0, 2.0]), inplace=False))
      [1. 0. 2.]
    """
    _check_inplace("put", inplace)
    a, ind, v = _n.asarray(a), _n.ravel(_n.asarray(ind)), _n.ravel(_n.asarray(v))
    if not a.size or not ind.size or not v.size:
        return a
    v = v[_n.arange(ind.shape[0]) % v.shape[0]]
    if mode is None:
        ind = _n.clip(_n.where(ind < 0, ind + a.size, ind), 0, a.size - 1)
    elif mode == "clip":
        ind = _n.clip(ind, 0, a.size - 1)
    elif mode == "wrap":
        ind = ind % a.size
    elif mode == "raise":
        raise _user_error(NotImplementedError, "The 'raise' mode to jnp.put is not supported.")
    else:
        raise _user_error(ValueError, f"mode should be one of 'wrap' or 'clip'; got mode={mode!r}")
    return _n.ravel(a).at[ind].set(v).reshape(a.shape)


def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """The array with values at indices along an axis; a new array. The counterpart of `take_along_axis`.

    Args:
      arr: an array.
      indices: integers with as many axes as `arr`.
      values: what is put there; broadcasts to the indices.
      axis: the axis; None takes the flat array.
      inplace: must be given as False: arrays are immutable.
      mode: what happens to indices out of bounds, as for `jnp.ndarray.at`; they are left out by default.
    Returns: an array of the shape and dtype of `arr`.
    Raises:
      ValueError: `inplace` is true, the axis is out of bounds, or shapes do not go together.
    Differentiable: yes, in both modes, with respect to `arr` and `values`.
    Example:
      >>> print(jnp.put_along_axis(jnp.zeros((2, 2), int), jnp.array([[1], [0]]), 9, axis=1, inplace=False))
      [[0 9]
       [9 0]]
    """
    _check_inplace("put_along_axis", inplace)
    arr = _n.asarray(arr)
    shape = arr.shape
    if axis is None:
        arr, axis = _n.ravel(arr), 0
    axis = _axis(axis, arr.ndim)
    places = [_n.reshape(_n.arange(size), [-1 if i == j else 1 for j in range(arr.ndim)]) for i, size in enumerate(arr.shape)]
    places[axis] = indices
    return _n.reshape(arr.at[tuple(places)].set(values, mode=mode), shape)


def fill_diagonal(a, val, wrap=False, *, inplace=True):
    """The array with a value, or values in turn, on its main diagonal; a new array.

    Args:
      a: an array of at least two axes; of more only if they are of equal size.
      val: a number, or an array whose elements are taken in turn.
      wrap: for compatibility; must be False.
      inplace: must be given as False: arrays are immutable.
    Returns: an array of the shape and dtype of `a`.
    Raises:
      ValueError: too few axes, or unequal ones.
      NotImplementedError: `wrap` or `inplace` is true.
    Differentiable: yes, in both modes, with respect to `a` and `val`.
    Example:
      >>> print(jnp.fill_diagonal(jnp.zeros((2, 2), int), jnp.array([7, 8]), inplace=False))
      [[7 0]
       [0 8]]
    """
    if inplace:
        raise _user_error(NotImplementedError, "JAX arrays are immutable, must use inplace=False")
    if wrap:
        raise _user_error(NotImplementedError, "wrap=True is not implemented, must use wrap=False")
    a, val = _n.asarray(a), _n.asarray(val)
    if a.ndim < 2:
        raise _user_error(ValueError, "array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise _user_error(ValueError, "All dimensions of input must be of equal length")
    size = min(a.shape)
    places = (_n.arange(size),) * a.ndim
    return a.at[places].set(val if val.ndim == 0 else _n.ravel(val)[_n.arange(size) % max(val.size, 1)])


def trim_zeros(filt, trim="fb", axis=None):
    """The array without the zeros around its nonzero elements.

    Args:
      filt: a concrete array.
      trim: 'f' for the front, 'b' for the back, 'fb' (the default) for both.
      axis: the axis or axes to cut; None (the default) for all.
    Returns: an array of the dtype of `filt`.
    Raises:
      ConcretizationTypeError: a traced array: the size of the result depends on its values.
      ValueError: an axis is out of bounds.
    Differentiable: outside of transformations only; the values must be concrete.
    Example:
      >>> print(jnp.trim_zeros(jnp.array([0, 1, 0, 2, 0])))
      [1 0 2]
    """
    filt = _n.asarray(filt)
    if not filt.ndim:
        return filt
    axes = range(filt.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = [_axis(a, filt.ndim) for a in axes]
    nonzero = _np.nonzero(_concrete("trim_zeros", filt))
    is_empty = not nonzero or not nonzero[0].size
    cut = [slice(None)] * filt.ndim
    for a in axes:
        first = 0 if is_empty or "f" not in trim.lower() else int(nonzero[a].min())
        last = filt.shape[a] if "b" not in trim.lower() else 0 if is_empty else int(nonzero[a].max()) + 1
        cut[a] = slice(filt.shape[a], None) if is_empty and "f" in trim.lower() else slice(first, last)
    return filt[tuple(cut)]


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
