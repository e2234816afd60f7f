//! Factorizations and solutions of matrices, the last two axes of arrays; those before are batches.
//!
//! What has no factors gives NaN. Each function but those that symmetrize is one primitive.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, Scalar, bail};
use pullback_core::prims;
use pullback_derive::{Keywords, public};
use pullback_ir::{Val, Vals};

use crate::convert::weak_int;
use crate::declare::Ignored;
use crate::declare::{Argument, Arguments, Constant, OneOrTuple, TupleOf, Type};
use crate::formula::of;
use crate::indexing::{IndexItem, getitem};
use crate::numpy;
use crate::primitive::Bind;

/// Matrices turned about their diagonals, complex ones with conjugate elements.
pub(crate) fn adjoint(x: &Val) -> Result<Val> {
    let turned = numpy::swapaxes(x, -1, -2)?;
    if x.aval().dtype.is_complex() { numpy::conjugate(&turned) } else { Ok(turned) }
}

fn symmetrized(x: &Val) -> Result<Val> {
    ((of(x) + adjoint(x)) / 2).done()
}

/// A range of the last axis.
pub(crate) fn of_last(x: &Val, start: Option<i64>, stop: Option<i64>) -> Result<Val> {
    getitem(x, &[IndexItem::Ellipsis, IndexItem::Slice { start, stop, step: None }])
}

pub(crate) fn check_matrix(x: &Val, name: &str, is_square: bool) -> Result<()> {
    let shape = x.aval().shape.clone();
    if shape.len() < 2 {
        bail!(Type, "Input 0 to {name} must have rank at least 2, but got shape={}", tuple_text(&shape));
    }
    if is_square && shape[shape.len() - 1] != shape[shape.len() - 2] {
        bail!(Value, "Argument to {name} must have shape [..., n, n], got shape {}", tuple_text(&shape));
    }
    Ok(())
}

/// Whether the last two axes exist and have one size.
pub(crate) fn is_square(x: &Val) -> bool {
    matches!(x.aval().shape[..], [.., rows, columns] if rows == columns)
}

fn three(vals: Vals) -> (Val, Val, Val) {
    (vals[0].clone(), vals[1].clone(), vals[2].clone())
}

/// The lower triangular L with `x = L Lᴴ` (Golub, Van Loan, Matrix Computations, 4.2).
///
/// Args:
///   x: [..., n, n], float32, float64 or complex; integers only if symmetrized.
///   symmetrize_input: whether the mean of `x` and its adjoint is taken; otherwise the lower triangle is read.
/// Returns: [..., n, n], zero above the diagonal; NaN where `x` is not positive definite.
/// Raises:
///   ValueError: `x` is not square. TypeError: the dtype has no factorizations.
/// Differentiable: yes, where `x` is positive definite.
/// Example:
///   >>> lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
///   Array([[2., 0.],
///          [1., 2.]], dtype=float32)
#[public("lax.linalg.cholesky(x, *, symmetrize_input=True)")]
pub fn cholesky(x: &Val, symmetrize_input: bool) -> Result<Val> {
    if !is_square(x) {
        let shape = tuple_text(&x.aval().shape);
        bail!(Value, "The input to linalg.cholesky must have shape [..., n, n], got shape {shape}");
    }
    let x = if symmetrize_input { symmetrized(x)? } else { x.clone() };
    numpy::tril(&prims::CHOLESKY.bind(&[x])?, 0)
}

/// The upper factor of `Rᵀ R + w wᵀ` from the upper factor R and the vector w, in O(n²) by rotations.
///
/// Args:
///   r_matrix: [..., n, n], upper triangular, float32, float64 or complex.
///   w_vector: [..., n] of the same dtype.
/// Returns: [..., n, n], upper triangular.
/// Raises:
///   ValueError: R is not square, or the vector has another size. TypeError: the dtype has no factorizations.
///   NotImplementedError: a derivative is taken.
/// Differentiable: no; differentiate `cholesky` of the sum instead.
/// Example:
///   >>> lax.linalg.cholesky_update(jnp.array([[3.0]]), jnp.array([4.0]))
///   Array([[5.]], dtype=float32)
#[public("lax.linalg.cholesky_update(r_matrix, w_vector)")]
pub fn cholesky_update(r_matrix: &Val, w_vector: &Val) -> Result<Val> {
    prims::CHOLESKY_UPDATE.bind(&[r_matrix.clone(), w_vector.clone()])
}

