"""First and second derivatives of linear algebra, in all mixtures of modes, beside differences of function values."""

import numpy as np
import pytest

import pullback as jax
import pullback.lax.linalg  # noqa: F401
import pullback.numpy as jnp
import pullback.scipy.linalg as sl
from pullback.scipy.sparse import linalg as sparse

la, L = jnp.linalg, jax.lax.linalg
RNG = np.random.RandomState(3)


def real(*shape):
    return RNG.randn(*shape)


def complex_(*shape):
    return RNG.randn(*shape) + 1j * RNG.randn(*shape)


def definite(x):
    return x @ x.conj().T + len(x) * np.eye(len(x))


def hermitian(x):
    return (x + x.conj().T) / 2


A, C, T, W = real(4, 4), complex_(4, 4), real(5, 3), real(3, 5)
S, H = definite(real(4, 4)), definite(complex_(4, 4))
B, V = real(4, 2), real(4)
TRI = np.tril(real(4, 4)) + 3 * np.eye(4)
DIAGONALS = np.stack([real(4), real(4) + 5, real(4)])
RANK_1 = real(4, 1) @ real(1, 4)


def herm(a):
    return (a + jnp.conj(jnp.swapaxes(a, -1, -2))) / 2


def projectors(v):
    """What does not depend on the phases of columns."""
    return v[:, None, :] * jnp.conj(v)[None, :, :]


