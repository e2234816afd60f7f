"""Functions of trees as functions of flat arguments."""

from pullback._core import user_error as _user_error
from pullback.core import DebugInfo as _DebugInfo, ShapedArray as _ShapedArray
from pullback import _core
from pullback.extend.linear_util import transformation_with_aux as _transformation_with_aux
from pullback.tree_util import tree_flatten as _tree_flatten, tree_unflatten as _tree_unflatten


@_transformation_with_aux
def flatten_fun(in_tree, *leaves):
    """A function of the leaves of `(args, kwargs)` that gives the leaves of its result; and a way to the result's tree.

    Args:
      fun: a `linear_util.WrappedFun` of trees.
      in_tree: the structure of `(args, kwargs)`.
    Returns: a `WrappedFun` of leaves, and a function that gives the structure of the result once it ran.
    Differentiable: as the function is.
    Example:
      >>> from pullback import api_util
      >>> from pullback.extend import linear_util
      >>> leaves, tree = jax.tree.flatten((({"a": 1},), {}))
      >>> flat, out_tree = api_util.flatten_fun(linear_util.wrap_init(lambda d: [d["a"]]), tree)
      >>> flat.call_wrapped(*leaves), out_tree()
      ([1], PyTreeDef([*]))
    """
    args, kwargs = _tree_unflatten(in_tree, leaves)
    out = yield args, kwargs
    yield _tree_flatten(out)


@_transformation_with_aux
def flatten_fun_nokwargs(in_tree, *leaves):
    """As `flatten_fun`, for the leaves of `args`.

    Args:
      fun: a `linear_util.WrappedFun` of trees.
      in_tree: the structure of `args`.
    Returns: a `WrappedFun` of leaves, and a function that gives the structure of the result once it ran.
    Differentiable: as the function is.
    Example:
      >>> from pullback import api_util
      >>> from pullback.extend import linear_util
      >>> flat, out_tree = api_util.flatten_fun_nokwargs(linear_util.wrap_init(lambda x: [x]), jax.tree.structure((1,)))
      >>> flat.call_wrapped(3), out_tree()
      ([3], PyTreeDef([*]))
    """
    out = yield tuple(_tree_unflatten(in_tree, leaves)), {}
    yield _tree_flatten(out)


@_transformation_with_aux
def argnums_partial_fun(positions, fixed, *args):
    """The function of the arguments at some positions.

    Args:
      fun: a `linear_util.WrappedFun`.
      positions: which arguments stay open.
      fixed: all arguments.
    Returns: a `WrappedFun` of the open arguments, and a function that gives None.
    Differentiable: as the function is.
    Example:
      >>> from pullback import api_util
      >>> from pullback.extend import linear_util
      >>> f, _ = api_util.argnums_partial_fun(linear_util.wrap_init(lambda x, y: x - y), (0,), (5, 2))
      >>> f.call_wrapped(9)
      7
    """
    full = list(fixed)
    for position, arg in zip(positions, args):
        full[position] = arg
    out = yield tuple(full), {}
    yield out, None


def argnums_partial(fun, dyn_argnums, args, require_static_args_hashable=True):
    """The function of the arguments at `dyn_argnums`, and those.

    Args:
      fun: a `linear_util.WrappedFun`.
      dyn_argnums: a position or several; negative ones count from the end.
      args: all arguments.
      require_static_args_hashable: accepted for compatibility; without effect.
    Returns: a `WrappedFun` of the arguments there, and the tuple of those.
    Differentiable: as the function is.
    Example:
      >>> from pullback import api_util
      >>> from pullback.extend import linear_util
      >>> f, given = api_util.argnums_partial(linear_util.wrap_init(lambda x, y: x - y), 0, (5, 2))
      >>> f.call_wrapped(9), given
      (7, (5,))
    """
    positions = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    positions = tuple(position % len(args) for position in positions)
    wrapped, _ = argnums_partial_fun(fun, positions, tuple(args))
    return wrapped, tuple(args[position] for position in positions)


def debug_info(traced_for, fun, args=(), kwargs=None, *, static_argnums=(), static_argnames=(), result_paths_thunk=None, sourceinfo=None, signature=None):
    """A description of a function for error texts.

    Args:
      traced_for: the name of the transformation.
      fun: the function.
      args, kwargs, static_argnums, static_argnames, result_paths_thunk, sourceinfo, signature: accepted for compatibility; without
        effect.
    Returns: a `DebugInfo`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import api_util
      >>> api_util.debug_info("jit", len).traced_for
      'jit'
    """
    code = getattr(fun, "__code__", None)
    place = f" at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    return _DebugInfo(traced_for, f"{getattr(fun, '__name__', '<unknown>')}{place}")


