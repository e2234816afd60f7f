"""Sums and extremes over segments of an array."""

from pullback import _core

_functions = {name: function for name, function in vars(_core.ops).items() if not name.startswith("_")}
globals().update(_functions)

__all__ = sorted(_functions)
