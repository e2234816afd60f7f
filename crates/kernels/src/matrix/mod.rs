//! Factorizations and solutions of batches of matrices.
//!
//! Threads share a batch; one matrix is worked on by one thread, so results do not depend on their number.

mod divide;
mod field;
mod francis;
mod householder;
mod quick;
mod reduce;
mod schur;
mod secular;
mod small;
mod solve;
mod spectral;

use faer::{c32, c64};
use pullback_base::{DType, Result, bail};
use pullback_loops::{Matrix, MatrixTask};
use pullback_runtime::interrupt::{self, shared_pieces};

use crate::typed::{Plain, Shared, operand, result};
use field::{Dense, Field};
use solve::{Triangular, ZeroPivot};

/// Multiplications from which on threads share a batch.
const SHARED: usize = 1 << 14;
/// Rows from which on the work of a library on a matrix may take longer than an interrupt may wait.
const LONG: usize = 400;

/// What is asked of checked operands.
pub(crate) fn matrix(matrix: &Matrix, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    match matrix.dtype {
        DType::I32 => permutations(matrix, ins, outs),
        DType::F32 => run::<f32>(matrix, ins, outs),
        DType::F64 => run::<f64>(matrix, ins, outs),
        DType::C64 => run::<c32>(matrix, ins, outs),
        DType::C128 => run::<c64>(matrix, ins, outs),
        other => bail!(NotImplemented, "there are no factorizations of {other}"),
    }
}

/// The permutations that exchanges lead to.
fn permutations(matrix: &Matrix, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    let (MatrixTask::PivotsToPermutation, [pivots], [out]) = (matrix.task, ins, outs) else {
        bail!(Internal, "{:?} is not a task on integers", matrix.task)
    };
    let pivots = operand::<i32>(pivots, matrix.batch * matrix.rows)?;
    let out = result::<i32>(out, matrix.batch * matrix.columns)?;
    for problem in 0..matrix.batch {
        let to = &mut out[problem * matrix.columns..][..matrix.columns];
        to.iter_mut().zip(0..).for_each(|(to, i)| *to = i);
        for (i, &pivot) in pivots[problem * matrix.rows..][..matrix.rows].iter().enumerate() {
            // Pivots come from the user: those outside exchange nothing.
            if let Some(pivot) = usize::try_from(pivot).ok().filter(|&pivot| pivot < to.len()) {
                to.swap(i, pivot);
            }
        }
    }
    Ok(())
}

/// Operands and results of all tasks: one kind of element each, in order.
struct Arguments<'a, T: Field> {
    matrix: &'a Matrix,
    ins: &'a [&'a [u8]],
    outs: Vec<(Shared<u8>, usize)>,
    part: std::marker::PhantomData<T>,
}

impl<T: Field> Arguments<'_, T> {
    /// Operand `number` of one problem, of so many elements.
    fn operand<U: Plain>(&self, number: usize, problem: usize, len: usize) -> Result<&[U]> {
        let Some(bytes) = self.ins.get(number) else { bail!(Internal, "{:?} lacks an operand", self.matrix.task) };
        Ok(&operand::<U>(bytes, self.matrix.batch * len)?[problem * len..][..len])
    }

    fn dense(&self, number: usize, problem: usize, rows: usize, columns: usize) -> Result<Dense<T>> {
        Ok(Dense::of(self.operand::<T>(number, problem, rows * columns)?, rows, columns))
    }

    fn main(&self, problem: usize) -> Result<Dense<T>> {
        self.dense(0, problem, self.matrix.rows, self.matrix.columns)
    }

    /// Stores result `number` of one problem.
    fn give<U: Plain>(&self, number: usize, problem: usize, values: &[U]) -> Result<()> {
        let Some((bytes, n_bytes)) = self.outs.get(number) else {
            bail!(Internal, "{:?} lacks a result", self.matrix.task)
        };
        let size = size_of_val(values);
        if *n_bytes < size * self.matrix.batch {
            bail!(Internal, "a result of {:?} has {n_bytes} bytes", self.matrix.task);
        }
        // SAFETY: problems have disjoint parts of a result.
        let to = result::<U>(unsafe { bytes.part(problem * size, size) }, values.len())?;
        to.copy_from_slice(values);
        Ok(())
    }

    fn give_reals(&self, number: usize, problem: usize, values: &[f64]) -> Result<()> {
        self.give(number, problem, &values.iter().map(|&value| T::real_part(value)).collect::<Vec<T::Part>>())
    }

    /// Complex numbers in the complex type of the elements.
    fn give_pairs(&self, number: usize, problem: usize, values: &[(f64, f64)]) -> Result<()> {
        let parts: Vec<T::Part> = values.iter().flat_map(|&(re, im)| [T::real_part(re), T::real_part(im)]).collect();
        self.give(number, problem, &parts)
    }
}

