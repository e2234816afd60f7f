//! Threefry as it was before counters were positions: `jax_threefry_partitionable` off.
//!
//! A counter runs over the words of the result; the first and the second half of its values are encrypted together, so
//! that an element depends on the size of the whole. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011.

use pullback_base::{DType, Result};
use pullback_core::prims;
use pullback_ir::Val;
use pullback_trace::settings::{Setting, is_on};

use crate::broadcast::broadcast_in_dim;
use crate::convert::{int_literal, to_dtype};
use crate::lax;
use crate::primitive::Bind;

const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
const PARITY: i128 = 0x1BD1_1BDA;

/// Whether a key is used in this way.
pub(super) fn is_asked(key: &Val) -> bool {
    key.aval().dtype == DType::KeyFry && !is_on(Setting::ThreefryPartitionable)
}

/// Random bits of one key.
pub(super) fn bits(key: &Val, bit_width: u32, shape: &[usize]) -> Result<Val> {
    let (size, width) = (shape.iter().product::<usize>(), bit_width as usize);
    let words = encrypted(key, (size * width).div_ceil(32))?;
    let bits = match bit_width {
        64 => joined(&words)?,
        32 => words,
        _ => parts(&words, bit_width, size)?,
    };
    lax::reshape(&bits, shape, None)
}

/// New keys of one key.
pub(super) fn split(key: &Val, shape: &[usize]) -> Result<Val> {
    let words = encrypted(key, 2 * shape.iter().product::<usize>())?;
    let words = lax::reshape(&words, &[shape, &[2]].concat(), None)?;
    let kind = prims::KeyKind::of(key.aval())?;
    prims::RANDOM_WRAP.bind_with(prims::RandomWrap { kind }, &[words])
}

/// The first `count` counters, encrypted.
fn encrypted(key: &Val, count: usize) -> Result<Val> {
    let words = prims::RANDOM_UNWRAP.bind(std::slice::from_ref(key))?;
    let halves = lax::unstack(&words, 0)?;
    let half = count.div_ceil(2);
    let first = lax::iota(DType::U32, half)?;
    let second = lax::add(&lax::iota(DType::U32, half)?, &word(half as i128))?;
    // Of an odd number of counters the last pair is filled up with 0.
    let is_real = lax::lt(&second, &lax::full(&[half], &word(count as i128))?)?;
    let second = lax::select(&is_real, &second, &lax::full(&[half], &word(0))?)?;
    let [first, second] = threefry([&halves[0], &halves[1]], [first, second])?;
    let both = lax::concatenate(&[first, second], 0)?;
    lax::slice(&both, &[0], &[count], None)
}

fn word(value: i128) -> Val {
    int_literal(DType::U32, value)
}

fn threefry(key: [&Val; 2], [mut x, mut y]: [Val; 2]) -> Result<[Val; 2]> {
    let shape = x.aval().shape.to_vec();
    let schedule = {
        let third = lax::bitwise_xor(&lax::bitwise_xor(key[0], key[1])?, &word(PARITY))?;
        [key[0].clone(), key[1].clone(), third].map(|word| broadcast_in_dim(&word, &shape, &[]))
    };
    let [first, second, third] = schedule;
    let schedule = [first?, second?, third?];
    (x, y) = (lax::add(&x, &schedule[0])?, lax::add(&y, &schedule[1])?);
    for group in 0..5 {
        for bits in ROTATIONS[group % 2] {
            x = lax::add(&x, &y)?;
            y = lax::bitwise_xor(&x, &rotated(&y, bits)?)?;
        }
        x = lax::add(&x, &schedule[(group + 1) % 3])?;
        y = lax::add(&lax::add(&y, &schedule[(group + 2) % 3])?, &filled(&shape, group as i128 + 1)?)?;
    }
    Ok([x, y])
}

fn filled(shape: &[usize], value: i128) -> Result<Val> {
    lax::full(shape, &word(value))
}

fn rotated(x: &Val, bits: u32) -> Result<Val> {
    let shape = x.aval().shape.to_vec();
    let left = lax::shift_left(x, &filled(&shape, bits.into())?)?;
    let right = lax::shift_right_logical(x, &filled(&shape, i128::from(32 - bits))?)?;
    lax::bitwise_or(&left, &right)
}

/// Numbers of 64 bits, whose high words are the first half of the words.
fn joined(words: &Val) -> Result<Val> {
    let n = words.aval().size() / 2;
    let wide = |start| to_dtype(&lax::slice(words, &[start], &[start + n], None)?, DType::U64);
    let shift = lax::full(&[n], &int_literal(DType::U64, 32))?;
    lax::bitwise_or(&lax::shift_left(&wide(0)?, &shift)?, &wide(n)?)
}

/// The narrow numbers in each word, the lowest bits first.
fn parts(words: &Val, bit_width: u32, size: usize) -> Result<Val> {
    let (n, each) = (words.aval().size(), (32 / bit_width) as usize);
    let shape = [n, each];
    let shifts = lax::mul(&lax::broadcasted_iota(DType::U32, &shape, 1)?, &filled(&shape, bit_width.into())?)?;
    let spread = lax::shift_right_logical(&broadcast_in_dim(words, &shape, &[0])?, &shifts)?;
    let dtype = if bit_width == 8 { DType::U8 } else { DType::U16 };
    let narrow = to_dtype(&lax::bitwise_and(&spread, &filled(&shape, (1 << bit_width) - 1)?)?, dtype)?;
    lax::slice(&lax::reshape(&narrow, &[n * each], None)?, &[0], &[size], None)
}
