"""Agreement between processes: there is one, so it holds."""

import numpy as _np


def sync_global_devices(name):
    """Returns when all processes have come here."""


def broadcast_one_to_all(in_tree, is_source=None):
    """The tree of the first process, as NumPy arrays."""
    from pullback.tree_util import tree_map

    return tree_map(_np.asarray, in_tree)


def process_allgather(in_tree, tiled=False):
    """The trees of all processes along a new leading axis; with `tiled`, along the first one."""
    from pullback.tree_util import tree_map

    return tree_map(lambda x: _np.asarray(x) if tiled else _np.asarray(x)[None], in_tree)


def assert_equal(in_tree, fail_message=""):
    """Checks that all processes have equal trees."""


def reached_preemption_sync_point(step_id):
    """Whether a preemption was announced: never, for a process by itself."""
    return False
