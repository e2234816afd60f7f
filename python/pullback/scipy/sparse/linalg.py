"""Iterative solvers of linear systems: conjugate gradients, stabilized biconjugate gradients, and GMRES.

It owns the iterations, on flat vectors; that derivatives solve systems of their own is `custom_linear_solve`'s. There is no
sparse format here: a matrix is an array, or a function that applies it.
"""

import operator as _operators
from functools import partial as _partial

import numpy as _np

from pullback import _core, lax
from pullback._core import user_error as _user_error
from pullback.dtypes import finfo as _finfo
from pullback.flatten_util import ravel_pytree as _ravel
from pullback.numpy import linalg as _linalg
from pullback.tree_util import tree_leaves as _leaves
from pullback.tree_util import tree_structure as _structure

__all__ = ["bicgstab", "cg", "gmres"]

_n = _core.numpy


def _operator(A):
    """A matrix or function as a function of trees."""
    if callable(A):
        return A
    if not hasattr(A, "shape"):
        raise _user_error(TypeError, f"linear operator must be either a function or ndarray: {A}")
    if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise _user_error(ValueError, f"linear operator must be a square matrix, but has shape: {tuple(A.shape)}")
    return _partial(_operators.matmul, _n.asarray(A) if isinstance(A, (_np.ndarray, _core.Array)) else A)


def _check_guess(x0, b):
    if _structure(x0) != _structure(b):
        raise _user_error(ValueError, f"x0 and b must have matching tree structure: {_structure(x0)} vs {_structure(b)}")
    shapes = [[_n.shape(leaf) for leaf in _leaves(tree)] for tree in (x0, b)]
    if shapes[0] != shapes[1]:
        raise _user_error(ValueError, f"arrays in x0 and b must have matching shapes: {shapes[0]} vs {shapes[1]}")


def _norm(x):
    return _n.sqrt(_n.real(_n.vdot(x, x)))


def _solved(method, A, b, x0, tol, atol, maxiter, M, symmetric):
    """The solution by `method(apply, b, x0, tolerance, maxiter, precondition)` on flat vectors, with its derivative."""
    apply, precondition = _operator(A), _operator(M) if M is not None else lambda x: x
    x0 = x0 if x0 is not None else _zeros_like(b)
    _check_guess(x0, b)
    flat_b, unravel = _ravel(b)
    flat_x0 = _ravel(x0)[0].astype(flat_b.dtype)
    maxiter = 10 * flat_b.size if maxiter is None else maxiter
    vectors = lambda f: lambda x: _ravel(f(unravel(x)))[0]

    def solve(matvec, b):
        tolerance = _n.maximum(tol * _norm(b), atol)
        return method(matvec, b, flat_x0, tolerance, maxiter, vectors(precondition))

    found = lax.custom_linear_solve(vectors(apply), flat_b, solve, transpose_solve=solve, symmetric=symmetric)
    return unravel(found), None


def _as_weak_as(b, x):
    """`x`, with the weak types of `b`: a Python number leaves the dtype to what it meets."""
    from pullback.tree_util import tree_map

    def alike(b, x):
        convert = _core.find_primitive("convert_element_type")
        return convert.bind(x, new_dtype=x.dtype, weak_type=True, sharding=None) if _n.asarray(b).weak_type else x

    return tree_map(alike, b, x)


def _zeros_like(b):
    from pullback.tree_util import tree_map

    return tree_map(_n.zeros_like, b)


