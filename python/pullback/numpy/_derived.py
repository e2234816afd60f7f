"""Functions of `numpy` that concern dtypes only, or take functions."""

import warnings as _warnings

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._jit import jit as _jit

_n = _core.numpy

__all__ = [
    "can_cast", "fromfunction", "iscomplexobj", "isrealobj", "issubdtype", "mask_indices", "piecewise", "promote_types",
]


_IMPLICIT = (
    "Implicit conversion of an array to a dtype is deprecated; rather than dtype=arr use dtype=arr.dtype. In the future this "
    "will result in an error."
)


def _warn_of_arrays(*dtypes):
    """Warns where an array stands for its dtype."""
    for one in dtypes:
        if isinstance(one, _core.Array):
            _warnings.warn(_IMPLICIT, DeprecationWarning, stacklevel=3)


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
    _warn_of_arrays(a, b)
    if _core.is_setting_on("StrictPromotion") and not any(t in (int, float, complex) for t in (a, b)):
        names = tuple(str(_core.as_dtype(t)) for t in (a, b))
        if names[0] != names[1]:
            from pullback.errors import TypePromotionError

            raise _user_error(
                TypePromotionError,
                f"Input dtypes {names} have no available implicit dtype promotion path when jax_numpy_dtype_promotion=strict. Try "
                "explicitly casting inputs to the desired output type, or set jax_numpy_dtype_promotion=standard."
            )
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

    _warn_of_arrays(arg1, arg2)
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

