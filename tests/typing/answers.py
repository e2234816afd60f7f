"""The types that checkers give to what people call most; `assert_type` is checked by them and does nothing when it runs."""

from typing import Any, assert_type

import pullback as jax
import pullback.numpy as jnp
from pullback import Array, lax

x = jnp.array([0, 1])
assert_type(x, Array)
assert_type(jnp.array([[1.0, 2.0], [3.0, 4.0]]), Array)
assert_type(x.at[0].set(1), Array)
assert_type(x.at[0].get(mode="fill"), Array)
assert_type(x.shape, tuple[int, ...])
assert_type(x + 1, Array)
assert_type(1.0 - x, Array)
assert_type(x[0], Array)
assert_type(jax.random.normal(jax.random.key(0), (3,)), Array)
assert_type(jnp.where(x > 0, x, 0), Array)
assert_type(jax.nn.relu(x), Array)
assert_type(jnp.linalg.norm(jnp.ones(3)), Array)
assert_type(jax.make_mesh((1,), ("data",)), jax.sharding.Mesh)
assert_type(jax.device_count(), int)
assert_type(jax.device_put(1.0), Array)


def f(x: Array, y: Array) -> Array:
    return jnp.sum(x * y)


a, b = jnp.ones(2), jnp.ones(2)
assert_type(jax.grad(f)(a, b), Array)
assert_type(jax.value_and_grad(f)(a, b), tuple[Array, Array])
assert_type(jax.vmap(f)(a, b), Array)
assert_type(jax.jit(f)(a, b), Array)
assert_type(jax.jit(jax.vmap(jax.grad(f)))(a, b), Array)
assert_type(jax.checkpoint(f)(a, b), Array)
assert_type(jax.grad(jnp.tanh)(0.5), Array)


def count(carry: tuple[int, Array], x: Array) -> tuple[tuple[int, Array], Array]:
    return carry, x


assert_type(lax.fori_loop(0, 3, lambda _, c: c + 1, a), Array)
assert_type(lax.while_loop(lambda c: jnp.all(c < 3), lambda c: c + 1, a), Array)
assert_type(lax.cond(True, jnp.sin, jnp.cos, a), Array)
assert_type(lax.scan(count, (0, a), b), tuple[tuple[int, Array], Array])
assert_type(lax.map(jnp.sin, a), Array)

# Modules that are imported when first asked for are visible.
assert_type(jax.scipy.special.gammaln(1.0), Array)
density: Any = jax.scipy.stats.norm.logpdf(0.0)
check: Any = jax.experimental.checkify.check
jax.debug.print("{}", density)
errors: tuple[type[Exception], ...] = (jax.errors.TracerBoolConversionError, jax.errors.KeyReuseError)
structure = jax.tree.structure({"a": x})
assert_type(structure, jax.tree_util.PyTreeDef)
