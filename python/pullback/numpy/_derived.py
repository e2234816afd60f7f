"""Functions of `numpy` that are compositions of others or concern dtypes only."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._jit import jit as _jit

_n = _core.numpy

__all__ = [
    "array_equiv", "argwhere", "can_cast", "compress", "choose", "diag_indices", "diag_indices_from", "dsplit", "ediff1d", "extract", 
    "fromfunction", "gradient", "iscomplexobj", "isrealobj", "issubdtype", "ix_", "mask_indices", 
    "nanargmax", "nanargmin", "outer", "piecewise", "promote_types", "resize",
    "rollaxis", "sort_complex", "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from",
    "block",
    "gcd", "lcm", 
    "matvec", "vecmat", 
]
array_equiv, dsplit, outer = _n.array_equiv, _n.dsplit, _n.outer


def _of(function):
    function.__module__ = "pullback.numpy"
    return function


@_of
def promote_types(a, b):
    """The dtype to which two dtypes promote by JAX's lattice.

    Args:
      a, b: dtypes or their names; the Python types `int`, `float` and `complex` are weak.
    Returns: a `numpy.dtype`.
    Raises:
      TypeError: an argument that is no dtype.
      TypePromotionError: dtypes that do not promote, such as two of 8-bit floats; it is a ValueError.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.promote_types(jnp.int32, jnp.bfloat16)
      dtype(bfloat16)
    """
    return _n.result_type(a, b)


@_of
def can_cast(from_, to, casting="safe"):
    """Whether a dtype can be cast to another by NumPy's rules.

    Args:
      from_: a dtype or its name.
      to: a dtype or its name.
      casting: what is allowed: 'safe' (the default; no value is lost), 'no', 'equiv', 'same_kind' or 'unsafe'.
    Returns: a bool.
    Raises:
      TypeError: an argument that is no dtype.
      ValueError: another `casting`.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.can_cast("int32", "int64"), jnp.can_cast("float32", "int32")
      (True, False)
    """
    return _np.can_cast(from_, to, casting=casting)


@_of
def issubdtype(arg1, arg2):
    """Whether a dtype is a kind of another: NumPy's hierarchy, with bfloat16 and the 8-bit floats as floating ones.

    Args:
      arg1: a dtype, or a class of the hierarchy such as `jnp.integer`.
      arg2: a dtype or a class of the hierarchy.
    Returns: a bool.
    Raises:
      TypeError: an argument that is no dtype.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.issubdtype(jnp.bfloat16, jnp.floating), jnp.issubdtype(jnp.int32, jnp.inexact)
      (True, False)
    """
    from pullback import dtypes

    return dtypes.issubdtype(arg1, arg2)


@_of
def iscomplexobj(x):
    """Whether the dtype of a value is complex, whatever its elements are.

    Args:
      x: an array or number, a nested list of such, a scalar type such as `jnp.float32`, or another object with a dtype;
        None and strings are real.
    Returns: a bool.
    Raises:
      TypeError: another object.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.iscomplexobj(jnp.array([1 + 0j])), jnp.iscomplexobj(1.0), jnp.iscomplexobj([1, 2j])
      (True, False, True)
    """
    if isinstance(x, (list, tuple)):
        return any(map(iscomplexobj, x))
    if x is None or isinstance(x, str):
        return False
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    if kind is None:
        (x,) = _n._promote("iscomplexobj", x)
        kind = x.dtype.kind
    return kind == "c"


@_of
def isrealobj(x):
    """Whether the dtype of a value is not complex, whatever its elements are.

    Args:
      x: as for `iscomplexobj`.
    Returns: a bool.
    Differentiable: no; the result is no array.
    Example:
      >>> jnp.isrealobj(jnp.array([1 + 0j])), jnp.isrealobj(1.0)
      (False, True)
    """
    return not iscomplexobj(x)


@_of
def argwhere(a, *, size=None, fill_value=None):
    """The positions of the elements that differ from 0, as rows.

    Args:
      a: an array or number; concrete unless `size` is given.
      size: how many rows to give: more are cut off, missing ones are filled up.
      fill_value: the position that fills up: an integer, or a tuple with one for each axis; 0 by default.
    Returns: integers `[count, number of axes]`.
    Raises:
      TypeError: `a` is neither an array nor a number (lists are refused).
      ConcretizationTypeError: a traced `a` without `size`.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.argwhere(jnp.array([[0, 5], [7, 0]])))
      [[0 1]
       [1 0]]
    """
    found = _n.nonzero(_n.atleast_1d(a), size=size, fill_value=fill_value)
    out = _n.transpose(_n.vstack(found))
    return out[:0].reshape(out.shape[0], 0) if _n.ndim(a) == 0 else out


@_of
def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    """The slices of an axis where a condition holds.

    Args:
      condition: a vector of booleans; concrete unless `size` is given.
      a: an array.
      axis: the axis; None (the default) takes the flat array.
      size: how many slices to give: more are cut off, missing ones are filled up.
      fill_value: what fills up; 0 by default.
      out: for compatibility; must be None.
    Returns: an array of the dtype of `a`.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: a traced condition without `size`.
      ValueError: the condition is no vector, or holds beyond the axis; a `size` that is not from 1 to that of the axis.
      NotImplementedError: `out` is given.
    Differentiable: yes, in both modes, with respect to `a`.
    Example:
      >>> print(jnp.compress(jnp.array([True, False, True]), jnp.array([5, 6, 7])))
      [5 7]
    """
    if out is not None:
        raise _user_error(NotImplementedError, "The 'out' argument to jnp.compress is not supported.")
    if axis is None:
        a, axis = _n.ravel(a), 0
    n, (condition,) = _n.shape(a)[axis], _n._promote("compress", condition)
    if condition.ndim != 1:
        raise _user_error(ValueError, "condition must be a 1D array")
    shared = min(n, condition.shape[0])
    if size is not None and not 0 < size <= shared:
        raise _user_error(
            ValueError, f"size must be positive and not greater than the size of the array axis; got size={size} for a.shape[axis]={shared}"
        )
    if _core.is_concrete(condition) and _np.asarray(condition[shared:]).any():
        raise _user_error(ValueError, "condition contains entries that are out of bounds")
    (places,) = _n.nonzero(condition[:shared], size=size, fill_value=n)
    return _n.take(a, places, axis=axis, fill_value=fill_value)


@_of
def extract(condition, arr, *, size=None, fill_value=0):
    """The elements of a flat array where a condition holds.

    Args:
      condition: booleans, taken as flat; concrete unless `size` is given.
      arr: an array, taken as flat.
      size: how many elements to give: more are cut off, missing ones are filled up.
      fill_value: what fills up; 0 by default.
    Returns: a vector of the dtype of `arr`.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ConcretizationTypeError: a traced condition without `size`.
    Differentiable: yes, in both modes, with respect to `arr`.
    Example:
      >>> x = jnp.arange(6)
      >>> print(jnp.extract(x % 2 == 0, x))
      [0 2 4]
    """
    return compress(_n.ravel(condition), _n.ravel(arr), size=size, fill_value=fill_value)


@_of
def diag_indices(n, ndim=2):
    """The positions of the main diagonal of an array with axes of size `n`.

    Args:
      n: the size.
      ndim: the number of axes; 2 by default.
    Returns: a tuple of `ndim` vectors `[n]`.
    Raises:
      ValueError: a negative number.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.diag_indices(3)
      >>> print(rows, columns)
      [0 1 2] [0 1 2]
    """
    if n < 0:
        raise _user_error(ValueError, f"n argument to diag_indices must be nonnegative, got {n}")
    if ndim < 0:
        raise _user_error(ValueError, f"ndim argument to diag_indices must be nonnegative, got {ndim}")
    return (_n.arange(n),) * ndim


@_of
def diag_indices_from(arr):
    """The positions of the main diagonal of an array with axes of equal size.

    Args:
      arr: an array of at least two axes.
    Returns: a tuple of equal vectors, one for each axis.
    Raises:
      ValueError: fewer axes, or unequal ones.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.diag_indices_from(jnp.ones((2, 2)))
      >>> print(rows, columns)
      [0 1] [0 1]
    """
    shape = _n.shape(arr)
    if not len(shape) >= 2:
        raise _user_error(ValueError, "input array must be at least 2-d")
    if len(set(shape)) != 1:
        raise _user_error(ValueError, "All dimensions of input must be of equal length")
    return diag_indices(shape[0], ndim=len(shape))


@_of
def choose(a, choices, out=None, mode="raise"):
    """For each index the element of the choice with that number.

    Args:
      a: integers.
      choices: a sequence of arrays, or one array whose slices are the choices; they broadcast with `a`.
      out: for compatibility; must be None.
      mode: what other indices do: 'raise' (the default; concrete ones only) raises, 'clip' takes the nearest
        choice, 'wrap' that of the index modulo their number.
    Returns: an array of the broadcast shape and the promoted dtype of the choices.
    Raises:
      ValueError: indices that are no integers, one out of bounds in mode 'raise', shapes that do not broadcast, or another mode.
      ConcretizationTypeError: traced indices in mode 'raise'.
      NotImplementedError: `out` is given.
    Differentiable: yes, in both modes, with respect to `choices`.
    Example:
      >>> print(jnp.choose(jnp.array([1, 0]), [jnp.array([5, 6]), jnp.array([7, 8])]))
      [7 6]
    """
    if out is not None:
        raise _user_error(NotImplementedError, "The 'out' argument to jnp.choose is not supported.")
    if mode == "raise":
        from pullback.core import concrete_or_error

        known = concrete_or_error(_np.asarray, a, "the indices of jnp.choose in mode 'raise'; mode='wrap' and mode='clip' take traced ones.")
        if known.dtype.kind in "iu" and ((known < 0) | (known >= len(choices))).any():
            raise _user_error(ValueError, "invalid entry in choice array")
        mode = "clip"
    return _n.choose(a, choices, mode=mode)


@_of
def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours in the flat array.

    Args:
      ary: an array.
      to_end, to_begin: elements to go behind and before the differences, converted to their dtype; none by default.
    Returns: a vector, one shorter than `ary` without additions.
    Raises:
      TypeError: `ary` is neither an array nor a number (lists are refused).
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.ediff1d(jnp.array([1, 4, 9]), to_begin=jnp.array([0])))
      [0 3 5]
    """
    out = _n.diff(_n.ravel(ary))
    parts = [part for part in (to_begin, out, to_end) if part is not None]
    return _n.concatenate([_n.ravel(part) for part in parts]).astype(out.dtype) if len(parts) > 1 else out