def shaped_abstractify(x):
    """The aval of an array, a number or a shape struct.

    Args:
      x: an array, a number, or anything with `shape` and `dtype`.
    Returns: a `ShapedArray`.
    Raises:
      TypeError: `x` is none of these.
    Differentiable: no; the result is no array.
    Example:
      >>> from pullback import api_util
      >>> api_util.shaped_abstractify(jnp.ones(2))
      ShapedArray(float32[2])
    """
    aval = getattr(x, "aval", None)
    if aval is not None:
        return aval
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return _ShapedArray(x.shape, x.dtype, getattr(x, "weak_type", False))
    return _core.typeof(x)


def safe_map(fun, *sequences):
    """`list(map(fun, *sequences))` of sequences of one length.

    Args:
      fun: a function.
      sequences: as many as it takes arguments.
    Returns: a list.
    Raises:
      ValueError: the lengths differ.
    Differentiable: as the function is.
    Example:
      >>> from pullback import api_util
      >>> api_util.safe_map(max, [1, 5], [3, 2])
      [3, 5]
    """
    sequences = list(map(list, sequences))
    lengths = {len(sequence) for sequence in sequences}
    if len(lengths) > 1:
        raise _user_error(ValueError, f"length mismatch: {[len(sequence) for sequence in sequences]}")
    return list(map(fun, *sequences))


def flatten_axes(name, tree, axis_tree, *, kws=False, tupled_args=False):
    """An axis specification, a prefix of `tree`, as one axis per leaf.

    Args:
      name: what the error calls the specification.
      tree: the structure of the arguments.
      axis_tree: axes or None, in a tree that is a prefix of it.
      kws, tupled_args: accepted for compatibility; without effect.
    Returns: a list of axes and None.
    Raises:
      ValueError: `axis_tree` is no prefix.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import api_util
      >>> api_util.flatten_axes("in_axes", jax.tree.structure(((1, 2), 3)), (0, None))
      [0, 0, None]
    """
    from pullback.tree_util import tree_broadcast

    full = _tree_unflatten(tree, [0] * tree.num_leaves)
    try:
        wrapped = tree_broadcast(axis_tree, full, is_leaf=lambda x: x is None)
    except ValueError:
        why = _core._prefix_mismatch(axis_tree, full, name)
        raise _user_error(
            ValueError, f"{name} specification must be a tree prefix of the corresponding value; {why or f'got {axis_tree} for {tree}'}"
        ) from None
    return _tree_flatten(wrapped, is_leaf=lambda x: x is None)[0]


def donation_vector(donate_argnums, donate_argnames, in_tree):
    """For each leaf of `(args, kwargs)`, whether it is donated.

    Args:
      donate_argnums, donate_argnames: positions and names of arguments that are given away.
      in_tree: the structure of `(args, kwargs)`.
    Returns: a tuple of bools.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import api_util
      >>> api_util.donation_vector((0,), (), jax.tree.structure((((1, 2), 3), {})))
      (True, True, False)
    """
    args, kwargs = _tree_unflatten(in_tree, [0] * in_tree.num_leaves)
    marks = []
    for position, arg in enumerate(args):
        marks += [position in donate_argnums] * len(_tree_flatten(arg)[0])
    for name in sorted(kwargs):
        marks += [name in (donate_argnames or ())] * len(_tree_flatten(kwargs[name])[0])
    return tuple(marks)


def rebase_donate_argnums(donate_argnums, static_argnums):
    """Positions of donated arguments among those that are not static.

    Args:
      donate_argnums, static_argnums: positions among all arguments.
    Returns: a sorted tuple of positions.
    Raises:
      ValueError: a position is in both.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import api_util
      >>> api_util.rebase_donate_argnums((2,), (0,))
      (1,)
    """
    static = sorted(set(static_argnums))
    if both := sorted(set(static) & set(donate_argnums)):
        raise _user_error(ValueError, f"`static_argnums` {both} and `donate_argnums` {both} cannot intersect.")
    return tuple(sorted(position - sum(s < position for s in static) for position in donate_argnums if position not in static))


def infer_argnums_and_argnames(sig, argnums, argnames):
    """Positions and names of arguments, where those that are not given follow from the others by a signature.

    Args:
      sig: the signature of the function.
      argnums: a position, several, or None.
      argnames: a name, several, or None.
    Returns: a tuple of positions and a tuple of names.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import inspect
      >>> from pullback import api_util
      >>> api_util.infer_argnums_and_argnames(inspect.signature(lambda x, n: x), 1, None)
      ((1,), ('n',))
    """
    as_tuple = lambda given: (given,) if isinstance(given, (int, str)) else tuple(given)  # noqa: E731
    ordered = [name for name, parameter in sig.parameters.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    if argnums is None:
        names = () if argnames is None else as_tuple(argnames)
        return tuple(place for place, name in enumerate(sig.parameters) if name in ordered and name in names), names
    numbers = as_tuple(argnums)
    if argnames is None:
        parameters = list(sig.parameters)
        found = [parameters[number] for number in numbers if -len(parameters) <= number < len(parameters)]
        return numbers, tuple(name for name in found if name in ordered)
    return numbers, as_tuple(argnames)
