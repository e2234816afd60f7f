"""Mappings that libraries with array-like classes fill."""

# Types of values to functions that give their avals, and to functions that bring their element types into form. What is in
# them is asked where a value is of none of the types that the core knows.
pytype_aval_mappings = {}
canonicalize_dtype_handlers = {}


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
