"""The `out_sharding` of functions, and shardings in types: what may be given, checked in one place.

It owns the rules and makes what the core takes; how a result is split is the core's.
"""

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.sharding import AxisType, NamedSharding, PartitionSpec, _names, get_abstract_mesh, get_mesh


def resolved(function, out_sharding):
    """What the core takes for an `out_sharding`.

    Args:
      function: its name as errors show it.
      out_sharding: what the user gave.

    Returns: a `_core.OutSharding`, or None for None.
    Raises:
      TypeError: it is neither a `NamedSharding` nor a `PartitionSpec`.
      ValueError: a spec without a mesh in context, or one that names an axis of type `Auto` or `Manual`.
    """
    if out_sharding is None:
        return None
    if not isinstance(out_sharding, (NamedSharding, PartitionSpec)):
        raise _user_error(
            TypeError,
            f"`out_sharding` argument of {function} only supports instances of `NamedSharding` or `PartitionSpec`. Got "
            f"{out_sharding} of type: {type(out_sharding)}"
        )
    sharding = _with_mesh(out_sharding)
    spec = sharding.spec
    for name in [name for partition in spec for name in _names(partition)] + sorted(spec.unreduced | spec.reduced):
        _check_axis(function, sharding.mesh, spec, name)
    return in_types(sharding)


def _with_mesh(out_sharding):
    if isinstance(out_sharding, NamedSharding):
        return out_sharding
    mesh = get_abstract_mesh()
    if mesh.empty:
        raise _user_error(
            ValueError,
            "Using PartitionSpec when you are not under a mesh context is not allowed. Please pass a NamedSharding instance or "
            f"enter into a mesh context via `jax.set_mesh`. Got {out_sharding}"
        )
    return NamedSharding(mesh, out_sharding)


def _check_axis(function, mesh, spec, name):
    kind = dict(zip(mesh.axis_names, mesh.axis_types))[name]
    if kind is not AxisType.Explicit:
        raise _user_error(
            ValueError,
            f"PartitionSpec passed to {function} cannot contain axis names that are of type Auto or Manual. Got PartitionSpec: "
            f"{spec} with axis name: {name} of type: {kind}."
        )


def devices_of(mesh):
    """The mesh of devices behind a mesh: itself, or that of the context with the same axes; None where there is none."""
    from pullback.sharding import Mesh

    if isinstance(mesh, Mesh):
        return mesh
    context = get_mesh()
    return context if context.shape_tuple == mesh.shape_tuple else None


def in_types(sharding, rank=None):
    """What types say of a sharding, as the core takes it: its explicit axes alone."""
    mesh, spec = sharding.mesh, sharding.spec
    explicit = set(mesh.explicit_axes)
    entries = [[name for name in _names(partition) if name in explicit] for partition in spec]
    entries += [[] for _ in range((rank or 0) - len(entries))]
    axes = [(name, size, kind.name) for (name, size), kind in zip(mesh.shape_tuple, mesh.axis_types)]
    sums = [[name for name in mesh.axis_names if name in names] for names in (spec.unreduced, spec.reduced)]
    devices = devices_of(mesh)
    if devices is not None and devices.axis_types != mesh.axis_types:
        devices = devices.update(axis_types=mesh.axis_types)
    shown = NamedSharding(mesh.abstract_mesh, spec)
    return _core.OutSharding(axes, entries, tuple(sums), None if devices is None else devices._handle, repr(shown))
