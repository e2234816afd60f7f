"""What kernels ask for: where they are in the grid, conditions, loops and memory of their own."""

import contextlib as _contextlib
import threading as _threading

from pullback._core import user_error as _user_error

_state = _threading.local()


@_contextlib.contextmanager
def at_step(position, grid):
    """The position in the grid that a kernel sees."""
    outer = getattr(_state, "step", None)
    _state.step = position, grid
    try:
        yield
    finally:
        _state.step = outer


def _step(axis, name):
    step = getattr(_state, "step", None)
    if step is None:
        raise _user_error(ValueError, f"{name} can only be called from inside a Pallas kernel")
    if not 0 <= axis < len(step[1]):
        raise _user_error(ValueError, f"{name}: axis {axis} is outside of a grid of {len(step[1])} axes")
    return step


def program_id(axis):
    """The position in the grid along an axis.

    Args:
      axis: an integer.
    Returns: an integer array.
    Raises:
      ValueError: no kernel runs, or the grid has no such axis.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> def kernel(out):
      ...     out[...] = jnp.full(1, pl.program_id(0))
      >>> print(pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.int32), grid=3, out_specs=pl.BlockSpec((1,), lambda i: i), interpret=True)())
      [0 1 2]
    """
    return _step(axis, "program_id")[0][axis]


def num_programs(axis):
    """The size of the grid along an axis.

    Args:
      axis: an integer.
    Returns: an integer.
    Raises:
      ValueError: no kernel runs, or the grid has no such axis.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> def kernel(out):
      ...     out[...] = jnp.full(1, pl.num_programs(0))
      >>> print(pl.pallas_call(kernel, jax.ShapeDtypeStruct((3,), jnp.int32), grid=3, out_specs=pl.BlockSpec((1,), lambda i: i), interpret=True)())
      [3 3 3]
    """
    return _step(axis, "num_programs")[1][axis]


def when(condition, /):
    """A decorator that runs a function of no arguments where a condition holds.

    Args:
      condition: a boolean, known or traced.
    Returns: a decorator.
    Differentiable: as the function is.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> ref = jax.new_ref(jnp.float32(0))
      >>> @pl.when(True)
      ... def _():
      ...     ref[...] = jnp.float32(2)
      >>> float(ref[...])
      2.0
    """
    from pullback import core, lax

    def decorate(function):
        if isinstance(condition, core.Tracer):
            lax.cond(condition, lambda: function(), lambda: None)
        elif condition:
            function()

    return decorate


def loop(lower, upper, *, init_carry=None, step=1, unroll=None):
    """A decorator that runs a function for each index.

    Args:
      lower, upper: the first index, and that after the last.
      init_carry: what the function gets and gives back at each index; None for none.
      step: between indices.
      unroll: a hint.
    Returns: a decorator that gives the last carry.
    Differentiable: as the function is.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> ref = jax.new_ref(jnp.int32(0))
      >>> @pl.loop(0, 4)
      ... def _(i):
      ...     ref[...] += i
      >>> int(ref[...])
      6
    """
    from pullback import lax

    def decorate(function):
        count = (upper - lower + step - 1) // step

        def body(k, carry):
            index = lower + k * step
            return function(index, carry) if init_carry is not None else function(index)

        return lax.fori_loop(0, count, body, init_carry, unroll=unroll)

    return decorate


def run_scoped(f, *types, collective_axes=(), **kw_types):
    """Runs a function with memory of its own.

    Args:
      f: a function of references.
      *types: types of the memory, in trees.
      collective_axes: refused, but for none.
      **kw_types: as `types`, by name.
    Returns: what the function gives.
    Raises:
      NotImplementedError: memory is shared over axes.
    Differentiable: as the function is.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> float(pl.run_scoped(lambda ref: ref[...].sum(), jax.ShapeDtypeStruct((2,), jnp.float32)))
      0.0
    """
    from pullback import tree

    if collective_axes:
        raise _user_error(NotImplementedError, "memory that is shared over axes of a mesh is not supported")
    args, kwargs = tree.map(empty_ref, (types, kw_types), is_leaf=lambda x: hasattr(x, "shape") and hasattr(x, "dtype"))
    return f(*args, **kwargs)


def empty_ref(ty):
    """A reference to zeros of a type."""
    import pullback

    return pullback.new_ref(pullback.numpy.zeros(tuple(ty.shape), ty.dtype))


def empty(shape, dtype, *, out_sharding=None):
    """An array whose elements mean nothing: zeros.

    Args:
      shape: sizes.
      dtype: the element type.
      out_sharding: where it is put, as for `jax.numpy.zeros`.
    Returns: an array.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.empty((2, 3), jnp.float32).shape
      (2, 3)
    """
    from pullback import numpy as jnp

    return jnp.zeros(shape, dtype, out_sharding=out_sharding)


def empty_like(x):
    """An array of a type, whose elements mean nothing: zeros.

    Args:
      x: a tree of anything with `shape` and `dtype`.
    Returns: a tree of arrays.
    Differentiable: no; no elements are read.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.empty_like(jnp.ones(3)).shape
      (3,)
    """
    from pullback import tree

    return tree.map(lambda one: empty(one.shape, one.dtype), x)


def multiple_of(x, values):
    """`x`, of which the compiler may know that it is a multiple.

    Args:
      x: an integer array.
      values: the divisor, or one for each axis.
    Returns: `x`.
    Differentiable: yes; values pass unchanged.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.multiple_of(8, 4)
      8
    """
    return x


def broadcast_to(a, shape):
    """An array of a larger shape.

    Args:
      a: an array.
      shape: sizes.
    Returns: an array.
    Raises:
      ValueError: the shape does not fit.
    Differentiable: yes.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.broadcast_to(jnp.ones(3), (2, 3)).shape
      (2, 3)
    """
    from pullback import numpy as jnp

    return jnp.broadcast_to(a, shape)


def debug_print(fmt, *args):
    """Prints values from within a kernel.

    Args:
      fmt: a text with `{}` for each value.
      *args: arrays.
    Returns: None.
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.debug_print("{}", 3)
      3
    """
    from pullback import debug

    debug.print(fmt, *args)


def debug_check(condition, message):
    """Checks a condition where checks are enabled: they are not here.

    Args:
      condition: a boolean.
      message: what a failure says.
    Returns: None.
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.debug_check(True, "fine")
    """
