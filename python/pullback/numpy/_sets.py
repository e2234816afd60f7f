"""Arrays as sets: distinct elements, unions, intersections and differences.

All of them sort once and mark the first of each run of equal elements. Without `size` the number of results depends on
the values, so arrays must be concrete; with it they work under `jit`.
"""

from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.numpy._vectorize import _axis

_n = _core.numpy

__all__ = [
    "intersect1d", "setdiff1d", "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values",
]


def _index():
    """The dtype of positions: that of Python's integers."""
    return _core.as_dtype(int)


def _keys(columns, equal_nan):
    """What columns are ordered by: complex numbers by real part, then imaginary part. Where NaNs are equal, a complex
    number of which one part is NaN is as one of which both are."""
    return [part for x in columns for part in (_parts(x, equal_nan) if x.dtype.kind == "c" else (x,))]


def _parts(x, equal_nan):
    x = _n.where(_n.isnan(x), complex(_np.nan, _np.nan), x) if equal_nan else x
    return _n.real(x), _n.imag(x)


def _differs(x, equal_nan):
    """Where an element differs from the one before."""
    differs = x[1:] != x[:-1]
    if equal_nan and "float" in x.dtype.name:
        differs = differs & ~(_n.isnan(x[1:]) & _n.isnan(x[:-1]))
    return differs


def _runs(columns, size, equal_nan=True):
    """The order that sorts columns of `size` elements, and where runs of equal ones begin in it."""
    places = _n.arange(size, dtype=_index())
    if not columns or not size:
        return places, places < 1
    keys = _keys(columns, equal_nan)
    *ordered, order = lax.sort((*keys, places), num_keys=len(keys))
    differs = _differs(ordered[0], equal_nan)
    for column in ordered[1:]:
        differs = differs | _differs(column, equal_nan)
    return order, _n.concatenate([_n.ones(1, bool), differs])


def _where(name, mask, size):
    """Positions where a mask holds, filled up with its length; and how many do."""
    if size is None:
        (places,) = _n.nonzero(mask)
    else:
        (places,) = _n.nonzero(mask, size=size, fill_value=mask.shape[0])
    return places.astype(_index())


def _filled(values, places, n, fill_value):
    """Rows at places; those that are not below `n` are the fill value, the first row by default."""
    if not n:
        return _n.full((places.shape[0], *values.shape[1:]), 0 if fill_value is None else fill_value, values.dtype)
    taken = _n.take(values, _n.clip(places, 0, max(n - 1, 0)), axis=0)
    filler = taken[:1] if fill_value is None else _n.asarray(fill_value, values.dtype)
    is_found = _n.reshape(places < n, (-1,) + (1,) * (taken.ndim - 1))
    return _n.where(is_found, taken, filler)


def _flat(name, *args):
    return [_n.ravel(x) for x in _n._promote(name, *args)]


def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, size=None, fill_value=None,
    sorted=True,
):
    """The distinct elements in order, or the distinct slices along an axis.

    Args:
      ar: an array or number; concrete unless `size` is given.
      return_index: whether to give the position of the first of each.
      return_inverse: whether to give for each element (slice) the position of its value among the results.
      return_counts: whether to give how often each occurs.
      axis: an axis whose slices are compared, lexicographically; None (the default) for the elements.
      equal_nan: whether NaNs are equal.
      size: the number of results, a static integer: more are cut off, missing ones are filled up.
      fill_value: what fills up; the least element by default.
      sorted: for compatibility; results are always in order.
    Returns: the values, or a tuple of them and what else was asked for, in the order of the arguments.
    Raises:
      TypeError: `ar` is neither an array nor a number (lists are refused).
      ValueError: the axis is out of bounds; no `fill_value` for an empty array and a positive `size`.
      ConcretizationTypeError: a traced array without `size`.
    Differentiable: the values: the gradient goes to the first of equal elements in order.
    Example:
      >>> values, counts = jnp.unique(jnp.array([3, 1, 3]), return_counts=True)
      >>> print(values, counts)
      [1 3] [1 2]
      >>> print(jnp.unique(jnp.array([3, 1, 3]), size=4, fill_value=-1))
      [ 1  3 -1 -1]
    """
    (ar,) = _n._promote("unique", ar)
    if size is None:
        _n._check_known(ar, "unique")
    rows = _n.ravel(ar) if axis is None else _n.moveaxis(ar, _axis(axis, ar.ndim), 0)
    n = rows.shape[0]
    if size and rows.size == 0 and fill_value is None and n == 0:
        raise _user_error(ValueError, "jnp.unique: for zero-sized input with nonzero size argument, fill_value must be specified")
    order, is_first = _runs(_columns(rows), n, equal_nan)
    # One more place than asked for: where the last run ends. Missing ones are the end of all.
    ends = _where("unique", is_first, None if size is None else size + 1)
    places = ends if size is None else ends[:size]
    out = [_values(rows, order, places, n, size, fill_value)]
    if return_index:
        out.append(_filled(order, places, n, None) if n else order)
    if return_inverse:
        number = _n.cumsum(is_first, dtype=_index()) - 1
        inverse = _n.zeros(n, _index()).at[order].set(number)
        out.append(_n.reshape(inverse, ar.shape) if axis is None else inverse)
    if return_counts:
        ends = ends if size is not None else _n.append(ends, _n.full(1, n, ends.dtype))
        out.append(_n.diff(ends) if n else order)
    if axis is not None:
        out[0] = _n.moveaxis(out[0], 0, axis)
    return out[0] if len(out) == 1 else tuple(out)


