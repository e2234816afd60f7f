"""Special functions beside true values and beside JAX.

`golden/special_values.json` holds arguments, exact in single precision, and values that mpmath computed with 40 digits. Where JAX
is right, results are of its kinds and have its derivatives.
"""

import importlib
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from differential import Asked, check_equal, facts, lines_of, run

import pullback
import pullback.scipy.special

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402
import jax.scipy.special  # noqa: E402

VALUES = json.loads((Path(__file__).parent / "golden" / "special_values.json").read_text())
# Units in the last place, of the larger part of a complex number, in which a function may differ: single and double precision.
ULPS = {
    "bessel_jn": (100, 100), "dawsn": (3, 3), "erfcx": (3, 3), "fresnel": (3, 3), "hyp1f1": (400, 500), "hyp2f1": (150, 150),
    "loggamma": (50, 100), "owens_t": (20, 40), "sici": (20, 25), "wofz": (8, 8),
}
# Where sums of numbers of the size of one vanish, so that their error is absolute.
ORDERS = [0, 1, 2, 5, 12]


def evaluated(name, rows, dtype):
    args = np.array([np.atleast_1d(row[0]) for row in rows], dtype).T
    function = getattr(pullback.scipy.special, name)
    if name in ("loggamma", "wofz"):
        return np.asarray(function(args[0] + 1j * args[1]))
    if name == "bessel_jn":
        return np.asarray(function(args[0], v=ORDERS[-1]))[ORDERS].T
    out = function(*args)
    return np.stack(out, -1) if isinstance(out, tuple) else np.asarray(out)


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("name", VALUES)
def test_true_values(name, is_wide):
    rows, dtype = VALUES[name], np.float64 if is_wide else np.float32
    truth = np.array([row[1] if isinstance(row[1], list) else row[1] for row in rows])
    if name in ("loggamma", "wofz"):
        truth = truth[:, 0] + 1j * truth[:, 1]
    with pullback.enable_x64(is_wide):
        found = evaluated(name, rows, dtype)
    assert found.dtype == np.result_type(dtype, truth.dtype if truth.dtype.kind == "c" else dtype) or found.dtype == np.complex64
    error = np.abs(found - truth)
    # Bessel functions of one number are of the size of the largest of them; what underflows is zero.
    scale = np.abs(truth).max(-1, keepdims=True) if name == "bessel_jn" else np.abs(truth)
    allowed = ULPS[name][is_wide] * np.finfo(dtype).eps * scale + np.finfo(dtype).tiny
    assert (error <= allowed).all(), [(rows[i], found[i]) for i in np.argwhere(error > allowed)[:5, 0]]


def names(system):
    jnp = system.numpy
    return {
        "jax": system, "jnp": jnp, "np": np, "sp": importlib.import_module(f"{system.__name__}.scipy.special"),
        "x": jnp.array([-2.0, -0.5, 0.0, 0.3, 1.7]), "q": jnp.array([-0.9, -0.5, 0.0, 0.3, 0.7]), "p": jnp.array([0.5, 1.5, 2.5]),
        "z": jnp.array([1 + 1j, -2 + 0.5j, 0.1 - 3j]), "i": jnp.arange(3), "h": jnp.array([-2.0, 0.25, 1.5], jnp.bfloat16),
        "f16": jnp.array([-2.0, 0.25, 1.5], jnp.float16), "e": jnp.array([jnp.inf, -jnp.inf, jnp.nan, 1e30, -1e30, 30.0, -30.0]),
        "n": jnp.array([5, 4, 3]), "o": jnp.array([-5, 2, 3]),
        "real": lambda f: lambda *args: jnp.real(f(*args)).sum(), "first": lambda f: lambda x: f(x)[0], "second": lambda f: lambda x: f(x)[1],
    }


