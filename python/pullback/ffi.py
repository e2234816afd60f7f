"""Functions of other languages in programs: handlers with XLA's C interface, called on the CPU.

A handler that was built with XLA's headers for `custom_call_api_version=4` runs here as it is.
"""

import functools as _functools

from pullback._core import user_error as _user_error

_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized", None)
_targets = {}


class AbstractToken:
    """The type of tokens, which order effects."""

    def __repr__(self):
        return "AbstractToken()"


abstract_token = AbstractToken()


def include_dir():
    """The directory of XLA's headers for handlers.

    Returns: a path: that of an installed jaxlib.
    Raises:
      NotImplementedError: there is none; Pullback ships no headers.
    Differentiable: no; it takes no arrays.
    Example:
      >>> isinstance(jax.ffi.include_dir(), str)
      True
    """
    import importlib.util
    import os

    found = importlib.util.find_spec("jaxlib")
    path = found and found.submodule_search_locations and os.path.join(found.submodule_search_locations[0], "include")
    if not path or not os.path.isdir(path):
        raise _user_error(NotImplementedError, "XLA's headers are not part of Pullback; those of a jaxlib, or of XLA's sources (xla/ffi/api), do")
    return path


def pycapsule(funcptr):
    """A capsule of a function's address, as `register_ffi_target` takes it.

    Args:
      funcptr: a function that `ctypes` loaded, or an address.
    Returns: a PyCapsule.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import ctypes
      >>> type(jax.ffi.pycapsule(ctypes.pythonapi.Py_IsInitialized)).__name__
      'PyCapsule'
    """
    import ctypes

    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(ctypes.cast(funcptr, ctypes.c_void_p), None, None)


def register_ffi_target(name, fn, platform="cpu", api_version=1, **kwargs):
    """Gives a handler the name by which `ffi_call` finds it.

    Args:
      name: a text.
      fn: a PyCapsule, or a dict with one for the stage `"execute"`.
      platform: `"cpu"`; handlers of other platforms are kept out.
      api_version: 1, the typed interface.
      **kwargs: accepted for compatibility; without effect.
    Returns: None.
    Raises:
      JaxRuntimeError: `fn` is nothing of that.
      NotImplementedError: the interface without types, or a handler with further stages.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import ctypes
      >>> jax.ffi.register_ffi_target("never called", jax.ffi.pycapsule(ctypes.pythonapi.Py_IsInitialized))
    """
    from pullback._ffi_frame import pointer_of
    from pullback.errors import JaxRuntimeError

    stages = fn if isinstance(fn, dict) else {"execute": fn}
    if not isinstance(fn, dict) and type(fn).__name__ != "PyCapsule":
        raise _user_error(JaxRuntimeError, f"INVALID_ARGUMENT: Unsupported custom call target type for api_version={api_version}")
    if any(type(stage).__name__ != "PyCapsule" for stage in stages.values()):
        raise _user_error(
            JaxRuntimeError, f"INVALID_ARGUMENT: Custom call target registration with api_version={api_version} requires a PyCapsule fn object for all dict keys"
        )
    if str(platform).lower() not in ("cpu", "host"):
        return
    if api_version != 1 or set(stages) != {"execute"}:
        raise _user_error(NotImplementedError, f"handlers have the typed interface and the stage 'execute' alone; got {api_version=} and {sorted(stages)}")
    _targets[name] = pointer_of(stages["execute"]), stages


def register_ffi_target_as_batch_partitionable(name):
    """Says that a target may be divided along batch axes: one device runs all of it here.

    Args:
      name: a text.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.ffi.register_ffi_target_as_batch_partitionable("mine")
    """


def register_ffi_type(name, type_registration, platform="cpu"):
    """Registers a type of states that handlers keep: an error, since handlers keep none here.

    Args:
      name: a text.
      type_registration: a dict of capsules.
      platform: the platform.
    Returns: nothing.
    Raises:
      NotImplementedError: always.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.ffi.register_ffi_type("state", {})
      Traceback (most recent call last):
      ...
      NotImplementedError: states of handlers are not supported; 'state' cannot be registered
      ...
    """
    raise _user_error(NotImplementedError, f"states of handlers are not supported; {name!r} cannot be registered")


def register_ffi_type_id(name, obj, platform="cpu"):
    """Registers the number of a type of states: an error, since handlers keep none here.

    Args:
      name: a text.
      obj: a capsule.
      platform: the platform.
    Returns: nothing.
    Raises:
      NotImplementedError: always.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.ffi.register_ffi_type_id("state", None)
      Traceback (most recent call last):
      ...
      NotImplementedError: states of handlers are not supported; 'state' cannot be registered
      ...
    """
    raise _user_error(NotImplementedError, f"states of handlers are not supported; {name!r} cannot be registered")


