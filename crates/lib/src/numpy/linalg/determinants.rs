//! Determinants and their derivatives, which exist for singular matrices too.

use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::{Tangents, Val, Vals};
use smallvec::smallvec;

use super::solutions::{inv, solved};
use super::{check_square, identity_like, inexact_one, sizes, zero};
use crate::axes::Axes;
use crate::broadcast::broadcast_to;
use crate::convert::{literal, weak_int};
use crate::custom::CustomJvpMany;
use crate::declare::{NamedTuple, Return, Returned, Type};
use crate::formula::{Formula, of};
use crate::indexing::{IndexItem, getitem};
use crate::lax;
use crate::lax::linalg::{self as lin, adjoint, column, of_last, row};
use crate::numpy::{self, Reduction};

/// The sign and the logarithm of the absolute value of a determinant.
#[derive(Debug)]
pub struct Slogdet {
    /// The sign; the phase of complex numbers.
    pub sign: Val,
    /// The logarithm.
    pub logabsdet: Val,
}

static SLOGDET_RESULT: NamedTuple = NamedTuple { name: "numpy.linalg.SlogdetResult", fields: &["sign", "logabsdet"] };

impl Return for Slogdet {
    const TYPE: Type = Type { python: "SlogdetResult", rust: "(Array, Array)" };
    fn returned(self) -> Returned {
        Returned::Named(&SLOGDET_RESULT, [self.sign, self.logabsdet].into_iter().collect())
    }
}

fn over_last() -> Reduction {
    Reduction::over(Axes::One(-1), false)
}

/// Sign and logarithm from factors with partial pivoting.
fn from_factors(a: &Val) -> Result<(Val, Val)> {
    let aval = a.aval();
    let dtype = aval.dtype;
    let (factors, pivots, _) = lin::lu(a)?;
    let diagonal = numpy::diagonal(&factors, 0, [-2, -1])?;
    let is_zero = numpy::any(&numpy::equal(&diagonal, &weak_int(0))?, &over_last())?;
    let pivots_aval = pivots.aval();
    let places = broadcast_to(&lax::iota(pivots_aval.dtype, sizes(a).1)?, &pivots_aval.shape)?;
    let mut exchanges = of(&numpy::sum(&numpy::not_equal(&pivots, &places)?, &over_last())?);
    let sign = if dtype.is_complex() {
        let phases = (of(&diagonal) / numpy::astype(&numpy::absolute(&diagonal)?, dtype)).done()?;
        numpy::prod(&phases, &over_last())?
    } else {
        let is_negative = numpy::less(&diagonal, &weak_int(0))?;
        exchanges = exchanges + numpy::sum(&is_negative, &over_last());
        lax::full(&aval.shape[..aval.rank() - 2], &literal(dtype, 1.0))?
    };
    let odd = exchanges.then(|exchanges| numpy::remainder(exchanges, &weak_int(2)));
    let turn = (1 - 2 * odd).then(|turn| numpy::astype(turn, dtype));
    let sign = numpy::where_(&is_zero, &zero(dtype), &(of(&sign) * turn).done()?)?;
    let absolute = numpy::absolute(&diagonal)?;
    let logarithm = numpy::sum(&numpy::log(&absolute)?, &over_last())?;
    let logabsdet = numpy::where_(&is_zero, &literal(absolute.aval().dtype, f64::NEG_INFINITY), &logarithm)?;
    Ok((sign, logabsdet))
}

static SLOGDET: CustomJvpMany = CustomJvpMany::new("_slogdet", slogdet_value, slogdet_tangents);

fn slogdet_value(args: &[Val]) -> Result<Vec<Val>> {
    let (sign, logabsdet) = from_factors(&args[0])?;
    Ok(vec![sign, logabsdet])
}

fn slogdet_tangents(args: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = SLOGDET.call(args)?;
    let Some(t) = &tangents[0] else { return Ok((outs, smallvec![None, None])) };
    let trace = numpy::trace(&solved(&args[0], t)?, 0, [-1, -2], None)?;
    if !trace.aval().dtype.is_complex() {
        return Ok((outs, smallvec![None, Some(trace)]));
    }
    let re = numpy::real(&trace)?;
    let turn = lax::complex(&numpy::zeros_like(&re, None, None)?, &numpy::imag(&trace)?)?;
    let by_sign = numpy::multiply(&turn, &outs[0])?;
    Ok((outs, smallvec![Some(by_sign), Some(re)]))
}

