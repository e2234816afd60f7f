"""Learns to read handwritten digits: a two-layer network, trained by gradient descent.

Written as a JAX user writes it. Prints the times of tracing, compiling and one step and the test accuracy after every
epoch, draws the curves and some predictions to ``out/digits.png``, and fails when the accuracy ends below 95 %.
"""

import struct
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import pullback as jax
import pullback.numpy as jnp

# The weights and bias of each layer; images with their labels.
Params = dict[str, dict[str, jax.Array]]
Examples = tuple[jax.Array, jax.Array]
Pixels = np.ndarray[Any, np.dtype[Any]]

HERE = Path(__file__).resolve().parent
PICTURE = HERE.parent / "out" / "digits.png"

TRAIN, TEST = 1437, 360
HIDDEN, CLASSES = 64, 10
BATCH, EPOCHS, RATE = 32, 20, 0.2
REQUIRED_ACCURACY = 0.95


def load_digits(path: Path) -> tuple[Pixels, Pixels]:
    """Images as float32 in 0..1, 64 numbers each, and labels; the format is in examples/data/README.md."""
    data = path.read_bytes()
    rows, height, width, classes = struct.unpack_from("<4I", data, 8)
    assert data[:8] == b"DIGITS01" and classes == CLASSES
    table = np.frombuffer(data, np.uint8, offset=24).reshape(rows, height * width + 1)
    return table[:, :-1].astype(np.float32) / 16, table[:, -1].astype(np.int32)


def split(key: jax.Array, images: jax.Array, labels: jax.Array) -> tuple[Examples, Examples]:
    """The same random 1,437 training and 360 test examples each time."""
    order = jax.random.permutation(key, TRAIN + TEST)
    train, test = order[:TRAIN], order[TRAIN:]
    return (images[train], labels[train]), (images[test], labels[test])


def init_layer(key: jax.Array, inputs: int, outputs: int) -> dict[str, jax.Array]:
    return {"w": jax.random.normal(key, (inputs, outputs)) / inputs**0.5, "b": jnp.zeros(outputs)}


def init_params(key: jax.Array) -> Params:
    hidden, output = jax.random.split(key)
    return {"hidden": init_layer(hidden, 64, HIDDEN), "output": init_layer(output, HIDDEN, CLASSES)}


def predict(params: Params, image: jax.Array) -> jax.Array:
    """Scores of the ten classes for one image."""
    hidden = jnp.tanh(image @ params["hidden"]["w"] + params["hidden"]["b"])
    return hidden @ params["output"]["w"] + params["output"]["b"]


predict_all = jax.vmap(predict, in_axes=(None, 0))


def loss(params: Params, images: jax.Array, labels: jax.Array) -> jax.Array:
    """Softmax cross-entropy, averaged over the examples."""
    log_probabilities = jax.nn.log_softmax(predict_all(params, images))
    return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, CLASSES) * log_probabilities, axis=1))


loss_and_grad = jax.jit(jax.value_and_grad(loss))


def step(params: Params, batch: Examples) -> tuple[Params, jax.Array]:
    """One step of gradient descent; of the shape that ``scan`` wants."""
    value, grads = loss_and_grad(params, *batch)
    return jax.tree.map(lambda p, g: p - RATE * g, params, grads), value


@jax.jit
def epoch(params: Params, key: jax.Array, images: jax.Array, labels: jax.Array) -> tuple[Params, jax.Array]:
    """One pass over the training examples in random order; the losses of its batches come along."""
    batches = len(images) // BATCH
    order = jax.random.permutation(key, len(images))[: batches * BATCH]
    shuffled = images[order].reshape(batches, BATCH, -1), labels[order].reshape(batches, BATCH)
    return jax.lax.scan(step, params, shuffled)


@jax.jit
def classify(params: Params, images: jax.Array) -> jax.Array:
    return jnp.argmax(predict_all(params, images), axis=1)


@jax.jit
def accuracy(params: Params, images: jax.Array, labels: jax.Array) -> jax.Array:
    return jnp.mean(classify(params, images) == labels)


