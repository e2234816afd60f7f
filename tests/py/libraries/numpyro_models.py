"""numpyro: densities, transforms, handlers, inference by NUTS and by optimization."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import random
from numpyro import handlers
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, autoguide, log_likelihood
from numpyro.infer.util import log_density
from task import report

numpyro.enable_x64()
EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def schools(effects=None):
    """What coaching does in eight schools."""
    mean = numpyro.sample("mean", dist.Normal(0, 5))
    spread = numpyro.sample("spread", dist.HalfCauchy(5))
    with numpyro.plate("schools", 8):
        shift = numpyro.sample("shift", dist.Normal(0, 1))
        numpyro.sample("seen", dist.Normal(mean + spread * shift, ERRORS), obs=effects)


def densities():
    """Logarithms of densities, their slopes, and samples."""
    cases = {
        "normal": dist.Normal(0.3, 1.2), "student": dist.StudentT(3.0, 0.1, 2.0), "gamma": dist.Gamma(2.0, 1.5), "beta": dist.Beta(2.0, 3.0),
        "weibull": dist.Weibull(1.2, 0.7), "gumbel": dist.Gumbel(0.2, 1.1), "laplace": dist.Laplace(0.1, 0.8), "lognormal": dist.LogNormal(0.1, 0.5),
        "truncated": dist.TruncatedNormal(0.0, 1.0, low=-0.5, high=2.0), "pareto": dist.Pareto(0.2, 2.0), "mises": dist.VonMises(0.3, 1.4),
    }  # fmt: skip
    for name, case in cases.items():
        drawn = case.sample(random.key(1), (3,))
        yield f"{name}", [*drawn, *case.log_prob(jnp.array([0.4, 0.7])), *jax.vmap(jax.grad(case.log_prob))(jnp.array([0.4, 0.7]))]
    counts = {"poisson": dist.Poisson(3.0), "binomial": dist.Binomial(7, 0.3), "negative": dist.NegativeBinomial2(3.0, 2.0), "zero": dist.ZeroInflatedPoisson(0.2, 3.0), "categorical": dist.Categorical(jnp.array([0.2, 0.5, 0.3]))}
    for name, case in counts.items():
        yield name, [*case.sample(random.key(2), (4,)), *case.log_prob(jnp.array([0, 2]))]
    vector = jnp.array([0.2, -0.1, 0.4])
    covariance = jnp.array([[2.0, 0.3, 0.1], [0.3, 1.0, 0.2], [0.1, 0.2, 1.5]])
    yield "multivariate", [dist.MultivariateNormal(vector, covariance).log_prob(jnp.ones(3)), *dist.MultivariateNormal(vector, covariance).sample(random.key(3))]
    yield "lkj", dist.LKJCholesky(3, 1.5).sample(random.key(4))
    yield "dirichlet", [dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])).log_prob(jnp.array([0.2, 0.3, 0.5])), *dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])).sample(random.key(5))]
    mixed = dist.MixtureSameFamily(dist.Categorical(jnp.array([0.3, 0.7])), dist.Normal(jnp.array([-1.0, 1.0]), 0.5))
    yield "mixture", [mixed.log_prob(0.2), mixed.sample(random.key(6))]
    yield "divergence", dist.kl_divergence(dist.Normal(0.0, 1.0), dist.Normal(0.5, 2.0))
    for support in (dist.constraints.simplex, dist.constraints.corr_cholesky, dist.constraints.ordered_vector, dist.constraints.unit_interval, dist.constraints.positive_definite):
        transform = dist.biject_to(support)
        yield f"to_{type(support).__name__}", jnp.ravel(transform(jnp.array([0.2, -0.4, 0.9])))


def traces():
    """What handlers see of a model."""
    model = handlers.seed(handlers.condition(schools, {"mean": 2.0, "spread": 1.5}), random.key(0))
    trace = handlers.trace(model).get_trace(EFFECTS)
    yield "sites", " ".join(trace)
    yield "density", log_density(schools, (EFFECTS,), {}, {"mean": 2.0, "spread": 1.5, "shift": jnp.arange(8) / 8})[0]
    yield "relations", str(sorted(numpyro.infer.inspect.get_dependencies(schools, (EFFECTS,))["posterior_dependencies"]["shift"].items()))
    prior = Predictive(schools, num_samples=2)(random.key(1))
    yield "prior", prior["seen"]


def sampled():
    """A chain of NUTS whose step is fixed, and one that adapts, by their moments."""
    fixed = MCMC(NUTS(schools, step_size=0.3, adapt_step_size=False, adapt_mass_matrix=False, max_tree_depth=4), num_warmup=1, num_samples=8, progress_bar=False)
    fixed.run(random.key(0), EFFECTS)
    yield "chain", fixed.get_samples()["mean"]
    seen = log_likelihood(schools, fixed.get_samples(), EFFECTS)["seen"]
    yield "likelihood", seen.sum(-1)
    adapted = MCMC(NUTS(schools), num_warmup=200, num_samples=300, num_chains=2, chain_method="vectorized", progress_bar=False)
    adapted.run(random.key(0), EFFECTS)
    found = adapted.get_samples()["mean"]
    yield "posterior", "near" if abs(found.mean() - 4.4) < 1.0 and 2 < found.std() < 4.5 else f"{found.mean()} {found.std()}"


def optimized():
    """Losses and answers of variational inference."""
    guide = autoguide.AutoNormal(schools)
    inference = SVI(schools, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
    found = inference.run(random.key(0), 30, EFFECTS, progress_bar=False)
    yield "losses", found.losses
    yield "median", guide.median(found.params)["shift"]
    laplace = autoguide.AutoLaplaceApproximation(schools)
    found = SVI(schools, laplace, numpyro.optim.Adam(0.05), Trace_ELBO()).run(random.key(0), 20, EFFECTS, progress_bar=False)
    yield "laplace_draw", laplace.sample_posterior(random.key(2), found.params)["mean"]


if __name__ == "__main__":
    report({name: value for part in (densities, traces, sampled, optimized) for name, value in part()})