def _columns(rows):
    if rows.ndim == 1:
        return [rows]
    flat = _n.reshape(rows, (rows.shape[0], -1)) if rows.size else _n.zeros((rows.shape[0], 0), rows.dtype)
    return [flat[:, i] for i in range(flat.shape[1])]


def _values(rows, order, places, n, size, fill_value):
    if n == 0:
        return rows if size is None else _filled(rows, places, n, fill_value)
    if size is None:
        return _n.take(_n.take(rows, order, axis=0), places, axis=0)
    return _filled(_n.take(rows, order, axis=0), places, n, fill_value)


class _UniqueAllResult(_NamedTuple):
    values: _Any
    indices: _Any
    inverse_indices: _Any
    counts: _Any


class _UniqueCountsResult(_NamedTuple):
    values: _Any
    counts: _Any


class _UniqueInverseResult(_NamedTuple):
    values: _Any
    inverse_indices: _Any


def unique_all(x, /, *, size=None, fill_value=None):
    """The distinct elements in order, their first positions, the inverse and the counts; NaNs are distinct.

    Args:
      x: an array or number; concrete unless `size` is given.
      size, fill_value: how many to give, and what fills up, as for `unique`.
    Returns: a named tuple of `values`, `indices`, `inverse_indices` (of the shape of `x`) and `counts`.
    Raises:
      TypeError: `x` is neither an array nor a number (lists are refused).
      ConcretizationTypeError: a traced array without `size`.
    Differentiable: the values, as those of `unique`.
    Example:
      >>> found = jnp.unique_all(jnp.array([3, 1, 3]))
      >>> print(found.values, found.indices, found.inverse_indices, found.counts)
      [1 3] [1 0] [1 0 1] [1 2]
    """
    return _UniqueAllResult(*unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value))


