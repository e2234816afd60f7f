"""Matrices that have names: what `pullback.scipy.linalg` shows of matrices made from vectors or sizes."""

import math as _math

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = [
    "block_diag", "circulant", "companion", "convolution_matrix", "dft", "fiedler", "fiedler_companion", "hadamard", "hankel",
    "helmert", "hilbert", "invhilbert", "invpascal", "leslie", "pascal", "toeplitz",
]


def _inexact(*xs):
    """Arrays of one inexact dtype."""
    xs = [_n.asarray(x) for x in xs]
    dtype = _n.result_type(*xs)
    if dtype.kind not in "fcV" and "float" not in dtype.name:
        # Not promoted, which strict promotion forbids.
        dtype = _n.result_type(float)
    xs = [x if x.dtype == dtype else x.astype(dtype) for x in xs]
    return xs[0] if len(xs) == 1 else xs


def block_diag(*arrs):
    """Matrices along a diagonal, zeros elsewhere.

    Args:
      arrs: arrays of at most two axes; vectors are rows. Dtypes are promoted.
    Returns: a matrix with as many rows and columns as all together; `[1, 0]` without arguments.
    Raises:
      ValueError: an array has more than two axes.
      TypeError: an argument is no array or number.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.linalg.block_diag(jnp.ones((1, 2), int), jnp.array([[5], [6]])))
      [[1 1 0]
       [0 0 5]
       [0 0 6]]
    """
    arrs = [_n.atleast_2d(x) for x in (arrs or (_n.zeros((1, 0)),))]
    bad = [i for i, x in enumerate(arrs) if x.ndim > 2]
    if bad:
        raise _user_error(ValueError, f"Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions, got {arrs[bad[0]]} at argument {bad[0]}.")
    dtype = _n.result_type(*arrs)
    columns = [x.shape[1] for x in arrs]
    rows = []
    for i, x in enumerate(arrs):
        rows.append(_n.pad(x.astype(dtype), [(0, 0), (sum(columns[:i]), sum(columns[i + 1 :]))]))
    return _n.concatenate(rows)


def _with_one_batch(*vectors):
    """Vectors in the last axis, repeated over all leading axes."""
    batch = _n.broadcast_shapes(*(x.shape[:-1] for x in vectors))
    return [_n.broadcast_to(x, (*batch, x.shape[-1])) for x in vectors]


def toeplitz(c, r=None):
    """The matrix of first column `c` and first row `r` whose diagonals are constant.

    Args:
      c: the first column `[..., m]`.
      r: the first row `[..., n]`, whose first element is not used; by default the conjugate of `c`.
    Returns: `[..., m, n]` of the promoted dtype.
    Raises:
      TypeError: an argument is no array or number, as lists are.
      ValueError: leading axes do not broadcast.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.linalg.toeplitz(jnp.array([1, 2, 3]), jnp.array([1, 5])))
      [[1 5]
       [2 1]
       [3 2]]
    """
    c = _n.atleast_1d(c)
    r = _n.conj(c) if r is None and _n.iscomplexobj(c) else c if r is None else _n.atleast_1d(r)
    dtype = _n.result_type(c, r)
    m, n = c.shape[-1], r.shape[-1]
    c, r = _with_one_batch(c, r)
    values = _n.concatenate([c[..., ::-1].astype(dtype), r[..., 1:].astype(dtype)], axis=-1)
    return values[..., _np.arange(m)[::-1, None] + _np.arange(n)]