/// The sign (of complex numbers the phase) and the logarithm of the absolute value of the determinant.
/// Their product `sign * exp(logabsdet)` is the determinant, but they do not overflow where that would.
///
/// Args:
///   a: matrices `[..., n, n]`; integers become floating.
///   method: 'lu' or None (the default), or 'qr', which gives the same here.
/// Returns: the named tuple of `sign` `[...]` and real `logabsdet` `[...]`; (0, -inf) of singular matrices.
/// Raises:
///   ValueError: `a` is not square, or another `method`.
/// Differentiable: yes, in both modes, where `a` is not singular: `logabsdet` has the gradient `inv(a)ᵀ`.
/// Example:
///   >>> sign, logabsdet = jnp.linalg.slogdet(jnp.array([[0.0, 1.0], [1.0, 0.0]]))
///   >>> print(sign, logabsdet)
///   -1.0 0.0
#[public("numpy.linalg.slogdet(a, *, method=None)")]
pub fn slogdet(a: &Val, method: Option<&str>) -> Result<Slogdet> {
    check_square(a, "slogdet()")?;
    let a = inexact_one(a)?;
    if !matches!(method, None | Some("lu" | "qr")) {
        let method = method.unwrap_or_default();
        bail!(Value, "Unknown slogdet method '{method}'. Supported methods are 'lu' (`None`), and 'qr'.");
    }
    let found = SLOGDET.call(&[a])?;
    Ok(Slogdet { sign: found[0].clone(), logabsdet: found[1].clone() })
}

fn by_factors(a: &Val) -> Result<Val> {
    let (sign, logabsdet) = from_factors(a)?;
    let dtype = sign.aval().dtype;
    (of(&sign) * of(&logabsdet).then(numpy::exp).then(|size| numpy::astype(size, dtype))).done()
}

/// The factors of `a = U S Vᴴ`, and the phase `det(U Vᴴ)`.
fn singular_basis(a: &Val) -> Result<(Val, Val, Val, Val)> {
    let (u, s, vh) = lin::singular_vectors(a, true, None)?;
    let phase = (Formula::from(by_factors(&u)) * by_factors(&vh)).done()?;
    let phase = getitem(&phase, &[IndexItem::Ellipsis, IndexItem::NewAxis, IndexItem::NewAxis])?;
    Ok((u, s, vh, phase))
}

/// The last axis backward, perhaps without its first element.
fn backward(x: &Val, stop: Option<i64>) -> Result<Val> {
    getitem(x, &[IndexItem::Ellipsis, IndexItem::Slice { start: None, stop, step: Some(-1) }])
}

/// Of each element the product of those before it, and of those behind it.
fn products_around(s: &Val) -> Result<(Val, Val)> {
    let ones = numpy::ones_like(&of_last(s, None, Some(1))?, None, None)?;
    let before = numpy::cumprod(&of_last(s, None, Some(-1))?, Some(-1), None)?;
    let behind = backward(&numpy::cumprod(&backward(s, Some(0))?, Some(-1), None)?, None)?;
    Ok((
        numpy::concatenate(&[ones.clone(), before], Some(-1), None)?,
        numpy::concatenate(&[behind, ones], Some(-1), None)?,
    ))
}

/// The products `[..., n, n]` of all elements but two; zero on the diagonal.
fn products_without_two(s: &Val) -> Result<Val> {
    let (before, behind) = products_around(s)?;
    let mut shape = s.aval().shape.to_vec();
    shape.push(shape[shape.len() - 1]);
    let rank = shape.len();
    let rows = lax::broadcasted_iota(DType::I32, &shape, rank - 2)?;
    let is_upper = numpy::greater(&lax::broadcasted_iota(DType::I32, &shape, rank - 1)?, &rows)?;
    let factors = broadcast_to(&row(s)?, &shape)?;
    // Of those between the two: each row multiplies what is behind its own place, up to the other one.
    let of_row = numpy::where_(&is_upper, &factors, &numpy::ones_like(&factors, None, None)?)?;
    let between = products_around(&of_row)?.0;
    let products = (Formula::from(column(&before)) * between * row(&behind)).done()?;
    let upper = numpy::where_(&is_upper, &products, &numpy::zeros_like(&factors, None, None)?)?;
    (of(&upper) + numpy::swapaxes(&upper, -1, -2)).done()
}

/// The transposed matrix of cofactors.
fn adjugate_value(args: &[Val]) -> Result<Vec<Val>> {
    let a = &args[0];
    if sizes(a).1 == 1 {
        return Ok(vec![numpy::ones_like(a, None, None)?]);
    }
    let (u, s, vh, phase) = singular_basis(a)?;
    // A = U S Vᴴ has adj(A) = det(U Vᴴ) V adj(S) Uᴴ, and adj(S) holds products of all but one singular value.
    let (before, behind) = products_around(&s)?;
    let inner = (of(&before) * behind).then(|inner| numpy::astype(inner, a.aval().dtype)).done()?;
    let scaled = Formula::from(adjoint(&vh)) * row(&inner);
    Ok(vec![(of(&phase) * scaled.times(adjoint(&u))).done()?])
}

