"""Zeros where a gradient was expected: which of them are zeros of the program, and which of the numbers."""

import pullback as jax
import pullback.numpy as jnp
from pullback.typing import ArrayLike

Params = dict[str, jax.Array]


def accuracy(params: Params, x: jax.Array, labels: jax.Array) -> jax.Array:
    """A score that counts: argmax and == have no slope."""
    scores = x @ params["w"] + params["b"]
    return jnp.mean(jnp.argmax(scores, axis=1) == labels)


def saturated(params: Params, x: jax.Array) -> jax.Array:
    """A network whose sigmoid is deep in its flat part."""
    return jnp.mean(jax.nn.sigmoid(100.0 * (x @ params["w"] + params["b"])))


def dead(params: Params, x: jax.Array) -> jax.Array:
    """A layer whose units are all negative."""
    return jnp.mean(jnp.maximum(x @ params["w"] + params["b"] - 1000.0, 0.0))


def unstable(x: ArrayLike) -> jax.Array:
    return jnp.exp(1000.0 * x)


x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
params = {"w": jnp.ones((2, 2)), "b": jnp.zeros(2)}
reports = {
    "accuracy": jax.explain_grad(accuracy)(params, x, jnp.array([0, 1])),
    "saturated": jax.explain_grad(saturated)(params, x),
    "dead": jax.explain_grad(dead)(params, x),
    "exp(1000 x) at -10": jax.explain_grad(unstable)(-10.0),
    "exp(1000 x) at 1": jax.explain_grad(unstable)(1.0),
}
for name, report in reports.items():
    print(f"== {name}\n{report}\n")

assert {t.kind for t in reports["accuracy"].troubles} == {"zero (structural)"}
assert {t.primitive for t in reports["accuracy"].troubles} == {"argmax"}
assert {t.primitive for t in reports["saturated"].troubles} == {"logistic"}
assert {t.primitive for t in reports["dead"].troubles} == {"max"}
assert [t.kind for t in reports["exp(1000 x) at -10"].troubles] == ["zero (numeric)"]
assert [t.kind for t in reports["exp(1000 x) at 1"].troubles] == ["inf"]
