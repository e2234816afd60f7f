"""The Schur form of real matrices: blocks of one and two on the diagonal.

It owns the iteration: implicit double shifts on the Hessenberg form (J. G. F. Francis, "The QR transformation", 1961 and
1962; G. H. Golub and C. F. Van Loan, "Matrix Computations", section 7.5), until each block has at most two rows. Blocks of
two with real eigenvalues are split, the others get equal numbers on their diagonal. It is not differentiable.
"""

import numpy as np

import pullback
from pullback import _core, lax

_n, _l = _core.numpy, _core.lax

# Steps for each row before the iteration is given up; two or three are usual.
_STEPS = 30


def _rotated(h, z, start, basis):
    """`h` and `z` in another orthonormal basis of as many neighbouring coordinates as `basis` has rows, from `start` on."""
    size, n, zero = basis.shape[0], h.shape[0], start * 0
    rows = _n.matmul(basis, lax.dynamic_slice(h, (start, zero), (size, n)))
    h = lax.dynamic_update_slice(h, rows, (start, zero))
    columns = _n.matmul(lax.dynamic_slice(h, (zero, start), (n, size)), basis.T)
    h = lax.dynamic_update_slice(h, columns, (zero, start))
    vectors = _n.matmul(lax.dynamic_slice(z, (zero, start), (n, size)), basis.T)
    return h, lax.dynamic_update_slice(z, vectors, (zero, start))


def _reflection(x):
    """The reflection that takes `x` to a multiple of the first coordinate."""
    scale = _n.max(_n.abs(x))
    x = x / _n.where(scale == 0, 1, scale)
    length = _n.sqrt(_n.sum(x * x))
    v = x.at[0].add(_n.where(x[0] < 0, -length, length))
    square = _n.sum(v * v)
    return _n.eye(x.shape[0], dtype=x.dtype) - 2 * _n.outer(v, v) / _n.where(square == 0, 1, square)


def _split_basis(block):
    """The basis in which a block of two is triangular, or has equal numbers on the diagonal if its eigenvalues are complex."""
    (a, b), (c, d) = block
    p = (a - d) / 2
    square = p * p + b * c
    root = p + _n.where(p < 0, -1, 1) * _n.sqrt(_n.maximum(square, 0))
    sigma = b + c
    tau = _n.hypot(sigma, 2 * p)
    # Without a length the block is balanced as it is.
    cosine = _n.where(tau == 0, 1, _n.sqrt((1 + _n.abs(sigma) / _n.where(tau == 0, 1, tau)) / 2))
    sine = -p / _n.where(tau == 0, 1, tau * cosine) * _n.where(sigma < 0, -1, 1)
    length = _n.hypot(root, c)
    is_real, is_safe = square >= 0, length != 0
    safe = _n.where(is_safe, length, 1)
    cosine = _n.where(is_real, _n.where(is_safe, root / safe, 1), cosine)
    sine = _n.where(is_real, _n.where(is_safe, c / safe, 0), sine)
    done = c == 0
    cosine, sine = _n.where(done, 1, cosine), _n.where(done, 0, sine)
    return _n.array([[cosine, sine], [-sine, cosine]]), is_real


def _standardized(h, z, start):
    """The form with the block of two at `start` split or balanced."""
    basis, is_real = _split_basis(lax.dynamic_slice(h, (start, start), (2, 2)))
    h, z = _rotated(h, z, start, basis)
    (a, b), (c, d) = lax.dynamic_slice(h, (start, start), (2, 2))
    mean = (a + d) / 2
    block = _n.array([[_n.where(is_real, a, mean), b], [_n.where(is_real, 0, c), _n.where(is_real, d, mean)]])
    return lax.dynamic_update_slice(h, block, (start, start)), z


def _shifts(h, low, high, count):
    """Sum and product of the two shifts: the eigenvalues of the last block of two, or others when that does not help."""
    (a, b), (c, d) = lax.dynamic_slice(h, (high - 1, high - 1), (2, 2))
    stray = _n.abs(c) + _n.abs(h[high - 1, high - 2])
    is_stray = (count % 10) == 9
    return _n.where(is_stray, 1.5 * stray, a + d), _n.where(is_stray, stray * stray, a * d - b * c)


def _swept(h, z, low, high, count):
    """One step with a double shift on the rows from `low` to `high`, three at least."""
    total, product = _shifts(h, low, high, count)
    corner = lax.dynamic_slice(h, (low, low), (3, 3))
    x = corner[0, 0] * (corner[0, 0] - total) + corner[0, 1] * corner[1, 0] + product
    y = corner[1, 0] * (corner[0, 0] + corner[1, 1] - total)
    first = _n.array([x, y, corner[1, 0] * corner[2, 1]])

    def chase(k, state):
        h, z = state
        column = lax.dynamic_slice(h, (k, _n.maximum(k - 1, 0)), (3, 1))[:, 0]
        return _rotated(h, z, k, _reflection(_n.where(k == low, first, column)))

    h, z = lax.fori_loop(low, high - 1, chase, (h, z))
    last = lax.dynamic_slice(h, (high - 1, high - 2), (2, 1))[:, 0]
    h, z = _rotated(h, z, high - 1, _reflection(last))
    return _n.triu(h, -1), z


def _step(state):
    h, z, high, count = state
    n = h.shape[0]
    below, size = _n.diagonal(h, -1), _n.abs(_n.diagonal(h))
    whole = size[:-1] + size[1:]
    whole = _n.where(whole == 0, _n.max(_n.abs(h)), whole)
    is_split = _n.abs(below) <= np.finfo(h.dtype).eps * whole
    h = h - _n.diag(_n.where(is_split, below, 0), -1)
    starts = _n.concatenate([_n.array([True]), is_split])
    places = _n.arange(n, dtype="int32")
    low = _n.max(_n.where(starts & (places <= high), places, 0)).astype("int32")

    def sweep(h, z):
        return (*_swept(h, z, low, high, count), high, count + 1)

    branches = [lambda h, z: (h, z, high - 1, count * 0), lambda h, z: (*_standardized(h, z, low), high - 2, count * 0)]
    if n > 2:
        branches.append(sweep)
    return lax.switch(_n.minimum(high - low, len(branches) - 1), branches, h, z)


def _of_matrix(a):
    from pullback.scipy.linalg import hessenberg

    n = a.shape[0]
    h, z = hessenberg(a, calc_q=True) if n > 2 else (a, _n.eye(n, dtype=a.dtype))
    if n < 2:
        return h, z
    state = h, z, _n.asarray(n - 1, "int32"), _n.asarray(0, "int32")
    h, z, high, _ = lax.while_loop(lambda state: (state[2] > 0) & (state[3] < _STEPS * n), _step, state)
    failed = _n.where(high > 0, np.nan, 1).astype(a.dtype)
    return h * failed, z * failed


_made = []


def _program():
    """The function, made when it is first asked for."""
    if not _made:
        _made.append(_make_program())
    return _made[0]


def _make_program():
    @pullback.custom_jvp
    def schur(a):
        form = _of_matrix
        for _ in range(a.ndim - 2):
            form = pullback.vmap(form)
        return form(a)

    @schur.defjvp
    def no_derivative(primals, tangents):
        raise NotImplementedError("Differentiation rule for 'schur' not implemented: take the complex form's eigenvalues instead")

    return pullback.jit(schur)


def real_schur(a):
    """The form and its vectors for real matrices [..., n, n]; NaN where the iteration does not end."""
    return _program()(a)
