"""`jax.experimental.jet` beside live JAX: terms of series through each rule, and through what JAX has no rule for."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")

# Functions of one positive array of 4 elements below one.
UNARY = (
    "sin cos tanh exp log log1p expm1 sqrt rsqrt logistic erf erfc erf_inv neg abs square floor ceil sign round exp2 sinh cosh asinh atanh cumsum cumprod "
    "cummax cummin stop_gradient is_finite"
).split()
FUNCTIONS = {
    **{name: lambda j, x, name=name: getattr(j.lax, name)(x) for name in UNARY},
    "acosh": lambda j, x: j.lax.acosh(x + 1.5),
    "tan": lambda j, x: j.numpy.sin(x) / j.numpy.cos(x),
    "cube": lambda j, x: x**3 + x**-2 + x**0 + x**1,
    "power": lambda j, x: x**1.7 + 1.3**x + x**x,
    "quotient": lambda j, x: (1 + x) / (2 - x * x) + 1 / x,
    "extremes": lambda j, x: j.numpy.maximum(x, 0.4) + j.numpy.minimum(x, x[::-1]),
    "atan2": lambda j, x: j.lax.atan2(x, x * x + 1),
    "clamp": lambda j, x: j.lax.clamp(0.3, x, 0.6),
    "selection": lambda j, x: j.numpy.where(x > 0.5, x * x, j.numpy.sin(x)),
    "reductions": lambda j, x: x.sum() * x.max() + x.min() + x.mean(),
    "moved": lambda j, x: j.numpy.concatenate([x[::-1], j.numpy.pad(x, 1), x.reshape(2, 2).T.ravel(), x[None, 1:].squeeze(0)]),
    "gathered": lambda j, x: x[np.array([0, 2])] * j.lax.dynamic_slice(x, (1,), (2,)),
    "updated": lambda j, x: j.lax.dynamic_update_slice(x, x[:2] * x[1:3], (1,)),
    "scattered": lambda j, x: x.at[np.array([0, 1])].add(x[2] * x[2]),
    "dot": lambda j, x: x.reshape(2, 2) @ j.numpy.sin(x.reshape(2, 2)),
    "dtype": lambda j, x: x.astype("float16").astype("float32") * x,
    "layer": lambda j, x: j.numpy.tanh(np.arange(8.0, dtype="f").reshape(2, 4) @ x),
    "softmax": lambda j, x: j.nn.softmax(x * 3),
    "compiled": lambda j, x: j.jit(lambda y: j.numpy.sin(y) * y)(x),
    "fft": lambda j, x: j.numpy.fft.fft(x * x).real,
    "complex": lambda j, x: (j.lax.complex(x, x * x) ** 2).imag,
    "tree": lambda j, x: {"a": x, "b": [x * x, 3.0]},
    "convolution": lambda j, x: j.lax.conv_general_dilated((x * x)[None, None], j.numpy.sin(x[:2])[None, None], (1,), "SAME"),
    "rem": lambda j, x: j.lax.rem(x * 3, x + 0.5),
}
# Operations without a rule in JAX: compared with derivatives along the path.
BEYOND = {
    "sort": lambda j, x: j.numpy.sort(x * x),
    "scan": lambda j, x: j.lax.scan(lambda c, y: (c * y, c + y), 1.0, x),
    "cond": lambda j, x: j.lax.cond(x[0] > 0, j.numpy.sin, j.numpy.cos, x),
    "while": lambda j, x: j.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * c[1]), (0, x))[1],
    "cholesky": lambda j, x: j.numpy.linalg.cholesky(j.numpy.outer(x, x) + 3 * j.numpy.eye(4)),
    "lgamma": lambda j, x: j.lax.lgamma(x + 1),
    "own derivative": lambda j, x: j.nn.silu(j.nn.relu(x)),
    "arcs": lambda j, x: j.lax.asin(x) + j.lax.acos(x) + j.lax.atan(x),
}
X = np.array([0.21, 0.43, 0.67, 0.83], "f")
TERMS = [np.array([1.0, 0.5, -0.3, 0.7], "f"), np.array([0.2, -1.0, 0.4, 0.1], "f"), np.array([0.3, 0.6, -0.2, 1.0], "f")]


def of(system, function, order=3, **options):
    module = importlib.import_module(f"{system.__name__}.experimental.jet")
    terms = [system.numpy.asarray(term) for term in TERMS[:order]]
    return module.jet(lambda x: function(system, x), (system.numpy.asarray(X),), (terms,), **options)


def assert_same(found, wanted, **tolerance):
    assert pullback.tree.structure(found).num_leaves == jax.tree.structure(wanted).num_leaves
    for y, z in zip(pullback.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(np.asarray(y), np.asarray(z), **tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_terms_are_those_of_jax(name):
    assert_same(of(pullback, FUNCTIONS[name]), of(jax, FUNCTIONS[name]), rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("name", BEYOND)
def test_terms_are_derivatives_along_the_path(name):
    function = lambda t: BEYOND[name](pullback, X + t * TERMS[0] + t**2 / 2 * TERMS[1])
    found, terms = of(pullback, BEYOND[name], order=2)
    slope = lambda f: lambda t: pullback.jvp(f, (t,), (1.0,))[1]
    for k, one in enumerate((slope(function), slope(slope(function)))):
        wanted = pullback.tree.leaves(one(0.0))
        leaves = pullback.tree.leaves(terms)[k::2] if pullback.tree.structure(found).num_leaves > 1 else [terms[k]]
        assert_same(leaves, wanted, rtol=2e-4, atol=1e-4)


def test_coefficients_of_taylor_series():
    for order in (1, 2, 3):
        assert_same(of(pullback, FUNCTIONS["sin"], order, factorial_scaled=False), of(jax, FUNCTIONS["sin"], order, factorial_scaled=False), rtol=1e-5)


def test_rules_can_be_set():
    module = importlib.import_module("pullback.experimental.jet")
    kept = dict(module.jet_rules)
    try:
        module.deflinear(pullback.lax.sin_p)
        assert_same(of(pullback, FUNCTIONS["sin"])[1], [np.sin(term) for term in TERMS], rtol=1e-6)
        module.def_comp(pullback.lax.sin_p, lambda x: x * x)
        assert_same(of(pullback, FUNCTIONS["sin"], 1)[1], [2 * X * TERMS[0]], rtol=1e-6)
        module.defzero(pullback.lax.sin_p)
        assert_same(of(pullback, FUNCTIONS["sin"], 1)[1], [0 * X], rtol=1e-6)
    finally:
        module.jet_rules.clear()
        module.jet_rules.update(kept)


@pytest.mark.parametrize("arguments", [((1.0,), ([1.0], [1.0, 2.0])), (({"x": 1.0},), ([1.0],)), ((1.0,), ([{"x": 1.0}],))])
def test_arguments_that_do_not_fit_are_refused_in_the_words_of_jax(arguments):
    def text(system):
        with pytest.raises(ValueError) as caught:
            importlib.import_module(f"{system.__name__}.experimental.jet").jet(lambda x: x, *arguments)
        return str(caught.value).split("\n")[0]

    assert text(pullback) == text(jax)


def test_it_is_differentiable_and_compiles():
    module = importlib.import_module("pullback.experimental.jet")
    second = lambda x: module.jet(pullback.numpy.sin, (x,), ([1.0, 0.0],))[1][1]
    np.testing.assert_allclose(pullback.jit(pullback.grad(second))(0.3), -np.cos(0.3), rtol=1e-5)
    np.testing.assert_allclose(pullback.vmap(second)(X), -np.sin(X), rtol=1e-5)