/// Eigenvalues, then left and right eigenvectors as asked, of general matrices.
///
/// Args:
///   x: [..., n, n], float32, float64 or complex.
///   compute_left_eigenvectors: whether to give vectors u with `uᴴ x = w uᴴ`.
///   compute_right_eigenvectors: whether to give vectors v with `x v = w v`.
///   enable_eigvec_derivs: whether eigenvectors have derivatives. They hold where eigenvalues differ and one element of
///     each vector is greater than all others, which nothing checks.
///   implementation, use_magma: taken for compatibility and ignored.
/// Returns: a list of complex arrays `w[..., n]`, `left[..., n, n]`, `right[..., n, n]`: in no order, vectors of
///   length one as columns.
/// Raises:
///   ValueError: `x` is not square. TypeError: it has fewer than two axes, or the dtype has no factorizations.
///   NotImplementedError: a derivative is taken with vectors asked for, or a second one, without `enable_eigvec_derivs`.
/// Differentiable: the eigenvalues, once, when no vectors are asked for; with `enable_eigvec_derivs` all, at any order.
/// Example:
///   >>> lax.linalg.eig(jnp.diag(jnp.array([1.0, 2.0])))[0]
///   Array([1.+0.j, 2.+0.j], dtype=complex64)
#[public(
    "lax.linalg.eig(x: Convertible, *, compute_left_eigenvectors=True, compute_right_eigenvectors=True, \
     enable_eigvec_derivs=False, implementation=None, use_magma=None)"
)]
pub fn eig(
    x: &Val,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
    _implementation: Ignored,
    _use_magma: Ignored,
) -> Result<Vals> {
    check_matrix(x, "eig", true)?;
    let params = prims::Eig {
        compute_left_eigenvectors,
        compute_right_eigenvectors,
        enable_eigvec_derivs,
        implementation: None,
    };
    prims::EIG.bind_many(params, std::slice::from_ref(x))
}

/// The options of [`eigh`].
#[derive(Clone, Debug, Keywords)]
pub struct Eigh {
    /// Which triangle is read.
    pub lower: bool,
    /// Whether the mean with the adjoint is taken.
    pub symmetrize_input: bool,
    /// For compatibility.
    pub sort_eigenvalues: Ignored,
    /// The first and the last but one wanted.
    pub subset_by_index: Option<Vec<i64>>,
    /// For compatibility.
    pub implementation: Ignored,
}

impl Default for Eigh {
    fn default() -> Eigh {
        let (sort_eigenvalues, implementation) = (Ignored, Ignored);
        Eigh { lower: true, symmetrize_input: true, sort_eigenvalues, subset_by_index: None, implementation }
    }
}

