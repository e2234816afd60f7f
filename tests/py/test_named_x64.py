"""`jax_explicit_x64_dtypes`: what naming a 64-bit dtype does while such types are off, beside JAX."""

import warnings

import numpy as np
import pytest
from differential import check_equal, facts, lines_of, names_of, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

ALLOWED = """
[jnp.array([1], dtype="int64"), jnp.zeros(2, jnp.float64), jnp.ones(2).astype("float64"), jnp.int64(3), jnp.uint64(2**63), jnp.complex128(1j)]
[lax.convert_element_type(1, "int64"), lax.convert_element_type(x, np.float64), lax.iota("int64", 3), lax.full((2,), 3, "float64")]
lax.bitcast_convert_type(jnp.ones((3, 2)), "float64")
jax.random.bits(jax.random.key(7), (2,), "uint64")
[str(jnp.result_type("int64")), str(jnp.result_type("float64", x)), str(jnp.result_type(float)), str(jnp.promote_types("int64", "float32"))]
[jnp.arange(3, dtype="int64").sum(), jnp.arange(3, dtype="int64").prod(), jnp.arange(3, dtype="int64").mean()]
[jnp.arange(3, dtype="int64") + 1, jnp.arange(3, dtype="int64") * 1.5, jnp.arange(3, dtype="int64") * x, jnp.arange(3, dtype="uint64") + i]
[jnp.zeros(2, "float64") + 1, jnp.zeros(2, "float64") + x[:2], jnp.sin(jnp.ones(2, "float64")), jnp.ones(2, "int64") / 3]
[jnp.asarray(np.arange(3.0)), jnp.zeros(2, float), jnp.asarray(1), jnp.asarray(np.int64(3)), jnp.array([1.5]), jnp.arange(3.0)]
jnp.array(0.1, dtype="float64") - jnp.array([0.1, 0.2], dtype="float64")
[jnp.asarray(np.array([2**40]), dtype="int64"), jnp.asarray(2**40, dtype="int64"), jnp.asarray([2**40, 1], dtype="int64")]
jnp.full(2, 2**40, dtype="int64")
[jnp.linspace(0, 1, 3, dtype="float64"), jnp.eye(2, dtype="float64"), jnp.tri(2, dtype="float64"), jnp.ones_like(x, dtype="float64")]
jax.jit(lambda a: a.astype("float64") * 2)(x)
jax.grad(lambda a: (a**2).sum())(jnp.ones(2, "float64"))
[x.sum(dtype="float64"), jnp.cumsum(x, dtype="float64"), jnp.mean(x, dtype="float64"), jnp.ones(2, "float64").view("int64")]
jax.eval_shape(lambda a: a * 2, jax.ShapeDtypeStruct((2,), "float64")).dtype
[jnp.where(b, jnp.ones(3, "float64"), 0), jnp.concatenate([jnp.ones(3, "float64"), x]), jnp.dot(jnp.ones(3, "float64"), x)]
lax.scan(lambda c, _: (c + 1, c), jnp.int64(0), None, 3)
jax.vmap(lambda a: a.astype("float64"))(x)
[jnp.indices((2, 2), dtype="int64"), jnp.sort(jnp.array([3.0, 1.0], "float64"))]
str(jax.make_jaxpr(lambda a: a.astype("float64") + 1)(x))
"""
REFUSED = """
jnp.zeros(2, "int64")
jnp.float64(3)
x.astype("float64")
[jnp.zeros(2, float), jnp.asarray(np.zeros(2)), jnp.arange(3)]
x.sum(dtype="int64")
jax.random.uniform(jax.random.key(0), (2,), "float64")
lax.convert_element_type(x, "float64")
lax.iota("int64", 3)
"""
MODES = [("allow", ALLOWED), ("error", REFUSED), ("warn", REFUSED)]
CASES = [(mode, line) for mode, lines in MODES for line in lines_of(lines)]


def under(system, mode, line):
    names = names_of(system)
    system.config.update("jax_explicit_x64_dtypes", mode)
    try:
        return run(line, names)
    finally:
        system.config.update("jax_explicit_x64_dtypes", "warn")


@pytest.mark.parametrize("mode, line", CASES, ids=[f"{mode}: {line}" for mode, line in CASES])
def test_as_jax(mode, line):
    check_equal(under(pullback, mode, line), under(jax, mode, line), line, 1e-6)


def test_named_numbers_are_exact():
    exact = under(pullback, "allow", "[jnp.array(0.1, 'float64'), jnp.asarray(np.array([2**40 + 1]), 'int64')]")
    assert float(exact[0]) == 0.1 and int(exact[1][0]) == 2**40 + 1


@pytest.mark.parametrize("line", ["lax.iota('int64', 3)", "lax.convert_element_type(x, 'float64')", "jnp.zeros(2, 'int64')", "x.astype('float64')"])
def test_a_narrowed_dtype_is_told(line):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "64" not in str(eval(line, names_of(pullback)).dtype)
    assert any("Explicitly requested dtype" in str(one.message) for one in told)


@pytest.mark.parametrize("value", ["foo", "ALLOW", 2, None])
def test_other_values_are_refused(value):
    errors = []
    for system in (jax, pullback):
        with pytest.raises((TypeError, ValueError)) as caught:
            system.config.update("jax_explicit_x64_dtypes", value)
        errors.append(facts(caught.value))
    assert errors[0] == errors[1]
    assert str(pullback.config.jax_explicit_x64_dtypes) == str(jax.config.jax_explicit_x64_dtypes)


def test_arrays_of_numpy_stay_narrow():
    assert under(pullback, "allow", "jnp.asarray(np.zeros(2))").dtype == np.float32
