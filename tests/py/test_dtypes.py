"""Every primitive in every dtype: where JAX works we work and agree, where JAX raises we raise the same class.

A case is a line of Python over arrays of one dtype; JAX itself decides which dtypes a case exists in. The arrays hold
the special values of their dtype (signed zeros, infinities, NaN, ends of the range), so branch cuts and overflow are
compared too. Where a dtype has a wider one and results differ by more than rounding, JAX's result in the wider dtype
decides: ours must be the one that is nearer to it. What else may differ stands in `EXCEPTIONS`, each with its reason.
"""

import functools
import warnings

import ml_dtypes
import numpy as np
import pytest
from differential import check_equal, facts, lines_of, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

SMALL_FLOATS = (
    "float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)
SMALL_INTS = ("int2", "int4", "uint2", "uint4")
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *SMALL_INTS, *SMALL_FLOATS,
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)

# x, y: special values; p, q: ordinary ones; a, b: ordinary ones in [0.1, 0.9]; m, n: ordinary matrices of (3, 4);
# k: int32 indices; w: special values as a row to be sorted.
CASES = lines_of("""
    lax.abs(x)
    lax.acos(x)
    lax.acosh(x)
    lax.asin(x)
    lax.asinh(x)
    lax.atan(x)
    lax.atanh(x)
    lax.bessel_i0e(x)
    lax.bessel_i1e(x)
    lax.bitwise_not(x)
    lax.cbrt(x)
    lax.ceil(x)
    lax.clz(x)
    lax.conj(x)
    lax.cos(x)
    lax.cosh(x)
    lax.digamma(jnp.where(x == 0, 0, x))
    lax.erf(x)
    lax.erf_inv(x)
    lax.erfc(x)
    lax.exp(x)
    lax.exp2(x)
    lax.expm1(x)
    lax.floor(x)
    lax.imag(x)
    lax.integer_pow(x, -3)
    lax.integer_pow(x, 0)
    lax.integer_pow(x, 2)
    lax.integer_pow(x, 5)
    lax.is_finite(x)
    lax.lgamma(x)
    lax.log(x)
    lax.log1p(x)
    jnp.log2(x)
    lax.logistic(x)
    lax.neg(x)
    lax.population_count(x)
    lax.real(x)
    lax.reciprocal(x)
    lax.reduce_precision(x, 4, 2)
    lax.reduce_precision(x, 8, 7)
    lax.round(x)
    lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)
    lax.rsqrt(x)
    lax.sign(x)
    lax.sin(x)
    lax.sinh(x)
    lax.sqrt(x)
    lax.square(x)
    lax.stop_gradient(x)
    lax.tan(x)
    lax.tanh(x)
    lax.add(x, y)
    lax.atan2(x, y)
    lax.bitwise_and(x, y)
    lax.bitwise_or(x, y)
    lax.bitwise_xor(x, y)
    lax.clamp(p[0], x, p[1])
    lax.clamp(y, x, y[::-1])
    lax.complex(x, y)
    lax.div(x, y)
    lax.eq(x, y)
    lax.ge(x, y)
    lax.gt(x, y)
    lax.igamma(a, b)
    lax.igammac(a, b)
    lax.igamma_grad_a(a, b)
    lax.random_gamma_grad(a, b)
    lax.betainc(a, b, b[::-1])
    lax.le(x, y)
    lax.lt(x, y)
    lax.max(x, y)
    lax.min(x, y)
    lax.mul(x, y)
    lax.ne(x, y)
    lax.nextafter(x, y)
    lax.polygamma(jnp.abs(lax.round(p)), q)
    lax.pow(x, y)
    lax.pow(x, lax.full_like(x, 2, dtype=np.int32))
    lax.rem(x, y)
    lax.select(x == y, x, y)
    lax.shift_left(x, y)
    lax.shift_right_arithmetic(x, y)
    lax.shift_right_logical(x, y)
    lax.sub(x, y)
    lax.zeta(a + 1, b)
    lax.argmax(w, 0, np.int32)
    lax.argmax(m, 1, np.int32)
    lax.argmin(w, 0, np.int32)
    lax.argmin(m, 0, np.int32)
    lax.cumlogsumexp(m, 1)
    lax.cummax(m, 1)
    lax.cummax(w)
    lax.cummin(m, 0, reverse=True)
    lax.cumprod(m, 1)
    lax.cumsum(m, 1, reverse=True)
    lax.reduce_and(m, (1,))
    lax.reduce_max(m, (0,))
    lax.reduce_max(w, (0,))
    lax.reduce_min(m, (0, 1))
    lax.reduce_or(m, (1,))
    lax.reduce_prod(m, (1,))
    lax.reduce_sum(m, (0,))
    lax.reduce_xor(m, (1,))
    lax.sort(w)
    lax.sort((m, n), num_keys=2)
    lax.sort((m, n), dimension=0, num_keys=1)
    lax.sort_key_val(w, lax.iota(np.int32, w.shape[0]))
    lax.top_k(p, 2)
    lax.broadcast_in_dim(p, (2, 4), (1,))
    lax.concatenate([m, n], 0)
    lax.dynamic_slice(m, (k[0], k[1]), (2, 2))
    lax.dynamic_update_slice(m, n[:1, :2], (k[0], k[1]))
    lax.expand_dims(m, (1,))
    lax.full((2,), 1, x.dtype)
    lax.iota(x.dtype, 4)
    lax.pad(m, p[0], [(1, 0, 1), (-1, 2, 0)])
    lax.reshape(m, (2, 6))
    lax.rev(m, (0, 1))
    lax.slice(m, (0, 1), (3, 4), (1, 2))
    lax.squeeze(m[:1], (0,))
    lax.transpose(m, (1, 0))
    lax.tile(p, (2,))
    jnp.where(k[:, None] > 0, m, n)
    lax.gather(m, k[:, None], lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 4))
    lax.gather(m, k[:, None] + 1, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 4), mode="fill")
    lax.scatter(m, k[:, None], n, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
    lax.scatter_add(m, k[:, None], n, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
    lax.scatter_sub(m, k[:, None], n, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
    lax.scatter_mul(m, k[:, None], n, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
    lax.scatter_min(m, k[:, None], n, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
    lax.scatter_max(m, k[:, None], n, lax.ScatterDimensionNumbers((1,), (0,), (0,)))
    lax.dot_general(m, n, (((1,), (1,)), ((), ())))
    lax.dot_general(m, n, (((0, 1), (0, 1)), ((), ())))
    lax.dot_general(jnp.tile(m, (8, 1)), jnp.tile(n, (8, 1)), (((1,), (1,)), ((), ())))
    lax.scan(lambda c, v: (lax.add(c, v), lax.mul(c, v)), p[0], p)
    lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lax.add(c[1], c[1])), (0, p))
    lax.cond(k[0] > 0, lambda v: lax.add(v, v), lambda v: v, p)
    jnp.exp(p)
    jnp.sum(m)
    jnp.mean(m)
    jnp.matmul(m, n.T)
    jax.nn.relu(p)
    jax.nn.softmax(m)
""")

