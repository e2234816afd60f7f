//! Reductions by Householder reflections `H = I - tau v vᴴ`, in LAPACK's convention: `v` starts with one, the first element
//! becomes real with the sign opposite to what it was, and a column that is zero below leaves `tau` zero.
//!
//! Factorizations go by blocks of reflections, `H₁ … H_b = I - V T Vᴴ` (Schreiber and Van Loan 1989), so that most of the
//! work is matrix products.

use faer::Accum;
use pullback_base::Result;

use super::field::{Dense, Field, multiply};
use super::poll;

/// Reflections applied together.
const BLOCK: usize = 32;

/// The reflection that makes `x` a multiple of its first element: that multiple and `tau`; `x` becomes `v`.
pub(super) fn reflection<T: Field>(x: &mut [T]) -> (T, T) {
    let Some((head, tail)) = x.split_first_mut() else { return (T::nil(), T::nil()) };
    let largest = tail.iter().map(|x| x.length()).fold(0.0, f64::max);
    let scaled: f64 = tail.iter().map(|x| (x.length() / largest).powi(2)).sum();
    let norm = if largest == 0.0 { 0.0 } else { largest * scaled.sqrt() };
    let (re, im) = head.parts();
    let alpha = *head;
    *head = T::unit();
    if norm == 0.0 && im == 0.0 {
        return (alpha, T::nil());
    }
    let beta = -re.hypot(im).hypot(norm).copysign(re);
    let tau = T::of((beta - re) / beta, -im / beta);
    let first = alpha - T::of(beta, 0.0);
    scale_down(tail, first);
    (T::of(beta, 0.0), tau)
}

/// Divides by a number; by its inverse where that is not out of range.
fn scale_down<T: Field>(x: &mut [T], by: T) {
    let inverse = T::unit().over(by);
    if inverse.length().is_finite() && inverse.length() > T::LEAST && by.length() > T::LEAST {
        x.iter_mut().for_each(|x| *x *= inverse);
    } else {
        x.iter_mut().for_each(|x| *x = x.over(by));
    }
}

/// `a = (I - tau v vᴴ) a` on rows from `row` and columns of a range.
fn apply_left<T: Field>(a: &mut Dense<T>, v: &[T], tau: T, row: usize, columns: std::ops::Range<usize>) {
    if tau.is_nil() || columns.is_empty() {
        return;
    }
    let mut w = vec![T::nil(); columns.len()];
    for (i, v) in v.iter().enumerate() {
        let line = &a.data[(row + i) * a.columns..][columns.clone()];
        w.iter_mut().zip(line).for_each(|(w, &a)| *w += v.conjugate() * a);
    }
    for (i, &v) in v.iter().enumerate() {
        let line = &mut a.data[(row + i) * a.columns..][columns.clone()];
        line.iter_mut().zip(&w).for_each(|(a, &w)| *a -= tau * v * w);
    }
}

/// `a = a (I - tau v vᴴ)` on columns from `column`.
fn apply_right<T: Field>(a: &mut Dense<T>, v: &[T], tau: T, column: usize) {
    if tau.is_nil() {
        return;
    }
    for i in 0..a.rows {
        let line = &mut a.data[i * a.columns + column..][..v.len()];
        let sum = line.iter().zip(v).fold(T::nil(), |sum, (&a, &v)| sum + a * v);
        line.iter_mut().zip(v).for_each(|(a, &v)| *a -= sum * tau * v.conjugate());
    }
}

fn column_from<T: Field>(a: &Dense<T>, row: usize, column: usize) -> Vec<T> {
    (row..a.rows).map(|i| a.at(i, column)).collect()
}

/// Stores `beta` and the tail of `v` below it.
fn store<T: Field>(a: &mut Dense<T>, row: usize, column: usize, beta: T, v: &[T]) {
    a.set(row, column, beta);
    v.iter().enumerate().skip(1).for_each(|(i, &v)| a.set(row + i, column, v));
}

/// Reduces column `j` to its part on and above the diagonal; columns up to `end` follow.
fn eliminate<T: Field>(a: &mut Dense<T>, j: usize, end: usize) -> T {
    let mut v = column_from(a, j, j);
    let (beta, tau) = reflection(&mut v);
    apply_left(a, &v, tau.conjugate(), j, j + 1..end);
    store(a, j, j, beta, &v);
    tau
}

