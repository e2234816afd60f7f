"""Contractions and what alone reads them: compiled together the numbers are those of each operation by itself."""

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import lax

V = np.array([1.0, -2.0, 3.0], np.float32)
M = np.arange(12, dtype=np.float32).reshape(3, 4)
T = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

CONTRACTIONS = {
    "dot of vectors": lambda: jnp.dot(V, V * 2),
    "vector and matrix": lambda: V @ M,
    "matrix and vector": lambda: M.T @ V,
    "matrices": lambda: M @ M.T,
    "one row": lambda: M[:1] @ M.T,
    "one column": lambda: M @ M[:1].T,
    "batch": lambda: jnp.einsum("bij,bkj->bik", T, T),
    "tensordot to a number": lambda: jnp.tensordot(M, M, 2),
    "einsum to a number": lambda: jnp.einsum("ij,ij->", M, M),
    "einsum of an axis": lambda: jnp.einsum("bij,bij->b", T, T),
    "without elements": lambda: jnp.zeros((3, 0)) @ jnp.zeros((0, 2)),
}

READERS = {
    "a new first axis": lambda x: x[None],
    "a new last axis": lambda x: x[..., None],
    "two new axes": lambda x: jnp.expand_dims(x, (0, 1)),
    "broadcast": lambda x: jnp.broadcast_to(x, (2, *x.shape)),
    "broadcast to one": lambda x: jnp.broadcast_to(x, (1, *x.shape)),
    "transpose": lambda x: jnp.transpose(x),
    "axes moved": lambda x: jnp.moveaxis(x, -1, 0) if x.ndim else x,
    "reshape": lambda x: jnp.reshape(x, (-1,)),
    "squeeze": lambda x: jnp.squeeze(x),
    "reshape to ones": lambda x: jnp.reshape(x, (1, x.size, 1)),
    "transpose of a new axis": lambda x: x[None].T,
    "flip": lambda x: jnp.flip(x),
    "sum": lambda x: x.sum(0) if x.ndim else x,
    "cast": lambda x: x[None].astype(jnp.float16),
    "sort": lambda x: jnp.sort(x[None], axis=-1),
}


@pytest.mark.parametrize("contraction", CONTRACTIONS)
@pytest.mark.parametrize("reader", READERS)
def test_a_contraction_and_its_only_reader(contraction, reader):
    make, read = CONTRACTIONS[contraction], READERS[reader]
    want = read(jax.jit(make)())
    got = jax.jit(lambda: read(make()))()
    assert got.shape == want.shape
    np.testing.assert_allclose(np.asarray(got, np.float32), np.asarray(want, np.float32), rtol=1e-6)


@pytest.mark.parametrize("reader", READERS)
def test_gradients_and_batches_of_them(reader):
    read = READERS[reader]

    def program(x):
        return (read(jnp.dot(x, x)).astype(jnp.float32) * 2).sum()

    x, n = jnp.array(V), read(jnp.ones(())).size
    np.testing.assert_allclose(jax.jit(jax.grad(program))(x), 4 * n * V, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.vmap(program))(jnp.array(M)), 2 * n * (M * M).sum(1), rtol=1e-6)
    np.testing.assert_allclose(
        jax.jit(lambda x: lax.scan(lambda c, y: (c + read(jnp.dot(y, y)).sum(), y), 0.0, x)[0])(jnp.array(M)),
        n * (M * M).sum(),
        rtol=1e-6,
    )
