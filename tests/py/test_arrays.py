"""Arrays and tracers as Python objects."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import pullback
import pullback.numpy as jnp

REPRS = {
    "vector": lambda j, jnp: repr(jnp.ones(3)),
    "matrix": lambda j, jnp: repr(jnp.arange(6.0).reshape(2, 3)),
    "weak": lambda j, jnp: repr(jnp.asarray(1.0)),
    "empty": lambda j, jnp: repr(jnp.zeros((0, 3))),
    "long": lambda j, jnp: repr(jnp.arange(2000)),
    "wide": lambda j, jnp: repr(jnp.arange(18) * 1000),
    "bfloat16": lambda j, jnp: repr(jnp.ones(2, jnp.bfloat16)),
    "bool": lambda j, jnp: repr(jnp.ones(2, bool)),
    "complex": lambda j, jnp: repr(jnp.ones(2, jnp.complex64)),
    "str": lambda j, jnp: str(jnp.ones((2, 2))),
    "format": lambda j, jnp: f"{jnp.float32(1.5):.3f}",
    "typeof": lambda j, jnp: repr(j.typeof(jnp.asarray(1.0))),
    "struct": lambda j, jnp: repr(j.ShapeDtypeStruct((3,), "f4")),
    "at": lambda j, jnp: repr(jnp.ones(2).at[0]),
    "device": lambda j, jnp: repr(j.devices()) + str(j.devices()[0]),
    "sharding": lambda j, jnp: repr(jnp.ones(2).sharding),
    "jit": lambda j, jnp: repr(j.jit(len)),
}


@pytest.mark.parametrize("name", REPRS)
def test_reprs_are_those_of_jax(name, jax_oracle):
    assert REPRS[name](pullback, pullback.numpy) == REPRS[name](jax_oracle, jax_oracle.numpy)


def test_tracers_show_their_transform():
    seen = {}

    def look(name):
        def f(x):
            seen[name] = repr(x)
            return x

        return f

    x = jnp.ones(3)
    pullback.jit(look("jit"))(x)
    pullback.jit(look("weak"))(1.0)
    pullback.vmap(look("vmap"))(jnp.ones((2, 3)))
    pullback.grad(lambda t: look("grad")(t).sum())(x)
    pullback.jvp(look("jvp"), (x,), (x,))
    assert seen == {
        "jit": "JitTracer(float32[3])",
        "weak": "JitTracer(~float32[])",
        "vmap": "VmapTracer(aval=float32[3], batched=float32[2,3])",
        "grad": "GradTracer(primal=[1. 1. 1.], typeof(tangent)=f32[3])",
        "jvp": "JVPTracer(primal=[1. 1. 1.], tangent=[1. 1. 1.])",
    }


def test_print_of_a_staged_tracer_says_that_it_is_traced():
    texts = []
    pullback.jit(lambda x: texts.append(str(x)))(jnp.ones(3))
    assert texts[0].startswith("Traced<ShapedArray(float32[3])>with<")


def test_arrays_and_tracers_are_instances_of_array():
    kinds = []
    pullback.jit(lambda x: kinds.append((isinstance(x, pullback.Array), isinstance(x, pullback.core.Tracer))))(1.0)
    assert kinds == [(True, True)]
    assert isinstance(jnp.ones(3), pullback.Array)
    assert not isinstance(jnp.ones(3), pullback.core.Tracer)
    assert not isinstance(np.ones(3), pullback.Array)


def test_facts():
    x = jnp.arange(6, dtype=jnp.int16).reshape(2, 3)
    assert (x.shape, x.ndim, x.size, x.nbytes, x.itemsize, len(x)) == ((2, 3), 2, 6, 12, 2, 2)
    assert x.dtype == np.int16 and not x.weak_type and not x.committed
    assert x.T.shape == x.mT.shape == (3, 2)


def test_numpy_sees_the_elements_read_only_and_without_a_copy():
    x = jnp.arange(4.0)
    view = np.asarray(x)
    assert not view.flags.writeable
    assert np.asarray(x).ctypes.data == view.ctypes.data
    assert jnp.asarray(view).unsafe_buffer_pointer() == x.unsafe_buffer_pointer()


def test_arrays_do_not_alias_numpy_memory_that_can_change():
    source = np.zeros(3, np.float32)
    x = jnp.asarray(source)
    source[0] = 7
    assert x.tolist() == [0, 0, 0]


def test_mixed_operators_give_arrays():
    for value in (np.ones(3) + jnp.ones(3), np.float32(1) + jnp.ones(3), 1 + jnp.ones(3), jnp.ones(3) + np.ones(3)):
        assert isinstance(value, pullback.Array)
    assert isinstance(np.sin(jnp.ones(3)), np.ndarray)


def test_copies_pickles_and_weak_references():
    x = jnp.asarray(2.0)
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin == x and twin is not x and twin.weak_type
    small = pickle.loads(pickle.dumps(jnp.ones(2, jnp.bfloat16)))
    assert small.dtype == jnp.bfloat16
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_donated_arrays_are_deleted():
    x = jnp.ones(4)
    pullback.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted() and x.shape == (4,)
    with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[4\]"):
        repr(x)


def test_scalar_types_are_classes():
    assert jnp.float32 == np.float32 and np.float32 == jnp.float32
    assert isinstance(jnp.float32(1.5), pullback.Array)
    assert not isinstance(jnp.float32(1), jnp.float32)
    assert np.dtype(jnp.float32) == np.float32


def test_x64_is_a_context():
    with pullback.enable_x64(True):
        assert jnp.arange(3).dtype == np.int64
        assert (jnp.ones(2) + 1.0).dtype == np.float64
    assert jnp.arange(3).dtype == np.int32
    with pytest.warns(UserWarning, match="Explicitly requested dtype float64 requested in zeros is not available"):
        assert jnp.zeros(2, "float64").dtype == np.float32
