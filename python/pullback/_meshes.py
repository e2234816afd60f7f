"""Meshes: grids of devices with named axes, and the mesh of the context. `pullback.sharding` shows them."""

from __future__ import annotations

import collections as _collections
import contextlib as _contextlib
import enum as _enum
import threading as _threading

from pullback._core import user_error as _user_error
from pullback import _core


class AxisType(_enum.Enum):
    """Who decides how values are divided along a mesh axis: the system (`Auto`), the types of arrays (`Explicit`), or the user, inside
    `shard_map` (`Manual`).
    """

    Auto = "auto"
    Explicit = "explicit"
    Manual = "manual"

    def __repr__(self):
        return self.name


def _axis_types(types, n):
    if types is None:
        return (AxisType.Auto,) * n
    if isinstance(types, AxisType):
        types = (types,)
    types = tuple(types)
    if not all(isinstance(kind, AxisType) for kind in types):
        raise _user_error(TypeError, f"axis_types passed to Mesh must be of type `jax.sharding.AxisType`. Got {types} of type {tuple(map(type, types))}")
    if len(types) != n:
        raise _user_error(ValueError, f"Number of axis names should match the number of axis_types. Got axis_types={types} for {n} axes")
    return types


def _types_text(types):
    return "(" + ", ".join(map(repr, types)) + (",)" if len(types) == 1 else ")")


class _BaseMesh:
    @property
    def shape_tuple(self):
        """Pairs of name and size of the axes."""
        return tuple(zip(self.axis_names, self.axis_sizes))

    @property
    def shape(self):
        """An ordered dict from names of axes to their sizes."""
        return _collections.OrderedDict(self.shape_tuple)

    @property
    def size(self):
        """Number of devices; 0 without axes."""
        size = 1
        for n in self.axis_sizes:
            size *= n
        return size if self.axis_names else 0

    @property
    def empty(self):
        """Whether there are no axes."""
        return not self.axis_names

    def _of_type(self, wanted):
        return tuple(name for name, kind in zip(self.axis_names, self.axis_types) if kind is wanted)

    @property
    def auto_axes(self):
        """Names of the axes of type `Auto`."""
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self):
        """Names of the axes of type `Explicit`."""
        return self._of_type(AxisType.Explicit)

    @property
    def manual_axes(self):
        """Names of the axes of type `Manual`."""
        return self._of_type(AxisType.Manual)

    @property
    def are_all_axes_auto(self):
        """Whether all axes are of type `Auto`."""
        return not self.empty and all(kind is AxisType.Auto for kind in self.axis_types)

    @property
    def are_all_axes_explicit(self):
        """Whether all axes are of type `Explicit`."""
        return not self.empty and all(kind is AxisType.Explicit for kind in self.axis_types)

    @property
    def are_all_axes_manual(self):
        """Whether all axes are of type `Manual`."""
        return not self.empty and all(kind is AxisType.Manual for kind in self.axis_types)

    @property
    def are_all_axes_explicit_or_manual(self):
        """Whether no axis is of type `Auto`."""
        return not self.empty and all(kind is not AxisType.Auto for kind in self.axis_types)


# Equal meshes are one object.
_known_meshes = {}


