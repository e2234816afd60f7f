"""Functions of `numpy` that are compositions of others or concern dtypes only."""

import numpy as _np

from pullback import _core

_n = _core.numpy

__all__ = [
    "array_equiv", "argwhere", "can_cast", "compress", "choose", "diag_indices", "diag_indices_from", "dsplit", "ediff1d", "extract", 
    "fromfunction", "gradient", "isrealobj", "issubdtype", "ix_", "mask_indices", 
    "nanargmax", "nanargmin", "outer", "piecewise", "promote_types", "ravel_multi_index", "resize",
    "rollaxis", "sort_complex", "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from",
    "unravel_index", "block", 
    "gcd", "lcm", 
    "matvec", "vecmat", 
]
array_equiv, dsplit, outer = _n.array_equiv, _n.dsplit, _n.outer


def _of(function):
    function.__module__ = "pullback.numpy"
    return function


@_of
def promote_types(a, b):
    """The dtype to which two dtypes promote."""
    return _n.result_type(a, b)


@_of
def can_cast(from_, to, casting="safe"):
    """Whether a dtype can be cast to another by NumPy's rules."""
    return _np.can_cast(from_, to, casting=casting)


@_of
def issubdtype(arg1, arg2):
    """Whether a dtype is a kind of another."""
    from pullback import dtypes

    return dtypes.issubdtype(arg1, arg2)


@_of
def isrealobj(x):
    """Whether the dtype is not complex."""
    return not _n.iscomplexobj(x)


@_of
def argwhere(a, *, size=None, fill_value=None):
    """Positions of the nonzero elements as rows."""
    found = _n.nonzero(_n.atleast_1d(a), size=size, fill_value=fill_value)
    out = _n.transpose(_n.vstack(found))
    return out[:0].reshape(out.shape[0], 0) if _n.ndim(a) == 0 else out


@_of
def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    """Slices of an axis where a condition holds."""
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.compress is not supported.")
    if axis is None:
        a, axis = _n.ravel(a), 0
    (places,) = _n.nonzero(condition, size=size, fill_value=_n.shape(a)[axis])
    return _n.take(a, places, axis=axis, fill_value=fill_value)


@_of
def extract(condition, arr, *, size=None, fill_value=0):
    """Elements where a condition holds."""
    return compress(_n.ravel(condition), _n.ravel(arr), size=size, fill_value=fill_value)


@_of
def diag_indices(n, ndim=2):
    """Positions of the main diagonal."""
    if n < 0:
        raise ValueError(f"n argument to diag_indices must be nonnegative, got {n}")
    if ndim < 0:
        raise ValueError(f"ndim argument to diag_indices must be nonnegative, got {ndim}")
    return (_n.arange(n),) * ndim


@_of
def diag_indices_from(arr):
    """Positions of the main diagonal of an array with axes of equal size.

    Args:
      arr: an array of at least two axes.
    Returns: a tuple of equal vectors, one for each axis.
    Raises:
      ValueError: fewer axes, or unequal ones.

    >>> import pullback.numpy as jnp
    >>> [print(i) for i in jnp.diag_indices_from(jnp.ones((2, 2)))]
    [0 1]
    [0 1]
    [None, None]
    """
    shape = _n.shape(arr)
    if not len(shape) >= 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(shape[0], ndim=len(shape))


@_of
def choose(a, choices, out=None, mode="raise"):
    """For each index the element of the choice with that number.

    Args:
      a: integers.
      choices: arrays, or one whose slices are the choices; they broadcast with `a`.
      out: must be None.
      mode: what happens to other indices: 'raise' (of concrete arrays), 'wrap' or 'clip'.
    Raises:
      ValueError: an index out of bounds in mode 'raise', or another mode; TypeError: indices that are no integers.
      ConcretizationTypeError: traced indices in mode 'raise'.
    Differentiable in `choices`.

    >>> import pullback.numpy as jnp
    >>> print(jnp.choose(jnp.array([1, 0]), [jnp.array([5, 6]), jnp.array([7, 8])]))
    [7 6]
    """
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.choose is not supported.")
    if mode == "raise":
        from pullback.core import concrete_or_error

        known = concrete_or_error(_np.asarray, a, "the indices of jnp.choose in mode 'raise'; mode='wrap' and mode='clip' take traced ones.")
        if known.dtype.kind in "iu" and ((known < 0) | (known >= len(choices))).any():
            raise ValueError("invalid entry in choice array")
        mode = "clip"
    return _n.choose(a, choices, mode=mode)