def ffi_lowering(call_target_name, *, operand_layouts=None, result_layouts=None, backend_config=None, skip_ffi_layout_processing=False, **lowering_args):
    """A lowering that builds a custom call in MLIR: an error, since programs are not lowered to it.

    Args:
      call_target_name: the target.
      operand_layouts, result_layouts, backend_config, skip_ffi_layout_processing, **lowering_args: as in JAX.
    Returns: nothing.
    Raises:
      NotImplementedError: always; `ffi_call` within `mlir.lower_fun` does the same.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.ffi.ffi_lowering("mine")
      Traceback (most recent call last):
      ...
      NotImplementedError: lowerings that build MLIR are not supported; register mlir.lower_fun of a function that calls jax.ffi.ffi_call('mine', ...)
      ...
    """
    text = f"register mlir.lower_fun of a function that calls jax.ffi.ffi_call({call_target_name!r}, ...)"
    raise _user_error(NotImplementedError, f"lowerings that build MLIR are not supported; {text}")


def build_ffi_lowering_function(
    call_target_name, *, operand_layouts=None, result_layouts=None, backend_config=None, skip_ffi_layout_processing=False, **lowering_args
):
    """A function that builds a custom call in MLIR: an error, since programs are not lowered to it.

    Args:
      call_target_name: the target.
      operand_layouts, result_layouts, backend_config, skip_ffi_layout_processing, **lowering_args: as in JAX.
    Returns: nothing.
    Raises:
      NotImplementedError: always; `ffi_call` within `mlir.lower_fun` does the same.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.ffi.build_ffi_lowering_function("mine")
      Traceback (most recent call last):
      ...
      NotImplementedError: lowerings that build MLIR are not supported; register mlir.lower_fun of a function that calls jax.ffi.ffi_call('mine', ...)
      ...
    """
    return ffi_lowering(call_target_name)


def _attribute(name, value):
    """An attribute as the parameter of an equation: numbers, texts, arrays as dtype, shape and bytes, dicts as pairs."""
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, np.generic):
        return str(value.dtype), tuple(value.shape), np.ascontiguousarray(value).tobytes()
    if isinstance(value, dict):
        return "dict", tuple(sorted((key, _attribute(key, one)) for key, one in value.items()))
    try:
        hash(value)
    except TypeError:
        raise _user_error(TypeError, f"Non-hashable keyword argument to ffi_call {name}: {value}") from None
    if not isinstance(value, (bool, int, float, str, np.generic)):
        raise _user_error(TypeError, f"the attribute {name} of ffi_call must be a number, text, NumPy array or dict, got {type(value)}")
    return value


