"""Mappings that libraries with array-like classes fill."""

# Types of values to functions that give their avals, and to functions that bring their element types into form. What is in
# them is asked where a value is of none of the types that the core knows.
pytype_aval_mappings = {}
canonicalize_dtype_handlers = {}


def apply_primitive(primitive, *args, **params):
    """Evaluates a primitive."""
    return primitive.bind(*args, **params)
