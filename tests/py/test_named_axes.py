"""Collectives over named axes of `vmap`, against JAX."""

import re

import numpy as np
import pytest

import pullback
from differential import check_equal, lines_of, names_of, run

VALUES = lines_of("""
    jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum({'p': x, 'q': (x > 2, 3)}, 'i'), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='i', out_axes=None)(a)
    jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='i', in_axes=1, out_axes=1)(a)
    jax.vmap(lambda x: lax.psum(x, ('i', 0)), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(jnp.ones(3), 'i') + x, axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(1, 'i') * x, axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(np.ones(3), 'i') * x, axis_name='i')(a)
    jax.vmap(lambda x: lax.pmean(x, 'i'), axis_name='i')(a)
    jax.vmap(lambda x: lax.pmean(x, 'i'), axis_name='i')(i)
    jax.vmap(lambda x: lax.pmax(x, 'i'), axis_name='i')(a)
    jax.vmap(lambda x: lax.pmax(x, ('i', 0)), axis_name='i')(a)
    jax.vmap(lambda x: lax.pmin({'a': x, 'b': 1}, 'i'), axis_name='i')(a)
    jax.vmap(lambda x: lax.pmax(5., 'i') + x, axis_name='i')(a)
    jax.vmap(lambda x: lax.axis_index('i') * x, axis_name='i')(a)
    jax.vmap(lambda x: lax.axis_size('i') * x, axis_name='i')(a)
    jax.vmap(lambda x: lax.axis_index('i'), axis_name='i', axis_size=5, in_axes=None)(a)
    jax.vmap(lambda x: lax.all_gather(x, 'i'), axis_name='i')(a)
    jax.vmap(lambda x: lax.all_gather(x, 'i', axis=1), axis_name='i')(a)
    jax.vmap(lambda x: lax.all_gather(x, 'i', axis=-1), axis_name='i')(a)
    jax.vmap(lambda x: lax.all_gather(x, 'i', tiled=True), axis_name='i')(a)
    jax.vmap(lambda x: x + lax.all_gather(jnp.ones(3), 'i').sum(0), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum_scatter(x, 'i'), axis_name='i')(sq)
    jax.vmap(lambda x: lax.psum_scatter(x, 'i', scatter_dimension=1, tiled=True), axis_name='i')(wide)
    jax.vmap(lambda x: lax.psum_scatter(jnp.arange(4.), 'i') * x, axis_name='i')(sq)
    jax.vmap(lambda x: lax.ppermute(x, 'i', [(0, 1), (1, 0), (2, 3), (3, 2)]), axis_name='i')(a)
    jax.vmap(lambda x: lax.pshuffle(x, 'i', [3, 1, 0, 2]), axis_name='i')(a)
    jax.vmap(lambda x: lax.pswapaxes(x, 'i', 0), axis_name='i')(sq)
    jax.vmap(lambda x: lax.all_to_all(x, 'i', 0, 1), axis_name='i')(cube)
    jax.vmap(lambda x: lax.all_to_all(x, 'i', 1, 0), axis_name='i')(cube2)
    jax.vmap(lambda x: lax.all_to_all(x, 'i', 0, 0, tiled=True), axis_name='i')(cube)
    jax.vmap(lambda x: lax.all_to_all(x, 'i', 0, 1, tiled=True), axis_name='i')(cube)
    jax.vmap(lambda x: lax.all_to_all(x, 'i', 1, 0, tiled=True), axis_name='i')(cube2)
    jax.vmap(lambda x: lax.all_to_all(x, 'i', 0, 1, tiled=True), axis_name='i', in_axes=2, out_axes=1)(cube.transpose(1, 2, 0))
    lax.psum(a, 0)
    lax.pmax(a, (0, 1))
    lax.psum(a, ())
    jax.vmap(lambda x: jnp.sum(x, axis='i'), axis_name='i')(a)
    jax.vmap(lambda x: jnp.mean(x, axis=('i', 0)), axis_name='i')(a)
    jax.vmap(lambda x: jnp.max(x, axis=('i', 0)), axis_name='i')(a)
    jax.vmap(lambda x: jnp.var(x, axis=('i', 0)), axis_name='i')(a)
    # Nested maps.
    jax.vmap(jax.vmap(lambda x: (lax.psum(x, 'i'), lax.psum(x, 'j'), lax.psum(x, ('i', 'j'))), axis_name='j'), axis_name='i')(a)
    jax.vmap(jax.vmap(lambda x: lax.axis_index(('i', 'j')), axis_name='j'), axis_name='i')(a)
    jax.vmap(jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='i'), axis_name='i')(a)
    jax.vmap(jax.vmap(lambda x: lax.all_gather(x, 'i', axis=1), axis_name='j'), axis_name='i')(cube)
    jax.vmap(jax.vmap(lambda x: lax.psum_scatter(x, 'i'), axis_name='j'), axis_name='i')(jnp.ones((4, 2, 4)))
    jax.vmap(jax.vmap(lambda x: lax.all_to_all(x, 'i', 0, 0), axis_name='j'), axis_name='i')(jnp.arange(32.).reshape(4, 2, 4))
    jax.vmap(jax.vmap(lambda x: lax.ppermute(x, 'i', [(0, 1), (1, 2), (2, 3), (3, 0)]), axis_name='j'), axis_name='i')(a)
    # Inside of other transforms and control flow.
    jax.vmap(jax.jit(lambda x: lax.psum(x, 'i') + lax.axis_index('i')), axis_name='i')(a)
    jax.vmap(jax.jit(lambda x: lax.psum(jnp.ones(2), 'i')), axis_name='i')(a)
    jax.jit(jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='i'))(a)
    jax.vmap(lambda x: lax.psum(lax.cond(x[0] > 2, lambda v: v + lax.psum(1., 'i'), lambda v: v, x), 'i'), axis_name='i')(a)
    jax.vmap(lambda x: lax.scan(lambda c, _: (c + lax.psum(c, 'i'), c), x, None, length=2), axis_name='i')(a)
    jax.vmap(lambda x: lax.scan(lambda c, _: (c + lax.psum(c, 'i'), c), jnp.ones(()), None, length=2), axis_name='i')(a)
    jax.vmap(lambda x: lax.fori_loop(0, 3, lambda k, c: lax.pmean(c, 'i') + x, x), axis_name='i')(a)
    jax.vmap(lambda x: lax.while_loop(lambda c: lax.psum(c, 'i') < 100., lambda c: c * 2, x), axis_name='i')(jnp.arange(1., 5.))
    jax.vmap(jax.grad(lambda x: lax.psum(x, 'i').sum()), axis_name='i')(a)
    jax.vmap(jax.grad(lambda x: (lax.pmean(x ** 2, 'i') * x).sum()), axis_name='i')(a)
    jax.vmap(jax.grad(lambda x: (lax.all_gather(x ** 2, 'i') * jnp.arange(12.).reshape(4, 3)).sum()), axis_name='i')(a)
    jax.vmap(jax.grad(lambda x: (lax.all_to_all(x ** 2, 'i', 0, 0) ** 2).sum()), axis_name='i')(cube)
    jax.vmap(jax.grad(lambda x: (lax.all_to_all(x ** 2, 'i', 0, 1, tiled=True) ** 2).sum()), axis_name='i')(cube)
    jax.vmap(jax.grad(lambda x: (lax.psum_scatter(x ** 2, 'i') ** 2).sum()), axis_name='i')(sq)
    jax.vmap(jax.grad(lambda x: (lax.pshuffle(x, 'i', [3, 1, 0, 2]) * x ** 2).sum()), axis_name='i')(a)
    jax.grad(lambda x: jax.vmap(lambda x: lax.psum(x ** 2, 'i'), axis_name='i')(x).sum())(a)
    jax.jvp(lambda x: jax.vmap(lambda x: lax.psum(x ** 2, ('i', 0)), axis_name='i')(x), (a,), (a,))
    jax.vmap(jax.checkpoint(lambda x: jnp.sin(lax.psum(x, 'i'))), axis_name='i')(a)
    jax.vmap(jax.grad(jax.checkpoint(lambda x: jnp.sin(lax.psum(x, 'i')).sum())), axis_name='i')(a)
    jax.vmap(lambda x: jax.hessian(lambda y: (lax.psum(y, 'i') ** 3).sum())(x), axis_name='i')(jnp.arange(3.))
    # Errors.
    lax.psum(a, 'i')
    lax.axis_index('i')
    lax.axis_size('i')
    jax.vmap(lambda x: lax.psum(x, 'k'), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(x, 'i', axis_index_groups=[[0, 1], [2, 3]]), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(x, 'i', axis_index_groups=[[0, 1], [2, 4]]), axis_name='i')(a)
    jax.vmap(lambda x: lax.all_to_all(x, 'i', 0, 0), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(x, 3), axis_name='i')(a)
    jax.vmap(lambda x: lax.psum(x, 'i'), axis_name=('a', 'b'))(a)
    jax.jit(lambda x: lax.psum(x, 'i'))(a)
    jax.vmap(jax.grad(lambda x: lax.pmax(x, 'i').sum()), axis_name='i')(a)
""")

