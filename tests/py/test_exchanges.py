"""Exchanges of slices whose sizes differ, sends and receives, and numbers of a generator without a seed."""

import numpy as np
import pytest

import pullback
import pullback.numpy as jnp
from pullback import lax

P = pullback.P


def exchanged(operand, output, starts, sizes, places):
    """What each member holds afterwards, slice by slice."""
    n, k = len(operand), starts.shape[1] // len(operand)
    found = output.copy()
    for sender in range(n):
        for q in range(n * k):
            start, size, place = starts[sender, q], sizes[sender, q], places[sender, q]
            found[q // k, place : place + size] = operand[sender, start : start + size]
    return found


def plan(rng, n, k, rows):
    """Sizes of slices, where they start, and where they go without overlapping."""
    sizes = rng.integers(0, 3, (n, n * k))
    starts = rng.integers(0, rows - 3, (n, n * k))
    places = np.zeros_like(sizes)
    for receiver in range(n):
        mine = sizes[:, receiver * k : (receiver + 1) * k]
        places[:, receiver * k : (receiver + 1) * k] = (np.cumsum(mine) - mine.reshape(-1)).reshape(mine.shape)
    received = np.stack([sizes[:, receiver * k : (receiver + 1) * k].reshape(-1) for receiver in range(n)])
    return starts, sizes, places, received


@pytest.mark.parametrize("n, k, shape", [(2, 1, ()), (3, 1, (2,)), (2, 3, ()), (4, 2, (1, 3))])
def test_ragged_exchange(n, k, shape):
    rng = np.random.default_rng(n * 10 + k)
    operand, output = (rng.standard_normal((n, rows, *shape)).astype("float32") for rows in (6, 3 * n * k))
    starts, sizes, places, received = plan(rng, n, k, 6)
    found = pullback.vmap(lambda *args: lax.ragged_all_to_all(*args, axis_name="i"), axis_name="i")(
        operand, output, starts, sizes, places, received
    )
    np.testing.assert_array_equal(found, exchanged(operand, output, starts, sizes, places))


def test_ragged_exchange_on_devices():
    """The example of the operation's definition, on one device and under `jit`."""
    mesh = pullback.make_mesh((1,), ("x",), axis_types=(pullback.sharding.AxisType.Auto,), devices=pullback.devices()[:1])
    args = (jnp.array([1.0, 2.0, 2.0]), jnp.zeros(4), jnp.array([1]), jnp.array([2]), jnp.array([1]), jnp.array([2]))
    f = pullback.shard_map(
        lambda *args: lax.ragged_all_to_all(*args, axis_name="x"), mesh=mesh, in_specs=(P("x"),) * 6, out_specs=P("x")
    )
    for run in (f, pullback.jit(f)):
        np.testing.assert_array_equal(run(*args), [0.0, 2.0, 2.0, 0.0])


@pytest.mark.parametrize("change, text", [
    ({0: jnp.zeros((1, 3), int)}, "same dtype"), ({2: jnp.zeros((1, 2))}, "vectors of integers"), ({3: jnp.zeros((1, 4), int)}, "one size"),
])  # fmt: skip
def test_ragged_exchange_is_checked(change, text):
    args = [jnp.zeros((1, 3)), jnp.zeros((1, 4)), *(jnp.zeros((1, 1), int),) * 4]
    for at, value in change.items():
        args[at] = value
    with pytest.raises(ValueError, match=text):
        pullback.vmap(lambda *args: lax.ragged_all_to_all(*args, axis_name="i"), axis_name="i")(*args)


def test_what_is_sent_is_received():
    perm = [(0, 1), (1, 2)]

    def f(x):
        token = lax.psend({"a": x}, "i", perm)
        return lax.precv(token, {"a": pullback.ShapeDtypeStruct(x.shape, x.dtype)}, "i", perm)["a"]

    x = jnp.arange(3.0) + 1
    np.testing.assert_array_equal(pullback.vmap(f, axis_name="i")(x), [0.0, 1.0, 2.0])
    np.testing.assert_array_equal(pullback.vmap(pullback.grad(lambda x: f(x) * 2), axis_name="i")(x), [2.0, 2.0, 0.0])
    with pytest.raises(ValueError, match="psend"):
        pullback.vmap(lambda x: lax.precv(lax.create_token(), x, "i", perm), axis_name="i")(x)
    with pytest.raises(ValueError, match="out_shape"):
        pullback.vmap(lambda x: lax.precv(lax.psend(x, "i", perm), jnp.zeros(4), "i", perm), axis_name="i")(x)


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-3.0, 5.0), (2, 9), (np.int8(-5), np.int8(5)), (np.float16(1), np.float16(2))])
def test_uniform_numbers(low, high, jax_oracle):
    for draw in (lax.rng_uniform, pullback.jit(lax.rng_uniform, static_argnums=2)):
        numbers = np.asarray(draw(low, high, (500,)))
        assert numbers.dtype == jax_oracle.eval_shape(lambda: jax_oracle.lax.rng_uniform(low, high, (1,))).dtype
        assert (numbers >= low).all() and (numbers <= high).all() and len(set(numbers.tolist())) > 4
        assert (numbers != np.asarray(draw(low, high, (500,)))).any()
    assert str(pullback.make_jaxpr(lambda: lax.rng_uniform(0.0, 1.0, (3,)))()) == str(
        jax_oracle.make_jaxpr(lambda: jax_oracle.lax.rng_uniform(0.0, 1.0, (3,)))()
    )
