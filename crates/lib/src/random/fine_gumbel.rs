//! Numbers of the Gumbel distribution in float32 from 64 bits each, so that both tails are fine.
//!
//! The words are one fraction below 1. From a half on they are negated: what is left is the distance to 0 or 1, and its leading
//! zeros become the exponent of a float whose 23 bits below are random still. Small fractions stand for uniform numbers near 1.

use pullback_base::{DType, Result};
use pullback_ir::Val;

use super::uniform::bits;
use crate::convert::{int_literal, to_dtype};
use crate::lax;
use crate::numpy::{negative, where_};

fn word(value: i128) -> Val {
    int_literal(DType::U32, value)
}

fn like(x: &Val, value: i128) -> Result<Val> {
    lax::full(&x.aval().shape, &word(value))
}

fn select_word(condition: &Val, x: &Val, y: &Val) -> Result<Val> {
    lax::select(condition, x, y)
}

/// Numbers of the Gumbel distribution in float32.
pub(super) fn gumbel_of_two_words(key: &Val, shape: &[usize]) -> Result<Val> {
    let words = lax::unstack(&bits(key, &[&[2], shape].concat(), DType::U32)?, 0)?;
    let (high, low) = (&words[0], &words[1]);
    let is_lower = lax::lt(high, &like(high, 1 << 31)?)?;
    let [high, low] = nearer_end(&is_lower, high, low)?;
    let distance = float_of(&high, &low)?;
    let below_one = negative(&lax::log1p(&negative(&distance)?)?)?;
    let above_zero = negative(&lax::log(&distance)?)?;
    where_(&is_lower, &negative(&lax::log(&below_one)?)?, &negative(&lax::log(&above_zero)?)?)
}

/// The words where they are below a half, else their negative, which is the distance to 1.
fn nearer_end(is_lower: &Val, high: &Val, low: &Val) -> Result<[Val; 2]> {
    let (not_high, not_low) = (lax::bitwise_not(high)?, lax::bitwise_not(low)?);
    let carries = to_dtype(&lax::eq(&not_low, &like(low, u32::MAX.into())?)?, DType::U32)?;
    let negated = [lax::add(&not_high, &carries)?, lax::add(&not_low, &like(low, 1)?)?];
    Ok([select_word(is_lower, high, &negated[0])?, select_word(is_lower, low, &negated[1])?])
}

/// The float of 64 bits behind the point, from the 24 bits that follow its leading zeros.
fn float_of(high: &Val, low: &Val) -> Result<Val> {
    let (zeros, more) = (lax::clz(high)?, lax::clz(low)?);
    let is_empty = lax::eq(&zeros, &like(&zeros, 32)?)?;
    let filled = lax::shift_right_logical(low, &lax::sub(&like(&zeros, 32)?, &zeros)?)?;
    let rest = select_word(&is_empty, &lax::shift_left(low, &more)?, &filled)?;
    let leading = lax::bitwise_or(&lax::shift_left(high, &zeros)?, &rest)?;
    let mantissa = lax::bitwise_and(&lax::shift_right_logical(&leading, &like(high, 8)?)?, &like(high, 0x7f_ffff)?)?;
    let count = select_word(&is_empty, &lax::add(&like(&more, 32)?, &more)?, &zeros)?;
    let exponent = lax::shift_left(&lax::sub(&like(&count, 126)?, &count)?, &like(&count, 23)?)?;
    let exponent = lax::bitwise_and(&exponent, &like(&exponent, 0x3fc0_0000)?)?;
    lax::bitcast_convert_type(&lax::bitwise_or(&exponent, &mantissa)?, DType::F32)
}