@_of
def fromfunction(function, shape, *, dtype=float, **kwargs):
    """The array of a function of positions: it is called once, with the coordinate arrays of a grid.

    Args:
      function: a function of as many arrays as the grid has axes.
      shape: the sizes of the axes of the grid: an integer or a tuple.
      dtype: the dtype of the coordinates; the default float by default.
      kwargs: passed on to the function.
    Returns: what the function gives.
    Differentiable: as the function is.
    Example:
      >>> print(jnp.fromfunction(lambda i, j: 10 * i + j, (2, 3), dtype=int))
      [[ 0  1  2]
       [10 11 12]]
    """
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    grid = [_n.broadcast_to(_n.expand_dims(_n.arange(size, dtype=dtype), [j for j in range(len(shape)) if j != i]), shape)
            for i, size in enumerate(shape)]
    return function(*grid, **kwargs)


@_of
def gradient(f, *varargs, axis=None, edge_order=None):
    """The derivative along axes by differences: central inside, one-sided at the ends, both exact for straight lines.
    With uneven coordinates the inside ones are those of the parabola through three points.

    Args:
      f: the values, an array; integers become floating.
      varargs: for each axis the distance of the points, or the vector of their coordinates; one for all, 1 by
        default.
      axis: the axis or axes; None (the default) for all.
      edge_order: for compatibility; must be None.
    Returns: an array of the shape of `f`, or a list with one for each axis.
    Raises:
      ValueError: an axis of fewer than two elements, or out of bounds.
      TypeError: another number of distances than axes.
      NotImplementedError: `edge_order` is given.
    Differentiable: yes, in both modes, with respect to `f` and the distances.
    Example:
      >>> print(jnp.gradient(jnp.array([1.0, 4.0, 9.0, 16.0])))
      [3. 4. 6. 7.]
    """
    if edge_order is not None:
        raise _user_error(NotImplementedError, "The 'edge_order' argument to jnp.gradient is not supported.")
    (f,) = _n._promote_inexact("gradient", f)
    axes = range(f.ndim) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [_axis(a, f.ndim) for a in axes]
    spacings = list(varargs) if len(varargs) > 1 else list(varargs or [1.0]) * len(axes)
    if len(spacings) != len(axes):
        raise _user_error(TypeError, "Invalid number of spacing arguments for the gradient function")
    out = [_gradient_along(f, a, h) for a, h in zip(axes, spacings)]
    return out[0] if len(out) == 1 else out


