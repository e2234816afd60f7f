"""Utilities for trees of containers (pytrees)."""

import functools as _functools
from typing import Any as _Any

from pullback import _core
from pullback._core import (
    DictKey as DictKey,
    FlattenedIndexKey as FlattenedIndexKey,
    GetAttrKey as GetAttrKey,
    PyTreeDef as PyTreeDef,
    SequenceKey as SequenceKey,
    all_leaves as all_leaves,
    keystr as keystr,
    register_static as register_static,
    tree_flatten as tree_flatten,
    tree_flatten_with_path as tree_flatten_with_path,
    tree_leaves as tree_leaves,
    tree_map as tree_map,
    tree_structure as tree_structure,
    tree_unflatten as tree_unflatten,
    treedef_children as treedef_children,
    treedef_is_leaf as treedef_is_leaf,
    treedef_tuple as treedef_tuple,
)

KeyEntry = _Any
KeyPath = tuple[KeyEntry, ...]


class Unspecified:
    """The default of an argument that was not given."""

    def __repr__(self):
        return "<unspecified>"


_unspecified = Unspecified()


def register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func=None):
    """Registers a class as a container.

    Args:
      nodetype: the class.
      flatten_func: from an instance to a pair of its children and of static, hashable data.
      unflatten_func: from static data and children to an instance.
      flatten_with_keys_func: as `flatten_func`, with pairs of key and child in place of children.
    """
    _core.register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_node_class(cls):
    """Registers a class with methods `tree_flatten` and `tree_unflatten` as a container; a decorator."""
    register_pytree_node(cls, _functools.partial(_call_method, "tree_flatten"), cls.tree_unflatten)
    return cls


def _call_method(name, instance):
    return getattr(instance, name)()


def register_pytree_with_keys(nodetype, flatten_with_keys, unflatten_func, flatten_func=None):
    """Registers a class as a container whose children have keys."""
    if flatten_func is None:

        def flatten_func(instance):
            keyed, aux = flatten_with_keys(instance)
            return [child for _, child in keyed], aux

    _core.register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls):
    """Registers a class with methods `tree_flatten_with_keys` and `tree_unflatten`; a decorator."""
    plain = _functools.partial(_call_method, "tree_flatten") if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(cls, _functools.partial(_call_method, "tree_flatten_with_keys"), cls.tree_unflatten, plain)
    return cls


def register_dataclass(nodetype, data_fields=None, meta_fields=None, drop_fields=()):
    """Registers a dataclass as a container of its data fields; meta fields are static. Also a decorator."""
    import dataclasses

    if (data_fields is None) != (meta_fields is None):
        raise TypeError("register_dataclass: data_fields and meta_fields must both be specified when either is specified.")
    if data_fields is None:
        if not dataclasses.is_dataclass(nodetype):
            raise TypeError(
                "register_dataclass: data_fields and meta_fields are required when nodetype is not a dataclass. "
                f"Got {nodetype=}."
            )
        fields = [field for field in dataclasses.fields(nodetype) if field.init and field.name not in drop_fields]
        data_fields = [field.name for field in fields if not field.metadata.get("static", False)]
        meta_fields = [field.name for field in fields if field.metadata.get("static", False)]
    data_fields, meta_fields = tuple(data_fields), tuple(meta_fields)
    if dataclasses.is_dataclass(nodetype):
        _check_fields(nodetype, {*data_fields, *meta_fields}, {*drop_fields})
    _core._register_dataclass(nodetype, data_fields, meta_fields)
    return nodetype


def _check_fields(nodetype, given, dropped):
    import dataclasses

    wanted = {field.name for field in dataclasses.fields(nodetype) if field.init} - dropped
    if unexpected := given - wanted:
        raise ValueError(f"data_fields and meta_fields must include all dataclass fields with init=True and only them. Unexpected fields: {unexpected}.")
    if missing := wanted - given:
        raise ValueError(
            "data_fields and meta_fields must include all dataclass fields with init=True and only them. "
            f"Missing fields: {missing}. Add them to drop_fields to suppress this error."
        )


def tree_all(tree, *, is_leaf=None):
    """Whether all leaves are true."""
    return all(tree_leaves(tree, is_leaf))


def tree_leaves_with_path(tree, is_leaf=None, is_leaf_takes_path=False):
    """Pairs of key path and leaf."""
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def tree_map_with_path(f, tree, *rest, is_leaf=None, is_leaf_takes_path=False):
    """The tree of `f(path, leaf, *leaves of rest)`."""
    keyed, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = [treedef.flatten_up_to(other) for other in rest]
    return treedef.unflatten(f(*row) for row in zip(*zip(*keyed), *columns)) if keyed else treedef.unflatten(())