class Mesh(_BaseMesh, _contextlib.ContextDecorator):
    """Devices in a grid with named axes. As a context, specs without a mesh mean this one.

    Attributes:
      devices: the NumPy array of devices, with one axis for each name; given as such or as nested sequences.
      axis_names: the names, a tuple of strings.
      axis_sizes: how many devices lie along each axis; `shape` is the dict by name, `size` the product.
      axis_types: an `AxisType` for each axis: who decides how values are divided; by default `Auto`.
    Raises ValueError when the devices do not have one axis for each name, or names repeat.

    Example:
      >>> mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
      >>> mesh.size, mesh.axis_names
      (1, ('x',))
    """

    def __new__(cls, devices, axis_names, axis_types=None):
        made = super().__new__(cls)
        made._set(devices, axis_names, axis_types)
        return _known_meshes.setdefault((cls, made._key), made)

    def _set(self, devices, axis_names, axis_types):
        import numpy as np

        devices = np.array(devices, dtype=object) if not isinstance(devices, np.ndarray) else devices.copy()
        axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if devices.ndim != len(axis_names):
            raise _user_error(
                ValueError,
                "Mesh requires the ndim of its first argument (`devices`) to equal the length of its second argument "
                f"(`axis_names`), but got devices.ndim == {devices.ndim} and len(axis_names) == {len(axis_names)}."
            )
        if any(name is None for name in axis_names):
            raise _user_error(ValueError, f"Mesh axis names cannot be None. Got: {axis_names}")
        if len(set(axis_names)) < len(axis_names):
            raise _user_error(ValueError, f"Mesh requires axis_names to be unique, but got {axis_names}")
        devices.flags.writeable = False
        self.devices, self.axis_names = devices, axis_names
        self.axis_sizes = devices.shape if axis_names else ()
        self.axis_types = _axis_types(axis_types, len(axis_names))
        self._key = (axis_names, self.axis_sizes, tuple(d._number for d in devices.flat) if axis_names else (), self.axis_types)
        self._lazy_handle = None

    @property
    def _handle(self):
        """The mesh as the core carries it."""
        if self._lazy_handle is None:
            axes = [(name, size) for name, size in self.shape_tuple]
            kinds = [kind.name for kind in self.axis_types]
            self._lazy_handle = _core.MeshHandle(axes, list(self._key[2]), kinds, str(self), self)
        return self._lazy_handle

    @property
    def device_ids(self):
        """Numbers of the devices, a NumPy array of the shape of the grid."""
        import numpy as np

        return np.array([d.id for d in self.devices.flat]).reshape(self.devices.shape)

    @property
    def local_devices(self):
        """Devices of this process: all, in the order of the grid."""
        return list(self.devices.flat)

    @property
    def local_mesh(self):
        """The part of the mesh in this process: the mesh itself."""
        return self

    @property
    def is_multi_process(self):
        """Whether several processes have its devices: never here."""
        return False

    @property
    def is_scalar(self):
        """Whether there is one device."""
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
        _put_meshes([*_context.meshes, self], None)
        return self

    def __exit__(self, *exception):
        _put_meshes(_context.meshes[:-1], None)
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
    """A kind of device: what an `AbstractMesh` says of its devices.

    Attributes: `device_kind`, `platform`: names; `num_cores`: a number or None.
    """

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
    """Names and sizes of the axes of a mesh, without devices; asking for these raises ValueError.

    Attributes:
      axis_sizes: how many devices lie along each axis; `shape` is the dict by name, `size` the product.
      axis_names: the names.
      axis_types: an `AxisType` for each axis; by default `Auto`.
      abstract_device: the kind of device, or None.
    Raises ValueError when there is not one size for each name.

    Example:
      >>> jax.sharding.AbstractMesh((2, 4), ("x", "y")).size
      8
    """

    def __init__(self, axis_sizes, axis_names, axis_types=None, *, abstract_device=None):
        self.axis_sizes, self.axis_names = tuple(axis_sizes), tuple(axis_names)
        if len(self.axis_sizes) != len(self.axis_names):
            raise _user_error(
                ValueError,
                f"AbstractMesh takes one size for each name, got axis_sizes={self.axis_sizes} and axis_names={self.axis_names}."
            )
        # A mesh without devices exists to be explicit about placement.
        axis_types = (AxisType.Explicit,) * len(self.axis_names) if axis_types is None else axis_types
        self.axis_types, self.abstract_device = _axis_types(axis_types, len(self.axis_names)), abstract_device

    @property
    def abstract_mesh(self):
        """The mesh itself."""
        return self

    def _no_devices(self, name):
        raise _user_error(ValueError, f"AbstractMesh does not implement {name}")

    devices = property(lambda self: self._no_devices("devices"), doc="Raises ValueError: there are no devices.")
    device_ids = property(lambda self: self._no_devices("device_ids"), doc="Raises ValueError: there are no devices.")
    local_devices = property(lambda self: self._no_devices("local_devices"), doc="Raises ValueError: there are no devices.")
    local_mesh = property(lambda self: self._no_devices("local_mesh"), doc="Raises ValueError: there are no devices.")
    is_multi_process = property(lambda self: self._no_devices("is_multi_process"), doc="Raises ValueError: there are no devices.")

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
        # The mesh without devices that stands for that of the context, where it has other types of axes.
        self.abstract = None
        # Meshes of the maps over devices that are being traced.
        self.maps = []


