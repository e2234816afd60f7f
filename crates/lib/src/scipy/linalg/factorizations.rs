//! Factors of matrices: Cholesky, LU, QR, Schur, Hessenberg, polar, eigenvalues and singular values.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::{matrices, with_one_batch};
use crate::broadcast::{broadcast_shapes, broadcast_to};
use crate::convert::{literal, to_dtype};
use crate::declare::{Ignored, Object, OneOrTuple, TupleOf};
use crate::formula::{Formula, of};
use crate::indexing::{IndexItem, Update, UpdateOptions, getitem, update};
use crate::lax::linalg::{self as lin, Triangle, adjoint, column, of_last, row, singular_vectors};
use crate::numpy::linalg::{inexact_of, inexact_one, real_dtype};
use crate::numpy::padding::PadMode;
use crate::numpy::{self, Order};
use crate::{lax, numpy::eye};

/// The Cholesky factor of positive definite matrices: U with `a = Uᴴ U`, or L with `a = L Lᴴ` if `lower`.
///
/// Args:
///   a: real or complex `[..., n, n]`, of which only one triangle is read: the lower one if `lower`, else the upper
///     one.
///     Integers become floating.
///   lower: which factor to give.
///   overwrite_a: accepted for compatibility; arrays are never changed.
///   check_finite: accepted for compatibility; nothing is checked.
/// Returns: a triangle of the shape of `a`; NaN where the matrix is not positive definite.
/// Raises:
///   ValueError: the matrices are not square.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]])))
///   [[2. 1.]
///    [0. 2.]]
#[public("scipy.linalg.cholesky(a: Convertible, lower=False, overwrite_a: Ignored=False, check_finite: Ignored=True)")]
pub fn cholesky(a: &Val, lower: bool) -> Result<Val> {
    let a = inexact_one(a)?;
    if lower { lin::cholesky(&a, false) } else { adjoint(&lin::cholesky(&adjoint(&a)?, false)?) }
}

/// The singular value decomposition `a = U diag(s) Vᴴ`, with singular values in descending order.
///
/// Args:
///   a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
///   full_matrices: whether U is `[..., m, m]` and Vᴴ `[..., n, n]`, else `[..., m, k]` and `[..., k, n]`.
///   compute_uv: whether to give U and Vᴴ too.
///   overwrite_a, check_finite, lapack_driver: accepted for compatibility; without effect.
/// Returns: U, real `s` `[..., k]` and Vᴴ, or only `s`.
/// Raises:
///   TypeError: `a` has fewer than two axes.
/// Differentiable: yes, in both modes, where singular values differ; with `full_matrices` only the singular values
/// alone
///   (`compute_uv=False`), else NotImplementedError.
/// Example:
///   >>> print(jax.scipy.linalg.svd(jnp.array([[0.0, 2.0], [3.0, 0.0]]), compute_uv=False))
///   [3. 2.]
#[public(
    "scipy.linalg.svd(a: Convertible, full_matrices=True, compute_uv=True, overwrite_a: Ignored=False, check_finite: Ignored=True, lapack_driver: Ignored='gesdd')"
)]
pub fn svd(a: &Val, full_matrices: bool, compute_uv: bool) -> Result<OneOrTuple> {
    let a = inexact_one(a)?;
    if !compute_uv {
        return lin::singular_values(&a, full_matrices, None).map(OneOrTuple::One);
    }
    let (u, s, vh) = singular_vectors(&a, full_matrices, None)?;
    Ok(OneOrTuple::Tuple(vec![u, s, vh]))
}

