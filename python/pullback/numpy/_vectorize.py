"""`vectorize`, and the functions that apply others along axes.

Owns signatures of generalized universal functions and the nest of `vmap` that a call becomes; axes of size 1 take no `vmap`.
"""

import functools as _functools
import operator as _operator
import re as _re

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["apply_along_axis", "apply_over_axes", "vectorize"]

_DIMENSION = r"\w+"
_GROUP = rf"\((?:{_DIMENSION}(?:,{_DIMENSION})*)?\)"
_SIGNATURE = rf"^{_GROUP}(?:,{_GROUP})*->{_GROUP}(?:,{_GROUP})*$"


def _parsed(signature):
    """The names of the axes of each argument and each result."""
    signature = _re.sub(r"\s+", "", signature)
    if not _re.match(_SIGNATURE, signature):
        raise _user_error(ValueError, f"not a valid gufunc signature: {signature}")
    return tuple(
        [tuple(_re.findall(_DIMENSION, group)) for group in _re.findall(_GROUP, side)] for side in signature.split("->")
    )


def _learn_sizes(sizes, shape, names, note):
    """Binds names to the last sizes of a shape, which must agree with what is known."""
    if not names:
        return
    if len(shape) < len(names):
        raise _user_error(ValueError, f"input with shape {shape} does not have enough dimensions for all core dimensions {names} {note}")
    for size, name in zip(shape[len(shape) - len(names):], names):
        size = int(size)
        known = sizes.setdefault(name, int(name) if name.isdigit() else size)
        if known != size:
            raise _user_error(ValueError, f"inconsistent size for core dimension {name!r}: {size} vs {known} {note}")


def _check_outputs(out, sizes, names, note):
    """Results have the axes that the signature gives them."""
    results = out if isinstance(out, tuple) else (out,)
    if len(names) > 1 and not isinstance(out, tuple):
        raise _user_error(TypeError, f"output must be a tuple when multiple outputs are expected, got: {out}\n{note}")
    if len(results) != len(names):
        raise _user_error(TypeError, f"wrong number of output arguments: expected {len(names)}, got {len(results)} {note}")
    for result, wanted in zip(results, names):
        shape = _n.shape(result)
        if len(shape) != len(wanted):
            raise _user_error(ValueError, f"output shape {shape} does not match core dimensions {wanted} {note}")
        _learn_sizes(sizes, shape, wanted, note)


def _check_excluded(excluded):
    if not all(isinstance(item, (int, str)) for item in excluded):
        raise _user_error(TypeError, f"jax.numpy.vectorize can only exclude integer or string arguments, but excluded={excluded!r}")
    if any(isinstance(item, int) and item < 0 for item in excluded):
        raise _user_error(ValueError, f"excluded={excluded!r} contains negative numbers")
    return frozenset(excluded)


def vectorize(pyfunc, *, excluded=frozenset(), signature=None):
    """A function of scalars, or of the axes that `signature` names, as one of arrays whose other axes broadcast.

    Args:
      pyfunc: the function, which JAX can trace.
      excluded: positions and keywords of arguments that are passed as they are; None is always passed so.
      signature: names of axes, as `"(m,n),(n)->(m)"`; without it all arguments and results are scalars. A number
        fixes a size.
    Returns: a function with `pyfunc`'s name and documentation; it raises ValueError for sizes that contradict the
      signature or shapes that do not broadcast, and TypeError for another number of arguments or results.
    Raises:
      ValueError: no valid signature, or a negative position in `excluded`.
      TypeError: `excluded` holds what is neither position nor keyword.
    Differentiable: as `pyfunc` is; it is a nest of `vmap`.
    Example:
      >>> products = jnp.vectorize(jnp.dot, signature="(n),(n)->()")
      >>> print(products(jnp.ones((2, 3)), jnp.arange(3.0)))
      [3. 3.]
    """
    excluded_now = _check_excluded(excluded)
    names = None if signature is None else _parsed(signature)
    note = f"on vectorized function with excluded={set(excluded_now) or frozenset()!r} and signature={signature!r}"

    @_functools.wraps(pyfunc)
    def wrapped(*args, **kwargs):
        fixed = {i: arg for i, arg in enumerate(args) if i in excluded_now or arg is None}
        if unknown := set(kwargs) - excluded_now:
            raise _user_error(TypeError, f"keyword arguments {sorted(unknown)} must be listed in excluded, or passed by position {note}")
        arrays = [_n.asarray(arg) for i, arg in enumerate(args) if i not in fixed]

        def call(*inner):
            rest = iter(inner)
            return pyfunc(*(fixed[i] if i in fixed else next(rest) for i in range(len(args))), **kwargs)

        return _mapped(call, arrays, names, note)

    return wrapped


