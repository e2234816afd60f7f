"""The core's objects under JAX's private path."""

from pullback._core import Primitive as Primitive, ShapedArray as ShapedArray, Tracer as Tracer
from pullback._effects import Effect as Effect, Effects as Effects, EffectTypeSet as EffectTypeSet, no_effects as no_effects
from pullback._jaxpr_checks import check_jaxpr as check_jaxpr
from pullback.errors import JaxprTypeError as JaxprTypeError
from pullback.core import (
    AbstractValue as AbstractValue,
    ClosedJaxpr as ClosedJaxpr,
    DropVar as DropVar,
    Jaxpr as Jaxpr,
    JaxprEqn as JaxprEqn,
    Literal as Literal,
    Trace as Trace,
    TraceTag as TraceTag,
    Var as Var,
    concrete_or_error as concrete_or_error,
    eval_jaxpr as eval_jaxpr,
    find_top_trace as find_top_trace,
    full_lower as full_lower,
    get_aval as get_aval,
    get_opaque_trace_state as get_opaque_trace_state,
    jaxpr_as_fun as jaxpr_as_fun,
    mapped_aval as mapped_aval,
    new_jaxpr_eqn as new_jaxpr_eqn,
    set_current_trace as set_current_trace,
    take_current_trace as take_current_trace,
    trace_state_clean as trace_state_clean,
    unmapped_aval as unmapped_aval,
)


def physical_aval(aval):
    """The aval of the stored elements: of keys their words, else the aval itself."""
    return aval


def canonicalize_shape(shape, context=""):
    """A shape as a tuple of Python integers.

    Raises:
      TypeError: a size is no integer.
    """
    import operator

    try:
        return tuple(map(operator.index, shape))
    except TypeError:
        text = f"Shapes must be 1D sequences of concrete values of integer type, got {shape}."
        raise TypeError(f"{text} {context}".rstrip()) from None


def definitely_equal(a, b):
    """Whether two sizes are equal for all values of their variables."""
    return a is b or a == b


def is_constant_shape(shape):
    """Whether all sizes are integers."""
    return all(isinstance(size, int) for size in shape)
