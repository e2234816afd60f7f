//! The four element types of matrices and the few operations that factorizations need of them.
//!
//! Lengths and other real quantities are `f64` for all of them, so that sums of squares of `f32` neither overflow nor
//! lose digits.

use std::ops::Range;

use faer::linalg::matmul::matmul_with_conj;
use faer::{Accum, Conj, MatMut, MatRef, Par, c32, c64};

use crate::typed::Plain;

/// An element of a matrix.
pub(super) trait Field:
    Plain
    + faer::traits::ComplexField
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
    + std::ops::SubAssign
    + std::ops::MulAssign
{
    /// The type of real results.
    type Part: Field<Part = Self::Part>;
    const NAN: Self;
    const IS_COMPLEX: bool;
    /// The distance from one to the next number.
    const EPSILON: f64;
    /// The least length that is not flushed to zero.
    const LEAST: f64;
    fn of(re: f64, im: f64) -> Self;
    fn parts(self) -> (f64, f64);
    fn real_part(x: f64) -> Self::Part;

    fn conjugate(self) -> Self {
        let (re, im) = self.parts();
        Self::of(re, -im)
    }
    fn length(self) -> f64 {
        let (re, im) = self.parts();
        re.hypot(im)
    }
    fn nil() -> Self {
        Self::of(0.0, 0.0)
    }
    fn unit() -> Self {
        Self::of(1.0, 0.0)
    }
    /// The quotient, without squares that overflow: R. Smith, "Algorithm 116: Complex division" (1962).
    fn over(self, by: Self) -> Self {
        let ((a, b), (c, d)) = (self.parts(), by.parts());
        if !Self::IS_COMPLEX {
            return self / by;
        }
        // A divisor near the ends of the range is brought to its middle.
        let size = c.abs().max(d.abs());
        let scale = if size < 1e-150 {
            2f64.powi(500)
        } else if size > 1e150 {
            2f64.powi(-500)
        } else {
            1.0
        };
        let [a, b, c, d] = [a, b, c, d].map(|x| x * scale);
        if c.abs() >= d.abs() {
            let ratio = d / c;
            let size = c + d * ratio;
            Self::of((a + b * ratio) / size, (b - a * ratio) / size)
        } else {
            let ratio = c / d;
            let size = d + c * ratio;
            Self::of((a * ratio + b) / size, (b * ratio - a) / size)
        }
    }
    fn is_nil(self) -> bool {
        self.parts() == (0.0, 0.0)
    }
}

macro_rules! reals {
    ($($ty:ty)*) => {$(
        impl Field for $ty {
            type Part = $ty;
            const NAN: $ty = <$ty>::NAN;
            const IS_COMPLEX: bool = false;
            const EPSILON: f64 = <$ty>::EPSILON as f64;
            const LEAST: f64 = <$ty>::MIN_POSITIVE as f64;
            fn of(re: f64, _im: f64) -> $ty { re as $ty }
            fn parts(self) -> (f64, f64) { (self.into(), 0.0) }
            fn real_part(x: f64) -> $ty { x as $ty }
        }
    )*};
}
reals! { f32 f64 }

macro_rules! complexes {
    ($($ty:ty, $real:ty;)*) => {$(
        impl Field for $ty {
            type Part = $real;
            const NAN: $ty = <$ty>::new(<$real>::NAN, <$real>::NAN);
            const IS_COMPLEX: bool = true;
            const EPSILON: f64 = <$real>::EPSILON as f64;
            const LEAST: f64 = <$real>::MIN_POSITIVE as f64;
            fn of(re: f64, im: f64) -> $ty { <$ty>::new(re as $real, im as $real) }
            fn parts(self) -> (f64, f64) { (self.re.into(), self.im.into()) }
            fn real_part(x: f64) -> $real { x as $real }
        }
    )*};
}
complexes! {
    c32, f32;
    c64, f64;
}

/// A row-major matrix.
#[derive(Clone)]
pub(super) struct Dense<T> {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) data: Vec<T>,
}

impl<T: Field> Dense<T> {
    pub(super) fn zeros(rows: usize, columns: usize) -> Dense<T> {
        Dense { rows, columns, data: vec![T::nil(); rows * columns] }
    }

