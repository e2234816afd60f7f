"""Agreement between processes: there is one, so it holds."""

import numpy as _np


def sync_global_devices(name):
    """Returns when all processes have come here: at once, as there is one.

    Args:
      name: accepted for compatibility; without effect.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.experimental.multihost_utils.sync_global_devices("start")
    """


def broadcast_one_to_all(in_tree, is_source=None):
    """The tree of the first process, as NumPy arrays.

    Args:
      in_tree: a tree of concrete arrays.
      is_source: accepted for compatibility; without effect.
    Returns: a tree like `in_tree`.
    Raises:
      TracerArrayConversionError: a leaf is a tracer.
    Differentiable: no; values leave the program.
    Example:
      >>> print(jax.experimental.multihost_utils.broadcast_one_to_all(jnp.arange(3)))
      [0 1 2]
    """
    from pullback.tree_util import tree_map

    return tree_map(_np.asarray, in_tree)


def process_allgather(in_tree, tiled=False):
    """The trees of all processes, of which there is one, along a new leading axis; with `tiled`, along the first one.

    Args:
      in_tree: a tree of concrete arrays.
      tiled: whether leaves are joined along their first axis.
    Returns: a tree like `in_tree` of NumPy arrays.
    Raises:
      TracerArrayConversionError: a leaf is a tracer.
    Differentiable: no; values leave the program.
    Example:
      >>> jax.experimental.multihost_utils.process_allgather(jnp.arange(3)).shape
      (1, 3)
    """
    from pullback.tree_util import tree_map

    return tree_map(lambda x: _np.asarray(x) if tiled else _np.asarray(x)[None], in_tree)


def assert_equal(in_tree, fail_message=""):
    """Checks that all processes have equal trees: they have, as there is one.

    Args:
      in_tree: a tree of arrays; not looked at.
      fail_message: accepted for compatibility; without effect.
    Returns: None.
    Differentiable: no; nothing is computed.
    Example:
      >>> jax.experimental.multihost_utils.assert_equal(jnp.arange(3))
    """


def reached_preemption_sync_point(step_id):
    """Whether a preemption was announced: never, for a process by itself.

    Args:
      step_id: accepted for compatibility; without effect.
    Returns: False.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.experimental.multihost_utils.reached_preemption_sync_point(1)
      False
    """
    return False
