//! Matrix products by `faer`, split over threads here.
//!
//! The crate's own threads would spin and not survive a fork. It adds the products of an element in an order that the
//! depth alone decides, so that results do not depend on the number of pieces, and pieces may depend on the number of
//! threads.

use std::ops::{Add, Mul, Range};

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par, c32, c64};
use pullback_base::{DType, Result, bail};
use pullback_loops::Gemm;
use pullback_runtime::interrupt::shared_pieces;
use pullback_runtime::{parallel_for_runs, threads};

/// Products up to this many multiplications run by plain loops: packing would cost more than they do.
const SMALL: usize = 16 * 16 * 16;
/// From this many multiplications on, threads share a product.
const SHARED: usize = 1 << 21;
/// The fewest rows or columns in a piece, which is what the crate multiplies at once at most.
const MIN_PIECE: usize = 96;
/// Below this many multiplications a product lasts no longer than a few wakings of a thread: it is cut into strips, of
/// which a thread takes a run, the first one the longest. From there on there are a few square pieces for each thread.
const LONG: usize = 1 << 26;
/// The most bits' worth of multiplications in one piece, tens of milliseconds: a user's interrupt waits that long.
const LONGEST: usize = 1 << 37;
/// Rows or columns of a strip.
const STRIP: usize = 32;

/// A product of operands that are checked for their lengths and alignment.
pub(crate) fn gemm(gemm: &Gemm, lhs: &[u8], rhs: &[u8], out: &mut [u8]) -> Result<()> {
    let spans = pullback_loops::Kernel::Gemm(gemm.clone()).spans();
    let size_bytes = gemm.dtype.real().size_bytes();
    for (bytes, span) in [lhs.len(), rhs.len(), out.len()].into_iter().zip(spans) {
        if bytes < span * size_bytes {
            bail!(Internal, "an operand of a matrix product has {bytes} bytes for {span} numbers");
        }
    }
    // SAFETY: the lengths are checked, and references do not overlap.
    unsafe { gemm_at(gemm, lhs.as_ptr(), rhs.as_ptr(), out.as_mut_ptr()) }
}

/// A product of operands that start at these addresses. Threads may make interleaved matrices of one array at once.
///
/// # Errors
/// When an operand is not aligned, or its type is not one of numbers with fractions; when the user interrupts.
///
/// # Safety
/// As many numbers as the kernel spans must be at each address. No element of the result is an operand's, or read or
/// written by anyone else meanwhile.
pub unsafe fn gemm_at(gemm: &Gemm, lhs: *const u8, rhs: *const u8, out: *mut u8) -> Result<()> {
    // SAFETY: by contract.
    unsafe {
        match gemm.dtype {
            DType::F32 => typed::<f32>(gemm, lhs, rhs, out, 0.0, 1.0),
            DType::F64 => typed::<f64>(gemm, lhs, rhs, out, 0.0, 1.0),
            DType::C64 => typed::<c32>(gemm, lhs, rhs, out, c32::new(0.0, 0.0), c32::new(1.0, 0.0)),
            DType::C128 => typed::<c64>(gemm, lhs, rhs, out, c64::new(0.0, 0.0), c64::new(1.0, 0.0)),
            other => bail!(NotImplemented, "there is no matrix product kernel for {other}"),
        }
    }
}

pub(crate) trait Element: ComplexField + Copy + Send + Sync + Add<Output = Self> + Mul<Output = Self> {}
impl<T: ComplexField + Copy + Send + Sync + Add<Output = T> + Mul<Output = T>> Element for T {}

/// One matrix: its first element and two strides.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<T> {
    pub(crate) start: *mut T,
    pub(crate) strides: [isize; 2],
}

// SAFETY: pieces of a product write disjoint elements, and operands are only read.
unsafe impl<T: Sync> Sync for Matrix<T> {}