/// Eigenvectors as columns, and ascending eigenvalues, of Hermitian matrices.
///
/// Args:
///   x: [..., n, n], float32, float64 or complex; integers only if symmetrized.
///   lower: which triangle is read when the input is not symmetrized.
///   symmetrize_input: whether the mean of `x` and its adjoint is taken.
///   sort_eigenvalues: taken for compatibility; they ascend always.
///   subset_by_index: `(start, end)` of the eigenvalues wanted; all by default.
///   implementation: taken for compatibility and ignored.
/// Returns: `(v[..., n, n], w[..., n])`, w real.
/// Raises:
///   ValueError: `x` is not square, or has fewer than two axes. TypeError: the dtype has no factorizations.
/// Differentiable: the eigenvalues everywhere; the vectors where eigenvalues differ, else NaN.
/// Example:
///   >>> lax.linalg.eigh(jnp.diag(jnp.array([2.0, 1.0])))[1]
///   Array([1., 2.], dtype=float32)
#[public(
    "lax.linalg.eigh(x: Convertible, *, lower=True, symmetrize_input=True, sort_eigenvalues=True, \
     subset_by_index=None, implementation=None)"
)]
pub fn eigh(x: &Val, options: &Eigh) -> Result<(Val, Val)> {
    if x.aval().rank() < 2 {
        let shape = tuple_text(&x.aval().shape);
        bail!(Value, "Input 0 to eigh must have rank at least 2, but got shape={shape}");
    }
    check_matrix(x, "eigh", true)?;
    let x = if options.symmetrize_input { symmetrized(x)? } else { x.clone() };
    let params = prims::Eigh { lower: options.lower, sort_eigenvalues: true, subset_by_index: None, algorithm: None };
    let found = prims::EIGH.bind_many(params, std::slice::from_ref(&x))?;
    let (v, w) = (found[0].clone(), found[1].clone());
    match options.subset_by_index.as_deref() {
        None => Ok((v, w)),
        Some(&[0, end]) if end == w.aval().shape.last().map_or(0, |&n| n as i64) => Ok((v, w)),
        Some(subset) => {
            let (start, end) = pair(subset)?;
            Ok((of_last(&v, start, end)?, of_last(&w, start, end)?))
        }
    }
}

/// The ends of a range.
fn pair(subset: &[i64]) -> Result<(Option<i64>, Option<i64>)> {
    match *subset {
        [start, end] => Ok((Some(start), Some(end))),
        _ => bail!(Value, "subset_by_index is a pair of positions, got {} numbers", subset.len()),
    }
}

/// The Hessenberg form H of general matrices, `a = Q H Qᴴ`, with the reflections that lead to it (LAPACK's gehrd).
///
/// Args:
///   a: [..., n, n], float32, float64 or complex.
/// Returns: a list of [..., n, n], which holds H on and above the first diagonal below the middle and the vectors of
///   reflections under it, and their scales [..., n - 1].
/// Raises:
///   ValueError: `a` is not square. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
///     taken.
/// Differentiable: no.
/// Example:
///   >>> lax.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
///   [Array([[1., 2.],
///          [3., 4.]], dtype=float32), Array([0.], dtype=float32)]
#[public("lax.linalg.hessenberg(a)")]
pub fn hessenberg(a: &Val) -> Result<Vals> {
    prims::HESSENBERG.bind_many((), std::slice::from_ref(a))
}

/// The first columns of the product of the reflections `I - tau v vᴴ`, whose vectors lie under the diagonal of `a`.
///
/// Args:
///   a: [..., m, n] with m >= n, float32, float64 or complex: the vectors, each with a 1 on the diagonal that is not
///     stored.
///   taus: [..., k], the scales of the first k reflections.
/// Returns: [..., m, n], with orthonormal columns.
/// Raises:
///   ValueError: there are more columns than rows. TypeError: the dtype has no factorizations.
///   NotImplementedError: a derivative is taken.
/// Differentiable: no; differentiate `qr` instead.
/// Example:
///   >>> lax.linalg.householder_product(jnp.array([[1.0, 0.0], [1.0, 1.0]]), jnp.array([1.0, 0.0]))
///   Array([[ 0., -1.],
///          [-1.,  0.]], dtype=float32)
#[public("lax.linalg.householder_product(a, taus)")]
pub fn householder_product(a: &Val, taus: &Val) -> Result<Val> {
    prims::HOUSEHOLDER_PRODUCT.bind(&[a.clone(), taus.clone()])
}

/// The vectors and scales of the reflections that make a triangle of a matrix, with that triangle above them.
///
/// # Errors
/// When the dtype has no factorizations.
pub(crate) fn geqrf(a: &Val) -> Result<(Val, Val)> {
    let found = prims::GEQRF.bind_many((), std::slice::from_ref(a))?;
    Ok((found[0].clone(), found[1].clone()))
}

