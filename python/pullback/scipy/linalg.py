"""Linear algebra with SciPy's names, and matrices that have names."""

import math

import numpy as _np

from pullback import _core
from pullback.lax import linalg as _lin
from pullback.numpy import linalg as _la

_n = _core.numpy
_inexact = _la._inexact


def _adjoint(x):
    return _lin._adjoint(x)


def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The Cholesky factor: U with `a = Uᴴ U`, or L with `a = L Lᴴ` if `lower`. Differentiable."""
    a = _inexact(a)
    factor = _lin.cholesky(a if lower else _adjoint(a), symmetrize_input=False)
    return factor if lower else _adjoint(factor)


def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    """The Cholesky factor and which one it is, for `cho_solve`."""
    return cholesky(a, lower=lower), lower


def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    """The solution of `a x = b` from what `cho_factor` gave."""
    c, lower = c_and_lower
    c, b = _inexact(c, b)
    if c.ndim < 2 or c.shape[-1] != c.shape[-2] or c.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ValueError(f"The arguments to cho_solve do not fit: shapes {c.shape} and {b.shape}")
    y = _lin.triangular_solve(c, b, left_side=True, lower=lower, transpose_a=not lower, conjugate_a=not lower)
    return _lin.triangular_solve(c, y, left_side=True, lower=lower, transpose_a=lower, conjugate_a=lower)


def svd(a, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """Singular values and vectors; see `numpy.linalg.svd`."""
    return _lin.svd(_inexact(a), full_matrices=full_matrices, compute_uv=compute_uv)


def det(a, overwrite_a=False, check_finite=True):
    """The determinant."""
    return _la.det(a)


def inv(a, overwrite_a=False, check_finite=True):
    """The inverse."""
    return _la.inv(a)


def eigh(
    a, b=None, lower=True, eigvals_only=False, overwrite_a=False, overwrite_b=False, turbo=True, eigvals=None, type=1,
    check_finite=True,
):
    """Ascending eigenvalues and eigenvectors of Hermitian matrices.

    Raises:
      NotImplementedError: `b`, `eigvals` or another type is given.
    """
    if b is not None:
        raise NotImplementedError("Only the b=None case of eigh is implemented")
    if type != 1:
        raise NotImplementedError("Only the type=1 case of eigh is implemented.")
    if eigvals is not None:
        raise NotImplementedError("Only the eigvals=None case of eigh is implemented.")
    v, w = _lin.eigh(_inexact(a), lower=lower)
    return w if eigvals_only else (w, v)


def eigh_tridiagonal(
    d, e, *, eigvals_only=False, select="a", select_range=None, tol=None, key=None
):
    """Ascending eigenvalues, and eigenvectors, of symmetric tridiagonal matrices.

    Args:
      d: the diagonal. e: what is next to it. select: `"a"` for all, `"i"` for those numbered in `select_range`.
    Raises:
      NotImplementedError: `select="v"`, whose number of results depends on values.
    """
    d, e = _inexact(d, e)
    if select == "v":
        raise NotImplementedError("eigh_tridiagonal with select='v' has results whose number depends on values; use select='a'")
    if select not in ("a", "i"):
        raise ValueError("'select must have a value in {'i', 'a', 'v'}.")
    matrix = _n.diag(d) + _n.diag(_n.conj(e) if _n.iscomplexobj(e) else e, 1) + _n.diag(e, -1)
    v, w = _lin.eigh(matrix, symmetrize_input=False)
    if select == "i":
        first, last = select_range
        v, w = v[:, first : last + 1], w[first : last + 1]
    return w if eigvals_only else (w, v)


def lu_factor(a, overwrite_a=False, check_finite=True):
    """The factors of a matrix with its rows exchanged, in one matrix, and the exchanges."""
    factors, pivots, _ = _lin.lu(_inexact(a))
    return factors, pivots


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    """The solution of `a x = b` (of the transpose for `trans` 1, the adjoint for 2) from what `lu_factor` gave."""
    factors, pivots = lu_and_piv
    factors, b = _inexact(factors, b)
    if trans not in (0, 1, 2):
        raise ValueError(f"'trans' value must be 0, 1, or 2, got {trans}")
    is_vector = b.ndim == 1
    x = b[:, None] if is_vector else b
    order = _lin.lu_pivots_to_permutation(pivots, factors.shape[-1])
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
    """Factors `a = P L U`, as three matrices, or `P L` and U if `permute_l`. Differentiable."""
    a = _inexact(a)
    factors, _, order = _lin.lu(a)
    m, n = a.shape[-2:]
    k = min(m, n)
    permutation = (order[..., None, :] == _n.arange(m, dtype=order.dtype)[:, None]).astype(_n.real(a).dtype)
    lower = _n.tril(factors, -1)[..., :k] + _n.eye(m, k, dtype=a.dtype)
    upper = _n.triu(factors)[..., :k, :]
    return (_n.matmul(permutation.astype(a.dtype), lower), upper) if permute_l else (permutation, lower, upper)


def qr(a, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True):
    """Factors with orthonormal columns and an upper triangle.

    Args:
      mode: `"full"`, `"economic"` or `"r"`. pivoting: whether columns are exchanged; their order is one more result.
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    out = _lin.qr(_inexact(a), pivoting=pivoting, full_matrices=mode != "economic")
    return out[1:] if mode == "r" else out


