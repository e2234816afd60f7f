"""Sizes that no memory holds: errors of the reference's classes at the user's line, and no work over axes of nothing."""

import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import lax

BIG = 2**40

# Extents whose bytes cannot be counted.
UNCOUNTABLE = {
    "zeros": lambda: jnp.zeros((2**32, 2**32)),
    "outer product of nothing": lambda: jnp.zeros((0, 2**32)).T @ jnp.zeros((0, 2**32)),
    "broadcast": lambda: jnp.broadcast_to(jnp.float32(1), (2**32, 2**32))[3, 4],
    "slice of zeros": lambda: jnp.zeros((2**32, 2**32))[0, 100:140],
    "vector": lambda: jnp.zeros(2**62),
    "beside an axis of nothing": lambda: jnp.zeros((2**62, 0)),
    "compiled": lambda: jax.jit(lambda: jnp.zeros((2**32, 2**32)).sum())(),
    "in a loop": lambda: jax.jit(lambda x: lax.map(lambda y: jnp.zeros((2**32, 2**32)).sum() + y, x))(jnp.ones(2)),
}

# Extents that can be counted, of arrays that this machine does not hold.
TOO_LARGE = {
    "ones": lambda: jnp.ones(BIG),
    "empty_like": lambda: jnp.empty_like(jnp.ones(3), shape=(BIG,)),
    "full": lambda: jnp.full((BIG,), 2.5),
    "arange": lambda: lax.iota(jnp.int32, BIG),
    "temporary": lambda: jax.jit(lambda: jnp.sort(jnp.zeros(BIG)).sum())(),
    "two temporaries": lambda: jax.jit(lambda: jnp.cumsum(jnp.cumsum(jnp.ones(BIG)))[3])(),
    "rows of nothing": lambda: jnp.zeros((BIG, 0)).sum(1),
    "product": lambda: jnp.zeros((BIG, 0)) @ jnp.zeros((0, 3)),
    "repeat": lambda: jnp.broadcast_to(jnp.ones(3), (BIG, 3)) + 1,
    "random": lambda: jax.random.normal(jax.random.key(0), (BIG,)),
    "gradient": lambda: jax.grad(lambda x: jnp.broadcast_to(x, (BIG,)).sum() ** 2)(1.0),
    "mapped": lambda: jax.vmap(lambda x: jnp.full(BIG, x))(jnp.ones(2)),
}

# Results without elements, whatever the other axes hold.
EMPTY = {
    "broadcast": lambda: jax.jit(lambda a: lax.broadcast(a, (BIG, 0)))(jnp.ones(4)),
    "sum": lambda: jnp.zeros((BIG, 0)).sum(0),
    "sort": lambda: jnp.sort(jnp.zeros((BIG, 0))),
    "argsort": lambda: jnp.argsort(jnp.zeros((BIG, 0))),
    "transpose": lambda: jnp.zeros((BIG, 0)).T * 2,
    "product": lambda: jnp.zeros((3, BIG, 0)) @ jnp.zeros((3, 0, 0)),
    "concatenate": lambda: jnp.concatenate([jnp.zeros((BIG, 0))] * 2, 1),
    "argmax": lambda: jnp.argmax(jnp.zeros((0, BIG)), 1),
    "running sum": lambda: jnp.cumsum(jnp.zeros((BIG, 0)), 0),
    "update": lambda: jnp.zeros((BIG, 0)).at[0].set(1),
    "gather": lambda: jnp.zeros((BIG, 0))[jnp.arange(0)],
    "pad": lambda: jnp.pad(jnp.zeros((BIG, 0)), ((1, 1), (0, 0))),
    "reverse": lambda: jnp.flip(jnp.zeros((BIG, 0))),
    "inverse": lambda: jnp.linalg.inv(jnp.zeros((BIG, 0, 0))),
    "fft": lambda: jnp.fft.fft(jnp.zeros((BIG, 0, 4))),
    "convolution": lambda: lax.conv(jnp.zeros((0, 3, 2**10, 2**10)), jnp.zeros((2, 3, 2, 2)), (1, 1), "SAME"),
    "elementwise": lambda: jnp.exp(jnp.zeros((BIG, 0))) + jnp.zeros((1, 0)),
    "window": lambda: lax.reduce_window(jnp.zeros((BIG, 0)), 0.0, lax.add, (1, 1), (1, 1), "VALID"),
    "random": lambda: jax.random.normal(jax.random.key(0), (BIG, 0)),
}


@pytest.mark.parametrize("name", UNCOUNTABLE)
def test_extents_that_cannot_be_counted(name):
    with pytest.raises(RuntimeError, match="overflow in static extent product"):
        UNCOUNTABLE[name]()


@pytest.mark.parametrize("name", TOO_LARGE)
def test_arrays_that_no_memory_holds(name):
    with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED: Out of memory allocating"):
        TOO_LARGE[name]()
    assert float(jnp.ones(3).sum()) == 3


@pytest.mark.parametrize("name", EMPTY)
def test_axes_of_nothing_cost_nothing(name):
    assert EMPTY[name]().size == 0


def test_abstract_values_may_have_any_size():
    shape = (2**32, 2**40)
    assert jax.eval_shape(lambda: jnp.zeros(shape)).shape == shape
    traced = jax.make_jaxpr(lambda x: x + 1)(jax.ShapeDtypeStruct(shape, jnp.float32))
    assert traced.out_avals[0].shape == shape
