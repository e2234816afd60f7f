"""Descriptions of the devices that programs may be compiled for."""

from pullback._core import user_error as _user_error


class TopologyDescription:
    """Devices that programs may be compiled for.

    Attributes:
      devices: a list of devices.
    """

    def __init__(self, devices):
        self.devices = devices


def get_attached_topology(platform=None):
    """The devices of this process.

    Args:
      platform: None or `"cpu"`.
    Returns: a `TopologyDescription`.
    Raises:
      RuntimeError: the platform is not here.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import topologies
      >>> len(topologies.get_attached_topology().devices) == jax.device_count()
      True
    """
    from pullback import devices

    return TopologyDescription(devices=devices(platform) if platform is not None else devices())


def get_topology_desc(topology_name="", platform=None, **kwargs):
    """The devices of a machine that is not here: an error, since programs are compiled for this machine's CPU alone.

    Args:
      topology_name: its name.
      platform: its kind.
      **kwargs: what else describes it.
    Returns: nothing.
    Raises:
      NotImplementedError: the platform is the CPU.
      RuntimeError: any other.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import topologies
      >>> topologies.get_topology_desc(platform="cpu")
      Traceback (most recent call last):
      ...
      NotImplementedError: topology not implemented for cpu
      ...
    """
    name = platform or "tpu"
    if name == "cpu":
        raise _user_error(NotImplementedError, "topology not implemented for cpu")
    raise _user_error(RuntimeError, f"JAX {name.upper()} support not installed; cannot generate {name.upper()} topology.")


def make_mesh(topo, mesh_shape, axis_names, *, contiguous_submeshes=False):
    """A mesh of the devices of a topology.

    Args:
      topo: a `TopologyDescription`.
      mesh_shape: sizes of the axes.
      axis_names: their names.
      contiguous_submeshes: accepted for compatibility; without effect.
    Returns: a `Mesh`.
    Raises:
      ValueError: the sizes do not fit the number of devices.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import topologies
      >>> topologies.make_mesh(topologies.get_attached_topology(), (1,), ("x",)).axis_names
      ('x',)
    """
    from pullback.experimental.mesh_utils import create_device_mesh
    from pullback.sharding import Mesh

    return Mesh(create_device_mesh(mesh_shape, topo.devices, contiguous_submeshes=contiguous_submeshes), axis_names)
