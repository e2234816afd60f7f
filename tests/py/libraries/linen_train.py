"""flax.linen: dense, convolutional and recurrent layers, a scan over layers, and rematerialization, trained."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state

from task import CLASSES, HIDDEN, digits, report

images, labels = map(jnp.asarray, digits())


class Dense(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.BatchNorm(use_running_average=not train, momentum=0.9)(nn.Dense(HIDDEN)(x)))
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(CLASSES)(nn.LayerNorm()(x))


class Convolution(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3, 3))(x.reshape(-1, 8, 8, 1))
        x = nn.max_pool(nn.relu(x), (2, 2), (2, 2))
        return nn.Dense(CLASSES)(x.reshape(x.shape[0], -1))


class Block(nn.Module):
    @nn.compact
    def __call__(self, x, _):
        return x + nn.tanh(nn.Dense(HIDDEN)(x)), None


class Deep(nn.Module):
    """Layers with one stack of parameters."""

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(HIDDEN)(x)
        layers = nn.scan(nn.remat(Block), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
        x, _ = layers()(x, None)
        return nn.Dense(CLASSES)(x)


class Attention(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(HIDDEN)(x.reshape(-1, 8, 8))
        x = nn.MultiHeadDotProductAttention(num_heads=2)(x)
        return nn.Dense(CLASSES)(x.mean(1))


class Recurrent(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        return nn.Dense(CLASSES)(nn.RNN(nn.LSTMCell(HIDDEN))(x.reshape(-1, 8, 8))[:, -1])


class State(train_state.TrainState):
    statistics: dict


def train(model):
    variables = model.init({"params": jax.random.key(0), "dropout": jax.random.key(1)}, images, train=True)
    state = State.create(
        apply_fn=model.apply, params=variables["params"], tx=optax.adam(1e-2), statistics=variables.get("batch_stats", {})
    )

    @jax.jit
    def step(state, key):
        def loss(params):
            scores, new = state.apply_fn(
                {"params": params, "batch_stats": state.statistics}, images, train=True, rngs={"dropout": key}, mutable=["batch_stats"]
            )
            return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean(), new

        (value, new), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=grads).replace(statistics=new.get("batch_stats", {})), value

    losses = []
    for key in jax.random.split(jax.random.key(2), 6):
        state, value = step(state, key)
        losses.append(value)
    return losses


def table():
    return str(sorted((jax.tree_util.keystr(path), leaf.shape) for path, leaf in jax.tree_util.tree_leaves_with_path(
        jax.eval_shape(lambda: Deep().init(jax.random.key(0), images, True)))))


MODELS = {"dense": Dense, "convolution": Convolution, "scan over layers": Deep, "attention": Attention, "recurrent": Recurrent}
report({name: train(model()) for name, model in MODELS.items()} | {"shapes": table()})
