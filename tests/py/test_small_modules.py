"""Small experimental modules beside live JAX: executables as bytes, topologies, layouts, places and notes for XLA."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")


def of(system, name):
    return importlib.import_module(f"{system.__name__}.experimental.{name}")


def outcome(system, function):
    """What a case gives: its text, or the class of its error."""
    try:
        return str(function(system))
    except Exception as error:
        return type(error).__name__


X = np.arange(6, dtype="f").reshape(2, 3)


def layouts(j):
    return of(j, "layout")


def compiled(j):
    return j.jit(lambda x, y: {"a": x + y}).lower(X, 1.0).compile()


def host(j, f):
    return of(j, "compute_on").compute_on(f, compute_type="device_host", out_memory_spaces=j.memory.Space.Device)


CASES = {
    "layout": lambda j: layouts(j).Layout((1, 0)), "automatic": lambda j: layouts(j).Format(layouts(j).Layout.AUTO),
    "no sharding": lambda j: layouts(j).Format(layouts(j).Layout((0, 1))), "no layout": lambda j: layouts(j).Format("x"),
    "no kind of sharding": lambda j: layouts(j).Format(layouts(j).Layout((0,)), "x"), "sharding alone": lambda j: layouts(j).Format(None, None),
    "equal layouts": lambda j: (layouts(j).Layout((1, 0)) == layouts(j).Layout((1, 0)), hash(layouts(j).Layout((0,))) == hash(layouts(j).Layout((0,)))),
    "of an array": lambda j: str(j.numpy.ones((2, 3)).format).split("sharding")[0],
    "put": lambda j: np.asarray(j.device_put(X, layouts(j).Format(layouts(j).Layout((0, 1)), j.numpy.ones(1).sharding))),
    "put of another rank": lambda j: j.device_put(X, layouts(j).Format(layouts(j).Layout((1,)), j.numpy.ones(1).sharding)),
    "put anywhere": lambda j: j.device_put(X, layouts(j).Format(layouts(j).Layout.AUTO, j.numpy.ones(1).sharding)),
    "formats of arguments": lambda j: [f.layout for f in compiled(j).input_formats[0]], "formats of results": lambda j: compiled(j).output_formats["a"].layout,
    "shardings of arguments": lambda j: len(compiled(j).input_shardings[0]), "shardings of results": lambda j: list(compiled(j).output_shardings),
    "arguments anywhere": lambda j: j.jit(lambda x: x, in_shardings=layouts(j).Format(layouts(j).Layout.AUTO))(X),
    "results anywhere": lambda j: j.jit(lambda x: x * 2, out_shardings=layouts(j).Format(layouts(j).Layout.AUTO))(X),
    "an executable": lambda j: of(j, "serialize_executable").deserialize_and_load(*of(j, "serialize_executable").serialize(compiled(j)))(X, 2.0),
    "structures of an executable": lambda j: of(j, "serialize_executable").serialize(compiled(j))[1:],
    "devices": lambda j: len(of(j, "topologies").get_attached_topology().devices), "a mesh": lambda j: of(j, "topologies").make_mesh(
        of(j, "topologies").get_attached_topology(), (1,), ("x",)).axis_names,
    "cpu": lambda j: of(j, "topologies").get_topology_desc(platform="cpu"), "tpu": lambda j: of(j, "topologies").get_topology_desc("v5e", platform="tpu"),
    "on the host": lambda j: host(j, lambda x: x * 2)(X), "slope on the host": lambda j: j.grad(lambda x: host(j, lambda x: x * x)(x).sum())(X),
    "nowhere": lambda j: of(j, "compute_on").compute_on(lambda x: x, compute_type="moon", out_memory_spaces=j.memory.Space.Device)(X),
    "a noted value": lambda j: j.jit(lambda x: of(j, "xla_metadata").set_xla_metadata(x * 2, key="value") + 1)(X),
    "slope of a noted value": lambda j: j.vmap(j.grad(lambda x: of(j, "xla_metadata").set_xla_metadata(x * x, key="value")))(X[0]),
    "equations of a noted value": lambda j: [e.primitive.name for e in j.make_jaxpr(
        lambda x: of(j, "xla_metadata").set_xla_metadata(x, key="value"))(X).eqns],
    "a noted call": lambda j: of(j, "xla_metadata").xla_metadata_call(lambda x: x * 3, note="a")(X), "within": lambda j: within(j)(X),
    "a group": lambda j: of(j, "scheduling_groups").scheduling_group("g")(lambda x: x * 3)(X),
}  # fmt: skip


def within(j):
    @of(j, "xla_metadata").set_xla_metadata(q=1)
    def decorated(x):
        with of(j, "xla_metadata").set_xla_metadata(a="b"):
            return x + 1

    return j.jit(decorated)


@pytest.mark.parametrize("name", CASES)
def test_it_does_what_jax_does(name):
    assert outcome(pullback, CASES[name]) == outcome(jax, CASES[name])


def test_changed_executables_are_an_error():
    module = of(pullback, "serialize_executable")
    blob, *trees = module.serialize(compiled(pullback))
    for at in range(0, len(blob), 11):
        with pytest.raises(ValueError):
            module.deserialize_and_load(blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :], *trees)


def test_other_orders_of_axes_are_refused():
    with pytest.raises(NotImplementedError, match="row-major"):
        pullback.device_put(X, layouts(pullback).Format(layouts(pullback).Layout((1, 0)), pullback.numpy.ones(1).sharding))
