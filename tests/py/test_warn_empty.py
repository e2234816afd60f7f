"""`warn_empty`: reductions that see no element warn, at once or when the program runs, and nothing else does."""

import warnings

import pytest

import pullback as jax
import pullback.numpy as jnp

NONE = jnp.zeros(3, bool)
SOME = jnp.array([[True, False], [False, False]])

# A call that warns, and a part of what it says.
EMPTY = {
    "mean of nothing": (lambda: jnp.mean(jnp.ones(0)), "jnp.mean of an array of shape (0,) sees no element"),
    "mean over an axis of nothing": (lambda: jnp.mean(jnp.ones((2, 0)), axis=1), "shape (2, 0)"),
    "var": (lambda: jnp.var(jnp.ones(0)), "jnp.var of"),
    "std": (lambda: jnp.std(jnp.ones(0)), "jnp.std of"),
    "method": (lambda: jnp.ones(0).mean(), "jnp.mean of"),
    "mask": (lambda: jnp.mean(jnp.ones(3), where=NONE), "sees no element in 1 of 1 results"),
    "mask over an axis": (lambda: jnp.mean(jnp.ones((2, 2)), axis=1, where=SOME), "in 1 of 2 results"),
    "mask that broadcasts": (lambda: jnp.std(jnp.ones((4, 3)), axis=0, where=NONE), "in 3 of 3 results"),
    "max": (lambda: jnp.max(jnp.ones(3), initial=0.0, where=NONE), "jnp.max sees no element"),
    "min": (lambda: jnp.min(jnp.ones(3), initial=0.0, where=NONE), "jnp.min sees no element"),
    "jit": (lambda: jax.jit(lambda x, m: jnp.mean(x, where=m))(jnp.ones(3), NONE), "sees no element in 1 of 1 results"),
    "grad": (lambda: jax.grad(lambda x: jnp.mean(x, where=NONE))(jnp.ones(3)), "jnp.mean sees no element"),
    "vmap": (lambda: jax.vmap(lambda x, m: jnp.mean(x, where=m))(jnp.ones((2, 2)), SOME), "jnp.mean sees no element"),
    "scan": (lambda: jax.lax.scan(lambda c, m: (c, jnp.mean(jnp.ones(2), where=m)), 0.0, SOME), "jnp.mean sees no element"),
}
FULL = {
    "mean": lambda: jnp.mean(jnp.ones(3)),
    "mask": lambda: jnp.mean(jnp.ones(3), where=jnp.array([True, False, False])),
    "no results": lambda: jnp.mean(jnp.ones((0, 3)), axis=1),
    "sum": lambda: jnp.sum(jnp.ones(0)),
    "jit": lambda: jax.jit(lambda x, m: jnp.var(x, where=m))(jnp.ones(3), ~NONE),
}


def said(program):
    with warnings.catch_warnings(record=True) as caught, jax.warn_empty():
        warnings.simplefilter("always")
        jax.block_until_ready(program())
        jax.effects_barrier()
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("name", EMPTY)
def test_nothing_seen_warns_once(name):
    program, wanted = EMPTY[name]
    texts = said(program)
    assert len(texts) == 1 and wanted in texts[0], texts


@pytest.mark.parametrize("name", FULL)
def test_something_seen_is_no_matter(name):
    assert said(FULL[name]) == []


def test_the_line_of_the_reduction_is_named_when_the_program_runs():
    def f(x, mask):
        return jnp.mean(x, where=mask)

    (text,) = said(lambda: jax.jit(f)(jnp.ones(3), NONE))
    assert f"{__file__.rsplit('/', 1)[-1]}:{f.__code__.co_firstlineno + 1}" in text


def test_off_it_changes_no_program():
    f = lambda x, mask: jnp.mean(x, where=mask)
    plain = str(jax.make_jaxpr(f)(jnp.ones(3), NONE))
    with jax.warn_empty():
        assert "warn_empty" in str(jax.make_jaxpr(f)(jnp.ones(3), NONE))
    assert str(jax.make_jaxpr(f)(jnp.ones(3), NONE)) == plain
