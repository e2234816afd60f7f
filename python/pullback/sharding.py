"""Shardings: how the elements of an array lie on devices.

A `Mesh` is a grid of devices with named axes; a `PartitionSpec` says for each axis of an array which mesh axes split it; a
`NamedSharding` is both together. Arrays are whole in this process whatever their sharding: it says which part each device
holds, results of computations follow it, and `shard_map` gives each device its part.
"""

from __future__ import annotations

import collections as _collections
import contextlib as _contextlib
import enum as _enum
import functools as _functools
import threading as _threading

from pullback import _core
from pullback._device import devices as _devices


class IndivisibleError(ValueError):
    """A sharding that does not divide a shape evenly."""


class DuplicateSpecError(Exception):
    """A spec that uses a mesh axis twice."""


class _Unconstrained:
    """The entry of a spec that leaves an axis open."""

    def __repr__(self):
        return "UNCONSTRAINED"

    def __reduce__(self):
        return "_UNCONSTRAINED"

    def __deepcopy__(self, memo):
        return self


_UNCONSTRAINED = _Unconstrained()


class UnreducedKind(_enum.Enum):
    """How partial results are to be joined."""

    sum = "sum"
    max = "max"
    min = "min"

    def __repr__(self):
        return self.name


def _entry(partition):
    if isinstance(partition, (tuple, list)):
        partition = tuple(partition)
        return None if not partition else partition[0] if len(partition) == 1 else partition
    return partition


class PartitionSpec:
    """For each axis of an array the mesh axes that split it: a name, a tuple of names (the first the slowest), or `None`.

    Axes beyond the last entry are whole.

    >>> from pullback.sharding import PartitionSpec as P
    >>> P("x", None, ("y", "z"))
    P('x', None, ('y', 'z'))
    """

    __slots__ = ("_partitions", "_unreduced", "_reduced")
    UNCONSTRAINED = _UNCONSTRAINED

    def __init__(self, *partitions, unreduced=frozenset(), reduced=frozenset(), unreduced_kind=None):
        self._partitions = tuple(map(_entry, partitions))
        self._unreduced, self._reduced = frozenset(unreduced), frozenset(reduced)
        if self._unreduced or self._reduced:
            raise NotImplementedError("PartitionSpec with unreduced or reduced axes: partial sums as arrays are not implemented")

    @property
    def partitions(self):
        return self._partitions

    @property
    def unreduced(self):
        return self._unreduced

    @property
    def reduced(self):
        return self._reduced

    @property
    def unreduced_kind(self):
        return None

    def __getitem__(self, i):
        return self._partitions[i]

    def __iter__(self):
        return iter(self._partitions)

    def __len__(self):
        return len(self._partitions)

    def __add__(self, other):
        if isinstance(other, PartitionSpec):
            return PartitionSpec(*self, *other)
        if isinstance(other, tuple):
            return PartitionSpec(*self, *other)
        raise NotImplementedError(f"PartitionSpec + {type(other).__name__}")

    def __radd__(self, other):
        if not isinstance(other, tuple):
            raise NotImplementedError(f"{type(other).__name__} + PartitionSpec")
        return PartitionSpec(*other, *self)

    def __eq__(self, other):
        return isinstance(other, PartitionSpec) and self._partitions == other._partitions

    def __hash__(self):
        return hash(self._partitions)

    def __repr__(self):
        return f"P{self._partitions!r}"

    def __reduce__(self):
        return PartitionSpec, self._partitions

    def index(self, value):
        """The position of an entry."""
        return self._partitions.index(_entry(value))

    def count(self, value):
        """How often an entry occurs."""
        return self._partitions.count(_entry(value))

    def update(self, partitions=None, unreduced=None, reduced=None, **kwargs):
        """The spec with other entries."""
        return PartitionSpec(*(self._partitions if partitions is None else partitions))

    def to_lo(self):
        """The spec itself."""
        return self

    to_tangent_spec = to_ct_spec = to_lo


