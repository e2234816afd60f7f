"""Derivatives with respect to sparse arrays: with respect to what they store, with the same indices."""

import functools as _functools

import pullback as _pullback
from pullback import numpy as _jnp
from pullback._core import user_error as _user_error
from pullback.experimental.sparse._base import JAXSparse as _JAXSparse
from pullback.experimental.sparse.bcoo import BCOO as _BCOO, _whole
from pullback.tree_util import tree_flatten as _tree_flatten, tree_map as _tree_map, tree_unflatten as _tree_unflatten


def _is_sparse(x):
    return isinstance(x, _JAXSparse)


def _data_of(tree):
    """A tree with the data in place of each sparse array."""
    return _tree_map(lambda x: x.data if _is_sparse(x) else x, tree, is_leaf=_is_sparse)


def _with_data(tree, data):
    """A tree of sparse arrays with other data."""
    leaves, structure = _tree_flatten(tree, is_leaf=_is_sparse)
    parts = [_filled(leaf, part) if _is_sparse(leaf) else part for leaf, part in zip(leaves, structure.flatten_up_to(data))]
    return _tree_unflatten(structure, parts)


def _filled(sparse, data):
    (_, *indices), info = sparse.tree_flatten()
    return type(sparse).tree_unflatten(info, (data, *indices))


def _over_data(fun, argnums):
    """The function of data, and of all arguments their data, for a transformation with `argnums`."""
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def split(args):
        numbers = [number % len(args) for number in chosen]

        def of_data(*data, **kwargs):
            return fun(*(_with_data(args[i], x) if i in numbers else x for i, x in enumerate(data)), **kwargs)

        return of_data, [_data_of(arg) if i in numbers else arg for i, arg in enumerate(args)], numbers

    return split


def _in_place(args, numbers, argnums, found, build):
    found = (found,) if isinstance(argnums, int) else found
    made = tuple(build(args[number], part) for number, part in zip(numbers, found))
    return made[0] if isinstance(argnums, int) else made


def value_and_grad(fun, argnums=0, has_aux=False, **kwargs):
    """As `jax.value_and_grad`, for functions of sparse arrays; the gradients with respect to them are sparse.

    Args:
      fun: a function of sparse and dense arrays with a scalar result.
      argnums: a position or several.
      has_aux: whether the function gives a pair of the scalar and something else.
      kwargs: further options of `jax.value_and_grad`.
    Returns: a function that gives the value and the gradients.
    Differentiable: as `fun` is.
    Example:
      >>> from pullback.experimental import sparse
      >>> value, slope = sparse.value_and_grad(lambda a: (a @ jnp.ones(2)).sum())(sparse.eye(2))
      >>> slope.data
      Array([1., 1.], dtype=float32)
    """
    split = _over_data(fun, argnums)

    @_functools.wraps(fun)
    def value_and_grad_f(*args, **keywords):
        of_data, data, numbers = split(args)
        value, found = _pullback.value_and_grad(of_data, argnums=argnums, has_aux=has_aux, **kwargs)(*data, **keywords)
        return value, _in_place(args, numbers, argnums, found, _with_data)

    return value_and_grad_f


def grad(fun, argnums=0, has_aux=False, **kwargs):
    """As `jax.grad`, for functions of sparse arrays; the gradients with respect to them are sparse.

    Args:
      fun: a function of sparse and dense arrays with a scalar result.
      argnums: a position or several.
      has_aux: whether the function gives a pair of the scalar and something else.
      kwargs: further options of `jax.grad`.
    Returns: a function that gives the gradients.
    Differentiable: as `fun` is.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.grad(lambda a: (a @ jnp.ones(2)).sum())(sparse.eye(2))
      BCOO(float32[2, 2], nse=2)
    """
    both = value_and_grad(fun, argnums=argnums, has_aux=has_aux, **kwargs)

    @_functools.wraps(fun)
    def grad_f(*args, **keywords):
        value, found = both(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return grad_f


def _jacobian_of(primal, part, n_out):
    """The derivatives of one array with respect to a sparse one: a batch of sparse arrays with its indices."""
    if not _is_sparse(primal):
        return part
    if not isinstance(primal, _BCOO):
        raise _user_error(NotImplementedError, f"Jacobians with respect to {type(primal).__name__}; use BCOO")
    indices = _whole(primal)[1]
    lead = part.shape[:n_out]
    indices = _jnp.broadcast_to(indices, (*lead, *indices.shape))
    return _BCOO((part, indices), shape=(*lead, *primal.shape))


def _jacobian(transform, fun, argnums, has_aux, options):
    split = _over_data(fun, argnums)

    @_functools.wraps(fun)
    def jacobian_f(*args, **keywords):
        of_data, data, numbers = split(args)
        shape = _pullback.eval_shape(of_data, *data, **keywords)
        outs, structure = _tree_flatten(shape[0] if has_aux else shape, is_leaf=_is_sparse)
        if any(map(_is_sparse, outs)):
            raise _user_error(NotImplementedError, "Jacobians of functions with sparse results; use sparse.todense on them")
        found = transform(of_data, argnums=argnums, has_aux=has_aux, **options)(*data, **keywords)
        found, aux = found if has_aux else (found, None)
        parts = []
        for out, part in zip(outs, structure.flatten_up_to(found)):
            build = lambda primal, x, n=len(out.shape): _map_sparse(primal, x, n)  # noqa: E731
            parts.append(_in_place(args, numbers, argnums, part, build))
        result = _tree_unflatten(structure, parts)
        return (result, aux) if has_aux else result

    return jacobian_f


def _map_sparse(primal, part, n_out):
    leaves, structure = _tree_flatten(primal, is_leaf=_is_sparse)
    return _tree_unflatten(structure, [_jacobian_of(leaf, x, n_out) for leaf, x in zip(leaves, structure.flatten_up_to(part))])


def jacfwd(fun, argnums=0, has_aux=False, **kwargs):
    """As `jax.jacfwd`, for functions of sparse arrays with dense results; the derivatives with respect to them are sparse.

    Args:
      fun: a function of sparse and dense arrays.
      argnums: a position or several.
      has_aux: whether the function gives a pair of the result and something else.
      kwargs: further options of `jax.jacfwd`.
    Returns: a function that gives the derivatives: of a `BCOO`, one with the axes of the result in front, as those of a batch.
    Differentiable: as `fun` is.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.jacfwd(lambda a: a @ jnp.ones(2))(sparse.eye(2))
      BCOO(float32[2, 2, 2], nse=2, n_batch=1)
    """
    return _jacobian(_pullback.jacfwd, fun, argnums, has_aux, kwargs)


def jacrev(fun, argnums=0, has_aux=False, **kwargs):
    """As `jax.jacrev`, for functions of sparse arrays with dense results; the derivatives with respect to them are sparse.

    Args:
      fun: a function of sparse and dense arrays.
      argnums: a position or several.
      has_aux: whether the function gives a pair of the result and something else.
      kwargs: further options of `jax.jacrev`.
    Returns: a function that gives the derivatives: of a `BCOO`, one with the axes of the result in front, as those of a batch.
    Differentiable: as `fun` is.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.jacrev(lambda a: a @ jnp.ones(2))(sparse.eye(2))
      BCOO(float32[2, 2, 2], nse=2, n_batch=1)
    """
    return _jacobian(_pullback.jacrev, fun, argnums, has_aux, kwargs)


jacobian = jacrev
