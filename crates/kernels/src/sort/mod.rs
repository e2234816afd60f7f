//! Sorting: stable, NaN last, zeros of either sign equal.
//!
//! Keys become unsigned integers that order as the elements do. One operand is sorted itself; of several, positions are
//! sorted by the keys, from the last key to the first, and every operand is then moved.

mod greatest;
mod radix;

use std::sync::{Mutex, PoisonError};

use pullback_base::array::{Buffer, BufferMut, scratch};
use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_loops::Sort;
use pullback_runtime::interrupt::shared_pieces;

use crate::typed::{Plain, Shared, operand, result};
use radix::CHUNK;

pub(crate) use greatest::greatest;

/// Elements from which on threads share a sort.
const SHARED: usize = 1 << 14;
/// Neighbouring rows of an axis that is not the last one which are sorted together, as they share lines of the cache.
const TILE: usize = 16;

/// Sorts checked operands.
pub(crate) fn sort(sort: &Sort, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    let [outer, n, inner] = sort.sizes;
    if let Some(dtype) = sort.dtypes[..sort.n_keys].iter().find(|dtype| key_parts(**dtype) == 0) {
        bail!(NotImplemented, "{dtype} has no order to sort by");
    }
    for (index, (dtype, out)) in sort.dtypes.iter().zip(outs.iter()).enumerate() {
        let want = outer * n * inner * dtype.size_bytes();
        if ins[index].len() < want || out.len() < want {
            bail!(Internal, "an operand of a sort has {} bytes, not {want}", ins[index].len());
        }
    }
    if u32::try_from(n).is_err() {
        bail!(NotImplemented, "sorting along an axis of {n} elements is not implemented: the most is {}", u32::MAX);
    }
    match (ins, outs) {
        ([from], [to]) if key_parts(sort.dtypes[0]) == 1 => values(sort, from, to),
        (ins, outs) => operands(sort, ins, outs),
    }
}

/// Real numbers that a key of a type compares by, one after the other; none if the type has no order.
fn key_parts(dtype: DType) -> usize {
    match dtype.kind() {
        Kind::Complex => 2,
        Kind::Float0 | Kind::Key => 0,
        Kind::Bool | Kind::Signed | Kind::Unsigned | Kind::Float => 1,
    }
}

/// Calls `$run::<integer of the size>(args, bits of keys, key of an integer)` for a real type.
macro_rules! by_key {
    ($dtype:expr, $run:ident($($arg:expr),*)) => {
        match $dtype {
            DType::U16 => $run::<u16>($($arg,)* 16, |x| x.into()),
            DType::I16 => $run::<u16>($($arg,)* 16, |x| (x ^ 1 << 15).into()),
            DType::F16 => $run::<u16>($($arg,)* 16, |x| float_key(x.into(), 16, 0x7c00)),
            DType::BF16 => $run::<u16>($($arg,)* 16, |x| float_key(x.into(), 16, 0x7f80)),
            DType::U32 => $run::<u32>($($arg,)* 32, |x| x.into()),
            DType::I32 => $run::<u32>($($arg,)* 32, |x| (x ^ 1 << 31).into()),
            DType::F32 => $run::<u32>($($arg,)* 32, |x| float_key(x.into(), 32, 0x7f80_0000)),
            DType::U64 => $run::<u64>($($arg,)* 64, |x| x),
            DType::I64 => $run::<u64>($($arg,)* 64, |x| x ^ 1 << 63),
            DType::F64 => $run::<u64>($($arg,)* 64, |x| float_key(x, 64, 0x7ff0_0000_0000_0000)),
            dtype => {
                let ranks = ranks_of(dtype);
                $run::<u8>($($arg,)* 8, |x| ranks[usize::from(x)].into())
            }
        }
    };
}

/// Memory for elements, not yet of any value.
struct Scratch(BufferMut);

