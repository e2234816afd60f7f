//! The greatest elements of rows.
//!
//! A row is read once, in chunks: what beats the least of the greatest seen so far is kept, and from time to time all but the
//! greatest of that are dropped. The result is unique, so chunks do not show in it.

use std::sync::{Mutex, PoisonError};

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, bail};
use pullback_loops::Greatest;

use super::radix::CHUNK;
use super::{each, in_chunks};
use crate::typed::{Plain, Shared, operand, result};

/// A key, and the position turned around: the first of equal keys is the greatest pair.
type Kept = (u64, u32);

/// Values and positions, greatest first.
pub(crate) fn greatest(greatest: &Greatest, x: &[u8], values: &mut [u8], positions: &mut [u8]) -> Result<()> {
    match order_of(greatest.dtype) {
        Order::Unsigned => by_size(greatest, x, values, positions, |bits, width| Order::Unsigned.key(bits, width)),
        Order::Signed => by_size(greatest, x, values, positions, |bits, width| Order::Signed.key(bits, width)),
        Order::Total => by_size(greatest, x, values, positions, |bits, width| Order::Total.key(bits, width)),
    }
}

fn by_size(
    greatest: &Greatest,
    x: &[u8],
    values: &mut [u8],
    positions: &mut [u8],
    key: impl Fn(u64, u32) -> u64 + Copy + Sync,
) -> Result<()> {
    match greatest.dtype.size_bytes() {
        1 => typed::<u8>(greatest, x, values, positions, |x| key(x.into(), 8)),
        2 => typed::<u16>(greatest, x, values, positions, |x| key(x.into(), 16)),
        4 => typed::<u32>(greatest, x, values, positions, |x| key(x.into(), 32)),
        8 if !greatest.dtype.is_complex() => typed::<u64>(greatest, x, values, positions, |x| key(x, 64)),
        _ => bail!(Internal, "{} has no order", greatest.dtype),
    }
}

/// How bits of elements are in order.
#[derive(Clone, Copy)]
enum Order {
    Unsigned,
    Signed,
    /// Of a sign and a magnitude.
    Total,
}

fn order_of(dtype: DType) -> Order {
    match dtype.kind() {
        Kind::Float => Order::Total,
        Kind::Signed => Order::Signed,
        Kind::Bool | Kind::Unsigned | Kind::Complex | Kind::Float0 | Kind::Key => Order::Unsigned,
    }
}

impl Order {
    /// An unsigned integer in the same order.
    fn key(self, bits: u64, width: u32) -> u64 {
        let sign = 1 << (width - 1);
        match self {
            Order::Unsigned => bits,
            Order::Signed => bits ^ sign,
            // By arithmetic: signs of random numbers are what a processor cannot foresee.
            Order::Total => bits ^ (sign | ((bits >> (width - 1)).wrapping_neg() & (sign - 1))),
        }
    }
}

fn typed<T: Plain>(
    greatest: &Greatest,
    x: &[u8],
    values: &mut [u8],
    positions: &mut [u8],
    key: impl Fn(T) -> u64 + Copy + Sync,
) -> Result<()> {
    let ([outer, n, inner], k) = (greatest.sizes, greatest.k);
    if i32::try_from(n).is_err() {
        bail!(NotImplemented, "top_k along an axis of {n} elements is not implemented: the most is {}", i32::MAX);
    }
    if k > n {
        bail!(Internal, "the {k} greatest of {n} elements");
    }
    let x = operand::<T>(x, outer * n * inner)?;
    let values = Shared::new(result::<T>(values, outer * k * inner)?);
    let positions = Shared::new(result::<u32>(positions, outer * k * inner)?);
    each(outer * inner, outer * n * inner, |lane| {
        let (block, at) = (lane / inner, lane % inner);
        let element = |i: usize| x[(block * n + i) * inner + at];
        for (number, (_, turned)) in kept_of_row(n, k, |i| key(element(i)))?.into_iter().enumerate() {
            let to = (block * k + number) * inner + at;
            // SAFETY: lanes have disjoint elements.
            unsafe {
                values.part(to, 1)[0] = element(!turned as usize);
                positions.part(to, 1)[0] = !turned;
            }
        }
        Ok(())
    })
}

/// The `k` greatest of a row, greatest first.
fn kept_of_row(n: usize, k: usize, key: impl Fn(usize) -> u64 + Sync) -> Result<Vec<Kept>> {
    if k == 0 {
        return Ok(vec![]);
    }
    let all = Mutex::new(vec![]);
    in_chunks(n, |chunk| {
        let kept = kept_of(chunk, k, &key);
        all.lock().unwrap_or_else(PoisonError::into_inner).extend(kept);
    })?;
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    keep(&mut all, k);
    all.sort_unstable_by(|a, b| b.cmp(a));
    Ok(all)
}

fn kept_of(chunk: std::ops::Range<usize>, k: usize, key: impl Fn(usize) -> u64) -> Vec<Kept> {
    let most = (2 * k).max(k + 64).min(CHUNK + 1);
    let mut kept = Vec::with_capacity(most.min(chunk.len()));
    // A later element of the same key is not greater, so only what is above counts.
    let mut least = None;
    for i in chunk {
        let key = key(i);
        if least.is_none_or(|least| key > least) {
            kept.push((key, !(i as u32)));
            if kept.len() == most {
                keep(&mut kept, k);
                least = kept.iter().map(|&(key, _)| key).min();
            }
        }
    }
    keep(&mut kept, k);
    kept
}

/// Drops all but the `k` greatest.
fn keep(kept: &mut Vec<Kept>, k: usize) {
    if kept.len() > k {
        kept.select_nth_unstable_by(k - 1, |a, b| b.cmp(a));
        kept.truncate(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: [usize; 3], k: usize, threads: usize) {
        let [outer, n, inner] = sizes;
        let specials = [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, 1.0];
        let value =
            |i: usize| if i.is_multiple_of(3) { specials[i / 3 % 6] } else { ((i * 7919) % 1009) as f32 - 500.0 };
        let x: Vec<f32> = (0..outer * n * inner).map(value).collect();
        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_le_bytes()).collect();
        let (mut values, mut positions) = (vec![0; 4 * outer * k * inner], vec![0; 4 * outer * k * inner]);
        pullback_runtime::set_threads(threads);
        let asked = Greatest { dtype: DType::F32, sizes, k };
        greatest(&asked, &bytes, &mut values, &mut positions).expect("it runs");
        pullback_runtime::set_threads(0);
        for lane in 0..outer * inner {
            let at = |i: usize| (lane / inner * n + i) * inner + lane % inner;
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&i, &j| x[at(j)].total_cmp(&x[at(i)]));
            for (number, &i) in order[..k].iter().enumerate() {
                let to = 4 * ((lane / inner * k + number) * inner + lane % inner);
                assert_eq!(values[to..to + 4], x[at(i)].to_le_bytes(), "{number} of {sizes:?}");
                assert_eq!(positions[to..to + 4], (i as u32).to_le_bytes(), "{number} of {sizes:?}");
            }
        }
    }

    #[test]
    fn the_first_of_equals_and_the_total_order() {
        for threads in [1, 2, 7] {
            for (n, k) in [(1, 1), (5, 0), (5, 5), (1000, 1), (1000, 999), (3 * CHUNK + 5, 100), (CHUNK + 1, CHUNK)] {
                check([1, n, 1], k, threads);
            }
            check([7, 300, 3], 10, threads);
        }
    }
}
