"""Functions of the host inside programs."""

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.tree_util import tree_flatten, tree_unflatten

_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized", None)


def call_inside(callback, args, kwargs):
    """Calls a user's function from inside a program, as JAX does: what it raises comes out as the failure of the program.

    Raises:
      JaxRuntimeError: the function raised; its traceback is in the text, and its exception the cause.
    """
    try:
        return callback(*args, **kwargs)
    except Exception as error:
        import traceback

        from pullback.errors import JaxRuntimeError

        told = "".join(traceback.format_exception(error)).rstrip()
        raise JaxRuntimeError(f"INTERNAL: CpuCallback error calling callback: {told}") from error


def _flat(callback, result_shape_dtypes, args, kwargs):
    """The function on flat arrays, the flat announced types, the structure of the results, and the flat arguments."""
    from pullback import ShapeDtypeStruct

    leaves, tree = tree_flatten((args, kwargs))
    announced, out_tree = tree_flatten(result_shape_dtypes)

    def run(*flat):
        args, kwargs = tree_unflatten(tree, flat)
        results, given = tree_flatten(call_inside(callback, args, kwargs))
        if given != out_tree:
            raise _user_error(ValueError, f"callback returned a tree of structure {given}, but {out_tree} was announced")
        return results

    announced = [ShapeDtypeStruct(like.shape, like.dtype) for like in announced]
    return run, getattr(callback, "__name__", "callback"), announced, out_tree, tuple(leaves)


def pure_callback(callback, result_shape_dtypes, *args, sharding=None, vmap_method=None, **kwargs):
    """Calls a Python function without effects on concrete arrays, also inside programs.

    Args:
      callback: a function of trees of arrays that gives a tree of the announced structure, shapes and dtypes. It may be
        called any number of times, or not at all when its results are not used.
      result_shape_dtypes: a tree of objects with `shape` and `dtype`.
      args: trees of arrays.
      sharding: accepted for compatibility; without effect.
      vmap_method: what `vmap` does. "sequential" and "sequential_unrolled" call the function for each example; the others
        call it once with the batch in front of all results and of the batched arguments: with "expand_dims" the other
        arguments get an axis of size 1 there, with "broadcast_all" they are repeated, with "legacy_vectorized" they stay.
      kwargs: as `args`.
    Returns: arrays as announced. What the function raises comes out of the call.
    Raises:
      ValueError: `vmap_method` is unknown, or the results have another structure.
      TypeError: a result has another shape or dtype.
      NotImplementedError: under `vmap` without `vmap_method`.
      JaxRuntimeError: the function raised, which is the cause of the error.
    Differentiable: no; give it a rule with `custom_jvp`.
    Example:
      >>> import numpy
      >>> double = lambda x: jax.pure_callback(lambda x: 2 * numpy.asarray(x), jax.ShapeDtypeStruct((), x.dtype), x)
      >>> float(jax.jit(double)(jnp.float32(3)))
      6.0
    """
    if vmap_method not in _METHODS:
        raise _user_error(ValueError, f"vmap_method must be one of the allowed methods {list(_METHODS)}, but got: {vmap_method}")
    run, name, announced, out_tree, leaves = _flat(callback, result_shape_dtypes, args, kwargs)
    return tree_unflatten(out_tree, _core.pure_callback(run, name, announced, str(vmap_method), leaves))


def io_callback(callback, result_shape_dtypes, *args, sharding=None, ordered=False, **kwargs):
    """Calls a Python function with effects on concrete arrays: once whenever the program reaches this point.

    Args:
      callback: as for `pure_callback`, but it is called even when its results are not used.
      result_shape_dtypes: a tree of objects with `shape` and `dtype`; None for a function without results.
      args: trees of arrays.
      sharding: accepted for compatibility; without effect.
      ordered: keep the program's order among all ordered calls.
      kwargs: as `args`.
    Returns: arrays as announced.
    Raises:
      ValueError: the results have another structure; under a derivative; under `vmap` when ordered.
      TypeError: a result has another shape or dtype.
      JaxRuntimeError: the function raised, which is the cause of the error.
    Differentiable: no; a derivative through it raises ValueError.
    Example:
      >>> seen = []
      >>> jax.jit(lambda x: jax.experimental.io_callback(lambda v: seen.append(int(v)), None, x))(1)
      >>> seen
      [1]
    """
    run, name, announced, out_tree, leaves = _flat(callback, result_shape_dtypes, args, kwargs)
    return tree_unflatten(out_tree, _core.io_callback(run, name, announced, bool(ordered), leaves))