fn run<T: Field>(matrix: &Matrix, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    let outs = outs.iter_mut().map(|out| (Shared::new(out), out.len())).collect();
    let arguments = Arguments::<T> { matrix, ins, outs, part: std::marker::PhantomData };
    let failed = std::sync::Mutex::new(None);
    let work = |problem: usize| {
        if let Err(error) = one(&arguments, problem) {
            *failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
        }
    };
    let size = matrix.rows * matrix.columns * matrix.rows.min(matrix.columns);
    if matrix.batch * size < SHARED {
        (0..matrix.batch).for_each(work);
    } else {
        shared_pieces(matrix.batch, &work)?;
    }
    failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Between pieces of work on one matrix: an error when the user wants an end.
fn poll() -> Result<()> {
    if interrupt::is_raised() { Err(interrupt::interrupted()) } else { Ok(()) }
}

/// One matrix of the batch.
fn one<T: Field>(arguments: &Arguments<'_, T>, problem: usize) -> Result<()> {
    let (give, matrix) = (arguments, arguments.matrix);
    match matrix.task {
        MatrixTask::Cholesky => give.give(0, problem, &solve::cholesky(arguments.main(problem)?)?.data),
        MatrixTask::Lu => {
            let mut a = arguments.main(problem)?;
            let (pivots, permutation) = solve::lu(&mut a)?;
            give.give(0, problem, &a.data)?;
            give.give(1, problem, &pivots)?;
            give.give(2, problem, &permutation)
        }
        MatrixTask::Geqrf => {
            let mut a = arguments.main(problem)?;
            let taus = householder::geqrf(&mut a)?;
            give.give(0, problem, &a.data)?;
            give.give(1, problem, &taus)
        }
        MatrixTask::Geqp3 => {
            let mut a = arguments.main(problem)?;
            let (pivots, taus) = householder::geqp3(&mut a)?;
            give.give(0, problem, &a.data)?;
            give.give(1, problem, &pivots)?;
            give.give(2, problem, &taus)
        }
        MatrixTask::HouseholderProduct { reflections } => {
            let (a, taus) = (arguments.main(problem)?, arguments.operand::<T>(1, problem, reflections)?);
            let mut q = Dense::identity(a.rows, a.columns);
            householder::apply(&a, taus, &mut q, false)?;
            give.give(0, problem, &q.data)
        }
        MatrixTask::Ormqr { reflections, other, left, transpose } => {
            let (a, taus) = (arguments.main(problem)?, arguments.operand::<T>(1, problem, reflections)?);
            let c = arguments.dense(2, problem, other[0], other[1])?;
            give.give(0, problem, &multiplied(&a, taus, c, left, transpose)?.data)
        }
        MatrixTask::Eigh { lower } => {
            let (vectors, values) = spectral::eigh(&arguments.main(problem)?, lower)?;
            give.give(0, problem, &vectors.data)?;
            give.give_reals(1, problem, &values)
        }
        MatrixTask::Eig { left, right } => {
            let found = spectral::eig(&arguments.main(problem)?, left, right)?;
            give.give_pairs(0, problem, &found.values)?;
            if left {
                give.give_pairs(1, problem, &found.left)?;
            }
            if right { give.give_pairs(1 + usize::from(left), problem, &found.right) } else { Ok(()) }
        }
        MatrixTask::Svd { vectors, full } => {
            let (u, values, vh) = spectral::svd(&arguments.main(problem)?, vectors, full)?;
            give.give_reals(0, problem, &values)?;
            if !vectors {
                return Ok(());
            }
            give.give(1, problem, &u.data)?;
            give.give(2, problem, &vh.data)
        }
        MatrixTask::Schur { vectors } => {
            let a = arguments.main(problem)?;
            let (t, z) = spectral::schur_form(&a)?;
            give.give(0, problem, &t.data)?;
            if vectors { give.give(1, problem, &z.data) } else { Ok(()) }
        }
        MatrixTask::PivotsToPermutation => bail!(Internal, "exchanges are integers"),
        MatrixTask::Hessenberg => {
            let mut a = arguments.main(problem)?;
            let taus = householder::hessenberg(&mut a)?;
            give.give(0, problem, &a.data)?;
            give.give(1, problem, &taus)
        }
        MatrixTask::Tridiagonal { lower } => {
            let mut a = arguments.main(problem)?;
            let found = householder::tridiagonal(&mut a, lower)?;
            give.give(0, problem, &a.data)?;
            give.give_reals(1, problem, &found.diagonal)?;
            give.give_reals(2, problem, &found.off_diagonal)?;
            give.give(3, problem, &found.taus)
        }
        MatrixTask::TriangularSolve { other, left, lower, transpose, conjugate, unit } => {
            let mut b = arguments.dense(1, problem, other[0], other[1])?;
            let system = Triangular { left, lower, transpose, conjugate, unit };
            solve::triangular(system, &arguments.main(problem)?, &mut b)?;
            give.give(0, problem, &b.data)
        }
        MatrixTask::TridiagonalSolve { perturb } => {
            let [lower, main, upper] = [0, 1, 2].map(|i| arguments.operand::<T>(i, problem, matrix.rows));
            let mut b = arguments.dense(3, problem, matrix.rows, matrix.columns)?;
            let zero_pivot = if perturb { ZeroPivot::Least } else { ZeroPivot::Nan };
            solve::tridiagonal(lower?, main?, upper?, zero_pivot, &mut b)?;
            give.give(0, problem, &b.data)
        }
    }
}

/// `Q c`, `Qᴴ c`, `c Q` or `c Qᴴ`.
fn multiplied<T: Field>(a: &Dense<T>, taus: &[T], mut c: Dense<T>, left: bool, transpose: bool) -> Result<Dense<T>> {
    if left {
        householder::apply(a, taus, &mut c, transpose)?;
        return Ok(c);
    }
    let mut turned = c.adjoint();
    householder::apply(a, taus, &mut turned, !transpose)?;
    Ok(turned.adjoint())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(rows: usize, columns: usize) -> Dense<f64> {
        let value = |i: usize| ((i * 7919 + 13) % 31) as f64 / 7.0 - 2.0;
        Dense { rows, columns, data: (0..rows * columns).map(value).collect() }
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

    fn check_close(a: &Dense<f64>, b: &Dense<f64>) {
        assert_eq!((a.rows, a.columns), (b.rows, b.columns));
        for (x, y) in a.data.iter().zip(&b.data) {
            assert!((x - y).abs() < 1e-9 * (1.0 + x.abs()), "{x} for {y}");
        }
    }

    fn upper(a: &Dense<f64>) -> Dense<f64> {
        let mut out = Dense::zeros(a.rows.min(a.columns), a.columns);
        (0..out.rows).for_each(|i| (i..a.columns).for_each(|j| out.set(i, j, a.at(i, j))));
        out
    }

    #[test]
    fn q_times_r_is_the_matrix() {
        for (m, n) in [(1, 1), (3, 3), (5, 3), (3, 5), (70, 40), (40, 70), (64, 64)] {
            let a = sample(m, n);
            let mut packed = a.clone();
            let taus = householder::geqrf(&mut packed).expect("it is not interrupted");
            let mut q = Dense::identity(m, m.min(n));
            householder::apply(&packed, &taus, &mut q, false).expect("it is not interrupted");
            check_close(&times(&q, &upper(&packed)), &a);
            check_close(&times(&q.adjoint(), &q), &Dense::identity(m.min(n), m.min(n)));
            let back = multiplied(&packed, &taus, a.clone(), true, true).expect("it is not interrupted");
            check_close(&upper(&back), &upper(&packed));
        }
    }

    #[test]
    fn pivots_lead_to_the_permutation() {
        for (m, n) in [(1, 1), (4, 4), (6, 3), (3, 6), (50, 50)] {
            let a = sample(m, n);
            let mut packed = a.clone();
            let (pivots, permutation) = solve::lu(&mut packed).expect("it is not interrupted");
            let mut rows: Vec<i32> = (0..m as i32).collect();
            pivots.iter().enumerate().for_each(|(i, &pivot)| rows.swap(i, pivot as usize));
            assert_eq!(rows, permutation);
            let mut l = Dense::identity(m, m.min(n));
            (0..m).for_each(|i| (0..i.min(m.min(n))).for_each(|j| l.set(i, j, packed.at(i, j))));
            let mut moved = Dense::zeros(m, n);
            (0..m).for_each(|i| (0..n).for_each(|j| moved.set(i, j, a.at(permutation[i] as usize, j))));
            check_close(&times(&l, &upper(&packed)), &moved);
        }
    }

    #[test]
    fn singular_matrices_have_factors() {
        let mut a = Dense::of(&[1.0, 2.0, 2.0, 4.0], 2, 2);
        solve::lu(&mut a).expect("it is not interrupted");
        assert_eq!(a.data, [2.0, 4.0, 0.5, 0.0]);
        let mut zero = Dense::<f64>::zeros(2, 2);
        solve::lu(&mut zero).expect("it is not interrupted");
        assert_eq!(zero.data, [0.0; 4]);
    }

    #[test]
    fn triangular_systems_of_all_kinds() {
        let a = sample(4, 4);
        for bits in 0..8 {
            let (left, lower, transpose) = (bits & 1 == 1, bits & 2 == 2, bits & 4 == 4);
            let mut triangle = Dense::zeros(4, 4);
            for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
                if (lower && i >= j) || (!lower && i <= j) {
                    triangle.set(i, j, a.at(i, j) + if i == j { 9.0 } else { 0.0 });
                }
            }
            let b = if left { sample(4, 2) } else { sample(2, 4) };
            let mut x = b.clone();
            let system = Triangular { left, lower, transpose, conjugate: false, unit: false };
            solve::triangular(system, &triangle, &mut x).expect("it is not interrupted");
            let op = if transpose { triangle.adjoint() } else { triangle };
            check_close(&if left { times(&op, &x) } else { times(&x, &op) }, &b);
        }
    }

    #[test]
    fn tridiagonal_systems_need_exchanges() {
        let (lower, main, upper) = ([0.0, 3.0, 1.0], [0.0, 1.0, 2.0], [2.0, 5.0, 0.0]);
        let mut b = Dense::of(&[2.0, 9.0, 3.0], 3, 1);
        solve::tridiagonal(&lower, &main, &upper, ZeroPivot::Nan, &mut b).expect("it is not interrupted");
        check_close(&b, &Dense::of(&[1.0, 1.0, 1.0], 3, 1));
    }

    #[test]
    fn the_tridiagonal_form_has_the_eigenvalues() {
        let a = sample(5, 5);
        let mut symmetric = Dense::zeros(5, 5);
        (0..5).for_each(|i| (0..5).for_each(|j| symmetric.set(i, j, a.at(i, j) + a.at(j, i))));
        let (_, expect) = spectral::eigh(&symmetric, true).expect("it is not interrupted");
        for lower in [true, false] {
            let mut packed = symmetric.clone();
            let found = householder::tridiagonal(&mut packed, lower).expect("it is not interrupted");
            let mut t = Dense::zeros(5, 5);
            (0..5).for_each(|i| t.set(i, i, found.diagonal[i]));
            (0..4).for_each(|i| t.set(i + 1, i, found.off_diagonal[i]));
            let (_, got) = spectral::eigh(&t, true).expect("it is not interrupted");
            check_close(&Dense::of(&got, 1, 5), &Dense::of(&expect, 1, 5));
        }
    }
}