def cg(A, b, x0=None, *, tol=1e-05, atol=0.0, maxiter=None, M=None):
    """The solution of `A x = b` for Hermitian positive definite A, by conjugate gradients.

    After M. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems" (1952), preconditioned.

    Args:
      A: a square matrix, anything else with a shape and `@`, or a function that applies it to trees like `b`.
      b: a tree of arrays.
      x0: where to start, a tree like `b`; zeros by default.
      tol, atol: it ends once the residual's norm is at most `max(tol * norm(b), atol)`.
      maxiter: how many steps at most; ten for each element of `b` by default.
      M: an approximate inverse of A, Hermitian positive definite, as `A` is given.
    Returns: a pair: a tree like `b`, and None.
    Raises:
      TypeError: `A` or `M` is neither a matrix nor a function.
      ValueError: a matrix is not square, or `x0` is not like `b`.
    Differentiable: in `b` and in what `A` closes over, by systems with A again; not in `x0`.
    Example:
      >>> x, _ = jax.scipy.sparse.linalg.cg(jnp.array([[2.0, 0.0], [0.0, 4.0]]), jnp.array([2.0, 2.0]))
      >>> print(x)
      [1.  0.5]
    """
    # The transposed matrix is the conjugated one where numbers are complex.
    is_real = not any(_n.iscomplexobj(leaf) for leaf in _leaves(b))
    return _solved(_cg, A, b, x0, tol, atol, maxiter, M, symmetric=is_real)


def _cg(apply, b, x0, tolerance, maxiter, precondition):
    r = b - apply(x0)
    z = precondition(r)
    rho = _n.vdot(r, z)

    def goes_on(state):
        _, r, _, _, step = state
        return (_norm(r) > tolerance) & (step < maxiter)

    def body(state):
        x, r, p, rho, step = state
        image = apply(p)
        alpha = (rho / _n.vdot(p, image)).astype(x.dtype)
        x, r = x + alpha * p, r - alpha * image
        z = precondition(r)
        rho_next = _n.vdot(r, z)
        return x, r, z + (rho_next / rho).astype(x.dtype) * p, rho_next, step + 1

    return lax.while_loop(goes_on, body, (x0, r, z, rho, 0))[0]


def bicgstab(A, b, x0=None, *, tol=1e-05, atol=0.0, maxiter=None, M=None):
    """The solution of `A x = b`, by stabilized biconjugate gradients.

    After H. van der Vorst, "Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG" (1992), preconditioned from the right.

    Args:
      A: a square matrix, anything else with a shape and `@`, or a function that applies it to trees like `b`.
      b: a tree of arrays.
      x0: where to start, a tree like `b`; zeros by default.
      tol, atol: it ends once the residual's norm is at most `max(tol * norm(b), atol)`.
      maxiter: how many steps at most; ten for each element of `b` by default.
      M: an approximate inverse of A, as `A` is given.
    Returns: a pair: a tree like `b`, and None.
    Raises:
      TypeError: `A` or `M` is neither a matrix nor a function.
      ValueError: a matrix is not square, or `x0` is not like `b`.
    Differentiable: in `b` and in what `A` closes over, by systems with A or its transpose; not in `x0`.
    Example:
      >>> x, _ = jax.scipy.sparse.linalg.bicgstab(jnp.array([[2.0, 1.0], [0.0, 4.0]]), jnp.array([3.0, 4.0]))
      >>> print(x.round(4))
      [1. 1.]
    """
    x, info = _solved(_bicgstab, A, b, x0, tol, atol, maxiter, M, symmetric=False)
    return _as_weak_as(b, x), info


def _bicgstab(apply, b, x0, tolerance, maxiter, precondition):
    r = b - apply(x0)
    shadow = r
    one = _n.ones((), b.dtype)

    def goes_on(state):
        _, r, *_, is_broken, step = state
        return (_norm(r) > tolerance) & (step < maxiter) & ~is_broken

    def body(state):
        x, r, p, image, rho, alpha, omega, _, step = state
        rho_next = _n.vdot(shadow, r)
        beta = rho_next / rho * alpha / omega
        p = r + beta * (p - omega * image)
        toward = precondition(p)
        image = apply(toward)
        alpha = rho_next / _n.vdot(shadow, image)
        half = r - alpha * image
        second = precondition(half)
        moved = apply(second)
        size = _n.vdot(moved, moved)
        omega = _n.where(size == 0, _n.zeros_like(one), _n.vdot(moved, half) / _n.where(size == 0, one, size))
        x, r = x + alpha * toward + omega * second, half - omega * moved
        return x, r, p, image, rho_next, alpha, omega, (omega == 0) | (rho_next == 0), step + 1

    zeros = _n.zeros_like(b)
    start = (x0, r, zeros, zeros, one, one, one, _n.asarray(False), 0)
    return lax.while_loop(goes_on, body, start)[0]


