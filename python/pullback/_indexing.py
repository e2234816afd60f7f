"""`x.at[index]`: updates of parts of arrays, each giving a new array."""

from pullback import _core


class _IndexUpdateHelper:
    """What `x.at` gives; index it to choose the elements."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return _IndexUpdateRef(self.array, index)

    def __repr__(self):
        return f"_IndexUpdateHelper({self.array!r})"


class _IndexUpdateRef:
    """The elements that an index chooses, to be read or updated."""

    __slots__ = ("array", "index")

    def __init__(self, array, index):
        self.array, self.index = array, index

    def __repr__(self):
        return f"_IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(
        self, *, indices_are_sorted=False, unique_indices=False, mode=None, fill_value=None, out_sharding=None,
        wrap_negative_indices=True,
    ):
        """The chosen elements; `mode` says what out-of-bounds indices give."""
        return _core.index_get(
            self.array, self.index, indices_are_sorted, unique_indices, mode, fill_value, wrap_negative_indices
        )

    def apply(self, func, *, indices_are_sorted=False, unique_indices=False, mode=None, wrap_negative_indices=True):
        """`func` of the chosen elements in their places."""
        chosen = self.get(mode=mode)
        return self.set(func(chosen), indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode)


def _update(kind, doc):
    def method(
        self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, out_sharding=None, wrap_negative_indices=True
    ):
        return _core.index_update(kind, self.array, self.index, values, indices_are_sorted, unique_indices, mode)

    method.__doc__ = doc
    return method


for _name, _kind, _doc in (
    ("set", "set", "The array with `values` in place of the chosen elements."),
    ("add", "add", "The array with `values` added to the chosen elements."),
    ("subtract", "subtract", "The array with `values` subtracted from the chosen elements."),
    ("multiply", "multiply", "The array with the chosen elements multiplied by `values`."),
    ("mul", "multiply", "The array with the chosen elements multiplied by `values`."),
    ("divide", "divide", "The array with the chosen elements divided by `values`."),
    ("power", "power", "The array with the chosen elements raised to `values`."),
    ("min", "min", "The array with the smaller of chosen elements and `values`."),
    ("max", "max", "The array with the greater of chosen elements and `values`."),
):
    _method = _update(_kind, _doc)
    _method.__name__ = _name
    setattr(_IndexUpdateRef, _name, _method)
