"""jit, grad, vmap and their kin on Python functions, against JAX."""

import gc
import weakref

import numpy as np
import pytest

import pullback
import pullback.numpy as jnp


def flat(tree, module):
    return [np.asarray(leaf) for leaf in module.tree.leaves(tree)]


def swish(jnp):
    return lambda x: x * jnp.tanh(x) + jnp.sin(x).sum()


def by_sign(x):
    return x * x if x > 0 else -x


PROGRAMS = {
    "jit": lambda j, n: j.jit(swish(n))(n.arange(3.0)),
    "grad": lambda j, n: j.grad(lambda x: swish(n)(x).sum())(n.arange(3.0)),
    "grad of jit": lambda j, n: j.grad(j.jit(lambda x: swish(n)(x).sum()))(n.arange(3.0)),
    "jit of grad": lambda j, n: j.jit(j.grad(lambda x: swish(n)(x).sum()))(n.arange(3.0)),
    "grad of python branch": lambda j, n: [j.grad(by_sign)(3.0), j.grad(by_sign)(-3.0)],
    "grad tree": lambda j, n: j.grad(lambda p: (p["w"] * p["b"]).sum())({"w": n.arange(3.0), "b": 2.0}),
    "argnums": lambda j, n: j.grad(lambda a, b, c: a * b * c, argnums=(0, 2))(2.0, 3.0, 4.0),
    "aux": lambda j, n: j.value_and_grad(lambda x: (x * x, {"twice": 2 * x}), has_aux=True)(3.0),
    "hessian": lambda j, n: j.hessian(lambda x: (x**3).sum())(n.arange(1.0, 4.0)),
    "jacfwd": lambda j, n: j.jacfwd(lambda x: n.stack([x.sum(), (x * x).sum()]))(n.arange(3.0)),
    "jacrev": lambda j, n: j.jacrev(lambda x: n.stack([x.sum(), (x * x).sum()]))(n.arange(3.0)),
    "jacobian of trees": lambda j, n: j.jacrev(lambda p: {"y": p["a"] * p["b"]})({"a": n.arange(3.0), "b": n.ones(3)}),
    "vmap": lambda j, n: j.vmap(lambda a, b: a @ b, in_axes=(0, None))(n.ones((4, 3)), n.arange(3.0)),
    "vmap out_axes": lambda j, n: j.vmap(lambda a: (a, 2 * a), out_axes=(0, 1))(n.arange(6.0).reshape(3, 2)),
    "vmap of grad": lambda j, n: j.vmap(j.grad(lambda x: n.sin(x) * x))(n.arange(3.0)),
    "jvp": lambda j, n: j.jvp(swish(n), (n.arange(3.0),), (n.ones(3),)),
    "jvp of int": lambda j, n: j.jvp(lambda x, k: x * k, (2.0, 3), (1.0, np.zeros((), j.dtypes.float0))),
    "vjp": lambda j, n: j.vjp(swish(n), n.arange(3.0))[1](n.ones(3)),
    "linearize": lambda j, n: j.linearize(swish(n), n.arange(3.0))[1](n.ones(3)),
    "second order": lambda j, n: j.grad(j.grad(lambda x: n.sin(x) * x))(1.3),
    "forward over reverse": lambda j, n: j.jvp(j.grad(lambda x: (n.sin(x) * x).sum()), (n.arange(3.0),), (n.ones(3),)),
    "kwargs": lambda j, n: j.jit(lambda x, *, scale: x * scale)(n.arange(3.0), scale=2.0),
    "static": lambda j, n: j.jit(lambda x, k: x**k, static_argnums=1)(n.arange(3.0), 3),
    "closure over outer tracer": lambda j, n: j.grad(lambda x: j.jit(lambda y: y * x)(x))(3.0),
    "checkpoint": lambda j, n: j.grad(j.checkpoint(lambda x: n.sin(n.sin(x))))(1.0),
    "scan": lambda j, n: j.lax.scan(lambda c, x: (c + x, c * x), 0.0, n.arange(4.0)),
    "grad of scan": lambda j, n: j.grad(lambda a: j.lax.scan(lambda c, x: (c * a + x, c), 1.0, n.arange(4.0))[0])(0.5),
    "while": lambda j, n: j.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 2), (0, 1.0)),
    "fori": lambda j, n: j.lax.fori_loop(0, 4, lambda i, x: x + i, 1.0),
    "cond": lambda j, n: [j.lax.cond(p, lambda x: x + 1, lambda x: x - 1, 1.0) for p in (True, False)],
    "switch": lambda j, n: [j.lax.switch(i, [lambda x: x, lambda x: -x], 2.0) for i in (-1, 0, 1, 7)],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_agree_with_jax(name, jax_oracle):
    ours = flat(PROGRAMS[name](pullback, pullback.numpy), pullback)
    theirs = flat(PROGRAMS[name](jax_oracle, jax_oracle.numpy), jax_oracle)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype.kind != "V":
            np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-6)


