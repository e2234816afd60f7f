"""Factorizations and solutions of matrices, the last two axes of arrays; those before are batches.

What has no factors gives NaN. Each function but those that symmetrize is one primitive.
"""

import enum

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy
_l = _core.lax


class EigImplementation(enum.Enum):
    """Which library finds eigenvalues; there is one."""

    CUSOLVER = 0
    MAGMA = 1
    LAPACK = 2


class EighImplementation(enum.Enum):
    """Which algorithm finds eigenvalues of Hermitian matrices; there is one."""

    QR = 0
    JACOBI = 1
    QDWH = 2
    DC = 3


class SvdAlgorithm(enum.Enum):
    """Which algorithm finds singular values; there is one."""

    DEFAULT = 0
    QR = 1
    JACOBI = 2
    POLAR = 3


def _bind(name, *args, **params):
    return _core.find_primitive(name).bind(*args, **params)


def _adjoint(x):
    return _n.conj(_n.swapaxes(x, -1, -2)) if _n.iscomplexobj(x) else _n.swapaxes(x, -1, -2)


def _symmetrized(x):
    return (x + _adjoint(x)) / 2


def _matrix(x, name, square=False, error=TypeError):
    x = _n.asarray(x)
    if x.ndim < 2:
        raise _user_error(error, f"Input 0 to {name} must have rank at least 2, but got shape={x.shape}")
    if square and x.shape[-1] != x.shape[-2]:
        raise _user_error(ValueError, f"Argument to {name} must have shape [..., n, n], got shape {x.shape}")
    return x


