"""`pullback.masked`: as NumPy's masked arrays where something is valid, and finite where nothing is."""

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import masked

X = np.array([[1.0, -2.0, 3.0, 0.5], [4.0, 0.25, -1.0, 2.0], [7.0, 8.0, 9.0, 1.0]], np.float32)
MASK = np.array([[1, 1, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]], bool)
# What is not valid holds what must not be seen.
HOLES = np.where(MASK, X, np.array([[np.nan, np.inf, -np.inf, np.nan]], np.float32))


def rows(one):
    """A function of the valid elements of a row, over the rows that have some."""
    return lambda: np.array([one(X[i][MASK[i]].astype(np.float64)) for i in range(2)])


STATISTICS = [
    ("mean", masked.mean, rows(np.mean), 0.0),
    ("var", masked.var, rows(np.var), 0.0),
    ("std", masked.std, rows(np.std), 0.0),
    ("norm", masked.norm, rows(np.linalg.norm), 0.0),
    ("logsumexp", masked.logsumexp, rows(lambda x: np.log(np.exp(x).sum())), -np.inf),
]
IDS = [row[0] for row in STATISTICS]


@pytest.mark.parametrize("name,function,expected,empty", STATISTICS, ids=IDS)
def test_values_are_those_of_the_valid_elements(name, function, expected, empty):
    found = function(HOLES, MASK, axis=1)
    assert found.dtype == jnp.float32 and found.shape == (3,)
    np.testing.assert_allclose(found[:2], expected(), rtol=2e-6, atol=1e-6)
    assert found[2] == empty
    assert function(HOLES, MASK, axis=1, keepdims=True).shape == (3, 1)
    np.testing.assert_allclose(function(X[0]), function(X[0], np.ones(4)), rtol=1e-6)


@pytest.mark.parametrize("name,function,expected,empty", STATISTICS, ids=IDS)
@pytest.mark.parametrize("way", ["grad", "jit", "vmap"])
def test_gradients_are_finite_and_zero_where_nothing_counts(name, function, expected, empty, way):
    weigh = lambda x: jnp.where(jnp.array([True, True, False]), function(x, MASK, axis=1), 0.0).sum()
    if way == "vmap":
        found = jax.vmap(jax.grad(lambda x, mask: jnp.nan_to_num(function(x, mask), neginf=0.0)))(HOLES, MASK)
    else:
        found = (jax.jit if way == "jit" else lambda f: f)(jax.grad(weigh))(HOLES)
    assert np.isfinite(found).all() and not np.asarray(found)[~MASK].any()
    of_row = lambda x: function(x[np.array(MASK[0])])
    np.testing.assert_allclose(np.asarray(found)[0][MASK[0]], jax.grad(of_row)(jnp.asarray(X[0]))[MASK[0]], rtol=1e-5, atol=1e-6)


def test_softmax():
    found = masked.softmax(HOLES, MASK)
    for i in range(2):
        own = np.exp(X[i][MASK[i]])
        np.testing.assert_allclose(found[i][MASK[i]], own / own.sum(), rtol=2e-6)
    assert not np.asarray(found)[~MASK].any()
    gradient = jax.grad(lambda x: (masked.softmax(x, MASK) * X).sum())(HOLES)
    assert np.isfinite(gradient).all() and not np.asarray(gradient)[~MASK].any() and np.asarray(gradient)[0].any()


def test_softmax_and_logsumexp_do_not_overflow():
    x = jnp.array([1000.0, 999.0, jnp.inf])
    mask = jnp.array([True, True, False])
    np.testing.assert_allclose(masked.logsumexp(x, mask), 1000 + np.log1p(np.exp(-1)), rtol=1e-6)
    np.testing.assert_allclose(masked.softmax(x, mask), [0.7310586, 0.26894143, 0.0], rtol=1e-5)


