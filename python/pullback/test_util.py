"""Derivatives checked against differences."""

import functools as _functools

import numpy as _np

from pullback import tree_util as _tree_util

# The reference's step, and its tolerances by element type; those of other types are 0.
_STEP = 1e-4
_TOLERANCE = {
    "bfloat16": 1e-1, "float16": 1e-2, "float32": 2e-3, "float64": 1e-5, "complex64": 1e-3, "complex128": 1e-5,
    "float8_e3m4": 1e-1, "float8_e4m3": 1e-1, "float8_e4m3b11fnuz": 1e-1, "float8_e4m3fn": 1e-1, "float8_e4m3fnuz": 1e-1,
    "float8_e5m2": 1e-1, "float8_e5m2fnuz": 1e-1, "float8_e8m0fnu": 1.0, "float4_e2m1fn": 1.0,
}  # fmt: skip


def _tolerance(dtype, given):
    """The tolerance of an element type: a number holds for all, a dict for those that it names."""
    if isinstance(given, dict):
        given = {_np.dtype(one).name: tolerance for one, tolerance in given.items()}.get(dtype.name)
    return _TOLERANCE.get(dtype.name, 0) if given is None else given


def _random_like(random, tree):
    """Normal numbers in the structure of a tree, of the tangents' element types."""
    from pullback import dtypes

    def draw(leaf):
        dtype = dtypes.dtype(leaf)
        shape = _np.shape(leaf)
        if not dtypes.issubdtype(dtype, _np.inexact):
            return _np.zeros(shape, dtypes.float0)
        values = random.randn(*shape)
        if dtypes.issubdtype(dtype, _np.complexfloating):
            values = values + 1j * random.randn(*shape)
        return _np.asarray(values, dtype)

    return _tree_util.tree_map(draw, tree)


def _moved(args, tangents, scale):
    from pullback import dtypes

    def move(x, t):
        if t.dtype == dtypes.float0:
            return x
        return _np.asarray(_np.asarray(x) + _np.asarray(scale, t.dtype) * t, t.dtype)

    return _tree_util.tree_map(move, args, tangents)


def _difference(fun, args, tangents, eps):
    """The central difference of `fun` in the direction of the tangents."""
    from pullback import dtypes

    def slope(after, before):
        dtype = dtypes.dtype(after)
        if not dtypes.issubdtype(dtype, _np.inexact):
            return _np.zeros(_np.shape(after), dtypes.float0)
        after, before = _np.asarray(after), _np.asarray(before)
        return _np.asarray(_np.asarray(0.5 / eps, dtype) * (after - before), dtype)

    return _tree_util.tree_map(slope, fun(*_moved(args, tangents, eps)), fun(*_moved(args, tangents, -eps)))


def _inner(x, y):
    """The real part of the sum of products of two trees' leaves, those of the first conjugated."""
    from pullback import dtypes

    def dot(a, b):
        a, b = _np.asarray(a), _np.asarray(b)
        if dtypes.float0 in (a.dtype, b.dtype):
            return _np.float32(0)
        return _np.real(_np.dot(_np.conj(a).reshape(-1), b.reshape(-1)))

    return sum(_tree_util.tree_leaves(_tree_util.tree_map(dot, x, y)), _np.float32(0))


def _assert_close(found, wanted, atol, rtol, message):
    from pullback import dtypes

    def check(a, b):
        a, b = _np.asarray(a), _np.asarray(b)
        assert a.shape == b.shape, f"{message}: shapes {a.shape} and {b.shape}"
        if dtypes.float0 in (a.dtype, b.dtype):
            return
        absolute, relative = (max(_tolerance(a.dtype, one), _tolerance(b.dtype, one)) for one in (atol, rtol))
        wide = _np.complex128 if dtypes.issubdtype(a.dtype, _np.complexfloating) else _np.float64
        _np.testing.assert_allclose(a.astype(wide), b.astype(wide), atol=absolute, rtol=relative, err_msg=message)

    _tree_util.tree_map(check, found, wanted)


def check_jvp(f, f_jvp, args, atol=None, rtol=None, eps=None, err_msg=""):
    """Checks a forward derivative against a central difference in a random direction.

    Args:
      f: a function of trees of arrays.
      f_jvp: `(primals, tangents) -> (out, tangent)`.
      args: where, a tuple.
      atol, rtol: tolerances: numbers, or dicts from dtypes to numbers; by default 2e-3 for float32, 1e-5 for float64, 1e-2 for
        float16, 1e-1 for bfloat16.
      eps: the step; by default 1e-4.
      err_msg: what the error's text begins with.
    Returns: None.
    Raises:
      AssertionError: values or derivatives differ.
    Differentiable: no; values are compared.
    Example:
      >>> jax.test_util.check_jvp(jnp.sin, lambda primals, tangents: jax.jvp(jnp.sin, primals, tangents), (1.0,))
    """
    tangents = _random_like(_np.random.RandomState(0), args)
    out, tangent = f_jvp(args, tangents)
    message = err_msg or "JVP"
    _assert_close(out, f(*args), atol, rtol, f"{message} primal")
    _assert_close(tangent, _difference(f, args, tangents, eps or _STEP), atol, rtol, f"{message} tangent")


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
    random = _np.random.RandomState(0)
    out, vjp = f_vjp(*args)
    message = err_msg or "VJP"
    _assert_close(out, f(*args), atol, rtol, f"{message} primal")
    tangents = _random_like(random, args)
    moved = _difference(f, args, tangents, eps or _STEP)
    ct = _random_like(random, out)
    pulled = vjp(_tree_util.tree_map(_conjugated, ct))
    _assert_close(_inner(tangents, pulled), _inner(moved, ct), atol, rtol, f"{message} cotangent projection")


def _conjugated(x):
    return _np.conj(x) if x.dtype.kind == "c" else x


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

    def check(f, args, order, name=""):
        def pulled_back(*args):
            """The result itself, pulled back: a function with the derivative's derivatives."""
            out, vjp = pullback.vjp(f, *args)
            return vjp(out)

        of = f" of {name}" if name else ""
        if "fwd" in modes:
            jvp = _functools.partial(pullback.jvp, f)
            check_jvp(f, jvp, args, atol, rtol, eps, f"JVP{of}")
            if order > 1:
                check(jvp, (args, args), order - 1, f"JVP{of}")
        if "rev" in modes:
            check_vjp(f, _functools.partial(pullback.vjp, f), args, atol, rtol, eps, f"VJP{of}")
            if order > 1:
                check(pulled_back, args, order - 1, f"VJP{of}")

    check(f, tuple(args), order)


__all__ = ["check_grads", "check_jvp", "check_vjp"]
