"""Functions of trees as functions of flat arguments."""

from pullback._core import user_error as _user_error
from pullback.core import DebugInfo as _DebugInfo, ShapedArray as _ShapedArray
from pullback import _core
from pullback.extend.linear_util import transformation_with_aux as _transformation_with_aux
from pullback.tree_util import tree_flatten as _tree_flatten, tree_unflatten as _tree_unflatten


@_transformation_with_aux
def flatten_fun(in_tree, *leaves):
    """A function of the leaves of `(args, kwargs)` that gives the leaves of its result; and a way to the result's tree."""
    args, kwargs = _tree_unflatten(in_tree, leaves)
    out = yield args, kwargs
    yield _tree_flatten(out)


@_transformation_with_aux
def flatten_fun_nokwargs(in_tree, *leaves):
    """As `flatten_fun`, for the leaves of `args`."""
    out = yield tuple(_tree_unflatten(in_tree, leaves)), {}
    yield _tree_flatten(out)


@_transformation_with_aux
def argnums_partial_fun(positions, fixed, *args):
    """The function of the arguments at some positions."""
    full = list(fixed)
    for position, arg in zip(positions, args):
        full[position] = arg
    out = yield tuple(full), {}
    yield out, None


def argnums_partial(fun, dyn_argnums, args, require_static_args_hashable=True):
    """The function of the arguments at `dyn_argnums`, and those."""
    positions = (dyn_argnums,) if isinstance(dyn_argnums, int) else tuple(dyn_argnums)
    positions = tuple(position % len(args) for position in positions)
    wrapped, _ = argnums_partial_fun(fun, positions, tuple(args))
    return wrapped, tuple(args[position] for position in positions)


def debug_info(traced_for, fun, args=(), kwargs=None, *, static_argnums=(), static_argnames=(), result_paths_thunk=None, sourceinfo=None, signature=None):
    """A description of a function for error texts."""
    code = getattr(fun, "__code__", None)
    place = f" at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    return _DebugInfo(traced_for, f"{getattr(fun, '__name__', '<unknown>')}{place}")


def shaped_abstractify(x):
    """The aval of an array, a number or a shape struct."""
    aval = getattr(x, "aval", None)
    if aval is not None:
        return aval
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return _ShapedArray(x.shape, x.dtype, getattr(x, "weak_type", False))
    return _core.typeof(x)


def safe_map(fun, *sequences):
    """`list(map(fun, *sequences))` of sequences of one length."""
    sequences = list(map(list, sequences))
    lengths = {len(sequence) for sequence in sequences}
    if len(lengths) > 1:
        raise _user_error(ValueError, f"length mismatch: {[len(sequence) for sequence in sequences]}")
    return list(map(fun, *sequences))


def flatten_axes(name, tree, axis_tree, *, kws=False, tupled_args=False):
    """An axis specification, a prefix of `tree`, as one axis per leaf."""
    from pullback.tree_util import tree_broadcast

    wrapped = tree_broadcast(axis_tree, _tree_unflatten(tree, [0] * tree.num_leaves), is_leaf=lambda x: x is None)
    return _tree_flatten(wrapped, is_leaf=lambda x: x is None)[0]


def donation_vector(donate_argnums, donate_argnames, in_tree):
    """For each leaf of `(args, kwargs)`, whether it is donated."""
    args, kwargs = _tree_unflatten(in_tree, [0] * in_tree.num_leaves)
    marks = []
    for position, arg in enumerate(args):
        marks += [position in donate_argnums] * len(_tree_flatten(arg)[0])
    for name in sorted(kwargs):
        marks += [name in (donate_argnames or ())] * len(_tree_flatten(kwargs[name])[0])
    return tuple(marks)


def rebase_donate_argnums(donate_argnums, static_argnums):
    """Positions of donated arguments among those that are not static."""
    static = sorted(set(static_argnums))
    return tuple(sorted(position - sum(s < position for s in static) for position in donate_argnums if position not in static))
