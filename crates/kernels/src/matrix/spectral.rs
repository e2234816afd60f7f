//! Eigenvalues and singular values by `faer`, with LAPACK's order and scaling. What does not converge is NaN.

use faer::Side;
use faer::c64;
use faer::linalg::solvers::DenseSolveCore;

use super::field::{Dense, Field};
use super::jacobi;
use super::schur::{Schur, schur};

/// Eigenvectors as columns and ascending eigenvalues of the Hermitian matrix in one triangle.
pub(super) fn eigh<T: Field>(a: &Dense<T>, lower: bool) -> (Dense<T>, Vec<f64>) {
    let n = a.rows;
    if T::IS_COMPLEX {
        return complex_eigh(a, lower);
    }
    let side = if lower { Side::Lower } else { Side::Upper };
    let found = if a.is_finite() { a.faer().self_adjoint_eigen(side).ok() } else { None };
    let mut vectors = Dense::zeros(n, n);
    let Some(found) = found else {
        vectors.data.fill(T::NAN);
        return (vectors, vec![f64::NAN; n]);
    };
    copy(found.U(), &mut vectors);
    let values = found.S().column_vector();
    let values = (0..n).map(|i| values[i].parts().0).collect();
    (vectors, values)
}

/// By rotations, of the Hermitian matrix in one triangle.
fn complex_eigh<T: Field>(a: &Dense<T>, lower: bool) -> (Dense<T>, Vec<f64>) {
    let n = a.rows;
    let mut full = widened(a);
    for i in 0..n {
        full.set(i, i, c64::new(full.at(i, i).re, 0.0));
        for j in 0..i {
            let (from, to) = if lower { ((i, j), (j, i)) } else { ((j, i), (i, j)) };
            full.set(to.0, to.1, full.at(from.0, from.1).conj());
        }
    }
    match if a.is_finite() { jacobi::eigh(full) } else { None } {
        Some((vectors, values)) => (narrowed(&vectors), values),
        None => (Dense { rows: n, columns: n, data: vec![T::NAN; n * n] }, vec![f64::NAN; n]),
    }
}

/// By rotations; of the adjoint when there are more columns than rows.
fn complex_svd<T: Field>(a: &Dense<T>, full: bool) -> Option<(Dense<T>, Vec<f64>, Dense<T>)> {
    let is_tall = a.rows >= a.columns;
    let wide = if is_tall { widened(a) } else { widened(a).adjoint() };
    let (u, values, v) = jacobi::svd(&wide, if full { wide.rows } else { wide.columns })?;
    let (u, vh) = if is_tall { (u, v.adjoint()) } else { (v, u.adjoint()) };
    Some((narrowed(&u), values, narrowed(&vh)))
}

/// A matrix in the precision of its elements.
pub(super) fn narrowed<T: Field>(a: &Dense<c64>) -> Dense<T> {
    Dense { rows: a.rows, columns: a.columns, data: a.data.iter().map(|x| T::of(x.re, x.im)).collect() }
}

fn copy<T: Field>(from: faer::MatRef<'_, T>, to: &mut Dense<T>) {
    for i in 0..to.rows {
        for j in 0..to.columns {
            to.set(i, j, from[(i, j)]);
        }
    }
}

