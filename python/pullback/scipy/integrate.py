"""Integrals of sampled functions, with SciPy's names."""

from pullback import _core

_functions = {name: function for name, function in vars(_core.scipy.integrate).items() if not name.startswith("_")}
globals().update(_functions)

__all__ = sorted(_functions)
