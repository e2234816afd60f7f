"""Records and enumerations that arguments of `lax` are."""

import enum
from typing import NamedTuple


class Precision(enum.Enum):
    """How exactly contractions compute; the CPU computes in full precision always."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self):
        return self.name

    __str__ = __repr__


class RoundingMethod(enum.IntEnum):
    """What becomes of numbers halfway between integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


class GatherScatterMode(enum.Enum):
    """What becomes of indices out of bounds."""

    CLIP = 0
    FILL_OR_DROP = 1
    PROMISE_IN_BOUNDS = 2
    ONE_HOT = 3

    @staticmethod
    def from_any(s):
        """The mode of a name, or the default of none."""
        if isinstance(s, GatherScatterMode):
            return s
        names = {"clip": "CLIP", None: "FILL_OR_DROP", "fill": "FILL_OR_DROP", "drop": "FILL_OR_DROP",
                 "promise_in_bounds": "PROMISE_IN_BOUNDS", "one_hot": "ONE_HOT"}
        if s not in names:
            raise ValueError(f'Unknown gather mode "{s}"')
        return GatherScatterMode[names[s]]


class FftType(enum.IntEnum):
    """Which Fourier transform."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


class GatherDimensionNumbers(NamedTuple):
    """Which axes of operand, indices and result correspond in a gather."""

    offset_dims: tuple
    collapsed_slice_dims: tuple
    start_index_map: tuple
    operand_batching_dims: tuple = ()
    start_indices_batching_dims: tuple = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which axes of operand, indices and updates correspond in a scatter."""

    update_window_dims: tuple
    inserted_window_dims: tuple
    scatter_dims_to_operand_dims: tuple
    operand_batching_dims: tuple = ()
    scatter_indices_batching_dims: tuple = ()


class ConvDimensionNumbers(NamedTuple):
    """Which axes of operand, kernel and result are batch, features and space."""

    lhs_spec: tuple
    rhs_spec: tuple
    out_spec: tuple


for _class in (
    Precision, RoundingMethod, GatherScatterMode, FftType, GatherDimensionNumbers, ScatterDimensionNumbers, ConvDimensionNumbers,
):
    _class.__module__ = "pullback.lax"
