"""Functions of the host inside programs: what they see, when they run, under which transforms."""

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback._callbacks import io_callback

x = jnp.arange(3.0)
scalar = jax.ShapeDtypeStruct((), jnp.float32)
METHODS = ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]


def shapes_under_vmap(j, method, in_axes):
    """Shapes that the function of the host sees, and the result."""
    seen = []

    def host(a, b):
        seen.append((np.shape(a), np.shape(b)))
        return (np.asarray(a) * 2 + np.asarray(b)).astype(np.float32)

    like = j.ShapeDtypeStruct((2,), j.numpy.float32)
    f = j.vmap(lambda a, b: j.pure_callback(host, like, a, b, vmap_method=method), in_axes=in_axes)
    a = j.numpy.arange(6.0).reshape((3, 2) if in_axes[0] == 0 else (2, 3))
    b = j.numpy.arange(3.0) + 10 if in_axes[1] == 0 else j.numpy.float32(5)
    out = j.jit(f)(a, b) if method != "legacy_vectorized" else f(a, b)
    return seen, np.asarray(out)


# The function broadcasts its arguments, which a repeated scalar beside a batch of vectors does not allow.
VMAP_CASES = [
    *((method, (0, None)) for method in METHODS if method != "broadcast_all"),
    *((method, (1, None)) for method in METHODS if method != "broadcast_all"),
    ("sequential", (0, 0)), ("sequential_unrolled", (0, 0)),
]


@pytest.mark.parametrize("method, in_axes", VMAP_CASES)
def test_vmap_methods_call_with_the_shapes_that_jax_calls_with(method, in_axes, jax_oracle):
    ours, theirs = shapes_under_vmap(jax, method, in_axes), shapes_under_vmap(jax_oracle, method, in_axes)
    assert ours[0] == theirs[0]
    np.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("method", ["expand_dims", "broadcast_all", "legacy_vectorized"])
def test_one_call_does_the_whole_batch(method, jax_oracle):
    def run(j):
        seen = []

        def host(a, b):
            seen.append((np.shape(a), np.shape(b)))
            return np.asarray(np.broadcast_to(a + b, np.broadcast_shapes(np.shape(a), np.shape(b)))).astype(np.float32)

        like = j.ShapeDtypeStruct((), j.numpy.float32)
        f = j.vmap(j.vmap(lambda a: j.pure_callback(host, like, a, 2.0, vmap_method=method)))
        return seen, np.asarray(f(j.numpy.arange(6.0).reshape(2, 3)))

    ours, theirs = run(jax), run(jax_oracle)
    assert ours[0] == theirs[0] and len(ours[0]) == 1
    np.testing.assert_array_equal(ours[1], theirs[1])


def test_vmap_without_a_method_and_with_an_unknown_one():
    with pytest.raises(NotImplementedError, match="Got vmap_method=None"):
        jax.vmap(lambda v: jax.pure_callback(np.sin, scalar, v))(x)
    with pytest.raises(ValueError, match="but got: twice"):
        jax.pure_callback(np.sin, scalar, 1.0, vmap_method="twice")
    empty = jax.vmap(lambda v: jax.pure_callback(np.sin, scalar, v, vmap_method="sequential_unrolled"))(jnp.ones(0))
    assert empty.shape == (0,)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, lambda f: jax.jit(lambda v: jax.lax.cond(True, f, f, v))])
def test_pure_callbacks_give_trees(wrap):
    like = {"a": jax.ShapeDtypeStruct((3,), jnp.float32), "b": jax.ShapeDtypeStruct((), jnp.int32)}
    f = wrap(lambda v: jax.pure_callback(lambda d: {"a": np.asarray(d["x"]) * 2, "b": np.int32(3)}, like, {"x": v}))
    out = f(x)
    assert (out["a"].tolist(), int(out["b"])) == ([0.0, 2.0, 4.0], 3)


