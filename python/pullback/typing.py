"""Types for annotations."""

import typing as _typing

import numpy as _np

from pullback._core import Array as _Array

ArrayLike = _typing.Union[_Array, _np.ndarray, _np.bool_, _np.number, bool, int, float, complex]
DTypeLike = _typing.Union[str, type, _np.dtype, _typing.Any]

__all__ = ["ArrayLike", "DTypeLike"]
