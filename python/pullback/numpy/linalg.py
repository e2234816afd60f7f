"""Linear algebra with NumPy's names: the last two axes are matrices, those before are batches.

Integers become floats. What has no solution gives NaN or infinities, never an exception.
"""

import operator
from typing import NamedTuple as _NamedTuple

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax import linalg as _lin
from pullback.numpy._factorizations import (
    _adjoint, _inexact, cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals,
)

_n = _core.numpy
globals().update({name: function for name, function in vars(_n.linalg).items() if not name.startswith("_")})


class SlogdetResult(_NamedTuple):
    """Sign and logarithm of the absolute value of a determinant."""

    sign: _core.Array
    logabsdet: _core.Array


def _square(x, name):
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise _user_error(ValueError, f"Argument to {name} must have shape [..., n, n], got {x.shape}.")
    return x


def matrix_power(a, n):
    """The product of `n` equal matrices, by repeated squaring; of the inverse for negative `n`, the identity for 0.

    Args:
      a: matrices `[..., m, m]`; integers become floating.
      n: a static integer.
    Returns: an array `[..., m, m]`.
    Raises:
      TypeError: `a` is not square, or `n` is no integer.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jnp.linalg.matrix_power(jnp.array([[1.0, 1.0], [0.0, 1.0]]), 5))
      [[1. 5.]
       [0. 1.]]
    """
    a = _inexact(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _user_error(TypeError, "Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError as err:
        raise _user_error(TypeError, f"exponent must be an integer, got {n}") from err
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
    """The rank: the number of singular values above a bound.

    Args:
      M: matrices `[..., m, n]`; integers become floating. Of a vector or number whether an element differs from 0.
      rtol: the bound as part of the greatest singular value: a number or an array `[...]`; `max(m, n) eps` by
        default.
      hermitian: whether `M` is Hermitian, so that its eigenvalues are used.
      tol: the bound itself, in place of `rtol`.
    Returns: integers `[...]`.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.linalg.matrix_rank(jnp.array([[1.0, 2.0], [2.0, 4.0]])))
      1
    """
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
    places = _n.broadcast_to(_n.arange(a.shape[-1], dtype=pivots.dtype), pivots.shape)
    exchanges = _n.sum(pivots != places, axis=-1)
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
    """The sign (of complex numbers the phase) and the logarithm of the absolute value of the determinant.
    Their product `sign * exp(logabsdet)` is the determinant, but they do not overflow where that would.

    Args:
      a: matrices `[..., n, n]`; integers become floating.
      method: 'lu' or None (the default), or 'qr', which gives the same here.
    Returns: the named tuple of `sign` `[...]` and real `logabsdet` `[...]`; (0, -inf) of singular matrices.
    Raises:
      ValueError: `a` is not square, or another `method`.
    Differentiable: yes, in both modes, where `a` is not singular: `logabsdet` has the gradient `inv(a)ᵀ`.
    Example:
      >>> sign, logabsdet = jnp.linalg.slogdet(jnp.array([[0.0, 1.0], [1.0, 0.0]]))
      >>> print(sign, logabsdet)
      -1.0 0.0
    """
    a = _square(_inexact(a), "slogdet()") if _n.ndim(a) >= 2 else _square(_n.asarray(a), "slogdet()")
    if method not in (None, "lu", "qr"):
        raise _user_error(ValueError, f"Unknown slogdet method '{method}'. Supported methods are 'lu' (`None`), and 'qr'.")
    return SlogdetResult(*_rule("slogdet", _with_slogdet_rule)(a))


def _det(a):
    sign, logabsdet = _slogdet(a)
    return sign * _n.exp(logabsdet).astype(sign.dtype)


def _singular_basis(a):
    """The factors of `a = U S Vᴴ`, and the phase `det(U Vᴴ)`."""
    u, s, vh = svd(a)
    return u, s, vh, (_det(u) * _det(vh))[..., None, None]


def _products_around(s):
    """Of each element the product of those before it, and of those behind it."""
    ones = _n.ones_like(s[..., :1])
    before = _n.concatenate([ones, _n.cumprod(s[..., :-1], axis=-1)], axis=-1)
    behind = _n.concatenate([_n.cumprod(s[..., :0:-1], axis=-1)[..., ::-1], ones], axis=-1)
    return before, behind


def _products_without_two(s):
    """The products `[..., n, n]` of all elements but two; zero on the diagonal."""
    n = s.shape[-1]
    before, behind = _products_around(s)
    shape = (*s.shape, n)
    row, column = _core.lax.broadcasted_iota("int32", shape, len(shape) - 2), _core.lax.broadcasted_iota("int32", shape, len(shape) - 1)
    factors = _n.broadcast_to(s[..., None, :], shape)
    # Of those between the two: each row multiplies what is behind its own place, up to the other one.
    between = _products_around(_n.where(column > row, factors, _n.ones_like(factors)))[0]
    upper = _n.where(column > row, before[..., :, None] * between * behind[..., None, :], _n.zeros_like(factors))
    return upper + _n.swapaxes(upper, -1, -2)


def _adjugate(a):
    """The transposed matrix of cofactors, which exists for singular matrices too."""
    n = a.shape[-1]
    if n == 1:
        return _n.ones_like(a)
    u, s, vh, phase = _singular_basis(a)
    # A = U S Vᴴ has adj(A) = det(U Vᴴ) V adj(S) Uᴴ, and adj(S) holds products of all but one singular value.
    before, behind = _products_around(s)
    inner = (before * behind).astype(a.dtype)
    return phase * _n.matmul(_adjoint(vh) * inner[..., None, :], _adjoint(u))


def _adjugate_tangent(a, t):
    """The derivative of `_adjugate` along `t`, which exists for singular matrices too: cofactors are polynomials."""
    n = a.shape[-1]
    if n == 1:
        return _n.zeros_like(t)
    u, s, vh, phase = _singular_basis(a)
    m = _n.matmul(_n.matmul(_adjoint(u), t), _adjoint(vh))
    # d adj(S + M): products of all but two singular values, with the sign of the permutation.
    others = _products_without_two(s).astype(a.dtype)
    diagonal = _n.matmul(others, _n.diagonal(m, axis1=-2, axis2=-1)[..., None])
    inner = diagonal * _n.broadcast_to(_n.eye(n, dtype=a.dtype), m.shape) - others * m
    return phase * _n.matmul(_n.matmul(_adjoint(vh), inner), _adjoint(u))


def _regular_adjugate_tangent(a, t):
    """`_adjugate_tangent` of a matrix that has an inverse, by functions that have derivatives of any order."""
    inverse = inv(a)
    turned = _n.matmul(inverse, t)
    trace = _n.trace(turned, axis1=-2, axis2=-1)[..., None, None]
    return det(a)[..., None, None] * (trace * inverse - _n.matmul(turned, inverse))


def _with_adjugate_rule():
    from pullback import custom_jvp, jvp

    tangent = custom_jvp(_adjugate_tangent)
    rule = custom_jvp(_adjugate)

    @tangent.defjvp
    def second(primals, tangents):
        return tangent(*primals), jvp(_regular_adjugate_tangent, primals, tangents)[1]

    @rule.defjvp
    def first(primals, tangents):
        return rule(*primals), tangent(*primals, *tangents)

    return rule


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
        adjugate = _rule("adjugate", _with_adjugate_rule)(a)
        return rule(a), _n.sum(_n.swapaxes(adjugate, -1, -2) * t, axis=(-1, -2))

    return small, rule


def det(a):
    """The determinant: of sizes 2 and 3 as sum of products, else as product of pivots.

    Args:
      a: matrices `[..., n, n]`; integers become floating.
    Returns: an array `[...]`.
    Raises:
      ValueError: `a` is not square.
    Differentiable: yes, in both modes, by Jacobi's formula `d det(a) = tr(adj(a) da)`; of singular matrices twice.
    Example:
      >>> print(jnp.linalg.det(jnp.array([[1.0, 2.0], [3.0, 4.0]])))
      -2.0
    """
    a = _square(_inexact(a), "det()")
    small, general = _rule("det", _with_det_rule)
    return small(a) if a.shape[-1] in (2, 3) else general(a)


def pinv(a, rtol=None, hermitian=False, *, rcond=None):
    """The pseudo-inverse (of Moore and Penrose) by singular values: those up to a bound count as zero.

    Args:
      a: matrices `[..., m, n]`; integers become floating.
      rtol: the bound as part of the greatest singular value: a number or an array `[...]`; `10 max(m, n) eps` by
        default.
      hermitian: whether `a` is Hermitian, so that its eigenvalues are used.
      rcond: the old name of `rtol`.
    Returns: an array `[..., n, m]`.
    Raises:
      ValueError: `a` is a vector. TypeError: it is a number.
    Differentiable: yes, in both modes, where the rank does not change (Golub and Pereyra, 1973).
    Example:
      >>> print(jnp.linalg.pinv(jnp.array([[2.0, 0.0], [0.0, 0.0]])))
      [[0.5 0. ]
       [0.  0. ]]
    """
    a = _inexact(a)
    if a.ndim == 1:
        raise _user_error(ValueError, f"pinv takes matrices [..., m, n], got shape {a.shape}")
    if rcond is not None:
        rtol = rcond
    rule = _rule("pinv", _with_pinv_rule)
    return rule(a, _n.asarray(10.0 * max(a.shape[-2:]) * float(_np.finfo(_n.abs(a).dtype).eps) if rtol is None else rtol), hermitian)


def _identity_like(x):
    """Identities of the shape of square matrices."""
    return _n.broadcast_to(_n.eye(x.shape[-1], dtype=x.dtype), x.shape)


def _with_pinv_rule():
    from pullback import custom_jvp

    def pseudo_inverse(a, rtol, hermitian):
        if min(a.shape[-2:]) == 0:
            return _n.zeros((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype)
        u, s, vh = svd(a, full_matrices=False, hermitian=hermitian)
        rtol = _n.asarray(rtol).astype(s.dtype)
        bound = (rtol[..., None] if rtol.ndim else rtol) * s[..., :1]
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
        dp = -_n.matmul(_n.matmul(p, t), p)
        outside = _identity_like(_n.matmul(a, p)) - _n.matmul(a, p)
        dp = dp + _n.matmul(_n.matmul(_n.matmul(p, ph), th), outside)
        inside = _identity_like(_n.matmul(p, a)) - _n.matmul(p, a)
        return p, dp + _n.matmul(_n.matmul(_n.matmul(inside, th), ph), p)

    return rule


def inv(a):
    """The inverse, by solving for the identity with LU factors; `solve` is better where it is multiplied with
    something.

    Args:
      a: matrices `[..., n, n]`; integers become floating.
    Returns: an array `[..., n, n]`; infinities and NaN for singular matrices.
    Raises:
      ValueError: `a` is not square.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jnp.linalg.inv(jnp.array([[2.0, 0.0], [0.0, 4.0]])))
      [[0.5  0.  ]
       [0.   0.25]]
    """
    a = _inexact(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _user_error(ValueError, f"Argument to inv must have shape [..., n, n], got {a.shape}.")
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
    """The solution x of `a x = b`, by LU factors with partial pivoting.

    Args:
      a: matrices `[..., n, n]`; integers become floating.
      b: the right sides: one vector `[n]`, or `[..., n, k]`; batches broadcast.
    Returns: an array `[..., n, k]`, or `[..., n]` for a vector; infinities and NaN where `a` is singular.
    Raises:
      ValueError: shapes do not fit.
    Differentiable: yes, in both modes, with respect to both: `dx = solve(a, db - da x)`.
    Example:
      >>> print(jnp.linalg.solve(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 2.0])))
      [1.  0.5]
    """
    a, b = _inexact(a, b)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise _user_error(ValueError, f"The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[..., m]; got a={a.shape} and b={b.shape}")
    if b.ndim == 0:
        raise _user_error(ValueError, f"The arguments to solve must have shapes a=[..., m, m] and b=[..., m, k] or b=[..., m]; got a={a.shape} and b={b.shape}")
    is_vector = b.ndim == 1
    if is_vector:
        b = b[:, None]
    if a.shape[-1] != b.shape[-2]:
        raise _user_error(ValueError, f"inconsistent size for core dimension 'm': {b.shape[-2]} vs {a.shape[-1]} of operands of shapes {a.shape} and {b.shape}")
    batch = _n.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = _rule("solve", _with_solve_rule)(_n.broadcast_to(a, batch + a.shape[-2:]), _n.broadcast_to(b, batch + b.shape[-2:]))
    return x[..., 0] if is_vector else x


def _vector_norm(x, ord, axis, keepdims):
    if ord is None or ord == 2:
        return _n.sqrt(_n.sum(_n.real(x * _n.conj(x)), axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise _user_error(ValueError, f"Invalid order '{ord}' for vector norm." if ord != "nuc" else "Invalid order 'nuc' for vector norm.")
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
        out = _n.max(sums, axis=second, keepdims=True, initial=0) if ord > 0 else _n.min(sums, axis=second, keepdims=True)
    elif ord in (2, -2, "nuc"):
        s = svd(_n.moveaxis(x, axis, (-2, -1)), compute_uv=False)
        reduced = _n.max(s, axis=-1, initial=0) if ord == 2 else {-2: _n.min, "nuc": _n.sum}[ord](s, axis=-1)
        return _n.expand_dims(reduced, tuple(sorted(axis))) if keepdims else reduced
    else:
        raise _user_error(ValueError, f"Invalid order '{ord}' for matrix norm.")
    return out if keepdims else _n.squeeze(out, axis=tuple(axis))


def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors or matrices.

    Args:
      x: an array; integers become floating.
      ord: of vectors any number: p-norms, inf, -inf, or 0 for the count of nonzero elements; of matrices 'fro',
        'nuc' (the sum of singular values), 1, -1, inf, -inf (sums of columns and rows), 2 or -2 (singular values).
        By default the root of the sum of squares.
      axis: one axis for vectors, two for matrices; None (the default) for all.
      keepdims: whether reduced axes stay, with size 1.
    Returns: a real array of the shape of `x` without the axes.
    Raises:
      ValueError: the order does not exist, an axis is out of bounds, or a number of axes that is neither 1 nor 2.
    Differentiable: yes, in both modes, away from 0 and from ties.
    Example:
      >>> print(jnp.linalg.norm(jnp.array([3.0, 4.0])), jnp.linalg.norm(jnp.array([[1.0, -2.0], [3.0, 4.0]]), ord=1))
      5.0 6.0
    """
    x = _inexact(x)
    if axis is None:
        if ord is None:
            flat = _n.sqrt(_n.sum(_n.real(x * _n.conj(x))))
            return flat.reshape((1,) * x.ndim) if keepdims else flat
        axis = tuple(range(x.ndim))
    axes = _canonical((axis,) if isinstance(axis, int) else axis, x.ndim)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise _user_error(ValueError, f"Improper number of axes for norm: axis={axes}. Pass one axis to compute a vector-norm, or two axes to compute a matrix-norm.")


def _canonical(axes, rank):
    for axis in axes:
        if not -rank <= axis < rank:
            raise _user_error(ValueError, f"axis {axis} is out of bounds for array of dimension {rank}")
    return tuple(axis % rank for axis in axes)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of the matrices in the last two axes.

    Args:
      x: an array `[..., m, n]`; integers become floating.
      keepdims: whether the two axes stay, with size 1.
      ord: as for `norm`; 'fro' by default.
    Returns: a real array `[...]`.
    Raises:
      ValueError: the order does not exist, or `x` has fewer than two axes.
    Differentiable: yes, in both modes, away from 0 and from ties.
    Example:
      >>> print(jnp.linalg.matrix_norm(jnp.array([[3.0, 0.0], [0.0, 4.0]])))
      5.0
    """
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of vectors: along an axis, along several as one, or of all elements.

    Args:
      x: an array; integers become floating.
      axis: the axis or axes; None (the default) for all.
      keepdims: whether the axes stay, with size 1.
      ord: the order p of the norm `sum(|x|^p)^(1/p)`, 2 by default; inf, -inf, or 0 for the count of nonzero
        elements.
    Returns: a real array of the shape of `x` without the axes.
    Raises:
      ValueError: the order does not exist, or an axis is out of bounds.
    Differentiable: yes, in both modes, away from 0 and from ties.
    Example:
      >>> print(jnp.linalg.vector_norm(jnp.array([[3.0, 4.0], [6.0, 8.0]]), axis=1))
      [ 5. 10.]
    """
    x = _inexact(x)
    if axis is None or isinstance(axis, (tuple, list)):
        axes = tuple(range(x.ndim)) if axis is None else _canonical(axis, x.ndim)
        others = [a for a in range(x.ndim) if a not in axes]
        flat = _n.transpose(x, (*axes, *others)).reshape((-1, *(x.shape[a] for a in others)))
        out = _vector_norm(flat, ord, 0, False)
        return _n.expand_dims(out, axes) if keepdims else out
    return norm(x, axis=axis, keepdims=keepdims, ord=ord)


def lstsq(a, b, rcond=None, *, numpy_resid=False):
    """The x that makes the norm of `b - a x` least, and among several the x of least norm, by singular values.

    Args:
      a: a matrix `[m, n]`; integers become floating.
      b: the right sides `[m]` or `[m, k]`.
      rcond: singular values below this part of the greatest count as zero; `max(m, n) eps` by default.
      numpy_resid: whether the residuals are empty when the rank is not full, as NumPy has them; needs concrete
        arrays.
    Returns: a tuple of x `[n]` or `[n, k]`, the sums of squared residuals `[k]`, the rank, and the singular values.
    Raises:
      ValueError: another number of rows.
      TypeError: `a` is no matrix, or `b` has too many axes.
    Differentiable: yes, in both modes, with respect to both, where the rank does not change.
    Example:
      >>> x, residuals, rank, s = jnp.linalg.lstsq(jnp.array([[1.0], [1.0]]), jnp.array([1.0, 3.0]))
      >>> print(x.round(3), residuals.round(3), rank)
      [2.] [2.] 1
    """
    a, b = _inexact(a, b)
    if a.shape[0] != b.shape[0]:
        raise _user_error(ValueError, "Leading dimensions of input arrays must match")
    is_vector = b.ndim == 1
    if is_vector:
        b = b[:, None]
    if a.ndim != 2:
        raise _user_error(TypeError, f"{a.ndim}-dimensional array given. Array must be two-dimensional")
    if b.ndim != 2:
        raise _user_error(TypeError, f"{b.ndim}-dimensional array given. Array must be one or two-dimensional")
    m, n = a.shape
    if a.size == 0:
        s, rank, x = _n.empty(0, a.dtype), _n.zeros((), int), _n.zeros((n, b.shape[1]), a.dtype)
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


def tensorinv(a, ind=2):
    """The inverse under `tensordot` over `ind` axes: `tensordot(tensorinv(a, ind), a, ind)` is the identity.

    Args:
      a: an array whose first `ind` sizes have the product of the others; integers become floating.
      ind: the number of first axes, a positive integer; 2 by default.
    Returns: an array of the shape `a.shape[ind:] + a.shape[:ind]`.
    Raises:
      ValueError: the products differ, or `ind` is not positive.
    Differentiable: yes, in both modes.
    Example:
      >>> jnp.linalg.tensorinv(jnp.eye(6).reshape(2, 3, 6)).shape
      (6, 2, 3)
    """
    a = _inexact(a)
    ind = operator.index(ind)
    if ind <= 0:
        raise _user_error(ValueError, f"ind must be a positive integer; got ind={ind}")
    first, last = a.shape[:ind], a.shape[ind:]
    if int(_np.prod(first)) != int(_np.prod(last)):
        raise _user_error(ValueError, f"product of dimensions of a.shape[:ind]={first} must equal that of a.shape[ind:]={last}")
    return inv(a.reshape(int(_np.prod(first)), -1)).reshape(*last, *first)


def tensorsolve(a, b, axes=None):
    """The x with `tensordot(a, x, x.ndim) = b`.

    Args:
      a: an array of the shape of `b`, then that of x, with as many elements each; integers become floating.
      b: the right side.
      axes: axes of `a` that are moved to the end first; none by default.
    Returns: an array of the shape `a.shape[b.ndim:]`.
    Raises:
      ValueError: sizes do not fit.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.linalg.tensorsolve(2 * jnp.eye(4).reshape(2, 2, 4), jnp.ones((2, 2))))
      [0.5 0.5 0.5 0.5]
    """
    a, b = _inexact(a, b)
    if axes is not None:
        kept = [axis for axis in range(a.ndim) if axis not in [axis % a.ndim for axis in axes]]
        a = _n.transpose(a, (*kept, *(axis % a.ndim for axis in axes)))
    shape = a.shape[b.ndim:]
    if a.shape[:b.ndim] != b.shape:
        raise _user_error(ValueError, f"After moving axes to end, leading shape of a must match shape of b. got a.shape={a.shape}, b.shape={b.shape}")
    if b.size != int(_np.prod(shape)):
        raise _user_error(ValueError, f"Input arrays must have prod(a.shape[:b.ndim]) == prod(a.shape[b.ndim:]); got a.shape={a.shape}, b.ndim={b.ndim}.")
    return solve(a.reshape(b.size, -1), b.ravel()).reshape(shape)


def cond(x, p=None):
    """The condition number: the norm times that of the inverse.

    Args:
      x: matrices `[..., m, n]`, square ones for other orders than 2 and -2; integers become floating.
      p: the order of the norm, as for `norm`; None (the default) and 2 for the quotient of the greatest and the
        least singular value.
    Returns: a real array `[...]`; infinite for singular matrices, NaN where an element is.
    Raises:
      ValueError: `x` has fewer than two axes, is not square where it must be, or the order does not exist.
    Differentiable: yes, in both modes, where the norms are.
    Example:
      >>> print(jnp.linalg.cond(jnp.array([[2.0, 0.0], [0.0, 8.0]])))
      4.0
    """
    x = _inexact(x)
    if x.ndim < 2:
        raise _user_error(ValueError, f"Input array must be at least 2D, got shape {x.shape}")
    if p in (None, 2, -2):
        if 0 in x.shape[-2:]:
            raise _user_error(ValueError, f"cond: matrices without elements have no singular values, got shape {x.shape}")
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