# What is differentiated, and where. Vectors come as what does not depend on their phases.
CASES = {
    "det": (la.det, A), "det 3": (la.det, A[:3, :3]), "det 2": (la.det, A[:2, :2]), "det 1": (la.det, A[:1, :1]),
    "det complex": (la.det, C), "det of a singular matrix": (la.det, RANK_1), "det of the identity": (la.det, np.eye(5)),
    "det batched": (la.det, real(2, 4, 4)), "slogdet": (lambda a: la.slogdet(a)[1], A), "slogdet complex": (lambda a: la.slogdet(a), C),
    "inv": (la.inv, A), "inv complex": (la.inv, C), "solve a": (lambda a: la.solve(a, B), A), "solve b": (lambda b: la.solve(A, b), B),
    "solve vector": (lambda a: la.solve(a, a[0]), A), "cholesky": (lambda a: la.cholesky(a), S), "cholesky complex": (la.cholesky, H),
    "cholesky upper": (lambda a: la.cholesky(a, upper=True), H), "qr": (la.qr, A), "qr tall": (la.qr, T), "qr wide": (la.qr, W),
    "qr complex": (la.qr, C), "svdvals": (la.svdvals, A), "svdvals tall": (la.svdvals, T), "svdvals complex": (la.svdvals, C),
    "svd": (lambda a: [projectors(x) for x in (la.svd(a, full_matrices=False)[0], la.svd(a, full_matrices=False)[2].T)], T),
    "svd wide": (lambda a: projectors(la.svd(a, full_matrices=False)[0]), W),
    "svd complex": (lambda a: projectors(la.svd(a, full_matrices=False)[0]), C), "eigvalsh": (la.eigvalsh, S),
    "eigvalsh complex": (lambda a: la.eigvalsh(a), H), "eigh": (lambda a: projectors(la.eigh(a)[1]), S),
    "eigh complex": (lambda a: projectors(la.eigh(a)[1]), H), "lu": (lambda a: L.lu(a)[0], A), "lu tall": (lambda a: L.lu(a)[0], T),
    "lu wide": (lambda a: L.lu(a)[0], W), "lu complex": (lambda a: L.lu(a)[0], C), "pinv": (la.pinv, A), "pinv tall": (la.pinv, T),
    "pinv wide": (la.pinv, W), "norm": (la.norm, A), "norm 1": (lambda a: la.norm(a, 1), A), "norm -1": (lambda a: la.norm(a, -1), A),
    "norm 2": (lambda a: la.norm(a, 2), A), "norm -2": (lambda a: la.norm(a, -2), A), "norm nuc": (lambda a: la.norm(a, "nuc"), A),
    "norm inf": (lambda a: la.norm(a, jnp.inf), C), "norm 3": (lambda a: la.norm(a[0], 3), A), "norm complex": (la.norm, C),
    "norm 2.5": (lambda a: la.vector_norm(a, ord=2.5), C), "power 3": (lambda a: la.matrix_power(a, 3), A),
    "power -2": (lambda a: la.matrix_power(a, -2), A), "lstsq": (lambda a: la.lstsq(a, RNG_B)[0], T),
    "lstsq wide": (lambda a: la.lstsq(a, B[:3])[0], W), "multi_dot": (lambda a: la.multi_dot([a, B, B.T, a]), A),
    "cond": (la.cond, A), "cond 1": (lambda a: la.cond(a, 1), A), "tensorinv": (lambda a: la.tensorinv(a.reshape(2, 2, 4), ind=2), A),
    "tensorsolve": (lambda a: la.tensorsolve(a.reshape(2, 2, 4), B.reshape(-1)[:4].reshape(2, 2)), A),
    "triangular lower": (lambda a: L.triangular_solve(a, B, left_side=True, lower=True), TRI),
    "triangular right": (lambda a: L.triangular_solve(a, B.T, lower=True, transpose_a=True), TRI),
    "triangular unit": (lambda a: L.triangular_solve(a, B, left_side=True, lower=True, unit_diagonal=True), TRI),
    "triangular adjoint": (
        lambda a: L.triangular_solve(a, B + 0j, left_side=True, lower=True, transpose_a=True, conjugate_a=True), TRI + 1j * TRI),
    "tridiagonal": (lambda d: L.tridiagonal_solve(d[0], d[1], d[2], B), DIAGONALS),
    "tridiagonal perturbed": (lambda d: L.tridiagonal_solve(d[0], d[1], d[2], B, perturb_singular=True), DIAGONALS),
    "expm": (sl.expm, A), "expm complex": (sl.expm, C / 3), "expm_frechet": (lambda a: sl.expm_frechet(a, A.T), A),
    "cho_solve": (lambda a: sl.cho_solve((a, True), B), TRI), "lu_solve": (lambda a: sl.lu_solve(sl.lu_factor(a), B), A),
    "lu_solve adjoint": (lambda a: sl.lu_solve(sl.lu_factor(a), B + 0j, trans=2), C), "scipy solve": (lambda a: sl.solve(herm(a), B, assume_a="pos"), S),
    "block_diag": (lambda a: sl.block_diag(a, a * a), A), "toeplitz": (lambda a: sl.toeplitz(a[0], a[1] ** 2), A),
    "polar": (lambda a: sl.polar(a), A), "scipy eigh": (lambda a: sl.eigh(herm(a), jnp.asarray(S), eigvals_only=True), A),
    "eigh_tridiagonal": (lambda d: sl.eigh_tridiagonal(d[0], d[1][:3], eigvals_only=True), np.stack([real(4), real(4)])),
    "qr_multiply": (lambda a: sl.qr_multiply(a, B.T), A), "solve_triangular": (lambda a: sl.solve_triangular(a, B, trans=1, lower=True), TRI),
    "eigvals": (lambda a: jnp.sum(L.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False, enable_eigvec_derivs=True)[0] ** 3), A),
    "eig right": (lambda a: eigenvectors(a, 2), A), "eig left": (lambda a: eigenvectors(a, 1), A), "eig complex": (lambda a: eigenvectors(a, 2), C),
    "cg": (lambda b: sparse.cg(jnp.asarray(S), b, tol=1e-14)[0], V), "cg complex": (lambda b: sparse.cg(jnp.asarray(H), b, tol=1e-14)[0], V + 1j),
    "bicgstab": (lambda b: sparse.bicgstab(jnp.asarray(H + np.triu(C)), b, tol=1e-14)[0], V + 1j),
    "gmres": (lambda b: sparse.gmres(jnp.asarray(H + np.triu(C)), b, tol=1e-14)[0], V + 1j),
}
RNG_B = real(5)


def eigenvectors(a, which):
    """Sums over eigenvectors that are the same in any order of eigenvalues."""
    out = L.eig(a, enable_eigvec_derivs=True)
    return jnp.sum(out[which] * out[0] ** 2, axis=-1)