def qr_multiply(a, c, mode="right", pivoting=False, conjugate=False, overwrite_a=False, overwrite_c=False):
    """The product of a matrix with Q of the QR factors of `a`, and R: `c Q` for `"right"`, `Q c` for `"left"`."""
    a, c = _inexact(a, c)
    if mode not in ("left", "right"):
        raise ValueError(f"Invalid {mode=}: must be 'left' or 'right'.")
    q, r, *p = _lin.qr(a, pivoting=pivoting, full_matrices=False)
    is_vector = c.ndim == 1
    if is_vector:
        c = c[:, None] if mode == "left" else c[None]
    if conjugate:
        q = _n.conj(q)
    if mode == "right" and c.shape[-1] != q.shape[-2] or mode == "left" and c.shape[-2] not in q.shape[-2:]:
        raise ValueError(f"qr_multiply operands do not fit: shapes {a.shape} and {c.shape}")
    product = _n.matmul(c, q) if mode == "right" else _n.matmul(q[..., : c.shape[-2]], c)
    return (product.ravel() if is_vector else product, r, *p)


def solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, debug=None, check_finite=True):
    """The solution of `op(a) x = b` with triangular `a`; `trans` 0 or "N", 1 or "T", 2 or "C" says what `op` does."""
    kinds = {0: (False, False), "N": (False, False), 1: (True, False), "T": (True, False), 2: (True, True), "C": (True, True)}
    if trans not in kinds:
        raise ValueError(f"Invalid 'trans' value {trans}")
    a, b = _inexact(a, b)
    transpose_a, conjugate_a = kinds[trans]
    is_vector = b.ndim == 1 and a.ndim == 2 or b.ndim == a.ndim - 1
    x = _lin.triangular_solve(
        a, b[..., None] if is_vector else b, left_side=True, lower=lower, transpose_a=transpose_a, conjugate_a=conjugate_a,
        unit_diagonal=unit_diagonal,
    )
    return x[..., 0] if is_vector else x


def solve(
    a, b, lower=False, overwrite_a=False, overwrite_b=False, debug=False, check_finite=True, assume_a="gen"
):
    """The solution of `a x = b`; with `assume_a="pos"` of a positive definite matrix, by Cholesky factors."""
    if assume_a not in ("gen", "sym", "her", "pos"):
        raise ValueError(f"Expected assume_a to be one of ['gen', 'her', 'pos', 'sym']; got {assume_a!r}")
    return cho_solve(cho_factor(a, lower=lower), b) if assume_a == "pos" else _la.solve(a, b)


def schur(a, output="real"):
    """The Schur form T and its vectors Z, `a = Z T Zᴴ`, T upper triangular.

    Args:
      output: `"complex"` for the complex form of real matrices too.
    Raises:
      NotImplementedError: `output="real"` of real matrices, whose form has blocks of two. ValueError: another `output`.
    """
    if output not in ("real", "complex"):
        raise ValueError(f"Expected 'output' to be either 'real' or 'complex', got output={output!r}.")
    a = _inexact(a)
    return _complex_schur(a) if output == "complex" else _lin.schur(a)


def _complex_schur(a):
    return _lin.schur(a.astype(_n.result_type(a, complex)))


def hessenberg(a, *, calc_q=False, overwrite_a=False, check_finite=True):
    """The Hessenberg form H, and with `calc_q` also Q with `a = Q H Qᴴ`."""
    a = _inexact(a)
    n = a.shape[-1]
    packed, taus = _lin.hessenberg(a)
    h = _n.triu(packed, -1)
    if not calc_q:
        return h
    inner = _lin.householder_product(packed[..., 1:, : n - 1], taus) if n > 1 else _n.zeros((*a.shape[:-2], 0, 0), a.dtype)
    q = _n.pad(inner, [(0, 0)] * (a.ndim - 2) + [(1, 0), (1, 0)])
    return h, q.at[..., 0, 0].set(1) if n else q