def hankel(c, r=None):
    """The matrix of first column `c` and last row `r` whose antidiagonals are constant.

    Args:
      c: the first column `[..., m]`.
      r: the last row `[..., n]`, whose first element is not used; zeros like `c` by default.
    Returns: `[..., m, n]` of the promoted dtype.
    Raises:
      TypeError: an argument is no array, as lists are.
      ValueError: an argument is a number, or leading axes do not broadcast.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.linalg.hankel(jnp.array([1, 2, 3])))
      [[1 2 3]
       [2 3 0]
       [3 0 0]]
    """
    if _n.ndim(c) == 0 or r is not None and _n.ndim(r) == 0:
        raise _user_error(ValueError, "hankel takes a first column [..., m] and a last row [..., n], got a number")
    c = _n.atleast_1d(c)
    r = _n.zeros_like(c) if r is None else _n.atleast_1d(r)
    dtype = _n.result_type(c, r)
    m, n = c.shape[-1], r.shape[-1]
    c, r = _with_one_batch(c, r)
    values = _n.concatenate([c.astype(dtype), r[..., 1:].astype(dtype)], axis=-1)
    return values[..., _np.arange(m)[:, None] + _np.arange(n)]


def circulant(c):
    """The matrix whose columns are `c`, each one turned one place further.

    Args:
      c: the first column `[..., n]`.
    Returns: `[..., n, n]` of the dtype of `c`.
    Raises:
      TypeError: `c` is no array or number, as lists are.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.linalg.circulant(jnp.array([1, 2, 3])))
      [[1 3 2]
       [2 1 3]
       [3 2 1]]
    """
    c = _n.atleast_1d(c)
    n = c.shape[-1]
    return c[..., (_np.arange(n)[:, None] - _np.arange(n)) % n]


def companion(a):
    """The companion matrix of a polynomial: its eigenvalues are the roots.

    Args:
      a: coefficients `[..., n]`, the highest power first; the first must not be zero. Integers become floating.
    Returns: `[..., n - 1, n - 1]`, with `-a[1:] / a[0]` in the first row and ones below the diagonal.
    Raises:
      ValueError: fewer than two coefficients.
      TypeError: `a` is no array or number, as lists are.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jax.scipy.linalg.companion(jnp.array([2, -6, 4])))
      [[ 3. -2.]
       [ 1.  0.]]
    """
    a = _n.atleast_1d(a)
    if a.shape[-1] < 2:
        raise _user_error(ValueError, "The length of `a` along the last axis must be at least 2.")
    a = _inexact(a)
    row = -a[..., 1:] / a[..., :1]
    n = row.shape[-1]
    below = _n.broadcast_to(_n.eye(n - 1, n, dtype=row.dtype), (*a.shape[:-1], n - 1, n))
    return _n.concatenate([row[..., None, :], below], axis=-2)


def convolution_matrix(a, n, mode="full"):
    """The matrix whose product with a vector of `n` elements is the convolution with `a`.

    Args:
      a: the kernel `[..., m]`.
      n: the length of the vectors, a positive int.
      mode: which part of the convolution: "full", of `m + n - 1` elements, "same", the middle `max(m, n)`, or "valid",
        those of full overlap.
    Returns: `[..., k, n]` of the dtype of `a`, with the number of elements of the mode as `k`.
    Raises:
      ValueError: `a` is empty or a scalar, `n` is not positive, or another mode.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.linalg.convolution_matrix(jnp.array([1, 2]), 2))
      [[1 0]
       [2 1]
       [0 2]]
    """
    a = _n.asarray(a)
    if a.ndim == 0:
        raise _user_error(ValueError, "convolution_matrix: a must be at least 1-dimensional, got a scalar.")
    if n <= 0:
        raise _user_error(ValueError, "n must be a positive integer.")
    if a.shape[-1] == 0:
        raise _user_error(ValueError, "len(a) must be at least 1.")
    if mode not in ("full", "valid", "same"):
        raise _user_error(ValueError, "'mode' argument must be one of ('full', 'valid', 'same')")
    m = a.shape[-1]
    zeros = _n.zeros((*a.shape[:-1], n - 1), a.dtype)
    full = toeplitz(_n.concatenate([a, zeros], axis=-1), _n.concatenate([a[..., :1], zeros], axis=-1))
    if mode == "full":
        return full
    size = max(m, n) if mode == "same" else max(m, n) - min(m, n) + 1
    start = (m + n - 1 - size) // 2 if mode == "same" else min(m, n) - 1
    return full[..., start : start + size, :]


