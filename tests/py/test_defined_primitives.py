"""Primitives that Python code defines, through every transform, as libraries define them."""

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import lax
from pullback.core import ShapedArray
from pullback.extend.core import Primitive
from pullback.interpreters import ad, batching, mlir


def wave(k):
    """`k * sin(x)` with all rules."""
    wave_p = Primitive("wave")
    wave_p.def_impl(lambda x, *, k: jnp.sin(x) * k)
    wave_p.def_abstract_eval(lambda x, *, k: ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(wave_p, mlir.lower_fun(lambda x, *, k: jnp.sin(x) * k, multiple_results=False))
    ad.defjvp(wave_p, lambda t, x, *, k: t * jnp.cos(x) * k)
    batching.defvectorized(wave_p)
    return lambda x: wave_p.bind(x, k=k)


def plain(k):
    """The same function of the core's primitives."""
    return lambda x: jnp.sin(x) * k


X = jnp.asarray([0.5, -1.0, 2.0])
TRANSFORMS = {
    "eager": lambda f: f(X),
    "jit": lambda f: jax.jit(f)(X),
    "grad": lambda f: jax.grad(lambda x: f(x).sum())(X),
    "jit of grad": lambda f: jax.jit(jax.grad(lambda x: f(x).sum()))(X),
    "grad of jit": lambda f: jax.grad(lambda x: jax.jit(f)(x).sum())(X),
    "jvp": lambda f: jax.jvp(f, (X,), (X,)),
    "vmap": lambda f: jax.vmap(f)(X),
    "vmap of grad": lambda f: jax.vmap(jax.grad(f))(X),
    "grad of grad": lambda f: jax.grad(jax.grad(f))(0.5),
    "hessian": lambda f: jax.hessian(lambda x: f(x).sum())(X),
    "linearize": lambda f: jax.linearize(f, X)[1](X),
    "scan": lambda f: jax.lax.scan(lambda c, x: (f(c) + x, c), 0.1, X),
    "grad of scan": lambda f: jax.grad(lambda x: jax.lax.scan(lambda c, y: (f(c) + y, c), x, X)[0])(0.1),
    "cond": lambda f: jax.jit(lambda x: jax.lax.cond(x[0] > 0, f, lambda x: x, x))(X),
    "while": lambda f: jax.jit(lambda x: jax.lax.while_loop(lambda c: c < 0.3, lambda c: f(c), x))(0.1),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(lambda x: f(x).sum()))(X),
    "two axes": lambda f: jax.vmap(jax.vmap(f), in_axes=1, out_axes=1)(jnp.stack([X, 2 * X])),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_defined_primitive_is_like_its_function(name):
    run = TRANSFORMS[name]
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5), run(wave(3.0)), run(plain(3.0)))


def test_it_prints_with_its_parameters():
    text = str(jax.make_jaxpr(wave(3))(1.0))
    assert "wave[k=3] a" in text


def test_parameters_are_any_objects():
    seen = []
    p = Primitive("named")
    p.def_impl(lambda x, *, names: x)
    p.def_abstract_eval(lambda x, *, names: x)
    mlir.register_lowering(p, mlir.lower_fun(lambda x, *, names: seen.append(names) or x, multiple_results=False))
    names = ("a", {"b": object()})
    jax.jit(lambda x: p.bind(x, names=names))(1.0)
    assert seen[0] is names
    (eqn,) = jax.make_jaxpr(lambda x: p.bind(x, names=names))(1.0).eqns
    assert eqn.params == {"names": names} and eqn.primitive is p


def test_several_results_linear_rules_and_symbolic_zeros():
    seen = []
    pair = Primitive("pair")
    pair.multiple_results = True
    pair.def_impl(lambda x, y: [x + y, 2 * y])
    pair.def_abstract_eval(lambda x, y: [x, y])

    def transpose(cts, x, y):
        seen.append([type(ct) is ad.Zero for ct in cts])
        assert ad.is_undefined_primal(x) and ad.is_undefined_primal(y)
        first, second = map(ad.instantiate_zeros, cts)
        return [first, first + 2 * second]

    ad.deflinear2(pair, transpose)
    x, y = jax.grad(lambda x, y: pair.bind(x, y)[0] * 3.0, argnums=(0, 1))(1.0, 2.0)
    assert (x, y) == (3.0, 3.0) and seen == [[False, True]]
    assert jax.jvp(pair.bind, (1.0, 2.0), (1.0, 0.0))[1] == [1.0, 0.0]