/// Ascending eigenvalues and eigenvectors of Hermitian matrices, or of pairs of them.
///
/// With `b = L Lᴴ` the eigenvectors come from those of `L⁻¹ a L⁻ᴴ`, or of `Lᴴ a L`.
///
/// Args:
///   a: real or complex `[..., n, n]`; it is taken to be Hermitian.
///   b: positive definite matrices like `a`, or None for the identity.
///   lower: which triangle is read first.
///   eigvals_only: whether to give only the eigenvalues.
///   overwrite_a, overwrite_b, turbo, check_finite: accepted for compatibility; without effect.
///   eigvals: must be None: all are computed.
///   type: the problem for `b`: 1 for `a v = w b v`, 2 for `a b v = w v`, 3 for `b a v = w v`.
/// Returns: real eigenvalues `[..., n]` and eigenvectors as columns `[..., n, n]`, or only the eigenvalues. The
/// eigenvectors are
///   orthonormal, with `b` those of types 1 and 2 in the inner product of `b`, those of type 3 in that of its
///     inverse. NaN where `b` is not
///   positive definite.
/// Raises:
///   ValueError: the matrices are not square or not of one size, or there is no such type.
///   NotImplementedError: `eigvals` is given.
/// Differentiable: yes, in both modes, where eigenvalues differ.
/// Example:
///   >>> print(jax.scipy.linalg.eigh(jnp.array([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True))
///   [1. 2.]
#[public(
    "scipy.linalg.eigh(a: Convertible, b: Convertible=None, lower=True, eigvals_only=False, overwrite_a: Ignored=False, overwrite_b: Ignored=False, turbo: Ignored=True, eigvals=None, type=1, check_finite: Ignored=True)"
)]
pub fn eigh(
    a: &Val,
    b: Option<&Val>,
    lower: bool,
    eigvals_only: bool,
    eigvals: Option<Object>,
    type_: i64,
) -> Result<OneOrTuple> {
    if !(1..=3).contains(&type_) {
        bail!(Value, "type must be 1, 2, or 3, got {type_}.");
    }
    if eigvals.is_some() {
        bail!(NotImplemented, "Only the eigvals=None case of eigh is implemented.");
    }
    if let Some(b) = b {
        let ins = inexact_of(&[a.clone(), b.clone()])?;
        return generalized_eigh(&ins[0], &ins[1], eigvals_only, type_);
    }
    let (v, w) = lin::eigh(&inexact_one(a)?, &lin::Eigh { lower, ..lin::Eigh::default() })?;
    Ok(if eigvals_only { OneOrTuple::One(w) } else { OneOrTuple::Tuple(vec![w, v]) })
}

/// `eigh` of a pair, by the Cholesky factor of `b`.
fn generalized_eigh(a: &Val, b: &Val, eigvals_only: bool, kind: i64) -> Result<OneOrTuple> {
    let (of_a, of_b) = (a.aval().shape.clone(), b.aval().shape.clone());
    if of_a[of_a.len().saturating_sub(2)..] != of_b[of_b.len().saturating_sub(2)..] {
        let (a, b) = (tuple_text(&of_a), tuple_text(&of_b));
        bail!(Value, "eigh takes square matrices of one size, got {a} and {b}.");
    }
    let shape = broadcast_shapes(&[&of_a, &of_b])?;
    let (a, b) = (broadcast_to(a, &shape)?, broadcast_to(b, &shape)?);
    let factor = lin::cholesky(&b, true)?;
    let turned = |x: &Val| numpy::conjugate(&numpy::swapaxes(x, -1, -2)?);
    let solved = |rhs: &Val, is_adjoint: bool| {
        let options = Triangle { lower: true, transpose_a: is_adjoint, conjugate_a: is_adjoint, ..Triangle::UPPER };
        lin::triangular_solve(&factor, rhs, options)
    };
    let reduced = if kind == 1 {
        turned(&solved(&turned(&solved(&a, false)?)?, false)?)?
    } else {
        Formula::from(turned(&factor)).times(of(&a).times(&factor)).done()?
    };
    let (v, w) = lin::eigh(&reduced, &lin::Eigh::default())?;
    if eigvals_only {
        return Ok(OneOrTuple::One(w));
    }
    let v = if kind == 3 { numpy::matmul(&factor, &v, None)? } else { solved(&v, true)? };
    Ok(OneOrTuple::Tuple(vec![w, v]))
}

