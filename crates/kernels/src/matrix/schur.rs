//! The Schur form of complex matrices and their eigenvectors, by the QR algorithm with single shifts.
//!
//! The algorithm is the classical one: G. Golub and C. Van Loan, "Matrix Computations", 7.5. `faer` 0.24.4 has it too, but its
//! iteration fails for a few matrices in a hundred, and for nilpotent ones. Real matrices are in `francis`.

use faer::{Accum, c64};
use pullback_base::Result;

use super::field::{Dense, Field, multiply};
use super::householder;
use super::poll;

/// Iterations for one eigenvalue before giving up.
pub(super) const MAX_ITERATIONS: usize = 100;
/// Iterations for one eigenvalue before rounding in the whole matrix is taken for zero, not only beside its neighbours.
const PATIENT: usize = 20;

/// A matrix as `Z T Zᴴ` with T upper triangular.
pub(super) struct Schur {
    pub(super) t: Dense<c64>,
    pub(super) z: Dense<c64>,
}

/// The Schur form, unless the iteration does not converge.
///
/// # Errors
/// An interrupt.
pub(super) fn schur(a: &Dense<c64>) -> Result<Option<Schur>> {
    let (t, z) = hessenberg(a)?;
    let mut form = Schur { t, z };
    let norm = form.t.data.iter().map(|x| x.norm()).fold(0.0, f64::max);
    let mut last = a.rows.saturating_sub(1);
    let mut iterations = 0;
    while last > 0 {
        poll()?;
        let first = form.active(last, iterations, norm);
        if first == last {
            (last, iterations) = (last - 1, 0);
            continue;
        }
        iterations += 1;
        if iterations > MAX_ITERATIONS {
            return Ok(None);
        }
        let shift = if iterations % 10 == 0 { form.unusual_shift(last) } else { form.shift(last) };
        form.step(first, last, shift);
    }
    for i in 0..a.rows {
        (0..i).for_each(|j| form.t.set(i, j, c64::nil()));
    }
    Ok(Some(form))
}

/// The Hessenberg form and the matrix that leads to it.
pub(super) fn hessenberg<T: Field>(a: &Dense<T>) -> Result<(Dense<T>, Dense<T>)> {
    let (n, mut t) = (a.rows, a.clone());
    let taus = householder::hessenberg(&mut t)?;
    let mut z = Dense::identity(n, n);
    if n > 1 {
        let mut vectors = Dense::zeros(n - 1, n - 1);
        (1..n).for_each(|i| (0..n - 1).for_each(|j| vectors.set(i - 1, j, t.at(i, j))));
        let mut inner = Dense::identity(n - 1, n - 1);
        householder::apply(&vectors, &taus, &mut inner, false)?;
        (1..n).for_each(|i| (1..n).for_each(|j| z.set(i, j, inner.at(i - 1, j - 1))));
    }
    for i in 2..n {
        (0..i - 1).for_each(|j| t.set(i, j, T::nil()));
    }
    Ok((t, z))
}

/// Whether an element below the diagonal is rounding beside the elements around it, or, late, in the whole matrix.
pub(super) fn is_negligible(size: f64, around: f64, iterations: usize, norm: f64) -> bool {
    let beside = if around == 0.0 || iterations > PATIENT { norm.max(around) } else { around };
    size <= f64::EPSILON * beside
}

impl Schur {
    /// The first row of the block that ends at `last` and has no negligible element under its diagonal.
    fn active(&mut self, last: usize, iterations: usize, norm: f64) -> usize {
        for i in (1..=last).rev() {
            let around = self.t.at(i, i).norm() + self.t.at(i - 1, i - 1).norm();
            if is_negligible(self.t.at(i, i - 1).norm(), around, iterations, norm) {
                self.t.set(i, i - 1, c64::nil());
                return i;
            }
        }
        0
    }

