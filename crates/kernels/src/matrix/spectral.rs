//! Eigenvalues and singular values, with LAPACK's order. What is not finite, or does not converge, is NaN.
//!
//! Matrices are scaled by a power of two first, so that their size changes nothing: squares neither overflow nor vanish.

use faer::c64;
use pullback_base::Result;

use super::divide::{self, Wanted};
use super::field::{Dense, Field};
use super::francis::real_schur;
use super::schur::{Schur, schur};
use super::small::{self, SMALL};
use super::{householder, reduce};

/// Rows per column from which on a matrix is made square first.
const TALL: f64 = 1.6;

/// A matrix whose greatest part is between one half and one, and the power of two that was taken out.
pub(super) fn normalized<T: Field>(a: &Dense<T>) -> (Dense<T>, i32) {
    let larger = |norm: f64, x: &T| norm.max(x.parts().0.abs()).max(x.parts().1.abs());
    let norm = a.data.iter().fold(0.0, larger);
    if norm == 0.0 || !norm.is_finite() {
        return (a.clone(), 0);
    }
    let exponent = ((norm.to_bits() >> 52) & 0x7ff) as i32 - 1022;
    let data = a.data.iter().map(|x| T::of(raised(x.parts().0, -exponent), raised(x.parts().1, -exponent))).collect();
    (Dense { rows: a.rows, columns: a.columns, data }, exponent)
}

/// `x` times a power of two, by two factors, which are numbers where their product may not be.
pub(super) fn raised(x: f64, exponent: i32) -> f64 {
    let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    x * power(exponent / 2) * power(exponent - exponent / 2)
}

fn all_nan<T: Field>(rows: usize, columns: usize) -> Dense<T> {
    Dense { rows, columns, data: vec![T::NAN; rows * columns] }
}

/// Eigenvectors as columns and ascending eigenvalues of the Hermitian matrix in one triangle.
pub(super) fn eigh<T: Field>(a: &Dense<T>, lower: bool) -> Result<(Dense<T>, Vec<f64>)> {
    let (n, full) = (a.rows, hermitian(a, lower));
    if !full.is_finite() {
        return Ok((all_nan(n, n), vec![f64::NAN; n]));
    }
    let (full, exponent) = normalized(&full);
    if !T::IS_COMPLEX && n <= SMALL {
        let (vectors, values) = small::eigh(&full);
        return Ok((vectors, values.into_iter().map(|value| raised(value, exponent)).collect()));
    }
    let form = reduce::tridiagonal(full)?;
    let found = divide::symmetric::<T::Part>(&form.diagonal, &form.off_diagonal)?;
    let mut vectors = narrowed(&found.vectors);
    form.q.apply(&mut vectors)?;
    Ok((vectors, found.values.into_iter().map(|value| raised(value, exponent)).collect()))
}

/// Both triangles of the Hermitian matrix in one.
fn hermitian<T: Field>(a: &Dense<T>, lower: bool) -> Dense<T> {
    let mut full = a.clone();
    for i in 0..a.rows {
        full.set(i, i, T::of(a.at(i, i).parts().0, 0.0));
        for j in 0..i {
            let (from, to) = if lower { ((i, j), (j, i)) } else { ((j, i), (i, j)) };
            full.set(to.0, to.1, a.at(from.0, from.1).conjugate());
        }
    }
    full
}

/// A matrix in the precision of its elements.
pub(super) fn narrowed<S: Field, T: Field>(a: &Dense<S>) -> Dense<T> {
    let number = |x: &S| T::of(x.parts().0, x.parts().1);
    Dense { rows: a.rows, columns: a.columns, data: a.data.iter().map(number).collect() }
}

/// U, descending singular values, Vᴴ; the outer ones square if `full`.
pub(super) fn svd<T: Field>(a: &Dense<T>, vectors: bool, full: bool) -> Result<(Dense<T>, Vec<f64>, Dense<T>)> {
    let (m, n, k) = (a.rows, a.columns, a.rows.min(a.columns));
    let sides = if full && vectors { (m, n) } else { (k, k) };
    if k == 0 {
        return Ok((Dense::identity(m, sides.0), vec![], Dense::identity(sides.1, n)));
    }
    if !a.is_finite() {
        return Ok((all_nan(m, sides.0), vec![f64::NAN; k], all_nan(sides.1, n)));
    }
    let (a, exponent) = normalized(a);
    let restored = |values: Vec<f64>| values.into_iter().map(|value| raised(value, exponent)).collect();
    if m >= n {
        let (u, values, v) = tall_svd(a, vectors, sides.0)?;
        Ok((u, restored(values), v.adjoint()))
    } else {
        let (v, values, u) = tall_svd(a.adjoint(), vectors, sides.1)?;
        Ok((u, restored(values), v.adjoint()))
    }
}

