//! Functions of matrices: exponential, square root, and those of eigenvalues.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::factorizations::complex_schur;
use super::solutions::{Turn, solve_triangular};
use crate::axes::Axes;
use crate::convert::literal;
use crate::declare::{Callable, OneOrTuple};
use crate::formula::{Formula, abs, full_like, is_finite, maximum, minimum, of, where_};
use crate::indexing::{IndexItem, Update, UpdateOptions, getitem, update};
use crate::lax;
use crate::lax::linalg::{adjoint, column, is_square};
use crate::loops;
use crate::numpy::linalg::{NormOrder, eps, inexact_of, inexact_one, norm, real_dtype};
use crate::numpy::{self, Reduction};

// Coefficients of the diagonal Padé approximants of exp, and the norms up to which they are exact: N. Higham, "The scaling
// and squaring method for the matrix exponential revisited", 2005.
const PADE_7: [f64; 8] = [17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0];
const PADE_13: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];

/// The exponential of matrices, `Σ Aᵏ / k!`, by a Padé approximant of a scaled matrix and repeated squaring.
///
/// N. Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.
///
/// Args:
///   A: real or complex `[..., n, n]`; integers become floating.
///   upper_triangular: whether it is so; then a triangular system is solved.
///   max_squarings: how often to square at most; a matrix whose norm asks for more gives NaN.
/// Returns: an array of the shape of `A`.
/// Raises:
///   ValueError: the matrices are not square.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.expm(jnp.array([[0.0, 1.0], [0.0, 0.0]])))
///   [[1. 1.]
///    [0. 1.]]
#[public("scipy.linalg.expm(A, *, upper_triangular=False, max_squarings=16)")]
pub fn expm(a: &Val, upper_triangular: bool, max_squarings: i64) -> Result<Val> {
    let a = inexact_one(a)?;
    if !is_square(&a) {
        bail!(Value, "Expected A to be a (batched) square matrix, got A.shape={}.", tuple_text(&a.aval().shape));
    }
    let dtype = a.aval().dtype;
    let (bound, coefficients) = match real_dtype(dtype) {
        DType::F64 => (5.371920351148152, &PADE_13[..]),
        _ => (3.925_724_783_138_66, &PADE_7[..]),
    };
    let sums = numpy::sum(&numpy::absolute(&a)?, &Reduction::over(Axes::One(-2), false))?;
    let from = Reduction { initial: Some(crate::convert::weak_int(0)), ..Reduction::over(Axes::One(-1), false) };
    let norm = of(&lax::stop_gradient(&numpy::max(&sums, &from)?)?);
    let squarings = maximum(&norm / bound, 1e-30).then(numpy::log2).then(numpy::ceil);
    let squarings = maximum(0, squarings).astype(DType::I32).done()?;
    let of_each = |x: &Val| column(&column(x)?);
    let scale = of(&squarings).typed_as(&norm).then(numpy::exp2).astype(dtype).then(of_each);
    let result = pade(&(of(&a) / scale), coefficients, upper_triangular)?;
    let result = squared(&result, &squarings, max_squarings.max(0) as usize)?;
    let is_too_great = of(&squarings).gt(max_squarings).then(of_each);
    where_(is_too_great, literal(dtype, f64::NAN), &result).done()
}

/// The quotient of two polynomials of a matrix.
fn pade(x: &Formula, coefficients: &[f64], upper_triangular: bool) -> Result<Val> {
    let x = x.clone().done()?;
    let n = x.aval().shape[x.aval().rank() - 1] as i64;
    let (square, eye) = (of(&x).times(&x), of(&numpy::eye(n, None, 0, Some(x.aval().dtype))?));
    let count = coefficients.len();
    let (mut even, mut odd) = (coefficients[count - 2] * &eye, coefficients[count - 1] * &eye);
    for i in (0..=count - 4).rev().step_by(2) {
        even = even.times(&square) + coefficients[i] * &eye;
        odd = odd.times(&square) + coefficients[i + 1] * &eye;
    }
    let u = of(&x).times(odd);
    let (p, q) = ((&even + &u).done()?, (&even - &u).done()?);
    if upper_triangular {
        return solve_triangular(&q, &p, Turn("0".to_string()), false, false);
    }
    numpy::linalg::solve(&q, &p)
}

/// Squares a matrix as often as asked for; many matrices together, each where it is its turn.
fn squared(x: &Val, squarings: &Val, most: usize) -> Result<Val> {
    let counts = lax::iota(DType::I32, most)?;
    let found = loops::scan(std::slice::from_ref(x), &[counts], most, |carry, slices| {
        let goes_on = numpy::less(&slices[0], squarings)?;
        let square = |carry: &[Val]| Ok(vec![numpy::matmul(&carry[0], &carry[0], None)?]);
        if squarings.aval().rank() == 0 {
            return Ok(loops::cond(&goes_on, carry, square, |carry| Ok(carry.to_vec()))?.into_vec());
        }
        let goes_on = column(&column(&goes_on)?)?;
        Ok(vec![numpy::where_(&goes_on, &square(carry)?[0], &carry[0])?])
    })?;
    Ok(found[0].clone())
}