# What else may differ: dtypes, what cases contain (any of the words), why.
EXCEPTIONS = (
    ("int uint", "cumlogsumexp", "of integers JAX fails with an OverflowError; here it is the TypeError of the other functions"),
    ("int2", "population_count", "JAX extends the sign of int4 before it counts, but not that of int2"),
    ("int2 int4 uint2 uint4", "jnp.sum", "JAX finds no dtype for the sum"),
    ("int2 uint2", "concatenate", "JAX aborts the process"),
    ("int2 uint2", "sort", "JAX's order is none"),
    ("int2 uint2", "jnp.log2 jnp.exp jnp.mean softmax", "JAX forgets them among the integers that become floats"),
    (" ".join(SMALL_FLOATS), "gamma(a gammac(a gamma_grad betainc", "JAX iterates in eight bits, and often without end"),
    ("uint64", "softmax", "JAX subtracts a maximum that was rounded to float64"),
    ("complex", "cummax(w) cummin(w)", "where NaN comes first JAX gives what its tree starts from"),
    ("complex", "atan2", "JAX's zeros have the sign of the way it takes"),
    ("float8_e4m3fn float8_e4m3b11fnuz float8_e5m2fnuz", "cumlogsumexp", "JAX starts from -inf, which the format has not"),
    ("float8_e8m0fnu", "cumlogsumexp arg cummax cummin cumsum reduce_ scatter_sub",
     "JAX starts from zero or an infinity, or negates, which the format has not"),
    ("float8_e8m0fnu", "nextafter", "JAX takes the highest bit of the exponent for a sign"),
    ("float8_e8m0fnu", "zeta", "JAX keeps the sum a + 1, which the format rounds to the pole at 1"),
    ("float8_e8m0fnu", "exp2", "JAX rounds the exponent times ln 2 first, and ends within the range"),
    ("float4_e2m1fn", "convert_element_type", "JAX takes the greatest number of the format for an infinity"),
)