@_of
def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours in the flat array."""
    out = _n.diff(_n.ravel(ary))
    parts = [part for part in (to_begin, out, to_end) if part is not None]
    return _n.concatenate([_n.ravel(part) for part in parts]).astype(out.dtype) if len(parts) > 1 else out


@_of
def fromfunction(function, shape, *, dtype=float, **kwargs):
    """The array of a function of positions."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    grid = [_n.broadcast_to(_n.expand_dims(_n.arange(size, dtype=dtype), [j for j in range(len(shape)) if j != i]), shape)
            for i, size in enumerate(shape)]
    return function(*grid, **kwargs)


@_of
def gradient(f, *varargs, axis=None, edge_order=None):
    """Differences at each element: central inside, one-sided at the ends."""
    if edge_order is not None:
        raise NotImplementedError("The 'edge_order' argument to jnp.gradient is not supported.")
    f = _n.asarray(f)
    if not issubdtype(f.dtype, _np.inexact):
        f = f.astype(_n.result_type(f, float))
    axes = range(f.ndim) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [a % f.ndim for a in axes]
    spacings = list(varargs) if len(varargs) > 1 else list(varargs or [1.0]) * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("Invalid number of spacing arguments for the gradient function")
    out = [_gradient_along(f, a, h) for a, h in zip(axes, spacings)]
    return out[0] if len(out) == 1 else out


def _gradient_along(f, axis, h):
    f = _n.moveaxis(f, axis, 0)
    if f.shape[0] < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least 2 elements are required.")
    if _n.ndim(h) == 0:
        inner = (f[2:] - f[:-2]) * 0.5
        out = _n.concatenate([f[1:2] - f[:1], inner, f[-1:] - f[-2:-1]]) / h
    else:
        steps = _n.reshape(_n.diff(_n.asarray(h)), (-1,) + (1,) * (f.ndim - 1))
        before, after = steps[:-1], steps[1:]
        inner = (
            -after / (before * (before + after)) * f[:-2] + (after - before) / (before * after) * f[1:-1]
            + before / (after * (before + after)) * f[2:]
        )
        out = _n.concatenate([(f[1:2] - f[:1]) / steps[:1], inner, (f[-1:] - f[-2:-1]) / steps[-1:]])
    return _n.moveaxis(out, 0, axis)


@_of
def ix_(*args):
    """Index arrays that form a grid."""
    n = len(args)
    out = []
    for i, arg in enumerate(args):
        arg = _n.asarray(arg)
        if arg.ndim != 1:
            raise ValueError(f"Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {arg.shape}")
        if arg.dtype == bool:
            raise NotImplementedError("Boolean arguments to jax.numpy.ix_ are not implemented")
        out.append(_n.reshape(arg, (1,) * i + (-1,) + (1,) * (n - i - 1)))
    return tuple(out)


@_of
def mask_indices(n, mask_func, k=0, *, size=None):
    """Positions that a mask of an n by n matrix keeps."""
    return _n.nonzero(mask_func(_n.ones((n, n)), k), size=size)


