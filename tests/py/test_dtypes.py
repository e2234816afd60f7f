"""Every primitive in every dtype: where JAX works we work and agree, where JAX raises we raise the same class.

A case is a line of Python over arrays of one dtype; JAX itself decides which dtypes a case exists in. The arrays hold
the special values of their dtype (signed zeros, infinities, NaN, ends of the range), so branch cuts and overflow are
compared too. What is allowed to differ stands in `EXCEPTIONS`, each with its reason.
"""

import warnings

import ml_dtypes
import numpy as np
import pytest
from differential import facts, lines_of

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
    lax.digamma(x)
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
    lax.tile(p, (2,)) if hasattr(lax, "tile") else p
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
        grid = [re + 0j for re in values]
        part = dtype.type().real.dtype
        z = np.empty((len(values), len(values)), dtype)
        z.real, z.imag = np.array(values, part)[:, None], np.array(values, part)[None, :]
        x, y, w = z.ravel(), np.roll(z.T.ravel(), 37), np.roll(z.ravel(), 50)[::3]
        del grid
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


def names_of(system, arrays):
    bound = {name: system.numpy.asarray(array) for name, array in arrays.items()}
    return {"jax": system, "jnp": system.numpy, "lax": system.lax, "np": np, **bound}


def run(line, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(line, dict(names))
        except Exception as error:  # noqa: BLE001
            return error


def leaves(value):
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, (tuple, list)) else [value]
