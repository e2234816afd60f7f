"""Functions of the library give JAX's values where they once silently did not: lengths, fills, orders, overlaps, copies.

Most are lines of `differential_values`, run on both systems; the rest compares derivatives, thousands of lengths of ranges
and what happens to memory.
"""

import math

import differential_values as tables
import numpy as np
import pytest
from differential import Asked, check_equal, lines_of, names_of, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

OURS, THEIRS = names_of(pullback), Asked("library_values", names_of(jax))
LINES = [line for text in (tables.RANGES, tables.SEGMENTS, tables.SORTS, tables.FUNCTIONS, tables.SHAPES, tables.NUMBERS) for line in lines_of(text)]


@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_what_jax_gives(line):
    ours, theirs = run(line, OURS), run(line, THEIRS)
    check_equal(ours, theirs, line, rtol=2e-5)
    check_signs(ours, theirs, line)


def check_signs(ours, theirs, line):
    """Infinities and NaN in the same places, and zeros of one sign where the table says no other."""
    if isinstance(theirs, (tuple, list)):
        for one, other in zip(ours, theirs):
            check_signs(one, other, line)
    elif isinstance(getattr(theirs, "dtype", None), np.dtype) and theirs.dtype.kind == "f":
        a, b = np.asarray(ours), np.asarray(theirs)
        np.testing.assert_array_equal(np.signbit(a[a == 0]), np.signbit(b[b == 0]), err_msg=line)


@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("line", lines_of(tables.INDICES))
def test_indices_have_the_dtype_of_jax(line, x64):
    found = []
    for system in (pullback, jax):
        with system.enable_x64(x64):
            jnp = system.numpy
            names = {
                "jax": system, "jnp": jnp, "lax": system.lax, "i": jnp.array([3, 1, 2, 1], "int32"), "f": jnp.array([3.0, 1, 2, 1], "float32"),
                "m": jnp.arange(6, dtype="float32").reshape(2, 3),
            }
            found.append(run(line, names))
    check_equal(*found, line, rtol=2e-5)


def test_lengths_of_ranges():
    """Those of NumPy, which computes in double precision."""
    random = np.random.default_rng(0)
    for case in range(3000):
        start, span = np.round(random.normal(size=2) * 10.0 ** random.integers(-2, 3), int(random.integers(0, 4)))
        step = float(np.round(span / random.integers(1, 60), int(random.integers(1, 5)))) or 0.1
        start, stop = float(start), float(start + span)
        assert pullback.numpy.arange(start, stop, step).shape == np.arange(start, stop, step).shape, (start, stop, step)
        if case % 10 == 0:
            assert pullback.numpy.mgrid[start:stop:step].shape == np.mgrid[start:stop:step].shape, (start, stop, step)


SPECIAL = "jax.scipy.special"
DERIVATIVES = [
    ("jnp.sinc", [0.0, 1e-6, 1e-4, 1e-2, 0.3, 0.49, 0.51, 1.0, 2.5], 4),
    (f"{SPECIAL}.entr", [0.0, 0.5, 1.0, 3.0, math.inf, -1.0], 2),
    (f"lambda x: {SPECIAL}.zeta(x, 1.5)", [1.5, 2.0, 3.0, 10.0, 50.0], 2),
    (f"lambda x: {SPECIAL}.zeta(3.0, x)", [0.3, 1.0, 3.0, 20.0], 2),
    (f"lambda x: {SPECIAL}.xlogy(x, 0.7)", [0.0, 0.5, 2.0], 2),
    (f"lambda x: {SPECIAL}.xlogy(0.7, x)", [0.5, 2.0], 2),
    (f"lambda x: {SPECIAL}.xlog1py(x, 0.7)", [0.0, 0.5, 2.0], 2),
    (f"lambda x: {SPECIAL}.kl_div(x, 0.7)", [0.0, 0.5, 2.0, -1.0], 2),
    (f"lambda x: {SPECIAL}.kl_div(0.7, x)", [0.0, 0.5, 2.0, -1.0], 2),
    (f"lambda x: {SPECIAL}.rel_entr(x, 0.7)", [0.0, 0.5, 2.0, -1.0], 2),
    (f"{SPECIAL}.i0", [0.0, 1e-10, 0.3, 0.51, -2.0, 8.0], 2),
    (f"{SPECIAL}.i1", [0.0, 1e-10, 0.3, 0.51, -2.0, 8.0], 2),
    (f"{SPECIAL}.exp1", [0.3, 1.0, 2.0, 8.0, -1.0], 1),
    ("lambda x: jnp.ldexp(x, 3)", [0.0, 0.5, 2.0], 1),
    ("lambda x: jnp.logaddexp2(x, 0.5)", [0.0, 0.5, 200.0, -math.inf], 2),
]


