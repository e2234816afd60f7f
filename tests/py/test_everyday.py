"""Lines that users type, right and wrong, give what they give in JAX: values, dtypes, weak types, exception classes."""

import copy
import math
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import pullback

HERE = Path(__file__).parent
TEXTS = [(HERE / name).read_text() for name in ("everyday.txt", "everyday_walk.txt")]
LINES = [line for text in TEXTS for line in text.splitlines() if not line.startswith("#")]
# What differs, and why; each must go on differing.
DIFFERENT = {
    "a scalar that passes through unchanged is an array here, and a Python or NumPy scalar there": [
        "jax.value_and_grad(lambda x: (x**2,{'a':x}), has_aux=True)(3.)", "jax.vmap(lambda x: 1., out_axes=None)(x)",
        "jax.jacfwd(lambda x: (x, {'aux':1}), has_aux=True)(x)", "lax.scan(lambda c,x: ((c[0]+1.,c[1]),x), (0,1), x)",
    ],
    "float0 arrays are plain NumPy arrays": [
        "jax.grad(lambda x: x.astype(float).sum(), allow_int=True)(jnp.arange(3))",
        "jax.vjp(lambda x: x, jnp.arange(3))[1](np.zeros(3,jax.dtypes.float0))",
    ],
    "the reference stops at an assertion": ["jax.vmap(lambda x: lax.ppermute(x,'i',[(0,1),(1,2)]), axis_name='i')(x)"],
    "an error here": ["jax.jacrev(lambda x: x*1., allow_int=True)(jnp.arange(3))"],
    "another iterator": ["iter(x)"],
    "the submodule is not loaded there": ["jax.flatten_util.ravel_pytree({'a':x,'b':1})[0]", "jax.flatten_util.ravel_pytree({})[0]"],
}


def names(system):
    jnp = system.numpy
    found = {"jax": system, "jnp": jnp, "lax": system.lax, "np": np, "math": math, "copy": copy, "pickle": pickle}
    return found | {"x": jnp.array([1.0, 2.0, 3.0]), "m": jnp.arange(6.0).reshape(2, 3), "k": system.random.key(0)}


def shown(system, value):
    if isinstance(value, system.Array):
        is_key = system.dtypes.issubdtype(value.dtype, system.dtypes.prng_key)
        elements = np.asarray(system.random.key_data(value) if is_key else value)
        return f"{value.dtype}{value.shape}{'weak' if value.weak_type else ''} {np.array2string(elements, precision=4)}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(shown(system, item) for item in value)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {shown(system, item)}' for key, item in value.items())}}}"
    return repr(value)


def answer(system, line):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = shown(system, eval(line, names(system)))  # noqa: S307
        except Exception as error:  # noqa: BLE001
            text = f"raises {type(error).__name__}"
    return re.sub(r"0x[0-9a-f]+|jax\.|pullback\.|jaxlib\.\w+\.", "", text)


@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_what_it_gives_in_jax(line, jax_oracle):
    assert answer(pullback, line) == answer(jax_oracle, line)


@pytest.mark.parametrize("line", [line for lines in DIFFERENT.values() for line in lines])
def test_known_differences_remain(line, jax_oracle):
    assert answer(pullback, line) != answer(jax_oracle, line), "it is mended: move it to the lines"
