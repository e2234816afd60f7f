"""Array functions with NumPy's names and JAX's rules for dtypes."""

import numpy as _np

from pullback import _core
from pullback._core import Array as ndarray
from pullback.numpy._scalars import *  # noqa: F403
from pullback.numpy._scalars import __all__ as _scalar_names

_functions = [name for name in dir(_core.numpy) if not name.startswith("_")]
globals().update({name: getattr(_core.numpy, name) for name in _functions})

from pullback.numpy import (  # noqa: E402
    _bits, _derived, _dtypes, _einsum, _files, _grids, _histograms, _interpolation, _padding, _polynomials, _printing, _sets,
    _statistics, _ufuncs, _updates, _vectorize, _windows,
)

_modules = (
    _bits, _derived, _dtypes, _einsum, _files, _grids, _histograms, _interpolation, _padding, _polynomials, _printing, _sets,
    _statistics, _ufuncs, _updates, _vectorize, _windows,
)
globals().update({name: getattr(module, name) for module in _modules for name in module.__all__})

from pullback.numpy._convolution import *  # noqa: E402, F403
from pullback.numpy._convolution import __all__ as _convolution_names  # noqa: E402
from pullback.numpy import fft as fft, linalg as linalg  # noqa: E402

pi = _np.pi
e = _np.e
euler_gamma = _np.euler_gamma
inf = _np.inf
nan = _np.nan
newaxis = None
index_exp = _np.index_exp
s_ = _np.s_

dtype = _np.dtype
generic = _np.generic
number = _np.number
integer = _np.integer
signedinteger = _np.signedinteger
unsignedinteger = _np.unsignedinteger
inexact = _np.inexact
floating = _np.floating
complexfloating = _np.complexfloating
flexible = _np.flexible
character = _np.character
object_ = _np.object_

__all__ = sorted({
    *_functions, *_scalar_names, *_convolution_names, "fft", "linalg", *(name for module in _modules for name in module.__all__), "ndarray", "pi", "e", "euler_gamma",
    "inf", "nan", "newaxis", "index_exp", "s_", "dtype", "generic", "number", "integer", "signedinteger", "unsignedinteger",
    "inexact", "floating", "complexfloating", "flexible", "character", "object_",
})
