"""`jax.experimental.random` beside live JAX: every draw, in and out of transformed functions."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")


def generator(j, seed=0, **options):
    return importlib.import_module(f"{j.__name__}.experimental.random").stateful_rng(seed, **options)


def data(j, keys):
    return j.random.key_data(keys)


def scanned(j):
    r = generator(j)
    return j.lax.scan(lambda c, _: (c, r.uniform()), 0, None, length=3)[1], r.uniform()


CASES = {
    "keys": lambda j, r: (data(j, r.key()), data(j, r.key()), data(j, r.key((2, 3)))), "uniform": lambda j, r: r.uniform(size=(2, 3)),
    "bounds": lambda j, r: r.uniform(1.0, 3.0, size=(4,)), "half": lambda j, r: r.uniform(size=2, dtype="float16"), "one": lambda j, r: r.uniform(),
    "normal": lambda j, r: r.normal(1.0, 2.0, (3,)), "many means": lambda j, r: r.normal(np.arange(3.0, dtype="f")), "random": lambda j, r: r.random((2,)),
    "integers": lambda j, r: (r.integers(0, 10, (4,)), r.integers(5, size=3)), "in order": lambda j, r: [r.normal(), r.uniform(), r.integers(9)],
    "spawned": lambda j, r: [child.uniform() for child in r.spawn(3)], "split": lambda j, r: j.vmap(lambda r: r.uniform())(r.split(3)),
    "compiled": lambda j, r: (j.jit(lambda r: r.uniform())(r), j.jit(lambda: r.uniform())(), r.uniform()), "scanned": lambda j, r: scanned(j),
    "made within": lambda j, r: j.jit(lambda: generator(j, 1).uniform())(), "another kind": lambda j, r: generator(j, 0, impl="rbg").uniform(),
    "no seed within": lambda j, r: j.jit(lambda: generator(j, None).uniform())(), "a key": lambda j, r: generator(j, j.random.key(0)),
    "a real seed": lambda j, r: generator(j, 1.5), "use of split ones": lambda j, r: r.split(2).uniform(), "leaves": lambda j, r: len(j.tree.leaves(r)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_draws_are_those_of_jax(name):
    def outcome(system):
        try:
            return [np.asarray(x) for x in system.tree.leaves(CASES[name](system, generator(system)))]
        except Exception as error:
            return type(error).__name__

    wanted, found = outcome(jax), outcome(pullback)
    if isinstance(wanted, str):
        assert found == wanted
        return
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_a_generator_without_a_seed_differs_each_time():
    assert float(generator(pullback, None).uniform()) != float(generator(pullback, None).uniform())
