"""distrax: densities, samples and divergences, bijectors and their inverses, a flow that is trained."""

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from task import report

jax.config.update("jax_enable_x64", True)
POINTS = np.array([0.2, 0.7])


def densities():
    """Logarithms of densities, samples, entropies."""
    cases = {
        "normal": distrax.Normal(0.3, 1.2), "beta": distrax.Beta(2.0, 3.0), "gamma": distrax.Gamma(2.0, 1.5), "laplace": distrax.Laplace(0.1, 0.8),
        "logistic": distrax.Logistic(0.2, 0.5), "uniform": distrax.Uniform(-1.0, 2.0), "gumbel": distrax.Gumbel(0.1, 0.9), "mises": distrax.VonMises(0.3, 1.4),
    }  # fmt: skip
    for name, case in cases.items():
        drawn, density = case.sample_and_log_prob(seed=jax.random.key(1), sample_shape=(3,))
        yield name, [*drawn, *density, *case.log_prob(POINTS), case.entropy(), case.mean()]
    categorical = distrax.Categorical(logits=jnp.array([0.1, 0.4, -0.3]))
    yield "categorical", [*categorical.sample(seed=jax.random.key(2), sample_shape=(4,)), categorical.entropy(), categorical.mode()]
    yield "bernoulli", [*distrax.Bernoulli(probs=0.3).sample(seed=jax.random.key(2), sample_shape=(4,)), distrax.Bernoulli(probs=0.3).entropy()]
    vector = distrax.MultivariateNormalTri(jnp.array([0.1, 0.2]), jnp.array([[1.0, 0.0], [0.5, 2.0]]))
    yield "multivariate", [*vector.sample(seed=jax.random.key(3)), vector.log_prob(POINTS), vector.entropy()]
    yield "divergence", distrax.Normal(0.0, 1.0).kl_divergence(distrax.Normal(0.5, 2.0))
    mixed = distrax.MixtureSameFamily(distrax.Categorical(probs=jnp.array([0.3, 0.7])), distrax.Normal(jnp.array([-1.0, 1.0]), 0.5))
    yield "mixture", [mixed.log_prob(0.2), mixed.mean(), jax.grad(mixed.log_prob)(0.2)]
    chain = distrax.HMM(distrax.Categorical(probs=jnp.array([0.6, 0.4])), distrax.Categorical(probs=jnp.array([[0.9, 0.1], [0.3, 0.7]])), distrax.Normal(jnp.array([0.0, 2.0]), 1.0))
    yield "filtered", chain.forward(jnp.array([0.1, 1.8, 2.2]))[0]
    yield "viterbi", chain.viterbi(jnp.array([0.1, 1.8, 2.2, -0.3]))


def bijectors():
    """Values, logarithms of determinants, and inverses, those that are read off a function's jaxpr among them."""
    cases = {
        "tanh": distrax.Tanh(), "sigmoid": distrax.Sigmoid(), "affine": distrax.ScalarAffine(0.3, 2.0), "chain": distrax.Chain([distrax.Tanh(), distrax.ScalarAffine(0.1, 0.5)]),
        "lambda": distrax.Lambda(lambda x: jnp.exp(2 * x + 1)), "gamma": distrax.GumbelCDF(),
    }  # fmt: skip
    for name, case in cases.items():
        y, determinant = case.forward_and_log_det(POINTS)
        yield name, [*y, *determinant, *case.inverse(y)]
    widths = jnp.linspace(-0.5, 0.5, 3 * 4 + 1)
    spline = distrax.RationalQuadraticSpline(widths, -2.0, 2.0)
    y, determinant = spline.forward_and_log_det(POINTS)
    yield "spline", [*y, *determinant, *spline.inverse(y)]
    tanh = distrax.Transformed(distrax.Normal(0.1, 0.6), distrax.Lambda(jnp.tanh))
    yield "transformed", [*tanh.log_prob(POINTS), *tanh.sample(seed=jax.random.key(4), sample_shape=(2,))]
    product = distrax.Independent(distrax.Normal(jnp.zeros(2), jnp.ones(2)), 1)
    yield "independent", product.log_prob(POINTS)


def flow():
    """Losses of a flow of coupling layers fitted to two points' neighbourhoods."""
    data = np.random.RandomState(0).standard_normal((32, 2)) * [0.3, 1.5] + [1.0, -0.5]

    def model(params):
        layers = []
        for i in range(2):
            conditioner = lambda x, w=params["w"][i], b=params["b"][i]: jnp.tanh(x @ w + b)  # noqa: E731
            affine = lambda p: distrax.Block(distrax.ScalarAffine(p[..., :2], log_scale=p[..., 2:]), 0)  # noqa: E731
            layers.append(distrax.MaskedCoupling(jnp.arange(2) % 2 == i, conditioner, affine, event_ndims=1, inner_event_ndims=0))
        return distrax.Transformed(distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2)), distrax.Inverse(distrax.Chain(layers)))

    loss = jax.jit(jax.value_and_grad(lambda params: -model(params).log_prob(jnp.asarray(data)).mean()))
    params = {"w": 0.1 * jax.random.normal(jax.random.key(0), (2, 2, 4)), "b": jnp.zeros((2, 4))}
    optimizer = optax.adam(0.05)
    state, losses = optimizer.init(params), []
    for _ in range(8):
        value, slopes = loss(params)
        updates, state = optimizer.update(slopes, state)
        params = optax.apply_updates(params, updates)
        losses.append(value)
    return losses


if __name__ == "__main__":
    report({**{name: value for part in (densities, bijectors) for name, value in part()}, "flow": flow()})