def polar(a, side="right", *, method="qdwh", eps=None, max_iterations=None):
    """The polar factors: `a = u p` for `"right"`, `a = p u` for `"left"`; u orthonormal, p positive semidefinite."""
    a = _inexact(a)
    if side not in ("right", "left"):
        raise ValueError(f"The argument `side` must be 'right' or 'left', got {side!r}.")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"Unknown polar decomposition method {method}.")
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
    """The exponential of matrices, by a Padé approximant of a scaled matrix and squarings.

    Args:
      A: [..., n, n]. upper_triangular: whether it is so. max_squarings: beyond as many the result is NaN.
    Raises:
      ValueError: `A` is not square. Differentiable.
    """
    import pullback

    A = _inexact(A)
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError(f"Expected A to be a (batched) square matrix, got A.shape={A.shape}.")
    if A.ndim > 2:
        flat = pullback.vmap(lambda a: expm(a, upper_triangular=upper_triangular, max_squarings=max_squarings))
        return flat(A.reshape(-1, *A.shape[-2:])).reshape(A.shape)
    is_single = _n.real(A).dtype.itemsize <= 4
    bound, coefficients = (_BOUND_7, _PADE_7) if is_single else (_BOUND_13, _PADE_13)
    norm = _core.lax._stop_gradient(_n.max(_n.sum(_n.abs(A), axis=0), initial=0))
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
    """The exponential of `A`, and its derivative in the direction `E`."""
    import pullback

    A, E = _inexact(A, E)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"expected A to be a square matrix, got A.shape={A.shape}")
    if A.shape != E.shape:
        raise ValueError(f"expected A and E to be the same shape, got A.shape={A.shape} E.shape={E.shape}")
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
    """The square root of a matrix, complex, from its Schur form: Björck and Hammarling, "A Schur method for the square root
    of a matrix", 1983.

    Raises:
      NotImplementedError: a block size other than 1.
    """
    if blocksize > 1:
        raise NotImplementedError("Blocked version is not implemented yet.")
    t, z = _complex_schur(_inexact(A))

    def entry(r, i, j):
        gap = r[i, i] + r[j, j]
        inner = t[i, j] - _n.dot(r[i], r[:, j])
        return _n.where(gap == 0, _n.zeros((), r.dtype), inner / _n.where(gap == 0, _n.ones((), r.dtype), gap))

    root = _triangular_function(t, _n.sqrt(_n.diagonal(t)), entry)
    return _n.matmul(_n.matmul(z, root), _adjoint(z))


