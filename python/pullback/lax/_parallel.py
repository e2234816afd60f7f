"""Collectives: functions that communicate over named axes of `vmap`, `pmap` and `shard_map`.

An axis is named by the map around the call; `axis_name` is one name or a tuple of them. Each function takes a tree and
works leaf by leaf. A name that no map binds raises `NameError: unbound axis name`.
"""

from __future__ import annotations

from pullback import _core
from pullback.tree_util import tree_map

_lax = _core.lax

__all__ = [
    "all_gather", "all_to_all", "axis_index", "axis_size", "pbroadcast", "pcast", "pmax", "pmean", "pmin", "ppermute", "pshuffle",
    "psum", "psum_scatter", "pswapaxes",
]


def _groups(groups):
    return None if groups is None else [list(group) for group in groups]


def _tuple(axis_name):
    return tuple(axis_name) if isinstance(axis_name, (tuple, list)) else (axis_name,)


def _is_constant(leaf):
    import numpy as np

    return isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic)) and not isinstance(leaf, _core.Array)


def _constant_sum(leaf, axes, groups):
    """The sum of a value that is no array of ours: known at once, so that `psum(1, name)` is a length."""
    import numpy as np

    leaf = int(leaf) if isinstance(leaf, bool) else leaf
    positions = tuple(axis for axis in axes if isinstance(axis, int))
    names = tuple(axis for axis in axes if not isinstance(axis, int))
    size = _lax._axes_size(names)
    if groups is not None:
        sizes = {len(group) for group in groups}
        if sorted(index for group in groups for index in group) != list(range(size)):
            raise ValueError("axis_index_groups must cover all indices exactly once")
        if len(sizes) > 1:
            return _lax._psum(leaf, axes, groups)
        size = sizes.pop()
    if positions:
        leaf = np.sum(leaf, axis=positions)
    return leaf * size


def psum(x, axis_name, *, axis_index_groups=None):
    """The sum over named axes, and over axes of the operand given by position.

    Args:
      x: a tree of numbers; booleans are counted.
      axis_name: names, or positions, of axes.
      axis_index_groups: a partition of the indices along the axes; each part is summed by itself.

    Linear: tangents are summed, cotangents too. `psum(1, name)` is the length of the axis, a Python number.

    >>> import pullback as jax, pullback.numpy as jnp
    >>> jax.vmap(lambda x: x / jax.lax.psum(x, "i"), axis_name="i")(jnp.array([1.0, 3.0])).tolist()
    [0.25, 0.75]
    """
    axes, groups = _tuple(axis_name), _groups(axis_index_groups)

    def one(leaf):
        return _constant_sum(leaf, axes, groups) if _is_constant(leaf) else _lax._psum(leaf, axes, groups)

    return tree_map(one, x)


def pmean(x, axis_name, *, axis_index_groups=None):
    """The mean over named axes; see `psum`. Integers give floats."""
    sums = psum(x, axis_name, axis_index_groups=axis_index_groups)
    n = psum(1, axis_name, axis_index_groups=axis_index_groups)
    return tree_map(lambda leaf: leaf / n, sums)