/// Ascending eigenvalues, and eigenvectors, of a Hermitian tridiagonal matrix.
///
/// Args:
///   d: the diagonal `[n]`.
///   e: what is above it, `[n - 1]`; below are the conjugates.
///   eigvals_only: whether to give only the eigenvalues.
///   select: "a" for all, "i" for those numbered from the first to the last of `select_range`.
///   select_range: a pair of numbers, for "i".
///   tol, key: accepted for compatibility; without effect.
/// Returns: real eigenvalues `[k]` and eigenvectors as columns `[n, k]`, or only the eigenvalues.
/// Raises:
///   NotImplementedError: `select="v"`, whose number of results depends on values.
///   ValueError: another `select`.
///   TypeError: shapes do not fit.
/// Differentiable: yes, in both modes, where eigenvalues differ.
/// Example:
///   >>> print(jax.scipy.linalg.eigh_tridiagonal(jnp.array([2.0, 1.0]), jnp.zeros(1), eigvals_only=True))
///   [1. 2.]
#[public(
    "scipy.linalg.eigh_tridiagonal(d: Convertible, e: Convertible, *, eigvals_only=False, select='a', select_range=None, tol: Ignored=None, key: Ignored=None)"
)]
pub fn eigh_tridiagonal(
    d: &Val,
    e: &Val,
    eigvals_only: bool,
    select: &str,
    select_range: Option<&[i64]>,
) -> Result<OneOrTuple> {
    let ins = inexact_of(&[d.clone(), e.clone()])?;
    let (d, e) = (&ins[0], &ins[1]);
    match select {
        "a" | "i" => {}
        "v" => bail!(
            NotImplemented,
            "eigh_tridiagonal with select='v' has results whose number depends on values; use select='a'"
        ),
        _ => bail!(Value, "'select must have a value in {{'i', 'a', 'v'}}."),
    }
    let below = if e.aval().dtype.is_complex() { numpy::conjugate(e)? } else { e.clone() };
    let matrix = Formula::from(numpy::diag(d, 0)) + numpy::diag(e, 1) + numpy::diag(&below, -1);
    let (mut v, mut w) = lin::eigh(&matrix.done()?, &lin::Eigh { symmetrize_input: false, ..lin::Eigh::default() })?;
    if select == "i" {
        let Some(&[first, last]) = select_range else {
            bail!(Type, "eigh_tridiagonal with select='i' takes the pair of the first and the last number");
        };
        (v, w) = (of_last(&v, Some(first), Some(last + 1))?, of_last(&w, Some(first), Some(last + 1))?);
    }
    Ok(if eigvals_only { OneOrTuple::One(w) } else { OneOrTuple::Tuple(vec![w, v]) })
}

/// The triangular factors of matrices with their rows exchanged, in one array, and the exchanges, for `lu_solve`.
///
/// Args:
///   a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
///   overwrite_a, check_finite: accepted for compatibility; without effect.
/// Returns: `[..., m, n]`, with U in the upper triangle and L, whose diagonal is 1, below; and int32 `[..., k]`: with
/// which row
///   each row was exchanged, in order.
/// Raises:
///   TypeError: `a` has fewer than two axes.
/// Differentiable: yes, the factors, in both modes.
/// Example:
///   >>> factors, pivots = jax.scipy.linalg.lu_factor(jnp.array([[1.0, 2.0], [2.0, 2.0]]))
///   >>> print(factors, pivots)
///   [[2.  2. ]
///    [0.5 1. ]] [1 1]
#[public("scipy.linalg.lu_factor(a: Convertible, overwrite_a: Ignored=False, check_finite: Ignored=True)")]
pub fn lu_factor(a: &Val) -> Result<(Val, Val)> {
    let (factors, pivots, _) = lin::lu(&inexact_one(a)?)?;
    Ok((factors, pivots))
}