/// Factors of a matrix with its rows exchanged, `P x = L U`, by elimination with partial pivoting.
///
/// Args:
///   x: [..., m, n], float32, float64 or complex.
/// Returns: a list `[lu, pivots, permutation]`: L under its unit diagonal and U in one matrix [..., m, n]; int32 [...,
///   min(m, n)], the row each step exchanged with; int32 [..., m], the order of the rows. A singular matrix gives
///   zeros on the diagonal of U.
/// Raises:
///   TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
/// Differentiable: in the factors, where no pivot is zero.
/// Example:
///   >>> lax.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 4.0]]))[0]
///   Array([[2. , 4. ],
///          [0.5, 0. ]], dtype=float32)
#[public("lax.linalg.lu(x)")]
pub fn lu_listed(x: &Val) -> Result<Vals> {
    check_matrix(x, "lu", false)?;
    prims::LU.bind_many((), std::slice::from_ref(x))
}

/// The factors, the exchanges and the order of rows, as [`lu_listed`] gives them.
///
/// # Errors
/// Those of [`lu_listed`].
pub fn lu(x: &Val) -> Result<(Val, Val, Val)> {
    lu_listed(x).map(three)
}

/// The order of rows that a list of exchanges leads to.
///
/// Args:
///   pivots: int32 [..., k], with which row each of the first k was exchanged in turn.
///   permutation_size: the number of rows, at least k.
/// Returns: int32 [..., permutation_size].
/// Raises:
///   TypeError: the dtype is not int32. ValueError: there are more exchanges than rows.
/// Differentiable: no, positions are integers.
/// Example:
///   >>> lax.linalg.lu_pivots_to_permutation(jnp.array([1, 2]), 3)
///   Array([1, 2, 0], dtype=int32)
#[public("lax.linalg.lu_pivots_to_permutation(pivots, permutation_size)")]
pub fn lu_pivots_to_permutation(pivots: &Val, permutation_size: i64) -> Result<Val> {
    let Ok(permutation_size) = usize::try_from(permutation_size) else {
        bail!(Value, "permutation_size must be non-negative, got {permutation_size}");
    };
    let params = prims::PivotsToPermutation { permutation_size };
    prims::LU_PIVOTS_TO_PERMUTATION.bind_with(params, std::slice::from_ref(pivots))
}

/// The product of a matrix with Q, the product of the reflections that `a` holds.
///
/// Args:
///   a: [..., r, k], float32, float64 or complex: the vectors under the diagonal, as `householder_product` takes them.
///   taus: [..., k], their scales.
///   c: [..., m, n] of the same dtype.
///   left: whether Q stands on the left; r is then m, else n.
///   transpose: whether its adjoint is taken.
/// Returns: [..., m, n]: `Q c`, `Qᴴ c`, `c Q` or `c Qᴴ`.
/// Raises:
///   ValueError: sizes do not fit. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
///     taken.
/// Differentiable: no; differentiate `qr` instead.
/// Example:
///   >>> lax.linalg.ormqr(jnp.array([[1.0], [1.0]]), jnp.array([1.0]), jnp.array([[2.0], [3.0]]))
///   Array([[-3.],
///          [-2.]], dtype=float32)
#[public("lax.linalg.ormqr(a, taus, c, *, left=True, transpose=False)")]
pub fn ormqr(a: &Val, taus: &Val, c: &Val, left: bool, transpose: bool) -> Result<Val> {
    let params = prims::Ormqr { left, transpose };
    prims::ORMQR.bind_with(params, &[a.clone(), taus.clone(), c.clone()])
}

