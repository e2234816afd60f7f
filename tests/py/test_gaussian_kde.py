"""`scipy.stats.gaussian_kde` gives what JAX's gives."""

import copy
import importlib
import pickle

import numpy as np
import pytest
from differential import Asked, check_equal, lines_of, run

import pullback
import pullback.scipy.stats

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402


def names(system):
    jnp, stats = system.numpy, importlib.import_module(f"{system.__name__}.scipy.stats")
    x = jnp.array([1.0, 2.0, 2.5, 4.0, 7.0])
    X, w, p = jnp.stack([x, jnp.sin(x)]), jnp.array([1.0, 2, 1, 1, 3]), jnp.linspace(-1, 8, 5)
    K = stats.gaussian_kde
    return {
        "jax": system, "jnp": jnp, "np": np, "K": K, "x": x, "X": X, "w": w, "p": p, "P": jnp.stack([p, p / 10]), "key": system.random.key(0),
        "k": K(x), "k2": K(X), "kw": K(x, weights=w),
    }


CASES = lines_of("""
    k.dataset
    k.weights
    k.covariance
    k.inv_cov
    (k.d,k.n,k.neff)
    k2.dataset
    k2.covariance
    k2.inv_cov
    (k2.d,k2.n,k2.neff)
    kw.weights
    kw.covariance
    kw.neff
    K(x,bw_method='silverman').covariance
    K(x,bw_method='foo')
    K(x,bw_method=0.5).covariance
    K(x,bw_method=jnp.float32(.5)).covariance
    K(x,bw_method=lambda k: k.neff*.1).covariance
    K(x,bw_method=jnp.ones(2))
    K(x,bw_method=np.float64(.5)).covariance
    K(x,bw_method=2).covariance
    K(jnp.arange(5)).dataset
    K(jnp.arange(5)).covariance
    K([1.,2.,3.]).dataset
    K(np.array([1.,2.,3.])).dataset
    K(jnp.float32(1))
    K(x[:1])
    K(x[:0])
    K(jnp.ones((2,2,2)))
    K(x+1j)
    K(x.astype('bfloat16')).covariance
    K(x,weights=w[:2])
    K(x,weights=w[None])
    K(x,weights=[1,2,3,4,5])
    K(x,weights=jnp.arange(5)).weights
    K(X,weights=w).covariance
    k(p)
    k.evaluate(p)
    k.pdf(p)
    k.logpdf(p)
    k(1.0)
    k(jnp.float32(1.0))
    k([1.0,2.0])
    k(p[None])
    k(P)
    k2(P)
    k2(P.T)
    k2(jnp.ones(2))
    k2(jnp.ones(3))
    k2.logpdf(P)
    kw(p)
    kw.logpdf(p)
    k(p+1j)
    k(jnp.arange(3))
    k.logpdf(jnp.array([1e3]))
    k(p[:0])
    k.integrate_box_1d(0.,3.)
    k.integrate_box_1d(-jnp.inf,jnp.inf)
    k.integrate_box_1d(0,3)
    k.integrate_box_1d(p,p+1)
    k2.integrate_box_1d(0.,3.)
    kw.integrate_box_1d(0.,3.)
    k.integrate_box(0,1)
    k.set_bandwidth(3)
    k.set_bandwidth()
    k.integrate_gaussian(1.0,2.0)
    k.integrate_gaussian(jnp.ones(1),jnp.ones((1,1)))
    k.integrate_gaussian(jnp.ones(2),jnp.ones((1,1)))
    k.integrate_gaussian(jnp.ones(1),jnp.ones((2,2)))
    k2.integrate_gaussian(jnp.ones(2),jnp.eye(2))
    k2.integrate_gaussian(jnp.ones(2),1.0)
    k2.integrate_gaussian(jnp.ones((2,1)),jnp.eye(2))
    kw.integrate_gaussian(1.0,2.0)
    k.integrate_kde(k)
    k.integrate_kde(kw)
    kw.integrate_kde(k)
    k.integrate_kde(k2)
    k2.integrate_kde(k2)
    k2.integrate_kde(K(X*2))
    k.resample(key)
    k.resample(key,(3,))
    kw.resample(key,(3,))
    jax.jit(lambda x: K(x)(p))(x)
    jax.jit(lambda k: k(p))(k)
    jax.grad(lambda x: K(x)(p).sum())(x)
    jax.grad(lambda x: K(x).logpdf(p).sum())(x)
    jax.grad(lambda q: k(q).sum())(p)
    jax.grad(lambda b: K(x,bw_method=b)(p).sum())(0.5)
    jax.grad(lambda w: K(x,weights=w)(p).sum())(w)
    jax.vmap(lambda x: K(x)(p))(X)
    jax.tree.leaves(k)
    k.tree_flatten()
    k._reshape_points(p)
    hasattr(k,'factor')
    k.foo
    K(jnp.arange(5.)).covariance
""")
WIDE = lines_of("""
    K(jnp.arange(5,dtype='float32')).covariance
    K(jnp.arange(5,dtype='float32'))(jnp.arange(3.))
    K(jnp.arange(5,dtype='float32'),weights=jnp.arange(5.)).dataset
    k(p)
    k2.integrate_kde(k2)
    k.resample(key, (3,))
""")
OURS, THEIRS = names(pullback), Asked("gaussian_kde", names(jax))
WIDE_THEIRS = Asked("gaussian_kde_wide", lambda: names(jax))


