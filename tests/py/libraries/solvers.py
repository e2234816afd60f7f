"""lineax and optimistix: linear solvers, roots, fits and minima, all with gradients."""

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
import optimistix as optx
from task import report

jax.config.update("jax_enable_x64", True)
# Digits of minima, which their methods find to a tolerance: what lies beyond depends on roundings.
TO_THE_TOLERANCE = 5
NUMBERS = np.random.RandomState(0)
MATRIX = NUMBERS.standard_normal((5, 5))
DEFINITE = MATRIX @ MATRIX.T + np.eye(5)
RIGHT = NUMBERS.standard_normal(5)


def linear_solvers():
    """The solution, and the gradient of its square with respect to the matrix and the right side."""
    symmetric = frozenset({lx.symmetric_tag, lx.positive_semidefinite_tag})
    cases = {
        "lu": (lx.LU(), MATRIX, frozenset()),
        "qr": (lx.QR(), NUMBERS.standard_normal((5, 3)), frozenset()),
        "svd": (lx.SVD(), NUMBERS.standard_normal((5, 3)), frozenset()),
        "cholesky": (lx.Cholesky(), DEFINITE, symmetric),
        "cg": (lx.CG(1e-12, 1e-12), DEFINITE, symmetric),
        "gmres": (lx.GMRES(1e-12, 1e-12), MATRIX, frozenset()),
        "bicgstab": (lx.BiCGStab(1e-12, 1e-12), DEFINITE, frozenset()),
        "triangular": (lx.Triangular(), np.tril(DEFINITE), frozenset({lx.lower_triangular_tag})),
        "well_posed": (lx.AutoLinearSolver(well_posed=True), MATRIX, frozenset()),
        "ill_posed": (lx.AutoLinearSolver(well_posed=False), NUMBERS.standard_normal((5, 3)), frozenset()),
    }
    for name, (solver, matrix, tags) in cases.items():
        def loss(matrix, right, solver=solver, tags=tags):
            found = lx.linear_solve(lx.MatrixLinearOperator(matrix, tags), right, solver).value
            return jnp.sum(found**2), found

        (_, found), slopes = jax.jit(jax.value_and_grad(loss, argnums=(0, 1), has_aux=True))(matrix, RIGHT)
        yield f"solve_{name}", found
        yield f"slope_{name}", np.concatenate([np.ravel(slopes[0]), slopes[1]])


def operators():
    """Operators that are functions, tridiagonal, or put together, and solves of many right sides."""
    line = lx.TridiagonalLinearOperator(jnp.arange(4.0, 9.0), jnp.ones(4), -jnp.ones(4))
    yield "tridiagonal", lx.linear_solve(line, RIGHT, lx.Tridiagonal()).value
    yield "composed", (lx.MatrixLinearOperator(MATRIX) @ line + 2 * lx.IdentityLinearOperator(line.in_structure())).as_matrix()
    curve = lx.FunctionLinearOperator(lambda x: DEFINITE @ x, jax.ShapeDtypeStruct((5,), jnp.float64), lx.positive_semidefinite_tag)
    yield "function", lx.linear_solve(curve, RIGHT, lx.CG(1e-10, 1e-10)).value
    slope = lx.JacobianLinearOperator(lambda x, args: jnp.sin(x) * x[::-1], jnp.arange(5.0))
    yield "jacobian", slope.as_matrix()
    many = jax.vmap(lambda b: lx.linear_solve(lx.MatrixLinearOperator(MATRIX), b).value)(NUMBERS.standard_normal((3, 5)))
    yield "batched", many
    refused = lx.linear_solve(lx.MatrixLinearOperator(jnp.zeros((2, 2))), jnp.ones(2), lx.LU(), throw=False)
    yield "singular", "yes" if refused.result != lx.RESULTS.successful else "no"


def roots_and_fits():
    """Roots, fixed points, least squares and minima, and how the answers move with a parameter."""
    root = lambda a: optx.root_find(lambda y, a: jnp.stack([y[0] ** 2 + y[1] - a, y[0] - y[1] ** 3]), optx.Newton(1e-10, 1e-10), jnp.ones(2), a).value  # noqa: E731
    yield "newton", root(3.0)
    yield "newton_slope", jax.jacrev(root)(3.0)
    fixed = lambda a: optx.fixed_point(lambda y, a: jnp.cos(a * y), optx.FixedPointIteration(1e-12, 1e-12), 0.5, a).value  # noqa: E731
    yield "fixed_point", [fixed(0.8), jax.grad(fixed)(0.8)]
    yield "bisection", optx.root_find(lambda y, _: y**3 - 2, optx.Bisection(1e-10, 1e-10), 1.0, options={"lower": 0.0, "upper": 2.0}).value
    times = jnp.linspace(0, 2, 9)
    wanted = 2.5 * jnp.exp(-1.3 * times) + 0.1 * jnp.sin(9 * times)
    residual = lambda y, _: y[0] * jnp.exp(-y[1] * times) - wanted  # noqa: E731
    for name, solver in {"marquardt": optx.LevenbergMarquardt(1e-10, 1e-10), "gauss": optx.GaussNewton(1e-10, 1e-10), "dogleg": optx.Dogleg(1e-10, 1e-10)}.items():
        yield name, jnp.round(optx.least_squares(residual, solver, jnp.array([1.0, 1.0])).value, TO_THE_TOLERANCE)
    valley = lambda y, _: (1 - y[0]) ** 2 + 10 * (y[1] - y[0] ** 2) ** 2  # noqa: E731
    for name, solver in {"bfgs": optx.BFGS(1e-9, 1e-9), "nelder_mead": optx.NelderMead(1e-9, 1e-9), "conjugate": optx.NonlinearCG(1e-9, 1e-9)}.items():
        yield name, jnp.round(optx.minimise(valley, solver, jnp.array([-0.5, 0.7]), max_steps=4000).value, TO_THE_TOLERANCE)


if __name__ == "__main__":
    report({name: value for part in (linear_solvers, operators, roots_and_fits) for name, value in part()})
