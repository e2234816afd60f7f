"""Tracers that outlive their trace: found at its end when asked for, and named when they are used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pullback as jax
import pullback.numpy as jnp

kept = []


def leak(x):
    y = x * 2
    kept.append(y)
    return y + 1


LINE = leak.__code__.co_firstlineno + 1
HERE = re.escape(Path(__file__).name)
# How the function is transformed and called, the class of its tracers, and the name of the transform.
TRANSFORMS = {
    "jit": (lambda: jax.jit(leak)(1.0), "DynamicJaxpr"),
    "make_jaxpr": (lambda: jax.make_jaxpr(leak)(1.0), "DynamicJaxpr"),
    "grad": (lambda: jax.grad(leak)(1.0), "Linearize"),
    "jvp": (lambda: jax.jvp(leak, (1.0,), (1.0,)), "JVP"),
    "vmap": (lambda: jax.vmap(leak)(jnp.ones(2)), "Batch"),
    "scan": (lambda: jax.lax.scan(lambda c, _: (leak(c), None), jnp.float32(1), None, length=2), "DynamicJaxpr"),
}


@pytest.fixture(autouse=True)
def nothing_kept():
    jax.clear_caches()
    kept.clear()
    yield
    kept.clear()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_leak_is_found_at_the_end_of_the_trace(name):
    call, kind = TRANSFORMS[name]
    with jax.checking_leaks(), pytest.raises(Exception, match=rf"Leaked trace {kind}Trace\. Leaked tracer\(s\):") as info:
        call()
    text = str(info.value)
    assert re.search(rf"created on line \S*{HERE}:{LINE} \(leak\)", text), text
    assert f"traced for {name}" in text and "is referred to by <list of 1>[0]" in text


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_leaked_tracer_that_is_used_is_named(name):
    call, kind = TRANSFORMS[name]
    call()
    with pytest.raises(jax.errors.UnexpectedTracerError) as info:
        kept[0] + 1
    text = str(info.value)
    assert f"wrapped in a {kind}Tracer to escape" in text and f"traced for {name}" in text
    assert re.search(rf"created on line \S*{HERE}:{LINE} \(leak\)", text), text


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if name != "jvp"])
def test_jax_finds_the_same_leaks(name, jax_oracle):
    def found(j):
        y = []

        def f(x):
            y.append(x * 2)
            return y[-1] + 1

        calls = {
            "jit": lambda: j.jit(f)(1.0), "make_jaxpr": lambda: j.make_jaxpr(f)(1.0), "grad": lambda: j.grad(f)(1.0),
            "vmap": lambda: j.vmap(f)(j.numpy.ones(2)),
            "scan": lambda: j.lax.scan(lambda c, _: (f(c), None), j.numpy.float32(1), None, length=2),
        }
        with j.checking_leaks(), pytest.raises(Exception) as info:
            calls[name]()
        return type(info.value), str(info.value).splitlines()[0]

    assert found(jax) == found(jax_oracle)


def test_what_ends_with_its_trace_is_no_leak():
    def cycle(x):
        loop = [x * 2]
        loop.append(loop)
        return loop[0]

    with jax.checking_leaks():
        assert float(jax.jit(cycle)(1.0)) == 2.0
        nested = jax.jit(lambda x: jax.grad(lambda y: jax.lax.scan(lambda c, _: (c * y, None), x, None, length=2)[0])(x))
        assert float(nested(1.0)) == 2.0
        assert jax.vmap(jax.grad(lambda x: jnp.sin(x) * x))(jnp.ones(3)).shape == (3,)
        out, pull_back = jax.vjp(jax.checkpoint(lambda x: x * x), 3.0)
        assert float(pull_back(1.0)[0]) == 6.0
    jax.jit(leak)(1.0)


def test_a_returned_leak_is_named():
    jax.jit(leak)(1.0)
    with pytest.raises(jax.errors.UnexpectedTracerError, match="traced for jit"):
        jax.jit(lambda x: kept[0])(2.0)


def test_the_environment_variable():
    program = "import pullback as jax\nkept = []\njax.jit(lambda x: kept.append(x))(1.0)"
    environment = {**os.environ, "PYTHONPATH": str(Path(jax.__file__).parent.parent), "JAX_CHECK_TRACER_LEAKS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert "Exception: Leaked trace DynamicJaxprTrace" in done.stderr
