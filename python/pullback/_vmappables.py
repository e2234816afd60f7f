"""`vmap` over values of types that libraries registered with a mapping of their own, `batching.register_vmappable`."""

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.interpreters.batching import _vmappables
from pullback.tree_util import tree_broadcast as _tree_broadcast, tree_flatten as _tree_flatten, tree_unflatten as _tree_unflatten


def is_registered(value):
    """Whether a value's type has a mapping of its own."""
    return type(value) in _vmappables


def has_registered(args):
    """Whether there are such values in a tree."""
    return any(map(is_registered, _tree_flatten(args, is_leaf=is_registered)[0]))


def _spread(axes, tree):
    """An axis for each leaf of a tree, from a tree that is a prefix of it."""
    is_none = lambda x: x is None  # noqa: E731
    full = _tree_unflatten(tree, [0] * tree.num_leaves)
    return _tree_flatten(_tree_broadcast(axes, full, is_leaf=is_none), is_leaf=is_none)[0]


def _element(value, size, axis, element_of):
    """What is mapped of a leaf, by the type's own function or as an array."""
    if axis is None or not is_registered(value):
        return value if axis is None else element_of(size, value, axis)
    return _vmappables[type(value)][2](element_of, size, value, axis)


def _batch(value, size, axis, batch_of):
    return _vmappables[type(value)][3](batch_of, size, value, axis) if is_registered(value) else batch_of(size, value, axis)


def _check_front(out_axes):
    # Other places of the axis, and None, would have to be known before the function runs.
    if any(axis != 0 for axis in _tree_flatten(out_axes, is_leaf=lambda x: x is None)[0]):
        raise _user_error(NotImplementedError, f"vmap over values with a mapping of their own with out_axes={out_axes}; use 0")


def of_batches(out, out_axes):
    """Results whose arrays were mapped one by one, as their types have them."""
    if not has_registered(out):
        return out
    _check_front(out_axes)
    leaves, tree = _tree_flatten(out, is_leaf=is_registered)
    size = lambda value: _tree_flatten(value)[0][0].shape[0]  # noqa: E731
    whole = lambda _, array, __: array  # noqa: E731
    return _tree_unflatten(tree, [_batch(x, size(x), 0, whole) if is_registered(x) else x for x in leaves])


def call(fun, args, kwargs, in_axes, out_axes, axis_name, axis_size):
    """`vmap` of a function called with such values; their arrays are mapped, and put together again inside and after."""
    leaves, tree = _tree_flatten((tuple(args), kwargs), is_leaf=is_registered)
    arg_tree = _tree_flatten(tuple(args), is_leaf=is_registered)[1]
    axes = _spread(in_axes, arg_tree) + [0] * (len(leaves) - arg_tree.num_leaves)
    arrays, places = [], []

    def remember(_, array, axis):
        arrays.append(array)
        places.append(axis)
        return array

    for leaf, axis in zip(leaves, axes):
        _element(leaf, axis_size, axis, remember)
    found = []

    def inner(arrays):
        rest = iter(arrays)
        elements = [_element(leaf, axis_size, axis, lambda *_: next(rest)) for leaf, axis in zip(leaves, axes)]
        inner_args, inner_kwargs = _tree_unflatten(tree, elements)
        outs, out_tree = _tree_flatten(fun(*inner_args, **inner_kwargs), is_leaf=is_registered)
        found[:] = [outs, out_tree]
        parts = []
        for out in outs:
            _batch(out, axis_size, 0, lambda _, array, __: parts.append(array) or array)
        return parts

    _check_front(out_axes)
    parts = iter(_core.vmap_call(inner, (arrays,), {}, (places,), 0, axis_name, axis_size))
    outs, out_tree = found
    size = axis_size or next(array.shape[place] for array, place in zip(arrays, places) if place is not None)
    return _tree_unflatten(out_tree, [_batch(out, size, 0, lambda *_: next(parts)) for out in outs])