JAXPRS = lines_of("""
    lambda x: lax.psum(x, 'i')
    lambda x: lax.psum((x, x[0]), 'i')
    lambda x: lax.psum(x, ('i', 0))
    lambda x: lax.psum(x, ('i', 'j'))
    lambda x: lax.psum(x, 'i', axis_index_groups=[[0, 1], [2, 3]])
    lambda x: lax.psum(x > 1, 'i')
    lambda x: lax.pmean(x, 'i')
    lambda x: lax.pmean(x, 'i', axis_index_groups=[[0, 1], [2, 3]])
    lambda x: lax.pmax(2, 'i')
    lambda x: lax.pmin(x, 'i')
    lambda x: lax.all_gather(x, 'i', axis=1, tiled=True)
    lambda x: lax.all_gather(x, ('i', 'j'), axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]])
    lambda x: lax.psum_scatter(x, 'i', tiled=True)
    lambda x: lax.axis_index(('i', 'j'))
    lambda x: lax.axis_index('i') + lax.axis_size('j')
    lambda x: lax.ppermute(x, ('i', 'j'), [(0, 1), (1, 0)])
    lambda x: lax.pshuffle(x, 'i', [1, 0, 3, 2])
    lambda x: lax.pswapaxes(x, 'i', 0)
    lambda x: lax.all_to_all(x, 'i', 0, 1)
    lambda x: lax.all_to_all(x, 'i', 0, 1, tiled=True)
    lambda x: lax.pbroadcast(x, 'i', 1)
    lambda x: lax.psum((1, 2.5), 'i')
    lambda x: jnp.mean(x, axis=('i', 1))
    jax.grad(lambda x: lax.psum(x, 'i').sum())
    jax.grad(lambda x: lax.psum(x, ('i', 0)).sum())
    jax.grad(lambda x: lax.all_gather(x, 'i').sum())
    jax.grad(lambda x: lax.psum_scatter(x, 'i').sum())
    jax.grad(lambda x: lax.ppermute(x, 'i', [(0, 1)]).sum())
    jax.grad(lambda x: lax.all_to_all(x, 'i', 0, 0).sum())
    jax.vmap(lambda x: lax.psum(x, 'k'), axis_name='k')
    jax.vmap(lambda x: lax.psum(x, ('i', 'k')), axis_name='k')
    jax.vmap(lambda x: lax.pmean(x, 'k'), axis_name='k')
    jax.vmap(lambda x: lax.axis_index('k'), axis_name='k')
    jax.vmap(lambda x: x - lax.psum(jnp.ones(3), 'k'), axis_name='k')
    jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='k')
    jax.jit(lambda x: lax.psum(x, 'i'))
""")


