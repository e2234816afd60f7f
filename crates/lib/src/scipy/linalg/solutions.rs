//! Solutions of linear systems and matrix equations, from factors and without.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::factorizations::{cholesky, complex_schur};
use super::with_one_batch;
use crate::axes::Axes;
use crate::broadcast::broadcast_to;
use crate::convert::{literal, to_dtype};
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::formula::{Formula, abs, of};
use crate::indexing::{IndexItem, Update, UpdateOptions, getitem, update};
use crate::lax;
use crate::lax::linalg::{self as lin, Triangle, adjoint, column, row};
use crate::loops;
use crate::numpy::linalg::inexact_of;
use crate::numpy::{self, Reduction, TakeOptions};

/// Square matrices and right-hand sides of one batch, and whether those were vectors.
///
/// They are vectors if they have one axis less than the matrices and the last one fits, as JAX has it.
fn with_sides(a: &Val, b: &Val, name: &str) -> Result<([Val; 2], bool)> {
    let (of_a, of_b) = (a.aval().shape.clone(), b.aval().shape.clone());
    let (rank, others) = (of_a.len(), of_b.len());
    let (first, second) = (tuple_text(&of_a), tuple_text(&of_b));
    if rank < 2 || others < 1 || of_a[rank - 1] != of_a[rank - 2] {
        bail!(Value, "{name} takes matrices [..., n, n] and right-hand sides, got shapes {first} and {second}");
    }
    let is_vector = others == 1 || others == rank - 1 && of_b[others - 1] == of_a[rank - 1];
    let b = if is_vector { column(b)? } else { b.clone() };
    let rows = b.aval().shape[b.aval().rank() - 2];
    if rows != of_a[rank - 1] {
        bail!(Value, "The arguments to {name} do not fit: shapes {first} and {second}");
    }
    let both = with_one_batch(&[a.clone(), b], 2)?;
    Ok(([both[0].clone(), both[1].clone()], is_vector))
}

/// The first column, if the right-hand side was a vector.
fn as_given(x: Val, is_vector: bool) -> Result<Val> {
    if is_vector { getitem(&x, &[IndexItem::Ellipsis, IndexItem::Int(0)]) } else { Ok(x) }
}

fn two(a: &Val, b: &Val) -> Result<[Val; 2]> {
    let ins = inexact_of(&[a.clone(), b.clone()])?;
    Ok([ins[0].clone(), ins[1].clone()])
}

/// What `cho_factor` gives: a triangle and whether it is the lower one.
#[derive(Clone, Debug)]
pub struct CholeskyFactor {
    /// The triangle.
    pub factor: Val,
    /// Whether it is the lower one.
    pub lower: bool,
}

