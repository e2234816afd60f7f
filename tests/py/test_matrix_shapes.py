"""Shapes of matrices: batches that broadcast, empty ones, and wrong ranks give JAX's shapes, dtypes or exceptions."""

import numpy as np
import pytest
from differential import facts

import pullback
import pullback.lax.linalg  # noqa: F401
import pullback.scipy.linalg  # noqa: F401

MATRICES = [(4, 4), (3, 4, 4), (1, 4, 4), (0, 4, 4), (0, 0), (2, 0, 0), (4, 3), (2, 0, 3), (2, 3, 0), (2, 0, 2), (0, 3), (4,), ()]
SIDES = [(4,), (4, 2), (3, 4, 2), (3, 4), (1, 4, 1), (4, 0), (0, 4, 2), (2, 3, 4, 2), (0,), (2, 0, 3), (2, 0, 0), ()]
ORDERS = [None, "fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf"), 0, 3]

# Functions of one array, by what they are called with.
ONE = """
    la.cholesky(a) la.cond(a) la.det(a) la.eig(a) la.eigh(a) la.eigvals(a) la.eigvalsh(a) la.inv(a) la.matrix_norm(a)
    la.matrix_power(a,2) la.matrix_power(a,-1) la.matrix_power(a,0) la.matrix_rank(a) la.pinv(a) la.qr(a)
    la.qr(a,mode='complete') la.qr(a,mode='r') la.slogdet(a) la.svd(a) la.svd(a,full_matrices=False) la.svdvals(a)
    la.tensorinv(a,ind=1) la.trace(a) la.diagonal(a) la.matrix_transpose(a) la.vector_norm(a) la.norm(a)
    sl.cholesky(a) sl.cho_factor(a)[0] sl.det(a) sl.eigh(a) sl.expm(a) sl.hessenberg(a) sl.hessenberg(a,calc_q=True) sl.inv(a)
    sl.lu(a) sl.lu(a,permute_l=True) sl.lu_factor(a) sl.polar(a,method='svd') sl.qr(a) sl.qr(a,mode='economic') sl.schur(a)
    sl.schur(a,output='complex') sl.svd(a) sl.sqrtm(a) sl.toeplitz(a) sl.hankel(a) sl.circulant(a)
    L.cholesky(a) L.eig(a) L.eigh(a) L.hessenberg(a) L.lu(a) L.qr(a) L.schur(a) L.svd(a) L.svd(a,full_matrices=False)
    L.svd(a,compute_uv=False) L.tridiagonal(a)
""".split()
TWO = """
    la.solve(a,b) la.lstsq(a,b) sl.cho_solve((a,True),b) sl.cho_solve((a,False),b) sl.solve(a,b) sl.solve_triangular(a,b)
    sl.solve_triangular(a,b,trans=1)
    la.multi_dot([a,b]) sl.toeplitz(a,b) sl.hankel(a,b) sl.rsf2csf(a,a) sl.rsf2csf(a,b) sl.solve_sylvester(a,a,b)
    sl.lu_solve((a,jnp.zeros(a.shape[:-1],'int32')),b) sl.qr_multiply(a,b)
""".split()
# Gradients of what is differentiable, which must not fail where the function does not.
GRADIENTS = """
    la.cholesky(a) la.det(a) la.eigvalsh(a) la.inv(a) la.pinv(a) la.qr(a)[1] la.slogdet(a)[1] la.svdvals(a) L.lu(a)[0]
    sl.expm(a) la.matrix_power(a,3) la.norm(a) la.svd(a,full_matrices=False)[0] la.eigh(a)[1]
""".split()


# What JAX refuses with an exception of its own depths, or takes by accident; here the one has a result, the other an error.
UNLIKE = [
    ("sl.hessenberg(a", (2, 3, 0)), *((start, shape) for start in ("sl.rsf2csf", "sl.solve_sylvester") for shape in [(0, 0), (2, 0, 0)]), ("sl.sqrtm(a)", (0, 0)), ("sl.sqrtm(a)", (2, 0, 0)), ("L.hessenberg(a)", (0, 0)),
    ("L.hessenberg(a)", (2, 0, 0)), ("L.tridiagonal(a)", (0, 0)), ("L.tridiagonal(a)", (2, 0, 0)), ("jax.grad(lambda a: jnp.sum(la.det(a)))(a)", (0, 0)),
    ("jax.grad(lambda a: jnp.sum(la.det(a)))(a)", (2, 0, 0)), ("jax.jvp(lambda a: la.det(a)", (0, 0)), ("jax.jvp(lambda a: la.det(a)", (2, 0, 0)),
    *(("jax.vmap(lambda a: L.lu(a)", shape) for shape in [(0, 0), (0, 3), (3, 0)]),
]


def names(system, **arrays):
    return {
        "jnp": system.numpy, "la": system.numpy.linalg, "sl": system.scipy.linalg, "L": system.lax.linalg,
        "jax": system, **{name: system.numpy.asarray(x) for name, x in arrays.items()},
    }


def sample(shape):
    """Positive definite where square, so that factors exist."""
    x = np.asarray(np.random.RandomState(1).randn(*shape), "float32")
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        return (x @ x.swapaxes(-1, -2) + 2 * np.eye(shape[-1])).astype("float32")
    return x


def outcome(expression, arrays):
    """What this gives for arrays."""
    try:
        return facts(eval(expression, names(pullback, **arrays)))
    except Exception as error:  # noqa: BLE001
        assert "internal" not in str(error).lower(), f"{expression}: {error}"
        return facts(error)