OURS, THEIRS = names(pullback), Asked("scipy_special", names(jax))
ONE = ("dawsn", "erfcx", "fresnel", "loggamma", "sici", "wofz")
ARGUMENTS = ("x", "i", "z", "h", "f16", "1.0", "2", "True", "[1.0, 2.0]", "np.float64(1.5)")
CASES = [f"sp.{name}({arg})" for name in ONE for arg in ARGUMENTS]
CASES += [f"sp.{name}(e)" for name in ("dawsn", "erfcx", "fresnel", "loggamma", "sici")]
CASES += [f"jax.jit(sp.{name})(x)" for name in ONE]
CASES += lines_of("""
    jax.vmap(jax.grad(sp.dawsn))(x)
    jax.vmap(jax.grad(sp.erfcx))(x)
    jax.vmap(jax.grad(sp.loggamma))(p)
    jax.vmap(jax.grad(first(sp.fresnel)))(x)
    jax.vmap(jax.grad(second(sp.fresnel)))(x)
    jax.vmap(jax.grad(first(sp.sici)))(x)
    jax.vmap(jax.grad(second(sp.sici)))(p)
    jax.vmap(jax.grad(jax.grad(sp.dawsn)))(p)
    jax.vmap(jax.grad(jax.grad(sp.erfcx)))(p)
    jax.grad(real(sp.wofz))(x)
    jax.vmap(jax.grad(sp.wofz, holomorphic=True))(z)
    jax.vmap(jax.grad(sp.erfcx, holomorphic=True))(z)
    jax.grad(sp.dawsn, holomorphic=True)(0.7 + 0.2j)
    sp.owens_t(x, x)
    sp.owens_t(x[:, None], x)
    sp.owens_t(i, i)
    sp.owens_t(1.0, 2)
    sp.owens_t(f16, f16).dtype
    sp.owens_t([1.0], x)
    jax.vmap(jax.grad(sp.owens_t, (0, 1)))(x, x * 2)
    jax.jit(sp.owens_t)(0.7, 1.3)
    sp.hyp1f1(x[3:], p[:2], x[:2])
    sp.hyp1f1(p, p + 1, p)
    sp.hyp1f1(p[:, None], p + 1, p)
    sp.hyp1f1(i, i, i)
    sp.hyp1f1(1.0, 2, 0.5)
    sp.hyp1f1(0.0, 0.0, 2.0)
    sp.hyp1f1(z, z, z)
    sp.hyp1f1(p, x, x)
    sp.hyp1f1([1.0, 2.0], 2.0, 0.5)
    jax.jit(jax.grad(sp.hyp1f1, (0, 1, 2)))(0.7, 1.5, 0.5)
    jax.vmap(jax.grad(sp.hyp1f1, (0, 1, 2)))(p, p + 1, p * 2)
    jax.grad(sp.hyp1f1, 0)(0.0, 1.5, 0.5)
    jax.grad(jax.grad(sp.hyp1f1, 2), 2)(0.7, 1.5, 0.5)
    jax.jvp(sp.hyp1f1, (0.5, 0.7, 1.1), (1.0, 1.0, 1.0))
    sp.hyp2f1(p, p + 1, p + 2, q[2:])
    sp.hyp2f1(p[:, None], p + 1, p + 2, 0.5)
    sp.hyp2f1(2, 2, 2, 2)
    sp.hyp2f1(1.0, 1.0, 1.0, 1.0)
    sp.hyp2f1(p, x, x, x)
    jax.jit(jax.grad(sp.hyp2f1, (0, 1, 2, 3)))(0.5, 0.7, 1.1, 0.3)
    jax.vmap(jax.grad(sp.hyp2f1, (0, 1, 2, 3)))(p, p + 1, p + 2, p / 5)
    jax.grad(jax.grad(sp.hyp2f1, 3), 3)(0.7, 1.5, 0.5, 0.3)
    jax.jvp(sp.hyp2f1, (0.5, 0.7, 1.1, 0.3), (1.0, 1.0, 1.0, 1.0))
    sp.lpmn(3, 3, q)
    sp.lpmn(0, 0, q)
    sp.lpmn(2, 2, jnp.array([-1.0, 1.0]))
    sp.lpmn(2, 3, q)
    sp.lpmn(2, 2, q[:, None])
    sp.lpmn(2, 2, i)
    sp.lpmn(2, 2, h)
    sp.lpmn_values(5, 5, q, True)
    sp.lpmn_values(5, 5, q, False)
    sp.lpmn_values(2, 3, q, False)
    sp.lpmn_values(2, 2, i, False)
    jax.grad(lambda x: sp.lpmn_values(4, 4, x, True).sum())(q)
    jax.grad(lambda x: sp.lpmn(3, 3, x)[0].sum())(q)
    jax.jit(sp.lpmn, static_argnums=(0, 1))(2, 2, q)
    sp.sph_harm_y(n, o, p, p)
    sp.sph_harm_y(n + 5, o, p, p, n_max=6)
    sp.sph_harm_y(n, o, p, p, diff_n=1)
    sp.sph_harm_y(n * 1.0, o, p, p)
    jax.jit(sp.sph_harm_y)(n, o, p, p)
    jax.jit(lambda *args: sp.sph_harm_y(*args, n_max=5))(n, o, p, p)
    jax.grad(lambda t: real(sp.sph_harm_y)(n, o, t, p))(p)
    jax.grad(lambda t: real(sp.sph_harm_y)(n, o, p, t))(p)
    jax.vmap(lambda t: sp.sph_harm_y(n, o, t, p))(jnp.stack([p, p / 2]))
""")
KINDS = lines_of("""
    sp.bessel_jn(x, v=3)
    sp.bessel_jn(x, v=0)
    sp.bessel_jn(1.0, v=2)
    sp.bessel_jn([1.0], v=2)
    sp.bessel_jn(i, v=2)
    sp.bessel_jn(h, v=2)
    sp.bessel_jn(x[:, None], v=2, n_iter=5)
    sp.bessel_jn(x, v=2.0)
    sp.bessel_jn(z, v=2)
    jax.jit(lambda x: sp.bessel_jn(x, v=3))(x)
    jax.grad(lambda x: sp.bessel_jn(x, v=2)[2].sum())(x)
    jax.vmap(lambda x: sp.bessel_jn(x, v=2))(x)
""")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("line", CASES)
def test_as_jax(line):
    check_equal(run(line, OURS), run(line, THEIRS), line, 5e-5)


