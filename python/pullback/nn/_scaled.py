"""Products of operands that are stored in blocks, each with a scale of its own."""

import dataclasses as _dataclasses
from typing import Any as _Any

import ml_dtypes as _ml_dtypes
import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy


@_dataclasses.dataclass
class BlockScaleConfig:
    """How an operand is stored in blocks: the size of a block and the dtypes of elements and scales."""

    mode: str
    block_size: int
    data_type: _Any
    scale_type: _Any
    global_scale: _Any
    infer_only: bool


def get_scaled_dot_general_config(mode, global_scale=None):
    """How operands of a scaled contraction are stored.

    Args:
      mode: 'mxfp8' (32 elements of float8_e4m3fn, scales float8_e8m0fnu) or 'nvfp4' (16 of float4_e2m1fn,
        float8_e4m3fn).
      global_scale: of 'nvfp4', one factor more; 1 by default.
    Returns: a record with `mode`, `block_size`, `data_type`, `scale_type`, `global_scale` and `infer_only`.
    Raises:
      ValueError: another mode.
    Differentiable: no, the result is no array.
    Example:
      >>> jax.nn.get_scaled_dot_general_config("mxfp8").block_size
      32
    """
    if mode == "nvfp4":
        one = _n.ones((1,), dtype=_np.float32)
        return BlockScaleConfig(
            mode, 16, _ml_dtypes.float4_e2m1fn, _ml_dtypes.float8_e4m3fn, one if global_scale is None else global_scale, False
        )
    if mode == "mxfp8":
        return BlockScaleConfig(mode, 32, _ml_dtypes.float8_e4m3fn, _ml_dtypes.float8_e8m0fnu, None, False)
    raise _user_error(ValueError, f"Unsupported mode: {mode}")


def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=_np.float32):
    """A batched matrix product of operands in blocks along the contracted axis, each block with a scale.

    scaled_matmul : lhs[b, m, k] rhs[b, n, k] lhs_scales[b, m, k / s] rhs_scales[b, n, k / s] -> [b, m, n]

    Args:
      lhs: the left operand, in any floating dtype.
      rhs: the right operand, its contracted axis last too.
      lhs_scales, rhs_scales: their scales, converted to the dtype of the result.
      preferred_element_type: the dtype of the result.
    Returns: an array [b, m, n] of `preferred_element_type`.
    Raises:
      ValueError: operands of other than three axes, or whose sizes do not go together.
    Differentiable: in operands and scales.
    Example:
      >>> jax.nn.scaled_matmul(jnp.ones((1, 1, 32)), jnp.ones((1, 2, 32)), jnp.full((1, 1, 1), 2.0), jnp.ones((1, 2, 1)))
      Array([[[64., 64.]]], dtype=float32)
    """
    operands = [_n.asarray(x) for x in (lhs, rhs, lhs_scales, rhs_scales)]
    lhs, rhs, lhs_scales, rhs_scales = operands
    if any(x.ndim != 3 for x in operands):
        raise _user_error(ValueError, f"scaled_matmul requires all inputs to be 3-dimensional arrays, got shapes {[x.shape for x in operands]}")
    if lhs.shape[-1] != rhs.shape[-1] or lhs.shape[0] != rhs.shape[0] or lhs_scales.shape[-1] != rhs_scales.shape[-1]:
        raise _user_error(ValueError, f"scaled_matmul requires inputs a and b to have matching batch and contract dims, got {lhs.shape}, {rhs.shape}")
    if lhs.shape[-1] % lhs_scales.shape[-1]:
        raise _user_error(ValueError, f"contract dim {lhs.shape[-1]} is not a multiple of the number of scales, {lhs_scales.shape[-1]}")
    dtype = _core.as_dtype(preferred_element_type)
    wide = [_scaled(x, s, dtype) for x, s in ((lhs, lhs_scales), (rhs, rhs_scales))]
    return _n.einsum("bmk,bnk->bmn", *wide, preferred_element_type=dtype)


def _scaled(x, scales, dtype):
    return x.astype(dtype) * _n.repeat(scales.astype(dtype), x.shape[-1] // scales.shape[-1], axis=-1)


def scaled_dot_general(
    lhs, rhs, dimension_numbers, preferred_element_type=_np.float32, configs=None, implementation=None
):
    """A contraction as `lax.dot_general` has it; with configurations its operands would be brought into blocks, which is not served.

    Args:
      lhs, rhs: arrays.
      dimension_numbers: as `lax.dot_general` takes them.
      preferred_element_type: the dtype of the result.
      configs: None; what `get_scaled_dot_general_config` gives is not served.
      implementation: taken for compatibility.
    Returns: an array as `lax.dot_general` gives.
    Raises:
      NotImplementedError: configurations are given; `scaled_matmul` takes operands that are in blocks already.
      TypeError: sizes or axes do not go together.
    Differentiable: in `lhs` and `rhs`, bilinear.
    Example:
      >>> jax.nn.scaled_dot_general(jnp.ones(2), jnp.ones(2), (((0,), (0,)), ((), ())))
      Array(2., dtype=float32)
    """
    if configs is None:
        return _core.lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
    raise _user_error(
        NotImplementedError,
        "jax.nn.scaled_dot_general with configs is not implemented: it stores operands in blocks of narrow floats; "
        "jax.nn.scaled_matmul takes operands in that form, jax.lax.dot_general plain ones"
    )
