//! Matrix products by `faer`, split over threads here.
//!
//! The crate's own threads would spin and not survive a fork. It adds the products of an element in an order that the
//! depth alone decides, so that results do not depend on the number of pieces, and pieces may depend on the number of
//! threads.

use std::ops::{Add, Mul, Range};

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};
#[cfg(feature = "complex")]
use num_complex::{Complex32 as c32, Complex64 as c64};
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
const LONGEST: usize = if usize::BITS == 64 { 1 << (usize::BITS - 27) } else { 1 << 31 };
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
/// When an operand is not aligned, or its type is not one of numbers with fractions that this build multiplies; when the
/// user interrupts.
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
            #[cfg(feature = "complex")]
            DType::C64 => typed::<c32>(gemm, lhs, rhs, out, c32::new(0.0, 0.0), c32::new(1.0, 0.0)),
            #[cfg(feature = "complex")]
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
    let is_mirrored = a.start == b.start && a.strides == [b.strides[1], b.strides[0]] && rows == columns;
    let is_worth = work >= SHARED && rows >= 2 * MIN_PIECE && work / MIRRORED.pow(2) <= longest;
    if is_mirrored && batch == 1 && parts == 1 && is_worth {
        // SAFETY: by contract.
        return unsafe { mirrored([rows, depth], a, b, c, zero, one) };
    }
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

/// A matrix times its own transpose: squares on and above the diagonal, and the same elements below it. Real factors commute
/// and each element adds its products in the order of the depth, so an element below is that above to the bit.
///
/// # Safety
/// As of [`gemm_at`].
unsafe fn mirrored<T: Element>(
    [n, depth]: [usize; 2],
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    zero: T,
    one: T,
) -> Result<()> {
    let n_sides = (n / MIN_PIECE).clamp(1, MIRRORED);
    let side = n.div_ceil(n_sides);
    let span = |number: usize| number * side..n.min((number + 1) * side);
    let pairs: Vec<[usize; 2]> = (0..n_sides).flat_map(|i| (i..n_sides).map(move |j| [i, j])).collect();
    shared_pieces(pairs.len(), &|number| {
        let [down, across] = pairs[number].map(span);
        // SAFETY: rows, columns and depth are inside; pairs have disjoint elements, of which those below the diagonal are
        // only written by the pair that made them above.
        unsafe {
            let (a, b) =
                (a.shifted(down.start as isize * a.strides[0]), b.shifted(across.start as isize * b.strides[1]));
            let square = c.shifted(down.start as isize * c.strides[0] + across.start as isize * c.strides[1]);
            product([down.len(), across.len(), depth], a, b, square, zero, one);
            if down != across {
                for (i, j) in down.flat_map(|i| across.clone().map(move |j| (i, j))) {
                    *c.at(j, i) = *c.at(i, j);
                }
            }
        }
    })
}