def test_a_jvp_rule_sees_symbolic_zeros():
    kinds = []
    p = Primitive("sees")
    p.def_impl(lambda x, y: x * y)
    p.def_abstract_eval(lambda x, y: x)

    def jvp(primals, tangents):
        kinds.append([type(t) is ad.Zero for t in tangents])
        x, y = primals
        return p.bind(x, y), ad.instantiate_zeros(tangents[0]) * y

    ad.primitive_jvps[p] = jvp
    assert jax.grad(lambda x: p.bind(x, 3.0))(2.0) == 3.0 and kinds == [[False, True]]


def test_a_bilinear_primitive():
    p = Primitive("times")
    p.def_impl(lambda x, y: x * y)
    p.def_abstract_eval(lambda x, y: x)
    ad.defbilinear(p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
    assert jax.grad(p.bind, argnums=(0, 1))(3.0, 5.0) == (5.0, 3.0)


def test_a_batching_rule_gets_the_axis():
    axes = []
    p = Primitive("axis")
    p.def_impl(lambda x: x)
    p.def_abstract_eval(lambda x: x)

    def batch(axis, args, dims):
        axes.append((axis.size, axis.name))
        return p.bind(*args), dims[0]

    batching.fancy_primitive_batchers[p] = batch
    out = jax.vmap(p.bind, in_axes=1, out_axes=1, axis_name="i")(jnp.ones((2, 3)))
    assert out.shape == (2, 3) and axes == [(3, "i")]


def test_a_batching_rule_gets_size_and_name_of_the_axis():
    axes = []
    p = Primitive("axis")
    p.def_impl(lambda x, y: x)
    p.def_abstract_eval(lambda x, y: x)

    def batch(size, name, trace_type, args, dims, *, half):
        axes.append((size, name, trace_type, dims, half))
        return p.bind(*args, half=half), dims[0]

    batching.axis_primitive_batchers[p] = batch
    p.def_impl(lambda x, y, half: x)
    out = jax.vmap(lambda x: p.bind(x, 1.0, half=True), in_axes=1, out_axes=1, axis_name="i")(jnp.ones((2, 3)))
    assert out.shape == (2, 3) and axes == [(3, "i", None, (1, None), True)]


def incomplete():
    return Primitive("incomplete")


def abstract_only():
    p = Primitive("incomplete")
    p.def_abstract_eval(lambda x: x)
    return p


def with_impl():
    p = abstract_only()
    p.def_impl(lambda x: x)
    return p


MISSING = {
    "impl": (incomplete, lambda p: p.bind(1.0), "Evaluation rule for 'incomplete' not implemented"),
    "abstract eval": (incomplete, lambda p: jax.make_jaxpr(p.bind)(1.0), "Abstract evaluation for 'incomplete' not implemented"),
    "jvp": (with_impl, lambda p: jax.jvp(p.bind, (1.0,), (1.0,)), "Differentiation rule for 'incomplete' not implemented"),
    "batching": (with_impl, lambda p: jax.vmap(p.bind)(X), "Batching rule for 'incomplete' not implemented"),
    "lowering": (with_impl, lambda p: jax.jit(p.bind)(1.0), "MLIR translation rule for primitive 'incomplete' not found for platform cpu"),
    "transpose": (
        with_impl,
        lambda p: jax.linear_transpose(p.bind, 1.0)(1.0),
        r"Transpose rule \(for reverse-mode differentiation\) for 'incomplete' not implemented",
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_rule_is_named(name):
    make, use, message = MISSING[name]
    with pytest.raises(NotImplementedError, match=message):
        use(make())


def test_rules_of_the_core_stay():
    with pytest.raises(NotImplementedError, match="the core's own"):
        ad.primitive_jvps[lax.sin_p] = None
    with pytest.raises(TypeError, match="cannot be changed"):
        lax.sin_p.multiple_results = True


def test_an_error_in_a_rule_is_the_users():
    p = with_impl()

    def rule(primals, tangents):
        raise ZeroDivisionError("mine")

    ad.primitive_jvps[p] = rule
    with pytest.raises(ZeroDivisionError, match="mine"):
        jax.grad(p.bind)(1.0)