/// # Safety
/// As of [`gemm_at`].
unsafe fn typed<T: Element>(gemm: &Gemm, lhs: *const u8, rhs: *const u8, out: *mut u8, zero: T, one: T) -> Result<()> {
    let [outer, inner, rows, columns, depth] = gemm.sizes;
    let batch = outer * inner;
    if batch * rows * columns == 0 {
        return Ok(());
    }
    let are_aligned = depth == 0 || lhs.cast::<T>().is_aligned() && rhs.cast::<T>().is_aligned();
    if !(are_aligned && out.cast::<T>().is_aligned()) {
        bail!(Internal, "an operand of a matrix product is not aligned");
    }
    let parts = pullback_loops::parts(gemm.dtype);
    let matrix = |start: *const u8, strides: [isize; 4]| Matrix {
        start: start.cast_mut().cast::<T>(),
        strides: [strides[2], strides[3]],
    };
    let a = matrix(lhs, gemm.lhs_strides);
    let b = matrix(rhs, gemm.rhs_strides);
    let c = matrix(out, gemm.out_strides);
    let work = rows * columns * depth;
    let all_work = work.saturating_mul(batch);
    let longest = LONGEST / (8 * size_of::<T>() * parts);
    let cut = Cut::new([rows, columns, depth], batch, longest);
    let run = |batch: usize, [down, across]: [Range<usize>; 2]| {
        if down.is_empty() || across.is_empty() {
            return;
        }
        let step = |strides: &[isize; 4], row: usize, column: usize| {
            let at = [batch / inner, batch % inner, row, column];
            at.iter().zip(strides).map(|(&at, &stride)| at as isize * stride).sum()
        };
        // SAFETY: the spans checked above hold every element that batch, rows and columns in range reach.
        unsafe {
            let a = a.shifted(step(&gemm.lhs_strides, down.start, 0));
            let b = b.shifted(step(&gemm.rhs_strides, 0, across.start));
            let c = c.shifted(step(&gemm.out_strides, down.start, across.start));
            product([down.len(), across.len(), depth], a, b, c, zero, one);
        }
    };
    let pieces = |range: Range<usize>| cut.pieces(range).for_each(|(batch, piece)| run(batch, piece));
    let n_pieces = batch * cut.n_pieces();
    match cut.way {
        _ if all_work < SHARED => pieces(0..n_pieces),
        Way::Squares => return shared_pieces(n_pieces, &|piece| pieces(piece..piece + 1)),
        Way::Strips => parallel_for_runs(n_pieces, &pieces),
    }
    Ok(())
}

/// Whether neighbouring pieces make one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Squares,
    Strips,
}

/// How each matrix of a batch is cut.
struct Cut {
    way: Way,
    /// Sizes of the whole and of a piece, down and across; the last piece takes what is left.
    whole: [usize; 2],
    piece: [usize; 2],
    /// Pieces down and across.
    counts: [usize; 2],
}

impl Cut {
    /// For a batch of products of rows, columns and depth. No square has more multiplications than `longest`, as far as
    /// [`MIN_PIECE`] allows.
    fn new([rows, columns, depth]: [usize; 3], batch: usize, longest: usize) -> Cut {
        let whole = [rows, columns];
        let one = rows * columns * depth;
        let work = one.saturating_mul(batch);
        let longer = usize::from(columns > rows);
        // Cutting what is short copies more than a second thread multiplies while the first one does.
        if work < SHARED || batch >= 4 * threads() && one <= longest || whole[longer] < 2 * MIN_PIECE {
            return Cut { way: Way::Squares, whole, piece: whole, counts: [1, 1] };
        }
        if work >= LONG {
            let counts = squares([rows, columns, depth], batch, longest);
            let piece = [rows.div_ceil(counts[0]), columns.div_ceil(counts[1])];
            return Cut { way: Way::Squares, whole, piece, counts };
        }
        let (mut piece, mut counts) = (whole, [1, 1]);
        piece[longer] = if whole[1 - longer] < MIN_PIECE { MIN_PIECE } else { STRIP };
        counts[longer] = (whole[longer] / piece[longer]).max(1);
        Cut { way: Way::Strips, whole, piece, counts }
    }

    /// Pieces of one matrix.
    fn n_pieces(&self) -> usize {
        self.counts.into_iter().product()
    }

    /// The pieces with these numbers: matrix, rows, columns. Neighbouring strips are one.
    fn pieces(&self, numbers: Range<usize>) -> impl Iterator<Item = (usize, [Range<usize>; 2])> {
        let n_pieces = self.n_pieces();
        let mut next = numbers.start;
        std::iter::from_fn(move || {
            let (batch, first) = (next / n_pieces, next % n_pieces);
            let left = numbers.end.checked_sub(next).filter(|&left| left > 0)?;
            let n = if self.way == Way::Strips { left.min(n_pieces - first) } else { 1 };
            next += n;
            Some((batch, self.span(first, n)))
        })
    }