/// U with so many columns, descending singular values, V, of a matrix with at least as many rows as columns.
fn tall_svd<T: Field>(mut a: Dense<T>, vectors: bool, n_left: usize) -> Result<(Dense<T>, Vec<f64>, Dense<T>)> {
    if (a.rows as f64) < TALL * a.columns as f64 {
        return direct_svd(a, vectors, n_left);
    }
    let n = a.columns;
    let taus = householder::geqrf(&mut a)?;
    let mut r = Dense::zeros(n, n);
    (0..n).for_each(|i| (i..n).for_each(|j| r.set(i, j, a.at(i, j))));
    let (inner, values, v) = direct_svd(r, vectors, n)?;
    let mut u = placed(&inner, a.rows, n_left);
    if vectors {
        householder::apply(&a, &taus, &mut u, false)?;
    }
    Ok((u, values, v))
}

/// A matrix in the corner of an identity.
fn placed<T: Field>(inner: &Dense<T>, rows: usize, columns: usize) -> Dense<T> {
    let mut out = Dense::identity(rows, columns);
    for i in 0..inner.rows {
        out.data[i * columns..][..inner.columns].copy_from_slice(&inner.data[i * inner.columns..][..inner.columns]);
    }
    out
}

fn direct_svd<T: Field>(a: Dense<T>, vectors: bool, n_left: usize) -> Result<(Dense<T>, Vec<f64>, Dense<T>)> {
    let (m, n) = (a.rows, a.columns);
    let form = reduce::bidiagonal(a)?;
    let off_diagonal = [&form.off_diagonal[..], &[0.0]].concat();
    let wanted = if vectors { Wanted::Vectors } else { Wanted::Ends };
    let found = divide::bidiagonal::<T::Part>(&form.diagonal, &off_diagonal, wanted)?;
    let values = found.values.iter().rev().copied().collect();
    if !vectors {
        return Ok((Dense::zeros(m, n_left), values, Dense::zeros(n, n)));
    }
    let mut u = placed(&descending(&found.u, n), m, n_left);
    let mut v = descending(&found.v, n);
    form.left.apply(&mut u)?;
    form.right.apply(&mut v)?;
    Ok((u, values, v))
}

/// The first `n` rows and columns, with the columns in the other order.
fn descending<S: Field, T: Field>(a: &Dense<S>, n: usize) -> Dense<T> {
    let row = |i: usize| a.data[i * a.columns..][..n].iter().rev().map(|&x| T::of(x.parts().0, 0.0));
    Dense { rows: n, columns: n, data: (0..n).flat_map(row).collect() }
}

/// Eigenvalues and, as columns, left and right eigenvectors, each complex number as its two parts.
pub(super) struct Eigen {
    pub(super) values: Vec<(f64, f64)>,
    pub(super) left: Vec<(f64, f64)>,
    pub(super) right: Vec<(f64, f64)>,
}

/// The eigenvectors have length one and a real greatest element. All types are solved in double precision.
pub(super) fn eig<T: Field>(a: &Dense<T>, left: bool, right: bool) -> Result<Eigen> {
    let n = a.rows;
    let nan = (f64::NAN, f64::NAN);
    let failed = || Eigen { values: vec![nan; n], left: vec![nan; n * n], right: vec![nan; n * n] };
    if !a.is_finite() || n == 0 {
        return Ok(failed());
    }
    let (a, exponent) = normalized(&narrowed::<T, c64>(a));
    let found = if T::IS_COMPLEX { complex_eig(&a, left, right)? } else { real_eig(&a, left, right)? };
    let mut found = found.unwrap_or_else(failed);
    found.values.iter_mut().for_each(|value| *value = (raised(value.0, exponent), raised(value.1, exponent)));
    Ok(found)
}