/// U, descending singular values, Vᴴ; the outer ones square if `full`.
pub(super) fn svd<T: Field>(a: &Dense<T>, vectors: bool, full: bool) -> (Dense<T>, Vec<f64>, Dense<T>) {
    let (m, n) = (a.rows, a.columns);
    let k = m.min(n);
    let (mut u, mut vh) = (Dense::zeros(m, if full { m } else { k }), Dense::zeros(if full { n } else { k }, n));
    if k == 0 {
        return (Dense::identity(u.rows, u.columns), vec![], Dense::identity(vh.rows, vh.columns));
    }
    if !a.is_finite() {
        u.data.fill(T::NAN);
        vh.data.fill(T::NAN);
        return (u, vec![f64::NAN; k], vh);
    }
    if T::IS_COMPLEX {
        if let Some(found) = complex_svd(a, full) {
            return found;
        }
        u.data.fill(T::NAN);
        vh.data.fill(T::NAN);
        return (u, vec![f64::NAN; k], vh);
    }
    if !vectors && let Ok(values) = a.faer().singular_values() {
        let values = values.into_iter().map(|value| T::from_real_impl(&value).parts().0).collect();
        return (u, values, vh);
    }
    let found = if full { a.faer().svd() } else { a.faer().thin_svd() };
    let Ok(found) = found else {
        u.data.fill(T::NAN);
        vh.data.fill(T::NAN);
        return (u, vec![f64::NAN; k], vh);
    };
    copy(found.U(), &mut u);
    for i in 0..vh.rows {
        for j in 0..vh.columns {
            vh.set(i, j, found.V()[(j, i)].conjugate());
        }
    }
    let values = found.S().column_vector();
    let values = (0..k).map(|i| values[i].parts().0).collect();
    (u, values, vh)
}

/// Eigenvalues and, as columns, left and right eigenvectors, each complex number as its two parts.
pub(super) struct Eigen {
    pub(super) values: Vec<(f64, f64)>,
    pub(super) left: Vec<(f64, f64)>,
    pub(super) right: Vec<(f64, f64)>,
}

/// The eigenvectors have length one and a real greatest element. All types are solved in double precision.
pub(super) fn eig<T: Field>(a: &Dense<T>, left: bool, right: bool) -> Eigen {
    let n = a.rows;
    let nan = (f64::NAN, f64::NAN);
    let failed = || Eigen { values: vec![nan; n], left: vec![nan; n * n], right: vec![nan; n * n] };
    if !a.is_finite() {
        return failed();
    }
    if T::IS_COMPLEX {
        return complex_eig(a, left, right).unwrap_or_else(failed);
    }
    let real = faer::Mat::<f64>::from_fn(n, n, |i, j| a.at(i, j).parts().0);
    if !left && !right {
        return real.eigenvalues().map_or_else(
            |_| failed(),
            |values| Eigen {
                values: values.into_iter().map(|value| (value.re, value.im)).collect(),
                left: vec![],
                right: vec![],
            },
        );
    }
    let Ok(found) = real.eigen() else { return failed() };
    let values = found.S().column_vector();
    Eigen {
        values: (0..n).map(|i| (values[i].re, values[i].im)).collect(),
        left: if left { left_vectors(found.U()) } else { vec![] },
        right: scaled(|i, j| found.U()[(i, j)], n),
    }
}

fn complex_eig<T: Field>(a: &Dense<T>, left: bool, right: bool) -> Option<Eigen> {
    let n = a.rows;
    if n == 0 {
        return Some(Eigen { values: vec![], left: vec![], right: vec![] });
    }
    let found = schur(&widened(a))?;
    let vectors = |wanted: bool, make: fn(&Schur) -> Dense<c64>| {
        if !wanted {
            return vec![];
        }
        let vectors = make(&found);
        scaled(|i, j| vectors.at(i, j), n)
    };
    Some(Eigen {
        values: found.values().into_iter().map(|value| (value.re, value.im)).collect(),
        left: vectors(left, Schur::left),
        right: vectors(right, Schur::right),
    })
}

/// A matrix in double precision.
pub(super) fn widened<T: Field>(a: &Dense<T>) -> Dense<c64> {
    let number = |x: &T| c64::new(x.parts().0, x.parts().1);
    Dense { rows: a.rows, columns: a.columns, data: a.data.iter().map(number).collect() }
}

/// Left eigenvectors: the rows of the inverse of the right ones, conjugated.
fn left_vectors(right: faer::MatRef<'_, c64>) -> Vec<(f64, f64)> {
    let inverse = right.partial_piv_lu().inverse();
    scaled(|i, j| inverse[(j, i)].conj(), right.nrows())
}

