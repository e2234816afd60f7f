//! Solutions of linear systems: inverses, powers, least squares and pseudo-inverses.

use std::sync::Arc;

use pullback_base::aval::tuple_text;
use pullback_base::{Error, ErrorKind, Result, bail};
use pullback_derive::public;
use pullback_ir::{Tangents, Val, Vals};
use smallvec::smallvec;

use super::{
    check_square, eps, hermitian_vectors, identity_like, inexact_of, inexact_one, last_item, real_dtype, sizes,
};
use crate::axes::Axes;
use crate::broadcast::{broadcast_shapes, broadcast_to};
use crate::convert::{default_int, literal, weak_float, weak_int};
use crate::custom::CustomJvpMany;
use crate::declare::{Argument, Arguments, Constant, TupleOf, Type};
use crate::formula::{Formula, of};
use crate::indexing::{IndexItem, getitem};
use crate::lax::linalg::{self as lin, Triangle, adjoint, check_matrix, column, is_square, of_last, singular_vectors};
use crate::numpy::{self, Nested, Order, Reduction, TakeOptions};

/// The exponent of a power of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct MatrixExponent(pub i64);

impl Argument for MatrixExponent {
    const TYPE: Type = Type { python: "int", rust: "i64" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<MatrixExponent> {
        let Err(refused) = args.int(at) else { return args.int(at).map(MatrixExponent) };
        match args.float(at) {
            Ok(given) => bail!(Type, "exponent must be an integer, got {given:?}"),
            Err(_) => Err(refused),
        }
    }
    fn absent(default: Constant) -> MatrixExponent {
        MatrixExponent(i64::absent(default))
    }
}

/// The product of `n` equal matrices, by repeated squaring; of the inverse for negative `n`, the identity for 0.
///
/// Args:
///   a: matrices `[..., m, m]`; integers become floating.
///   n: a static integer.
/// Returns: an array `[..., m, m]`.
/// Raises:
///   TypeError: `a` is not square, or `n` is no integer.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.linalg.matrix_power(jnp.array([[1.0, 1.0], [0.0, 1.0]]), 5))
///   [[1. 5.]
///    [0. 1.]]
#[public("numpy.linalg.matrix_power(a, n)")]
pub fn matrix_power(a: &Val, n: MatrixExponent) -> Result<Val> {
    if a.aval().dtype == pullback_base::DType::Bool {
        // Whether there is a walk of `n` steps: sums of products that are not 0.
        return numpy::not_equal(
            &matrix_power(&numpy::astype(a, pullback_base::DType::F32)?, n)?,
            &crate::convert::weak_int(0),
        );
    }
    let mut a = if n.0 < 0 { inexact_one(a)? } else { a.clone() };
    if !is_square(&a) {
        bail!(Type, "Last 2 dimensions of the array must be square");
    }
    if n.0 == 0 {
        return identity_like(&a);
    }
    if n.0 < 0 {
        a = inv(&a)?;
    }
    let (mut n, mut result, mut power) = (n.0.unsigned_abs(), None, a);
    while n > 0 {
        if n & 1 == 1 {
            result = Some(match result {
                None => power.clone(),
                Some(result) => numpy::matmul(&result, &power, None)?,
            });
        }
        n >>= 1;
        if n > 0 {
            power = numpy::matmul(&power, &power, None)?;
        }
    }
    result.ok_or_else(|| Error::internal("a power without factors"))
}

/// The pseudo-inverse of `[a, rtol]` from singular values and vectors.
fn pseudo_inverse(args: &[Val], hermitian: bool) -> Result<Vec<Val>> {
    let (a, rtol) = (&args[0], &args[1]);
    if matches!(sizes(a), (0, _) | (_, 0)) {
        let mut shape: Vec<i64> = a.aval().shape.iter().map(|&size| size as i64).collect();
        let rank = shape.len();
        shape.swap(rank - 2, rank - 1);
        return Ok(vec![numpy::zeros(&shape, Some(a.aval().dtype))?]);
    }
    let (u, s, vh) = if hermitian { hermitian_vectors(a)? } else { singular_vectors(a, false, None)? };
    let dtype = s.aval().dtype;
    let rtol = super::norms::per_matrix(&numpy::astype(rtol, dtype)?)?;
    let bound = (of(&rtol) * of_last(&s, None, Some(1))).done()?;
    let is_kept = numpy::greater(&s, &bound)?;
    let s = numpy::where_(&is_kept, &s, &literal(dtype, f64::INFINITY))?;
    let rows = Formula::from(adjoint(&u)) / numpy::astype(&column(&s)?, u.aval().dtype);
    Ok(vec![Formula::from(adjoint(&vh)).times(rows).done()?])
}

/// The derivative of a pseudo-inverse `p` of `a`: Golub and Pereyra, "The differentiation of pseudo-inverses and
/// nonlinear least squares problems whose variables separate", 1973.
fn pseudo_inverse_tangent(a: &Val, t: &Val, p: &Val) -> Result<Val> {
    let (ph, th) = (adjoint(p)?, adjoint(t)?);
    let mut dp = -of(p).times(t).times(p);
    let outside = of(a).times(p).done()?;
    let outside = (Formula::from(identity_like(&outside)) - outside).done()?;
    dp = dp + of(p).times(&ph).times(&th).times(outside);
    let inside = of(p).times(a).done()?;
    let inside = Formula::from(identity_like(&inside)) - inside;
    (dp + inside.times(&th).times(&ph).times(p)).done()
}

static PINV: CustomJvpMany = CustomJvpMany::new(
    "pseudo_inverse",
    |args| pseudo_inverse(args, false),
    |args, tangents| pinv_tangents(&PINV, args, tangents),
);
static HERMITIAN_PINV: CustomJvpMany = CustomJvpMany::new(
    "hermitian_pseudo_inverse",
    |args| pseudo_inverse(args, true),
    |args, tangents| pinv_tangents(&HERMITIAN_PINV, args, tangents),
);

fn pinv_tangents(rule: &'static CustomJvpMany, args: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = rule.call(args)?;
    let dot = tangents[0].as_ref().map(|t| pseudo_inverse_tangent(&args[0], t, &outs[0])).transpose()?;
    Ok((outs, smallvec![dot]))
}

/// The pseudo-inverse (of Moore and Penrose) by singular values: those up to a bound count as zero.
///
/// Args:
///   a: matrices `[..., m, n]`; integers become floating.
///   rtol: the bound as part of the greatest singular value: a number or an array `[...]`; `10 max(m, n) eps` by
///     default.
///   hermitian: whether `a` is Hermitian, so that its eigenvalues are used.
///   rcond: the old name of `rtol`.
/// Returns: an array `[..., n, m]`.
/// Raises:
///   ValueError: `a` is a vector. TypeError: it is a number.
/// Differentiable: yes, in both modes, where the rank does not change (Golub and Pereyra, 1973).
/// Example:
///   >>> print(jnp.linalg.pinv(jnp.array([[2.0, 0.0], [0.0, 0.0]])))
///   [[0.5 0. ]
///    [0.  0. ]]
#[public("numpy.linalg.pinv(a, rtol: Convertible=None, hermitian=False, *, rcond: Convertible=None)")]
pub fn pinv(a: &Val, rtol: Option<&Val>, hermitian: bool, rcond: Option<&Val>) -> Result<Val> {
    let a = inexact_one(a)?;
    if rtol.is_some() && rcond.is_some() {
        bail!(Value, "pinv: only one of rtol and rcond may be specified.");
    }
    let is_number = a.aval().rank() == 0 && rtol.is_none() && rcond.is_none();
    if a.aval().rank() == 1 || is_number {
        bail!(Value, "pinv takes matrices [..., m, n], got shape {}", tuple_text(&a.aval().shape));
    }
    check_matrix(&a, "svd", false)?;
    let (rows, columns) = sizes(&a);
    let default = || weak_float(10.0 * rows.max(columns) as f64 * eps(real_dtype(a.aval().dtype)));
    let rtol = rcond.or(rtol).cloned().unwrap_or_else(default);
    let rule = if hermitian { &HERMITIAN_PINV } else { &PINV };
    Ok(rule.call(&[a, rtol])?.swap_remove(0))
}

/// The inverse, by solving for the identity with LU factors; `solve` is better where it is multiplied with
/// something.
///
/// Args:
///   a: matrices `[..., n, n]`; integers become floating.
/// Returns: an array `[..., n, n]`; infinities and NaN for singular matrices.
/// Raises:
///   ValueError: `a` is not square.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]])))
///   [[0.5  0.  ]
///    [0.   0.25]]
#[public("numpy.linalg.inv(a)")]
pub fn inv(a: &Val) -> Result<Val> {
    let a = inexact_one(a)?;
    check_square(&a, "inv")?;
    solve(&a, &identity_like(&a)?)
}

/// The solution by triangular factors, with all batches alike.
pub(super) fn solved(a: &Val, b: &Val) -> Result<Val> {
    let (factors, _, permutation) = lin::lu(a)?;
    let rows = numpy::take_along_axis(b, &column(&permutation)?, Some(-2), TakeOptions::default())?;
    let y = lin::triangular_solve(&factors, &rows, Triangle::UNIT_LOWER)?;
    lin::triangular_solve(&factors, &y, Triangle::UPPER)
}

static SOLVED: CustomJvpMany = CustomJvpMany::new("_solved", |args| Ok(vec![solved(&args[0], &args[1])?]), solve_rule);

/// Of `a x = b`: `a dx = db - da x`.
fn solve_rule(args: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = SOLVED.call(args)?;
    let by_a = tangents[0].as_ref().map(|da| numpy::matmul(da, &outs[0], None)).transpose()?;
    let right = match (by_a, &tangents[1]) {
        (None, None) => return Ok((outs, smallvec![None])),
        (None, Some(db)) => db.clone(),
        (Some(by_a), None) => numpy::negative(&by_a)?,
        (Some(by_a), Some(db)) => numpy::subtract(db, &by_a)?,
    };
    let dot = solved(&args[0], &right)?;
    Ok((outs, smallvec![Some(dot)]))
}

/// The solution x of `a x = b`, by LU factors with partial pivoting.
///
/// Args:
///   a: matrices `[..., n, n]`; integers become floating.
///   b: the right sides: one vector `[n]`, or `[..., n, k]`; batches broadcast.
/// Returns: an array `[..., n, k]`, or `[..., n]` for a vector; infinities and NaN where `a` is singular.
/// Raises:
///   ValueError: shapes do not fit.
/// Differentiable: yes, in both modes, with respect to both: `dx = solve(a, db - da x)`.
/// Example:
///   >>> print(jnp.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 2.0])))
///   [1.  0.5]
#[public("numpy.linalg.solve(a, b)")]
pub fn solve(a: &Val, b: &Val) -> Result<Val> {
    let ins = inexact_of(&[a.clone(), b.clone()])?;
    let (a, mut b) = (&ins[0], ins[1].clone());
    let (a_shape, b_shape) = (a.aval().shape.clone(), b.aval().shape.clone());
    if !is_square(a) || b_shape.is_empty() {
        bail!(
            Value,
            "The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[..., m]; got a={} and b={}",
            tuple_text(&a_shape),
            tuple_text(&b_shape)
        );
    }
    let is_vector = b_shape.len() == 1;
    if is_vector {
        b = column(&b)?;
    }
    let b_shape = b.aval().shape.clone();
    let (a_batch, a_sizes) = a_shape.split_at(a_shape.len() - 2);
    let (b_batch, b_sizes) = b_shape.split_at(b_shape.len() - 2);
    if a_sizes[1] != b_sizes[0] {
        bail!(
            Value,
            "inconsistent size for core dimension 'm': {} vs {} of operands of shapes {} and {}",
            b_sizes[0],
            a_sizes[1],
            tuple_text(&a_shape),
            tuple_text(&b_shape)
        );
    }
    let batch = broadcast_shapes(&[a_batch, b_batch])?;
    let to_batch = |x: &Val, sizes: &[usize]| broadcast_to(x, &[&batch[..], sizes].concat());
    let x = SOLVED.call(&[to_batch(a, a_sizes)?, to_batch(&b, b_sizes)?])?.swap_remove(0);
    if is_vector { last_item(&x, 0) } else { Ok(x) }
}

/// The number that a value holds, which must not depend on what is traced.
fn concrete(x: &Val) -> Result<i64> {
    match x {
        Val::Literal(scalar) => Ok(scalar.as_i64()),
        Val::Array(array) => Ok(array.element(0)?.as_i64()),
        Val::Tracer(_) => {
            let text = format!("lstsq with numpy_resid=True needs concrete arrays, got {}", x.aval());
            Err(Error::about(ErrorKind::Concretization, text, Arc::new(x.clone())))
        }
    }
}

/// The x that makes the norm of `b - a x` least, and among several the x of least norm, by singular values.
///
/// Args:
///   a: a matrix `[m, n]`; integers become floating.
///   b: the right sides `[m]` or `[m, k]`.
///   rcond: singular values below this part of the greatest count as zero; `max(m, n) eps` by default.
///   numpy_resid: whether the residuals are empty when the rank is not full, as NumPy has them; needs concrete
///     arrays.
/// Returns: a tuple of x `[n]` or `[n, k]`, the sums of squared residuals `[k]`, the rank, and the singular values.
/// Raises:
///   ValueError: another number of rows.
///   TypeError: `a` is no matrix, or `b` has too many axes.
/// Differentiable: yes, in both modes, with respect to both, where the rank does not change.
/// Example:
///   >>> x, residuals, rank, s = jnp.linalg.lstsq(jnp.array([[1.0], [1.0]]), jnp.array([1.0, 3.0]))
///   >>> print(x.round(3), residuals.round(3), rank)
///   [2.] [2.] 1
#[public("numpy.linalg.lstsq(a, b, rcond: Convertible=None, *, numpy_resid=False)")]
pub fn lstsq(a: &Val, b: &Val, rcond: Option<&Val>, numpy_resid: bool) -> Result<TupleOf> {
    let ins = inexact_of(&[a.clone(), b.clone()])?;
    let (a, mut b) = (&ins[0], ins[1].clone());
    let (a_shape, b_shape) = (a.aval().shape.clone(), b.aval().shape.clone());
    let (Some(rows), Some(others)) = (a_shape.first(), b_shape.first()) else {
        bail!(Index, "tuple index out of range");
    };
    if rows != others {
        bail!(Value, "Leading dimensions of input arrays must match");
    }
    let is_vector = b_shape.len() == 1;
    if is_vector {
        b = column(&b)?;
    }
    let &[m, n] = &a_shape[..] else {
        bail!(Type, "{}-dimensional array given. Array must be two-dimensional", a_shape.len());
    };
    let &[_, k] = &b.aval().shape[..] else {
        bail!(Type, "{}-dimensional array given. Array must be one or two-dimensional", b_shape.len());
    };
    let (x, rank, s) = least_squares(a, &b, rcond, [n, k])?;
    let residuals = if numpy_resid && (concrete(&rank)? < n as i64 || m <= n) {
        numpy::array_of(&Nested::List(vec![]), None)?
    } else {
        let rest = (of(&b) - of(a).times(&x)).then(numpy::absolute).to_the(weak_int(2)).done()?;
        numpy::sum(&rest, &Reduction::over(Axes::One(0), false))?
    };
    let x = if is_vector { numpy::ravel(&x, Order::RowMajor)? } else { x };
    Ok(TupleOf([x, residuals, rank, s].into_iter().collect()))
}

/// The least squares `[n, k]`, the rank of the matrix and its singular values.
fn least_squares(a: &Val, b: &Val, rcond: Option<&Val>, shape: [usize; 2]) -> Result<(Val, Val, Val)> {
    let aval = a.aval();
    if aval.size() == 0 {
        let x = numpy::zeros(&shape.map(|size| size as i64), Some(aval.dtype))?;
        return Ok((x, numpy::zeros(&[], Some(default_int()))?, numpy::zeros(&[0], Some(aval.dtype))?));
    }
    let (u, s, vh) = singular_vectors(a, false, None)?;
    let (rows, columns) = sizes(a);
    let default = weak_float(eps(s.aval().dtype) * rows.max(columns) as f64);
    let bound = (of(rcond.unwrap_or(&default)) * getitem(&s, &[IndexItem::Int(0)])).done()?;
    let is_positive = numpy::greater(&s, &weak_int(0))?;
    let mask = numpy::bitwise_and(&is_positive, &numpy::greater_equal(&s, &bound)?)?;
    let rank = numpy::sum(&mask, &Reduction::default())?;
    let quotient = (1 / Formula::from(numpy::where_(&mask, &s, &weak_int(1)))).done()?;
    let inverse = column(&numpy::where_(&mask, &quotient, &weak_int(0))?)?;
    let inverse = numpy::astype(&inverse, u.aval().dtype)?;
    let x = Formula::from(adjoint(&vh)).times(of(&inverse) * Formula::from(adjoint(&u)).times(b)).done()?;
    Ok((x, rank, s))
}

/// The inverse under `tensordot` over `ind` axes: `tensordot(tensorinv(a, ind), a, ind)` is the identity.
///
/// Args:
///   a: an array whose first `ind` sizes have the product of the others; integers become floating.
///   ind: the number of first axes, a positive integer; 2 by default.
/// Returns: an array of the shape `a.shape[ind:] + a.shape[:ind]`.
/// Raises:
///   ValueError: the products differ, or `ind` is not positive.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> jnp.linalg.tensorinv(jnp.eye(6).reshape(2, 3, 6)).shape
///   (6, 2, 3)
#[public("numpy.linalg.tensorinv(a, ind=2)")]
pub fn tensorinv(a: &Val, ind: i64) -> Result<Val> {
    let a = inexact_one(a)?;
    if ind <= 0 {
        bail!(Value, "ind must be a positive integer; got ind={ind}");
    }
    let shape = a.aval().shape.clone();
    let (first, last) = shape.split_at(shape.len().min(ind as usize));
    let size = pullback_base::extent(first);
    if size != pullback_base::extent(last) {
        bail!(
            Value,
            "product of dimensions of a.shape[:ind]={} must equal that of a.shape[ind:]={}",
            tuple_text(first),
            tuple_text(last)
        );
    }
    let inverse = inv(&numpy::reshape(&a, &[size as i64, -1], Order::RowMajor)?)?;
    let sizes: Vec<i64> = last.iter().chain(first).map(|&size| size as i64).collect();
    numpy::reshape(&inverse, &sizes, Order::RowMajor)
}

/// The x with `tensordot(a, x, x.ndim) = b`.
///
/// Args:
///   a: an array of the shape of `b`, then that of x, with as many elements each; integers become floating.
///   b: the right side.
///   axes: axes of `a` that are moved to the end first; none by default.
/// Returns: an array of the shape `a.shape[b.ndim:]`.
/// Raises:
///   ValueError: sizes do not fit.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.linalg.tensorsolve(2 * jnp.eye(4).reshape(2, 2, 4), jnp.ones((2, 2))))
///   [0.5 0.5 0.5 0.5]
#[public("numpy.linalg.tensorsolve(a, b, axes=None)")]
pub fn tensorsolve(a: &Val, b: &Val, axes: Option<&[i64]>) -> Result<Val> {
    let ins = inexact_of(&[a.clone(), b.clone()])?;
    let (mut a, b) = (ins[0].clone(), &ins[1]);
    if let Some(axes) = axes {
        let rank = a.aval().rank() as i64;
        let moved: Vec<i64> = axes.iter().map(|axis| axis.rem_euclid(rank.max(1))).collect();
        let kept = (0..rank).filter(|axis| !moved.contains(axis));
        a = numpy::transpose(&a, Some(&kept.chain(moved.iter().copied()).collect::<Vec<_>>()))?;
    }
    let (a_shape, b_aval) = (a.aval().shape.clone(), b.aval());
    let (leading, shape) = a_shape.split_at(a_shape.len().min(b_aval.rank()));
    if *leading != b_aval.shape[..] {
        bail!(
            Value,
            "After moving axes to end, leading shape of a must match shape of b. got a.shape={}, b.shape={}",
            tuple_text(&a_shape),
            tuple_text(&b_aval.shape)
        );
    }
    let size = b_aval.size();
    if size != pullback_base::extent(shape) {
        bail!(
            Value,
            "Input arrays must have prod(a.shape[:b.ndim]) == prod(a.shape[b.ndim:]); got a.shape={}, b.ndim={}.",
            tuple_text(&a_shape),
            b_aval.rank()
        );
    }
    let matrix = numpy::reshape(&a, &[size as i64, -1], Order::RowMajor)?;
    let x = solve(&matrix, &numpy::ravel(b, Order::RowMajor)?)?;
    numpy::reshape(&x, &shape.iter().map(|&size| size as i64).collect::<Vec<_>>(), Order::RowMajor)
}
