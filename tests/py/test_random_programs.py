"""Random programs: eager, compiled, interpreted equation by equation and, when asked, on JAX, all give the same.

`PULLBACK_RANDOM_PROGRAMS=N` says how many programs (4,000 unless told), `PULLBACK_RANDOM_SEED` where they begin, and
`PULLBACK_RANDOM_JAX=N` on how many of them JAX, which compiles slowly, is asked too (20 unless told). A failure prints
the seed and a program made as small as still fails.
"""

import os

import numpy as np
import pytest

import pullback
from random_programs import execute, names_in, program, shrink

COUNT = int(os.environ.get("PULLBACK_RANDOM_PROGRAMS", "4000"))
START = int(os.environ.get("PULLBACK_RANDOM_SEED", "0"))
ON_JAX = int(os.environ.get("PULLBACK_RANDOM_JAX", "20"))
PARTS = 20
X = np.array([0.5, -1.25, 2.0], np.float32)
Y = np.array([1.5, 0.75, -0.5], np.float32)


def is_reversible(steps):
    return "while" not in names_in(steps)


def is_forward(steps):
    return "custom_vjp" not in names_in(steps)


def scalar(s, steps):
    return lambda x, y: execute(s, steps, [x, y]).sum()


def inputs(s):
    return s.numpy.asarray(X), s.numpy.asarray(Y)


def value(s, steps):
    return np.asarray(execute(s, steps, inputs(s)))


def staged(s, steps):
    return np.asarray(s.jit(lambda x, y: execute(s, steps, [x, y]))(*inputs(s)))


def gradient(s, steps):
    return np.stack([np.asarray(g) for g in s.grad(scalar(s, steps), (0, 1))(*inputs(s))])


def staged_gradient(s, steps):
    return np.stack([np.asarray(g) for g in s.jit(s.grad(scalar(s, steps), (0, 1)))(*inputs(s))])


def derivative(s, steps):
    return np.asarray(s.jvp(scalar(s, steps), inputs(s), (s.numpy.ones(3), s.numpy.ones(3)))[1])


def batched(s, steps):
    x, y = inputs(s)
    return np.asarray(s.vmap(lambda x: execute(s, steps, [x, y]))(s.numpy.stack([x, -x, 0.5 * x])))


def one_by_one(s, steps):
    x, y = inputs(s)
    return np.stack([np.asarray(execute(s, steps, [a, y])) for a in (x, -x, 0.5 * x)])


def interpreted(s, steps):
    jaxpr = s.make_jaxpr(lambda x, y: execute(s, steps, [x, y]))(*inputs(s))
    return np.asarray(s.core.eval_jaxpr(jaxpr, jaxpr.consts, *inputs(s))[0])


def same(a, b):
    return np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)


def disagreement(steps, seed):
    """Which two ways of running a program differ; None if none do."""
    plain = value(pullback, steps)
    ways = [staged, interpreted][seed % 2 :][:1]
    for way in ways:
        if not same(plain, way(pullback, steps)):
            return way.__name__
    if seed % 3 == 0 and not same(one_by_one(pullback, steps), batched(pullback, steps)):
        return "batched"
    if seed % 3 == 1 and is_reversible(steps):
        reverse = gradient(pullback, steps)
        if seed % 2 and not same(reverse, staged_gradient(pullback, steps)):
            return "staged gradient"
        if is_forward(steps) and not same(reverse.sum(), derivative(pullback, steps)):
            return "forward and reverse"
    return None


def explain(seed, steps, found):
    return f"seed {seed}: {found} differs for the program {steps}"


@pytest.mark.parametrize("part", range(PARTS))
def test_ways_of_running_agree(part):
    for seed in range(START + part, START + COUNT, PARTS):
        steps = program(seed)
        found = disagreement(steps, seed)
        if found:
            least = shrink(steps, lambda less: disagreement(less, seed) is not None)
            pytest.fail(explain(seed, least, found))


def differs_from_jax(steps, seed, jax):
    if not same(value(pullback, steps), value(jax, steps)):
        return "value"
    if is_reversible(steps) and seed % 2 and not same(gradient(pullback, steps), gradient(jax, steps)):
        return "gradient"
    if seed % 5 == 0 and not same(batched(pullback, steps), batched(jax, steps)):
        return "batch"
    return None


def test_jax_agrees(jax_oracle):
    for seed in range(START, START + ON_JAX):
        steps = program(seed)
        found = differs_from_jax(steps, seed, jax_oracle)
        assert not found, explain(seed, steps, found)
