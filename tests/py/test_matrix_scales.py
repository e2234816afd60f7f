"""Factorizations of matrices of any scale and kind end, and are as exact as the norm of the matrix allows."""

import time

import numpy as np
import pytest

import pullback
import pullback.numpy as jnp

# Around what programs of the kernels treat alike: single elements, panels of 32, halves, long work.
SIZES = {"float32": [1, 2, 4, 32, 65, 129], "float64": [1, 3, 5, 31, 64], "complex64": [2, 3, 33, 129], "complex128": [1, 4, 32, 65]}
LARGE = [200, 257, 300]
DTYPES = ["float32", "float64", "complex64", "complex128"]
KINDS = [
    "random", "small", "big", "rank", "one", "graded", "mixed", "zero", "eye", "ones", "jordan", "clusters", "noise", "nan", "inf",
]
FACTORIZATIONS = ["eigh", "svd", "svdvals", "qr", "eig", "schur", "cholesky", "lu"]


def bound(n):
    """Units of rounding that a residual may have: some for each reflection and merge, and half of one for each term of a sum,
    as equal terms round alike."""
    return 60 + n / 2




def matrix(kind, n, dtype):
    rng = np.random.RandomState(n)
    is_complex, big = np.dtype(dtype).kind == "c", 1e30 if dtype in ("float32", "complex64") else 1e290

    def normal(*shape):
        return rng.randn(*shape) + (1j * rng.randn(*shape) if is_complex else 0)

    def unitary():
        return np.linalg.qr(normal(n, n))[0]

    def spectrum(values):
        q = unitary()
        return (q * values) @ q.conj().T

    def with_one(value, place):
        a = normal(n, n)
        a[place] = value
        return a

    scales = np.logspace(0, -28, n)
    made = {
        "random": lambda: normal(n, n), "small": lambda: normal(n, n) / big, "big": lambda: normal(n, n) * big,
        "rank": lambda: normal(n, max(1, n // 3)) @ normal(max(1, n // 3), n), "one": lambda: normal(n, 1) @ normal(1, n),
        "graded": lambda: normal(n, n) * scales[:, None] * scales, "mixed": lambda: normal(n, n) * 10.0 ** rng.uniform(-28, 28, (n, n)),
        "zero": lambda: np.zeros((n, n)), "eye": lambda: np.eye(n), "ones": lambda: np.ones((n, n)),
        "jordan": lambda: np.eye(n) + np.eye(n, k=1), "clusters": lambda: spectrum(np.repeat([1, 2, 3.0], (n + 2) // 3)[:n]),
        "noise": lambda: spectrum(np.concatenate([[1], 1e-20 * rng.rand(n - 1)])), "nan": lambda: with_one(np.nan, (0, 0)),
        "inf": lambda: with_one(np.inf, (-1, 0)),
    }
    return made[kind]().astype(dtype)


def hermitian(a):
    return (a / 2 + a.conj().T / 2).astype(a.dtype)


def factors(name, a):
    """Arrays, and of what matrix they are."""
    made = {
        "eigh": lambda a: jnp.linalg.eigh(a, symmetrize_input=False), "svd": lambda a: jnp.linalg.svd(a, full_matrices=False),
        "svdvals": lambda a: [jnp.linalg.svdvals(a)], "qr": jnp.linalg.qr, "eig": jnp.linalg.eig,
        "schur": pullback.lax.linalg.schur, "lu": pullback.lax.linalg.lu, "cholesky": lambda a: [jnp.linalg.cholesky(a)],
    }
    return [np.asarray(x) for x in made[name](a)]


def adjoint(x):
    return x.conj().T


def errors(name, a, out, wide):
    """What should be zero, in units of the norm of the matrix, which is about one."""
    a, identity = a.astype(wide), np.eye(len(a))
    out = [x.astype(np.result_type(x, wide)) if x.dtype.kind in "fc" else x for x in out]
    if name == "eigh":
        w, v = out
        return [a @ v - v * w, adjoint(v) @ v - identity]
    if name == "svd":
        u, s, vh = out
        return [(u * s) @ vh - a, adjoint(u) @ u - identity, vh @ adjoint(vh) - identity]
    if name == "svdvals":
        return [out[0].real - np.linalg.svd(a, compute_uv=False)]
    if name == "qr":
        q, r = out
        return [q @ r - a, adjoint(q) @ q - identity, np.tril(r, -1)]
    if name == "eig":
        w, v = (x.astype("complex128") for x in out)
        return [a @ v - v * w, np.linalg.norm(v, axis=0) - 1]
    if name == "schur":
        t, z = out
        return [z @ t @ adjoint(z) - a, adjoint(z) @ z - identity, np.tril(t, -2)]
    if name == "lu":
        packed, _, order = out
        growth = max(1, np.abs(packed).max())
        return [((np.tril(packed, -1) + identity) @ np.triu(packed) - a[order]) / growth]
    return [out[0] @ adjoint(out[0]) - a]


def wide_of(dtype):
    return {"float32": "float64", "complex64": "complex128"}.get(dtype, dtype)


def norm_of(a):
    """The norm, or one for the zero matrix, without overflow."""
    largest = float(np.abs(a).max())
    return largest * np.linalg.norm((a / np.asarray(largest, a.dtype)).astype(wide_of(str(a.dtype))), 2) if largest else 1.0


def scaled(name, a, out, norm):
    """The matrix and its factors as if the norm were one."""
    by = {"eigh": [0], "svd": [1], "svdvals": [0], "qr": [1], "eig": [0], "schur": [0]}.get(name, [])
    wide = wide_of(str(a.dtype))
    out = [(x.astype(wide_of(str(x.dtype))) / norm).astype(wide_of(str(x.dtype))) if i in by else x for i, x in enumerate(out)]
    return (a.astype(wide) / norm).astype(wide), out


def check(name, kind, n, dtype):
    a = matrix(kind, n, dtype)
    if name in ("eigh", "cholesky"):
        a = hermitian(a)
    if name == "cholesky":
        # Positive definite, whatever the scale.
        norm = norm_of(a) if np.isfinite(a).all() else 1.0
        a = (a / norm + 2 * np.eye(n)).astype(dtype)
    if name == "lu" and np.isfinite(a).all():
        a = (a.astype(wide_of(dtype)) / norm_of(a)).astype(dtype)
    out = factors(name, a)
    if not np.isfinite(a).all():
        lower = np.tril_indices(n if name == "cholesky" else 0)
        unknown = out[0][lower] if name == "cholesky" else np.concatenate([x.ravel() for x in out])
        assert name in ("qr", "lu") or np.isnan(unknown).all(), "what is not finite has NaN as factors"
        return
    norm = norm_of(a) if name not in ("cholesky", "lu") else 1.0
    one, out = scaled(name, a, out, norm)
    worst = max(np.abs(error).max() for error in errors(name, one, out, wide_of(dtype)))
    assert worst <= bound(n) * np.finfo(dtype).eps, f"{worst / np.finfo(dtype).eps} units"


def failures(cases):
    found = []
    for case in cases:
        try:
            check(*case)
        except AssertionError as error:
            found.append((case, str(error)[:80]))
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FACTORIZATIONS)
def test_factors_of_small_matrices(name, dtype):
    with pullback.enable_x64(True), np.errstate(all="ignore"):
        assert failures((name, kind, n, dtype) for n in SIZES[dtype] for kind in KINDS) == []


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", ["eigh", "svd"])
def test_factors_of_larger_matrices(name, dtype):
    kinds = ["small", "big", "rank", "clusters", "noise"]
    with pullback.enable_x64(True), np.errstate(all="ignore"):
        assert failures((name, kind, n, dtype) for n in LARGE for kind in kinds) == []


@pytest.mark.parametrize("scale", [1e-30, 1e-7, 1e20, 1e30])
def test_least_squares_and_inverses_of_any_scale(scale):
    rng = np.random.RandomState(0)
    a, b = rng.randn(20, 8), rng.randn(20)
    x = np.linalg.lstsq(a, b, rcond=None)[0]
    big = (a * scale).astype("float32")
    close = {"rtol": 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(np.asarray(jnp.linalg.lstsq(big, (b * scale).astype("float32"))[0]), x, **close)
    np.testing.assert_allclose(np.asarray(jnp.linalg.pinv(big)) * np.float32(scale), np.linalg.pinv(a), **close)
    u, p = pullback.scipy.linalg.polar(big)
    np.testing.assert_allclose(np.asarray(u) @ (np.asarray(p) / np.float32(scale)), a, **close)
    assert int(jnp.linalg.matrix_rank(big)) == 8


def test_batches_are_as_their_matrices():
    kinds = [kind for kind in KINDS if kind not in ("nan", "inf")]
    stack = np.stack([hermitian(matrix(kind, 7, "complex64")) for kind in kinds])
    for one, other in zip(jnp.linalg.eigh(stack), zip(*(jnp.linalg.eigh(a) for a in stack))):
        np.testing.assert_array_equal(one, np.stack(other))


def test_complex_tridiagonal_eigenvectors():
    rng = np.random.RandomState(0)
    for n in (2, 3, 5, 40):
        d, e = rng.randn(n).astype("float32"), (rng.randn(n - 1) + 1j * rng.randn(n - 1)).astype("complex64")
        w, v = map(np.asarray, pullback.scipy.linalg.eigh_tridiagonal(jnp.asarray(d), jnp.asarray(e)))
        a = np.diag(d) + np.diag(e, 1) + np.diag(e.conj(), -1)
        np.testing.assert_allclose(a @ v, v * w, atol=2e-5)


def test_no_matrix_takes_forever():
    """A bound that only an endless iteration would pass: each takes milliseconds."""
    started = time.monotonic()
    for name in ("eigh", "svd", "eig", "schur"):
        for kind in KINDS:
            factors(name, hermitian(matrix(kind, 128, "complex64")))
    assert time.monotonic() - started < 60
