"""A transformed function that is written anew for each call, as in a training loop, compiles nothing from the second call on."""

import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import _core, lax

X = jnp.arange(1.0, 5.0)


def root(x):
    find = lambda f, y: lax.fori_loop(0, 10, lambda i, y: y - f(y) / (3 * y * y), y)
    return lax.custom_root(lambda y: y**3 - x.sum(), 1.0, find, lambda g, y: y / g(1.0))


PROGRAMS = {
    "scan": lambda: lambda x: lax.scan(lambda c, v: (c * jnp.sin(v), c), 1.0, x)[0],
    "scan of cond": lambda: lambda x: lax.scan(lambda c, v: (lax.cond(v > 2, jnp.sin, jnp.cos, c * v), c), 1.0, x)[0],
    "scan of checkpoint": lambda: lambda x: lax.scan(jax.checkpoint(lambda c, v: (c * jnp.sin(v), c)), 1.0, x)[0],
    "fori_loop": lambda: lambda x: lax.fori_loop(0, 5, lambda i, c: c * jnp.sin(c), x).sum(),
    "while_loop": lambda: lambda x: x.sum() * lax.while_loop(lambda c: c < 10, lambda c: c * 2.0, 1.0),
    "cond": lambda: lambda x: lax.cond(x[0] > 0, lambda x: jnp.sin(x).sum(), lambda x: jnp.cos(x).sum(), x),
    "switch": lambda: lambda x: lax.switch(1, [lambda x: jnp.sin(x).sum(), lambda x: jnp.cos(x).sum()], x),
    "checkpoint": lambda: lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())(x),
    "jit": lambda: lambda x: jax.jit(lambda x: jnp.sin(jnp.sin(x)).sum())(x),
    "map": lambda: lambda x: lax.map(jnp.sin, x).sum(),
    "associative_scan": lambda: lambda x: lax.associative_scan(jnp.multiply, x)[2],
    "custom_root": lambda: root,
    "var": lambda: jnp.var,
    "norm": lambda: jnp.linalg.norm,
    "solve": lambda: lambda x: jnp.linalg.solve(jnp.eye(4) * x, x).sum(),
    "interp": lambda: lambda x: jnp.interp(2.5, x, x * x),
    "cumsum": lambda: lambda x: jnp.cumsum(x * x)[2],
    "softmax": lambda: lambda x: jax.nn.softmax(x)[0],
}
TRANSFORMATIONS = {
    "grad": lambda f: jax.grad(f)(X),
    "jvp": lambda f: jax.jvp(f, (X,), (X,)),
    "vmap": lambda f: jax.vmap(f)(jnp.stack([X, X])),
    "hessian": lambda f: jax.jacfwd(jax.grad(f))(X),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f))(jnp.stack([X, X])),
}


@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_second_call_compiles_nothing(name, transformation):
    once = lambda: TRANSFORMATIONS[transformation](PROGRAMS[name]())
    # What is kept is kept as long as something of the call before lives.
    first = [once(), once()]
    before = _core.n_compiled()
    first.append(once())
    assert _core.n_compiled() == before