/// Columns of length one, each turned so that its greatest element is real.
fn scaled(column: impl Fn(usize, usize) -> c64, n: usize) -> Vec<(f64, f64)> {
    let mut out = vec![(0.0, 0.0); n * n];
    for j in 0..n {
        let norm = (0..n).map(|i| column(i, j).norm_sqr()).sum::<f64>().sqrt();
        let greatest = (0..n)
            .map(|i| column(i, j))
            .fold(c64::new(0.0, 0.0), |best, x| if x.norm_sqr() > best.norm_sqr() { x } else { best });
        // A real vector keeps its sign.
        let is_real = (0..n).all(|i| column(i, j).im == 0.0);
        let turn =
            if is_real || greatest.norm() == 0.0 { c64::new(1.0, 0.0) } else { greatest.conj() / greatest.norm() };
        for i in 0..n {
            let value = column(i, j) * turn / norm;
            out[i * n + j] = (value.re, value.im);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts below one with a length above it are what `faer` inverts to zero.
    fn complex_sample(rows: usize, columns: usize, seed: usize) -> Dense<c64> {
        let value = |i: usize| (((i + seed) * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
        Dense { rows, columns, data: (0..rows * columns).map(|i| c64::new(value(i), value(2 * i + 7))).collect() }
    }

    #[test]
    fn complex_spectra_give_the_matrix_back() {
        for (rows, columns, seed) in (0..40).flat_map(|seed| [(3, 3, seed), (5, 2, seed), (2, 5, seed), (6, 6, seed)]) {
            let a = complex_sample(rows, columns, seed);
            let (u, values, vh) = svd(&a, true, true);
            let mut h = Dense::zeros(rows, rows);
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let sum = values.iter().enumerate().fold(c64::nil(), |sum, (k, &s)| sum + u.at(i, k) * s * vh.at(k, j));
                assert!((sum - a.at(i, j)).norm() < 1e-10);
            }
            for (i, j) in (0..rows).flat_map(|i| (0..rows).map(move |j| (i, j))) {
                let product = (0..columns).fold(c64::nil(), |sum, k| sum + a.at(i, k) * a.at(j, k).conj());
                h.set(i, j, product);
            }
            let (v, w) = eigh(&h, true);
            for (i, j) in (0..rows).flat_map(|i| (0..rows).map(move |j| (i, j))) {
                let sum = (0..rows).fold(c64::nil(), |sum, k| sum + v.at(i, k) * w[k] * v.at(j, k).conj());
                assert!((sum - h.at(i, j)).norm() < 1e-9);
                let unit = (0..rows).fold(c64::nil(), |sum, k| sum + u.at(i, k) * u.at(j, k).conj());
                assert!((unit - if i == j { c64::unit() } else { c64::nil() }).norm() < 1e-10);
            }
        }
    }

    #[test]
    fn eigenvalues_of_a_rotation() {
        let a = Dense::of(&[0.0f32, -1.0, 1.0, 0.0], 2, 2);
        let found = eig(&a, true, true);
        let mut imaginary: Vec<f64> = found.values.iter().map(|value| value.1).collect();
        imaginary.sort_by(f64::total_cmp);
        assert!((imaginary[0] + 1.0).abs() < 1e-12 && (imaginary[1] - 1.0).abs() < 1e-12);
        assert!((found.right[0].0.hypot(found.right[0].1) - 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn singular_values_fall() {
        let a = Dense::of(&[0.0f64, 2.0, 1.0, 0.0, 0.0, 0.0], 3, 2);
        let (u, values, vh) = svd(&a, true, true);
        assert!((values[0] - 2.0).abs() < 1e-12 && (values[1] - 1.0).abs() < 1e-12);
        for i in 0..3 {
            for j in 0..2 {
                let sum: f64 = (0..2).map(|k| u.at(i, k) * values[k] * vh.at(k, j)).sum();
                assert!((sum - a.at(i, j)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn eigenvalues_of_what_is_not_finite_are_nan() {
        let (_, values) = eigh(&Dense::of(&[f64::NAN], 1, 1), true);
        assert!(values[0].is_nan());
    }
}
