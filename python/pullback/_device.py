"""The device of this engine: one CPU."""


class Client:
    """What runs programs."""

    platform = "cpu"
    platform_version = "pullback"
    runtime_type = "pullback"

    def devices(self):
        return [_CPU]

    local_devices = devices

    def device_count(self):
        return 1

    local_device_count = device_count

    def process_index(self):
        return 0

    def live_arrays(self):
        return []

    def __repr__(self):
        return "<Client cpu>"


class CpuDevice:
    """A CPU."""

    platform = "cpu"
    device_kind = "cpu"
    process_index = 0
    host_id = 0
    local_hardware_id = 0

    def __init__(self, id, client):
        self.id, self.client = id, client

    def memory_stats(self):
        return None

    def addressable_memories(self):
        return []

    def __repr__(self):
        return f"CpuDevice(id={self.id})"

    def __str__(self):
        return f"cpu:{self.id}"

    def __reduce__(self):
        return _device_of, (self.id,)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


def _device_of(id):
    return _CPU


_CLIENT = Client()
_CPU = CpuDevice(0, _CLIENT)


class Sharding:
    """How the elements of an array lie on devices."""

    memory_kind = "device"

    @property
    def device_set(self):
        return {_CPU}

    @property
    def addressable_devices(self):
        return {_CPU}

    @property
    def num_devices(self):
        return 1

    @property
    def is_fully_addressable(self):
        return True

    @property
    def is_fully_replicated(self):
        return True

    def shard_shape(self, global_shape):
        return tuple(global_shape)

    def devices_indices_map(self, global_shape):
        return {_CPU: (slice(None),) * len(global_shape)}

    addressable_devices_indices_map = devices_indices_map

    def is_equivalent_to(self, other, ndim):
        return isinstance(other, Sharding) and self.device_set == other.device_set

    def with_memory_kind(self, kind):
        return self


class SingleDeviceSharding(Sharding):
    """The whole array on one device."""

    def __init__(self, device, *, memory_kind=None):
        self._device = device

    def __repr__(self):
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind=device)"

    def __eq__(self, other):
        return isinstance(other, SingleDeviceSharding) and self._device is other._device

    def __hash__(self):
        return hash(self._device)


_SHARDING = SingleDeviceSharding(_CPU)


class Shard:
    """The part of an array that one device holds."""

    def __init__(self, array):
        self.device, self.replica_id, self.data = _CPU, 0, array
        self.index = (slice(None, None, None),) * array.ndim

    def __repr__(self):
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, data={self.data})"


def default_device():
    return _CPU


def default_sharding():
    return _SHARDING


def device_set():
    return {_CPU}


def shards(array):
    return [Shard(array)]


def _check_backend(backend):
    if backend not in (None, "cpu") and backend is not _CLIENT:
        raise RuntimeError(f"Unknown backend {backend}. Available backends are ['cpu']")


def devices(backend=None):
    """All devices."""
    _check_backend(backend)
    return [_CPU]


def local_devices(process_index=None, backend=None, host_id=None):
    """Devices of this process."""
    return devices(backend)


def device_count(backend=None):
    """Number of all devices."""
    return len(devices(backend))


def local_device_count(backend=None):
    """Number of devices of this process."""
    return len(devices(backend))


def process_index(backend=None):
    """The number of this process."""
    return 0


def process_count(backend=None):
    """The number of processes."""
    return 1


def process_indices(backend=None):
    """The numbers of all processes."""
    return [0]


host_id, host_count, host_ids = process_index, process_count, process_indices


def default_backend():
    """The name of the default backend."""
    return "cpu"


def device_put(x, device=None, *, src=None, donate=False, may_alias=None):
    """The tree with all leaves as arrays on the device; there is one."""
    from pullback import _core
    from pullback.tree_util import tree_map

    return tree_map(_core.to_array, x)


def device_put_replicated(x, devices):
    """The tree with a new first axis, as many times as there are devices."""
    import pullback.numpy as jnp
    from pullback.tree_util import tree_map

    return tree_map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * len(devices)), x)


def device_put_sharded(shards, devices):
    """The trees stacked along a new first axis."""
    import pullback.numpy as jnp
    from pullback.tree_util import tree_map

    return tree_map(lambda *leaves: jnp.stack(leaves), *shards)


def device_get(x):
    """The tree with all arrays as NumPy arrays."""
    import numpy as np

    from pullback.tree_util import tree_map

    return tree_map(lambda leaf: np.asarray(leaf) if hasattr(leaf, "__array__") else leaf, x)


def live_arrays(platform=None):
    """Arrays are not listed."""
    return []
