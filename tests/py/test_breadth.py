"""Functions over their arguments, dtypes and shapes, each beside JAX: values, dtypes, weak types, shapes, exception classes.

`cases/*.txt` hold lines that are run on both systems, eagerly and under `jit`; a table of functions is swept over dtypes
and shapes, and gradients of it are compared. The counts are printed at the end of a run with `-s`.
"""

import importlib
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from differential import Asked, check_equal, facts, lines_of, names_of, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

CASES = [
    (file.stem, line)
    for file in sorted((Path(__file__).parent / "cases").glob("*.txt")) for line in lines_of(file.read_text())
]
RTOL = 2e-5
COUNTS = Counter()


def with_x64(system):
    """A function that calls another with x64."""
    def call(function):
        with system.enable_x64(True):
            return function()

    return call


def wide_names(system):
    """The names of `differential` and more: scipy's modules, keys, and arrays that breadth needs."""
    names = names_of(system)
    jnp, scipy = system.numpy, importlib.import_module(system.__name__ + ".scipy")
    for module in ("fft", "integrate", "cluster.vq", "linalg", "ndimage", "interpolate", "sparse.linalg", "special", "stats"):
        importlib.import_module(f"{system.__name__}.scipy.{module}")
    generator = np.random.RandomState(0)
    attention = {"q": (2, 4, 3, 8), "kk": (2, 5, 3, 8), "v": (2, 5, 3, 8)}
    names.update({name: jnp.array(generator.randn(*shape).astype("f")) for name, shape in attention.items()})
    return names | {
        "wide": with_x64(system), "scipy": scipy, "sp": scipy.special, "st": scipy.stats, "nn": system.nn, "r": system.random, "k": system.random.key(7),
        "X": jnp.arange(6.0).reshape(2, 3), "S": jnp.array([3, 1, 2, 1, 3]), "Y": jnp.array([2, 3, 5]),
        "N": jnp.array([np.nan, 1.0, np.nan, 0.0]), "M": jnp.array([[1, 2], [1, 2], [0, 2]]),
    }


THEIRS, OURS = Asked("breadth", wide_names(jax)), wide_names(pullback)
ARRAYS = [name for name, value in THEIRS.items() if isinstance(value, jax.Array)]
ANSWERS = {}


def answer(line):
    """JAX's eager answer, computed once."""
    if line not in ANSWERS:
        ANSWERS[line] = run(line, THEIRS)
    return ANSWERS[line]


@pytest.mark.parametrize("file, line", CASES, ids=[f"{file}: {line}" for file, line in CASES])
def test_eager(file, line):
    COUNTS[file] += 1
    check_equal(run(line, OURS), answer(line), line, RTOL)


def is_about_tracers(error):
    """A value was needed that is not known under `jit`, or a result is no array."""
    from pullback import errors

    kinds = (
        errors.ConcretizationTypeError, errors.TracerArrayConversionError, errors.TracerIntegerConversionError,
        errors.NonConcreteBooleanIndexError,
    )
    return isinstance(error, kinds) or "not a valid JAX type" in str(error)


JITTED = [(file, line) for file, line in CASES if any(re.search(rf"\b{name}\b", line) for name in ARRAYS)]


@pytest.mark.parametrize("file, line", JITTED, ids=[f"{file}: {line}" for file, line in JITTED])
def test_jitted_as_eager(file, line):
    used = [name for name in ARRAYS if re.search(rf"\b{name}\b", line)]
    program = eval(f"lambda {', '.join(used)}: ({line})", dict(OURS))
    try:
        found = pullback.jit(program)(*(OURS[name] for name in used))
    except Exception as error:  # noqa: BLE001
        found = error
    wanted = answer(line)
    if isinstance(found, Exception) and is_about_tracers(found):
        return
    COUNTS[f"{file}, jitted"] += 1
    if isinstance(wanted, (bool, int, float, complex, np.generic)):
        wanted = THEIRS["jnp"].asarray(wanted)
    if isinstance(wanted, Exception) or hasattr(wanted, "dtype"):
        check_equal(found, wanted, line, RTOL)


# A sweep: functions by what they take, over dtypes and shapes.
DTYPES = ["bool", "int8", "int32", "uint8", "uint32", "float16", "bfloat16", "float32", "complex64"]
SHAPES = [(), (0,), (3,), (2, 3)]

UNARY = """
    abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh around asin asinh atan atanh bitwise_count
    bitwise_invert bitwise_not cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs fix floor frexp imag
    invert iscomplex isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not modf nan_to_num negative
    positive rad2deg radians real reciprocal rint round sign signbit sin sinc sinh sqrt square tan tanh trunc
""".split()
BINARY = """
    add arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide divmod equal
    float_power floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot isclose lcm left_shift less less_equal
    logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply nextafter not_equal power
    remainder right_shift subtract true_divide
""".split()
REDUCTIONS = """
    all amax amin any argmax argmin count_nonzero cumprod cumsum max mean median min nanmax nanmean nanmin nanprod nanstd
    nansum nanvar prod ptp std sum var
""".split()
PAIRS = [
    ("float32", "float32"), ("int32", "int32"), ("bool", "bool"), ("int32", "float32"), ("uint8", "int8"), ("bool", "int8"),
    ("float16", "bfloat16"), ("bfloat16", "float32"), ("complex64", "float32"), ("uint32", "int32"), ("int32", "float16"),
]
SHAPE_PAIRS = [((), (3,)), ((3,), (3,)), ((2, 1), (3,)), ((0,), (1,)), ((2,), (3,))]
AXES = ["", "axis=0", "axis=-1, keepdims=True", "axis=5"]


