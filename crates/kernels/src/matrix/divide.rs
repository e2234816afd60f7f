//! Spectra of tridiagonal and bidiagonal matrices by division in halves, which the secular equation joins.
//!
//! The classical algorithms: M. Gu and S. Eisenstat, "A divide-and-conquer algorithm for the symmetric tridiagonal
//! eigenproblem" (1995) and "… for the bidiagonal SVD" (1995). Values and secular equations are in double precision, vectors in
//! that of the matrix.

use faer::Accum;
use pullback_base::Result;

use super::field::{Block, Dense, Field, multiply};
use super::poll;
use super::secular::{Deflated, Root, Secular, deflate};

/// Gaps and weights below this part of the norm are rounding.
fn tolerance<S: Field>() -> f64 {
    8.0 * S::EPSILON
}

/// What takes the place of zeros that would put two poles, or a pole and its root, at one place: so little that it stays zero
/// beside all else, and its fourth power a number.
const LEAST: f64 = 1e-70;

/// Ascending eigenvalues, and eigenvectors as columns.
pub(super) struct Spectrum<S> {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Dense<S>,
}

/// The spectrum of a symmetric tridiagonal matrix.
pub(super) fn symmetric<S: Field>(diagonal: &[f64], off_diagonal: &[f64]) -> Result<Spectrum<S>> {
    let n = diagonal.len();
    if n <= 1 {
        return Ok(Spectrum { values: diagonal.to_vec(), vectors: Dense::identity(n, n) });
    }
    poll()?;
    let half = n / 2;
    let link = off_diagonal[half - 1];
    let mut diagonal = diagonal.to_vec();
    diagonal[half - 1] -= link.abs();
    diagonal[half] -= link.abs();
    let top = symmetric(&diagonal[..half], &off_diagonal[..half - 1])?;
    let bottom = symmetric(&diagonal[half..], &off_diagonal[half..])?;
    Ok(join(top, bottom, link))
}

/// The spectrum of `diag(top, bottom) + |link| u uᵀ`, where u ends the top and begins the bottom.
fn join<S: Field>(top: Spectrum<S>, bottom: Spectrum<S>, link: f64) -> Spectrum<S> {
    let (half, rest) = (top.values.len(), bottom.values.len());
    let mut poles = [top.values, bottom.values].concat();
    let end = row(&top.vectors, half - 1, half, 1.0);
    let mut z: Vec<f64> = end.chain(row(&bottom.vectors, 0, rest, 1f64.copysign(link))).collect();
    let norm = poles.iter().fold(link.abs(), |norm, pole| norm.max(pole.abs()));
    let scale = if norm > 0.0 { norm } else { 1.0 };
    poles.iter_mut().for_each(|pole| *pole /= scale);
    let strength = link.abs() / scale;
    let least = if strength == 0.0 { f64::INFINITY } else { tolerance::<S>() / strength };
    let deflated = deflate(&mut poles, &mut z, 0, least, tolerance::<S>());
    let kept = |of: &[f64]| deflated.kept.iter().map(|&p| of[p]).collect::<Vec<f64>>();
    let weights = kept(&z).into_iter().map(|z| strength * z * z).collect();
    let secular = Secular { poles: kept(&poles), weights, squared: false };
    let roots = secular.roots();
    let signed = signed_weights(&secular, &roots, &kept(&z));
    let vectors = vectors(&secular, &roots, &signed, None);
    let values: Vec<f64> = roots.iter().map(|&root| secular.value(root)).collect();
    let (values, sources) = deflated.sorted(&values, &poles);
    let mut w = deflated.basis(&sources, &vectors);
    let n = half + rest;
    let mut joined = Dense::zeros(n, n);
    let (mut top, mut bottom) = (top.vectors, bottom.vectors);
    product(joined.part(0..half, 0..n), top.block(), w.part(0..n, 0..half).adjoint());
    product(joined.part(half..n, 0..n), bottom.block(), w.part(0..n, half..n).adjoint());
    Spectrum { values: values.into_iter().map(|value| value * scale).collect(), vectors: joined }
}

