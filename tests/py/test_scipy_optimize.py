"""`scipy.optimize.minimize` finds the minima that JAX finds, with no more trouble, and says of what kind its results are as JAX does."""

import warnings

import numpy as np
import pytest
from differential import Asked, facts, lines_of, run

import pullback
import pullback.scipy.optimize

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402
import jax.scipy.optimize  # noqa: E402

LBFGS = "l-bfgs-experimental-do-not-rely-on-this"
METHODS = ["BFGS", LBFGS]


def functions(jnp):
    """Functions with the values of their minima, all there are in the range of the starting points."""
    data = np.random.RandomState(0).randn(40, 4), np.sign(np.random.RandomState(1).randn(40))
    return {
        "rosenbrock": (lambda x: jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), 4, {0.0: 1e-6, 3.701429: 1e-4}),
        "quadratic": (lambda x: jnp.sum(jnp.arange(1.0, 5.0) ** 2 * (x - 1) ** 2), 4, {0.0: 1e-6}),
        "logcosh": (lambda x: jnp.sum(jnp.logaddexp(x - 2, 2 - x)) + jnp.sum(x**2) / 10, 4, {4.101729: 1e-4}),
        "himmelblau": (lambda x: (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2, 2, {0.0: 1e-6}),
        "matyas": (lambda x: 0.26 * (x[0] ** 2 + x[1] ** 2) - 0.48 * x[0] * x[1], 2, {0.0: 1e-6}),
        "powell": (
            lambda x: (x[0] + 10 * x[1]) ** 2 + 5 * (x[2] - x[3]) ** 2 + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4, 4, {0.0: 1e-6},
        ),
        "logistic": (lambda x: jnp.mean(jnp.logaddexp(0, -(jnp.asarray(data[0]) @ x) * jnp.asarray(data[1]))), 4, {0.657927: 1e-5}),
    }


def starts(n):
    return [np.random.RandomState(seed).randn(n) * 2 for seed in range(3)]


def solved(system, name, start, method):
    fun, *_ = functions(system.numpy)[name]
    return system.scipy.optimize.minimize(fun, system.numpy.asarray(start), method=method)


@pytest.mark.parametrize("name", functions(pullback.numpy))
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("is_wide", [False, True])
def test_it_finds_minima(name, method, is_wide):
    _, n, minima = functions(pullback.numpy)[name]
    with pullback.enable_x64(is_wide):
        found = [solved(pullback, name, start, method) for start in starts(n)]
    for result in found:
        assert any(abs(float(result.fun) - value) <= error for value, error in minima.items()), result
        assert bool(result.success) == (float(abs(result.jac).max()) < 1e-5)
        assert int(result.status) in (0, 3 if method == "BFGS" else 4)


@pytest.mark.parametrize("name", functions(pullback.numpy))
def test_it_is_no_worse_than_jax(name):
    _, n, _ = functions(pullback.numpy)[name]
    for method in METHODS:
        pairs = [(solved(pullback, name, start, method), solved(jax, name, start, method)) for start in starts(n)]
        assert sum(bool(one.success) for one, _ in pairs) >= sum(bool(other.success) for _, other in pairs) - (method == LBFGS)
        assert sum(float(one.fun) for one, _ in pairs) <= sum(float(other.fun) for _, other in pairs) + 1e-4


def names(system):
    jnp, optimize = system.numpy, system.scipy.optimize
    x = jnp.array([1.3, 0.7, 0.8])

    def square(x, a):
        return ((x - a) ** 2).sum()

    return {
        "jax": system, "jnp": jnp, "np": np, "x": x, "square": square, "L": LBFGS, "minimize": optimize.minimize,
        "bfgs": lambda fun, *args, **options: optimize.minimize(fun, x, args, method="BFGS", options=options),
        "lbfgs": lambda fun, *args, **options: optimize.minimize(fun, x, args, method=LBFGS, options=options),
    }


