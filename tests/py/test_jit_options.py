"""`jit` as users meet it: static and donated arguments, methods, options; and settings with their effects; beside JAX."""

import os
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pullback
import pullback.numpy


def outcome(program, j):
    """What a program gives: numbers and the start of its warnings, or the class of its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = program(j, j.numpy)
        except Exception as error:  # noqa: BLE001
            return next(c.__name__ for c in type(error).__mro__ if not c.__module__.startswith(("jax", "pullback")))
    shown = j.tree_util.tree_map(lambda x: np.asarray(x).tolist() if hasattr(x, "shape") else x, result)
    return shown, sorted(str(w.message)[:40] for w in caught)


def donated(function, *args, **options):
    """A program that calls a donating function on fresh vectors, and says which are gone."""

    def program(j, jnp):
        xs = [jnp.ones(2) * (i + 1) for i in range(len(args))]
        out = j.jit(function, **options)(*xs)
        return out, [x.is_deleted() for x in xs]

    return program


class Scaled:
    """The FAQ's class whose instances are static by value."""

    def __init__(self, factor):
        self.factor = factor

    def __hash__(self):
        return hash(self.factor)

    def __eq__(self, other):
        return isinstance(other, Scaled) and self.factor == other.factor

    def times(self, y):
        return self.factor * y


def method_static(j, jnp):
    class Model(Scaled):
        @partial(j.jit, static_argnums=0)
        def __call__(self, y):
            return self.factor * y

    model = Model(2)
    first = model(3.0)
    model.factor = 5
    return first, model(3.0)


def method_of_pytree(j, jnp):
    class Model:
        def __init__(self, w):
            self.w = w

        @j.jit
        def __call__(self, y):
            return self.w * y

    j.tree_util.register_pytree_node(Model, lambda m: ((m.w,), None), lambda _, children: Model(*children))
    model = Model(2.0)
    first = model(3.0)
    model.w = 5.0
    return first, model(3.0)


def method_unregistered(j, jnp):
    class Model:
        @j.jit
        def __call__(self, y):
            return y

    return Model()(3.0)


def choose(a, n=2):
    return a * n if n > 2 else a - n


def used_after_donation(j, jnp):
    x = jnp.ones(2)
    j.jit(lambda a: a + 1, donate_argnums=0)(x)
    return x + 1


def donated_twice(j, jnp):
    x = jnp.ones(2)
    return j.jit(lambda a, b: a + b, donate_argnums=0)(x, x)


def generator(j, jnp):
    def f(x):
        yield x

    return j.jit(f)(1.0)