def cholesky(x, *, symmetrize_input=True):
    """The lower triangular L with `x = L Lᴴ` (Golub, Van Loan, Matrix Computations, 4.2).

    Args:
      x: [..., n, n], float32, float64 or complex; integers only if symmetrized.
      symmetrize_input: whether the mean of `x` and its adjoint is taken; otherwise the lower triangle is read.
    Returns: [..., n, n], zero above the diagonal; NaN where `x` is not positive definite.
    Raises:
      ValueError: `x` is not square. TypeError: the dtype has no factorizations.
    Differentiable: yes, where `x` is positive definite.
    Example:
      >>> lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
      Array([[2., 0.],
             [1., 2.]], dtype=float32)
    """
    x = _n.asarray(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise _user_error(ValueError, f"The input to linalg.cholesky must have shape [..., n, n], got shape {x.shape}")
    return _n.tril(_bind("cholesky", _symmetrized(x) if symmetrize_input else x))


def cholesky_update(r_matrix, w_vector):
    """The upper factor of `Rᵀ R + w wᵀ` from the upper factor R and the vector w, in O(n²) by rotations.

    Args:
      r_matrix: [..., n, n], upper triangular, float32, float64 or complex.
      w_vector: [..., n] of the same dtype.
    Returns: [..., n, n], upper triangular.
    Raises:
      ValueError: R is not square, or the vector has another size. TypeError: the dtype has no factorizations.
      NotImplementedError: a derivative is taken.
    Differentiable: no; differentiate `cholesky` of the sum instead.
    Example:
      >>> lax.linalg.cholesky_update(jnp.array([[3.0]]), jnp.array([4.0]))
      Array([[5.]], dtype=float32)
    """
    return _bind("cholesky_update", r_matrix, w_vector)


def eig(
    x, *, compute_left_eigenvectors=True, compute_right_eigenvectors=True, enable_eigvec_derivs=False, implementation=None,
    use_magma=None,
):
    """Eigenvalues, then left and right eigenvectors as asked, of general matrices.

    Args:
      x: [..., n, n], float32, float64 or complex.
      compute_left_eigenvectors: whether to give vectors u with `uᴴ x = w uᴴ`.
      compute_right_eigenvectors: whether to give vectors v with `x v = w v`.
      enable_eigvec_derivs: whether eigenvectors have derivatives. They hold where eigenvalues differ and one element of
        each vector is greater than all others, which nothing checks.
      implementation, use_magma: taken for compatibility and ignored.
    Returns: a list of complex arrays `w[..., n]`, `left[..., n, n]`, `right[..., n, n]`: in no order, vectors of
      length one as columns.
    Raises:
      ValueError: `x` is not square. TypeError: it has fewer than two axes, or the dtype has no factorizations.
      NotImplementedError: a derivative is taken with vectors asked for, or a second one, without `enable_eigvec_derivs`.
    Differentiable: the eigenvalues, once, when no vectors are asked for; with `enable_eigvec_derivs` all, at any order.
    Example:
      >>> lax.linalg.eig(jnp.diag(jnp.array([1.0, 2.0])))[0]
      Array([1.+0.j, 2.+0.j], dtype=complex64)
    """
    return _bind(
        "eig", _matrix(x, "eig", square=True), compute_left_eigenvectors=compute_left_eigenvectors,
        compute_right_eigenvectors=compute_right_eigenvectors, enable_eigvec_derivs=enable_eigvec_derivs, implementation=None,
    )


def eigh(x, *, lower=True, symmetrize_input=True, sort_eigenvalues=True, subset_by_index=None, implementation=None):
    """Eigenvectors as columns, and ascending eigenvalues, of Hermitian matrices.

    Args:
      x: [..., n, n], float32, float64 or complex; integers only if symmetrized.
      lower: which triangle is read when the input is not symmetrized.
      symmetrize_input: whether the mean of `x` and its adjoint is taken.
      sort_eigenvalues: taken for compatibility; they ascend always.
      subset_by_index: `(start, end)` of the eigenvalues wanted; all by default.
      implementation: taken for compatibility and ignored.
    Returns: `(v[..., n, n], w[..., n])`, w real.
    Raises:
      ValueError: `x` is not square, or has fewer than two axes. TypeError: the dtype has no factorizations.
    Differentiable: the eigenvalues everywhere; the vectors where eigenvalues differ, else NaN.
    Example:
      >>> lax.linalg.eigh(jnp.diag(jnp.array([2.0, 1.0])))[1]
      Array([1., 2.], dtype=float32)
    """
    x = _matrix(x, "eigh", square=True, error=ValueError)
    v, w = _bind(
        "eigh", _symmetrized(x) if symmetrize_input else x, lower=lower, sort_eigenvalues=sort_eigenvalues,
        subset_by_index=None, algorithm=None,
    )
    if subset_by_index is None or tuple(subset_by_index) == (0, x.shape[-1]):
        return v, w
    start, end = subset_by_index
    return v[..., start:end], w[..., start:end]


def hessenberg(a):
    """The Hessenberg form H of general matrices, `a = Q H Qᴴ`, with the reflections that lead to it (LAPACK's gehrd).

    Args:
      a: [..., n, n], float32, float64 or complex.
    Returns: a list of [..., n, n], which holds H on and above the first diagonal below the middle and the vectors of
      reflections under it, and their scales [..., n - 1].
    Raises:
      ValueError: `a` is not square. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
        taken.
    Differentiable: no.
    Example:
      >>> lax.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]]))
      [Array([[1., 2.],
             [3., 4.]], dtype=float32), Array([0.], dtype=float32)]
    """
    return _bind("hessenberg", a)


def householder_product(a, taus):
    """The first columns of the product of the reflections `I - tau v vᴴ`, whose vectors lie under the diagonal of `a`.

    Args:
      a: [..., m, n] with m >= n, float32, float64 or complex: the vectors, each with a 1 on the diagonal that is not
        stored.
      taus: [..., k], the scales of the first k reflections.
    Returns: [..., m, n], with orthonormal columns.
    Raises:
      ValueError: there are more columns than rows. TypeError: the dtype has no factorizations.
      NotImplementedError: a derivative is taken.
    Differentiable: no; differentiate `qr` instead.
    Example:
      >>> lax.linalg.householder_product(jnp.array([[1.0, 0.0], [1.0, 1.0]]), jnp.array([1.0, 0.0]))
      Array([[ 0., -1.],
             [-1.,  0.]], dtype=float32)
    """
    return _bind("householder_product", a, taus)


def lu(x):
    """Factors of a matrix with its rows exchanged, `P x = L U`, by elimination with partial pivoting.

    Args:
      x: [..., m, n], float32, float64 or complex.
    Returns: `(lu, pivots, permutation)`: L under its unit diagonal and U in one matrix [..., m, n]; int32 [...,
      min(m, n)], the row each step exchanged with; int32 [..., m], the order of the rows. A singular matrix gives
      zeros on the diagonal of U.
    Raises:
      TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
    Differentiable: in the factors, where no pivot is zero.
    Example:
      >>> lax.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 4.0]]))[0]
      Array([[2. , 4. ],
             [0.5, 0. ]], dtype=float32)
    """
    return tuple(_bind("lu", _matrix(x, "lu")))


def lu_pivots_to_permutation(pivots, permutation_size):
    """The order of rows that a list of exchanges leads to.

    Args:
      pivots: int32 [..., k], with which row each of the first k was exchanged in turn.
      permutation_size: the number of rows, at least k.
    Returns: int32 [..., permutation_size].
    Raises:
      TypeError: the dtype is not int32. ValueError: there are more exchanges than rows.
    Differentiable: no, positions are integers.
    Example:
      >>> lax.linalg.lu_pivots_to_permutation(jnp.array([1, 2]), 3)
      Array([1, 2, 0], dtype=int32)
    """
    return _bind("lu_pivots_to_permutation", pivots, permutation_size=permutation_size)


def ormqr(a, taus, c, *, left=True, transpose=False):
    """The product of a matrix with Q, the product of the reflections that `a` holds.

    Args:
      a: [..., r, k], float32, float64 or complex: the vectors under the diagonal, as `householder_product` takes them.
      taus: [..., k], their scales.
      c: [..., m, n] of the same dtype.
      left: whether Q stands on the left; r is then m, else n.
      transpose: whether its adjoint is taken.
    Returns: [..., m, n]: `Q c`, `Qᴴ c`, `c Q` or `c Qᴴ`.
    Raises:
      ValueError: sizes do not fit. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
        taken.
    Differentiable: no; differentiate `qr` instead.
    Example:
      >>> lax.linalg.ormqr(jnp.array([[1.0], [1.0]]), jnp.array([1.0]), jnp.array([[2.0], [3.0]]))
      Array([[-3.],
             [-2.]], dtype=float32)
    """
    return _bind("ormqr", a, taus, c, left=left, transpose=transpose)


def qr(x, *, pivoting=False, full_matrices=True, use_magma=None):
    """Factors `x = Q R` with orthonormal columns of Q and R upper triangular, by reflections.

    Args:
      x: [..., m, n], float32, float64 or complex.
      pivoting: whether columns are exchanged so that the diagonal of R falls.
      full_matrices: whether Q is [..., m, m]; otherwise it has min(m, n) columns.
      use_magma: taken for compatibility and ignored.
    Returns: `(q, r)`, and with `pivoting` the int32 order `p` of columns such that `x[:, p] = Q R`.
    Raises:
      TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
      NotImplementedError: a derivative is taken with more rows than columns and `full_matrices`.
    Differentiable: if Q has as many columns as `min(m, n)`, and the first of them are independent.
    Example:
      >>> lax.linalg.qr(jnp.eye(2))[1]
      Array([[1., 0.],
             [0., 1.]], dtype=float32)
    """
    return tuple(_bind("qr", _matrix(x, "qr"), pivoting=pivoting, full_matrices=full_matrices, use_magma=None))


def schur(x, *, compute_schur_vectors=True, sort_eig_vals=False, select_callable=None):
    """The Schur form T of matrices, `x = Z T Zᴴ`, and the vectors Z. T is upper triangular; of real matrices it has blocks of
    two on its diagonal for pairs of complex eigenvalues, each with equal numbers on its own diagonal.

    Args:
      x: [..., n, n], float32, float64 or complex.
      compute_schur_vectors: whether to give Z.
      sort_eig_vals: taken for compatibility and ignored.
      select_callable: taken for compatibility and ignored.
    Returns: a list `[t, z]`, or `[t]`.
    Raises:
      NotImplementedError: a derivative is taken.
      ValueError: `x` is not square. TypeError: it has fewer than two axes, or the dtype has no factorizations.
    Differentiable: no.
    Example:
      >>> lax.linalg.schur(jnp.array([[1.0 + 0j, 2.0], [0.0, 3.0]]))[0]
      Array([[1.+0.j, 2.+0.j],
             [0.+0.j, 3.+0.j]], dtype=complex64)
    """
    x = _matrix(x, "schur", square=True)
    return list(_bind("schur", x, compute_schur_vectors=compute_schur_vectors, sort_eig_vals=False, select_callable=None))


def svd(x, *, full_matrices=True, compute_uv=True, subset_by_index=None, algorithm=None):
    """Singular values and vectors: `x = U diag(s) Vᴴ`.

    Args:
      x: [..., m, n], float32, float64 or complex.
      full_matrices: whether U and V are square; otherwise they have min(m, n) columns.
      compute_uv: whether to give U and Vᴴ.
      subset_by_index: `(start, end)` of the singular values wanted; all by default.
      algorithm: taken for compatibility and ignored.
    Returns: `(u, s, vh)`, or `s` without `compute_uv`; s real and descending.
    Raises:
      ValueError: `subset_by_index` and `full_matrices` are given together, with `compute_uv`.
      TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
      NotImplementedError: a derivative is taken with `full_matrices` and `compute_uv`.
    Differentiable: the values; vectors only without `full_matrices`, where values differ and none is zero.
    Example:
      >>> lax.linalg.svd(jnp.diag(jnp.array([2.0, 3.0])), compute_uv=False)
      Array([3., 2.], dtype=float32)
    """
    if subset_by_index is not None and compute_uv and full_matrices:
        raise _user_error(ValueError, "full_matrices and subset_by_index cannot both be set")
    out = _bind(
        "svd", _matrix(x, "svd"), full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=None, algorithm=None
    )
    start, end = subset_by_index or (0, None)
    s = out[0][..., start:end]
    return (out[1][..., start:end], s, out[2][..., start:end, :]) if subset_by_index and compute_uv else (
        (out[1], s, out[2]) if compute_uv else s
    )


def symmetric_product(a_matrix, c_matrix, *, alpha=1.0, beta=0.0, symmetrize_output=False):
    """`alpha A Aᵀ + beta C`; on the CPU both triangles are made.

    Args:
      a_matrix: [..., n, k], float32, float64 or complex.
      c_matrix: [..., n, n] of the same dtype.
      alpha: the factor of the product.
      beta: the factor of `c_matrix`.
      symmetrize_output: taken for compatibility; the result is symmetric if C is.
    Returns: [..., n, n].
    Raises:
      ValueError: C is not square. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
        taken.
    Differentiable: no; write the product out instead.
    Example:
      >>> lax.linalg.symmetric_product(jnp.array([[1.0], [2.0]]), jnp.eye(2), beta=1.0)
      Array([[2., 2.],
             [2., 5.]], dtype=float32)
    """
    return _bind("symmetric_product", a_matrix, c_matrix, alpha=float(alpha), beta=float(beta))


def triangular_solve(
    a, b, *, left_side=False, lower=False, transpose_a=False, conjugate_a=False, unit_diagonal=False
):
    """The solution of `op(a) x = b`, or of `x op(a) = b`, with triangular `a`, by substitution.

    Args:
      a: [..., n, n], of which one triangle is read.
      b: [..., m, k] of the same dtype, or [..., n], a vector.
      left_side: whether `a` stands on the left.
      lower: which triangle.
      transpose_a, conjugate_a: what `op` does.
      unit_diagonal: whether the diagonal is taken as ones.
    Returns: an array like `b`; infinite or NaN where the diagonal has zeros.
    Raises:
      TypeError: dtypes differ, or `a` is not square. ValueError: sizes do not go together.
    Differentiable: in `a` and `b`.
    Example:
      >>> a, b = jnp.array([[2.0, 0.0], [1.0, 1.0]]), jnp.array([2.0, 3.0])
      >>> lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
      Array([1., 2.], dtype=float32)
    """
    a, b = _n.asarray(a), _n.asarray(b)
    is_vector = b.ndim == a.ndim - 1
    if is_vector:
        b = _n.expand_dims(b, -1 if left_side else -2)
    conjugate_a = conjugate_a and _n.iscomplexobj(a)
    out = _bind(
        "triangular_solve", a, b, left_side=left_side, lower=lower, transpose_a=transpose_a, conjugate_a=conjugate_a,
        unit_diagonal=unit_diagonal,
    )
    return (out[..., 0] if left_side else out[..., 0, :]) if is_vector else out


def tridiagonal(a, *, lower=True):
    """The tridiagonal form T of Hermitian matrices, `a = Q T Qᴴ`, with the reflections that lead to it (LAPACK's sytrd,
    hetrd).

    Args:
      a: [..., n, n], float32, float64 or complex, of which one triangle is read.
      lower: which triangle.
    Returns: `(packed, diagonal, off_diagonal, scales)`: [..., n, n] with the vectors of reflections, real [..., n], real
      [..., n - 1], and [..., n - 1].
    Raises:
      ValueError: `a` is not square. TypeError: the dtype has no factorizations. NotImplementedError: a derivative is
        taken.
    Differentiable: no.
    Example:
      >>> lax.linalg.tridiagonal(jnp.array([[2.0, 1.0], [1.0, 3.0]]))[1:3]
      (Array([2., 3.], dtype=float32), Array([1.], dtype=float32))
    """
    return tuple(_bind("tridiagonal", a, lower=lower))


def tridiagonal_solve(dl, d, du, b, *, perturb_singular=False):
    """The solution of tridiagonal systems.

    Args:
      dl: [..., n], the diagonal below the middle, whose first element does not count.
      d: [..., n], the diagonal in the middle.
      du: [..., n], the diagonal above, whose last element does not count.
      b: [..., n, k], the right-hand sides; float32, float64 or complex, as all are.
      perturb_singular: whether pivots that are zero become the least positive number, so that singular systems have a
        solution; otherwise they give NaN.
    Returns: [..., n, k].
    Raises:
      TypeError: `b` has fewer than two axes, or the dtype has no factorizations. ValueError: sizes do not go together.
    Differentiable: in all four.
    Example:
      >>> d, off = jnp.array([2.0, 2.0]), jnp.array([1.0, 1.0])
      >>> lax.linalg.tridiagonal_solve(off, d, off, jnp.array([[3.0], [3.0]])).ravel()
      Array([1., 1.], dtype=float32)
    """
    return _bind("tridiagonal_solve", dl, d, du, b, perturb_singular=perturb_singular)


def qdwh(x, *, is_hermitian=False, max_iterations=None, eps=None, dynamic_shape=None):
    """The polar factors `x = u h`: u with orthonormal columns, h positive semidefinite.

    They are found from singular values here, so there is one iteration and it converges.

    Args:
      x: [..., m, n], float32, float64 or complex.
      is_hermitian: taken for compatibility and ignored, as are `max_iterations` and `eps`.
      max_iterations: ignored.
      eps: ignored.
      dynamic_shape: not served; None.
    Returns: `(u[..., m, n], h[..., n, n], 1, True)`: the factors, the number of iterations and whether they converged.
    Raises:
      NotImplementedError: `dynamic_shape` is given.
      TypeError: `x` has fewer than two axes, or the dtype has no factorizations.
    Differentiable: where singular values differ and none is zero.
    Example:
      >>> lax.linalg.qdwh(jnp.array([[2.0]]))[:2]
      (Array([[1.]], dtype=float32), Array([[2.]], dtype=float32))
    """
    if dynamic_shape is not None:
        raise _user_error(NotImplementedError, "qdwh with dynamic_shape is not implemented")
    x = _matrix(x, "qdwh")
    u, s, vh = svd(x, full_matrices=False)
    return _n.matmul(u, vh), _n.matmul(_adjoint(vh) * s[..., None, :].astype(vh.dtype), vh), _n.asarray(1), _n.asarray(True)


def __getattr__(name):
    if name.endswith("_p"):
        try:
            return _core.find_primitive(name[:-2])
        except ValueError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "EigImplementation", "EighImplementation", "SvdAlgorithm", "cholesky", "cholesky_update", "eig", "eigh", "hessenberg",
    "householder_product", "lu", "lu_pivots_to_permutation", "ormqr", "qdwh", "qr", "schur", "svd", "symmetric_product",
    "triangular_solve", "tridiagonal", "tridiagonal_solve",
]
