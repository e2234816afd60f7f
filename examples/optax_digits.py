"""Learns to read handwritten digits with optax and chex: a program for JAX that Pullback runs as it is.

    python -m pullback examples/optax_digits.py

Nothing here names Pullback; `python examples/optax_digits.py` runs the same program on JAX, where that is installed. It
fails when the accuracy on digits it has not seen ends below 95 %, or when the step is traced more than once.
"""

import struct
import sys
from pathlib import Path

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax

DATA = Path(__file__).resolve().parent / "data" / "digits.bin"
TRAIN, HIDDEN, CLASSES = 1437, 64, 10
BATCH, EPOCHS = 32, 15
REQUIRED_ACCURACY = 0.95


@chex.dataclass
class Layer:
    weights: chex.Array
    bias: chex.Array


@chex.dataclass
class Network:
    hidden: Layer
    output: Layer


def load_digits():
    """Images as float32 in 0..1, 64 numbers each, and labels; the format is in examples/data/README.md."""
    data = DATA.read_bytes()
    rows, height, width, classes = struct.unpack_from("<4I", data, 8)
    assert data[:8] == b"DIGITS01" and classes == CLASSES
    table = np.frombuffer(data, np.uint8, offset=24).reshape(rows, height * width + 1)
    return table[:, :-1].astype(np.float32) / 16, table[:, -1].astype(np.int32)


def init_layer(key, inputs, outputs):
    weights = jax.nn.initializers.he_normal()(key, (inputs, outputs))
    return Layer(weights=weights, bias=jnp.zeros(outputs))


def init_network(key, pixels):
    hidden, output = jax.random.split(key)
    return Network(hidden=init_layer(hidden, pixels, HIDDEN), output=init_layer(output, HIDDEN, CLASSES))


def scores(network, images):
    """Unnormalized log-probabilities of the classes, one row for each image."""
    hidden = jax.nn.relu(images @ network.hidden.weights + network.hidden.bias)
    return hidden @ network.output.weights + network.output.bias


def loss(network, images, labels):
    logits = scores(network, images)
    chex.assert_shape(logits, (labels.shape[0], CLASSES))
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def make_optimizer():
    """AdamW with clipped gradients, a warm-up and a cosine decay; biases do not decay."""
    steps = EPOCHS * (TRAIN // BATCH)
    rate = optax.warmup_cosine_decay_schedule(0.0, 5e-3, steps // 10, steps)
    is_decayed = lambda network: jax.tree.map(lambda parameter: parameter.ndim > 1, network)  # noqa: E731
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=1e-3, mask=is_decayed))


OPTIMIZER = make_optimizer()


@jax.jit
@chex.assert_max_traces(n=1)
def step(network, state, images, labels):
    """One step of training: the network, the optimizer's state, and the loss before it."""
    value, grads = jax.value_and_grad(loss)(network, images, labels)
    updates, state = OPTIMIZER.update(grads, state, network)
    return optax.apply_updates(network, updates), state, value


@jax.jit
def accuracy(network, images, labels):
    return jnp.mean(jnp.argmax(scores(network, images), axis=1) == labels)


def train(network, key, images, labels, test):
    """The trained network; prints loss and accuracy after every epoch."""
    state = OPTIMIZER.init(network)
    for epoch in range(1, EPOCHS + 1):
        key, shuffle = jax.random.split(key)
        order = jax.random.permutation(shuffle, TRAIN)[: TRAIN // BATCH * BATCH].reshape(-1, BATCH)
        for batch in order:
            network, state, value = step(network, state, images[batch], labels[batch])
        print(f"epoch {epoch:2d}  loss {value:.4f}  test accuracy {accuracy(network, *test):.4f}")
    return network


def main():
    images, labels = map(jnp.asarray, load_digits())
    order = jax.random.permutation(jax.random.key(0), len(images))
    images, labels = images[order], labels[order]
    test = images[TRAIN:], labels[TRAIN:]
    network = init_network(jax.random.key(1), images.shape[1])
    chex.assert_tree_all_finite(network)
    trained = train(network, jax.random.key(2), images[:TRAIN], labels[:TRAIN], test)
    chex.assert_trees_all_equal_shapes_and_dtypes(network, trained)
    reached = float(accuracy(trained, *test))
    if reached < REQUIRED_ACCURACY:
        sys.exit(f"test accuracy {reached:.4f} is below {REQUIRED_ACCURACY}")


if __name__ == "__main__":
    main()