    /// The eigenvalue of the last block of two that is nearer to the last element.
    fn shift(&self, last: usize) -> c64 {
        let at = |i: usize, j: usize| self.t.at(last - 1 + i, last - 1 + j);
        let half = (at(0, 0) - at(1, 1)) * 0.5;
        let root = (half * half + at(0, 1) * at(1, 0)).sqrt();
        let sum = if (half + root).norm() > (half - root).norm() { half + root } else { half - root };
        let product = at(0, 1) * at(1, 0);
        // The quick division squares its divisor.
        let step = if sum.norm() > 1e-100 { product / sum } else { product.over(sum) };
        if sum.is_nil() { at(1, 1) } else { at(1, 1) - step }
    }

    /// A shift that breaks cycles.
    fn unusual_shift(&self, last: usize) -> c64 {
        let before = if last > 1 { self.t.at(last - 1, last - 2).norm() } else { 0.0 };
        c64::new(self.t.at(last, last - 1).norm() + before, 0.0)
    }

    /// One step `Q R = T - shift`, `T = R Q + shift` on a block, with rotations as Q.
    fn step(&mut self, first: usize, last: usize, shift: c64) {
        let n = self.t.rows;
        (first..=last).for_each(|i| self.t.set(i, i, self.t.at(i, i) - shift));
        let mut rotations = vec![];
        for k in first..last {
            let (a, b) = (self.t.at(k, k), self.t.at(k + 1, k));
            let length = a.norm().hypot(b.norm());
            let (c, s) = if length == 0.0 { (c64::unit(), c64::nil()) } else { (a / length, b / length) };
            for j in k..n {
                let (x, y) = (self.t.at(k, j), self.t.at(k + 1, j));
                self.t.set(k, j, c.conj() * x + s.conj() * y);
                self.t.set(k + 1, j, c * y - s * x);
            }
            rotations.push((k, c, s));
        }
        for &(k, c, s) in &rotations {
            rotate_columns(&mut self.t, (k + 2).min(last + 1), k, c, s);
            rotate_columns(&mut self.z, n, k, c, s);
        }
        (first..=last).for_each(|i| self.t.set(i, i, self.t.at(i, i) + shift));
    }

    /// Turns rows and columns `k` and `k + 1` so that the block there has the eigenvalue `value` first.
    pub(super) fn split(&mut self, k: usize, value: c64) {
        let n = self.t.rows;
        let (x, y) = (value - self.t.at(k + 1, k + 1), self.t.at(k + 1, k));
        let length = x.norm().hypot(y.norm());
        let (c, s) = (x / length, y / length);
        for j in k..n {
            let (x, y) = (self.t.at(k, j), self.t.at(k + 1, j));
            self.t.set(k, j, c.conj() * x + s.conj() * y);
            self.t.set(k + 1, j, c * y - s * x);
        }
        rotate_columns(&mut self.t, k + 2, k, c, s);
        rotate_columns(&mut self.z, n, k, c, s);
        self.t.set(k + 1, k, c64::nil());
    }

    /// Eigenvalues.
    pub(super) fn values(&self) -> Vec<c64> {
        (0..self.t.rows).map(|i| self.t.at(i, i)).collect()
    }

    /// Right eigenvectors as columns.
    pub(super) fn right(&self) -> Result<Dense<c64>> {
        self.vectors(|i, k| (i < k).then_some(i + 1..k + 1), |t, i, j| t.at(i, j))
    }

    /// Left eigenvectors as columns.
    pub(super) fn left(&self) -> Result<Dense<c64>> {
        self.vectors(|i, k| (i > k).then_some(k..i), |t, i, j| t.at(j, i).conj())
    }

    /// Solves the triangular systems of eigenvectors of T, each from its diagonal place outward, and turns them back.
    fn vectors(
        &self,
        known: impl Fn(usize, usize) -> Option<std::ops::Range<usize>>,
        at: impl Fn(&Dense<c64>, usize, usize) -> c64,
    ) -> Result<Dense<c64>> {
        let n = self.t.rows;
        let least = self.t.data.iter().map(|x| x.norm()).fold(0.0, f64::max) * f64::EPSILON;
        let least = if least == 0.0 { 1.0 } else { least };
        // One vector in each row, so that sums go along memory.
        let mut x = Dense::identity(n, n);
        for k in 0..n {
            poll()?;
            let line = &mut x.data[k * n..][..n];
            for i in (0..k).rev().chain(k + 1..n) {
                let Some(known) = known(i, k) else { continue };
                let sum = known.fold(c64::nil(), |sum, j| sum + at(&self.t, i, j) * line[j]);
                let gap = at(&self.t, i, i) - at(&self.t, k, k);
                // Equal eigenvalues are pulled apart a little, as if the matrix were one with different ones.
                let gap = if gap.norm() < least { c64::new(least, 0.0) } else { gap };
                line[i] = (-sum).over(gap);
                tame(line, i);
            }
        }
        let (mut z, mut out) = (self.z.clone(), Dense::zeros(n, n));
        // SAFETY: three different matrices.
        unsafe { multiply(out.block(), Accum::Replace, 1.0, z.block(), transposed(&x).block()) };
        Ok(out)
    }
}

