"""`jax.experimental.sparse`: what is stored, values, gradients, batches and errors are those of JAX.

The answers are recorded in `golden/sparse.json`; `python tests/py/test_sparse.py` writes it where JAX is installed.
"""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import pullback

RECORDED = Path(__file__).parent / "golden" / "sparse.json"
NUMBERS = np.random.RandomState(0)


def holes(*shape):
    """Numbers of which half are zero."""
    return (NUMBERS.standard_normal(shape) * (NUMBERS.random_sample(shape) < 0.5)).astype(np.float32)


MATRIX, SQUARE, CUBE, FOUR = holes(3, 4), holes(4, 4), holes(2, 3, 4), holes(2, 3, 2, 2)
VECTOR, RIGHT = NUMBERS.standard_normal(4).astype(np.float32), NUMBERS.standard_normal((4, 2)).astype(np.float32)
TWICE = (np.array([1.0, 2.0, 3.0, 4.0, 5.0], np.float32), np.array([[2, 1], [0, 3], [2, 1], [3, 4], [0, 0]], np.int32))


class Api:
    """The functions of one system."""

    def __init__(self, system):
        self.jax, self.jnp = system, system.numpy
        self.s = importlib.import_module(f"{system.__name__}.experimental.sparse")

    def of(self, array, **groups):
        return self.s.BCOO.fromdense(self.jnp.asarray(array), **groups)

    def twice(self):
        """A matrix with an index that is there twice, and one out of bounds."""
        return self.s.BCOO(tuple(map(self.jnp.asarray, TWICE)), shape=(3, 4))


NUMBERED = {"matvec": (((1,), (0,)), ((), ())), "of two axes": (((1, 2), (0, 1)), ((), ())), "of a batch": (((2,), (1,)), ((0,), (0,)))}


def dot(a, left, right, name):
    return a.s.bcoo_dot_general(left, right, dimension_numbers=NUMBERED[name])


