"""Shardings: how the elements of an array lie on devices.

A `Mesh` is a grid of devices with named axes; a `PartitionSpec` says for each axis of an array which mesh axes split it; a
`NamedSharding` is both together. Arrays are whole in this process whatever their sharding: it says which part each device
holds, results of computations follow it, and `shard_map` gives each device its part.
"""

from __future__ import annotations

import dataclasses as _dataclasses
import enum as _enum
import functools as _functools

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._device import devices as _devices
from pullback._meshes import (
    AbstractDevice as AbstractDevice,
    AbstractMesh as AbstractMesh,
    AxisType as AxisType,
    Mesh as Mesh,
    _context as _context,
    get_abstract_mesh as get_abstract_mesh,
    get_mesh as get_mesh,
    set_mesh as set_mesh,
    use_abstract_mesh as use_abstract_mesh,
)


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

    sum = 1
    max = 2
    min = 3


def _axis_names(names, what):
    if not isinstance(names, (set, frozenset)):
        raise _user_error(TypeError, f"{what} argument of ManualAxisType should of type `frozenset` or `set`. Got type {type(names)}")
    return frozenset(names)


@_dataclasses.dataclass(frozen=True, kw_only=True)
class ManualAxisType:
    """What a type says of the mesh axes that `shard_map` made manual.

    Attributes:
      varying: axes along which values differ from member to member.
      unreduced: axes along which the members hold parts that are still to be joined.
      reduced: axes along which parts were joined.
      unreduced_kind: how the parts are joined; a sum where it is not said.
    Raises:
      TypeError: names are not given as a set.
      ValueError: an axis is in two of the sets.

    Example:
      >>> jax.sharding.ManualAxisType(varying={"i"}).varying
      frozenset({'i'})
    """

    varying: frozenset = frozenset()
    unreduced: frozenset = frozenset()
    reduced: frozenset = frozenset()
    unreduced_kind: UnreducedKind | None = None

    def __post_init__(self):
        for what in ("varying", "unreduced", "reduced"):
            object.__setattr__(self, what, _axis_names(getattr(self, what), what))
        for one, other in (("varying", "unreduced"), ("varying", "reduced"), ("unreduced", "reduced")):
            if getattr(self, one) & getattr(self, other):
                raise _user_error(
                    ValueError,
                    f"{one} and {other} cannot have common mesh axes. Got {one}={getattr(self, one)} and {other}={getattr(self, other)}"
                )
        if self.unreduced and self.unreduced_kind is None:
            object.__setattr__(self, "unreduced_kind", UnreducedKind.sum)

    def __repr__(self):
        parts = ", ".join(f"{field.name}={getattr(self, field.name)!s}" for field in _dataclasses.fields(self))
        return f"ManualAxisType({parts})"

    @property
    def vur(self):
        """All axes of which something is said."""
        return self.varying | self.unreduced | self.reduced

    @property
    def empty(self):
        """Whether nothing is said."""
        return not self.vur

    def update(self, **changes):
        """The same with some sets replaced."""
        return _dataclasses.replace(self, **changes)

    def to_ct_mat(self):
        """The type of cotangents: what was joined comes back in parts, and parts come back joined."""
        return ManualAxisType(varying=self.varying, unreduced=self.reduced, reduced=self.unreduced)


def _entry(partition):
    if isinstance(partition, (tuple, list)):
        partition = tuple(partition)
        return None if not partition else partition[0] if len(partition) == 1 else partition
    return partition


