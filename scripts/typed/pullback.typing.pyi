from typing import Any, TypeAlias, Union
import numpy as np
from pullback._core import Array

ArrayLike: TypeAlias = Union[Array, np.ndarray[Any, Any], np.bool_, np.number[Any], bool, int, float, complex]
DTypeLike: TypeAlias = Union[str, type[Any], np.dtype[Any], Any]
