"""How elements lie in memory: row by row, always."""

from pullback._core import user_error as _user_error



class Layout:
    """The order of axes in memory, from the slowest."""

    def __init__(self, major_to_minor, tiling=None, sub_byte_element_size_in_bits=0):
        self.major_to_minor = tuple(major_to_minor)
        self.tiling = tiling
        self.sub_byte_element_size_in_bits = sub_byte_element_size_in_bits

    def __repr__(self):
        return (
            f"Layout(major_to_minor={self.major_to_minor}, tiling={self.tiling}, "
            f"sub_byte_element_size_in_bits={self.sub_byte_element_size_in_bits})"
        )

    def __eq__(self, other):
        return isinstance(other, Layout) and (self.major_to_minor, self.tiling) == (other.major_to_minor, other.tiling)

    def __hash__(self):
        return hash((self.major_to_minor, self.tiling))


class Format:
    """A layout and a sharding."""

    def __init__(self, layout=None, sharding=None):
        self.layout = layout
        self.sharding = sharding

    def __repr__(self):
        return f"Format(layout={self.layout}, sharding={self.sharding})"

    def __eq__(self, other):
        return isinstance(other, Format) and (self.layout, self.sharding) == (other.layout, other.sharding)

    def __hash__(self):
        return hash((self.layout, self.sharding))


def with_layout_constraint(x, layout):
    """`x`, whose layout must be the row-major one: the only one of this engine.

    Args:
      x: an array.
      layout: a `Layout`.
    Returns: `x`.
    Raises:
      NotImplementedError: another order is asked for.
    Differentiable: yes; values pass unchanged.
    Example:
      >>> from pullback.experimental.layout import Layout, with_layout_constraint
      >>> with_layout_constraint(jnp.ones((1, 2)), Layout((0, 1))).shape
      (1, 2)
    """
    if layout.major_to_minor != tuple(range(x.ndim)):
        raise _user_error(NotImplementedError, f"arrays are row-major here; the layout {layout} is not supported")
    return x
