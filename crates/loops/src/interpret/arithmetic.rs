//! The meaning of each operation on the bits of scalars. Bits above the width of a type are zero.

use pullback_base::{DType, Result, bail};

use crate::half_width;
use crate::program::{Binary, Comparison, Unary};

/// Runs `$body` with `$t` as the Rust integer of the dtype.
macro_rules! with_integer {
    ($dtype:expr, $t:ident => $body:expr, else $other:expr) => {
        match $dtype {
            DType::I8 => {
                type $t = i8;
                $body
            }
            DType::I16 => {
                type $t = i16;
                $body
            }
            DType::I32 => {
                type $t = i32;
                $body
            }
            DType::I64 => {
                type $t = i64;
                $body
            }
            DType::U8 => {
                type $t = u8;
                $body
            }
            DType::U16 => {
                type $t = u16;
                $body
            }
            DType::U32 => {
                type $t = u32;
                $body
            }
            DType::U64 => {
                type $t = u64;
                $body
            }
            _ => $other,
        }
    };
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn mask(dtype: DType) -> u64 {
    u64::MAX >> (64 - 8 * dtype.size_bytes())
}

/// One operand.
///
/// # Errors
/// When the operation is symbolic or not defined on the type.
pub(super) fn unary(op: Unary, dtype: DType, x: u64) -> Result<u64> {
    let result = match dtype {
        DType::F32 => unary_f32(op, f32_of(x)),
        DType::F64 => unary_f64(op, f64::from_bits(x)),
        DType::Bool => (op == Unary::Not).then_some(x ^ 1),
        _ => with_integer!(dtype, T => unary_integer(op, dtype, x as T as i128), else None),
    };
    match result {
        Some(bits) => Ok(bits),
        None => bail!(Internal, "{op:?} of {dtype} cannot run"),
    }
}

fn unary_integer(op: Unary, dtype: DType, x: i128) -> Option<u64> {
    let bits = x as u64 & mask(dtype);
    let result = match op {
        Unary::Neg => -x,
        Unary::Abs => x.abs(),
        Unary::Not => !x,
        Unary::Sign => x.signum(),
        Unary::PopCount => bits.count_ones().into(),
        Unary::LeadingZeros => (bits.leading_zeros() - (64 - 8 * dtype.size_bytes() as u32)).into(),
        _ => return None,
    };
    Some(result as u64 & mask(dtype))
}

macro_rules! unary_float {
    ($name:ident $t:ident) => {
        fn $name(op: Unary, x: $t) -> Option<u64> {
            // Rounding flushes its operand; the library's functions may work on bits and not see the mode.
            let flushed = if x.is_subnormal() { $t::copysign(0.0, x) } else { x };
            let result: $t = match op {
                Unary::Neg => -x,
                Unary::Abs => x.abs(),
                Unary::Sqrt => x.sqrt(),
                Unary::Floor => flushed.floor(),
                Unary::Ceil => flushed.ceil(),
                Unary::Trunc => flushed.trunc(),
                Unary::RoundEven => flushed.round_ties_even(),
                Unary::RoundAway => flushed.round(),
                Unary::Sign if x > 0.0 => 1.0,
                Unary::Sign if x < 0.0 => -1.0,
                Unary::Sign if x == 0.0 => $t::copysign(0.0, x),
                Unary::Sign => x,
                Unary::IsFinite => return Some((x.abs() < $t::INFINITY).into()),
                _ => return None,
            };
            Some(result.to_bits().into())
        }
    };
}
unary_float!(unary_f32 f32);
unary_float!(unary_f64 f64);

/// Two operands of one type.
///
/// # Errors
/// When the operation is symbolic or not defined on the type.
pub(super) fn binary(op: Binary, dtype: DType, x: u64, y: u64) -> Result<u64> {
    let result = match dtype {
        DType::F32 => binary_f32(op, f32_of(x), f32_of(y)),
        DType::F64 => binary_f64(op, f64::from_bits(x), f64::from_bits(y)),
        DType::Bool => binary_bool(op, x, y),
        _ => with_integer!(dtype, T => binary_integer(op, dtype, x as T as i128, y as T as i128), else None),
    };
    match result {
        Some(bits) => Ok(bits),
        None => bail!(Internal, "{op:?} of {dtype} cannot run"),
    }
}

fn binary_bool(op: Binary, x: u64, y: u64) -> Option<u64> {
    match op {
        Binary::And | Binary::Min | Binary::Mul => Some(x & y),
        Binary::Or | Binary::Max => Some(x | y),
        Binary::Xor => Some(x ^ y),
        _ => None,
    }
}

fn binary_integer(op: Binary, dtype: DType, x: i128, y: i128) -> Option<u64> {
    let width = 8 * dtype.size_bytes() as i128;
    // The amount as unsigned.
    let amount = (y as u64 & mask(dtype)) as i128;
    let result = match op {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x.wrapping_mul(y),
        Binary::Div if y == 0 => -1,
        Binary::Div => x / y,
        Binary::Rem if y == 0 => x,
        Binary::Rem => x % y,
        Binary::Min => x.min(y),
        Binary::Max => x.max(y),
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
        Binary::ShiftLeft if amount >= width => 0,
        Binary::ShiftLeft => x << amount,
        Binary::ShiftRightLogical if amount >= width => 0,
        Binary::ShiftRightLogical => ((x as u64 & mask(dtype)) >> amount).into(),
        Binary::ShiftRightArithmetic => sign_extended(dtype, x) >> amount.min(width - 1),
        Binary::Scale | Binary::Pow | Binary::Atan2 => return None,
    };
    Some(result as u64 & mask(dtype))
}

/// The bits of `x` read as signed.
fn sign_extended(dtype: DType, x: i128) -> i128 {
    let spare = 128 - 8 * dtype.size_bytes() as u32;
    x << spare >> spare
}

macro_rules! binary_float {
    ($name:ident $t:ident $bits:ident $rem:ident) => {
        /// The remainder of floats with the sign of the dividend; subnormal operands count as zero.
        pub fn $rem(x: $t, y: $t) -> $t {
            let flush = |x: $t| if x.is_subnormal() { $t::copysign(0.0, x) } else { x };
            flush(x) % flush(y)
        }

        fn $name(op: Binary, x: $t, y: $t) -> Option<u64> {
            let flush = |x: $t| if x.is_subnormal() { $t::copysign(0.0, x) } else { x };
            let result: $t = match op {
                Binary::Add => x + y,
                Binary::Sub => x - y,
                Binary::Mul => x * y,
                Binary::Div => x / y,
                Binary::Rem => $rem(x, y),
                Binary::Min | Binary::Max if x.is_nan() || y.is_nan() => $t::NAN,
                Binary::Min if x < y || x == y && x.is_sign_negative() => flush(x),
                Binary::Min => flush(y),
                Binary::Max if x > y || x == y && x.is_sign_positive() => flush(x),
                Binary::Max => flush(y),
                Binary::Scale => {
                    // Each factor is a normal number, and neither product but the last is rounded.
                    let (half, one) = ((y as i32).div_euclid(2), $t::MAX_EXP - 1);
                    let power = |n: i32| $t::from_bits(((n + one) as $bits) << ($t::MANTISSA_DIGITS - 1));
                    x * power(half) * power(y as i32 - half)
                }
                _ => return None,
            };
            Some(result.to_bits().into())
        }
    };
}
binary_float!(binary_f32 f32 u32 rem_f32);
binary_float!(binary_f64 f64 u64 rem_f64);

/// `x·y + z`, rounded once.
pub(super) fn fma(dtype: DType, x: u64, y: u64, z: u64) -> u64 {
    if dtype == DType::F32 {
        f32_of(x).mul_add(f32_of(y), f32_of(z)).to_bits().into()
    } else {
        f64::from_bits(x).mul_add(f64::from_bits(y), f64::from_bits(z)).to_bits()
    }
}

/// A comparison; integers compare by their own signedness.
pub(super) fn compare(op: Comparison, dtype: DType, x: u64, y: u64) -> bool {
    match dtype {
        DType::F32 => holds(op, &f32_of(x), &f32_of(y)),
        DType::F64 => holds(op, &f64::from_bits(x), &f64::from_bits(y)),
        _ => with_integer!(dtype, T => holds(op, &(x as T), &(y as T)), else holds(op, &x, &y)),
    }
}

fn holds<T: PartialOrd>(op: Comparison, x: &T, y: &T) -> bool {
    match op {
        Comparison::Eq => x == y,
        Comparison::Ne => x != y,
        Comparison::Lt => x < y,
        Comparison::Le => x <= y,
        Comparison::Gt => x > y,
        Comparison::Ge => x >= y,
    }
}

/// Conversion by value.
pub(super) fn convert(from: DType, to: DType, x: u64) -> u64 {
    match from {
        DType::F32 => from_float(to, f32_of(x).into(), f32_of(x)),
        DType::F64 => from_float(to, f64::from_bits(x), f64::from_bits(x) as f32),
        _ => with_integer!(from, T => from_integer(to, (x as T).into()), else from_integer(to, x.into())),
    }
}

#[allow(clippy::unnecessary_cast, reason = "one of the integers is the target already")]
fn from_float(to: DType, x: f64, single: f32) -> u64 {
    match to {
        DType::Bool => (x != 0.0).into(),
        DType::F32 => single.to_bits().into(),
        DType::F64 => x.to_bits(),
        _ => with_integer!(to, T => (x as T) as u64 & mask(to), else 0),
    }
}

fn from_integer(to: DType, x: i128) -> u64 {
    match to {
        DType::Bool => (x != 0).into(),
        DType::F32 => (x as f32).to_bits().into(),
        DType::F64 => (x as f64).to_bits(),
        _ => x as u64 & mask(to),
    }
}

/// Conversion by bits.
pub(super) fn bitcast(to: DType, x: u64) -> u64 {
    x & mask(to)
}

/// A `float32` rounded to a half-width type.
pub(super) fn round(to: DType, x: u64) -> u64 {
    half_width::round(to, f32_of(x)).to_bits().into()
}
