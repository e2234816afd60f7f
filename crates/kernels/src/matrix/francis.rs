//! The Schur form of real matrices, by the QR algorithm with implicit double shifts.
//!
//! J. G. F. Francis, "The QR transformation" (1961, 1962); G. Golub and C. Van Loan, "Matrix Computations", 7.5. Blocks of two
//! on the diagonal have complex eigenvalues and equal numbers on their own diagonal; the others are split.

use faer::c64;
use pullback_base::Result;

use super::field::Dense;
use super::householder::reflection;
use super::schur::{Schur, hessenberg, is_negligible};
use super::{poll, schur};

/// A matrix as `Z T Zᵀ` with T upper triangular but for blocks of two.
pub(super) struct RealSchur {
    pub(super) t: Dense<f64>,
    pub(super) z: Dense<f64>,
    /// Zᵀ during the iteration, whose steps then go along memory.
    turned_z: Dense<f64>,
}

/// The real Schur form, unless the iteration does not converge.
///
/// # Errors
/// An interrupt.
pub(super) fn real_schur(a: &Dense<f64>) -> Result<Option<RealSchur>> {
    let (t, z) = hessenberg(a)?;
    let mut form = RealSchur { t, z: Dense::zeros(0, 0), turned_z: z.adjoint() };
    let norm = form.t.data.iter().fold(0.0f64, |norm, x| norm.max(x.abs()));
    let (mut end, mut steps) = (a.rows, 0);
    while end > 1 {
        poll()?;
        let last = end - 1;
        let first = form.active(last, steps, norm);
        if last - first < 2 {
            if first < last {
                form.standardize(first);
            }
            (end, steps) = (first, 0);
            continue;
        }
        steps += 1;
        if steps > schur::MAX_ITERATIONS {
            return Ok(None);
        }
        form.sweep(first, last, steps);
    }
    form.turn();
    Ok(Some(form))
}

impl RealSchur {
    /// The first row of the block that ends at `last` and has no negligible element under its diagonal.
    fn active(&mut self, last: usize, steps: usize, norm: f64) -> usize {
        for i in (1..=last).rev() {
            let around = self.t.at(i, i).abs() + self.t.at(i - 1, i - 1).abs();
            if is_negligible(self.t.at(i, i - 1).abs(), around, steps, norm) {
                self.t.set(i, i - 1, 0.0);
                return i;
            }
        }
        0
    }

    /// One step with the two eigenvalues of the last block of two as shifts, or with others that break cycles.
    fn sweep(&mut self, first: usize, last: usize, steps: usize) {
        let at = |i: usize, j: usize| self.t.at(i, j);
        let (p, q, r, s) = (at(last - 1, last - 1), at(last - 1, last), at(last, last - 1), at(last, last));
        let stray = r.abs() + at(last - 1, last - 2).abs();
        let [p, q, r, s] = if steps.is_multiple_of(10) {
            [s + 0.75 * stray, -0.4375 * stray, stray, s + 0.75 * stray]
        } else {
            [p, q, r, s]
        };
        // The first column of (T - x)(T - y), where x and y are the shifts, by differences of diagonal elements.
        let corner = |i: usize, j: usize| self.t.at(first + i, first + j);
        let (x, y) = (p - corner(0, 0), s - corner(0, 0));
        let below = corner(1, 0);
        let column = [(x * y - q * r) / below + corner(0, 1), corner(1, 1) - corner(0, 0) - x - y, corner(2, 1)];
        for k in first..last {
            let size = 3.min(last - k + 1);
            let mut v: Vec<f64> =
                if k == first { column[..size].to_vec() } else { (k..k + size).map(|i| self.t.at(i, k - 1)).collect() };
            let (beta, tau) = reflection(&mut v);
            if k > first {
                self.t.set(k, k - 1, beta);
                (k + 1..k + size).for_each(|i| self.t.set(i, k - 1, 0.0));
            }
            self.reflect(k, &v, tau, (k + 4).min(last + 1));
        }
    }

