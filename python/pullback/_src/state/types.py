"""Avals of references."""


class AbstractRef:
    """The aval of a mutable reference.

    Attributes:
      inner_aval: the aval of the array that it holds; what that has, this has too.
      memory_space: None.
    """

    __slots__ = ("inner_aval", "memory_space")

    def __init__(self, inner_aval, memory_space=None):
        self.inner_aval, self.memory_space = inner_aval, memory_space

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"'AbstractRef' object has no attribute {name!r}")
        return getattr(self.inner_aval, name)

    def __len__(self):
        return len(self.inner_aval)

    def update(self, inner_aval=None, memory_space=None):
        """The aval with some parts changed."""
        return AbstractRef(inner_aval or self.inner_aval, memory_space or self.memory_space)

    def str_short(self, short_dtypes=False, mesh_axis_types=False):
        """Its text."""
        return f"Ref{{{self.inner_aval.str_short(short_dtypes)}}}"

    def __eq__(self, other):
        return isinstance(other, AbstractRef) and self.inner_aval == other.inner_aval and self.memory_space == other.memory_space

    def __hash__(self):
        return hash((AbstractRef, self.inner_aval))

    def __repr__(self):
        return self.str_short()
