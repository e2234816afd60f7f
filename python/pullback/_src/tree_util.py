"""Trees under JAX's private path."""

from pullback import _core as _core
from pullback._tree_errors import equality_errors as equality_errors, prefix_errors as prefix_errors
from pullback.tree_util import *  # noqa: F403


class _Registry:
    """Which classes are containers, asked as of a mapping."""

    def __contains__(self, cls):
        return cls in (tuple, list, dict, type(None)) or _core.is_registered(cls)


_registry = _Registry()