/// The derivative of the adjugate, which exists for singular matrices too: cofactors are polynomials.
fn adjugate_tangent(args: &[Val]) -> Result<Vec<Val>> {
    let (a, t) = (&args[0], &args[1]);
    if sizes(a).1 == 1 {
        return Ok(vec![numpy::zeros_like(t, None, None)?]);
    }
    let (u, s, vh, phase) = singular_basis(a)?;
    let (uh, v) = (adjoint(&u)?, adjoint(&vh)?);
    let m = of(&uh).times(t).times(&v).done()?;
    // d adj(S + M): products of all but two singular values, with the sign of the permutation.
    let others = numpy::astype(&products_without_two(&s)?, a.aval().dtype)?;
    let diagonal = of(&others).times(column(&numpy::diagonal(&m, 0, [-2, -1])?));
    let inner = diagonal * identity_like(&m) - of(&others) * &m;
    Ok(vec![(of(&phase) * of(&v).times(inner).times(&uh)).done()?])
}

/// The derivative of the adjugate of a matrix that has an inverse, by functions that have derivatives of any order.
fn regular_adjugate_tangent(args: &[Val]) -> Result<Vec<Val>> {
    let (a, t) = (&args[0], &args[1]);
    let inverse = inv(a)?;
    let turned = of(&inverse).times(t).done()?;
    let spread = |x: &Val| getitem(x, &[IndexItem::Ellipsis, IndexItem::NewAxis, IndexItem::NewAxis]);
    let trace = spread(&numpy::trace(&turned, 0, [-2, -1], None)?)?;
    let size = spread(&det(a)?)?;
    Ok(vec![(of(&size) * (of(&trace) * &inverse - of(&turned).times(&inverse))).done()?])
}

static ADJUGATE: CustomJvpMany = CustomJvpMany::new("_adjugate", adjugate_value, adjugate_rule);
static ADJUGATE_TANGENT: CustomJvpMany =
    CustomJvpMany::new("_adjugate_tangent", adjugate_tangent, adjugate_tangent_rule);

fn adjugate_rule(args: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = ADJUGATE.call(args)?;
    let dots = match &tangents[0] {
        None => smallvec![None],
        Some(t) => ADJUGATE_TANGENT.call(&[args[0].clone(), t.clone()])?.into_iter().map(Some).collect(),
    };
    Ok((outs, dots))
}

fn adjugate_tangent_rule(args: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let dots = pullback_trace::jvp(&mut regular_adjugate_tangent, args, tangents)?.1;
    Ok((ADJUGATE_TANGENT.call(args)?, dots.into_iter().collect()))
}

static DET: CustomJvpMany = CustomJvpMany::new("_det", det_value, det_tangents);

fn det_value(args: &[Val]) -> Result<Vec<Val>> {
    Ok(vec![by_factors(&args[0])?])
}

/// Jacobi's formula: d det(A) = tr(adj(A) dA).
fn det_tangents(args: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = DET.call(args)?;
    let Some(t) = &tangents[0] else { return Ok((outs, smallvec![None])) };
    let adjugate = &ADJUGATE.call(args)?[0];
    let products = (Formula::from(numpy::swapaxes(adjugate, -1, -2)) * t).done()?;
    let dot = numpy::sum(&products, &Reduction::over(Axes::Many(vec![-1, -2]), false))?;
    Ok((outs, smallvec![Some(dot)]))
}

/// The determinants of matrices of size 2 or 3, as sums of products.
fn small_det(a: &Val) -> Result<Val> {
    let at = |i: i64, j: i64| Formula::from(getitem(a, &[IndexItem::Ellipsis, IndexItem::Int(i), IndexItem::Int(j)]));
    if sizes(a).1 == 2 {
        return (at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0)).done();
    }
    let first = at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1));
    let second = at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0));
    let third = at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
    (first - second + third).done()
}

/// The determinant: of sizes 2 and 3 as sum of products, else as product of pivots.
///
/// Args:
///   a: matrices `[..., n, n]`; integers become floating.
/// Returns: an array `[...]`.
/// Raises:
///   ValueError: `a` is not square.
/// Differentiable: yes, in both modes, by Jacobi's formula `d det(a) = tr(adj(a) da)`; of singular matrices twice.
/// Example:
///   >>> print(jnp.linalg.det(jnp.array([[1.0, 2.0], [3.0, 4.0]])))
///   -2.0
#[public("numpy.linalg.det(a)")]
pub fn det(a: &Val) -> Result<Val> {
    let a = inexact_one(a)?;
    check_square(&a, "det()")?;
    if matches!(sizes(&a).1, 2 | 3) { small_det(&a) } else { Ok(DET.call(&[a])?.swap_remove(0)) }
}