def sample(jnp, dtype, shape, seed=0):
    """Numbers from -2 to 3 that are exact in every dtype; unsigned ones from 0."""
    values = np.random.RandomState(seed).randint(0 if dtype.startswith("u") else -2, 4, shape)
    if dtype in ("float16", "bfloat16", "float32"):
        values = values + 0.25
    if dtype == "complex64":
        values = values + 0.5j
    return jnp.asarray(values).astype(dtype) if dtype != "bool" else jnp.asarray(values > 0)


SWEEP_GAPS = Path(__file__).parent / "golden" / "sweep_gaps.txt"


def known_gaps():
    """Cases that differ from JAX today: function, then operands. The list is exact, so it shrinks with each that is mended."""
    return {line for line in SWEEP_GAPS.read_text().splitlines() if line and not line.startswith("#")}


def differing(kind, line, cases):
    """Runs a line for each case of operands; gives those that differ from JAX, with what differs."""
    differ = {}
    for operands in cases:
        COUNTS[kind] += 1

        def result(names):
            values = {f"a{i}": value if np.isscalar(value) else sample(names["jnp"], *value, i) for i, value in enumerate(operands)}
            return run(line, names | values)

        try:
            wanted = THEIRS.answer(f"{line} of {operands}", lambda: result(THEIRS))
            check_equal(result(OURS), wanted, f"{line} of {operands}", RTOL)
        except AssertionError as error:
            differ[f"{line} of {operands}"] = str(error)[:300]
    return differ


def unary_cases():
    return [((dtype, shape),) for dtype in DTYPES for shape in SHAPES] + [(2,), (1.5,), (True,)]


def binary_cases():
    of_dtypes = [((one, (3,)), (other, (3,))) for one, other in PAIRS]
    of_shapes = [(("float32", one), ("float32", other)) for one, other in SHAPE_PAIRS]
    return of_dtypes + of_shapes + [((dtype, (3,)), number) for dtype in ("int8", "float16", "float32") for number in (2, 1.5, True)]


def reduction_cases(options):
    cases = [((dtype, shape),) for dtype in DTYPES for shape in ((3,), (2, 3))]
    return cases if options else cases + [(("float32", ()),), (("float32", (0,)),), (("int32", (0, 3)),), (2.5,)]


SWEEPS = [
    *(("unary", f"jnp.{name}(a0)", unary_cases()) for name in UNARY),
    *(("binary", f"jnp.{name}(a0, a1)", binary_cases()) for name in BINARY),
    *(("reductions", f"jnp.{name}(a0, {options})", reduction_cases(options)) for name in REDUCTIONS for options in AXES),
]


@pytest.mark.parametrize("kind, line, cases", SWEEPS, ids=[line for _, line, _ in SWEEPS])
def test_sweep(kind, line, cases):
    found = differing(kind, line, cases)
    known = {gap for gap in known_gaps() if gap.startswith(line + " of ")}
    new = {gap: text for gap, text in found.items() if gap not in known}
    assert not new, f"{len(new)} of {len(cases)} differ:\n" + "\n".join(new.values())
    assert not known - set(found), f"mended; delete from {SWEEP_GAPS.name}: {sorted(known - set(found))}"


SMOOTH = """
    abs arccos arcsin arcsinh arctan arctanh cbrt cos cosh exp exp2 expm1 log log10 log1p log2 negative reciprocal sin sinc
    sinh sqrt square tan tanh cumsum cumprod max mean median min prod std sum var ptp sort nansum nanmean
""".split()


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name):
    COUNTS["gradients"] += 1
    line = f"jax.grad(lambda a: jnp.sum(jnp.{name}(a) * 1.5))(jnp.array([0.25, 0.75, 0.5]))"
    check_equal(run(line, OURS), run(line, THEIRS), line, 1e-4)


PAIRS_SMOOTH = "add arctan2 copysign divide fmax fmin float_power hypot logaddexp logaddexp2 maximum minimum multiply power remainder subtract".split()


@pytest.mark.parametrize("name", PAIRS_SMOOTH)
def test_gradients_of_two(name):
    COUNTS["gradients"] += 1
    line = f"jax.grad(lambda a, b: jnp.sum(jnp.{name}(a, b) * 1.5), argnums=(0, 1))(jnp.array([0.25, 2.75, 0.5]), jnp.array([1.5, 0.25, 2.0]))"
    check_equal(run(line, OURS), run(line, THEIRS), line, 1e-4)


def test_facts_tell_differences_apart():
    jnp = pullback.numpy
    distinct = [jnp.zeros(3), jnp.zeros(2), jnp.zeros(3, "int32"), ValueError(), TypeError(), (jnp.zeros(3),), [jnp.zeros(3)]]
    assert len({repr(facts(value)) for value in distinct}) == len(distinct)
    with pytest.raises(AssertionError):
        check_equal(jnp.ones(3), jnp.zeros(3), "", RTOL)


def test_counts():
    """Prints how many comparisons were made, by kind."""
    print("\n" + "\n".join(f"{kind}: {n}" for kind, n in sorted(COUNTS.items())) + f"\nall: {sum(COUNTS.values())}")