def _gradient_along(f, axis, h):
    f = _n.moveaxis(f, axis, 0)
    if f.shape[0] < 2:
        raise _user_error(ValueError, "Shape of array too small to calculate a numerical gradient, at least 2 elements are required.")
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
    """Index arrays that form an open grid: `a[ix_(rows, columns)]` is the part of `a` in these rows and columns.

    Args:
      args: vectors of integers.
    Returns: a tuple of arrays; the i-th one has its elements along axis i and size 1 along the others.
    Raises:
      ValueError: an argument is no vector.
      NotImplementedError: booleans.
    Differentiable: no; indices are integers.
    Example:
      >>> a = jnp.arange(9).reshape(3, 3)
      >>> print(a[jnp.ix_(jnp.array([0, 2]), jnp.array([1, 2]))])
      [[1 2]
       [7 8]]
    """
    n = len(args)
    out = []
    for i, arg in enumerate(args):
        arg = _n.asarray(arg)
        if arg.ndim != 1:
            raise _user_error(ValueError, f"Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {arg.shape}")
        if arg.dtype == bool:
            raise _user_error(NotImplementedError, "Boolean arguments to jax.numpy.ix_ are not implemented")
        out.append(_n.reshape(arg, (1,) * i + (-1,) + (1,) * (n - i - 1)))
    return tuple(out)


