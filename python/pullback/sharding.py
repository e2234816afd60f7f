"""Shardings: how the elements of an array lie on devices.

A `Mesh` is a grid of devices with named axes; a `PartitionSpec` says for each axis of an array which mesh axes split it; a
`NamedSharding` is both together. Arrays are whole in this process whatever their sharding: it says which part each device
holds, results of computations follow it, and `shard_map` gives each device its part.
"""

from __future__ import annotations

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


from pullback._specs import (
    ManualAxisType as ManualAxisType,
    PartitionSpec as PartitionSpec,
    UnreducedKind as UnreducedKind,
    _UNCONSTRAINED as _UNCONSTRAINED,
    _names as _names,
)


class IndivisibleError(ValueError):
    """A sharding that does not divide a shape evenly."""


class DuplicateSpecError(Exception):
    """A spec that uses a mesh axis twice."""


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
    mesh = _context.meshes[-1]
    if _context.abstract is not None and _context.abstract.axis_types != mesh.axis_types:
        mesh = mesh.update(axis_types=_context.abstract.axis_types)
    return NamedSharding(mesh, spec)


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
        self._check_memory_kind(kind)
        return self

    def _check_memory_kind(self, kind):
        """Refuses a kind of memory that the devices do not read."""
        if kind is None or kind == "device":
            return
        device = self._devices[0]
        known = device._memory_kinds()
        if kind not in known:
            raise _user_error(
                ValueError,
                f"Could not find memory addressable by device {device.platform}. Device {device.platform} can address the following "
                f"memory kinds: {', '.join(known)}. Got memory kind: {kind}"
            )


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
        if memory_kind is not None:
            self._check_memory_kind(memory_kind)

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
        self._memory_kind = memory_kind
        if memory_kind is not None and not isinstance(mesh, AbstractMesh):
            self._check_memory_kind(memory_kind)
        for what, names in (("Unreduced", spec.unreduced), ("Reduced", spec.reduced)):
            if unknown := names - set(mesh.axis_names):
                shown = ", ".join(map(str, sorted(unknown)))
                raise _user_error(ValueError, f"{what} axes {shown} is not found in {mesh.axis_names=}. Got pspec={spec}")

    @property
    def _devices(self):
        return list(self.mesh.devices.flat)

    def _to_xla_hlo_sharding(self, num_dimensions):
        from pullback._hlo_sharding import of_named

        return of_named(self, num_dimensions)

    def is_equivalent_to(self, other, ndim):
        """Whether both put the same part of arrays with `ndim` axes on each device."""
        if isinstance(self.mesh, AbstractMesh) and isinstance(other, NamedSharding):
            padded = lambda sharding: [*sharding._entries, *[[]] * ndim][:ndim]  # noqa: E731
            return self.mesh == other.mesh and padded(self) == padded(other)
        return super().is_equivalent_to(other, ndim)

    def with_memory_kind(self, kind):
        """The same with another kind of memory."""
        if not isinstance(self.mesh, AbstractMesh):
            return super().with_memory_kind(kind)
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    @property
    def num_devices(self):
        """How many devices there are, also on a mesh without devices."""
        return self.mesh.size

    @property
    def memory_kind(self):
        """The kind of memory; `None` on a mesh without devices."""
        return self._memory_kind if isinstance(self.mesh, AbstractMesh) else "device"

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
        if self.mesh.explicit_axes and (isinstance(array, _core.Tracer) or isinstance(self.mesh, AbstractMesh)):
            return self._reshard(array)
        if isinstance(self.mesh, AbstractMesh):
            return self._put_on_its_devices(array, what)
        if isinstance(array, _core.Tracer):
            return _core.constrain(array, self.mesh._handle, self._entries, 0, repr(self))
        return _core.put_on_mesh(array, self.mesh._handle, self._entries)

    def _put_on_its_devices(self, array, what):
        """The array split so over the devices of the context, or over those that it is on."""
        from pullback._out_sharding import devices_of

        own = None if isinstance(array, _core.Tracer) else getattr(array, "sharding", None)
        if isinstance(own, NamedSharding) and own.mesh.shape_tuple == self.mesh.shape_tuple:
            return NamedSharding(own.mesh, self.spec)._put(array, what)
        devices = devices_of(self.mesh)
        if devices is not None:
            return NamedSharding(devices.update(axis_types=self.mesh.axis_types), self.spec)._put(array, what)
        if isinstance(array, _core.Tracer):
            # Which devices these are is known where the program runs; on axes of type Auto a value may lie anywhere.
            return array
        raise _user_error(
            TypeError,
            "The sharding on the input must be a `NamedSharding` since the target sharding has an `AbstractMesh` in it. Got sharding "
            f"type {type(own)} for shape {_core.typeof(array).str_short()}"
        )

    def _reshard(self, array):
        """The array split so in its type."""
        from pullback._out_sharding import in_types

        if len(self.spec) > array.ndim:
            shown = NamedSharding(self.mesh.abstract_mesh, self.spec)
            raise _user_error(
                ValueError,
                f"Length of sharding.spec ({len(self.spec)}) must be equal to aval's ndim ({array.ndim}). Got sharding.spec "
                f"{self.spec}, aval.ndim {array.ndim} and sharding {shown}"
            )
        return _core.reshard(array, in_types(self, array.ndim))

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


