from collections.abc import Sequence
from typing import Any, TypeAlias

DotDimensionNumbers: TypeAlias = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]
PrecisionLike: TypeAlias = Any
ConvGeneralDilatedDimensionNumbers: TypeAlias = Any
