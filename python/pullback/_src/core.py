"""The core's objects under JAX's private path."""

from pullback._core import Primitive as Primitive, ShapedArray as ShapedArray, Tracer as Tracer
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
