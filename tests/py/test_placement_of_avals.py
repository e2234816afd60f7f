"""What types say of placement, and what functions that make arrays accept: the same as in JAX."""

import re

import numpy as np
import pytest

import pullback

SHARDINGS = {
    "aval": lambda j: j.typeof(j.numpy.ones((3, 4))).sharding,
    "aval attribute": lambda j: j.numpy.ones((3, 4)).aval.sharding,
    "aval of a number": lambda j: j.typeof(1.0).sharding,
    "spec": lambda j: j.typeof(j.numpy.ones((3, 4))).sharding.spec,
    "empty mesh": lambda j: j.typeof(1.0).sharding.mesh.empty,
    "is the mesh of no context": lambda j: j.typeof(1.0).sharding.mesh == j.sharding.get_abstract_mesh(),
    "memory kind": lambda j: j.typeof(1.0).sharding.memory_kind,
    "equal avals, equal shardings": lambda j: j.typeof(1.0).sharding == j.typeof(2).sharding,
    "abstract mesh": lambda j: j.sharding.NamedSharding(j.sharding.AbstractMesh((2,), ("x",)), j.P("x")),
    "size of an abstract mesh": lambda j: j.sharding.NamedSharding(j.sharding.AbstractMesh((2,), ("x",)), j.P("x")).num_devices,
    "types of no axes": lambda j: (
        j.sharding.AbstractMesh((), ()).are_all_axes_auto,
        j.sharding.AbstractMesh((), ()).are_all_axes_explicit,
    ),
}


@pytest.mark.parametrize("name", SHARDINGS)
def test_shardings_of_types(name, jax_oracle):
    assert repr(SHARDINGS[name](pullback)) == repr(SHARDINGS[name](jax_oracle))


def outcome(function):
    """The result as a list and its dtype, or the class of the error and the words that hold no class name or place."""
    try:
        result = function()
    except (AttributeError, TypeError, ValueError) as error:
        text = re.sub(r"<class '[^']*'>| of type: .*", "", str(error).split(" This error occurs")[0])
        return type(error).__name__, text.splitlines()[0]
    return np.asarray(result, np.float32).tolist(), str(result.dtype), bool(result.weak_type)


TRACED = {
    "sharding": lambda x: x.sharding,
    "committed": lambda x: x.committed,
}


@pytest.mark.parametrize("attribute", TRACED)
@pytest.mark.parametrize("transform", ["jit", "vmap", "grad"])
def test_tracers_lie_nowhere(transform, attribute, jax_oracle):
    def ask(j):
        found = []

        def f(x):
            found.append(outcome(lambda: TRACED[attribute](x)))
            return x.sum()

        getattr(j, transform)(f)(j.numpy.ones(2))
        return found

    assert ask(pullback) == ask(jax_oracle)


def given_shardings(j):
    sharding, mesh = j.sharding, j.sharding.Mesh(np.array(j.devices()[:1]), ("x",))
    return {
        "none": None,
        "spec without a mesh": j.P(),
        "of a type": j.typeof(j.numpy.ones(4)).sharding,
        "whole": sharding.NamedSharding(mesh, j.P()),
        "axis of the system": sharding.NamedSharding(mesh, j.P("x")),
        "one explicit device": sharding.NamedSharding(j.make_mesh((1,), ("x",)), j.P("x")),
        "one device": sharding.SingleDeviceSharding(j.devices()[0]),
    }


MAKERS = {
    "random.normal": lambda j, s: j.random.normal(j.random.key(0), (4,), out_sharding=s),
    "random.bits": lambda j, s: j.random.bits(j.random.key(0), (4,), "uint8", out_sharding=s),
    "random.poisson": lambda j, s: j.random.poisson(j.random.key(0), 3.0, (4,), out_sharding=s),
    "jnp.zeros": lambda j, s: j.numpy.zeros(4, out_sharding=s),
    "jit": lambda j, s: j.jit(lambda: j.random.normal(j.random.key(0), (4,), out_sharding=s))(),
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("given", given_shardings(pullback))
def test_a_sharding_that_splits_nothing_is_accepted(maker, given, jax_oracle):
    ours, theirs = (outcome(lambda j=j: MAKERS[maker](j, given_shardings(j)[given])) for j in (pullback, jax_oracle))
    assert ours == theirs


class Described:
    shape, dtype = (2,), np.dtype("int16")


PROTOTYPES = {
    "struct": lambda j: j.ShapeDtypeStruct((2, 3), j.numpy.bfloat16),
    "weak struct": lambda j: j.ShapeDtypeStruct((), np.float32, weak_type=True),
    "type": lambda j: j.typeof(j.numpy.ones(2)),
    "object with shape and dtype": lambda j: Described(),
    "array": lambda j: j.numpy.ones((2,), "int8"),
    "number": lambda j: 2.5,
    "list": lambda j: [1, 2],
}
LIKES = {
    "zeros_like": lambda j, x: j.numpy.zeros_like(x),
    "ones_like": lambda j, x: j.numpy.ones_like(x),
    "empty_like": lambda j, x: j.numpy.empty_like(x),
    "full_like": lambda j, x: j.numpy.full_like(x, 3),
    "dtype": lambda j, x: j.numpy.zeros_like(x, dtype="int32"),
    "shape": lambda j, x: j.numpy.ones_like(x, shape=(4,)),
    "under jit": lambda j, x: j.jit(lambda: j.numpy.full_like(x, 3))(),
}


@pytest.mark.parametrize("like", LIKES)
@pytest.mark.parametrize("prototype", PROTOTYPES)
def test_a_description_is_a_prototype(like, prototype, jax_oracle):
    ours, theirs = (outcome(lambda j=j: LIKES[like](j, PROTOTYPES[prototype](j))) for j in (pullback, jax_oracle))
    assert ours == theirs


def test_lax_full_like_of_a_description(jax_oracle):
    for prototype in ("struct", "type", "object with shape and dtype"):
        ours, theirs = (outcome(lambda j=j: j.lax.full_like(PROTOTYPES[prototype](j), 3)) for j in (pullback, jax_oracle))
        assert ours == theirs


def test_names_of_contexts_of_meshes():
    mesh = pullback.make_mesh((1,), ("x",))
    with pullback.set_mesh(mesh):
        assert pullback.get_mesh() == mesh and pullback.get_abstract_mesh() == mesh.abstract_mesh
        with pullback.use_abstract_mesh(mesh.abstract_mesh):
            assert pullback.get_abstract_mesh().axis_names == ("x",)
    assert pullback.get_mesh().empty


def test_copying_to_the_host_leaves_the_tree():
    tree = {"a": pullback.numpy.ones(2), "b": 3, "c": None}
    assert pullback.copy_to_host_async(tree) is tree


def test_garbage_collection_is_not_guarded():
    with pullback.array_garbage_collection_guard("allow"):
        pass
    with pytest.raises(NotImplementedError, match="gc.DEBUG_SAVEALL"):
        pullback.array_garbage_collection_guard("log")
