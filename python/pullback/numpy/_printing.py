"""How arrays are printed: the settings and the texts are NumPy's."""

import numpy as _np

__all__ = ["array_repr", "array_str", "get_printoptions", "printoptions", "set_printoptions"]


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    """An array as the text that names its type, as NumPy prints it.

    Args:
      arr: an array; concrete.
      max_line_width: the greatest length of a line; that of `set_printoptions` by default.
      precision: digits of floating numbers; that of `set_printoptions` by default.
      suppress_small: whether numbers near 0 are printed as 0; as `set_printoptions` has it by default.
    Returns: a str.
    Differentiable: no; the result is no array.
    Example:
      >>> print(jnp.array_repr(jnp.array([1.5, 2.5])))
      ArrayImpl([1.5, 2.5], dtype=float32)
    """
    return _np.array_repr(arr, max_line_width, precision, suppress_small)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    """An array as the text of its elements, as NumPy prints it.

    Args:
      a: an array; concrete.
      max_line_width: the greatest length of a line; that of `set_printoptions` by default.
      precision: digits of floating numbers; that of `set_printoptions` by default.
      suppress_small: whether numbers near 0 are printed as 0; as `set_printoptions` has it by default.
    Returns: a str.
    Differentiable: no; the result is no array.
    Example:
      >>> print(jnp.array_str(jnp.array([1.5, 2.5])))
      [1.5 2.5]
    """
    return _np.array_str(a, max_line_width, precision, suppress_small)


def set_printoptions(*args, **kwargs):
    """Sets how arrays are printed, here and in NumPy.

    Args:
      args, kwargs: those of `numpy.set_printoptions`: `precision`, `threshold`, `linewidth` and others.
    Returns: None.
    Raises:
      TypeError: an option that does not exist, or a value of the wrong type.
    Differentiable: no.
    Example:
      >>> jnp.set_printoptions(precision=8)
    """
    _np.set_printoptions(*args, **kwargs)


def get_printoptions():
    """How arrays are printed, here and in NumPy.

    Returns: a dictionary of the options that `set_printoptions` sets.
    Differentiable: no.
    Example:
      >>> jnp.get_printoptions()["precision"]
      8
    """
    return _np.get_printoptions()


def printoptions(*args, **kwargs):
    """Sets how arrays are printed within a `with` block.

    Args:
      args, kwargs: as for `set_printoptions`.
    Returns: a context manager.
    Raises:
      TypeError: an option that does not exist, or a value of the wrong type, when the block is entered.
    Differentiable: no.
    Example:
      >>> with jnp.printoptions(precision=2):
      ...     print(jnp.array([1.23456]))
      [1.23]
    """
    return _np.printoptions(*args, **kwargs)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