/// The factors of `a = P L U`: a permutation, a lower triangle with diagonal 1, and an upper triangle.
///
/// Args:
///   a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
///   permute_l: whether to give the product `P L` in place of the two.
///   overwrite_a, check_finite: accepted for compatibility; without effect.
/// Returns: P `[..., m, m]` (real), L `[..., m, k]` and U `[..., k, n]`, or the pair `P L`, U.
/// Raises:
///   ValueError: `a` has fewer than two axes.
/// Differentiable: yes, L and U, in both modes; P is constant.
/// Example:
///   >>> p, l, u = jax.scipy.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 2.0]]))
///   >>> print(u)
///   [[2. 2.]
///    [0. 1.]]
#[public("scipy.linalg.lu(a: Convertible, permute_l=False, overwrite_a: Ignored=False, check_finite: Ignored=True)")]
pub fn lu(a: &Val, permute_l: bool) -> Result<TupleOf> {
    let a = matrices(a, "lu")?;
    let (factors, _, order) = lin::lu(&a)?;
    let (shape, dtype) = (a.aval().shape.clone(), a.aval().dtype);
    let (batch, sizes) = shape.split_at(shape.len() - 2);
    let (m, k) = (sizes[0], sizes[0].min(sizes[1]));
    let square = [batch, &[m, m]].concat();
    let rows = lax::broadcasted_iota(order.aval().dtype, &square, square.len() - 2)?;
    let is_there = numpy::equal(&broadcast_to(&row(&order)?, &square)?, &rows)?;
    let permutation = to_dtype(&is_there, real_dtype(dtype))?;
    let lower = of_last(&numpy::tril(&factors, -1)?, None, Some(k as i64))?;
    let ones = broadcast_to(&eye(m as i64, Some(k as i64), 0, Some(dtype))?, &lower.aval().shape)?;
    let lower = numpy::add(&lower, &ones)?;
    let above = IndexItem::Slice { start: None, stop: Some(k as i64), step: None };
    let upper = getitem(&numpy::triu(&factors, 0)?, &[IndexItem::Ellipsis, above, IndexItem::ALL])?;
    if permute_l {
        let product = of(&to_dtype(&permutation, dtype)?).times(&lower).done()?;
        return Ok(TupleOf([product, upper].into_iter().collect()));
    }
    Ok(TupleOf([permutation, lower, upper].into_iter().collect()))
}

/// The factors of `a = Q R`: orthonormal columns and an upper triangle.
///
/// Args:
///   a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
///   overwrite_a, lwork, check_finite: accepted for compatibility; without effect.
///   mode: "full" for square Q `[..., m, m]` and R `[..., m, n]`, "economic" for `[..., m, k]` and `[..., k, n]`, "r"
///     for the R
///     of "full" alone, in a tuple.
///   pivoting: whether columns are exchanged, so that the diagonal of R descends; their order `[..., n]` is one more
///     result.
/// Returns: a tuple of arrays.
/// Raises:
///   ValueError: another mode.
///   TypeError: `a` has fewer than two axes.
/// Differentiable: yes, in both modes, where `a` has full rank; NotImplementedError for square Q of tall matrices.
/// Example:
///   >>> q, r = jax.scipy.linalg.qr(jnp.eye(2))
///   >>> print(abs(r))
///   [[1. 0.]
///    [0. 1.]]
#[public(
    "scipy.linalg.qr(a: Convertible, overwrite_a: Ignored=False, lwork: Ignored=None, mode='full', pivoting=False, check_finite: Ignored=True)"
)]
pub fn qr(a: &Val, mode: &str, pivoting: bool) -> Result<TupleOf> {
    if !["full", "r", "economic"].contains(&mode) {
        bail!(Value, "Unsupported QR decomposition mode '{mode}'");
    }
    let mut found = lin::qr(&inexact_one(a)?, pivoting, mode != "economic", Ignored)?.0;
    if mode == "r" {
        found.remove(0);
    }
    Ok(TupleOf(found))
}

