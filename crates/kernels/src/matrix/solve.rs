//! Cholesky and LU factors and the solution of triangular and tridiagonal systems, mostly by `faer`.

use faer::linalg::triangular_solve as solve;
use faer::{Par, Side};
use pullback_base::Result;

use super::field::{Dense, Field};
use super::small::{self, SMALL};
use super::{LONG, poll};
use crate::stoppable::stoppable;

/// The lower Cholesky factor of the lower triangle; all NaN when the matrix is not positive definite.
pub(super) fn cholesky<T: Field>(a: Dense<T>) -> Result<Dense<T>> {
    let n = a.rows;
    if !T::IS_COMPLEX && n <= SMALL {
        return Ok(small::cholesky(&a).unwrap_or_else(|| without_factor(n)));
    }
    let factor = stoppable(n >= LONG, move || a.faer().llt(Side::Lower).ok())?;
    let Some(factor) = factor else { return Ok(without_factor(n)) };
    let mut out = Dense::zeros(n, n);
    (0..n).for_each(|i| (0..=i).for_each(|j| out.set(i, j, factor.L()[(i, j)])));
    Ok(out)
}

/// What a matrix has that is not positive definite: NaN where its factor would be.
fn without_factor<T: Field>(n: usize) -> Dense<T> {
    let mut out = Dense::zeros(n, n);
    (0..n).for_each(|i| (0..=i).for_each(|j| out.set(i, j, T::NAN)));
    out
}

/// Factors in one matrix, the exchanged rows, the permutation of rows.
///
/// # Errors
/// An interrupt.
pub(super) fn lu<T: Field>(a: &mut Dense<T>) -> Result<(Vec<i32>, Vec<i32>)> {
    if a.data.is_empty() {
        // Not by loops over what may be billions of columns without elements.
        return Ok((vec![], (0..a.rows as i32).collect()));
    }
    let (m, n) = (a.rows, a.columns);
    // `faer` divides by complex pivots wrongly: see `substitution`.
    if T::IS_COMPLEX || m.max(n) <= SMALL {
        return lu_by_columns(a);
    }
    let whole = a.clone();
    let factors = stoppable(m.min(n) >= LONG, move || whole.faer().partial_piv_lu())?;
    let permutation = factors.P().arrays().0.to_vec();
    let (l, u) = (factors.L(), factors.U());
    let mut packed = Dense::zeros(m, n);
    for i in 0..m {
        for j in 0..n {
            packed.set(i, j, if i > j { l[(i, j)] } else { u[(i, j)] });
        }
    }
    if !packed.is_finite() {
        // A column without a pivot: the factors exist, but the quick way divides by zero.
        return lu_by_columns(a);
    }
    *a = packed;
    let pivots = pivots_of(&permutation, m.min(n));
    Ok((pivots, permutation.into_iter().map(|row| row as i32).collect()))
}

/// The exchanges, one for each column, that lead to a permutation.
fn pivots_of(permutation: &[usize], n: usize) -> Vec<i32> {
    let mut order: Vec<usize> = (0..permutation.len()).collect();
    let mut place = order.clone();
    let mut pivots = vec![];
    for i in 0..n {
        let pivot = place[permutation[i]];
        pivots.push(pivot as i32);
        order.swap(i, pivot);
        place[order[i]] = i;
        place[order[pivot]] = pivot;
    }
    pivots
}

/// Column by column; one that is zero from the diagonal on is passed over.
fn lu_by_columns<T: Field>(a: &mut Dense<T>) -> Result<(Vec<i32>, Vec<i32>)> {
    let (m, n) = (a.rows, a.columns);
    let mut permutation: Vec<i32> = (0..m as i32).collect();
    let mut pivots = vec![];
    for k in 0..m.min(n) {
        poll()?;
        let size = |i: usize| a.at(i, k).parts().0.abs() + a.at(i, k).parts().1.abs();
        let pivot = (k..m).fold(k, |best, i| if size(i) > size(best) { i } else { best });
        pivots.push(pivot as i32);
        permutation.swap(k, pivot);
        if pivot != k {
            (0..n).for_each(|j| a.data.swap(k * n + j, pivot * n + j));
        }
        let head = a.at(k, k);
        if head.is_nil() {
            continue;
        }
        let (above, below) = a.data.split_at_mut((k + 1) * n);
        let row = &above[k * n..];
        for to in below.chunks_exact_mut(n) {
            let factor = to[k].over(head);
            to[k] = factor;
            to[k + 1..].iter_mut().zip(&row[k + 1..]).for_each(|(to, &x)| *to -= factor * x);
        }
    }
    Ok((pivots, permutation))
}

/// Which triangular system.
#[derive(Clone, Copy)]
pub(super) struct Triangular {
    pub(super) left: bool,
    pub(super) lower: bool,
    pub(super) transpose: bool,
    pub(super) conjugate: bool,
    pub(super) unit: bool,
}

/// Right-hand sides that are solved for between two looks at the flag of interrupts.
const SIDES: usize = 128;

