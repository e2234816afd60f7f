"""The `out_sharding` of functions that make arrays: what it may be, checked in one place.

It owns the rule, not the placement: a sharding that splits nothing asks for nothing, so it is accepted and the result lies
where it would anyway; one that splits the result over devices is refused, with the way to get that.
"""

from pullback._core import user_error as _user_error
from pullback.sharding import AxisType, NamedSharding, PartitionSpec, _names, get_mesh


def check_out_sharding(function, out_sharding):
    """Accepts an `out_sharding` that splits nothing.

    Args:
      function: its name as errors show it.
      out_sharding: what the user gave.

    Raises:
      TypeError: it is neither a `NamedSharding` nor a `PartitionSpec`.
      ValueError: a spec without a mesh in context, or one that names an axis of type `Auto` or `Manual`.
      NotImplementedError: it splits the result over several devices.
    """
    if out_sharding is None:
        return
    if not isinstance(out_sharding, (NamedSharding, PartitionSpec)):
        raise _user_error(
            TypeError,
            f"`out_sharding` argument of {function} only supports instances of `NamedSharding` or `PartitionSpec`. Got "
            f"{out_sharding} of type: {type(out_sharding)}"
        )
    mesh, spec = _mesh_and_spec(out_sharding)
    for name in (name for partition in spec for name in _names(partition)):
        _check_axis(function, mesh, spec, name)


def _mesh_and_spec(out_sharding):
    if isinstance(out_sharding, NamedSharding):
        return out_sharding.mesh, out_sharding.spec
    mesh = get_mesh()
    if mesh.empty:
        raise _user_error(
            ValueError,
            "Using PartitionSpec when you are not under a mesh context is not allowed. Please pass a NamedSharding instance or "
            f"enter into a mesh context via `jax.set_mesh`. Got {out_sharding}"
        )
    return mesh, out_sharding


def _check_axis(function, mesh, spec, name):
    if name not in mesh.axis_names:
        raise _user_error(ValueError, f"Resource axis: {name} of {spec} is not found in mesh: {mesh.axis_names}.")
    kind = dict(zip(mesh.axis_names, mesh.axis_types))[name]
    if kind is not AxisType.Explicit:
        raise _user_error(
            ValueError,
            f"PartitionSpec passed to {function} cannot contain axis names that are of type Auto or Manual. Got PartitionSpec: "
            f"{spec} with axis name: {name} of type: {kind}."
        )
    if mesh.shape[name] > 1:
        raise _user_error(
            NotImplementedError,
            f"out_sharding of {function} that splits the result over mesh axis {name!r} of size {mesh.shape[name]} is not "
            "implemented; split it afterwards with jax.device_put(result, sharding)"
        )
