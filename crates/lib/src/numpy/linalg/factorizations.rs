//! Factorizations of matrices: of Cholesky, QR, by singular values and by eigenvalues.

use pullback_base::aval::tuple_text;
use pullback_base::{Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::inexact_one;
use crate::convert::weak_int;
use crate::declare::Ignored;
use crate::declare::{NamedTuple, Return, Returned, Type};
use crate::formula::of;
use crate::lax::linalg::{self as lin, adjoint, is_square, row};
use crate::numpy::{self, TakeOptions};

/// Eigenvalues, and eigenvectors as columns, in the class of that name.
#[derive(Debug)]
pub struct Eigen<const HERMITIAN: bool> {
    /// The eigenvalues; ascending if Hermitian.
    pub eigenvalues: Val,
    /// The eigenvectors.
    pub eigenvectors: Val,
}

static EIG_RESULT: NamedTuple = NamedTuple { name: "numpy.linalg.EigResult", fields: &["eigenvalues", "eigenvectors"] };
static EIGH_RESULT: NamedTuple =
    NamedTuple { name: "numpy.linalg.EighResult", fields: &["eigenvalues", "eigenvectors"] };
static QR_RESULT: NamedTuple = NamedTuple { name: "numpy.linalg.QRResult", fields: &["Q", "R"] };
static SVD_RESULT: NamedTuple = NamedTuple { name: "numpy.linalg.SVDResult", fields: &["U", "S", "Vh"] };

impl<const HERMITIAN: bool> Return for Eigen<HERMITIAN> {
    const TYPE: Type = Type { python: if HERMITIAN { "EighResult" } else { "EigResult" }, rust: "(Array, Array)" };
    fn returned(self) -> Returned {
        let class = if HERMITIAN { &EIGH_RESULT } else { &EIG_RESULT };
        Returned::Named(class, [self.eigenvalues, self.eigenvectors].into_iter().collect())
    }
}

/// The Cholesky factor: the lower triangle L with `a = L Lᴴ`, or the upper one U with `a = Uᴴ U`.
///
/// Args:
///   a: Hermitian positive definite matrices `[..., n, n]`; integers become floating.
///   upper: whether to give U, which is the adjoint of L.
///   symmetrize_input: whether to take `(a + aᴴ) / 2`; if not, only the lower triangle of `a` is read.
/// Returns: an array `[..., n, n]`; NaN where `a` is not positive definite.
/// Raises:
///   ValueError: `a` is not square.
/// Differentiable: yes, in both modes (Murray, "Differentiation of the Cholesky decomposition", 2016).
/// Example:
///   >>> print(jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 10.0]])))
///   [[2. 0.]
///    [1. 3.]]
#[public("numpy.linalg.cholesky(a, *, upper=False, symmetrize_input=True)")]
pub fn cholesky(a: &Val, upper: bool, symmetrize_input: bool) -> Result<Val> {
    let a = inexact_one(a)?;
    if !is_square(&a) {
        let shape = tuple_text(&a.aval().shape);
        bail!(Value, "Argument to linalg.cholesky must have shape [..., n, n], got {shape}.");
    }
    let lower = lin::cholesky(&a, symmetrize_input)?;
    if upper { adjoint(&lower) } else { Ok(lower) }
}

/// The singular value decomposition `a = U diag(S) Vᴴ`, with orthonormal columns of U and V and `S` descending.
///
/// Args:
///   a: matrices `[..., m, n]`; integers become floating.
///   full_matrices: whether U and V are square; if not, they have k = min(m, n) columns.
///   compute_uv: whether to give U and Vᴴ too.
///   hermitian: whether `a` is Hermitian, so that its eigenvalues are used.
///   subset_by_index: a pair of positions, to give only the singular values from the first up to the second one.
/// Returns: the named tuple of U `[..., m, m or k]`, S `[..., k]` and Vh `[..., n or k, n]`; S alone without
///   `compute_uv`.
/// Raises:
///   TypeError: `a` has fewer than two axes.
/// Differentiable: yes, in both modes, with `full_matrices=False` (NotImplementedError otherwise) and distinct
///   singular values; singular values alone always.
/// Example:
///   >>> u, s, vh = jnp.linalg.svd(jnp.array([[3.0, 0.0], [0.0, -4.0]]))
///   >>> print(s.round(3))
///   [4. 3.]
#[public("numpy.linalg.svd(a, full_matrices=True, compute_uv=True, hermitian=False, subset_by_index=None)")]
pub fn svd(
    a: &Val,
    full_matrices: bool,
    compute_uv: bool,
    hermitian: bool,
    subset_by_index: Option<&[i64]>,
) -> Result<Returned> {
    let a = inexact_one(a)?;
    if !compute_uv {
        let s =
            if hermitian { hermitian_values(&a)?.0 } else { lin::singular_values(&a, full_matrices, subset_by_index)? };
        return Ok(Returned::One(s));
    }
    let (u, s, vh) =
        if hermitian { hermitian_vectors(&a)? } else { lin::singular_vectors(&a, full_matrices, subset_by_index)? };
    Ok(Returned::Named(&SVD_RESULT, [u, s, vh].into_iter().collect()))
}

/// The singular values of Hermitian matrices, the order of eigenvalues that they come from, and these and their
/// vectors.
fn hermitian_values(a: &Val) -> Result<(Val, Val, Val, Val)> {
    let Eigen { eigenvalues: w, eigenvectors: v } = eigh(a, None, true)?;
    let s = numpy::absolute(&w)?;
    let order = numpy::argsort(&numpy::negative(&s)?, Some(-1), true, false)?;
    Ok((numpy::take_along_axis(&s, &order, Some(-1), TakeOptions::default())?, order, w, v))
}

/// The singular vectors and values of Hermitian matrices.
pub(crate) fn hermitian_vectors(a: &Val) -> Result<(Val, Val, Val)> {
    let (s, order, w, v) = hermitian_values(a)?;
    let v = numpy::take_along_axis(&v, &row(&order)?, Some(-1), TakeOptions::default())?;
    let is_negative = numpy::less(&w, &weak_int(0))?;
    let signs = numpy::astype(&numpy::where_(&is_negative, &weak_int(-1), &weak_int(1))?, v.aval().dtype)?;
    let signs = numpy::take_along_axis(&signs, &order, Some(-1), TakeOptions::default())?;
    let vh = adjoint(&(of(&v) * row(&signs)).done()?)?;
    Ok((v, s, vh))
}

/// The singular values of matrices, descending.
///
/// Args:
///   x: matrices `[..., m, n]`; integers become floating.
/// Returns: a real array `[..., min(m, n)]`, not negative.
/// Raises:
///   TypeError: `x` has fewer than two axes.
/// Differentiable: yes, in both modes, where the singular values are distinct.
/// Example:
///   >>> print(jnp.linalg.svdvals(jnp.array([[3.0, 0.0], [0.0, -4.0]])).round(3))
///   [4. 3.]
#[public("numpy.linalg.svdvals(x, /)")]
pub fn svdvals(x: &Val) -> Result<Val> {
    lin::singular_values(&inexact_one(x)?, true, None)
}

/// The eigenvalues and right eigenvectors of general matrices: `a v = w v`. On the CPU only.
///
/// Args:
///   a: matrices `[..., n, n]`; integers become floating.
/// Returns: the named tuple of complex eigenvalues `[..., n]`, in no order, and eigenvectors `[..., n, n]` as
///   columns of norm 1.
/// Raises:
///   TypeError: `a` has fewer than two axes.
///   ValueError: `a` is not square.
/// Differentiable: no, with NotImplementedError; `eigvals` is.
/// Example:
///   >>> w, v = jnp.linalg.eig(jnp.array([[2.0, 0.0], [0.0, 3.0]]))
///   >>> print(w)
///   [2.+0.j 3.+0.j]
#[public("numpy.linalg.eig(a)")]
pub fn eig(a: &Val) -> Result<Eigen<false>> {
    let found = lin::eig(&inexact_one(a)?, false, true, false, Ignored, Ignored)?;
    Ok(Eigen { eigenvalues: found[0].clone(), eigenvectors: found[1].clone() })
}

/// The eigenvalues of general matrices. On the CPU only.
///
/// Args:
///   a: matrices `[..., n, n]`; integers become floating.
/// Returns: complex numbers `[..., n]`, in no order.
/// Raises:
///   TypeError: `a` has fewer than two axes.
///   ValueError: `a` is not square.
/// Differentiable: yes, in both modes, where the eigenvalues are distinct.
/// Example:
///   >>> print(jnp.linalg.eigvals(jnp.array([[2.0, 0.0], [0.0, 3.0]])))
///   [2.+0.j 3.+0.j]
#[public("numpy.linalg.eigvals(a)")]
pub fn eigvals(a: &Val) -> Result<Val> {
    Ok(lin::eig(&inexact_one(a)?, false, false, false, Ignored, Ignored)?.swap_remove(0))
}

/// The eigenvalues and eigenvectors of Hermitian matrices: `a = v diag(w) vᴴ`.
///
/// Args:
///   a: Hermitian matrices `[..., n, n]`; integers become floating.
///   UPLO: 'L' (the default) or 'U': the triangle that is read when the input is not symmetrized.
///   symmetrize_input: whether to take `(a + aᴴ) / 2`.
/// Returns: the named tuple of real ascending eigenvalues `[..., n]` and orthonormal eigenvectors `[..., n, n]` as
///   columns.
/// Raises:
///   ValueError: `a` is not square, has fewer than two axes, or another `UPLO`.
/// Differentiable: yes, in both modes, where the eigenvalues are distinct.
/// Example:
///   >>> w, v = jnp.linalg.eigh(jnp.array([[3.0, 0.0], [0.0, 2.0]]))
///   >>> print(w)
///   [2. 3.]
#[public("numpy.linalg.eigh(a, UPLO=None, symmetrize_input=True)")]
pub fn eigh(a: &Val, uplo: Option<&str>, symmetrize_input: bool) -> Result<Eigen<true>> {
    if !matches!(uplo, None | Some("L" | "U")) {
        bail!(Value, "UPLO must be one of None, 'L', or 'U'.");
    }
    let options = lin::Eigh { lower: uplo != Some("U"), symmetrize_input, ..lin::Eigh::default() };
    let (eigenvectors, eigenvalues) = lin::eigh(&inexact_one(a)?, &options)?;
    Ok(Eigen { eigenvalues, eigenvectors })
}

/// The eigenvalues of Hermitian matrices, ascending.
///
/// Args:
///   a: Hermitian matrices `[..., n, n]`; integers become floating.
///   UPLO: 'L' (the default) or 'U': the triangle that is read when the input is not symmetrized.
///   symmetrize_input: whether to take `(a + aᴴ) / 2`.
/// Returns: real numbers `[..., n]`.
/// Raises:
///   ValueError: `a` is not square, has fewer than two axes, or another `UPLO`.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jnp.linalg.eigvalsh(jnp.array([[3.0, 0.0], [0.0, 2.0]])))
///   [2. 3.]
#[public("numpy.linalg.eigvalsh(a, UPLO='L', *, symmetrize_input=True)")]
pub fn eigvalsh(a: &Val, uplo: Option<&str>, symmetrize_input: bool) -> Result<Val> {
    Ok(eigh(a, uplo, symmetrize_input)?.eigenvalues)
}

/// The QR decomposition `a = Q R` into orthonormal columns and an upper triangle, by Householder reflections.
///
/// Args:
///   a: matrices `[..., m, n]`; integers become floating.
///   mode: 'reduced' (the default) for Q `[..., m, k]` and R `[..., k, n]` with k = min(m, n); 'complete' for a
///     square Q; 'r' for R alone; 'raw' for the transposed reflection vectors and their scales.
/// Returns: the named tuple of Q and R, or R alone.
/// Raises:
///   ValueError: another `mode`.
///   TypeError: `a` has fewer than two axes.
/// Differentiable: yes, in both modes, with 'reduced' and 'r' for full rank; NotImplementedError with 'complete'
///   where m is greater than n.
/// Example:
///   >>> q, r = jnp.linalg.qr(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
///   >>> print(jnp.abs(r[0, 0]).round(3))
///   5.0
#[public("numpy.linalg.qr(a, mode='reduced')")]
pub fn qr(a: &Val, mode: &str) -> Result<Returned> {
    let a = inexact_one(a)?;
    if mode == "raw" {
        let (packed, taus) = lin::geqrf(&a)?;
        return Ok(Returned::Named(&QR_RESULT, [numpy::swapaxes(&packed, -1, -2)?, taus].into_iter().collect()));
    }
    if !matches!(mode, "reduced" | "r" | "full" | "complete") {
        bail!(Value, "Unsupported QR decomposition mode '{mode}'");
    }
    let mut factors = lin::qr(&a, false, matches!(mode, "full" | "complete"), Ignored)?.0;
    Ok(if mode == "r" { Returned::One(factors.swap_remove(1)) } else { Returned::Named(&QR_RESULT, factors) })
}

/// The singular values of matrices in an inexact dtype.
pub(super) fn singular_values_of(a: &Val, hermitian: bool) -> Result<Val> {
    if hermitian { Ok(hermitian_values(a)?.0) } else { lin::singular_values(a, false, None) }
}
