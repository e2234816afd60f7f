"""The task that the programs of this folder train on: which of ten digits 64 grey values show, for 128 examples."""

import json
import sys
from pathlib import Path

import numpy as np

EXAMPLES, PIXELS, HIDDEN, CLASSES = 128, 64, 16, 10
DATA = Path(__file__).resolve().parents[3] / "examples" / "data" / "digits.bin"


def digits():
    """Images as float32 in 0..1 and labels; the format is in examples/data/README.md."""
    table = np.frombuffer(DATA.read_bytes(), np.uint8, offset=24).reshape(-1, PIXELS + 1)[:EXAMPLES]
    return table[:, :-1].astype(np.float32) / 16, table[:, -1].astype(np.int32)


def layers():
    """Weights and biases of a network with one hidden layer, the same for every library."""
    numbers = np.random.RandomState(0)
    weights = lambda n, m: (numbers.standard_normal((n, m)) / n**0.5).astype(np.float32)  # noqa: E731
    hidden = {"w": weights(PIXELS, HIDDEN), "b": np.zeros(HIDDEN, np.float32)}
    return {"hidden": hidden, "output": {"w": weights(HIDDEN, CLASSES), "b": np.zeros(CLASSES, np.float32)}}


def report(results):
    """Prints the results of the cases as JSON: numbers and lists of them, or texts."""
    json.dump({name: value if isinstance(value, str) else np.asarray(value).tolist() for name, value in results.items()}, sys.stdout)
