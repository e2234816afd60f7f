"""Element types under JAX's private path."""

import numpy as _np

from pullback.dtypes import *  # noqa: F403
from pullback.dtypes import ExtendedDType as ExtendedDType, TypePromotionError as TypePromotionError, extended as extended

DType = _np.dtype


def finfo(dtype):
    """Limits of a float type."""
    from pullback import numpy as jnp

    return jnp.finfo(dtype)


def supports_inf(dtype):
    """Whether infinity is an element."""
    return _np.dtype(dtype).name not in ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz")


def to_complex_dtype(dtype):
    """The complex type of a real one."""
    return _np.dtype(_np.complex128 if _np.dtype(dtype) in (_np.float64, _np.complex128) else _np.complex64)


def lattice_result_type(*args):
    """The dtype to which arguments promote, and whether it gives way to others."""
    from pullback.dtypes import result_type

    return result_type(*args, return_weak_type_flag=True)
