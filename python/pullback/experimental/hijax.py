"""Types and primitives above arrays that libraries define.

The classes exist so that libraries which build on them import; a value of such a type cannot be traced here, and binding
such a primitive raises NotImplementedError.
"""

from pullback._src.state.types import AbstractRef as AbstractRef
from pullback.core import AbstractValue as AbstractValue, ShapedArray as ShapedArray
from pullback.interpreters.ad import (
    Zero as Zero,
    instantiate_zeros as instantiate_zeros,
    is_undefined_primal as is_undefined_primal,
)


def _unsupported(what):
    return NotImplementedError(f"{what} of jax.experimental.hijax are not supported yet; use arrays and pytrees")


class HiType:
    """The base of types above arrays."""


class HiPrim:
    """The base of primitives above arrays."""

    def __call__(self, *args, **params):
        raise _unsupported(f"primitives such as {type(self).__name__}")

    bind = __call__


class MappingSpec:
    """How a type is split along a mapped axis."""


class HiPspec:
    """How a type is partitioned over a mesh."""


class GradAccum:
    """Where a cotangent is summed."""


class NullAccum(GradAccum):
    """A cotangent that nobody wants."""


class ValAccum(GradAccum):
    """A cotangent summed as a value."""


class RefAccum(GradAccum):
    """A cotangent summed in a reference."""


class TransformedRef:
    """A view of a reference."""


_hitypes = {}


def register_hitype(value_class, to_type):
    """Notes that instances of a class have types above arrays; tracing one raises.

    Args:
      value_class: a class.
      to_type: a function from its instances to their types.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import hijax
      >>> class Pair: pass
      >>> hijax.register_hitype(Pair, lambda pair: hijax.HiType())
    """
    _hitypes[value_class] = to_type


class aval_method:
    """A method of a type that its tracers would have."""

    def __init__(self, fun):
        self.fun = fun


class aval_property:
    """A property of a type that its tracers would have."""

    def __init__(self, fget):
        self.fget = fget


control_flow_allowed_effects = frozenset()