def number(f, seed):
    """`f` as a real number: its parts with random factors, some of them squared."""
    def total(x):
        rng, sum_ = np.random.RandomState(seed), 0.0
        for leaf in jax.tree_util.tree_leaves(f(x)):
            for part in (jnp.real(leaf), jnp.imag(leaf)):
                weights = rng.randn(*part.shape)
                sum_ = sum_ + jnp.sum(weights * part) + jnp.sum(weights**2 * part * part)
        return sum_

    return total


def differences(f, x, direction, h=1e-4):
    """First and second difference quotients of fourth order."""
    at = {k: float(f(jnp.asarray(x + k * h * direction))) for k in (-2, -1, 0, 1, 2)}
    first = (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h)
    h2 = 20 * h
    at = {k: float(f(jnp.asarray(x + k * h2 * direction))) for k in (-2, -1, 0, 1, 2)}
    return first, (16 * (at[1] + at[-1]) - (at[2] + at[-2]) - 30 * at[0]) / (12 * h2 * h2)


def along(f, x, t):
    """The derivatives along `t`: first by both modes, second by all four mixtures."""
    paired = lambda g: jnp.sum(jnp.real(g * t))  # noqa: E731
    forward = lambda x: jax.jvp(f, (x,), (t,))[1]  # noqa: E731
    backward = lambda x: paired(jax.grad(f)(x))  # noqa: E731
    firsts = [forward(x), backward(x)]
    seconds = [
        jax.jvp(forward, (x,), (t,))[1], paired(jax.grad(forward)(x)), jax.jvp(backward, (x,), (t,))[1], paired(jax.grad(backward)(x)),
    ]
    return [float(v) for v in firsts], [float(v) for v in seconds]


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    with jax.enable_x64(True):
        rng = np.random.RandomState(1)
        t = rng.randn(*x.shape) + (1j * rng.randn(*x.shape) if np.iscomplexobj(x) else 0)
        if name.startswith(("eigh", "eigvalsh", "cholesky")) and "tri" not in name:
            t = hermitian(t)
        f = number(f, 5)
        first, second = differences(f, x, t)
        firsts, seconds = along(f, jnp.asarray(x), jnp.asarray(t))
    np.testing.assert_allclose(firsts, first, rtol=1e-6, atol=1e-7 * max(1, abs(first)))
    np.testing.assert_allclose(seconds, second, rtol=1e-4, atol=1e-4 * max(1, abs(first)))


def test_hessian_of_determinants():
    assert float(jax.hessian(la.det)(jnp.eye(4))[0, 0, 1, 1]) == pytest.approx(1, abs=1e-5)
    third = jax.jacfwd(jax.hessian(la.det))(jnp.eye(4))
    assert float(third[0, 0, 1, 1, 2, 2]) == pytest.approx(1, abs=1e-4)
    assert float(third[0, 0, 1, 2, 2, 1]) == pytest.approx(-1, abs=1e-4)


def test_eigenvectors_ask_to_be_opted_in():
    for f in (L.eig, lambda a: jax.jvp(la.eigvals, (a,), (a,))[1]):
        with pytest.raises(NotImplementedError, match="enable_eigvec_derivs=True"):
            jax.jvp(f, (jnp.asarray(A),), (jnp.asarray(A),))


def test_solvers_take_anything_with_a_product_and_keep_weak_types():
    class Doubling:
        shape = (2, 2)

        def __matmul__(self, x):
            return 2 * x

    for solve in (sparse.cg, sparse.bicgstab, sparse.gmres):
        np.testing.assert_allclose(solve(Doubling(), jnp.array([2.0, 4.0]))[0], [1, 2], rtol=1e-5)
    assert sparse.bicgstab(lambda x: 2 * x, 1.0)[0].weak_type and sparse.gmres(lambda x: 2 * x, 1.0)[0].weak_type
    assert not sparse.cg(lambda x: 2 * x, 1.0)[0].weak_type


def test_transposed_complex_systems():
    a = jnp.array([[2.0, 1j], [-1j, 3.0]])
    (ct,) = jax.vjp(lambda b: sparse.cg(a, b)[0], jnp.array([1.0 + 0j, 2.0]))[1](jnp.array([1.0 + 0j, 1j]))
    np.testing.assert_allclose(ct, [0.4, 0.2j], atol=1e-5)