@_of
def mask_indices(n, mask_func, k=0, *, size=None):
    """The positions that a mask of an n by n matrix keeps.

    Args:
      n: the number of rows and columns.
      mask_func: a function of a matrix and `k` whose result differs from 0 where a position is kept, such as
        `jnp.triu`.
      k: passed on to `mask_func`; 0 by default.
      size: how many positions to give, as for `nonzero`.
    Returns: the pair of row and column positions, vectors of integers.
    Raises:
      ConcretizationTypeError: a traced mask without `size`.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.mask_indices(2, jnp.triu)
      >>> print(rows, columns)
      [0 0 1] [0 1 1]
    """
    return _n.nonzero(mask_func(_n.ones((n, n)), k), size=size)


def _nan_position(name, position, fill, a, axis, out, keepdims):
    """The position in an array whose NaNs `fill` takes the place of; -1 where all are NaN."""
    if out is not None:
        raise _user_error(NotImplementedError, f"The 'out' argument to jnp.{name} is not supported.")
    (a,) = _n._promote(name, a)
    if not issubdtype(a.dtype, _np.inexact):
        return position(a, axis=axis, keepdims=keepdims)
    is_nan = _n.isnan(a)
    found = position(_n.where(is_nan, fill, a), axis=axis, keepdims=keepdims)
    return _n.where(_n.all(is_nan, axis=axis, keepdims=bool(keepdims)), -1, found)


@_of
def nanargmax(a, axis=None, out=None, keepdims=None):
    """The position of the first greatest element that is not NaN; -1 where all are NaN.

    Args:
      a: a real array or number.
      axis: the axis along which to look; None (the default) takes the flat array.
      out: for compatibility; must be None.
      keepdims: whether the axis stays, with size 1; without `axis` all axes do.
    Returns: integers of the default dtype, of the shape of `a` without the axis.
    Raises:
      TypeError: `a` is complex, or neither an array nor a number.
      ValueError: the axis is out of bounds or has no elements.
      NotImplementedError: `out` is given.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.nanargmax(jnp.array([[1.0, jnp.nan, 5.0], [jnp.nan, jnp.nan, jnp.nan]]), axis=1))
      [ 2 -1]
    """
    return _nan_position("nanargmax", _n.argmax, -_np.inf, a, axis, out, keepdims)


