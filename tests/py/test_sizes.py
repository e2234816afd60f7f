"""Sizes that no memory holds: errors of the reference's classes at the user's line, and no work over axes of nothing."""

import pytest

import numpy as np

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
    "table": lambda: jax.scipy.linalg.hilbert(2**31),
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
    "table": lambda: jax.scipy.linalg.hilbert(2**22),
    "signs": lambda: jax.scipy.linalg.hadamard(2**22),
    "waves of a table": lambda: jax.scipy.fft.idct(jnp.zeros((0, 3)), n=BIG),
    "pieces of nothing": lambda: jnp.split(jnp.zeros((0, 3)), BIG),
    "uneven pieces": lambda: jnp.array_split(jnp.ones(3), BIG),
    "rows of a virtual matrix": lambda: jnp.concatenate(np.broadcast_to(np.int8(1), (BIG, 2))),
    "choices among them": lambda: jnp.select(np.broadcast_to(np.ones(1), (BIG,)), [1]),
    "axes among them": lambda: jnp.sum(jnp.ones((2, 2)), axis=np.zeros((BIG, 0))),
}

# Sizes and numbers of pieces, axes and shifts that mean nothing: exceptions of some class, at once.
SENSELESS = {
    "reshape": (lambda: jnp.reshape(jnp.arange(6), (2**32, 2**32)), TypeError),
    "reshape in lax": (lambda: lax.reshape(jnp.arange(6), (2**32, 2**32)), ValueError),
    "product that overflows to the size": (lambda: lax.reshape(jnp.zeros((0,)), (2**32, 2**32)), ValueError),
    "resize": (lambda: jnp.resize(jnp.ones(4), (2**32, 2**32)), RuntimeError),
    "random": (lambda: jax.random.logistic(jax.random.key(0), shape=(2**32, 2**32)), RuntimeError),
    "axes by number": (lambda: jnp.array([1.0], ndmin=2**40), ValueError),
    "dimension": (lambda: jax.scipy.special.multigammaln(2.5, 2**62), RuntimeError),
}

# Numbers as great as integers hold that mean something.
EXTREME = {
    "offset": (lambda: jnp.linalg.trace(jnp.ones((3, 3)), offset=-(2**63)), 0),
    "no columns": (lambda: len(jnp.tril_indices(2**40, m=0)[0]), 0),
    "far below": (lambda: len(jnp.tril_indices(3, -(2**62))[0]), 0),
    "far above": (lambda: len(jnp.triu_indices(3, -(2**62))[0]), 9),
    "endless trials": (lambda: jax.random.binomial(jax.random.key(0), jnp.inf, 0.5), jnp.inf),
    "all trials": (lambda: jax.random.multinomial(jax.random.key(1), 1e300, jnp.ones(1))[0], jnp.inf),
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


@pytest.mark.parametrize("name", SENSELESS)
def test_sizes_that_mean_nothing(name):
    call, kind = SENSELESS[name]
    with pytest.raises(kind) as info:
        call()
    assert "internal error" not in str(info.value)


@pytest.mark.parametrize("name", EXTREME)
def test_numbers_as_great_as_integers_hold(name):
    call, wanted = EXTREME[name]
    assert call() == wanted


@pytest.mark.parametrize("name", EMPTY)
def test_axes_of_nothing_cost_nothing(name):
    assert EMPTY[name]().size == 0


def test_abstract_values_may_have_any_size():
    shape = (2**32, 2**40)
    assert jax.eval_shape(lambda: jnp.zeros(shape)).shape == shape
    traced = jax.make_jaxpr(lambda x: x + 1)(jax.ShapeDtypeStruct(shape, jnp.float32))
    assert traced.out_avals[0].shape == shape