class PartitionSpec:
    """For each axis of an array the mesh axes that divide it: a name, a tuple of names (the first the slowest), or `None`.

    Axes beyond the last entry are whole. A spec is a sequence of its entries; it compares and hashes by them. `jax.P` is the
    same class.

    Attributes:
      partitions: the tuple of entries.
      unreduced, reduced: empty sets: partial sums as arrays are not supported, and naming axes for them raises
        NotImplementedError.
      UNCONSTRAINED: an entry that leaves an axis open.

    Example:
      >>> jax.sharding.PartitionSpec("x", None, ("y", "z"))
      P('x', None, ('y', 'z'))
    """

    __slots__ = ("_partitions", "_unreduced", "_reduced")
    UNCONSTRAINED = _UNCONSTRAINED

    def __init__(self, *partitions, unreduced=frozenset(), reduced=frozenset(), unreduced_kind=None):
        self._partitions = tuple(map(_entry, partitions))
        self._unreduced, self._reduced = frozenset(unreduced), frozenset(reduced)
        if self._unreduced or self._reduced:
            raise _user_error(NotImplementedError, "PartitionSpec with unreduced or reduced axes: partial sums as arrays are not implemented")

    @property
    def partitions(self):
        """The tuple of entries."""
        return self._partitions

    @property
    def unreduced(self):
        """Axes along which parts are still to be summed: none here."""
        return self._unreduced

    @property
    def reduced(self):
        """Axes along which parts were summed: none here."""
        return self._reduced

    @property
    def unreduced_kind(self):
        """How parts are still to be joined: None here."""
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
        raise _user_error(NotImplementedError, f"PartitionSpec + {type(other).__name__}")

    def __radd__(self, other):
        if not isinstance(other, tuple):
            raise _user_error(NotImplementedError, f"{type(other).__name__} + PartitionSpec")
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


def context_sharding(spec, function):
    """The sharding of a spec on the mesh of the context.

    Args:
      spec: a `PartitionSpec`.
      function: who asks, for the error.
    Returns: a `NamedSharding`.
    Raises:
      RuntimeError: there is no mesh in the context.
      ValueError: the spec names an axis that the mesh lacks.
    Differentiable: no; it takes no arrays.
    Example:
      >>> with jax.set_mesh(jax.sharding.Mesh(jax.devices()[:1], ("x",))):
      ...     jax.sharding.context_sharding(jax.P("x"), "an example").spec
      P('x',)
    """
    if not _context.meshes:
        raise _user_error(
            RuntimeError,
            f"{function} requires a non-empty mesh in context if you are passing `PartitionSpec`s to shardings. You can define a "
            "context mesh via `jax.set_mesh(mesh)`. Alternatively, provide `Sharding`s to shardings and then the mesh context "
            "manager is not required."
        )
    return NamedSharding(_context.meshes[-1], spec)


class Sharding:
    """How the elements of an array lie on devices: what every sharding has.

    Attributes:
      device_set: the set of devices; `num_devices` is their number.
      memory_kind: the kind of memory: "device".
      is_fully_replicated: whether every device holds all elements.
    """

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
        """Whether this process has any of the devices: always."""
        return True

    @property
    def is_fully_addressable(self):
        """Whether all devices are of this process."""
        return True

    @property
    def is_fully_replicated(self):
        """Whether every device holds all elements."""
        return True

    @property
    def _device_assignment(self):
        # Libraries that write shards to files read these three.
        return tuple(self._devices)

    _addressable_device_assignment = _internal_device_list = _device_assignment

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
            raise _user_error(IndexError, "list index out of range")
        if problem := self._indivisible(global_shape):
            raise IndivisibleError(f"{self!r} {problem}")
        return tuple(size // factor for size, factor in zip(global_shape, self._factors(len(global_shape))))

    def check_compatible_aval(self, aval_shape):
        """`ValueError` when arrays of the shape have fewer axes than the sharding speaks of."""
        if len(aval_shape) < self._rank():
            raise _user_error(
                ValueError,
                f"Sharding {self!r} is only valid for values of rank at least {self._rank()}, but was applied to a value of rank "
                f"{len(aval_shape)}." + (" For scalars the PartitionSpec should be P()" if not aval_shape else "")
            )

    def _check(self, shape, what):
        """Refuses a value of the shape, in the words for `what`."""
        try:
            self.check_compatible_aval(shape)
        except ValueError as error:
            raise _user_error(ValueError, f"One of {what} is incompatible with its sharding annotation {self!r}: {error}") from None
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
        if [d._number for d in self._devices] != [d._number for d in other._devices]:
            return False
        shape = tuple(a * b for a, b in zip(self._factors(ndim), other._factors(ndim)))
        bounds = lambda sharding: [  # noqa: E731
            [part.indices(size) for part, size in zip(index, shape)] for index in sharding.devices_indices_map(shape).values()
        ]
        return bounds(self) == bounds(other)

    def with_memory_kind(self, kind):
        """The sharding itself; there is one kind of memory."""
        if kind not in ("device", "pinned_host", "unpinned_host"):
            raise _user_error(ValueError, f"Could not find memory addressable by device cpu. Got memory kind: {kind}")
        return self


class SingleDeviceSharding(Sharding):
    """The whole array on one device.

    Attributes: `device_set`, the set of that device; `memory_kind`, accepted for compatibility when made, is always "device".

    Example:
      >>> sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
      >>> jax.device_put(jnp.ones(2), sharding).sharding == sharding
      True
    """

    def __init__(self, device, *, memory_kind=None):
        self._device = device

    @property
    def _devices(self):
        return [self._device]

    def _put(self, array, what):
        if isinstance(array, _core.Tracer):
            return _core.constrain(array, None, [], self._device._number, repr(self))
        return _core.put_on_device(array, self._device._number, True)

    def __repr__(self):
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind=device)"

    def __eq__(self, other):
        return isinstance(other, SingleDeviceSharding) and self._device is other._device

    def __hash__(self):
        return hash(self._device)

    def __reduce__(self):
        return SingleDeviceSharding, (self._device,)