def _nan_position(name, position, fill):
    def function(a, axis=None, out=None, keepdims=None):
        if out is not None:
            raise NotImplementedError(f"The 'out' argument to jnp.{name} is not supported.")
        if not issubdtype(_n.result_type(a), _np.inexact):
            return position(a, axis=axis, keepdims=keepdims)
        is_nan = _n.isnan(a)
        found = position(_n.where(is_nan, fill, a), axis=axis, keepdims=keepdims)
        return _n.where(_n.all(is_nan, axis=axis, keepdims=bool(keepdims)), -1, found)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "As the function without `nan`, but for NaNs; -1 where all are NaN."
    return _of(function)


nanargmax = _nan_position("nanargmax", _n.argmax, -_np.inf)
nanargmin = _nan_position("nanargmin", _n.argmin, _np.inf)


@_of
def piecewise(x, condlist, funclist, *args, **kw):
    """For each element the function whose condition holds; one more function than conditions is the default, else 0.

    Args:
      x: an array.
      condlist: conditions: a sequence of arrays that broadcast to `x`, or an array of them.
      funclist: functions of `x` and the other arguments, or numbers.
      args, kw: passed on to the functions.
    Raises:
      ValueError: another number of functions.
    Differentiable as the functions are.

    >>> import pullback.numpy as jnp
    >>> x = jnp.array([-2.0, 3.0])
    >>> print(jnp.piecewise(x, [x < 0], [lambda v: -v, lambda v: v * 10]))
    [ 2. 30.]
    """
    n, functions = len(condlist), list(funclist)
    if len(functions) == n:
        functions = functions + [0]
    elif len(functions) != n + 1:
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected; got {len(functions)}")
    x = _n.asarray(x)
    conditions = [_n.broadcast_to(_n.asarray(c, dtype=bool), x.shape) for c in condlist]
    values = [_n.broadcast_to(_n.asarray(f(x, *args, **kw) if callable(f) else f).astype(x.dtype), x.shape) for f in functions]
    return _n.select(conditions, values[:-1], values[-1])


@_of
def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None):
    """Positions in the flat array of coordinates."""
    dims = tuple(dims)
    index = [_n.asarray(i) for i in multi_index]
    if len(index) != len(dims):
        raise ValueError(f"len(multi_index)={len(index)} != len(dims)={len(dims)}")
    if mode == "raise":
        for i, size in zip(index, dims):
            if bool(_n.any((i < 0) | (i >= size))):
                raise ValueError("invalid entry in coordinates array")
    elif mode == "clip":
        index = [_n.clip(i, 0, size - 1) for i, size in zip(index, dims)]
    elif mode == "wrap":
        index = [i % size for i, size in zip(index, dims)]
    else:
        raise ValueError(f"invalid mode={mode!r}. Expected 'raise', 'wrap', or 'clip'")
    if order not in ("C", "F"):
        raise ValueError(f"invalid order={order!r}. Expected 'C' or 'F'")
    strides = _np.cumprod((1, *dims[:0:-1]))[::-1] if order == "C" else _np.cumprod((1, *dims[:-1]))
    total = 0
    for i, stride in zip(index, strides):
        total = total + i * int(stride)
    return _n.asarray(total, dtype=dtype)


