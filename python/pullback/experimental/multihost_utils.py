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


def _placed(inputs, mesh, specs):
    """A tree of arrays, divided over a mesh by specs that are a prefix of it."""
    from pullback import device_put, tree
    from pullback.sharding import NamedSharding, PartitionSpec

    is_spec = lambda x: x is None or isinstance(x, PartitionSpec)
    leaves, structure = tree.flatten(inputs)
    heads, prefix = tree.flatten(specs, is_leaf=is_spec)
    given = [spec for spec, part in zip(heads, prefix.flatten_up_to(inputs)) for _ in tree.leaves(part)]
    return structure.unflatten([device_put(leaf, NamedSharding(mesh, PartitionSpec() if spec is None else spec)) for leaf, spec in zip(leaves, given)])


def host_local_array_to_global_array(local_inputs, global_mesh, pspecs):
    """The global arrays of which this process has the given parts: all of them, as it is the only one.

    Args:
      local_inputs: a tree of arrays.
      global_mesh: a mesh.
      pspecs: a tree of `PartitionSpec` that is a prefix of it.
    Returns: a tree of arrays, divided over the mesh.
    Raises:
      ValueError: the trees do not fit, or an axis is not divided evenly.
    Differentiable: yes; values pass unchanged.
    Example:
      >>> from pullback.experimental import multihost_utils
      >>> mesh = jax.make_mesh((1,), ("x",))
      >>> multihost_utils.host_local_array_to_global_array(jnp.ones(2), mesh, jax.P("x")).shape
      (2,)
    """
    return _placed(local_inputs, global_mesh, pspecs)


def global_array_to_host_local_array(global_inputs, global_mesh, pspecs):
    """The parts of global arrays that this process has: all of them, as it is the only one.

    Args:
      global_inputs: a tree of arrays.
      global_mesh: a mesh.
      pspecs: a tree of `PartitionSpec` that is a prefix of it.
    Returns: a tree of arrays, divided over the mesh.
    Raises:
      ValueError: the trees do not fit, or an axis is not divided evenly.
    Differentiable: yes; values pass unchanged.
    Example:
      >>> from pullback.experimental import multihost_utils
      >>> mesh = jax.make_mesh((1,), ("x",))
      >>> multihost_utils.global_array_to_host_local_array(jnp.ones(2), mesh, jax.P("x")).shape
      (2,)
    """
    return _placed(global_inputs, global_mesh, pspecs)