class AxisType(_enum.Enum):
    """Who decides how values are split along a mesh axis: the system, the types, or the user."""

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"

    def __repr__(self):
        return self.name


def _axis_types(types, n):
    if types is None:
        return (AxisType.Auto,) * n
    types = (types,) * n if isinstance(types, AxisType) else tuple(types)
    if len(types) != n:
        raise ValueError(f"Number of axis names should match the number of axis_types. Got axis_types of length {len(types)} for {n} axes")
    return types


def _types_text(types):
    return "(" + ", ".join(map(repr, types)) + (",)" if len(types) == 1 else ")")


class _BaseMesh:
    @property
    def shape_tuple(self):
        return tuple(zip(self.axis_names, self.axis_sizes))

    @property
    def shape(self):
        return _collections.OrderedDict(self.shape_tuple)

    @property
    def size(self):
        size = 1
        for n in self.axis_sizes:
            size *= n
        return size if self.axis_names else 0

    @property
    def empty(self):
        return not self.axis_names

    def _of_type(self, wanted):
        return tuple(name for name, kind in zip(self.axis_names, self.axis_types) if kind is wanted)

    @property
    def auto_axes(self):
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self):
        return self._of_type(AxisType.Explicit)

    @property
    def manual_axes(self):
        return self._of_type(AxisType.Manual)

    @property
    def are_all_axes_auto(self):
        return not self.empty and all(kind is AxisType.Auto for kind in self.axis_types)

    @property
    def are_all_axes_explicit(self):
        return not self.empty and all(kind is AxisType.Explicit for kind in self.axis_types)

    @property
    def are_all_axes_manual(self):
        return not self.empty and all(kind is AxisType.Manual for kind in self.axis_types)

    @property
    def are_all_axes_explicit_or_manual(self):
        return not self.empty and all(kind is not AxisType.Auto for kind in self.axis_types)


class Mesh(_BaseMesh, _contextlib.ContextDecorator):
    """Devices in a grid with named axes. As a context, specs without a mesh mean this one.

    Args:
      devices: an array, or nested sequences, of devices, with one axis for each name.
      axis_names: the names.
      axis_types: who decides how values are split; by default the system.

    Raises:
      ValueError: the devices do not have one axis for each name.

    >>> import pullback as jax
    >>> jax.sharding.Mesh(jax.devices()[:1], ("x",)).size
    1
    """

    def __init__(self, devices, axis_names, axis_types=None):
        import numpy as np

        devices = np.array(devices, dtype=object) if not isinstance(devices, np.ndarray) else devices.copy()
        axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if devices.ndim != len(axis_names):
            raise ValueError(
                "Mesh requires the ndim of its first argument (`devices`) to equal the length of its second argument "
                f"(`axis_names`), but got devices.ndim == {devices.ndim} and len(axis_names) == {len(axis_names)}."
            )
        if any(name is None for name in axis_names):
            raise ValueError(f"Mesh axis names cannot be None. Got: {axis_names}")
        if len(set(axis_names)) < len(axis_names):
            raise ValueError(f"Mesh requires axis_names to be unique, but got {axis_names}")
        devices.flags.writeable = False
        self.devices, self.axis_names = devices, axis_names
        self.axis_sizes = devices.shape if axis_names else ()
        self.axis_types = _axis_types(axis_types, len(axis_names))
        self._key = (axis_names, self.axis_sizes, tuple(d.id for d in devices.flat) if axis_names else (), self.axis_types)
        self._lazy_handle = None

    @property
    def _handle(self):
        """The mesh as the core carries it."""
        if self._lazy_handle is None:
            axes = [(name, size) for name, size in self.shape_tuple]
            self._lazy_handle = _core.MeshHandle(axes, list(self._key[2]), str(self), self)
        return self._lazy_handle

    @property
    def device_ids(self):
        import numpy as np

        return np.array([d.id for d in self.devices.flat]).reshape(self.devices.shape)

    @property
    def local_devices(self):
        return list(self.devices.flat)

    @property
    def local_mesh(self):
        return self

    @property
    def is_multi_process(self):
        return False

    @property
    def is_scalar(self):
        return self.size == 1

    @property
    def abstract_mesh(self):
        """Names, sizes and kind of device, without the devices."""
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=AbstractDevice("cpu", None, "cpu"))

    def update(self, devices=None, axis_names=None, axis_types=None):
        """The mesh with some parts changed."""
        pick = lambda new, old: old if new is None else new  # noqa: E731
        return Mesh(pick(devices, self.devices), pick(axis_names, self.axis_names), pick(axis_types, self.axis_types))

    def __enter__(self):
        _context.meshes.append(self)
        return self

    def __exit__(self, *exception):
        _context.meshes.pop()
        return False

    def __eq__(self, other):
        return self is other or isinstance(other, Mesh) and self._key == other._key

    def __hash__(self):
        return hash(self._key)

    def __str__(self):
        shape = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)
        return f"Mesh({shape}, axis_types={_types_text(self.axis_types)})" if self.axis_names else "Mesh()"

    def __repr__(self):
        if self.empty:
            return "Mesh(axis_sizes=(), axis_names=())"
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={_types_text(self.axis_types)})"

    def __reduce__(self):
        return Mesh, (self.devices, self.axis_names, self.axis_types)


