"""Rows that time single calls from Python: eager functions, indexing, trees, transformations outside of `jit`."""

import numpy as np

from row import Row


def ready(side, function):
    return lambda: side.jax.block_until_ready(function())


def on_three(call):
    """A maker of a call on an array of three elements."""

    def make(side):
        x = side.jnp.arange(3.0)
        return ready(side, lambda: call(side, x))

    return make


def many_leaves(side):
    leaves = {f"p{i}": side.jnp.arange(3.0) for i in range(100)}
    function = side.jax.jit(lambda tree: tree["p0"] + tree["p99"])
    return ready(side, lambda: function(leaves))


def gradient(side):
    w, x = side.jnp.ones((8, 8)), side.jnp.ones((4, 8))
    function = side.jax.grad(lambda w: side.jnp.sum(side.jnp.tanh(x @ w) ** 2))
    return ready(side, lambda: function(w))


def mapped(side):
    w, x = side.jnp.ones((8, 8)), side.jnp.ones((4, 8))
    function = side.jax.vmap(lambda x: side.jnp.tanh(w @ x).sum())
    return ready(side, lambda: function(x))


def split_key(side):
    key = side.jax.random.key(0)
    return ready(side, lambda: side.jax.random.key_data(side.jax.random.split(key)))


def map_tree(side):
    tree = {f"p{i}": {"w": np.float32(i), "b": np.float32(i)} for i in range(50)}
    return lambda: side.jax.tree.map(lambda x: x, tree)


CALLS = [
    ("`jnp.sin(x)`", on_three(lambda side, x: side.jnp.sin(x)), 0.2),
    ("`jnp.sum(x)`", on_three(lambda side, x: side.jnp.sum(x)), 0.2),
    ("`jnp.where(x > 1, x, 0)`", on_three(lambda side, x: side.jnp.where(x > 1, x, 0)), 0.2),
    ("`jnp.concatenate([x, x])`", on_three(lambda side, x: side.jnp.concatenate([x, x])), 0.2),
    ("`x @ x`", on_three(lambda side, x: x @ x), 0.2),
    ("`x[1]`", on_three(lambda side, x: x[1]), 0.05),
    ("`x.at[1].set(2)`", on_three(lambda side, x: x.at[1].set(2.0)), 0.02),
    ("`jnp.asarray(numpy array)`", lambda side: (lambda a: ready(side, lambda: side.jnp.asarray(a)))(np.arange(3, dtype=np.float32)), 0.1),
    ("`jit` call with 100 leaves", many_leaves, 0.1),
    ("`grad` outside of `jit`", gradient, 0.03),
    ("`vmap` outside of `jit`", mapped, 0.03),
    ("`random.split(key)`", split_key, 0.1),
    ("`tree.map`, 100 leaves", map_tree, 0.5),
]

EVERYDAY = [Row(f"call: {title}", f"≤ {limit}", "s", make, "value", limit) for title, make, limit in CALLS]