@_of
def unravel_index(indices, shape):
    """Coordinates of positions in the flat array."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    flat = _n.asarray(indices)
    total = int(_np.prod(shape))
    flat = _n.clip(flat, -total, total - 1)
    flat = _n.where(flat < 0, flat + total, flat)
    out = []
    for size in reversed(shape):
        out.append(flat % size)
        flat = flat // size
    return tuple(reversed(out))


@_of
def resize(a, new_shape):
    """The elements, repeated as often as needed, in a new shape."""
    new_shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    if any(size < 0 for size in new_shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat = _n.ravel(a)
    size = int(_np.prod(new_shape))
    if flat.size == 0 or size == 0:
        return _n.zeros(new_shape, flat.dtype)
    return _n.reshape(_n.tile(flat, -(-size // flat.size))[:size], new_shape)


@_of
def rollaxis(a, axis, start=0):
    """An axis moved before another."""
    a = _n.asarray(a)
    axis = _axis(axis, a.ndim)
    start = _axis(start, a.ndim) if start < a.ndim else start
    return _n.moveaxis(a, axis, start - (axis < start))


def _axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


@_of
def sort_complex(a):
    """The elements in order as complex numbers."""
    out = _n.sort(a, axis=0)
    return out.astype(_n.result_type(out.dtype, complex))


@_of
def tril_indices(n, k=0, m=None):
    """Positions on and below a diagonal."""
    return tuple(_n.asarray(i) for i in _np.tril_indices(n, k, m))


@_of
def triu_indices(n, k=0, m=None):
    """Positions on and above a diagonal."""
    return tuple(_n.asarray(i) for i in _np.triu_indices(n, k, m))


def _check_matrix(arr):
    if len(_n.shape(arr)) != 2:
        raise ValueError("Only 2-D inputs are accepted")
    return _n.shape(arr)


@_of
def tril_indices_from(arr, k=0):
    """Positions on and below a diagonal of a matrix."""
    n, m = _check_matrix(arr)
    return tril_indices(n, k, m)


@_of
def triu_indices_from(arr, k=0):
    """Positions on and above a diagonal of a matrix."""
    n, m = _check_matrix(arr)
    return triu_indices(n, k, m)


@_of
def block(arrays):
    """Nested lists of arrays joined to one: the innermost along the last axis, the next along the one before.

    Args:
      arrays: an array, or lists of such of one depth.
    Raises:
      ValueError: tuples, empty lists, or lists of different depth.
    Differentiable.

    >>> import pullback.numpy as jnp
    >>> print(jnp.block([[jnp.ones((1, 1)), jnp.zeros((1, 1))]]))
    [[1. 0.]]
    """
    levels = _depth(arrays)
    ndim = max(levels, _greatest_rank(arrays))

    def join(part, level):
        if not isinstance(part, list):
            x = _n.asarray(part)
            return _n.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
        return _n.concatenate([join(item, level + 1) for item in part], axis=level - levels)

    return join(arrays, 0)


def _depth(part):
    if isinstance(part, tuple):
        raise ValueError(f"jax.numpy.block does not allow tuples, got {part}")
    if not isinstance(part, list):
        return 0
    depths = {_depth(item) for item in part}
    if not depths:
        raise ValueError("jax.numpy.block does not allow empty list arguments")
    if len(depths) > 1:
        raise ValueError("Mismatched list depths in jax.numpy.block")
    return 1 + depths.pop()


def _greatest_rank(part):
    return max(map(_greatest_rank, part)) if isinstance(part, list) else _n.ndim(part)


def _integers(name, *xs):
    if not all(issubdtype(_n.result_type(x), _np.integer) or _n.result_type(x) == bool for x in xs):
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers.")
    dtype = _n.result_type(*xs)
    return [_n.abs(x) for x in _n.broadcast_arrays(*(_n.asarray(x, dtype) for x in xs))]


@_of
def gcd(x1, x2):
    """The greatest common divisor of integers."""
    from pullback import lax

    def step(pair):
        a, b = pair
        is_done = b == 0
        return _n.where(is_done, a, b), _n.where(is_done, 0, a % _n.where(is_done, 1, b))

    a, b = _integers("gcd", x1, x2)
    return lax.while_loop(lambda pair: _n.any(pair[1] != 0), step, (a, b))[0]


@_of
def lcm(x1, x2):
    """The least common multiple of integers."""
    a, b = _integers("lcm", x1, x2)
    d = gcd(a, b)
    return _n.where(d == 0, 0, a // _n.where(d == 0, 1, d) * b)


@_of
def matvec(x1, x2, /):
    """Products of matrices and vectors."""
    return _n.matmul(x1, _n.expand_dims(x2, -1))[..., 0]


@_of
def vecmat(x1, x2, /):
    """Products of vectors, conjugated, and matrices."""
    return _n.matmul(_n.expand_dims(_n.conj(x1), -2), x2)[..., 0, :]
