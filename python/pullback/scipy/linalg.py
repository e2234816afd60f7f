"""Linear algebra with SciPy's names. Matrices that have names are made in `_matrices`."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax import linalg as _lin
from pullback.numpy import linalg as _la
from pullback.scipy._matrices import (
    _inexact,
    block_diag as block_diag,
    circulant as circulant,
    companion as companion,
    convolution_matrix as convolution_matrix,
    dft as dft,
    fiedler as fiedler,
    fiedler_companion as fiedler_companion,
    hadamard as hadamard,
    hankel as hankel,
    helmert as helmert,
    hilbert as hilbert,
    invhilbert as invhilbert,
    invpascal as invpascal,
    leslie as leslie,
    pascal as pascal,
    toeplitz as toeplitz,
)

_n = _core.numpy


def _adjoint(x):
    return _n.conj(_n.swapaxes(x, -1, -2)) if _n.iscomplexobj(x) else _n.swapaxes(x, -1, -2)


def _matrices(a, name):
    a = _inexact(a)
    if a.ndim < 2:
        raise _user_error(ValueError, f"{name} takes matrices [..., m, n], got shape {a.shape}")
    return a


def _with_one_batch(*matrices):
    """Matrices in the last two axes, repeated over all leading axes."""
    batch = _n.broadcast_shapes(*(x.shape[:-2] for x in matrices))
    return [_n.broadcast_to(x, (*batch, *x.shape[-2:])) for x in matrices]


def _with_sides(a, b, name):
    """Square matrices and right-hand sides of one batch, and whether those were vectors.

    They are vectors if they have one axis less than the matrices and the last one fits, as JAX has it.
    """
    if min(a.ndim - 1, b.ndim) < 1 or a.shape[-1] != a.shape[-2]:
        raise _user_error(ValueError, f"{name} takes matrices [..., n, n] and right-hand sides, got shapes {a.shape} and {b.shape}")
    is_vector = b.ndim == 1 or b.ndim == a.ndim - 1 and b.shape[-1] == a.shape[-1]
    b = b[..., None] if is_vector else b
    if b.shape[-2] != a.shape[-1]:
        raise _user_error(ValueError, f"The arguments to {name} do not fit: shapes {a.shape} and {b.shape}")
    return *_with_one_batch(a, b), is_vector


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The Cholesky factor of positive definite matrices: U with `a = Uᴴ U`, or L with `a = L Lᴴ` if `lower`.

    Args:
      a: real or complex `[..., n, n]`, of which only one triangle is read: the lower one if `lower`, else the upper one.
        Integers become floating.
      lower: which factor to give.
      overwrite_a: accepted for compatibility; arrays are never changed.
      check_finite: accepted for compatibility; nothing is checked.
    Returns: a triangle of the shape of `a`; NaN where the matrix is not positive definite.
    Raises:
      ValueError: the matrices are not square.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jax.scipy.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 5.0]])))
      [[2. 1.]
       [0. 2.]]
    """
    a = _inexact(a)
    factor = _lin.cholesky(a if lower else _adjoint(a), symmetrize_input=False)
    return factor if lower else _adjoint(factor)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """The Cholesky factor and which one it is, for `cho_solve`.

    Args:
      a: positive definite real or complex `[..., n, n]`.
      lower: whether to give the lower factor.
      overwrite_a, check_finite: accepted for compatibility; without effect.
    Returns: the pair of a triangle `[..., n, n]`, NaN where the matrix is not positive definite, and `lower`.
    Raises:
      ValueError: the matrices are not square.
    Differentiable: yes, in both modes.
    Example:
      >>> c, lower = jax.scipy.linalg.cho_factor(jnp.array([[4.0, 0.0], [0.0, 9.0]]))
      >>> print(c, lower)
      [[2. 0.]
       [0. 3.]] False
    """
    return cholesky(a, lower=lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution of `a x = b` from what `cho_factor` gave for `a`.

    Args:
      c_and_lower: a triangle `[..., n, n]` and whether it is the lower one.
      b: `[..., n]`, `[n]` or `[..., n, k]`; batches broadcast.
      overwrite_b, check_finite: accepted for compatibility; without effect.
    Returns: an array `[..., n]` or `[..., n, k]`.
    Raises:
      ValueError: shapes do not fit.
    Differentiable: yes, with respect to the factor and `b`, in both modes.
    Example:
      >>> factors = jax.scipy.linalg.cho_factor(jnp.array([[4.0, 0.0], [0.0, 9.0]]))
      >>> print(jax.scipy.linalg.cho_solve(factors, jnp.array([8.0, 9.0])))
      [2. 1.]
    """
    c, lower = c_and_lower
    c, b = _inexact(c, b)
    c, b, is_vector = _with_sides(c, b, "cho_solve")
    y = _lin.triangular_solve(c, b, left_side=True, lower=lower, transpose_a=not lower, conjugate_a=not lower)
    x = _lin.triangular_solve(c, y, left_side=True, lower=lower, transpose_a=lower, conjugate_a=lower)
    return x[..., 0] if is_vector else x


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """The singular value decomposition `a = U diag(s) Vᴴ`, with singular values in descending order.

    Args:
      a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
      full_matrices: whether U is `[..., m, m]` and Vᴴ `[..., n, n]`, else `[..., m, k]` and `[..., k, n]`.
      compute_uv: whether to give U and Vᴴ too.
      overwrite_a, check_finite, lapack_driver: accepted for compatibility; without effect.
    Returns: U, real `s` `[..., k]` and Vᴴ, or only `s`.
    Raises:
      TypeError: `a` has fewer than two axes.
    Differentiable: yes, in both modes, where singular values differ; with `full_matrices` only the singular values alone
      (`compute_uv=False`), else NotImplementedError.
    Example:
      >>> print(jax.scipy.linalg.svd(jnp.array([[0.0, 2.0], [3.0, 0.0]]), compute_uv=False))
      [3. 2.]
    """
    return _lin.svd(_inexact(a), full_matrices=full_matrices, compute_uv=compute_uv)


def det(a, overwrite_a=False, check_finite=True):
    """The determinant.

    Args:
      a: real or complex `[..., n, n]`; integers become floating.
      overwrite_a, check_finite: accepted for compatibility; without effect.
    Returns: `[...]`.
    Raises:
      ValueError: the matrices are not square.
    Differentiable: yes, in both modes; at singular matrices too.
    Example:
      >>> float(jax.scipy.linalg.det(jnp.array([[2.0, 0.0], [0.0, 3.0]])))
      6.0
    """
    return _la.det(a)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse of square matrices; `solve` is faster and more accurate where the inverse is only multiplied.

    Args:
      a: real or complex `[..., n, n]`; integers become floating.
      overwrite_a, check_finite: accepted for compatibility; without effect.
    Returns: an array of the shape of `a`; infinite or NaN where the matrix is singular.
    Raises:
      ValueError: the matrices are not square.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jax.scipy.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]])))
      [[0.5  0.  ]
       [0.   0.25]]
    """
    return _la.inv(a)


def eigh(
    a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, turbo=True, eigvals=None, type=1,
    check_finite=True,
):
    """Ascending eigenvalues and eigenvectors of Hermitian matrices, or of pairs of them.

    With `b = L Lᴴ` the eigenvectors come from those of `L⁻¹ a L⁻ᴴ`, or of `Lᴴ a L`.

    Args:
      a: real or complex `[..., n, n]`; it is taken to be Hermitian.
      b: positive definite matrices like `a`, or None for the identity.
      lower: which triangle is read first.
      eigvals_only: whether to give only the eigenvalues.
      overwrite_a, overwrite_b, turbo, check_finite: accepted for compatibility; without effect.
      eigvals: must be None: all are computed.
      type: the problem for `b`: 1 for `a v = w b v`, 2 for `a b v = w v`, 3 for `b a v = w v`.
    Returns: real eigenvalues `[..., n]` and eigenvectors as columns `[..., n, n]`, or only the eigenvalues. The eigenvectors are
      orthonormal, with `b` those of types 1 and 2 in the inner product of `b`, those of type 3 in that of its inverse. NaN where `b` is not
      positive definite.
    Raises:
      ValueError: the matrices are not square or not of one size, or there is no such type.
      NotImplementedError: `eigvals` is given.
    Differentiable: yes, in both modes, where eigenvalues differ.
    Example:
      >>> print(jax.scipy.linalg.eigh(jnp.array([[2.0, 0.0], [0.0, 1.0]]), eigvals_only=True))
      [1. 2.]
    """
    if type not in (1, 2, 3):
        raise _user_error(ValueError, f"type must be 1, 2, or 3, got {type}.")
    if eigvals is not None:
        raise _user_error(NotImplementedError, "Only the eigvals=None case of eigh is implemented.")
    if b is not None:
        return _generalized_eigh(*_inexact(a, b), eigvals_only, type)
    v, w = _lin.eigh(_inexact(a), lower=lower)
    return w if eigvals_only else (w, v)


def _generalized_eigh(a, b, eigvals_only, type):
    """`eigh` of a pair, by the Cholesky factor of `b`."""
    if a.shape[-2:] != b.shape[-2:]:
        raise _user_error(ValueError, f"eigh takes square matrices of one size, got {a.shape} and {b.shape}.")
    shape = _n.broadcast_shapes(a.shape, b.shape)
    a, b = _n.broadcast_to(a, shape), _n.broadcast_to(b, shape)
    factor = _lin.cholesky(b)

    def solved(rhs, adjoint):
        return _lin.triangular_solve(factor, rhs, left_side=True, lower=True, transpose_a=adjoint, conjugate_a=adjoint)

    def adjoint(x):
        return _n.conj(_n.swapaxes(x, -1, -2))

    if type == 1:
        reduced = adjoint(solved(adjoint(solved(a, False)), False))
    else:
        reduced = _n.matmul(adjoint(factor), _n.matmul(a, factor))
    v, w = _lin.eigh(reduced)
    if eigvals_only:
        return w
    return w, _n.matmul(factor, v) if type == 3 else solved(v, True)


def eigh_tridiagonal(
    d, e, *, eigvals_only=False, select="a", select_range=None, tol=None, key=None
):
    """Ascending eigenvalues, and eigenvectors, of a Hermitian tridiagonal matrix.

    Args:
      d: the diagonal `[n]`.
      e: what is above it, `[n - 1]`; below are the conjugates.
      eigvals_only: whether to give only the eigenvalues.
      select: "a" for all, "i" for those numbered from the first to the last of `select_range`.
      select_range: a pair of numbers, for "i".
      tol, key: accepted for compatibility; without effect.
    Returns: real eigenvalues `[k]` and eigenvectors as columns `[n, k]`, or only the eigenvalues.
    Raises:
      NotImplementedError: `select="v"`, whose number of results depends on values.
      ValueError: another `select`.
      TypeError: shapes do not fit.
    Differentiable: yes, in both modes, where eigenvalues differ.
    Example:
      >>> print(jax.scipy.linalg.eigh_tridiagonal(jnp.array([2.0, 1.0]), jnp.zeros(1), eigvals_only=True))
      [1. 2.]
    """
    d, e = _inexact(d, e)
    if select == "v":
        raise _user_error(NotImplementedError, "eigh_tridiagonal with select='v' has results whose number depends on values; use select='a'")
    if select not in ("a", "i"):
        raise _user_error(ValueError, "'select must have a value in {'i', 'a', 'v'}.")
    matrix = _n.diag(d) + _n.diag(e, 1) + _n.diag(_n.conj(e) if _n.iscomplexobj(e) else e, -1)
    v, w = _lin.eigh(matrix, symmetrize_input=False)
    if select == "i":
        first, last = select_range
        v, w = v[:, first : last + 1], w[first : last + 1]
    return w if eigvals_only else (w, v)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """The triangular factors of matrices with their rows exchanged, in one array, and the exchanges, for `lu_solve`.

    Args:
      a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
      overwrite_a, check_finite: accepted for compatibility; without effect.
    Returns: `[..., m, n]`, with U in the upper triangle and L, whose diagonal is 1, below; and int32 `[..., k]`: with which row
      each row was exchanged, in order.
    Raises:
      TypeError: `a` has fewer than two axes.
    Differentiable: yes, the factors, in both modes.
    Example:
      >>> factors, pivots = jax.scipy.linalg.lu_factor(jnp.array([[1.0, 2.0], [2.0, 2.0]]))
      >>> print(factors, pivots)
      [[2.  2. ]
       [0.5 1. ]] [1 1]
    """
    factors, pivots, _ = _lin.lu(_inexact(a))
    return factors, pivots


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The solution of `a x = b`, of its transpose or adjoint, from what `lu_factor` gave for `a`.

    Args:
      lu_and_piv: factors `[..., n, n]` and exchanges `[..., n]`.
      b: `[n]` or `[..., n, k]`.
      trans: 0 for `a`, 1 for its transpose, 2 for its adjoint.
      overwrite_b, check_finite: accepted for compatibility; without effect.
    Returns: an array of the shape of `b`.
    Raises:
      ValueError: another `trans`, or shapes do not fit.
    Differentiable: yes, with respect to the factors and `b`, in both modes.
    Example:
      >>> factors = jax.scipy.linalg.lu_factor(jnp.array([[2.0, 0.0], [0.0, 4.0]]))
      >>> print(jax.scipy.linalg.lu_solve(factors, jnp.array([2.0, 8.0])))
      [1. 2.]
    """
    factors, pivots = lu_and_piv
    factors, b = _inexact(factors, b)
    if trans not in (0, 1, 2):
        raise _user_error(ValueError, f"'trans' value must be 0, 1, or 2, got {trans}")
    factors, x, is_vector = _with_sides(factors, b, "lu_solve")
    order = _lin.lu_pivots_to_permutation(pivots, factors.shape[-1])
    order = _n.broadcast_to(order, factors.shape[:-1])
    if trans == 0:
        x = _n.take_along_axis(x, order[..., None], axis=-2)
        x = _lin.triangular_solve(factors, x, left_side=True, lower=True, unit_diagonal=True)
        x = _lin.triangular_solve(factors, x, left_side=True)
    else:
        turned = {"left_side": True, "transpose_a": True, "conjugate_a": trans == 2}
        x = _lin.triangular_solve(factors, x, **turned)
        x = _lin.triangular_solve(factors, x, lower=True, unit_diagonal=True, **turned)
        x = _n.take_along_axis(x, _n.argsort(order, axis=-1)[..., None], axis=-2)
    return x[..., 0] if is_vector else x


def lu(a, permute_l=False, overwrite_a=False, check_finite=True):
    """The factors of `a = P L U`: a permutation, a lower triangle with diagonal 1, and an upper triangle.

    Args:
      a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
      permute_l: whether to give the product `P L` in place of the two.
      overwrite_a, check_finite: accepted for compatibility; without effect.
    Returns: P `[..., m, m]` (real), L `[..., m, k]` and U `[..., k, n]`, or the pair `P L`, U.
    Raises:
      ValueError: `a` has fewer than two axes.
    Differentiable: yes, L and U, in both modes; P is constant.
    Example:
      >>> p, l, u = jax.scipy.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 2.0]]))
      >>> print(u)
      [[2. 2.]
       [0. 1.]]
    """
    a = _matrices(a, "lu")
    factors, _, order = _lin.lu(a)
    m, n = a.shape[-2:]
    k = min(m, n)
    shape = (*a.shape[:-2], m, m)
    rows = _core.lax.broadcasted_iota(order.dtype, shape, len(shape) - 2)
    permutation = (_n.broadcast_to(order[..., None, :], shape) == rows).astype(_n.real(a).dtype)
    lower = _n.tril(factors, -1)[..., :k]
    lower = lower + _n.broadcast_to(_n.eye(m, k, dtype=a.dtype), lower.shape)
    upper = _n.triu(factors)[..., :k, :]
    return (_n.matmul(permutation.astype(a.dtype), lower), upper) if permute_l else (permutation, lower, upper)


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """The factors of `a = Q R`: orthonormal columns and an upper triangle.

    Args:
      a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`.
      overwrite_a, lwork, check_finite: accepted for compatibility; without effect.
      mode: "full" for square Q `[..., m, m]` and R `[..., m, n]`, "economic" for `[..., m, k]` and `[..., k, n]`, "r" for the R
        of "full" alone, in a tuple.
      pivoting: whether columns are exchanged, so that the diagonal of R descends; their order `[..., n]` is one more result.
    Returns: a tuple of arrays.
    Raises:
      ValueError: another mode.
      TypeError: `a` has fewer than two axes.
    Differentiable: yes, in both modes, where `a` has full rank; NotImplementedError for square Q of tall matrices.
    Example:
      >>> q, r = jax.scipy.linalg.qr(jnp.eye(2))
      >>> print(abs(r))
      [[1. 0.]
       [0. 1.]]
    """
    if mode not in ("full", "r", "economic"):
        raise _user_error(ValueError, f"Unsupported QR decomposition mode '{mode}'")
    out = _lin.qr(_inexact(a), pivoting=pivoting, full_matrices=mode != "economic")
    return out[1:] if mode == "r" else out


def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False, overwrite_a=False, overwrite_c=False):
    """The product of a matrix with Q of the QR factors of `a`, and R: `c Q` for "right", `Q c` for "left".

    Args:
      a: real or complex `[..., m, n]`; `k` is the smaller of `m` and `n`, Q is `[..., m, k]`.
      c: a matrix whose last axis ("right") or last but one ("left") fits, or a vector.
      mode: on which side of `c` Q stands.
      pivoting: whether columns of `a` are exchanged; their order is one more result.
      conjugate: whether to multiply with the conjugate of Q.
      overwrite_a, overwrite_c: accepted for compatibility; without effect.
    Returns: the product, a vector if `c` is one; R `[..., k, n]`; and with `pivoting` the order.
    Raises:
      ValueError: another mode, or shapes do not fit.
    Differentiable: yes, with respect to both, in both modes, where `a` has full rank.
    Example:
      >>> product, r = jax.scipy.linalg.qr_multiply(jnp.eye(2), jnp.array([1.0, 2.0]))
      >>> print(abs(product))
      [1. 2.]
    """
    a, c = _inexact(_matrices(a, "qr_multiply"), c)
    if mode not in ("left", "right"):
        raise _user_error(ValueError, f"Invalid {mode=}: must be 'left' or 'right'.")
    is_vector = c.ndim == 1
    if min(a.ndim, c.ndim) >= 2:
        a, c = _with_one_batch(a, c)
    q, r, *p = _lin.qr(a, pivoting=pivoting, full_matrices=False)
    if is_vector:
        c = c[:, None] if mode == "left" else c[None]
    if conjugate:
        q = _n.conj(q)
    if mode == "right" and c.shape[-1] != q.shape[-2] or mode == "left" and c.shape[-2] not in q.shape[-2:]:
        raise _user_error(ValueError, f"qr_multiply operands do not fit: shapes {a.shape} and {c.shape}")
    product = _n.matmul(c, q) if mode == "right" else _n.matmul(q[..., : c.shape[-2]], c)
    return (product.ravel() if is_vector else product, r, *p)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None, check_finite=True):
    """The solution of `op(a) x = b` with triangular `a`.

    Args:
      a: real or complex `[..., n, n]`, of which only one triangle is read.
      b: `[..., n]` or `[..., n, k]`.
      trans: 0 or "N": `op` does nothing, 1 or "T": it transposes, 2 or "C": it takes the adjoint.
      lower: whether the lower triangle is read, else the upper one.
      unit_diagonal: whether the diagonal is taken to be 1.
      overwrite_b, debug, check_finite: accepted for compatibility; without effect.
    Returns: an array of the shape of `b`; infinite or NaN where the diagonal has a zero.
    Raises:
      ValueError: another `trans`, or shapes that do not go together.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.linalg.solve_triangular(jnp.array([[2.0, 1.0], [0.0, 4.0]]), jnp.array([4.0, 8.0])))
      [1. 2.]
    """
    kinds = {0: (False, False), "N": (False, False), 1: (True, False), "T": (True, False), 2: (True, True), "C": (True, True)}
    if trans not in kinds:
        raise _user_error(ValueError, f"Invalid 'trans' value {trans}")
    a, b = _inexact(a, b)
    transpose_a, conjugate_a = kinds[trans]
    a, b, is_vector = _with_sides(a, b, "solve_triangular")
    x = _lin.triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=transpose_a, conjugate_a=conjugate_a,
        unit_diagonal=unit_diagonal,
    )
    return x[..., 0] if is_vector else x


def solve(
    a, b, lower=False, overwrite_a=False, overwrite_b=False, debug=False, check_finite=True, assume_a="gen"
):
    """The solution of `a x = b`.

    Args:
      a: real or complex `[..., n, n]`; integers become floating.
      b: `[..., n]` or `[..., n, k]`.
      lower: with `assume_a="pos"`, which triangle is read.
      overwrite_a, overwrite_b, debug, check_finite: accepted for compatibility; without effect.
      assume_a: "pos" solves by Cholesky factors; "gen", "sym" and "her" by triangular ones.
    Returns: an array of the shape of `b`; infinite or NaN where the matrix is singular or, for "pos", not positive definite.
    Raises:
      ValueError: another `assume_a`, or shapes do not fit.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 8.0])))
      [1. 2.]
    """
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise _user_error(ValueError, f"Expected assume_a to be one of ['gen', 'her', 'pos', 'sym']; got {assume_a!r}")
    return cho_solve(cho_factor(a, lower=lower), b) if assume_a == "pos" else _la.solve(a, b)


def schur(a, output="real"):
    """The Schur form of matrices: `a = Z T Zᴴ` with unitary Z and upper triangular T.

    Args:
      a: `[..., n, n]`, real or complex.
      output: "complex" converts real matrices to complex ones first. With "real" the form of a real matrix is real: it has
        blocks of two on its diagonal for pairs of complex eigenvalues.
    Returns: a list of T and Z, `[..., n, n]`.
    Raises:
      ValueError: another `output`, or matrices that are not square.
    Differentiable: no; a derivative raises NotImplementedError.
    Example:
      >>> t, z = jax.scipy.linalg.schur(jnp.array([[1.0, 2.0], [0.0, 3.0]]), output="complex")
      >>> print(jnp.diagonal(t).real)
      [1. 3.]
      >>> t, z = jax.scipy.linalg.schur(jnp.array([[0.0, 1.0], [-1.0, 0.0]]))
      >>> print(t.dtype, jnp.allclose(z @ t @ z.T, jnp.array([[0.0, 1.0], [-1.0, 0.0]])))
      float32 True
    """
    if output not in ("real", "complex"):
        raise _user_error(ValueError, f"Expected 'output' to be either 'real' or 'complex', got output={output!r}.")
    a = _inexact(a)
    return _complex_schur(a) if output == "complex" else _lin.schur(a)


def _complex_schur(a):
    return _lin.schur(a if _n.iscomplexobj(a) else _core.lax.complex(a, _n.zeros_like(a)))


def hessenberg(a, *, calc_q=False, overwrite_a=False, check_finite=True):
    """The Hessenberg form: `a = Q H Qᴴ` with unitary Q and H zero below the first subdiagonal.

    Args:
      a: real or complex `[..., n, n]`.
      calc_q: whether to give Q too.
      overwrite_a, check_finite: accepted for compatibility; without effect.
    Returns: H `[..., n, n]`, or the pair H, Q.
    Raises:
      ValueError: the matrices are not square.
    Differentiable: no; a derivative raises NotImplementedError.
    Example:
      >>> print(jax.scipy.linalg.hessenberg(jnp.array([[1.0, 2.0], [3.0, 4.0]])))
      [[1. 2.]
       [3. 4.]]
    """
    a = _inexact(a)
    n = a.shape[-1]
    packed, taus = _lin.hessenberg(a)
    h = _n.triu(packed, -1)
    if not calc_q or n == 0:
        return (h, h) if calc_q else h
    inner = _lin.householder_product(packed[..., 1:, : n - 1], taus) if n > 1 else _n.zeros((*a.shape[:-2], 0, 0), a.dtype)
    q = _n.pad(inner, [(0, 0)] * (a.ndim - 2) + [(1, 0), (1, 0)])
    return h, q.at[..., 0, 0].set(1)


def polar(a, side="right", *, method="qdwh", eps=None, max_iterations=None):
    """The polar factors: `a = u p` for "right", `a = p u` for "left"; u orthonormal, p positive semidefinite.

    They come from the singular value decomposition, whatever the method.

    Args:
      a: real or complex `[..., m, n]`.
      side: where p stands; it is `[..., n, n]` for "right", `[..., m, m]` for "left".
      method: "qdwh" or "svd", accepted for compatibility.
      eps, max_iterations: accepted for compatibility; without effect.
    Returns: u `[..., m, n]` and p.
    Raises:
      ValueError: another side or method, or `a` has fewer than two axes.
    Differentiable: yes, in both modes, where singular values differ.
    Example:
      >>> u, p = jax.scipy.linalg.polar(jnp.array([[-2.0, 0.0], [0.0, 3.0]]))
      >>> print(u @ p)
      [[-2.  0.]
       [ 0.  3.]]
    """
    a = _matrices(a, "polar")
    if side not in ("right", "left"):
        raise _user_error(ValueError, f"The argument `side` must be 'right' or 'left', got {side!r}.")
    if method not in ("qdwh", "svd"):
        raise _user_error(ValueError, f"Unknown polar decomposition method {method}.")
    u, s, vh = _lin.svd(a, full_matrices=False)
    s = s.astype(u.dtype)
    p = _n.matmul(_adjoint(vh) * s[..., None, :], vh) if side == "right" else _n.matmul(u * s[..., None, :], _adjoint(u))
    return _n.matmul(u, vh), p


# Coefficients of the diagonal Padé approximants of exp, and the norms up to which they are exact: N. Higham, "The scaling
# and squaring method for the matrix exponential revisited", 2005.
_PADE_7 = (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0)
_PADE_13 = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)
_BOUND_7, _BOUND_13 = 3.925724783138660, 5.371920351148152


def expm(A, *, upper_triangular=False, max_squarings=16):
    """The exponential of matrices, `Σ Aᵏ / k!`, by a Padé approximant of a scaled matrix and repeated squaring.

    N. Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.

    Args:
      A: real or complex `[..., n, n]`; integers become floating.
      upper_triangular: whether it is so; then a triangular system is solved.
      max_squarings: how often to square at most; a matrix whose norm asks for more gives NaN.
    Returns: an array of the shape of `A`.
    Raises:
      ValueError: the matrices are not square.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jax.scipy.linalg.expm(jnp.array([[0.0, 1.0], [0.0, 0.0]])))
      [[1. 1.]
       [0. 1.]]
    """
    import pullback

    A = _inexact(A)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise _user_error(ValueError, f"Expected A to be a (batched) square matrix, got A.shape={A.shape}.")
    if A.ndim > 2:
        flat = pullback.vmap(lambda a: expm(a, upper_triangular=upper_triangular, max_squarings=max_squarings))
        return flat(A.reshape(-1, *A.shape[-2:])).reshape(A.shape)
    is_single = _n.real(A).dtype.itemsize <= 4
    bound, coefficients = (_BOUND_7, _PADE_7) if is_single else (_BOUND_13, _PADE_13)
    norm = _core.lax.stop_gradient(_n.max(_n.sum(_n.abs(A), axis=0), initial=0))
    squarings = _n.maximum(0, _n.ceil(_n.log2(_n.maximum(norm / bound, 1e-30)))).astype("int32")
    scaled = A / _n.exp2(squarings.astype(norm.dtype)).astype(A.dtype)
    square, eye = _n.matmul(scaled, scaled), _n.eye(A.shape[0], dtype=A.dtype)
    even, odd = coefficients[-2] * eye, coefficients[-1] * eye
    for i in range(len(coefficients) - 4, -1, -2):
        even, odd = _n.matmul(even, square) + coefficients[i] * eye, _n.matmul(odd, square) + coefficients[i + 1] * eye
    u = _n.matmul(scaled, odd)
    p, q = even + u, even - u
    result = solve_triangular(q, p) if upper_triangular else _la.solve(q, p)

    def step(i, x):
        return pullback.lax.cond(i < squarings, lambda x: _n.matmul(x, x), lambda x: x, x)

    result = pullback.lax.fori_loop(0, max_squarings, step, result)
    return _n.where(squarings > max_squarings, _n.asarray(_np.nan, A.dtype), result)


def expm_frechet(A, E, *, method=None, compute_expm=True):
    """The exponential of `A`, and its derivative in the direction `E`.

    Args:
      A: a real or complex matrix `[n, n]`.
      E: a matrix `[n, n]`.
      method: accepted for compatibility; the derivative is that of `expm`.
      compute_expm: whether to give the exponential too.
    Returns: the pair of matrices `[n, n]`, or only the derivative.
    Raises:
      ValueError: `A` is not square, or `E` has another shape.
    Differentiable: yes, with respect to both, in both modes.
    Example:
      >>> print(jax.scipy.linalg.expm_frechet(jnp.zeros((2, 2)), jnp.eye(2), compute_expm=False))
      [[1. 0.]
       [0. 1.]]
    """
    import pullback

    A, E = _inexact(A, E)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise _user_error(ValueError, f"expected A to be a square matrix, got A.shape={A.shape}")
    if A.shape != E.shape:
        raise _user_error(ValueError, f"expected A and E to be the same shape, got A.shape={A.shape} E.shape={E.shape}")
    value, derivative = pullback.jvp(expm, (A,), (E,))
    return (value, derivative) if compute_expm else derivative


def _triangular_function(t, diagonal, entry):
    """The upper triangle with a given diagonal, filled column by column from the diagonal upward.

    `entry(f, i, j)` gives an element from those below it and to its left.
    """
    import pullback

    n = t.shape[0]

    def column(j, f):
        return pullback.lax.fori_loop(0, j, lambda step, f: f.at[j - 1 - step, j].set(entry(f, j - 1 - step, j)), f)

    return pullback.lax.fori_loop(1, n, column, _n.diag(diagonal))


def sqrtm(A, blocksize=1):
    """The principal square root of a matrix, from its Schur form.

    Å. Björck and S. Hammarling, "A Schur method for the square root of a matrix", 1983.

    Args:
      A: a real or complex matrix `[n, n]`.
      blocksize: must be 1.
    Returns: a complex matrix `[n, n]`.
    Raises:
      NotImplementedError: a block size above 1.
      ValueError: `A` is not square.
    Differentiable: no; a derivative raises NotImplementedError.
    Example:
      >>> print(jax.scipy.linalg.sqrtm(jnp.array([[4.0, 0.0], [0.0, 9.0]])).real)
      [[2. 0.]
       [0. 3.]]
    """
    if blocksize > 1:
        raise _user_error(NotImplementedError, "Blocked version is not implemented yet.")
    A = _inexact(A)
    if A.ndim > 2:
        raise _user_error(ValueError, f"sqrtm takes a matrix [n, n], got shape {A.shape}")
    t, z = _complex_schur(A)

    def entry(r, i, j):
        gap = r[i, i] + r[j, j]
        inner = t[i, j] - _n.dot(r[i], r[:, j])
        return _n.where(gap == 0, _n.zeros((), r.dtype), inner / _n.where(gap == 0, _n.ones((), r.dtype), gap))

    root = _triangular_function(t, _n.sqrt(_n.diagonal(t)), entry)
    return _n.matmul(_n.matmul(z, root), _adjoint(z))


def funm(A, func, disp=True):
    """A function of a matrix, from that of the eigenvalues in its Schur form.

    B. Parlett, "A recurrence among the elements of functions of triangular matrices", 1976. Where eigenvalues are equal the
    result is not exact.

    Args:
      A: a real or complex matrix `[n, n]`.
      func: an elementwise function of complex arrays.
      disp: whether the estimate of the error is left out of the result.
    Returns: a complex matrix `[n, n]`; without `disp` also an estimate of the relative error.
    Raises:
      ValueError: `A` is not square.
    Differentiable: no; a derivative raises NotImplementedError.
    Example:
      >>> print(jax.scipy.linalg.funm(jnp.array([[1.0, 0.0], [0.0, 3.0]]), lambda x: x * x).real)
      [[1. 0.]
       [0. 9.]]
    """
    A = _inexact(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise _user_error(ValueError, "expected square array_like input")
    t, z = _complex_schur(A)
    values = _n.diagonal(t)
    result = func(values).astype(t.dtype)
    places = _n.arange(t.shape[0])

    def entry(f, i, j):
        between = (places > i) & (places < j)
        sums = _n.sum(_n.where(between, t[i] * f[:, j] - f[i] * t[:, j], _n.zeros((), f.dtype)))
        gap = values[j] - values[i]
        inner = t[i, j] * (f[j, j] - f[i, i]) + sums
        return _n.where(gap == 0, inner, inner / _n.where(gap == 0, _n.ones((), f.dtype), gap))

    out = _n.matmul(_n.matmul(z, _triangular_function(t, result, entry)), _adjoint(z))
    if disp:
        return out
    gaps = _n.abs(values[:, None] - values[None]) + _n.where(_n.eye(len(values), dtype=bool), _np.inf, 0)
    least = _n.minimum(1, _n.min(gaps))
    eps = float(_np.finfo(_n.real(t).dtype).eps)
    least = _n.where(least == 0, eps, least)
    bound = _la.norm(_n.triu(t, 1), 1)
    error = _n.minimum(1, _n.maximum(eps, eps / least * bound))
    error = _n.where(_n.isfinite(out).all(), error, _n.asarray(_np.inf, error.dtype))
    return out, error


def rsf2csf(T, Z, check_finite=True):
    """The complex Schur form of a real one.

    Args:
      T: real matrices `[..., n, n]` with blocks of at most two on the diagonal.
      Z: their vectors `[..., n, n]`; batches broadcast.
      check_finite: accepted for compatibility; nothing is checked.
    Returns: upper triangles and their vectors, complex `[..., n, n]`, with the same product `Z T Zᴴ`.
    Raises:
      ValueError: the matrices are not square or of different sizes.
    Differentiable: no; a derivative raises NotImplementedError.
    Example:
      >>> t, z = jax.scipy.linalg.rsf2csf(jnp.array([[0.0, 1.0], [-1.0, 0.0]]), jnp.eye(2))
      >>> float(abs(t[1, 0]))
      0.0
    """
    T, Z = _inexact(T, Z)
    if T.ndim < 2 or Z.ndim < 2 or T.shape[-2:] != Z.shape[-2:] or T.shape[-1] != T.shape[-2]:
        raise _user_error(ValueError, f"rsf2csf takes square matrices of one size, got {T.shape} and {Z.shape}.")
    T, Z = _with_one_batch(T, Z)
    t, z = _complex_schur(T)
    return t, _n.matmul(Z.astype(z.dtype), z)


def solve_sylvester(A, B, C, *, method="schur", tol=1e-8):
    """The solution of `A X + X B = C`; NaN when an eigenvalue of A is nearly the opposite of one of B.

    Args:
      A: real or complex matrices `[..., m, m]`.
      B: matrices `[..., n, n]`.
      C: matrices `[..., m, n]`; batches broadcast.
      method: "schur", column by column with Schur forms (Bartels and Stewart, 1972), or "eigen", with eigenvectors.
      tol: sums of eigenvalues of smaller magnitude are taken for zero.
    Returns: matrices `[..., m, n]`, complex if `C` is.
    Raises:
      ValueError: shapes do not fit, or the method is unknown.
    Differentiable: no; a derivative raises NotImplementedError.
    Example:
      >>> a, c = 2 * jnp.eye(2), jnp.array([[8.0], [4.0]])
      >>> print(jax.scipy.linalg.solve_sylvester(a, jnp.array([[2.0]]), c))
      [[2.]
       [1.]]
    """
    import pullback

    A, B, C = _inexact(A, B, C)
    sizes = [x.shape[-2:] for x in (A, B, C)]
    if min(map(len, sizes)) < 2 or sizes != [sizes[2][:1] * 2, sizes[2][1:] * 2, sizes[2]]:
        raise _user_error(ValueError, f"solve_sylvester takes matrices A[m, m], B[n, n] and C[m, n], got {A.shape}, {B.shape} and {C.shape}")
    if max(A.ndim, B.ndim, C.ndim) > 2:
        solve = pullback.vmap(lambda *matrices: solve_sylvester(*matrices, method=method, tol=tol))
        A, B, C = _with_one_batch(A, B, C)
        flat = solve(*(x.reshape(-1, *x.shape[-2:]) for x in (A, B, C)))
        return flat.reshape(C.shape)
    if method == "schur":
        (r, u), (s, v) = _complex_schur(A), _complex_schur(B)
        right, eye = _n.matmul(_n.matmul(_adjoint(u), C.astype(u.dtype)), v), _n.eye(A.shape[0], dtype=r.dtype)

        def column(k, y):
            rest = right[:, k] - _n.matmul(y, s[:, k])
            return y.at[:, k].set(_lin.triangular_solve(r + s[k, k] * eye, rest[:, None], left_side=True)[:, 0])

        y = pullback.lax.fori_loop(0, B.shape[0], column, _n.zeros_like(right))
        sums = _n.diagonal(r)[:, None] + _n.diagonal(s)[None]
        x = _n.matmul(_n.matmul(u, y), _adjoint(v))
    elif method == "eigen":
        (a, u), (b, v) = _la.eig(A), _la.eig(B)
        sums = a[:, None] + b[None, :]
        inner = _n.matmul(_la.solve(u, C.astype(u.dtype)), v) / sums
        x = _n.matmul(u, _la.solve(v.T, inner.T).T)
    else:
        raise _user_error(ValueError, f"Unrecognized method {method}. The two valid methods are either \"schur\" or \"eigen\".")
    x = x if _n.iscomplexobj(C) else _n.real(x)
    return _n.where(_n.any(_n.abs(sums) < tol), _n.asarray(_np.nan, x.dtype), x)


__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "companion", "convolution_matrix", "det", "dft", "eigh",
    "eigh_tridiagonal", "expm", "expm_frechet", "fiedler", "fiedler_companion", "funm", "hadamard", "hankel", "helmert",
    "hessenberg", "hilbert", "inv", "invhilbert", "invpascal", "leslie", "lu", "lu_factor", "lu_solve", "pascal", "polar", "qr",
    "qr_multiply", "rsf2csf", "schur", "solve", "solve_sylvester", "solve_triangular", "sqrtm", "svd", "toeplitz",
]
