"""Batches with members of which nothing is valid: means over nothing, masks without an element, empty predictions."""

import pullback as jax
import pullback.numpy as jnp
from pullback import masked
from pullback.typing import ArrayLike


def empty_loss(params: ArrayLike, targets: jax.Array) -> jax.Array:
    predictions = params * targets[:0]
    return jnp.mean((predictions - targets[:0]) ** 2)


def masked_loss(params: ArrayLike, inputs: jax.Array, targets: jax.Array, mask: jax.Array) -> jax.Array:
    """The mean over what is valid, written by hand: 0 / 0 where nothing is."""
    error = (params * inputs - targets) * mask
    return jnp.mean(jnp.sum(error**2, axis=1) / jnp.sum(mask, axis=1))


def cured_loss(params: ArrayLike, inputs: jax.Array, targets: jax.Array, mask: jax.Array) -> jax.Array:
    return jnp.mean(masked.mean((params * inputs - targets) ** 2, mask, axis=1))


inputs = jnp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
targets = jnp.ones((2, 3))
mask = jnp.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])

print("mean over nothing       ", empty_loss(0.5, targets[0]), "gradient", jax.grad(empty_loss)(0.5, targets[0]))
empty = jax.explain_grad(empty_loss)(0.5, targets[0])
print(empty, "\n")
print("mask without an element ", masked_loss(0.5, inputs, targets, mask), "gradient", jax.grad(masked_loss)(0.5, inputs, targets, mask))
report = jax.explain_grad(masked_loss)(0.5, inputs, targets, mask)
print(report, "\n")
value, gradient = jax.value_and_grad(cured_loss)(0.5, inputs, targets, mask)
print("with masked.mean        ", value, "gradient", gradient)

assert any(trouble.kind == "empty" for trouble in empty.troubles)
assert any(trouble.primitive == "div" and "count" in trouble.cause for trouble in report.troubles)
assert jnp.isfinite(gradient) and gradient != 0