/// Factors `x = Q R` with orthonormal columns of Q and R upper triangular, by reflections.
///
/// Args:
///   x: [..., m, n], float32, float64 or complex.
///   pivoting: whether columns are exchanged so that the diagonal of R falls.
///   full_matrices: whether Q is [..., m, m]; otherwise it has min(m, n) columns.
///   use_magma: taken for compatibility and ignored.
/// Returns: `(q, r)`, and with `pivoting` the int32 order `p` of columns such that `x[:, p] = Q R`.
/// Raises:
///   TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
///   NotImplementedError: a derivative is taken with more rows than columns and `full_matrices`.
/// Differentiable: if Q has as many columns as `min(m, n)`, and the first of them are independent.
/// Example:
///   >>> lax.linalg.qr(jnp.eye(2))[1]
///   Array([[1., 0.],
///          [0., 1.]], dtype=float32)
#[public("lax.linalg.qr(x, *, pivoting=False, full_matrices=True, use_magma=None)")]
pub fn qr(x: &Val, pivoting: bool, full_matrices: bool, _use_magma: Ignored) -> Result<TupleOf> {
    check_matrix(x, "qr", false)?;
    let params = prims::Qr { pivoting, full_matrices, use_magma: None };
    prims::QR.bind_many(params, std::slice::from_ref(x)).map(TupleOf)
}

/// The Schur form T of matrices, `x = Z T Zᴴ`, and the vectors Z. T is upper triangular; of real matrices it has blocks of
/// two on its diagonal for pairs of complex eigenvalues, each with equal numbers on its own diagonal.
///
/// Args:
///   x: [..., n, n], float32, float64 or complex.
///   compute_schur_vectors: whether to give Z.
///   sort_eig_vals: taken for compatibility and ignored.
///   select_callable: taken for compatibility and ignored.
/// Returns: a list `[t, z]`, or `[t]`.
/// Raises:
///   NotImplementedError: a derivative is taken.
///   ValueError: `x` is not square. TypeError: it has fewer than two axes, or the dtype has no factorizations.
/// Differentiable: no.
/// Example:
///   >>> lax.linalg.schur(jnp.array([[1.0 + 0j, 2.0], [0.0, 3.0]]))[0]
///   Array([[1.+0.j, 2.+0.j],
///          [0.+0.j, 3.+0.j]], dtype=complex64)
#[public("lax.linalg.schur(x, *, compute_schur_vectors=True, sort_eig_vals=False, select_callable=None)")]
pub fn schur(x: &Val, compute_schur_vectors: bool, _sort_eig_vals: Ignored, _select_callable: Ignored) -> Result<Vals> {
    check_matrix(x, "schur", true)?;
    let params = prims::Schur { compute_schur_vectors, sort_eig_vals: false, select_callable: None };
    prims::SCHUR.bind_many(params, std::slice::from_ref(x))
}

/// Singular values and vectors: `x = U diag(s) Vᴴ`.
///
/// Args:
///   x: [..., m, n], float32, float64 or complex.
///   full_matrices: whether U and V are square; otherwise they have min(m, n) columns.
///   compute_uv: whether to give U and Vᴴ.
///   subset_by_index: `(start, end)` of the singular values wanted; all by default.
///   algorithm: taken for compatibility and ignored.
/// Returns: `(u, s, vh)`, or `s` without `compute_uv`; s real and descending.
/// Raises:
///   ValueError: `subset_by_index` and `full_matrices` are given together, with `compute_uv`.
///   TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
///   NotImplementedError: a derivative is taken with `full_matrices` and `compute_uv`.
/// Differentiable: the values; vectors only without `full_matrices`, where values differ and none is zero.
/// Example:
///   >>> lax.linalg.svd(jnp.diag(jnp.array([2.0, 3.0])), compute_uv=False)
///   Array([3., 2.], dtype=float32)
#[public("lax.linalg.svd(x, *, full_matrices=True, compute_uv=True, subset_by_index=None, algorithm=None)")]
pub fn svd(
    x: &Val,
    full_matrices: bool,
    compute_uv: bool,
    subset_by_index: Option<&[i64]>,
    _algorithm: Ignored,
) -> Result<OneOrTuple> {
    if !compute_uv {
        return singular_values(x, full_matrices, subset_by_index).map(OneOrTuple::One);
    }
    let (u, s, vh) = singular_vectors(x, full_matrices, subset_by_index)?;
    Ok(OneOrTuple::Tuple(vec![u, s, vh]))
}