def dft(n, scale=None, *, dtype=None):
    """The matrix of the discrete Fourier transform: `exp(-2πi j k / n)`.

    Args:
      n: its size, an int.
      scale: None, "sqrtn" to divide by the root of `n`, so that it is unitary, or "n" to divide by `n`.
      dtype: the dtype; complex by default, of 64 or 128 bits with x64.
    Returns: `[n, n]`.
    Raises:
      ValueError: another scale.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.linalg.dft(2).real)
      [[ 1.  1.]
       [ 1. -1.]]
    """
    if scale not in (None, "sqrtn", "n"):
        raise _user_error(ValueError, f"scale must be None, 'sqrtn', or 'n'; {scale!r} is not valid.")
    turns = _np.exp(-2j * _np.pi * (_np.outer(_np.arange(n), _np.arange(n)) % n) / n)
    turns = turns / {None: 1, "sqrtn": _math.sqrt(n), "n": n}[scale]
    return _n.asarray(turns).astype(_n.result_type(complex) if dtype is None else dtype)


def fiedler(a):
    """The Fiedler matrix: absolute differences of all pairs of elements.

    Args:
      a: `[..., n]`.
    Returns: `[..., n, n]`; real for complex `a`.
    Raises:
      TypeError: `a` is no array or number, as lists are.
    Differentiable: yes, except where elements are equal, in both modes.
    Example:
      >>> print(jax.scipy.linalg.fiedler(jnp.array([1, 4, 6])))
      [[0 3 5]
       [3 0 2]
       [5 2 0]]
    """
    a = _n.atleast_1d(a)
    return _n.abs(a[..., :, None] - a[..., None, :])


def fiedler_companion(a):
    """A companion matrix with five diagonals of a polynomial: its eigenvalues are the roots.

    M. Fiedler, "A note on companion matrices", 2003.

    Args:
      a: coefficients `[..., n]`, the highest power first; the first must not be zero. Integers become floating.
    Returns: `[..., n - 1, n - 1]`.
    Raises:
      TypeError: `a` is no array or number, as lists are.
    Differentiable: yes, in both modes.
    Example:
      >>> print(jax.scipy.linalg.fiedler_companion(jnp.array([1.0, -6.0, 11.0, -6.0])))
      [[  6. -11.   1.]
       [  1.   0.   0.]
       [  0.   6.   0.]]
    """
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
    """The Hadamard matrix of a power of two: orthogonal rows of 1 and -1, by Sylvester's construction.

    Args:
      n: its size, an int.
      dtype: the dtype; int32, or int64 with x64, by default.
    Returns: `[n, n]`.
    Raises:
      ValueError: `n` is no power of two.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.linalg.hadamard(2))
      [[ 1  1]
       [ 1 -1]]
    """
    if n < 1 or n & (n - 1):
        raise _user_error(ValueError, "n must be a positive integer and a power of 2.")
    out = _np.array([[1]])
    while out.shape[0] < n:
        out = _np.block([[out, out], [out, -out]])
    return _n.asarray(out).astype(dtype)


def helmert(n, full=False):
    """The Helmert matrix: orthonormal rows, of which the first, all equal, is left out unless `full`.

    Args:
      n: its number of columns, a positive int.
      full: whether to keep the first row.
    Returns: floating `[n - 1, n]`, or `[n, n]`.
    Raises:
      ValueError: `n` is not positive.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.linalg.helmert(2).shape)
      (1, 2)
    """
    if n <= 0:
        raise _user_error(ValueError, f"n must be a positive integer; got {n}.")
    rows = _np.tril(_np.ones((n, n)), -1) - _np.diag(_np.arange(n))
    rows[0] = 1
    norms = _np.sqrt(_np.arange(n) * _np.arange(1, n + 1))
    norms[0] = _math.sqrt(n)
    out = _n.asarray((rows / norms[:, None])).astype(_n.result_type(float))
    return out if full else out[1:]


