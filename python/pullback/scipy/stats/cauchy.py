"""The Cauchy distribution."""

from pullback import _core

_functions = {name: function for name, function in vars(_core.scipy.stats.cauchy).items() if not name.startswith("_")}
globals().update(_functions)

__all__ = sorted(_functions)
