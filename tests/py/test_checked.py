"""`checked`: what passes in silence otherwise is an error with its line."""

import inspect
import warnings

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import checked, lax

X = np.arange(4.0, dtype=np.float32)
KEY = 0

FAULTS = [
    ("an index", lambda x: x[jnp.int32(4)], (X,), IndexError, "index 4 is out of bounds for axis 0 with size 4"),
    ("a negative index", lambda x, i: x[i], (X, -5), IndexError, "index -5 is out of bounds for axis 0 with size 4"),
    ("an index array", lambda x: x[jnp.array([1, 7])], (X,), IndexError, "index 7"),
    ("an index of a matrix", lambda x, i: x.reshape(2, 2)[:, i], (X, 2), IndexError, "axis 1 with size 2"),
    ("an update", lambda x, i: x.at[i].set(0.0), (X, 9), IndexError, "index 9"),
    ("an added update", lambda x: x.at[jnp.array([0, 4])].add(1.0), (X,), IndexError, "index 4"),
    ("a slice", lambda x, i: lax.dynamic_slice(x, (i,), (2,)), (X, 3), IndexError, "a slice of 2 from 3"),
    ("an updated slice", lambda x, i: lax.dynamic_update_slice(x, x[:2], (i,)), (X, 3), IndexError, "a slice of 2 from 3"),
    ("a NaN", lambda x: jnp.sqrt(x - 1), (X,), FloatingPointError, "sqrt gave NaN of finite operands (-1.0) at [0]"),
    ("an infinity", lambda x: 1 / x, (X,), FloatingPointError, "div gave an infinity"),
    ("an overflow", lambda x: jnp.exp(x * 100), (X,), FloatingPointError, "exp gave an infinity"),
    ("a whole division", lambda i: jnp.int32(7) // i, (0,), ZeroDivisionError, "divided by 0"),
    ("a whole remainder", lambda i: lax.rem(jnp.int32(7), i), (np.int32(0),), ZeroDivisionError, "divided by 0"),
    ("a cast", lambda x: (x * 1e9).astype(jnp.int32), (X,), OverflowError, "does not fit into int32"),
    ("a narrow cast", lambda i: i.astype(jnp.int8), (np.int32(200),), OverflowError, "200 does not fit into int8"),
    ("a cast below zero", lambda i: i.astype(jnp.uint8), (np.int32(-1),), OverflowError, "-1 does not fit into uint8"),
    ("a singular matrix", lambda x: jnp.linalg.solve(x.reshape(2, 2) * 0, x[:2]), (X,), np.linalg.LinAlgError, "singular"),
    ("no positive matrix", lambda x: jnp.linalg.cholesky(-jnp.eye(2) * x[1]), (X,), np.linalg.LinAlgError, "positive definite"),
    ("a square", lambda x: x[:, None] - x, (X,), ValueError, "broadcasts to a square"),
    ("a truncated dtype", lambda x: x.sum() + jnp.zeros(2, "float64"), (X,), TypeError, "truncated"),
    ("inside of jit", jax.jit(lambda x, i: x[i]), (X, 4), IndexError, "index 4"),
    ("inside of a loop", lambda x: lax.fori_loop(0, 5, lambda i, c: c + x[i], 0.0), (X,), IndexError, "iteration 4"),
    ("inside of a branch", lambda x: lax.cond(x[0] == 0, lambda: jnp.log(x), lambda: x), (X,), FloatingPointError, "branch 1"),
    ("inside of vmap", lambda x: jax.vmap(lambda i: x[i])(jnp.array([0, 4])), (X,), IndexError, "index 4"),
    ("a gradient", jax.grad(lambda x: jnp.sqrt(x).sum()), (X,), FloatingPointError, "div gave an infinity"),
]


@pytest.mark.parametrize("name,function,args,error,text", FAULTS, ids=[row[0] for row in FAULTS])
def test_a_fault_is_an_error(name, function, args, error, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(*map(jnp.asarray, args))
    with pytest.raises(error) as found:
        checked(function)(*args)
    assert text in str(found.value)


@pytest.mark.parametrize("name,function,args,error,text", FAULTS, ids=[row[0] for row in FAULTS])
def test_in_a_context_too(name, function, args, error, text):
    arrays = [jnp.asarray(arg) for arg in args]
    with pytest.raises(error) as found, checked():
        function(*arrays)
    assert text in str(found.value)
    assert not jax.config.pullback_checked


def test_as_a_setting():
    jax.config.update("pullback_checked", True)
    try:
        with pytest.raises(FloatingPointError, match="log gave an infinity"):
            jnp.log(jnp.zeros(2))
        assert jnp.log(jnp.ones(2)).tolist() == [0.0, 0.0]
    finally:
        jax.config.update("pullback_checked", False)
    assert jnp.log(jnp.zeros(2)).tolist() == [-np.inf, -np.inf]


def test_what_was_compiled_before_is_checked():
    function = jax.jit(lambda x: jnp.sqrt(x - 1))
    assert np.isnan(function(X)[0])
    with pytest.raises(FloatingPointError, match="sqrt gave NaN.*test_checked.py"), checked():
        function(X)


def reuses(key):
    a = jax.random.normal(key)
    b = jax.random.uniform(key)
    return a + b


def splits(key):
    a, b = jax.random.split(key)
    return jax.random.normal(a) + jax.random.uniform(b) + jax.random.normal(jax.random.fold_in(key, 1))


def loops(key):
    return lax.fori_loop(0, 3, lambda i, c: c + jax.random.normal(key), 0.0)


def test_keys_are_used_once():
    with pytest.raises(jax.errors.KeyReuseError, match="used again by random_bits.*in reuses.*used before"):
        checked(reuses)(jax.random.key(0))
    with pytest.raises(jax.errors.KeyReuseError):
        checked(loops)(jax.random.key(0))
    assert checked(splits)(jax.random.key(0)) == splits(jax.random.key(0))
    with pytest.raises(jax.errors.KeyReuseError), checked():
        reuses(jax.random.key(0))
    with pytest.raises(jax.errors.KeyReuseError), checked():
        loops(jax.random.key(0))
    with checked():
        splits(jax.random.key(0))


def broken(x):
    y = x + 1
    return jnp.log(y - 2)


def test_the_line_is_that_of_the_operation():
    line = inspect.getsourcelines(broken)[1] + 2
    with pytest.raises(FloatingPointError, match=f"test_checked.py:{line}, in broken"):
        checked(broken)(X)


PROGRAMS = [
    ("indexing", lambda x: x[1] + x[-1] + x[jnp.array([0, 3])].sum() + x.at[2].set(1.0).sum()),
    ("loops", lambda x: lax.scan(lambda c, t: (c * 0.5 + t, jnp.sin(t)), 0.0, x)),
    ("while", lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2, 1.0)),
    ("trees", lambda x: {"a": x * 2, "b": [x.sum(), (x > 1).any()]}),
    ("outer", lambda x: x[:, None] - x[None, :]),
    ("rows", lambda x: x.reshape(2, 2) + x[:2]),
    ("infinite masks", lambda x: jax.nn.softmax(jnp.where(x > 1, x, -jnp.inf))),
    ("solve", lambda x: jnp.linalg.solve(jnp.eye(4) + 0.1, x)),
    ("gradient", jax.grad(lambda x: (jnp.tanh(x) ** 2).sum())),
    ("jit", jax.jit(lambda x: jnp.cumsum(x) / (1 + x))),
    ("casts", lambda x: (x.astype(jnp.int32) // 2, x.astype(jnp.int8), (x > 1).astype(jnp.uint8))),
    ("max of infinity", lambda x: jnp.max(x, initial=-jnp.inf)),
]


@pytest.mark.parametrize("name,function", PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_a_good_program_is_as_it_was(name, function):
    expected, found = function(jnp.asarray(X)), checked(function)(X)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        np.testing.assert_allclose(a, b, rtol=1e-6)
        assert a.dtype == b.dtype


@pytest.mark.parametrize("name,function", PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_in_a_context_a_good_program_is_as_it_was(name, function):
    x = jnp.asarray(X)
    expected = function(x)
    with checked():
        found = function(x)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        np.testing.assert_allclose(a, b, rtol=1e-6)
        assert a.dtype == b.dtype


def test_arguments_of_all_kinds():
    function = checked(lambda x, *, scale, name: x["a"] * scale if name == "k" else None)
    assert function({"a": X}, scale=2.0, name="k").tolist() == [0.0, 2.0, 4.0, 6.0]
    assert function.__name__ == "<lambda>"


def test_other_warnings_still_warn():
    def warns(x):
        warnings.warn("of the user")
        return x

    with pytest.warns(UserWarning, match="of the user"):
        checked(warns)(X)


def test_it_cannot_be_traced():
    with pytest.raises(TypeError, match="checked looks at values"):
        jax.jit(checked(jnp.sin))(1.0)