def make_single_device_sharding(device, *, memory_kind=None):
    """The sharding of arrays that are whole on one device.

    Args:
      device: a device.
      memory_kind: accepted for compatibility; there is one kind of memory.
    Returns: a `SingleDeviceSharding`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.sharding.make_single_device_sharding(jax.devices()[0]).num_devices
      1
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)


def _names(partition):
    if partition is None or partition is _UNCONSTRAINED:
        return ()
    return partition if isinstance(partition, tuple) else (partition,)


class NamedSharding(Sharding):
    """An array divided over the named axes of a mesh.

    Attributes:
      mesh: the devices, a `Mesh`.
      spec: a `PartitionSpec`: for each axis of the array the mesh axes that divide it.
      memory_kind: accepted for compatibility when made; always "device", or None on a mesh without devices.
    Raises ValueError when the spec names an axis that the mesh lacks, `DuplicateSpecError` when it names one twice.

    Example:
      >>> mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
      >>> jax.sharding.NamedSharding(mesh, jax.P("x")).shard_shape((4, 2))
      (4, 2)
    """

    def __init__(self, mesh, spec, *, memory_kind=None):
        self.mesh, self.spec = mesh, spec
        seen = set()
        for name in (name for partition in spec.partitions for name in _names(partition)):
            if name not in mesh.axis_names:
                raise _user_error(ValueError, f"Resource axis: {name} of {spec} is not found in mesh: {mesh.axis_names}.")
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
        """Whether every device holds all elements."""
        return all(factor == 1 for factor in self._factors(self._rank()))

    @property
    def replicated_axes(self):
        """Mesh axes that are stated to hold copies: none here."""
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

    def _check(self, shape, what):
        try:
            super()._check(shape, what)
        except IndivisibleError as error:
            # On axes that types name the sharding is part of the type, which cannot be.
            if what.startswith("device_put") and any(kind is AxisType.Explicit for kind in self.mesh.axis_types):
                raise _user_error(ValueError, str(error)) from None
            raise

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
def _sharding_without_mesh(ndim):
    """What the aval of an array with `ndim` axes says of its sharding: whole in each axis, on a mesh without axes."""
    return NamedSharding(AbstractMesh((), ()), PartitionSpec(*[None] * ndim))


def make_mesh(axis_sizes, axis_names, axis_types=None, *, devices=None):
    """A mesh of the given shape over the first devices, with explicit axes by default.

    Args:
      axis_sizes: number of devices along each axis.
      axis_names: names of the axes.
      axis_types: an `AxisType`, or one for each axis; by default `AxisType.Explicit`.
      devices: the devices to take from; by default all.
    Returns: a `Mesh`.
    Raises:
      ValueError: there are not enough devices, or another number of names or types than sizes.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.make_mesh((1,), ("x",)).shape["x"]
      1
    """
    import math

    import numpy as np

    axis_sizes = tuple(int(size) for size in axis_sizes)
    devices = _devices() if devices is None else list(devices)
    n = math.prod(axis_sizes)
    if n > len(devices):
        raise _user_error(ValueError, f"Number of devices {len(devices)} must be >= the product of mesh_shape {axis_sizes}")
    if axis_types is None:
        axis_types = (AxisType.Explicit,) * len(axis_sizes)
    return Mesh(np.array(devices[:n], dtype=object).reshape(axis_sizes), axis_names, axis_types)


def with_sharding_constraint(x, shardings):
    """The same tree, with its leaves put where `shardings` says; inside traced functions too.

    Args:
      x: a tree of arrays and numbers.
      shardings: a sharding, a spec on the mesh of the context, or a tree of them that is a prefix of `x`.
    Returns: a tree like `x` of arrays with the same elements.
    Raises:
      RuntimeError: a spec without a mesh in the context.
      TypeError: an entry is no sharding or spec.
      ValueError: a sharding is None or does not fit a shape, or a tree that does not fit `x`.
    Differentiable: yes, linear; cotangents are put in the same place.
    Example:
      >>> print(jax.lax.with_sharding_constraint(jnp.arange(2), jax.sharding.SingleDeviceSharding(jax.devices()[0])))
      [0 1]
    """
    from pullback._device import _spread

    if any(target is None for target in _spread(shardings, x, "with_sharding_constraint shardings")):
        raise _user_error(
            ValueError,
            "One of with_sharding_constraint arguments got sharding None which is not allowed. Please only pass "
            "`jax.sharding.Sharding` instances."
        )
    return _put_tree(x, shardings, "with_sharding_constraint", "pjit outputs with pytree key path result")


def reshard(xs, out_shardings):
    """The same tree, with its leaves on other shardings.

    Args:
      xs: a tree of arrays and numbers.
      out_shardings: a sharding, a spec on the mesh of the context, or a tree of them that is a prefix of `xs`.
    Returns: a tree like `xs` of arrays with the same elements.
    Raises:
      RuntimeError: a spec without a mesh in the context.
      TypeError: an entry is no sharding or spec.
      ValueError: a sharding that does not fit a shape, or a tree that does not fit `xs`.
    Differentiable: yes, linear; cotangents are put in the same place.
    Example:
      >>> mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
      >>> jax.reshard(jnp.arange(2), jax.NamedSharding(mesh, jax.P("x"))).sharding.spec
      P('x',)
    """
    return _put_tree(xs, out_shardings, "reshard", "reshard args")


def _put_tree(x, shardings, function, what):
    from pullback._device import _spread
    from pullback.tree_util import tree_flatten

    leaves, treedef = tree_flatten(x)
    found = []
    for leaf, target in zip(leaves, _spread(shardings, x, f"{function} shardings")):
        target = context_sharding(target, function) if isinstance(target, PartitionSpec) else target
        if not (target is None or isinstance(target, Sharding)):
            raise _user_error(
                TypeError,
                f"{function} leaf specifications are expected to be PartitionSpec instances or None, but got {target}"
            )
        leaf = leaf if isinstance(leaf, _core.Array) else _core.to_array(leaf)
        found.append(leaf if target is None else target._put(leaf, what))
    return treedef.unflatten(found)


def make_array_from_callback(shape, sharding, data_callback, dtype=None):
    """An array whose parts `data_callback` gives, for the slices that each device holds.

    Args:
      shape: the shape of the whole array.
      sharding: how it is divided.
      data_callback: a function from a tuple of slices to an array: that part of the whole.
      dtype: the dtype; by default that of the parts.
    Returns: an array of the shape with the sharding.
    Raises:
      ValueError: a part has another shape than its slices, or the sharding does not divide the shape.
    Differentiable: no; the parts are concrete.
    Example:
      >>> sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
      >>> print(jax.make_array_from_callback((3,), sharding, lambda index: jnp.arange(3)[index]))
      [0 1 2]
    """
    import pullback.numpy as jnp

    found = sharding.addressable_devices_indices_map(tuple(shape))
    parts = [jnp.asarray(data_callback(index), dtype=dtype, device=device) for device, index in found.items()]
    return make_array_from_single_device_arrays(shape, sharding, parts, dtype=dtype)


def make_array_from_process_local_data(sharding, local_data, global_shape=None):
    """The tree as arrays on a sharding: its leaves hold all elements, as there is one process.

    Args:
      sharding: how the arrays are divided, or a tree of shardings that is a prefix of `local_data`.
      local_data: a tree of arrays.
      global_shape: accepted for compatibility; the shapes are those of the leaves.
    Returns: a tree like `local_data`.
    Raises:
      ValueError: `sharding` is no sharding or does not divide a shape.
    Differentiable: yes; cotangents pass unchanged.
    Example:
      >>> sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
      >>> print(jax.make_array_from_process_local_data(sharding, jnp.arange(3)))
      [0 1 2]
    """
    from pullback._device import device_put

    return device_put(local_data, sharding)


def make_array_from_single_device_arrays(shape, sharding, arrays, *, dtype=None):
    """An array made of the parts that lie on the devices of a sharding.

    Args:
      shape: the shape of the whole array.
      sharding: how it is divided.
      arrays: one concrete array for each device of the sharding, of the shape of its part.
      dtype: accepted for compatibility; the dtype is that of the parts.
    Returns: an array of the shape with the sharding.
    Raises:
      ValueError: there is not one part for each device, or one has a wrong shape.
      TypeError: a part is no array of the system, or is a tracer.
    Differentiable: no; the parts are concrete.
    Example:
      >>> sharding = jax.sharding.NamedSharding(jax.sharding.Mesh(jax.devices()[:1], ("x",)), jax.P("x"))
      >>> print(jax.make_array_from_single_device_arrays((2,), sharding, [jnp.arange(2)]))
      [0 1]
    """
    shape, arrays = tuple(shape), list(arrays)
    for array in arrays:
        if not isinstance(array, _core.Array) or isinstance(array, _core.Tracer):
            raise _user_error(TypeError, f"Unsupported type for elements in `arrays`: {type(array)}")
    if len(arrays) != sharding.num_devices:
        raise _user_error(
            ValueError,
            f"Expected {sharding.num_devices} per-device arrays (this is how many devices are addressable by the sharding), but got "
            f"{len(arrays)}"
        )
    wanted = sharding.shard_shape(shape)
    aval = _core.ShapedArray(shape, arrays[0].dtype)
    for array in arrays:
        if tuple(array.shape) != wanted:
            raise _user_error(
                ValueError,
                f"Expected shard shape {wanted} doesn't match the single device array shape {tuple(array.shape)}. Shape of Array is "
                f"{aval.str_short()} with sharding {sharding}"
            )
    if isinstance(sharding, SingleDeviceSharding):
        return sharding._put(arrays[0], "arrays")
    by_device = {next(iter(array.devices()))._number: array for array in arrays}
    if len(by_device) == len(arrays):
        arrays = [by_device.get(device._number, array) for device, array in zip(sharding._devices, arrays)]
    return _core.assemble(aval, sharding.mesh._handle, sharding._entries, arrays)


for _public in (DuplicateSpecError, IndivisibleError, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding):
    _public.__module__ = "pullback.sharding"


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "DuplicateSpecError", "IndivisibleError", "annotations", "context_sharding", "make_array_from_callback",
    "make_array_from_process_local_data", "make_array_from_single_device_arrays", "make_mesh", "with_sharding_constraint",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