@_of
def nanargmin(a, axis=None, out=None, keepdims=None):
    """The position of the first least element that is not NaN; -1 where all are NaN.

    Args:
      a: a real array or number.
      axis: the axis along which to look; None (the default) takes the flat array.
      out: for compatibility; must be None.
      keepdims: whether the axis stays, with size 1; without `axis` all axes do.
    Returns: integers of the default dtype, of the shape of `a` without the axis.
    Raises:
      TypeError: `a` is complex, or neither an array nor a number.
      ValueError: the axis is out of bounds or has no elements.
      NotImplementedError: `out` is given.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.nanargmin(jnp.array([[1.0, jnp.nan, 5.0], [jnp.nan, jnp.nan, jnp.nan]]), axis=1))
      [ 0 -1]
    """
    return _nan_position("nanargmin", _n.argmin, _np.inf, a, axis, out, keepdims)


@_of
def piecewise(x, condlist, funclist, *args, **kw):
    """For each element the value of the last function whose condition holds; 0 or the default where none does.

    Functions are traced once for each combination of shapes and other arguments.

    Args:
      x: an array.
      condlist: conditions: a sequence of arrays that broadcast to `x`, or an array of them.
      funclist: as many functions of `x` and the other arguments, or numbers; one more is the default.
      args, kw: passed on to the functions.
    Returns: an array of the shape and dtype of `x`.
    Raises:
      ValueError: another number of functions, or conditions that do not broadcast.
    Differentiable: as the functions are; all of them are computed everywhere.
    Example:
      >>> x = jnp.array([-2.0, 3.0])
      >>> print(jnp.piecewise(x, [x < 0], [lambda v: -v, lambda v: v * 10]))
      [ 2. 30.]
    """
    n, functions = len(condlist), list(funclist)
    if len(functions) == n:
        functions = functions + [0]
    elif len(functions) != n + 1:
        raise _user_error(ValueError, f"with {n} condition(s), either {n} or {n + 1} functions are expected; got {len(functions)}")
    (x,) = _n._promote("piecewise", x)
    conditions = [_n.asarray(c, dtype=bool) for c in condlist]
    static = tuple(f if callable(f) else None for f in functions)
    numbers = tuple(None if callable(f) else f for f in functions)
    options = tuple(sorted(kw.items()))
    try:
        hash((static, options))
    except TypeError:
        return _by_pieces(x, conditions, numbers, args, static, options)
    return _jit(_by_pieces, static_argnums=(4, 5))(x, conditions, numbers, args, static, options)


def _by_pieces(x, conditions, numbers, args, functions, options):
    """`piecewise`, with the functions apart from the numbers that stand in their places."""
    def value(function, number):
        found = number if function is None else function(x, *args, **dict(options))
        return _n.broadcast_to(_n.asarray(found).astype(x.dtype), x.shape)

    values = [value(*pair) for pair in zip(functions, numbers)]
    conditions = [_n.broadcast_to(condition, x.shape) for condition in conditions]
    # Of several conditions that hold the last one counts.
    return _n.select(conditions[::-1], values[-2::-1], values[-1])


