"""Integrals of sampled functions, with SciPy's names."""

from pullback import _core

_n = _core.numpy

__all__ = ["trapezoid"]


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral of sampled values by the trapezoidal rule.

    Args:
      y: values of a function.
      x: where they were taken; evenly spaced by default.
      dx: the distance of the points, without `x`.
      axis: the axis of the points.
    Returns: `y` without that axis.
    Raises:
      ValueError: shapes that do not go together, an axis out of bounds.
    Differentiable.

    >>> from pullback.scipy import integrate
    >>> from pullback import numpy as jnp
    >>> float(integrate.trapezoid(jnp.array([0.0, 1.0, 2.0])))
    2.0
    """
    return _n.trapezoid(y, x, dx=dx, axis=axis)


trapezoid.__module__ = "pullback.scipy.integrate"
