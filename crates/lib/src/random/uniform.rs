//! Even distribution between bounds: random mantissas between 1 and 2, shifted and scaled.

use pullback_base::{DType, Result, Scalar, bail};
use pullback_ir::Val;

use super::keys::{bits_typed, single_key};
use crate::broadcast::to_rank;
use crate::convert::{number, to_dtype};
use crate::jit::named_jit_one;
use crate::lax;

/// Static arguments of a sampler: dtype, a flag, the shape.
pub(super) fn statics(dtype: DType, flag: i64, shape: &[usize]) -> Vec<i64> {
    [dtype as i64, flag].into_iter().chain(shape.iter().map(|&size| size as i64)).collect()
}

/// In which order bounds are operands of the jitted function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bounds {
    LowHigh,
    HighLow,
}

/// Samples in `[low, high)`.
///
/// # Errors
/// A `Value` error for a dtype that is not floating.
pub fn uniform(key: &Val, shape: &[usize], dtype: DType, low: &Val, high: &Val) -> Result<Val> {
    let (key, _) = single_key("uniform", key)?;
    check_float("uniform", dtype)?;
    uniform_typed(&key, shape, dtype, low, high, Bounds::LowHigh)
}

pub(super) fn check_float(name: &str, dtype: DType) -> Result<()> {
    if dtype.is_float() {
        return Ok(());
    }
    bail!(Value, "dtype argument to `{name}` must be a float dtype, got {dtype}")
}

pub(super) fn uniform_typed(
    key: &Val,
    shape: &[usize],
    dtype: DType,
    low: &Val,
    high: &Val,
    order: Bounds,
) -> Result<Val> {
    let is_swapped = order == Bounds::HighLow;
    let (first, second) = if is_swapped { (high, low) } else { (low, high) };
    let args = [key.clone(), first.clone(), second.clone()];
    named_jit_one("_uniform", &statics(dtype, is_swapped.into(), shape), &args, |args| {
        let first = to_dtype(&args[1], dtype)?;
        let second = to_dtype(&args[2], dtype)?;
        let (low, high) = if is_swapped { (second, first) } else { (first, second) };
        sample(&args[0], shape, dtype, &low, &high)
    })
}

/// Bits of the mantissa that are written.
fn mantissa_bits(dtype: DType) -> u32 {
    match dtype {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        DType::BF16 => 7,
        _ => 0,
    }
}

fn unsigned_of(bits: u32) -> DType {
    match bits {
        8 => DType::U8,
        16 => DType::U16,
        32 => DType::U32,
        _ => DType::U64,
    }
}

fn sample(key: &Val, shape: &[usize], dtype: DType, low: &Val, high: &Val) -> Result<Val> {
    let mantissa = mantissa_bits(dtype);
    if mantissa == 0 {
        bail!(NotImplemented, "uniform samples of dtype {dtype} are not implemented");
    }
    let (low, high) = (to_rank(low, shape.len())?, to_rank(high, shape.len())?);
    // Half a byte of mantissa more does not pay: bfloat16 draws eight bits.
    let drawn = if mantissa < 8 { 8 } else { dtype.bits() };
    let whole = unsigned_of(dtype.bits());
    let bits = to_dtype(&bits_typed(key, shape, drawn)?, whole)?;
    let mantissas = lax::shift_right_logical(&bits, &number(&bits, f64::from(drawn - mantissa)))?;
    let one = Val::Literal(Scalar::from_bits(whole, Scalar::one(dtype).to_bits()));
    let floats = lax::bitcast_convert_type(&lax::bitwise_or(&mantissas, &one)?, dtype)?;
    let fractions = lax::sub(&floats, &number(&floats, 1.0))?;
    let scaled = lax::add(&lax::mul(&fractions, &lax::sub(&high, &low)?)?, &low)?;
    lax::max(&low, &lax::reshape(&scaled, shape, None)?)
}

/// The greatest number of a floating dtype below 1.
pub(super) fn below_one(dtype: DType) -> f64 {
    1.0 - 0.5f64.powi(mantissa_bits(dtype) as i32 + 1)
}

/// The least positive normal number of a floating dtype.
pub(super) fn tiny(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F16 => 0.5f64.powi(14),
        _ => f32::MIN_POSITIVE.into(),
    }
}

/// The distance from 1 to the next number of a floating dtype.
pub(super) fn epsilon(dtype: DType) -> f64 {
    0.5f64.powi(mantissa_bits(dtype) as i32)
}
