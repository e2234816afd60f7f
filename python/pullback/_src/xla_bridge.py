"""The backend under JAX's private path."""

import functools as _functools

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


# Made when first asked for, as tools expect: empty until then.
_backends = {}


def backends():
    """All backends by platform.

    Returns: a dictionary from names to clients.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import backend
      >>> list(backend.backends())
      ['cpu']
    """
    _backends.setdefault("cpu", get_backend())
    return _backends


def backends_are_initialized():
    """Whether a backend was asked for."""
    return bool(_backends)