/// The exponential of `A`, and its derivative in the direction `E`.
///
/// Args:
///   A: a real or complex matrix `[n, n]`.
///   E: a matrix `[n, n]`.
///   method: accepted for compatibility; the derivative is that of `expm`.
///   compute_expm: whether to give the exponential too.
/// Returns: the pair of matrices `[n, n]`, or only the derivative.
/// Raises:
///   ValueError: `A` is not square, or `E` has another shape.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.expm_frechet(jnp.zeros((2, 2)), jnp.eye(2), compute_expm=False))
///   [[1. 0.]
///    [0. 1.]]
#[public("scipy.linalg.expm_frechet(A: Convertible, E: Convertible, *, method: Ignored=None, compute_expm=True)")]
pub fn expm_frechet(a: &Val, e: &Val, compute_expm: bool) -> Result<OneOrTuple> {
    let ins = inexact_of(&[a.clone(), e.clone()])?;
    let (a, e) = (tuple_text(&ins[0].aval().shape), tuple_text(&ins[1].aval().shape));
    if ins[0].aval().rank() != 2 || !is_square(&ins[0]) {
        bail!(Value, "expected A to be a square matrix, got A.shape={a}");
    }
    if a != e {
        bail!(Value, "expected A and E to be the same shape, got A.shape={a} E.shape={e}");
    }
    let mut run = |args: &[Val]| Ok(vec![expm(&args[0], false, 16)?]);
    let (values, dots) = pullback_trace::jvp(&mut run, &ins[..1], &[Some(ins[1].clone())])?;
    let derivative = match &dots[0] {
        Some(dot) => dot.clone(),
        None => lax::full_like(&values[0], 0.0)?,
    };
    Ok(if compute_expm { OneOrTuple::Tuple(vec![values[0].clone(), derivative]) } else { OneOrTuple::One(derivative) })
}

/// The upper triangle with a given diagonal, filled column by column from the diagonal upward.
///
/// `entry(f, i, j)` gives an element from those below it and to its left.
fn triangular_function(
    n: usize,
    diagonal: &Val,
    entry: impl Fn(&Formula, &IndexItem, &IndexItem) -> Formula,
) -> Result<Val> {
    let literal = |value: i64| literal(DType::I32, value as f64);
    let next = |count: &Val| lax::add(count, &literal(1));
    let start = [literal(1), numpy::diag(diagonal, 0)?];
    let is_left = |carry: &[Val]| lax::lt(&carry[0], &literal(n as i64));
    let filled = loops::while_loop(&start, is_left, |columns| {
        let j = columns[0].clone();
        let start = [literal(0), columns[1].clone()];
        let of_column = |carry: &[Val]| lax::lt(&carry[0], &j);
        let column = loops::while_loop(&start, of_column, |carry| {
            let i = lax::sub(&lax::sub(&j, &literal(1))?, &carry[0])?;
            let place = [IndexItem::Array(i), IndexItem::Array(j.clone())];
            let found = entry(&of(&carry[1]), &place[0], &place[1]).done()?;
            let filled = update(&Update::Set, &carry[1], &place, &found, &UpdateOptions::default())?;
            Ok(vec![next(&carry[0])?, filled])
        })?;
        Ok(vec![next(&columns[0])?, column[1].clone()])
    })?;
    Ok(filled[1].clone())
}

/// `x / gap`, and what stands for it where the gap is 0.
fn over_gap(x: Formula, gap: &Formula, of_none: Formula) -> Formula {
    let is_none = gap.is(0);
    where_(&is_none, of_none, x / where_(&is_none, full_like(gap, 1.0), gap))
}

/// The principal square root of a matrix, from its Schur form.
///
/// Å. Björck and S. Hammarling, "A Schur method for the square root of a matrix", 1983.
///
/// Args:
///   A: a real or complex matrix `[n, n]`.
///   blocksize: must be 1.
/// Returns: a complex matrix `[n, n]`.
/// Raises:
///   NotImplementedError: a block size above 1.
///   ValueError: `A` is not square.
/// Differentiable: no; a derivative raises NotImplementedError.
/// Example:
///   >>> print(jax.scipy.linalg.sqrtm(jnp.array([[4.0, 0.0], [0.0, 9.0]])).real)
///   [[2. 0.]
///    [0. 3.]]
#[public("scipy.linalg.sqrtm(A, blocksize=1)")]
pub fn sqrtm(a: &Val, blocksize: i64) -> Result<Val> {
    if blocksize > 1 {
        bail!(NotImplemented, "Blocked version is not implemented yet.");
    }
    let a = inexact_one(a)?;
    if a.aval().rank() > 2 {
        bail!(Value, "sqrtm takes a matrix [n, n], got shape {}", tuple_text(&a.aval().shape));
    }
    let (t, z) = complex_schur(&a)?;
    let n = t.aval().shape[0];
    let known = of(&t);
    let entry = |r: &Formula, i: &IndexItem, j: &IndexItem| {
        let gap = r.at(&[i.clone(), i.clone()]) + r.at(&[j.clone(), j.clone()]);
        let product = r.at(std::slice::from_ref(i)).dot(r.at(&[IndexItem::ALL, j.clone()]));
        let inner = known.at(&[i.clone(), j.clone()]) - product;
        over_gap(inner, &gap, full_like(&gap, 0.0))
    };
    let root = triangular_function(n, &numpy::sqrt(&numpy::diagonal(&t, 0, [0, 1])?)?, entry)?;
    of(&z).times(&root).times(adjoint(&z)).done()
}

