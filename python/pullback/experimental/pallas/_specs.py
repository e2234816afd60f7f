"""How arrays are divided into blocks, and over which grid."""

import dataclasses as _dataclasses
import enum as _enum
import typing as _typing


class MemorySpace(_enum.Enum):
    """Where a block lies: all one memory here."""

    ANY = "any"
    ERROR = "error"
    INDEX = "index"
    KEY = "key"
    HOST = "host"


HOST = MemorySpace.HOST


@_dataclasses.dataclass(frozen=True)
class Blocked:
    """A block of this size, counted in blocks."""

    block_size: int


@_dataclasses.dataclass(frozen=True)
class Element:
    """A block of this size, counted in elements."""

    block_size: int
    padding: tuple[int, int] = (0, 0)


class Squeezed:
    """A block of size one, whose axis the kernel does not see."""

    def __repr__(self):
        return "Squeezed()"


squeezed = Squeezed()


@_dataclasses.dataclass
class BlockSpec:
    """How an array is divided.

    Attributes:
      block_shape: for each axis a size, None or `squeezed` for one element whose axis goes, or an `Element`; None for the whole array.
      index_map: a function from the position in the grid to that of the block.
      memory_space: where blocks lie; without effect.
      pipeline_mode: without effect.
    """

    block_shape: _typing.Any = None
    index_map: _typing.Any = None
    memory_space: _typing.Any = _dataclasses.field(kw_only=True, default=None)
    pipeline_mode: _typing.Any = _dataclasses.field(kw_only=True, default=None)


class NoBlockSpec:
    """No division."""

    def __repr__(self):
        return "NoBlockSpec"


no_block_spec = NoBlockSpec()


@_dataclasses.dataclass
class GridSpec:
    """A grid with the divisions of arguments and results.

    Attributes:
      grid: sizes.
      in_specs, out_specs: trees of `BlockSpec`.
      scratch_shapes: types of what a kernel keeps from step to step.
    """

    grid: _typing.Any = ()
    in_specs: _typing.Any = no_block_spec
    out_specs: _typing.Any = no_block_spec
    scratch_shapes: _typing.Any = ()


@_dataclasses.dataclass(frozen=True)
class MemoryRef:
    """The type of memory of a kernel.

    Attributes: `shape`, `dtype`, `memory_space`.
    """

    shape: tuple[int, ...]
    dtype: _typing.Any
    memory_space: _typing.Any = MemorySpace.ANY


@_dataclasses.dataclass(frozen=True)
class CompilerParams:
    """Options of compilers for accelerators; without effect."""


@_dataclasses.dataclass(frozen=True)
class CostEstimate:
    """What a kernel is said to cost; without effect.

    Attributes: `flops`, `transcendentals`, `bytes_accessed`, `remote_bytes_transferred`.
    """

    flops: int
    transcendentals: int
    bytes_accessed: int
    remote_bytes_transferred: int = 0