def tree_reduce(function, tree, initializer=_unspecified, is_leaf=None):
    """Folds the leaves from left to right."""
    if isinstance(initializer, Unspecified):
        return _functools.reduce(function, tree_leaves(tree, is_leaf))
    return _functools.reduce(function, tree_leaves(tree, is_leaf), initializer)


def tree_reduce_associative(operation, tree, *, identity=_unspecified, is_leaf=None):
    """Folds the leaves pairwise, as a balanced tree."""
    leaves = tree_leaves(tree, is_leaf)
    if not leaves:
        if isinstance(identity, Unspecified):
            raise ValueError("Must specify identity for parallel reduction of empty tree.")
        return identity
    while len(leaves) > 1:
        pairs = [operation(a, b) for a, b in zip(leaves[::2], leaves[1::2])]
        leaves = pairs + leaves[len(pairs) * 2 :]
    return leaves[0]


def tree_transpose(outer_treedef, inner_treedef, pytree_to_transpose):
    """Turns a tree of trees inside out."""
    flat, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    n_inner, n_outer = inner_treedef.num_leaves, outer_treedef.num_leaves
    if treedef.num_leaves != n_inner * n_outer or treedef != outer_treedef.compose(inner_treedef):
        raise TypeError(f"Mismatch\n{treedef}\n != \n{outer_treedef.compose(inner_treedef)}")
    rows = [flat[start : start + n_inner] for start in range(0, len(flat), n_inner)] if n_inner else []
    return inner_treedef.unflatten(outer_treedef.unflatten(column) for column in zip(*rows)) if n_inner else inner_treedef.unflatten(())


def tree_broadcast(prefix_tree, full_tree, is_leaf=None):
    """The prefix with each leaf repeated to the structure of the full tree."""
    treedef = tree_structure(full_tree, is_leaf)
    return treedef.unflatten(_core._broadcast_prefix(prefix_tree, treedef))


def is_tree_node(x):
    """Whether `x` is a container."""
    return not treedef_is_leaf(tree_structure(x))


class _Registry:
    """What other libraries read of the registry of containers."""

    def flatten(self, tree, leaf_predicate=None):
        return tree_flatten(tree, leaf_predicate)

    def flatten_one_level(self, tree):
        """Children and static data of a container; `None` for a leaf."""
        return None if not is_tree_node(tree) else flatten_one_level(tree)

    def flatten_one_level_with_keys(self, tree):
        return None if not is_tree_node(tree) else flatten_one_level_with_keys(tree)

    def register_node(self, nodetype, to_iterable, from_iterable, to_iterable_with_keys=None):
        _core.register_pytree_node(nodetype, to_iterable, from_iterable, to_iterable_with_keys)


default_registry = _Registry()


def flatten_one_level(tree):
    """Children and static data of a container."""
    if not is_tree_node(tree):
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    outer = tree_structure(tree, is_leaf=lambda node: node is not tree)
    return outer.flatten_up_to(tree), outer.node_data()[1]


def flatten_one_level_with_keys(tree):
    """Pairs of key and child, and static data of a container."""
    if not is_tree_node(tree):
        raise ValueError(f"can't tree-flatten type: {type(tree)}")
    return _core._keyed_children(tree), tree_structure(tree).node_data()[1]


class Partial(_functools.partial):
    """`functools.partial` as a container: its arguments are leaves, its function is static."""

    def __new__(klass, func, *args, **kw):
        # A partial of a partial keeps the inner one as its function, so that both flatten.
        if isinstance(func, _functools.partial) and not isinstance(func, Partial):
            func = _HashablePartial(func)
        return super().__new__(klass, func, *args, **kw)


class _HashablePartial:
    """A `functools.partial` that compares by what it holds."""

    def __init__(self, original):
        self.original = original

    def __eq__(self, other):
        return isinstance(other, _HashablePartial) and self._key() == other._key()

    def _key(self):
        return self.original.func, self.original.args, tuple(sorted(self.original.keywords.items()))

    def __hash__(self):
        return hash(self.original.func)

    def __call__(self, *args, **kw):
        return self.original(*args, **kw)


def _flatten_partial(partial):
    return (partial.args, partial.keywords), partial.func


def _flatten_partial_with_keys(partial):
    return ((GetAttrKey("args"), partial.args), (GetAttrKey("keywords"), partial.keywords)), partial.func


def _unflatten_partial(func, children):
    args, keywords = children
    return Partial(func, *args, **keywords)


register_pytree_with_keys(Partial, _flatten_partial_with_keys, _unflatten_partial, _flatten_partial)
