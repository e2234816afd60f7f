"""Contexts that change one setting: what they forbid or report, next to what JAX does."""

import contextlib
import logging

import numpy as np
import pytest

import pullback
import pullback.numpy as jnp

OPTIONS = {"no_tracing": True, "no_execution": True, "allow_f16_reductions": False, "auto_pcast": False}


def shard_mapped(system, f):
    """`f` on each device of a mesh of one, whose inputs differ along it."""
    kinds = (system.sharding.AxisType.Auto,)
    mesh = system.make_mesh((1,), ("x",), axis_types=kinds, devices=system.devices()[:1])
    spec = system.P("x")
    return system.shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec)


def ready(system, f, *args):
    """A jitted function that was traced and run before."""
    f = system.jit(f)
    f(*args)
    return f


# For each context, what is done inside, given what was made outside.
CASES = [
    ("no_tracing", lambda j: ready(j, lambda x: x + 1, 1.0), lambda j, f: f(1.0)),
    ("no_tracing", lambda j: ready(j, lambda x: x + 1, 1.0), lambda j, f: f(j.numpy.ones(3))),
    ("no_tracing", lambda j: j.jit(lambda x: x + 1), lambda j, f: f(1.0)),
    ("no_tracing", lambda j: lambda x: x, lambda j, f: j.make_jaxpr(f)(1.0)),
    ("no_tracing", lambda j: lambda x: x, lambda j, f: j.eval_shape(f, 1.0)),
    ("no_tracing", lambda j: lambda c, x: (c, x), lambda j, f: j.lax.scan(f, 0.0, np.ones(3, "float32"))),
    ("no_execution", lambda j: ready(j, lambda x: x + 1, 1.0), lambda j, f: f(1.0)),
    ("no_execution", lambda j: j.numpy.ones(3), lambda j, x: x + 7),
    ("no_execution", lambda j: j.numpy.ones(3), lambda j, x: str(j.make_jaxpr(lambda x: x + 1)(x))),
    ("no_execution", lambda j: j.numpy.ones(3), lambda j, x: np.asarray(x)),
    ("no_execution", lambda j: j.numpy.ones(3), lambda j, x: j.grad(lambda x: x.sum())(x)),
    ("no_execution", lambda j: j.numpy.ones(3), lambda j, x: j.jit(lambda x: x * 5).lower(x).out_info.shape),
    ("allow_f16_reductions", lambda j: j.numpy.ones(3, "float16"), lambda j, x: j.lax.reduce_sum(x, (0,))),
    ("allow_f16_reductions", lambda j: j.numpy.ones((3, 2), "bfloat16"), lambda j, x: j.lax.reduce_sum(x, (1,))),
    ("allow_f16_reductions", lambda j: j.numpy.ones(3, "float32"), lambda j, x: j.lax.reduce_sum(x, (0,))),
    ("allow_f16_reductions", lambda j: j.numpy.ones(3, "float16"), lambda j, x: j.lax.reduce_max(x, (0,))),
    ("allow_f16_reductions", lambda j: j.numpy.ones(3, "float16"), lambda j, x: j.numpy.sum(x)),
    ("allow_f16_reductions", lambda j: j.numpy.ones(3, "bfloat16"), lambda j, x: j.nn.softmax(x)),
    ("auto_pcast", lambda j: lambda a: a + 1, lambda j, f: shard_mapped(j, f)(np.arange(4.0))),
    ("auto_pcast", lambda j: lambda a: a + j.numpy.ones(4), lambda j, f: shard_mapped(j, f)(np.arange(4.0))),
    ("auto_pcast", lambda j: lambda a: a * j.lax.psum(a, "x"), lambda j, f: shard_mapped(j, f)(np.arange(4.0))),
    ("auto_pcast", lambda j: lambda a: a * j.lax.pcast(j.lax.psum(a, "x"), "x", to="varying"), lambda j, f: shard_mapped(j, f)(np.arange(4.0))),
]


def answer(system, context, make, run):
    """What is done inside gives, or the class of its error."""
    made = make(system)
    with getattr(system, context)(OPTIONS[context]):
        try:
            found = run(system, made)
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
    leaves = pullback.tree.leaves(found) if not isinstance(found, str) else found
    return [np.asarray(leaf).tolist() for leaf in leaves] if isinstance(leaves, list) else leaves


