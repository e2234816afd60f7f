"""haiku: a network with batch normalization, dropout and a recurrent core, trained and summarized."""

import haiku as hk
import jax
import jax.numpy as jnp
import optax

from task import CLASSES, HIDDEN, digits, report

images, labels = map(jnp.asarray, digits())
constant = hk.initializers.RandomNormal(0.1)


def network(x, is_training):
    x = hk.Linear(HIDDEN, w_init=constant)(x)
    x = hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9)(x, is_training)
    x = jax.nn.relu(x)
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.1, x)
    return hk.Linear(CLASSES, w_init=constant)(x)


def recurrent(x):
    core = hk.GRU(HIDDEN)
    rows = x.reshape(-1, 8, 8).swapaxes(0, 1)
    _, state = hk.dynamic_unroll(core, rows, core.initial_state(x.shape[0]))
    return hk.Linear(CLASSES)(hk.LayerNorm(-1, True, True)(state))


def train_network():
    model = hk.transform_with_state(network)
    params, state = model.init(jax.random.key(0), images, True)
    optimizer = optax.sgd(0.2)
    opt_state = optimizer.init(params)

    @jax.jit
    def step(params, state, opt_state, key):
        def loss(params):
            scores, new = model.apply(params, state, key, images, True)
            return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean(), new

        (value, state), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), state, opt_state, value

    losses = []
    for key in jax.random.split(jax.random.key(1), 8):
        params, state, opt_state, value = step(params, state, opt_state, key)
        losses.append(value)
    scores, _ = model.apply(params, state, None, images, False)
    return [*losses, optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean()]


def train_recurrent():
    model = hk.without_apply_rng(hk.transform(recurrent))
    params = model.init(jax.random.key(0), images)
    loss = lambda p: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, images), labels).mean()  # noqa: E731
    step = jax.jit(lambda p: (loss(p), jax.tree.map(lambda w, g: w - 0.2 * g, p, jax.grad(loss)(p))))
    losses = []
    for _ in range(4):
        value, params = step(params)
        losses.append(value)
    return losses


def shapes():
    params, _ = hk.transform_with_state(network).init(jax.random.key(0), images, True)
    return str(sorted((module, name, value.shape) for module, name, value in hk.data_structures.traverse(params)))


def leaked():
    """A parameter made inside jax.jit, and so out of haiku's sight, is an error."""

    def f(x):
        return jax.jit(lambda y: hk.Linear(2)(y))(x)

    try:
        hk.transform(f).init(jax.random.key(0), images)
    except Exception as error:
        return type(error).__name__
    return "no error"


report({"network": train_network(), "recurrent": train_recurrent(), "shapes": shapes(), "jit inside": leaked()})
