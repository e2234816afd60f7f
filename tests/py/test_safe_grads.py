"""Where-safe gradients: what a choice dropped is a structural zero, and nothing else changes."""

import os

import numpy as np
import pytest

import pullback
import pullback as jax
import pullback.numpy as jnp
from pullback import lax
from nan_programs import DROPPED, REAL
from random_programs import execute, names_in, program

PROGRAMS = int(os.environ.get("PULLBACK_SAFE_PROGRAMS", "300"))


def load(text, system=pullback):
    return eval(text, {"jax": system, "jnp": system.numpy, "lax": system.lax})


def differentiated(program):
    """The gradients of a program by each way to take one."""
    return {
        "grad": jax.grad(program),
        "jit of grad": jax.jit(jax.grad(program)),
        "grad of jit": jax.grad(jax.jit(program)),
        "jacfwd": jax.jacfwd(program),
        "vmap of grad": lambda x: jax.vmap(jax.grad(program))(jnp.stack([x, x]))[1],
        "vjp": lambda x: jax.vjp(program, x)[1](jnp.ones_like(program(x)))[0],
    }


WAYS = ["grad", "jit of grad", "grad of jit", "jacfwd", "vmap of grad", "vjp"]


@pytest.mark.parametrize("name,text,filtered,point", DROPPED, ids=[row[0] for row in DROPPED])
def test_a_dropped_value_has_no_derivative(name, text, filtered, point):
    program, point = load(text), load(point)
    expected = np.asarray(jax.grad(load(filtered))(point))
    assert np.isfinite(expected).all()
    for way, derivative in differentiated(program).items():
        with jax.safe_grads():
            found = np.asarray(derivative(point))
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6, err_msg=way)


def test_the_programs_are_in_trouble_without_it():
    """Each of them, or it would show nothing; but for a few, which choose before anything infinite is met."""
    broken = [name for name, text, _, point in DROPPED if not np.isfinite(jax.grad(load(text))(load(point))).all()]
    assert len(broken) >= 60, sorted({row[0] for row in DROPPED} - set(broken))


@pytest.mark.parametrize("name,text,point", REAL, ids=[row[0] for row in REAL])
def test_what_reaches_the_result_stays(name, text, point):
    program, point = load(text), load(point)
    for way in ("grad", "jit of grad", "jacfwd"):
        ordinary = np.asarray(differentiated(program)[way](point))
        assert not np.isfinite(ordinary).all(), way
        with jax.safe_grads():
            found = np.asarray(differentiated(program)[way](point))
        np.testing.assert_array_equal(found, ordinary, err_msg=way)


def test_filtered_programs_are_those_of_jax(jax_oracle):
    for name, _, filtered, point in DROPPED[::6]:
        ours = jax.grad(load(filtered))(load(point))
        theirs = jax_oracle.grad(load(filtered, jax_oracle))(load(point, jax_oracle))
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, err_msg=name)


def gradients(steps, transform):
    x, y = jnp.array([0.5, -1.25, 2.0]), jnp.array([1.5, 0.75, -0.5])
    return [np.asarray(g) for g in transform(lambda a, b: execute(pullback, steps, [a, b]).sum())(x, y)]


def same_but_for_signs_of_zeros(a, b):
    return np.array_equal((a + 0.0).view(np.int32), (b + 0.0).view(np.int32))


