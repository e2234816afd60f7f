"""e3nn_jax: spherical harmonics, products of representations, layers, equivariance, a message-passing network that is trained."""

import e3nn_jax as e3nn
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from task import report

jax.config.update("jax_enable_x64", True)
NUMBERS = np.random.RandomState(0)
POINTS = jnp.asarray(NUMBERS.standard_normal((5, 3)))


def parts():
    """What the functions give."""
    yield "harmonics", e3nn.spherical_harmonics("0e + 1o + 2e + 3o", POINTS, normalize=True).array
    yield "slopes", jax.grad(lambda p: (e3nn.spherical_harmonics("1o + 2e", p, normalize=False).array ** 2).sum())(POINTS)
    first, second = (e3nn.IrrepsArray("0e + 1o", NUMBERS.standard_normal((4,))) for _ in range(2))
    product = e3nn.tensor_product(first, second)
    yield "product", product.array
    yield "irreps", str(product.irreps)
    yield "square", e3nn.tensor_square(first).array
    yield "clebsch_gordan", e3nn.clebsch_gordan(1, 1, 2).ravel()
    turned = e3nn.Irreps("1o + 2e").D_from_angles(0.3, 0.4, 0.5)
    yield "turned", turned
    yield "gate", e3nn.gate(e3nn.IrrepsArray("2x0e + 1o", jnp.arange(5.0))).array
    yield "norm", e3nn.norm(product).array
    yield "basis", e3nn.bessel(jnp.linspace(0.1, 2.0, 4), 3, 2.0)
    yield "bumps", e3nn.soft_one_hot_linspace(jnp.linspace(0.0, 1.0, 3), start=0.0, end=1.0, number=4, basis="smooth_finite", cutoff=True)
    yield "wave", e3nn.to_s2grid(e3nn.IrrepsArray("0e + 1o", jnp.arange(4.0)), 6, 5, quadrature="soft").grid_values
    yield "polynomial", e3nn.reduced_symmetric_tensor_product_basis("1o", 2).array


def layers():
    """A linear layer's answer, and that it turns with its input."""
    layer = e3nn.flax.Linear("4x0e + 2x1o")
    x = e3nn.IrrepsArray("2x0e + 1o", NUMBERS.standard_normal((3, 5)))
    weights = layer.init(jax.random.key(0), x)
    y = layer.apply(weights, x)
    yield "linear", y.array
    angles = (0.1, 0.7, -0.4)
    yield "turns", "yes" if jnp.abs(layer.apply(weights, x.transform_by_angles(*angles)).array - y.transform_by_angles(*angles).array).max() < 1e-5 else "no"


class Network(nn.Module):
    """One round of messages over all pairs of points, and a scalar for each point set."""

    @nn.compact
    def __call__(self, points):
        senders, receivers = jnp.array([(i, j) for i in range(5) for j in range(5) if i != j]).T
        along = e3nn.IrrepsArray("1o", points[receivers] - points[senders])
        messages = e3nn.tensor_product(e3nn.concatenate([e3nn.IrrepsArray("0e", jnp.ones((20, 1))), along]), e3nn.spherical_harmonics("0e + 1o + 2e", along, normalize=True))
        nodes = e3nn.scatter_sum(messages, dst=receivers, output_size=5) / 4
        nodes = e3nn.flax.Linear("8x0e + 4x1o + 4x0e")(nodes.regroup())
        nodes = e3nn.flax.Linear("0e")(e3nn.gate(nodes))
        return nodes.array.sum()


def trained():
    """Losses of eight steps towards two shapes' energies."""
    shapes, energies = jnp.stack([POINTS, 0.5 * POINTS]), jnp.array([1.0, -0.5])
    network = Network()
    params = network.init(jax.random.key(1), POINTS)
    optimizer = optax.sgd(0.02)
    step = jax.jit(jax.value_and_grad(lambda p: jnp.mean((jax.vmap(lambda x: network.apply(p, x))(shapes) - energies) ** 2)))
    state, losses = optimizer.init(params), []
    for _ in range(8):
        value, slopes = step(params)
        updates, state = optimizer.update(slopes, state)
        params = optax.apply_updates(params, updates)
        losses.append(value)
    return losses


if __name__ == "__main__":
    report({**{name: value for part in (parts, layers) for name, value in part()}, "trained": trained()})
