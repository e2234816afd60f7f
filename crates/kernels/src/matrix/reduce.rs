//! Reduction of matrices to tridiagonal and bidiagonal form by Householder reflections.
//!
//! A panel of reflections is gathered before the rest of the matrix sees them, so that half of the work is products of
//! matrices (J. Dongarra, D. Sorensen, S. Hammarling, "Block reduction of matrices to condensed forms", 1989). The forms are
//! real for complex matrices, too.

use faer::Accum;
use pullback_base::Result;

use super::field::{Block, Dense, Field, multiply};
use super::householder::{self, reflection};
use super::{LONG, poll, quick};
use crate::stoppable::stoppable;

/// Reflections in a panel.
const PANEL: usize = 32;

/// Unitary matrices as reflections: vectors below the diagonal, and scales.
pub(super) struct Reflected<T> {
    vectors: Dense<T>,
    scales: Vec<T>,
    /// Rows that no reflection touches.
    skipped: usize,
}

impl<T: Field> Reflected<T> {
    /// For the square matrices of size `n`.
    pub(super) fn new(n: usize, skipped: usize) -> Reflected<T> {
        let n = n.saturating_sub(skipped);
        Reflected::of_size(n, n, skipped)
    }

    /// For so many reflections of so many rows.
    pub(super) fn of_size(rows: usize, reflections: usize, skipped: usize) -> Reflected<T> {
        Reflected { vectors: Dense::zeros(rows, reflections), scales: vec![], skipped }
    }

    /// The next reflection, whose vector begins with one.
    pub(super) fn push_tail(&mut self, tail: impl Iterator<Item = T>, tau: T) {
        let (n, j) = (self.vectors.columns, self.scales.len());
        tail.enumerate().for_each(|(i, v)| self.vectors.data[(j + 1 + i) * n + j] = v);
        self.scales.push(tau);
    }

    /// The next reflection, which begins in row `skipped + scales.len()`.
    fn push(&mut self, v: &[T], tau: T) {
        let (n, j) = (self.vectors.columns, self.scales.len());
        v.iter().enumerate().for_each(|(i, &v)| self.vectors.data[(j + i) * n + j] = v);
        self.scales.push(tau);
    }

    /// `c = Q c`.
    pub(super) fn apply(&self, c: &mut Dense<T>) -> Result<()> {
        let start = self.skipped * c.columns;
        if start >= c.data.len() || self.scales.is_empty() {
            return Ok(());
        }
        let mut inner = Dense { rows: c.rows - self.skipped, columns: c.columns, data: c.data[start..].to_vec() };
        householder::apply(&self.vectors, &self.scales, &mut inner, false)?;
        c.data[start..].copy_from_slice(&inner.data);
        Ok(())
    }
}

/// `c += factor a b`.
fn add<T: Field>(c: Block<T>, factor: f64, a: Block<T>, b: Block<T>) {
    if c.rows > 0 && c.columns > 0 && a.columns > 0 {
        // SAFETY: callers give parts of different matrices, or disjoint parts.
        unsafe { multiply(c, Accum::Add, factor, a, b) };
    }
}

/// Diagonal, off-diagonal and Q of the Hermitian matrix `Q T Qᴴ`.
pub(super) struct Tridiagonal<T> {
    pub(super) diagonal: Vec<f64>,
    pub(super) off_diagonal: Vec<f64>,
    pub(super) q: Reflected<T>,
}

/// The tridiagonal form of a matrix that is Hermitian in both triangles.
pub(super) fn tridiagonal<T: Field>(mut a: Dense<T>) -> Result<Tridiagonal<T>> {
    if !T::IS_COMPLEX {
        return stoppable(a.rows >= LONG, move || quick::tridiagonal(&a));
    }
    let n = a.rows;
    let (mut diagonal, mut off_diagonal, mut q) = (vec![], vec![], Reflected::new(n, 1));
    for first in (0..n).step_by(PANEL) {
        let end = n.min(first + PANEL);
        let (mut v, mut w) = (Dense::zeros(n, end - first), Dense::zeros(n, end - first));
        for i in first..end {
            poll()?;
            let k = i - first;
            let mut column = Dense { rows: n - i, columns: 1, data: (i..n).map(|row| a.at(row, i)).collect() };
            add(column.block(), -1.0, v.part(i..n, 0..k), w.part(i..i + 1, 0..k).adjoint());
            add(column.block(), -1.0, w.part(i..n, 0..k), v.part(i..i + 1, 0..k).adjoint());
            diagonal.push(column.data[0].parts().0);
            if i + 1 == n {
                break;
            }
            let mut vector = column.data.split_off(1);
            let (beta, tau) = reflection(&mut vector);
            off_diagonal.push(beta.parts().0);
            q.push(&vector, tau);
            v.set_column(k, i + 1, &vector);
            let image = symmetric_image(&mut a, &mut v, &mut w, i, k, tau);
            w.set_column(k, i + 1, &image);
        }
        let rest = || end..n;
        add(a.part(rest(), rest()), -1.0, v.part(rest(), 0..end - first), w.part(rest(), 0..end - first).adjoint());
        add(a.part(rest(), rest()), -1.0, w.part(rest(), 0..end - first), v.part(rest(), 0..end - first).adjoint());
    }
    Ok(Tridiagonal { diagonal, off_diagonal, q })
}

