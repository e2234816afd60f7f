"""Trains the network of digits.py, and writes it as one compiled function from 64 brightnesses to ten probabilities.

    python examples/save_digits.py digits.pullback

`examples/serve` runs it without Python.
"""

import sys
from pathlib import Path

import digits

import pullback as jax
import pullback.numpy as jnp


def compiled(params: digits.Params) -> jax.stages.Compiled:
    """The probabilities of the digits of one image; the parameters are inside."""

    def probabilities(image: jax.Array) -> jax.Array:
        return jax.nn.softmax(digits.predict(params, image))

    return jax.jit(probabilities).lower(jnp.zeros(64)).compile()


def main(path: Path) -> None:
    images, labels = digits.load_digits(digits.HERE / "data" / "digits.bin")
    split_key, params_key, shuffle_key = jax.random.split(jax.random.key(0), 3)
    training, test = digits.split(split_key, jnp.asarray(images), jnp.asarray(labels))
    params, _, accuracies = digits.train(digits.init_params(params_key), shuffle_key, training, test)
    compiled(params).save(str(path))
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB, test accuracy {accuracies[-1]:.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "digits.pullback"))
