"""How elements lie in memory: row by row, always. Other orders can be named, and are refused where an array would get one."""

import functools as _functools

from pullback._core import user_error as _user_error


class AutoLayout:
    """The layout that the compiler chooses: row by row."""

    def __repr__(self):
        return "AutoLayout"


class Layout:
    """The order of axes in memory, from the slowest.

    Attributes:
      major_to_minor: the axes in order.
      tiling, sub_byte_element_size_in_bits: how elements are grouped; None and 0 where they are not.
      AUTO: the class attribute that stands for the compiler's choice.
    """

    AUTO = AutoLayout()

    def __init__(self, major_to_minor, tiling=None, sub_byte_element_size_in_bits=0):
        self.major_to_minor = tuple(major_to_minor)
        self.tiling = None if tiling is None else tuple(map(tuple, tiling))
        self.sub_byte_element_size_in_bits = sub_byte_element_size_in_bits

    def __repr__(self):
        return (
            f"Layout(major_to_minor={self.major_to_minor}, tiling={self.tiling}, "
            f"sub_byte_element_size_in_bits={self.sub_byte_element_size_in_bits})"
        )

    def _key(self):
        # No tiles and none said are one.
        return self.major_to_minor, self.tiling or None, self.sub_byte_element_size_in_bits

    def __eq__(self, other):
        return isinstance(other, Layout) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def check_compatible_aval(self, aval_shape):
        """Raises ValueError where the order is of another number of axes."""
        if len(self.major_to_minor) != len(aval_shape):
            raise _user_error(
                ValueError,
                f"Length of major_to_minor and the rank of the value should match. Got major_to_minor={self.major_to_minor} and "
                f"shape={aval_shape}"
            )


class Format:
    """A layout and a sharding.

    Attributes:
      layout: a `Layout`, `Layout.AUTO` or None.
      sharding: a `Sharding`, or None.
    Raises TypeError for anything else, ValueError for a `Layout` without a sharding.
    """

    def __init__(self, layout=None, sharding=None):
        from pullback.sharding import Sharding

        if not (layout is None or isinstance(layout, (Layout, AutoLayout))):
            raise _user_error(
                TypeError,
                "Invalid value received for the layout argument. Expected values are `None`, `Layout.AUTO` or an instance of `Layout`. "
                f"Got {layout} of type {type(layout)}"
            )
        if not (sharding is None or isinstance(sharding, Sharding)):
            raise _user_error(
                TypeError,
                "Invalid value received for the sharding argument. Expected values are `None` or an instance of `jax.Sharding`. "
                f"Got {sharding} of type {type(sharding)}"
            )
        if isinstance(layout, Layout) and sharding is None:
            raise _user_error(
                ValueError,
                f"Sharding has to be concrete when layout is of type {type(layout)}. Please pass a `jax.sharding.NamedSharding` or "
                f"`jax.sharding.SingleDeviceSharding` to the sharding argument. Got sharding {sharding}"
            )
        self.layout, self.sharding = layout, sharding

    def __repr__(self):
        return f"Format(layout={self.layout}, sharding={self.sharding})"

    def __eq__(self, other):
        return isinstance(other, Format) and (self.layout, self.sharding) == (other.layout, other.sharding)

    def __hash__(self):
        return hash((self.layout, self.sharding))


def row_major(ndim):
    """The layout of arrays of a number of axes.

    Args:
      ndim: the number of axes.
    Returns: a `Layout`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental.layout import row_major
      >>> row_major(2).major_to_minor
      (0, 1)
    """
    return Layout(tuple(range(ndim)), ())


def with_layout_constraint(x, layouts):
    """`x`, whose layout must be the row-major one: the only one of this engine.

    Args:
      x: a tree of arrays.
      layouts: a `Layout` for all, or a tree of them.
    Returns: `x`.
    Raises:
      ValueError: a layout is of another number of axes.
      NotImplementedError: another order is asked for.
    Differentiable: yes; values pass unchanged.
    Example:
      >>> from pullback.experimental.layout import Layout, with_layout_constraint
      >>> with_layout_constraint(jnp.ones((1, 2)), Layout((0, 1))).shape
      (1, 2)
    """
    from pullback import tree

    leaves, structure = tree.flatten(x)
    wanted = [layouts] * len(leaves) if isinstance(layouts, Layout) else structure.flatten_up_to(layouts)
    for leaf, layout in zip(leaves, wanted):
        layout.check_compatible_aval(leaf.shape)
        if layout.major_to_minor != tuple(range(leaf.ndim)):
            raise _user_error(NotImplementedError, f"arrays are row-major here; the layout {layout} is not supported")
    return x


def explicit_layout(f=None, /, *, in_layouts=None):
    """A function whose arguments have known layouts: the row-major ones here.

    Args:
      f: a function; a decorator is returned without it.
      in_layouts: a `Layout` for each argument, or None.
    Returns: the function.
    Raises:
      NotImplementedError: another order is asked for.
    Differentiable: as `f` is.
    Example:
      >>> from pullback.experimental.layout import explicit_layout
      >>> float(explicit_layout(lambda x: 2 * x)(3.0))
      6.0
    """
    if f is None:
        return _functools.partial(explicit_layout, in_layouts=in_layouts)

    @_functools.wraps(f)
    def wrapped(*args):
        if in_layouts is not None:
            given = (in_layouts,) * len(args) if isinstance(in_layouts, Layout) else in_layouts
            args = tuple(arg if layout is None else with_layout_constraint(arg, layout) for arg, layout in zip(args, given))
        return f(*args)

    return wrapped
