"""Interpolation of data on grids, with SciPy's names."""

import itertools as _itertools

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, tree_util

_n = _core.numpy

__all__ = ["RegularGridInterpolator"]


class RegularGridInterpolator:
    """A function given by its values on a grid with axes at right angles.

    A call takes points `[..., d]`, or `d` arrays that broadcast, and gives values `[..., ...]`.

    Args:
      points: for each of `d` axes the coordinates of the grid, strictly in order.
      values: the values `[n1, ..., nd, ...]`.
      method: "linear" or "nearest".
      bounds_error: must be False: points outside are no error.
      fill_value: the value outside of the grid; None extrapolates.
    Raises:
      ValueError: another method, coordinates that do not fit the values or are not in order.
      NotImplementedError: `bounds_error` is true.
    Differentiable: yes, with respect to points and values for "linear", in both modes.
    Example:
      >>> f = jax.scipy.interpolate.RegularGridInterpolator((jnp.array([0.0, 1.0]),), jnp.array([0.0, 10.0]))
      >>> print(f(jnp.array([[0.5]])))
      [5.]
    """

    def __init__(self, points, values, method="linear", bounds_error=False, fill_value=_np.nan):
        if method not in ("linear", "nearest"):
            raise _user_error(ValueError, f"method {method!r} is not defined")
        if bounds_error:
            raise _user_error(NotImplementedError, "`bounds_error` takes no effect under JIT")
        values = _n.asarray(values)
        if len(points) > values.ndim:
            raise _user_error(ValueError, f"there are {len(points)} point arrays, but values has {values.ndim} dimensions")
        if values.dtype.kind in "iub":
            values = values.astype(_core.as_dtype(float))
        if fill_value is not None:
            _n.asarray(fill_value)
        self.grid = tuple(_n.asarray(p) for p in points)
        for i, p in enumerate(self.grid):
            if p.ndim != 1:
                raise _user_error(ValueError, f"the points in dimension {i} must be 1-dimensional")
            if p.shape[0] != values.shape[i]:
                raise _user_error(ValueError, f"there are {p.shape[0]} points and {values.shape[i]} values in dimension {i}")
            if _core.is_concrete(p) and not bool((_n.diff(p) > 0).all()):
                raise _user_error(ValueError, f"the points in dimension {i} must be strictly ascending")
        self.values, self.method, self.bounds_error, self.fill_value = values, method, bounds_error, fill_value

    def __call__(self, xi, method=None):
        method = self.method if method is None else method
        if method not in ("linear", "nearest"):
            raise _user_error(ValueError, f"method {method!r} is not defined")
        d = len(self.grid)
        if isinstance(xi, tuple):
            xi = _n.stack(_n.broadcast_arrays(*map(_n.asarray, xi)), axis=-1)
        xi = _n.asarray(xi)
        if xi.ndim == 1 and d == 1:
            xi = xi[:, None]
        if xi.shape[-1] != d:
            raise _user_error(ValueError, f"the requested sample points xi have dimension {xi.shape[-1]} but this interpolator has dimension {d}")
        shape = xi.shape[:-1]
        xi = xi.reshape(-1, d)
        places = [self._place(g, xi[:, i]) for i, g in enumerate(self.grid)]
        out = (self._linear if method == "linear" else self._nearest)(places)
        if self.fill_value is not None:
            outside = [(xi[:, i] < g[0]) | (xi[:, i] > g[-1]) for i, g in enumerate(self.grid)]
            is_outside = outside[0]
            for more in outside[1:]:
                is_outside = is_outside | more
            out = _n.where(_n.reshape(is_outside, (-1,) + (1,) * (out.ndim - 1)), _n.asarray(self.fill_value, out.dtype), out)
        return out.reshape(shape + self.values.shape[d:])

    @staticmethod
    def _place(grid, x):
        """The cell that holds `x`, and how far in it lies."""
        i = _n.clip(_n.searchsorted(grid, x) - 1, 0, grid.shape[0] - 2)
        return i, (x - grid[i]) / (grid[i + 1] - grid[i])

    def _linear(self, places):
        tail = (slice(None),) + (None,) * (self.values.ndim - len(places))
        total = 0.0
        for corner in _itertools.product((0, 1), repeat=len(places)):
            weight = 1.0
            for (_, share), end in zip(places, corner):
                weight = weight * (share if end else 1 - share)
            index = tuple(i + end for (i, _), end in zip(places, corner))
            total = total + self.values[index] * weight[tail]
        return total

    def _nearest(self, places):
        return self.values[tuple(_n.where(share <= 0.5, i, i + 1) for i, share in places)]


RegularGridInterpolator.__module__ = "pullback.scipy.interpolate"
tree_util.register_pytree_node(
    RegularGridInterpolator,
    lambda f: ((f.grid, f.values, f.fill_value), (f.method, f.bounds_error)),
    lambda aux, children: _restored(aux, children),
)


def _restored(aux, children):
    made = object.__new__(RegularGridInterpolator)
    made.grid, made.values, made.fill_value = children
    made.method, made.bounds_error = aux
    return made