def unique_counts(x, /, *, size=None, fill_value=None):
    """The distinct elements in order and how often each occurs; NaNs are distinct.

    Args:
      x: an array or number; concrete unless `size` is given.
      size, fill_value: how many to give, and what fills up, as for `unique`.
    Returns: a named tuple of `values` and `counts`.
    Raises:
      TypeError: `x` is neither an array nor a number (lists are refused).
      ConcretizationTypeError: a traced array without `size`.
    Differentiable: the values, as those of `unique`.
    Example:
      >>> found = jnp.unique_counts(jnp.array([3, 1, 3]))
      >>> print(found.values, found.counts)
      [1 3] [1 2]
    """
    return _UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(x, /, *, size=None, fill_value=None):
    """The distinct elements in order and for each element the position of its value among them; NaNs are distinct.

    Args:
      x: an array or number; concrete unless `size` is given.
      size, fill_value: how many to give, and what fills up, as for `unique`.
    Returns: a named tuple of `values` and `inverse_indices` (of the shape of `x`).
    Raises:
      TypeError: `x` is neither an array nor a number (lists are refused).
      ConcretizationTypeError: a traced array without `size`.
    Differentiable: the values, as those of `unique`.
    Example:
      >>> found = jnp.unique_inverse(jnp.array([3, 1, 3]))
      >>> print(found.values, found.inverse_indices)
      [1 3] [1 0 1]
    """
    return _UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_values(x, /, *, size=None, fill_value=None):
    """The distinct elements in order; NaNs are distinct.

    Args:
      x: an array or number; concrete unless `size` is given.
      size, fill_value: how many to give, and what fills up, as for `unique`.
    Returns: a vector of the dtype of `x`.
    Raises:
      TypeError: `x` is neither an array nor a number (lists are refused).
      ConcretizationTypeError: a traced array without `size`.
    Differentiable: as the values of `unique`.
    Example:
      >>> print(jnp.unique_values(jnp.array([3, 1, 3])))
      [1 3]
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def union1d(ar1, ar2, *, size=None, fill_value=None):
    """The distinct elements of two arrays together, in order.

    Args:
      ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
      size, fill_value: how many to give, and what fills up, as for `unique`.
    Returns: a vector of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: traced arrays without `size`.
    Differentiable: as the values of `unique`.
    Example:
      >>> print(jnp.union1d(jnp.array([3, 1]), jnp.array([1, 2])))
      [1 2 3]
    """
    return unique(_n.concatenate(_flat("union1d", ar1, ar2)), size=size, fill_value=fill_value)


class _Groups:
    """The runs of equal elements in two flat arrays together: where each begins, and which array has it."""

    def __init__(self, a, b):
        self.n_a, self.n_b = a.shape[0], b.shape[0]
        n = self.n_a + self.n_b
        both = _n.concatenate([a, b])
        self.order, self.is_first = _runs([both], n, equal_nan=False)
        self.values = _n.take(both, self.order, axis=0) if n else both
        number = _n.cumsum(self.is_first, dtype=_index()) - 1
        is_a = self.order < self.n_a
        self.in_a = self._any(number, is_a, n)
        self.in_b = self._any(number, ~is_a, n)
        first_b = _n.full(n, n, _index()).at[number].min(_n.where(is_a, n, self.order - self.n_a))
        self.first_b = first_b[number] if n else first_b

    @staticmethod
    def _any(number, mask, n):
        if not n:
            return mask
        return (_n.zeros(n, _index()).at[number].max(mask.astype(_index())) > 0)[number]


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False, *, size=None, fill_value=None):
    """The distinct elements that two arrays share, in order.

    Args:
      ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
      assume_unique: for compatibility; without influence.
      return_indices: whether to give the first positions of the elements in both arrays.
      size: the number of results, a static integer: more are cut off, missing ones are filled up.
      fill_value: what fills up; the least element by default. Positions are filled up with the sizes of the arrays.
    Returns: a vector of the promoted dtype, or a tuple of it and both vectors of positions.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: traced arrays without `size`.
    Differentiable: as the values of `unique`.
    Example:
      >>> print(jnp.intersect1d(jnp.array([3, 1, 2]), jnp.array([2, 3])))
      [2 3]
    """
    groups = _Groups(*_flat("intersect1d", ar1, ar2))
    n = groups.n_a + groups.n_b
    places = _where("intersect1d", groups.is_first & groups.in_a & groups.in_b, size)
    values = _filled(groups.values, places, n, fill_value)
    if not return_indices:
        return values
    firsts = _filled(groups.order, places, n, groups.n_a), _filled(groups.first_b, places, n, groups.n_b)
    return values, *firsts


def setdiff1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The distinct elements of one array that another lacks, in order.

    Args:
      ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
      assume_unique: whether to take the elements of `ar1` as they come, neither sorted nor made distinct.
      size: the number of results, a static integer: more are cut off, missing ones are filled up.
      fill_value: what fills up; 0 by default.
    Returns: a vector of the dtype of `ar1`.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: traced arrays without `size`.
    Differentiable: as the values of `unique`, with respect to `ar1`.
    Example:
      >>> print(jnp.setdiff1d(jnp.array([3, 1, 2]), jnp.array([2])))
      [1 3]
    """
    (ar1,) = _n._promote("setdiff1d", ar1)
    flat, mask = _n.ravel(ar1), None
    fill_value = 0 if fill_value is None else fill_value
    if not assume_unique:
        order, mask = _runs([flat], flat.shape[0])
        flat = _n.take(flat, order, axis=0)
    is_left = _n.isin(flat, ar2, invert=True)
    is_left = is_left if mask is None else is_left & mask
    places = _where("setdiff1d", is_left, size)
    return _filled(flat, places, flat.shape[0], fill_value)


def setxor1d(ar1, ar2, assume_unique=False, *, size=None, fill_value=None):
    """The distinct elements that only one of two arrays has, in order.

    Args:
      ar1, ar2: arrays, taken as flat; concrete unless `size` is given.
      assume_unique: for compatibility; without influence.
      size: the number of results, a static integer: more are cut off, missing ones are filled up.
      fill_value: what fills up; the least element by default.
    Returns: a vector of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: traced arrays without `size`.
    Differentiable: as the values of `unique`.
    Example:
      >>> print(jnp.setxor1d(jnp.array([3, 1]), jnp.array([1, 2])))
      [2 3]
    """
    groups = _Groups(*_flat("setxor1d", ar1, ar2))
    n = groups.n_a + groups.n_b
    places = _where("setxor1d", groups.is_first & (groups.in_a ^ groups.in_b), size)
    return _filled(groups.values, places, n, fill_value)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
