"""Results lie in the memory of donated arguments, where the program is done with them in time."""

from functools import partial

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp


def places(tree):
    return [x.unsafe_buffer_pointer() for x in jax.tree.leaves(tree)]


def test_a_step_of_training_stays_where_it_is():
    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, momenta, grads):
        momenta = jax.tree.map(lambda m, g: 0.5 * m + g, momenta, grads)
        return jax.tree.map(lambda p, m: p - 0.25 * m, params, momenta), momenta

    params = {name: jnp.arange(1000.0) + number for number, name in enumerate("abc")}
    grads = jax.tree.map(jnp.ones_like, params)
    momenta = jax.tree.map(jnp.zeros_like, params)
    want, moving = jax.tree.map(np.array, params), 0.0
    before = places((params, momenta))
    for _ in range(3):
        given = params, momenta
        params, momenta = step(params, momenta, grads)
        moving = 0.5 * moving + 1.0
        want = {name: x - np.float32(0.25 * moving) for name, x in want.items()}
        assert all(x.is_deleted() for x in jax.tree.leaves(given))
    assert places((params, momenta)) == before
    for name in want:
        np.testing.assert_array_equal(params[name], want[name])


@pytest.mark.parametrize(
    "update",
    [
        lambda x: x.at[2].set(7.0),
        lambda x: x.at[jnp.array([1, 1, 5])].add(1.0),
        lambda x: jax.lax.dynamic_update_slice(x, jnp.ones((2, 4)), (3, 0)),
        lambda x: jnp.where(x > 3, x, 0.0) * 2,
        lambda x: x - x.mean(axis=1, keepdims=True),
        lambda x: x / jnp.exp(x).sum(),
    ],
)
def test_updates_happen_in_place(update):
    x = jnp.arange(32.0).reshape(8, 4)
    want, before = np.asarray(update(x)).copy(), x.unsafe_buffer_pointer()
    result = jax.jit(update, donate_argnums=0)(x)
    np.testing.assert_array_equal(result, want)
    assert result.unsafe_buffer_pointer() == before


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[::-1] - x,
        lambda x: x.T @ x,
        lambda x: jnp.cumsum(x, axis=0),
        lambda x: jnp.roll(x, 1, axis=0) + x,
        lambda x: (x + 1, x * x.sum()),
        lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y + x[i], x),
        lambda x: (x, x + 1),
    ],
)
def test_what_is_still_read_is_not_overwritten(function):
    x = jnp.arange(16.0).reshape(4, 4)
    want = jax.tree.map(lambda y: np.asarray(y).copy(), function(x))
    jax.tree.map(np.testing.assert_array_equal, jax.jit(function, donate_argnums=0)(x), want)


def test_memory_that_numpy_sees_stays():
    x = jnp.zeros(10)
    view = np.asarray(x)
    result = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    np.testing.assert_array_equal(view, 0.0)
    np.testing.assert_array_equal(result, 1.0)


def test_a_deleted_argument_takes_no_other_with_it():
    f = jax.jit(lambda x, y: x + y, donate_argnums=0)
    x, gone = jnp.zeros(4), jnp.ones(4)
    gone.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        f(x, gone)
    np.testing.assert_array_equal(x, 0.0)


def test_compiled_functions_take_over_too():
    compiled = jax.jit(lambda x: x + 1, donate_argnums=0).lower(jnp.zeros((10, 10))).compile()
    stats = compiled.memory_analysis()
    assert (stats.alias_size_in_bytes, stats.peak_memory_in_bytes) == (400, 400)
    x = jnp.zeros((10, 10))
    before = x.unsafe_buffer_pointer()
    result = compiled(x)
    assert x.is_deleted() and result.unsafe_buffer_pointer() == before
    np.testing.assert_array_equal(result, 1.0)
