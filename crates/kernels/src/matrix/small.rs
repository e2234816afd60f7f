//! Small real matrices, on which a library spends more time to prepare than to work: plain loops without blocks.
//!
//! The textbook forms: Cholesky by rows, and for spectra Householder's tridiagonal form with QL steps by Wilkinson's shift
//! (J. Wilkinson and C. Reinsch, "Linear Algebra", 1971), all of it in double precision.

use super::field::{Dense, Field};

/// Rows up to which a matrix is small.
pub(super) const SMALL: usize = 16;

/// QL steps for one eigenvalue, of which two or three are common: an end for what does not converge.
const MOST_STEPS: usize = 60;

/// The lower factor of the lower triangle, if the matrix is positive definite.
pub(super) fn cholesky<T: Field>(a: &Dense<T>) -> Option<Dense<T>> {
    let n = a.rows;
    let mut out = Dense::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let rows = (0..j).map(|k| out.at(i, k) * out.at(j, k));
            let rest = rows.fold(a.at(i, j), |rest, product| rest - product);
            if i > j {
                out.set(i, j, rest / out.at(j, j));
                continue;
            }
            let pivot = rest.parts().0;
            if !pivot.is_finite() || pivot <= 0.0 {
                return None;
            }
            out.set(i, i, T::of(pivot.sqrt(), 0.0));
        }
    }
    Some(out)
}

/// Eigenvectors as columns and ascending eigenvalues of a symmetric matrix of finite numbers of usual size.
pub(super) fn eigh<T: Field>(a: &Dense<T>) -> (Dense<T>, Vec<f64>) {
    let n = a.rows;
    let mut form = Form::of(a);
    form.reduce();
    form.diagonalize();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| form.diagonal[i].total_cmp(&form.diagonal[j]));
    let mut vectors = Dense::zeros(n, n);
    for (to, &from) in order.iter().enumerate() {
        (0..n).for_each(|row| vectors.set(row, to, T::of(form.columns[from][row], 0.0)));
    }
    (vectors, order.into_iter().map(|i| form.diagonal[i]).collect())
}

/// A symmetric matrix on its way to a diagonal one, and the product of all that it was turned by.
struct Form {
    n: usize,
    a: [[f64; SMALL]; SMALL],
    diagonal: [f64; SMALL],
    /// Beside the diagonal; the last one is zero.
    beside: [f64; SMALL],
    columns: [[f64; SMALL]; SMALL],
}

impl Form {
    fn of<T: Field>(matrix: &Dense<T>) -> Form {
        let (n, mut a, mut columns) = (matrix.rows, [[0.0; SMALL]; SMALL], [[0.0; SMALL]; SMALL]);
        for i in 0..n {
            (0..n).for_each(|j| a[i][j] = matrix.at(i, j).parts().0);
            columns[i][i] = 1.0;
        }
        Form { n, a, diagonal: [0.0; SMALL], beside: [0.0; SMALL], columns }
    }

    /// To tridiagonal form, by a reflection for each column.
    fn reduce(&mut self) {
        let n = self.n;
        for k in 0..n {
            self.diagonal[k] = self.a[k][k];
            if k + 1 < n {
                self.beside[k] = self.a[k + 1][k];
            }
            if k + 2 < n {
                self.reflect(k);
            }
        }
    }

    /// Makes zeros of what is below the place beside the diagonal in a column.
    fn reflect(&mut self, k: usize) {
        let (n, mut v) = (self.n, [0.0; SMALL]);
        let largest = (k + 2..n).fold(0.0f64, |largest, i| largest.max(self.a[i][k].abs()));
        if largest == 0.0 {
            return;
        }
        let scale = largest.max(self.a[k + 1][k].abs());
        (k + 1..n).for_each(|i| v[i] = self.a[i][k] / scale);
        let norm = v[k + 1..n].iter().map(|x| x * x).sum::<f64>().sqrt().copysign(v[k + 1]);
        self.beside[k] = -norm * scale;
        v[k + 1] += norm;
        let factor = 1.0 / (norm * v[k + 1]);
        let mut image = [0.0; SMALL];
        for (i, image) in image.iter_mut().enumerate().take(n).skip(k + 1) {
            *image = factor * (k + 1..n).map(|j| self.a[i][j] * v[j]).sum::<f64>();
        }
        let along = 0.5 * factor * (k + 1..n).map(|i| v[i] * image[i]).sum::<f64>();
        (k + 1..n).for_each(|i| image[i] -= along * v[i]);
        for i in k + 1..n {
            (k + 1..n).for_each(|j| self.a[i][j] -= v[i] * image[j] + image[i] * v[j]);
        }
        for row in 0..n {
            let along = factor * (k + 1..n).map(|j| self.columns[j][row] * v[j]).sum::<f64>();
            (k + 1..n).for_each(|j| self.columns[j][row] -= along * v[j]);
        }
    }

