"""jaxopt: minima with and without constraints, roots, and how they move with a parameter."""

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
from jaxopt import projection, prox
from task import report

jax.config.update("jax_enable_x64", True)
NUMBERS = np.random.RandomState(0)
INPUTS = NUMBERS.standard_normal((12, 4))
WANTED = NUMBERS.standard_normal(12)
START = jnp.zeros(4)


def ridge(weights, strength, data=(INPUTS, WANTED)):
    """Squared residuals and the weights' squares."""
    return 0.5 * jnp.mean((data[0] @ weights - data[1]) ** 2) + 0.5 * strength * jnp.sum(weights**2)


def minima():
    """The weights that each method finds, and their derivative with respect to the strength."""
    solvers = {
        "gradient": jaxopt.GradientDescent(ridge, maxiter=200, tol=1e-10), "lbfgs": jaxopt.LBFGS(ridge, tol=1e-10), "bfgs": jaxopt.BFGS(ridge, tol=1e-10),
        "nonlinear_cg": jaxopt.NonlinearCG(ridge, tol=1e-8), "scipy": jaxopt.ScipyMinimize(fun=ridge, method="L-BFGS-B", tol=1e-10),
    }  # fmt: skip
    for name, solver in solvers.items():
        yield name, solver.run(START, 0.3).params
        yield f"slope_{name}", jax.jacrev(lambda s, solver=solver: solver.run(START, s).params)(0.3)
    yield "loop", jaxopt.LBFGS(ridge, maxiter=5, jit=True).run(START, 0.1).params
    newton = jaxopt.GaussNewton(lambda w: jnp.tanh(INPUTS @ w) - jnp.tanh(WANTED), maxiter=20)
    yield "gauss_newton", newton.run(START).params
    fit = jaxopt.LevenbergMarquardt(lambda w: jnp.tanh(INPUTS @ w) - jnp.tanh(WANTED), maxiter=30)
    yield "marquardt", fit.run(START).params


def constrained():
    """Minima on sets, and sums with penalties that have corners."""
    loss = lambda w, data: 0.5 * jnp.sum((data[0] @ w - data[1]) ** 2)  # noqa: E731
    data = (INPUTS, WANTED)
    simplex = jaxopt.ProjectedGradient(loss, projection.projection_simplex, maxiter=300, tol=1e-9)
    yield "simplex", simplex.run(jnp.full(4, 0.25), data=data).params
    yield "slope_simplex", jax.jacrev(lambda y: simplex.run(jnp.full(4, 0.25), data=(INPUTS, y)).params)(WANTED)
    box = jaxopt.LBFGSB(loss, tol=1e-9)
    yield "box", box.run(START, bounds=(-0.1 * jnp.ones(4), 0.1 * jnp.ones(4)), data=data).params
    lasso = jaxopt.ProximalGradient(loss, prox.prox_lasso, maxiter=500, tol=1e-9)
    yield "lasso", lasso.run(START, hyperparams_prox=1.5, data=data).params
    yield "slope_lasso", jax.jacrev(lambda s: lasso.run(START, hyperparams_prox=s, data=data).params)(1.5)
    blocks = jaxopt.BlockCoordinateDescent(jaxopt.objective.least_squares, jaxopt.prox.prox_lasso, maxiter=200, tol=1e-9)
    yield "blocks", blocks.run(START, hyperparams_prox=0.1, data=data).params
    square, linear = INPUTS.T @ INPUTS, -INPUTS.T @ WANTED
    program = jaxopt.OSQP(tol=1e-8, maxiter=2000).run(params_obj=(square, linear), params_ineq=(jnp.eye(4), 0.2 * jnp.ones(4)))
    yield "quadratic", program.params.primal
    equal = jaxopt.EqualityConstrainedQP().run(params_obj=(square, linear), params_eq=(jnp.ones((1, 4)), jnp.ones(1)))
    yield "equality", equal.params.primal
    mirror = jaxopt.MirrorDescent(loss, jaxopt.MirrorDescent.make_projection_grad(projection.projection_simplex, lambda x: x), stepsize=0.01, maxiter=50)
    yield "mirror", mirror.run(jnp.full(4, 0.25), None, data=data).params


def roots():
    """Roots and fixed points with implicit derivatives."""
    cubic = jaxopt.Bisection(lambda x, a: x**3 - a, 0.0, 3.0, tol=1e-10)
    yield "bisection", [cubic.run(None, 2.0).params, jax.grad(lambda a: cubic.run(None, a).params)(2.0)]
    fixed = jaxopt.FixedPointIteration(lambda x, a: jnp.cos(a * x), tol=1e-10, maxiter=200)
    yield "fixed_point", [fixed.run(0.5, 0.8).params, jax.grad(lambda a: fixed.run(0.5, a).params)(0.8)]
    mixed = jaxopt.AndersonAcceleration(lambda x, a: jnp.cos(a * x), tol=1e-10, maxiter=50)
    yield "anderson", mixed.run(jnp.array([0.5]), 0.8).params
    broyden = jaxopt.Broyden(lambda x, a: jnp.stack([x[0] ** 2 + x[1] - a, x[0] - x[1]]), tol=1e-9)
    yield "broyden", broyden.run(jnp.ones(2), 3.0).params


def losses():
    """Losses, projections and penalties by themselves, with slopes."""
    scores = jnp.array([0.3, -0.2, 1.1])
    yield "sparsemax", [jaxopt.loss.multiclass_sparsemax_loss(1, scores), *jax.grad(jaxopt.loss.multiclass_sparsemax_loss, 1)(1, scores)]
    yield "logistic", [jaxopt.loss.multiclass_logistic_loss(1, scores), *jax.grad(jaxopt.loss.multiclass_logistic_loss, 1)(1, scores)]
    yield "ball", projection.projection_l1_ball(scores, 0.7)
    yield "birkhoff", projection.projection_transport(jnp.ones((2, 2)) * 0.3 + jnp.eye(2), (jnp.ones(2), jnp.ones(2)))
    yield "isotonic", jaxopt.isotonic.isotonic_l2_pav(jnp.array([0.3, 0.9, 0.1, 0.5]))


if __name__ == "__main__":
    report({name: value for part in (minima, constrained, roots, losses) for name, value in part()})
