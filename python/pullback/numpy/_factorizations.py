"""Factorizations of matrices with NumPy's names: of Cholesky, QR, by singular values and by eigenvalues.

The last two axes are matrices, those before are batches. Integers become floats.
"""

from typing import NamedTuple

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax import linalg as _lin

_n = _core.numpy

__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]


class EighResult(NamedTuple):
    """Ascending eigenvalues, and eigenvectors as columns."""

    eigenvalues: _core.Array
    eigenvectors: _core.Array


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: _core.Array
    eigenvectors: _core.Array


class QRResult(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    Q: _core.Array
    R: _core.Array


class SVDResult(NamedTuple):
    """Singular vectors, descending singular values, adjoint singular vectors."""

    U: _core.Array
    S: _core.Array
    Vh: _core.Array


def _inexact(*xs):
    """Arrays of one inexact dtype."""
    xs = [_n.asarray(x) for x in xs]
    dtype = _n.result_type(*xs)
    if dtype.kind not in "fcV" and "float" not in dtype.name:
        # Not promoted, which strict promotion forbids.
        dtype = _n.result_type(float)
    xs = [x if x.dtype == dtype else x.astype(dtype) for x in xs]
    return xs[0] if len(xs) == 1 else xs


def _adjoint(x):
    return _lin._adjoint(x)


def cholesky(a, *, upper=False, symmetrize_input=True):
    """The Cholesky factor: the lower triangle L with `a = L Lᴴ`, or the upper one U with `a = Uᴴ U`.

    Args:
      a: Hermitian positive definite matrices `[..., n, n]`; integers become floating.
      upper: whether to give U, which is the adjoint of L.
      symmetrize_input: whether to take `(a + aᴴ) / 2`; if not, only the lower triangle of `a` is read.
    Returns: an array `[..., n, n]`; NaN where `a` is not positive definite.
    Raises:
      ValueError: `a` is not square.
    Differentiable: yes, in both modes (Murray, "Differentiation of the Cholesky decomposition", 2016).
    Example:
      >>> print(jnp.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 10.0]])))
      [[2. 0.]
       [1. 3.]]
    """
    a = _inexact(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _user_error(ValueError, f"Argument to linalg.cholesky must have shape [..., n, n], got {a.shape}.")
    out = _lin.cholesky(a, symmetrize_input=symmetrize_input)
    return _adjoint(out) if upper else out


def svd(a, full_matrices=True, compute_uv=True, hermitian=False, subset_by_index=None):
    """The singular value decomposition `a = U diag(S) Vᴴ`, with orthonormal columns of U and V and `S` descending.

    Args:
      a: matrices `[..., m, n]`; integers become floating.
      full_matrices: whether U and V are square; if not, they have k = min(m, n) columns.
      compute_uv: whether to give U and Vᴴ too.
      hermitian: whether `a` is Hermitian, so that its eigenvalues are used.
      subset_by_index: a pair of positions, to give only the singular values from the first up to the second one.
    Returns: the named tuple of U `[..., m, m or k]`, S `[..., k]` and Vh `[..., n or k, n]`; S alone without
      `compute_uv`.
    Raises:
      TypeError: `a` has fewer than two axes.
    Differentiable: yes, in both modes, with `full_matrices=False` (NotImplementedError otherwise) and distinct
      singular values; singular values alone always.
    Example:
      >>> u, s, vh = jnp.linalg.svd(jnp.array([[3.0, 0.0], [0.0, -4.0]]))
      >>> print(s.round(3))
      [4. 3.]
    """
    a = _inexact(a)
    if not hermitian:
        out = _lin.svd(a, full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index)
        return SVDResult(*out) if compute_uv else out
    w, v = eigh(a)
    s = _n.abs(w)
    order = _n.argsort(-s, axis=-1)
    s = _n.take_along_axis(s, order, axis=-1)
    if not compute_uv:
        return s
    v = _n.take_along_axis(v, order[..., None, :], axis=-1)
    signs = _n.take_along_axis(_n.where(w < 0, -1, 1).astype(v.dtype), order, axis=-1)
    return SVDResult(v, s, _adjoint(v * signs[..., None, :]))


def svdvals(x, /):
    """The singular values of matrices, descending.

    Args:
      x: matrices `[..., m, n]`; integers become floating.
    Returns: a real array `[..., min(m, n)]`, not negative.
    Raises:
      TypeError: `x` has fewer than two axes.
    Differentiable: yes, in both modes, where the singular values are distinct.
    Example:
      >>> print(jnp.linalg.svdvals(jnp.array([[3.0, 0.0], [0.0, -4.0]])).round(3))
      [4. 3.]
    """
    return svd(x, compute_uv=False)


def eig(a):
    """The eigenvalues and right eigenvectors of general matrices: `a v = w v`. On the CPU only.

    Args:
      a: matrices `[..., n, n]`; integers become floating.
    Returns: the named tuple of complex eigenvalues `[..., n]`, in no order, and eigenvectors `[..., n, n]` as
      columns of norm 1.
    Raises:
      TypeError: `a` has fewer than two axes.
      ValueError: `a` is not square.
    Differentiable: no, with NotImplementedError; `eigvals` is.
    Example:
      >>> w, v = jnp.linalg.eig(jnp.array([[2.0, 0.0], [0.0, 3.0]]))
      >>> print(w)
      [2.+0.j 3.+0.j]
    """
    w, v = _lin.eig(_inexact(a), compute_left_eigenvectors=False)
    return EigResult(w, v)


def eigvals(a):
    """The eigenvalues of general matrices. On the CPU only.

    Args:
      a: matrices `[..., n, n]`; integers become floating.
    Returns: complex numbers `[..., n]`, in no order.
    Raises:
      TypeError: `a` has fewer than two axes.
      ValueError: `a` is not square.
    Differentiable: yes, in both modes, where the eigenvalues are distinct.
    Example:
      >>> print(jnp.linalg.eigvals(jnp.array([[2.0, 0.0], [0.0, 3.0]])))
      [2.+0.j 3.+0.j]
    """
    return _lin.eig(_inexact(a), compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


def eigh(a, UPLO=None, symmetrize_input=True):
    """The eigenvalues and eigenvectors of Hermitian matrices: `a = v diag(w) vᴴ`.

    Args:
      a: Hermitian matrices `[..., n, n]`; integers become floating.
      UPLO: 'L' (the default) or 'U': the triangle that is read when the input is not symmetrized.
      symmetrize_input: whether to take `(a + aᴴ) / 2`.
    Returns: the named tuple of real ascending eigenvalues `[..., n]` and orthonormal eigenvectors `[..., n, n]` as
      columns.
    Raises:
      ValueError: `a` is not square, has fewer than two axes, or another `UPLO`.
    Differentiable: yes, in both modes, where the eigenvalues are distinct.
    Example:
      >>> w, v = jnp.linalg.eigh(jnp.array([[3.0, 0.0], [0.0, 2.0]]))
      >>> print(w)
      [2. 3.]
    """
    if UPLO not in (None, "L", "U"):
        raise _user_error(ValueError, "UPLO must be one of None, 'L', or 'U'.")
    v, w = _lin.eigh(_inexact(a), lower=UPLO != "U", symmetrize_input=symmetrize_input)
    return EighResult(w, v)


def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    """The eigenvalues of Hermitian matrices, ascending.

    Args:
      a: Hermitian matrices `[..., n, n]`; integers become floating.
      UPLO: 'L' (the default) or 'U': the triangle that is read when the input is not symmetrized.
      symmetrize_input: whether to take `(a + aᴴ) / 2`.
    Returns: real numbers `[..., n]`.
    Raises:
      ValueError: `a` is not square, has fewer than two axes, or another `UPLO`.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jnp.linalg.eigvalsh(jnp.array([[3.0, 0.0], [0.0, 2.0]])))
      [2. 3.]
    """
    return eigh(a, UPLO, symmetrize_input=symmetrize_input).eigenvalues


def qr(a, mode="reduced"):
    """The QR decomposition `a = Q R` into orthonormal columns and an upper triangle, by Householder reflections.

    Args:
      a: matrices `[..., m, n]`; integers become floating.
      mode: 'reduced' (the default) for Q `[..., m, k]` and R `[..., k, n]` with k = min(m, n); 'complete' for a
        square Q; 'r' for R alone; 'raw' for the transposed reflection vectors and their scales.
    Returns: the named tuple of Q and R, or R alone.
    Raises:
      ValueError: another `mode`.
      TypeError: `a` has fewer than two axes.
    Differentiable: yes, in both modes, with 'reduced' and 'r' for full rank; NotImplementedError with 'complete'
      where m is greater than n.
    Example:
      >>> q, r = jnp.linalg.qr(jnp.array([[3.0, 1.0], [4.0, 2.0]]))
      >>> print(jnp.abs(r[0, 0]).round(3))
      5.0
    """
    a = _inexact(a)
    if mode == "raw":
        packed, taus = _core.find_primitive("geqrf").bind(a)
        return QRResult(_n.swapaxes(packed, -1, -2), taus)
    if mode not in ("reduced", "r", "full", "complete"):
        raise _user_error(ValueError, f"Unsupported QR decomposition mode '{mode}'")
    q, r = _lin.qr(a, full_matrices=mode in ("full", "complete"))
    return r if mode == "r" else QRResult(q, r)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy.linalg"
