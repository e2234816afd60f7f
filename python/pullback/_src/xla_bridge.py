"""The backend under JAX's private path."""

import functools as _functools

from pullback import _device
from pullback._core import user_error as _user_error
from pullback._plugins import register_plugin as register_plugin


class _CpuBackend:
    """This process's CPU."""

    platform = "cpu"
    platform_version = "pullback"

    def devices(self):
        """Its devices."""
        import pullback

        return pullback.devices()

    local_devices = devices

    def device_count(self):
        """Number of devices."""
        return len(self.devices())

    local_device_count = device_count

    def process_index(self):
        """This process's number."""
        return 0


@_functools.cache
def get_backend(platform=None):
    """The backend of a platform.

    Args:
      platform: its name; None for the CPU.
    Returns: a client.
    Raises:
      RuntimeError: there is none.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import backend
      >>> backend.get_backend().platform
      'cpu'
    """
    if platform not in (None, "cpu"):
        raise _user_error(RuntimeError, f"Unknown backend: '{platform}' requested, but no platforms that are instances of {platform} are present.")
    return _CpuBackend()


def __getattr__(name):
    """`_backends`: those whose devices are counted, which tools read before they set their number."""
    if name != "_backends":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return backends() if backends_are_initialized() else {}


def backends():
    """All backends by platform.

    Returns: a dictionary from names to clients.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import backend
      >>> list(backend.backends())
      ['cpu']
    """
    return {"cpu": get_backend()}


def backends_are_initialized():
    """Whether the devices of a backend are counted, after which their number stays."""
    return _device._client is not None
