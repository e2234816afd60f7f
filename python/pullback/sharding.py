"""Shardings of arrays; there is one device."""

from pullback._device import Sharding as Sharding, SingleDeviceSharding as SingleDeviceSharding


class PartitionSpec(tuple):
    """For each axis of an array the mesh axes that it is split over."""

    def __new__(cls, *partitions):
        return super().__new__(cls, partitions)

    def __repr__(self):
        return f"P{tuple(self)!r}"


class Mesh:
    """Devices in a grid with named axes."""

    def __init__(self, devices, axis_names, axis_types=None):
        import numpy as np

        self.devices = np.asarray(devices)
        self.axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if self.devices.ndim != len(self.axis_names):
            raise ValueError(
                "Mesh requires the ndim of its first argument (`devices`) to equal the length of its second argument "
                f"(`axis_names`), but got devices.ndim == {self.devices.ndim} and len(axis_names) == {len(self.axis_names)}."
            )

    @property
    def shape(self):
        return dict(zip(self.axis_names, self.devices.shape))

    @property
    def size(self):
        return self.devices.size

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None

    def __eq__(self, other):
        return isinstance(other, Mesh) and self.axis_names == other.axis_names and (self.devices == other.devices).all()

    def __hash__(self):
        return hash(self.axis_names)

    def __repr__(self):
        return f"Mesh({', '.join(f'{name!r}: {size}' for name, size in self.shape.items())})"


class NamedSharding(Sharding):
    """An array split over the named axes of a mesh."""

    def __init__(self, mesh, spec, *, memory_kind=None):
        self.mesh, self.spec = mesh, spec

    def __repr__(self):
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r}, memory_kind=device)"

    def __eq__(self, other):
        return isinstance(other, NamedSharding) and (self.mesh, self.spec) == (other.mesh, other.spec)

    def __hash__(self):
        return hash((self.mesh, self.spec))
