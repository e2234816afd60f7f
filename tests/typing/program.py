"""A typed program of a user: strict checkers find nothing in it, and it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import pullback as jax
import pullback.numpy as jnp
from pullback import Array, lax
from pullback.sharding import NamedSharding, PartitionSpec
from pullback.typing import ArrayLike


class State(NamedTuple):
    """What a training step hands on."""

    weights: Array
    velocity: Array


@jax.tree_util.register_dataclass
@dataclass
class Batch:
    """Examples and what they should give."""

    inputs: Array
    targets: Array


@jax.custom_jvp
def softplus(x: Array) -> Array:
    return jnp.logaddexp(x, 0.0)


@softplus.defjvp
def softplus_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    (x,), (t,) = primals, tangents
    return softplus(x), t * jax.nn.sigmoid(x)


def predict(weights: Array, x: Array) -> Array:
    return softplus(jnp.dot(x, weights)).sum()


def loss(weights: Array, batch: Batch) -> Array:
    predicted = jax.vmap(predict, in_axes=(None, 0))(weights, batch.inputs)
    return jnp.mean((predicted - batch.targets) ** 2)


@jax.jit(static_argnames="rate")
def step(state: State, batch: Batch, rate: float = 0.1) -> tuple[State, Array]:
    value, gradient = jax.value_and_grad(loss)(state.weights, batch)
    velocity = 0.9 * state.velocity - rate * gradient
    return State(state.weights + velocity, velocity), value


def train(state: State, batch: Batch, n_steps: int) -> tuple[State, Array]:
    def body(state: State, _: None) -> tuple[State, Array]:
        return step(state, batch)

    return lax.scan(body, state, None, length=n_steps)


@jax.jit
def double(x: ArrayLike) -> Array:
    return jnp.multiply(x, 2)


def main() -> None:
    key, data = jax.random.split(jax.random.key(0))
    inputs = jax.random.normal(data, (32, 3))
    batch = Batch(inputs, jnp.abs(inputs).sum(axis=1))
    weights = jax.random.normal(key, (3,)).at[0].set(0.5)
    state, losses = train(State(weights, jnp.zeros(3)), batch, 20)
    mesh = jax.make_mesh((jax.device_count(),), ("data",))
    placed = jax.device_put(batch.inputs, NamedSharding(mesh, PartitionSpec()))
    print(float(losses[-1]) < float(losses[0]), state.weights.shape, placed.dtype, double(jnp.array([0, 1])).tolist())


if __name__ == "__main__":
    main()
