"""The backend: this process's CPU."""

from pullback._src.xla_bridge import backends as backends, get_backend as get_backend


def clear_backends():
    """Drops compiled programs.

    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import backend
      >>> backend.clear_backends()
    """
    import pullback

    pullback.clear_caches()


def get_default_device():
    """The device that computations run on when nothing says otherwise.

    Returns: a device.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import backend
      >>> backend.get_default_device().platform
      'cpu'
    """
    import pullback

    return pullback.devices()[0]