CONVERSIONS = [f"lax.convert_element_type(c, jnp.{to})" for to in DTYPES if to != "bool"]
CONVERSIONS += ["lax.convert_element_type(c, bool)"]
BITCASTS = [f"lax.bitcast_convert_type(v, jnp.{to})" for to in DTYPES if to != "bool"]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def special_values(dtype):
    """Numbers whose grid holds the special cases of a dtype."""
    if dtype == bool:
        return [False, True]
    if dtype.name in SMALL_INTS or dtype.kind in "iu":
        info = ml_dtypes.iinfo(dtype)
        return sorted({max(v, int(info.min)) for v in (info.min, info.min + 1, -3, -1, 0, 1, 2, 7)
                       if v <= info.max} | {int(info.max) - 1, int(info.max)})
    if dtype.name in SMALL_FLOATS:
        return [0.0, -0.0, 0.5, 1.0, -1.0, 2.0, -4.0, 3.0, np.inf, -np.inf, np.nan, 100.0]
    return [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -2.0, 3.0, 40.0, -700.0, 1e-3, np.inf, -np.inf, np.nan]


def real_array(dtype, values):
    if dtype.kind in "iu" or dtype.name in SMALL_INTS:
        info = ml_dtypes.iinfo(dtype)
        return np.array([min(max(int(v), int(info.min)), int(info.max)) for v in values]).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(values).astype(dtype)


def arrays_of(name):
    """The arrays that cases name, as NumPy's."""
    dtype = dtype_of(name)
    values = special_values(np.dtype("float32") if dtype.kind == "c" else dtype)
    if dtype.kind == "c":
        part = dtype.type().real.dtype
        z = np.empty((len(values), len(values)), dtype)
        z.real, z.imag = np.array(values, part)[:, None], np.array(values, part)[None, :]
        x, y, w = z.ravel(), np.roll(z.T.ravel(), 37), np.roll(z.ravel(), 50)[::3]
        ordinary = np.array([1.5 - 0.5j, 2 + 1j, -1 + 0.25j, 0.5 + 2j], dtype)
        a = np.array([0.25 + 0.5j, 0.5, 0.75, 0.875], dtype)
    else:
        row = real_array(dtype, values)
        x, y = (v.ravel() for v in np.meshgrid(row, row, indexing="ij"))
        w = np.concatenate([row[::2], row[1::2][::-1], row])
        ordinary = real_array(dtype, [1.5, 2.0, -1.0, 3.0])
        a = real_array(dtype, [0.25, 0.5, 0.75, 0.875])
    q = np.roll(ordinary, 1)
    m = np.concatenate([ordinary, q, a]).reshape(3, 4)
    n = np.roll(m, 5).reshape(3, 4)
    # Bits do not change under bitcasts; a NaN's bits are its own business.
    v = np.array([1.5, 2.0, 0.5, 1.0] * 8).astype(dtype) if dtype != bool else np.array([True, False] * 16)
    c = x if dtype.kind != "c" else z.ravel()
    return {"x": x, "y": y, "w": w, "p": ordinary, "q": q, "a": a, "b": a[::-1].copy(), "m": m, "n": n, "c": c, "v": v,
            "k": np.array([1, 0, 2], np.int32)}


def bound(system, arrays):
    return {"jax": system, "jnp": system.numpy, "lax": system.lax, "np": np, **arrays}


@pytest.fixture(autouse=True)
def _wide_types():
    """Both systems with 64-bit dtypes."""
    before = jax.config.jax_enable_x64, pullback.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    pullback.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before[0])
    pullback.config.update("jax_enable_x64", before[1])


def evaluate(system, arrays, lines):
    """A function of the arrays that runs the lines."""
    return lambda arrays: [eval(line, bound(system, arrays)) for line in lines]


