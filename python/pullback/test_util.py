"""Derivatives checked against differences."""

import numpy as _np

from pullback import tree_util as _tree_util

# Default tolerances by the width of the element type, in bits.
_TOLERANCE = {16: 1e-1, 32: 1e-2, 64: 1e-5}


def _bits(tree):
    from pullback import dtypes, typeof

    types = [typeof(leaf).dtype for leaf in _tree_util.tree_leaves(tree)]
    return min((dtypes.finfo(dtype).bits for dtype in types if dtypes.issubdtype(dtype, _np.inexact)), default=32)


def _tolerances(tree, atol, rtol):
    default = _TOLERANCE[_bits(tree)]
    return tuple(default if given is None else _of_dtypes(tree, given) for given in (atol, rtol))


def _of_dtypes(tree, given):
    """A tolerance as a number: of a dict from dtypes to numbers the greatest for the leaves' types, those that it does not
    name having their default."""
    from pullback import dtypes, typeof

    if not isinstance(given, dict):
        return given
    given = {_np.dtype(dtype): tolerance for dtype, tolerance in given.items()}
    found = {typeof(leaf).dtype for leaf in _tree_util.tree_leaves(tree)}
    floating = [dtype for dtype in found if dtypes.issubdtype(dtype, _np.inexact)]
    return max((given.get(dtype, _TOLERANCE[dtypes.finfo(dtype).bits]) for dtype in floating), default=_TOLERANCE[_bits(tree)])


def _random_like(random, tree):
    """Normal numbers in the structure of a tree, of the tangents' element types."""
    from pullback import dtypes

    def draw(leaf):
        leaf = _np.asarray(leaf)
        if not dtypes.issubdtype(leaf.dtype, _np.inexact):
            return _np.zeros(leaf.shape, dtypes.float0)
        values = random.normal(size=leaf.shape)
        if dtypes.issubdtype(leaf.dtype, _np.complexfloating):
            values = values + 1j * random.normal(size=leaf.shape)
        return values.astype(leaf.dtype)

    return _tree_util.tree_map(draw, tree)


def _moved(args, tangents, scale):
    from pullback import dtypes

    def move(x, t):
        x = _np.asarray(x)
        return x if t.dtype == dtypes.float0 else (x + _np.asarray(scale, t.dtype) * t).astype(x.dtype)

    return _tree_util.tree_map(move, args, tangents)


def _difference(fun, args, tangents, eps):
    """The central difference of `fun` in the direction of the tangents."""
    after, before = fun(*_moved(args, tangents, eps / 2)), fun(*_moved(args, tangents, -eps / 2))
    return _tree_util.tree_map(lambda a, b: (_np.asarray(a, _np.result_type(a, _np.float64)) - _np.asarray(b)) / eps, after, before)


def _inner(x, y):
    """The sum of products of two trees' leaves, conjugating nothing."""
    from pullback import dtypes

    def dot(a, b):
        a, b = _np.asarray(a), _np.asarray(b)
        if dtypes.float0 in (a.dtype, b.dtype):
            return 0.0
        wide = _np.result_type(_np.float64, a.dtype) if a.dtype.kind == "c" else _np.float64
        return _np.sum(a.astype(wide) * b.astype(wide)).real

    leaves = _tree_util.tree_leaves(_tree_util.tree_map(dot, x, y))
    return _np.float64(sum(leaves))


def _assert_close(found, wanted, atol, rtol, message):
    for a, b in zip(_tree_util.tree_leaves(found), _tree_util.tree_leaves(wanted)):
        a, b = _np.asarray(a), _np.asarray(b)
        if a.dtype.names or a.dtype.kind == "V":
            continue
        _np.testing.assert_allclose(a.astype(_np.result_type(b, _np.float64)), b, atol=atol, rtol=rtol, err_msg=message)


