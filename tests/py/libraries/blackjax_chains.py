"""blackjax: steps of its samplers on a regression, adaptation, and populations of samples."""

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from task import report

jax.config.update("jax_enable_x64", True)
NUMBERS = np.random.RandomState(0)
INPUTS = NUMBERS.standard_normal((20, 3))
WANTED = INPUTS @ [1.0, -0.5, 0.3] + 0.1 * NUMBERS.standard_normal(20)
START = jnp.array([0.1, 0.2, -0.1])


def density(weights):
    """The posterior's logarithm, without its constant."""
    return -0.5 * jnp.sum((WANTED - INPUTS @ weights) ** 2) - 0.5 * jnp.sum(weights**2)


def chain(kernel, state, steps=6):
    """Positions after each step."""

    def step(state, key):
        state, _ = kernel.step(key, state)
        return state, state.position

    return jax.lax.scan(step, state, jax.random.split(jax.random.key(0), steps))[1]


def samplers():
    """A few steps of each kernel."""
    mass = jnp.array([0.05, 0.04, 0.06])
    kernels = {
        "hmc": blackjax.hmc(density, 0.5, mass, 5), "nuts": blackjax.nuts(density, 0.4, mass), "mala": blackjax.mala(density, 0.01),
        "random_walk": blackjax.additive_step_random_walk(density, blackjax.mcmc.random_walk.normal(jnp.eye(3) * 0.1)),
        "elliptical": blackjax.elliptical_slice(lambda w: -0.5 * jnp.sum((WANTED - INPUTS @ w) ** 2), mean=jnp.zeros(3), cov=jnp.eye(3)),
    }  # fmt: skip
    for name, kernel in kernels.items():
        yield name, chain(kernel, kernel.init(START))
    mclmc = blackjax.mclmc(density, L=1.0, step_size=0.1)
    yield "mclmc", chain(mclmc, mclmc.init(START, jax.random.key(7)))
    noisy = blackjax.sgld(lambda w, batch: jax.grad(density)(w))
    yield "sgld", noisy.step(jax.random.key(1), noisy.init(START), INPUTS, 1e-3)


def adapted():
    """What the window adaptation finds, and where samples that follow lie."""
    warmup = blackjax.window_adaptation(blackjax.nuts, density)
    (state, parameters), _ = warmup.run(jax.random.key(0), START, num_steps=200)
    found = chain(blackjax.nuts(density, **parameters), state, 200)
    exact = np.linalg.solve(INPUTS.T @ INPUTS + np.eye(3), INPUTS.T @ WANTED)
    yield "posterior", "near" if np.abs(found.mean(0) - exact).max() < 0.1 else str(found.mean(0))


def populations():
    """Tempered sequential samples, and mean-field variational inference."""
    prior = lambda w: -0.5 * jnp.sum(w**2)  # noqa: E731
    likelihood = lambda w: -0.5 * jnp.sum((WANTED - INPUTS @ w) ** 2)  # noqa: E731
    parameters = blackjax.smc.extend_params({"step_size": 0.1, "inverse_mass_matrix": jnp.ones(3), "num_integration_steps": 3})
    tempered = blackjax.tempered_smc(prior, likelihood, blackjax.hmc.build_kernel(), blackjax.hmc.init, parameters, blackjax.smc.resampling.systematic, num_mcmc_steps=2)
    state = tempered.init(jax.random.normal(jax.random.key(3), (10, 3)))
    for i, temper in enumerate((0.05, 0.3)):
        state, _ = jax.jit(tempered.step, static_argnums=())(jax.random.key(i), state, num_mcmc_steps=2, tempering_param=temper) if False else tempered.step(jax.random.key(i), state, tempering_param=temper)
    yield "tempered", state.particles
    field = blackjax.meanfield_vi(density, optax.adam(0.05), 8)
    state = field.init(START)
    for i in range(4):
        state, info = jax.jit(field.step)(jax.random.key(i), state)
    yield "meanfield", [*state.mu, *state.rho, info.elbo]


if __name__ == "__main__":
    report({name: value for part in (samplers, adapted, populations) for name, value in part()})