def _check_ranks(shapes, loops, note):
    """The setting about ranks, for the axes that broadcast; numbers go with anything."""
    from pullback import config

    rule = config.jax_numpy_rank_promotion
    if rule == "allow" or len({len(loop) for shape, loop in zip(shapes, loops) if shape}) < 2:
        return
    signature = note.rpartition("signature=")[2]
    text = (
        f"operands with shapes {shapes} require rank promotion for jnp.vectorize function with signature {signature}. Set the "
        "jax_numpy_rank_promotion config option to 'allow' to disable this message; for more information, see "
        'pullback.help("rank_promotion").'
    )
    if rule == "raise":
        raise _user_error(ValueError, text)
    import warnings

    warnings.warn(text, stacklevel=4)


def _mapped(call, arrays, names, note):
    """`call` over the axes that are not the signature's."""
    from pullback import vmap

    if names is not None and len(names[0]) != len(arrays):
        raise _user_error(TypeError, f"wrong number of positional arguments: expected {len(names[0])}, got {len(arrays)} {note}")
    core = names[0] if names is not None else [()] * len(arrays)
    sizes = {}
    for array, wanted in zip(arrays, core):
        _learn_sizes(sizes, array.shape, wanted, note)
    loops = [array.shape[: array.ndim - len(wanted)] for array, wanted in zip(arrays, core)]
    _check_ranks([array.shape for array in arrays], loops, note)
    full = _n.broadcast_shapes(*loops) if loops else ()

    def checked(*inner):
        out = call(*inner)
        if names is not None:
            _check_outputs(out, dict(sizes), names[1], note)
        return out

    rank = len(full)
    squeezed = [
        _n.squeeze(array, tuple(axis for axis, size in enumerate(loop) if size == 1)) for array, loop in zip(arrays, loops)
    ]
    function = checked
    for axis in reversed(range(rank)):
        has = [axis >= rank - len(loop) and loop[axis - rank + len(loop)] != 1 for loop in loops]
        if any(has):
            function = vmap(function, in_axes=tuple(0 if mapped else None for mapped in has))
    out = function(*squeezed)
    ones = tuple(axis for axis, size in enumerate(full) if size == 1)
    if not ones:
        return out
    from pullback import tree_util

    return tree_util.tree_map(lambda x: _n.expand_dims(x, ones), out)


def _axis(axis, ndim):
    axis = _operator.index(axis)
    if not -ndim <= axis < ndim:
        raise _user_error(ValueError, f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """A function of vectors applied to each line along an axis, by `vmap`.

    Args:
      func1d: a function of a vector and the other arguments.
      axis: the axis of the lines; the axes of the function's result take its place.
      arr: an array.
      args, kwargs: passed on to the function.
    Returns: an array with the axes of the results in place of the axis.
    Raises:
      ValueError: the axis is out of bounds.
    Differentiable: as the function is.
    Example:
      >>> print(jnp.apply_along_axis(jnp.cumsum, 1, jnp.array([[1, 2], [3, 4]])))
      [[1 3]
       [3 7]]
    """
    from pullback import vmap

    arr = _n.asarray(arr)
    axis = _axis(axis, arr.ndim)

    def function(line):
        return func1d(line, *args, **kwargs)

    # From the outermost the last axis is taken, so that axes behind stay in their order.
    for behind in range(1, arr.ndim - axis):
        function = vmap(function, in_axes=behind, out_axes=-1)
    for _ in range(axis):
        function = vmap(function, in_axes=0, out_axes=0)
    return function(arr)


def apply_over_axes(func, a, axes):
    """A reduction applied over one axis after the other, the axes kept.

    Args:
      func: a function of an array and an axis that keeps the axis with size 1 or drops it.
      a: an array.
      axes: the axis or axes.
    Returns: an array with as many axes as `a`.
    Raises:
      ValueError: the function gives an array of another number of axes.
    Differentiable: as the function is.
    Example:
      >>> print(jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3)), [0, 1]))
      [[6.]]
    """
    out = _n.asarray(a)
    for axis in axes if hasattr(axes, "__iter__") else (axes,):
        reduced = func(out, axis)
        if reduced.ndim == out.ndim - 1:
            reduced = _n.expand_dims(reduced, axis)
        elif reduced.ndim != out.ndim:
            raise _user_error(ValueError, "function is not returning an array of the correct shape")
        out = reduced
    return out


for _public in (apply_along_axis, apply_over_axes, vectorize):
    _public.__module__ = "pullback.numpy"