/// The product of a matrix with Q of the QR factors of `a`, and R: `c Q` for "right", `Q c` for "left".
///
/// Args:
///   a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`, Q is `[..., m, k]`.
///   c: a matrix whose last axis ("right") or last but one ("left") fits, or a vector.
///   mode: on which side of `c` Q stands.
///   pivoting: whether columns of `a` are exchanged; their order is one more result.
///   conjugate: whether to multiply with the conjugate of Q.
///   overwrite_a, overwrite_c: accepted for compatibility; without effect.
/// Returns: the product, a vector if `c` is one; R `[..., k, n]`; and with `pivoting` the order.
/// Raises:
///   ValueError: another mode, or shapes do not fit.
/// Differentiable: yes, with respect to both, in both modes, where `a` has full rank.
/// Example:
///   >>> product, r = jax.scipy.linalg.qr_multiply(jnp.eye(2), jnp.array([1.0, 2.0]))
///   >>> print(abs(product))
///   [1. 2.]
#[public(
    "scipy.linalg.qr_multiply(a: Convertible, c: Convertible, mode='right', pivoting=False, conjugate=False, overwrite_a: Ignored=False, overwrite_c: Ignored=False)"
)]
pub fn qr_multiply(a: &Val, c: &Val, mode: &str, pivoting: bool, conjugate: bool) -> Result<TupleOf> {
    let ins = inexact_of(&[matrices(a, "qr_multiply")?, c.clone()])?;
    let (mut a, mut c) = (ins[0].clone(), ins[1].clone());
    if c.aval().rank() == 0 {
        bail!(Index, "tuple index out of range");
    }
    let is_left = mode == "left";
    if !is_left && mode != "right" {
        bail!(Value, "Invalid mode='{mode}': must be 'left' or 'right'.");
    }
    let is_vector = c.aval().rank() == 1;
    if c.aval().rank() >= 2 {
        let both = with_one_batch(&[a, c], 2)?;
        (a, c) = (both[0].clone(), both[1].clone());
    }
    let found = lin::qr(&a, pivoting, false, Ignored)?.0;
    let q = if conjugate { numpy::conjugate(&found[0])? } else { found[0].clone() };
    if is_vector {
        c = if is_left { column(&c)? } else { row(&c)? };
    }
    let last_two = |x: &Val| {
        let shape = x.aval().shape.clone();
        [shape[shape.len().saturating_sub(2)], shape[shape.len() - 1]]
    };
    let of_c = if c.aval().rank() < 2 { [0, usize::MAX] } else { last_two(&c) };
    let [rows, columns] = last_two(&q);
    let fits = if is_left { of_c[0] == rows || of_c[0] == columns } else { of_c[1] == rows };
    if !fits {
        let (a, c) = (tuple_text(&a.aval().shape), tuple_text(&c.aval().shape));
        bail!(Value, "qr_multiply operands do not fit: shapes {a} and {c}");
    }
    let product = if is_left { of(&of_last(&q, None, Some(of_c[0] as i64))?).times(&c) } else { of(&c).times(&q) };
    let product = product.done()?;
    let product = if is_vector { numpy::ravel(&product, Order::RowMajor)? } else { product };
    Ok(TupleOf(std::iter::once(product).chain(found.into_iter().skip(1)).collect()))
}

/// The complex Schur form and its vectors.
pub(super) fn complex_schur(a: &Val) -> Result<(Val, Val)> {
    let a = if a.aval().dtype.is_complex() { a.clone() } else { lax::complex(a, &lax::full_like(a, 0.0)?)? };
    let found = lin::schur(&a, true, Ignored, Ignored)?;
    Ok((found[0].clone(), found[1].clone()))
}