    /// Applies a reflection of neighbouring coordinates from `k` on: to rows, to columns down to row `end`, to Z.
    fn reflect(&mut self, k: usize, v: &[f64], tau: f64, end: usize) {
        let n = self.t.rows;
        reflect_rows(&mut self.t.data[k * n..(k + v.len()) * n], n, k, v, tau);
        reflect_rows(&mut self.turned_z.data[k * n..(k + v.len()) * n], n, 0, v, tau);
        for line in self.t.data.chunks_exact_mut(n).take(end) {
            match (&mut line[k..k + v.len()], v) {
                ([x, y, z], [_, b, c]) => {
                    let sum = (*x + b * *y + c * *z) * tau;
                    (*x, *y, *z) = (*x - sum, *y - sum * b, *z - sum * c);
                }
                ([x, y], [_, b]) => {
                    let sum = (*x + b * *y) * tau;
                    (*x, *y) = (*x - sum, *y - sum * b);
                }
                (part, _) => {
                    let sum = v.iter().zip(&*part).fold(0.0, |sum, (v, x)| sum + v * x) * tau;
                    part.iter_mut().zip(v).for_each(|(x, v)| *x -= sum * v);
                }
            }
        }
    }

    /// Zᵀ becomes Z.
    fn turn(&mut self) {
        self.z = self.turned_z.adjoint();
    }

    /// Splits the block of two at `k`, or makes the numbers on its diagonal equal.
    fn standardize(&mut self, k: usize) {
        let n = self.t.rows;
        let block = [self.t.at(k, k), self.t.at(k, k + 1), self.t.at(k + 1, k), self.t.at(k + 1, k + 1)];
        let (c, s, is_real) = standard_rotation(block);
        for j in k..n {
            let (x, y) = (self.t.at(k, j), self.t.at(k + 1, j));
            self.t.set(k, j, c * x + s * y);
            self.t.set(k + 1, j, c * y - s * x);
        }
        for line in self.t.data.chunks_exact_mut(n).take(k + 2) {
            let (x, y) = (line[k], line[k + 1]);
            (line[k], line[k + 1]) = (c * x + s * y, c * y - s * x);
        }
        let (upper, lower) = self.turned_z.data[k * n..(k + 2) * n].split_at_mut(n);
        for (x, y) in upper.iter_mut().zip(lower) {
            (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
        }
        if is_real {
            self.t.set(k + 1, k, 0.0);
        } else {
            let mean = (self.t.at(k, k) + self.t.at(k + 1, k + 1)) / 2.0;
            self.t.set(k, k, mean);
            self.t.set(k + 1, k + 1, mean);
        }
    }

    /// Whether a block of two begins at `k`.
    fn is_pair(&self, k: usize) -> bool {
        k + 1 < self.t.rows && self.t.at(k + 1, k) != 0.0
    }

    /// Eigenvalues; of a pair the one with positive imaginary part comes first.
    pub(super) fn values(&self) -> Vec<c64> {
        let mut values: Vec<c64> = (0..self.t.rows).map(|k| c64::new(self.t.at(k, k), 0.0)).collect();
        for k in (0..self.t.rows).filter(|&k| self.is_pair(k)) {
            let size = self.t.at(k, k + 1).abs().sqrt() * self.t.at(k + 1, k).abs().sqrt();
            (values[k].im, values[k + 1].im) = (size, -size);
        }
        values
    }

    /// The complex form.
    pub(super) fn complex(&self) -> Schur {
        let wide = |a: &Dense<f64>| Dense {
            rows: a.rows,
            columns: a.columns,
            data: a.data.iter().map(|&x| c64::new(x, 0.0)).collect(),
        };
        let (mut form, values) = (Schur { t: wide(&self.t), z: wide(&self.z) }, self.values());
        for k in (0..self.t.rows).filter(|&k| self.is_pair(k)) {
            form.split(k, values[k]);
            // What rounding left of the eigenvalues is known better.
            form.t.set(k, k, values[k]);
            form.t.set(k + 1, k + 1, values[k + 1]);
        }
        form
    }

    /// Eigenvectors as columns: real for real eigenvalues, each other's conjugates for pairs.
    pub(super) fn vectors(&self, make: fn(&Schur) -> Result<Dense<c64>>) -> Result<Dense<c64>> {
        let (n, mut vectors) = (self.t.rows, make(&self.complex())?);
        for k in 0..n {
            if self.is_pair(k) {
                (0..n).for_each(|i| vectors.set(i, k + 1, vectors.at(i, k).conj()));
            } else if k == 0 || !self.is_pair(k - 1) {
                (0..n).for_each(|i| vectors.set(i, k, c64::new(vectors.at(i, k).re, 0.0)));
            }
        }
        Ok(vectors)
    }
}

/// Applies a reflection to neighbouring rows of `n` elements, from a column on.
fn reflect_rows(rows: &mut [f64], n: usize, column: usize, v: &[f64], tau: f64) {
    let mut sums = vec![0.0; n - column];
    for (row, v) in rows.chunks_exact(n).zip(v) {
        sums.iter_mut().zip(&row[column..]).for_each(|(sum, x)| *sum += v * x);
    }
    for (row, v) in rows.chunks_exact_mut(n).zip(v) {
        let factor = v * tau;
        row[column..].iter_mut().zip(&sums).for_each(|(x, sum)| *x -= factor * sum);
    }
}

/// Cosine and sine of the rotation after which a block `[[a, b], [c, d]]` is triangular, or has equal numbers on its
/// diagonal; and whether it is triangular.
fn standard_rotation([a, b, c, d]: [f64; 4]) -> (f64, f64, bool) {
    let p = (a - d) / 2.0;
    let scale = p.abs().max(b.abs()).max(c.abs());
    if c == 0.0 {
        return (1.0, 0.0, true);
    }
    let square = (p / scale).powi(2) + (b / scale) * (c / scale);
    if square >= 0.0 {
        // The eigenvector (root, c) becomes the first coordinate.
        let root = p + (scale * square.sqrt()).copysign(p);
        let length = root.hypot(c);
        return (root / length, c / length, true);
    }
    let (sigma, gap) = (b + c, 2.0 * p);
    let tau = sigma.hypot(gap);
    if tau == 0.0 {
        return (1.0, 0.0, false);
    }
    let cosine = ((1.0 + sigma.abs() / tau) / 2.0).sqrt();
    (cosine, -p / (tau * cosine) * 1f64.copysign(sigma), false)
}

#[cfg(test)]
mod tests {
    use super::super::field::Field;
    use super::*;