@pytest.mark.parametrize("line", KINDS)
def test_of_jaxs_kind(line):
    """JAX's recurrence of Bessel functions overflows; ours has the values, of the same kind."""
    ours, theirs = run(line, OURS), run(line, THEIRS)
    assert facts(ours) == facts(theirs), (line, ours, theirs)
    assert isinstance(ours, Exception) or bool(np.isfinite(np.asarray(ours, np.float32)).all())


def test_derivatives_of_bessel_functions():
    with pullback.enable_x64(True):
        z = np.array([-3.0, 0.0, 0.004, 1.3, 30.0, 60.0])
        orders = pullback.scipy.special.bessel_jn(z, v=5)
        found = pullback.vmap(pullback.jacfwd(lambda z: pullback.scipy.special.bessel_jn(z, v=4)))(z)
        np.testing.assert_allclose(found.T[0], -orders[1], atol=1e-14)
        np.testing.assert_allclose(found.T[1:], (orders[:4] - orders[2:]) / 2, atol=1e-14)


def test_derivatives_of_complex_loggamma():
    with pullback.enable_x64(True):
        z, step = np.array([0.3 + 0.4j, 1.2 - 0.1j, -2.4 + 0.7j, 20.0 - 3j]), 1e-6
        loggamma = pullback.scipy.special.loggamma
        found = pullback.vmap(pullback.grad(loggamma, holomorphic=True))(z)
        np.testing.assert_allclose(found, (loggamma(z + step) - loggamma(z - step)) / (2 * step), rtol=1e-8)


def test_a_sum_that_ends_has_the_derivative_of_one_that_does_not():
    with pullback.enable_x64(True):
        for function, args in [(pullback.scipy.special.hyp1f1, (-2.0, 1.5, 0.5)), (pullback.scipy.special.hyp2f1, (-2.0, 0.7, 1.5, 0.5))]:
            beside = [function(args[0] + step, *args[1:]) for step in (-1e-6, 1e-6)]
            np.testing.assert_allclose(pullback.grad(function)(*args), (beside[1] - beside[0]) / 2e-6, rtol=1e-7)


def test_poles_and_ends_of_hypergeometric_functions():
    hyp1f1, hyp2f1 = pullback.scipy.special.hyp1f1, pullback.scipy.special.hyp2f1
    assert [float(v) for v in (hyp1f1(1.5, -2.0, 1.0), hyp1f1(-1.0, -2.0, 3.0), hyp1f1(2.0, 0.0, 0.0))] == [np.inf, 2.5, 1.0]
    assert [float(v) for v in (hyp2f1(1.0, 1.0, -2.0, 0.5), hyp2f1(0.5, 0.5, 0.0, 0.0), hyp2f1(1.0, 2.0, 2.5, 1.0))] == [np.inf, 1.0, np.inf]
    assert np.isnan(hyp1f1(np.nan, 1.0, 1.0)) and np.isnan(hyp2f1(1.0, 1.0, 1.5, np.nan))


def test_deprecated_names_warn():
    for name in ("lpmn", "lpmn_values"):
        with pytest.warns(DeprecationWarning, match=f"jax.scipy.special.{name} is deprecated"):
            getattr(pullback.scipy.special, name)
    assert not {"lpmn", "lpmn_values"} & set(vars(pullback.scipy.special))
    with warnings.catch_warnings(), pytest.raises(AttributeError, match="'pullback.scipy.special' has no attribute 'erf_inv'"):
        warnings.simplefilter("error")
        pullback.scipy.special.erf_inv


def test_spherical_harmonics_broadcast():
    """JAX takes as many degrees as angles; SciPy gives the value."""
    ours = pullback.scipy.special.sph_harm_y(5, -5, np.array([0.5, 1.5, 2.5]), 2.5)
    one = [pullback.scipy.special.sph_harm_y(np.array([5]), np.array([-5]), np.array([t]), np.array([2.5]))[0] for t in (0.5, 1.5, 2.5)]
    np.testing.assert_array_equal(ours, np.array(one))
    assert abs(complex(ours[2]) - (0.035555297 + 0.0023632978j)) < 1e-7


def test_spherical_harmonics_are_orthonormal():
    """Over Gauss's points of the sphere."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    angles = np.arange(24) * np.pi / 12
    pairs = [(n, m) for n in range(6) for m in range(-n, n + 1)]
    n, m = np.array(pairs).T
    with pullback.enable_x64(True):
        theta, phi = np.meshgrid(np.arccos(nodes), angles, indexing="ij")
        values = pullback.scipy.special.sph_harm_y(n[:, None, None], m[:, None, None], theta, phi)
        products = np.einsum("aij,bij,i->ab", values, values.conj(), weights) * np.pi / 12
    np.testing.assert_allclose(products, np.eye(len(pairs)), atol=1e-13)