/// The singular values of matrices.
///
/// # Errors
/// As [`svd`].
pub(crate) fn singular_values(x: &Val, full_matrices: bool, subset_by_index: Option<&[i64]>) -> Result<Val> {
    let s = &decomposed(x, full_matrices, false)?[0];
    match subset_by_index.filter(|subset| !subset.is_empty()) {
        None => Ok(s.clone()),
        Some(subset) => {
            let (start, end) = pair(subset)?;
            of_last(s, start, end)
        }
    }
}

/// The singular vectors and values of matrices: `x = U diag(s) Vᴴ`.
///
/// # Errors
/// As [`svd`].
pub(crate) fn singular_vectors(
    x: &Val,
    full_matrices: bool,
    subset_by_index: Option<&[i64]>,
) -> Result<(Val, Val, Val)> {
    if subset_by_index.is_some() && full_matrices {
        bail!(Value, "full_matrices and subset_by_index cannot both be set");
    }
    let (s, u, vh) = three(decomposed(x, full_matrices, true)?);
    match subset_by_index.filter(|subset| !subset.is_empty()) {
        None => Ok((u, s, vh)),
        Some(subset) => {
            let (start, stop) = pair(subset)?;
            let rows = [IndexItem::Ellipsis, IndexItem::Slice { start, stop, step: None }, IndexItem::ALL];
            Ok((of_last(&u, start, stop)?, of_last(&s, start, stop)?, getitem(&vh, &rows)?))
        }
    }
}

fn decomposed(x: &Val, full_matrices: bool, compute_uv: bool) -> Result<Vals> {
    check_matrix(x, "svd", false)?;
    let params = prims::Svd { full_matrices, compute_uv, subset_by_index: None, algorithm: None };
    prims::SVD.bind_many(params, std::slice::from_ref(x))
}

/// `alpha A Aᵀ + beta C`; on the CPU both triangles are made.
///
/// Args:
///   a_matrix: [..., n, k], float32, float64 or complex.
///   c_matrix: [..., n, n] of the same dtype.
///   alpha: the factor of the product.
///   beta: the factor of `c_matrix`.
///   symmetrize_output: taken for compatibility; the result is symmetric if C is.
/// Returns: [..., n, n].
/// Raises:
///   ValueError: C is not square. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
///     taken.
/// Differentiable: no; write the product out instead.
/// Example:
///   >>> lax.linalg.symmetric_product(jnp.array([[1.0], [2.0]]), jnp.eye(2), beta=1.0)
///   Array([[2., 2.],
///          [2., 5.]], dtype=float32)
#[public("lax.linalg.symmetric_product(a_matrix, c_matrix, *, alpha=1.0, beta=0.0, symmetrize_output=False)")]
pub fn symmetric_product(
    a_matrix: &Val,
    c_matrix: &Val,
    alpha: f64,
    beta: f64,
    _symmetrize_output: Ignored,
) -> Result<Val> {
    let factor = |x: f64| Scalar::float(DType::F64, x);
    let params = prims::SymmetricProduct { alpha: factor(alpha), beta: factor(beta) };
    prims::SYMMETRIC_PRODUCT.bind_with(params, &[a_matrix.clone(), c_matrix.clone()])
}

/// What a triangular matrix is and how it stands.
#[derive(Clone, Copy, Debug, Default, Keywords)]
pub struct Triangle {
    /// Whether it stands on the left.
    pub left_side: bool,
    /// Which triangle is read.
    pub lower: bool,
    /// Whether it is transposed.
    pub transpose_a: bool,
    /// Whether its elements are conjugated.
    pub conjugate_a: bool,
    /// Whether its diagonal is taken as ones.
    pub unit_diagonal: bool,
}

