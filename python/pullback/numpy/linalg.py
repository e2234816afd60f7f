"""Linear algebra with NumPy's names: the last two axes are matrices, those before are batches.

Integers become floats. What has no solution gives NaN or infinities, never an exception.
"""

import functools
import itertools
import operator
from typing import NamedTuple

import numpy as _np

from pullback import _core
from pullback.lax import linalg as _lin

_n = _core.numpy

cross_of_vectors, matmul_of, outer_of, tensordot_of, trace_of, vecdot_of = (
    _n.cross, _n.matmul, _n.outer, _n.tensordot, _n.trace, _n.vecdot
)


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


class SlogdetResult(NamedTuple):
    """Sign and logarithm of the absolute value of a determinant."""

    sign: _core.Array
    logabsdet: _core.Array


def _inexact(*xs):
    """Arrays of one inexact dtype."""
    xs = [_n.asarray(x) for x in xs]
    dtype = _n.result_type(*xs)
    if dtype.kind not in "fcV" and "float" not in dtype.name:
        dtype = _n.result_type(dtype, float)
    xs = [x if x.dtype == dtype else x.astype(dtype) for x in xs]
    return xs[0] if len(xs) == 1 else xs


def _square(x, name):
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"Argument to {name} must have shape [..., n, n], got {x.shape}.")
    return x


def _adjoint(x):
    return _lin._adjoint(x)


