//! Matrix products by the `gemm` crate, split over threads here.
//!
//! The crate's own threads would spin and not survive a fork. Pieces depend on sizes only, so results do not depend
//! on the number of threads.

use std::ops::{Add, Mul};

use gemm::{Parallelism, c32, c64};
use pullback_base::{DType, Result, bail};
use pullback_loops::Gemm;
use pullback_runtime::parallel_for;

/// Products up to this many multiplications run by plain loops: packing would cost more than they do.
const SMALL: usize = 16 * 16 * 16;
/// From this many multiplications on, threads share a product.
const SHARED: usize = 1 << 21;
/// The fewest rows or columns in a piece, and the most pieces.
const PIECE: usize = 192;
const MAX_PIECES: usize = 16;

/// A product of checked operands.
pub(crate) fn gemm(gemm: &Gemm, lhs: &[u8], rhs: &[u8], out: &mut [u8]) -> Result<()> {
    match gemm.dtype {
        DType::F32 => typed::<f32>(gemm, lhs, rhs, out, 0.0, 1.0),
        DType::F64 => typed::<f64>(gemm, lhs, rhs, out, 0.0, 1.0),
        DType::C64 => typed::<c32>(gemm, lhs, rhs, out, c32::new(0.0, 0.0), c32::new(1.0, 0.0)),
        DType::C128 => typed::<c64>(gemm, lhs, rhs, out, c64::new(0.0, 0.0), c64::new(1.0, 0.0)),
        other => bail!(NotImplemented, "there is no matrix product kernel for {other}"),
    }
}

pub(crate) trait Element: Copy + Send + Sync + 'static + Add<Output = Self> + Mul<Output = Self> {}
impl<T: Copy + Send + Sync + 'static + Add<Output = T> + Mul<Output = T>> Element for T {}

/// One matrix: its first element and two strides.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<T> {
    pub(crate) start: *mut T,
    pub(crate) strides: [isize; 2],
}

// SAFETY: pieces of a product write disjoint elements, and operands are only read.
unsafe impl<T: Sync> Sync for Matrix<T> {}

fn typed<T: Element>(gemm: &Gemm, lhs: &[u8], rhs: &[u8], out: &mut [u8], zero: T, one: T) -> Result<()> {
    let [batch, rows, columns, depth] = gemm.sizes;
    if batch * rows * columns == 0 {
        return Ok(());
    }
    let spans = pullback_loops::Kernel::Gemm(gemm.clone()).spans();
    let parts = pullback_loops::parts(gemm.dtype);
    for (bytes, span) in [lhs.len(), rhs.len(), out.len()].into_iter().zip(spans) {
        if bytes < span / parts * size_of::<T>() {
            bail!(Internal, "an operand of a matrix product has {bytes} bytes for {span} elements");
        }
    }
    let aligned = [lhs, rhs, out].iter().all(|bytes| bytes.is_empty() || bytes.as_ptr().cast::<T>().is_aligned());
    if !aligned {
        bail!(Internal, "an operand of a matrix product is not aligned");
    }
    let matrix = |start: *const u8, strides: [isize; 3]| Matrix {
        start: start.cast_mut().cast::<T>(),
        strides: [strides[1], strides[2]],
    };
    let a = matrix(lhs.as_ptr(), gemm.lhs_strides);
    let b = matrix(rhs.as_ptr(), gemm.rhs_strides);
    let c = matrix(out.as_mut_ptr(), gemm.out_strides);
    let steps = [gemm.lhs_strides[0], gemm.rhs_strides[0], gemm.out_strides[0]];
    let work = rows * columns * depth;
    let n_pieces = if work < SHARED { 1 } else { (rows.max(columns) / PIECE).clamp(1, MAX_PIECES) };
    let by_rows = rows >= columns;
    let piece = rows.max(columns).div_ceil(n_pieces);
    let run = |number: usize| {
        let (batch, start) = (number / n_pieces, number % n_pieces * piece);
        let n = piece.min(rows.max(columns).saturating_sub(start));
        // SAFETY: the spans checked above hold every element that batch, rows and columns in range reach.
        let [mut a, mut b, mut c] = unsafe {
            [
                a.shifted(batch as isize * steps[0]),
                b.shifted(batch as isize * steps[1]),
                c.shifted(batch as isize * steps[2]),
            ]
        };
        let axis = usize::from(!by_rows);
        let moved = if by_rows { &mut a } else { &mut b };
        // SAFETY: `start` is a row of the left operand or a column of the right one, and of the result.
        unsafe {
            *moved = moved.shifted(start as isize * moved.strides[axis]);
            c = c.shifted(start as isize * c.strides[axis]);
            let sizes = if by_rows { [n, columns, depth] } else { [rows, n, depth] };
            product(sizes, a, b, c, zero, one);
        }
    };
    let n_runs = batch * n_pieces;
    if work.saturating_mul(batch) < SHARED {
        (0..n_runs).for_each(run)
    } else {
        parallel_for(n_runs, &|range| range.for_each(run))
    }
    Ok(())
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
    // SAFETY: by contract; the result is not read.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.start,
            c.strides[1],
            c.strides[0],
            false,
            a.start,
            a.strides[1],
            a.strides[0],
            b.start,
            b.strides[1],
            b.strides[0],
            zero,
            one,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: [usize; 4], lhs_transposed: bool) {
        let [batch, m, n, k] = sizes;
        let value = |i: usize| ((i * 7919 + 13) % 31) as f32 - 15.0;
        let (a, b): (Vec<f32>, Vec<f32>) =
            ((0..batch * m * k).map(value).collect(), (0..batch * k * n).map(value).collect());
        let (m_, n_, k_) = (m as isize, n as isize, k as isize);
        let lhs_strides = if lhs_transposed { [m_ * k_, 1, m_] } else { [m_ * k_, k_, 1] };
        let gemm_of = Gemm {
            dtype: DType::F32,
            sizes,
            lhs_strides,
            rhs_strides: [k_ * n_, n_, 1],
            out_strides: [m_ * n_, n_, 1],
        };
        let bytes = |xs: &[f32]| xs.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let mut out = vec![0; batch * m * n * 4];
        gemm(&gemm_of, &bytes(&a), &bytes(&b), &mut out).expect("it runs");
        // Small integers: sums are exact in any order.
        for (number, chunk) in out.chunks_exact(4).enumerate() {
            let (s, i, j) = (number / (m * n), number / n % m, number % n);
            let lhs = |l: usize| a[s * m * k + if lhs_transposed { l * m + i } else { i * k + l }];
            let want: f32 = (0..k).map(|l| lhs(l) * b[s * k * n + l * n + j]).sum();
            assert_eq!(f32::from_le_bytes(chunk.try_into().expect("four")), want, "{sizes:?} {i} {j}");
        }
    }

    #[test]
    fn products_of_all_sizes() {
        for sizes in [
            [1, 1, 1, 1],
            [2, 3, 4, 5],
            [1, 16, 16, 16],
            [3, 40, 17, 33],
            [1, 400, 70, 90],
            [1, 70, 800, 90],
            [2, 5, 3, 0],
            [0, 2, 2, 2],
        ] {
            check(sizes, false);
            check(sizes, true);
        }
    }
}
