"""Mistakes that a checker has to find: one on each line that says so, and nowhere else. It is not run."""

import pullback as jax
import pullback.numpy as jnp
from pullback import Array, lax


def f(x: Array, n: int) -> Array:
    return x * n


x = jnp.zeros(3)
jnp.sums(x)  # mistake
jnp.sum(x, axes=0)  # mistake
x.at[0].put(1.0)  # mistake
x.at[0].set("one")  # mistake
jax.jit(f)(x, "three")  # mistake
jax.vmap(f)(x)  # mistake
jax.grad(f)(x, 1).upper()  # mistake
lax.scan(lambda c, y: c, x, x)  # mistake
jax.make_mesh(4, ("data",))  # mistake
text: str = jax.device_count()  # mistake
jnp.array({"a": 1})  # mistake