class AbstractDevice:
    """A kind of device."""

    def __init__(self, device_kind, num_cores, platform):
        self.device_kind, self.num_cores, self.platform = device_kind, num_cores, platform

    def _key(self):
        return self.device_kind, self.num_cores, self.platform

    def __eq__(self, other):
        return isinstance(other, AbstractDevice) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"AbstractDevice(device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform})"


class AbstractMesh(_BaseMesh):
    """Names and sizes of the axes of a mesh, without devices."""

    def __init__(self, axis_sizes, axis_names, axis_types=None, *, abstract_device=None):
        self.axis_sizes, self.axis_names = tuple(axis_sizes), tuple(axis_names)
        if len(self.axis_sizes) != len(self.axis_names):
            raise ValueError(
                f"AbstractMesh takes one size for each name, got axis_sizes={self.axis_sizes} and axis_names={self.axis_names}."
            )
        # A mesh without devices exists to be explicit about placement.
        axis_types = AxisType.Explicit if axis_types is None else axis_types
        self.axis_types, self.abstract_device = _axis_types(axis_types, len(self.axis_names)), abstract_device

    @property
    def abstract_mesh(self):
        return self

    def _no_devices(self, name):
        raise ValueError(f"AbstractMesh does not implement {name}")

    devices = property(lambda self: self._no_devices("devices"))
    device_ids = property(lambda self: self._no_devices("device_ids"))
    local_devices = property(lambda self: self._no_devices("local_devices"))
    local_mesh = property(lambda self: self._no_devices("local_mesh"))
    is_multi_process = property(lambda self: self._no_devices("is_multi_process"))

    def __enter__(self):
        self._no_devices("__enter__; use jax.set_mesh with a mesh of devices")

    def __exit__(self, *exception):
        return False

    def update(self, axis_sizes=None, axis_names=None, axis_types=None, **kwargs):
        """The mesh with some parts changed."""
        pick = lambda new, old: old if new is None else new  # noqa: E731
        parts = pick(axis_sizes, self.axis_sizes), pick(axis_names, self.axis_names), pick(axis_types, self.axis_types)
        return AbstractMesh(*parts, abstract_device=kwargs.get("abstract_device", self.abstract_device))

    def update_axis_types(self, name_to_type):
        """The mesh with other types of some axes."""
        types = [name_to_type.get(name, kind) for name, kind in zip(self.axis_names, self.axis_types)]
        return self.update(axis_types=tuple(types))

    def _key(self):
        return self.axis_sizes, self.axis_names, self.axis_types, self.abstract_device

    def __eq__(self, other):
        return isinstance(other, AbstractMesh) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        if self.empty:
            return "AbstractMesh((), axis_types=())"
        shape = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)
        device = self.abstract_device
        kind = "" if device is None else (
            f", device_kind={device.device_kind}, num_cores={device.num_cores}, platform={device.platform}"
        )
        return f"AbstractMesh({shape}, axis_types={_types_text(self.axis_types)}{kind})"


