"""The backend: this process's CPU."""

from pullback._src.xla_bridge import backends as backends, get_backend as get_backend


def clear_backends():
    """Drops compiled programs."""
    import pullback

    pullback.clear_caches()


def get_default_device():
    """The device that computations run on when nothing says otherwise."""
    import pullback

    return pullback.devices()[0]
