"""diffrax: ordinary and stochastic differential equations and their gradients, and one whose field is a network."""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
from task import report

jax.config.update("jax_enable_x64", True)


def curves():
    """Solutions of Lotka and Volterra's equations by several solvers, dense and stiff ones, and gradients by three adjoints."""
    field = diffrax.ODETerm(lambda t, y, rates: jnp.stack([rates[0] * y[0] - rates[1] * y[0] * y[1], rates[1] * y[0] * y[1] - rates[2] * y[1]]))
    rates, start = jnp.array([0.9, 0.6, 0.8]), jnp.array([1.0, 2.0])
    controller = diffrax.PIDController(rtol=1e-7, atol=1e-9)

    def solve(rates, solver, adjoint, controller=controller):
        steps = diffrax.SaveAt(ts=jnp.linspace(0.0, 5.0, 6))
        return diffrax.diffeqsolve(field, solver, 0.0, 5.0, 0.1, start, rates, saveat=steps, stepsize_controller=controller, adjoint=adjoint)

    checkpointed = diffrax.RecursiveCheckpointAdjoint()
    for solver in (diffrax.Tsit5(), diffrax.Dopri8(), diffrax.Bosh3(), diffrax.Kvaerno5()):
        found = solve(rates, solver, checkpointed)
        yield type(solver).__name__, found.ys
        yield f"steps_{type(solver).__name__}", [found.stats["num_steps"], found.stats["num_rejected_steps"]]
    for adjoint in (checkpointed, diffrax.BacksolveAdjoint(), diffrax.DirectAdjoint()):
        yield f"slope_{type(adjoint).__name__}", jax.grad(lambda r, adjoint=adjoint: jnp.sum(solve(r, diffrax.Tsit5(), adjoint).ys ** 2))(rates)
    forward = lambda r: solve(r, diffrax.Tsit5(), diffrax.ForwardMode()).ys[-1]  # noqa: E731
    yield "slope_ForwardMode", jax.jacfwd(forward)(rates)
    dense = diffrax.diffeqsolve(field, diffrax.Tsit5(), 0.0, 5.0, 0.1, start, rates, saveat=diffrax.SaveAt(dense=True), stepsize_controller=controller)
    yield "dense", jax.vmap(dense.evaluate)(jnp.linspace(0.3, 4.7, 5))
    stopped = diffrax.diffeqsolve(field, diffrax.Tsit5(), 0.0, 50.0, 0.05, start, rates, event=diffrax.Event(lambda t, y, args, **_: y[1] - 1.0))
    yield "event", [stopped.ts[0], *stopped.ys[0]]


def random_paths():
    """Solutions of a stochastic equation along one Brownian path."""
    path = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-3, shape=(), key=jax.random.key(3))
    terms = diffrax.MultiTerm(diffrax.ODETerm(lambda t, y, a: -a * y), diffrax.ControlTerm(lambda t, y, a: 0.3 * y, path))
    end = lambda a: diffrax.diffeqsolve(terms, diffrax.ItoMilstein(), 0.0, 1.0, 0.05, 1.0, a).ys[0]  # noqa: E731
    yield "brownian", [end(0.7), jax.grad(end)(0.7)]
    yield "increments", jax.vmap(lambda t: path.evaluate(0.0, t))(jnp.linspace(0.1, 1.0, 5))


class Field(eqx.Module):
    """A vector field that is a network."""

    network: eqx.nn.MLP

    def __call__(self, t, y, args):
        return self.network(y)


def neural_equation():
    """Losses of ten steps of fitting a network's field to a spiral."""
    times = jnp.linspace(0.0, 1.0, 8)
    spiral = jnp.stack([jnp.exp(-times) * jnp.cos(4 * times), jnp.exp(-times) * jnp.sin(4 * times)], 1)
    field = Field(eqx.nn.MLP(2, 2, 8, 1, activation=jnp.tanh, key=jax.random.key(0)))

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(field):
        found = diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 1.0, 0.1, spiral[0], saveat=diffrax.SaveAt(ts=times), stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6))
        return jnp.mean((found.ys - spiral) ** 2)

    losses = []
    for _ in range(10):
        value, slopes = loss(field)
        losses.append(value)
        field = eqx.apply_updates(field, jax.tree.map(lambda s: -0.3 * s, slopes))
    return losses


if __name__ == "__main__":
    found = {name: value for part in (curves, random_paths) for name, value in part()}
    report({**found, "neural_equation": neural_equation()})