@_of
def resize(a, new_shape):
    """The elements in another shape, repeated as often as needed or cut off.

    Args:
      a: an array or number.
      new_shape: the sizes of the axes: an integer or a tuple.
    Returns: an array of that shape and the dtype of `a`; zeros if `a` is empty.
    Raises:
      TypeError: `a` is neither an array nor a number (lists are refused).
      ValueError: a negative size.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> print(jnp.resize(jnp.array([1, 2, 3]), (2, 2)))
      [[1 2]
       [3 1]]
    """
    new_shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    if any(size < 0 for size in new_shape):
        raise _user_error(ValueError, "all elements of `new_shape` must be non-negative")
    flat = _n.ravel(a)
    size = int(_np.prod(new_shape))
    if flat.size == 0 or size == 0:
        return _n.zeros(new_shape, flat.dtype)
    return _n.reshape(_n.tile(flat, -(-size // flat.size))[:size], new_shape)


@_of
def rollaxis(a, axis, start=0):
    """An axis moved before another one; `moveaxis` is easier to read.

    Args:
      a: an array.
      axis: the axis to move.
      start: the axis before which it goes; 0 by default.
    Returns: an array of the dtype of `a`.
    Raises:
      TypeError: `a` is nothing that `array` takes.
      ValueError: an axis is out of bounds.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> jnp.rollaxis(jnp.ones((2, 3, 4)), 2).shape
      (4, 2, 3)
    """
    a = _n.asarray(a)
    axis = _axis(axis, a.ndim)
    start = _axis(start, a.ndim) if start < a.ndim else start
    return _n.moveaxis(a, axis, start - (axis < start))


def _axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise _user_error(ValueError, f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


@_of
def sort_complex(a):
    """The elements in order along the first axis as complex numbers: by real part, then imaginary part.

    Args:
      a: an array of at least one axis.
    Returns: an array of the shape of `a` and a complex dtype.
    Raises:
      TypeError: `a` is neither an array nor a number (lists are refused).
      ValueError: `a` has no axes.
    Differentiable: yes, in both modes: the gradient goes back to the places where elements came from.
    Example:
      >>> print(jnp.sort_complex(jnp.array([2 + 1j, 1 + 5j, 2 - 1j])))
      [1.+5.j 2.-1.j 2.+1.j]
    """
    out = _n.sort(a, axis=0)
    (floating,) = _n._promote_inexact("sort_complex", out)
    return floating.astype(_n.result_type(floating.dtype, _np.complex64))


@_of
def tril_indices(n, k=0, m=None):
    """The positions on and below a diagonal of a matrix.

    Args:
      n: the number of rows.
      k: the diagonal: 0, the default, is the main one, positive ones are above it.
      m: the number of columns; `n` by default.
    Returns: the pair of row and column positions, vectors of integers.
    Raises:
      TypeError: a traced number.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.tril_indices(2)
      >>> print(rows, columns)
      [0 1 1] [0 0 1]
    """
    return tuple(_n.asarray(i) for i in _np.tril_indices(n, k, m))


@_of
def triu_indices(n, k=0, m=None):
    """The positions on and above a diagonal of a matrix.

    Args:
      n: the number of rows.
      k: the diagonal: 0, the default, is the main one, positive ones are above it.
      m: the number of columns; `n` by default.
    Returns: the pair of row and column positions, vectors of integers.
    Raises:
      TypeError: a traced number.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.triu_indices(2)
      >>> print(rows, columns)
      [0 0 1] [0 1 1]
    """
    return tuple(_n.asarray(i) for i in _np.triu_indices(n, k, m))


def _check_matrix(arr):
    if len(_n.shape(arr)) != 2:
        raise _user_error(ValueError, "Only 2-D inputs are accepted")
    return _n.shape(arr)


@_of
def tril_indices_from(arr, k=0):
    """The positions on and below a diagonal of a given matrix.

    Args:
      arr: a matrix, of which only the shape matters.
      k: the diagonal: 0, the default, is the main one, positive ones are above it.
    Returns: the pair of row and column positions, vectors of integers.
    Raises:
      ValueError: `arr` is no matrix.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.tril_indices_from(jnp.ones((2, 2)))
      >>> print(rows, columns)
      [0 1 1] [0 0 1]
    """
    n, m = _check_matrix(arr)
    return tril_indices(n, k, m)


@_of
def triu_indices_from(arr, k=0):
    """The positions on and above a diagonal of a given matrix.

    Args:
      arr: a matrix, of which only the shape matters.
      k: the diagonal: 0, the default, is the main one, positive ones are above it.
    Returns: the pair of row and column positions, vectors of integers.
    Raises:
      ValueError: `arr` is no matrix.
    Differentiable: no; the result is an integer.
    Example:
      >>> rows, columns = jnp.triu_indices_from(jnp.ones((2, 2)))
      >>> print(rows, columns)
      [0 0 1] [0 1 1]
    """
    n, m = _check_matrix(arr)
    return triu_indices(n, k, m)


@_of
def block(arrays):
    """Nested lists of arrays joined to one: the innermost along the last axis, the next along the one before.

    Args:
      arrays: an array or number, or lists of such of one depth.
    Returns: an array of the promoted dtype.
    Raises:
      ValueError: tuples, empty lists, or lists of different depth.
      TypeError: shapes that do not go together.
    Differentiable: yes, in both modes; it is linear.
    Example:
      >>> a = jnp.array([[1, 2]])
      >>> print(jnp.block([[a, a], [a, 0 * a]]))
      [[1 2 1 2]
       [1 2 0 0]]
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
        raise _user_error(ValueError, f"jax.numpy.block does not allow tuples, got {part}")
    if not isinstance(part, list):
        return 0
    depths = {_depth(item) for item in part}
    if not depths:
        raise _user_error(ValueError, "jax.numpy.block does not allow empty list arguments")
    if len(depths) > 1:
        raise _user_error(ValueError, "Mismatched list depths in jax.numpy.block")
    return 1 + depths.pop()


def _greatest_rank(part):
    return max(map(_greatest_rank, part)) if isinstance(part, list) else _n.ndim(part)


def _integers(name, *xs):
    xs = _n._promote(name, *xs)
    if not issubdtype(xs[0].dtype, _np.integer):
        raise _user_error(ValueError, f"Arguments to jax.numpy.{name} must be integers.")
    return [_n.abs(x) for x in _n.broadcast_arrays(*xs)]


@_of
def gcd(x1, x2):
    """The greatest common divisor of two integers (Euclid's algorithm), not negative; `gcd(0, n)` is `|n|`.

    Args:
      x1, x2: integer arrays or numbers whose shapes broadcast.
    Returns: an array of the broadcast shape and the promoted integer dtype.
    Raises:
      TypeError: an argument is neither an array nor a number.
      ValueError: an argument is boolean, floating or complex, or the shapes do not broadcast.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.gcd(jnp.array([12, 0, -8]), 18))
      [ 6 18  2]
    """
    from pullback import lax

    def step(pair):
        a, b = pair
        is_done = b == 0
        return _n.where(is_done, a, b), _n.where(is_done, 0, a % _n.where(is_done, 1, b))

    a, b = _integers("gcd", x1, x2)
    return lax.while_loop(lambda pair: _n.any(pair[1] != 0), step, (a, b))[0]


@_of
def lcm(x1, x2):
    """The least common multiple of two integers, not negative; 0 if one is 0.

    Args:
      x1, x2: integer arrays or numbers whose shapes broadcast.
    Returns: an array of the broadcast shape and the promoted integer dtype.
    Raises:
      TypeError: an argument is neither an array nor a number.
      ValueError: an argument is boolean, floating or complex, or the shapes do not broadcast.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.lcm(jnp.array([4, 0, -3]), 6))
      [12  0  6]
    """
    a, b = _integers("lcm", x1, x2)
    d = gcd(a, b)
    return _n.where(d == 0, 0, a // _n.where(d == 0, 1, d) * b)


def _check_core(name, x1, rank1, x2, rank2, size):
    """Both have their own axes, and the first of those of `x2` has the size of the last of `x1`."""
    if x1.ndim < rank1 or x2.ndim < rank2 or x2.shape[-rank2:][:1] != size:
        raise _user_error(ValueError, f"jax.numpy.{name}: shapes {x1.shape} and {x2.shape} do not go together")


@_of
def matvec(x1, x2, /):
    """The products of matrices and vectors; axes before are batches, which broadcast.

    Args:
      x1: matrices `[..., m, n]`.
      x2: vectors `[..., n]`.
    Returns: an array `[..., m]` of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ValueError: the sizes `n` differ, an argument has too few axes, or batches do not broadcast.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.matvec(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
      [21 43]
    """
    x1, x2 = _n._promote("matvec", x1, x2)
    _check_core("matvec", x1, 2, x2, 1, x1.shape[-1:])
    return _n.matmul(x1, _n.expand_dims(x2, -1))[..., 0]


@_of
def vecmat(x1, x2, /):
    """The products of vectors, conjugated, and matrices; axes before are batches, which broadcast.

    Args:
      x1: vectors `[..., m]`.
      x2: matrices `[..., m, n]`.
    Returns: an array `[..., n]` of the promoted dtype.
    Raises:
      TypeError: an argument is neither an array nor a number (lists are refused).
      ValueError: the sizes `m` differ, an argument has too few axes, or batches do not broadcast.
    Differentiable: yes, in both modes, with respect to both.
    Example:
      >>> print(jnp.vecmat(jnp.array([1, 10]), jnp.array([[1, 2], [3, 4]])))
      [31 42]
    """
    x1, x2 = _n._promote("vecmat", x1, x2)
    _check_core("vecmat", x1, 1, x2, 2, x1.shape[-1:])
    return _n.matmul(_n.expand_dims(_n.conj(x1), -2), x2)[..., 0, :]