impl Triangle {
    /// The upper triangle on the left.
    pub const UPPER: Triangle =
        Triangle { left_side: true, lower: false, transpose_a: false, conjugate_a: false, unit_diagonal: false };
    /// The lower triangle on the left, with ones on its diagonal.
    pub const UNIT_LOWER: Triangle = Triangle { lower: true, unit_diagonal: true, ..Triangle::UPPER };
}

/// The solution of `op(a) x = b`, or of `x op(a) = b`, with triangular `a`, by substitution.
///
/// Args:
///   a: [..., n, n], of which one triangle is read.
///   b: [..., m, k] of the same dtype, or [..., n], a vector.
///   left_side: whether `a` stands on the left.
///   lower: which triangle.
///   transpose_a, conjugate_a: what `op` does.
///   unit_diagonal: whether the diagonal is taken as ones.
/// Returns: an array like `b`; infinite or NaN where the diagonal has zeros.
/// Raises:
///   TypeError: dtypes differ, or `a` is not square. ValueError: sizes do not go together.
/// Differentiable: in `a` and `b`.
/// Example:
///   >>> a, b = jnp.array([[2.0, 0.0], [1.0, 1.0]]), jnp.array([2.0, 3.0])
///   >>> lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
///   Array([1., 2.], dtype=float32)
#[public(
    "lax.linalg.triangular_solve(a, b, *, left_side=False, lower=False, \
     transpose_a=False, conjugate_a=False, unit_diagonal=False)"
)]
pub fn triangular_solve(a: &Val, b: &Val, options: Triangle) -> Result<Val> {
    let is_vector = b.aval().rank() + 1 == a.aval().rank();
    let b = if is_vector { &numpy::expand_dims(b, &[if options.left_side { -1 } else { -2 }])? } else { b };
    let params = prims::TriangularSolve {
        left_side: options.left_side,
        lower: options.lower,
        transpose_a: options.transpose_a,
        conjugate_a: options.conjugate_a && a.aval().dtype.is_complex(),
        unit_diagonal: options.unit_diagonal,
    };
    let out = prims::TRIANGULAR_SOLVE.bind_with(params, &[a.clone(), b.clone()])?;
    match (is_vector, options.left_side) {
        (false, _) => Ok(out),
        (true, true) => getitem(&out, &[IndexItem::Ellipsis, IndexItem::Int(0)]),
        (true, false) => getitem(&out, &[IndexItem::Ellipsis, IndexItem::Int(0), IndexItem::ALL]),
    }
}

/// The tridiagonal form T of Hermitian matrices, `a = Q T Qᴴ`, with the reflections that lead to it (LAPACK's sytrd,
/// hetrd).
///
/// Args:
///   a: [..., n, n], float32, float64 or complex, of which one triangle is read.
///   lower: which triangle.
/// Returns: `(packed, diagonal, off_diagonal, scales)`: [..., n, n] with the vectors of reflections, real [..., n], real
///   [..., n - 1], and [..., n - 1].
/// Raises:
///   ValueError: `a` is not square. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
///     taken.
/// Differentiable: no.
/// Example:
///   >>> lax.linalg.tridiagonal(jnp.array([[2.0, 1.0], [1.0, 3.0]]))[1:3]
///   [Array([2., 3.], dtype=float32), Array([1.], dtype=float32)]
#[public("lax.linalg.tridiagonal(a, *, lower=True)")]
pub fn tridiagonal(a: &Val, lower: bool) -> Result<Vals> {
    prims::TRIDIAGONAL.bind_many(prims::Tridiagonal { lower }, std::slice::from_ref(a))
}