/// The first elements of a row, times a factor.
fn row<S: Field>(a: &Dense<S>, i: usize, n: usize, factor: f64) -> impl Iterator<Item = f64> {
    a.data[i * a.columns..][..n].iter().map(move |x| x.parts().0 * factor)
}

fn signed_weights(secular: &Secular, roots: &[Root], z: &[f64]) -> Vec<f64> {
    secular.exact_weights(roots).into_iter().zip(z).map(|(weight, z)| weight.copysign(*z)).collect()
}

/// Rows of length one: of each root, factors over the gaps between poles and it. The first element is another one, if given.
fn vectors<S: Field>(secular: &Secular, roots: &[Root], factors: &[f64], first: Option<f64>) -> Dense<S> {
    let n = roots.len();
    let (mut out, mut line) = (Dense::zeros(n, n), vec![0.0; n]);
    for (row, &root) in out.data.chunks_exact_mut(n.max(1)).zip(roots) {
        secular.gaps(root, &mut line);
        line.iter_mut().zip(factors).for_each(|(x, factor)| *x = factor / *x);
        if let Some(first) = first {
            line[0] = first;
        }
        let largest = line.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
        line.iter_mut().for_each(|x| *x /= largest);
        let length = line.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().zip(&line).for_each(|(to, x)| *to = S::of(x / length, 0.0));
    }
    out
}

fn product<S: Field>(c: Block<S>, a: Block<S>, b: Block<S>) {
    if c.rows > 0 && c.columns > 0 {
        // SAFETY: callers give parts of three different matrices.
        unsafe { multiply(c, Accum::Replace, 1.0, a, b) };
    }
}

/// Which rows of right singular vectors are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All, and the left vectors.
    Vectors,
    /// Only the first and last, which joining needs.
    Ends,
}

/// Ascending singular values of `n` rows and `n + 1` columns, U, and V whose last column is what the matrix takes to zero.
pub(super) struct Singular<S> {
    pub(super) values: Vec<f64>,
    pub(super) u: Dense<S>,
    pub(super) v: Dense<S>,
}

/// The singular values and vectors of the matrix with this diagonal and, to the right of it, this off-diagonal of the same
/// length.
pub(super) fn bidiagonal<S: Field>(diagonal: &[f64], off_diagonal: &[f64], wanted: Wanted) -> Result<Singular<S>> {
    let n = diagonal.len();
    if n == 0 {
        let rows = if wanted == Wanted::Ends { 2 } else { 1 };
        let v = Dense { rows, columns: 1, data: vec![S::unit(); rows] };
        return Ok(Singular { values: vec![], u: Dense::zeros(0, 0), v });
    }
    poll()?;
    let half = n / 2;
    let top = bidiagonal(&diagonal[..half], &off_diagonal[..half], wanted)?;
    let bottom = bidiagonal(&diagonal[half + 1..], &off_diagonal[half + 1..], wanted)?;
    Ok(join_singular(top, bottom, diagonal[half], off_diagonal[half], wanted))
}

