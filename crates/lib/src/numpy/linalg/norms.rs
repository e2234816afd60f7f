//! Norms of vectors and matrices, and what follows from them: ranks and condition numbers.

use std::fmt;

use pullback_base::aval::tuple_text;
use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{inexact_one, last_item, sizes, solutions::inv};
use crate::axes::{Axes, canonical_axis};
use crate::convert::{literal, to_dtype, weak_float, weak_int};
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::formula::of;
use crate::lax::linalg::{self as lin, column};
use crate::numpy::{self, Order, Reduction};

/// The order of a norm.
#[derive(Clone, PartialEq, Debug)]
pub enum NormOrder {
    /// A whole number.
    Int(i64),
    /// Any number.
    Float(f64),
    /// The name of a norm of matrices.
    Name(String),
}

impl NormOrder {
    fn number(&self) -> Option<f64> {
        match self {
            NormOrder::Int(order) => Some(*order as f64),
            NormOrder::Float(order) => Some(*order),
            NormOrder::Name(_) => None,
        }
    }
}

impl fmt::Display for NormOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NormOrder::Int(order) => write!(f, "{order}"),
            NormOrder::Float(order) => write!(f, "{order:?}"),
            NormOrder::Name(name) => f.write_str(name),
        }
    }
}

impl Argument for NormOrder {
    const TYPE: Type = Type { python: "int | float | str", rust: "impl Into<NormOrder>" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<NormOrder> {
        if let Ok(order) = args.int(at) {
            return Ok(NormOrder::Int(order));
        }
        if let Ok(name) = args.text(at) {
            return Ok(NormOrder::Name(name));
        }
        args.float(at).map(NormOrder::Float)
    }
    fn absent(default: Constant) -> NormOrder {
        match default {
            Constant::Int(order) => NormOrder::Int(order),
            Constant::Float(order) => NormOrder::Float(order),
            Constant::Text(name) => NormOrder::Name(name.to_string()),
            other => panic!("{other:?} is declared as the default of a norm's order"),
        }
    }
}

/// The root of the sum of squares.
fn euclidean(x: &Val, axes: Axes, keepdims: bool) -> Result<Val> {
    let squares = numpy::real(&(of(x) * numpy::conjugate(x)).done()?)?;
    numpy::sqrt(&numpy::sum(&squares, &Reduction::over(axes, keepdims))?)
}

/// The greatest of numbers that are not negative; 0 of none.
fn greatest(x: &Val, axis: i64, keepdims: bool) -> Result<Val> {
    numpy::max(x, &Reduction { initial: Some(weak_int(0)), ..Reduction::over(Axes::One(axis), keepdims) })
}

fn along_vectors(x: &Val, order: Option<&NormOrder>, axis: i64, keepdims: bool) -> Result<Val> {
    let over = Reduction::over(Axes::One(axis), keepdims);
    let Some(order) = order else { return euclidean(x, Axes::One(axis), keepdims) };
    let Some(number) = order.number() else { bail!(Value, "Invalid order '{order}' for vector norm.") };
    if number == 2.0 {
        return euclidean(x, Axes::One(axis), keepdims);
    }
    let absolute = numpy::absolute(x)?;
    match number {
        f64::INFINITY => greatest(&absolute, axis, keepdims),
        f64::NEG_INFINITY => numpy::min(&absolute, &over),
        0.0 => {
            let is_nonzero = numpy::not_equal(x, &weak_int(0))?;
            numpy::sum(&is_nonzero, &Reduction { dtype: Some(absolute.aval().dtype), ..over })
        }
        1.0 => numpy::sum(&absolute, &over),
        _ => {
            let exponent = if let NormOrder::Int(order) = order { weak_int(*order) } else { weak_float(number) };
            let powers = of(&absolute).to_the(&exponent);
            powers.then(|powers| numpy::sum(powers, &over)).to_the(weak_float(1.0 / number)).done()
        }
    }
}

fn of_matrices(x: &Val, order: Option<&NormOrder>, axes: [i64; 2], keepdims: bool) -> Result<Val> {
    let [row, column] = axes;
    let name = if let Some(NormOrder::Name(name)) = order { name.as_str() } else { "" };
    let number = order.and_then(NormOrder::number);
    if order.is_none() || matches!(name, "fro" | "f") {
        return euclidean(x, Axes::Many(axes.to_vec()), keepdims);
    }
    if let Some(number) = number.filter(|number| number.abs() == 1.0 || number.is_infinite()) {
        let (first, second) = if number.abs() == 1.0 { (row, column) } else { (column, row) };
        let sums = numpy::sum(&numpy::absolute(x)?, &Reduction::over(Axes::One(first), true))?;
        let out = if number > 0.0 {
            greatest(&sums, second, true)?
        } else {
            numpy::min(&sums, &Reduction::over(Axes::One(second), true))?
        };
        return if keepdims { Ok(out) } else { numpy::squeeze(&out, &Axes::Many(axes.to_vec())) };
    }
    let ((Some(2.0 | -2.0), _) | (None, "nuc")) = (number, name) else {
        let order = order.expect("an order that is not there was served above");
        bail!(Value, "Invalid order '{order}' for matrix norm.");
    };
    let s = lin::singular_values(&numpy::moveaxis(x, &axes, &[-2, -1])?, true, None)?;
    let over = Reduction::over(Axes::One(-1), false);
    let reduced = match number {
        Some(2.0) => greatest(&s, -1, false)?,
        Some(_) => numpy::min(&s, &over)?,
        None => numpy::sum(&s, &over)?,
    };
    let mut sorted = axes;
    sorted.sort_unstable();
    if keepdims { numpy::expand_dims(&reduced, &sorted) } else { Ok(reduced) }
}

/// The given axes, counted from the front; `None` for all.
fn given_axes(axes: &Axes, rank: usize) -> Result<Option<Vec<i64>>> {
    let from_front = |axis: &i64| canonical_axis(*axis, rank).map(|axis| axis as i64);
    match axes {
        Axes::All => Ok(None),
        Axes::One(axis) => Ok(Some(vec![from_front(axis)?])),
        Axes::Many(axes) => axes.iter().map(from_front).collect::<Result<_>>().map(Some),
        Axes::Named(names, _) => bail!(Type, "axis {:?} is a name; norms are taken along axes of arrays.", names[0]),
    }
}

/// The norm of vectors or matrices.
///
/// Args:
///   x: an array; integers become floating.
///   ord: of vectors any number: p-norms, inf, -inf, or 0 for the count of nonzero elements; of matrices 'fro',
///     'nuc' (the sum of singular values), 1, -1, inf, -inf (sums of columns and rows), 2 or -2 (singular values).
///     By default the root of the sum of squares.
///   axis: one axis for vectors, two for matrices; None (the default) for all.
///   keepdims: whether reduced axes stay, with size 1.
/// Returns: a real array of the shape of `x` without the axes.
/// Raises:
///   ValueError: the order does not exist, an axis is out of bounds, or a number of axes that is neither 1 nor 2.
/// Differentiable: yes, in both modes, away from 0 and from ties.
/// Example:
///   >>> print(jnp.linalg.norm(jnp.array([3.0, 4.0])), jnp.linalg.norm(jnp.array([[1.0, -2.0], [3.0, 4.0]]), ord=1))
///   5.0 6.0
#[public("numpy.linalg.norm(x, ord=None, axis=None, keepdims=False)")]
pub fn norm(x: &Val, ord: Option<&NormOrder>, axis: &Axes, keepdims: bool) -> Result<Val> {
    let x = inexact_one(x)?;
    let rank = x.aval().rank();
    let given = given_axes(axis, rank)?;
    if given.is_none() && ord.is_none() {
        let flat = euclidean(&x, Axes::All, false)?;
        return if keepdims { numpy::reshape(&flat, &vec![1; rank], Order::RowMajor) } else { Ok(flat) };
    }
    let axes = given.unwrap_or_else(|| (0..rank as i64).collect());
    match axes[..] {
        [axis] => along_vectors(&x, ord, axis, keepdims),
        [row, column] => of_matrices(&x, ord, [row, column], keepdims),
        _ => {
            let axes: Vec<usize> = axes.iter().map(|&axis| axis as usize).collect();
            bail!(
                Value,
                "Improper number of axes for norm: axis={}. Pass one axis to compute a vector-norm, or two axes to \
                 compute a matrix-norm.",
                tuple_text(&axes)
            )
        }
    }
}

/// The norm of the matrices in the last two axes.
///
/// Args:
///   x: an array `[..., m, n]`; integers become floating.
///   keepdims: whether the two axes stay, with size 1.
///   ord: as for `norm`; 'fro' by default.
/// Returns: a real array `[...]`.
/// Raises:
///   ValueError: the order does not exist, or `x` has fewer than two axes.
/// Differentiable: yes, in both modes, away from 0 and from ties.
/// Example:
///   >>> print(jnp.linalg.matrix_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]])))
///   5.0
#[public("numpy.linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')")]
pub fn matrix_norm(x: &Val, keepdims: bool, ord: Option<&NormOrder>) -> Result<Val> {
    norm(x, ord, &Axes::Many(vec![-2, -1]), keepdims)
}

/// The norm of vectors: along an axis, along several as one, or of all elements.
///
/// Args:
///   x: an array; integers become floating.
///   axis: the axis or axes; None (the default) for all.
///   keepdims: whether the axes stay, with size 1.
///   ord: the order p of the norm `sum(|x|^p)^(1/p)`, 2 by default; inf, -inf, or 0 for the count of nonzero
///     elements.
/// Returns: a real array of the shape of `x` without the axes.
/// Raises:
///   ValueError: the order does not exist, or an axis is out of bounds.
/// Differentiable: yes, in both modes, away from 0 and from ties.
/// Example:
///   >>> print(jnp.linalg.vector_norm(jnp.array([[3.0, 4.0], [6.0, 8.0]]), axis=1))
///   [ 5. 10.]
#[public("numpy.linalg.vector_norm(x, /, *, axis=None, keepdims=False, ord=2)")]
pub fn vector_norm(x: &Val, axis: &Axes, keepdims: bool, ord: Option<&NormOrder>) -> Result<Val> {
    // Sums and extremes of integers are integers.
    let number = ord.and_then(NormOrder::number);
    let stays = number.is_some_and(|number| number == 1.0 || number.is_infinite()) && x.aval().dtype.is_integer();
    match axis {
        Axes::One(axis) if stays => return along_vectors(x, ord, *axis, keepdims),
        Axes::One(_) => return norm(x, ord, axis, keepdims),
        Axes::All | Axes::Many(_) | Axes::Named(..) => {}
    }
    let x = if stays { x.clone() } else { inexact_one(x)? };
    let rank = x.aval().rank();
    let axes = given_axes(axis, rank)?.unwrap_or_else(|| (0..rank as i64).collect());
    let others: Vec<i64> = (0..rank as i64).filter(|axis| !axes.contains(axis)).collect();
    let shape = x.aval().shape.clone();
    let turned = numpy::transpose(&x, Some(&[axes.clone(), others.clone()].concat()))?;
    let sizes: Vec<i64> = std::iter::once(-1).chain(others.iter().map(|&axis| shape[axis as usize] as i64)).collect();
    let flat = numpy::reshape(&turned, &sizes, Order::RowMajor)?;
    let out = along_vectors(&flat, ord, 0, false)?;
    if keepdims { numpy::expand_dims(&out, &axes) } else { Ok(out) }
}

/// The rank: the number of singular values above a bound.
///
/// Args:
///   M: matrices `[..., m, n]`; integers become floating. Of a vector or number whether an element differs from 0.
///   rtol: the bound as part of the greatest singular value: a number or an array `[...]`; `max(m, n) eps` by
///     default.
///   hermitian: whether `M` is Hermitian, so that its eigenvalues are used.
///   tol: the bound itself, in place of `rtol`.
/// Returns: integers `[...]`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.linalg.matrix_rank(jnp.array([[1.0, 2.0], [2.0, 4.0]])))
///   1
#[public("numpy.linalg.matrix_rank(M, rtol: Convertible=None, *, hermitian=False, tol: Convertible=None)")]
pub fn matrix_rank(m: &Val, rtol: Option<&Val>, hermitian: bool, tol: Option<&Val>) -> Result<Val> {
    if tol.is_some() && rtol.is_some() {
        bail!(Value, "matrix_rank: only one of tol or rtol may be specified.");
    }
    let m = inexact_one(m)?;
    if m.aval().rank() < 2 {
        let is_nonzero = numpy::not_equal(&m, &weak_int(0))?;
        return to_dtype(&numpy::any(&is_nonzero, &Reduction::default())?, pullback_base::DType::I32);
    }
    let s = super::factorizations::singular_values_of(&m, hermitian)?;
    let bound = match (tol, rtol) {
        (Some(tol), _) => per_matrix(tol)?,
        (None, rtol) => {
            let (rows, columns) = sizes(&m);
            let dtype = s.aval().dtype;
            let part = match rtol {
                Some(rtol) => per_matrix(rtol)?,
                None => literal(dtype, rows.max(columns) as f64 * super::eps(dtype)),
            };
            (of(&numpy::max(&s, &Reduction::over(Axes::One(-1), true))?) * part).done()?
        }
    };
    numpy::sum(&numpy::greater(&s, &bound)?, &Reduction::over(Axes::One(-1), false))
}

/// A number for each matrix, beside its singular values.
pub(super) fn per_matrix(x: &Val) -> Result<Val> {
    if x.aval().rank() == 0 { Ok(x.clone()) } else { column(x) }
}

/// The condition number: the norm times that of the inverse.
///
/// Args:
///   x: matrices `[..., m, n]`, square ones for other orders than 2 and -2; integers become floating.
///   p: the order of the norm, as for `norm`; None (the default) and 2 for the quotient of the greatest and the
///     least singular value.
/// Returns: a real array `[...]`; infinite for singular matrices, NaN where an element is.
/// Raises:
///   ValueError: `x` has fewer than two axes, is not square where it must be, or the order does not exist.
/// Differentiable: yes, in both modes, where the norms are.
/// Example:
///   >>> print(jnp.linalg.cond(jnp.array([[2.0, 0.0], [0.0, 8.0]])))
///   4.0
#[public("numpy.linalg.cond(x, p=None)")]
pub fn cond(x: &Val, p: Option<&NormOrder>) -> Result<Val> {
    let x = inexact_one(x)?;
    if x.aval().rank() < 2 {
        bail!(Value, "Input array must be at least 2D, got shape {}", tuple_text(&x.aval().shape));
    }
    let number = p.and_then(NormOrder::number);
    let r = if p.is_none() || matches!(number, Some(2.0 | -2.0)) {
        if matches!(sizes(&x), (0, _) | (_, 0)) {
            let shape = tuple_text(&x.aval().shape);
            bail!(Value, "cond: matrices without elements have no singular values, got shape {shape}");
        }
        let s = lin::singular_values(&x, true, None)?;
        let (above, below) = if number == Some(-2.0) { (-1, 0) } else { (0, -1) };
        numpy::true_divide(&last_item(&s, above)?, &last_item(&s, below)?)?
    } else {
        let axes = Axes::Many(vec![-2, -1]);
        (of(&norm(&x, p, &axes, false)?) * norm(&inv(&x)?, p, &axes, false)).done()?
    };
    // Where the input has no NaN, one in the result is an infinity over another.
    let unknown = numpy::any(&numpy::isnan(&x)?, &Reduction::over(Axes::Many(vec![-2, -1]), false))?;
    let is_infinite = numpy::bitwise_and(&numpy::invert(&unknown)?, &numpy::isnan(&r)?)?;
    numpy::where_(&is_infinite, &literal(r.aval().dtype, f64::INFINITY), &r)
}