@pytest.mark.parametrize("text, points, order", DERIVATIVES)
def test_derivatives_up_to_an_order(text, points, order):
    found = []
    for system, names in ((pullback, OURS), (jax, THEIRS)):
        function, values = eval(text, dict(names)), []
        for _ in range(order):
            function = system.grad(function)
            values.append([float(function(x)) for x in points])
        found.append(values)
    np.testing.assert_allclose(*found, rtol=3e-4, atol=2e-5, err_msg=text)


ANEW = [
    "jnp.astype(x, 'int32', copy=True)", "jnp.array(x)", "jnp.copy(x)", "x.copy()", "jax.jit(jnp.array)(x)", "jax.jit(jnp.copy)(x)",
    "jax.jit(lambda x: x)(x)", "jax.jit(lambda x: (x, x + 1))(x)[0]", "jax.jit(lambda: x)()", "jax.jit(lambda a, b: a)(x, 1)",
    "jnp.positive(x)", "jnp.real(x)", "jnp.conj(x)", "jnp.floor(x)", "jnp.round(x)", "jnp.roll(x, 0)", "jnp.atleast_1d(x)",
]


@pytest.mark.parametrize("text", ANEW)
def test_a_copy_is_a_copy(text):
    for ends in ("y.delete()", "jax.jit(lambda a: a + 1, donate_argnums=0)(y)"):
        x = pullback.numpy.arange(5)
        y = eval(text, {"jax": pullback, "jnp": pullback.numpy, "x": x})
        eval(ends, {"jax": pullback, "y": y})
        assert not x.is_deleted() and x.tolist() == [0, 1, 2, 3, 4], ends


@pytest.mark.parametrize("text", ["jax.jit(jnp.array)(x)", "jax.jit(jnp.copy)(x)", "jnp.astype(x, 'int32', copy=True)"])
def test_a_copy_that_was_asked_for_has_memory_of_its_own(text):
    x = pullback.numpy.arange(5)
    y = eval(text, {"jax": pullback, "jnp": pullback.numpy, "x": x})
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


def test_piecewise_traces_its_functions_once():
    jnp, calls = pullback.numpy, []
    functions = [lambda x: calls.append(1) or x * 2, lambda x: x]
    for _ in range(3):
        jnp.piecewise(jnp.arange(4.0), [jnp.arange(4) > 1], functions)
    assert len(calls) == 1


@pytest.mark.parametrize("atol", [{np.float32: 1e-2}, {np.dtype("float32"): 1e-2}, {np.float64: 1.0}, 1e-2])
def test_tolerances_by_dtype(atol):
    pullback.test_util.check_grads(pullback.numpy.sin, (np.float32(1.0),), 2, atol=atol, rtol=atol)
    with pytest.raises(AssertionError):
        pullback.test_util.check_jvp(
            pullback.numpy.sin, lambda primals, tangents: (np.sin(primals[0]), 2 * tangents[0]), (np.float32(1.0),), atol=atol, rtol=1e-2
        )


def test_buckets_of_nothing_are_refused():
    """JAX divides by zero; here the error names the argument."""
    jnp = pullback.numpy
    with pytest.raises(ValueError, match="bucket_size must not be 0"):
        pullback.ops.segment_sum(jnp.arange(5), jnp.array([0, 1, -1, 2, 7]), 3, False, False, 0)
