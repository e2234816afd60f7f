"""Objects of the core for libraries that interpret, build or extend jaxprs."""

from pullback._core import (
    DropVar as DropVar,
    Jaxpr as Jaxpr,
    JaxprEqn as JaxprEqn,
    Literal as Literal,
    Primitive as Primitive,
    ShapedArray as _ShapedArray,
    Var as Var,
)
from pullback.core import (
    ClosedJaxpr as ClosedJaxpr,
    DebugInfo as DebugInfo,
    Effect as Effect,
    Token as Token,
    TraceTag as TraceTag,
    concrete_or_error as concrete_or_error,
    find_top_trace as find_top_trace,
    gensym as gensym,
    get_opaque_trace_state as get_opaque_trace_state,
    jaxpr_as_fun as jaxpr_as_fun,
    jaxprs_in_params as jaxprs_in_params,
    mapped_aval as mapped_aval,
    new_jaxpr_eqn as new_jaxpr_eqn,
    no_effects as no_effects,
    set_current_trace as set_current_trace,
    subjaxprs as subjaxprs,
    take_current_trace as take_current_trace,
    unmapped_aval as unmapped_aval,
    valid_jaxtype as valid_jaxtype,
)
from pullback._jaxpr_checks import check_jaxpr as check_jaxpr
from pullback.errors import JaxprTypeError as JaxprTypeError
from pullback.extend.core import primitives as primitives

Effects = frozenset


class AbstractToken:
    """The aval of tokens, which order effects; there are none in jaxprs here."""


def array_types():
    """Types that count as arrays.

    Returns: a set of classes.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import core
      >>> jax.Array in core.array_types()
      True
    """
    import numpy as np

    from pullback import Array

    return {Array, np.ndarray}


def unsafe_am_i_under_a_jit_DO_NOT_USE():
    """Whether some trace is current.

    Returns: a bool.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import core
      >>> core.unsafe_am_i_under_a_jit_DO_NOT_USE()
      False
    """
    from pullback.core import trace_state_clean

    return not trace_state_clean()


def primal_dtype_to_tangent_dtype(dtype):
    """The element type of tangents.

    Args:
      dtype: the dtype of values.
    Returns: a dtype: `float0` for integers and booleans.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import core
      >>> core.primal_dtype_to_tangent_dtype(jnp.float32.dtype)
      dtype('float32')
    """
    return _ShapedArray((), dtype).to_tangent_aval().dtype
