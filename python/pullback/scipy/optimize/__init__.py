"""Minima of functions, with SciPy's names."""

from pullback.scipy.optimize._minimize import OptimizeResults as OptimizeResults
from pullback.scipy.optimize._minimize import minimize as minimize

__all__ = ["OptimizeResults", "minimize"]
for _name in __all__:
    globals()[_name].__module__ = "pullback.scipy.optimize"
