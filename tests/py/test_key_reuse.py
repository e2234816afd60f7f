"""Key reuse beside live JAX: programs with `jax_debug_key_reuse`, signatures of functions, assertions."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")


def of(system):
    return importlib.import_module(f"{system.__name__}.experimental.key_reuse._core")


def key(j):
    return j.random.key(0)


def keys(j):
    return j.random.split(j.random.key(0), 4)


def uses(*functions):
    """The functions one after the other on one key."""
    def program(j):
        k = key(j)
        for function in functions:
            function(j, k)

    return program


def normal(j, k):
    return j.random.normal(k)


def closed_over(j):
    k = key(j)
    f = j.jit(lambda: j.random.normal(k))
    f()
    f()


def closed_over_first(j):
    k = key(j)
    j.jit(lambda: j.random.normal(k))()
    j.random.normal(k)


def returned(j):
    k = key(j)
    _, k = j.jit(lambda k: (j.random.normal(k), k))(k)
    j.random.normal(k)


def of_an_array(*indices):
    def program(j):
        ks = keys(j)
        for index in indices:
            j.random.normal(ks[index])

    return program


def unpacked(j):
    a, b = j.random.split(key(j))
    j.random.normal(a), j.random.normal(b)


def mapped(j):
    ks = keys(j)
    j.vmap(j.random.normal)(ks)
    j.random.normal(ks[0])


def selected(j):
    k = key(j)
    z = j.numpy.where(True, k, j.random.key(1))
    j.random.normal(z), j.random.normal(k)


PROGRAMS = {
    "once": uses(normal), "twice": uses(normal, normal), "split": uses(lambda j, k: j.random.split(k), normal),
    "folded": uses(lambda j, k: j.random.fold_in(k, 0), lambda j, k: j.random.fold_in(k, 1), normal),
    "cloned": uses(normal, lambda j, k: j.random.normal(j.random.clone(k))), "gamma": uses(lambda j, k: j.random.gamma(k, 1.0), normal),
    "permuted": uses(lambda j, k: j.random.permutation(k, 3), lambda j, k: j.random.choice(k, 4)),
    "its data": uses(normal, lambda j, k: j.random.key_data(k), lambda j, k: j.random.normal(j.random.wrap_key_data(j.random.key_data(k)))),
    "compared": uses(normal, lambda j, k: k == k), "compiled": uses(lambda j, k: j.jit(j.random.normal)(k), normal),
    "within": lambda j: j.jit(lambda: (lambda k: j.random.normal(k) + j.random.normal(k))(key(j)))(),
    "closed over": closed_over, "closed over first": closed_over_first, "returned": returned, "unpacked": unpacked, "mapped": mapped, "selected": selected,
    "parts": of_an_array(0, 1, 2), "a part twice": of_an_array(1, 1), "raw": lambda j: [j.random.normal(k) for k in [j.random.PRNGKey(0)] * 2],
    "scan with a carried key": lambda j: j.lax.scan(lambda k, _: (k, j.random.normal(k)), key(j), None, length=3),
    "scan with new keys": lambda j: j.lax.scan(lambda k, _: (j.random.split(k)[0], None), key(j), None, length=3),
    "scan with a key outside": uses(lambda j, k: j.lax.scan(lambda c, _: (c, j.random.normal(k)), 0, None, length=3)),
    "scan over keys": lambda j: j.lax.scan(lambda c, k: (c, j.random.normal(k)), 0, keys(j)),
    "while": lambda j: j.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1 + j.random.normal(c[1]).astype(int), c[1]), (0, key(j))),
    "while with new keys": lambda j: j.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, j.random.split(c[1])[0]), (0, key(j))),
    "cond": uses(lambda j, k: j.lax.cond(True, lambda k: j.random.normal(k), lambda k: 0.0, k), normal),
    "cond without": uses(lambda j, k: j.lax.cond(True, lambda k: 1.0, lambda k: 0.0, k), normal),
    "slope": uses(lambda j, k: j.grad(lambda x: x * j.random.normal(k))(1.0), normal),
    "batch": uses(lambda j, k: j.vmap(lambda x: x * j.random.normal(k))(np.ones(3, "f"))),
    "jaxpr": uses(lambda j, k: j.make_jaxpr(lambda k: j.random.normal(k) + j.random.normal(k))(k)),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_reuse_is_found_where_jax_finds_it(name):
    def outcome(system):
        with system.debug_key_reuse(True):
            try:
                PROGRAMS[name](system)
            except Exception as error:
                return type(error).__name__
        return "fine"

    assert outcome(pullback) == outcome(jax)


def test_calls_are_as_before_afterwards():
    before = type(pullback.random.normal).__call__, pullback.lax.scan, pullback.vmap
    with pullback.debug_key_reuse(True):
        assert pullback.vmap is not before[2]
    assert (type(pullback.random.normal).__call__, pullback.lax.scan, pullback.vmap) == before
    PROGRAMS["twice"](pullback)


SIGNATURES = {
    "normal": (normal, key), "split": (lambda j, k: j.random.split(k), key), "same": (lambda j, k: k, key), "both": (lambda j, k: (j.random.normal(k), k), key),
    "folded": (lambda j, k: j.random.fold_in(k, 1), key), "data": (lambda j, k: j.random.key_data(k), key), "part": (lambda j, k: k[0], keys),
    "used part": (lambda j, k: j.random.normal(k[0]), keys), "parts": (lambda j, k: (k[0], k[1]), keys), "cond": (
        lambda j, k: j.lax.cond(True, lambda k: j.random.normal(k[0]), lambda k: j.random.normal(k[1]), k), keys),
    "slice": (lambda j, k: j.lax.slice(k, (1,), (3,)), keys), "reshape": (lambda j, k: k.reshape(2, 2), keys), "rev": (lambda j, k: k[::-1], keys),
    "scan": (lambda j, k: j.lax.scan(lambda c, _: (j.random.split(c)[0], None), k, None, length=2)[0], key),
    "scan over": (lambda j, k: j.lax.scan(lambda c, x: (c, j.random.normal(x)), 0, k), keys), "remat": (lambda j, k: j.checkpoint(j.random.normal)(k), key),
    "while": (lambda j, k: j.lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, j.random.split(c[1])[0]), (0, k)), key),
    "consumed": (lambda j, k: of(j).consume(k), key), "twice": (lambda j, k: (k, k), key), "gathered": (lambda j, k: k[np.array([0, 1])], keys),
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_jax(name):
    function, argument = SIGNATURES[name]
    signature = lambda j: repr(of(j).function_type_signature(lambda k: function(j, k), argument(j)))
    assert signature(pullback) == signature(jax)


def asserting(*steps):
    def program(j):
        def function(k):
            for step in steps:
                getattr(of(j), step)(k) if step != "normal" else j.random.normal(k)
            return 0

        of(j).check_key_reuse(function, key(j))

    return program


@pytest.mark.parametrize("steps", (
    ("assert_unconsumed", "normal", "assert_consumed"), ("assert_consumed",), ("normal", "assert_unconsumed"), ("consume", "assert_consumed"), ("normal", "normal"),
))  # fmt: skip
def test_assertions_are_those_of_jax(steps):
    def outcome(system):
        try:
            asserting(*steps)(system)
        except (AssertionError, Exception) as error:
            return type(error).__name__
        return "fine"

    assert outcome(pullback) == outcome(jax)


def test_uses_compare_by_what_they_mean():
    def texts(j):
        c = of(j)
        masks = np.array([True, False]), np.array([True, True])
        same = c.KeyReuseSignature(c.Sink(0), c.Source(1)) == c.KeyReuseSignature(c.Source(1), c.Sink(0))
        return same, [repr(c.Sink(0, mask)) for mask in masks], repr(c.Forward(0, 1)), c.Sink(0) == c.Source(0), c.Sink(0, masks[1]) == c.Sink(0)

    assert texts(pullback) == texts(jax)
