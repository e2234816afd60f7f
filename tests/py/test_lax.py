"""`pullback.lax` gives what `jax.lax` gives."""

import importlib

import numpy as np
import pytest
from differential import Asked, check_equal, lines_of, names_of, ours, run

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

import pullback  # noqa: E402
import pullback.numpy  # noqa: E402

THEIRS = Asked("lax", names_of(jax))

CASES = lines_of("""
    lax.add(x, p)
    lax.add(m, x)
    lax.add(x, 1)
    lax.add(x, 1.0)
    lax.add(i, 1.5)
    lax.add(1, 2)
    lax.add(x, np.float32(1))
    lax.add(m, jnp.ones((2, 1)))
    lax.add(jnp.ones(3), jnp.ones(4))
    lax.exp(1)
    lax.exp(i)
    lax.exp(x)
    lax.div(i, jnp.array([2, 2, 2]))
    lax.rem(x, p)
    lax.pow(p, x)
    lax.integer_pow(x, 3)
    lax.rsqrt(p)
    lax.erf(x)
    lax.lgamma(p)
    lax.digamma(p)
    lax.logistic(x)
    lax.round(jnp.array([0.5, 1.5, -2.5]))
    lax.clamp(0.0, x, 1.0)
    lax.select(b, x, p)
    lax.select_n(i, x, p, x * 2)
    lax.convert_element_type(x, jnp.int32)
    lax.convert_element_type(i, float)
    lax.bitcast_convert_type(x, jnp.int32)
    lax.reduce_sum(m, (0,))
    lax.reduce_max(m, (1,))
    lax.cumsum(m, 1)
    lax.cumsum(m, 1, reverse=True)
    lax.cummax(x)
    lax.cumlogsumexp(x)
    lax.argmax(m, 1, jnp.int32)
    lax.reshape(m, (3, 2))
    lax.transpose(m, (1, 0))
    lax.squeeze(jnp.ones((1, 3)), (0,))
    lax.expand_dims(x, (0,))
    lax.broadcast(x, (2,))
    lax.broadcast_in_dim(x, (2, 3), (1,))
    lax.collapse(t, 0, 2)
    lax.concatenate([x, p], 0)
    lax.pad(x, 0.0, [(1, 2, 1)])
    lax.pad(x, 0.0, [(-1, 0, 0)])
    lax.rev(m, (0,))
    lax.iota(jnp.int32, 4)
    lax.broadcasted_iota(jnp.float32, (2, 3), 1)
    lax.full((2,), 1.5)
    lax.slice(m, (0, 1), (2, 3))
    lax.slice(t, (0, 0, 0), (2, 3, 4), (1, 2, 3))
    lax.slice_in_dim(x, 1, 3)
    lax.index_in_dim(m, -1, 0)
    lax.dynamic_slice(m, (0, 1), (2, 2))
    lax.dynamic_slice(m, (0, 5), (2, 2))
    lax.dynamic_slice_in_dim(x, i[0], 2)
    lax.dynamic_index_in_dim(m, i[2], 0, keepdims=False)
    lax.dynamic_update_slice(m, jnp.zeros((1, 2)), (1, 1))
    lax.dynamic_update_slice_in_dim(x, jnp.zeros(1), 2, 0)
    lax.dynamic_update_index_in_dim(m, jnp.zeros(3), 1, 0)
    lax.dot(m, x)
    lax.dot_general(m, m, (((1,), (1,)), ((), ())))
    lax.batch_matmul(t, t.swapaxes(1, 2))
    lax.sort(x)
    lax.sort((x, i), num_keys=1)
    lax.sort_key_val(x, i)
    lax.top_k(x, 2)
    lax.top_k(m, 2)
    lax.top_k(x, 9)
    lax.stop_gradient(x)
    lax.stop_gradient({"a": x})["a"]
    jax.grad(lambda a: jnp.sum(lax.stop_gradient(a) * a))(x)
    jax.grad(lambda a: lax.top_k(a, 2)[0].sum())(x)
    lax.gather(x, i[:, None], lax.GatherDimensionNumbers((), (0,), (0,)), (1,))
    lax.scatter_add(x, i[:, None], p, lax.ScatterDimensionNumbers((), (0,), (0,)))
    lax.gather(x, jnp.array([[9], [-1]]), lax.GatherDimensionNumbers((), (0,), (0,)), (1,))
    lax.gather(x, jnp.array([[9], [-1]]), lax.GatherDimensionNumbers((), (0,), (0,)), (1,), mode="fill")
    lax.scatter(x, jnp.array([[9], [-1]]), p[:2], lax.ScatterDimensionNumbers((), (0,), (0,)))
    lax.select_n(b, x)
    lax.select_n(jnp.array([2, 0, 1], jnp.int32), x)
    lax.split(x, (1, 2))
    lax.mul(h, h, out_dtype=jnp.float32)
    lax.mul(2.0, 3.0, out_dtype=jnp.float32)
    lax.round(x, 7)
    lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    lax.stack([x, i])
    lax.full((3,), x)
    lax.full_like(m, x)
    lax.pad(x, 0, [(1, 1, 0)])
    lax.slice_in_dim(x, 0, 3, -1)
    lax.batch_matmul(x, x)
    lax.batch_matmul(t, t[0].T)
    lax.batch_matmul(t, t[:1].swapaxes(1, 2))
    lax.dynamic_slice(m, (-1, -1), (1, 1))
    lax.dynamic_slice(m, (-1, -1), (1, 1), allow_negative_indices=(True, False))
    lax.dynamic_slice(m, (-1, -w.astype(int)), (1, 1), allow_negative_indices=(True, False))
    lax.dynamic_slice_in_dim(x, -wi, 2, allow_negative_indices=False)
    lax.dynamic_index_in_dim(x, -1, allow_negative_indices=False)
    lax.dynamic_update_index_in_dim(x, 9.0, -2, 0, allow_negative_indices=False)
    lax.dynamic_update_slice_in_dim(x, p[:1], -2, 0, allow_negative_indices=False)
    lax.dynamic_update_slice(m, m[:1, :1], (-wi, -1), allow_negative_indices=[False, True])
    lax.approx_max_k(x, 2)
    lax.approx_max_k(i, 2)
    lax.polynomial(x, [1.0, 2.0, 3.0]) if hasattr(lax, "polynomial") else x
""")


@pytest.mark.parametrize("line", CASES)
def test_eager(line):
    check_equal(run(line, ours()), run(line, THEIRS), line, 2e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int32", "int8", "bool", "complex64"])
def test_dot_general_of_two_dtypes(dtype, jax_oracle):
    """The result has the promoted dtype; gradients have those of their operands."""

    def program(jax):
        numpy = importlib.import_module(jax.__name__ + ".numpy")
        a, b = numpy.arange(6.0).reshape(2, 3), numpy.arange(6).reshape(3, 2).astype(dtype)
        f = lambda a: jax.lax.dot(a, b).real.sum()
        return jax.lax.dot(a, b), jax.lax.dot(b, a), jax.jit(jax.grad(f))(a), str(jax.make_jaxpr(jax.grad(f))(a))

    *ours, our_text = program(pullback)
    *theirs, their_text = program(jax_oracle)
    for x, y in zip(ours, theirs):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-6)
    assert our_text == their_text