def expected(expression, arrays, jax):
    """What JAX gives, as far as shapes tell: it compiles nothing, which would take minutes."""
    bound = names(jax)
    try:
        return facts(jax.eval_shape(lambda arrays: eval(expression, bound | arrays), arrays))
    except Exception as error:  # noqa: BLE001
        return facts(error)


def flattened(value):
    """Shapes and dtypes, whatever container they come in."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], list):
        return [flattened(item) for item in value[1]]
    return value


def differing(cases, oracle):
    found = []
    for expression, arrays in cases:
        if any(expression.startswith(start) and arrays["a"].shape == shape for start, shape in UNLIKE):
            continue
        if "b" in arrays and arrays["b"].ndim == 0 and arrays["a"].ndim < 2:
            continue  # Which of two errors comes first.
        ours, theirs = flattened(outcome(expression, arrays)), flattened(expected(expression, arrays, oracle))
        if ours != theirs:
            shapes = {name: x.shape for name, x in arrays.items()}
            found.append(f"{expression} of {shapes}: {ours}, JAX {theirs}")
    return found


def test_one_matrix(jax_oracle):
    cases = [(expression, {"a": sample(shape)}) for expression in ONE for shape in MATRICES]
    assert differing(cases, jax_oracle) == []


def test_two_matrices(jax_oracle):
    cases = [
        (expression, {"a": sample(a), "b": sample(b)}) for expression in TWO for a in MATRICES for b in [*SIDES, *MATRICES[:3]]
    ]
    assert differing(cases, jax_oracle) == []


def test_norms_of_empty_matrices(jax_oracle):
    shapes = [(0, 3), (3, 0), (0, 0), (2, 0, 3), (0,), (3,), (2, 3)]
    cases = [
        (f"la.norm(a, ord={order!r}, axis={(-2, -1) if len(shape) == 3 else None}, keepdims={keep})".replace("inf", "jnp.inf"),
         {"a": sample(shape)})
        for shape in shapes for order in ORDERS for keep in (False, True)
    ]
    assert differing(cases, jax_oracle) == []


@pytest.mark.parametrize("how", ["jax.grad(lambda a: jnp.sum({}))(a)", "jax.jvp(lambda a: {}, (a,), (a,))", "jax.vmap(lambda a: {})(a)"])
def test_derivatives_of_empty_matrices(jax_oracle, how):
    shapes = [(0, 0), (2, 0, 0), (0, 2, 2), (2, 0, 2), (2, 2, 0), (0, 3), (3, 0)]
    cases = [(how.format(expression), {"a": sample(shape)}) for expression in GRADIENTS for shape in shapes]
    assert differing(cases, jax_oracle) == []


def test_tridiagonal_systems(jax_oracle):
    shapes = [((3,), (3, 1)), ((3,), (3,)), ((3,), ()), ((), ()), ((2, 3), (2, 3, 2)), ((0,), (0, 2)), ((3,), (3, 0)), ((2, 3), (3, 2))]
    call = "L.tridiagonal_solve(a, a + 1, a, b, perturb_singular={})"
    hows = ["{}", "jax.jvp(lambda a, b: {}, (a, b), (a, b))", "jax.grad(lambda b: jnp.sum({}))(b)"]
    cases = [
        (how.format(call.format(perturb)), {"a": sample(a), "b": sample(b)})
        for a, b in shapes for perturb in (False, True) for how in hows
    ]
    assert differing(cases, jax_oracle) == []


def test_huge_empty_matrices_end():
    a = np.zeros((0, 2**40), "float32")
    assert [x.shape for x in pullback.scipy.linalg.lu(a)] == [(0, 0), (0, 0), (0, 2**40)]
    assert [x.shape for x in pullback.lax.linalg.qr(a)] == [(0, 0), (0, 2**40)]
    assert pullback.numpy.linalg.svdvals(a).shape == (0,)


@pytest.mark.parametrize("kind", ["float32", "int32", "bool", "complex64", "batch"])
@pytest.mark.parametrize("setting, mode", [("numpy_dtype_promotion", "strict"), ("numpy_rank_promotion", "raise")])
def test_nothing_is_promoted_inside(jax_oracle, setting, mode, kind):
    """Where JAX has a result under strict promotion, so has this."""
    more = ["sl.companion(a[..., 0])", "sl.eigh(a, a)", "L.qdwh(a)[0]", "sl.fiedler_companion(a[..., 0])"]
    gradients = [f"jax.grad(lambda a: jnp.sum({call}).real)(a)" for call in ("la.det(a)", "la.slogdet(a)[1]", "la.pinv(a)", "la.inv(a)")]
    arrays = {"a": sample((3, 4, 4) if kind == "batch" else (4, 4)), "b": sample((4, 2))}
    arrays = arrays if kind == "batch" else {name: x.astype(kind) for name, x in arrays.items()}
    found = []
    for expression in [*ONE, *TWO, *more, *gradients]:
        outcomes = []
        for system in (pullback, jax_oracle):
            bound = names(system, **arrays)
            try:
                with getattr(system, setting)(mode):
                    eval(expression, bound)
                outcomes.append("")
            except Exception as error:  # noqa: BLE001
                outcomes.append(f"{type(error).__name__}: {error}"[:200])
        if outcomes[0] and not outcomes[1]:
            found.append((expression, outcomes[0]))
    assert found == []