def check_jvp(f, f_jvp, args, atol=None, rtol=None, eps=None, err_msg=""):
    """Checks a forward derivative against a central difference in a random direction.

    Args:
      f: a function of trees of arrays.
      f_jvp: `(primals, tangents) -> (out, tangent)`.
      args: where, a tuple.
      atol, rtol: tolerances: numbers, or dicts from dtypes to numbers; by default those of the narrowest float type among
        the arguments.
      eps: the step; by default a hundredth of that type's tolerance, at least 1e-4.
      err_msg: what the error's text begins with.
    Returns: None.
    Raises:
      AssertionError: values or derivatives differ.
    Differentiable: no; values are compared.
    Example:
      >>> jax.test_util.check_jvp(jnp.sin, lambda primals, tangents: jax.jvp(jnp.sin, primals, tangents), (1.0,))
    """
    atol, rtol = _tolerances(args, atol, rtol)
    eps = eps or max(1e-4, 1e-2 * _TOLERANCE[_bits(args)])
    tangents = _random_like(_np.random.default_rng(0), args)
    out, tangent = f_jvp(args, tangents)
    message = f"{err_msg} in JVP"
    _assert_close(out, f(*args), atol, rtol, f"{message} primal")
    _assert_close(tangent, _difference(f, args, tangents, eps), atol, rtol, f"{message} tangent")


def check_vjp(f, f_vjp, args, atol=None, rtol=None, eps=None, err_msg=""):
    """Checks a reverse derivative: its pairing with a random direction is that of the difference with the cotangent.

    Args:
      f: a function of trees of arrays.
      f_vjp: `(*args) -> (out, pull_back)`.
      args: where, a tuple.
      atol, rtol, eps, err_msg: as in `check_jvp`.
    Returns: None.
    Raises:
      AssertionError: values or derivatives differ.
    Differentiable: no; values are compared.
    Example:
      >>> jax.test_util.check_vjp(jnp.sin, lambda x: jax.vjp(jnp.sin, x), (1.0,))
    """
    atol, rtol = _tolerances(args, atol, rtol)
    eps = eps or max(1e-4, 1e-2 * _TOLERANCE[_bits(args)])
    random = _np.random.default_rng(0)
    tangents = _random_like(random, args)
    out, vjp = f_vjp(*args)
    _assert_close(out, f(*args), atol, rtol, f"{err_msg} in VJP primal")
    ct = _random_like(random, out)
    pulled = vjp(ct)
    moved = _difference(f, args, tangents, eps)
    _assert_close(_inner(tangents, pulled), _inner(moved, ct), atol, rtol, f"{err_msg} in VJP cotangent projection")


def check_grads(f, args, order, modes=("fwd", "rev"), atol=None, rtol=None, eps=None):
    """Checks derivatives of a function up to an order against differences.

    Args:
      f: a function of trees of floats.
      args: where, a tuple.
      order: up to which order; derivatives of derivatives are checked by the same means.
      modes: "fwd", "rev" or both.
      atol, rtol, eps: as in `check_jvp`.
    Returns: None.
    Raises:
      AssertionError: a derivative differs.
    Differentiable: no; values are compared.
    Example:
      >>> jax.test_util.check_grads(jnp.sin, (1.0,), order=2)
    """
    import pullback

    args = tuple(args)

    def check_forward(f, args, order):
        jvp = lambda primals, tangents: pullback.jvp(f, tuple(primals), tuple(tangents))
        check_jvp(f, jvp, args, atol, rtol, eps, f"order {order}")
        if order > 1:
            tangents = _random_like(_np.random.default_rng(order), args)
            check(lambda *args: jvp(args, tangents), args, order - 1)

    def check_reverse(f, args, order):
        check_vjp(f, lambda *args: pullback.vjp(f, *args), args, atol, rtol, eps, f"order {order}")
        if order > 1:
            ct = _random_like(_np.random.default_rng(order), _tree_util.tree_map(_np.asarray, f(*args)))
            check(lambda *args: pullback.vjp(f, *args)[1](ct), args, order - 1)

    def check(f, args, order):
        if "fwd" in modes:
            check_forward(f, args, order)
        if "rev" in modes:
            check_reverse(f, args, order)

    check(f, args, order)


__all__ = ["check_grads", "check_jvp", "check_vjp"]
