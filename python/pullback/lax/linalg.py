"""Factorizations and solutions of matrices, the last two axes of arrays; those before are batches.

What has no factors gives NaN. Each function but those that symmetrize is one primitive.
"""

import enum

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


def _matrix(x, name, square=False):
    x = _n.asarray(x)
    if x.ndim < 2:
        raise TypeError(f"Input 0 to {name} must have rank at least 2, but got shape={x.shape}")
    if square and x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Argument to {name} must have shape [..., n, n], got shape {x.shape}")
    return x


def cholesky(x, *, symmetrize_input=True):
    """The lower triangular L with `x = L Lᴴ`.

    Args:
      x: [..., n, n], float or complex of at least single precision. symmetrize_input: whether the mean of `x` and its
        adjoint is taken; otherwise the lower triangle is read.
    Returns: [..., n, n]; NaN where `x` is not positive definite.
    Raises:
      ValueError: `x` is not square. TypeError: the dtype has no factorizations.
    Differentiable.

    >>> import pullback.numpy as jnp
    >>> cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    x = _n.asarray(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"The input to linalg.cholesky must have shape [..., n, n], got shape {x.shape}")
    return _n.tril(_bind("cholesky", _symmetrized(x) if symmetrize_input else x))


def cholesky_update(r_matrix, w_vector):
    """The upper factor of `Rᵀ R + w wᵀ` from the upper factor R and the vector w."""
    return _bind("cholesky_update", r_matrix, w_vector)


def eig(
    x, *, compute_left_eigenvectors=True, compute_right_eigenvectors=True, enable_eigvec_derivs=False, implementation=None,
    use_magma=None,
):
    """Eigenvalues, then left and right eigenvectors as asked, of general matrices.

    Returns: complex `[w[..., n], left[..., n, n], right[..., n, n]]`; in no order, the vectors of length one as columns.
    Differentiable: the eigenvalues, when no vectors are asked for.
    """
    return _bind(
        "eig", _matrix(x, "eig", square=True), compute_left_eigenvectors=compute_left_eigenvectors,
        compute_right_eigenvectors=compute_right_eigenvectors, enable_eigvec_derivs=enable_eigvec_derivs, implementation=None,
    )


def eigh(x, *, lower=True, symmetrize_input=True, sort_eigenvalues=True, subset_by_index=None, implementation=None):
    """Eigenvectors as columns, and ascending eigenvalues, of Hermitian matrices.

    Args:
      x: [..., n, n]. lower: which triangle is read when the input is not symmetrized.
      subset_by_index: `(start, end)` of the eigenvalues wanted; all by default.
    Returns: `(v[..., n, n], w[..., n])`, w real.
    Differentiable where eigenvalues differ.
    """
    x = _matrix(x, "eigh", square=True)
    v, w = _bind(
        "eigh", _symmetrized(x) if symmetrize_input else x, lower=lower, sort_eigenvalues=sort_eigenvalues,
        subset_by_index=None, algorithm=None,
    )
    if subset_by_index is None or tuple(subset_by_index) == (0, x.shape[-1]):
        return v, w
    start, end = subset_by_index
    return v[..., start:end], w[..., start:end]


def hessenberg(a):
    """The Hessenberg form over the vectors of the reflections that lead to it, and their scales."""
    return _bind("hessenberg", a)


def householder_product(a, taus):
    """The first columns of the product of the reflections `I - tau v vᴴ`, whose vectors lie under the diagonal of `a`."""
    return _bind("householder_product", a, taus)


def lu(x):
    """Factors of `x` with its rows exchanged: `P x = L U`.

    Returns: `(lu, pivots, permutation)`: L under its unit diagonal and U in one matrix; the row each step exchanged with;
    the order of the rows.
    Differentiable in the factors.

    >>> import pullback.numpy as jnp
    >>> lu(jnp.array([[1.0, 2.0], [2.0, 4.0]]))[0]
    Array([[2. , 4. ],
           [0.5, 0. ]], dtype=float32)
    """
    return tuple(_bind("lu", _matrix(x, "lu")))


def lu_pivots_to_permutation(pivots, permutation_size):
    """The order of rows that a list of exchanges leads to."""
    return _bind("lu_pivots_to_permutation", pivots, permutation_size=permutation_size)


def ormqr(a, taus, c, *, left=True, transpose=False):
    """`Q c`, `Qᴴ c`, `c Q` or `c Qᴴ`, where Q is the product of the reflections in `a`."""
    return _bind("ormqr", a, taus, c, left=left, transpose=transpose)


def qr(x, *, pivoting=False, full_matrices=True, use_magma=None):
    """Factors `x = Q R` with orthonormal columns of Q and R upper triangular.

    Returns: `(q, r)`, and with `pivoting` the order `p` of columns such that `x[:, p] = Q R`.
    Differentiable for matrices with at least as many rows as columns, if Q is not square in vain.
    """
    return tuple(_bind("qr", _matrix(x, "qr"), pivoting=pivoting, full_matrices=full_matrices, use_magma=None))


def schur(x, *, compute_schur_vectors=True, sort_eig_vals=False, select_callable=None):
    """The Schur form and its vectors. The engine has none yet.

    Raises:
      NotImplementedError: always.
    """
    out = _bind(
        "schur", _matrix(x, "schur", square=True), compute_schur_vectors=compute_schur_vectors, sort_eig_vals=False,
        select_callable=None,
    )
    return tuple(out)


def svd(x, *, full_matrices=True, compute_uv=True, subset_by_index=None, algorithm=None):
    """Singular values and vectors: `x = U diag(s) Vᴴ`.

    Returns: `(u, s, vh)`, or `s` without `compute_uv`; s descending; U and V square if `full_matrices`.
    Differentiable; vectors only of full rank and without `full_matrices`.
    """
    if subset_by_index is not None and compute_uv and full_matrices:
        raise ValueError("full_matrices and subset_by_index cannot both be set")
    out = _bind(
        "svd", _matrix(x, "svd"), full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=None, algorithm=None
    )
    start, end = subset_by_index or (0, None)
    s = out[0][..., start:end]
    return (out[1][..., start:end], s, out[2][..., start:end, :]) if subset_by_index and compute_uv else (
        (out[1], s, out[2]) if compute_uv else s
    )


def symmetric_product(a_matrix, c_matrix, *, alpha=1.0, beta=0.0, symmetrize_output=False):
    """`alpha A Aᵀ + beta C`; on the CPU both triangles are made."""
    return _bind("symmetric_product", a_matrix, c_matrix, alpha=float(alpha), beta=float(beta))


def triangular_solve(
    a, b, *, left_side=False, lower=False, transpose_a=False, conjugate_a=False, unit_diagonal=False
):
    """The solution of `op(a) x = b`, or of `x op(a) = b`, with triangular `a`.

    Args:
      a: [..., n, n], of which one triangle is read. b: [..., m, k], or [..., n], a vector.
      left_side: whether `a` stands on the left. lower: which triangle.
      transpose_a, conjugate_a: what `op` does. unit_diagonal: whether the diagonal is taken as ones.
    Raises:
      TypeError: shapes or dtypes do not fit.
    Differentiable.

    >>> import pullback.numpy as jnp
    >>> triangular_solve(jnp.array([[2.0, 0.0], [1.0, 1.0]]), jnp.array([[2.0], [3.0]]), left_side=True, lower=True).ravel()
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
    """The tridiagonal form of Hermitian matrices: `(packed, diagonal, off_diagonal, scales)` of the reflections."""
    return tuple(_bind("tridiagonal", a, lower=lower))


def tridiagonal_solve(dl, d, du, b, *, perturb_singular=False):
    """The solution of tridiagonal systems.

    Args:
      dl, d, du: [..., n], the diagonals below (its first element does not count), in and above the middle.
      b: [..., n, k].
    Differentiable.
    """
    return _bind("tridiagonal_solve", dl, d, du, b, perturb_singular=perturb_singular)


def qdwh(x, *, is_hermitian=False, max_iterations=None, eps=None, dynamic_shape=None):
    """The polar factors `x = u h`: u with orthonormal columns, h positive semidefinite.

    They are found from singular values here, so there is one iteration and it converges.

    Returns: `(u, h, 1, True)`.
    Raises:
      NotImplementedError: `dynamic_shape` is given.
    """
    if dynamic_shape is not None:
        raise NotImplementedError("qdwh with dynamic_shape is not implemented")
    x = _matrix(x, "qdwh")
    u, s, vh = svd(x, full_matrices=False)
    return _n.matmul(u, vh), _n.matmul(_adjoint(vh) * s[..., None, :], vh), _n.asarray(1), _n.asarray(True)


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