/// The Schur form of matrices: `a = Z T Zᴴ` with unitary Z and upper triangular T.
///
/// Args:
///   a: `[..., n, n]`, real or complex.
///   output: "complex" converts real matrices to complex ones first. With "real" the form of a real matrix is real:
///     it has
///     blocks of two on its diagonal for pairs of complex eigenvalues.
/// Returns: a list of T and Z, `[..., n, n]`.
/// Raises:
///   ValueError: another `output`, or matrices that are not square.
/// Differentiable: no; a derivative raises NotImplementedError.
/// Example:
///   >>> t, z = jax.scipy.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]), output="complex")
///   >>> print(jnp.diagonal(t).real)
///   [1. 3.]
///   >>> t, z = jax.scipy.linalg.schur(jnp.array([[0.0, 1.0], [-1.0, 0.0]]))
///   >>> print(t.dtype, jnp.allclose(z @ t @ z.T, jnp.array([[0.0, 1.0], [-1.0, 0.0]])))
///   float32 True
#[public("scipy.linalg.schur(a, output='real')")]
pub fn schur(a: &Val, output: &str) -> Result<Vec<Val>> {
    if output == "real" {
        check_factored(a, "schur")?;
    }
    let a = inexact_one(a)?;
    match output {
        "complex" => complex_schur(&a).map(|(t, z)| vec![t, z]),
        "real" => Ok(lin::schur(&a, true, Ignored, Ignored)?.into_vec()),
        _ => bail!(Value, "Expected 'output' to be either 'real' or 'complex', got output='{output}'."),
    }
}

/// Refuses dtypes for which there is no factorization, where the reference converts none.
pub(super) fn check_factored(a: &Val, name: &str) -> Result<()> {
    let dtype = a.aval().dtype;
    if dtype.is_inexact() {
        return Ok(());
    }
    bail!(
        Type,
        "{name} does not accept dtype {dtype} at position 0. Accepted dtypes at position 0 are subtypes of float32, \
         complex128, complex64, float64."
    );
}

/// The Hessenberg form: `a = Q H Qᴴ` with unitary Q and H zero below the first subdiagonal.
///
/// Args:
///   a: real or complex `[..., n, n]`.
///   calc_q: whether to give Q too.
///   overwrite_a, check_finite: accepted for compatibility; without effect.
/// Returns: H `[..., n, n]`, or the pair H, Q.
/// Raises:
///   ValueError: the matrices are not square.
/// Differentiable: no; a derivative raises NotImplementedError.
/// Example:
///   >>> print(jax.scipy.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]])))
///   [[1. 2.]
///    [3. 4.]]
#[public(
    "scipy.linalg.hessenberg(a: Convertible, *, calc_q=False, overwrite_a: Ignored=False, check_finite: Ignored=True)"
)]
pub fn hessenberg(a: &Val, calc_q: bool) -> Result<OneOrTuple> {
    check_factored(a, "hessenberg")?;
    let a = inexact_one(a)?;
    if a.aval().rank() == 0 {
        bail!(Index, "tuple index out of range");
    }
    let found = lin::hessenberg(&a)?;
    let (packed, taus) = (&found[0], &found[1]);
    let h = numpy::triu(packed, -1)?;
    let (shape, dtype) = (a.aval().shape.clone(), a.aval().dtype);
    let n = shape[shape.len() - 1];
    if !calc_q || n == 0 {
        return Ok(if calc_q { OneOrTuple::Tuple(vec![h.clone(), h]) } else { OneOrTuple::One(h) });
    }
    let batch = &shape[..shape.len() - 2];
    let inner = if n > 1 {
        let below = IndexItem::Slice { start: Some(1), stop: None, step: None };
        let left = IndexItem::Slice { start: None, stop: Some(n as i64 - 1), step: None };
        lin::householder_product(&getitem(packed, &[IndexItem::Ellipsis, below, left])?, taus)?
    } else {
        lax::full(&[batch, &[0, 0]].concat(), &literal(dtype, 0.0))?
    };
    let mut widths = vec![(0, 0); batch.len()];
    widths.extend([(1, 0), (1, 0)]);
    let q = numpy::pad(&inner, &widths, PadMode::Constant, &crate::convert::weak_int(0))?;
    let corner = [IndexItem::Ellipsis, IndexItem::Int(0), IndexItem::Int(0)];
    let q = update(&Update::Set, &q, &corner, &crate::convert::weak_int(1), &UpdateOptions::default())?;
    Ok(OneOrTuple::Tuple(vec![h, q]))
}

