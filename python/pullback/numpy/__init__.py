"""Array functions with NumPy's names and JAX's rules for dtypes."""

import numpy as _np

from pullback import _core
from pullback._core import Array as ndarray
from pullback._later import later as _later

# Where names live that are not functions of the core: modules that are imported when one of their names is asked for.
_PARTS = {
    "pullback.numpy._scalars": (
        "bfloat16", "bool", "bool_", "cdouble", "complex128", "complex64", "complex_", "csingle", "double", "float16",
        "float32", "float4_e2m1fn", "float64", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
        "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
        "float_", "int1", "int16", "int2", "int32", "int4", "int64", "int8", "int_", "single", "uint", "uint1", "uint16",
        "uint2", "uint32", "uint4", "uint64", "uint8",
    ),
    "pullback.numpy._derived": (
        "can_cast", "fromfunction", "iscomplexobj", "isrealobj", "issubdtype", "mask_indices", "piecewise", "promote_types",
    ),
    "pullback.numpy._dtypes": ("ComplexWarning", "finfo", "iinfo", "isdtype", "isscalar", "iterable"),
    "pullback.numpy._einsum": ("einsum", "einsum_path"),
    "pullback.numpy._files": ("from_dlpack", "frombuffer", "fromfile", "fromiter", "fromstring", "load", "save", "savez"),
    "pullback.numpy._grids": ("c_", "mgrid", "ogrid", "r_"),
    "pullback.numpy._padding": ("pad",),
    "pullback.numpy._polynomials": ("roots",),
    "pullback.numpy._printing": ("array_repr", "array_str", "get_printoptions", "printoptions", "set_printoptions"),
    "pullback.numpy._ufuncs": (
        "add", "bitwise_and", "bitwise_or", "bitwise_xor", "frompyfunc", "logaddexp", "logaddexp2", "logical_and",
        "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "subtract", "ufunc",
    ),
    "pullback.numpy._vectorize": ("apply_along_axis", "apply_over_axes", "vectorize"),
    "pullback.numpy.fft": ("fft",),
    "pullback.numpy.linalg": ("linalg",),
}
__getattr__, _homes = _later(__name__, _PARTS)

_functions = [name for name in dir(_core.numpy) if not name.startswith("_")]
globals().update({name: getattr(_core.numpy, name) for name in _functions if name not in _homes})

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
    *_functions, *_homes, "ndarray", "pi", "e", "euler_gamma", "inf", "nan", "newaxis", "index_exp", "s_", "dtype", "generic",
    "number", "integer", "signedinteger", "unsignedinteger", "inexact", "floating", "complexfloating", "flexible", "character",
    "object_",
})


def __dir__():
    return sorted({*globals(), *_homes})
