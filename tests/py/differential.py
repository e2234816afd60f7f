"""Programs run on Pullback and on JAX: what data-driven tests share.

A case is a line of Python in which `jnp`, `lax`, `jax` and the sample arrays stand for one of the two systems.
"""

import warnings

import numpy as np
from answers import IS_ASKED, Answers, Refusal, read

import pullback


def names_of(system):
    jnp = system.numpy
    x = jnp.array([-1.5, 0.25, 2.0])
    i = jnp.array([2, 0, 1])
    return {
        "jax": system, "jnp": jnp, "lax": system.lax, "np": np, "x": x, "i": i, "b": x > 0,
        "m": jnp.array([[1.0, -2.0, 3.5], [0.5, 4.0, -6.0]]), "t": jnp.arange(24.0).reshape(2, 3, 4) / 7,
        "s": jnp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 1.25, 2.0]]), "p": jnp.array([0.5, 1.0, 3.0]),
        "i8": jnp.array([1, -2, 127], jnp.int8), "u": jnp.array([7, 2, 4000000000], jnp.uint32),
        "u8": jnp.array([1, 200, 255], jnp.uint8), "h": jnp.array([1.5, -2.0, 0.125], jnp.bfloat16),
        "f16": jnp.array([1.5, -2.0, 0.125], jnp.float16), "c": jnp.array([1 + 2j, -0.5j, 3.0]),
        "w": jnp.asarray(1.5), "wi": jnp.asarray(3), "n": jnp.array([np.nan, 1.0, np.inf, -np.inf, -0.0]),
    }


class Asked(dict):
    """Names bound to JAX's functions and arrays, and what it answered to the lines of a table. A function makes them when
    they are needed: where they depend on what is set at that time.
    """

    def __init__(self, table, names):
        super().__init__({} if callable(names) else names)
        self.answers, self.names = Answers(table, facts), names if callable(names) else lambda: self

    def answer(self, line, ask=None):
        found = self.answers.answer(line, ask or (lambda: evaluate(line, self.names())))
        if IS_ASKED and line in self.answers.kept:
            check_equal(found, read(self.answers.kept[line]), f"the answer that is kept of {line}", 1e-4)
        return found


def run(line, names):
    """The result of a line, or the exception it raises."""
    return names.answer(line) if isinstance(names, Asked) else evaluate(line, names)


def evaluate(line, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(line, dict(names))
        except Exception as error:  # noqa: BLE001
            return error


def facts(value):
    """All that must agree of a result but its elements."""
    if isinstance(value, Refusal):
        return value.name
    if isinstance(value, Exception):
        return next(c.__name__ for c in type(value).__mro__ if not c.__module__.startswith(("jax", "pullback")))
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [facts(item) for item in value]
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return str(value.dtype), tuple(value.shape), bool(getattr(value, "weak_type", False))
    return repr(value)


def check_equal(ours, theirs, line, rtol):
    assert facts(ours) == facts(theirs), f"{line}\n ours  {ours!r}\n JAX's {theirs!r}"
    if isinstance(theirs, (tuple, list)):
        for one, other in zip(ours, theirs):
            check_equal(one, other, line, rtol)
    elif hasattr(theirs, "dtype") and not isinstance(theirs, Exception):
        a, b = np.asarray(ours), np.asarray(theirs)
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b, err_msg=line)
        else:
            half = str(theirs.dtype) in ("bfloat16", "float16")
            wide = np.complex64 if a.dtype.kind == "c" else np.float32
            np.testing.assert_allclose(
                a.astype(wide), b.astype(wide), rtol=1e-2 if half else rtol, atol=1e-2 * half + 1e-6, err_msg=line
            )


def lines_of(text):
    """The lines of a block that hold cases."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]


OURS = None


def ours():
    """The names bound to Pullback's functions and arrays."""
    global OURS
    OURS = OURS or names_of(pullback)
    return OURS