def test_norm_and_standard_deviation_at_their_corner():
    assert jax.grad(masked.norm)(jnp.zeros(3)).tolist() == [0.0] * 3
    assert jax.grad(masked.std)(jnp.full(3, 2.0)).tolist() == [0.0] * 3
    assert jax.hessian(lambda x: masked.norm(x))(jnp.array([3.0, 4.0])).shape == (2, 2)


def test_cosine_similarity():
    a, b = X[:2], X[1:]
    expected = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    np.testing.assert_allclose(masked.cosine_similarity(a, b), expected, rtol=1e-6)
    zero = jnp.zeros(3)
    assert masked.cosine_similarity(zero, jnp.ones(3)) == 0.0
    gradients = jax.grad(masked.cosine_similarity, (0, 1))(zero, jnp.ones(3))
    assert all(np.isfinite(g).all() for g in gradients)
    hidden = masked.cosine_similarity(jnp.array([1.0, 1.0, jnp.nan]), jnp.array([1.0, 0.0, 2.0]), jnp.array([True, True, False]))
    np.testing.assert_allclose(hidden, 2**-0.5, rtol=1e-6)


def test_cross_entropy():
    labels = np.array([2, 0, -1])
    valid = np.array([True, True, False])
    logits = X.copy()
    logits[2] = np.nan
    expected = np.mean([np.log(np.exp(X[i]).sum()) - X[i, labels[i]] for i in range(2)])
    found, gradient = jax.value_and_grad(masked.cross_entropy)(jnp.asarray(logits), labels, valid)
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    assert np.isfinite(gradient).all() and not np.asarray(gradient)[2].any()
    softmax = np.exp(X[:2]) / np.exp(X[:2]).sum(1, keepdims=True)
    np.testing.assert_allclose(gradient[:2], (softmax - np.eye(4, dtype=np.float32)[labels[:2]]) / 2, rtol=2e-5, atol=1e-6)
    nothing = jax.value_and_grad(masked.cross_entropy)(jnp.asarray(logits), labels, np.zeros(3, bool))
    assert nothing[0] == 0.0 and not np.asarray(nothing[1]).any()


def test_cross_entropy_over_some_classes():
    classes = np.array([[1, 1, 0, 1]] * 3, bool)
    holes = np.where(classes, X, np.nan).astype(np.float32)
    found, gradient = jax.value_and_grad(masked.cross_entropy)(jnp.asarray(holes), np.array([0, 1, 3]), classes)
    kept = X[:, [0, 1, 3]]
    expected = np.mean(np.log(np.exp(kept).sum(1)) - X[[0, 1, 2], [0, 1, 3]])
    np.testing.assert_allclose(found, expected, rtol=2e-6)
    assert np.isfinite(gradient).all() and not np.asarray(gradient)[:, 2].any()
    both = masked.cross_entropy(jnp.asarray(holes), np.array([0, 1, 3]), np.array([True, False, False]), classes=classes)
    np.testing.assert_allclose(both, np.log(np.exp(kept[0]).sum()) - X[0, 0], rtol=2e-6)


def test_arrays_without_elements():
    empty = jnp.zeros((0,))
    for function in (masked.mean, masked.var, masked.std, masked.norm):
        assert function(empty) == 0.0
    assert masked.logsumexp(empty) == -jnp.inf and masked.softmax(empty).shape == (0,)
    assert masked.mean(jnp.zeros((2, 0)), axis=1, empty=7.0).tolist() == [7.0, 7.0]
    assert jax.grad(masked.mean)(empty).shape == (0,)


def test_whole_and_complex_numbers():
    assert masked.mean(jnp.array([1, 2, 9]), jnp.array([1, 1, 0])) == 1.5
    z = jnp.array([3 + 4j, 0])
    assert masked.norm(z) == 5.0 and masked.var(z).dtype == jnp.float32
    np.testing.assert_allclose(masked.var(z), np.var(np.asarray(z)), rtol=1e-6)


def test_a_mask_that_does_not_fit():
    with pytest.raises(ValueError):
        masked.mean(jnp.ones(3), jnp.ones(2))