def is_excepted(name, line):
    family = name.rstrip("0123456789")
    return any(
        (name in dtypes.split() or family in dtypes.split()) and any(word in line for word in words.split(" "))
        for dtypes, words, _ in EXCEPTIONS
    )


def compiled_by_jax(arrays, lines, answers):
    """Adds JAX's answers to lines that trace; halves what does not compile until single lines are left."""
    try:
        results = jax.block_until_ready(jax.jit(evaluate(jax, arrays, lines))(arrays))
    except Exception as error:  # noqa: BLE001
        if len(lines) == 1:
            answers[lines[0]] = error
            return
        half = len(lines) // 2
        compiled_by_jax(arrays, lines[:half], answers)
        compiled_by_jax(arrays, lines[half:], answers)
        return
    answers.update(zip(lines, results))


# Formats for which JAX's compiler takes minutes: it is asked for arithmetic, order and conversions only. They go
# through the same formulas as the other small floats, with other numbers of bits.
RARE = ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz")
FEW = lines_of("""
    lax.abs(x)
    lax.neg(x)
    lax.exp(x)
    lax.sqrt(x)
    lax.add(x, y)
    lax.mul(x, y)
    lax.div(x, y)
    lax.max(x, y)
    lax.lt(x, y)
    lax.reduce_sum(m, (0,))
    lax.sort(w)
    lax.transpose(m, (1, 0))
""")

# Functions that JAX's compiler refuses in small floats; they are asked for alone, so that the others compile together.
FRAGILE = ("erfc", "bessel", "top_k", "gamma", "zeta")


def answers_of_jax(arrays, lines):
    arrays = {name: jax.numpy.asarray(array) for name, array in arrays.items()}
    answers, together = {}, []
    for line in lines:
        try:
            jax.eval_shape(evaluate(jax, arrays, [line]), arrays)
        except Exception as error:  # noqa: BLE001
            answers[line] = error
        else:
            together.append(line)
    alone = [line for line in together if any(word in line for word in FRAGILE)]
    if arrays["x"].dtype.name not in SMALL_FLOATS:
        alone = []
    for lines in [[line for line in together if line not in alone], *([line] for line in alone)]:
        if lines:
            compiled_by_jax(arrays, lines, answers)
    return answers


@functools.cache
def expected(name):
    """JAX's answer to every case in a dtype; its exceptions among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [line for line in CASES if line in FEW] if name in RARE else CASES
        lines = [line for line in cases + CONVERSIONS + BITCASTS if not is_excepted(name, line)]
        return answers_of_jax(arrays_of(name), lines)


def widened(array):
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64) if is_float(array.dtype) else array


def is_float(dtype):
    return dtype.kind == "f" or dtype.name in (*SMALL_FLOATS, "bfloat16")


def parts(array, to=np.float64):
    """The real numbers of an array, a row an element."""
    if array.dtype.kind == "c":
        return np.stack([array.real.ravel(), array.imag.ravel()], 1).astype(to)
    return array.astype(to).reshape(-1, 1)


def tolerance(dtype):
    """What rounding may do: one place in types that JAX computes in wider ones, else a few.

    In `complex128`, which has no wider type to decide, as much as a power near the end of the range multiplies it by.
    """
    if dtype.kind == "c":
        return {8: 2e-6, 16: 1e-12}[dtype.itemsize]
    if dtype.name in ("float32", "float64"):
        return {4: 2e-6, 8: 1e-13}[dtype.itemsize]
    return float(ml_dtypes.finfo(dtype).eps) * 1.01


def mismatches(ours, theirs):
    """Which elements differ by more than rounding, in the sign of a zero, in infinities or NaN."""
    if ours.dtype.kind in "biu" or ours.dtype.name in SMALL_INTS:
        return (ours.astype(object) != theirs.astype(object)).ravel()
    a, b = parts(ours), parts(theirs)
    with np.errstate(all="ignore"):
        size = np.where(np.isfinite(b), np.abs(b), 0).max(1, keepdims=True, initial=0)
        is_equal = (a == b) & ((a != 0) | (np.signbit(a) == np.signbit(b)))
        is_close = (np.abs(a - b) <= tolerance(ours.dtype) * size) & ~((a == 0) & (b == 0))
    return ~(is_equal | is_close | (np.isnan(a) & np.isnan(b))).all(1)


def decided(ours, theirs, wide, at):
    """Whether ours are at least as near to the wide result as JAX's, at the given elements."""
    a, b, w = (parts(array)[at] for array in (ours, theirs, wide))
    with np.errstate(all="ignore"):
        rounded = parts(wide).astype(real_of(ours.dtype)).astype(np.float64)[at]
        error_a, error_b = (np.nansum(np.abs(v - w), 1) + np.inf * (np.isnan(v) != np.isnan(w)).any(1) for v in (a, b))
        has_nan = ours.dtype.name != "float4_e2m1fn"
        is_nan = np.isnan(w).all(1) & (np.isnan(a).all(1) | (not has_nan))
        is_zero = ((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))).any(1)
        return (~is_zero & ((a == rounded).all(1) | (error_a <= error_b))) | is_nan