class _Context(_threading.local):
    """The meshes that contexts of this thread name, the innermost last."""

    def __init__(self):
        self.meshes = []
        # Meshes of the maps over devices that are being traced.
        self.maps = []


_context = _Context()
_EMPTY = AbstractMesh((), ())


def get_mesh():
    """The mesh of the context; an empty one without a context."""
    import numpy as np

    return _context.meshes[-1] if _context.meshes else Mesh(np.empty((), dtype=object), ())


def get_abstract_mesh():
    """The mesh of the context, without its devices; an empty one without a context."""
    return _context.meshes[-1].abstract_mesh if _context.meshes else _EMPTY


class set_mesh:
    """Makes a mesh that of the context: for good, or for a `with` block.

    >>> import pullback as jax
    >>> mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
    >>> with jax.set_mesh(mesh):
    ...     jax.sharding.get_mesh() == mesh
    True
    """

    def __init__(self, mesh):
        if not (mesh is None or isinstance(mesh, Mesh)):
            raise ValueError(f"Expected mesh of type `jax.sharding.Mesh`. Got {mesh} of type {type(mesh)}")
        self.prev_mesh = _context.meshes[-1] if _context.meshes else None
        self.prev_abstract_mesh = get_abstract_mesh()
        self._before = list(_context.meshes)
        _context.meshes[:] = [*self._before, mesh] if mesh is not None else []

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        _context.meshes[:] = self._before
        return False


class use_abstract_mesh:
    """A context with an abstract mesh; meshes here have devices, so it must be that of the context."""

    def __init__(self, mesh):
        self.mesh, self.prev = mesh, get_abstract_mesh()

    def __enter__(self):
        if self.mesh.empty or self.mesh.shape_tuple == self.prev.shape_tuple:
            return self.mesh
        raise NotImplementedError("use_abstract_mesh with a mesh other than that of the context")

    def __exit__(self, *exception):
        return False


def context_sharding(spec, function):
    """The sharding of a spec on the mesh of the context.

    Raises:
      RuntimeError: there is none.
    """
    if not _context.meshes:
        raise RuntimeError(
            f"{function} requires a non-empty mesh in context if you are passing `PartitionSpec`s to shardings. You can define a "
            "context mesh via `jax.set_mesh(mesh)`. Alternatively, provide `Sharding`s to shardings and then the mesh context "
            "manager is not required."
        )
    return NamedSharding(_context.meshes[-1], spec)