/// `w` such that the reflection in column `k` of `v` takes the rest of the matrix to itself `- v wᴴ - w vᴴ`.
fn symmetric_image<T: Field>(
    a: &mut Dense<T>,
    v: &mut Dense<T>,
    w: &mut Dense<T>,
    i: usize,
    k: usize,
    tau: T,
) -> Vec<T> {
    let rest = || i + 1..a.rows;
    let rest = (rest(), rest());
    let size = rest.0.len();
    let (mut image, mut inner) = (Dense::zeros(size, 1), Dense::zeros(k.max(1), 1));
    let vector = v.part(rest.0.clone(), k..k + 1);
    add(image.block(), 1.0, a.part(rest.0.clone(), rest.1), vector);
    if k > 0 {
        let [old_v, old_w] = [v.part(rest.0.clone(), 0..k), w.part(rest.0.clone(), 0..k)];
        for (left, right) in [(old_v, old_w), (old_w, old_v)] {
            inner.data.fill(T::nil());
            add(inner.block(), 1.0, right.adjoint(), vector);
            add(image.block(), -1.0, left, inner.block());
        }
    }
    let vector: Vec<T> = rest.0.map(|row| v.at(row, k)).collect();
    let along = vector.iter().zip(&image.data).fold(0.0, |sum, (v, &x)| sum + (v.conjugate() * x).parts().0);
    let half = T::of(-0.5 * along * tau.length().powi(2), 0.0);
    image.data.iter().zip(&vector).map(|(&x, &v)| tau * x + half * v).collect()
}

/// Diagonal, off-diagonal, Q and P of the matrix `Q B Pᴴ`, which has at least as many rows as columns.
pub(super) struct Bidiagonal<T> {
    pub(super) diagonal: Vec<f64>,
    pub(super) off_diagonal: Vec<f64>,
    pub(super) left: Reflected<T>,
    pub(super) right: Reflected<T>,
}

/// A panel `a - v yᴴ - x uᴴ`, of which `a` does not know yet.
struct Panel<T> {
    v: Dense<T>,
    y: Dense<T>,
    x: Dense<T>,
    u: Dense<T>,
}

impl<T: Field> Panel<T> {
    fn new(rows: usize, columns: usize, size: usize) -> Panel<T> {
        let [v, x] = [(); 2].map(|()| Dense::zeros(rows, size));
        let [y, u] = [(); 2].map(|()| Dense::zeros(columns, size));
        Panel { v, y, x, u }
    }

    /// Column `i` from the diagonal down, with `k` reflections of either side.
    fn column(&mut self, a: &Dense<T>, i: usize, k: usize) -> Vec<T> {
        let m = a.rows;
        let mut column = Dense { rows: m - i, columns: 1, data: (i..m).map(|row| a.at(row, i)).collect() };
        add(column.block(), -1.0, self.v.part(i..m, 0..k), self.y.part(i..i + 1, 0..k).adjoint());
        add(column.block(), -1.0, self.x.part(i..m, 0..k), self.u.part(i..i + 1, 0..k).adjoint());
        column.data
    }

    /// Row `i` to the right of the diagonal, with one more reflection from the left.
    fn row(&mut self, a: &Dense<T>, i: usize, k: usize) -> Vec<T> {
        let n = a.columns;
        let mut row = Dense { rows: 1, columns: n - i - 1, data: (i + 1..n).map(|column| a.at(i, column)).collect() };
        add(row.block(), -1.0, self.v.part(i..i + 1, 0..k + 1), self.y.part(i + 1..n, 0..k + 1).adjoint());
        add(row.block(), -1.0, self.x.part(i..i + 1, 0..k), self.u.part(i + 1..n, 0..k).adjoint());
        row.data
    }

