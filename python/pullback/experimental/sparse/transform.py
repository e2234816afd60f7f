"""Functions of dense arrays as functions of sparse ones: their jaxprs, with each operation done sparsely."""

import functools as _functools

from pullback import _core, lax as _lax, numpy as _jnp
from pullback._api import make_jaxpr as _make_jaxpr
from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback._shape_dtype_struct import ShapeDtypeStruct as _ShapeDtypeStruct
from pullback.core import Literal as _Literal
from pullback.experimental.sparse import bcoo as _bcoo, bcoo_products as _products, bcoo_shapes as _shapes
from pullback.experimental.sparse._base import JAXSparse as _JAXSparse
from pullback.experimental.sparse.bcoo import BCOO as _BCOO
from pullback.experimental.sparse.bcsr import BCSR as _BCSR
from pullback.tree_util import tree_flatten as _tree_flatten, tree_map as _tree_map, tree_unflatten as _tree_unflatten


def _is_sparse(x):
    return isinstance(x, _JAXSparse)


def _stand_in(x):
    return _ShapeDtypeStruct(x.shape, x.dtype) if _is_sparse(x) else x


def sparsify(f, use_tracer=False):
    """A function of dense arrays as one of sparse and dense arrays.

    What stays sparse comes out sparse. Values in loops and branches may be sparse.

    Args:
      f: a function of trees of arrays.
      use_tracer: must be False: functions are traced as a whole.
    Returns: a function with the signature of `f` that takes `BCOO` and `BCSR` in place of arrays.
    Raises:
      NotImplementedError: when called: an operation has no sparse form, or would give a dense result. When made: `use_tracer`.
    Differentiable: as the operations are, in data and dense arrays.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.sparsify(jnp.sin)(sparse.eye(2))
      BCOO(float32[2, 2], nse=2)
    """
    if use_tracer:
        raise _user_error(NotImplementedError, "sparsify(use_tracer=True): traces defined in Python are not supported")

    @_functools.wraps(f)
    def wrapped(*args, **kwargs):
        leaves, tree = _tree_flatten((args, kwargs), is_leaf=_is_sparse)
        stand_ins = [_stand_in(leaf) for leaf in leaves]

        def flat(*leaves):
            args, kwargs = _tree_unflatten(tree, leaves)
            return f(*args, **kwargs)

        jaxpr, shape = _make_jaxpr(flat, return_shape=True)(*stand_ins)
        out_tree = _tree_flatten(shape)[1]
        return _tree_unflatten(out_tree, _evaluate(jaxpr, [x if _is_sparse(x) else _jnp.asarray(x) for x in leaves]))

    return wrapped


def _evaluate(jaxpr, args):
    """The results of a jaxpr for sparse and dense values."""
    values = dict(zip(jaxpr.constvars, jaxpr.consts))
    values.update(zip(jaxpr.invars, args))
    read = lambda atom: atom.val if isinstance(atom, _Literal) else values[atom]  # noqa: E731
    for eqn in jaxpr.eqns:
        operands = [read(atom) for atom in eqn.invars]
        name = eqn.primitive.name
        if name in _CALLS:
            out = _CALLS[name](eqn, *operands)
        elif any(map(_is_sparse, operands)):
            out = _sparse(name, operands, eqn.params)
        else:
            functions, params = eqn.primitive.get_bind_params(eqn.params)
            out = eqn.primitive.bind(*functions, *operands, **params)
        values.update(zip(eqn.outvars, list(out) if eqn.primitive.multiple_results else [out]))
    return [read(atom) for atom in jaxpr.outvars]


_DENSE = "would result in dense output. If this is your intent, use sparse.todense() to convert your arguments to"


def _sparse(name, operands, params):
    if any(isinstance(x, _BCSR) for x in operands):
        if name in _BCSR_RULES and isinstance(operands[0], _BCSR) and not any(map(_is_sparse, operands[1:])):
            return _BCSR_RULES[name](*operands, **params)
        operands = [x.to_bcoo() if isinstance(x, _BCSR) else x for x in operands]
    if not all(isinstance(x, _BCOO) for x in operands if _is_sparse(x)):
        kinds = [type(x).__name__ for x in operands]
        raise _user_error(NotImplementedError, f"sparse rule for {name} is not implemented for {kinds}; use BCOO")
    rule = _RULES.get(name)
    if rule is None:
        raise _user_error(NotImplementedError, f"sparse rule for {name} is not implemented because it {_DENSE} dense matrices.")
    return rule(*operands, **params)


# Functions of one element that are zero at zero: those that are linear may see an element in parts.
_LINEAR = ("neg", "copy", "real", "imag", "conj", "convert_element_type", "reduce_precision")
_ZERO_AT_ZERO = (
    "abs", "sign", "sin", "tan", "asin", "asinh", "sinh", "atan", "atanh", "tanh", "sqrt", "cbrt", "expm1", "log1p", "floor", "ceil",
    "round", "erf", "erf_inv", "square",
)  # fmt: skip


