"""Jaxprs of the functions of `numpy` print as JAX prints them.

Each line of `golden/numpy_programs.txt` is a function, then ` @ ` and its arguments; without those it is given `x`.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

PROGRAMS = (Path(__file__).parent / "golden" / "numpy_programs.txt").read_text().splitlines()


def names_of(system):
    jnp = system.numpy
    x = jnp.ones(3)
    return {
        "jax": system, "jnp": jnp, "np": np, "jr": system.random, "nn": system.nn, "x": x, "m": jnp.ones((2, 3)),
        "i": jnp.arange(3), "b": x > 0, "t": jnp.ones((2, 3, 4)), "i8": jnp.ones(3, jnp.int8), "u": jnp.ones(3, jnp.uint32),
        "c": jnp.ones(3, jnp.complex64), "h": jnp.ones(3, jnp.bfloat16), "w": jnp.asarray(1.0), "key": system.random.key(0),
    }


def printed(system, line):
    function, _, arguments = line.partition(" @ ")
    names = names_of(system)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = str(system.make_jaxpr(eval(function, names))(*eval(f"({arguments or 'x'},)", names)))
    return re.sub(r"np\.int64\((-?\d+)\)", r"\1", text)


@pytest.mark.parametrize("line", PROGRAMS)
def test_jaxpr_prints_as_the_reference_prints_it(line):
    assert printed(pullback, line) == printed(jax, line)
