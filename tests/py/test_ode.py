"""`jax.experimental.ode` beside live JAX: values, gradients, batches and errors, in double precision."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")

# Steps depend on estimates of errors, which cancel all but a few digits: both solutions are right to the tolerance asked for.
TOLERANCE = 1e-9
TIMES = np.array([0.0, 0.3, 1.0, 2.5])


def pendulum(np_):
    return lambda y, t, k: {"angle": y["speed"], "speed": -k * np_.sin(y["angle"]) + 0.1 * np_.cos(t)}


START = {"angle": 0.5, "speed": np.array(0.1)}
# Of a case: what of `ode`, `jax.numpy` and `jax` it computes.
CASES = {
    "decay": lambda ode, jnp, j: ode.odeint(lambda y, t: -2 * y, 1.0, TIMES),
    "vector": lambda ode, jnp, j: ode.odeint(lambda y, t, a: a @ y, np.array([1.0, 2.0]), TIMES, np.array([[0.0, 1.0], [-1.0, -0.1]])),
    "matrix": lambda ode, jnp, j: ode.odeint(lambda y, t: -t * y, np.ones((2, 3)), TIMES),
    "tree": lambda ode, jnp, j: ode.odeint(pendulum(jnp), START, TIMES, 1.5),
    "complex": lambda ode, jnp, j: ode.odeint(lambda y, t: 1j * y, 1.0 + 0j, TIMES),
    "steps are bounded": lambda ode, jnp, j: ode.odeint(lambda y, t: -y, 1.0, TIMES, hmax=0.05),
    "steps are few": lambda ode, jnp, j: ode.odeint(lambda y, t: -2 * y, 1.0, TIMES[:3], mxstep=1),
    "no step": lambda ode, jnp, j: ode.odeint(lambda y, t: 0.0 * y, 1.0, TIMES),
    "loose": lambda ode, jnp, j: ode.odeint(lambda y, t: -y * y, 1.0, TIMES, rtol=1e-3, atol=1e-3),
    "one time": lambda ode, jnp, j: ode.odeint(lambda y, t: -y, 1.0, TIMES[:1]),
    "compiled": lambda ode, jnp, j: j.jit(lambda y: ode.odeint(lambda y, t: -y, y, TIMES))(2.0),
    "batch": lambda ode, jnp, j: j.vmap(lambda y: ode.odeint(lambda y, t: -y * y, y, TIMES))(np.arange(3.0)),
    "slope of an argument": lambda ode, jnp, j: j.grad(lambda k: ode.odeint(pendulum(jnp), START, TIMES, k)["angle"].sum())(1.5),
    "slope of the start": lambda ode, jnp, j: j.jacrev(lambda y: ode.odeint(lambda y, t: -t * y**2, y, TIMES))(1.5),
    "slope of the times": lambda ode, jnp, j: j.grad(lambda t: (ode.odeint(lambda y, t: -t * y, 1.0, t) ** 2).sum())(TIMES),
    "slope of what is closed over": lambda ode, jnp, j: j.grad(lambda k: ode.odeint(lambda y, t: -k * y, 1.0, TIMES)[-1])(0.7),
    "slopes of trees": lambda ode, jnp, j: j.grad(lambda p: ode.odeint(lambda y, t, p: p["a"] * y + p["b"][0], 1.0, TIMES, p)[-1])({"a": 0.3, "b": [0.2]}),
    "slope in a batch": lambda ode, jnp, j: j.vmap(j.grad(lambda k: ode.odeint(lambda y, t: -k * y, 1.0, TIMES)[-1]))(np.arange(1.0, 3.0)),
}
ERRORS = {
    "times of integers": lambda ode, j: ode.odeint(lambda y, t: -y, 1.0, j.numpy.array([0, 1])),
    "a text": lambda ode, j: ode.odeint(lambda y, t, s: -y, 1.0, j.numpy.array([0.0, 1.0]), "s"),
    "forward": lambda ode, j: j.jvp(lambda k: ode.odeint(lambda y, t: -k * y, 1.0, j.numpy.array([0.0, 1.0])), (0.7,), (1.0,)),
}


def both(function):
    results = []
    for system in (jax, pullback):
        with system.enable_x64(True):
            results.append(function(importlib.import_module(f"{system.__name__}.experimental.ode"), system))
    return results


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_jax(name):
    wanted, found = both(lambda ode, j: j.tree.map(np.asarray, CASES[name](ode, j.numpy, j)))
    wanted, found = jax.tree.leaves(wanted), jax.tree.leaves(found)
    assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in wanted]
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=TOLERANCE, atol=TOLERANCE)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_of_the_kind_of_jax(name):
    def kind(ode, j):
        with pytest.raises(Exception) as caught:
            ERRORS[name](ode, j)
        return type(caught.value).__name__

    wanted, found = both(kind)
    assert found == wanted


def test_the_second_slope():
    with pullback.enable_x64(True):
        ode = importlib.import_module("pullback.experimental.ode")
        end = lambda k: ode.odeint(lambda y, t: -k * y, 1.0, TIMES[:2])[-1]  # noqa: E731
        np.testing.assert_allclose(pullback.grad(pullback.grad(end))(0.7), 0.09 * np.exp(-0.21), rtol=1e-6)