def pmax(x, axis_name, *, axis_index_groups=None):
    """The greatest over named axes, and over axes of the operand given by position. Not differentiable.

    >>> import pullback as jax, pullback.numpy as jnp
    >>> jax.vmap(lambda x: x - jax.lax.pmax(x, "i"), axis_name="i")(jnp.array([1.0, 3.0])).tolist()
    [-2.0, 0.0]
    """
    axes, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._pmax(leaf, axes, groups), x)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The least over named axes, and over axes of the operand given by position. Not differentiable."""
    axes, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._pmin(leaf, axes, groups), x)


def axis_index(axis_name: AxisName) -> Array:
    """The position along a named axis, int32; for several names, along all of them together, the first the slowest.

    >>> import pullback as jax
    >>> jax.vmap(lambda _: jax.lax.axis_index("i"), axis_name="i")(jax.numpy.zeros(3)).tolist()
    [0, 1, 2]
    """
    if not isinstance(axis_name, (tuple, list)):
        return _lax._axis_index(axis_name)
    index, inner = 0, 1
    for name in reversed(axis_name):
        index = index + _lax._axis_index(name) * inner
        inner *= axis_size(name)
    return index


def axis_size(axis_name: AxisName) -> int:
    """The length of a named axis, a Python integer; of several, the product.

    >>> import pullback as jax
    >>> jax.vmap(lambda x: x * jax.lax.axis_size("i"), axis_name="i")(jax.numpy.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """
    return _lax._axes_size(axis_name)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False, to: str = "varying"):
    """The values of all members along named axes, stacked along a new `axis`, or joined along `axis` when `tiled`.

    Linear; its transpose is `psum_scatter`.

    >>> import pullback as jax, pullback.numpy as jnp
    >>> jax.vmap(lambda x: jax.lax.all_gather(x, "i"), axis_name="i")(jnp.array([1, 2])).tolist()
    [[1, 2], [1, 2]]
    """
    names, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._all_gather(leaf, names, axis, groups, tiled), x)


def psum_scatter(x, axis_name, *, scatter_dimension=0, axis_index_groups=None, tiled=False):
    """The sum over named axes, of which each member keeps its part along `scatter_dimension`.

    Unless `tiled`, that axis must have one position for each member, and goes away. Linear; its transpose is `all_gather`.
    """
    names, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._psum_scatter(leaf, names, scatter_dimension, groups, tiled), x)


def ppermute(x, axis_name, perm):
    """Values sent along a named axis by pairs `(source, target)`; members to which nobody sends get zeros.

    Linear; the transpose sends back. No source and no target may occur twice.

    >>> import pullback as jax, pullback.numpy as jnp
    >>> jax.vmap(lambda x: jax.lax.ppermute(x, "i", [(0, 1), (1, 0)]), axis_name="i")(jnp.array([1, 2])).tolist()
    [2, 1]
    """
    names, perm = _tuple(axis_name), [(int(source), int(target)) for source, target in perm]
    return tree_map(lambda leaf: _lax._ppermute(leaf, names, perm), x)


def pshuffle(x, axis_name, perm):
    """Values along a named axis in the order `perm`: member `i` gets the value of member `perm[i]`."""
    if set(perm) != set(range(len(perm))):
        raise ValueError(f"`perm` does not represent a permutation: {perm}")
    return ppermute(x, axis_name, [(source, target) for target, source in enumerate(perm)])


def pbroadcast(x, axis_name, source):
    """The value of the member `source` along a named axis, for all."""
    names = _tuple(axis_name)
    return tree_map(lambda leaf: _lax._pbroadcast(leaf, names, source), x)


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """Divides `split_axis` among the members and joins what each gets along `concat_axis`.

    Unless `tiled`, `split_axis` must have one position for each member and goes away, and `concat_axis` is a new axis of the
    result. Linear; the transpose exchanges the two axes.
    """
    names, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._all_to_all(leaf, names, (split_axis, concat_axis), groups, tiled), x)


def pswapaxes(x, axis_name, axis, *, axis_index_groups=None):
    """Exchanges a named axis with an axis of the operand, which must have the same length."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def pcast(x, axis_name, *, to: str):
    """The same values, declared to differ along the named axes (`to="varying"`), where they were the same for all members."""
    if to not in ("varying", "reduced", "unreduced"):
        raise ValueError(f"pcast takes to='varying', 'reduced' or 'unreduced', got {to!r}.")
    if to != "varying":
        raise NotImplementedError(f"pcast(to={to!r}): partial sums as types of arrays are not implemented; use psum.")
    names = _tuple(axis_name)
    return tree_map(lambda leaf: _lax._pvary(leaf, names), x)


for _name in __all__:
    globals()[_name].__module__ = "pullback.lax"
