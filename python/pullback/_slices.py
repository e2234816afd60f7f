"""`jax.ds`: slices of a known size whose start may be computed."""

import dataclasses as _dataclasses
import operator as _operator

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.tree_util import register_pytree_node as _register


class _NotSpecified:
    def __repr__(self):
        return "<not specified>"


_NOT_SPECIFIED = _NotSpecified()


def _is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


@_dataclasses.dataclass
class Slice:
    """The positions `start:start + size:stride`, of which the start may be computed: an index for arrays.

    Attributes:
      start: the first position: an integer, or an integer scalar that may be a tracer.
      size: over how many positions.
      stride: the distance of those that are taken.
    Raises ValueError for a negative stride.
    """

    start: object
    size: object
    stride: int = 1

    def __post_init__(self):
        if self.stride < 0:
            raise _user_error(ValueError, "`stride` must be >= 0.")

    @property
    def is_dynamic_start(self):
        """Whether the start is not known."""
        return not _core.is_concrete(self.start)

    @property
    def is_dynamic_size(self):
        """Whether the size is not known."""
        return not _core.is_concrete(self.size)

    @classmethod
    def from_slice(cls, slc, size):
        """The same positions as a `slice` of an axis of `size`."""
        start, stop, step = slc.indices(size)
        if step < 1:
            raise _user_error(ValueError, f"slice must have a positive step (got: {step})")
        return cls(start, max((stop - start + step - 1) // step, 0), step)

    def _fixed(self):
        """The slice where start and size are known; `None` where the start is computed."""
        try:
            size = _operator.index(self.size)
        except TypeError as error:
            raise _user_error(
                TypeError, f"Shapes must be 1D sequences of concrete values of integer type, got [{self.size!r}]: the size of ds must be known"
            ) from error
        if _is_number(self.start) and self.stride:
            return slice(self.start, self.start + size, self.stride)
        if self.stride != 1:
            raise _user_error(
                NotImplementedError,
                f"ds with a computed start and stride {self.stride} is not implemented; take "
                "x[jax.ds(start, size)][::stride]"
            )
        return None


def _flatten(window):
    """Parts that are no numbers are leaves."""
    fields = window.start, window.size
    return tuple(field for field in fields if not _is_number(field)), (tuple(field if _is_number(field) else None for field in fields), window.stride)


def _unflatten(fixed, leaves):
    fields, stride = fixed
    leaves = iter(leaves)
    start, size = (next(leaves) if field is None else field for field in fields)
    made = object.__new__(Slice)
    made.start, made.size, made.stride = start, size, stride
    return made


_register(Slice, _flatten, _unflatten)


def dslice(start, size=_NOT_SPECIFIED, stride=None):
    """A slice of a known size whose start may be computed: an index for arrays and for `.at`. `jax.ds` is its name.

    Args:
      start: the first position: an integer, or an integer scalar that may be a tracer; None for 0. Alone, the size of a
        slice from 0 on; None alone is the whole axis.
      size: the number of positions.
      stride: the distance of positions; 1 by default.
    Returns: a `Slice`; of `None` alone, `slice(None, None, stride)`.
    Raises:
      ValueError: a negative stride.
      TypeError: when it indexes: the start is no integer scalar, or the size is greater than the axis, or not known.
      NotImplementedError: when it indexes: a computed start together with a stride.
    Differentiable: no; it holds positions. Where a computed slice would reach over the end it starts earlier, in reads.
    Example:
      >>> @jax.jit
      ... def part(x, i):
      ...     return x[jax.ds(i, 2)]
      >>> print(part(jnp.arange(10), 4))
      [4 5]
    """
    if size is _NOT_SPECIFIED:
        return slice(None, None, stride) if start is None else Slice(0, start, 1 if stride is None else stride)
    return Slice(0 if start is None else start, size, 1 if stride is None else stride)


dslice.__module__ = "pullback"
