"""Collectives: functions that communicate over named axes of `vmap`, `pmap` and `shard_map`.

An axis is named by the map around the call; `axis_name` is one name or a tuple of them. Each function takes a tree and
works leaf by leaf. A name that no map binds raises `NameError: unbound axis name`.
"""

from __future__ import annotations

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.tree_util import tree_leaves, tree_map, tree_structure

_lax = _core.lax

__all__ = [
    "all_gather", "all_to_all", "axis_index", "axis_size", "pbroadcast", "pcast", "pmax", "pmean", "pmin", "ppermute", "precv",
    "psend", "pshuffle", "psum", "psum_scatter", "pswapaxes", "ragged_all_to_all",
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
            raise _user_error(ValueError, "axis_index_groups must cover all indices exactly once")
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
      axis_name: a name or several, or positions of axes.
      axis_index_groups: a partition of the indices along the axes; each part is summed by itself. Not under `vmap`.
    Returns: a tree like `x`, the same for all members. `psum(1, name)` is the length of the axis, a Python number.
    Raises:
      NameError: no map binds the name. TypeError: a leaf is no number.
      ValueError: a position is out of bounds, or the groups do not cover each index once.
      NotImplementedError: groups are given under `vmap`.
    Differentiable: yes, linear: tangents are summed, cotangents too.
    Example:
      >>> jax.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([0.25, 0.75], dtype=float32)
    """
    axes, groups = _tuple(axis_name), _groups(axis_index_groups)

    def one(leaf):
        return _constant_sum(leaf, axes, groups) if _is_constant(leaf) else _lax._psum(leaf, axes, groups)

    return tree_map(one, x)


def pmean(x, axis_name, *, axis_index_groups=None):
    """The mean over named axes: `psum(x)` over `psum(1)`.

    Args:
      x: a tree of numbers; integers give floats.
      axis_name: a name or several.
      axis_index_groups: a partition of the indices along the axes, as `psum` takes it.
    Returns: a tree like `x`, the same for all members.
    Raises:
      NameError: no map binds the name. TypeError: a leaf is no number.
      ValueError: the groups do not cover each index once. NotImplementedError: groups are given under `vmap`.
    Differentiable: yes, linear.
    Example:
      >>> jax.vmap(lambda x: lax.pmean(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([2., 2.], dtype=float32)
    """
    sums = psum(x, axis_name, axis_index_groups=axis_index_groups)
    n = psum(1, axis_name, axis_index_groups=axis_index_groups)
    return tree_map(lambda leaf: leaf / n, sums)


def pmax(x, axis_name, *, axis_index_groups=None):
    """The greatest over named axes, and over axes of the operand given by position.

    Args:
      x: a tree of real numbers.
      axis_name: a name or several, or positions of axes.
      axis_index_groups: a partition of the indices along the axes, as `psum` takes it.
    Returns: a tree like `x`, the same for all members.
    Raises:
      NameError: no map binds the name. TypeError: a leaf is no number.
      NotImplementedError: a derivative is taken, or groups are given under `vmap`.
    Differentiable: no; take the maximum of `all_gather` instead.
    Example:
      >>> jax.vmap(lambda x: x - lax.pmax(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([-2.,  0.], dtype=float32)
    """
    axes, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._pmax(leaf, axes, groups), x)


def pmin(x, axis_name, *, axis_index_groups=None):
    """The least over named axes, and over axes of the operand given by position.

    Args:
      x: a tree of real numbers.
      axis_name: a name or several, or positions of axes.
      axis_index_groups: a partition of the indices along the axes, as `psum` takes it.
    Returns: a tree like `x`, the same for all members.
    Raises:
      NameError: no map binds the name. TypeError: a leaf is no number.
      NotImplementedError: a derivative is taken, or groups are given under `vmap`.
    Differentiable: no; take the minimum of `all_gather` instead.
    Example:
      >>> jax.vmap(lambda x: x - lax.pmin(x, "i"), axis_name="i")(jnp.array([1.0, 3.0]))
      Array([0., 2.], dtype=float32)
    """
    axes, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._pmin(leaf, axes, groups), x)


def axis_index(axis_name: AxisName) -> Array:
    """The position along a named axis; for several names, along all of them together, the first the slowest.

    Args:
      axis_name: a name or several.
    Returns: an int32 scalar, which differs from member to member.
    Raises:
      NameError: no map binds the name.
    Differentiable: no, positions are integers.
    Example:
      >>> jax.vmap(lambda _: lax.axis_index("i"), axis_name="i")(jnp.zeros(3))
      Array([0, 1, 2], dtype=int32)
    """
    if not isinstance(axis_name, (tuple, list)):
        return _lax._axis_index(axis_name)
    index, inner = 0, 1
    for name in reversed(axis_name):
        index = index + _lax._axis_index(name) * inner
        inner *= axis_size(name)
    return index


def axis_size(axis_name: AxisName) -> int:
    """The length of a named axis; of several, the product.

    Args:
      axis_name: a name or several.
    Returns: a Python integer.
    Raises:
      NameError: no map binds the name.
    Differentiable: no, lengths are integers.
    Example:
      >>> jax.vmap(lambda x: x * lax.axis_size("i"), axis_name="i")(jnp.ones(3))
      Array([3., 3., 3.], dtype=float32)
    """
    return _lax._axes_size(axis_name)


def all_gather(x, axis_name, *, axis_index_groups=None, axis=0, tiled=False, to: str = "varying"):
    """The values of all members along named axes, stacked along a new axis or joined along one.

    Args:
      x: a tree of arrays and numbers.
      axis_name: a name or several.
      axis_index_groups: a partition of the indices along the axes, as `psum` takes it.
      axis: where the new axis is, or with `tiled` which axis is joined.
      tiled: whether to join instead of stack.
      to: taken for compatibility and ignored.
    Returns: a tree like `x` of arrays of one axis more, or of a longer axis with `tiled`.
    Raises:
      NameError: no map binds the name. ValueError: the axis is out of bounds.
      NotImplementedError: groups are given under `vmap`.
    Differentiable: yes, linear; the transpose is `psum_scatter`.
    Example:
      >>> jax.vmap(lambda x: lax.all_gather(x, "i"), axis_name="i")(jnp.array([1, 2]))
      Array([[1, 2],
             [1, 2]], dtype=int32)
    """
    names, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._all_gather(leaf, names, axis, groups, tiled), x)


def psum_scatter(x, axis_name, *, scatter_dimension=0, axis_index_groups=None, tiled=False):
    """The sum over named axes, of which each member keeps its part along an axis.

    Args:
      x: a tree of arrays.
      axis_name: a name or several.
      scatter_dimension: the axis that is parted. It has one position for each member and goes; with `tiled` a
        multiple of them, and stays.
      axis_index_groups: a partition of the indices along the axes, as `psum` takes it.
      tiled: whether the axis stays.
    Returns: a tree like `x` of arrays without the axis, or with a shorter one.
    Raises:
      NameError: no map binds the name. ValueError: the axis does not fit the members.
      NotImplementedError: groups are given under `vmap`.
    Differentiable: yes, linear; the transpose is `all_gather`.
    Example:
      >>> jax.vmap(lambda x: lax.psum_scatter(x, "i"), axis_name="i")(jnp.array([[1, 2], [3, 4]]))
      Array([4, 6], dtype=int32)
    """
    names, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._psum_scatter(leaf, names, scatter_dimension, groups, tiled), x)


def ppermute(x, axis_name, perm):
    """Values sent along a named axis; members to which nobody sends get zeros.

    Args:
      x: a tree of arrays and numbers.
      axis_name: a name or several.
      perm: pairs `(source, target)` of indices, no source and no target twice.
    Returns: a tree like `x`.
    Raises:
      NameError: no map binds the name. ValueError: an index is out of bounds or occurs twice.
    Differentiable: yes, linear; the transpose sends back.
    Example:
      >>> jax.vmap(lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2)]), axis_name="i")(jnp.array([1, 2, 3]))
      Array([0, 1, 2], dtype=int32)
    """
    names, perm = _tuple(axis_name), [(int(source), int(target)) for source, target in perm]
    return tree_map(lambda leaf: _lax._ppermute(leaf, names, perm), x)


def pshuffle(x, axis_name, perm):
    """Values along a named axis in another order.

    Args:
      x: a tree of arrays and numbers.
      axis_name: a name.
      perm: the order: member `i` gets the value of member `perm[i]`.
    Returns: a tree like `x`.
    Raises:
      NameError: no map binds the name. ValueError: `perm` is no order of the indices.
    Differentiable: yes, linear.
    Example:
      >>> jax.vmap(lambda x: lax.pshuffle(x, "i", [2, 0, 1]), axis_name="i")(jnp.array([1, 2, 3]))
      Array([3, 1, 2], dtype=int32)
    """
    if set(perm) != set(range(len(perm))):
        raise _user_error(ValueError, f"`perm` does not represent a permutation: {perm}")
    return ppermute(x, axis_name, [(source, target) for target, source in enumerate(perm)])


def pbroadcast(x, axis_name, source):
    """The value of one member along a named axis, for all.

    Args:
      x: a tree of arrays and numbers.
      axis_name: a name or several.
      source: the index of the member.
    Returns: a tree like `x`, the same for all members.
    Raises:
      NameError: no map binds the name. ValueError: the index is out of bounds.
    Differentiable: yes, linear; the transpose sums at the source.
    Example:
      >>> jax.vmap(lambda x: lax.pbroadcast(x, "i", 1), axis_name="i")(jnp.array([1, 2, 3]))
      Array([2, 2, 2], dtype=int32)
    """
    names = _tuple(axis_name)
    return tree_map(lambda leaf: _lax._pbroadcast(leaf, names, source), x)


def all_to_all(x, axis_name, split_axis, concat_axis, *, axis_index_groups=None, tiled=False):
    """Divides an axis among the members, and joins what each gets along another: the transpose of a distributed array.

    Args:
      x: a tree of arrays.
      axis_name: a name or several.
      split_axis: the axis that is divided. It has one position for each member and goes; with `tiled` a multiple of
        them.
      concat_axis: where what is got makes a new axis; with `tiled` the axis along which it is joined.
      axis_index_groups: a partition of the indices along the axes, as `psum` takes it.
      tiled: whether both axes stay.
    Returns: a tree like `x` of arrays of the same rank.
    Raises:
      NameError: no map binds the name. ValueError: the axis does not fit the members.
      NotImplementedError: groups are given under `vmap`.
    Differentiable: yes, linear; the transpose exchanges the two axes.
    Example:
      >>> jax.vmap(lambda x: lax.all_to_all(x, "i", 0, 0), axis_name="i")(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    names, groups = _tuple(axis_name), _groups(axis_index_groups)
    return tree_map(lambda leaf: _lax._all_to_all(leaf, names, (split_axis, concat_axis), groups, tiled), x)


def pswapaxes(x, axis_name, axis, *, axis_index_groups=None):
    """Exchanges a named axis with an axis of the operand of the same length.

    Args:
      x: a tree of arrays.
      axis_name: a name or several.
      axis: the axis of the operand.
      axis_index_groups: a partition of the indices along the axes, as `psum` takes it.
    Returns: a tree like `x`.
    Raises:
      NameError: no map binds the name. ValueError: the lengths differ.
      NotImplementedError: groups are given under `vmap`.
    Differentiable: yes, linear; it is its own transpose.
    Example:
      >>> jax.vmap(lambda x: lax.pswapaxes(x, "i", 0), axis_name="i")(jnp.array([[1, 2], [3, 4]]))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def psend(x, axis_name, perm):
    """Sends values along a named axis; `precv` of the token that this gives receives them. Deprecated: use `ppermute`.

    Args:
      x: a tree of arrays.
      axis_name: a name or several.
      perm: pairs `(source, target)` of indices, no source and no target twice.
    Returns: a token, which must reach `precv` inside of the same map.
    Raises:
      NameError: no map binds the name.
    Differentiable: together with `precv` yes, linear.
    Example:
      >>> def shift(x):
      ...     token = lax.psend(x, "i", [(0, 1)])
      ...     return lax.precv(token, jax.ShapeDtypeStruct((), x.dtype), "i", [(0, 1)])
      >>> print(jax.vmap(shift, axis_name="i")(jnp.array([1, 2])))
      [0 1]
    """
    from pullback.lax._generators import Token

    axis_size(axis_name)
    return Token((x, _tuple(axis_name), tuple(map(tuple, perm))))


def precv(token, out_shape, axis_name, perm):
    """Receives what `psend` sent along a named axis; members to which nobody sends get zeros. Deprecated: use `ppermute`.

    Args:
      token: what `psend` gave.
      out_shape: a tree of things with a shape and a dtype, as was sent.
      axis_name, perm: those of `psend`.
    Returns: a tree of arrays like `out_shape`.
    Raises:
      ValueError: nothing was sent with the token, or along another axis or in another order, or other shapes and dtypes were.
      NameError: no map binds the name.
    Differentiable: together with `psend` yes, linear.
    Example:
      >>> def shift(x):
      ...     token = lax.psend(x, "i", [(0, 1)])
      ...     return lax.precv(token, jax.ShapeDtypeStruct((), x.dtype), "i", [(0, 1)])
      >>> print(jax.vmap(shift, axis_name="i")(jnp.array([1, 2])))
      [0 1]
    """
    sent = getattr(token, "_sent", None)
    if sent is None or sent[1:] != (_tuple(axis_name), tuple(map(tuple, perm))):
        raise _user_error(ValueError, "precv receives what psend sent with the same axis_name and perm; pass it the token of that psend")
    x = tree_map(_core.numpy.asarray, sent[0])
    wrong = [
        (like.shape, like.dtype, leaf.shape, leaf.dtype)
        for like, leaf in zip(tree_leaves(out_shape), tree_leaves(x)) if (like.shape, like.dtype) != (leaf.shape, leaf.dtype)
    ]
    if wrong or tree_structure(out_shape) != tree_structure(x):
        raise _user_error(ValueError, f"precv out_shape must be that of what was sent, got {out_shape} for {tree_structure(x)}: {wrong}")
    return ppermute(x, axis_name, perm)


def ragged_all_to_all(
    operand, output, input_offsets, send_sizes, output_offsets, recv_sizes, *, axis_name, axis_index_groups=None
):
    """Sends a slice of rows to each member along a named axis, of sizes that differ, and writes what comes into `output`.

    Member `s` sends the rows from `input_offsets[r]` on, `send_sizes[r]` of them, to member `r`, which writes them from the
    row `output_offsets[r]` of the sender on. With more slices than members each gets as many, side by side.

    Args:
      operand: an array with the rows to send.
      output: an array of the same dtype and row shape; rows to which nobody sends stay.
      input_offsets, send_sizes, output_offsets, recv_sizes: vectors of integers of one size, a multiple of the number of members.
        `recv_sizes` must be what the others send.
      axis_name: a name or several.
      axis_index_groups: must be None.
    Returns: an array like `output`.
    Raises:
      ValueError: shapes or dtypes do not go together. NameError: no map binds the name.
      NotImplementedError: `axis_index_groups` is given.
    Differentiable: in `operand` and `output`, linear.
    Example:
      >>> def exchange(rows, offsets, sizes, places):
      ...     return lax.ragged_all_to_all(rows, jnp.zeros(2, int), offsets, sizes, places, sizes, axis_name="i")
      >>> offsets, sizes, places = jnp.array([[0, 1], [0, 1]]), jnp.ones((2, 2), int), jnp.array([[0, 0], [1, 1]])
      >>> print(jax.vmap(exchange, axis_name="i")(jnp.array([[1, 2], [3, 4]]), offsets, sizes, places))
      [[1 3]
       [2 4]]
    """
    if axis_index_groups is not None:
        raise _user_error(NotImplementedError, "ragged_all_to_all with axis_index_groups is not implemented; use a mesh axis for the groups")
    jnp = _core.numpy
    operand, output = jnp.asarray(operand), jnp.asarray(output)
    vectors = [jnp.asarray(v) for v in (input_offsets, send_sizes, output_offsets, recv_sizes)]
    _check_ragged(operand, output, vectors, axis_size(axis_name))
    n = axis_size(axis_name)
    rows, *starts = (_flat_gather(v, axis_name) for v in (operand, *vectors[:3]))
    per_member = vectors[0].shape[0] // n
    mine = axis_index(axis_name) * per_member
    sources, sizes, places = (_lax.dynamic_slice_in_dim(v, mine, per_member, axis=1).reshape(-1) for v in starts)
    at = jnp.arange(output.shape[0])[:, None]
    is_inside = (at >= places) & (at < places + sizes)
    which = jnp.argmax(is_inside, axis=1)
    sender = which // per_member
    row = jnp.clip(sources[which] + at[:, 0] - places[which], 0, max(operand.shape[0] - 1, 0))
    comes = is_inside.any(axis=1).reshape((-1,) + (1,) * (output.ndim - 1))
    return jnp.where(comes, rows[sender, row], output)


def _flat_gather(x, axis_name):
    """The values of all members along one new axis in front."""
    return all_gather(x, axis_name).reshape((-1,) + x.shape)


def _check_ragged(operand, output, vectors, n):
    if operand.dtype != output.dtype or operand.shape[1:] != output.shape[1:]:
        raise _user_error(
            ValueError,
            "ragged_all_to_all input and output must have the same dtype and shape, except in the ragged dimension 0, got "
            f"{operand.shape} {operand.dtype} and {output.shape} {output.dtype}."
        )
    sizes = {v.shape for v in vectors}
    if any(v.ndim != 1 or v.dtype.kind not in "iu" for v in vectors) or len(sizes) != 1 or vectors[0].shape[0] % n:
        raise _user_error(
            ValueError,
            f"ragged_all_to_all offsets and sizes must be vectors of integers of one size that {n} members divide, got "
            f"{[f'{v.shape} {v.dtype}' for v in vectors]}."
        )


def pcast(x, axis_name, *, to: str):
    """The same values, declared to differ along named axes where they were the same for all members.

    Args:
      x: a tree of arrays and numbers.
      axis_name: a name or several.
      to: 'varying'.
    Returns: a tree like `x`.
    Raises:
      NotImplementedError: `to` is 'reduced' or 'unreduced'; use `psum`. ValueError: `to` is something else.
    Differentiable: yes, linear; under `shard_map` the transpose is `psum`.
    Example:
      >>> jax.vmap(lambda x: lax.pcast(x, "i", to="varying"), axis_name="i")(jnp.array([1, 2]))
      Array([1, 2], dtype=int32)
    """
    if to not in ("varying", "reduced", "unreduced"):
        raise _user_error(ValueError, f"pcast takes to='varying', 'reduced' or 'unreduced', got {to!r}.")
    if to != "varying":
        raise _user_error(NotImplementedError, f"pcast(to={to!r}): partial sums as types of arrays are not implemented; use psum.")
    names = _tuple(axis_name)
    return tree_map(lambda leaf: _lax._pvary(leaf, names), x)


for _name in __all__:
    globals()[_name].__module__ = "pullback.lax"