/// R over the vectors of the reflections whose product is Q; and their scales.
pub(super) fn geqrf<T: Field>(a: &mut Dense<T>) -> Result<Vec<T>> {
    let n = a.rows.min(a.columns);
    let mut taus = vec![];
    for first in (0..n).step_by(BLOCK) {
        poll()?;
        let end = n.min(first + BLOCK);
        taus.extend((first..end).map(|j| eliminate(a, j, end)).collect::<Vec<T>>());
        if end < a.columns {
            let block = Reflections::of(a, &taus, first, end);
            block.apply(a, first, end, true);
        }
    }
    Ok(taus)
}

/// The same with columns exchanged so that the diagonal falls; and where each column came from, counted from 1.
pub(super) fn geqp3<T: Field>(a: &mut Dense<T>) -> Result<(Vec<i32>, Vec<T>)> {
    let mut pivots: Vec<i32> = (1..=a.columns as i32).collect();
    let mut taus = vec![];
    for j in 0..a.rows.min(a.columns) {
        poll()?;
        let rest = (j..a.rows).flat_map(|i| (j..a.columns).map(move |column| (i, column)));
        let largest = rest.map(|(i, column)| a.at(i, column).length()).fold(0.0, f64::max);
        let largest = if largest == 0.0 { 1.0 } else { largest };
        let norm = |column: usize| (j..a.rows).map(|i| (a.at(i, column).length() / largest).powi(2)).sum::<f64>();
        let norms: Vec<f64> = (j..a.columns).map(norm).collect();
        let best = (0..norms.len()).fold(0, |best, i| if norms[i] > norms[best] { i } else { best }) + j;
        (0..a.rows).for_each(|i| a.data.swap(i * a.columns + j, i * a.columns + best));
        pivots.swap(j, best);
        let columns = a.columns;
        taus.push(eliminate(a, j, columns));
    }
    Ok((pivots, taus))
}

/// A block of reflections `I - V T Vᴴ`.
struct Reflections<T> {
    v: Dense<T>,
    t: Dense<T>,
}

impl<T: Field> Reflections<T> {
    /// Those whose vectors lie under the diagonal in columns `first..end`.
    fn of(a: &Dense<T>, taus: &[T], first: usize, end: usize) -> Reflections<T> {
        let n = end - first;
        let mut v = Dense::zeros(a.rows - first, n);
        for i in 0..v.rows {
            for j in 0..n.min(i + 1) {
                v.set(i, j, if i == j { T::unit() } else { a.at(first + i, first + j) });
            }
        }
        let mut gram = Dense::zeros(n, n);
        // SAFETY: three different matrices.
        unsafe { multiply(gram.block(), Accum::Replace, 1.0, v.block().adjoint(), v.block()) };
        let mut t = Dense::zeros(n, n);
        for j in 0..n {
            let tau = taus[first + j];
            t.set(j, j, tau);
            for i in 0..j {
                let sum = (i..j).fold(T::nil(), |sum, k| sum + t.at(i, k) * gram.at(k, j));
                t.set(i, j, -(tau * sum));
            }
        }
        Reflections { v, t }
    }

    /// `c = (I - V T Vᴴ) c`, or with Tᴴ, on rows from `row` and columns from `column`.
    fn apply(mut self, c: &mut Dense<T>, row: usize, column: usize, adjoint: bool) {
        let n = self.t.rows;
        let (mut w, mut tw) = (Dense::zeros(n, c.columns - column), Dense::zeros(n, c.columns - column));
        let t = if adjoint { self.t.block().adjoint() } else { self.t.block() };
        let (v, c) = (self.v.block(), c.part(row..c.rows, column..c.columns));
        // SAFETY: V, T, both intermediates and the result are different matrices.
        unsafe {
            multiply(w.block(), Accum::Replace, 1.0, v.adjoint(), c);
            multiply(tw.block(), Accum::Replace, 1.0, t, w.block());
            multiply(c, Accum::Add, -1.0, v, tw.block());
        }
    }
}