class Sharding:
    """How the elements of an array lie on devices: what every sharding has."""

    memory_kind = "device"

    @property
    def device_set(self):
        """The devices."""
        return set(self._devices)

    @property
    def addressable_devices(self):
        """The devices of this process."""
        return self.device_set

    @property
    def num_devices(self):
        """How many devices there are."""
        return len(self._devices)

    @property
    def has_addressable_devices(self):
        return True

    @property
    def is_fully_addressable(self):
        """Whether all devices are of this process."""
        return True

    @property
    def is_fully_replicated(self):
        """Whether every device holds all elements."""
        return True

    def _factors(self, rank):
        return (1,) * rank

    def _indivisible(self, shape):
        factors = self._factors(len(shape))
        for axis, (size, factor) in enumerate(zip(shape, factors)):
            if size % factor:
                return (
                    f"implies that array axis {axis} is partitioned {factor} times, but the dimension size is {size} (full shape: "
                    f"{tuple(shape)}, per-dimension tiling factors: {factors[: self._rank()]} should evenly divide the shape)"
                )
        return None

    def _rank(self):
        return 0

    def shard_shape(self, global_shape):
        """The shape of one part.

        Raises:
          IndivisibleError: the parts would not be of one shape.
        """
        if len(global_shape) < self._rank():
            raise IndexError("list index out of range")
        if problem := self._indivisible(global_shape):
            raise IndivisibleError(f"{self!r} {problem}")
        return tuple(size // factor for size, factor in zip(global_shape, self._factors(len(global_shape))))

    def check_compatible_aval(self, aval_shape):
        """`ValueError` when arrays of the shape have fewer axes than the sharding speaks of."""
        if len(aval_shape) < self._rank():
            raise ValueError(
                f"Sharding {self!r} is only valid for values of rank at least {self._rank()}, but was applied to a value of rank "
                f"{len(aval_shape)}." + (" For scalars the PartitionSpec should be P()" if not aval_shape else "")
            )

    def _check(self, shape, what):
        """Refuses a value of the shape, in the words for `what`."""
        try:
            self.check_compatible_aval(shape)
        except ValueError as error:
            raise ValueError(f"One of {what} is incompatible with its sharding annotation {self!r}: {error}") from None
        if problem := self._indivisible(shape):
            raise IndivisibleError(f"One of {what} was given the sharding {self!r} {problem}.")

    def devices_indices_map(self, global_shape):
        """The slices of the whole array that each device holds."""
        whole = (slice(None),) * len(global_shape)
        return {device: whole for device in self._devices}

    def addressable_devices_indices_map(self, global_shape):
        """The slices that each device of this process holds."""
        return self.devices_indices_map(global_shape)

    def is_equivalent_to(self, other, ndim):
        """Whether both put the same part of arrays with `ndim` axes on each device."""
        if [d.id for d in self._devices] != [d.id for d in other._devices]:
            return False
        shape = tuple(a * b for a, b in zip(self._factors(ndim), other._factors(ndim)))
        bounds = lambda sharding: [  # noqa: E731
            [part.indices(size) for part, size in zip(index, shape)] for index in sharding.devices_indices_map(shape).values()
        ]
        return bounds(self) == bounds(other)

    def with_memory_kind(self, kind):
        """The sharding itself; there is one kind of memory."""
        if kind not in ("device", "pinned_host", "unpinned_host"):
            raise ValueError(f"Could not find memory addressable by device cpu. Got memory kind: {kind}")
        return self


class SingleDeviceSharding(Sharding):
    """The whole array on one device."""

    def __init__(self, device, *, memory_kind=None):
        self._device = device

    @property
    def _devices(self):
        return [self._device]

    def _put(self, array, what):
        if isinstance(array, _core.Tracer):
            return _core.constrain(array, None, [], self._device.id, repr(self))
        return _core.put_on_device(array, self._device.id, True)

    def __repr__(self):
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind=device)"

    def __eq__(self, other):
        return isinstance(other, SingleDeviceSharding) and self._device is other._device

    def __hash__(self):
        return hash(self._device)

    def __reduce__(self):
        return SingleDeviceSharding, (self._device,)


def make_single_device_sharding(device, *, memory_kind=None):
    """The sharding of arrays that are whole on one device."""
    return SingleDeviceSharding(device, memory_kind=memory_kind)


def _names(partition):
    if partition is None or partition is _UNCONSTRAINED:
        return ()
    return partition if isinstance(partition, tuple) else (partition,)


