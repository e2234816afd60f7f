"""Names of JAX's typed literals; numbers here are Python's and NumPy's own."""


class TypedInt(int):
    """An integer with an element type."""


class TypedFloat(float):
    """A float with an element type."""


class TypedComplex(complex):
    """A complex number with an element type."""


class TypedNdArray:
    """A NumPy array with an element type; no value here is one."""