@pytest.mark.parametrize("line", CASES)
def test_as_jax(line):
    check_equal(run(line, OURS), run(line, THEIRS), line, 2e-5)


@pytest.mark.parametrize("line", WIDE)
def test_as_jax_in_double_precision(line):
    with pullback.enable_x64(True), jax.enable_x64(True):
        check_equal(run(line, names(pullback)), run(line, WIDE_THEIRS), line, 1e-6)


def test_samples_come_in_any_shape():
    """JAX takes only vectors of them where samples have several numbers."""
    drawn = OURS["k2"].resample(OURS["key"], (2, 3))
    assert drawn.shape == (2, 2, 3)
    assert OURS["k2"].resample(OURS["key"]).shape == (2,)


def test_many_samples_have_the_density():
    with pullback.enable_x64(True):
        density = pullback.scipy.stats.gaussian_kde(np.array([0.0, 1.0, 4.0]), weights=np.array([1.0, 1, 2]))
        drawn = density.resample(pullback.random.key(1), (200_000,))[0]
        for low, high in [(-1.0, 0.5), (0.5, 3.0), (3.0, 9.0)]:
            share = float(((drawn > low) & (drawn < high)).mean())
            assert abs(share - float(density.integrate_box_1d(low, high))) < 4e-3


def test_the_upper_tail_is_as_exact_as_the_lower():
    density = pullback.scipy.stats.gaussian_kde(np.array([-1.0, 1.0]))
    upper, lower = density.integrate_box_1d(8.0, 20.0), density.integrate_box_1d(-20.0, -8.0)
    assert 0 < float(upper) and abs(float(upper) / float(lower) - 1) < 1e-5


def test_it_is_a_tree_and_a_value():
    density = OURS["k"]
    (path, _), *_ = pullback.tree_util.tree_flatten_with_path(density)[0]
    assert len(pullback.tree.leaves(density)) == 5 and str(path[0]) == str(jax.tree_util.tree_flatten_with_path(THEIRS["k"])[0][0][0][0])
    for other in (copy.copy(density), pickle.loads(pickle.dumps(density)), pullback.tree.map(lambda x: x, density)):
        np.testing.assert_array_equal(other(OURS["p"]), density(OURS["p"]))
    with pytest.raises(AttributeError, match="cannot assign to field 'weights'"):
        density.weights = 3
    with pytest.raises(AttributeError, match="cannot assign to field 'other'"):
        density.other = 3