class NamedSharding(Sharding):
    """An array split over the named axes of a mesh.

    Args:
      mesh: the devices.
      spec: for each axis of the array the mesh axes that split it.

    Raises:
      ValueError: the spec names an axis that the mesh lacks.
      DuplicateSpecError: the spec names an axis twice.

    >>> import pullback as jax
    >>> mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
    >>> jax.sharding.NamedSharding(mesh, jax.P("x")).shard_shape((4, 2))
    (4, 2)
    """

    def __init__(self, mesh, spec, *, memory_kind=None):
        self.mesh, self.spec = mesh, spec
        seen = set()
        for name in (name for partition in spec.partitions for name in _names(partition)):
            if name not in mesh.axis_names:
                raise ValueError(f"Resource axis: {name} of {spec} is not found in mesh: {mesh.axis_names}.")
            if name in seen:
                raise DuplicateSpecError(
                    "A single NamedSharding spec specification can map every mesh axis to at most one positional dimension, but "
                    f"{spec} has duplicate entries for `{name}`"
                )
            seen.add(name)

    @property
    def _devices(self):
        return list(self.mesh.devices.flat)

    @property
    def num_devices(self):
        """How many devices there are, also on a mesh without devices."""
        return self.mesh.size

    @property
    def memory_kind(self):
        """The kind of memory; `None` on a mesh without devices."""
        return None if isinstance(self.mesh, AbstractMesh) else "device"

    def _rank(self):
        return len(self.spec)

    @property
    def _entries(self):
        return [list(_names(partition)) for partition in self.spec]

    def _factors(self, rank):
        sizes = self.mesh.shape
        factors = []
        for names in [*self._entries, *[[]] * rank][:rank]:
            factor = 1
            for name in names:
                factor *= sizes[name]
            factors.append(factor)
        return tuple(factors)

    @property
    def is_fully_replicated(self):
        return all(factor == 1 for factor in self._factors(self._rank()))

    @property
    def replicated_axes(self):
        return frozenset()

    def devices_indices_map(self, global_shape):
        """The slices of the whole array that each device holds."""
        import numpy as np

        part = self.shard_shape(global_shape)
        found = {}
        for place, device in np.ndenumerate(self.mesh.devices):
            coordinates = dict(zip(self.mesh.axis_names, place))
            index = [slice(None)] * len(global_shape)
            for axis, names in enumerate(self._entries):
                if part[axis] == global_shape[axis]:
                    continue
                number = 0
                for name in names:
                    number = number * self.mesh.shape[name] + int(coordinates[name])
                index[axis] = slice(number * part[axis], (number + 1) * part[axis])
            found[device] = tuple(index)
        return found

    def _put(self, array, what):
        self._check(array.shape, what)
        if isinstance(array, _core.Tracer):
            return _core.constrain(array, self.mesh._handle, self._entries, 0, repr(self))
        return _core.put_on_mesh(array, self.mesh._handle, self._entries)

    def update(self, **kwargs):
        """The sharding with some parts changed."""
        return NamedSharding(kwargs.get("mesh", self.mesh), kwargs.get("spec", self.spec))

    def __repr__(self):
        kind = "" if self.memory_kind is None else f", memory_kind={self.memory_kind}"
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec}{kind})"

    def __eq__(self, other):
        return isinstance(other, NamedSharding) and (self.mesh, self.spec) == (other.mesh, other.spec)

    def __hash__(self):
        return hash((self.mesh, self.spec))

    def __reduce__(self):
        return NamedSharding, (self.mesh, self.spec)


@_functools.lru_cache(maxsize=None)
def sharding_without_mesh(ndim):
    """What the aval of an array with `ndim` axes says of its sharding: whole in each axis, on a mesh without axes."""
    return NamedSharding(_EMPTY, PartitionSpec(*[None] * ndim))


def make_mesh(axis_sizes, axis_names, axis_types=None, *, devices=None):
    """A mesh of the given shape over the first devices, with explicit axes by default.

    Raises:
      ValueError: there are not enough devices.
    """
    import math

    import numpy as np

    axis_sizes = tuple(int(size) for size in axis_sizes)
    devices = _devices() if devices is None else list(devices)
    n = math.prod(axis_sizes)
    if n > len(devices):
        raise ValueError(f"Number of devices {len(devices)} must be >= the product of mesh_shape {axis_sizes}")
    if axis_types is None:
        axis_types = (AxisType.Explicit,) * len(axis_sizes)
    return Mesh(np.array(devices[:n], dtype=object).reshape(axis_sizes), axis_names, axis_types)


