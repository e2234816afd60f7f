"""Grids by indexing: `mgrid`, `ogrid`, `r_`, `c_`."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["c_", "mgrid", "ogrid", "r_"]


def _range(given):
    """The numbers of a slice: an imaginary step counts points, the end included."""
    start = 0 if given.start is None else given.start
    step = 1 if given.step is None else given.step
    if _n.iscomplexobj(step):
        return _n.linspace(start, given.stop, int(abs(complex(step))))
    # Without an end there is nothing between 0 and the start.
    return _n.arange(start, 0 if given.stop is None else given.stop, step)


def _common(parts):
    dtype = _n.result_type(*parts)
    return [_n.astype(part, dtype) for part in parts]


class _Mgrid:
    """Dense grids: `mgrid[0:2, 0:3]` is the array `[2, 2, 3]` of the coordinates of each point.

    A slice is a range; an imaginary step is a number of points, the end included.

    >>> import pullback.numpy as jnp
    >>> print(jnp.mgrid[0:2, 0:2])
    [[[0 0]
      [1 1]]
    <BLANKLINE>
     [[0 1]
      [0 1]]]
    """

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _range(key)
        if not len(key):
            return _n.zeros(0, int)
        grids = _n.meshgrid(*_common([_range(k) for k in key]), indexing="ij")
        return _n.stack(grids, axis=0)


class _Ogrid:
    """Open grids: `ogrid[0:2, 0:3]` is a list of arrays `[2, 1]` and `[1, 3]` that broadcast to the grid.

    A slice is a range; an imaginary step is a number of points, the end included.

    >>> import pullback.numpy as jnp
    >>> [x.shape for x in jnp.ogrid[0:2, 0:3]]
    [(2, 1), (1, 3)]
    """

    def __getitem__(self, key):
        if isinstance(key, slice):
            return _range(key)
        if not len(key):
            return []
        return list(_n.meshgrid(*_common([_range(k) for k in key]), indexing="ij", sparse=True))


# A joined vector becomes the row "r" or the column "c" of a matrix: the axis that is added.
_MATRIX_AXES = {"r": 0, "c": 1}


class _Joined:
    """Arrays and ranges joined along an axis.

    A leading string says how: `"axis"`, `"axis,ndim"` or `"axis,ndim,start"`, where items of fewer axes get axes up to
    `ndim`, their own from `start` on; `"r"` or `"c"` makes a row or a column of a joined vector.
    """

    axis = 0
    ndim = 1
    start = -1

    def __getitem__(self, key):
        parts = list(key) if isinstance(key, tuple) else [key]
        (axis, ndim, start), matrix_axis = (self.axis, self.ndim, self.start), None
        if parts and isinstance(parts[0], str):
            text = parts.pop(0)
            if text in _MATRIX_AXES:
                matrix_axis = _MATRIX_AXES[text]
            else:
                axis, ndim, start = self._directive(text)
        out = _n.concatenate([self._part(part, ndim, start) for part in parts], axis=axis)
        return _n.expand_dims(out, matrix_axis) if matrix_axis is not None and out.ndim == 1 else out

    def _directive(self, text):
        numbers = text.split(",")
        if len(numbers) > 3:
            raise _user_error(ValueError, f"bad directive: {text}")
        try:
            return tuple(map(int, numbers)) + (self.axis, self.ndim, self.start)[len(numbers):]
        except ValueError:
            raise _user_error(ValueError, f"could not understand directive {text!r}") from None

    @staticmethod
    def _part(part, ndim, start):
        if isinstance(part, str):
            raise _user_error(ValueError, "string directive must be placed at the beginning")
        if isinstance(part, slice):
            part, own = _range(part), 1
        else:
            part = part if hasattr(part, "dtype") else _n.asarray(part)
            own = _n.ndim(part)
            part = _n.atleast_1d(part) if own == 0 else part
            own = max(own, 0)
        new = ndim - part.ndim
        if new <= 0:
            return part
        # The axes of the part come from `start` on; counted from the back when negative.
        first = start + ndim if start < 0 else start
        first = first - part.ndim + 1 if start < 0 else first
        axes = [axis for axis in range(ndim) if not first <= axis < first + part.ndim]
        return _n.expand_dims(part, axes[:new])


class RClass(_Joined):
    """`r_[a, 0:3]`: arrays and ranges joined along the first axis.

    A leading string changes the axis, the least number of axes and where the axes of smaller items go: `"0,2"`.

    >>> import pullback.numpy as jnp
    >>> print(jnp.r_[0:3, 7, jnp.array([8, 9])])
    [0 1 2 7 8 9]
    """


class CClass(_Joined):
    """`c_[a, b]`: arrays and ranges joined along the last axis, vectors as columns.

    >>> import pullback.numpy as jnp
    >>> print(jnp.c_[jnp.array([1, 2]), jnp.array([3, 4])])
    [[1 3]
     [2 4]]
    """

    axis = -1
    ndim = 2
    start = 0


mgrid, ogrid, r_, c_ = _Mgrid(), _Ogrid(), RClass(), CClass()
