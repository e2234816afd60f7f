"""Element types: their kinds and limits, and scalars of Python."""

import ml_dtypes as _ml_dtypes
import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["ComplexWarning", "finfo", "iinfo", "isdtype", "isscalar", "iterable"]

ComplexWarning = _np.exceptions.ComplexWarning
finfo, iinfo = _ml_dtypes.finfo, _ml_dtypes.iinfo

_KINDS = {
    "bool": lambda d: d.kind == "b",
    "signed integer": lambda d: d.kind == "i" or d.name in ("int2", "int4"),
    "unsigned integer": lambda d: d.kind == "u" or d.name in ("uint2", "uint4"),
    "integral": lambda d: d.kind in "iu" or "int" in d.name,
    "real floating": lambda d: d.kind == "f" or "float" in d.name,
    "complex floating": lambda d: d.kind == "c",
    "numeric": lambda d: d.kind != "b",
}


def isdtype(dtype, kind):
    """Whether a dtype is of a kind, by the names of the array API.

    Args:
      dtype: a dtype, its name, or a scalar type as `jnp.float32`.
      kind: 'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating',
        'numeric', a dtype, or a tuple of such.
    Returns: a bool.
    Raises:
      ValueError: a text that is neither kind nor dtype.
      TypeError: what is neither kind nor dtype, or an abstract class as `jnp.integer`.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.isdtype(jnp.bfloat16, ("integral", "real floating"))
      True
    """
    dtype = _np.dtype(getattr(dtype, "dtype", dtype))
    return any(_is_of(dtype, one) for one in (kind if isinstance(kind, tuple) else (kind,)))


def _is_of(dtype, kind):
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind](dtype)
    if isinstance(kind, type) and issubclass(kind, _np.generic) and kind in (
        _np.generic, _np.number, _np.integer, _np.floating, _np.inexact, _np.signedinteger, _np.unsignedinteger,
        _np.complexfloating,
    ):
        raise _user_error(TypeError, f"Expected a dtype or a kind, got {kind}")
    try:
        return dtype == _np.dtype(getattr(kind, "dtype", kind))
    except TypeError:
        if not isinstance(kind, str):
            raise _user_error(TypeError, f"Expected kind to be a dtype, string, or tuple; got kind={kind!r}") from None
        raise _user_error(
            ValueError,
            f"Unrecognized kind={kind!r} expected one of {list(_KINDS)}, or a compatible input for jnp.dtype()"
        ) from None


def isscalar(element):
    """Whether a value is a number: one of Python or NumPy, or an array without axes.

    Args:
      element: any object.
    Returns: a bool.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.isscalar(1.5), jnp.isscalar(jnp.float32(1)), jnp.isscalar([1])
      (True, True, False)
    """
    if isinstance(element, (_np.ndarray, _core.Array)) or hasattr(element, "__jax_array__"):
        return _n.asarray(element).ndim == 0
    return _np.isscalar(element)


def iterable(y):
    """Whether an object can be iterated over; arrays without axes cannot.

    Args:
      y: any object.
    Returns: a bool.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.iterable([1]), jnp.iterable(1)
      (True, False)
    """
    return _np.iterable(y)


for _name in ("isdtype", "isscalar", "iterable"):
    globals()[_name].__module__ = "pullback.numpy"
