"""Records and enumerations that arguments of `lax` are."""

import dataclasses
import enum
from collections.abc import Sequence
from typing import NamedTuple

from pullback._core import user_error as _user_error


class Precision(enum.Enum):
    """How exactly contractions compute; the CPU computes in full precision always."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value):
        words = {
            None: "DEFAULT", "default": "DEFAULT", "fastest": "DEFAULT", "bfloat16": "DEFAULT", "high": "HIGH",
            "bfloat16_3x": "HIGH", "tensorfloat32": "HIGH", "highest": "HIGHEST", "float32": "HIGHEST",
        }
        return cls[words[value]] if value in words else None

    def __repr__(self):
        return f"{type(self).__name__}.{self.name}"

    def __str__(self):
        return self.name


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
            raise _user_error(ValueError, f'Unknown gather mode "{s}"')
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


@dataclasses.dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """Which axes a ragged product contracts, which one is ragged, and which one of the kernel counts groups."""

    dot_dimension_numbers: tuple
    lhs_ragged_dimensions: tuple
    rhs_group_dimensions: tuple

    def __init__(self, dot_dimension_numbers, lhs_ragged_dimensions, rhs_group_dimensions):
        contract, batch = dot_dimension_numbers
        object.__setattr__(self, "dot_dimension_numbers", tuple(tuple(map(tuple, pair)) for pair in (contract, batch)))
        object.__setattr__(self, "lhs_ragged_dimensions", tuple(lhs_ragged_dimensions))
        object.__setattr__(self, "rhs_group_dimensions", tuple(rhs_group_dimensions))


class RandomAlgorithm(enum.IntEnum):
    """Which generator makes bits."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


class AccuracyMode(enum.Enum):
    """How exactly functions compute; the CPU's functions have one accuracy."""

    HIGHEST = 1
    DEFAULT = 2


class Tolerance:
    """How far from exact a function may be.

    Raises:
      ValueError: nothing is said.
    """

    def __init__(self, atol: float = 0.0, rtol: float = 0.0, ulps: int = 0):
        if atol < 0.0 or rtol < 0.0 or ulps < 0:
            raise _user_error(ValueError, "Tolerances must be non-negative.")
        if atol == 0.0 and rtol == 0.0 and ulps == 0:
            raise _user_error(ValueError, "At least one of atol, rtol, or ulps must be set.")
        self.atol, self.rtol, self.ulps = atol, rtol, ulps


class DotAlgorithm(NamedTuple):
    """The dtypes and passes of a contraction on accelerators."""

    lhs_precision_type: object
    rhs_precision_type: object
    accumulation_type: object
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


DotAlgorithmPreset = enum.Enum(
    "DotAlgorithmPreset",
    "DEFAULT ANY_F8_ANY_F8_F32 ANY_F8_ANY_F8_F32_FAST_ACCUM ANY_F8_ANY_F8_ANY ANY_F8_ANY_F8_ANY_FAST_ACCUM F16_F16_F16 "
    "F16_F16_F32 BF16_BF16_BF16 BF16_BF16_F32 BF16_BF16_F32_X3 BF16_BF16_F32_X6 BF16_BF16_F32_X9 TF32_TF32_F32 "
    "TF32_TF32_F32_X3 F32_F32_F32 F64_F64_F64",
)
DotAlgorithmPreset.__str__ = lambda self: self.name
DotAlgorithmPreset.__repr__ = lambda self: f"DotAlgorithmPreset.{self.name}"
DotDimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]
ConvGeneralDilatedDimensionNumbers = None | ConvDimensionNumbers | tuple[str, str, str]
PrecisionLike = None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm | DotAlgorithmPreset

for _class in (
    Precision, RoundingMethod, GatherScatterMode, FftType, GatherDimensionNumbers, ScatterDimensionNumbers, ConvDimensionNumbers,
    RaggedDotDimensionNumbers, RandomAlgorithm, AccuracyMode, Tolerance, DotAlgorithm, DotAlgorithmPreset,
):
    _class.__module__ = "pullback.lax"