/// The most squares beside each other into which [`mirrored`] cuts.
const MIRRORED: usize = 6;

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

    fn transposed(self) -> Matrix<T> {
        Matrix { start: self.start, strides: [self.strides[1], self.strides[0]] }
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
pub(crate) unsafe fn product<T: Element>(sizes: [usize; 3], a: Matrix<T>, b: Matrix<T>, c: Matrix<T>, zero: T, one: T) {
    // SAFETY: by contract.
    unsafe { product_into(Accum::Replace, sizes, a, b, c, zero, one) }
}

/// As [`product`], or added to what is there.
///
/// # Safety
/// As of [`product`].
pub(crate) unsafe fn product_into<T: Element>(
    accum: Accum,
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
    // Small products have the same order of sums for all strides. With a vector on the left the product is turned around.
    let (vector, rows) = (if n == 1 { b } else { a.transposed() }, if n == 1 { a } else { b.transposed() });
    let lie_in_rows = rows.strides[1] == 1 && vector.strides[0] == 1;
    if (m == 1 || n == 1) && k >= LANES && (lie_in_rows || m * n * k <= SMALL) {
        let c = if n == 1 { c } else { c.transposed() };
        // SAFETY: by contract.
        return unsafe { by_vector(accum, [m.max(n), k], rows, vector, c, zero) };
    }
    if m * n * k <= SMALL {
        // SAFETY: by contract.
        return unsafe { small_product(accum, [m, n, k], a, b, c, zero) };
    }
    // SAFETY: by contract.
    unsafe {
        let c = MatMut::from_raw_parts_mut(c.start, m, n, c.strides[0], c.strides[1]);
        let a = MatRef::from_raw_parts(a.start, m, k, a.strides[0], a.strides[1]);
        let b = MatRef::from_raw_parts(b.start, k, n, b.strides[0], b.strides[1]);
        matmul(c, accum, a, b, one, Par::Seq);
    }
}

/// Terms of a sum that are added side by side; their sums are halved until one is left.
const LANES: usize = 32;
/// A product by plain loops; each element adds its terms in order.
///
/// # Safety
/// As of [`product`].
unsafe fn small_product<T: Element>(
    accum: Accum,
    [m, n, k]: [usize; 3],
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    zero: T,
) {
    for (i, first) in (0..m).flat_map(|i| (0..n).step_by(LANES).map(move |first| (i, first))) {
        let mut sums = [zero; LANES];
        let sums = &mut sums[..LANES.min(n - first)];
        for l in 0..k {
            // SAFETY: by contract.
            let (x, row) = unsafe { (*a.at(i, l), b.at(l, first).cast_const()) };
            if b.strides[1] == 1 {
                // SAFETY: by contract.
                let row = unsafe { std::slice::from_raw_parts(row, sums.len()) };
                sums.iter_mut().zip(row).for_each(|(sum, &y)| *sum += x * y);
            } else {
                // SAFETY: by contract.
                let at = |j: usize| unsafe { *row.offset(j as isize * b.strides[1]) };
                sums.iter_mut().enumerate().for_each(|(j, sum)| *sum += x * at(j));
            }
        }
        for (j, &sum) in sums.iter().enumerate() {
            // SAFETY: by contract.
            let to = unsafe { &mut *c.at(i, first + j) };
            *to = if accum == Accum::Replace { sum } else { *to + sum };
        }
    }
}

/// Products of rows and a vector.
///
/// # Safety
/// As of [`product`].
unsafe fn by_vector<T: Element>(accum: Accum, [m, k]: [usize; 2], a: Matrix<T>, b: Matrix<T>, c: Matrix<T>, zero: T) {
    let mut memory = [vec![], vec![]];
    let [row_memory, vector_memory] = &mut memory;
    // SAFETY: by contract.
    let vector = unsafe { side_by_side(b.start, b.strides[0], k, vector_memory) };
    for i in 0..m {
        // SAFETY: by contract.
        let row = unsafe { side_by_side(a.at(i, 0), a.strides[1], k, row_memory) };
        let sum = dot_on_this_machine(row, vector, zero);
        // SAFETY: by contract.
        let to = unsafe { &mut *c.at(i, 0) };
        *to = if accum == Accum::Replace { sum } else { *to + sum };
    }
}

/// Elements at a distance; copied to `memory` unless they lie side by side.
///
/// # Safety
/// The elements must exist, and nobody write them meanwhile.
unsafe fn side_by_side<T: Copy>(start: *mut T, stride: isize, n: usize, memory: &mut Vec<T>) -> &[T] {
    if stride == 1 {
        // SAFETY: by contract.
        return unsafe { std::slice::from_raw_parts(start, n) };
    }
    memory.clear();
    // SAFETY: by contract.
    memory.extend((0..n as isize).map(|i| unsafe { *start.offset(i * stride) }));
    memory
}

/// [`dot`] with the widest vectors that the processor has. The order of sums is the same with all.
fn dot_on_this_machine<T: Element>(row: &[T], vector: &[T], zero: T) -> T {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        unsafe fn wide<T: Element>(row: &[T], vector: &[T], zero: T) -> T {
            dot(row, vector, zero)
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function needs.
            return unsafe { wide(row, vector, zero) };
        }
    }
    dot(row, vector, zero)
}

