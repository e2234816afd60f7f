//! Reduction of real matrices by `faer`, whose products of matrices and vectors keep a matrix's cache lines for two uses.
//!
//! Complex matrices are reduced by `reduce`: `faer` 0.24.4 takes 1/z for zero where both parts of z are below one and |z| is
//! above.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::svd::bidiag::{bidiag_in_place, bidiag_in_place_scratch};
use faer::{Mat, Par};

use super::field::{Dense, Field};
use super::reduce::{Bidiagonal, Reflected, Tridiagonal};

/// As `reduce::tridiagonal`.
pub(super) fn tridiagonal<T: Field>(a: &Dense<T>) -> Tridiagonal<T> {
    let n = a.rows;
    let mut form = a.faer().to_owned();
    let mut scales = Mat::<T>::zeros(1, n.saturating_sub(1));
    let scratch = tridiag_in_place_scratch::<T>(n, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    tridiag_in_place(form.as_mut(), scales.as_mut(), Par::Seq, stack, Default::default());
    let mut q = Reflected::new(n, 1);
    for j in 0..n.saturating_sub(1) {
        q.push_tail((j + 2..n).map(|i| form[(i, j)]), inverse(scales[(0, j)]));
    }
    let at = |i: usize, j: usize| form[(i, j)].parts().0;
    Tridiagonal {
        diagonal: (0..n).map(|i| at(i, i)).collect(),
        off_diagonal: (1..n).map(|i| at(i, i - 1)).collect(),
        q,
    }
}

/// As `reduce::bidiagonal`.
pub(super) fn bidiagonal<T: Field>(a: &Dense<T>) -> Bidiagonal<T> {
    let (m, n) = (a.rows, a.columns);
    let mut form = a.faer().to_owned();
    let (mut left_scales, mut right_scales) = (Mat::<T>::zeros(1, n), Mat::<T>::zeros(1, n.saturating_sub(1)));
    let scratch = bidiag_in_place_scratch::<T>(m, n, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    bidiag_in_place(form.as_mut(), left_scales.as_mut(), right_scales.as_mut(), Par::Seq, stack, Default::default());
    let (mut left, mut right) = (Reflected::of_size(m, n, 0), Reflected::new(n, 1));
    for j in 0..n {
        left.push_tail((j + 1..m).map(|i| form[(i, j)]), inverse(left_scales[(0, j)]));
    }
    for i in 0..n.saturating_sub(1) {
        right.push_tail((i + 2..n).map(|j| form[(i, j)]), inverse(right_scales[(0, i)]));
    }
    let at = |i: usize, j: usize| form[(i, j)].parts().0;
    Bidiagonal {
        diagonal: (0..n).map(|i| at(i, i)).collect(),
        off_diagonal: (1..n).map(|i| at(i - 1, i)).collect(),
        left,
        right,
    }
}

/// The library divides by its scales; an infinite one reflects nothing.
fn inverse<T: Field>(scale: T) -> T {
    T::of(1.0 / scale.parts().0, 0.0)
}
