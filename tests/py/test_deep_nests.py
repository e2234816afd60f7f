"""Control flow nested deep: each transformation does work for each level, and not twice as much for each further one.

A program that doubles its work with each level never ends at this depth, so that ending is the test.
"""

import subprocess
import sys

import pytest

DEPTH = 40

PRELUDE = f"""
import pullback as jax, pullback.numpy as jnp
from pullback import lax
def cond(d):
    return (lambda x: jnp.sin(x)) if d == 0 else (lambda x: lax.cond(x > 0, cond(d - 1), lambda x: x, x))
def switch(d):
    return jnp.cos if d == 0 else (lambda x: lax.switch(1, [jnp.sin, switch(d - 1), jnp.tanh], x))
def jitted(d):
    return jnp.sin if d == 0 else jax.jit(lambda x: jitted(d - 1)(x) * 2)
def scan(d):
    step = (lambda c: (c[0], c[1] * c[0])) if d == 0 else scan(d - 1)
    return lambda c: lax.scan(lambda c, _: (step(c), None), c, None, length=1)[0]
def loop(d):
    step = jnp.sin if d == 0 else loop(d - 1)
    return lambda x: lax.fori_loop(0, 1, lambda i, x: step(x), x)
def remat(d):
    return jnp.sin if d == 0 else jax.checkpoint(lambda x: remat(d - 1)(x) * 2)
d = {DEPTH}
"""

PROGRAMS = {
    "cond": "print(jax.jit(cond(d))(1.0))",
    "gradient of cond": "print(jax.jit(jax.grad(cond(d)))(1.0))",
    "cond under vmap": "print(jax.jit(jax.vmap(cond(d)))(jnp.ones(3)))",
    "switch": "print(jax.jit(switch(d))(1.0))",
    "jit": "print(jax.jit(jax.grad(jitted(d)))(1.0))",
    "scan": "print(jax.jit(scan(d))((jnp.float32(2.0), jnp.float32(1.0))))",
    "gradient of scan": "print(jax.jit(jax.grad(lambda x: scan(d)((x, x))[1]))(2.0))",
    "fori_loop": "print(jax.jit(loop(d))(1.0))",
    "checkpoint": "print(jax.jit(jax.grad(remat(d // 4)))(1.0))",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_deep_nest_ends(name):
    run = subprocess.run([sys.executable, "-c", PRELUDE + PROGRAMS[name]], capture_output=True, text=True, timeout=100)
    assert run.returncode == 0, run.stderr[-2000:]