    /// `tau aᴴ v` of the matrix as it should be, for column `k` of `v`.
    fn left_image(&mut self, a: &mut Dense<T>, i: usize, k: usize, tau: T) -> Vec<T> {
        let (rows, columns) = (i..a.rows, i + 1..a.columns);
        let mut image = Dense::zeros(columns.len(), 1);
        let vector = self.v.part(rows.clone(), k..k + 1);
        add(image.block(), 1.0, a.part(rows.clone(), columns.clone()).adjoint(), vector);
        let old = [self.v.part(rows.clone(), 0..k), self.x.part(rows, 0..k)];
        let new = [self.y.part(columns.clone(), 0..k), self.u.part(columns, 0..k)];
        subtract_images(&mut image, old, new, vector);
        image.data.into_iter().map(|x| tau * x).collect()
    }

    /// `tau a u` of the matrix as it should be, for column `k` of `u`.
    fn right_image(&mut self, a: &mut Dense<T>, i: usize, k: usize, tau: T) -> Vec<T> {
        let (rows, columns) = (i + 1..a.rows, i + 1..a.columns);
        let mut image = Dense::zeros(rows.len(), 1);
        let vector = self.u.part(columns.clone(), k..k + 1);
        add(image.block(), 1.0, a.part(rows.clone(), columns.clone()), vector);
        let old = [self.y.part(columns.clone(), 0..k + 1), self.u.part(columns, 0..k)];
        let new = [self.v.part(rows.clone(), 0..k + 1), self.x.part(rows, 0..k)];
        subtract_images(&mut image, old, new, vector);
        image.data.into_iter().map(|x| tau * x).collect()
    }
}

/// `image -= Σ new (oldᴴ vector)`.
fn subtract_images<T: Field>(image: &mut Dense<T>, old: [Block<T>; 2], new: [Block<T>; 2], vector: Block<T>) {
    for (old, new) in old.into_iter().zip(new) {
        let mut inner = Dense::zeros(old.columns, 1);
        add(inner.block(), 1.0, old.adjoint(), vector);
        add(image.block(), -1.0, new, inner.block());
    }
}

/// The bidiagonal form of a matrix with at least as many rows as columns.
pub(super) fn bidiagonal<T: Field>(mut a: Dense<T>) -> Result<Bidiagonal<T>> {
    if !T::IS_COMPLEX {
        return stoppable(a.columns >= LONG, move || quick::bidiagonal(&a));
    }
    let (m, n) = (a.rows, a.columns);
    let (left, right) = (Reflected::of_size(m, n, 0), Reflected::new(n, 1));
    let mut form = Bidiagonal { diagonal: vec![], off_diagonal: vec![], left, right };
    for first in (0..n).step_by(PANEL) {
        let end = n.min(first + PANEL);
        let mut panel = Panel::new(m, n, end - first);
        for i in first..end {
            poll()?;
            form.reduce(&mut a, &mut panel, i, i - first);
        }
        let size = end - first;
        add(a.part(end..m, end..n), -1.0, panel.v.part(end..m, 0..size), panel.y.part(end..n, 0..size).adjoint());
        add(a.part(end..m, end..n), -1.0, panel.x.part(end..m, 0..size), panel.u.part(end..n, 0..size).adjoint());
    }
    Ok(form)
}

impl<T: Field> Bidiagonal<T> {
    /// Column `i` and what is then to the right of the diagonal.
    fn reduce(&mut self, a: &mut Dense<T>, panel: &mut Panel<T>, i: usize, k: usize) {
        let mut column = panel.column(a, i, k);
        let (beta, tau) = reflection(&mut column);
        self.diagonal.push(beta.parts().0);
        self.left.push(&column, tau);
        panel.v.set_column(k, i, &column);
        let image = panel.left_image(a, i, k, tau);
        panel.y.set_column(k, i + 1, &image);
        if i + 1 == a.columns {
            return;
        }
        let mut row: Vec<T> = panel.row(a, i, k).into_iter().map(Field::conjugate).collect();
        let (beta, tau) = reflection(&mut row);
        self.off_diagonal.push(beta.parts().0);
        self.right.push(&row, tau);
        panel.u.set_column(k, i + 1, &row);
        let image = panel.right_image(a, i, k, tau);
        panel.x.set_column(k, i + 1, &image);
    }
}