    /// Rows and columns of so many pieces from one on, which lie in a row or a column of pieces.
    fn span(&self, first: usize, n: usize) -> [Range<usize>; 2] {
        let n_across = self.counts[1];
        let (start, last) = ([first / n_across, first % n_across], first + n - 1);
        let last = [last / n_across, last % n_across];
        [0, 1].map(|side| {
            let is_last = last[side] + 1 == self.counts[side];
            let end = if is_last { self.whole[side] } else { (last[side] + 1) * self.piece[side] };
            start[side] * self.piece[side]..end
        })
    }
}

/// Into how many pieces each matrix of a batch is cut, down and across: the longer side first, as square pieces copy
/// the least of the operands. There are more than threads, so that a slow thread gets fewer.
fn squares([rows, columns, depth]: [usize; 3], batch: usize, longest: usize) -> [usize; 2] {
    let (mut sides, mut n) = ([rows, columns], [1, 1]);
    while n[0] * n[1] * batch < 2 * threads() || sides[0] * sides[1] * depth > longest {
        let longer = usize::from(sides[1] > sides[0]);
        if sides[longer] < 2 * MIN_PIECE {
            break;
        }
        sides[longer] = sides[longer].div_ceil(2);
        n[longer] *= 2;
    }
    n
}

impl<T: Copy> Matrix<T> {
    /// # Safety
    /// The element that many away must exist.
    unsafe fn shifted(self, elements: isize) -> Matrix<T> {
        // SAFETY: by contract.
        Matrix { start: unsafe { self.start.offset(elements) }, ..self }
    }

    /// # Safety
    /// The element must exist.
    pub(crate) unsafe fn at(self, row: usize, column: usize) -> *mut T {
        // SAFETY: by contract.
        unsafe { self.start.offset(row as isize * self.strides[0] + column as isize * self.strides[1]) }
    }
}