fn real_eig(a: &Dense<c64>, left: bool, right: bool) -> Result<Option<Eigen>> {
    let Some(found) = real_schur(&narrowed(a))? else { return Ok(None) };
    let vectors = |wanted: bool, make| -> Result<Vec<(f64, f64)>> {
        if !wanted {
            return Ok(vec![]);
        }
        let vectors = found.vectors(make)?;
        Ok(scaled(|i, j| vectors.at(i, j), a.rows))
    };
    Ok(Some(Eigen {
        values: found.values().into_iter().map(|value| (value.re, value.im)).collect(),
        left: vectors(left, Schur::left)?,
        right: vectors(right, Schur::right)?,
    }))
}

fn complex_eig(a: &Dense<c64>, left: bool, right: bool) -> Result<Option<Eigen>> {
    let n = a.rows;
    let Some(found) = schur(a)? else { return Ok(None) };
    let vectors = |wanted: bool, make: fn(&Schur) -> Result<Dense<c64>>| -> Result<Vec<(f64, f64)>> {
        if !wanted {
            return Ok(vec![]);
        }
        let vectors = make(&found)?;
        Ok(scaled(|i, j| vectors.at(i, j), n))
    };
    Ok(Some(Eigen {
        values: found.values().into_iter().map(|value| (value.re, value.im)).collect(),
        left: vectors(left, Schur::left)?,
        right: vectors(right, Schur::right)?,
    }))
}

/// The Schur form and its vectors, in the field of the matrix.
pub(super) fn schur_form<T: Field>(a: &Dense<T>) -> Result<(Dense<T>, Dense<T>)> {
    let n = a.rows;
    if n == 0 {
        return Ok((Dense::zeros(0, 0), Dense::zeros(0, 0)));
    }
    let (wide, exponent) = normalized(&narrowed::<T, c64>(a));
    let found = match a.is_finite() {
        false => None,
        true if T::IS_COMPLEX => schur(&wide)?.map(|found| (found.t, narrowed(&found.z))),
        true => real_schur(&narrowed(&wide))?.map(|found| (narrowed(&found.t), narrowed(&found.z))),
    };
    let Some((mut t, z)) = found else { return Ok((all_nan(n, n), all_nan(n, n))) };
    t.data.iter_mut().for_each(|x| *x = c64::new(raised(x.re, exponent), raised(x.im, exponent)));
    Ok((narrowed(&t), z))
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

    fn complex_sample(rows: usize, columns: usize, seed: usize) -> Dense<c64> {
        let value = |i: usize| (((i + seed) * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
        Dense { rows, columns, data: (0..rows * columns).map(|i| c64::new(value(i), value(2 * i + 7))).collect() }
    }

    #[test]
    fn complex_spectra_give_the_matrix_back() {
        for (rows, columns, seed) in (0..40).flat_map(|seed| [(3, 3, seed), (5, 2, seed), (2, 5, seed), (6, 6, seed)]) {
            let a = complex_sample(rows, columns, seed);
            let (u, values, vh) = svd(&a, true, true).expect("it is not interrupted");
            let mut h = Dense::zeros(rows, rows);
            for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                let sum = values.iter().enumerate().fold(c64::nil(), |sum, (k, &s)| sum + u.at(i, k) * s * vh.at(k, j));
                assert!((sum - a.at(i, j)).norm() < 1e-10);
            }
            for (i, j) in (0..rows).flat_map(|i| (0..rows).map(move |j| (i, j))) {
                let product = (0..columns).fold(c64::nil(), |sum, k| sum + a.at(i, k) * a.at(j, k).conj());
                h.set(i, j, product);
            }
            let (v, w) = eigh(&h, true).expect("it is not interrupted");
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
        let found = eig(&a, true, true).expect("it is not interrupted");
        let mut imaginary: Vec<f64> = found.values.iter().map(|value| value.1).collect();
        imaginary.sort_by(f64::total_cmp);
        assert!((imaginary[0] + 1.0).abs() < 1e-12 && (imaginary[1] - 1.0).abs() < 1e-12);
        assert!((found.right[0].0.hypot(found.right[0].1) - 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn singular_values_fall() {
        let a = Dense::of(&[0.0f64, 2.0, 1.0, 0.0, 0.0, 0.0], 3, 2);
        let (u, values, vh) = svd(&a, true, true).expect("it is not interrupted");
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
        let (_, values) = eigh(&Dense::of(&[f64::NAN], 1, 1), true).expect("it is not interrupted");
        assert!(values[0].is_nan());
    }
}
