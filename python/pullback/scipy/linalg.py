"""Linear algebra with SciPy's names."""

from pullback import _core
from pullback.scipy._factors import cho_factor as cho_factor

_functions = {name: function for name, function in vars(_core.scipy.linalg).items() if not name.startswith("_")}
globals().update(_functions)

__all__ = sorted({*_functions, "cho_factor"})