impl Argument for CholeskyFactor {
    const TYPE: Type = Type { python: "tuple[ArrayLike, bool]", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<CholeskyFactor> {
        let both = args.arrays(at)?;
        let [factor, lower] = &both[..] else {
            bail!(Value, "{} takes a triangle and whether it is the lower one", args.function());
        };
        let lower = crate::convert::concrete_scalar(lower, "whether the triangle is the lower one")?;
        Ok(CholeskyFactor { factor: factor.clone(), lower: lower.as_f64() != 0.0 })
    }
    fn absent(default: Constant) -> CholeskyFactor {
        panic!("{default:?} is declared as the default of factors")
    }
}

/// The solution of `a x = b` from what `cho_factor` gave for `a`.
///
/// Args:
///   c_and_lower: a triangle `[..., n, n]` and whether it is the lower one.
///   b: `[..., n]`, `[n]` or `[..., n, k]`; batches broadcast.
///   overwrite_b, check_finite: accepted for compatibility; without effect.
/// Returns: an array `[..., n]` or `[..., n, k]`.
/// Raises:
///   ValueError: shapes do not fit.
/// Differentiable: yes, with respect to the factor and `b`, in both modes.
/// Example:
///   >>> factors = jax.scipy.linalg.cho_factor(jnp.array([[4.0, 0.0], [0.0, 9.0]]))
///   >>> print(jax.scipy.linalg.cho_solve(factors, jnp.array([8.0, 9.0])))
///   [2. 1.]
#[public("scipy.linalg.cho_solve(c_and_lower, b: Convertible, overwrite_b: Ignored=False, check_finite: Ignored=True)")]
pub fn cho_solve(c_and_lower: CholeskyFactor, b: &Val) -> Result<Val> {
    let CholeskyFactor { factor, lower } = c_and_lower;
    let [c, b] = two(&factor, b)?;
    let ([c, b], is_vector) = with_sides(&c, &b, "cho_solve")?;
    let turned =
        |is_turned: bool| Triangle { lower, transpose_a: is_turned, conjugate_a: is_turned, ..Triangle::UPPER };
    let y = lin::triangular_solve(&c, &b, turned(!lower))?;
    as_given(lin::triangular_solve(&c, &y, turned(lower))?, is_vector)
}

/// What `lu_factor` gives: factors and exchanges.
#[derive(Clone, Debug)]
pub struct LuFactors {
    /// Both triangles in one array.
    pub factors: Val,
    /// With which row each row was exchanged.
    pub pivots: Val,
}

impl Argument for LuFactors {
    const TYPE: Type = Type { python: "tuple[ArrayLike, ArrayLike]", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<LuFactors> {
        let both = args.arrays(at)?;
        let [factors, pivots] = &both[..] else {
            bail!(Value, "{} takes factors and exchanges", args.function());
        };
        Ok(LuFactors { factors: factors.clone(), pivots: pivots.clone() })
    }
    fn absent(default: Constant) -> LuFactors {
        panic!("{default:?} is declared as the default of factors")
    }
}

/// The solution of `a x = b`, of its transpose or adjoint, from what `lu_factor` gave for `a`.
///
/// Args:
///   lu_and_piv: factors `[..., n, n]` and exchanges `[..., n]`.
///   b: `[n]` or `[..., n, k]`.
///   trans: 0 for `a`, 1 for its transpose, 2 for its adjoint.
///   overwrite_b, check_finite: accepted for compatibility; without effect.
/// Returns: an array of the shape of `b`.
/// Raises:
///   ValueError: another `trans`, or shapes do not fit.
/// Differentiable: yes, with respect to the factors and `b`, in both modes.
/// Example:
///   >>> factors = jax.scipy.linalg.lu_factor(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
///   >>> print(jax.scipy.linalg.lu_solve(factors, jnp.array([2.0, 8.0])))
///   [1. 2.]
#[public(
    "scipy.linalg.lu_solve(lu_and_piv, b: Convertible, trans=0, overwrite_b: Ignored=False, check_finite: Ignored=True)"
)]
pub fn lu_solve(lu_and_piv: LuFactors, b: &Val, trans: Turn) -> Result<Val> {
    let [factors, b] = two(&lu_and_piv.factors, b)?;
    let (transpose_a, conjugate_a) = match trans.0.as_str() {
        "0" => (false, false),
        "1" => (true, false),
        "2" => (true, true),
        other => bail!(Value, "'trans' value must be 0, 1, or 2, got {other}"),
    };
    let ([factors, x], is_vector) = with_sides(&factors, &b, "lu_solve")?;
    let shape = factors.aval().shape.clone();
    let n = shape[shape.len() - 1];
    let order = lin::lu_pivots_to_permutation(&lu_and_piv.pivots, n as i64)?;
    let order = broadcast_to(&order, &shape[..shape.len() - 1])?;
    let rows = |x: &Val, order: &Val| numpy::take_along_axis(x, &column(order)?, Some(-2), TakeOptions::default());
    let turned = Triangle { transpose_a, conjugate_a, ..Triangle::UPPER };
    let unit = Triangle { lower: true, unit_diagonal: true, ..turned };
    let x = if transpose_a {
        let x = lin::triangular_solve(&factors, &x, turned)?;
        let x = lin::triangular_solve(&factors, &x, unit)?;
        rows(&x, &numpy::argsort(&order, Some(-1), true, false)?)?
    } else {
        let x = lin::triangular_solve(&factors, &rows(&x, &order)?, unit)?;
        lin::triangular_solve(&factors, &x, turned)?
    };
    as_given(x, is_vector)
}

/// What is done to a matrix before a system is solved, as users write it.
#[derive(Clone, Debug)]
pub struct Turn(pub String);