/// The solution of tridiagonal systems.
///
/// Args:
///   dl: [..., n], the diagonal below the middle, whose first element does not count.
///   d: [..., n], the diagonal in the middle.
///   du: [..., n], the diagonal above, whose last element does not count.
///   b: [..., n, k], the right-hand sides; float32, float64 or complex, as all are.
///   perturb_singular: whether pivots that are zero become the least positive number, so that singular systems have a
///     solution; otherwise they give NaN.
/// Returns: [..., n, k].
/// Raises:
///   TypeError: `b` has fewer than two axes, or the dtype has no factorizations. ValueError: sizes do not go together.
/// Differentiable: in all four.
/// Example:
///   >>> d, off = jnp.array([2.0, 2.0]), jnp.array([1.0, 1.0])
///   >>> lax.linalg.tridiagonal_solve(off, d, off, jnp.array([[3.0], [3.0]])).ravel()
///   Array([1., 1.], dtype=float32)
#[public("lax.linalg.tridiagonal_solve(dl, d, du, b, *, perturb_singular=False)")]
pub fn tridiagonal_solve(dl: &Val, d: &Val, du: &Val, b: &Val, perturb_singular: bool) -> Result<Val> {
    let params = prims::TridiagonalSolve { perturb_singular };
    prims::TRIDIAGONAL_SOLVE.bind_with(params, &[dl.clone(), d.clone(), du.clone(), b.clone()])
}

/// A shape that is known only while running, which nothing here serves.
#[derive(Clone, Copy, Debug)]
pub struct NoDynamicShape;

impl Argument for NoDynamicShape {
    const TYPE: Type = Type { python: "None", rust: "" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<NoDynamicShape> {
        if args.is_none(at) {
            return Ok(NoDynamicShape);
        }
        bail!(NotImplemented, "qdwh with dynamic_shape is not implemented")
    }
    fn absent(_default: Constant) -> NoDynamicShape {
        NoDynamicShape
    }
}

/// The polar factors `x = u h`: u with orthonormal columns, h positive semidefinite.
///
/// They are found from singular values here, so there is one iteration and it converges.
///
/// Args:
///   x: [..., m, n], float32, float64 or complex.
///   is_hermitian: taken for compatibility and ignored, as are `max_iterations` and `eps`.
///   max_iterations: ignored.
///   eps: ignored.
///   dynamic_shape: not served; None.
/// Returns: `(u[..., m, n], h[..., n, n], 1, True)`: the factors, the number of iterations and whether they converged.
/// Raises:
///   NotImplementedError: `dynamic_shape` is given.
///   TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
/// Differentiable: where singular values differ and none is zero.
/// Example:
///   >>> lax.linalg.qdwh(jnp.array([[2.0]]))[:2]
///   (Array([[1.]], dtype=float32), Array([[2.]], dtype=float32))
#[public("lax.linalg.qdwh(x, *, is_hermitian=False, max_iterations=None, eps=None, dynamic_shape=None)")]
pub fn qdwh(
    x: &Val,
    _is_hermitian: Ignored,
    _max_iterations: Ignored,
    _eps: Ignored,
    _dynamic_shape: NoDynamicShape,
) -> Result<TupleOf> {
    check_matrix(x, "qdwh", false)?;
    let (u, s, vh) = singular_vectors(x, false, None)?;
    let scale = numpy::astype(&row(&s)?, vh.aval().dtype)?;
    let scaled = (of(&adjoint(&vh)?) * scale).done()?;
    let steps = numpy::array(&weak_int(1), None, false, 0)?;
    let converged = numpy::array(&Val::Literal(Scalar::bool(true)), None, false, 0)?;
    let (unitary, positive) = (numpy::matmul(&u, &vh, None)?, numpy::matmul(&scaled, &vh, None)?);
    Ok(TupleOf([unitary, positive, steps, converged].into_iter().collect()))
}

/// Vectors as matrices of one row.
pub(crate) fn row(x: &Val) -> Result<Val> {
    getitem(x, &[IndexItem::Ellipsis, IndexItem::NewAxis, IndexItem::ALL])
}

/// Vectors as matrices of one column.
pub(crate) fn column(x: &Val) -> Result<Val> {
    getitem(x, &[IndexItem::Ellipsis, IndexItem::NewAxis])
}