def test_jit_traces_once_for_each_signature():
    traces = []

    def f(x, k=1):
        traces.append(1)
        return x * k

    jitted = pullback.jit(f)
    for argument in (1.0, 2.0, 3.0):
        jitted(argument)
    assert len(traces) == 1
    jitted(1)
    jitted(jnp.ones(3))
    jitted({}) if False else jitted(jnp.ones(4))
    assert len(traces) == 4 == jitted._cache_size()
    pullback.jit(f)(5.0)
    assert len(traces) == 4
    jitted.clear_cache()
    jitted(1.0)
    assert len(traces) == 5


def test_static_values_of_different_type_are_different():
    seen = []
    f = pullback.jit(lambda k: seen.append(k) or 0, static_argnums=0)
    for k in (1, 1.0, True, 1):
        f(k)
    assert [type(k) for k in seen] == [int, float, bool]


def test_jit_binds_as_a_method():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @pullback.jit
        def __call__(self, x):
            return x

    with pytest.raises(TypeError, match="not a valid JAX type"):
        Model(2.0)(1.0)


def test_disable_jit_runs_python():
    with pullback.disable_jit():
        assert float(pullback.jit(by_sign)(jnp.float32(-2.0))) == 2.0


def test_stages():
    traced = pullback.jit(lambda x, y: x * y).trace(jnp.ones(3), 2.0)
    assert str(traced.out_info) == "ShapeDtypeStruct(shape=(3,), dtype=float32)"
    assert [eqn.primitive.name for eqn in traced.jaxpr.eqns][-1] == "mul"
    compiled = traced.lower().compile()
    np.testing.assert_array_equal(compiled(jnp.ones(3), 2.0), [2, 2, 2])
    with pytest.raises(TypeError, match=r"Argument 'x' compiled with float32\[3\] and called with float32\[4\]"):
        compiled(jnp.ones(4), 2.0)


def test_eval_shape_does_not_compute():
    out = pullback.eval_shape(lambda x: {"a": x @ x}, pullback.ShapeDtypeStruct((5000, 5000), "float32"))
    assert out["a"].shape == (5000, 5000)


def test_custom_jvp_follows_python_branches_outside_of_jit():
    @pullback.custom_jvp
    def f(x):
        return x if x > 0 else -x

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * 10))
    assert float(pullback.grad(f)(2.0)) == 10.0
    assert float(f(-2.0)) == 2.0


def test_custom_vjp_uses_its_rules():
    @pullback.custom_vjp
    def f(x, y):
        return x * y

    f.defvjp(lambda x, y: (x * y, (x, y)), lambda residuals, ct: (ct * residuals[1] * 100, None))
    assert [float(g) for g in pullback.grad(f, argnums=(0, 1))(2.0, 3.0)] == [300.0, 0.0]
    assert [float(g) for g in pullback.jit(pullback.grad(f, argnums=(0, 1)))(2.0, 3.0)] == [300.0, 0.0]


def test_functions_are_freed_with_their_caches():
    def make():
        big = [0]

        def f(x):
            return x + big[0]

        pullback.jit(f)(1.0)
        return weakref.ref(f)

    ref = make()
    gc.collect()
    assert ref() is None


def test_jaxprs_are_objects():
    jaxpr = pullback.make_jaxpr(lambda x: jnp.sin(x) * 2.0)(jnp.ones(3))
    assert jaxpr.jaxpr is jaxpr and jaxpr == jaxpr and hash(jaxpr)
    sin, mul = jaxpr.eqns
    assert (sin.primitive.name, mul.primitive.name) == ("sin", "mul")
    assert mul.invars[0] == sin.outvars[0] and mul.invars[1].val == 2.0
    out = pullback.core.eval_jaxpr(jaxpr, jaxpr.consts, jnp.zeros(3))
    np.testing.assert_array_equal(out[0], [0, 0, 0])


def test_float0_passes_through_compiled_functions(jax_oracle):
    """Tangents of integers hold nothing, and go in and out of `jit` as they are."""
    zero = np.zeros((), pullback.dtypes.float0)
    assert pullback.jit(lambda: np.zeros(2, pullback.dtypes.float0))().dtype == pullback.dtypes.float0
    out, tangent = pullback.jit(lambda x: pullback.jvp(lambda n: n * 2, (x,), (zero,)))(3)
    assert (int(out), tangent.dtype, tangent.shape) == (6, pullback.dtypes.float0, ())
    (ct,) = pullback.jit(lambda x: pullback.vjp(lambda n: n * 2.0, x)[1](1.0))(3)
    assert ct.dtype == jax_oracle.dtypes.float0


def test_a_cotangent_of_another_dtype_stays_as_the_rule_gave_it(jax_oracle):
    def gradient(jax, dtype):
        f = jax.custom_vjp(lambda x: x * 2)
        f.defvjp(lambda x: (f(x), None), lambda _, ct: (ct.astype(dtype),))
        return str(jax.grad(f)(1.0).dtype)

    for dtype in ("bfloat16", "float16", "int32"):
        assert gradient(pullback, dtype) == gradient(jax_oracle, dtype) == dtype