/// Of the matrix with `alpha` and `beta` in a row between two blocks.
fn join_singular<S: Field>(
    top: Singular<S>,
    bottom: Singular<S>,
    alpha: f64,
    beta: f64,
    wanted: Wanted,
) -> Singular<S> {
    let (m, n) = (top.values.len(), bottom.values.len());
    // The row in the basis of right vectors; the two that blocks take to zero become one of both, and another.
    let last = top.v.rows - 1;
    let (x, y) = (alpha * top.v.at(last, m).parts().0, beta * bottom.v.at(0, n).parts().0);
    let length = x.hypot(y);
    let (c, s) = if length > 0.0 { (x / length, y / length) } else { (1.0, 0.0) };
    let mut poles = [&[0.0], &top.values[..], &bottom.values].concat();
    let between = row(&top.v, last, m, alpha).chain(row(&bottom.v, 0, n, beta));
    let mut z: Vec<f64> = std::iter::once(length).chain(between).collect();
    let norm = poles.iter().fold(alpha.abs().max(beta.abs()), |norm, &pole| norm.max(pole));
    let scale = if norm > 0.0 { norm } else { 1.0 };
    poles.iter_mut().chain(&mut z).for_each(|x| *x /= scale);
    z[0] = z[0].max(LEAST);
    let deflated = deflate(&mut poles, &mut z, 1, tolerance::<S>(), tolerance::<S>());
    let (values, u, v) = singular_basis::<S>(&deflated, &poles, &z);
    let values = values.into_iter().map(|value| if norm > 0.0 { value * scale } else { 0.0 }).collect();
    Singular {
        values,
        u: if wanted == Wanted::Vectors { joined_left(top.u, bottom.u, u) } else { Dense::zeros(0, 0) },
        v: joined_right(top.v, bottom.v, &v, (c, s), wanted),
    }
}

/// Values, and what leads from the blocks' left and right vectors to those of the whole.
fn singular_basis<S: Field>(deflated: &Deflated, poles: &[f64], z: &[f64]) -> (Vec<f64>, Dense<S>, Dense<S>) {
    let kept = |of: &[f64]| deflated.kept.iter().map(|&p| of[p]).collect::<Vec<f64>>();
    let (mut d, z) = (kept(poles), kept(z));
    if let Some(least) = d.get_mut(1) {
        // Zero is the first pole.
        *least = least.max(LEAST);
    }
    let secular = Secular { poles: d, weights: z.iter().map(|z| z * z).collect(), squared: true };
    let roots = secular.roots();
    let signed = signed_weights(&secular, &roots, &z);
    let right = vectors(&secular, &roots, &signed, None);
    let stretched: Vec<f64> = secular.poles.iter().zip(&signed).map(|(d, z)| d * z).collect();
    let left = vectors(&secular, &roots, &stretched, Some(-1.0));
    let values: Vec<f64> = roots.iter().map(|&root| secular.value(root)).collect();
    let (values, sources) = deflated.sorted(&values, poles);
    (values, deflated.basis(&sources, &left), deflated.basis(&sources, &right))
}

/// Positions are the row between the blocks, the top's and the bottom's.
fn joined_left<S: Field>(mut top: Dense<S>, mut bottom: Dense<S>, mut w: Dense<S>) -> Dense<S> {
    let (m, size) = (top.rows, w.rows);
    let mut out = Dense::zeros(size, size);
    product(out.part(0..m, 0..size), top.block(), w.part(0..size, 1..m + 1).adjoint());
    (0..size).for_each(|column| out.set(m, column, w.at(column, 0)));
    product(out.part(m + 1..size, 0..size), bottom.block(), w.part(0..size, m + 1..size).adjoint());
    out
}