def _sharding_without_mesh(ndim):
    """What the type of an array with `ndim` axes says that nothing splits: whole in each axis, on the mesh of the context."""
    return _whole_on(get_abstract_mesh(), ndim)


@_functools.lru_cache(maxsize=None)
def _whole_on(mesh, ndim):
    return NamedSharding(mesh, PartitionSpec(*[None] * ndim))


def _sharding_of_type(axes, entries, unreduced, reduced):
    """The sharding that a type says: axes of the mesh as `(name, size, type)`, names for each axis, and axes of sums."""
    parts = (tuple(names) for names in entries)
    return _typed_sharding(tuple(axes), tuple(parts), frozenset(unreduced), frozenset(reduced))


@_functools.lru_cache(maxsize=None)
def _typed_sharding(axes, entries, unreduced, reduced):
    names, sizes, kinds = zip(*axes)
    mesh = AbstractMesh(sizes, names, tuple(AxisType[kind] for kind in kinds), abstract_device=AbstractDevice("cpu", None, "cpu"))
    return NamedSharding(mesh, PartitionSpec(*entries, unreduced=unreduced, reduced=reduced))


def _in_types(sharding, ndim):
    """What the core takes for the part of a sharding that stands in types; None where there is none."""
    from pullback._out_sharding import in_types

    if not (isinstance(sharding, NamedSharding) and sharding.mesh.explicit_axes):
        return None
    return in_types(sharding, ndim)


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
    return _put_tree(x, shardings, "with_sharding_constraint", "pjit outputs with pytree key path result", _asserted)


def _asserted(leaf, target, what):
    """The leaf where a program wants it; on a mesh of explicit axes alone that is where its type says it is."""
    if not (isinstance(target, NamedSharding) and target.mesh.are_all_axes_explicit):
        return target._put(leaf, what)
    target._check(leaf.shape, what)
    own = _core.typeof(leaf).sharding.spec
    wanted = target.spec.update(partitions=(*target.spec, *[None] * (leaf.ndim - len(target.spec))))
    if own != wanted:
        raise _user_error(
            AssertionError,
            "`with_sharding_constraint` acts as an assert when all axes of mesh are of type `Explicit`. The array sharding: "
            f"{own} did not match the sharding provided: {wanted}. Please use `jax.sharding.reshard` to shard your input to the "
            "sharding you want."
        )
    return leaf


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
    return _put_tree(xs, out_shardings, "reshard", "reshard args", _resharded)


