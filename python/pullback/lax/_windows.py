"""Reductions by a computation of the user's, over axes and over windows.

A computation that is a known operation, with its neutral element as initial value, is that operation's own primitive;
any other is traced on scalars.
"""

import operator

import numpy as np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax._convolution import padtype_to_pads

_n = _core.numpy
_l = _core.lax


def _leaves(tree):
    from pullback.tree_util import tree_flatten

    return tree_flatten(tree)


def _is_neutral(init, wanted):
    from pullback.core import Tracer

    if isinstance(init, Tracer):
        return False
    init = np.asarray(init)
    return init.shape == () and bool(init == wanted)


def _least(dtype):
    if dtype == np.bool_:
        return False
    return np.iinfo(dtype).min if np.issubdtype(dtype, np.integer) else -np.inf


def _greatest(dtype):
    if dtype == np.bool_:
        return True
    return np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else np.inf


def _known(computation, init, dtype, members):
    """The name of the primitive that the computation and its initial value are, if they are one."""
    is_bits = dtype == np.bool_ or np.issubdtype(dtype, np.integer)
    rules = {
        "sum": (_l.add, lambda: 0, dtype != np.bool_), "prod": (_l.mul, lambda: 1, dtype != np.bool_),
        "max": (_l.max, lambda: _least(dtype), not np.issubdtype(dtype, np.complexfloating)),
        "min": (_l.min, lambda: _greatest(dtype), not np.issubdtype(dtype, np.complexfloating)),
        "or": (_l.bitwise_or, lambda: 0, is_bits), "xor": (_l.bitwise_xor, lambda: 0, is_bits),
        "and": (_l.bitwise_and, lambda: True if dtype == np.bool_ else np.array(-1).astype(dtype), is_bits),
    }
    for name in members:
        function, neutral, accepts = rules[name]
        if computation is function and accepts and _is_neutral(init, neutral()):
            return name
    return None


def _traced(computation, operands, inits, treedef):
    """The computation as a jaxpr of scalars."""
    import pullback
    from pullback.tree_util import tree_flatten, tree_unflatten

    avals = [pullback.ShapeDtypeStruct((), x.dtype) for x in operands]

    def flat(*scalars):
        n = len(scalars) // 2
        out = computation(tree_unflatten(treedef, scalars[:n]), tree_unflatten(treedef, scalars[n:]))
        leaves, out_tree = tree_flatten(out)
        if out_tree != treedef:
            raise _user_error(ValueError, f"The computation must return a tree like the operands': {treedef}, got {out_tree}.")
        return [_l.convert_element_type(leaf, aval.dtype) for leaf, aval in zip(leaves, avals)]

    return pullback.make_jaxpr(flat)(*avals, *avals)


def _operands(name, operands, init_values):
    xs, treedef = _leaves(operands)
    inits, init_tree = _leaves(init_values)
    if treedef != init_tree:
        raise _user_error(ValueError, f"Operands must have the same tree structure as init_values: {treedef} vs. {init_tree}")
    xs = [_n.asarray(x) for x in xs]
    for x, init in zip(xs, inits):
        if _n.shape(init) != ():
            raise _user_error(TypeError, f"{name} expected init_values to be scalars but init_values have shapes [{_n.shape(init)}].")
    arrays = [_l.convert_element_type(init, x.dtype) for x, init in zip(xs, inits)]
    return xs, inits, arrays, treedef


def reduce(operands, init_values, computation, dimensions, out_sharding=None):
    """Combination over axes by a function of the result so far and an element, both trees of scalars.

    Args:
      operands: arrays of one shape, or a tree of them.
      init_values: scalars, one for each.
      computation: a function of two such trees of scalars. It should be associative, with `init_values` neutral.
      dimensions: the axes that go, none negative.
      out_sharding: taken for compatibility and ignored.
    Returns: arrays without these axes, in the tree of the operands.
    Raises:
      ValueError: an axis is out of bounds or occurs twice, or trees differ. TypeError: an initial value is no scalar.
    Differentiable: where the computation is, forward and in reverse.
    Example:
      >>> lax.reduce(jnp.arange(4.0), 0.0, lambda x, y: x + 2 * y, (0,))
      Array(12., dtype=float32)
    """
    from pullback.tree_util import tree_unflatten

    xs, inits, arrays, treedef = _operands("reduce", operands, init_values)
    dimensions = tuple(operator.index(axis) for axis in dimensions)
    for x in xs:
        if len(set(dimensions)) != len(dimensions):
            raise _user_error(ValueError, f"duplicate value in 'axes' of reduction: {dimensions}")
        if not all(0 <= axis < x.ndim for axis in dimensions):
            raise _user_error(ValueError, f"reduction axes {dimensions} contains out-of-bounds indices for {x.aval.str_short()}.")
    if len(xs) == 1:
        name = _known(computation, inits[0], xs[0].dtype, ("sum", "prod", "max", "min", "or", "and", "xor"))
        if name is not None:
            return tree_unflatten(treedef, [getattr(_l, f"reduce_{name}")(xs[0], dimensions)])
    jaxpr = _traced(computation, xs, arrays, treedef)
    out = _core.find_primitive("reduce").bind(
        *xs, *arrays, computation=getattr(computation, "__name__", "computation"), jaxpr=jaxpr, dimensions=dimensions
    )
    return tree_unflatten(treedef, out)


