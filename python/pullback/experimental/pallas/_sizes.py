"""Arithmetic of sizes and slices."""

from pullback._slices import dslice as dslice

ds = dslice


def cdiv(a, b):
    """The quotient, rounded up.

    Args:
      a: an integer, or an array of them.
      b: an integer above 0.
    Returns: what `a` is.
    Differentiable: no; integers have no derivative.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.cdiv(7, 2)
      4
    """
    return (a + b - 1) // b


def align_to(a, alignment):
    """The next multiple of `alignment`.

    Args:
      a: an integer.
      alignment: an integer above 0.
    Returns: an integer.
    Differentiable: no; integers have no derivative.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.align_to(5, 4)
      8
    """
    return cdiv(a, alignment) * alignment


def next_power_of_2(x):
    """The next power of two.

    Args:
      x: an integer of at least 0.
    Returns: an integer; 1 for 0.
    Raises:
      ValueError: `x` is negative.
    Differentiable: no; integers have no derivative.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.next_power_of_2(5)
      8
    """
    from pullback._core import user_error

    if x < 0:
        raise user_error(ValueError, f"`next_power_of_2` requires a non-negative integer, got {x}")
    return 1 if x == 0 else 1 << (x - 1).bit_length()


def strides_from_shape(shape):
    """How many elements lie between neighbours along each axis, row by row.

    Args:
      shape: sizes.
    Returns: a tuple of integers.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> pl.strides_from_shape((2, 3, 4))
      (12, 4, 1)
    """
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