def gmres(A, b, x0=None, *, tol=1e-05, atol=0.0, restart=20, maxiter=None, M=None, solve_method="batched"):
    """The solution of `A x = b` that has the least residual in a space of powers of A, begun anew from time to time.

    After Y. Saad and M. Schultz, "GMRES: a generalized minimal residual algorithm for solving nonsymmetric linear systems"
    (1986), preconditioned from the left.

    Args:
      A: a square matrix, anything else with a shape and `@`, or a function that applies it to trees like `b`.
      b: a tree of arrays.
      x0: where to start, a tree like `b`; zeros by default.
      tol, atol: it ends once the preconditioned residual's norm is at most `max(tol * norm(b), atol)`.
      restart: the dimension of the space, at most the number of elements of `b`.
      maxiter: how many spaces at most; ten for each element of `b` by default.
      M: an approximate inverse of A, as `A` is given.
      solve_method: 'batched' or 'incremental'; both build the whole space here.
    Returns: a pair: a tree like `b`, and -1 if it holds NaN, else 0.
    Raises:
      TypeError: `A` or `M` is neither a matrix nor a function.
      ValueError: a matrix is not square, `x0` is not like `b`, or there is no such method.
    Differentiable: in `b` and in what `A` closes over, by systems with A or its transpose; not in `x0`.
    Example:
      >>> x, _ = jax.scipy.sparse.linalg.gmres(jnp.array([[2.0, 1.0], [0.0, 4.0]]), jnp.array([3.0, 4.0]))
      >>> print(x.round(4))
      [1. 1.]
    """
    if solve_method not in ("batched", "incremental"):
        raise _user_error(ValueError, f"invalid solve_method {solve_method}, must be either 'incremental' or 'batched'")
    method = _partial(_gmres, restart=restart)
    x, _ = _solved(method, A, b, x0, tol, atol, maxiter, M, symmetric=False)
    return _as_weak_as(b, x), _n.where(_n.isnan(_norm(_ravel(x)[0])), -1, 0)


def _gmres(apply, b, x0, tolerance, maxiter, precondition, restart):
    size = min(restart, b.size)
    residual = lambda x: precondition(b - apply(x))

    def goes_on(state):
        _, r, step = state
        return (_norm(r) > tolerance) & (step < maxiter)

    def body(state):
        x, r, step = state
        length = _norm(r).astype(b.dtype)
        basis, image = _krylov(lambda v: precondition(apply(v)), r / _n.where(length == 0, 1, length), size)
        goal = _n.zeros(size + 1, b.dtype).at[0].set(length)
        weights = _linalg.lstsq(image, goal)[0]
        x = x + basis[:, :size] @ weights
        return x, residual(x), step + 1

    return lax.while_loop(goes_on, body, (x0, residual(x0), 0))[0]


def _krylov(apply, first, size):
    """An orthonormal basis of the powers of a matrix on a vector, and the matrix in it (Arnoldi's process)."""
    basis = _n.zeros((first.size, size + 1), first.dtype).at[:, 0].set(first)
    image = _n.zeros((size + 1, size), first.dtype)
    tiny = float(_finfo(first.dtype).eps)

    def step(k, state):
        basis, image = state
        v = apply(basis[:, k])
        whole = _norm(v)
        parts = basis.conj().T @ v
        v = v - basis @ parts
        # Once more, as the first time leaves what was rounded off.
        rest = basis.conj().T @ v
        v, parts = v - basis @ rest, parts + rest
        left = _norm(v)
        # What is left of a vector of the space is rounding: the basis ends there.
        ends = left <= tiny * whole
        left = _n.where(ends, 0, left).astype(first.dtype)
        v = _n.where(ends, 0, v / _n.where(ends, 1, left))
        return basis.at[:, k + 1].set(v), image.at[:, k].set(parts).at[k + 1, k].set(left)

    return lax.fori_loop(0, size, step, (basis, image))


for _name in __all__:
    globals()[_name].__module__ = "pullback.scipy.sparse.linalg"
