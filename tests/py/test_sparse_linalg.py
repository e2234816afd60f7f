"""`jax.experimental.sparse.linalg` beside NumPy and live JAX: largest eigenvalues, systems, errors."""

import importlib

import numpy as np
import pytest

import pullback
from pullback.experimental import sparse
from pullback.experimental.sparse import linalg

jax = pytest.importorskip("jax")
RNG = np.random.default_rng(0)


def matrices():
    q = np.linalg.qr(RNG.normal(size=(60, 60)))[0]
    yield "a diagonal", np.diag(np.arange(1.0, 101))
    yield "falling", q @ np.diag(0.5 ** np.arange(60)) @ q.T
    yield "indefinite", q @ np.diag(np.linspace(-3, 2, 60)) @ q.T
    yield "negative", q @ np.diag(-np.arange(1.0, 61)) @ q.T
    yield "multiple", q @ np.diag(np.repeat([5.0, 4.0, 1.0], 20)) @ q.T
    yield "rank two", np.outer(q[0], q[0]) * 3 + np.outer(q[1], q[1])
    yield "small", q @ np.diag(np.arange(60.0)) @ q.T * 1e-12
    yield "large", q @ np.diag(np.arange(60.0)) @ q.T * 1e12


@pytest.mark.parametrize(("name", "A"), list(matrices()), ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.parametrize("k", (1, 4))
def test_largest_eigenvalues(name, A, k):
    A = A.astype("f")
    X = RNG.normal(size=(len(A), k)).astype("f")
    theta, U, steps = map(np.asarray, linalg.lobpcg_standard(A, X, m=300))
    wanted = np.linalg.eigvalsh(A.astype(float))[::-1][:k]
    scale = np.abs(np.linalg.eigvalsh(A.astype(float))).max()
    np.testing.assert_allclose(theta, wanted, atol=2e-4 * scale)
    np.testing.assert_allclose(U.T @ U, np.eye(k), atol=1e-4)
    assert np.abs(A @ U - U * theta).max() < 5e-3 * scale
    assert 0 <= steps <= 300


def test_functions_sparse_matrices_and_compiled_calls_agree():
    A, X = np.diag(np.arange(1.0, 31)).astype("f"), RNG.normal(size=(30, 3)).astype("f")
    wanted = [30.0, 29.0, 28.0]
    for given in (A, sparse.BCOO.fromdense(A), lambda v: A @ v):
        np.testing.assert_allclose(linalg.lobpcg_standard(given, X)[0], wanted, rtol=1e-4)
    np.testing.assert_allclose(pullback.jit(linalg.lobpcg_standard)(A, X)[0], wanted, rtol=1e-4)
    assert int(linalg.lobpcg_standard(A, X, m=2)[2]) == 2
    with pullback.enable_x64(True):
        np.testing.assert_allclose(linalg.lobpcg_standard(A.astype(float), X.astype(float))[0], wanted, rtol=1e-10)


A, X = np.diag(np.arange(1.0, 31)).astype("f"), np.ones((30, 2), "f")
ERRORS = (
    lambda j, f: f(A[:5, :5], X[:5]), lambda j, f: f(A, X.astype(int)), lambda j, f: f(lambda v: v[:3], X),
    lambda j, f: f(lambda v: v.astype("float16"), X), lambda j, f: f(A, X[:, 0]),
)  # fmt: skip


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_jax(case):
    def text(system):
        with pytest.raises(ValueError) as caught:
            case(system.numpy, importlib.import_module(f"{system.__name__}.experimental.sparse.linalg").lobpcg_standard)
        return str(caught.value).split("\n")[0]

    assert text(pullback) == text(jax)


def test_systems():
    dense = (RNG.normal(size=(20, 20)) * (RNG.random((20, 20)) < 0.3) + 5 * np.eye(20)).astype("f")
    M, b = sparse.BCSR.fromdense(dense), RNG.normal(size=20).astype("f")
    np.testing.assert_allclose(linalg.spsolve(M.data, M.indices, M.indptr, b), np.linalg.solve(dense, b), rtol=1e-4, atol=1e-5)
    slope = pullback.grad(lambda b: linalg.spsolve(M.data, M.indices, M.indptr, b).sum())(b)
    np.testing.assert_allclose(slope, np.linalg.solve(dense.T, np.ones(20)), rtol=1e-3, atol=1e-4)
    with pytest.raises(TypeError):
        linalg.spsolve(M.data, M.indices, M.indptr, b.astype(int))
