"""Utilities for trees of containers (pytrees)."""

import collections as _collections
import functools as _functools
from typing import Any as _Any

from pullback._core import user_error as _user_error
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
      nodetype: the class; subclasses are not included.
      flatten_func: from an instance to a pair of its children and of static data, which must be hashable and comparable where
        instances go through `jit`.
      unflatten_func: from static data and children to an instance. Children may be any objects, tracers among them.
      flatten_with_keys_func: as `flatten_func`, with pairs of key and child in place of children.
    Returns: None.
    Raises:
      ValueError: the class is registered already.
      TypeError: `nodetype` is no class.
    Differentiable: yes; children are passed unchanged.
    Example:
      >>> class Pair:
      ...     def __init__(self, x, y):
      ...         self.x, self.y = x, y
      >>> jax.tree_util.register_pytree_node(Pair, lambda p: ((p.x, p.y), None), lambda _, children: Pair(*children))
      >>> jax.tree.leaves(Pair(1, [2, 3]))
      [1, 2, 3]
    """
    _core.register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_node_class(cls):
    """Registers a class with methods `tree_flatten` and `tree_unflatten` as a container. A decorator.

    Args:
      cls: a class with `tree_flatten(self)`, which gives children and static data, and the class method
        `tree_unflatten(cls, static_data, children)`.
    Returns: the class.
    Raises:
      ValueError: the class is registered already.
      AttributeError: it lacks `tree_unflatten`.
    Differentiable: yes; children are passed unchanged.
    Example:
      >>> @jax.tree_util.register_pytree_node_class
      ... class Box:
      ...     def __init__(self, x):
      ...         self.x = x
      ...     def tree_flatten(self):
      ...         return (self.x,), None
      ...     @classmethod
      ...     def tree_unflatten(cls, static_data, children):
      ...         return cls(*children)
      >>> jax.tree.map(lambda x: x + 1, Box(1)).x
      2
    """
    register_pytree_node(cls, _functools.partial(_call_method, "tree_flatten"), cls.tree_unflatten)
    return cls


def _call_method(name, instance):
    return getattr(instance, name)()


def register_pytree_with_keys(nodetype, flatten_with_keys, unflatten_func, flatten_func=None):
    """Registers a class as a container whose children have keys, which key paths show.

    Args:
      nodetype: the class; subclasses are not included.
      flatten_with_keys: from an instance to a pair of its pairs of key and child, and of static data.
      unflatten_func: from static data and children to an instance.
      flatten_func: as `flatten_with_keys` without the keys; by default made of it.
    Returns: None.
    Raises:
      ValueError: the class is registered already.
      TypeError: `nodetype` is no class.
    Differentiable: yes; children are passed unchanged.
    Example:
      >>> class Box:
      ...     def __init__(self, x):
      ...         self.x = x
      >>> key = jax.tree_util.GetAttrKey("x")
      >>> jax.tree_util.register_pytree_with_keys(Box, lambda b: (((key, b.x),), None), lambda _, children: Box(*children))
      >>> [(path, leaf)], _ = jax.tree.flatten_with_path(Box(1))
      >>> jax.tree_util.keystr(path)
      '.x'
    """
    if flatten_func is None:

        def flatten_func(instance):
            keyed, aux = flatten_with_keys(instance)
            return [child for _, child in keyed], aux

    _core.register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_with_keys_class(cls):
    """Registers a class with methods `tree_flatten_with_keys` and `tree_unflatten` as a container. A decorator.

    Args:
      cls: a class with `tree_flatten_with_keys(self)`, which gives pairs of key and child, and static data; the class method
        `tree_unflatten(cls, static_data, children)`; and optionally `tree_flatten(self)`, without the keys.
    Returns: the class.
    Raises:
      ValueError: the class is registered already.
      AttributeError: it lacks `tree_unflatten`.
    Differentiable: yes; children are passed unchanged.
    Example:
      >>> @jax.tree_util.register_pytree_with_keys_class
      ... class Box:
      ...     def __init__(self, x):
      ...         self.x = x
      ...     def tree_flatten_with_keys(self):
      ...         return ((jax.tree_util.GetAttrKey("x"), self.x),), None
      ...     @classmethod
      ...     def tree_unflatten(cls, static_data, children):
      ...         return cls(*children)
      >>> jax.tree.leaves(Box([1, 2]))
      [1, 2]
    """
    plain = _functools.partial(_call_method, "tree_flatten") if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(cls, _functools.partial(_call_method, "tree_flatten_with_keys"), cls.tree_unflatten, plain)
    return cls


def register_dataclass(nodetype, data_fields=None, meta_fields=None, drop_fields=()):
    """Registers a class as a container of its data fields; meta fields are static. Also a decorator.

    Args:
      nodetype: a dataclass, or with both lists of fields any class whose constructor takes them by name.
      data_fields: names of the children. By default, with `meta_fields`, the fields that the constructor takes, those whose
        metadata has a true "static" being meta fields.
      meta_fields: names of static fields: hashable and comparable where instances go through `jit`.
      drop_fields: names of fields of the constructor that are in neither list.
    Returns: the class.
    Raises:
      TypeError: only one of the lists is given, or none for a class that is no dataclass.
      ValueError: the lists have other fields than the constructor takes; the class is registered already.
    Differentiable: yes; data fields are passed unchanged.
    Example:
      >>> import dataclasses
      >>> @jax.tree_util.register_dataclass
      ... @dataclasses.dataclass
      ... class Layer:
      ...     weights: object
      ...     name: str = dataclasses.field(metadata={"static": True})
      >>> jax.tree.map(lambda x: 2 * x, Layer([1, 2], "first"))
      Layer(weights=[2, 4], name='first')
    """
    import dataclasses

    if (data_fields is None) != (meta_fields is None):
        raise _user_error(TypeError, "register_dataclass: data_fields and meta_fields must both be specified when either is specified.")
    if data_fields is None:
        if not dataclasses.is_dataclass(nodetype):
            raise _user_error(
                TypeError,
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
        raise _user_error(ValueError, f"data_fields and meta_fields must include all dataclass fields with init=True and only them. Unexpected fields: {unexpected}.")
    if missing := wanted - given:
        raise _user_error(
            ValueError,
            "data_fields and meta_fields must include all dataclass fields with init=True and only them. "
            f"Missing fields: {missing}. Add them to drop_fields to suppress this error."
        )


def tree_all(tree, *, is_leaf=None):
    """Whether all leaves are true.

    Args:
      tree: a tree of objects with a truth value.
      is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
    Returns: a bool; True for a tree without leaves.
    Raises:
      ValueError: a leaf is an array of several elements.
    Differentiable: no; the result is a Python bool.
    Example:
      >>> jax.tree.all([True, {"a": 1}]), jax.tree.all([True, 0])
      (True, False)
    """
    return all(tree_leaves(tree, is_leaf))


def tree_leaves_with_path(tree, is_leaf=None, is_leaf_takes_path=False):
    """Pairs of key path and leaf of a tree, from left to right.

    Args:
      tree: any object; what is no container is a leaf.
      is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
      is_leaf_takes_path: whether `is_leaf` is a function of key path and node.
    Returns: a list of pairs.
    Raises:
      ValueError: keys of a dict that cannot be compared.
    Differentiable: yes; leaves are passed unchanged.
    Example:
      >>> [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree.leaves_with_path([1, (2, 3)])]
      [('[0]', 1), ('[1][0]', 2), ('[1][1]', 3)]
    """
    return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def _up_to(treedef, tree, prefix, is_leaf, name):
    """The parts of a tree at the leaves of its prefix; what differs is said with the place where it does."""
    from pullback._tree_errors import prefix_errors

    try:
        return treedef.flatten_up_to(tree)
    except ValueError:
        found = prefix_errors(prefix, tree, is_leaf)
        if not found:
            raise
        raise found[0](name) from None


def tree_map_with_path(f, tree, *rest, is_leaf=None, is_leaf_takes_path=False):
    """The tree of `f` of key paths, of the leaves of `tree`, and of the parts of `rest` at the same places.

    Args:
      f: a function of a key path, a leaf of `tree`, and one part of each tree of `rest`.
      tree: any object; what is no container is a leaf.
      rest: trees that have the structure of `tree` above its leaves.
      is_leaf: a predicate of nodes of `tree`; where it is true, the node is a leaf whatever it is.
      is_leaf_takes_path: whether `is_leaf` is a function of key path and node.
    Returns: a tree of the structure of `tree`.
    Raises:
      ValueError: a tree of `rest` has another structure.
    Differentiable: as `f` is.
    Example:
      >>> jax.tree.map_with_path(lambda path, x: jax.tree_util.keystr(path) + "=" + str(x), {"a": [1, 2]})
      {'a': ["['a'][0]=1", "['a'][1]=2"]}
    """
    keyed, treedef = tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = [_up_to(treedef, other, tree, is_leaf, "tree_map_with_path tree") for other in rest]
    return treedef.unflatten(f(*row) for row in zip(*zip(*keyed), *columns)) if keyed else treedef.unflatten(())


def tree_reduce(function, tree, initializer=_unspecified, is_leaf=None):
    """Folds the leaves from left to right.

    Args:
      function: a function of what is folded so far and of a leaf.
      tree: any object; what is no container is a leaf.
      initializer: what the fold starts with; by default the first leaf.
      is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
    Returns: what the last call of `function` gave.
    Raises:
      TypeError: the tree has no leaves and there is no initializer.
    Differentiable: as `function` is.
    Example:
      >>> jax.tree.reduce(lambda x, y: x + y, {"a": 1, "b": [2, 3]}, 10)
      16
    """
    if isinstance(initializer, Unspecified):
        return _functools.reduce(function, tree_leaves(tree, is_leaf))
    return _functools.reduce(function, tree_leaves(tree, is_leaf), initializer)


def tree_reduce_associative(operation, tree, *, identity=_unspecified, is_leaf=None):
    """Folds the leaves pairwise, as a balanced tree of logarithmic depth.

    Args:
      operation: an associative function of two neighbours.
      tree: any object; what is no container is a leaf.
      identity: the result for a tree without leaves.
      is_leaf: a predicate of nodes; where it is true, the node is a leaf whatever it is.
    Returns: what the last call of `operation` gave; the leaf itself if there is one.
    Raises:
      TypeError: the tree has no leaves and there is no identity.
    Differentiable: as `operation` is.
    Example:
      >>> jax.tree.reduce_associative(lambda x, y: f"({x}{y})", ["a", "b", "c", "d"])
      '((ab)(cd))'
    """
    leaves = tree_leaves(tree, is_leaf)
    if not leaves:
        if isinstance(identity, Unspecified):
            raise _user_error(TypeError, "Must specify identity for parallel reduction of empty sequence.")
        return identity
    while len(leaves) > 1:
        pairs = [operation(a, b) for a, b in zip(leaves[::2], leaves[1::2])]
        leaves = pairs + leaves[len(pairs) * 2 :]
    return leaves[0]


def tree_transpose(outer_treedef, inner_treedef, pytree_to_transpose):
    """Turns a tree of trees inside out: the inner structure becomes the outer one.

    Args:
      outer_treedef: the structure of the tree.
      inner_treedef: the structure at each leaf of it; None takes that of the first.
      pytree_to_transpose: a tree of the structure `outer_treedef.compose(inner_treedef)`.
    Returns: the tree of the structure `inner_treedef.compose(outer_treedef)` with the same leaves.
    Raises:
      TypeError: the tree has another structure.
    Differentiable: yes; leaves are passed unchanged.
    Example:
      >>> jax.tree.transpose(jax.tree.structure([0, 0]), jax.tree.structure({"a": 0}), [{"a": 1}, {"a": 2}])
      {'a': [1, 2]}
    """
    flat, treedef = tree_flatten(pytree_to_transpose)
    if inner_treedef is None:
        inner_treedef = tree_structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    n_inner, n_outer = inner_treedef.num_leaves, outer_treedef.num_leaves
    if treedef.num_leaves != n_inner * n_outer:
        raise _user_error(TypeError, f"Mismatch\n{treedef}\n != \n{outer_treedef.compose(inner_treedef)}")
    rows = [flat[start : start + n_inner] for start in range(0, len(flat), n_inner)] if n_inner else []
    return inner_treedef.unflatten(outer_treedef.unflatten(column) for column in zip(*rows)) if n_inner else inner_treedef.unflatten(())


def tree_broadcast(prefix_tree, full_tree, is_leaf=None):
    """The prefix with each leaf repeated to the structure of the full tree.

    Args:
      prefix_tree: a tree that has the structure of `full_tree` as far as it goes.
      full_tree: a tree; only its structure is used.
      is_leaf: a predicate of nodes of both; where it is true, the node is a leaf whatever it is.
    Returns: a tree of the structure of `full_tree`.
    Raises:
      ValueError: `prefix_tree` is no prefix of `full_tree`.
    Differentiable: yes; leaves are passed unchanged.
    Example:
      >>> jax.tree.broadcast([1, 2], [(0, 0), {"a": 0}])
      [(1, 1), {'a': 2}]
    """
    leaves, prefix = tree_flatten(prefix_tree, is_leaf)
    parts = _up_to(prefix, full_tree, prefix_tree, is_leaf, "broadcast_prefix prefix_tree")
    times = [tree_structure(part, is_leaf).num_leaves for part in parts]
    repeated = [leaf for leaf, n in zip(leaves, times) for _ in range(n)]
    return tree_structure(full_tree, is_leaf).unflatten(repeated)


def _is_container(x):
    return not treedef_is_leaf(tree_structure(x))


def is_tree_node(typ):
    """Whether instances of a type are containers: built-in ones, named tuples, or registered ones.

    Args:
      typ: a type.
    Returns: a bool.
    Raises:
      TypeError: None is given; its type is a container without children.
    Differentiable: no; values are not looked at.
    Example:
      >>> jax.tree_util.is_tree_node(list), jax.tree_util.is_tree_node(float)
      (True, False)
    """
    if not isinstance(typ, type):
        if typ is None:
            raise _user_error(TypeError, "is_tree_node takes a type, got None; its type is types.NoneType")
        return False
    is_named_tuple = issubclass(typ, tuple) and hasattr(typ, "_fields")
    return typ in _BUILT_IN or is_named_tuple or _core.is_registered(typ)


_BUILT_IN = (list, tuple, dict, type(None), _collections.OrderedDict, _collections.defaultdict)


def static(**kwargs):
    """A field of a dataclass that is static once `register_dataclass` makes it a container: no child, but part of its structure.

    Args:
      **kwargs: what `dataclasses.field` takes; `metadata` gains `static=True`.
    Returns: a field.
    Raises:
      TypeError: an argument that `dataclasses.field` does not take.
    Differentiable: no; static fields are no arrays.
    Example:
      >>> import dataclasses
      >>> @jax.tree_util.register_dataclass
      ... @dataclasses.dataclass
      ... class Layer:
      ...     weights: object
      ...     name: str = jax.tree.static(default="first")
      >>> jax.tree.leaves(Layer([1, 2]))
      [1, 2]
    """
    import dataclasses

    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **kwargs)


class _Registry:
    """What other libraries read of the registry of containers."""

    def flatten(self, tree, leaf_predicate=None):
        return tree_flatten(tree, leaf_predicate)

    def flatten_one_level(self, tree):
        """Children and static data of a container; `None` for a leaf."""
        return None if not _is_container(tree) else flatten_one_level(tree)

    def flatten_one_level_with_keys(self, tree):
        return None if not _is_container(tree) else flatten_one_level_with_keys(tree)

    def register_node(self, nodetype, to_iterable, from_iterable, to_iterable_with_keys=None):
        _core.register_pytree_node(nodetype, to_iterable, from_iterable, to_iterable_with_keys)


default_registry = _Registry()


def _static_of(structure):
    """What a container has that is no child; the keys of a dict as a tuple."""
    kind, static = structure.node_data()
    return tuple(static) if kind is dict else static


def flatten_one_level(tree):
    """Children and static data of a container.

    Args:
      tree: a container.
    Returns: a tuple of trees (of lists and registered classes a list), and the data that is no child: sorted keys of a dict, None of a list.
    Raises:
      ValueError: `tree` is a leaf.
    Differentiable: yes; children are passed unchanged.
    Example:
      >>> jax.tree_util.flatten_one_level({"b": [1, 2], "a": 3})
      ((3, [1, 2]), ('a', 'b'))
    """
    if not _is_container(tree):
        raise _user_error(ValueError, f"can't tree-flatten type: {type(tree)}")
    outer = tree_structure(tree, is_leaf=lambda node: node is not tree)
    children = outer.flatten_up_to(tree)
    return tuple(children) if type(tree) in (tuple, dict, type(None)) else children, _static_of(outer)


def flatten_one_level_with_keys(tree):
    """Pairs of key and child, and static data of a container.

    Args:
      tree: a container.
    Returns: a tuple of pairs (of registered classes a list), and the data that is no child: sorted keys of a dict, None of a list.
    Raises:
      ValueError: `tree` is a leaf.
    Differentiable: yes; children are passed unchanged.
    Example:
      >>> jax.tree_util.flatten_one_level_with_keys([1, (2,)])
      (((SequenceKey(idx=0), 1), (SequenceKey(idx=1), (2,))), None)
    """
    if not _is_container(tree):
        raise _user_error(ValueError, f"can't tree-flatten type: {type(tree)}")
    children = _core._keyed_children(tree)
    is_own = type(tree) in (list, tuple, dict, type(None))
    return tuple(children) if is_own else list(children), _static_of(tree_structure(tree))


class Partial(_functools.partial):
    """`functools.partial` as a container: its arguments are leaves, its function is static.

    So a function with its data goes through `jit` and other transformations as an argument.

    Attributes:
      func: the function; partials are equal as structures when their functions are.
      args, keywords: the arguments: trees.

    Example:
      >>> add = jax.tree_util.Partial(jnp.add, 1)
      >>> int(jax.jit(lambda f, x: f(x))(add, 2))
      3
    """

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


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "Unspecified", "static",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