/// # Safety
/// All elements in the sizes (rows, columns, depth) must exist, and those of `c` be nobody else's.
pub(crate) unsafe fn product<T: Element>(
    [m, n, k]: [usize; 3],
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    zero: T,
    one: T,
) {
    if m * n == 0 {
        return;
    }
    if m * n * k <= SMALL {
        for i in 0..m {
            for j in 0..n {
                // SAFETY: by contract.
                let sum = (0..k).fold(zero, |sum, l| unsafe { sum + *a.at(i, l) * *b.at(l, j) });
                // SAFETY: by contract.
                unsafe { *c.at(i, j) = sum };
            }
        }
        return;
    }
    // SAFETY: by contract.
    unsafe {
        let c = MatMut::from_raw_parts_mut(c.start, m, n, c.strides[0], c.strides[1]);
        let a = MatRef::from_raw_parts(a.start, m, k, a.strides[0], a.strides[1]);
        let b = MatRef::from_raw_parts(b.start, k, n, b.strides[0], b.strides[1]);
        matmul(c, Accum::Replace, a, b, one, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, of which sums are exact in any order.
    fn check<T: Element + PartialEq + std::fmt::Debug>(dtype: DType, sizes: [usize; 4], of: fn(f32, f32) -> T) {
        let [batch, m, n, k] = sizes;
        let value = |i: usize| of(((i * 7919 + 13) % 31) as f32 - 15.0, ((i * 104_729 + 5) % 29) as f32 - 14.0);
        let (a, b): (Vec<T>, Vec<T>) =
            ((0..batch * m * k).map(value).collect(), (0..batch * k * n).map(value).collect());
        let (m_, n_, k_) = (m as isize, n as isize, k as isize);
        let plain = ([0, m_ * k_, k_, 1], [0, k_ * n_, n_, 1], [0, m_ * n_, n_, 1]);
        let transposed = ([0, m_ * k_, 1, m_], [0, k_ * n_, 1, k_], [0, m_ * n_, 1, m_]);
        for (lhs_strides, rhs_strides, out_strides) in [
            plain,
            (transposed.0, plain.1, plain.2),
            (plain.0, transposed.1, plain.2),
            (transposed.0, transposed.1, transposed.2),
        ] {
            let gemm_of = Gemm { dtype, sizes: [1, batch, m, n, k], lhs_strides, rhs_strides, out_strides };
            let mut out = vec![of(0.0, 0.0); batch * m * n];
            gemm(&gemm_of, bytes_of(&a), bytes_of(&b), bytes_of_mut(&mut out)).expect("it runs");
            let at = |strides: [isize; 4], s: usize, i: usize, j: usize| {
                s * strides[1] as usize + i * strides[2] as usize + j * strides[3] as usize
            };
            for (s, i, j) in (0..batch * m * n).map(|number| (number / (m * n), number / n % m, number % n)) {
                let term = |l: usize| a[at(lhs_strides, s, i, l)] * b[at(rhs_strides, s, l, j)];
                let want = (0..k).fold(of(0.0, 0.0), |sum, l| sum + term(l));
                assert_eq!(out[at(out_strides, s, i, j)], want, "{dtype} {sizes:?} {s} {i} {j}");
            }
        }
    }

    fn bytes_of<T>(values: &[T]) -> &[u8] {
        // SAFETY: numbers without padding.
        unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
    }

    fn bytes_of_mut<T>(values: &mut [T]) -> &mut [u8] {
        // SAFETY: numbers without padding, of which any bits are some number.
        unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
    }

    #[test]
    fn products_of_all_sizes() {
        for sizes in [
            [1, 1, 1, 1],
            [2, 3, 4, 5],
            [1, 16, 16, 16],
            [3, 40, 17, 33],
            [1, 400, 70, 90],
            [1, 70, 400, 90],
            [1, 1, 300, 200],
            [1, 300, 1, 200],
            [1, 30, 31, 1100],
            [1, 97, 193, 1],
            [2, 5, 3, 0],
            [0, 2, 2, 2],
        ] {
            check(DType::F32, sizes, |re, _| re);
            check(DType::F64, sizes, |re, _| f64::from(re));
            check(DType::C64, sizes, c32::new);
            check(DType::C128, sizes, |re, im| c64::new(re.into(), im.into()));
        }
    }

    /// The bits of a product of random numbers on so many threads.
    fn product_on(n_threads: usize, sizes: [usize; 3]) -> Vec<u8> {
        let [m, n, k] = sizes;
        let mut state = 1u32;
        let mut random = |n: usize| -> Vec<u8> {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / 16_777_216.0 - 0.5
            };
            (0..n).flat_map(|_| next().to_le_bytes()).collect()
        };
        let gemm_of = Gemm {
            dtype: DType::F32,
            sizes: [1, 1, m, n, k],
            lhs_strides: [0, 0, k as isize, 1],
            rhs_strides: [0, 0, n as isize, 1],
            out_strides: [0, 0, n as isize, 1],
        };
        let (a, b, mut out) = (random(m * k), random(k * n), vec![0; m * n * 4]);
        pullback_runtime::set_threads(n_threads);
        gemm(&gemm_of, &a, &b, &mut out).expect("it runs");
        pullback_runtime::set_threads(0);
        out
    }

    #[test]
    fn pieces_cover_each_element_once() {
        for (rows, columns, batch) in
            [(128, 256, 1), (300, 100, 3), (40, 900, 2), (97, 97, 1), (600, 500, 1), (5, 7, 40)]
        {
            for (depth, longest) in
                [(1, LONGEST), (SHARED / (rows * columns), LONGEST), (LONG, LONGEST), (LONG, LONG * 999)]
            {
                let cut = Cut::new([rows, columns, depth], batch, longest);
                let mut seen = vec![0; batch * rows * columns];
                let n = batch * cut.n_pieces();
                for numbers in [0..n / 3, n / 3..n] {
                    for (matrix, [down, across]) in cut.pieces(numbers) {
                        let at = |row: usize, column: usize| (matrix * rows + row) * columns + column;
                        down.for_each(|row| across.clone().for_each(|column| seen[at(row, column)] += 1));
                    }
                }
                assert!(seen.iter().all(|&n| n == 1), "{rows}x{columns} in {batch}, {depth} deep");
            }
        }
    }

    #[test]
    fn pieces_change_no_bit() {
        let middling = [[128, 256, 256], [256, 256, 128], [100, 700, 65], [1000, 30, 1300], [70, 197, 1000]];
        for sizes in [[200, 200, 700], [97, 801, 65], [513, 257, 96], [1, 2000, 2000]].into_iter().chain(middling) {
            let whole = product_on(1, sizes);
            for n_threads in [2, 3, 8] {
                assert!(product_on(n_threads, sizes) == whole, "{sizes:?} on {n_threads} threads");
            }
        }
    }
}
