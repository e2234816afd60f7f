"""Rules of batching for primitives that Python code defines.

`primitive_batchers[p] = rule(args, dims, **params) -> (out, out_dim)`; `fancy_primitive_batchers[p]` takes the axis, an
`AxisData`, first, and `axis_primitive_batchers[p]` its size, its name and None. A dim is the batch axis of an operand,
`not_mapped` for none.
"""

import typing as _typing

from pullback._core import user_error as _user_error
from pullback._core import BatchTracer as BatchTracer
from pullback.interpreters._tables import RuleTable as _RuleTable

primitive_batchers = _RuleTable("batching rule")
fancy_primitive_batchers = _RuleTable("batching rule with axis")
axis_primitive_batchers = _RuleTable("batching rule with axis")

not_mapped = None
NotMapped = type(None)
BatchDim = int | None


class AxisData(_typing.NamedTuple):
    """The axis that is mapped over."""

    name: _typing.Any
    size: int
    spmd_name: _typing.Any
    explicit_mesh_axis: _typing.Any


# Types of data and of what says how they are mapped, as libraries register them: types of specifications, of sizes, and the
# functions that take an element out and put it back.
_vmappables = {}


def register_vmappable(data_type, spec_type, axis_size_type, to_elt, from_elt, make_iota):
    """Says how values of a type are mapped over by `vmap`.

    Args:
      data_type: the type of the values.
      spec_type: the type of what stands for them in `in_axes` and `out_axes`.
      axis_size_type: the type of the size of an axis.
      to_elt: `to_elt(element_of, size, value, spec)` gives an element of a value.
      from_elt: `from_elt(batch_of, size, element, spec)` gives the value of an element.
      make_iota: gives numbers for the elements of an axis, or None.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import batching
      >>> class Pairs:
      ...     pass
      >>> batching.register_vmappable(Pairs, int, int, lambda *_: None, lambda *_: None, None)
      >>> batching.unregister_vmappable(Pairs)
    """
    _vmappables[data_type] = (spec_type, axis_size_type, to_elt, from_elt, make_iota)


def unregister_vmappable(data_type):
    """Takes `register_vmappable` back.

    Args:
      data_type: the type of the values.
    Returns: None.
    Raises:
      KeyError: the type is not registered.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import batching
      >>> batching.register_vmappable(str, int, int, lambda *_: None, lambda *_: None, None)
      >>> batching.unregister_vmappable(str)
    """
    del _vmappables[data_type]


def moveaxis(x, source, destination):
    """`x` with one axis elsewhere.

    Args:
      x: an array.
      source, destination: where the axis is, and where it goes.
    Returns: an array.
    Differentiable: yes, linear.
    Example:
      >>> from pullback.interpreters import batching
      >>> batching.moveaxis(jnp.ones((2, 3)), 0, 1).shape
      (3, 2)
    """
    from pullback import numpy as jnp

    return x if source == destination else jnp.moveaxis(x, source, destination)


def broadcast(x, size, axis, mesh_axis=None):
    """`x` repeated along a new axis.

    Args:
      x: an array.
      size: how often.
      axis: where the new axis is.
      mesh_axis: accepted for compatibility; without effect.
    Returns: an array with one axis more.
    Differentiable: yes, linear.
    Example:
      >>> from pullback.interpreters import batching
      >>> batching.broadcast(jnp.ones(2), 3, 0).shape
      (3, 2)
    """
    from pullback import lax

    shape = list(x.shape)
    axis %= len(shape) + 1
    shape.insert(axis, size)
    return lax.broadcast_in_dim(x, tuple(shape), [i for i in range(len(shape)) if i != axis])


def bdim_at_front(x, dim, size):
    """`x` with its batch axis in front, repeated when it has none.

    Args:
      x: an array.
      dim: its batch axis, or `not_mapped`.
      size: the size of the batch.
    Returns: an array.
    Differentiable: yes, linear.
    Example:
      >>> from pullback.interpreters import batching
      >>> batching.bdim_at_front(jnp.ones((2, 3)), 1, 3).shape
      (3, 2)
    """
    return broadcast(x, size, 0) if dim is not_mapped else moveaxis(x, dim, 0)


def matchaxis(name, size, mesh_axis, source, destination, x, sum_match=False):
    """`x` with its batch axis moved from `source` to `destination`; `not_mapped` as source repeats it.

    Args:
      name, mesh_axis: accepted for compatibility; without effect.
      size: the size of the batch.
      source, destination: where the axis is, and where it goes; either may be `not_mapped`.
      x: an array.
      sum_match: whether a batch that has no place is summed.
    Returns: an array.
    Raises:
      ValueError: a batch has no place, and `sum_match` is False.
    Differentiable: yes, linear.
    Example:
      >>> from pullback.interpreters import batching
      >>> batching.matchaxis(None, 3, None, batching.not_mapped, 0, jnp.ones(2)).shape
      (3, 2)
    """
    if source is not_mapped and destination is not_mapped:
        return x
    if source is not_mapped:
        return broadcast(x, size, destination)
    if destination is not_mapped:
        if not sum_match:
            raise _user_error(ValueError, "vmap has mapped output but out_axes is None")
        return x.sum(source)
    return moveaxis(x, source, destination)


def _size_of(args, dims):
    return next(x.shape[d] for x, d in zip(args, dims) if d is not not_mapped)


def defvectorized(primitive):
    """Says that the primitive is elementwise over operands that have one batch axis or none.

    Args:
      primitive: a primitive that works element by element.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import batching
      >>> p = Primitive("twice")
      >>> _ = p.def_impl(lambda x: 2 * x)
      >>> batching.defvectorized(p)
      >>> print(jax.vmap(p.bind)(jnp.arange(3)))
      [0 2 4]
    """

    def batch(args, dims, **params):
        dim = next(d for d in dims if d is not not_mapped)
        if all(d == dim for d in dims):
            return primitive.bind(*args, **params), dim
        size = _size_of(args, dims)
        return primitive.bind(*(bdim_at_front(x, d, size) for x, d in zip(args, dims)), **params), 0

    primitive_batchers[primitive] = batch


def defbroadcasting(primitive):
    """Says that the primitive is elementwise over operands that broadcast.

    Args:
      primitive: a primitive that works element by element.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import batching
      >>> p = Primitive("twice")
      >>> _ = p.def_impl(lambda x: 2 * x)
      >>> batching.defbroadcasting(p)
      >>> print(jax.vmap(p.bind)(jnp.arange(3)))
      [0 2 4]
    """
    defvectorized(primitive)


def defreducer(primitive, ident=None):
    """Says that the primitive reduces over its parameter `axes`.

    Args:
      primitive: a primitive of one operand with a parameter `axes`.
      ident: accepted for compatibility; without effect.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import batching
      >>> p = Primitive("total")
      >>> _ = p.def_impl(lambda x, axes: x.sum(axes))
      >>> batching.defreducer(p)
      >>> print(jax.vmap(lambda x: p.bind(x, axes=(0,)))(jnp.ones((2, 3))))
      [3. 3.]
    """

    def batch(args, dims, *, axes, **params):
        ((x,), (dim,)) = args, dims
        moved = tuple(axis + (axis >= dim) for axis in axes)
        return primitive.bind(x, axes=moved, **params), dim - sum(axis < dim for axis in moved)

    primitive_batchers[primitive] = batch
