"""Types of the core: avals, jaxprs, tracers, primitives."""

import contextlib as _contextlib
import itertools as _itertools
import typing as _typing

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._core import (
    DebugInfo as DebugInfo,
    DropVar as DropVar,
    Jaxpr as Jaxpr,
    JaxprEqn as JaxprEqn,
    Literal as Literal,
    Primitive as Primitive,
    ShapedArray as ShapedArray,
    Tracer as Tracer,
    Var as Var,
    trace_state_clean as trace_state_clean,
)
from pullback.errors import (
    ConcretizationTypeError as ConcretizationTypeError,
    TracerArrayConversionError as TracerArrayConversionError,
    UnexpectedTracerError as UnexpectedTracerError,
)

AbstractValue = ShapedArray
Atom = Var | Literal
# Open and closed jaxprs are one class.
ClosedJaxpr = Jaxpr
Value = _typing.Any
ParamDict = dict[str, _typing.Any]
no_effects = frozenset()


class Effect:
    """What an equation does besides computing."""


def get_aval(x):
    """The aval of an array or number."""
    return _core.typeof(x)


class Token:
    """Orders effects; no value here is one."""


class TraceTag:
    """What tells one user-defined trace from others."""


class Trace:
    """The base of user-defined traces.

    Subclasses can be defined; the core does not dispatch to them, so `set_current_trace` refuses one.
    """

    def __init__(self, *args, **kwargs):
        raise _user_error(NotImplementedError, "traces defined in Python are not supported yet; write the transformation over jaxprs instead")


def eval_jaxpr(jaxpr, consts, *args, propagate_source_info=True):
    """The results of a jaxpr for flat arguments, as a list.

    Args:
      jaxpr: a jaxpr.
      consts: values of its constvars; tracers too.
      *args: values of its inputs.

    Raises:
      TypeError: the number of consts or arguments is wrong, or an equation refuses its operands.

    >>> import pullback as jax, pullback.numpy as jnp
    >>> jaxpr = jax.make_jaxpr(lambda x: x * 2)(1.0)
    >>> eval_jaxpr(jaxpr, jaxpr.consts, 3.0)
    [Array(6., dtype=float32)]
    """
    return _core.eval_jaxpr(jaxpr, list(consts), list(args))


def jaxpr_as_fun(closed_jaxpr, *args):
    """A jaxpr as a function of flat arguments that gives a list; with arguments, its results."""
    if args:
        return eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)
    return lambda *args: eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)


def new_jaxpr_eqn(invars, outvars, primitive, params, effects=no_effects, source_info=None, ctx=None):
    """An equation from variables, a primitive and its parameters by name."""
    return JaxprEqn(list(invars), list(outvars), primitive, params, effects, source_info, ctx)


def gensym(suffix=""):
    """A function from avals to new variables."""
    return lambda aval: Var(aval)


def _jaxprs_of(value):
    if isinstance(value, Jaxpr):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _jaxprs_of(item)


def jaxprs_in_params(params):
    """The jaxprs among parameters of an equation."""
    yield from _itertools.chain.from_iterable(map(_jaxprs_of, params.values()))


def subjaxprs(jaxpr):
    """The jaxprs among the parameters of all equations."""
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


def mapped_aval(size, axis, aval):
    """The aval of one slice along an axis; None as axis leaves it."""
    if axis is None:
        return aval
    if aval.shape[axis] != size:
        raise _user_error(ValueError, f"axis {axis} of {aval} has size {aval.shape[axis]}, not {size}")
    shape = list(aval.shape)
    del shape[axis]
    return aval.update(shape=tuple(shape))


def unmapped_aval(size, axis, aval, explicit_mesh_axis=None):
    """The aval with a new axis of the given size; None as axis leaves it."""
    if axis is None:
        return aval
    shape = list(aval.shape)
    shape.insert(axis % (len(shape) + 1), size)
    return aval.update(shape=tuple(shape))


def find_top_trace(values, axis_names=None):
    """The token of the trace that operations on the values go to."""
    return get_opaque_trace_state()


def full_lower(value):
    """The value itself: tracers here never stand for known values."""
    return value


@_contextlib.contextmanager
def ensure_compile_time_eval():
    """A context in which operations on known values run at once, even where a function is traced.

    Returns: a context manager.
    Differentiable: no: what is computed inside is constant to a program around.
    Example:
      >>> @jax.jit
      ... def f(x):
      ...     with jax.ensure_compile_time_eval():
      ...         n = int(jnp.arange(3).sum())
      ...     return x * n
      >>> float(f(2.0))
      6.0
    """
    _core.enter_evaluation()
    try:
        yield
    finally:
        _core.leave_evaluation()


@_contextlib.contextmanager
def eval_context():
    """As `ensure_compile_time_eval`."""
    with ensure_compile_time_eval():
        yield


@_contextlib.contextmanager
def take_current_trace():
    """Gives the token of the current trace."""
    yield get_opaque_trace_state()


@_contextlib.contextmanager
def set_current_trace(trace, **_):
    """Makes a trace current; only None, the evaluating one, and the current one are understood."""
    if trace is None:
        with ensure_compile_time_eval():
            yield
    elif trace == get_opaque_trace_state():
        yield
    else:
        raise _user_error(NotImplementedError, "traces defined in Python are not supported yet; write the transformation over jaxprs instead")


def max_dim(d1, d2):
    """The larger of two sizes."""
    return max(d1, d2)


def min_dim(d1, d2):
    """The smaller of two sizes."""
    return min(d1, d2)


def is_concrete(x):
    """Whether the value of `x` is known."""
    return _core.is_concrete(x)


def concrete_or_error(force, value, context=""):
    """`force(value)` of a known value."""
    if _core.is_concrete(value):
        return force(value) if force is not None else value
    raise ConcretizationTypeError(
        f"Abstract tracer value encountered where concrete value is expected: {value!r}\n{context}"
    )


def to_concrete_value(x):
    """The known value of `x`, or `None`."""
    return _core.concrete_or_none(x)


def valid_jaxtype(x):
    """Whether `x` is an array or a number."""
    try:
        _core.typeof(x)
    except (TypeError, OverflowError):
        return False
    return True


def get_opaque_trace_state(convention=None):
    """A token that is equal while the same trace is current."""
    return _core.current_trace()
