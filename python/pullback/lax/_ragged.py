"""Products of arrays one axis of which is cut into groups of computed sizes."""

from pullback import _core
from pullback._core import lax as _l
from pullback._core import numpy as _n
from pullback._core import user_error as _user_error
from pullback.lax._records import RaggedDotDimensionNumbers

_NAME = "ragged_dot_general"


def _refuse(text):
    raise _user_error(TypeError, text)


def _check_axes(side, what, axes, ndim):
    for axis in axes:
        if not 0 <= axis < ndim:
            _refuse(
                f"{_NAME} requires {side} {what} dimension numbers to be nonnegative and less than the number of axes of the {side} "
                f"value, got {axis} for {side} of rank {ndim}."
            )


class _Axes:
    """The axes of a ragged product: contracted, of batches, ragged, and the one that counts groups."""

    def __init__(self, numbers, lhs, rhs):
        contract, batch = numbers.dot_dimension_numbers
        self.contract, self.batch = [tuple(axes) for axes in contract], [tuple(axes) for axes in batch]
        ragged, group = tuple(numbers.lhs_ragged_dimensions), tuple(numbers.rhs_group_dimensions)
        if len(ragged) != 1:
            _refuse(f"{_NAME} expects exactly one lhs ragged dimension.")
        _check_axes("lhs", "ragged", ragged, lhs.ndim)
        _check_axes("rhs", "group", group, rhs.ndim)
        (self.ragged,) = ragged
        self.is_free = self.ragged not in (*self.contract[0], *self.batch[0])
        self._check_groups(group)
        self.group = group[0] if group else None
        self.outer = self._outer()

    def _check_groups(self, group):
        if self.is_free and len(group) != 1:
            _refuse(f"{_NAME} requires exactly one rhs group dimension when lhs ragged dimension is noncontracting.")
        if not self.is_free and group:
            _refuse(f"{_NAME} requires zero group dimensions in the rhs when lhs ragged dimension is contracting or batch.")
        if {*group} & {*self.contract[1], *self.batch[1]}:
            _refuse(f"{_NAME} requires rhs group dimension numbers to be distinct from contracting and batch dimensions.")

    def _outer(self):
        """The axes of `lhs` along which sizes of groups may differ."""
        if self.ragged in self.batch[0]:
            return self.batch[0][: self.batch[0].index(self.ragged)]
        if self.ragged in self.contract[0]:
            return self.batch[0] + self.contract[0][: self.contract[0].index(self.ragged)]
        bound = {*self.contract[0], *self.batch[0]}
        return self.batch[0] + tuple(axis for axis in range(self.ragged) if axis not in bound)


def _is_integer(dtype):
    import numpy as np

    from pullback import dtypes

    return dtypes.issubdtype(dtype, np.integer)


def _check_operands(axes, lhs, rhs, group_sizes):
    if not _is_integer(group_sizes.dtype):
        _refuse(f"{_NAME} requires that group_sizes.dtype is subtype of np.integer.")
    if group_sizes.ndim == 0:
        _refuse(f"expected rank of group_sizes to be >=1, got {group_sizes.ndim}.")
    groups = group_sizes.shape[-1]
    wanted = (*(lhs.shape[axis] for axis in axes.outer), groups)
    if group_sizes.ndim != 1 and group_sizes.shape != wanted:
        _refuse(f"expected group_sizes to have shape {wanted}, got {group_sizes.shape}.")
    if axes.group is not None and rhs.shape[axes.group] != groups:
        _refuse(f"expected rhs group dimension size to be {groups}, got {rhs.shape[axes.group]}.")


def _grouped(axes, lhs, group_sizes):
    """`lhs` once for each group, in front; zero where a place is not in the group. Groups follow each other."""
    ends = _n.cumsum(group_sizes, axis=-1)
    places = _n.arange(lhs.shape[axes.ragged], dtype=ends.dtype)
    mask = (places >= (ends - group_sizes)[..., None]) & (places < ends[..., None])
    mask = _n.moveaxis(mask, -2, 0)
    kept = {axes.ragged} if group_sizes.ndim == 1 else {axes.ragged, *axes.outer}
    order = [*axes.outer, axes.ragged]
    if group_sizes.ndim != 1:
        mask = _n.transpose(mask, (0, *(1 + order.index(axis) for axis in sorted(order))))
    shape = tuple(size if axis in kept else 1 for axis, size in enumerate(lhs.shape))
    return _n.where(mask.reshape((mask.shape[0], *shape)), lhs[None], _n.zeros((), lhs.dtype))


