"""The real Schur form and generalized eigenproblems: what defines them, and eigenvalues next to JAX's."""

import numpy as np
import pytest

import pullback
import pullback.numpy as jnp
from pullback.scipy import linalg

RANDOM = np.random.default_rng(0)
MATRICES = {
    **{f"random {n}": RANDOM.standard_normal((n, n)) for n in (1, 2, 3, 4, 7, 20)},
    "complex pair": np.array([[0.0, 2.0], [-3.0, 4.0]]), "zero": np.zeros((3, 3)), "identity": np.eye(4),
    "nilpotent": np.diag(np.ones(3), 1), "cycle": np.roll(np.eye(5), 1, 0), "rank one": np.ones((4, 4)),
    "upper": np.array([[1.0, 2.0], [0.0, 3.0]]), "lower": np.array([[1.0, 0.0], [2.0, 3.0]]),
    "defective": np.array([[1.0, 1.0], [0.0, 1.0]]), "blocks": np.kron(np.diag([1.0, 2.0]), np.array([[0.0, 1.0], [-1.0, 0.0]])),
    "graded": np.array([[1e6, 1e3, 1.0], [1e3, 1.0, 1e-3], [1.0, 1e-3, 1e-6]]),
}


def check_blocks(t):
    """Zero below blocks of one and two; those of two have equal numbers on the diagonal and none of one sign beside it."""
    n, i = len(t), 0
    assert not np.tril(t, -2).any()
    while i < n - 1:
        if t[i + 1, i] == 0:
            i += 1
            continue
        assert t[i, i] == t[i + 1, i + 1] and t[i, i + 1] * t[i + 1, i] < 0
        assert i + 2 >= n or t[i + 2, i + 1] == 0
        i += 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MATRICES)
def test_real_form(name, dtype, jax_oracle):
    a = MATRICES[name].astype(dtype)
    with pullback.enable_x64(dtype == "float64"), jax_oracle.enable_x64(dtype == "float64"):
        t, z = map(np.asarray, linalg.schur(jnp.asarray(a)))
        theirs, _ = map(np.asarray, jax_oracle.scipy.linalg.schur(jax_oracle.numpy.asarray(a)))
    assert t.dtype == z.dtype == theirs.dtype == dtype
    check_blocks(t)
    size = 20 * len(a) * np.finfo(dtype).eps
    np.testing.assert_allclose(z @ t @ z.T, a, atol=size * max(np.abs(a).max(), 1e-30))
    np.testing.assert_allclose(z.T @ z, np.eye(len(a)), atol=size)
    if name not in ("nilpotent", "defective"):  # Eigenvalues that are not simple move with the root of the rounding.
        ours, theirs = (list(np.linalg.eigvals(x.astype("float64"))) for x in (t, theirs))
        for value in ours:
            nearest = min(theirs, key=lambda other: abs(other - value))
            theirs.remove(nearest)
            assert abs(nearest - value) <= 10 * size * max(np.abs(a).max(), 1)


def test_batches_and_programs():
    a = jnp.asarray(RANDOM.standard_normal((2, 3, 4, 4)).astype("float32"))
    whole = linalg.schur(a)
    for form in (pullback.jit(linalg.schur)(a), pullback.vmap(linalg.schur)(a)):
        for one, other in zip(form, whole):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(linalg.schur(a[1, 2])[0], whole[0][1, 2])


def test_what_is_no_number_stays():
    assert np.isnan(np.asarray(linalg.schur(jnp.full((3, 3), jnp.nan))[0])).all()


def test_no_derivative():
    for transform in (pullback.grad, lambda f: lambda a: pullback.jvp(f, (a,), (a,))):
        with pytest.raises(NotImplementedError, match="schur"):
            transform(lambda a: linalg.schur(a)[0].sum())(jnp.eye(3))


PENCILS = [
    ([[2.0, 1.0], [1.0, 0.0]], [[2.0, 0.5], [0.5, 1.0]]), ([[2.0, 1j], [-1j, 0.0]], [[2.0, 0.5j], [-0.5j, 1.0]]),
    ([[1.0, 2.0, 0.0], [2.0, -1.0, 1.0], [0.0, 1.0, 3.0]], [[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]),
]


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("a, b", PENCILS)
def test_generalized_eigenproblems(a, b, kind, jax_oracle):
    a, b = np.array(a), np.array(b)
    w, v = map(np.asarray, linalg.eigh(jnp.asarray(a), jnp.asarray(b), type=kind))
    left, right = {1: (a @ v, b @ v), 2: (a @ (b @ v), v), 3: (b @ (a @ v), v)}[kind]
    np.testing.assert_allclose(left, right * w, atol=2e-5)
    metric = np.linalg.inv(b) if kind == 3 else b
    np.testing.assert_allclose(v.conj().T @ metric @ v, np.eye(len(a)), atol=2e-5)
    theirs = jax_oracle.scipy.linalg.eigh(jax_oracle.numpy.asarray(a), jax_oracle.numpy.asarray(b), type=kind, eigvals_only=True)
    np.testing.assert_allclose(w, theirs, atol=2e-5)


def test_a_pencil_is_checked():
    with pytest.raises(ValueError, match="type must be 1, 2, or 3"):
        linalg.eigh(jnp.eye(2), jnp.eye(2), type=4)
    with pytest.raises(ValueError, match="one size"):
        linalg.eigh(jnp.eye(2), jnp.eye(3))
    assert np.isnan(np.asarray(linalg.eigh(jnp.eye(2), -jnp.eye(2), eigvals_only=True))).all()
