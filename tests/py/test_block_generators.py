"""The generators `threefry4x32`, `philox2x32` and `philox4x32`: keys, bits and samples bit for bit as JAX's."""

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")

KINDS = ["philox2x32", "philox4x32", "threefry4x32"]
# `K` is a key and `KS` three of them; `r` is `random`.
PROGRAMS = """
r.key_data(K)
r.key_data(r.key(-5, impl=I))
r.PRNGKey(2**31 - 1, impl=I)
r.key_data(r.split(K, 3))
r.key_data(r.split(K, (2, 3)))
r.key_data(r.split(r.split(K, 3)[1]))
r.key_data(r.fold_in(K, 7))
r.key_data(r.fold_in(K, 2**32 - 1))
r.key_data(jax.vmap(r.fold_in, (None, 0))(K, jnp.arange(3)))
r.key_data(jax.vmap(r.fold_in)(KS, jnp.arange(3)))
r.key_data(jax.vmap(lambda k: r.fold_in(k, 3))(KS))
r.key_data(jax.vmap(lambda k: r.split(k, 2))(KS))
r.bits(K, (5,))
r.bits(K, (2, 3), "uint8")
r.bits(K, (3,), "uint16")
r.bits(K)
r.bits(K, (0,))
r.uniform(K, (4,))
r.normal(K, (2, 3))
r.normal(K, (3,), "bfloat16")
r.randint(K, (5,), 0, 100)
r.permutation(K, 7)
r.categorical(K, jnp.arange(3.0), shape=(4,))
r.gamma(K, 2.0, (3,))
r.bernoulli(K, 0.3, (4,))
jax.vmap(lambda k: r.normal(k, (2,)))(KS)
jax.jit(lambda k: r.normal(k, (2,)))(K)
jax.lax.scan(lambda k, _: (r.split(k)[0], r.bits(k)), K, None, length=3)[1]
r.key_data(KS[::-1])
r.key_data(r.wrap_key_data(r.key_data(KS), impl=I))
r.key_data(r.clone(K))
KS == KS[1]
jnp.where(jnp.array([True, False, True]), r.key_data(KS)[:, 0], 0)
r.key_data(jnp.concatenate([KS, KS]))
"""


def value_of(system, kind, line):
    key = system.random.key(42, impl=kind)
    names = {"jax": system, "jnp": system.numpy, "r": system.random, "I": kind, "K": key, "KS": system.random.split(key, 3)}
    return np.asarray(eval(line, names))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("line", PROGRAMS.split("\n")[1:-1])
def test_as_jax(kind, line):
    ours, theirs = value_of(pullback, kind, line), value_of(jax, kind, line)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if ours.dtype.kind in "iub":
        np.testing.assert_array_equal(ours, theirs)
    else:
        np.testing.assert_allclose(ours.astype("f4"), theirs.astype("f4"), rtol=1e-5 if ours.dtype == "float32" else 1e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_wide_bits(kind):
    bits = []
    for system in (jax, pullback):
        with system.enable_x64(True):
            bits.append(np.asarray(system.random.bits(system.random.key(2**40 + 3, impl=kind), (3,), "uint64")))
    np.testing.assert_array_equal(*bits)


@pytest.mark.parametrize("kind", KINDS)
def test_as_the_default(kind):
    seen = []
    for system in (jax, pullback):
        with system.default_prng_impl(kind):
            key = system.random.key(0)
            assert str(system.random.key_impl(key)) == kind
            seen.append((str(key.dtype), np.asarray(system.random.key_data(key)).tolist(), system.random.PRNGKey(1).tolist()))
    assert seen[0] == seen[1]


def test_an_offset_of_seeds():
    for system in (jax, pullback):
        system.config.update("jax_random_seed_offset", 3)
        try:
            assert system.random.key_data(system.random.key(5)).tolist() == [0, 8]
        finally:
            system.config.update("jax_random_seed_offset", 0)
