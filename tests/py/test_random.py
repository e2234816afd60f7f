"""Samples equal those that JAX 0.12 drew, and misuse of keys raises its errors."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import pullback as jax
from pullback import random

RECORDED = json.loads((Path(__file__).parent / "golden" / "samples.json").read_text())


def evaluate(call):
    names = {"random": random, "k": random.key(42), "raw": random.PRNGKey(42), "np": np}
    return eval("random." + call.replace("[1, 5, 9]", "np.array([1, 5, 9])"), names)


def words(sample):
    return random.key_data(sample) if sample.dtype == random.key(0).dtype else sample


@pytest.mark.parametrize("call", RECORDED)
def test_sample(call):
    want = RECORDED[call]
    got = np.asarray(words(evaluate(call)))
    assert (str(got.dtype), list(got.shape)) == (want["dtype"], want["shape"])
    assert got.tobytes().hex() == want["hex"]


@pytest.mark.parametrize("call", [call for call in RECORDED if "(k," in call and "k, 0.3" not in call])
def test_sample_under_jit(call):
    def sample(k):
        return eval("random." + call.replace("[1, 5, 9]", "np.array([1, 5, 9])"), {"random": random, "k": k, "np": np})

    got = np.asarray(words(jax.jit(sample)(random.key(42))))
    assert got.tobytes().hex() == RECORDED[call]["hex"]


def test_vmap_over_keys_is_a_loop():
    keys = random.split(random.key(0), 4)
    batched = jax.vmap(lambda k: random.normal(k, (3,)))(keys)
    for i in range(4):
        assert np.array_equal(batched[i], random.normal(keys[i], (3,)))


def test_the_element_type_of_keys_stands_for_its_generator():
    dtype = random.key_dtype()
    assert random.key(7, dtype=dtype).dtype == random.wrap_key_data(random.PRNGKey(7), dtype=dtype).dtype == dtype


ERRORS = [
    ("split(random.split(k))", ValueError, "split accepts a single key, but was given a key array of shape (2,) != ()"),
    ("uniform(random.split(raw))", ValueError, "uniform accepts a single key, but was given a key array of shape (2, 2)"),
    ("split(np.ones(2, np.float32))", TypeError, "expected key_data.dtype = uint32; got dtype=float32"),
    ("split(np.ones(3, np.uint32))", TypeError, "expected key_data.shape to end with (2,); got shape=(3,)"),
    ("split(5)", TypeError, "expected key_data to have ndim, shape, and dtype attributes. Got 5"),
    ("split(None)", TypeError, "unexpected PRNG key type <class 'NoneType'>"),
    ("key(k)", TypeError, "key accepts a scalar seed, but was given a PRNG key."),
    ("PRNGKey(np.array([1, 2]))", TypeError, "PRNGKey accepts a scalar seed, but was given an array of shape (2,) != ()"),
    ("key(1.5)", TypeError, "PRNG key seed must be an integer"),
    ("key(2**63)", OverflowError, "Python int too large to convert to C long"),
    ("key(1, impl='foo')", ValueError, 'unrecognized PRNG implementation "foo"'),
    ("fold_in(k, -1)", OverflowError, "Python integer -1 out of bounds for uint32"),
    ("fold_in(k, np.arange(2))", TypeError, "fold_in accepts a scalar"),
    ("uniform(k, (2,), int)", ValueError, "dtype argument to `uniform` must be a float dtype, got int32"),
    ("normal(k, (2,), int)", ValueError, "dtype argument to `normal` must be a float or complex dtype, got int32"),
    ("bits(k, (2,), float)", ValueError, "dtype argument to `bits` must be an unsigned int dtype, got float32"),
    ("randint(k, (2,), 0, 5, float)", TypeError, "randint only accepts integer dtypes, got float32"),
    ("randint(k, (2,), np.zeros(3, int), 5)", ValueError, "shapes=[(2,), (3,), ()]"),
    ("bernoulli(k, 1)", TypeError, "bernoulli probability `p` must have a floating dtype, got int32."),
    ("bernoulli(k, 0.5, (2,), mode='foo')", ValueError, "got mode='foo', expected 'high' or 'low'"),
    ("permutation(k, 2.5)", TypeError, "x must be an integer or at least 1-dimensional"),
    ("permutation(k, np.arange(3), axis=1)", ValueError, "axis 1 is out of bounds for array of dimension 1"),
    ("choice(k, 0)", ValueError, "a must be greater than 0 unless no samples are taken"),
    ("choice(k, 5, (6,), replace=False)", ValueError, "Cannot take a larger sample (size 6) than population (size 5)"),
    ("choice(k, 5, p=np.ones(3))", ValueError, "p has shape (3,) and a.shape[axis] is 5."),
    ("poisson(k, 2.0, dtype=float)", ValueError, "Invalid integer data type 'f'."),
    ("poisson(k, 2.0, method='fast')", ValueError, "method argument to `poisson` must be one of {'exact', 'approximate'}"),
    ("gamma(k, 2.0, method='fast')", ValueError, "method argument to `gamma` must be one of {'exact', 'approximate'}"),
    ("multivariate_normal(k, 0.0, 1.0)", ValueError, "multivariate_normal requires mean.ndim >= 1, got mean.ndim == 0"),
]


@pytest.mark.parametrize("call, error, text", ERRORS, ids=[call for call, _, _ in ERRORS])
def test_error(call, error, text):
    with pytest.raises(error) as raised:
        evaluate(call)
    assert text in str(raised.value)


SIGNATURES = {
    "uniform": "(key, shape=(), dtype=None, minval=0.0, maxval=1.0, *, out_sharding=None)",
    "normal": "(key, shape=(), dtype=None, *, out_sharding=None)",
    "split": "(key, num=2)",
    "choice": "(key, a, shape=(), replace=True, p=None, axis=0, mode=None)",
    "categorical": "(key, logits, axis=-1, shape=None, replace=True, mode=None, *, out_sharding=None)",
    "truncated_normal": "(key, lower, upper, shape=None, dtype=None, *, out_sharding=None)",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    assert str(inspect.signature(getattr(random, name))) == SIGNATURES[name]
    assert getattr(random, name).__module__ == "pullback.random"
