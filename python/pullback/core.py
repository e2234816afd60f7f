"""Types of the core: avals, jaxprs, tracers, primitives."""

from pullback import _core
from pullback._core import (
    DebugInfo as DebugInfo,
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


class DropVar(Var):
    """A result that is not used; jaxprs here give ordinary variables."""


class Effect:
    """What an equation does besides computing."""


def get_aval(x):
    """The aval of an array or number."""
    return _core.typeof(x)


def eval_jaxpr(jaxpr, consts, *args, propagate_source_info=True):
    """The results of a jaxpr for flat arguments, as a list."""
    return _core.eval_jaxpr(jaxpr, list(args))


def jaxpr_as_fun(closed_jaxpr, *args):
    """A jaxpr as a function of flat arguments that gives a list; with arguments, its results."""
    if args:
        return eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)
    return lambda *args: eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)


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