/// The sum of products, in [`LANES`] lanes and then what is left in order.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "three arrays at one index, which becomes one vector operation")]
fn dot<T: Element>(row: &[T], vector: &[T], zero: T) -> T {
    let (rows, vectors) = (row.chunks_exact(LANES), vector.chunks_exact(LANES));
    let rest = rows.remainder().iter().zip(vectors.remainder());
    let mut sums = [zero; LANES];
    for (a, b) in rows.zip(vectors) {
        for i in 0..LANES {
            sums[i] += a[i] * b[i];
        }
    }
    let mut half = LANES / 2;
    while half > 0 {
        (0..half).for_each(|i| sums[i] += sums[i + half]);
        half /= 2;
    }
    rest.fold(sums[0], |sum, (&a, &b)| sum + a * b)
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

    /// The bits of `xᵀ x`, where the operands are one array or two.
    fn gram(n_threads: usize, [n, k]: [usize; 2], is_one: bool) -> Vec<u8> {
        let x: Vec<f32> = (0..n * k).map(|i| ((i * 7919) % 1009) as f32 / 504.0 - 1.0).collect();
        let (other, mut out) = (x.clone(), vec![0; n * n * 4]);
        let (n, k) = (n as isize, k as isize);
        let strides = ([0, 0, 1, n], [0, 0, n, 1], [0, 0, n, 1]);
        let sizes = [1, 1, n as usize, n as usize, k as usize];
        let gemm_of =
            Gemm { dtype: DType::F32, sizes, lhs_strides: strides.0, rhs_strides: strides.1, out_strides: strides.2 };
        pullback_runtime::set_threads(n_threads);
        let right = if is_one { &x } else { &other };
        gemm(&gemm_of, bytes_of(&x), bytes_of(right), &mut out).expect("it runs");
        pullback_runtime::set_threads(0);
        out
    }

    #[test]
    fn a_matrix_times_its_transpose_has_the_bits_of_any_product() {
        for sizes in [[192, 100], [193, 1030], [500, 300], [700, 65], [40, 2000]] {
            let whole = gram(1, sizes, false);
            for n_threads in [1, 2, 7] {
                assert!(gram(n_threads, sizes, true) == whole, "{sizes:?} on {n_threads} threads");
            }
        }
    }

    /// Vectors on either side, and small products, beside sums in order.
    #[test]
    fn products_with_vectors_are_close() {
        for (m, n, k) in [(1, 50, 100), (50, 1, 100), (7, 1, 33), (1, 3, 16), (1, 1, 1000), (5, 1, 15), (3, 4, 5)] {
            for (lhs, rhs) in [([k, 1], [n, 1]), ([k, 1], [1, k]), ([1, m], [n, 1]), ([1, m], [1, k])] {
                let value = |i: usize| ((i * 7919) % 1009) as f32 / 504.0 - 1.0;
                let (a, b): (Vec<f32>, Vec<f32>) = ((0..m * k).map(value).collect(), (0..k * n).map(value).collect());
                let mut out = vec![0.0f32; m * n];
                let with = |strides: [usize; 2]| [0, 0, strides[0] as isize, strides[1] as isize];
                let sizes = [1, 1, m, n, k];
                let strides = (with(lhs), with(rhs), with([n, 1]));
                let gemm_of = Gemm {
                    dtype: DType::F32,
                    sizes,
                    lhs_strides: strides.0,
                    rhs_strides: strides.1,
                    out_strides: strides.2,
                };
                gemm(&gemm_of, bytes_of(&a), bytes_of(&b), bytes_of_mut(&mut out)).expect("it runs");
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let at = |l: usize| [a[i * lhs[0] + l * lhs[1]], b[l * rhs[0] + j * rhs[1]]].map(f64::from);
                    let want: f64 = (0..k).map(|l| at(l).into_iter().product::<f64>()).sum();
                    assert!((f64::from(out[i * n + j]) - want).abs() < 1e-4, "{m} {n} {k}: {i} {j}");
                }
            }
        }
    }

    /// Small products with a vector have the same bits for all strides and on either side.
    #[test]
    fn small_products_with_vectors_have_one_order() {
        for (m, k) in [(1, 40), (20, 40), (64, 64), (5, 700)] {
            let value = |i: usize| ((i * 7919) % 1009) as f32 / 504.0 - 1.0;
            let (a, x): (Vec<f32>, Vec<f32>) =
                ((0..m * k).map(value).collect(), (0..k).map(|i| value(i + 5)).collect());
            let turned: Vec<f32> = (0..m * k).map(|i| a[i % m * k + i / m]).collect();
            let (im, ik) = (m as isize, k as isize);
            let run = |sizes: [usize; 3], [left, right]: [&[f32]; 2], lhs: [isize; 2], rhs: [isize; 2]| {
                let mut out = vec![0.0f32; m];
                let gemm_of = Gemm {
                    dtype: DType::F32,
                    sizes: [1, 1, sizes[0], sizes[1], sizes[2]],
                    lhs_strides: [0, 0, lhs[0], lhs[1]],
                    rhs_strides: [0, 0, rhs[0], rhs[1]],
                    out_strides: [0, 0, 1, 1],
                };
                gemm(&gemm_of, bytes_of(left), bytes_of(right), bytes_of_mut(&mut out)).expect("it runs");
                out
            };
            let want = run([m, 1, k], [&a, &x], [ik, 1], [1, 1]);
            assert_eq!(run([m, 1, k], [&turned, &x], [1, im], [1, 1]), want);
            assert_eq!(run([1, m, k], [&x, &a], [1, 1], [1, ik]), want);
            assert_eq!(run([1, m, k], [&x, &turned], [1, 1], [im, 1]), want);
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