def _window_arguments(shape, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    n = len(shape)
    window = tuple(map(operator.index, window_dimensions))
    strides = (1,) * n if window_strides is None else tuple(map(operator.index, window_strides))
    base = (1,) * n if base_dilation is None else tuple(map(operator.index, base_dilation))
    inner = (1,) * n if window_dilation is None else tuple(map(operator.index, window_dilation))
    if min((*window, 1)) < 1:
        raise _user_error(TypeError, f"reduce_window window_dimensions must have every element be strictly positive, got {window}.")
    if isinstance(padding, str):
        lengths = {len(window), len(strides), len(base), len(inner), n}
        if len(lengths) != 1:
            # The reference asks NumPy for the pads, to which one length fits every other.
            has_strides = window_strides is not None
            is_seen_late = padding.upper() == "VALID" or has_strides and len(lengths - {1}) == 1
            raise _user_error(
                TypeError if is_seen_late else ValueError,
                f"reduce_window takes one window size, stride and dilation for each of the {n} axes, got {window}, {strides}, "
                f"{base} and {inner}."
            )
        dilated_window = [(size - 1) * by + 1 for size, by in zip(window, inner)]
        dilated_base = [0 if size == 0 else (size - 1) * by + 1 for size, by in zip(shape, base)]
        padding = padtype_to_pads(dilated_base, dilated_window, strides, padding)
    padding = tuple((operator.index(low), operator.index(high)) for low, high in padding)
    return {
        "window_dimensions": window, "window_strides": strides, "padding": padding, "base_dilation": base,
        "window_dilation": inner,
    }


def reduce_window(
    operand, init_value, computation, window_dimensions, window_strides=None, padding="VALID", base_dilation=None,
    window_dilation=None,
):
    """Combination over windows by a function of the result so far and an element; `add`, `max` and `min` with their neutral
    elements are fastest.

    Args:
      operand: an array, or a tree of arrays of one shape.
      init_value: scalars, one for each; also what is outside.
      computation: a function of two such trees of scalars.
      window_dimensions: sizes of the window, one for each axis.
      window_strides: its steps; 1 by default.
      padding: 'VALID', 'SAME', 'SAME_LOWER', or pairs of numbers before and after.
      base_dilation, window_dilation: distances of the elements of the operand and of the window; 1 by default.
    Returns: arrays with one element for each window.
    Raises:
      TypeError: a window size is not positive, lengths are not the rank, or an initial value is no scalar.
      RuntimeError: the padding has an unknown name. ValueError: trees differ, or no pads fit lengths that are not the rank.
    Differentiable: where the computation is, forward and in reverse.
    Example:
      >>> lax.reduce_window(jnp.array([1.0, 5.0, 2.0, 3.0]), -jnp.inf, lax.max, (2,), (2,))
      Array([5., 3.], dtype=float32)
    """
    from pullback.tree_util import tree_unflatten

    xs, inits, arrays, treedef = _operands("reduce_window", operand, init_value)
    params = _window_arguments(
        xs[0].shape, window_dimensions, window_strides, padding, base_dilation, window_dilation
    )
    if len(xs) == 1:
        name = _known(computation, inits[0], xs[0].dtype, ("sum", "max", "min"))
        if name is not None:
            return tree_unflatten(treedef, [_core.find_primitive(f"reduce_window_{name}").bind(xs[0], **params)])
    jaxpr = _traced(computation, xs, arrays, treedef)
    out = _core.find_primitive("reduce_window").bind(*xs, *arrays, jaxpr=jaxpr, consts=(), **params)
    return tree_unflatten(treedef, out)


def reduce_window_shape_tuple(
    operand_shape, window_dimensions, window_strides, padding, base_dilation=None, window_dilation=None
):
    """The shape of the array of windows that `reduce_window` combines.

    Args:
      operand_shape: the shape of the operand.
      window_dimensions: sizes of the window, one for each axis.
      window_strides: its steps; None for 1.
      padding: 'VALID', 'SAME', 'SAME_LOWER', or pairs of numbers before and after.
      base_dilation, window_dilation: distances of the elements of the operand and of the window; 1 by default.
    Returns: a tuple of integers.
    Raises:
      TypeError: a window size is not positive. RuntimeError: the padding has an unknown name.
    Differentiable: no, sizes are integers.
    Example:
      >>> lax.reduce_window_shape_tuple((8,), (3,), (2,), "VALID")
      (3,)
    """
    params = _window_arguments(
        operand_shape, window_dimensions, window_strides, padding, base_dilation, window_dilation
    )

    def places(axis, size):
        base, inner = params["base_dilation"][axis], params["window_dilation"][axis]
        low, high = params["padding"][axis]
        room = (size - 1) * base + 1 + low + high - ((params["window_dimensions"][axis] - 1) * inner + 1)
        return max(room // params["window_strides"][axis] + 1, 0)

    return tuple(places(axis, size) for axis, size in enumerate(operand_shape))


__all__ = ["reduce", "reduce_window", "reduce_window_shape_tuple"]
for _name in __all__:
    globals()[_name].__module__ = "pullback.lax"
