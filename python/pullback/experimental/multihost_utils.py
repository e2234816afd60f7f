"""Agreement between processes, by the store of `jax.distributed`: values go over the host's network, so they should be few.

A process by itself agrees with itself.
"""

import itertools as _itertools

import numpy as _np

# How long the others may take, and how many bytes one process may say at a time.
_MILLISECONDS = 300_000
_MAX_BYTES = 60 << 20

_rounds = _itertools.count()


def _client():
    from pullback._src.distributed import global_state

    return global_state if global_state.client is not None and global_state.num_processes > 1 else None


def _told(leaves):
    import pickle

    told = pickle.dumps([(leaf.dtype.name, leaf.shape, leaf.tobytes()) for leaf in leaves])
    if len(told) > _MAX_BYTES:
        from pullback._core import user_error

        raise user_error(ValueError, f"processes tell each other at most {_MAX_BYTES} bytes at a time, and these arrays are {len(told)}; send parts of them")
    return told


def _heard(told):
    import pickle

    from pullback import dtypes

    dtype = lambda name: _np.dtype(getattr(dtypes, name, name))
    return [_np.frombuffer(data, dtype(name)).reshape(shape) for name, shape, data in pickle.loads(told)]


def _exchanged(state, leaves, sources):
    """The leaves of the processes `sources`; every process calls this at the same place of the program."""
    place = f"pullback/multihost/{next(_rounds)}"
    if state.process_id in sources:
        state.client.key_value_set_bytes(f"{place}/{state.process_id}", _told(leaves))
    found = [_heard(state.client.blocking_key_value_get_bytes(f"{place}/{source}", _MILLISECONDS)) for source in sources]
    # What all have heard is forgotten.
    state.client.wait_at_barrier(place, _MILLISECONDS)
    if state.process_id in sources:
        state.client.key_value_delete(f"{place}/{state.process_id}")
    return found


def _arrays(in_tree):
    from pullback import tree

    leaves, structure = tree.flatten(in_tree)
    return [_np.asarray(leaf) for leaf in leaves], structure


def sync_global_devices(name):
    """Returns when all processes have come here.

    Args:
      name: of the place in the program, the same in all processes.
    Returns: None.
    Raises:
      RuntimeError: a process was lost, or does not come within five minutes.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.experimental.multihost_utils.sync_global_devices("start")
    """
    if state := _client():
        state.client.wait_at_barrier(f"pullback/sync/{name}", _MILLISECONDS)


def broadcast_one_to_all(in_tree, is_source=None):
    """The tree of the first process, as NumPy arrays.

    Args:
      in_tree: a tree of concrete arrays.
      is_source: whether this process is the one whose tree counts; the first is when it is not given.
    Returns: a tree like `in_tree`.
    Raises:
      TracerArrayConversionError: a leaf is a tracer.
    Differentiable: no; values leave the program.
    Example:
      >>> print(jax.experimental.multihost_utils.broadcast_one_to_all(jnp.arange(3)))
      [0 1 2]
    """
    leaves, structure = _arrays(in_tree)
    if state := _client():
        is_source = state.process_id == 0 if is_source is None else is_source
        if is_source:
            state.client.key_value_set("pullback/multihost/source", str(state.process_id), True)
        state.client.wait_at_barrier("pullback/multihost/source", _MILLISECONDS)
        source = int(state.client.blocking_key_value_get("pullback/multihost/source", _MILLISECONDS))
        leaves = _exchanged(state, leaves, [source])[0]
    return structure.unflatten(leaves)


def process_allgather(in_tree, tiled=False):
    """The trees of all processes along a new leading axis; with `tiled`, along the first one.

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
    leaves, structure = _arrays(in_tree)
    state = _client()
    found = _exchanged(state, leaves, range(state.num_processes)) if state else [leaves]
    join = _np.concatenate if tiled else _np.stack
    return structure.unflatten([join(parts) for parts in zip(*found)])


def assert_equal(in_tree, fail_message=""):
    """Checks that all processes have the tree of the first.

    Args:
      in_tree: a tree of arrays.
      fail_message: what the error begins with.
    Returns: None.
    Raises:
      AssertionError: they differ, in every process.
    Differentiable: no; nothing is computed.
    Example:
      >>> jax.experimental.multihost_utils.assert_equal(jnp.arange(3))
    """
    if state := _client():
        leaves, _ = _arrays(in_tree)
        found = _exchanged(state, leaves, range(state.num_processes))
        is_same = lambda one, other: one.shape == other.shape and one.dtype == other.dtype and bool(_np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
        others = [n for n, own in enumerate(found) if len(own) != len(found[0]) or not all(map(is_same, own, found[0]))]
        if others:
            raise AssertionError(f"{fail_message}\nProcesses {others} have other values than process 0.")


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