def ragged_dot_general(
    lhs, rhs, group_sizes, ragged_dot_dimension_numbers, precision=None, preferred_element_type=None, group_offset=None,
    out_sharding=None,
):
    """A contraction one axis of which is cut into groups of computed sizes, each with a product of its own.

    A ragged free axis of `lhs` takes the group's slice of `rhs`; a ragged contracted axis gives one product for each
    group, in front. What is in no group gives zeros. A ragged batch axis gives what `dot_general` gives.

    Args:
      lhs, rhs: arrays.
      group_sizes: integers [groups], which follow each other along the ragged axis; or [*outer, groups], where `outer` are the
        batch axes of `lhs` and those of the ragged axis's kind before it (of a ragged batch axis, the batch axes before it).
      ragged_dot_dimension_numbers: a `RaggedDotDimensionNumbers`: the numbers of `dot_general`, the ragged axis of
        `lhs`, and the axis of `rhs` that counts groups, if the ragged axis is free.
      precision: as `dot_general` takes it.
      preferred_element_type: the dtype of sums and of the result; that of the operands by default.
      group_offset: not served; None.
      out_sharding: how the result is split over devices: a `NamedSharding`, or a spec on the mesh of the context.
    Returns: an array of the axes that `dot_general` gives, with the groups in front if a contracted axis is ragged.
    Raises:
      NotImplementedError: `group_offset` is given.
      TypeError: sizes or axes do not go together, or group sizes are no integers.
    Differentiable: in `lhs` and `rhs`, bilinear.
    Example:
      >>> dims = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
      >>> lax.ragged_dot_general(jnp.ones((3, 1)), jnp.array([[[1.0]], [[2.0]]]), jnp.array([1, 2]), dims).ravel()
      Array([1., 2., 2.], dtype=float32)
    """
    lhs, rhs, group_sizes = _n.asarray(lhs), _n.asarray(rhs), _n.asarray(group_sizes)
    if out_sharding is not None:
        dims = ragged_dot_dimension_numbers
        whole = lambda: ragged_dot_general(lhs, rhs, group_sizes, dims, precision, preferred_element_type, group_offset)  # noqa: E731
        return _core.split_call("ragged_dot_general", out_sharding, whole)
    if group_offset is not None:
        raise _user_error(NotImplementedError, f"{_NAME} with group_offset is not implemented")
    axes = _Axes(ragged_dot_dimension_numbers, lhs, rhs)
    _check_operands(axes, lhs, rhs, group_sizes)
    contract, batch = axes.contract, axes.batch
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    if axes.ragged in batch[0]:
        return _l.dot_general(lhs, rhs, (contract, batch), **options)
    grouped = _grouped(axes, lhs, group_sizes)
    contracted, batched = (tuple(axis + 1 for axis in pair[0]) for pair in (contract, batch))
    if axes.is_free:
        return _l.dot_general(
            grouped, rhs, (((0, *contracted), (axes.group, *contract[1])), (batched, batch[1])), **options
        )
    out = _l.dot_general(grouped, rhs, ((contracted, contract[1]), (batched, batch[1])), **options)
    return _n.moveaxis(out, len(batched), 0)


def ragged_dot(lhs, rhs, group_sizes, precision=None, preferred_element_type=None, group_offset=None, out_sharding=None):
    """Rows of a matrix, cut into groups of computed sizes, each times the matrix of its group. Rows of no group give zeros.

    Args:
      lhs: array [m, k].
      rhs: array [groups, k, n].
      group_sizes: integers [groups], which follow each other along the rows.
      precision: as `dot_general` takes it.
      preferred_element_type: the dtype of sums and of the result; that of the operands by default.
      group_offset: not served; None.
      out_sharding: how the result is split over devices: a `NamedSharding`, or a spec on the mesh of the context.
    Returns: an array [m, n].
    Raises:
      NotImplementedError: `group_offset` is given. TypeError: sizes do not go together, or group sizes are no integers.
    Differentiable: in `lhs` and `rhs`, bilinear.
    Example:
      >>> lax.ragged_dot(jnp.ones((3, 1)), jnp.array([[[1.0]], [[2.0]]]), jnp.array([1, 2])).ravel()
      Array([1., 2., 2.], dtype=float32)
    """
    dims = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(lhs, rhs, group_sizes, dims, precision, preferred_element_type, group_offset, out_sharding)
