"""Histograms of one and several dimensions."""

import builtins as _builtins

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges of bins: evenly spaced over a range, or those that are given.

    Args:
      a: an array, taken as flat.
      bins: the number of bins, or a vector of their edges.
      range: the first and the last edge; the least and the greatest element by default.
      weights: for compatibility; without influence.
    Returns: the edges `[bins + 1]`, floating; a range of length 0 is widened by half on both sides.
    Raises:
      TypeError: `bins` is the name of a rule, or `a` is neither an array nor a number.
      ValueError: `range` is no pair of numbers.
    Differentiable: with respect to `a` and `range`.
    Example:
      >>> print(jnp.histogram_bin_edges(jnp.array([0.0, 3.0]), bins=3))
      [0. 1. 2. 3.]
    """
    if isinstance(bins, str):
        raise _user_error(TypeError, f"jax.numpy.histogram takes the number of bins or their edges, got the name of a rule, {bins!r}")
    (a,) = _n._promote("histogram_bin_edges", a)
    (a,) = _n._promote_inexact("histogram_bin_edges", a)
    dtype = a.dtype
    if _n.ndim(bins) == 1:
        return _n.asarray(bins, dtype=dtype)
    flat = _n.ravel(a)
    if range is None:
        low, high = (flat.min(), flat.max()) if flat.size else (0.0, 1.0)
    else:
        low, high = range
    low, high = _n.asarray(low, dtype), _n.asarray(high, dtype)
    if range is not None and _n.shape(low) != ():
        raise _user_error(ValueError, f"range must be None or have shape (2,), got {_n.shape(low)}")
    is_flat = high == low
    return _n.linspace(_n.where(is_flat, low - 0.5, low), _n.where(is_flat, high + 0.5, high), bins + 1, dtype=dtype)


def histogram(a, bins=10, range=None, weights=None, density=None, out_sharding=None):
    """How many elements lie in each bin; a bin holds its left edge, the last one both.

    Args:
      a: an array, taken as flat.
      bins: the number of bins, or a vector of their edges.
      range: the first and the last edge; the least and the greatest element by default; elements outside do not
        count.
      weights: what each element counts: an array of the shape of `a`.
      density: whether to divide by the widths of the bins and the sum.
      out_sharding: must be None.
    Returns: the counts `[bins]`, floating, and the edges `[bins + 1]`.
    Raises:
      ValueError: weights of another shape.
      TypeError: `bins` is the name of a rule, or `a` is neither an array nor a number.
      NotImplementedError: `out_sharding` is given.
    Differentiable: the counts with respect to `weights`.
    Example:
      >>> counts, edges = jnp.histogram(jnp.array([0.0, 0.5, 3.0]), bins=3)
      >>> print(counts, edges)
      [2. 0. 1.] [0. 1. 2. 3.]
    """
    if out_sharding is not None:
        raise _user_error(NotImplementedError, "out_sharding of jax.numpy.histogram is not implemented")
    if weights is None:
        (a,) = _n._promote_inexact("histogram", a)
        weights = _n.ones_like(a)
    else:
        a, weights = _n._promote_inexact("histogram", a, weights)
        if a.shape != weights.shape:
            raise _user_error(ValueError, "weights should have the same shape as a.")
    edges = histogram_bin_edges(a, bins, range, weights)
    a, weights = _n.ravel(a), _n.ravel(weights)
    place = _n.searchsorted(edges, a, side="right")
    place = _n.where(a == edges[-1], len(edges) - 1, place)
    counts = _n.zeros(len(edges), weights.dtype).at[place].add(weights)[1:]
    if density:
        counts = counts / _n.diff(edges) / counts.sum()
    return counts, edges


def histogram2d(x, y, bins=10, range=None, weights=None, density=None):
    """How many points of the plane lie in each cell.

    Args:
      x, y: the coordinates, vectors `[n]`.
      bins: the number of bins or a vector of edges, for both axes, or a pair of such.
      range: the first and the last edge of each axis, `[2, 2]`; those of the points by default.
      weights: what each point counts `[n]`.
      density: whether to divide by the areas of the cells and the sum.
    Returns: the counts `[bins of x, bins of y]`, the edges along `x` and the edges along `y`.
    Raises:
      TypeError: coordinates that are no vectors of one length.
      ValueError: weights or ranges of another length.
    Differentiable: the counts with respect to `weights`.
    Example:
      >>> counts, _, _ = jnp.histogram2d(jnp.array([0.0, 0.0, 1.0]), jnp.array([0.0, 1.0, 1.0]), bins=2)
      >>> print(counts)
      [[1 1]
       [0 1]]
    """
    x, y = _n._promote("histogram2d", x, y)
    if _n.ndim(x) != 1 or _n.ndim(y) != 1 or len(x) != len(y):
        raise _user_error(TypeError, f"x and y must be vectors of the same length, got shapes {x.shape} and {y.shape}")
    n = len(bins) if hasattr(bins, "__len__") else 1
    if n not in (1, 2):
        edges = _n.asarray(bins)
        bins = [edges, edges]
    counts, edges = histogramdd(_n.stack([x, y], axis=1), bins, range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(sample, bins=10, range=None, weights=None, density=None):
    """How many points lie in each cell of a grid of any dimension.

    Args:
      sample: points `[n, d]`.
      bins: the number of bins or a vector of edges for all axes, or a list with one for each.
      range: the first and the last edge of each axis, or None for those of the points: a sequence of `d` pairs.
      weights: what each point counts `[n]`.
      density: whether to divide by the volumes of the cells and the sum.
    Returns: the counts, with `d` axes, and the list of edges along each.
    Raises:
      ValueError: `sample` has not two axes; weights, bins or ranges of another length.
    Differentiable: the counts with respect to `weights`.
    Example:
      >>> counts, edges = jnp.histogramdd(jnp.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), bins=2)
      >>> print(counts)
      [[1 0]
       [1 1]]
    """
    if weights is None:
        (sample,) = _n._promote_inexact("histogramdd", sample)
    else:
        sample, weights = _n._promote_inexact("histogramdd", sample, weights)
    if sample.ndim != 2:
        raise _user_error(ValueError, f"Expected sample.ndim = 2. Got sample.ndim = {sample.ndim}")
    n, d = sample.shape
    if weights is not None and weights.shape != (n,):
        raise _user_error(ValueError, "should have one weight for each sample.")
    if range is not None and (len(range) != d or any(r is not None and len(r) != 2 for r in range)):
        raise _user_error(ValueError, f"For sample.shape={sample.shape}, range must be a sequence of {d} pairs or Nones; got range={range}")
    every = bins if isinstance(bins, (list, tuple)) or _n.ndim(bins) > 0 else [bins] * d
    if len(every) != d:
        raise _user_error(ValueError, "should be a bin for each dimension.")
    every = list(every)
    places, edges = [], []
    for i in _builtins.range(d):
        these = histogram_bin_edges(sample[:, i], every[i], None if range is None else range[i], weights)
        place = _n.searchsorted(these, sample[:, i], side="right")
        places.append(_n.where(sample[:, i] == these[-1], place - 1, place))
        edges.append(these)
    sizes = tuple(len(e) + 1 for e in edges)
    counts = _n.bincount(
        _ravelled(places, sizes), weights, length=int(_np.prod(sizes))
    ).reshape(sizes)
    counts = counts[(slice(1, -1),) * d]
    if density:
        counts = counts.astype(sample.dtype) / counts.sum()
        for i, e in enumerate(edges):
            counts = counts / _n.expand_dims(_n.diff(e), tuple(j for j in _builtins.range(d) if j != i))
    return counts, edges


def _ravelled(places, sizes):
    total = places[0]
    for place, size in zip(places[1:], sizes[1:]):
        total = total * size + place
    return total


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
