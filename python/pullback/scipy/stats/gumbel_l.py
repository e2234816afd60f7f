"""The left-skewed Gumbel distribution."""

from pullback import _core

_functions = {name: function for name, function in vars(_core.scipy.stats.gumbel_l).items() if not name.startswith("_")}
globals().update(_functions)

__all__ = sorted(_functions)