def _elementwise(name):
    def rule(x, **params):
        x = x if name in _LINEAR or x.unique_indices else _bcoo.bcoo_sum_duplicates(x, nse=x.nse)
        if name == "convert_element_type":
            return x._with_data(x.data.astype(params["new_dtype"]))
        return x._with_data(_core.find_primitive(name).bind(x.data, **params))

    return rule


def _integer_pow(x, *, y):
    if y <= 0:
        text = f"sparse rule for integer_pow with non-positive exponent {y} is not implemented because it {_DENSE} a dense array."
        raise _user_error(NotImplementedError, text.replace("arguments to a", "argument to a"))
    x = x if x.unique_indices else _bcoo.bcoo_sum_duplicates(x, nse=x.nse)
    return x._with_data(_lax.integer_pow(x.data, y))


def _added(x, y, sign):
    if _is_sparse(x) and _is_sparse(y):
        if x.shape != y.shape:
            raise _user_error(NotImplementedError, "Addition between sparse matrices of different shapes.")
        if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
            y = _bcoo.bcoo_update_layout(y, n_batch=x.n_batch, n_dense=x.n_dense)
        (a, i), (b, j) = _bcoo._whole(x), _bcoo._whole(y)
        join = lambda p, q: _jnp.concatenate([p, q.astype(p.dtype)], x.n_batch)  # noqa: E731
        return _BCOO((join(a, b if sign > 0 else -b), join(i, j)), shape=x.shape)
    sparse, dense = (x, y) if _is_sparse(x) else (y, x)
    if _jnp.shape(dense) != sparse.shape:
        raise _user_error(
            NotImplementedError,
            "Addition between a sparse array X and a dense array Y is not implemented when the output shape is larger than Y.shape. "
            "This is to prevent silent densification of a large sparse array. If this is your intent, you can explicitly cast the "
            "sparse array to a dense matrix.",
        )
    x, y = (z.todense() if _is_sparse(z) else z for z in (x, y))
    return x + y if sign > 0 else x - y


def _mul(x, y):
    if _is_sparse(x) and _is_sparse(y):
        return _products.bcoo_multiply_sparse(x, y)
    sparse, dense = (x, y) if _is_sparse(x) else (y, x)
    data, indices = _bcoo.bcoo_multiply_dense(sparse, dense), sparse.indices
    if _jnp.ndim(dense):
        indices = _bcoo._whole(sparse)[1]
    return sparse._with(data, indices, indices_sorted=sparse.indices_sorted, unique_indices=sparse.unique_indices)


def _div(x, y):
    if _is_sparse(y):
        text = "Division by a sparse array is not implemented because it would result in dense output. If this is your intent, use sparse.todense() to convert your arguments to a dense array."
        raise _user_error(NotImplementedError, text)
    return _mul(x, 1.0 / y) if _jnp.ndim(y) else x._with_data(x.data / y)


def _dot_general(x, y, *, dimension_numbers, preferred_element_type=None, **_):
    return _bcoo.bcoo_dot_general(x, y, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type)


def _reduce_sum(x, *, axes, **_):
    out = _shapes.bcoo_reduce_sum(x, axes=axes)
    # A sum over all axes is one number.
    return out.todense() if not out.shape else out


def _dynamic_slice(x, *starts, slice_sizes):
    return _shapes.bcoo_dynamic_slice(x, starts, slice_sizes)


def _concatenate(*operands, dimension):
    if not all(map(_is_sparse, operands)):
        raise _user_error(NotImplementedError, "concatenate of sparse and dense arrays")
    return _shapes.bcoo_concatenate(operands, dimension=dimension)


_RULES = {
    **{name: _elementwise(name) for name in (*_LINEAR, *_ZERO_AT_ZERO)},
    "integer_pow": _integer_pow,
    "add": lambda x, y: _added(x, y, 1),
    "add_any": lambda x, y: _added(x, y, 1),
    "sub": lambda x, y: _added(x, y, -1),
    "mul": _mul,
    "div": _div,
    "dot_general": _dot_general,
    "reduce_sum": _reduce_sum,
    "transpose": lambda x, *, permutation: _bcoo.bcoo_transpose(x, permutation=permutation),
    "reshape": lambda x, *, new_sizes, dimensions=None, **_: _shapes.bcoo_reshape(x, new_sizes=new_sizes, dimensions=dimensions),
    "squeeze": lambda x, *, dimensions: _shapes.bcoo_squeeze(x, dimensions=dimensions),
    "broadcast_in_dim": lambda x, *, shape, broadcast_dimensions, **_: _shapes.bcoo_broadcast_in_dim(
        x, shape=shape, broadcast_dimensions=broadcast_dimensions
    ),
    "slice": lambda x, *, start_indices, limit_indices, strides: _shapes.bcoo_slice(
        x, start_indices=start_indices, limit_indices=limit_indices, strides=strides
    ),
    "dynamic_slice": _dynamic_slice,
    "concatenate": _concatenate,
    "rev": lambda x, *, dimensions: _shapes.bcoo_rev(x, dimensions),
}