def milliseconds(function: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """What ``function`` returns, and how long that took."""
    start = time.perf_counter()
    result = jax.block_until_ready(function(*args))
    return result, (time.perf_counter() - start) * 1e3


def report_times(params: Params, batch: Examples) -> None:
    """Prints what it costs to bring one step from Python to machine code, and to run it."""
    start = time.perf_counter()
    traced = jax.jit(step).trace(params, batch)
    tracing = time.perf_counter() - start
    lowered = traced.lower()
    compiled = lowered.compile()
    compiling = time.perf_counter() - start - tracing
    compiled(params, batch)
    running = min(milliseconds(compiled, params, batch)[1] for _ in range(200))
    print(f"one step of {BATCH} examples: tracing {tracing * 1e3:.2f} ms, compiling {compiling * 1e3:.2f} ms, running {running:.3f} ms")


def train(params: Params, key: jax.Array, training: Examples, test: Examples) -> tuple[Params, list[float], list[float]]:
    """The trained parameters, all losses, and the test accuracy after each epoch."""
    losses: list[float] = []
    accuracies: list[float] = []
    with tqdm(range(1, EPOCHS + 1), desc="training", unit="epoch", mininterval=0) as bar:
        for number in bar:
            key, shuffle = jax.random.split(key)
            params, batch_losses = epoch(params, shuffle, *training)
            losses.extend(np.asarray(batch_losses).tolist())
            accuracies.append(float(accuracy(params, *test)))
            tqdm.write(f"epoch {number:2}: loss {np.mean(losses[-len(batch_losses):]):.4f}, test accuracy {accuracies[-1]:.4f}", file=sys.stdout)
    return params, losses, accuracies


def draw(path: Path, losses: Sequence[float], accuracies: Sequence[float], images: Pixels, labels: Pixels, predictions: Pixels) -> None:
    """Loss and accuracy curves above test digits with the answers given: some right ones, then the wrong ones in red."""
    from matplotlib.figure import Figure

    columns = 12
    figure: Any = Figure(figsize=(11, 5.5), layout="constrained")
    grid = figure.add_gridspec(3, columns, height_ratios=(4, 1, 1))
    left, right = figure.add_subplot(grid[0, : columns // 2]), figure.add_subplot(grid[0, columns // 2 :])
    left.semilogy(np.arange(1, len(losses) + 1) * EPOCHS / len(losses), losses, linewidth=0.8)
    left.set(title="training loss of each batch", xlabel="epoch", ylabel="cross-entropy")
    right.plot(np.arange(1, EPOCHS + 1), accuracies, marker=".")
    right.axhline(REQUIRED_ACCURACY, color="grey", linestyle=":")
    right.set(title=f"test accuracy, {accuracies[-1]:.1%} at the end", xlabel="epoch", ylim=(None, 1))
    hits, misses = np.flatnonzero(predictions == labels), np.flatnonzero(predictions != labels)[:columns]
    shown = np.concatenate([hits[: 2 * columns - len(misses)], misses])
    for place, i in enumerate(shown):
        axes = figure.add_subplot(grid[1 + place // columns, place % columns])
        axes.imshow(images[i].reshape(8, 8), cmap="gray_r")
        axes.set_title(str(predictions[i]), color="black" if predictions[i] == labels[i] else "red", fontsize=10)
        axes.set_axis_off()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> int:
    images, labels = load_digits(HERE / "data" / "digits.bin")
    split_key, params_key, shuffle_key = jax.random.split(jax.random.key(0), 3)
    training, test = split(split_key, jnp.asarray(images), jnp.asarray(labels))
    params = init_params(params_key)

    report_times(params, (training[0][:BATCH], training[1][:BATCH]))
    params, losses, accuracies = train(params, shuffle_key, training, test)

    test_images, test_labels = (np.asarray(part) for part in test)
    draw(PICTURE, losses, accuracies, test_images, test_labels, np.asarray(classify(params, test[0])))
    print(f"test accuracy {accuracies[-1]:.4f} (at least {REQUIRED_ACCURACY} wanted); picture in {PICTURE.parent.name}/{PICTURE.name}")
    return 0 if accuracies[-1] >= REQUIRED_ACCURACY else 1


if __name__ == "__main__":
    sys.exit(main())