@pytest.mark.parametrize("part", range(10))
def test_finite_programs_keep_their_bits(part):
    """Zeros may lose their sign; nothing else may change."""
    for seed in range(part * PROGRAMS // 10, (part + 1) * PROGRAMS // 10):
        steps = program(seed)
        if "while" in names_in(steps):
            continue
        for transform in (lambda f: jax.grad(f, (0, 1)),) + ((lambda f: jax.jit(jax.grad(f, (0, 1))),) if seed % 4 == 0 else ()):
            ordinary = gradients(steps, transform)
            with jax.safe_grads():
                found = gradients(steps, transform)
            for a, b in zip(ordinary, found):
                assert same_but_for_signs_of_zeros(a, b), (seed, steps, a, b)


def f(x):
    return jnp.where(x > 0, x**0.5, 7.0)


def test_the_setting_is_part_of_what_jit_remembers():
    compiled = jax.jit(jax.grad(f))
    assert np.isnan(compiled(0.0))
    with jax.safe_grads():
        assert compiled(0.0) == 0.0
        with jax.safe_grads(False):
            assert np.isnan(compiled(0.0))
    assert np.isnan(compiled(0.0))


def test_the_setting_is_a_flag_and_a_decorator():
    assert jax.config.pullback_safe_where is False
    jax.config.update("pullback_safe_where", True)
    try:
        assert jax.grad(f)(0.0) == 0.0
    finally:
        jax.config.update("pullback_safe_where", False)
    assert jax.safe_grads()(jax.grad(f))(0.0) == 0.0


def test_a_pull_back_keeps_the_rule_it_was_made_with():
    with jax.safe_grads():
        _, pull_back = jax.vjp(f, 0.0)
        _, push_forward = jax.linearize(lambda x: jnp.sqrt(jnp.where(x > 0, x, 0.0)), 0.0)
    assert pull_back(1.0)[0] == 0.0
    assert push_forward(1.0) == 0.0
    assert np.isnan(jax.vjp(f, 0.0)[1](1.0)[0])


def test_forward_zeros_are_structural_too():
    g = lambda x: jnp.sqrt(jnp.where(x > 0, x, 0.0)).sum()
    x = jnp.array([-1.0, 4.0])
    assert np.isnan(jax.jvp(g, (x,), (jnp.ones(2),))[1])
    with jax.safe_grads():
        assert jax.jvp(g, (x,), (jnp.ones(2),))[1] == 0.25
        assert jax.jit(lambda x: jax.jvp(g, (x,), (jnp.ones(2),))[1])(x) == 0.25


@pytest.mark.parametrize("order", [1, 2, 3])
def test_higher_orders(order):
    derivative, expected = f, lambda x: x**0.5
    for _ in range(order):
        derivative, expected = jax.grad(derivative), jax.grad(expected)
    with jax.safe_grads():
        assert derivative(0.0) == 0.0
        assert jax.jit(derivative)(-1.0) == 0.0
        np.testing.assert_allclose(derivative(4.0), expected(4.0), rtol=1e-6)


def test_second_order_where_only_the_second_is_infinite():
    g = lambda x: jnp.where(x > 0, x**1.5, 0.0)
    assert not np.isfinite(jax.grad(jax.grad(g))(0.0))
    with jax.safe_grads():
        assert jax.grad(jax.grad(g))(0.0) == 0.0
        assert jax.jacfwd(jax.grad(g))(0.0) == 0.0
        assert jax.hessian(lambda x: g(x).sum())(jnp.array([0.0, 4.0])).tolist() == [[0.0, 0.0], [0.0, 0.375]]


@pytest.mark.parametrize("name", ["log", "pow", "division", "maximum", "sqrt", "a slice", "scan"])
def test_debug_nans_finds_nothing(name):
    """The NaN is not made and hidden, it is not made; the programs here have none in their values."""
    _, text, _, point = next(row for row in DROPPED if row[0] == name)
    derivative, point = jax.grad(load(text)), jnp.abs(load(point))
    with jax.debug_nans(True):
        with pytest.raises(FloatingPointError):
            derivative(point)
        with jax.safe_grads():
            assert np.isfinite(derivative(point)).all() and np.isfinite(jax.jit(derivative)(point)).all()


def test_rules_of_users_see_bare_cotangents():
    seen = []

    @jax.custom_vjp
    def identity(x):
        return x

    def backward(_, ct):
        seen.append(float(ct[1]))
        return (ct * 2.0,)

    identity.defvjp(lambda x: (x, None), backward)
    program = lambda x: jnp.where(x > 0, jnp.log(identity(x)), 0.0).sum()
    with jax.safe_grads():
        found = jax.grad(program)(jnp.array([0.0, 2.0]))
    assert found.tolist() == [0.0, 1.0] and seen == [0.5]
