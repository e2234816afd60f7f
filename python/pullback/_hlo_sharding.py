"""A sharding in the words of XLA: which libraries read to compare shardings and to write them down."""

import math as _math


class HloSharding:
    """How tiles of an array lie on numbered devices.

    Attributes: `tiles`, the number of tiles along each axis, and last that of devices with equal tiles; `order`, the axes of the
    mesh in the order in which they count tiles.
    """

    def __init__(self, tiles, sizes, order, is_shared):
        self._tiles, self._sizes, self._order, self._is_shared = tiles, sizes, order, is_shared

    def is_replicated(self):
        """Whether all devices hold all."""
        return _math.prod(self._tiles[:-1] if self._is_shared else self._tiles) == 1

    def is_maximal(self):
        """Whether one device holds all."""
        return False

    def is_tiled(self):
        """Whether there are several tiles."""
        return not self.is_replicated()

    def num_devices(self):
        """How many devices there are."""
        return _math.prod(self._sizes)

    def tile_assignment_dimensions(self):
        """The number of tiles along each axis."""
        return list(self._tiles)

    def tile_assignment_devices(self):
        """The numbers of the devices in the order of their tiles."""
        import numpy as np

        numbers = np.arange(self.num_devices()).reshape(self._sizes)
        return numbers.transpose(self._order).ravel().tolist()

    def replicate_on_last_tile_dim(self):
        """Whether devices share tiles."""
        return self._is_shared

    def _key(self):
        return tuple(self._tiles), tuple(self.tile_assignment_devices()), self._is_shared

    def __eq__(self, other):
        return isinstance(other, HloSharding) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        if self.is_replicated():
            return "{replicated}"
        tiles = ",".join(map(str, self._tiles))
        last = " last_tile_dim_replicate" if self._is_shared else ""
        return f"{{devices=[{tiles}]<={_iota_text(self._sizes, self._order)}{last}}}"


def _iota_text(sizes, order):
    """The devices in order, or in the order of transposed axes: `[8]`, `[4,2]T(1,0)`."""
    kept = [axis for axis in range(len(sizes)) if sizes[axis] != 1]
    order = [kept.index(axis) for axis in order if axis in kept]
    sizes = [sizes[axis] for axis in kept]
    # Axes that stay neighbours in one order are one axis.
    groups = []
    for axis in order:
        if groups and groups[-1][-1] + 1 == axis:
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if len(groups) <= 1:
        return f"[{_math.prod(sizes)}]"
    ranked = sorted(groups)
    shape = ",".join(str(_math.prod(sizes[axis] for axis in group)) for group in ranked)
    return f"[{shape}]T({','.join(str(ranked.index(group)) for group in groups)})"


def of_named(sharding, ndim):
    """The `HloSharding` of a `NamedSharding` of arrays with `ndim` axes."""
    mesh, entries = sharding.mesh, sharding._entries
    names = list(mesh.axis_names)
    tiles = list(sharding._factors(ndim))
    order = [names.index(name) for entry in entries for name in entry]
    rest = [axis for axis in range(len(names)) if axis not in order]
    shared = _math.prod(mesh.axis_sizes[axis] for axis in rest)
    if shared > 1:
        tiles.append(shared)
    return HloSharding(tiles, list(mesh.axis_sizes), order + rest, shared > 1)
