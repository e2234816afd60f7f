"""Loops that hand carried values on unchanged, and what reads those afterwards, compiled beside each part alone."""

import itertools

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import lax


def fori(body, init):
    return lax.fori_loop(0, 3, lambda i, carry: body(carry), init)


def loop(body, init):
    return lax.while_loop(lambda state: state[0] < 3, lambda state: (state[0] + 1, body(state[1])), (0, init))[1]


def scan(body, init):
    return lax.scan(lambda carry, x: (body(carry), x + carry[0].sum()), init, jnp.arange(3.0))[0]


def scan_of_jitted(body, init):
    return lax.scan(jax.jit(lambda carry, x: (body(carry), x)), init, jnp.arange(3.0))[0]


def nested(body, init):
    return fori(lambda carry: scan(body, carry), init)


def under_cond(body, init):
    return lax.cond(init[0].sum() > -1e9, lambda init: fori(body, init), lambda init: init, init)


LOOPS = [fori, loop, scan, scan_of_jitted, nested, under_cond]

# Each leaves some of three carried arrays as they are; the last hides that behind a law of the simplifier.
BODIES = {
    "none changes": lambda c: c,
    "the first changes": lambda c: (c[0] * 0.5 + c[1], c[1], c[2]),
    "the last changes": lambda c: (c[0], c[1], c[2] + c[0]),
    "two swap": lambda c: (c[1], c[0], c[2]),
    "one is updated in place": lambda c: (c[0], c[1].at[0].add(c[0][0]), c[2]),
    "times one": lambda c: (c[0] * 1, c[1] + c[0], -(-c[2])),
}

READERS = {
    "flip": lambda a, b, c: (jnp.flip(a * 2), a, b),
    "sort": lambda a, b, c: (jnp.sort(-a), b, c),
    "transposed sum": lambda a, b, c: ((a[:, None] * b[None, :]).T, jnp.flip(b), a + c),
    "product": lambda a, b, c: (jnp.outer(a, b) @ c, jnp.concatenate([c, a, b])),
    "running sum": lambda a, b, c: (jnp.cumsum(a), jnp.cumsum(b * 3), jnp.cumsum(c)),
    "another loop": lambda a, b, c: lax.fori_loop(0, 2, lambda i, s: (s[0], s[1] + s[0], s[0]), (a, b, c)),
}


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.parametrize("body", BODIES)
def test_what_a_loop_hands_on_keeps_its_memory(loop, body):
    x = jnp.array([3.0, 1.0, 2.0, 7.0])

    def start(x):
        return x + 1, jnp.sin(x) * 2, jnp.flip(x)

    for name, n_inputs in itertools.product(READERS, [0, 1]):
        reader = READERS[name]

        def program(x):
            init = start(x)
            # Once more after the loop, so that no initial value is free.
            return reader(*loop(BODIES[body], init)) + tuple(init[:n_inputs])

        apart = reader(*loop(BODIES[body], jax.jit(start)(x))) + tuple(start(x)[:n_inputs])
        for got, want in zip(jax.jit(program)(x), apart, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_a_donated_argument_that_a_loop_hands_on_is_not_overwritten(loop):
    def program(x):
        kept, changed, _ = loop(lambda c: (c[0], c[1] + c[0], c[2]), (x, x * 2, x))
        return jnp.flip(kept) * 2 + changed, kept + 1

    x = np.array([3.0, 1.0, 2.0, 7.0], np.float32)
    want = program(jnp.array(x))
    got = jax.jit(program, donate_argnums=0)(jnp.array(x))
    for got, want in zip(got, want, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("loop", [fori, scan, scan_of_jitted], ids=lambda loop: loop.__name__)
def test_derivatives_through_unchanged_carries(loop):
    x = jnp.array([3.0, 1.0, 2.0, 7.0])

    def program(x):
        a, b, c = loop(BODIES["the first changes"], (x + 1, jnp.sin(x) * 2, jnp.flip(x)))
        return jnp.sum(jnp.flip(a) * b + c)

    got, want = jax.jit(jax.grad(program))(x), jax.grad(program)(x)
    np.testing.assert_allclose(got, want, rtol=1e-6)