    /// To diagonal form, one eigenvalue after the other.
    fn diagonalize(&mut self) {
        let n = self.n;
        let norm = (0..n).fold(0.0f64, |norm, i| norm.max(self.diagonal[i].abs()).max(self.beside[i].abs()));
        let least = f64::EPSILON * f64::EPSILON * norm;
        for first in 0..n {
            for _ in 0..MOST_STEPS {
                let last = (first..n - 1).find(|&i| {
                    let size = self.diagonal[i].abs() + self.diagonal[i + 1].abs();
                    self.beside[i].abs() <= (f64::EPSILON * size).max(least)
                });
                let last = last.unwrap_or(n - 1);
                if last == first {
                    break;
                }
                self.step(first, last);
            }
        }
    }

    /// One QL step with a shift on the rows from `first` to `last`, which nothing joins to others.
    fn step(&mut self, first: usize, last: usize) {
        let (d, e) = (&mut self.diagonal, &mut self.beside);
        let half = (d[first + 1] - d[first]) / (2.0 * e[first]);
        let root = half.hypot(1.0).copysign(half);
        let mut along = d[last] - d[first] + e[first] / (half + root);
        let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
        for i in (first..last).rev() {
            let (across, beside) = (sine * e[i], cosine * e[i]);
            let length = (across * across + along * along).sqrt();
            e[i + 1] = length;
            if length == 0.0 {
                d[i + 1] -= moved;
                e[last] = 0.0;
                return;
            }
            (sine, cosine) = (across / length, along / length);
            let rest = d[i + 1] - moved;
            let turn = (d[i] - rest) * sine + 2.0 * cosine * beside;
            moved = sine * turn;
            d[i + 1] = rest + moved;
            along = cosine * turn - beside;
            let (left, right) = self.columns.split_at_mut(i + 1);
            for (x, y) in left[i].iter_mut().zip(&mut right[0]).take(self.n) {
                (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
            }
        }
        d[first] -= moved;
        e[first] = along;
        e[last] = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetric(n: usize, value: impl Fn(usize) -> f64) -> Dense<f64> {
        let mut a = Dense::zeros(n, n);
        for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            a.set(i, j, value(i * n + j));
            a.set(j, i, value(i * n + j));
        }
        a
    }

    fn check_spectrum(a: &Dense<f64>) {
        let n = a.rows;
        let (v, values) = eigh(a);
        assert!(values.is_sorted(), "{values:?}");
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let dot: f64 = (0..n).map(|k| v.at(k, i) * v.at(k, j)).sum();
            assert!((dot - f64::from(u8::from(i == j))).abs() < 1e-13, "{i} {j} of {n}: {dot}");
            let image: f64 = (0..n).map(|k| a.at(i, k) * v.at(k, j)).sum();
            assert!((image - values[j] * v.at(i, j)).abs() < 1e-13, "{i} {j} of {n}: {image}");
        }
    }

    #[test]
    fn spectra_of_all_small_sizes() {
        for n in 1..=SMALL {
            check_spectrum(&symmetric(n, |i| ((i * 7919 + 13) % 31) as f64 / 31.0 - 0.5));
            check_spectrum(&symmetric(n, |_| 0.0));
            check_spectrum(&symmetric(n, |_| 1.0));
            check_spectrum(&symmetric(n, |i| if i % (n + 1) == 0 { 1.0 } else { 0.0 }));
            check_spectrum(&symmetric(n, |i| 10f64.powi(-(i as i32) * 3 % 300)));
        }
    }

    #[test]
    fn factors_of_small_matrices() {
        for n in 1..=SMALL {
            let a = symmetric(n, |i| if i % (n + 1) == 0 { 20.0 } else { ((i * 7919) % 31) as f64 / 31.0 });
            let l = cholesky(&a).expect("it is positive definite");
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let sum: f64 = (0..n).map(|k| l.at(i, k) * l.at(j, k)).sum();
                assert!((sum - a.at(i, j)).abs() < 1e-13, "{i} {j} of {n}");
            }
        }
        assert!(cholesky(&symmetric(3, |_| 1.0)).is_none());
        assert!(cholesky(&symmetric(2, |_| f64::NAN)).is_none());
        assert!(cholesky(&symmetric(1, |_| f64::INFINITY)).is_none());
    }
}