_context = _Context()
_EMPTY = AbstractMesh((), ())


def _put_meshes(meshes, abstract):
    """Makes meshes those of the context. What is traced under one is not used under another."""
    from pullback import _user_context

    _context.meshes, _context.abstract = meshes, abstract
    current = meshes[-1] if meshes else None
    _core.set_context_mesh(None if current is None or current.empty else current._handle)
    others = {key: value for key, value in _user_context._values().items() if key != "mesh"}
    shown = abstract if abstract is not None else current
    _user_context._put(others if shown is None else {**others, "mesh": shown})


def get_mesh():
    """The mesh of the context; an empty one without a context.

    Returns: a `Mesh`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.sharding.get_mesh().empty
      True
    """
    import numpy as np

    return _context.meshes[-1] if _context.meshes else Mesh(np.empty((), dtype=object), ())


def get_abstract_mesh():
    """The mesh of the context, without its devices; an empty one without a context.

    Returns: an `AbstractMesh`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.sharding.get_abstract_mesh().empty
      True
    """
    if _context.abstract is not None:
        return _context.abstract
    return _context.meshes[-1].abstract_mesh if _context.meshes else _EMPTY


class set_mesh:
    """Makes a mesh that of the context: for good, or for a `with` block. None takes all meshes out of the context.

    Attributes: `prev_mesh`, the mesh before, or None. Raises ValueError for what is no `Mesh`.

    Example:
      >>> mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
      >>> with jax.set_mesh(mesh):
      ...     jax.sharding.get_mesh() == mesh
      True
    """

    def __init__(self, mesh):
        if not (mesh is None or isinstance(mesh, Mesh)):
            raise _user_error(ValueError, f"Expected mesh of type `jax.sharding.Mesh`. Got {mesh} of type {type(mesh)}")
        self.prev_mesh = _context.meshes[-1] if _context.meshes else None
        self.prev_abstract_mesh = get_abstract_mesh()
        self._before = _context.meshes, _context.abstract
        _put_meshes([*_context.meshes, mesh] if mesh is not None else [], None)

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        _put_meshes(*self._before)
        return False


class use_abstract_mesh:
    """A context with an abstract mesh: types are of its axes, with their types. None is the mesh without axes.

    Attributes: `mesh`, that of the block; `prev`, the abstract mesh before. Raises ValueError for what is no abstract mesh.

    Example:
      >>> with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((2,), ("x",))):
      ...     jax.sharding.get_abstract_mesh().size
      2
    """

    def __init__(self, mesh):
        if mesh is not None and not isinstance(mesh, AbstractMesh):
            raise _user_error(
                ValueError, f"Expected mesh of type `jax.sharding.AbstractMesh`. Got {mesh} of type {type(mesh)}"
            )
        self.mesh, self.prev = _EMPTY if mesh is None else mesh, get_abstract_mesh()

    def __enter__(self):
        self._before = _context.meshes, _context.abstract
        _put_meshes(_context.meshes, self.mesh)
        return self.mesh

    def __exit__(self, *exception):
        _put_meshes(*self._before)
        return False


for _public in (
    AbstractDevice, AbstractMesh, AxisType, Mesh, get_abstract_mesh, get_mesh, set_mesh, use_abstract_mesh,
):
    _public.__module__ = "pullback.sharding"
