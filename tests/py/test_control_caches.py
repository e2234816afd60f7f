"""Bodies of control flow are traced once for each function and types, compiled once for each jaxpr, and run op by op under
`disable_jit`."""

import gc
import weakref

import pytest

import pullback as jax
import pullback.numpy as jnp

x = jnp.arange(3.0)


def counting(function):
    def wrapper(*args):
        wrapper.count += 1
        return function(*args)

    wrapper.count = 0
    return wrapper


# How a body is used, and the body.
USES = {
    "scan": (lambda f, c: jax.lax.scan(f, c, x), lambda c, x: (c + x, c)),
    "map": (lambda f, c: jax.lax.map(f, x + c), lambda v: v * 2),
    "while body": (lambda f, c: jax.lax.while_loop(lambda v: v < 5, f, c), lambda v: v + 1),
    "while condition": (lambda f, c: jax.lax.while_loop(f, lambda v: v + 1, c), lambda v: v < 5),
    "fori": (lambda f, c: jax.lax.fori_loop(0, 3, f, c), lambda i, v: v + i),
    "fori to a traced bound": (lambda f, c: jax.jit(lambda n: jax.lax.fori_loop(0, n, f, 0.0))(3), lambda i, v: v + i),
    "cond": (lambda f, c: jax.lax.cond(True, f, lambda v: -v, c), lambda v: v + 1),
    "switch": (lambda f, c: jax.lax.switch(0, [f, lambda v: -v], c), lambda v: v + 1),
    "checkpoint": (lambda f, c: jax.grad(jax.checkpoint(f))(c), lambda v: v * v),
}


@pytest.mark.parametrize("name", USES)
def test_a_body_is_traced_once(name):
    use, body = USES[name]
    body = counting(body)
    use(body, jnp.float32(1))
    first = body.count
    for value in (2.0, 3.0, 4.0):
        use(body, jnp.float32(value))
    assert body.count == first


def test_other_types_are_traced_anew():
    body = counting(lambda c, v: (c + v.astype(c.dtype), c))
    for n, carry in enumerate((jnp.float32(1), jnp.int32(1), jnp.ones(3), jnp.ones((2, 3)))):
        jax.lax.scan(body, carry, x)
        assert body.count == n + 1


def test_settings_and_weak_types_are_part_of_the_key():
    body = counting(lambda c, _: (c, jnp.sum(x)))
    for _ in range(2):
        jax.lax.scan(body, jnp.float32(0), None, length=2)
    assert body.count == 1
    with jax.numpy_dtype_promotion("strict"):
        jax.lax.scan(body, jnp.float32(0), None, length=2)
    assert body.count == 2


def test_bodies_that_capture_tracers_are_traced_again():
    scale = [None]
    body = counting(lambda c, x: (c + x * scale[0], None))

    @jax.jit
    def f(s, n):
        scale[0] = s
        return jax.lax.scan(body, jnp.float32(0), x + n)[0]

    assert float(f(2.0, 0)) == 6.0
    assert float(f(jnp.float32(3), 0)) == 9.0
    assert body.count == 2


def test_functions_are_held_weakly():
    def use():
        body = lambda c, x: (c + x, None)  # noqa: E731
        jax.lax.scan(body, jnp.float32(0), x)
        jax.lax.fori_loop(0, 2, step := lambda i, v: v + 1, 0.0)
        return weakref.ref(body), weakref.ref(step)

    body, step = use()
    gc.collect()
    assert body() is None and step() is None




def slow_to_compile(v):
    for i in range(200):
        v = jnp.sin(v) * i + v[::-1]
    return v


@pytest.mark.parametrize(
    "use",
    [
        lambda: jax.lax.scan(lambda c, _: (slow_to_compile(c), None), x, None, length=2),
        lambda: jax.lax.while_loop(lambda v: v.sum() < 0, lambda v: slow_to_compile(v), x),
        lambda: jax.lax.cond(True, lambda v: slow_to_compile(v), lambda v: v, x),
        lambda: jax.jit(lambda v: slow_to_compile(v))(x),
    ],
)
def test_a_lambda_made_anew_is_not_compiled_again(use):
    compiling = []
    jax.clear_caches()
    before = jax._core.n_compiled()
    use()
    first = jax._core.n_compiled()
    for _ in range(3):
        use()
        gc.collect()
    compiling.append(first - before)
    assert compiling[0] > 0 and jax._core.n_compiled() == first


def seen_by(program):
    """What the functions of a program see under `disable_jit`, and its result."""
    seen = []

    def see(*values):
        seen.append(tuple(float(v) for v in values))
        return values[-1]

    with jax.disable_jit():
        return program(see), seen


def test_disable_jit_runs_loops_op_by_op():
    (total, partial), seen = seen_by(lambda see: jax.lax.scan(lambda c, v: (c + see(c, v), c), 0.0, x))
    assert (float(total), partial.tolist()) == (3.0, [0.0, 0.0, 1.0])
    assert seen == [(0, 0), (0, 1), (1, 2)]
    (_, ys), seen = seen_by(lambda see: jax.lax.scan(lambda c, v: (c, see(v)), 0.0, x, reverse=True))
    assert (ys.tolist(), seen) == ([0.0, 1.0, 2.0], [(2,), (1,), (0,)])
    out, seen = seen_by(lambda see: jax.lax.while_loop(lambda v: see(v) < 2, lambda v: v + 1, 0))
    assert (int(out), seen) == (2, [(0,), (1,), (2,)])
    out, seen = seen_by(lambda see: jax.lax.fori_loop(1, 3, lambda i, v: v * see(i), 5.0))
    assert (float(out), seen) == (10.0, [(1,), (2,)])
    out, seen = seen_by(lambda see: jax.lax.map(see, x))
    assert (out.tolist(), len(seen)) == ([0.0, 1.0, 2.0], 3)
    assert seen_by(lambda see: jax.lax.cond(x[0] > 0, see, lambda v: -v, 3.0)) == (-3.0, [])
    assert seen_by(lambda see: jax.lax.switch(7, [lambda v: v, see], 3.0)) == (3.0, [(3,)])
    out, seen = seen_by(lambda see: jax.jit(see)(3.0))
    assert seen == [(3,)]


def test_disable_jit_keeps_derivatives_and_batching():
    with jax.disable_jit():
        assert float(jax.grad(lambda v: jax.lax.scan(lambda c, _: (c * v, None), 1.0, None, length=3)[0])(2.0)) == 12.0
        loop = jax.vmap(lambda v: jax.lax.while_loop(lambda c: c < 3, lambda c: c + 2, v))
        assert loop(jnp.arange(4)).tolist() == [4, 3, 4, 3]
        assert jax.vmap(lambda v: jax.lax.cond(v > 1, jnp.sin, jnp.cos, v))(x).shape == (3,)
    with jax.disable_jit(), pytest.raises(ValueError, match="zero-length scan is not supported in disable_jit"):
        jax.lax.scan(lambda c, v: (c, v), 0.0, jnp.ones(0))


def test_clear_caches_forgets_all():
    body = counting(lambda c, v: (c + v, None))
    for expected in (1, 1):
        jax.lax.scan(body, jnp.float32(0), x)
        assert body.count == expected
    jax.clear_caches()
    jax.lax.scan(body, jnp.float32(0), x)
    assert body.count == 2
