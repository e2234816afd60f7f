"""Callbacks that write their results in place: into buffers, beside those of the arguments."""

import enum as _enum
import functools as _functools

from pullback._core import user_error as _user_error


class ExecutionStage(_enum.Enum):
    """When a callback is called: always to execute, here."""

    INSTANTIATE = 0
    PREPARE = 1
    INITIALIZE = 2
    EXECUTE = 3


class ExecutionContext:
    """What a callback knows of its call.

    Attributes:
      stage: an `ExecutionStage`.
    """

    stage = ExecutionStage.EXECUTE

    @property
    def stream(self):
        """The stream of a device: a CPU has none."""
        raise _user_error(NotImplementedError, "the CPU has no streams")


class Buffer:
    """An array in place. `numpy.asarray` sees its elements: those of results can be written.

    Attributes: `dtype`, `shape`, `ndim`, and `writeable`.
    """

    def __init__(self, elements, writeable):
        self._elements = elements
        elements.flags.writeable = writeable

    @property
    def dtype(self):
        """The element type."""
        return self._elements.dtype

    @property
    def shape(self):
        """Sizes of the axes."""
        return self._elements.shape

    @property
    def ndim(self):
        """Number of axes."""
        return self._elements.ndim

    @property
    def writeable(self):
        """Whether it is a result."""
        return bool(self._elements.flags.writeable)

    def __array__(self, dtype=None, copy=None):
        if copy or dtype is not None and dtype != self.dtype:
            return self._elements.astype(self.dtype if dtype is None else dtype)
        return self._elements

    def __dlpack__(self, **options):
        return self._elements.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._elements.__dlpack_device__()


def _call(callback, trees, writes, *arrays):
    """Runs a callback over arrays; gives what it wrote."""
    import numpy as np

    in_tree, out_tree, avals, aliases = trees
    arrays = [np.array(array, copy=True, order="C") for array in arrays]
    results = [np.empty(aval.shape, aval.dtype) for aval in avals]
    for source, target in aliases:
        results[target] = arrays[source].copy()
    args, kwargs = in_tree.unflatten([Buffer(array, False) for array in arrays])
    found = callback(ExecutionContext(), out_tree.unflatten([Buffer(array, True) for array in results]), *args, **kwargs)
    if found is not None:
        raise _user_error(ValueError, f"a buffer callback writes its results and must return None, got {type(found)}")
    return results


@_functools.cache
def _buffer_callback_p():
    from pullback.core import Primitive
    from pullback.ffi import _batched
    from pullback.interpreters import ad, batching, mlir

    prim = Primitive("buffer_callback")
    prim.multiple_results = True
    prim.def_impl(_run)
    prim.def_abstract_eval(lambda *avals, result_avals, **params: list(result_avals.value))
    mlir.register_lowering(prim, mlir.lower_fun(_run, multiple_results=True))

    def jvp(primals, tangents, **params):
        raise _user_error(ValueError, "Buffer callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while taking gradients.")

    ad.primitive_jvps[prim] = jvp
    batching.primitive_batchers[prim] = _functools.partial(_batched, prim)
    return prim


def _run(*args, callback, trees, result_avals, has_side_effect, vmap_method):
    import pullback

    in_tree, out_tree, aliases = trees.value
    call = _functools.partial(_call, callback.value, (in_tree, out_tree, result_avals.value, aliases), None)
    structs = [pullback.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in result_avals.value]
    if has_side_effect:
        from pullback.experimental import io_callback

        return io_callback(call, structs, *args, ordered=True)
    return pullback.pure_callback(call, structs, *args, vmap_method="sequential")


class _Same:
    """A parameter of an equation that is equal to itself alone."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self):
        return id(self.value)

    def __repr__(self):
        return repr(self.value)


def buffer_callback(
    callback, result_shape_dtypes, *, has_side_effect=False, vmap_method=None, input_output_aliases=None, command_buffer_compatible=False
):
    """A function of trees of arrays that calls `callback(context, results, *args)`, which writes the results in place.

    Args:
      callback: a function of an `ExecutionContext`, a tree of writeable `Buffer`s and trees of `Buffer`s that gives None.
      result_shape_dtypes: a tree of types of the results.
      has_side_effect: whether it is called even where its results are not used.
      vmap_method: how `vmap` calls it, as for `jax.ffi.ffi_call`.
      input_output_aliases: from positions of leaves of arguments to those of results that begin with the same elements.
      command_buffer_compatible: accepted for compatibility; without effect.
    Returns: a function of trees of arrays.
    Raises:
      ValueError: the method of `vmap` is unknown.
      JaxRuntimeError: the callback raised, or gave something.
      NotImplementedError: `vmap` without a method.
    Differentiable: no; give it a derivative with `jax.custom_jvp` or `jax.custom_vjp`.
    Example:
      >>> import numpy as np
      >>> from pullback.experimental.buffer_callback import buffer_callback
      >>> def double(context, out, x):
      ...     np.asarray(out)[...] = 2 * np.asarray(x)
      >>> print(jax.jit(buffer_callback(double, jax.ShapeDtypeStruct((2,), jnp.float32)))(jnp.ones(2)))
      [2. 2.]
    """
    from pullback import tree_util
    from pullback.ffi import _METHODS, _Frozen

    if vmap_method not in _METHODS:
        raise _user_error(ValueError, f"vmap_method must be on of the allowed methods {list(_METHODS)}, but got: {vmap_method}")
    results, out_tree = tree_util.tree_flatten(result_shape_dtypes)

    def wrapped(*args, **kwargs):
        from pullback import numpy as jnp
        from pullback._core import ShapedArray

        leaves, in_tree = tree_util.tree_flatten((args, kwargs))
        avals = tuple(ShapedArray(tuple(x.shape), x.dtype) for x in results)
        trees = in_tree, out_tree, tuple(sorted((input_output_aliases or {}).items()))
        out = _buffer_callback_p().bind(
            *map(jnp.asarray, leaves), callback=_Same(callback), trees=_Frozen(trees), result_avals=_Frozen(avals),
            has_side_effect=has_side_effect, vmap_method=vmap_method
        )
        return out_tree.unflatten(out)

    return wrapped