# What is computed, of the api `a`; sparse results are compared dense, with how many elements they store.
CASES = {
    "todense": lambda a: a.of(MATRIX),
    "todense of duplicates": lambda a: a.twice(),
    "groups": lambda a: [a.of(FOUR, n_batch=b, n_dense=d) for b in range(3) for d in range(2)],
    "fewer": lambda a: a.s.bcoo_fromdense(a.jnp.asarray(MATRIX), nse=3),
    "more": lambda a: a.s.bcoo_fromdense(a.jnp.asarray(MATRIX), nse=9).indices,
    "sum_duplicates": lambda a: [a.twice().sum_duplicates(), a.twice().sum_duplicates(nse=6), a.twice().sum_duplicates().indices],
    "sort_indices": lambda a: [a.twice().sort_indices(), a.twice().sort_indices().indices],
    "extract": lambda a: [a.s.bcoo_extract(a.of(MATRIX), a.jnp.arange(12.0).reshape(3, 4)), a.s.bcoo_extract(a.twice(), a.jnp.ones((3, 4))).data],
    "matvec": lambda a: [a.of(MATRIX) @ VECTOR, a.twice() @ VECTOR, a.of(MATRIX, n_batch=1) @ VECTOR, a.of(MATRIX, n_dense=0).T @ VECTOR[:3]],
    "matmat": lambda a: [a.of(MATRIX) @ RIGHT, a.jnp.asarray(RIGHT.T) @ a.of(SQUARE, n_batch=0)],
    "vecmat": lambda a: a.jnp.asarray(VECTOR[:3]) @ a.of(MATRIX),
    "batched dot": lambda a: [dot(a, a.of(CUBE, n_batch=b), holes_like(2, 4, 5), "of a batch") for b in (1, 2)],
    "dot over a batch": lambda a: [dot(a, a.of(CUBE, n_batch=b), holes_like(3, 4), "of two axes") for b in range(3)],
    "dot with blocks": lambda a: a.s.bcoo_dot_general(a.of(CUBE, n_dense=1), holes_like(3, 2), dimension_numbers=(((1,), (0,)), ((), ()))),
    "dense dot sparse": lambda a: a.s.bcoo_dot_general(holes_like(2, 5, 3), a.of(CUBE, n_batch=1), dimension_numbers=(((2,), (1,)), ((0,), (0,)))),
    "sparse dot sparse": lambda a: [a.of(MATRIX) @ a.of(SQUARE), a.of(MATRIX) @ a.of(MATRIX).T, a.of(VECTOR) @ a.of(SQUARE)],
    "batched sparse dot sparse": lambda a: dot(a, a.of(CUBE, n_batch=1), a.of(CUBE.transpose(0, 2, 1), n_batch=1), "of a batch").todense(),
    "sampled": lambda a: a.s.bcoo_dot_general_sampled(a.jnp.asarray(RIGHT), a.jnp.asarray(RIGHT.T), a.of(SQUARE).indices, dimension_numbers=NUMBERED["matvec"]),
    "times": lambda a: [a.of(MATRIX) * 2, 3.0 * a.of(MATRIX), a.of(MATRIX) * MATRIX, a.of(MATRIX) * VECTOR, a.of(CUBE, n_batch=1, n_dense=1) * CUBE[0], a.of(MATRIX) / 4.0],
    "times sparse": lambda a: [a.of(MATRIX) * a.of(MATRIX), a.of(MATRIX) * a.twice(), a.of(CUBE, n_batch=1) * a.of(CUBE[::-1], n_batch=1)],
    "plus": lambda a: [a.of(MATRIX) + a.of(MATRIX), a.of(MATRIX) - a.twice(), a.of(MATRIX) + MATRIX, -a.of(MATRIX)],
    "powers": lambda a: [a.of(MATRIX) ** 2, (a.twice() ** 2).todense(), abs(a.twice()).todense()],
    "elementwise": lambda a: [a.s.sparsify(getattr(a.jnp, f))(a.of(MATRIX)) for f in ("sin", "tanh", "expm1", "sign", "square", "negative", "real")],
    "elementwise of duplicates": lambda a: a.s.sparsify(a.jnp.sin)(a.twice()).todense(),
    "transposed": lambda a: [a.of(FOUR, n_dense=1, n_batch=b).transpose(p) for b, p in ((0, (2, 0, 1, 3)), (2, (1, 0, 2, 3)), (1, (0, 2, 1, 3)))],
    "sums": lambda a: [a.of(FOUR, n_batch=1, n_dense=1).sum(axis) for axis in (0, 1, 2, 3, (0, 2), (1, 2), None)],
    "sum of duplicates": lambda a: [a.twice().sum(0), a.twice().sum(1), a.twice().sum()],
    "parts": lambda a: [a.of(SQUARE)[1], a.of(SQUARE)[1:, ::2], a.of(SQUARE)[::-1, 1:3], a.of(SQUARE)[2, 3], a.twice()[:2, 1:], a.of(FOUR, n_batch=1, n_dense=1)[:, 1:, 0, ::-1]],
    "rows": lambda a: list(a.of(MATRIX)),
    "dynamic parts": lambda a: [a.s.bcoo_dynamic_slice(a.of(SQUARE), (i, 1), (2, 2)) for i in (0, 3, -1)],
    "a traced row": lambda a: a.jax.jit(lambda m, i: a.s.sparsify(lambda m, i: a.jax.lax.dynamic_index_in_dim(m, i))(m, i))(a.of(SQUARE), 2),
    "reshaped": lambda a: [a.of(MATRIX).reshape(2, 6), a.of(MATRIX).reshape(12), a.twice().reshape((4, 3))],
    "broadcast": lambda a: [
        a.s.bcoo_broadcast_in_dim(a.of(MATRIX), shape=(2, 3, 4), broadcast_dimensions=(1, 2)),
        a.s.bcoo_broadcast_in_dim(a.of(CUBE, n_batch=1, n_dense=1), shape=(2, 5, 3, 1, 4), broadcast_dimensions=(0, 2, 4)).todense(),
    ],
    "squeezed": lambda a: [a.s.bcoo_squeeze(a.of(CUBE[:1, :, :1], n_batch=b), dimensions=d) for b in range(2) for d in ((0,), (2,), (0, 2))],
    "joined": lambda a: [a.s.bcoo_concatenate([a.of(MATRIX), a.twice()], dimension=d) for d in range(2)] + [a.s.bcoo_concatenate([a.of(CUBE, n_batch=1)] * 2, dimension=d) for d in range(2)],
    "reversed": lambda a: [a.s.bcoo_rev(a.of(FOUR, n_batch=1, n_dense=1), (d,)) for d in range(4)],
    "layouts": lambda a: [a.of(FOUR, n_batch=2, n_dense=1).update_layout(n_batch=b, n_dense=d) for b in range(3) for d in range(2)],
    "denser layouts": lambda a: [a.of(FOUR).update_layout(n_batch=b, n_dense=d, on_inefficient=None).todense() for b in range(3) for d in range(2)],
    "eye": lambda a: [a.s.eye(3), a.s.eye(3, 5, k=1), a.s.eye(4, 2, k=-1), a.s.eye(3, dtype="int32"), a.s.eye(3, n_batch=1)],
    "empty": lambda a: [a.s.empty((2, 3)), a.s.empty((2, 3, 4), n_batch=1, n_dense=1, nse=2)],
    "formats": lambda a: [a.s.eye(3, 4, k=1, sparse_format=f) for f in ("coo", "csr", "csc")],
    "random": lambda a: [a.s.random_bcoo(a.jax.random.key(1), (2, 3, 4), dtype="float32", **o) for o in ({"nse": 0.5}, {"nse": 1, "n_dense": 1}, {"nse": 5, "unique_indices": False}, {"nse": 3, "sorted_indices": True})],
    "BCSR": lambda a: [x for m in (a.s.BCSR.fromdense(a.jnp.asarray(MATRIX)),) for x in (m, m.indptr, m.indices, m @ VECTOR, m @ RIGHT, m.to_bcoo(), a.s.bcsr_sum_duplicates(m), a.s.bcsr_concatenate([m, m], dimension=0))],
    "BCSR in batches": lambda a: [x for m in (a.s.BCSR.fromdense(a.jnp.asarray(CUBE), n_batch=1),) for x in (m, m.indptr, m @ VECTOR)],
    "BCSR elementwise": lambda a: a.s.sparsify(a.jnp.sin)(a.s.BCSR.fromdense(a.jnp.asarray(MATRIX))),
    "BCSR extract": lambda a: [a.s.bcsr_extract(m.indices, m.indptr, a.jnp.arange(12.0).reshape(3, 4)) for m in (a.s.BCSR.fromdense(a.jnp.asarray(MATRIX)),)],
    "COO": lambda a: [x for m in (a.s.COO.fromdense(a.jnp.asarray(MATRIX)),) for x in (m, m.row, m.col, m @ VECTOR, m @ RIGHT, m.T, m.T @ VECTOR[:3], a.s.coo_matvec(m, a.jnp.asarray(VECTOR[:3]), transpose=True))],
    "CSR": lambda a: [x for m in (a.s.CSR.fromdense(a.jnp.asarray(MATRIX)),) for x in (m, m.indptr, m @ VECTOR, m @ RIGHT, m.T, m.T @ VECTOR[:3], a.s.csr_matmat(m, a.jnp.asarray(RIGHT[:3]), transpose=True))],
    "CSC": lambda a: [x for m in (a.s.CSC.fromdense(a.jnp.asarray(MATRIX)),) for x in (m, m.indptr, m @ VECTOR, m @ RIGHT, m.T)],
    "compiled": lambda a: a.jax.jit(lambda m: (m @ m.T) * 2)(a.of(MATRIX)).todense(),
    "mapped": lambda a: [
        a.jax.vmap(lambda m: m @ VECTOR)(a.of(CUBE, n_batch=1)),
        a.jax.vmap(lambda m, x: (m * x, m.sum(0), x), in_axes=(1, 0))(a.of(CUBE, n_batch=2), a.jnp.arange(3.0)),
        a.jax.vmap(lambda x: a.s.BCOO.fromdense(x, nse=2))(a.jnp.eye(3)),
        a.jax.vmap(lambda v: a.of(MATRIX) @ v, 1)(RIGHT),
        a.jax.jit(a.jax.vmap(lambda m: m @ VECTOR))(a.s.BCSR.fromdense(a.jnp.asarray(CUBE), n_batch=1)),
    ],
    "slopes": lambda a: a.s.grad(lambda m, v: ((m @ v) ** 2).sum(), argnums=(0, 1))(a.of(MATRIX), VECTOR),
    "value and slope": lambda a: a.s.value_and_grad(lambda m: ((m @ VECTOR).sum(), m.data), has_aux=True)(a.of(MATRIX)),
    "slopes of the data": lambda a: [a.jax.grad(lambda d, m=m: (a.jnp.cos(m._bufs[1] * 0 + 1).sum() + (a.s.BCOO((d, m.indices), shape=m.shape) @ VECTOR).sum()))(m.data) for m in (a.of(MATRIX), a.twice())],
    "jacobians": lambda a: [f(lambda m, v: a.jnp.sin(m @ v), argnums=(0, 1))(a.of(MATRIX), VECTOR) for f in (a.s.jacfwd, a.s.jacrev)],
    "second slopes": lambda a: a.jax.hessian(lambda d: (a.s.BCOO((d, a.of(MATRIX).indices), shape=(3, 4)) @ VECTOR**2).sum() ** 2)(a.of(MATRIX).data),
    "branches": lambda a: [a.s.sparsify(lambda m, p: a.jax.lax.cond(p, lambda m: m * 2, lambda m: -m, m))(a.of(MATRIX), p) for p in (True, False)],
    "while": lambda a: a.s.sparsify(lambda m: a.jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, m)))(a.of(MATRIX)),
    "scan": lambda a: a.s.sparsify(lambda m: a.jax.lax.scan(lambda c, _: (c * 2, ()), m, None, length=3))(a.of(MATRIX)),
    "jit inside": lambda a: a.s.sparsify(a.jax.jit(lambda m: a.jnp.sin(m) * 2))(a.of(MATRIX)),
    "mixed trees": lambda a: a.s.sparsify(lambda t: {"x": t["m"] @ t["v"], "m": t["m"].T})({"m": a.of(MATRIX), "v": VECTOR}),
}  # fmt: skip
REFUSED = {
    "mapped along a sparse axis": lambda a: a.jax.vmap(lambda m: m.sum())(a.of(CUBE)),
    "cos": lambda a: a.s.sparsify(a.jnp.cos)(a.of(MATRIX)),
    "plus a number": lambda a: a.of(MATRIX) + 1.0,
    "over a sparse": lambda a: 1.0 / a.of(MATRIX),
    "compared": lambda a: a.of(MATRIX) == a.of(MATRIX),
    "hash": lambda a: hash(a.of(MATRIX)),
    "in a function of jnp": lambda a: a.jnp.sin(a.of(MATRIX)),
    "wrong data": lambda a: a.s.BCOO((a.jnp.ones(4), a.jnp.zeros((3, 1), int)), shape=(3,)),
    "traced without nse": lambda a: a.jax.jit(a.s.bcoo_fromdense)(a.jnp.eye(3)),
    "no permutation": lambda a: a.of(MATRIX).transpose((0, 0)),
    "inefficient": lambda a: a.of(MATRIX).update_layout(n_batch=1),
    "too many at random": lambda a: a.s.random_bcoo(a.jax.random.key(0), (5,), nse=9),
    "matmul of sizes": lambda a: a.of(MATRIX) @ a.jnp.ones(3),
    "BCSR transposed": lambda a: a.s.BCSR.fromdense(a.jnp.asarray(MATRIX)).T,
    "BCSR plus": lambda a: a.s.BCSR.fromdense(a.jnp.asarray(MATRIX)) + a.s.BCSR.fromdense(a.jnp.asarray(MATRIX)),
    "COO with COO": lambda a: a.s.COO.fromdense(a.jnp.asarray(SQUARE)) @ a.s.COO.fromdense(a.jnp.asarray(SQUARE)),
}