def cholesky(a, *, upper=False, symmetrize_input=True):
    """The lower factor L of `a = L Lᴴ`, or its adjoint if `upper`; NaN where `a` is not positive definite.

    Raises:
      ValueError: `a` is not square. Differentiable.
    """
    a = _inexact(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Argument to linalg.cholesky must have shape [..., n, n], got {a.shape}.")
    out = _lin.cholesky(_adjoint(a) if upper else a, symmetrize_input=symmetrize_input)
    return _adjoint(out) if upper else out


def svd(a, full_matrices=True, compute_uv=True, hermitian=False, subset_by_index=None):
    """Singular values and vectors; see `lax.linalg.svd`. Of a Hermitian matrix they come from its eigenvalues."""
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
    """Singular values, descending."""
    return svd(x, compute_uv=False)


def matrix_power(a, n):
    """The product of `n` equal matrices; of the inverse for negative `n`.

    Raises:
      ValueError: `a` is not square. TypeError: `n` is no integer.
    """
    a = _inexact(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise TypeError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError as err:
        raise TypeError(f"exponent must be an integer, got {n}") from err
    if n == 0:
        return _n.broadcast_to(_n.eye(a.shape[-1], dtype=a.dtype), a.shape)
    if n < 0:
        a, n = inv(a), -n
    result, power = None, a
    while n:
        if n & 1:
            result = power if result is None else _n.matmul(result, power)
        n >>= 1
        if n:
            power = _n.matmul(power, power)
    return result


def matrix_rank(M, rtol=None, *, hermitian=False, tol=None):
    """The number of singular values above `rtol` times the greatest, or above `tol`."""
    M = _inexact(M)
    if M.ndim < 2:
        return _n.any(M != 0).astype("int32")
    s = svd(M, full_matrices=False, compute_uv=False, hermitian=hermitian)
    if tol is not None:
        bound = _n.asarray(tol)[..., None] if _n.ndim(tol) else tol
    else:
        rtol = max(M.shape[-2:]) * _np.finfo(s.dtype).eps if rtol is None else _n.asarray(rtol)
        bound = _n.max(s, axis=-1, keepdims=True) * (rtol[..., None] if _n.ndim(rtol) else rtol)
    return _n.sum(s > bound, axis=-1)


def _slogdet(a):
    factors, pivots, _ = _lin.lu(a)
    diagonal = _n.diagonal(factors, axis1=-2, axis2=-1)
    is_zero = _n.any(diagonal == 0, axis=-1)
    exchanges = _n.sum(pivots != _n.arange(a.shape[-1], dtype=pivots.dtype), axis=-1)
    if _n.iscomplexobj(a):
        sign = _n.prod(diagonal / _n.abs(diagonal).astype(a.dtype), axis=-1)
    else:
        sign, exchanges = _n.ones(a.shape[:-2], a.dtype), exchanges + _n.sum(diagonal < 0, axis=-1)
    sign = _n.where(is_zero, _n.zeros((), a.dtype), sign * (1 - 2 * (exchanges % 2)).astype(a.dtype))
    absolute = _n.abs(diagonal)
    logabsdet = _n.where(is_zero, _n.asarray(-_np.inf, absolute.dtype), _n.sum(_n.log(absolute), axis=-1))
    return sign, logabsdet


def _with_slogdet_rule():
    from pullback import custom_jvp

    rule = custom_jvp(_slogdet)

    @rule.defjvp
    def tangents(primals, tangents):
        (a,), (t,) = primals, tangents
        sign, logabsdet = rule(a)
        trace = _n.trace(_solved(a, t), axis1=-1, axis2=-2)
        if _n.iscomplexobj(a):
            imaginary = _core.lax.complex(_n.zeros_like(trace.real), trace.imag)
            return (sign, logabsdet), (imaginary * sign, trace.real)
        return (sign, logabsdet), (_n.zeros_like(sign), trace)

    return rule


_rules = {}


def _rule(name, make):
    if name not in _rules:
        _rules[name] = make()
    return _rules[name]


def slogdet(a, *, method=None):
    """Sign (phase of complex) and logarithm of the absolute value of the determinant; `(0, -inf)` of singular matrices.

    Args:
      method: `"lu"`, or `"qr"`, which gives the same here.
    Raises:
      ValueError: `a` is not square or the method unknown. Differentiable.
    """
    a = _square(_inexact(a), "slogdet()") if _n.ndim(a) >= 2 else _square(_n.asarray(a), "slogdet()")
    if method not in (None, "lu", "qr"):
        raise ValueError(f"Unknown slogdet method '{method}'. Supported methods are 'lu' (`None`), and 'qr'.")
    return SlogdetResult(*_rule("slogdet", _with_slogdet_rule)(a))


def _det(a):
    sign, logabsdet = _slogdet(a)
    return sign * _n.exp(logabsdet).astype(sign.dtype)


def _cofactors(a):
    """The transposed matrix of cofactors, which exists for singular matrices too."""
    n = a.shape[-1]
    if n == 1:
        return _n.ones_like(a)
    u, s, vh = svd(_core.lax._stop_gradient(a))
    # A = U S Vᴴ has adj(A) = det(U Vᴴ) V adj(S) Uᴴ, and adj(S) holds products of all but one singular value.
    others = [_n.prod(_n.delete(s, i, axis=-1), axis=-1) for i in range(n)]
    phase = _det(u) * _det(vh)
    inner = _n.stack(others, axis=-1).astype(a.dtype)
    return phase[..., None, None] * _n.matmul(_adjoint(vh) * inner[..., None, :], _adjoint(u))


def _with_det_rule():
    from pullback import custom_jvp

    def small(a):
        if a.shape[-1] == 2:
            return a[..., 0, 0] * a[..., 1, 1] - a[..., 0, 1] * a[..., 1, 0]
        first = a[..., 0, 0] * (a[..., 1, 1] * a[..., 2, 2] - a[..., 1, 2] * a[..., 2, 1])
        second = a[..., 0, 1] * (a[..., 1, 0] * a[..., 2, 2] - a[..., 1, 2] * a[..., 2, 0])
        third = a[..., 0, 2] * (a[..., 1, 0] * a[..., 2, 1] - a[..., 1, 1] * a[..., 2, 0])
        return first - second + third

    rule = custom_jvp(_det)

    @rule.defjvp
    def tangents(primals, tangents):
        (a,), (t,) = primals, tangents
        # Jacobi's formula: d det(A) = tr(adj(A) dA).
        return rule(a), _n.sum(_n.swapaxes(_cofactors(a), -1, -2) * t, axis=(-1, -2))

    return small, rule


def det(a):
    """The determinant. Those of sizes 2 and 3 are sums of products, others products of pivots.

    Raises:
      ValueError: `a` is not square. Differentiable, of singular matrices once.
    """
    a = _square(_inexact(a), "det()")
    small, general = _rule("det", _with_det_rule)
    return small(a) if a.shape[-1] in (2, 3) else general(a)


def eig(a):
    """Eigenvalues and right eigenvectors of general matrices, complex and in no order."""
    w, v = _lin.eig(_inexact(a), compute_left_eigenvectors=False)
    return EigResult(w, v)


def eigvals(a):
    """Eigenvalues of general matrices, complex and in no order. Differentiable."""
    return _lin.eig(_inexact(a), compute_left_eigenvectors=False, compute_right_eigenvectors=False)[0]


def eigh(a, UPLO=None, symmetrize_input=True):
    """Ascending eigenvalues and eigenvectors of Hermitian matrices.

    Args:
      UPLO: `"L"` or `"U"`, the triangle that is read when the input is not symmetrized.
    Raises:
      ValueError: `UPLO` is neither.
    """
    if UPLO not in (None, "L", "U"):
        raise ValueError("UPLO must be one of None, 'L', or 'U'.")
    v, w = _lin.eigh(_inexact(a), lower=UPLO != "U", symmetrize_input=symmetrize_input)
    return EighResult(w, v)


def eigvalsh(a, UPLO="L", *, symmetrize_input=True):
    """Ascending eigenvalues of Hermitian matrices."""
    return eigh(a, UPLO, symmetrize_input=symmetrize_input).eigenvalues


def pinv(a, rtol=None, hermitian=False, *, rcond=None):
    """The pseudo-inverse; singular values up to `rtol` times the greatest count as zero. Differentiable for constant rank.

    Args:
      rtol: `10 max(m, n) eps` by default. rcond: its old name.
    """
    a = _inexact(a)
    if rcond is not None:
        rtol = rcond
    rule = _rule("pinv", _with_pinv_rule)
    return rule(a, _n.asarray(10.0 * max(a.shape[-2:]) * float(_np.finfo(_n.abs(a).dtype).eps) if rtol is None else rtol), hermitian)


def _with_pinv_rule():
    from pullback import custom_jvp

    def pseudo_inverse(a, rtol, hermitian):
        if min(a.shape[-2:]) == 0:
            return _n.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
        u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
        bound = _n.asarray(rtol).astype(s.dtype)[..., None] * s[..., :1]
        s = _n.where(s > bound, s, _n.asarray(_np.inf, s.dtype))
        return _n.matmul(_adjoint(vh), _adjoint(u) / s[..., None].astype(u.dtype))

    rule = custom_jvp(pseudo_inverse, nondiff_argnums=(1, 2))

    @rule.defjvp
    def tangents(rtol, hermitian, primals, tangents):
        # Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose variables
        # separate", 1973.
        (a,), (t,) = primals, tangents
        p = rule(a, rtol, hermitian)
        ph, th = _adjoint(p), _adjoint(t)
        m, n = a.shape[-2:]
        dp = -_n.matmul(_n.matmul(p, t), p)
        outside = _n.eye(m, dtype=a.dtype) - _n.matmul(a, p)
        dp = dp + _n.matmul(_n.matmul(_n.matmul(p, ph), th), outside)
        inside = _n.eye(n, dtype=a.dtype) - _n.matmul(p, a)
        return p, dp + _n.matmul(_n.matmul(_n.matmul(inside, th), ph), p)

    return rule


def inv(a):
    """The inverse; infinities and NaN of singular matrices.

    Raises:
      ValueError: `a` is not square. Differentiable.
    """
    a = _inexact(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"Argument to inv must have shape [..., n, n], got {a.shape}.")
    return solve(a, _n.broadcast_to(_n.eye(a.shape[-1], dtype=a.dtype), a.shape))


def _solved(a, b):
    factors, _, permutation = _lin.lu(a)
    rows = _n.take_along_axis(b, permutation[..., None], axis=-2)
    y = _lin.triangular_solve(factors, rows, left_side=True, lower=True, unit_diagonal=True)
    return _lin.triangular_solve(factors, y, left_side=True)


def _with_solve_rule():
    from pullback import custom_jvp

    rule = custom_jvp(_solved)

    @rule.defjvp
    def tangents(primals, tangents):
        (a, b), (da, db) = primals, tangents
        x = rule(a, b)
        # a dx = db - da x
        return x, _solved(a, db - _n.matmul(da, x))

    return rule


def solve(a, b):
    """The solution x of `a x = b`.

    Args:
      a: [..., n, n]. b: [n] or [..., n, k]; a vector only if it has one axis.
    Raises:
      ValueError: shapes do not fit. Differentiable in both.

    >>> solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 2.0])
    Array([1. , 0.5], dtype=float32)
    """
    a, b = _inexact(a, b)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[..., m]; got a={a.shape} and b={b.shape}")
    if b.ndim == 0:
        raise ValueError(f"The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[..., m]; got a={a.shape} and b={b.shape}")
    is_vector = b.ndim == 1
    if is_vector:
        b = b[:, None]
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"inconsistent size for core dimension 'm': {b.shape[-2]} vs {a.shape[-1]} of operands of shapes {a.shape} and {b.shape}")
    batch = _n.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = _rule("solve", _with_solve_rule)(_n.broadcast_to(a, batch + a.shape[-2:]), _n.broadcast_to(b, batch + b.shape[-2:]))
    return x[..., 0] if is_vector else x


def _vector_norm(x, ord, axis, keepdims):
    if ord is None or ord == 2:
        return _n.sqrt(_n.sum(_n.real(x * _n.conj(x)), axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid order '{ord}' for vector norm." if ord != "nuc" else "Invalid order 'nuc' for vector norm.")
    absolute = _n.abs(x)
    if ord == _np.inf:
        return _n.max(absolute, axis=axis, keepdims=keepdims, initial=0)
    if ord == -_np.inf:
        return _n.min(absolute, axis=axis, keepdims=keepdims)
    if ord == 0:
        return _n.sum(x != 0, axis=axis, keepdims=keepdims, dtype=absolute.dtype)
    if ord == 1:
        return _n.sum(absolute, axis=axis, keepdims=keepdims)
    return _n.sum(absolute**ord, axis=axis, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(x, ord, axis, keepdims):
    row, column = axis
    if ord is None or ord in ("fro", "f"):
        return _n.sqrt(_n.sum(_n.real(x * _n.conj(x)), axis=axis, keepdims=keepdims))
    if ord in (1, -1, _np.inf, -_np.inf):
        first, second = (row, column) if abs(ord) == 1 else (column, row)
        sums = _n.sum(_n.abs(x), axis=first, keepdims=True)
        reduce = _n.max if ord > 0 else _n.min
        out = reduce(sums, axis=second, keepdims=True)
    elif ord in (2, -2, "nuc"):
        s = svd(_n.moveaxis(x, axis, (-2, -1)), compute_uv=False)
        reduced = {2: _n.max, -2: _n.min, "nuc": _n.sum}[ord](s, axis=-1)
        return _n.expand_dims(reduced, tuple(sorted(axis))) if keepdims else reduced
    else:
        raise ValueError(f"Invalid order '{ord}' for matrix norm.")
    return out if keepdims else _n.squeeze(out, axis=tuple(axis))


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors or matrices.

    Args:
      ord: of vectors any number, of matrices 1, -1, 2, -2, ±inf, `"fro"` or `"nuc"`; by default the root of the sum of squares.
      axis: one axis for vectors, two for matrices; all by default.
    Raises:
      ValueError: the order or the number of axes is impossible. Differentiable.
    """
    x = _inexact(x)
    if axis is None:
        if ord is None:
            flat = _n.sqrt(_n.sum(_n.real(x * _n.conj(x))))
            return flat.reshape((1,) * x.ndim) if keepdims else flat
        axis = tuple(range(x.ndim))
    axes = tuple(a % x.ndim if -x.ndim <= a < x.ndim else _out_of_bounds(a, x.ndim) for a in ((axis,) if isinstance(axis, int) else axis))
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError(f"Improper number of axes for norm: axis={axes}. Pass one axis to compute a vector-norm, or two axes to compute a matrix-norm.")


def _out_of_bounds(axis, rank):
    raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of the matrices in the last two axes."""
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors: along an axis, several together, or all elements."""
    x = _inexact(x)
    if axis is None or isinstance(axis, (tuple, list)):
        axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in axis)
        others = [a for a in range(x.ndim) if a not in axes]
        flat = _n.transpose(x, (*axes, *others)).reshape((-1, *(x.shape[a] for a in others)))
        out = _vector_norm(flat, ord, 0, False)
        return _n.expand_dims(out, axes) if keepdims else out
    return norm(x, axis=axis, keepdims=keepdims, ord=ord)


def qr(a, mode="reduced"):
    """Factors with orthonormal columns and an upper triangle.

    Args:
      mode: `"reduced"`, `"complete"` for a square Q, `"r"` for R alone, or `"raw"` for transposed vectors and scales.
    Raises:
      ValueError: the mode is none of these. Differentiable.
    """
    a = _inexact(a)
    if mode == "raw":
        packed, taus = _core.find_primitive("geqrf").bind(a)
        return QRResult(_n.swapaxes(packed, -1, -2), taus)
    if mode not in ("reduced", "r", "full", "complete"):
        raise ValueError(f"Unsupported QR decomposition mode '{mode}'")
    q, r = _lin.qr(a, full_matrices=mode in ("full", "complete"))
    return r if mode == "r" else QRResult(q, r)


def lstsq(a, b, rcond=None, *, numpy_resid=False):
    """The x that makes `b - a x` least, and among several the least x.

    Returns: `(x, residuals, rank, singular values)`; residuals are sums of squares, with `numpy_resid` empty as NumPy has
      them when the rank is not full.
    Raises:
      ValueError: shapes do not fit. Differentiable.
    """
    a, b = _inexact(a, b)
    if a.shape[0] != b.shape[0]:
        raise ValueError("Leading dimensions of input arrays must match")
    is_vector = b.ndim == 1
    if is_vector:
        b = b[:, None]
    if a.ndim != 2:
        raise TypeError(f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim != 2:
        raise TypeError(f"{b.ndim}-dimensional array given. Array must be one or two-dimensional")
    m, n = a.shape
    if a.size == 0:
        s, rank, x = _n.empty(0, a.dtype), _n.asarray(0), _n.zeros((n, b.shape[1]), a.dtype)
    else:
        u, s, vh = svd(a, full_matrices=False)
        rcond = float(_np.finfo(s.dtype).eps) * max(m, n) if rcond is None else rcond
        mask = (s > 0) & (s >= rcond * s[0])
        rank = _n.sum(mask)
        inverse = _n.where(mask, 1 / _n.where(mask, s, 1), 0)[:, None].astype(u.dtype)
        x = _n.matmul(_adjoint(vh), inverse * _n.matmul(_adjoint(u), b))
    if numpy_resid and (int(rank) < n or m <= n):
        residuals = _n.asarray([])
    else:
        rest = _n.abs(b - _n.matmul(a, x)) ** 2
        residuals = _n.sum(rest, axis=0)
    return (x.ravel() if is_vector else x), residuals, rank, s


def cross(x1, x2, /, *, axis=-1):
    """The cross product of vectors of three elements.

    Raises:
      ValueError: the axis has another size.
    """
    x1, x2 = _n.asarray(x1), _n.asarray(x2)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they have x1.shape[axis]={x1.shape[axis]} and x2.shape[axis]={x2.shape[axis]} dimensions instead.")
    return cross_of_vectors(x1, x2, axis=axis)


def outer(x1, x2, /):
    """Products of all pairs of elements of two vectors.

    Raises:
      ValueError: an operand is no vector.
    """
    x1, x2 = _n.asarray(x1), _n.asarray(x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are x1.ndim={x1.ndim} x2.ndim={x2.ndim}")
    return x1[:, None] * x2[None, :]


def matmul(x1, x2, /, *, precision=None, preferred_element_type=None):
    """The matrix product; see `numpy.matmul`."""
    return matmul_of(x1, x2, precision=precision, preferred_element_type=preferred_element_type)


def matrix_transpose(x, /):
    """The last two axes exchanged.

    Raises:
      ValueError: there are fewer.
    """
    x = _n.asarray(x)
    if x.ndim < 2:
        raise ValueError(f"x must be at least two-dimensional for matrix_transpose; got ndim={x.ndim}")
    return _n.swapaxes(x, -1, -2)


def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None):
    """Inner products of vectors, the first conjugated."""
    return vecdot_of(x1, x2, axis=axis, precision=precision, preferred_element_type=preferred_element_type)


def tensordot(x1, x2, /, *, axes=2, precision=None, preferred_element_type=None, out_sharding=None):
    """Contraction over several axes; see `numpy.tensordot`."""
    return tensordot_of(x1, x2, axes=axes, precision=precision, preferred_element_type=preferred_element_type)


def diagonal(x, /, *, offset=0):
    """The diagonals of the last two axes."""
    return _n.diagonal(x, offset=offset, axis1=-2, axis2=-1)


def trace(x, /, *, offset=0, dtype=None):
    """Sums of the diagonals of the last two axes."""
    return trace_of(x, offset=offset, axis1=-2, axis2=-1, dtype=dtype)


def tensorinv(a, ind=2):
    """The inverse under `tensordot` over `ind` axes.

    Raises:
      ValueError: the sizes before and after `ind` have different products, or `ind` is not positive.
    """
    a = _inexact(a)
    ind = operator.index(ind)
    if ind <= 0:
        raise ValueError(f"ind must be a positive integer; got ind={ind}")
    first, last = a.shape[:ind], a.shape[ind:]
    if int(_np.prod(first)) != int(_np.prod(last)):
        raise ValueError(f"product of dimensions of a.shape[:ind]={first} must equal that of a.shape[ind:]={last}")
    return inv(a.reshape(int(_np.prod(first)), -1)).reshape(*last, *first)


def tensorsolve(a, b, axes=None):
    """The x with `tensordot(a, x, x.ndim) = b`.

    Raises:
      ValueError: sizes do not fit.
    """
    a, b = _inexact(a, b)
    if axes is not None:
        kept = [axis for axis in range(a.ndim) if axis not in [axis % a.ndim for axis in axes]]
        a = _n.transpose(a, (*kept, *(axis % a.ndim for axis in axes)))
    shape = a.shape[b.ndim:]
    if a.shape[:b.ndim] != b.shape:
        raise ValueError(f"After moving axes to end, leading shape of a must match shape of b. got a.shape={a.shape}, b.shape={b.shape}")
    if b.size != int(_np.prod(shape)):
        raise ValueError(f"Input arrays must have prod(a.shape[:b.ndim]) == prod(a.shape[b.ndim:]); got a.shape={a.shape}, b.ndim={b.ndim}.")
    return solve(a.reshape(b.size, -1), b.ravel()).reshape(shape)


def multi_dot(arrays, *, precision=None):
    """The product of several matrices in the order with the fewest multiplications.

    Raises:
      ValueError: there are fewer than two, or one inside is no matrix.
    """
    arrs = [_n.asarray(x) for x in arrays]
    if len(arrs) < 2:
        raise ValueError(f"multi_dot requires at least two arrays; got len(arrays)={len(arrs)}")
    if not (arrs[0].ndim in (1, 2) and arrs[-1].ndim in (1, 2) and all(x.ndim == 2 for x in arrs[1:-1])):
        raise ValueError(f"multi_dot: input arrays must all be two-dimensional, except for the first and last array which may be 1 or 2 dimensional. Got array shapes {[x.shape for x in arrs]}")
    if any(x.shape[-1] != y.shape[0] for x, y in itertools.pairwise(arrs)):
        raise ValueError(f"multi_dot: last dimension of each array must match first dimension of following array. Got array shapes {[x.shape for x in arrs]}")
    first = arrs[0][None] if arrs[0].ndim == 1 else arrs[0]
    last = arrs[-1][:, None] if arrs[-1].ndim == 1 else arrs[-1]
    matrices = [first, *arrs[1:-1], last]
    sizes = [x.shape[0] for x in matrices] + [matrices[-1].shape[1]]

    @functools.cache
    def best(i, j):
        if i == j:
            return 0, i
        return min((best(i, k)[0] + best(k + 1, j)[0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j))

    def product(i, j):
        if i == j:
            return matrices[i]
        k = best(i, j)[1]
        return _n.matmul(product(i, k), product(k + 1, j))

    out = product(0, len(matrices) - 1)
    shape = out.shape[arrs[0].ndim == 1:] if arrs[0].ndim == 1 else out.shape
    return out.reshape(shape[:-1] if arrs[-1].ndim == 1 else shape)


def cond(x, p=None):
    """The condition number: the norm times that of the inverse; of singular values by default.

    Raises:
      ValueError: `x` has less than two axes.
    """
    x = _inexact(x)
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2D, got shape {x.shape}")
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        r = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        r = norm(x, ord=p, axis=(-2, -1)) * norm(inv(x), ord=p, axis=(-2, -1))
    # Where the input has no NaN, one in the result is an infinity over another.
    unknown = _n.isnan(x).any(axis=(-2, -1))
    return _n.where(~unknown & _n.isnan(r), _n.asarray(_np.inf, r.dtype), r)


__all__ = [
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet",
    "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]