    fn sample(n: usize, seed: u64) -> Dense<f64> {
        let mut state = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 24) as f64 - 0.5
        };
        Dense { rows: n, columns: n, data: (0..n * n).map(|_| number()).collect() }
    }

    fn times(a: &Dense<f64>, b: &Dense<f64>) -> Dense<f64> {
        let mut out = Dense::zeros(a.rows, b.columns);
        for i in 0..a.rows {
            for j in 0..b.columns {
                out.set(i, j, (0..a.columns).map(|k| a.at(i, k) * b.at(k, j)).sum());
            }
        }
        out
    }

    fn check(a: &Dense<f64>) {
        let n = a.rows;
        let form = real_schur(a).expect("it is not interrupted").expect("it converges");
        let back = times(&times(&form.z, &form.t), &form.z.adjoint());
        assert!(back.data.iter().zip(&a.data).all(|(x, y)| (x - y).abs() < 1e-12), "{n}");
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            assert!(form.t.at(i, j) == 0.0 || (i == j + 1 && form.t.at(i, i) == form.t.at(j, j)), "{n} {i} {j}");
        }
        let (values, vectors) = (form.values(), form.vectors(Schur::right).expect("it is not interrupted"));
        for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
            let image = (0..n).fold(c64::nil(), |sum, j| sum + vectors.at(j, k) * a.at(i, j));
            let size = (0..n).map(|j| vectors.at(j, k).norm()).fold(0.0, f64::max);
            assert!((image - values[k] * vectors.at(i, k)).norm() < 1e-11 * size, "{n} {i} {k}");
        }
    }

    #[test]
    fn the_form_gives_the_matrix_back() {
        for n in [1, 2, 3, 4, 5, 8, 20] {
            (0..50).for_each(|seed| check(&sample(n, seed)));
            check(&Dense::zeros(n, n));
            check(&Dense::identity(n, n));
            check(&Dense { rows: n, columns: n, data: vec![1.0; n * n] });
            // A cyclic permutation, which stalls unshifted iterations, and a nilpotent matrix.
            let mut cycle = Dense::zeros(n, n);
            (0..n).for_each(|i| cycle.set(i, (i + 1) % n, 1.0));
            check(&cycle);
            cycle.set(n - 1, 0, 0.0);
            let found = real_schur(&cycle).expect("it is not interrupted").expect("it converges");
            assert!(found.values().iter().all(|value| value.norm() < 1e-12));
        }
    }
}