/// The polar factors: `a = u p` for "right", `a = p u` for "left"; u orthonormal, p positive semidefinite.
///
/// They come from the singular value decomposition, whatever the method.
///
/// Args:
///   a: real or complex `[..., m, n]`.
///   side: where p stands; it is `[..., n, n]` for "right", `[..., m, m]` for "left".
///   method: "qdwh" or "svd", accepted for compatibility.
///   eps, max_iterations: accepted for compatibility; without effect.
/// Returns: u `[..., m, n]` and p.
/// Raises:
///   ValueError: another side or method, or `a` has fewer than two axes.
/// Differentiable: yes, in both modes, where singular values differ.
/// Example:
///   >>> u, p = jax.scipy.linalg.polar(jnp.array([[-2.0, 0.0], [0.0, 3.0]]))
///   >>> print(u @ p)
///   [[-2.  0.]
///    [ 0.  3.]]
#[public(
    "scipy.linalg.polar(a: Convertible, side='right', *, method='qdwh', eps: Ignored=None, max_iterations: Ignored=None)"
)]
pub fn polar(a: &Val, side: &str, method: &str) -> Result<(Val, Val)> {
    let (given, a) = (a.aval().dtype, matrices(a, "polar")?);
    if side != "right" && side != "left" {
        bail!(Value, "The argument `side` must be 'right' or 'left', got '{side}'.");
    }
    if method != "qdwh" && method != "svd" {
        bail!(Value, "Unknown polar decomposition method {method}.");
    }
    if !given.is_inexact() {
        bail!(Value, "data type dtype('{given}') not compatible with finfo");
    }
    let (u, s, vh) = singular_vectors(&a, false, None)?;
    let s = row(&to_dtype(&s, u.aval().dtype)?)?;
    let p =
        if side == "right" { (Formula::from(adjoint(&vh)) * &s).times(&vh) } else { (of(&u) * &s).times(adjoint(&u)) };
    Ok((numpy::matmul(&u, &vh, None)?, p.done()?))
}

/// The complex Schur form of a real one.
///
/// Args:
///   T: real matrices `[..., n, n]` with blocks of at most two on the diagonal.
///   Z: their vectors `[..., n, n]`; batches broadcast.
///   check_finite: accepted for compatibility; nothing is checked.
/// Returns: upper triangles and their vectors, complex `[..., n, n]`, with the same product `Z T Zᴴ`.
/// Raises:
///   ValueError: the matrices are not square or of different sizes.
/// Differentiable: no; a derivative raises NotImplementedError.
/// Example:
///   >>> t, z = jax.scipy.linalg.rsf2csf(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), jnp.eye(2))
///   >>> float(abs(t[1, 0]))
///   0.0
#[public("scipy.linalg.rsf2csf(T: Convertible, Z: Convertible, check_finite: Ignored=True)")]
pub fn rsf2csf(t: &Val, z: &Val) -> Result<(Val, Val)> {
    let ins = inexact_of(&[t.clone(), z.clone()])?;
    let shapes: Vec<_> = ins.iter().map(|x| x.aval().shape.clone()).collect();
    let core = |i: usize| &shapes[i][shapes[i].len().saturating_sub(2)..];
    if core(0).len() < 2 || core(0) != core(1) || core(0)[0] != core(0)[1] {
        let (t, z) = (tuple_text(&shapes[0]), tuple_text(&shapes[1]));
        bail!(Value, "rsf2csf takes square matrices of one size, got {t} and {z}.");
    }
    let ins = with_one_batch(&ins, 2)?;
    let (t, z) = complex_schur(&ins[0])?;
    let turned = of(&to_dtype(&ins[1], z.aval().dtype)?).times(&z).done()?;
    Ok((t, turned))
}