def test_what_a_callback_raises_comes_out():
    def fail(v):
        raise KeyError("lost")

    for f in (lambda v: jax.pure_callback(fail, scalar, v), lambda v: io_callback(fail, None, v), lambda v: jax.debug.callback(fail, v)):
        with pytest.raises(jax.errors.JaxRuntimeError, match="KeyError: 'lost'") as caught:
            jax.jit(f)(1.0)
        assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(KeyError, match="lost"):
        jax.debug.callback(fail, 1.0)
    assert float(jax.jit(lambda v: v + 1)(1.0)) == 2.0
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"output shape for return value #0: Expected: \(\), Actual: \(2,\)"):
        jax.jit(lambda v: jax.pure_callback(lambda v: np.ones(2, np.float32), scalar, v))(1.0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="Mismatched number of outputs from callback. Expected: 1, Actual: 2"):
        jax.pure_callback(lambda v: (v, v), scalar, 1.0)


def test_derivatives_need_a_rule():
    with pytest.raises(ValueError, match="Pure callbacks do not support JVP"):
        jax.grad(lambda v: jax.pure_callback(np.sin, scalar, v))(1.0)
    with pytest.raises(ValueError, match="IO callbacks do not support JVP"):
        jax.grad(lambda v: io_callback(np.sin, scalar, v))(1.0)

    @jax.custom_jvp
    def sine(v):
        return jax.pure_callback(lambda v: np.sin(v).astype(np.float32), scalar, v, vmap_method="sequential")

    sine.defjvp(lambda primals, tangents: (sine(*primals), jnp.cos(primals[0]) * tangents[0]))
    np.testing.assert_allclose(jax.vmap(jax.grad(sine))(x), np.cos(np.arange(3.0)), rtol=1e-6)


def logged(run):
    log = []
    result = run(lambda v, tag=None: (log.append(float(v) if tag is None else (tag, float(v))), np.float32(v))[1])
    jax.effects_barrier()
    return log, result


def test_io_callbacks_run_once_each_used_or_not():
    log, _ = logged(lambda note: jax.jit(lambda v: (io_callback(note, scalar, v), v)[1])(3.0))
    assert log == [3.0]
    log, out = logged(lambda note: jax.jit(lambda v: io_callback(note, scalar, v) + io_callback(note, scalar, v))(3.0))
    assert (log, float(out)) == ([3.0, 3.0], 6.0)
    log, out = logged(lambda note: jax.vmap(lambda v: io_callback(note, scalar, v))(x))
    assert (sorted(log), out.tolist()) == ([0.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    assert logged(lambda note: io_callback(lambda v: note(v) and None, None, 1.0)) == ([1.0], None)


def test_ordered_io_keeps_the_order():
    def program(note):
        def f(v):
            for i in range(5):
                io_callback(lambda v, i=i: note(v + i), scalar, v, ordered=True)
            jax.lax.scan(lambda c, w: (c, io_callback(lambda w: note(w + 100), scalar, w, ordered=True)), 0, x)
            return v

        return jax.jit(f)(0.0)

    assert logged(program)[0] == [0.0, 1.0, 2.0, 3.0, 4.0, 100.0, 101.0, 102.0]
    with pytest.raises(ValueError, match="Cannot `vmap` ordered IO callback"):
        jax.vmap(lambda v: io_callback(np.sin, scalar, v, ordered=True))(x)


@pytest.mark.parametrize("ordered", [False, True])
def test_debug_callbacks(ordered, jax_oracle):
    def run(j, wrap):
        log = []
        wrap(j, lambda v: (j.debug.callback(lambda *a, k: log.append((float(a[0]), float(k))), v, k=v + 1, ordered=ordered), v * v)[1])
        j.effects_barrier()
        return log

    wraps = [
        lambda j, f: f(2.0),
        lambda j, f: j.jit(f)(2.0),
        lambda j, f: j.grad(f)(2.0),
        lambda j, f: j.jit(j.grad(f))(2.0),
        lambda j, f: j.vmap(f)(j.numpy.arange(3.0)),
        lambda j, f: j.lax.scan(lambda c, v: (c, f(v)), 0.0, j.numpy.arange(3.0)),
        lambda j, f: j.lax.cond(True, f, lambda v: v, 2.0),
    ]
    for wrap in wraps:
        assert run(jax, wrap) == run(jax_oracle, wrap)


def test_debug_callback_without_a_function_waits_for_it():
    log = []
    jax.jit(lambda v: (jax.debug.callback(ordered=True)(lambda v: log.append(float(v)), v), v)[1])(1.0)
    assert log == [1.0]
    with pytest.raises(TypeError, match="must be callable"):
        jax.debug.callback(3)
