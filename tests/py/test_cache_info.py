"""`f.cache_info()` says what was found, what was traced, and why."""

from pathlib import Path

import pytest

import pullback as jax
import pullback.numpy as jnp

a3, a4 = jnp.ones(3), jnp.ones(4)






def function():
    return jax.jit(lambda x, y=0, *, n=1: jnp.sum(jax.tree.leaves((x, y))[0]), static_argnames="n")


# Two calls, and the changes that the second one is said to have.
CASES = {
    "shape": (((a3,), {}), ((a4,), {}), [("x", "shape", "(3,)", "(4,)")]),
    "rank": (((a3,), {}), ((1.0,), {}), [("x", "shape", "(3,)", "()"), ("x", "weak type", "False", "True")]),
    "dtype": (((a3,), {}), ((a3.astype(int),), {}), [("x", "dtype", "float32", "int32")]),
    "weak type": (((1.0,), {}), ((jnp.float32(1),), {}), [("x", "weak type", "True", "False")]),
    "a leaf": ((({"w": [a3, a3]},), {}), (({"w": [a3, a4]},), {}), [("x['w'][1]", "shape", "(3,)", "(4,)")]),
    "tree": (((a3, [a3]), {}), ((a3, (a3,)), {}), [("y", "tree", "[*]", "(*,)")]),
    "static": (((a3,), {"n": 2}), ((a3,), {"n": 3}), [("n", "static value", "2", "3")]),
    "arguments": (((a3,), {}), ((a3,), {"n": 3}), [("the call", "arguments", "(x)", "(x, n)")]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_miss_says_what_changed(name):
    (args, kwargs), (args2, kwargs2), changes = CASES[name]
    f = function()
    f(*args, **kwargs), f(*args, **kwargs)
    f(*args2, **kwargs2), f(*args, **kwargs), f(*args2, **kwargs2)
    info = f.cache_info()
    assert (info.hits, info.misses, info.size, f._cache_size()) == (3, 2, 2, 2)
    first, second = info.traces
    assert first.changes == ()
    assert [(c.argument, c.what, c.before, c.after) for c in second.changes] == changes


def test_the_nearest_call_is_compared_with_and_the_line_is_named():
    @jax.jit
    def step(params, batch):
        return params["w"] * batch.sum()

    params = {"w": a3}
    step(params, jnp.ones((8, 3)))
    step(params, jnp.ones((8, 3), jnp.int32))
    step(params, jnp.ones((7, 3), jnp.int32))
    line = test_the_nearest_call_is_compared_with_and_the_line_is_named.__code__.co_firstlineno + 8
    info = step.cache_info()
    last = info.traces[-1]
    assert [(c.argument, c.what) for c in last.changes] == [("batch", "shape")]
    assert (Path(last.file).name, last.line) == ("test_cache_info.py", line)
    text = repr(info)
    assert "CacheInfo(step: hits=0, misses=3, size=3)" in text
    assert "first call, params['w']: float32[3], batch: float32[8,3]" in text
    assert f"test_cache_info.py:{line}: shape of batch: (8, 3) -> (7, 3)" in text


def test_settings_methods_and_inner_calls():
    class Model:
        @jax.jit
        def __call__(self, x):
            return x + 1

    jax.tree_util.register_static(Model)
    model = Model()
    model(a3), model(a3)
    assert (Model.__call__.cache_info().hits, Model.__call__.cache_info().misses) == (1, 1)

    f = jax.jit(lambda x: x * 2)
    f(1.0)
    with jax.numpy_dtype_promotion("strict"):
        f(1.0)
    (change,) = f.cache_info().traces[-1].changes
    assert (change.what, change.before, change.after) == ("setting", "False", "True") and "Promotion" in change.argument

    inner = jax.jit(lambda x: x * 3)
    outer = jax.jit(lambda x: inner(x) + inner(x))
    outer(2.0)
    assert (inner.cache_info().hits, inner.cache_info().misses) == (1, 1)


def test_a_trace_that_captures_tracers_says_so():
    kept = []
    inner = jax.jit(lambda x: x + kept[-1])

    @jax.jit
    def outer(y):
        kept.append(y)
        return inner(1.0)

    outer(1.0)
    info = inner.cache_info()
    assert (info.misses, info.size) == (1, 0) and "tracers of an outer trace" in repr(info)
    kept.clear()


def test_clearing():
    f = jax.jit(lambda x: x + 1)
    f(1.0), f(1.0)
    f.clear_cache()
    info = f.cache_info()
    assert (info.hits, info.misses, info.size, info.traces) == (0, 0, 0, ())
    f(1.0)
    assert f._cache_size() == 1
    jax.clear_caches()
    assert f._cache_size() == 0


def test_wrappers_of_one_function_share_what_was_traced():
    def f(x):
        return x + 1

    jax.jit(f)(1.0)
    jax.jit(f)(1.0)
    assert (jax.jit(f).cache_info().hits, jax.jit(f).cache_info().misses) == (1, 1)
