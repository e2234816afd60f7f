"""`jax.extend.random` beside live JAX: generators as objects and the hash."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")

CASES = {
    "even": lambda j, r: r.threefry_2x32(j.numpy.array([1, 2], "uint32"), j.numpy.arange(4, dtype="uint32")),
    "odd": lambda j, r: r.threefry_2x32(j.numpy.array([1, 2], "uint32"), j.numpy.arange(5, dtype="uint32")),
    "matrix": lambda j, r: r.threefry_2x32(j.numpy.array([7, 2**32 - 1], "uint32"), j.numpy.arange(6, dtype="uint32").reshape(2, 3)),
    "jit": lambda j, r: j.jit(r.threefry_2x32)(j.numpy.array([1, 2], "uint32"), j.numpy.arange(5, dtype="uint32")),
    "vmap": lambda j, r: j.vmap(lambda a: r.threefry_2x32(a, j.numpy.arange(3, dtype="uint32")))(j.numpy.ones((2, 2), "uint32")),
    "words": lambda j, r: j.numpy.stack(r.threefry2x32_p.bind(*[j.numpy.uint32(i) for i in range(4)])),
    "many words": lambda j, r: j.numpy.stack(r.threefry2x32_p.bind(*[j.numpy.arange(3, dtype="uint32") + i for i in range(4)])),
    "seed": lambda j, r: j.random.key_data(r.seed_with_impl(r.rbg_prng_impl, 3)),
    "seeds": lambda j, r: j.random.key_data(r.random_seed(j.numpy.arange(6).reshape(2, 3), r.threefry_prng_impl)),
    "key": lambda j, r: j.random.key_data(j.random.key(5, impl=r.unsafe_rbg_prng_impl)),
    "wrapped": lambda j, r: j.random.bits(j.random.wrap_key_data(j.numpy.arange(4, dtype="uint32"), impl=r.rbg_prng_impl)),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_jax(name):
    ours, theirs = (CASES[name](j, importlib.import_module(f"{j.__name__}.extend.random")) for j in (pullback, jax))
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("key, count", [([1, 2], np.arange(5, dtype="uint32")), (np.ones(2, "uint32"), np.arange(5)), (np.ones(3, "uint32"), np.ones(2, "uint32"))])
def test_wrong_words_are_errors(key, count):
    kinds = []
    for j in (pullback, jax):
        with pytest.raises((TypeError, ValueError)) as found:
            importlib.import_module(f"{j.__name__}.extend.random").threefry_2x32(j.numpy.asarray(key), j.numpy.asarray(count))
        kinds.append(found.type)
    assert kinds[0] is kinds[1]


def test_generators_say_what_they_are():
    from jax.extend import random as theirs

    from pullback.extend import random as ours

    for name in ("threefry_prng_impl", "rbg_prng_impl", "unsafe_rbg_prng_impl"):
        one, other = getattr(ours, name), getattr(theirs, name)
        assert (one.name, one.tag, one.key_shape, str(one)) == (other.name, other.tag, other.key_shape, other.name)
        hash(one)