    pub(super) fn identity(rows: usize, columns: usize) -> Dense<T> {
        let mut matrix = Dense::zeros(rows, columns);
        (0..rows.min(columns)).for_each(|i| matrix.set(i, i, T::unit()));
        matrix
    }

    pub(super) fn of(data: &[T], rows: usize, columns: usize) -> Dense<T> {
        Dense { rows, columns, data: data.to_vec() }
    }

    pub(super) fn at(&self, i: usize, j: usize) -> T {
        self.data[i * self.columns + j]
    }

    pub(super) fn set(&mut self, i: usize, j: usize, value: T) {
        self.data[i * self.columns + j] = value;
    }

    pub(super) fn adjoint(&self) -> Dense<T> {
        let mut out = Dense::zeros(self.columns, self.rows);
        let rows = if self.data.is_empty() { 0 } else { self.rows };
        for i in 0..rows {
            for j in 0..self.columns {
                out.set(j, i, self.at(i, j).conjugate());
            }
        }
        out
    }

    pub(super) fn is_finite(&self) -> bool {
        self.data.iter().all(|x| x.parts().0.is_finite() && x.parts().1.is_finite())
    }

    pub(super) fn faer(&self) -> faer::MatRef<'_, T> {
        faer::MatRef::from_row_major_slice(&self.data, self.rows, self.columns)
    }

    pub(super) fn block(&mut self) -> Block<T> {
        self.part(0..self.rows, 0..self.columns)
    }

    /// Some rows and columns.
    ///
    /// # Panics
    /// When they are not inside.
    pub(super) fn part(&mut self, rows: Range<usize>, columns: Range<usize>) -> Block<T> {
        assert!(rows.end <= self.rows && columns.end <= self.columns, "a part of a matrix");
        let first = if rows.is_empty() || columns.is_empty() { 0 } else { rows.start * self.columns + columns.start };
        Block {
            start: self.data[first..].as_mut_ptr(),
            rows: rows.len(),
            columns: columns.len(),
            strides: [self.columns as isize, 1],
            conjugated: false,
        }
    }

    /// Stores a column from a row on.
    pub(super) fn set_column(&mut self, column: usize, row: usize, values: &[T]) {
        values.iter().enumerate().for_each(|(i, &value)| self.set(row + i, column, value));
    }
}

/// A part of a matrix in place.
#[derive(Clone, Copy)]
pub(super) struct Block<T> {
    start: *mut T,
    pub(super) rows: usize,
    pub(super) columns: usize,
    strides: [isize; 2],
    conjugated: bool,
}

impl<T: Field> Block<T> {
    pub(super) fn adjoint(self) -> Block<T> {
        Block {
            rows: self.columns,
            columns: self.rows,
            strides: [self.strides[1], self.strides[0]],
            conjugated: !self.conjugated,
            ..self
        }
    }

    fn conj(self) -> Conj {
        if self.conjugated && T::IS_COMPLEX { Conj::Yes } else { Conj::No }
    }

    /// # Safety
    /// The matrix must live as long.
    unsafe fn matrix<'a>(self) -> MatRef<'a, T> {
        // SAFETY: blocks hold what their sizes and strides reach.
        unsafe { MatRef::from_raw_parts(self.start, self.rows, self.columns, self.strides[0], self.strides[1]) }
    }
}

/// `c = factor a b`, or that added to what `c` holds.
///
/// # Safety
/// The blocks must point into living matrices, and `c` overlap neither `a` nor `b`.
pub(super) unsafe fn multiply<T: Field>(c: Block<T>, accum: Accum, factor: f64, a: Block<T>, b: Block<T>) {
    assert!(a.columns == b.rows && c.rows == a.rows && c.columns == b.columns && !c.conjugated, "sizes of a product");
    // SAFETY: blocks hold what their sizes and strides reach; no overlap by contract.
    unsafe {
        let out = MatMut::from_raw_parts_mut(c.start, c.rows, c.columns, c.strides[0], c.strides[1]);
        matmul_with_conj(out, accum, a.matrix(), a.conj(), b.matrix(), b.conj(), T::of(factor, 0.0), Par::Seq);
    }
}
