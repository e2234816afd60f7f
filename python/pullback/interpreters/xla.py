"""Mappings that libraries with array-like classes read and fill."""

import sys as _sys

from pullback._core import Array as _Array
from pullback.core import get_aval as _get_aval


class _ByType(dict):
    """A function for each type of value. Those of NumPy's types, which the core knows, come when they are asked for."""

    def __init__(self, function):
        super().__init__({kind: function for kind in (bool, int, float, complex, _Array)})
        self.function = function

    def __missing__(self, kind):
        numpy = _sys.modules.get("numpy")
        if numpy is not None and isinstance(kind, type) and issubclass(kind, (numpy.ndarray, numpy.generic)):
            return self.function
        raise KeyError(kind)


class _Avals(_ByType):
    """As `_ByType`; values of a type that is added here become operands, which the core reads by `__jax_array__`."""

    def __setitem__(self, kind, function):
        super().__setitem__(kind, function)
        if not hasattr(kind, "__jax_array__"):
            kind.__jax_array__ = _array_of


def _array_of(value):
    import numpy

    from pullback.numpy import asarray

    return asarray(numpy.asarray(value))


# Types of values to functions that give their avals, and to functions that bring their element types into form.
pytype_aval_mappings = _Avals(_get_aval)
canonicalize_dtype_handlers = _ByType(lambda value: value)


def apply_primitive(primitive, *args, **params):
    """Evaluates a primitive.

    Args:
      primitive: the primitive.
      args: its operands.
      params: its parameters.
    Returns: what the primitive gives.
    Differentiable: as the primitive is.
    Example:
      >>> from pullback.interpreters import xla
      >>> float(xla.apply_primitive(jax.lax.neg_p, 2.0))
      -2.0
    """
    return primitive.bind(*args, **params)
