"""How two trees differ, part by part, and why a tree is no prefix of another."""

from pullback import _core
from pullback.tree_util import tree_structure


def _is_leaf_node(x, is_leaf):
    return (is_leaf is not None and is_leaf(x)) or tree_structure(x) == tree_structure(0)


def _metadata(x):
    data = tree_structure(x).node_data()
    aux = None if data is None else data[1]
    return tuple(aux) if isinstance(aux, list) else aux


def _counted(x, n):
    return f"{type(x)} with {n} child{'ren' if n > 1 else ''}"


def _difference(a, b, ours, theirs):
    """How two containers of one type differ at their root: texts of both and the reason; None if they do not."""
    if isinstance(a, (tuple, list)) and len(ours) != len(theirs):
        kind = type(a).__name__
        return f"{kind} of length {len(ours)}", f"{kind} of length {len(theirs)}", "the lengths do not match"
    if len(ours) != len(theirs):
        keys = [{key for key, _ in children} for children in (ours, theirs)]
        apart = {getattr(key, "key", getattr(key, "name", key)) for key in keys[0] ^ keys[1]}
        why = f"the numbers of children do not match, with the symmetric difference of key sets: {apart}"
        return _counted(a, len(ours)), _counted(b, len(theirs)), why
    if _metadata(a) != _metadata(b):
        texts = [f"{type(x)} with pytree metadata {_metadata(x)}" for x in (a, b)]
        return *texts, "the pytree node metadata does not match"
    return None


def equality_errors(tree1, tree2, is_leaf=None):
    """Where two trees differ in structure: tuples of a key path, what is there in each tree, and why these differ."""
    yield from _errors_at((), tree1, tree2, is_leaf)


def _errors_at(path, a, b, is_leaf):
    if _is_leaf_node(a, is_leaf) and _is_leaf_node(b, is_leaf):
        return
    if type(a) is not type(b):
        yield path, str(type(a)), str(type(b)), "their Python types differ"
        return
    ours, theirs = _core._keyed_children(a), _core._keyed_children(b)
    if (difference := _difference(a, b, ours, theirs)) is not None:
        yield path, *difference
        return
    for (key, one), (_, other) in zip(ours, theirs):
        yield from _errors_at((*path, key), one, other, is_leaf)


def prefix_errors(prefix_tree, full_tree, is_leaf=None):
    """Functions from a name of the prefix to the error that says why it is no prefix; none if it is one."""
    if _core._prefix_mismatch(prefix_tree, full_tree, "") is None:
        return []
    return [lambda name: ValueError(_core._prefix_mismatch(prefix_tree, full_tree, name))]