def _resharded(leaf, target, what):
    if isinstance(target, NamedSharding) and target.mesh.explicit_axes:
        return target._reshard(leaf)
    return target._put(leaf, what)


def _without_layout(target):
    """The sharding of a `Format`, whose layout is that of all arrays here; anything else as it is."""
    from pullback.experimental.layout import Format

    return target.sharding if isinstance(target, Format) else target


def _put_tree(x, shardings, function, what, put):
    from pullback._device import _spread
    from pullback.tree_util import tree_flatten

    leaves, treedef = tree_flatten(x)
    found = []
    for leaf, target in zip(leaves, _spread(shardings, x, f"{function} shardings")):
        target = context_sharding(target, function) if isinstance(target, PartitionSpec) else _without_layout(target)
        if not (target is None or isinstance(target, Sharding)):
            raise _user_error(
                TypeError,
                f"{function} leaf specifications are expected to be PartitionSpec instances or None, but got {target}"
            )
        leaf = leaf if isinstance(leaf, _core.Array) else _core.to_array(leaf)
        found.append(leaf if target is None else put(leaf, target, what))
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
      global_shape: None, or the shape of the leaves, as all elements are in this process.
    Returns: a tree like `local_data`.
    Raises:
      ValueError: `sharding` is no sharding or does not divide a shape, or `global_shape` is another one.
    Differentiable: yes; cotangents pass unchanged.
    Example:
      >>> sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
      >>> print(jax.make_array_from_process_local_data(sharding, jnp.arange(3)))
      [0 1 2]
    """
    import numpy as np

    from pullback._device import device_put
    from pullback.tree_util import tree_leaves

    if global_shape is not None and not isinstance(global_shape, dict):
        for leaf in tree_leaves(local_data):
            if tuple(global_shape) != np.shape(leaf):
                raise _user_error(
                    ValueError,
                    "When calling `make_array_from_process_local_data` on a single process, global_shape should be None or equal to "
                    f"local_data.shape.Got {global_shape=} and local_data.shape={np.shape(leaf)}."
                )
    return device_put(local_data, sharding)


def make_array_from_single_device_arrays(shape, sharding, arrays, *, dtype=None):
    """An array made of the parts that lie on the devices of a sharding.

    Args:
      shape: the shape of the whole array.
      sharding: how it is divided.
      arrays: one concrete array for each device of the sharding, of the shape of its part.
      dtype: None, or the dtype of the parts.
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
    if tracers := {type(array) for array in arrays if isinstance(array, _core.Tracer)}:
        raise _user_error(
            ValueError,
            f"jax.make_array_from_single_device_arrays requires a list of concrete arrays as input, but got types {tracers}"
        )
    for array in arrays:
        if not isinstance(array, _core.Array):
            raise _user_error(TypeError, f"Unsupported type for elements in `arrays`: {type(array)}")
    if len(arrays) != sharding.num_devices:
        raise _user_error(
            ValueError,
            f"Expected {sharding.num_devices} per-device arrays (this is how many devices are addressable by the sharding), but got "
            f"{len(arrays)}"
        )
    if dtype is not None and arrays and _core.as_dtype(dtype) != arrays[0].dtype:
        raise _user_error(
            ValueError,
            "If `dtype` is provided to `jax.make_array_from_single_device_arrays`, it must match the dtype of the addressable "
            f"shards. Got dtype={_core.as_dtype(dtype)} and shard dtype={arrays[0].dtype}`."
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


for _public in (DuplicateSpecError, IndivisibleError, NamedSharding, Sharding, SingleDeviceSharding):
    _public.__module__ = "pullback.sharding"

from pullback._axis_modes import auto_axes as auto_axes, explicit_axes as explicit_axes  # noqa: E402


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "DuplicateSpecError", "IndivisibleError", "annotations", "context_sharding", "make_array_from_callback",
    "make_array_from_process_local_data", "make_array_from_single_device_arrays", "make_mesh", "with_sharding_constraint",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