class _Frozen:
    """A parameter of an equation that compares by value."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, _Frozen) and repr(self.value) == repr(other.value)

    def __hash__(self):
        return hash(repr(self.value))

    def __repr__(self):
        return repr(self.value)


@_functools.cache
def _ffi_call_p():
    from pullback.core import Primitive
    from pullback.interpreters import ad, batching, mlir

    prim = Primitive("ffi_call")
    prim.multiple_results = True
    prim.def_impl(lambda *args, **params: _run(*args, **params))
    prim.def_abstract_eval(lambda *avals, result_avals, **params: list(result_avals.value))
    mlir.register_lowering(prim, mlir.lower_fun(_run, multiple_results=True))

    def jvp(primals, tangents, *, target_name, **params):
        raise _user_error(ValueError, f"The FFI call to `{target_name}` cannot be differentiated. You can use `jax.custom_jvp` or `jax.custom_vjp` to add support.")

    ad.primitive_jvps[prim] = jvp
    batching.primitive_batchers[prim] = _functools.partial(_batched, prim)
    return prim


def _run(*args, target_name, result_avals, attributes, aliases, has_side_effect, vmap_method):
    """The call as a callback that runs the handler."""
    import numpy as np
    import pullback
    from pullback import _ffi_frame
    from pullback.errors import JaxRuntimeError

    if target_name not in _targets:
        raise _user_error(JaxRuntimeError, f"NOT_FOUND: No FFI handler registered for {target_name} on a platform Host (canonical host)")
    address = _targets[target_name][0]

    def call(*arrays):
        arrays = [np.ascontiguousarray(array) for array in arrays]
        results = [np.empty(aval.shape, aval.dtype) for aval in result_avals.value]
        for source, target in aliases.value:
            results[target] = np.array(arrays[source], copy=True)
        _ffi_frame.call(target_name, address, arrays, results, attributes.value)
        return results

    structs = [pullback.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in result_avals.value]
    if has_side_effect:
        from pullback.experimental import io_callback

        return io_callback(call, structs, *args, ordered=True)
    return pullback.pure_callback(call, structs, *args, vmap_method="sequential")


def _batched(prim, args, dims, *, vmap_method, result_avals, **params):
    from pullback import numpy as jnp

    size = next(arg.shape[dim] for arg, dim in zip(args, dims) if dim is not None)
    bind = lambda operands, avals: prim.bind(*operands, vmap_method=vmap_method, result_avals=_Frozen(avals), **params)
    front = [arg if dim is None else jnp.moveaxis(arg, dim, 0) for arg, dim in zip(args, dims)]
    if vmap_method in ("expand_dims", "broadcast_all", "legacy_vectorized"):
        if vmap_method == "legacy_vectorized" and any(dim is None for dim in dims):
            raise _user_error(NotImplementedError, "legacy_vectorized needs every operand to be batched")
        lengths = size if vmap_method == "broadcast_all" else 1
        front = [jnp.broadcast_to(arg[None], (lengths, *arg.shape)) if dim is None else arg for arg, dim in zip(front, dims)]
        out = bind(front, tuple(aval.update(shape=(size, *aval.shape)) for aval in result_avals.value))
        return out, [0] * len(out)
    if vmap_method in ("sequential", "sequential_unrolled"):
        return _one_by_one(front, dims, size, lambda operands: bind(operands, result_avals.value), vmap_method)
    raise _user_error(
        NotImplementedError,
        f"vmap is only supported for the {prim.name} primitive when vmap_method is one of 'sequential', 'sequential_unrolled', 'expand_dims', "
        f"'broadcast_all', or 'legacy_vectorized'. Got vmap_method={vmap_method}."
    )


def _one_by_one(args, dims, size, call, vmap_method):
    from pullback import lax, numpy as jnp

    batched = [arg for arg, dim in zip(args, dims) if dim is not None]

    def one(some):
        some = iter(some)
        return call([arg if dim is None else next(some) for arg, dim in zip(args, dims)])

    if vmap_method == "sequential":
        out = lax.scan(lambda _, some: ((), one(some)), (), batched)[1]
    else:
        rows = [one([arg[k] for arg in batched]) for k in range(size)]
        out = [jnp.stack(column) for column in zip(*rows)]
    return out, [0] * len(out)


def _check_layouts(given, avals, what):
    """Only the row-major order of axes is known."""
    for aval, layout in zip(avals, given or ()):
        order = getattr(layout, "major_to_minor", layout)
        if order is not None and tuple(order) != tuple(range(len(aval.shape))):
            raise _user_error(NotImplementedError, f"{what} of ffi_call are row-major here; the layout {layout} is not supported")


def ffi_call(
    target_name, result_shape_dtypes, *, has_side_effect=False, vmap_method=None, input_layouts=None, output_layouts=None,
    input_output_aliases=None, custom_call_api_version=4, legacy_backend_config=None
):
    """A function of arrays that calls a registered handler.

    Args:
      target_name: the name that `register_ffi_target` gave it.
      result_shape_dtypes: the type of the result, or a sequence of them.
      has_side_effect: whether it is called even where its result is not used.
      vmap_method: how `vmap` calls it: `"sequential"`, `"sequential_unrolled"`, `"expand_dims"`, `"broadcast_all"` or `"legacy_vectorized"`.
      input_layouts, output_layouts: orders of axes; row-major ones.
      input_output_aliases: from positions of arguments to those of results that begin with the same elements.
      custom_call_api_version: 4, the typed interface.
      legacy_backend_config: of older interfaces; None.
    Returns: a function of arrays, and of attributes by name: numbers, texts, NumPy arrays and dicts of these.
    Raises:
      ValueError: the method of `vmap` is unknown.
      TypeError: an attribute is none of these.
      JaxRuntimeError: no handler has the name, or the handler failed.
      NotImplementedError: another interface or layout; `vmap` without a method.
    Differentiable: no; give it a derivative with `jax.custom_jvp` or `jax.custom_vjp`.
    Example:
      >>> call = jax.ffi.ffi_call("absent", jax.ShapeDtypeStruct((2,), jnp.float32))
      >>> jax.eval_shape(call, jnp.ones(2)).shape
      (2,)
    """
    if vmap_method not in _METHODS:
        raise _user_error(ValueError, f"vmap_method must be on of the allowed methods {list(_METHODS)}, but got: {vmap_method}")
    if custom_call_api_version != 4 or legacy_backend_config is not None:
        raise _user_error(NotImplementedError, f"custom calls have the typed interface, version 4, here; got {custom_call_api_version=} {legacy_backend_config=}")
    is_many = isinstance(result_shape_dtypes, (list, tuple))
    results = list(result_shape_dtypes) if is_many else [result_shape_dtypes]

    def wrapped(*args, **kwargs):
        from pullback import numpy as jnp
        from pullback._core import ShapedArray

        args = [jnp.asarray(arg) for arg in args]
        avals = tuple(ShapedArray(tuple(x.shape), x.dtype) for x in results)
        _check_layouts(input_layouts, args, "arguments")
        _check_layouts(output_layouts if isinstance(output_layouts, (list, tuple)) and is_many else None, avals, "results")
        aliases = tuple(sorted((input_output_aliases or {}).items()))
        for source, target in aliases:
            if not (0 <= source < len(args) and 0 <= target < len(avals)) or (args[source].shape, args[source].dtype) != (avals[target].shape, avals[target].dtype):
                raise _user_error(ValueError, f"input_output_aliases pairs argument {source} with result {target}, which is no result of the same type")
        attributes = tuple(sorted((name, _attribute(name, value)) for name, value in kwargs.items()))
        out = _ffi_call_p().bind(
            *args, target_name=target_name, result_avals=_Frozen(avals), attributes=_Frozen(attributes), aliases=_Frozen(aliases),
            has_side_effect=has_side_effect, vmap_method=vmap_method
        )
        return (list(out) if isinstance(result_shape_dtypes, list) else tuple(out)) if is_many else out[0]

    return wrapped