def with_sharding_constraint(x, shardings):
    """The same tree, with its leaves put where `shardings` says; inside traced functions too.

    Args:
      x: a tree of arrays.
      shardings: a sharding, a spec on the mesh of the context, or a tree of them that is a prefix of `x`.

    Linear; cotangents are put in the same place.

    Raises:
      RuntimeError: a spec without a mesh in context.
      ValueError: a sharding that does not fit a shape.
    """
    return _put_tree(x, shardings, "with_sharding_constraint", "pjit outputs with pytree key path result")


def reshard(xs, out_shardings):
    """The same tree on other shardings."""
    return _put_tree(xs, out_shardings, "reshard", "reshard args")


def _put_tree(x, shardings, function, what):
    from pullback._device import _spread
    from pullback.tree_util import tree_flatten

    leaves, treedef = tree_flatten(x)
    found = []
    for leaf, target in zip(leaves, _spread(shardings, x, f"{function} shardings")):
        target = context_sharding(target, function) if isinstance(target, PartitionSpec) else target
        if not (target is None or isinstance(target, Sharding)):
            raise TypeError(
                f"{function} leaf specifications are expected to be PartitionSpec instances or None, but got {target}"
            )
        leaf = leaf if isinstance(leaf, _core.Array) else _core.to_array(leaf)
        found.append(leaf if target is None else target._put(leaf, what))
    return treedef.unflatten(found)


def make_array_from_callback(shape, sharding, data_callback, dtype=None):
    """An array whose parts `data_callback` gives, for the slices that each device holds.

    Raises:
      ValueError: a part has another shape than its slices.
    """
    import pullback.numpy as jnp

    found = sharding.addressable_devices_indices_map(tuple(shape))
    parts = [jnp.asarray(data_callback(index), dtype=dtype, device=device) for device, index in found.items()]
    return make_array_from_single_device_arrays(shape, sharding, parts, dtype=dtype)


def make_array_from_process_local_data(sharding, local_data, global_shape=None):
    """An array of the tree's leaves, which hold all elements, as there is one process."""
    from pullback._device import device_put

    return device_put(local_data, sharding)


def make_array_from_single_device_arrays(shape, sharding, arrays, *, dtype=None):
    """An array made of the parts that lie on the devices of a sharding.

    Raises:
      ValueError: there is not one part for each device, or one has a wrong shape.
      TypeError: a part is no array of the system.
    """
    shape, arrays = tuple(shape), list(arrays)
    for array in arrays:
        if not isinstance(array, _core.Array) or isinstance(array, _core.Tracer):
            raise TypeError(f"Unsupported type for elements in `arrays`: {type(array)}")
    if len(arrays) != sharding.num_devices:
        raise ValueError(
            f"Expected {sharding.num_devices} per-device arrays (this is how many devices are addressable by the sharding), but got "
            f"{len(arrays)}"
        )
    wanted = sharding.shard_shape(shape)
    aval = _core.ShapedArray(shape, arrays[0].dtype)
    for array in arrays:
        if tuple(array.shape) != wanted:
            raise ValueError(
                f"Expected shard shape {wanted} doesn't match the single device array shape {tuple(array.shape)}. Shape of Array is "
                f"{aval.str_short()} with sharding {sharding}"
            )
    if isinstance(sharding, SingleDeviceSharding):
        return sharding._put(arrays[0], "arrays")
    by_device = {next(iter(array.devices())).id: array for array in arrays}
    if len(by_device) == len(arrays):
        arrays = [by_device.get(device.id, array) for device, array in zip(sharding._devices, arrays)]
    return _core.assemble(aval, sharding.mesh._handle, sharding._entries, arrays)


for _public in (
    AbstractMesh, AxisType, DuplicateSpecError, IndivisibleError, Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding,
):
    _public.__module__ = "pullback.sharding"