PROGRAMS = {
    "static by name": lambda j, jnp: j.jit(choose, static_argnames="n")(jnp.ones(2), n=3),
    "static name given by position": lambda j, jnp: j.jit(choose, static_argnames=("n",))(jnp.ones(2), 3),
    "static number given by name": lambda j, jnp: j.jit(choose, static_argnums=1)(jnp.ones(2), n=3),
    "static counted from the end": lambda j, jnp: j.jit(choose, static_argnums=-1)(jnp.ones(2), 3),
    "static not given": lambda j, jnp: j.jit(choose, static_argnums=1)(jnp.ones(2)),
    "static out of range": lambda j, jnp: j.jit(choose, static_argnums=(0, 2)),
    "static number is a text": lambda j, jnp: j.jit(choose, static_argnums="n"),
    "static name is a number": lambda j, jnp: j.jit(choose, static_argnames=1),
    "static name unknown": lambda j, jnp: j.jit(choose, static_argnames="m"),
    "static array": lambda j, jnp: j.jit(choose, static_argnums=0)(jnp.ones(2)),
    "static NumPy array": lambda j, jnp: j.jit(choose, static_argnums=0)(np.ones(2)),
    "static and donated": lambda j, jnp: j.jit(choose, static_argnums=0, donate_argnums=0),
    "static and donated names": lambda j, jnp: j.jit(choose, static_argnames="a", donate_argnames="a"),
    "donated": donated(lambda a, b: (a + 1, b), 1, 2, donate_argnums=0),
    "donated by name": donated(lambda a, b: a + b, 1, 2, donate_argnames="b"),
    "donated and not usable": donated(lambda a: a.sum(), 1, donate_argnums=0),
    "donated out of range": lambda j, jnp: j.jit(choose, donate_argnums=3),
    "donated and used": used_after_donation,
    "donated twice": donated_twice,
    "donated inside": lambda j, jnp: j.jit(lambda a: j.jit(lambda b: b + 1, donate_argnums=0)(a) * 2)(jnp.ones(2)),
    "donated NumPy array": lambda j, jnp: j.jit(lambda a: a + 1, donate_argnums=0)(np.ones(2, np.float32)),
    "method of a static instance": method_static,
    "method of a pytree": method_of_pytree,
    "method of an unregistered class": method_unregistered,
    "static method": lambda j, jnp: type("K", (), {"f": staticmethod(j.jit(lambda y: y + 1))}).f(1.0),
    "class method": lambda j, jnp: type("K", (), {"f": classmethod(j.jit(lambda c, y: y, static_argnums=0))}).f(1.0),
    "bound method": lambda j, jnp: j.jit(Scaled(3).times)(2.0),
    "generator": generator,
    "keep_unused": lambda j, jnp: j.jit(lambda a, b: a, keep_unused=True)(1.0, 2.0),
    "inline": lambda j, jnp: j.jit(lambda a: j.jit(lambda b: b + 1, inline=True)(a))(1.0),
    "unknown option": lambda j, jnp: j.jit(choose, foo=1),
    "no function": lambda j, jnp: j.jit(3),
    "decorator with options": lambda j, jnp: j.jit(static_argnums=1)(choose)(jnp.ones(2), 3),
    "unknown backend": lambda j, jnp: j.jit(choose, backend="foo")(1.0),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_jit_behaves_as_in_jax(name, jax_oracle):
    assert outcome(PROGRAMS[name], pullback) == outcome(PROGRAMS[name], jax_oracle)


def setting(name, value, program):
    def run(j, jnp):
        with getattr(j, name)(value):
            return program(j, jnp)

    return run


def update(name, value):
    return lambda j, jnp: j.config.update(name, value)


SETTINGS = {
    "strict: int and float": setting("numpy_dtype_promotion", "strict", lambda j, jnp: jnp.arange(3) + jnp.ones(3)),
    "strict: halves": setting("numpy_dtype_promotion", "strict", lambda j, jnp: jnp.ones(3, jnp.float16) + jnp.ones(3)),
    "strict: int and 1": setting("numpy_dtype_promotion", "strict", lambda j, jnp: jnp.arange(3) + 1),
    "strict: float and 1": setting("numpy_dtype_promotion", "strict", lambda j, jnp: jnp.ones(3) + 1),
    "strict: int and 1.5": setting("numpy_dtype_promotion", "strict", lambda j, jnp: jnp.arange(3) + 1.5),
    "strict: bool and 1": setting("numpy_dtype_promotion", "strict", lambda j, jnp: (jnp.arange(3) > 1) + 1),
    "strict: float and 1j": setting("numpy_dtype_promotion", "strict", lambda j, jnp: jnp.ones(3) + 1j),
    "strict: where": setting("numpy_dtype_promotion", "strict", lambda j, jnp: jnp.where(True, jnp.arange(3), jnp.ones(3))),
    "standard: int and 1.5": setting("numpy_dtype_promotion", "standard", lambda j, jnp: jnp.arange(3) + 1.5),
    "ranks: allowed": setting("numpy_rank_promotion", "allow", lambda j, jnp: jnp.ones((2, 3)) + jnp.ones(3)),
    "ranks: warned of": setting("numpy_rank_promotion", "warn", lambda j, jnp: jnp.ones((2, 3)) + jnp.ones(3)),
    "ranks: refused": setting("numpy_rank_promotion", "raise", lambda j, jnp: jnp.ones((2, 3)) + jnp.ones(3)),
    "ranks: scalars": setting("numpy_rank_promotion", "raise", lambda j, jnp: jnp.ones((2, 3)) + jnp.float32(1)),
    "ranks: unknown": setting("numpy_rank_promotion", "foo", lambda j, jnp: 1),
    "precision: unknown": setting("default_matmul_precision", "foo", lambda j, jnp: 1),
    "precision: highest": setting("default_matmul_precision", "highest", lambda j, jnp: jnp.ones((2, 2)) @ jnp.ones((2, 2))),
    "64 bits": setting("enable_x64", True, lambda j, jnp: (str(jnp.arange(3).dtype), str(j.jit(lambda a: a + 1)(1.0).dtype))),
    "32 bits": setting("enable_x64", False, lambda j, jnp: (str(jnp.arange(3).dtype), str(j.jit(lambda a: a + 1)(1.0).dtype))),
    "read": setting("enable_x64", True, lambda j, jnp: (j.config.jax_enable_x64, j.config.read("jax_enable_x64"))),
    "no jit": setting("disable_jit", True, lambda j, jnp: j.jit(lambda a: type(a).__name__)(1.0)),
    "no jit, and then": setting("disable_jit", True, setting("disable_jit", False, lambda j, jnp: j.config.jax_disable_jit)),
    "unknown setting": update("foo", 1),
    "unknown promotion": update("jax_numpy_dtype_promotion", "foo"),
    "unknown attribute": lambda j, jnp: j.config.foo,
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_have_the_effect_they_have_in_jax(name, jax_oracle):
    assert outcome(SETTINGS[name], pullback) == outcome(SETTINGS[name], jax_oracle)


# Environment variable, its value, and a program that prints what it does.
ENVIRONMENT = [
    ("JAX_ENABLE_X64", "1", "print(jax.numpy.arange(3).dtype)"),
    ("JAX_ENABLE_X64", "0", "print(jax.numpy.arange(3).dtype)"),
    ("JAX_DISABLE_JIT", "true", "print(jax.jit(lambda x: type(x).__name__)(1.0))"),
    ("JAX_NUMPY_RANK_PROMOTION", "raise", "try: jax.numpy.ones((2, 3)) + jax.numpy.ones(3)\nexcept ValueError: print('refused')"),
    ("JAX_NUMPY_DTYPE_PROMOTION", "strict", "try: jax.numpy.arange(3) + jax.numpy.ones(3)\nexcept ValueError: print('refused')"),
    ("JAX_DEBUG_NANS", "1", "try: jax.numpy.log(-1.0)\nexcept FloatingPointError: print('refused')"),
    ("JAX_PLATFORMS", "cpu", "print(jax.default_backend(), len(jax.devices()))"),
]


@pytest.mark.parametrize("name, value, program", ENVIRONMENT)
def test_environment_variables_have_the_effect_they_have_in_jax(name, value, program, jax_oracle):
    def run(module):
        environment = {**os.environ, name: value, "PYTHONPATH": str(Path(pullback.__file__).parent.parent)}
        text = f"import {module} as jax\n{program}"
        return subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True).stdout

    # JAX says more before it.
    assert run("pullback").splitlines() == run("jax").splitlines()[-1:]


def test_a_function_that_wraps_itself_is_traced():
    def f(x):
        return x + 1

    f.__wrapped__ = f
    assert pullback.jit(f)(1.0) == 2.0 and pullback.grad(pullback.checkpoint(f))(1.0) == 1.0


def test_leaves_that_nothing_uses_are_not_passed_on_but_count():
    """A call takes what its function uses; all leaves still decide which program it is, and may be given away."""
    n_traces = []

    @pullback.jit
    def first(tree):
        n_traces.append(1)
        return tree["a"] + 1

    assert first({"a": pullback.numpy.arange(3), "b": pullback.numpy.ones(2)}).tolist() == [1, 2, 3]
    assert first({"a": pullback.numpy.arange(3), "b": pullback.numpy.zeros(2)}).tolist() == [1, 2, 3]
    assert len(n_traces) == 1
    first({"a": pullback.numpy.arange(3), "b": pullback.numpy.zeros(3)})
    assert len(n_traces) == 2
    assert pullback.vmap(first)({"a": pullback.numpy.arange(3), "b": pullback.numpy.zeros((3, 2))}).tolist() == [1, 2, 3]
    kept = pullback.jit(lambda x, y: x * 2, keep_unused=True)
    assert kept(pullback.numpy.arange(2), pullback.numpy.arange(3)).tolist() == [0, 2]