/// `x` of `op(a) x = b`, or of `x op(a) = b`.
///
/// # Errors
/// An interrupt.
pub(super) fn triangular<T: Field>(system: Triangular, a: &Dense<T>, b: &mut Dense<T>) -> Result<()> {
    if b.data.is_empty() {
        return Ok(());
    }
    let (rows, columns) = (b.rows, b.columns);
    if T::IS_COMPLEX || rows.max(columns) <= SMALL {
        return substitution(system, a, b);
    }
    let right = faer::MatMut::from_row_major_slice_mut(&mut b.data, rows, columns);
    // x a = b is aᵀ xᵀ = bᵀ.
    let right = if system.left { right } else { right.transpose_mut() };
    let is_transposed = system.transpose == system.left;
    let (left, is_lower) = if is_transposed { (a.faer().transpose(), !system.lower) } else { (a.faer(), system.lower) };
    let mut right = right;
    for first in (0..right.ncols()).step_by(SIDES) {
        poll()?;
        let count = SIDES.min(right.ncols() - first);
        let right = right.as_mut().subcols_mut(first, count);
        match (is_lower, system.unit) {
            (true, false) => solve::solve_lower_triangular_in_place(left, right, Par::Seq),
            (true, true) => solve::solve_unit_lower_triangular_in_place(left, right, Par::Seq),
            (false, false) => solve::solve_upper_triangular_in_place(left, right, Par::Seq),
            (false, true) => solve::solve_unit_upper_triangular_in_place(left, right, Par::Seq),
        }
    }
    Ok(())
}

/// For small matrices, and for complex ones: `faer` 0.24.4 takes 1/z for zero where both parts of z are below one and |z| is
/// above.
fn substitution<T: Field>(system: Triangular, a: &Dense<T>, b: &mut Dense<T>) -> Result<()> {
    let is_transposed = system.transpose == system.left;
    let is_lower = system.lower != is_transposed;
    let at = |i: usize, j: usize| {
        let value = if is_transposed { a.at(j, i) } else { a.at(i, j) };
        if system.conjugate { value.conjugate() } else { value }
    };
    // x a = b is aᵀ xᵀ = bᵀ.
    let (n, count) = if system.left { (b.rows, b.columns) } else { (b.columns, b.rows) };
    let place = |i: usize, j: usize| if system.left { (i, j) } else { (j, i) };
    for step in 0..n {
        poll()?;
        let i = if is_lower { step } else { n - 1 - step };
        let known = if is_lower { 0..i } else { i + 1..n };
        for column in 0..count {
            let (row, to) = place(i, column);
            let sum = known.clone().fold(b.at(row, to), |sum, k| {
                let (row, to) = place(k, column);
                sum - at(i, k) * b.at(row, to)
            });
            b.set(row, to, if system.unit { sum } else { sum.over(at(i, i)) });
        }
    }
    Ok(())
}

/// What takes the place of pivots that are zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ZeroPivot {
    /// Nothing: a singular system has no solution, and gives NaN.
    Nan,
    /// The least number that is not flushed to zero.
    Least,
}

/// Solves a tridiagonal system by elimination with row exchanges: `lower[0]` and the last of `upper` do not count.
///
/// # Errors
/// An interrupt.
pub(super) fn tridiagonal<T: Field>(
    lower: &[T],
    main: &[T],
    upper: &[T],
    zero_pivot: ZeroPivot,
    b: &mut Dense<T>,
) -> Result<()> {
    poll()?;
    let n = main.len();
    // Rows during elimination: the diagonal and the two places to its right.
    let mut rows: Vec<[T; 3]> = (0..n).map(|i| [main[i], upper[i], T::nil()]).collect();
    if let Some(last) = rows.last_mut() {
        last[1] = T::nil();
    }
    for i in 0..n {
        let mut next = rows.get(i + 1).map(|row| [lower[i + 1], row[0], row[1]]);
        if let Some(next) = next.as_mut().filter(|next| next[0].length() > rows[i][0].length()) {
            std::mem::swap(&mut rows[i], next);
            (0..b.columns).for_each(|j| b.data.swap(i * b.columns + j, (i + 1) * b.columns + j));
        }
        if rows[i][0].is_nil() {
            match zero_pivot {
                ZeroPivot::Nan => {
                    b.data.fill(T::NAN);
                    return Ok(());
                }
                ZeroPivot::Least => rows[i][0] = T::of(T::LEAST, 0.0),
            }
        }
        let Some(next) = next else { break };
        let factor = next[0].over(rows[i][0]);
        rows[i + 1] = [next[1] - factor * rows[i][1], next[2] - factor * rows[i][2], T::nil()];
        (0..b.columns).for_each(|j| b.set(i + 1, j, b.at(i + 1, j) - factor * b.at(i, j)));
    }
    substitute(&rows, b);
    Ok(())
}

/// Solves with the upper triangle that elimination leaves.
fn substitute<T: Field>(rows: &[[T; 3]], b: &mut Dense<T>) {
    for i in (0..rows.len()).rev() {
        for j in 0..b.columns {
            let mut value = b.at(i, j);
            for (step, &factor) in rows[i].iter().enumerate().skip(1).take(rows.len() - 1 - i) {
                value -= factor * b.at(i + step, j);
            }
            b.set(i, j, value.over(rows[i][0]));
        }
    }
}
