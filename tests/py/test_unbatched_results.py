"""Under `vmap`, what a loop or a choice passes through untouched stays one for all examples; bounds of loops; `argnums`."""

import pytest

import pullback
import pullback.numpy as pnp

UNBATCHED = {
    "cond": lambda j, n, x, y: j.lax.cond(x < 2, lambda x, y: (x * 2, y), lambda x, y: (x * 3, y), x, y),
    "cond both": lambda j, n, x, y: j.lax.cond(x < 2, lambda x, y: (x, y), lambda x, y: (x, y), x, y),
    "switch": lambda j, n, x, y: j.lax.switch(x.astype(int), [lambda x, y: (x, y), lambda x, y: (-x, y)], x, y),
    "while": lambda j, n, x, y: j.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1]), (x, y)),
    "fori": lambda j, n, x, y: j.lax.fori_loop(0, 3, lambda i, c: (c[0] + x, c[1]), (x, y)),
    "fori traced": lambda j, n, x, y: j.lax.fori_loop(0, x.astype(int), lambda i, c: (c[0] + c[1], c[1]), (x, y)),
    "scan": lambda j, n, x, y: j.lax.scan(lambda c, _: ((c[0] * x + c[1], c[1]), None), (x, y), None, length=2)[0],
}


@pytest.mark.parametrize("name", UNBATCHED)
def test_what_passes_through_is_one_for_all(jax_oracle, name):
    answers = []
    for j in (pullback, jax_oracle):
        n, run = j.numpy, UNBATCHED[name]
        f = j.vmap(lambda x, y: run(j, n, x, y), (0, None), (0, None))
        for wrap in (lambda f: f, j.jit, lambda f: j.vmap(f, (0, None), (0, None)), lambda f: lambda x, y: j.jvp(f, (x, y), (x, y))):
            x = n.arange(4.0).reshape(2, 2)
            out = wrap(f)(x if "vmap" in wrap.__code__.co_names else x[0] + 1, 3.0)
            answers.append([n.asarray(part).tolist() for part in j.tree.leaves(out)])
    assert answers[:4] == answers[4:]


BOUNDS = {
    "floats": lambda j: j.lax.fori_loop(1.0, 3.0, lambda i, c: c + i, 0.0),
    "parts": lambda j: j.lax.fori_loop(0.5, 3.2, lambda i, c: c + i, 0.0),
    "array": lambda j: j.lax.fori_loop(j.numpy.float32(1), 3.0, lambda i, c: c + i, 0.0),
    "mixed": lambda j: j.lax.fori_loop(1, 3.0, lambda i, c: c + i, 0.0),
    "traced": lambda j: j.jit(lambda n: j.lax.fori_loop(1.0, n, lambda i, c: c + i, 0.0))(4.0),
    "gradient": lambda j: j.grad(lambda x: j.lax.fori_loop(1.0, 4.0, lambda i, c: c * x + i, 0.0))(2.0),
    "gradient of a bound": lambda j: j.grad(lambda x: j.lax.fori_loop(1.0, x, lambda i, c: c * x + i, 0.0))(2.0),
    "no numbers": lambda j: j.lax.fori_loop(float("nan"), 3.0, lambda i, c: c, 0.0),
    "one": lambda j: j.grad(lambda a, b=1.0: a * b, argnums=3)(1.0, 2.0),
    "below": lambda j: j.grad(lambda a, b=1.0: a * b, argnums=-3)(1.0, 2.0),
    "twice": lambda j: j.grad(lambda a, b=1.0: a * b, argnums=(0, 0))(1.0, 2.0),
    "twice by sign": lambda j: j.grad(lambda a, b=1.0: a * b, argnums=(0, -2))(1.0, 2.0),
    "forward": lambda j: j.jacfwd(lambda a, b=1.0: a * b, argnums=3)(1.0, 2.0),
    "reverse": lambda j: j.jacrev(lambda a, b=1.0: a * b, argnums=3)(1.0, 2.0),
    "second": lambda j: j.hessian(lambda a, b=1.0: a * b, argnums=-3)(1.0, 2.0),
}


def outcome(j, name):
    try:
        return float(BOUNDS[name](j))
    except Exception as error:  # noqa: BLE001
        return next(c.__name__ for c in type(error).__mro__ if not c.__module__.startswith(("jax", "pullback")))


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_and_argnums_are_those_of_jax(jax_oracle, name):
    assert outcome(pullback, name) == outcome(jax_oracle, name)


def test_gradients_of_integers_under_vmap():
    gradients = pullback.vmap(pullback.grad(lambda x: x * 1.0, allow_int=True))(pnp.arange(3))
    assert gradients.shape == (3,) and gradients.dtype == pullback.dtypes.float0