def hilbert(n):
    """The Hilbert matrix `1 / (i + j + 1)`.

    Args:
      n: its size, an int.
    Returns: floating `[n, n]`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.linalg.hilbert(2)[0])
      [1.  0.5]
    """
    places = _np.arange(n)
    return _n.asarray(1.0 / (places[:, None] + places + 1)).astype(_n.result_type(float))


def invhilbert(n):
    """The inverse of the Hilbert matrix, from binomial coefficients, rounded once.

    Args:
      n: its size, an int.
    Returns: floating `[n, n]` of whole numbers.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.linalg.invhilbert(2))
      [[ 4. -6.]
       [-6. 12.]]
    """
    entry = lambda i, j: (  # noqa: E731
        (-1) ** (i + j) * (i + j + 1) * _math.comb(n + i, n - j - 1) * _math.comb(n + j, n - i - 1) * _math.comb(i + j, i) ** 2
    )
    out = _np.array([[float(entry(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)
    return _n.asarray(out).astype(_n.result_type(float))


def pascal(n, kind=None):
    """Pascal's matrix of binomial coefficients.

    Args:
      n: its size, an int.
      kind: "lower" for `comb(i, j)`, "upper" for its transpose, "symmetric", the default, for the product of the two.
    Returns: floating `[n, n]`.
    Raises:
      ValueError: another kind.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.linalg.pascal(3))
      [[1. 1. 1.]
       [1. 2. 3.]
       [1. 3. 6.]]
    """
    if kind is None:
        kind = "symmetric"
    lower = _np.array([[float(_math.comb(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)
    made = {"lower": lower, "upper": lower.T, "symmetric": lower @ lower.T}
    if kind not in made:
        raise _user_error(ValueError, f"Expected kind to be on of 'symmetric', 'lower', 'upper'; got {kind=}")
    return _n.asarray(made[kind]).astype(_n.result_type(float))


def invpascal(n, kind=None):
    """The inverse of `pascal`, from binomial coefficients, rounded once.

    Args:
      n: its size, an int.
      kind: "lower", "upper" or "symmetric", the default: of which matrix.
    Returns: floating `[n, n]` of whole numbers.
    Raises:
      ValueError: another kind.
    Differentiable: no; it takes no arrays.
    Example:
      >>> print(jax.scipy.linalg.invpascal(2))
      [[ 2. -1.]
       [-1.  1.]]
    """
    if kind is None:
        kind = "symmetric"
    lower = _np.array([[float((-1) ** (i + j) * _math.comb(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)
    made = {"lower": lower, "upper": lower.T, "symmetric": lower.T @ lower}
    if kind not in made:
        raise _user_error(ValueError, f"Expected kind to be on of 'symmetric', 'lower', 'upper'; got {kind=}")
    return _n.asarray(made[kind]).astype(_n.result_type(float))


def leslie(f, s):
    """The Leslie matrix of a population: fecundities in the first row, survivals below the diagonal.

    P. H. Leslie, "On the use of matrices in certain population mathematics", 1945.

    Args:
      f: fecundities `[..., n]`.
      s: survivals `[..., n - 1]`.
    Returns: `[..., n, n]` of the promoted dtype.
    Raises:
      ValueError: the lengths do not fit.
      TypeError: an argument is no array or number, as lists are.
    Differentiable: yes, linear.
    Example:
      >>> print(jax.scipy.linalg.leslie(jnp.array([0, 2, 1]), jnp.array([5, 3])))
      [[0 2 1]
       [5 0 0]
       [0 3 0]]
    """
    f, s = _n.atleast_1d(f), _n.atleast_1d(s)
    if f.shape[-1] != s.shape[-1] + 1:
        raise _user_error(ValueError, "The length of f must be equal to the length of s plus 1.")
    dtype = _n.result_type(f, s)
    n = f.shape[-1]
    below = _n.pad(s.astype(dtype)[..., :, None] * _n.eye(n - 1, dtype=dtype), [(0, 0)] * (s.ndim - 1) + [(0, 0), (0, 1)])
    return _n.concatenate([f.astype(dtype)[..., None, :], below], axis=-2)


for _name in __all__:
    globals()[_name].__module__ = "pullback.scipy.linalg"
