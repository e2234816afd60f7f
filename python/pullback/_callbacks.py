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


def failed(text):
    """The failure of a program because of a callback, in the words of the reference's runtime.

    Args:
      text: what went wrong.
    Returns: an exception to raise.
    """
    from pullback.errors import JaxRuntimeError

    return JaxRuntimeError(f"INTERNAL: CpuCallback error calling callback: RuntimeError: {text}")


def _check_sharding(name, sharding):
    from pullback.sharding import SingleDeviceSharding

    if sharding is not None and not isinstance(sharding, SingleDeviceSharding):
        raise _user_error(NotImplementedError, f"{name} only supports SingleDeviceSharding, but got {type(sharding)}")


def _announced(like):
    from pullback import ShapeDtypeStruct, config

    like = ShapeDtypeStruct(like.shape, like.dtype)
    if not config.jax_enable_x64 and like.dtype in ("int64", "uint64", "float64", "complex128"):
        raise _user_error(ValueError, "result_shape_dtypes cannot specify 64-bit types when `jax_enable_x64` is disabled")
    return like


def _flat(callback, result_shape_dtypes, args, kwargs):
    """The function on flat arrays, the flat announced types, the structure of the results, and the flat arguments."""
    leaves, tree = tree_flatten((args, kwargs))
    announced, out_tree = tree_flatten(result_shape_dtypes)

    def run(*flat):
        args, kwargs = tree_unflatten(tree, flat)
        # Results are matched one by one: trees of other kinds with as many leaves will do.
        results, _ = tree_flatten(call_inside(callback, args, kwargs))
        if len(results) != len(announced):
            raise failed(f"Mismatched number of outputs from callback. Expected: {len(announced)}, Actual: {len(results)}")
        return results

    announced = [_announced(like) for like in announced]
    return run, getattr(callback, "__name__", "callback"), announced, out_tree, tuple(leaves)


def pure_callback(callback, result_shape_dtypes, *args, sharding=None, vmap_method=None, **kwargs):
    """Calls a Python function without effects on concrete arrays, also inside programs.

    Args:
      callback: a function of trees of arrays that gives a tree of the announced structure, shapes and dtypes. It may be
        called any number of times, or not at all when its results are not used.
      result_shape_dtypes: a tree of objects with `shape` and `dtype`.
      args: trees of arrays.
      sharding: None or the sharding of one device; without effect.
      vmap_method: what `vmap` does. "sequential" and "sequential_unrolled" call the function for each example; the others
        call it once with the batch in front of all results and of the batched arguments: with "expand_dims" the other
        arguments get an axis of size 1 there, with "broadcast_all" they are repeated, with "legacy_vectorized" they stay.
      kwargs: as `args`.
    Returns: arrays as announced. What the function raises comes out of the call.
    Raises:
      ValueError: `vmap_method` is unknown, or 64-bit results are announced while such types are off.
      NotImplementedError: under `vmap` without `vmap_method`, or another kind of sharding.
      JaxRuntimeError: the function raised, which is the cause of the error; or it gave another number of results, or one
        of another shape or dtype.
    Differentiable: no; give it a rule with `custom_jvp`.
    Example:
      >>> import numpy
      >>> double = lambda x: jax.pure_callback(lambda x: 2 * numpy.asarray(x), jax.ShapeDtypeStruct((), x.dtype), x)
      >>> float(jax.jit(double)(jnp.float32(3)))
      6.0
    """
    _check_sharding("pure_callback", sharding)
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
      sharding: None or the sharding of one device; without effect.
      ordered: keep the program's order among all ordered calls.
      kwargs: as `args`.
    Returns: arrays as announced.
    Raises:
      ValueError: under a derivative; under `vmap` when ordered; 64-bit results are announced while such types are off.
      NotImplementedError: another kind of sharding.
      JaxRuntimeError: the function raised, which is the cause of the error; or it gave another number of results, or one
        of another shape or dtype.
    Differentiable: no; a derivative through it raises ValueError.
    Example:
      >>> seen = []
      >>> jax.jit(lambda x: jax.experimental.io_callback(lambda v: seen.append(int(v)), None, x))(1)
      >>> seen
      [1]
    """
    _check_sharding("io_callback", sharding)
    run, name, announced, out_tree, leaves = _flat(callback, result_shape_dtypes, args, kwargs)
    return tree_unflatten(out_tree, _core.io_callback(run, name, announced, bool(ordered), leaves))