def real_of(dtype):
    return {"complex64": np.dtype("float32"), "complex128": np.dtype("float64")}.get(dtype.name, dtype)


def wide_answer(name, line):
    arrays = {key: widened(array) for key, array in arrays_of(name).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = answers_of_jax(arrays, [line])[line]
    return None if isinstance(answer, Exception) else [np.asarray(leaf) for leaf in jax.tree.leaves(answer)]


def difference(name, line, ours, theirs):
    """What differs, in words; nothing when all agrees."""
    if isinstance(theirs, Exception):
        failed = type(theirs).__name__ in ("JaxRuntimeError", "XlaRuntimeError", "RuntimeError")
        if failed or facts(ours) == facts(theirs):
            return None
        return f"ours {ours!r:.200}, JAX raises {theirs!r:.200}"
    if isinstance(ours, Exception):
        return f"ours raises {ours!r:.200}, JAX works"
    wide = None
    pairs = zip(pullback.tree.leaves(ours), jax.tree.leaves(theirs), strict=True)
    for number, (mine, other) in enumerate((np.asarray(a), np.asarray(b)) for a, b in pairs):
        if (mine.dtype, mine.shape) != (other.dtype, other.shape):
            return f"ours {mine.dtype}{mine.shape}, JAX's {other.dtype}{other.shape}"
        bad = np.flatnonzero(mismatches(mine, other))
        if len(bad) and (is_float(mine.dtype) or mine.dtype.kind == "c"):
            wide = wide or wide_answer(name, line)
            if wide and wide[number].shape == mine.shape and real_of(mine.dtype).itemsize < 8:
                bad = bad[~decided(mine, other, wide[number], bad)]
        if len(bad):
            return f"element {bad[0]} and {len(bad) - 1} more: ours {mine.ravel()[bad[:4]]}, JAX's {other.ravel()[bad[:4]]}"
    return None


def ours_by_jit(line, arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return pullback.jit(lambda arrays: eval(line, bound(pullback, arrays)))(arrays)
        except Exception as error:  # noqa: BLE001
            return error


@pytest.mark.parametrize("name", DTYPES)
def test_every_primitive(name):
    """Eagerly as JAX does, and under jit with the same bits as eagerly."""
    arrays = {key: pullback.numpy.asarray(array) for key, array in arrays_of(name).items()}
    failures = []
    for line, theirs in expected(name).items():
        eager = run(line, bound(pullback, arrays))
        found = difference(name, line, eager, theirs)
        if found is None and not isinstance(eager, Exception):
            found = not_the_same(eager, ours_by_jit(line, arrays))
        if found:
            failures.append(f"{line}: {found}")
    assert not failures, f"{name}: {len(failures)} cases\n" + "\n".join(failures)


def same_bits(a, b):
    """Whether all bits are equal; those of NaN say nothing."""
    if a.dtype.kind != "c" and not is_float(a.dtype):
        return a.tobytes() == b.tobytes()
    a, b = parts(a), parts(b)
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all())


def not_the_same(eager, jitted):
    if isinstance(jitted, Exception):
        return f"jit raises {jitted!r:.200}"
    for a, b in zip(pullback.tree.leaves(eager), pullback.tree.leaves(jitted), strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if (a.dtype, a.shape) != (b.dtype, b.shape) or not same_bits(a, b):
            return f"eager {a!r:.300}, jit {b!r:.300}"
    return None


# Derivatives, at z: ordinary complex numbers off the cuts, and u: real ones in (0, 1); t and s are directions.
COMPLEX_FUNCTIONS = (
    "acos acosh asin asinh atan atanh cos cosh exp exp2 expm1 log log1p logistic rsqrt sin sinh sqrt square tan tanh "
    "reciprocal neg sign conj real imag abs"
).split()
DERIVATIVES = [f"jax.jvp(lax.{name}, (z,), (t,))" for name in COMPLEX_FUNCTIONS] + lines_of("""
    jax.jvp(lambda a: lax.integer_pow(a, 5), (z,), (t,))
    jax.jvp(lambda a: lax.integer_pow(a, -2), (z,), (t,))
    jax.jvp(lax.pow, (z, t), (t, z))
    jax.jvp(lax.mul, (z, t), (t, z))
    jax.jvp(lax.div, (z, t), (t, z))
    jax.jvp(lax.atan2, (z, t), (t, z))
    jax.jvp(lambda a: lax.clamp(t[0], a, t[1]), (z,), (t,))
    jax.jvp(lax.cumsum, (z,), (t,))
    jax.jvp(lax.cumprod, (z,), (t,))
    jax.jvp(lax.cumlogsumexp, (z,), (t,))
    jax.jvp(lambda a: lax.reduce_max(a, (0,)), (z,), (t,))
    jax.jvp(lambda a: lax.reduce_prod(a, (0,)), (z,), (t,))
    jax.jvp(lax.sort, (z,), (t,))
    jax.grad(lambda a: jnp.sum(lax.asin(a) * a), holomorphic=True)(z)
    jax.grad(lambda a: jnp.sum(lax.tanh(a) / lax.log(a)), holomorphic=True)(z)
    jax.grad(lambda a: jnp.sum(lax.abs(a * lax.sqrt(a))))(z)
    jax.vjp(lax.cumprod, z)[1](t)
    jax.vjp(lambda a, b: lax.dot_general(a, b, (((0,), (0,)), ((), ()))), z, t)[1](t[0])
    jax.jvp(lax.digamma, (u,), (s,))
    jax.jvp(lax.lgamma, (u,), (s,))
    jax.jvp(lambda x: lax.polygamma(jnp.ones_like(x), x), (u,), (s,))
    jax.jvp(lambda m: lax.polygamma(m, u), (u,), (s,))
    jax.jvp(lambda x: lax.zeta(x + 1, x), (u,), (s,))
    jax.jvp(lax.bessel_i0e, (u,), (s,))
    jax.jvp(lax.bessel_i1e, (u - u[0],), (s,))
    jax.jvp(lax.igamma, (u, u[::-1]), (s, u))
    jax.jvp(lax.igamma, (3 * u, 9 * u), (s, u))
    jax.jvp(lax.igammac, (u, u[::-1]), (s, u))
    jax.jvp(lambda x: lax.betainc(u, u[::-1], x), (u,), (s,))
    jax.jvp(lambda a: lax.betainc(a, u, u), (u,), (s,))
""")


def points(parts, array):
    z = np.array([0.5 + 0.25j, -1.5 + 0.75j, 0.1 - 2j, 3 + 0.5j, -0.25 - 0.5j])
    z = z.astype({"float32": np.complex64, "float64": np.complex128}[parts])
    u = np.array([0.125, 0.3, 0.5, 0.65, 0.9], parts)
    return {"z": array(z), "t": array(z[::-1] * (1 - 0.5j)), "u": array(u), "s": array(u[::-1] - 0.25)}


@pytest.mark.parametrize("parts", ["float32", "float64"])
def test_derivatives(parts):
    """Of complex and of special functions."""
    ours, theirs = (bound(system, points(parts, system.numpy.asarray)) for system in (pullback, jax))
    rtol = 3e-5 if parts == "float32" else 1e-11
    failures = []
    for line in DERIVATIVES:
        try:
            check_equal(run(line, ours), run(line, theirs), line, rtol)
        except AssertionError as error:
            failures.append(str(error)[:600])
    assert not failures, "\n".join(failures)


# Accuracy where JAX's own float32 formulas lose digits: against SciPy in float64.
EDGES = [-2.5, -1.0, 0.0, 0.5, 1.0, 2.0, 30.0, np.inf, np.nan]


@pytest.mark.parametrize("name,n_operands", [("igamma", 2), ("igammac", 2), ("polygamma", 2), ("zeta", 2), ("betainc", 3)])
def test_edges_of_special_functions(name, n_operands):
    rows = [row.ravel() for row in np.meshgrid(*[EDGES] * n_operands, indexing="ij")]
    if name == "igamma":
        # JAX divides 0 by 0 at (0, 1/2); the limit is 1, as its igammac says.
        kept = (rows[0] != 0) | (rows[1] != 0.5)
        rows = [row[kept] for row in rows]
    ours, theirs = (getattr(system.lax, name)(*map(system.numpy.asarray, rows)) for system in (pullback, jax))
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-12)


SPECIAL = {
    "bessel_i0e": ("i0e", [[0.0, 1e-3, 0.5, 7.9, 8.1, 19.9, 20.1, 700.0, -3.0]]),
    "bessel_i1e": ("i1e", [[0.0, 1e-3, 0.5, 7.9, 8.1, 19.9, 20.1, 700.0, -3.0]]),
    "digamma": ("digamma", [[0.01, 0.5, 1.5, 10.0, 1e4, -0.3, -7.6]]),
    "lgamma": ("gammaln", [[0.01, 0.5, 3.5, 10.0, 1e4, -0.3, -7.6]]),
    "igamma": ("gammainc", [[0.01, 0.5, 2.0, 30.0, 1e3, 1e4, 1.5], [0.5, 3.0, 1e-3, 31.0, 990.0, 1.01e4, 40.0]]),
    "igammac": ("gammaincc", [[0.5, 0.5, 2.0, 30.0, 1e3, 1e4, 1.5], [0.5, 3.0, 5.0, 31.0, 990.0, 1.01e4, 40.0]]),
    "zeta": ("zeta", [[1.1, 2.0, 3.5, 20.0, 2.0, 50.0], [1.0, 0.25, 7.0, 1.5, 1e3, 2.0]]),
    "polygamma": ("polygamma", [[1.0, 2.0, 3.0, 10.0, 0.0], [0.25, 3.0, 12.0, 1.5, 2.5]]),
    "betainc": ("betainc", [[0.5, 2.0, 30.0, 0.1, 5.0], [0.5, 3.0, 20.0, 9.0, 0.25], [0.1, 0.5, 0.7, 0.01, 0.99]]),
}


@pytest.mark.parametrize("parts,rtol", [("float32", 4e-7), ("float64", 2e-13)])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions(name, parts, rtol):
    scipy = pytest.importorskip("scipy.special")
    reference, rows = SPECIAL[name]
    rows = [np.array(row, parts) for row in rows]
    got = getattr(pullback.lax, name)(*[pullback.numpy.asarray(row) for row in rows])
    wide = [row.astype(np.float64) for row in rows]
    if name == "polygamma":
        wide[0] = wide[0].astype(int)
    np.testing.assert_allclose(np.asarray(got), getattr(scipy, reference)(*wide), rtol=rtol, atol=1e-30)


HALVES = lines_of("""
    jax.random.uniform(key, (64,), d)
    jax.random.normal(key, (64,), d)
    jax.random.bits(key, (64,), jnp.uint16)
    lax.bitcast_convert_type(jax.random.bits(key, (64,), jnp.uint16) & 0x3fff, d)
    lax.bitcast_convert_type(jax.random.uniform(key, (64,), d), jnp.uint8)
    lax.bitcast_convert_type(jax.random.bits(key, (8, 2), jnp.uint16) & 0x3fff, jnp.uint32)
    lax.bitcast_convert_type(jax.random.uniform(key, (8, 2), d), jnp.float32)
    lax.bitcast_convert_type(lax.bitcast_convert_type(jax.random.uniform(key, (8,), d) + 1, jnp.int16) + 1, d)
""")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("line", HALVES)
def test_bits_of_halves_under_jit(line, dtype):
    """Samples and bit patterns of half-width floats, in compiled programs."""
    def value(system):
        names = bound(system, {"d": getattr(system.numpy, dtype)})
        return system.jit(lambda key: eval(line, {**names, "key": key}))(system.random.key(7))
    assert np.asarray(value(pullback)).tobytes() == np.asarray(value(jax)).tobytes()