impl Argument for Turn {
    const TYPE: Type = Type { python: "int | str", rust: "&str" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Turn> {
        args.shown(at).map(Turn)
    }
    fn absent(default: Constant) -> Turn {
        Turn(i64::absent(default).to_string())
    }
}

/// The solution of `op(a) x = b` with triangular `a`.
///
/// Args:
///   a: real or complex `[..., n, n]`, of which only one triangle is read.
///   b: `[..., n]` or `[..., n, k]`.
///   trans: 0 or "N": `op` does nothing, 1 or "T": it transposes, 2 or "C": it takes the adjoint.
///   lower: whether the lower triangle is read, else the upper one.
///   unit_diagonal: whether the diagonal is taken to be 1.
///   overwrite_b, debug, check_finite: accepted for compatibility; without effect.
/// Returns: an array of the shape of `b`; infinite or NaN where the diagonal has a zero.
/// Raises:
///   ValueError: another `trans`, or shapes that do not go together.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.solve_triangular(jnp.array([[2.0, 1.0], [0.0, 4.0]]), jnp.array([4.0, 8.0])))
///   [1. 2.]
#[public(
    "scipy.linalg.solve_triangular(a: Convertible, b: Convertible, trans=0, lower=False, unit_diagonal=False, overwrite_b: Ignored=False, debug: Ignored=None, check_finite: Ignored=True)"
)]
pub fn solve_triangular(a: &Val, b: &Val, trans: Turn, lower: bool, unit_diagonal: bool) -> Result<Val> {
    let (transpose_a, conjugate_a) = match trans.0.as_str() {
        "0" | "N" => (false, false),
        "1" | "T" => (true, false),
        "2" | "C" => (true, true),
        other => bail!(Value, "Invalid 'trans' value {other}"),
    };
    let [a, b] = two(a, b)?;
    let ([a, b], is_vector) = with_sides(&a, &b, "solve_triangular")?;
    let options = Triangle { left_side: true, lower, transpose_a, conjugate_a, unit_diagonal };
    as_given(lin::triangular_solve(&a, &b, options)?, is_vector)
}

/// The solution of `a x = b`.
///
/// Args:
///   a: real or complex `[..., n, n]`; integers become floating.
///   b: `[..., n]` or `[..., n, k]`.
///   lower: with `assume_a="pos"`, which triangle is read.
///   overwrite_a, overwrite_b, debug, check_finite: accepted for compatibility; without effect.
///   assume_a: "pos" solves by Cholesky factors; "gen", "sym" and "her" by triangular ones.
/// Returns: an array of the shape of `b`; infinite or NaN where the matrix is singular or, for "pos", not positive
/// definite.
/// Raises:
///   ValueError: another `assume_a`, or shapes do not fit.
/// Differentiable: yes, with respect to both, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 8.0])))
///   [1. 2.]
#[public(
    "scipy.linalg.solve(a, b, lower=False, overwrite_a: Ignored=False, overwrite_b: Ignored=False, debug: Ignored=False, check_finite: Ignored=True, assume_a='gen')"
)]
pub fn solve(a: &Val, b: &Val, lower: bool, assume_a: &str) -> Result<Val> {
    match assume_a {
        "gen" | "sym" | "her" => numpy::linalg::solve(a, b),
        "pos" => cho_solve(CholeskyFactor { factor: cholesky(a, lower)?, lower }, b),
        _ => bail!(Value, "Expected assume_a to be one of ['gen', 'her', 'pos', 'sym']; got '{assume_a}'"),
    }
}

/// The determinant.
///
/// Args:
///   a: real or complex `[..., n, n]`; integers become floating.
///   overwrite_a, check_finite: accepted for compatibility; without effect.
/// Returns: `[...]`.
/// Raises:
///   ValueError: the matrices are not square.
/// Differentiable: yes, in both modes; at singular matrices too.
/// Example:
///   >>> float(jax.scipy.linalg.det(jnp.array([[2.0, 0.0], [0.0, 3.0]])))
///   6.0
#[public("scipy.linalg.det(a, overwrite_a: Ignored=False, check_finite: Ignored=True)")]
pub fn det(a: &Val) -> Result<Val> {
    numpy::linalg::det(a)
}

/// The inverse of square matrices; `solve` is faster and more accurate where the inverse is only multiplied.
///
/// Args:
///   a: real or complex `[..., n, n]`; integers become floating.
///   overwrite_a, check_finite: accepted for compatibility; without effect.
/// Returns: an array of the shape of `a`; infinite or NaN where the matrix is singular.
/// Raises:
///   ValueError: the matrices are not square.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]])))
///   [[0.5  0.  ]
///    [0.   0.25]]
#[public("scipy.linalg.inv(a, overwrite_a: Ignored=False, check_finite: Ignored=True)")]
pub fn inv(a: &Val) -> Result<Val> {
    numpy::linalg::inv(a)
}

