//! Sorting: stable, NaN last, zeros of either sign equal.
//!
//! Keys become unsigned integers that order as the elements do; rows of positions are sorted by them and every operand
//! is then moved. A long row is sorted in blocks that are merged, so that threads share it and an interrupt is heard.

use std::sync::{Mutex, PoisonError};

use pullback_base::array::scratch;
use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_loops::Sort;
use pullback_runtime::interrupt::shared_pieces;

/// Elements from which on threads share a sort.
const SHARED: usize = 1 << 14;
/// Elements that are merged or moved between two looks at the flag of interrupts.
const BLOCK: usize = 1 << 17;
/// Elements that are sorted between two looks. Merging costs a thread more than sorting in one piece does, so blocks are as
/// long as an interrupt may wait.
const RUN: usize = 8 * BLOCK;

/// Sorts checked operands.
pub(crate) fn sort(sort: &Sort, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    let [outer, n, inner] = sort.sizes;
    let keys = sort.dtypes[..sort.n_keys].iter().flat_map(|&dtype| key_parts(dtype)).collect::<Vec<_>>();
    if let Some(dtype) = sort.dtypes[..sort.n_keys].iter().find(|dtype| key_parts(**dtype).is_empty()) {
        bail!(NotImplemented, "{dtype} has no order to sort by");
    }
    let outs: Vec<Out> = outs.iter_mut().map(|out| Out(out.as_mut_ptr(), out.len())).collect();
    for (index, (dtype, out)) in sort.dtypes.iter().zip(&outs).enumerate() {
        let want = outer * n * inner * dtype.size_bytes();
        if ins[index].len() < want || out.1 < want {
            bail!(Internal, "an operand of a sort has {} bytes, not {want}", ins[index].len());
        }
    }
    if u32::try_from(n).is_err() {
        bail!(NotImplemented, "sorting along an axis of {n} elements is not implemented: the most is {}", u32::MAX);
    }
    let row = |number: usize| -> Result<()> {
        let first = number / inner * n * inner + number % inner;
        let order = order_of(sort, ins, &keys, first)?;
        let move_block = |block: usize| {
            for ((dtype, from), to) in sort.dtypes.iter().zip(ins).zip(&outs) {
                let size = dtype.size_bytes();
                for (position, &source) in (block * BLOCK..).zip(order[block * BLOCK..].iter().take(BLOCK)) {
                    let (to_at, from_at) = (first + position * inner, first + source as usize * inner);
                    let element = &from[from_at * size..][..size];
                    // SAFETY: both lie in their operands, whose lengths were checked; rows and blocks are disjoint, so
                    // no other thread writes this element.
                    unsafe { std::ptr::copy_nonoverlapping(element.as_ptr(), to.0.add(to_at * size), size) };
                }
            }
        };
        shared_pieces(n.div_ceil(BLOCK), &move_block)
    };
    let n_rows = outer * inner;
    if n_rows * n < SHARED || n_rows == 1 {
        return (0..n_rows).try_for_each(row);
    }
    // A row that was stopped is one that an interrupt stopped, and that ends the sort as well.
    let error = Mutex::new(None);
    shared_pieces(n_rows, &|number| {
        if let Err(stopped) = row(number) {
            *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(stopped);
        }
    })?;
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// The memory of a result, and its length.
struct Out(*mut u8, usize);

// SAFETY: rows of a sort write disjoint elements.
unsafe impl Sync for Out {}

/// The real types that a key of a type compares by, in order; none if the type has no order.
fn key_parts(dtype: DType) -> Vec<DType> {
    match dtype.kind() {
        Kind::Complex => vec![dtype.real(); 2],
        Kind::Float0 | Kind::Key => vec![],
        Kind::Bool | Kind::Signed | Kind::Unsigned | Kind::Float => vec![dtype],
    }
}

/// The positions of a row in sorted order.
fn order_of(sort: &Sort, ins: &[&[u8]], keys: &[DType], first: usize) -> Result<Vec<u32>> {
    let [_, n, inner] = sort.sizes;
    let element = |operand: usize, position: usize| {
        let size = sort.dtypes[operand].size_bytes();
        &ins[operand][(first + position * inner) * size..][..size]
    };
    if let ([dtype], 1) = (keys, sort.n_keys)
        && dtype.size_bytes() <= 4
    {
        // The position in the low half makes the fast, unstable sort a stable one.
        let packed = |i: usize| order_key(*dtype, element(0, i)) << 32 | i as u64;
        let mut row = filled(n, 1, |i, to| to[0] = packed(i))?;
        sort_blocks(&mut row, |block| block.sort_unstable(), |a, b| a < b)?;
        return Ok(row.into_iter().map(|packed| packed as u32).collect());
    }
    let parts: Vec<Vec<DType>> = sort.dtypes[..sort.n_keys].iter().map(|&dtype| key_parts(dtype)).collect();
    let width = keys.len();
    let table = filled(n, width, |i, mut to| {
        for (operand, parts) in parts.iter().enumerate() {
            let (bytes, size) = (element(operand, i), parts[0].size_bytes());
            for (part, &dtype) in parts.iter().enumerate() {
                let (key, rest) = to.split_first_mut().expect("a key for each part");
                *key = order_key(dtype, &bytes[part * size..][..size]);
                to = rest;
            }
        }
    })?;
    let key = |i: u32| &table[i as usize * width..][..width];
    let mut order = scratch(n, 0_u32)?;
    order.iter_mut().zip(0..).for_each(|(to, position)| *to = position);
    sort_blocks(&mut order, |block| block.sort_by_key(|&i| key(i)), |&a, &b| key(a) < key(b))?;
    Ok(order)
}

/// `n` times `width` numbers, each row of them as `fill` makes it.
fn filled(n: usize, width: usize, fill: impl Fn(usize, &mut [u64]) + Sync) -> Result<Vec<u64>> {
    let mut all = scratch(n * width, 0)?;
    if n <= BLOCK {
        all.chunks_exact_mut(width).enumerate().for_each(|(i, to)| fill(i, to));
        return Ok(all);
    }
    let blocks: Vec<Mutex<&mut [u64]>> = all.chunks_mut(BLOCK * width).map(Mutex::new).collect();
    shared_pieces(blocks.len(), &|number| {
        let mut block = blocks[number].lock().expect("a block is filled once");
        for (i, to) in (number * BLOCK..).zip(block.chunks_exact_mut(width)) {
            fill(i, to);
        }
    })?;
    drop(blocks);
    Ok(all)
}

/// Sorts by `sort` in blocks and merges these in pairs, elements of the left one first where neither is before the other.
fn sort_blocks<T: Copy + Send + Sync>(
    row: &mut Vec<T>,
    sort: impl Fn(&mut [T]) + Sync,
    is_before: impl Fn(&T, &T) -> bool + Sync,
) -> Result<()> {
    if row.len() <= RUN {
        sort(row);
        return Ok(());
    }
    let blocks: Vec<Mutex<&mut [T]>> = row.chunks_mut(RUN).map(Mutex::new).collect();
    shared_pieces(blocks.len(), &|number| sort(&mut blocks[number].lock().expect("a block is sorted once")))?;
    drop(blocks);
    let (mut length, mut other) = (RUN, scratch(row.len(), row[0])?);
    while length < row.len() {
        merge_runs(row, length, &mut other, &is_before)?;
        std::mem::swap(row, &mut other);
        length *= 2;
    }
    Ok(())
}

/// Merges neighbours among sorted runs of a length into runs of twice that, in pieces of the result.
fn merge_runs<T: Copy + Send + Sync>(
    row: &[T],
    length: usize,
    to: &mut [T],
    is_before: &(impl Fn(&T, &T) -> bool + Sync),
) -> Result<()> {
    let pieces: Vec<Mutex<&mut [T]>> = to.chunks_mut(BLOCK).map(Mutex::new).collect();
    shared_pieces(pieces.len(), &|number| {
        let start = number * BLOCK;
        let pair = &row[start / (2 * length) * 2 * length..];
        let (left, right) = pair[..pair.len().min(2 * length)].split_at(length.min(pair.len()));
        let mut to = pieces[number].lock().expect("a piece is merged once");
        merge_from(start % (2 * length), left, right, &mut to, is_before);
    })
}

/// Fills `to` with the merger of two sorted runs from its element `start` on.
fn merge_from<T: Copy>(start: usize, left: &[T], right: &[T], to: &mut [T], is_before: &impl Fn(&T, &T) -> bool) {
    // How many of the first `start` are of the left: the least number whose element does not belong before them.
    let (mut low, mut high) = (start.saturating_sub(right.len()), start.min(left.len()));
    while low < high {
        let middle = low.midpoint(high);
        if is_before(&right[start - middle - 1], &left[middle]) { high = middle } else { low = middle + 1 }
    }
    let (mut i, mut j) = (low, start - low);
    for slot in to {
        let takes_right = j < right.len() && (i == left.len() || is_before(&right[j], &left[i]));
        *slot = if takes_right { right[j] } else { left[i] };
        (i, j) = (i + usize::from(!takes_right), j + usize::from(takes_right));
    }
}

/// An integer that orders as elements of a type do.
fn order_key(dtype: DType, bytes: &[u8]) -> u64 {
    let mut padded = [0; 8];
    padded[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(padded);
    let width = 8 * bytes.len() as u32;
    match dtype {
        DType::F16 => float_key(bits, width, 0x7c00),
        DType::BF16 => float_key(bits, width, 0x7f80),
        DType::F32 => float_key(bits, width, 0x7f80_0000),
        DType::F64 => float_key(bits, width, 0x7ff0_0000_0000_0000),
        _ if dtype.is_float() => {
            let value = Scalar::from_bits(dtype, bits.into()).as_f64() as f32;
            float_key(value.to_bits().into(), 32, f32::INFINITY.to_bits().into())
        }
        _ if dtype.kind() == Kind::Signed && dtype.bits() < 8 => {
            (Scalar::from_bits(dtype, bits.into()).as_i64() + 8) as u64
        }
        _ if dtype.kind() == Kind::Signed => {
            let sign = 1u64 << (width - 1);
            bits ^ sign
        }
        _ => bits,
    }
}

fn float_key(bits: u64, width: u32, infinity: u64) -> u64 {
    let sign = 1u64 << (width - 1);
    let magnitude = bits & (sign - 1);
    if magnitude > infinity {
        return sign | (sign - 1);
    }
    match (magnitude, bits & sign) {
        (0, _) | (_, 0) => magnitude | sign,
        _ => sign - 1 - magnitude,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dtype: DType, row: &[f64], want: &[u32]) {
        let bytes: Vec<u8> = row
            .iter()
            .flat_map(|&x| Scalar::float(dtype, x).to_bits().to_le_bytes()[..dtype.size_bytes()].to_vec())
            .collect();
        let positions: Vec<u8> = (0..row.len() as u32).flat_map(u32::to_le_bytes).collect();
        let (mut sorted, mut order) = (vec![0; bytes.len()], vec![0; positions.len()]);
        let kernel = Sort { dtypes: vec![dtype, DType::U32], sizes: [1, row.len(), 1], n_keys: 1 };
        sort(&kernel, &[&bytes, &positions], &mut [&mut sorted, &mut order]).expect("it runs");
        let got: Vec<u32> = order.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("four"))).collect();
        assert_eq!(got, want, "{dtype} {row:?}");
    }

    #[test]
    fn stable_with_nan_last() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16, DType::F8E5M2] {
            check(dtype, &[2.0, nan, -1.0, -0.0, 0.0, inf, -nan, -inf], &[7, 2, 3, 4, 0, 5, 1, 6]);
        }
        for dtype in [DType::I8, DType::I16, DType::I32, DType::I64] {
            check(dtype, &[3.0, -1.0, 3.0, 0.0, -100.0], &[4, 1, 3, 0, 2]);
        }
        check(DType::I4, &[3.0, -1.0, 3.0, 0.0, -8.0], &[4, 1, 3, 0, 2]);
        check(DType::U8, &[200.0, 100.0, 200.0], &[1, 0, 2]);
        check(DType::U64, &[1e19, 100.0, 1e19], &[1, 0, 2]);
        check(DType::C64, &[1.0, -1.0, 0.0], &[1, 2, 0]);
    }

    #[test]
    fn rows_of_an_inner_axis() {
        let kernel = Sort { dtypes: vec![DType::U8], sizes: [2, 3, 2], n_keys: 1 };
        let mut out = vec![0; 12];
        sort(&kernel, &[&[5, 1, 3, 2, 4, 0, 9, 9, 7, 8, 8, 7]], &mut [&mut out]).expect("it runs");
        assert_eq!(out, [3, 0, 4, 1, 5, 2, 7, 7, 8, 8, 9, 9]);
    }

    #[test]
    fn long_rows_are_merged_stably() {
        let n = 2 * RUN + 12_345;
        let values: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) >> 20).collect();
        let mut want: Vec<u32> = (0..n as u32).collect();
        want.sort_by_key(|&i| values[i as usize]);
        for dtype in [DType::U32, DType::U64] {
            let bytes: Vec<u8> =
                values.iter().flat_map(|&x| u64::from(x).to_le_bytes()[..dtype.size_bytes()].to_vec()).collect();
            let positions: Vec<u8> = (0..n as u32).flat_map(u32::to_le_bytes).collect();
            let (mut sorted, mut order) = (vec![0; bytes.len()], vec![0; positions.len()]);
            let kernel = Sort { dtypes: vec![dtype, DType::U32], sizes: [1, n, 1], n_keys: 1 };
            sort(&kernel, &[&bytes, &positions], &mut [&mut sorted, &mut order]).expect("it runs");
            assert!(order == want.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>(), "{dtype}");
        }
    }
}
