"""Compiled functions as bytes: the program without Python, compiled anew where it is loaded."""

from pullback._core import user_error as _user_error


def serialize(compiled):
    """The bytes of a compiled function, and the structures of its arguments and results.

    Args:
      compiled: what `jit(f).lower(...).compile()` gave.
    Returns: bytes, and two tree structures, which the caller keeps.
    Raises:
      ValueError: it is no compiled function.
      NotImplementedError: it calls back into Python.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import serialize_executable
      >>> compiled = jax.jit(jnp.sin).lower(0.0).compile()
      >>> float(serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))(0.0))
      0.0
    """
    from pullback import _core
    from pullback._export import wire
    from pullback._export.program import Program
    from pullback.stages import Compiled

    if not isinstance(compiled, Compiled):
        raise _user_error(ValueError, f"expected a compiled function, got {type(compiled)}")
    staged, chunks = compiled._staged, []
    jaxpr = staged.closed_jaxpr
    program = Program((), None, None, jaxpr.consts, _core.open_constvars(jaxpr))
    head = {
        "fun_name": compiled.fun_name, "pieces": program.pieces, "expressions": [], "names": [], "constraints": None,
        "in_avals": list(map(wire._aval, staged.flat_in_avals)), "consts": [wire._const(array, chunks) for array in program.consts],
    }
    return bytes(wire.written([head], chunks)), compiled.in_tree, compiled.out_tree


def deserialize_and_load(serialized, in_tree, out_tree, backend=None, execution_devices=None):
    """The compiled function of bytes that `serialize` gave.

    Args:
      serialized: bytes.
      in_tree, out_tree: the structures that `serialize` gave with them.
      backend: None or `"cpu"`.
      execution_devices: None or the one device.
    Returns: a `jax.stages.Compiled`.
    Raises:
      ValueError: the bytes are not of this format and version, or were changed; another backend is named.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import serialize_executable
      >>> blob, in_tree, out_tree = serialize_executable.serialize(jax.jit(lambda x: (x, x)).lower(1.0).compile())
      >>> len(serialize_executable.deserialize_and_load(blob, in_tree, out_tree)(1.0))
      2
    """
    import pullback
    from pullback._export import wire

    if getattr(backend, "platform", backend) not in (None, "cpu"):
        raise _user_error(ValueError, f"an executable is loaded for the backend 'cpu', not {backend}")
    if execution_devices is not None and len(execution_devices) != 1:
        raise _user_error(ValueError, f"an executable is loaded for one device, not {len(execution_devices)}")
    heads, blob = wire.opened(serialized)
    try:
        program, scope, _ = wire.program_of(heads[0], blob, 0)
        avals = [wire._unaval(one, scope) for one in heads[0]["in_avals"]]
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise _user_error(ValueError, f"the executable cannot be read: {type(error).__name__} {error}") from error

    def fun(*args, **kwargs):
        return out_tree.unflatten(program.run({}, pullback.tree.leaves((args, kwargs))))

    fun.__name__ = heads[0]["fun_name"]
    args, kwargs = in_tree.unflatten([pullback.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type) for x in avals])
    return pullback.jit(fun, keep_unused=True).lower(*args, **kwargs).compile()