/// A function of a matrix, from that of the eigenvalues in its Schur form.
///
/// B. Parlett, "A recurrence among the elements of functions of triangular matrices", 1976. Where eigenvalues are
/// equal the
/// result is not exact.
///
/// Args:
///   A: a real or complex matrix `[n, n]`.
///   func: an elementwise function of complex arrays.
///   disp: whether the estimate of the error is left out of the result.
/// Returns: a complex matrix `[n, n]`; without `disp` also an estimate of the relative error.
/// Raises:
///   ValueError: `A` is not square.
/// Differentiable: no; a derivative raises NotImplementedError.
/// Example:
///   >>> print(jax.scipy.linalg.funm(jnp.array([[1.0, 0.0], [0.0, 3.0]]), lambda x: x * x).real)
///   [[1. 0.]
///    [0. 9.]]
#[public("scipy.linalg.funm(A: Convertible, func, disp=True)")]
pub fn funm(a: &Val, func: Callable, disp: bool) -> Result<OneOrTuple> {
    super::factorizations::check_factored(a, "schur")?;
    let a = inexact_one(a)?;
    if a.aval().rank() != 2 || !is_square(&a) {
        bail!(Value, "expected square array_like input");
    }
    let (t, z) = complex_schur(&a)?;
    let (n, dtype) = (t.aval().shape[0], t.aval().dtype);
    let values = numpy::diagonal(&t, 0, [0, 1])?;
    let result = numpy::astype(&func.call(std::slice::from_ref(&values))?, dtype)?;
    let places = of(&lax::iota(crate::convert::default_int(), n)?);
    let (known, eigenvalues) = (of(&t), of(&values));
    let entry = |f: &Formula, i: &IndexItem, j: &IndexItem| {
        let [row, column] = [i, j].map(|item| match item {
            IndexItem::Array(at) => of(at),
            _ => unreachable!("entries are at computed places"),
        });
        let between = places.gt(row) & places.lt(column);
        let of_row = |x: &Formula| x.at(std::slice::from_ref(i));
        let of_column = |x: &Formula| x.at(&[IndexItem::ALL, j.clone()]);
        let terms = of_row(&known) * of_column(f) - of_row(f) * of_column(&known);
        let sums = where_(between, terms, literal(dtype, 0.0)).total();
        let gap = eigenvalues.at(std::slice::from_ref(j)) - eigenvalues.at(std::slice::from_ref(i));
        let difference = f.at(&[j.clone(), j.clone()]) - f.at(&[i.clone(), i.clone()]);
        let inner = known.at(&[i.clone(), j.clone()]) * difference + sums;
        over_gap(inner.clone(), &gap, inner)
    };
    let out = of(&z).times(triangular_function(n, &result, entry)).times(adjoint(&z)).done()?;
    if disp {
        return Ok(OneOrTuple::One(out));
    }
    let error = estimated_error(&t, &values, &out)?;
    Ok(OneOrTuple::Tuple(vec![out, error]))
}

/// The relative error of a function of a triangular matrix, from the least distance of eigenvalues.
fn estimated_error(t: &Val, values: &Val, out: &Val) -> Result<Val> {
    let eps = eps(t.aval().dtype);
    let eye = numpy::eye(values.aval().size() as i64, None, 0, Some(DType::Bool))?;
    let row = of(&getitem(values, &[IndexItem::NewAxis])?);
    let gaps = abs(Formula::from(column(values)) - row) + where_(&eye, f64::INFINITY, 0);
    let least = minimum(1, gaps.then(|gaps| numpy::min(gaps, &Reduction::default())));
    let least = where_(least.is(0), eps, &least);
    let bound = norm(&numpy::triu(t, 1)?, Some(&NormOrder::Int(1)), &Axes::All, false)?;
    let error = minimum(1, maximum(eps, eps / least * &bound));
    let is_known = is_finite(out).then(|known| numpy::all(known, &Reduction::default()));
    where_(is_known, &error, full_like(&error, f64::INFINITY)).done()
}