@pytest.mark.parametrize("context, make, run", CASES, ids=[f"{name} {i}" for i, (name, _, _) in enumerate(CASES)])
def test_a_context_forbids_what_it_forbids_in_jax(context, make, run, jax_oracle):
    assert answer(pullback, context, make, run) == answer(jax_oracle, context, make, run)


@pytest.mark.parametrize("name", ["transfer_guard", "transfer_guard_host_to_device", "transfer_guard_device_to_host"])
@pytest.mark.parametrize("value", ["allow", "disallow", "log_explicit", None, "foo"])
def test_transfer_guards_take_what_they_take_in_jax(name, value, jax_oracle):
    def entered(system):
        try:
            with getattr(system, name)(value):
                return system.config.jax_transfer_guard_host_to_device, system.config.jax_transfer_guard_device_to_host
        except ValueError:
            return "ValueError"

    assert entered(pullback) == entered(jax_oracle)


@contextlib.contextmanager
def logged():
    """The texts that are logged at WARNING."""
    texts = []

    class Keep(logging.Handler):
        def emit(self, record):
            texts.append((record.levelname, record.getMessage()))

    logger, keep = logging.getLogger("pullback"), Keep()
    logger.addHandler(keep)
    try:
        yield texts
    finally:
        logger.removeHandler(keep)


def test_misses_are_explained():
    @pullback.jit
    def f(x):
        return x + 1

    with logged() as texts, pullback.explain_cache_misses(True):
        f(jnp.ones(3))
        f(jnp.ones(3))
        f(jnp.ones(4))
    assert [level for level, _ in texts] == ["WARNING", "WARNING"]
    first, second = (text for _, text in texts)
    assert first.startswith(f"TRACING CACHE MISS at {__file__}:") and "never seen function:\n    f " in first
    assert "  different input types:\n  * at x, now f32[4] and before f32[3]" in second
    with logged() as texts:
        f(jnp.ones(5))
    assert not texts


def test_compilations_are_logged():
    def f(x, y):
        return x + y

    with logged() as texts, pullback.log_compiles():
        pullback.jit(f)(jnp.float32(3), 2.0)
    assert [text for _, text in texts] == [
        "Compiling jit(f) with global shapes and types (ShapedArray(float32[]), ShapedArray(float32[], weak_type=True))."
    ]


def user_contexts(system):
    """How often a function is traced under values of a context, and what the value is."""
    context = system.make_user_context(default_value="outside")
    seen = []
    f = system.jit(lambda x: seen.append(context.value) or x * 2)
    f(1.0)
    for value in (1, 1, 2, None, True):
        with context(value):
            f(1.0)
            with context(1):
                f(1.0)
    f(1.0)
    try:
        with context([]):
            f(1.0)
    except TypeError:
        seen.append("TypeError")
    return seen, context.value


def test_user_contexts_are_part_of_a_signature(jax_oracle):
    assert user_contexts(pullback) == user_contexts(jax_oracle)


def test_user_contexts_are_of_one_thread():
    import threading

    context, seen = pullback.make_user_context(0), []
    with context(1):
        thread = threading.Thread(target=lambda: seen.append(context.value))
        thread.start()
        thread.join()
    assert seen == [0]


def gradients(system, wishes):
    """What a pull-back with wishes gives, and what the reference of it holds then."""
    ref = system.new_ref(system.numpy.ones(3))
    _, pull_back = system.vjp(lambda x, y: (x * y).sum(), system.numpy.ones(3), system.numpy.arange(3.0))
    found = pull_back.with_refs(*wishes(system, ref))(1.0)
    return [repr(one) for one in found], np.asarray(ref[...]).tolist()


@pytest.mark.parametrize("wishes", [
    lambda j, ref: (j.ad.DontWant(), ref), lambda j, ref: (ref, j.ad.GradValue()), lambda j, ref: (j.ad.GradValue(), j.ad.DontWant()),
])  # fmt: skip
def test_cotangents_go_where_they_are_wished(wishes, jax_oracle):
    assert gradients(pullback, wishes) == gradients(jax_oracle, wishes)
