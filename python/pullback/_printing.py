"""Texts of arrays, by NumPy's rules."""

import numpy as np

from pullback._core import user_error as _user_error


def _deleted(array):
    raise _user_error(RuntimeError, f"Array has been deleted with shape={array.aval}.")


def _elements(array):
    if array.is_deleted():
        _deleted(array)
    return np.asarray(array)


def array_repr(array):
    """`Array([1., 1.], dtype=float32)`."""
    name = getattr(array.dtype, "name", str(array.dtype))
    if name.startswith("key<"):
        from pullback.random import key_data

        return f"Array({array.shape}, dtype={name}) overlaying:\n{np.asarray(key_data(array))}"
    end = f"dtype={name}{', weak_type=True' if array.weak_type else ''})"
    if array.size == 0:
        return f"Array([], shape={array.shape}, {end}"
    width = np.get_printoptions()["linewidth"]
    body = np.array2string(_elements(array), prefix="Array(", suffix=",", separator=", ", max_line_width=width)
    text = f"Array({body},"
    last = len(text) - (text.rfind("\n") + 1)
    # Where the line gets too long the reference leaves a gap of the prefix's width, without a new line.
    gap = " " * len("Array(") if last + len(end) + 1 > width else " "
    return text + gap + end


def array_str(array):
    """As NumPy prints the elements."""
    if getattr(array.dtype, "name", "").startswith("key<"):
        return array_repr(array)
    return str(_elements(array))
