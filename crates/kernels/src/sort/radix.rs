//! Stable sorting by keys that are unsigned integers, one digit after the other from the last one on.
//!
//! A pass counts digits in chunks of the row and then moves every chunk's elements to their places, so that threads share
//! both. A stable order is unique, so neither the length of chunks nor that of digits shows in a result.

use pullback_base::Result;
use pullback_runtime::interrupt::shared_pieces;

use crate::typed::{Plain, Shared};

/// Elements that a thread counts or moves at once.
pub(super) const CHUNK: usize = 1 << 16;
/// Rows up to this length are sorted by comparison: counters would cost more than elements do.
const SHORT: usize = 128;
/// Rows up to this length take digits of 8 bits, whose counters are few.
const MIDDLING: usize = 1 << 13;

/// How many passes a row takes.
pub(super) fn n_passes(n: usize, bits: u32) -> u32 {
    if n <= SHORT { 0 } else { bits.div_ceil(digit_bits(n, bits)) }
}

fn digit_bits(n: usize, bits: u32) -> u32 {
    if n <= MIDDLING || bits <= 16 { 8 } else { 11 }
}

/// Sorts `row` by the low `bits` of the keys. Whether the result is in `other`; else it is in `row`.
pub(super) fn sort<T: Plain>(
    row: &mut [T],
    other: &mut [T],
    bits: u32,
    key: impl Fn(T) -> u64 + Copy + Sync,
) -> Result<bool> {
    let n = row.len();
    if n <= SHORT {
        row.sort_by_key(|&element| key(element));
        return Ok(false);
    }
    let width = digit_bits(n, bits);
    let mut counts = vec![0_u32; n.div_ceil(CHUNK) << width];
    let (mut from, mut to, mut is_other) = (row, other, false);
    for number in 0..n_passes(n, bits) {
        let digit = |element: T| (key(element) >> (number * width)) as usize & ((1 << width) - 1);
        if pass(from, to, &mut counts, width, digit)? {
            (from, to, is_other) = (to, from, !is_other);
        }
    }
    Ok(is_other)
}

/// Moves elements to the order of one digit; does nothing, and says so, where all digits are alike.
fn pass<T: Plain>(
    from: &[T],
    to: &mut [T],
    counts: &mut [u32],
    width: u32,
    digit: impl Fn(T) -> usize + Sync,
) -> Result<bool> {
    let n_bins = 1 << width;
    let n_chunks = from.len().div_ceil(CHUNK);
    let chunk = |number: usize| &from[number * CHUNK..][..CHUNK.min(from.len() - number * CHUNK)];
    let shared_counts = Shared::new(counts);
    shared_pieces(n_chunks, &|number| {
        // SAFETY: each chunk has counters of its own.
        let counts = unsafe { shared_counts.part(number * n_bins, n_bins) };
        counts.fill(0);
        chunk(number).iter().for_each(|&element| counts[digit(element)] += 1);
    })?;
    if !to_starts(counts, n_bins, from.len()) {
        return Ok(false);
    }
    let (shared_counts, to) = (Shared::new(counts), Shared::new(to));
    shared_pieces(n_chunks, &|number| {
        // SAFETY: as above.
        let starts = unsafe { shared_counts.part(number * n_bins, n_bins) };
        for &element in chunk(number) {
            let start = &mut starts[digit(element)];
            // SAFETY: the counts of all chunks and digits sum to the length, so each place is inside and taken once.
            unsafe { *to.start().add(*start as usize) = element };
            *start += 1;
        }
    })?;
    Ok(true)
}

/// Counts as places of the first element of each digit of each chunk. Whether there is more than one digit.
fn to_starts(counts: &mut [u32], n_bins: usize, n: usize) -> bool {
    let mut next = 0;
    for bin in 0..n_bins {
        let before = next;
        for count in counts[bin..].iter_mut().step_by(n_bins) {
            next += std::mem::replace(count, next);
        }
        if (next - before) as usize == n {
            return false;
        }
    }
    true
}