/// `c = Q c` or `Qᴴ c`, where Q is the product of the reflections in `a`.
///
/// # Errors
/// An interrupt.
pub(super) fn apply<T: Field>(a: &Dense<T>, taus: &[T], c: &mut Dense<T>, adjoint: bool) -> Result<()> {
    if c.columns == 0 {
        return Ok(());
    }
    let mut blocks: Vec<usize> = (0..taus.len()).step_by(BLOCK).collect();
    if !adjoint {
        blocks.reverse();
    }
    for first in blocks {
        let end = taus.len().min(first + BLOCK);
        poll()?;
        Reflections::of(a, taus, first, end).apply(c, first, 0, adjoint);
    }
    Ok(())
}

/// Hessenberg form over the vectors of the reflections, and their scales.
pub(super) fn hessenberg<T: Field>(a: &mut Dense<T>) -> Result<Vec<T>> {
    let n = a.rows;
    let mut taus = vec![];
    for j in 0..n.saturating_sub(1) {
        poll()?;
        let mut v = column_from(a, j + 1, j);
        let (beta, tau) = reflection(&mut v);
        apply_right(a, &v, tau, j + 1);
        apply_left(a, &v, tau.conjugate(), j + 1, j + 1..n);
        store(a, j + 1, j, beta, &v);
        taus.push(tau);
    }
    Ok(taus)
}

/// What remains of a Hermitian matrix: packed form, diagonal, off-diagonal, scales.
pub(super) struct Tridiagonal<T> {
    pub(super) diagonal: Vec<f64>,
    pub(super) off_diagonal: Vec<f64>,
    pub(super) taus: Vec<T>,
}

/// Tridiagonal form of the Hermitian matrix in one triangle; the vectors of the reflections are left in that triangle.
pub(super) fn tridiagonal<T: Field>(a: &mut Dense<T>, lower: bool) -> Result<Tridiagonal<T>> {
    let n = a.rows;
    let mut full = Dense::zeros(n, n);
    for i in 0..n {
        for j in 0..n {
            let (row, column) = if (i >= j) == lower { (i, j) } else { (j, i) };
            let value = if (i >= j) == lower { a.at(row, column) } else { a.at(row, column).conjugate() };
            full.set(i, j, if i == j { T::of(value.parts().0, 0.0) } else { value });
        }
    }
    let mut taus = vec![T::nil(); n.saturating_sub(1)];
    let mut off_diagonal = vec![0.0; n.saturating_sub(1)];
    let order: Vec<usize> =
        if lower { (0..n.saturating_sub(1)).collect() } else { (0..n.saturating_sub(1)).rev().collect() };
    for step in order {
        poll()?;
        // Below: column `step` from row `step + 1` down. Above: column `step + 1` from row `step` up.
        let rows: Vec<usize> = if lower { (step + 1..n).collect() } else { (0..=step).rev().collect() };
        let column = if lower { step } else { step + 1 };
        let mut v: Vec<T> = rows.iter().map(|&i| full.at(i, column)).collect();
        let (beta, tau) = reflection(&mut v);
        congruence(&mut full, &rows, &v, tau);
        off_diagonal[step] = beta.parts().0;
        taus[step] = tau;
        a.set(rows[0], column, beta);
        rows.iter().zip(&v).skip(1).for_each(|(&i, &v)| a.set(i, column, v));
    }
    let diagonal: Vec<f64> = (0..n).map(|i| full.at(i, i).parts().0).collect();
    (0..n).for_each(|i| a.set(i, i, T::of(diagonal[i], 0.0)));
    Ok(Tridiagonal { diagonal, off_diagonal, taus })
}

/// `a = Hᴴ a H`, where the vector of H lies on the given rows.
fn congruence<T: Field>(a: &mut Dense<T>, rows: &[usize], v: &[T], tau: T) {
    let n = a.rows;
    for j in 0..n {
        let sum = rows.iter().zip(v).fold(T::nil(), |sum, (&i, v)| sum + v.conjugate() * a.at(i, j));
        rows.iter().zip(v).for_each(|(&i, &v)| a.set(i, j, a.at(i, j) - tau.conjugate() * v * sum));
    }
    for i in 0..n {
        let sum = rows.iter().zip(v).fold(T::nil(), |sum, (&j, &v)| sum + a.at(i, j) * v);
        rows.iter().zip(v).for_each(|(&j, v)| a.set(i, j, a.at(i, j) - sum * tau * v.conjugate()));
    }
}
