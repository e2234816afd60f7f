"""Guards of transfers: what they refuse and log, next to JAX."""

import contextlib
import logging
import re

import numpy as np
import pytest

import pullback
import pullback.numpy

# Programs of a vector `x`, a scalar `s` and an index `i` on a device, and of a NumPy array `a`.
LINES = """
jnp.sin(a)
lax.add(x, a)
lax.add(x, 1.0)
f(a)
f(2.0)
f(np.float32(2))
f(True)
f(x)
jax.jit(lambda v, w: v)(x, 1.0)
jax.jit(lambda v: v + a)(x)
jax.jit(lambda v: v[1])(x)
x + 1
1.0 - x
x + a
x * np.float32(2)
x < 1
x + True
x**2
x**0.5
2**x
jnp.power(x, 2)
-x
x + x
x // x
jnp.ones(3)
jnp.zeros((2, 2))
jnp.full((3,), 2.0)
jnp.arange(3)
jnp.linspace(0, 1, 5)
jnp.eye(3)
jnp.ones_like(x)
lax.iota(jnp.int32, 3)
jnp.array([1.0, 2.0])
jnp.array(a)
jnp.asarray(a)
jnp.asarray(x)
jnp.float32(1.0)
x[0]
x[-1]
x[1:3]
x[:2]
x[:]
x[::2]
x[None]
x[...]
x[i]
x[x > s]
x[np.array([0, 1])]
x.at[0].set(1.0)
x.at[i].add(s)
list(x)
jnp.sum(x)
x.mean()
jnp.std(x)
x @ x
x @ a
x.astype(jnp.int32)
jnp.where(x > s, x, 0.0)
jnp.clip(x, 0, 1)
jnp.maximum(x, 0)
jnp.concatenate([x, a])
jnp.cumsum(x)
jnp.sort(x)
jax.nn.relu(x)
jax.nn.softmax(x)
jnp.shape(a)
jnp.result_type(a, 1.0)
jax.random.key(1)
jax.random.split(k)
jax.random.split(np.array([0, 1], np.uint32))
jax.random.normal(k, (3,))
jax.random.uniform(k, (3,))
jax.random.fold_in(k, 1)
jax.device_put(a)
jax.device_put(1.0)
jax.device_put({'a': a, 'b': 1})
jax.device_put(x)
jax.device_put(a) + x
jax.grad(lambda v: (v * v).sum())(a)
jax.jvp(jnp.sin, (a,), (a,))
jax.jvp(lambda v: v * v, (x,), (x,))
jax.vmap(lambda v: v * v)(x)
jax.vmap(lambda v: v * v)(a)
jax.vmap(lambda v: v * 2)(x)
jax.vmap(jnp.sin)(a)
lax.scan(lambda c, t: (c + t, c), s, x)
lax.scan(lambda c, t: (c + t, c), 0.0, x)
lax.fori_loop(0, 3, lambda i, c: c + 1, s)
lax.while_loop(lambda c: c < 3, lambda c: c + 1, s)
jax.make_jaxpr(lambda v: v + 1)(a)
jax.eval_shape(jnp.sin, a)
jax.jit(jnp.sin).lower(a).compile()
np.asarray(x)
float(s)
s.item()
bool(s > s)
jax.device_get(x)
jax.tree.map(lambda v: v * 0.5, {'a': x})
jax.tree.map(lambda v, w: v - s * w, x, x)
""".strip().splitlines()


def names_of(system):
    jnp = system.numpy
    a = np.arange(4, dtype=np.float32)
    x, s, i, k = jnp.arange(4.0), jnp.float32(3.0), jnp.int32(1), system.random.key(0)
    return {"jax": system, "jnp": jnp, "lax": system.lax, "np": np, "a": a, "x": x, "s": s, "i": i, "k": k, "f": system.jit(lambda v: v * 2)}


def refused(system, line, way, level):
    """Whether a line is refused under a guard; its second run, so that nothing is traced or compiled."""
    names = names_of(system)
    eval(line, names)
    with getattr(system, way)(level):
        try:
            eval(line, names)
        except system.errors.JaxRuntimeError as error:
            assert "INVALID_ARGUMENT: Disallowed host-to-device transfer: aval=ShapedArray(" in str(error)
            return True
    return False


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("level", ["allow", "disallow", "disallow_explicit"])
def test_a_guard_refuses_what_it_refuses_in_jax(line, level, jax_oracle):
    way = "transfer_guard_host_to_device"
    assert refused(pullback, line, way, level) == refused(jax_oracle, line, way, level)