/// The solution of `A X + X B = C`; NaN when an eigenvalue of A is nearly the opposite of one of B.
///
/// Args:
///   A: real or complex matrices `[..., m, m]`.
///   B: matrices `[..., n, n]`.
///   C: matrices `[..., m, n]`; batches broadcast.
///   method: "schur", column by column with Schur forms (Bartels and Stewart, 1972), or "eigen", with eigenvectors.
///   tol: sums of eigenvalues of smaller magnitude are taken for zero.
/// Returns: matrices `[..., m, n]`, complex if `C` is.
/// Raises:
///   ValueError: shapes do not fit, or the method is unknown.
/// Differentiable: no; a derivative raises NotImplementedError.
/// Example:
///   >>> a, c = 2 * jnp.eye(2), jnp.array([[8.0], [4.0]])
///   >>> print(jax.scipy.linalg.solve_sylvester(a, jnp.array([[2.0]]), c))
///   [[2.]
///    [1.]]
#[public("scipy.linalg.solve_sylvester(A: Convertible, B: Convertible, C: Convertible, *, method='schur', tol=1e-08)")]
pub fn solve_sylvester(a: &Val, b: &Val, c: &Val, method: &str, tol: f64) -> Result<Val> {
    let ins = inexact_of(&[a.clone(), b.clone(), c.clone()])?;
    let shapes: Vec<_> = ins.iter().map(|x| x.aval().shape.clone()).collect();
    let core = |i: usize| &shapes[i][shapes[i].len().saturating_sub(2)..];
    let fits = match core(2) {
        &[m, n] => core(0) == [m, m] && core(1) == [n, n],
        _ => false,
    };
    if !fits {
        let [a, b, c] = [0, 1, 2].map(|i| tuple_text(&shapes[i]));
        bail!(Value, "solve_sylvester takes matrices A[m, m], B[n, n] and C[m, n], got {a}, {b} and {c}");
    }
    let ins = with_one_batch(&ins, 2)?;
    let (x, sums) = match method {
        "schur" => by_columns(&ins[0], &ins[1], &ins[2])?,
        "eigen" => by_eigenvectors(&ins[0], &ins[1], &ins[2])?,
        _ => bail!(Value, "Unrecognized method {method}. The two valid methods are either \"schur\" or \"eigen\"."),
    };
    let x = if ins[2].aval().dtype.is_complex() { x } else { numpy::real(&x)? };
    let is_singular = abs(&sums).lt(tol).done()?;
    let is_singular = numpy::any(&is_singular, &Reduction::over(Axes::Many(vec![-2, -1]), true))?;
    numpy::where_(&is_singular, &literal(x.aval().dtype, f64::NAN), &x)
}

/// With Schur forms, column by column: Bartels and Stewart, 1972. Also the sums of all pairs of eigenvalues.
fn by_columns(a: &Val, b: &Val, c: &Val) -> Result<(Val, Val)> {
    let ((r, u), (s, v)) = (complex_schur(a)?, complex_schur(b)?);
    let dtype = r.aval().dtype;
    let right = Formula::from(adjoint(&u)).times(to_dtype(c, u.aval().dtype)).times(&v).done()?;
    let rows = right.aval().shape[right.aval().rank() - 2] as i64;
    let n = right.aval().shape[right.aval().rank() - 1];
    let eye = numpy::eye(rows, None, 0, Some(dtype))?;
    let start = [lax::full_like(&right, 0.0)?];
    let counts = lax::iota(DType::I32, n)?;
    let y = if n == 0 {
        start.iter().cloned().collect()
    } else {
        loops::scan(&start, &[counts], n, |carry, slices| {
            let at = IndexItem::Array(slices[0].clone());
            let column_of = |x: &Val| getitem(x, &[IndexItem::Ellipsis, at.clone()]);
            let known = of(&carry[0]).times(column(&column_of(&s)?));
            let rest = (Formula::from(column(&column_of(&right)?)) - known).done()?;
            let corner = getitem(&s, &[IndexItem::Ellipsis, at.clone(), at.clone()])?;
            let shifted = of(&r) + Formula::from(column(&column(&corner)?)) * &eye;
            let found = lin::triangular_solve(&shifted.done()?, &rest, Triangle::UPPER)?;
            let found = getitem(&found, &[IndexItem::Ellipsis, IndexItem::Int(0)])?;
            let place = [IndexItem::Ellipsis, at.clone()];
            Ok(vec![update(&Update::Set, &carry[0], &place, &found, &UpdateOptions::default())?])
        })?
    };
    let sums = of(&column(&numpy::diagonal(&r, 0, [-2, -1])?)?) + row(&numpy::diagonal(&s, 0, [-2, -1])?);
    let x = of(&u).times(&y[0]).times(adjoint(&v));
    Ok((x.done()?, sums.done()?))
}

fn by_eigenvectors(a: &Val, b: &Val, c: &Val) -> Result<(Val, Val)> {
    let (a, b) = (numpy::linalg::eig(a)?, numpy::linalg::eig(b)?);
    let (u, v) = (&a.eigenvectors, &b.eigenvectors);
    let sums = (of(&column(&a.eigenvalues)?) + row(&b.eigenvalues)).done()?;
    let inner = Formula::from(numpy::linalg::solve(u, &to_dtype(c, u.aval().dtype)?)).times(v) / &sums;
    let turned = |x: &Val| numpy::swapaxes(x, -1, -2);
    let solved = numpy::linalg::solve(&turned(v)?, &turned(&inner.done()?)?)?;
    Ok((of(u).times(turned(&solved)).done()?, sums))
}