def holes_like(*shape):
    """The same numbers for the same shape, of which half are zero."""
    numbers = np.random.RandomState(len(shape) + sum(shape))
    return (numbers.standard_normal(shape) * (numbers.random_sample(shape) < 0.5)).astype(np.float32)


def seen(api, result):
    """What is compared: dense values, and of sparse arrays what else they are."""
    leaves = api.jax.tree.leaves(result, is_leaf=lambda x: isinstance(x, api.s.JAXSparse))
    words = [repr(x) if isinstance(x, api.s.JAXSparse) else "" for x in leaves]
    return words, [np.asarray(api.s.todense(x)) for x in leaves]


def record():
    """Writes what JAX gives of all cases."""
    import jax

    api = Api(jax)
    answers = {}
    for name, case in CASES.items():
        words, values = seen(api, case(api))
        answers[name] = [words, [[str(x.dtype), x.tolist()] for x in values]]
    RECORDED.write_text(json.dumps({"values": answers, "errors": {name: kind_of_error(api, name) for name in REFUSED}}, indent=0) + "\n")


def kind_of_error(api, name):
    with pytest.raises(Exception) as caught:
        REFUSED[name](api)
    return type(caught.value).__name__


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_jax(name):
    words, wanted = json.loads(RECORDED.read_text())["values"][name]
    api = Api(pullback)
    our_words, found = seen(api, CASES[name](api))
    assert our_words == words
    assert len(found) == len(wanted)
    for x, (dtype, y) in zip(found, wanted):
        assert (str(x.dtype), x.shape) == (dtype, np.shape(y) if x.size else x.shape)
        np.testing.assert_allclose(x, np.array(y, x.dtype).reshape(x.shape), rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_of_the_kind_of_jax(name):
    assert kind_of_error(Api(pullback), name) == json.loads(RECORDED.read_text())["errors"][name]


def test_a_scan_that_gives_products_of_its_carry():
    """JAX has none over sparse carries with results of each step."""
    a = Api(pullback)
    end, products = a.s.sparsify(lambda m: a.jax.lax.scan(lambda c, _: (c * 2, c @ VECTOR), m, None, length=3))(a.of(MATRIX))
    np.testing.assert_allclose(end.todense(), MATRIX * 8)
    np.testing.assert_allclose(products, np.array([1, 2, 4])[:, None] * (MATRIX @ VECTOR), rtol=1e-6, atol=1e-6)


def test_the_slope_of_a_product_of_sparse_arrays():
    """JAX has none; it is that of the dense product at what is stored."""
    a = Api(pullback)
    found = a.s.grad(lambda x, y: ((x @ y).todense() ** 2).sum(), argnums=(0, 1))(a.of(MATRIX), a.of(SQUARE))
    wanted = pullback.grad(lambda x, y: ((x @ y) ** 2).sum(), argnums=(0, 1))(MATRIX, SQUARE)
    for x, y, stored in zip(found, wanted, (MATRIX, SQUARE)):
        np.testing.assert_allclose(x.todense(), y * (stored != 0), rtol=2e-6, atol=2e-6)


def test_scipy_matrices_come_in():
    scipy = pytest.importorskip("scipy.sparse")
    s = Api(pullback).s
    for kind in (s.BCOO, s.BCSR):
        np.testing.assert_array_equal(kind.from_scipy_sparse(scipy.csr_matrix(MATRIX)).todense(), MATRIX)


if __name__ == "__main__":
    record()