OURS, THEIRS = names(pullback), Asked("scipy_optimize", names(jax))
KINDS = lines_of("""
    minimize(square, x, (3.0,), method="BFGS")
    minimize(square, x, (x,), method="bfgs")
    minimize(square, x, (3.0,), method=L.upper())
    minimize(square, np.arange(3.0), (3.0,), method="BFGS")
    minimize(square, x, 3.0, method="BFGS")
    minimize(square, x, [3.0], method="BFGS")
    minimize(square, x, (3.0,), method="CG")
    minimize(square, x, (3.0,))
    minimize(square, jnp.ones((2, 2)), (3.0,), method="BFGS")
    minimize(square, jnp.arange(3), (3.0,), method="BFGS")
    minimize(lambda x: x, x, method="BFGS")
    minimize(square, x, (3.0,), method="BFGS", options={"gtol": 1e-3})
    bfgs(square, 1.0, foo=3)
    lbfgs(square, 1.0, foo=3)
    bfgs(square, 1.0, maxiter=0)
    bfgs(square, 1.0, norm=2)
    bfgs(lambda x: -(x**2).sum())
    bfgs(lambda x: x.sum())
    bfgs(lambda x: x.sum() * np.nan)
    lbfgs(lambda x: x.sum())
    lbfgs(lambda x: x.sum() * np.nan)
    jax.jit(lambda x: minimize(square, x, (3.0,), method="BFGS"))(x)
    jax.vmap(lambda x: minimize(square, x, (3.0,), method="BFGS"))(jnp.stack([x, x * 2]))
    jax.jit(lambda x: minimize(square, x, (3.0,), method=L))(x)
    jax.grad(lambda x: minimize(square, x, (3.0,), method="BFGS").fun)(x)
    jax.jvp(lambda x: minimize(square, x, (x * 0 + 3.0,), method="BFGS").fun, (x,), (x,))
""")


@pytest.mark.parametrize("line", KINDS)
def test_results_are_of_jaxs_kinds(line):
    ours, theirs = run(line, OURS), run(line, THEIRS)
    assert facts(ours) == facts(theirs), (line, ours, theirs)
    if hasattr(theirs, "status"):
        np.testing.assert_array_equal(ours.status, theirs.status, err_msg=line)
        np.testing.assert_array_equal(ours.success, theirs.success, err_msg=line)
        np.testing.assert_allclose(ours.x, theirs.x, atol=1e-2 if ours.x.dtype == "float16" else 1e-4, err_msg=line)


def test_limits_end_it():
    fun, *_ = functions(pullback.numpy)["rosenbrock"]
    solve = lambda method, **options: pullback.scipy.optimize.minimize(fun, np.array([1.3, 0.7, 0.8, 1.9]), method=method, options=options)
    assert [int(solve("BFGS", maxiter=3)[i]) for i in (2, 8)] == [1, 3]
    assert [int(solve(LBFGS, maxiter=3)[i]) for i in (2, 8)] == [1, 3]
    assert [int(solve(LBFGS, maxfun=3).status), int(solve(LBFGS, maxgrad=3).status), int(solve(LBFGS, ftol=1.0).status)] == [2, 3, 4]
    assert bool(solve("BFGS", gtol=1e-1).success) and int(solve("BFGS", gtol=1e-1).nit) < int(solve("BFGS").nit)


def test_a_tolerance_is_one_of_the_gradient():
    fun, *_ = functions(pullback.numpy)["rosenbrock"]
    result = pullback.scipy.optimize.minimize(fun, np.array([1.3, 0.7, 0.8, 1.9]), method="BFGS", tol=1.0)
    assert bool(result.success) and 1e-3 < float(abs(result.jac).max()) < 1.0


def test_the_inverse_of_the_hessian_is_learned():
    scale = np.array([1.0, 4.0, 9.0])
    with pullback.enable_x64(True):
        result = pullback.scipy.optimize.minimize(lambda x: (scale * (x - 1) ** 2).sum(), np.array([3.0, -1.0, 0.5]), method="BFGS", tol=1e-9)
    np.testing.assert_allclose(result.hess_inv, np.diag(0.5 / scale), atol=2e-3)


def test_complex_arguments_are_those_of_the_plane():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in METHODS:
            start = pullback.numpy.array([1 + 1j, -2j, 3.0])
            result = pullback.scipy.optimize.minimize(lambda x: (abs(x - 1j) ** 2 + abs(x) ** 4).sum(), start, method=method)
            assert bool(result.success)
            # The real root of 4 y³ + 2 y - 2.
            np.testing.assert_allclose(result.x, np.full(3, 0.5897545j), atol=1e-5)
