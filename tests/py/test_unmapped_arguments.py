"""What `vmap` does not map is anything, and reaches the function as it is."""

import numpy as np
import pytest

import pullback

ARGUMENTS = (3, 2.5, True, "s", None, np.ones(2), np.float32(1), int, (1, "a"), {"k": object}, [1, 2])


def kinds(system, argument):
    """Types of what the function sees."""
    seen = []
    jnp = system.numpy
    system.vmap(lambda x, y: (seen.append(y), x)[1], in_axes=(0, None))(jnp.ones(2), argument)
    return str(type(seen[0])), str(seen[0])


@pytest.mark.parametrize("argument", ARGUMENTS, ids=lambda argument: type(argument).__name__)
def test_they_are_as_in_jax(argument):
    jax = pytest.importorskip("jax")
    assert kinds(pullback, argument) == kinds(jax, argument)


def test_they_are_sizes_and_dtypes():
    jnp = pullback.numpy
    found = pullback.vmap(lambda x, n, dtype: jnp.zeros(n, dtype) + x, (0, None, None))(jnp.ones(2, int), 3, int)
    assert found.shape == (2, 3) and found.dtype == jnp.int32


def test_what_is_mapped_is_an_array():
    with pytest.raises(TypeError, match="not a valid JAX type"):
        pullback.vmap(lambda x, y: x)(pullback.numpy.ones(2), "s")


def test_they_may_be_traced():
    jnp = pullback.numpy
    scaled = lambda y: pullback.vmap(lambda x, y: x * y, (0, None))(jnp.arange(3.0), y).sum()  # noqa: E731
    assert pullback.grad(scaled)(2.0) == 3.0 and pullback.jit(scaled)(2.0) == 6.0