@pytest.mark.parametrize("line", ["x + 1", "f(a)", "np.asarray(x)", "jax.device_put(a)", "float(s)"])
@pytest.mark.parametrize("way", ["transfer_guard", "transfer_guard_device_to_host", "transfer_guard_device_to_device"])
def test_each_way_has_its_guard(line, way, jax_oracle):
    assert refused(pullback, line, way, "disallow_explicit") == refused(jax_oracle, line, way, "disallow_explicit")


# Lines with one transfer, in the type that the user gave it.
TYPES = ["jnp.sin(a)", "x + 1", "1.0 - x", "x + True", "f(2.0)", "f(np.float32(2))", "lax.add(x, a)", "jnp.array([1.0, 2.0])", "jnp.zeros(2)"]


@pytest.mark.parametrize("line", TYPES)
def test_an_error_names_the_type_and_the_device(line, jax_oracle):
    def text(system):
        with system.transfer_guard("disallow"), pytest.raises(system.errors.JaxRuntimeError) as caught:
            eval(line, names_of_unguarded[system])
        return str(caught.value).splitlines()[0]

    names_of_unguarded = {system: names_of(system) for system in (pullback, jax_oracle)}
    assert text(pullback) == text(jax_oracle)


def logged(line, level):
    """What is logged of a line."""
    texts = []
    keep = logging.Handler()
    keep.emit = lambda record: texts.append(record.getMessage())
    logger, names = logging.getLogger("pullback"), names_of(pullback)
    logger.addHandler(keep)
    try:
        with pullback.transfer_guard(level):
            eval(line, names)
    finally:
        logger.removeHandler(keep)
    return [re.sub(r", dst_sharding.*", "", text) for text in texts]


def test_a_transfer_is_logged_once():
    number = "host-to-device transfer: aval=ShapedArray(int32[], weak_type=True)"
    array = "host-to-device transfer: aval=ShapedArray(float32[4])"
    assert logged("x + 1", "log") == [number]
    assert logged("jnp.sin(a)", "log_explicit") == [array]
    assert logged("x + x", "log") == []
    assert logged("jax.device_put(a)", "log") == []
    assert logged("jax.device_put(a)", "log_explicit") == [array]
    assert logged("jnp.asarray(a) + x", "log") == [array]


def settings_then(system, steps):
    """Whether a sum with a number is refused after each step."""
    x, found = system.numpy.ones(2), []
    try:
        for name, value in steps:
            system.config.update(name, value)
            with contextlib.suppress(system.errors.JaxRuntimeError):
                _ = x + 1
                found.append("allowed")
                continue
            found.append("refused")
            with system.transfer_guard("allow"):
                _ = x + 1
            with system.transfer_guard_host_to_device(None), pytest.raises(system.errors.JaxRuntimeError):
                _ = x + 1
    finally:
        system.config.update("jax_transfer_guard", None)
    return found


def test_a_guard_of_the_process_holds_until_a_context_says_otherwise(jax_oracle):
    steps = [("jax_transfer_guard", "disallow"), ("jax_transfer_guard_host_to_device", "allow"), ("jax_transfer_guard_device_to_device", "disallow")]
    steps += [("jax_transfer_guard_host_to_device", "log"), ("jax_transfer_guard", "disallow_explicit"), ("jax_transfer_guard", None)]
    assert settings_then(pullback, steps) == settings_then(jax_oracle, steps)


def test_arrays_of_a_guarded_call_are_arrays_afterwards():
    a = np.arange(3.0, dtype=np.float32)
    with pullback.transfer_guard("log"):
        put, made = pullback.device_put(a), pullback.numpy.asarray(a)
    with pullback.transfer_guard("disallow"):
        assert (put + made).tolist() == [0.0, 2.0, 4.0]
        assert pullback.jit(lambda v: v + 1)(put).tolist() == [1.0, 2.0, 3.0]
