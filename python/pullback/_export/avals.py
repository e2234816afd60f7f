"""Types of arrays whose shapes may be symbolic."""

from pullback._export import dims


class SymbolicAval:
    """The type of an array with symbolic sizes; it prints and compares as a `ShapedArray`.

    Attributes: `shape`, `dtype`, `weak_type`, `ndim`, `size`.
    """

    __slots__ = ("dtype", "shape", "weak_type")

    def __init__(self, shape, dtype, weak_type=False):
        self.shape, self.dtype, self.weak_type = tuple(shape), dtype, weak_type

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self):
        """Number of elements."""
        total = 1
        for size in self.shape:
            total = total * size
        return total

    @property
    def sharding(self):
        """Where the elements are: not said."""
        return None

    def update(self, **changes):
        """The type with some parts changed."""
        parts = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type, **changes}
        return aval(**parts)

    def strip_weak_type(self):
        """The type that gives way to no other."""
        return self.update(weak_type=False)

    def str_short(self, short_dtypes=False):
        """The dtype with the sizes."""
        from pullback._core import ShapedArray

        plain = ShapedArray((), self.dtype).str_short(short_dtypes=short_dtypes)
        return plain[: plain.index("[")] + "[" + ",".join(map(str, self.shape)) + "]"

    def _key(self):
        return self.shape, self.dtype, self.weak_type

    def __eq__(self, other):
        return isinstance(other, SymbolicAval) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.str_short()}{weak})"


def aval(shape, dtype, weak_type=False):
    """The type of an array; a `ShapedArray` where nothing in the shape is symbolic."""
    from pullback._core import ShapedArray

    if any(isinstance(size, dims.DimExpr) for size in shape):
        return SymbolicAval(shape, dtype, weak_type)
    return ShapedArray(tuple(shape), dtype, weak_type=weak_type)