/// Scales a vector whose element `i` is so large that the next ones could overflow.
fn tame(line: &mut [c64], i: usize) {
    let size = line[i].re.abs().max(line[i].im.abs());
    if size > 1e100 {
        line.iter_mut().for_each(|x| *x /= size);
    }
}

fn transposed(a: &Dense<c64>) -> Dense<c64> {
    let mut out = Dense::zeros(a.columns, a.rows);
    (0..a.rows).for_each(|i| (0..a.columns).for_each(|j| out.set(j, i, a.at(i, j))));
    out
}

/// Columns `k` and `k + 1` of the first rows, turned.
fn rotate_columns(a: &mut Dense<c64>, rows: usize, k: usize, c: c64, s: c64) {
    for i in 0..rows {
        let (x, y) = (a.at(i, k), a.at(i, k + 1));
        a.set(i, k, x * c + y * s);
        a.set(i, k + 1, y * c.conj() - x * s.conj());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, seed: u64) -> Dense<c64> {
        let mut state = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
        };
        Dense { rows: n, columns: n, data: (0..n * n).map(|_| c64::new(number(), number())).collect() }
    }

    fn times(a: &Dense<c64>, b: &Dense<c64>) -> Dense<c64> {
        let mut out = Dense::zeros(a.rows, b.columns);
        for i in 0..a.rows {
            for j in 0..b.columns {
                out.set(i, j, (0..a.columns).fold(c64::nil(), |sum, k| sum + a.at(i, k) * b.at(k, j)));
            }
        }
        out
    }

    fn check_close(a: &Dense<c64>, b: &Dense<c64>) {
        for (x, y) in a.data.iter().zip(&b.data) {
            assert!((x - y).norm() < 1e-10 * (1.0 + x.norm()), "{x} for {y}");
        }
    }

    fn check(a: &Dense<c64>) {
        let found = schur(a).expect("it is not interrupted").expect("it converges");
        check_close(&times(&times(&found.z, &found.t), &found.z.adjoint()), a);
        check_close(&times(&found.z.adjoint(), &found.z), &Dense::identity(a.rows, a.rows));
    }

    #[test]
    fn the_form_gives_the_matrix_back() {
        for n in [1, 2, 3, 5, 8, 20] {
            (0..50).for_each(|seed| check(&sample(n, seed)));
        }
        check(&Dense::zeros(3, 3));
        check(&Dense::identity(4, 4));
        // A cyclic permutation, which stalls unshifted iterations, and a nilpotent matrix.
        let mut cycle = Dense::zeros(4, 4);
        (0..4).for_each(|i| cycle.set(i, (i + 1) % 4, c64::unit()));
        check(&cycle);
        cycle.set(3, 0, c64::nil());
        check(&cycle);
    }

    #[test]
    fn eigenvectors_of_both_sides() {
        for seed in 0..50 {
            let a = sample(6, seed);
            let found = schur(&a).expect("it is not interrupted").expect("it converges");
            let mut diagonal = Dense::zeros(6, 6);
            found.values().into_iter().enumerate().for_each(|(i, value)| diagonal.set(i, i, value));
            let right = found.right().expect("it is not interrupted");
            check_close(&times(&a, &right), &times(&right, &diagonal));
            let left = found.left().expect("it is not interrupted").adjoint();
            check_close(&times(&left, &a), &times(&diagonal, &left));
        }
    }
}