def _bcsr_elementwise(name):
    rule = _elementwise(name)

    def of_rows(x, **params):
        out = rule(x.to_bcoo(), **params)
        if name in _LINEAR or x.unique_indices:
            return _BCSR((out.data, x.indices, x.indptr), shape=x.shape, indices_sorted=x.indices_sorted, unique_indices=x.unique_indices)
        return _BCSR.from_bcoo(out)

    return of_rows


def _bcsr_dot(x, y, *, dimension_numbers, preferred_element_type=None, **_):
    from pullback.experimental.sparse.bcsr import bcsr_dot_general

    return bcsr_dot_general(x, y, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type)


_BCSR_RULES = {**{name: _bcsr_elementwise(name) for name in (*_LINEAR, *_ZERO_AT_ZERO)}, "dot_general": _bcsr_dot}


# Operations that hold jaxprs


def _call_jit(eqn, *operands):
    if not any(map(_is_sparse, operands)):
        return eqn.primitive.bind(*operands, **eqn.params)
    return _jit(lambda *args: _evaluate(eqn.params["jaxpr"], args))(*operands)


def _call_custom(eqn, *operands):
    if not any(map(_is_sparse, operands)):
        functions, params = eqn.primitive.get_bind_params(eqn.params)
        return eqn.primitive.bind(*functions, *operands, **params)
    # The function itself: its derivative follows from what it does sparsely.
    jaxpr = eqn.params.get("call_jaxpr", eqn.params.get("fun_jaxpr"))
    return _evaluate(jaxpr, operands)


def _call_cond(eqn, index, *operands):
    branches = [lambda *args, jaxpr=jaxpr: _loose(_evaluate(jaxpr, args)) for jaxpr in eqn.params["branches"]]
    return _lax.switch(index, branches, *operands)


def _call_while(eqn, *operands):
    p = eqn.params
    n_cond, n_body = p["cond_nconsts"], p["body_nconsts"]
    cond_consts, body_consts, carry = operands[:n_cond], operands[n_cond : n_cond + n_body], operands[n_cond + n_body :]
    is_on = lambda carry: _evaluate(p["cond_jaxpr"], [*cond_consts, *carry])[0]  # noqa: E731
    return _lax.while_loop(is_on, lambda carry: _loose(_evaluate(p["body_jaxpr"], [*body_consts, *carry])), _loose(carry))


def _call_scan(eqn, *operands):
    p = eqn.params
    n_consts, n_carry = _scan_counts(eqn)
    consts, carry, xs = operands[:n_consts], operands[n_consts : n_consts + n_carry], operands[n_consts + n_carry :]
    if any(map(_is_sparse, xs)):
        xs = [_by_steps(x) if _is_sparse(x) else x for x in xs]

    def step(carry, xs):
        out = _evaluate(p["jaxpr"], [*consts, *carry, *(_of_step(x) if _is_sparse(x) else x for x in xs)])
        return _loose(out[:n_carry]), [_as_step(y) if _is_sparse(y) else y for y in out[n_carry:]]

    carry, ys = _lax.scan(step, _loose(carry), list(xs), length=p["length"], reverse=p["reverse"], unroll=p["unroll"])
    return [*carry, *(_from_steps(y, p["length"]) if _is_sparse(y) else y for y in ys)]


def _scan_counts(eqn):
    """How many operands stay the same in each step, and how many are carried."""
    consts, carry, _ = eqn.params["ft_in"]
    return len(consts), len(carry)


def _loose(values):
    """Values whose structure does not say how their indices lie, which may change from step to step."""
    return [x._with(*_bcoo._whole(x)) if isinstance(x, _BCOO) else x for x in values]


def _by_steps(x):
    if not x.n_batch:
        raise _user_error(NotImplementedError, "scan over a sparse array whose first axis is not one of a batch; see BCOO.update_layout")
    return x._with(*_bcoo._whole(x), unique_indices=x.unique_indices, indices_sorted=x.indices_sorted)


def _of_step(x):
    # `lax.scan` has taken a step's buffers; the shape follows.
    return x._with(shape=x.shape[1:], unique_indices=x.unique_indices, indices_sorted=x.indices_sorted)


def _as_step(y):
    return y._with(shape=(1, *y.shape), unique_indices=y.unique_indices, indices_sorted=y.indices_sorted)


def _from_steps(y, length):
    return y._with(shape=(length, *y.shape[1:]), unique_indices=y.unique_indices, indices_sorted=y.indices_sorted)


_CALLS = {
    "jit": _call_jit, "cond": _call_cond, "while": _call_while, "scan": _call_scan, "custom_jvp_call": _call_custom,
    "custom_vjp_call": _call_custom,
}  # fmt: skip


def todense(arr):
    """A sparse array as a dense one; a dense one as it is.

    Args:
      arr: a sparse array, or an array.
    Returns: an array.
    Differentiable: yes, linear in the data.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.todense(sparse.eye(2)).tolist()
      [[1.0, 0.0], [0.0, 1.0]]
    """
    return arr.todense() if _is_sparse(arr) else _tree_map(_jnp.asarray, arr)
