"""A NaN that a filter does not hold back: https://github.com/jax-ml/jax/issues/19089

`f` takes the square roots of all elements and then only those that are positive. Its value is fine, and JAX's gradient is NaN.
"""

import pullback as jax
import pullback.numpy as jnp
from pullback.typing import ArrayLike


def f(x: ArrayLike, pre_filter: bool = False) -> jax.Array:
    delta = jnp.array((0, 1)) * x
    if pre_filter:
        return jnp.sum(delta[delta > 0] ** 0.5)
    return jnp.sum((delta**0.5)[delta > 0])


def with_where(x: float) -> jax.Array:
    return jnp.where(x > 0, x**0.5, 7.0)


print("f(1.)                     ", f(1.0))
print("its gradient, as in JAX   ", jax.grad(f)(1.0))
print("filtered before           ", jax.grad(f)(1.0, pre_filter=True))
with jax.safe_grads():
    print("under safe_grads          ", jax.grad(f)(1.0))
    print("where(x > 0, x**0.5, 7.)' ", jax.grad(with_where)(0.0))
print()
report = jax.explain_grad(f)(1.0)
print(report)

assert jnp.isnan(jax.grad(f)(1.0))
with jax.safe_grads():
    assert jax.grad(f)(1.0) == 0.5 and jax.grad(with_where)(0.0) == 0.0
(trouble,) = report.troubles
assert trouble.primitive == "pow" and "gather" not in trouble.primitive and trouble.dropped_by
