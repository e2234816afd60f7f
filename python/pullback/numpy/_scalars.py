"""The scalar types: names of dtypes that also convert, as `jnp.float32(1.5)`."""

import ml_dtypes as _ml_dtypes
import numpy as _np

from pullback import _core

__all__ = []


class _ScalarMeta(type):
    """Scalar types compare as NumPy's do, and a call gives an array."""

    def __hash__(cls):
        return hash(cls.dtype.type)

    def __eq__(cls, other):
        return cls is other or cls.dtype.type == other

    def __ne__(cls, other):
        return not cls == other

    def __call__(cls, x):
        return _core.numpy.asarray(x, dtype=cls.dtype)

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls.dtype.type)


def _scalar_type(name, kind):
    dtype = _np.dtype(kind)
    made = _ScalarMeta(name, (object,), {"dtype": dtype, "__doc__": f"The scalar type `{name}`."})
    made.__module__ = "pullback.numpy"
    __all__.append(name)
    return made


# The type of booleans is named as NumPy's, without the underscore.
bool_ = _scalar_type("bool", _np.bool_)
for _name in (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
):
    globals()[_name] = _scalar_type(_name, getattr(_np, _name))
for _name in (
    "int1", "int2", "int4", "uint1", "uint2", "uint4", "bfloat16", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
):
    if hasattr(_ml_dtypes, _name):
        globals()[_name] = _scalar_type(_name, getattr(_ml_dtypes, _name))

# Names for the defaults; explicit wide types narrow while 64-bit types are off, as everywhere.
bool = bool_
__all__.append("bool_")
uint = uint64  # noqa: F821
int_ = int64  # noqa: F821
float_ = float64  # noqa: F821
complex_ = complex128  # noqa: F821
single = float32  # noqa: F821
double = float64  # noqa: F821
csingle = complex64  # noqa: F821
cdouble = complex128  # noqa: F821
__all__ += ["uint", "int_", "float_", "complex_", "single", "double", "csingle", "cdouble"]
