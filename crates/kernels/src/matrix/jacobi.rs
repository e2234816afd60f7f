//! Eigenvalues of Hermitian matrices and singular values by Jacobi rotations, for complex matrices.
//!
//! `faer` 0.24.4 takes 1/z for zero where both parts of z are below one and |z| is above, so its complex spectra are wrong
//! for many matrices. Rotations are slower, and as accurate as can be: G. Golub and C. Van Loan, "Matrix Computations", 8.5
//! and 8.6.3.

use faer::c64;

use super::field::{Dense, Field};
use super::householder;

/// Rounds over all pairs before giving up.
const MAX_ROUNDS: usize = 60;

/// Cosine, sine and phase of the rotation that makes `[[a, h], [h̄, b]]` diagonal.
fn rotation(a: f64, b: f64, h: c64) -> (f64, f64, c64) {
    let length = h.norm();
    let zeta = (b - a) / (2.0 * length);
    let t = 1f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    (c, c * t, h / length)
}

/// Columns `p` and `q` become `c p - s q φ̄` and `s p + c q φ̄`.
fn rotate(a: &mut Dense<c64>, p: usize, q: usize, (c, s, phase): (f64, f64, c64)) {
    for i in 0..a.rows {
        let (x, y) = (a.at(i, p), a.at(i, q) * phase.conj());
        a.set(i, p, x * c - y * s);
        a.set(i, q, x * s + y * c);
    }
}

/// Eigenvectors as columns and ascending eigenvalues of a Hermitian matrix.
pub(super) fn eigh(mut a: Dense<c64>) -> Option<(Dense<c64>, Vec<f64>)> {
    let n = a.rows;
    let mut v = Dense::identity(n, n);
    let scale = a.data.iter().map(|x| x.norm()).fold(0.0, f64::max);
    for round in 0.. {
        let mut is_done = true;
        for (p, q) in pairs(n) {
            if a.at(p, q).norm() <= scale * f64::EPSILON {
                continue;
            }
            is_done = false;
            let turn = rotation(a.at(p, p).re, a.at(q, q).re, a.at(p, q));
            rotate(&mut a, p, q, turn);
            a = a.adjoint();
            rotate(&mut a, p, q, turn);
            a = a.adjoint();
            // Zero but for rounding, which would keep the rounds going.
            a.set(p, q, c64::nil());
            a.set(q, p, c64::nil());
            rotate(&mut v, p, q, turn);
        }
        if is_done {
            break;
        }
        if round == MAX_ROUNDS {
            return None;
        }
    }
    let values: Vec<f64> = (0..n).map(|i| a.at(i, i).re).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    Some((columns(&v, &order), order.iter().map(|&i| values[i]).collect()))
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |p| (p + 1..n).map(move |q| (p, q)))
}

fn columns(a: &Dense<c64>, order: &[usize]) -> Dense<c64> {
    let mut out = Dense::zeros(a.rows, order.len());
    for i in 0..a.rows {
        order.iter().enumerate().for_each(|(to, &from)| out.set(i, to, a.at(i, from)));
    }
    out
}

/// U with as many columns as asked, descending singular values, V, of a matrix with at least as many rows as columns.
pub(super) fn svd(a: &Dense<c64>, n_left: usize) -> Option<(Dense<c64>, Vec<f64>, Dense<c64>)> {
    let n = a.columns;
    let (mut u, mut v) = (a.clone(), Dense::identity(n, n));
    let product = |u: &Dense<c64>, p: usize, q: usize| {
        (0..u.rows).fold(c64::nil(), |sum, i| sum + u.at(i, p).conj() * u.at(i, q))
    };
    for round in 0.. {
        let mut is_done = true;
        for (p, q) in pairs(n) {
            let (a, b, h) = (product(&u, p, p).re, product(&u, q, q).re, product(&u, p, q));
            if h.norm() <= (a * b).sqrt() * f64::EPSILON * 8.0 || h.norm() < f64::MIN_POSITIVE {
                continue;
            }
            is_done = false;
            let turn = rotation(a, b, h);
            rotate(&mut u, p, q, turn);
            rotate(&mut v, p, q, turn);
        }
        if is_done {
            break;
        }
        if round == MAX_ROUNDS {
            return None;
        }
    }
    let values: Vec<f64> = (0..n).map(|i| product(&u, i, i).re.sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    let values: Vec<f64> = order.iter().map(|&i| values[i]).collect();
    let left = orthonormal(columns(&u, &order), &values, n_left);
    Some((left, values, columns(&v, &order)))
}

/// Columns of the given lengths made of length one; those without length, and more up to `n`, are chosen at right angles.
fn orthonormal(u: Dense<c64>, lengths: &[f64], n: usize) -> Dense<c64> {
    let least = lengths.first().copied().unwrap_or(0.0) * f64::EPSILON;
    let rank = lengths.iter().take_while(|&&length| length > least && length > 0.0).count();
    let mut known = columns(&u, &(0..rank).collect::<Vec<usize>>());
    for i in 0..known.rows {
        (0..rank).for_each(|j| known.set(i, j, known.at(i, j) / lengths[j]));
    }
    let mut packed = known.clone();
    let taus = householder::geqrf(&mut packed);
    let mut q = Dense::identity(u.rows, n);
    householder::apply(&packed, &taus, &mut q, false);
    for i in 0..u.rows {
        (0..rank).for_each(|j| q.set(i, j, known.at(i, j)));
    }
    q
}
