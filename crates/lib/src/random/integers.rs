//! Integers between bounds.

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_ir::Val;

use super::keys::{bits_typed, single_key, split_pair};
use super::uniform::statics;
use crate::broadcast::to_rank;
use crate::convert::{int_literal, number, to_dtype, weak_int};
use crate::jit::named_jit_one;
use crate::lax;
use crate::numpy;

fn bounds(dtype: DType) -> (i128, i128) {
    (Scalar::least(dtype).as_i64().into(), Scalar::greatest(dtype).number().as_i128())
}

/// Integers in `[low, high)`.
///
/// # Errors
/// A `Type` error for a dtype or bounds that are no integers.
pub fn randint(key: &Val, shape: &[usize], low: &Val, high: &Val, dtype: DType) -> Result<Val> {
    let (key, _) = single_key("randint", key)?;
    if !dtype.is_integer() {
        bail!(Type, "randint only accepts integer dtypes, got {dtype}");
    }
    for bound in [low, high] {
        if !bound.aval().dtype.is_integer() {
            bail!(Type, "minval and maxval must be integers, got {}", bound.aval().dtype);
        }
    }
    if dtype.bits() < 32 {
        let (least, greatest) = bounds(dtype);
        let clip =
            |bound: &Val, most: i128| numpy::clip(bound, Some(&weak_int(least as i64)), Some(&weak_int(most as i64)));
        let (low, high) = (clip(low, greatest)?, clip(high, greatest + 1)?);
        let (low, high) = (to_dtype(&low, DType::I32)?, to_dtype(&high, DType::I32)?);
        return to_dtype(&randint_typed(&key, shape, &low, &high, DType::I32)?, dtype);
    }
    randint_typed(&key, shape, low, high, dtype)
}

fn randint_typed(key: &Val, shape: &[usize], low: &Val, high: &Val, dtype: DType) -> Result<Val> {
    let args = [key.clone(), low.clone(), high.clone()];
    named_jit_one("_randint", &statics(dtype, 0, shape), &args, |args| draw(&args[0], shape, &args[1], &args[2], dtype))
}

/// The value in another integer dtype, saturated where it does not fit.
fn convert_and_clip(x: &Val, dtype: DType) -> Result<Val> {
    let aval = x.aval();
    let ((a, b), (c, d)) = (bounds(aval.dtype), bounds(dtype));
    let bound = |value: i128| Val::Literal(Scalar::int(aval.dtype, value).weak(aval.weak_type));
    let clipped = numpy::clip(x, Some(&bound(a.max(c))), Some(&bound(b.min(d))))?;
    to_dtype(&clipped, dtype)
}

/// Two draws of bits make one of twice the width, taken modulo the span: almost even for any span.
fn draw(key: &Val, shape: &[usize], low: &Val, high: &Val, dtype: DType) -> Result<Val> {
    let width = dtype.bits();
    let unsigned = if width == 64 { DType::U64 } else { DType::U32 };
    let greatest = convert_and_clip(&int_literal(dtype, bounds(dtype).1), high.aval().dtype)?;
    let is_beyond = lax::gt(high, &greatest)?;
    let low = to_rank(&convert_and_clip(low, dtype)?, shape.len());
    let (low, high) = (low?, to_rank(&convert_and_clip(high, dtype)?, shape.len())?);
    let (first, second) = split_pair(key)?;
    let (more, less) = (bits_typed(&first, shape, width)?, bits_typed(&second, shape, width)?);
    let span = to_dtype(&lax::sub(&high, &low)?, unsigned)?;
    let is_empty = lax::le(&high, &low)?;
    let span = lax::select(&is_empty, &lax::full_like(&span, 1.0)?, &span)?;
    let reaches_end = lax::bitwise_and(&to_rank(&is_beyond, shape.len())?, &lax::gt(&high, &low)?)?;
    let span = lax::select(&reaches_end, &lax::add(&span, &number(&span, 1.0))?, &span)?;
    let half = int_literal(unsigned, 1i128 << (width / 2));
    let factor = lax::rem(&half, &span)?;
    let factor = lax::rem(&lax::mul(&factor, &factor)?, &span)?;
    let upper = lax::mul(&lax::rem(&more, &span)?, &factor)?;
    let sum = lax::add(&upper, &lax::rem(&less, &span)?)?;
    let offset = to_dtype(&lax::rem(&sum, &span)?, dtype)?;
    debug_assert!(matches!(dtype.kind(), Kind::Signed | Kind::Unsigned));
    lax::add(&low, &offset)
}
