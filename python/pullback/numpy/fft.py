"""Fourier transforms with NumPy's names.

Forward transforms are not scaled, inverse ones by the number of elements; `norm` moves that factor. All are differentiable.
"""

from pullback import _core

_functions = {name: function for name, function in vars(_core.numpy.fft).items() if not name.startswith("_")}
globals().update(_functions)

__all__ = sorted(_functions)