def bound(system):
    jnp = system.numpy
    a = jnp.arange(12.0).reshape(4, 3)
    more = {
        "a": a, "sq": jnp.arange(16.0).reshape(4, 4) ** 2, "wide": jnp.arange(4 * 3 * 8.0).reshape(4, 3, 8),
        "cube": jnp.arange(4 * 4 * 2.0).reshape(4, 4, 2) ** 2, "cube2": jnp.arange(4 * 2 * 4.0).reshape(4, 2, 4) ** 2,
    }
    return {**names_of(system), **more}


@pytest.mark.parametrize("line", VALUES)
def test_collectives_under_vmap(line, jax_oracle):
    check_equal(run(line, bound(pullback)), run(line, bound(jax_oracle)), line, 1e-6)


def text_of(line, system):
    function = eval(line, bound(system))
    return str(system.make_jaxpr(function, axis_env=[("i", 4), ("j", 2)])(system.numpy.arange(12.0).reshape(4, 3)))


@pytest.mark.parametrize("line", JAXPRS)
def test_jaxprs_of_collectives(line, jax_oracle):
    theirs = re.sub(r"np\.int64\((\d+)\)", r"\1", text_of(line, jax_oracle))
    assert text_of(line, pullback) == theirs


def test_permutation_may_be_partial_under_vmap():
    x = np.arange(3.0)
    got = pullback.vmap(lambda v: pullback.lax.ppermute(v, "i", [(0, 2)]), axis_name="i")(x)
    assert got.tolist() == [0.0, 0.0, 0.0]
    got = pullback.vmap(lambda v: pullback.lax.ppermute(v, "i", [(1, 2)]), axis_name="i")(x)
    assert got.tolist() == [0.0, 0.0, 1.0]


def test_broadcast_from_one_example():
    got = pullback.vmap(lambda v: pullback.lax.pbroadcast(v, "i", 1), axis_name="i")(np.arange(3.0))
    assert got.tolist() == [1.0, 1.0, 1.0]


def test_the_gradient_of_all_to_all_with_two_axes():
    # JAX 0.12 raises here, as its transpose gives a cotangent of another shape.
    x = np.arange(32.0).reshape(4, 4, 2) / 7
    send = pullback.vmap(lambda v: pullback.lax.all_to_all(v**2, "i", 0, 1), axis_name="i")
    got = pullback.grad(lambda x: (send(x) ** 2).sum())(x)
    np.testing.assert_allclose(got, 4 * x**3, rtol=1e-5)


def test_a_length_is_known_while_tracing():
    assert pullback.vmap(lambda v: np.zeros(pullback.lax.psum(1, "i")), axis_name="i")(np.arange(3.0)).shape == (3, 3)


def test_any_hashable_object_names_an_axis():
    name = object()
    got = pullback.vmap(lambda v: pullback.lax.psum(v, name), axis_name=name)(np.arange(3.0))
    assert got.tolist() == [3.0, 3.0, 3.0]


def test_jit_traces_again_for_another_axis_size():
    f = pullback.jit(lambda v: v * pullback.lax.axis_size("i"))
    g = pullback.vmap(f, axis_name="i")
    assert g(np.ones(2)).tolist() == [2.0, 2.0]
    assert g(np.ones(3)).tolist() == [3.0, 3.0, 3.0]
