"""equinox: filtered transforms, state, checks at run time and serialization, trained."""

import io

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from task import CLASSES, HIDDEN, PIXELS, digits, report

images, labels = map(jnp.asarray, digits())


class Norm(eqx.Module):
    """A network whose normalization keeps statistics."""

    hidden: eqx.nn.Linear
    norm: eqx.nn.BatchNorm
    output: eqx.nn.Linear

    def __init__(self, key):
        first, second = jax.random.split(key)
        self.hidden = eqx.nn.Linear(PIXELS, HIDDEN, key=first)
        self.norm = eqx.nn.BatchNorm(HIDDEN, axis_name="batch", mode="batch")
        self.output = eqx.nn.Linear(HIDDEN, CLASSES, key=second)

    def __call__(self, x, state):
        x, state = self.norm(self.hidden(x), state)
        return self.output(jax.nn.relu(x)), state


def cross_entropy(scores):
    return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()


def train_mlp():
    model = eqx.nn.MLP(PIXELS, CLASSES, HIDDEN, 2, key=jax.random.key(0))
    optimizer = optax.adam(1e-2)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))

    @eqx.filter_jit
    def step(model, state):
        value, grads = eqx.filter_value_and_grad(lambda m: cross_entropy(jax.vmap(m)(images)))(model)
        updates, state = optimizer.update(grads, state, model)
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for _ in range(6):
        model, state, value = step(model, state)
        losses.append(value)
    return losses


def train_norm():
    model, state = eqx.nn.make_with_state(Norm)(jax.random.key(0))

    @eqx.filter_jit
    def step(model, state):
        def loss(model, state):
            scores, state = jax.vmap(model, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(images, state)
            return cross_entropy(scores), state

        (value, state), grads = eqx.filter_value_and_grad(loss, has_aux=True)(model, state)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.2 * g, grads)), state, value

    losses = []
    for _ in range(6):
        model, state, value = step(model, state)
        losses.append(value)
    return losses


def checked():
    @eqx.filter_jit
    def f(x):
        return jnp.sqrt(eqx.error_if(x, x < 0, "x must not be negative"))

    try:
        f(jnp.float32(-1.0)).block_until_ready()
    except Exception as error:
        return "x must not be negative" in str(error) and float(f(jnp.float32(4.0))).__repr__()
    return "no error"


def saved():
    model = eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(0))
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, model)
    file.seek(0)
    again = eqx.tree_deserialise_leaves(file, eqx.nn.MLP(3, 2, 4, 1, key=jax.random.key(1)))
    return again(jnp.arange(3.0)) - model(jnp.arange(3.0))


def custom():
    @eqx.filter_custom_vjp
    def clipped(x, limit):
        return x

    clipped.def_fwd(lambda perturbed, x, limit: (x, None))
    clipped.def_bwd(lambda residuals, grad, perturbed, x, limit: jnp.clip(grad, -limit, limit))
    return jax.grad(lambda x: (clipped(x, 0.5) ** 2).sum())(jnp.array([0.1, 3.0, -4.0]))


report({"mlp": train_mlp(), "norm": train_norm(), "error_if": checked(), "serialization": saved(), "custom vjp": custom()})