/// A block's last column takes part with one factor in the first position, with the other in the last column.
fn joined_right<S: Field>(
    mut top: Dense<S>,
    mut bottom: Dense<S>,
    w: &Dense<S>,
    (c, s): (f64, f64),
    wanted: Wanted,
) -> Dense<S> {
    let (m, n, size) = (top.columns - 1, bottom.columns - 1, w.rows);
    let (above, below) = match wanted {
        Wanted::Vectors => (0..m + 1, 0..n + 1),
        Wanted::Ends => (0..1, 1..2),
    };
    let part = |positions: std::ops::Range<usize>, first: f64, null: f64| {
        let count = positions.len();
        let mut part = Dense::zeros(size + 1, count + 1);
        for (line, from) in part.data.chunks_exact_mut(count + 1).zip(w.data.chunks_exact(size)) {
            line[..count].copy_from_slice(&from[positions.clone()]);
            line[count] = S::of(first, 0.0) * from[0];
        }
        part.set(size, count, S::of(null, 0.0));
        part
    };
    let (mut upper, mut lower) = (part(1..m + 1, c, -s), part(m + 1..size, s, c));
    let (split, rows) = (above.len(), above.len() + below.len());
    let mut out = Dense::zeros(rows, size + 1);
    product(out.part(0..split, 0..size + 1), top.part(above, 0..m + 1), upper.block().adjoint());
    product(out.part(split..rows, 0..size + 1), bottom.part(below, 0..n + 1), lower.block().adjoint());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, seed: u64, grading: f64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        (0..n).map(|i| number() * grading.powi(i as i32)).collect()
    }

    /// Kinds of bidiagonal and tridiagonal matrices that have troubled solvers.
    fn cases() -> Vec<(Vec<f64>, Vec<f64>)> {
        let mut cases = vec![];
        for n in [1, 2, 3, 4, 5, 8, 17, 40, 65] {
            for (seed, grading) in [(1, 1.0), (2, 0.5), (3, 2.0), (4, 0.01)] {
                cases.push((sample(n, seed, grading), sample(n, seed + 9, grading)));
            }
            cases.push((vec![1.0; n], vec![0.0; n]));
            cases.push((vec![0.0; n], vec![1.0; n]));
            cases.push((vec![0.0; n], vec![0.0; n]));
            cases.push((vec![1.0; n], vec![1.0; n]));
            cases.push((vec![2.0; n], vec![-1.0; n]));
            cases.push((vec![1.0; n], vec![1e-17; n]));
            cases.push(((0..n).map(|i| (i as f64 - n as f64 / 2.0).abs()).collect(), vec![1.0; n]));
            cases.push((sample(n, 5, 1.0).iter().map(|x| x * 1e-200).collect(), vec![1e-200; n]));
        }
        cases
    }

    fn check_orthogonal(q: &Dense<f64>) {
        for i in 0..q.columns {
            for j in 0..q.columns {
                let sum: f64 = (0..q.rows).map(|k| q.at(k, i) * q.at(k, j)).sum();
                assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-13, "{i} {j} {sum}");
            }
        }
    }

    #[test]
    fn tridiagonal_spectra() {
        for (d, e) in cases() {
            let (n, e) = (d.len(), &e[..d.len() - 1]);
            let found = symmetric::<f64>(&d, e).expect("it is not interrupted");
            check_orthogonal(&found.vectors);
            let norm = d.iter().chain(e).fold(0.0f64, |norm, x| norm.max(x.abs()));
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let v = |i: usize| found.vectors.at(i, j);
                let above = if i > 0 { e[i - 1] * v(i - 1) } else { 0.0 };
                let below = if i + 1 < n { e[i] * v(i + 1) } else { 0.0 };
                let left = above + d[i] * v(i) + below;
                assert!((left - found.values[j] * v(i)).abs() <= 1e-14 * norm, "{n} {i} {j} {norm}");
            }
        }
    }

    #[test]
    fn bidiagonal_singular_values() {
        for (d, mut e) in cases() {
            let n = d.len();
            e[n - 1] = 0.0;
            let found = bidiagonal::<f64>(&d, &e, Wanted::Vectors).expect("it is not interrupted");
            check_orthogonal(&found.u);
            check_orthogonal(&found.v);
            assert_eq!(found.v.at(n, n).abs(), 1.0);
            let norm = d.iter().chain(&e).fold(0.0f64, |norm, x| norm.max(x.abs()));
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let left = d[i] * found.v.at(i, j) + e[i] * found.v.at(i + 1, j);
                assert!((left - found.values[j] * found.u.at(i, j)).abs() <= 1e-14 * norm, "{n} {i} {j} {norm}");
            }
            let ends = bidiagonal::<f64>(&d, &e, Wanted::Ends).expect("it is not interrupted");
            let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-14 * norm;
            assert!(ends.values.iter().zip(&found.values).all(close));
        }
    }
}
