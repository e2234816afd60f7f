"""Trees flatten, print and fail as in JAX."""

import collections
import dataclasses
import pickle
import re

import pytest

import pullback

Point = collections.namedtuple("Point", "x y")
Size = collections.namedtuple("Size", "x y")


def outcome(module, expression):
    """What an expression gives as text, or the exception and its message, without the user's line that only we name."""
    try:
        return repr(expression(module))
    except Exception as error:
        return re.sub(r"\n  at .*", "", f"{type(error).__name__}: {error}")


EXPRESSIONS = {
    "named tuple": lambda j: j.tree.structure(Point(1, 2)),
    "ordered dict": lambda j: j.tree.structure(collections.OrderedDict(b=1, a=2)),
    "default dict": lambda j: j.tree.structure(collections.defaultdict(int, a=2)),
    "empties": lambda j: j.tree.structure([None, (), {}, []]),
    "keys are sorted": lambda j: j.tree.map(lambda a: a, {"z": 1, "a": 2}),
    "keys that do not compare": lambda j: j.tree.flatten({1: 1, "a": 2}),
    "is_leaf stops": lambda j: j.tree.leaves([(1, 2), [3]], is_leaf=lambda x: isinstance(x, tuple)),
    "None is no leaf": lambda j: j.tree.leaves([None, 1]),
    "lengths": lambda j: j.tree.map(lambda a, b: a, (1, 2), (1, 2, 3)),
    "types": lambda j: j.tree.map(lambda a, b: a, (1, 2), [1, 2]),
    "keys": lambda j: j.tree.map(lambda a, b: a, {"a": 1}, {"b": 1}),
    "missing keys": lambda j: j.tree.map(lambda a, b: a, {"a": 1, "b": 2}, {"b": 1}),
    "deep": lambda j: j.tree.map(lambda a, b: a, {"k": (1, [2])}, {"k": (1, [2, 3])}),
    "leaf against tuple": lambda j: j.tree.map(lambda a, b: a, (1, (2,)), (1, 5)),
    "None against leaf": lambda j: j.tree.map(lambda a, b: a, None, 1),
    "prefix": lambda j: j.tree.map(lambda a, b: b, (1,), (None,)),
    "too few": lambda j: j.tree.structure((1, 2)).unflatten([1]),
    "too many": lambda j: j.tree.structure((1, 2)).unflatten([1, 2, 3]),
    "flatten_up_to arity": lambda j: j.tree.structure((1, 2)).flatten_up_to((1, 2, 3)),
    "flatten_up_to list": lambda j: j.tree.structure((1, 2)).flatten_up_to([1, 2]),
    "flatten_up_to keys": lambda j: j.tree.structure({"a": 1}).flatten_up_to({"b": 1}),
    "flatten_up_to None": lambda j: j.tree.structure(None).flatten_up_to(1),
    "node_data": lambda j: [j.tree.structure(t).node_data() for t in ((1,), {"b": 1, "a": 2}, None, [1], 1)],
    "children": lambda j: j.tree.structure((1, [2])).children(),
    "compose": lambda j: j.tree.structure((1, 2)).compose(j.tree.structure([1, 1])),
    "paths": lambda j: j.tree.flatten_with_path({"a": (1, Point(2, 3))}),
    "keystr": lambda j: [j.tree_util.keystr(p) for p, _ in j.tree.leaves_with_path({"a": (1, Point(2, 3))})],
    "simple keystr": lambda j: [
        j.tree_util.keystr(p, simple=True, separator="/") for p, _ in j.tree.leaves_with_path({"a": (1, Point(2, 3))})
    ],
    "transpose": lambda j: j.tree.transpose(j.tree.structure([1, 1]), None, [(1, 2), (3, 4)]),
    "broadcast": lambda j: j.tree.broadcast((1, 2), ((3, 4), 5)),
    "reduce of nothing": lambda j: j.tree.reduce(lambda a, b: a + b, []),
    "all": lambda j: (j.tree.all([True, (1,)]), j.tree.all([0])),
    "partial": lambda j: j.tree.structure(j.tree_util.Partial(max, 1, b=2)),
    "transpose of other containers": lambda j: j.tree.transpose(j.tree.structure({"a": 1}), j.tree.structure([1]), {"b": 1}),
    "transpose of too few": lambda j: j.tree.transpose(j.tree.structure({"a": 1, "b": 1}), j.tree.structure([1]), {"b": 1}),
    "flatten_up_to named tuple": lambda j: j.tree.structure(Point(1, 2)).flatten_up_to(Size(1, 2)),
    "flatten_up_to plain tuple": lambda j: j.tree.structure(Point(1, 2)).flatten_up_to((1, 2)),
    "flatten_up_to ordered dict": lambda j: j.tree.structure(collections.OrderedDict(a=1)).flatten_up_to({"a": 1}),
    "paths of other keys": lambda j: j.tree.map_with_path(lambda *a: 0, {"a": {"c": 1}}, {"a": {"d": 1}}),
    "paths of fewer children": lambda j: j.tree.map_with_path(lambda *a: 0, {"p": {"w": 1, "b": 2}}, {"p": {"w": 1}}),
    "paths of other types": lambda j: j.tree.map_with_path(lambda *a: 0, [(1, 2)], [[1, 2]]),
    "paths of a leaf": lambda j: j.tree.map_with_path(lambda *a: 0, {"a": [1]}, {"a": 5}),
    "broadcast of other keys": lambda j: j.tree.broadcast({"a": 1}, {"b": 1}),
    "broadcast of None": lambda j: j.tree.broadcast({"a": None}, {"a": 1}),
    "broadcast of other types": lambda j: j.tree.broadcast([1, (2, 3)], [1, [2, 3]]),
    "map with is_leaf": lambda j: j.tree.map(lambda *a: 0, {"a": [1]}, {"a": [1], "b": 2}, is_leaf=lambda x: isinstance(x, tuple)),
    "equality": lambda j: (j.tree.structure((1, 2)) == j.tree.structure((3, 4)), j.tree.structure((1,)) != j.tree.structure([1])),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_trees_agree_with_jax(name, jax_oracle):
    assert outcome(pullback, EXPRESSIONS[name]) == outcome(jax_oracle, EXPRESSIONS[name])


def test_registered_classes_flatten_with_their_static_data():
    @pullback.tree_util.register_pytree_node_class
    class Scaled:
        def __init__(self, value, unit):
            self.value, self.unit = value, unit

        def tree_flatten(self):
            return (self.value,), self.unit

        @classmethod
        def tree_unflatten(cls, unit, children):
            return cls(*children, unit)

    doubled = pullback.tree.map(lambda x: 2 * x, Scaled(3, "m"))
    assert (doubled.value, doubled.unit) == (6, "m")
    assert str(pullback.tree.structure(Scaled(1, "m"))) == "PyTreeDef(CustomNode(Scaled[m], [*]))"
    with pytest.raises(ValueError, match="different pytree metadata"):
        pullback.tree.map(lambda a, b: a, Scaled(1, "m"), Scaled(1, "s"))


def test_dataclasses_have_data_and_static_fields():
    @pullback.tree_util.register_dataclass
    @dataclasses.dataclass
    class Layer:
        w: int
        name: str = dataclasses.field(metadata=dict(static=True))

    paths = [pullback.tree_util.keystr(path) for path, _ in pullback.tree.leaves_with_path(Layer(1, "a"))]
    assert paths == [".w"]
    assert pullback.tree.map(lambda x: x + 1, Layer(1, "a")) == Layer(2, "a")
    with pytest.raises(ValueError, match="Duplicate custom PyTreeDef type registration"):
        pullback.tree_util.register_dataclass(Layer)


def test_treedefs_hash_and_pickle():
    tree = pullback.tree.structure({"a": (1, [2])})
    assert pickle.loads(pickle.dumps(tree)) == tree
    assert len({tree, pullback.tree.structure({"a": (3, [4])})}) == 1


def test_keys_that_came_in_any_order_are_sorted_each_time():
    """The order of string keys is remembered by address; no dictionary may see another one's."""
    names = [f"k{i}" for i in range(7)]
    for turn in range(14):
        given = names[turn % 7 :] + names[: turn % 7]
        tree = {name: int(name[1:]) for name in (reversed(given) if turn % 2 else given)}
        assert pullback.tree.leaves(tree) == list(range(7))
        assert list(pullback.tree.map(lambda x: x, tree)) == names
    assert pullback.tree.structure({"b": 1, "a": 2}) == pullback.tree.structure({"a": 1, "b": 2})
    fresh = lambda: {"".join(["x", str(i)]): i for i in range(3)}
    assert pullback.tree.structure(fresh()) == pullback.tree.structure(fresh())
    assert pullback.tree.leaves({2: "b", 1: "a", 10: "c"}) == ["a", "b", "c"]


def test_static_data_of_a_dictionary_are_the_caller_s_own():
    tree = {"b": 1, "a": 2}
    pullback.tree.structure(tree).node_data()[1].clear()
    assert pullback.tree.leaves(tree) == [2, 1]
    assert pullback.tree.structure(tree).node_data()[1] == ["a", "b"]


def test_a_type_that_was_a_leaf_may_become_a_container():
    assert pullback.tree.leaves(range(3)) == [range(3)]
    pullback.tree_util.register_pytree_node(range, lambda r: (tuple(r), None), lambda _, children: list(children))
    assert pullback.tree.leaves(range(3)) == [0, 1, 2]


def test_a_map_takes_all_apart_before_its_first_call():
    """Containers come apart first, then come the calls, then containers are put together, as in JAX."""
    order = []

    class Box:
        def __init__(self, value):
            self.value = value

    def flatten(box):
        order.append("apart")
        return (box.value,), None

    def unflatten(_, children):
        order.append("together")
        return Box(*children)

    pullback.tree_util.register_pytree_node(Box, flatten, unflatten)
    mapped = pullback.tree.map(lambda x: order.append("call") or x + 1, {"b": [Box(1), (2, None)], "a": Box(3)})
    assert order == ["apart"] * 2 + ["call"] * 3 + ["together"] * 2
    assert (mapped["a"].value, mapped["b"][0].value, mapped["b"][1]) == (4, 2, (3, None))


def test_a_map_may_change_what_it_maps():
    """References of the map's own keep leaves and containers alive whatever the function does to the tree."""
    tree = {"a": [1.5, [2.5]], "b": {"c": 3.5}}

    def clear(x):
        tree.clear()
        return x

    assert pullback.tree.map(clear, tree) == {"a": [1.5, [2.5]], "b": {"c": 3.5}}
    items = [[1.5], 2.5]

    class Emptying:
        pass

    pullback.tree_util.register_pytree_node(Emptying, lambda _: (items.clear() or (), None), lambda *_: Emptying())
    items.insert(0, Emptying())
    assert pullback.tree.map(lambda x: x, items)[1:] == [[1.5], 2.5]