impl Scratch {
    fn new<T: Plain>(n: usize) -> Result<Scratch> {
        Ok(Scratch(Buffer::allocate(n * size_of::<T>())?))
    }

    fn of<T: Plain>(&mut self, n: usize) -> Result<&mut [T]> {
        result(self.0.bytes_mut(), n)
    }
}

/// Calls `work` for ranges that cover `0..n`, on several threads.
fn in_chunks(n: usize, work: impl Fn(std::ops::Range<usize>) + Sync) -> Result<()> {
    shared_pieces(n.div_ceil(CHUNK), &|number| work(number * CHUNK..n.min((number + 1) * CHUNK)))
}

/// Runs tasks, together if there is much to do; ends with the first error.
fn each(n_tasks: usize, n_elements: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    if n_elements < SHARED || n_tasks == 1 {
        return (0..n_tasks).try_for_each(work);
    }
    let error = Mutex::new(None);
    shared_pieces(n_tasks, &|number| {
        if let Err(stopped) = work(number) {
            *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(stopped);
        }
    })?;
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

// --- one operand -----------------------------------------------------------------------------------------------------

fn values(sort: &Sort, from: &[u8], to: &mut [u8]) -> Result<()> {
    by_key!(sort.dtypes[0], values_by(sort.sizes, from, to))
}

fn values_by<T: Plain + Default>(
    sizes: [usize; 3],
    from: &[u8],
    to: &mut [u8],
    bits: u32,
    key: impl Fn(T) -> u64 + Copy + Sync,
) -> Result<()> {
    let [outer, n, inner] = sizes;
    let all = outer * n * inner;
    let (from, to) = (operand::<T>(from, all)?, Shared::new(result::<T>(to, all)?));
    if inner == 1 {
        return each(outer, all, |row| {
            // SAFETY: rows are disjoint.
            row_of_values(&from[row * n..][..n], unsafe { to.part(row * n, n) }, bits, key)
        });
    }
    let n_tiles = inner.div_ceil(TILE);
    each(outer * n_tiles, all, |task| {
        let first = task / n_tiles * n * inner + task % n_tiles * TILE;
        tile_of_values(from, &to, [first, n, inner, TILE.min(inner - task % n_tiles * TILE)], bits, key)
    })
}

fn row_of_values<T: Plain>(from: &[T], to: &mut [T], bits: u32, key: impl Fn(T) -> u64 + Copy + Sync) -> Result<()> {
    let n = from.len();
    let n_passes = radix::n_passes(n, bits);
    let copy = |from: &[T], to: &mut [T]| {
        let to = Shared::new(to);
        // SAFETY: chunks are disjoint.
        in_chunks(n, |chunk| unsafe { to.part(chunk.start, chunk.len()) }.copy_from_slice(&from[chunk]))
    };
    if n_passes == 0 {
        to.copy_from_slice(from);
        return radix::sort(to, &mut [], bits, key).map(|_| ());
    }
    let mut scratch = Scratch::new::<T>(n)?;
    let scratch = scratch.of::<T>(n)?;
    // Begun where it ends in the result, if no pass is left out.
    if n_passes.is_multiple_of(2) {
        copy(from, to)?;
        if radix::sort(to, scratch, bits, key)? { copy(scratch, to) } else { Ok(()) }
    } else {
        copy(from, scratch)?;
        if radix::sort(scratch, to, bits, key)? { Ok(()) } else { copy(scratch, to) }
    }
}

/// Sorts a few neighbouring rows that lie across: the first element, the length, the distance of elements, how many.
fn tile_of_values<T: Plain>(
    from: &[T],
    to: &Shared<T>,
    [first, n, inner, width]: [usize; 4],
    bits: u32,
    key: impl Fn(T) -> u64 + Copy + Sync,
) -> Result<()> {
    let mut memory = Scratch::new::<T>(2 * width * n)?;
    let (rows, others) = memory.of::<T>(2 * width * n)?.split_at_mut(width * n);
    for position in 0..n {
        for (row, &value) in from[first + position * inner..][..width].iter().enumerate() {
            rows[row * n + position] = value;
        }
    }
    for (row, other) in rows.chunks_exact_mut(n).zip(others.chunks_exact_mut(n)) {
        if radix::sort(row, other, bits, key)? {
            row.copy_from_slice(other);
        }
    }
    for position in 0..n {
        // SAFETY: no other task has these rows.
        let to = unsafe { to.part(first + position * inner, width) };
        to.iter_mut().enumerate().for_each(|(row, to)| *to = rows[row * n + position]);
    }
    Ok(())
}

// --- several operands ------------------------------------------------------------------------------------------------

fn operands(sort: &Sort, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    let [outer, n, inner] = sort.sizes;
    let outs: Vec<Shared<u8>> = outs.iter_mut().map(|out| Shared::new(out)).collect();
    each(outer * inner, outer * n * inner, |number| {
        let first = number / inner * n * inner + number % inner;
        let order = order_of(sort, ins, first)?;
        for ((dtype, from), to) in sort.dtypes.iter().zip(ins).zip(&outs) {
            let lane = Lane { first, n, step: inner };
            match dtype.size_bytes() {
                1 => move_lane::<u8>(&lane, &order, from, to),
                2 => move_lane::<u16>(&lane, &order, from, to),
                4 => move_lane::<u32>(&lane, &order, from, to),
                8 => move_lane::<u64>(&lane, &order, from, to),
                16 => move_lane::<[u64; 2]>(&lane, &order, from, to),
                other => bail!(Internal, "a sort of elements of {other} bytes"),
            }?;
        }
        Ok(())
    })
}

/// A row of elements in an operand.
struct Lane {
    first: usize,
    n: usize,
    step: usize,
}

fn move_lane<T: Plain>(lane: &Lane, order: &[u32], from: &[u8], to: &Shared<u8>) -> Result<()> {
    let from = operand::<T>(from, from.len() / size_of::<T>())?;
    let to = to.start().cast::<T>();
    if !to.is_aligned() {
        bail!(Internal, "a result of a sort is not aligned");
    }
    let to = Address(to);
    in_chunks(lane.n, |chunk| {
        for (position, &source) in chunk.clone().zip(&order[chunk]) {
            let value = from[lane.first + source as usize * lane.step];
            // SAFETY: the element lies in the result, whose length was checked; rows and chunks are disjoint, so no other
            // thread writes it.
            unsafe { *to.start().add(lane.first + position * lane.step) = value };
        }
    })
}

/// Where threads write disjoint elements.
struct Address<T>(*mut T);

// SAFETY: as it says.
unsafe impl<T> Sync for Address<T> {}

impl<T> Address<T> {
    fn start(&self) -> *mut T {
        self.0
    }
}

/// The positions of a row in sorted order.
fn order_of(sort: &Sort, ins: &[&[u8]], first: usize) -> Result<Vec<u32>> {
    let [_, n, inner] = sort.sizes;
    let mut order = vec![];
    for (dtype, bytes) in sort.dtypes[..sort.n_keys].iter().zip(ins).rev() {
        let n_parts = key_parts(*dtype);
        let real = if n_parts == 2 { dtype.real() } else { *dtype };
        for part in (0..n_parts).rev() {
            let lane = Lane { first: first * n_parts + part, n, step: inner * n_parts };
            order = by_key!(real, ordered_by(bytes, &lane, order))?;
        }
    }
    Ok(order)
}

/// The positions `before` (all, in order, if none) stably sorted by the keys of a lane.
fn ordered_by<T: Plain>(
    bytes: &[u8],
    lane: &Lane,
    before: Vec<u32>,
    bits: u32,
    key: impl Fn(T) -> u64 + Copy + Sync,
) -> Result<Vec<u32>> {
    let from = operand::<T>(bytes, bytes.len() / size_of::<T>())?;
    let position = |i: usize| before.get(i).map_or(i as u64, |&position| position.into());
    let key_at = |position: u64| key(from[lane.first + position as usize * lane.step]);
    if bits <= 32 {
        let element = |i: usize| key_at(position(i)) << 32 | position(i);
        sorted_positions(lane.n, element, bits, |packed: u64| packed >> 32, |packed| packed as u32)
    } else {
        let element = |i: usize| [key_at(position(i)), position(i)];
        sorted_positions(lane.n, element, bits, |pair: [u64; 2]| pair[0], |pair| pair[1] as u32)
    }
}

fn sorted_positions<T: Plain>(
    n: usize,
    element: impl Fn(usize) -> T + Sync,
    bits: u32,
    key: impl Fn(T) -> u64 + Copy + Sync,
    position: impl Fn(T) -> u32 + Sync,
) -> Result<Vec<u32>> {
    let mut memory = Scratch::new::<T>(2 * n)?;
    let (row, other) = memory.of::<T>(2 * n)?.split_at_mut(n);
    let shared = Shared::new(row);
    in_chunks(n, |chunk| {
        // SAFETY: chunks are disjoint.
        let to = unsafe { shared.part(chunk.start, chunk.len()) };
        to.iter_mut().zip(chunk).for_each(|(to, i)| *to = element(i));
    })?;
    let sorted = if radix::sort(row, other, bits, key)? { other } else { row };
    let mut order = scratch(n, 0)?;
    let shared = Shared::new(&mut order);
    in_chunks(n, |chunk| {
        // SAFETY: chunks are disjoint.
        let to = unsafe { shared.part(chunk.start, chunk.len()) };
        to.iter_mut().zip(&sorted[chunk]).for_each(|(to, &from)| *to = position(from));
    })?;
    Ok(order)
}

// --- keys ------------------------------------------------------------------------------------------------------------

/// For each byte, how many keys of a type of one byte are less.
fn ranks_of(dtype: DType) -> [u8; 256] {
    let keys: Vec<u64> = (0..=255).map(|bits| order_key(dtype, bits)).collect();
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    std::array::from_fn(|bits| distinct.partition_point(|&key| key < keys[bits]) as u8)
}

/// An integer that orders as the elements of a type of one byte do.
fn order_key(dtype: DType, bits: u8) -> u64 {
    match dtype.kind() {
        Kind::Float => {
            let value = Scalar::from_bits(dtype, bits.into()).as_f64() as f32;
            float_key(value.to_bits().into(), 32, f32::INFINITY.to_bits().into())
        }
        Kind::Signed if dtype.bits() < 8 => (Scalar::from_bits(dtype, bits.into()).as_i64() + 8) as u64,
        Kind::Signed => u64::from(bits ^ 0x80),
        _ => bits.into(),
    }
}

/// By arithmetic alone: signs of random numbers are what a processor cannot foresee.
fn float_key(bits: u64, width: u32, infinity: u64) -> u64 {
    let sign = 1u64 << (width - 1);
    let all = |choice: bool| u64::from(choice).wrapping_neg() & (sign | (sign - 1));
    // Negative numbers are turned around, and the zero among them would come just before the other one.
    let ordered = bits ^ (sign | (all(bits & sign != 0) & (sign - 1)));
    let is_nan = bits & (sign - 1) > infinity;
    (ordered + u64::from(bits == sign)) | all(is_nan)
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

    /// Elements of a type, few enough that many are equal, with what is special among them.
    fn elements(dtype: DType, n: usize) -> Vec<Scalar> {
        let specials = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY];
        let mut state = 12_345_u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let mut element = || match next(10) {
            choice if choice < 3 && dtype.is_float() => Scalar::float(dtype, specials[next(6) as usize]),
            _ if dtype.is_float() => Scalar::float(dtype, (f64::from(next(1 << 16)) - 3e4) * 0.37),
            // Any bits of a type whose storage they fill are an element.
            _ => Scalar::from_bits(dtype, u128::from(next(1 << 20)) << next(46) & ((1 << dtype.bits()) - 1)),
        };
        (0..n).map(|_| element()).collect()
    }

    /// The definition: NaN after all, zeros alike.
    fn is_before(a: &Scalar, b: &Scalar) -> std::cmp::Ordering {
        if !a.dtype().is_float() {
            let wide = |x: &Scalar| if x.dtype() == DType::U64 { x.to_bits() as i128 } else { x.as_i64().into() };
            return wide(a).cmp(&wide(b));
        }
        a.is_nan().cmp(&b.is_nan()).then(a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(std::cmp::Ordering::Equal))
    }

    fn bytes_of(row: &[Scalar]) -> Vec<u8> {
        row.iter().flat_map(|x| x.to_bits().to_le_bytes()[..x.dtype().size_bytes()].to_vec()).collect()
    }

    /// Sorts alone and beside positions, on several numbers of threads.
    fn check_lane(dtype: DType, n: usize, across: usize) {
        let row = elements(dtype, n);
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by(|&a, &b| is_before(&row[a as usize], &row[b as usize]));
        let spread = |row: &[Scalar]| row.iter().flat_map(|&x| vec![x; across]).collect::<Vec<_>>();
        let want = bytes_of(&spread(&order.iter().map(|&i| row[i as usize]).collect::<Vec<_>>()));
        let positions =
            |order: &[u32]| -> Vec<u8> { order.iter().flat_map(|i| vec![i.to_le_bytes(); across]).flatten().collect() };
        let (all, before) = (bytes_of(&spread(&row)), positions(&(0..n as u32).collect::<Vec<_>>()));
        let sizes = [1, n, across];
        for n_threads in [1, 2, 7] {
            pullback_runtime::set_threads(n_threads);
            let mut alone = vec![0; all.len()];
            sort(&Sort { dtypes: vec![dtype], sizes, n_keys: 1 }, &[&all], &mut [&mut alone]).expect("it runs");
            assert!(alone == want, "{n} of {dtype} on {n_threads} threads, {across} across");
            let (mut beside, mut moved) = (vec![0; all.len()], vec![0; before.len()]);
            let both = Sort { dtypes: vec![dtype, DType::U32], sizes, n_keys: 1 };
            sort(&both, &[&all, &before], &mut [&mut beside, &mut moved]).expect("it runs");
            assert!(beside == want && moved == positions(&order), "{n} of {dtype} with positions, {across} across");
        }
        pullback_runtime::set_threads(0);
    }

    #[test]
    fn lanes_of_all_types_and_lengths() {
        use DType::{BF16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        for dtype in [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64] {
            for n in [1, 2, 127, 128, 129, 8192, 8193] {
                check_lane(dtype, n, 1);
            }
            check_lane(dtype, 200, 37);
            check_lane(dtype, CHUNK + 1, 1);
        }
        for dtype in [U16, F32, F64] {
            check_lane(dtype, 3 * CHUNK + 17, 1);
        }
    }

    #[test]
    fn later_keys_decide_among_equals() {
        let n = 3000;
        let (a, b) = (elements(DType::I8, n), elements(DType::F32, n));
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| is_before(&a[i], &a[j]).then(is_before(&b[i], &b[j])));
        let sorted = |row: &[Scalar]| bytes_of(&order.iter().map(|&i| row[i]).collect::<Vec<_>>());
        let (mut first, mut second) = (vec![0; n], vec![0; 4 * n]);
        let kernel = Sort { dtypes: vec![DType::I8, DType::F32], sizes: [1, n, 1], n_keys: 2 };
        sort(&kernel, &[&bytes_of(&a), &bytes_of(&b)], &mut [&mut first, &mut second]).expect("it runs");
        assert!(first == sorted(&a) && second == sorted(&b));
    }
}
