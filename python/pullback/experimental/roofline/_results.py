"""Counts of what a program asks for, and the shapes that they are counted from."""

import dataclasses as _dataclasses
import math as _math
import typing as _typing

from pullback._core import user_error as _user_error


def _summed(left, right):
    return {name: left.get(name, 0) + right.get(name, 0) for name in (*right, *(name for name in left if name not in right))}


@_dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineResult:
    """What a program asks for.

    Attributes:
      flops: floating-point operations of what cannot be fused: products of matrices.
      unfused_flops: those of all operations.
      ici_bytes, ici_latency: of each mesh axis the bytes that go over its links, and the steps of that.
      hbm_bytes: bytes of operands and results of what cannot be fused.
      peak_hbm_bytes: bytes of the values that are alive at once, at most.
      unfused_hbm_bytes: bytes of operands and results of all operations.
    """

    flops: int = 0
    unfused_flops: int = 0
    ici_bytes: dict[str, int] = _dataclasses.field(default_factory=dict)
    ici_latency: dict[str, int] = _dataclasses.field(default_factory=dict)
    hbm_bytes: int = 0
    peak_hbm_bytes: int = 0
    unfused_hbm_bytes: int = 0

    @classmethod
    def zeros(cls):
        """Nothing at all."""
        return cls()

    def __add__(self, other):
        return RooflineResult(
            flops=self.flops + other.flops, unfused_flops=self.unfused_flops + other.unfused_flops,
            ici_bytes=_summed(self.ici_bytes, other.ici_bytes), ici_latency=_summed(self.ici_latency, other.ici_latency),
            hbm_bytes=self.hbm_bytes + other.hbm_bytes, peak_hbm_bytes=max(self.peak_hbm_bytes, other.peak_hbm_bytes),
            unfused_hbm_bytes=self.unfused_hbm_bytes + other.unfused_hbm_bytes,
        )

    def __mul__(self, factor):
        return RooflineResult(
            flops=self.flops * factor, unfused_flops=self.unfused_flops * factor,
            ici_bytes={name: n * factor for name, n in self.ici_bytes.items()},
            ici_latency={name: n * factor for name, n in self.ici_latency.items()},
            hbm_bytes=self.hbm_bytes * factor, peak_hbm_bytes=self.peak_hbm_bytes * factor,
            unfused_hbm_bytes=self.unfused_hbm_bytes * factor,
        )

    __rmul__ = __mul__


@_dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineShape:
    """Shape and dtype of what is counted.

    Attributes: `shape`, `dtype`.
    """

    shape: tuple[int, ...]
    dtype: _typing.Any

    @classmethod
    def from_aval(cls, aval):
        """That of an aval; TypeError for anything else."""
        from pullback._core import ShapedArray

        if not isinstance(aval, ShapedArray):
            raise _user_error(TypeError, f"Expected ShapedArray, got {type(aval)}.")
        return cls(shape=aval.shape, dtype=aval.dtype)

    @property
    def size(self):
        """Number of elements."""
        return _math.prod(self.shape)

    @property
    def bytes(self):
        """Bytes that the elements take."""
        return self.size * self.dtype.itemsize

    @classmethod
    def total_bytes(cls, avals):
        """Bytes of several avals."""
        return sum(cls.from_aval(aval).bytes for aval in avals)


@_dataclasses.dataclass(frozen=True, kw_only=True)
class RooflineRuleContext:
    """What a rule knows of an operation beside its parameters.

    Attributes:
      name_stack: the names around it.
      primitive: what is applied.
      avals_in, avals_out: types of operands and results.
      jaxpr_eqn_ctx: None.
      mesh: the mesh that the program is divided over, or None.
      pin_lhs_in_vmem, pin_rhs_in_vmem: whether an operand of matrix products is in fast memory already.
    """

    name_stack: _typing.Any
    primitive: _typing.Any
    avals_in: _typing.Any
    avals_out: _typing.Any
    jaxpr_eqn_ctx: _typing.Any
    mesh: _typing.Any
    pin_lhs_in_vmem: bool
    pin_rhs_in_vmem: bool
