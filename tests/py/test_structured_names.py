"""Names and signatures of `lax`, `lax.linalg`, `numpy.linalg`, `numpy.fft`, `scipy.linalg` and `scipy.fft` are JAX's."""

import inspect

import pytest

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402
import jax.scipy.fft  # noqa: E402
import jax.scipy.linalg  # noqa: E402

MODULES = ["lax", "lax.linalg", "numpy.linalg", "numpy.fft", "scipy.linalg", "scipy.fft"]

# What is missing, exactly: a name that appears has to leave this list.
MISSING = {
    "lax": {
        # collectives in two parts
        "psum_scatter_start",
    },
}


# Whose defaults are objects of JAX's own, or are told apart elsewhere.
OTHER_DEFAULTS = {"cond", "hadamard", "round", "switch"}


def module(system, path):
    for name in path.split("."):
        system = getattr(system, name)
    return system


def public(path):
    theirs = module(jax, path)
    return [name for name in dir(theirs) if not name.startswith("_") and not name.endswith("_p")]


@pytest.mark.parametrize("path", MODULES)
def test_names(path):
    ours = module(pullback, path)
    missing = {name for name in public(path) if not hasattr(ours, name)}
    assert missing == MISSING.get(path, set())


def parameters(function):
    return [(p.name, p.kind, repr(p.default)) for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("path", MODULES)
def test_signatures(path):
    ours, theirs = module(pullback, path), module(jax, path)
    different = {}
    for name in public(path):
        function = getattr(theirs, name)
        if name in OTHER_DEFAULTS or not hasattr(ours, name) or not callable(function) or inspect.isclass(function):
            continue
        try:
            want = parameters(function)
        except (TypeError, ValueError):
            continue
        got = parameters(getattr(ours, name))
        if got != want:
            different[name] = got, want
    assert not different
