"""`jit` with shardings: arguments are put where `in_shardings` says, results where `out_shardings` says.

Inside of other traces the same is said by constraints on the values.
"""

import sys as _sys

from pullback._core import user_error as _user_error
from pullback import _config, _core
from pullback._device import Device, _spread
from pullback.sharding import PartitionSpec, Sharding, SingleDeviceSharding, context_sharding


def _resolved(entry, option):
    if entry is None or isinstance(entry, Sharding):
        return entry
    if isinstance(entry, PartitionSpec):
        return context_sharding_of(entry, option)
    layouts = _sys.modules.get("pullback.experimental.layout")
    if layouts is not None and isinstance(entry, layouts.Format):
        layout = entry.layout
        if isinstance(layout, layouts.Layout) and layout.major_to_minor != tuple(range(len(layout.major_to_minor))):
            raise _user_error(NotImplementedError, f"arrays are row-major here; the layout {layout} of {option} is not supported")
        return _resolved(entry.sharding, option)
    raise _user_error(TypeError, f"{option} leaf specifications are expected to be PartitionSpec instances or None, but got {entry}")


def context_sharding_of(spec, option):
    """The sharding of a spec on the mesh of the context, with an error that names the option of `jit`."""
    try:
        return context_sharding(spec, "jit")
    except RuntimeError as error:
        raise _user_error(RuntimeError, str(error).replace("to shardings.", f"to {option}.")) from None


def constrained(fun, out_shardings, wraps):
    """`fun` with its results put where `out_shardings` says."""

    @wraps(fun)
    def constrained_fun(*args, **kwargs):
        from pullback.tree_util import keystr, tree_flatten_with_path, tree_structure

        out = fun(*args, **kwargs)
        entries = _spread(out_shardings, out, "pjit out_shardings")
        placed = []
        for (path, leaf), entry in zip(tree_flatten_with_path(out)[0], entries):
            target = _resolved(entry, "out_shardings")
            if target is not None:
                leaf = target._put(_array(leaf, target), f"pjit outputs with pytree key path result{keystr(path)}")
            placed.append(leaf)
        return tree_structure(out).unflatten(placed)

    return constrained_fun


def _array(leaf, target):
    """A leaf as an array on its way to a sharding."""
    if _config._guards_transfers:
        from pullback._transfers import guard_argument

        guard_argument(leaf, target)
    return leaf if isinstance(leaf, _core.Array) else _core.taken_to_device(leaf)


class ShardedJit(_core.PjitFunction):
    """A jitted function that puts its arguments on shardings or on a device."""

    def __call__(self, *args, **kwargs):
        return super().__call__(*self._placed(args), **kwargs)

    def _placed(self, args):
        static = set(self._options()[0])
        dynamic = [arg for number, arg in enumerate(args) if number not in static]
        placed = iter(self._put_all(tuple(dynamic)))
        return [arg if number in static else next(placed) for number, arg in enumerate(args)]

    def _put_all(self, args):
        from pullback.tree_util import keystr, tree_flatten_with_path, tree_map, tree_structure

        if self._device is not None:
            return tree_map(lambda leaf: self._device._put(_array(leaf, self._device), "arguments"), args)
        shardings = self._in_shardings
        shardings = tuple(shardings) if isinstance(shardings, list) else shardings
        if isinstance(shardings, tuple) and len(shardings) != len(args):
            raise _user_error(
                ValueError,
                "pjit in_shardings specification must be a tree prefix of the positional arguments tuple. In particular, pjit "
                "in_shardings must either be a Sharding, a PartitionSpec, or a tuple of length equal to the number of positional "
                f"arguments. But pjit in_shardings is the wrong length: got a tuple or list of length {len(shardings)} for an args tuple "
                f"of length {len(args)}."
            )
        entries = _spread(shardings, args, "pjit in_shardings")
        placed = []
        for (path, leaf), entry in zip(tree_flatten_with_path(args)[0], entries):
            target = _resolved(entry, "in_shardings")
            placed.append(leaf if target is None else self._put(_array(leaf, target), target, keystr(path)))
        return tree_structure(args).unflatten(placed)

    def _put(self, leaf, target, path):
        is_given = not isinstance(leaf, _core.Tracer) and leaf.committed
        if is_given and not leaf.sharding.is_equivalent_to(target, leaf.ndim):
            raise _user_error(
                ValueError,
                f"Sharding passed to jit does not match the sharding on the respective arg. Got jit sharding: {target},\narg sharding: "
                f"{leaf.sharding} for arg type: {_core.typeof(leaf).str_short()}"
            )
        return target._put(leaf, f"pjit arguments with pytree key path args{path}")

    @classmethod
    def of(cls, in_shardings, device, *parts):
        """The function of `parts`, with what its arguments are put on."""
        jitted = cls(*parts)
        if device is not None and not isinstance(device, (Device, Sharding)):
            raise _user_error(ValueError, f"jit takes a device of jax.devices(), got {device!r}")
        jitted._in_shardings = in_shardings
        jitted._device = SingleDeviceSharding(device) if isinstance(device, Device) else device
        return jitted
