"""Activations and normalizations against values and derivatives that JAX 0.12 gave."""

import json
from pathlib import Path

import numpy as np
import pytest

import pullback as jax
from pullback import nn, random
from pullback.nn import initializers

RECORDED = json.loads((Path(__file__).parent / "golden" / "activations.json").read_text())
X = np.array(RECORDED["x"], np.float32)
# A few units in the last place of float32: functions may round differently.
TOLERANCE = {"rtol": 2e-6, "atol": 2e-6}


@pytest.mark.parametrize("name", RECORDED["functions"])
def test_value(name):
    np.testing.assert_allclose(getattr(nn, name)(X), RECORDED["functions"][name]["value"], **TOLERANCE)


@pytest.mark.parametrize("name", RECORDED["functions"])
def test_gradient(name):
    fun = getattr(nn, name)
    value = np.asarray(fun(X))
    weights = np.arange(1.0, 1 + value.size, dtype=np.float32).reshape(value.shape)
    gradient = jax.grad(lambda x: (fun(x) * weights).sum())(X)
    np.testing.assert_allclose(gradient, RECORDED["functions"][name]["grad"], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", RECORDED["functions"])
def test_vmap_is_a_loop(name):
    fun = getattr(nn, name)
    rows = np.stack([X, X[::-1]])
    np.testing.assert_allclose(jax.vmap(fun)(rows), np.stack([fun(row) for row in rows]), **TOLERANCE)


@pytest.mark.parametrize("name", ["relu", "relu6"])
def test_derivative_at_the_kink_is_zero(name):
    assert jax.grad(getattr(nn, name))(0.0) == 0.0


def test_softmax_where():
    mask = X > 0
    got = np.asarray(nn.softmax(X, where=mask))
    assert np.all(got[~mask] == 0)
    np.testing.assert_allclose(got[mask], nn.softmax(X[mask]), **TOLERANCE)


def test_logsumexp_of_signed_terms():
    terms, factors = np.array([1.0, 2.0], np.float32), np.array([1.0, -1.0], np.float32)
    assert np.isnan(nn.logsumexp(terms, b=factors))
    out, sign = nn.logsumexp(terms, b=factors, return_sign=True)
    assert sign == -1
    np.testing.assert_allclose(out, np.log(np.exp(2.0) - np.exp(1.0)), **TOLERANCE)


def test_one_hot():
    assert np.array_equal(nn.one_hot(np.array([0, 2, 5]), 3), [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert np.array_equal(nn.one_hot(np.array([0, 1]), 3, axis=0, dtype=bool), [[True, False], [False, True], [False] * 2])


SCALED = [
    ("glorot_uniform", 2 / (200 + 300)),
    ("glorot_normal", 2 / (200 + 300)),
    ("lecun_uniform", 1 / 200),
    ("lecun_normal", 1 / 200),
    ("he_uniform", 2 / 200),
    ("he_normal", 2 / 200),
]


@pytest.mark.parametrize("name, variance", SCALED)
def test_variance_of_initial_weights(name, variance):
    weights = np.asarray(getattr(initializers, name)()(random.key(1), (200, 300)))
    assert weights.shape == (200, 300) and weights.dtype == np.float32
    # The variance of 60000 draws strays from the true one by less than two in a hundred.
    assert abs(weights.var() / variance - 1) < 0.02


def test_constant_weights():
    key = random.key(0)
    assert np.array_equal(initializers.zeros(key, (2, 3)), np.zeros((2, 3)))
    assert np.array_equal(initializers.ones(key, (2,), "int32"), [1, 1])
    assert np.array_equal(initializers.constant(2.5)(key, (2,)), [2.5, 2.5])


ERRORS = [
    (lambda: nn.softmax(X, axis=3), ValueError, "axis 3 is out of bounds for array of dimension 1"),
    (lambda: nn.sigmoid(np.arange(3)), TypeError, "logistic does not accept dtype int32."),
    (lambda: nn.standardize(X, algorithm="q"), ValueError, "Unknown algorithm 'q'. Expected 'fast' or 'stable'."),
    (lambda: nn.one_hot(np.arange(3), -1), TypeError, "iota shape must have every element be nonnegative, got (1, -1)."),
    (lambda: initializers.glorot_normal()(random.key(0), (3,)), ValueError, "Must be at least 2D"),
    (lambda: initializers.variance_scaling(1.0, "foo", "normal")(random.key(0), (3, 3)), ValueError, "invalid mode"),
    (lambda: initializers.orthogonal()(random.key(0), (3,)), ValueError, "requires at least a 2D shape"),
    (lambda: nn.dot_product_attention(X, X, X, implementation="fast"), ValueError, "Unsupported implementation option: fast"),
]


@pytest.mark.parametrize("call, error, text", ERRORS, ids=[text for _, _, text in ERRORS])
def test_error(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert text in str(raised.value)
