"""Linear algebra of large matrices by products with them: largest eigenvalues, and systems in CSR form."""

from pullback._core import user_error as _user_error


def lobpcg_standard(A, X, m=100, tol=None):
    """The largest eigenvalues of a Hermitian matrix and their eigenvectors, by blocks of conjugate gradients.

    Each step takes the best vectors of the space of the current ones, their residuals and the last directions.

    Args:
      A: an array or sparse matrix of shape `(n, n)`, or a function that multiplies an `(n, k)` array with it.
      X: `(n, k)` start vectors, of full rank; `5 * k < n`.
      m: how many steps are taken at most.
      tol: an eigenpair has converged when its residual is below `tol * 10 * n * (theta + |A v|)`; the dtype's epsilon when None.
    Returns: `(k,)` eigenvalues, the largest first, `(n, k)` eigenvectors, and the number of steps.
    Raises:
      ValueError: shapes do not fit, or `5 * k >= n`, or dtypes differ.
    Differentiable: no; the loop has no reverse derivative.
    Example:
      >>> from pullback.experimental.sparse.linalg import lobpcg_standard
      >>> theta, vectors, steps = lobpcg_standard(jnp.diag(jnp.arange(1.0, 21.0)), jnp.eye(20, 2) + 0.1)
      >>> print(theta.round(3))
      [20. 19.]
    """
    import pullback
    from pullback import lax, numpy as jnp

    X = jnp.asarray(X)
    apply = A if callable(A) and not hasattr(A, "shape") else lambda v: A @ v
    n, k = X.shape
    if k * 5 >= n:
        raise _user_error(ValueError, f"expected search dim * 5 < matrix dim (got {k * 5}, {n})")
    out = pullback.eval_shape(apply, X[:, :1])
    if out.dtype != X.dtype:
        raise _user_error(ValueError, f"A, X must have same dtypes (were {out.dtype}, {X.dtype})")
    if out.shape != (n, 1):
        raise _user_error(ValueError, f"A must be ({n}, {n}) matrix A, got output {out.shape}")
    tol = jnp.finfo(X.dtype).eps if tol is None else tol

    def residual(X, AX, theta):
        R = AX - X * theta
        norms = jnp.linalg.norm(R, axis=0)
        scale = 10 * n * (jnp.abs(theta) + jnp.linalg.norm(AX, axis=0))
        return R, jnp.sum(norms < tol * scale)

    def going(state):
        return (state[0] < m) & (state[-1] < k)

    def step(state):
        i, X, P, R, theta, _ = state
        R = _beside(jnp.concatenate([X, P], axis=1), R)
        S = jnp.concatenate([X, P, R], axis=1)
        theta, Q = _best(S, apply(S), k)
        B = S @ Q
        # The part of the step that leaves the last vectors is the next direction.
        Q_rest = Q.at[:k].set(0)
        B = _orthonormal(B)
        AB = apply(B)
        theta = jnp.sum(B.conj() * AB, axis=0).real.astype(X.dtype)
        P = _beside(B, S @ Q_rest)
        R, converged = residual(B, AB, theta)
        return i + 1, B, P, R, theta, converged

    X = _orthonormal(X)
    AX = apply(X)
    theta = jnp.sum(X.conj() * AX, axis=0).real.astype(X.dtype)
    R, converged = residual(X, AX, theta)
    i, X, _, _, theta, _ = lax.while_loop(going, step, (jnp.asarray(0), X, jnp.zeros_like(X), R, theta, converged))
    return theta, X, i


def _orthonormal(X):
    """Orthonormal vectors of the same space, twice for the digits."""
    from pullback import numpy as jnp

    return jnp.linalg.qr(jnp.linalg.qr(X)[0])[0]


def _beside(basis, X):
    """Orthonormal vectors of what of a block is beside a basis; zeros for those that are within it or depend on others."""
    from pullback import numpy as jnp

    eps = jnp.finfo(X.dtype).eps
    norms = jnp.linalg.norm(X, axis=0)
    X = jnp.where(norms > 0, X / jnp.where(norms > 0, norms, 1), 0)
    for _ in range(2):
        X = X - basis @ (basis.conj().T @ X)
    # Directions by the size of what is left of them: what is rounding is dropped.
    values, Q = jnp.linalg.eigh(X.conj().T @ X)
    is_kept = values > jnp.maximum(eps * jnp.max(values), 10 * eps**2) * X.shape[1]
    X = jnp.where(is_kept, (X @ Q) / jnp.sqrt(jnp.where(is_kept, values, 1)), 0)
    X = X - basis @ (basis.conj().T @ X)
    norms = jnp.linalg.norm(X, axis=0)
    return jnp.where(norms > 0.5, X / jnp.where(norms > 0, norms, 1), 0)


def _best(S, AS, k):
    """The largest eigenvalues of a matrix on a basis, and their vectors in it; zero vectors of the basis take no part."""
    from pullback import numpy as jnp

    H = S.conj().T @ AS
    H = (H + H.conj().T) / 2
    is_zero = jnp.sum(jnp.abs(S) ** 2, axis=0) < 0.25
    low = -2 * jnp.sum(jnp.abs(H))
    H = H + jnp.diag(jnp.where(is_zero, low, 0)).astype(H.dtype)
    values, Q = jnp.linalg.eigh(H)
    return values[::-1][:k], Q[:, ::-1][:, :k]


def spsolve(data, indices, indptr, b, tol=1e-6, reorder=1):
    """The solution of a linear system whose matrix is in CSR form.

    Args:
      data: the elements that are stored.
      indices: their columns.
      indptr: where rows begin.
      b: the right hand side, a vector.
      tol, reorder: accepted for compatibility; pivots are chosen by size, and no columns are reordered.
    Returns: a vector like `b`.
    Raises:
      TypeError: `data` and `b` have different dtypes.
      ValueError: shapes do not fit.
    Differentiable: yes.
    Example:
      >>> from pullback.experimental import sparse
      >>> from pullback.experimental.sparse.linalg import spsolve
      >>> M = sparse.BCSR.fromdense(jnp.array([[2.0, 0.0], [1.0, 4.0]]))
      >>> print(spsolve(M.data, M.indices, M.indptr, jnp.array([2.0, 9.0])))
      [1. 2.]
    """
    from pullback import numpy as jnp

    data, indices, indptr, b = map(jnp.asarray, (data, indices, indptr, b))
    n = b.shape[0]
    if data.dtype != b.dtype:
        raise _user_error(TypeError, f"data types do not match: {data.dtype=} {b.dtype=}")
    if b.ndim != 1 or indptr.shape != (n + 1,) or data.shape != indices.shape:
        raise _user_error(ValueError, f"the shapes of a system do not fit: {data.shape=}, {indices.shape=}, {indptr.shape=}, {b.shape=}")
    rows = jnp.searchsorted(indptr, jnp.arange(data.shape[0]), side="right") - 1
    dense = jnp.zeros((n, n), data.dtype).at[rows, indices].add(data)
    return jnp.linalg.solve(dense, b)