def funm(A, func, disp=True):
    """A function of a matrix, from that of the eigenvalues in its Schur form: B. Parlett, "A recurrence among the elements of
    functions of triangular matrices", 1976.

    Args:
      func: a function of arrays, elementwise. disp: whether the estimate of the error is left out of the result.
    Returns: complex, or real if `A` is and the result is nearly so; without `disp` also an estimate of the relative error.
    """
    A = _inexact(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("expected square array_like input")
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

    Raises:
      ValueError: shapes do not fit.
    """
    T, Z = _inexact(T, Z)
    if T.ndim != 2 or T.shape != Z.shape or T.shape[0] != T.shape[1]:
        raise ValueError(f"rsf2csf takes square matrices of one shape, got {T.shape} and {Z.shape}.")
    t, z = _complex_schur(T)
    return t, _n.matmul(Z.astype(z.dtype), z)


def solve_sylvester(A, B, C, *, method="schur", tol=1e-8):
    """The solution of `A X + X B = C`; NaN when an eigenvalue of A is nearly the opposite of one of B.

    Args:
      method: `"schur"`, column by column with Schur forms, or `"eigen"`, with eigenvectors. tol: what is nearly.
    Raises:
      ValueError: shapes do not fit, or the method is unknown.
    """
    import pullback

    A, B, C = _inexact(A, B, C)
    if A.ndim != 2 or B.ndim != 2 or C.shape != (A.shape[0], B.shape[0]):
        raise ValueError(f"solve_sylvester takes matrices A[m, m], B[n, n] and C[m, n], got {A.shape}, {B.shape} and {C.shape}")
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
        raise ValueError(f"Unrecognized method {method}. The two valid methods are either \"schur\" or \"eigen\".")
    x = x if _n.iscomplexobj(C) else _n.real(x)
    return _n.where(_n.any(_n.abs(sums) < tol), _n.asarray(_np.nan, x.dtype), x)


def block_diag(*arrs):
    """Matrices along a diagonal, zeros elsewhere; vectors are rows."""
    arrs = [_n.atleast_2d(x) for x in (arrs or (_n.zeros((1, 0)),))]
    bad = [i for i, x in enumerate(arrs) if x.ndim > 2]
    if bad:
        raise ValueError(f"Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions, got {arrs[bad[0]]} at argument {bad[0]}.")
    dtype = _n.result_type(*arrs)
    columns = [x.shape[1] for x in arrs]
    rows = []
    for i, x in enumerate(arrs):
        rows.append(_n.pad(x.astype(dtype), [(0, 0), (sum(columns[:i]), sum(columns[i + 1 :]))]))
    return _n.concatenate(rows)


def _vector(x, name):
    x = _n.asarray(x)
    if x.ndim != 1:
        raise ValueError(f"{name} expects a one-dimensional array, got shape {x.shape}")
    return x


def toeplitz(c, r=None):
    """The matrix of first column `c` and first row `r` whose diagonals are constant; the conjugate of `c` by default."""
    c = _n.atleast_1d(c)
    r = _n.conj(c) if r is None and _n.iscomplexobj(c) else c if r is None else _n.atleast_1d(r)
    dtype = _n.result_type(c, r)
    m, n = c.shape[-1], r.shape[-1]
    values = _n.concatenate([c[..., ::-1].astype(dtype), r[..., 1:].astype(dtype)], axis=-1)
    return values[..., _np.arange(m)[::-1, None] + _np.arange(n)]


def hankel(c, r=None):
    """The matrix of first column `c` and last row `r` whose antidiagonals are constant; zeros by default."""
    c = _n.atleast_1d(c)
    r = _n.zeros_like(c) if r is None else _n.atleast_1d(r)
    dtype = _n.result_type(c, r)
    m, n = c.shape[-1], r.shape[-1]
    values = _n.concatenate([c.astype(dtype), r[..., 1:].astype(dtype)], axis=-1)
    return values[..., _np.arange(m)[:, None] + _np.arange(n)]


def circulant(c):
    """The matrix whose columns are `c`, each one turned further."""
    c = _n.atleast_1d(c)
    n = c.shape[-1]
    return c[..., (_np.arange(n)[:, None] - _np.arange(n)) % n]


def companion(a):
    """The companion matrix of the polynomial with coefficients `a`, the highest power first."""
    a = _n.atleast_1d(a)
    if a.shape[-1] < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    a = _inexact(a)
    row = -a[..., 1:] / a[..., :1]
    n = row.shape[-1]
    below = _n.broadcast_to(_n.eye(n - 1, n, dtype=row.dtype), (*a.shape[:-1], n - 1, n))
    return _n.concatenate([row[..., None, :], below], axis=-2)


def convolution_matrix(a, n, mode="full"):
    """The matrix whose product with a vector of `n` elements is the convolution with `a`."""
    a = _n.asarray(a)
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    if a.shape[-1] == 0:
        raise ValueError("len(a) must be at least 1.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    m = a.shape[-1]
    zeros = _n.zeros((*a.shape[:-1], n - 1), a.dtype)
    full = toeplitz(_n.concatenate([a, zeros], axis=-1), _n.concatenate([a[..., :1], zeros], axis=-1))
    if mode == "full":
        return full
    size = max(m, n) if mode == "same" else max(m, n) - min(m, n) + 1
    start = (m + n - 1 - size) // 2 if mode == "same" else min(m, n) - 1
    return full[..., start : start + size, :]


def dft(n, scale=None, *, dtype=None):
    """The matrix of the discrete Fourier transform, divided by `"sqrtn"` or `"n"` if asked."""
    if scale not in (None, "sqrtn", "n"):
        raise ValueError(f"scale must be None, 'sqrtn', or 'n'; {scale!r} is not valid.")
    turns = _np.exp(-2j * _np.pi * (_np.outer(_np.arange(n), _np.arange(n)) % n) / n)
    turns = turns / {None: 1, "sqrtn": math.sqrt(n), "n": n}[scale]
    return _n.asarray(turns).astype(_n.result_type(complex) if dtype is None else dtype)


def fiedler(a):
    """Absolute differences of all pairs of elements."""
    a = _n.atleast_1d(a)
    return _n.abs(a[..., :, None] - a[..., None, :])


def fiedler_companion(a):
    """A companion matrix with five diagonals of the polynomial with coefficients `a`, the highest power first."""
    a = _inexact(_n.atleast_1d(a))
    if a.shape[-1] == 1:
        return _n.zeros((*a.shape[:-1], 0, 0), a.dtype)
    n = a.shape[-1] - 1
    c = -a[..., 1:] / a[..., :1]
    out = _n.zeros((*a.shape[:-1], n, n), a.dtype)
    if n == 1:
        return out.at[..., 0, 0].set(c[..., 0])
    for i in range(0, n - 2, 2):
        out = out.at[..., i, i + 2].set(1)
    for i in range(1, n - 2, 2):
        out = out.at[..., i + 2, i].set(1)
    out = out.at[..., 0, 0].set(c[..., 0]).at[..., 1, 0].set(1)
    for i in range(0, n - 1, 2):
        out = out.at[..., i, i + 1].set(c[..., i + 1])
    for i in range(1, n - 1, 2):
        out = out.at[..., i + 1, i].set(c[..., i + 1])
    return out


def hadamard(n, dtype=int):
    """The Hadamard matrix of a power of two.

    Raises:
      ValueError: `n` is no power of two.
    """
    if n < 1 or n & (n - 1):
        raise ValueError("n must be a positive integer and a power of 2.")
    out = _np.array([[1]])
    while out.shape[0] < n:
        out = _np.block([[out, out], [out, -out]])
    return _n.asarray(out).astype(dtype)


def helmert(n, full=False):
    """The Helmert matrix: orthonormal rows, of which the first, all equal, is left out unless `full`."""
    rows = _np.tril(_np.ones((n, n)), -1) - _np.diag(_np.arange(n))
    rows[0] = 1
    norms = _np.sqrt(_np.arange(n) * _np.arange(1, n + 1))
    norms[0] = math.sqrt(n)
    out = _n.asarray((rows / norms[:, None])).astype(_n.result_type(float))
    return out if full else out[1:]


def hilbert(n):
    """The Hilbert matrix `1 / (i + j + 1)`."""
    places = _np.arange(n)
    return _n.asarray(1.0 / (places[:, None] + places + 1)).astype(_n.result_type(float))


def invhilbert(n):
    """The inverse of the Hilbert matrix, from binomial coefficients."""
    entry = lambda i, j: (  # noqa: E731
        (-1) ** (i + j) * (i + j + 1) * math.comb(n + i, n - j - 1) * math.comb(n + j, n - i - 1) * math.comb(i + j, i) ** 2
    )
    out = _np.array([[float(entry(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)
    return _n.asarray(out).astype(_n.result_type(float))


def pascal(n, kind=None):
    """Binomial coefficients: `"symmetric"` by default, or the `"lower"` or `"upper"` triangle."""
    if kind is None:
        kind = "symmetric"
    lower = _np.array([[float(math.comb(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)
    made = {"lower": lower, "upper": lower.T, "symmetric": lower @ lower.T}
    if kind not in made:
        raise ValueError(f"Expected kind to be on of 'symmetric', 'lower', 'upper'; got {kind=}")
    return _n.asarray(made[kind]).astype(_n.result_type(float))


def invpascal(n, kind=None):
    """The inverse of `pascal`."""
    if kind is None:
        kind = "symmetric"
    lower = _np.array([[float((-1) ** (i + j) * math.comb(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)
    made = {"lower": lower, "upper": lower.T, "symmetric": lower.T @ lower}
    if kind not in made:
        raise ValueError(f"Expected kind to be on of 'symmetric', 'lower', 'upper'; got {kind=}")
    return _n.asarray(made[kind]).astype(_n.result_type(float))


def leslie(f, s):
    """The Leslie matrix of fecundities `f` and survivals `s`."""
    f, s = _n.atleast_1d(f), _n.atleast_1d(s)
    if f.shape[-1] != s.shape[-1] + 1:
        raise ValueError("The length of f must be equal to the length of s plus 1.")
    dtype = _n.result_type(f, s)
    n = f.shape[-1]
    below = _n.pad(s.astype(dtype)[..., :, None] * _n.eye(n - 1, dtype=dtype), [(0, 0)] * (s.ndim - 1) + [(0, 0), (0, 1)])
    return _n.concatenate([f.astype(dtype)[..., None, :], below], axis=-2)


__all__ = [
    "block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "companion", "convolution_matrix", "det", "dft", "eigh",
    "eigh_tridiagonal", "expm", "expm_frechet", "fiedler", "fiedler_companion", "funm", "hadamard", "hankel", "helmert",
    "hessenberg", "hilbert", "inv", "invhilbert", "invpascal", "leslie", "lu", "lu_factor", "lu_solve", "pascal", "polar", "qr",
    "qr_multiply", "rsf2csf", "schur", "solve", "solve_sylvester", "solve_triangular", "sqrtm", "svd", "toeplitz",
]
