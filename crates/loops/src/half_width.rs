//! Half-width floats as they cross memory: `float16` and `bfloat16` bits to `float32` and back.
//!
//! Code generation does the same on integer registers; both must give the same bits for every number.

use half::{bf16, f16};
use pullback_base::DType;

/// The `float32` value of half-width bits.
pub(crate) fn widen(dtype: DType, bits: u16) -> f32 {
    if dtype == DType::BF16 { bf16::from_bits(bits).to_f32() } else { f16::from_bits(bits).to_f32_const() }
}

/// The half-width bits nearest to a `float32`, ties to even.
pub(crate) fn narrow(dtype: DType, value: f32) -> u16 {
    if dtype == DType::BF16 { bf16::from_f32(value).to_bits() } else { f16::from_f32_const(value).to_bits() }
}

/// A `float32` rounded to a half-width type and widened again.
pub(crate) fn round(dtype: DType, value: f32) -> f32 {
    widen(dtype, narrow(dtype, value))
}
