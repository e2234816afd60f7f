"""`pullback.numpy` gives what `jax.numpy` gives: values, dtypes, weak types, shapes and exception classes."""

import numpy as np
import pytest
from differential import Asked, check_equal, facts, lines_of, names_of, ours, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

THEIRS = Asked("numpy", names_of(jax))

# Each line is run on both systems.
CASES = lines_of("""
    x + 2.0
    x + i
    m + x
    x + i8
    i + 1.5
    b + 1
    b + b
    b * b
    1 - i
    i / 2
    i / i8
    wi / 2
    w * w
    w * x
    x // 0.5
    i // 2
    i8 // 3
    u // 3
    x % 0.75
    i % -2
    -i % 2
    i % 0
    x ** 2
    x ** 3.0
    p ** 0.5
    i ** 3
    i ** i
    2 ** i
    2.0 ** i
    p ** i
    wi ** 2
    i ** -1
    -x
    -b
    b - b
    abs(x)
    abs(i8)
    abs(u)
    abs(c)
    ~i
    ~b
    ~x
    i & 3
    i | 4
    i ^ i
    i << 2
    u >> 3
    i8 >> 1
    x < i
    c < c
    x == 0.25
    x != x
    m @ x
    m @ m
    s @ s
    t @ t.swapaxes(1, 2)
    m @ jnp.ones((5, 3, 4))
    jnp.ones((2, 1, 3, 4)) @ jnp.ones((5, 4, 2))
    x @ s
    x @ jnp.ones((5, 3, 4))
    jnp.matmul(x, 2.0)
    jnp.matmul(x, m)
    m + jnp.ones(2)
    x + [1, 2, 3]
    jnp.add(x, [1, 2, 3])
    jnp.add(x, None)
    jnp.add(x, "a")
    jnp.exp(x)
    jnp.exp(i)
    jnp.exp(1)
    jnp.exp(True)
    jnp.exp(h)
    jnp.exp(f16)
    jnp.log(p)
    jnp.log2(p)
    jnp.log10(p)
    jnp.log1p(p)
    jnp.expm1(x)
    jnp.exp2(x)
    jnp.sin(x)
    jnp.cos(x)
    jnp.tan(x)
    jnp.arcsin(x / 2)
    jnp.arccos(x / 2)
    jnp.arctan(x)
    jnp.arctan2(x, p)
    jnp.sinh(x)
    jnp.cosh(x)
    jnp.tanh(x)
    jnp.arcsinh(x)
    jnp.arccosh(p + 1)
    jnp.arctanh(x / 4)
    jnp.sqrt(p)
    jnp.sqrt(x)
    jnp.cbrt(x)
    jnp.square(x)
    jnp.square(i)
    jnp.reciprocal(x)
    jnp.reciprocal(i + 1)
    jnp.sign(x)
    jnp.sign(i8)
    jnp.floor(x)
    jnp.ceil(x)
    jnp.trunc(x)
    jnp.rint(jnp.array([0.5, 1.5, 2.5, -0.5]))
    jnp.round(jnp.array([0.5, 1.5, 2.5, -0.5]))
    jnp.round(x, 1)
    jnp.round(i, 1)
    jnp.round(i, -1)
    jnp.floor(i)
    jnp.isnan(n)
    jnp.isinf(n)
    jnp.isfinite(n)
    jnp.isfinite(i)
    jnp.isposinf(n)
    jnp.isneginf(n)
    jnp.signbit(n)
    jnp.nan_to_num(n)
    jnp.nan_to_num(n, nan=3.0, posinf=1.0)
    jnp.maximum(x, 0)
    jnp.minimum(m, x)
    jnp.fmax(n, 0.0)
    jnp.fmin(n, 0.0)
    jnp.clip(x, 0, 1)
    jnp.clip(x, min=0)
    jnp.clip(i, 0.0, 1.0)
    jnp.clip(c, 0, 1)
    jnp.hypot(x, p)
    jnp.logaddexp(x, p)
    jnp.logaddexp2(x, p)
    jnp.copysign(p, x)
    jnp.heaviside(x, 0.5)
    jnp.float_power(p, i)
    jnp.fmod(x, 0.75)
    jnp.divmod(x, 0.75)
    jnp.divmod(i, 2)
    jnp.modf(x)
    jnp.ldexp(x, i)
    jnp.nextafter(x, 0.0)
    jnp.deg2rad(x)
    jnp.rad2deg(x)
    jnp.sinc(x)
    jnp.angle(c)
    jnp.real(c)
    jnp.imag(c)
    jnp.imag(x)
    jnp.conj(c)
    jnp.bitwise_count(i)
    jnp.logical_and(x, i)
    jnp.logical_or(b, b)
    jnp.logical_xor(x, b)
    jnp.logical_not(x)
    jnp.sum(x)
    jnp.sum(w)
    jnp.sum(b)
    jnp.sum(i8)
    jnp.sum(u8)
    jnp.sum(h)
    jnp.sum(m, axis=0)
    jnp.sum(m, axis=-1, keepdims=True)
    jnp.sum(m, axis=(0, -1))
    jnp.sum(m, axis=())
    jnp.sum(x, axis=1)
    jnp.sum(x, axis=(0, 0))
    jnp.sum(i, dtype=jnp.float32)
    jnp.sum(x, initial=2.0)
    jnp.sum(x, where=b)
    jnp.sum([1, 2])
    jnp.prod(m, axis=1)
    jnp.prod(i8)
    jnp.max(m)
    jnp.max(m, axis=1, keepdims=True)
    jnp.max(x, initial=3)
    jnp.max(x, initial=-9, where=b)
    jnp.max(x, where=b)
    jnp.max(n)
    jnp.max(b)
    jnp.max(jnp.zeros((0,)))
    jnp.max(jnp.zeros((0, 2)), axis=1)
    jnp.min(i)
    jnp.min(m, axis=0)
    jnp.mean(x)
    jnp.mean(i)
    jnp.mean(h)
    jnp.mean(m, axis=0, keepdims=True)
    jnp.mean(x, where=b)
    jnp.mean(jnp.zeros((0,)))
    jnp.any(x)
    jnp.all(m, axis=0)
    jnp.any(b, where=b)
    jnp.argmax(x)
    jnp.argmax(n)
    jnp.argmin(m, axis=1)
    jnp.argmax(m)
    jnp.argmax(m, axis=0, keepdims=True)
    jnp.argmax(m, keepdims=True)
    jnp.argmax(jnp.zeros((0,)))
    jnp.var(m)
    jnp.var(m, axis=0, ddof=1)
    jnp.std(i)
    jnp.std(m, axis=1, keepdims=True)
    jnp.var(c)
    jnp.var(h)
    jnp.ptp(m, axis=1)
    jnp.count_nonzero(m, axis=0)
    jnp.average(x, weights=p)
    jnp.average(m, axis=1, weights=x)
    jnp.average(m, axis=0, returned=True)
    jnp.nansum(n)
    jnp.nanmax(n)
    jnp.nanmin(n)
    jnp.nanmean(jnp.array([1.0, np.nan, 3.0]))
    jnp.nanvar(jnp.array([1.0, np.nan, 3.0]))
    jnp.nanstd(jnp.array([1.0, np.nan, 3.0]))
    jnp.nanprod(jnp.array([1.0, np.nan, 3.0]))
    jnp.nanargmax(jnp.array([1.0, np.nan, 3.0]))
    jnp.nanmedian(jnp.array([1.0, np.nan, 3.0]))
    jnp.median(m)
    jnp.median(m, axis=0)
    jnp.median(m, axis=1, keepdims=True)
    jnp.quantile(x, 0.3)
    jnp.quantile(m, jnp.array([0.1, 0.9]), axis=1)
    jnp.quantile(m, 0.3, method="nearest")
    jnp.percentile(x, 30.0)
    jnp.cumsum(x)
    jnp.cumsum(m, axis=1)
    jnp.cumsum(m)
    jnp.cumsum(b)
    jnp.cumprod(x)
    jnp.cumulative_sum(x, include_initial=True)
    jnp.diff(x)
    jnp.diff(m, n=2, axis=1)
    jnp.diff(x, prepend=0.0)
    jnp.unwrap(jnp.array([0.0, 3.0, 6.5, 9.9]))
    jnp.trapezoid(x)
    jnp.trapezoid(m, x)
    jnp.gcd(i * 6, 4)
    jnp.lcm(i + 1, 4)
    jnp.insert(x, 1, 2.0)
    jnp.insert(m, 1, x, axis=0)
    jnp.union1d(i, jnp.array([1, 5]))
    jnp.intersect1d(i, jnp.array([1, 5]))
    jnp.setdiff1d(i, jnp.array([1, 5]))
    jnp.histogram(x, bins=4)
    jnp.uint32(4000000000)
    jnp.uint8(-1)
    jnp.asarray(2 ** 40, jnp.float32)
    jnp.zeros((2, 3))
    jnp.zeros(3, jnp.int8)
    jnp.zeros(())
    jnp.zeros("a")
    jnp.zeros((2, 1.5))
    jnp.zeros(-1)
    jnp.ones((2,), bool)
    jnp.full((2,), 1.0)
    jnp.full((2, 3), x)
    jnp.full((2,), 1, dtype=jnp.float32)
    jnp.full_like(x, 1.5, dtype=int)
    jnp.full_like(m, 2)
    jnp.zeros_like(w)
    jnp.zeros_like(1)
    jnp.ones_like(i)
    jnp.empty((2,))
    jnp.arange(5)
    jnp.arange(5.0)
    jnp.arange(1, 5, 2)
    jnp.arange(5, 0, -2)
    jnp.arange(0, 1, 0.3)
    jnp.arange(2, 5)
    jnp.arange(3, dtype=float)
    jnp.arange(0)
    jnp.arange(1.0, 2.0)
    jnp.linspace(0, 1, 5)
    jnp.linspace(0, 1, 5, endpoint=False)
    jnp.linspace(0, 1, 1)
    jnp.linspace(0, 1, 0)
    jnp.linspace(x, 2, 3)
    jnp.linspace(0, 10, 5, dtype=int)
    jnp.linspace(0, 1, 5, retstep=True)
    jnp.logspace(0, 1, 3)
    jnp.geomspace(1.0, 100.0, 3)
    jnp.eye(3)
    jnp.eye(2, 3, 1, dtype=jnp.int32)
    jnp.eye(2, dtype=bool)
    jnp.identity(2)
    jnp.tri(3, 4, 1)
    jnp.asarray(1.0)
    jnp.asarray(1, dtype=jnp.float32)
    jnp.asarray(np.float64(1.0))
    jnp.asarray(np.ones(2))
    jnp.asarray([1, [2, 3]])
    jnp.asarray(2 ** 40)
    jnp.asarray([2 ** 40])
    jnp.asarray("a")
    jnp.asarray(None)
    jnp.array([1, 2.0])
    jnp.array([w, 1.0])
    jnp.array([True, 1])
    jnp.array([[1, 2], [3, 4]], dtype=jnp.bfloat16)
    jnp.array(1.5, dtype=int)
    jnp.array([])
    jnp.array([x, x])
    jnp.array([[x[0], 1], [2, x[1]]])
    jnp.array(x, ndmin=3)
    jnp.array(x)
    x.astype(jnp.int32)
    x.astype(bool)
    n.astype(jnp.int32)
    c.astype(jnp.float32)
    w.astype(jnp.float32)
    i.astype("float16")
    jnp.where(b, x, 0)
    jnp.where(b, m, 0.0)
    jnp.where(b, 1, 2)
    jnp.where(b, 1, 2.0)
    jnp.where(x, m, 0.0)
    jnp.where(b)
    jnp.where(b, x)
    jnp.select([x > 0, x > 1], [x, x * 2], 0)
    jnp.take(x, i)
    jnp.take(m, i, axis=1)
    jnp.take(m, 1, axis=0)
    jnp.take(x, jnp.array([5, -1, -5]))
    jnp.take(i, jnp.array([5, -1, -5]))
    jnp.take(m, i, axis=0, mode="clip")
    jnp.take(m, i, axis=0, mode="wrap")
    jnp.take(x, i, fill_value=7.0)
    jnp.take(x, x)
    jnp.take_along_axis(m, jnp.zeros((2, 1), int), axis=1)
    jnp.take_along_axis(m, jnp.array([[2, 0], [1, 1]]), axis=1)
    jnp.take_along_axis(x, i, axis=0)
    jnp.take_along_axis(x, x, axis=0)
    jnp.choose(jnp.array([0, 1, 0]), [x, p], mode="clip")
    jnp.reshape(m, (3, 2))
    jnp.reshape(m, -1)
    jnp.reshape(m, (3, -1), order="F")
    jnp.reshape(x, (2, 2))
    jnp.reshape(m, (-1, -1))
    jnp.reshape(m, (-1, 4))
    jnp.ravel(m)
    jnp.ravel(m, order="F")
    jnp.transpose(t, (0, 2, 1))
    jnp.transpose(m)
    jnp.transpose(m, (0, 0))
    m.T
    t.mT
    jnp.squeeze(jnp.ones((1, 3, 1)))
    jnp.squeeze(x, 0)
    jnp.squeeze(x, 3)
    jnp.expand_dims(x, (0, 2))
    jnp.expand_dims(x, 4)
    jnp.expand_dims(x, (0, 0))
    jnp.moveaxis(t, 0, -1)
    jnp.moveaxis(t, (0, 1), (1, 2))
    jnp.swapaxes(t, 0, 1)
    jnp.rollaxis(t, 2)
    jnp.broadcast_to(x, (2, 3))
    jnp.broadcast_to(jnp.ones((2, 1)), (2, 3))
    jnp.broadcast_to(x, (2, 2))
    jnp.broadcast_arrays(x, m)
    jnp.broadcast_shapes((2, 1), (3,))
    jnp.flip(m)
    jnp.flip(m, 1)
    jnp.fliplr(m)
    jnp.rot90(m)
    jnp.rot90(m, 2)
    jnp.roll(x, 1)
    jnp.roll(m, 1, axis=1)
    jnp.roll(m, (1, 2), axis=(0, 1))
    jnp.roll(m, 2)
    jnp.tile(x, 2)
    jnp.tile(m, (2, 1, 2))
    jnp.repeat(x, 2)
    jnp.repeat(m, 2, axis=1)
    jnp.repeat(x, np.array([1, 2, 3]))
    jnp.repeat(x, i, total_repeat_length=5)
    jnp.concatenate([x, i])
    jnp.concatenate([m, m], axis=1)
    jnp.concatenate(m)
    jnp.concatenate([m, m], axis=None)
    jnp.concatenate([])
    jnp.concatenate([x, m])
    jnp.concatenate([x, x], axis=1)
    jnp.concatenate([w, w])
    jnp.concatenate([x] * 40)
    jnp.stack([x, i])
    jnp.stack([x, x], axis=-1)
    jnp.stack([x, jnp.ones(4)])
    jnp.stack([])
    jnp.vstack([x, x])
    jnp.hstack([x, x])
    jnp.dstack([x, x])
    jnp.column_stack([x, i])
    jnp.append(x, 3.0)
    jnp.split(x, 3)
    jnp.split(m, [1, 2], axis=1)
    jnp.split(x, 2)
    jnp.array_split(x, 2)
    jnp.vsplit(m, 2)
    jnp.hsplit(m, 3)
    jnp.unstack(m)
    jnp.meshgrid(x, p)
    jnp.meshgrid(x, jnp.ones(2), indexing="ij")
    jnp.meshgrid(x, jnp.ones(2), sparse=True)
    jnp.delete(x, 1)
    jnp.kron(x, p)
    jnp.kron(m, s)
    jnp.block([[m, m], [m, m]])
    jnp.triu(s)
    jnp.tril(s, 1)
    jnp.tril(m, -1)
    jnp.diag(x)
    jnp.diag(x, 1)
    jnp.diag(x, -1)
    jnp.diag(s)
    jnp.diag(s, 1)
    jnp.diagonal(t, axis1=1, axis2=2)
    jnp.diagonal(m, 1)
    jnp.trace(s)
    jnp.trace(s, 1)
    jnp.diagflat(m)
    jnp.vander(x)
    jnp.vander(x, 2, increasing=True)
    jnp.tril_indices(3)
    jnp.triu_indices(3, 1)
    jnp.pad(x, 1)
    jnp.pad(m, ((1, 1), (0, 2)), constant_values=3)
    jnp.pad(x, (1, 2), mode="edge")
    jnp.pad(x, (1, 2), mode="reflect")
    jnp.pad(x, (4, 5), mode="reflect")
    jnp.pad(x, (2, 4), mode="symmetric")
    jnp.pad(x, (4, 5), mode="wrap")
    jnp.pad(m, 1, mode="mean")
    jnp.pad(m, 1, mode="maximum")
    jnp.pad(x, (2, 2), mode="linear_ramp")
    jnp.dot(m, x)
    jnp.dot(x, 2.0)
    jnp.dot(t, jnp.ones((4, 5)))
    jnp.dot(m, i)
    jnp.dot(x, m)
    jnp.vdot(x, p)
    jnp.vdot(c, c)
    jnp.vecdot(m, x)
    jnp.inner(m, s)
    jnp.outer(x, i)
    jnp.tensordot(m, m)
    jnp.tensordot(m, s, 1)
    jnp.tensordot(t, t, axes=([0, 1], [0, 1]))
    jnp.cross(x, p)
    jnp.cross(jnp.ones((2, 2)), jnp.ones((2, 2)))
    jnp.einsum("ij,jk->ik", m, s)
    jnp.einsum("ij,kj", m, m)
    jnp.einsum("ii", s)
    jnp.einsum("ii->i", s)
    jnp.einsum("ij->ji", m)
    jnp.einsum("ij->", m)
    jnp.einsum("i,j->ij", x, p)
    jnp.einsum("i,i->i", x, p)
    jnp.einsum("...ij,...jk->...ik", t, t.swapaxes(1, 2))
    jnp.einsum("ij,jk,kl->il", m, s, s)
    jnp.einsum("bij,bkj->bik", t, t)
    jnp.einsum("ij,ij->", m, m)
    jnp.einsum(m, [0, 1], s, [1, 2], [0, 2])
    jnp.einsum("ij,jk->ik", m)
    jnp.einsum("ij,jk->iz", m, s)
    jnp.sort(x)
    jnp.sort(n)
    jnp.sort(m, axis=0, descending=True)
    jnp.sort(m, axis=None)
    jnp.argsort(x)
    jnp.argsort(m, axis=0)
    jnp.argsort(x, descending=True)
    jnp.lexsort((x, i))
    jnp.searchsorted(p, x)
    jnp.searchsorted(p, jnp.array([0.5, 1.0, 3.0, 9.0, np.nan]), side="right")
    jnp.digitize(x, p)
    jnp.digitize(x, p[::-1])
    jnp.partition(x, 1)
    jnp.bincount(i)
    jnp.bincount(i, length=5)
    jnp.bincount(i, weights=x)
    jnp.nonzero(m)
    jnp.nonzero(x > 0, size=5)
    jnp.nonzero(m > 0, size=6, fill_value=-1)
    jnp.flatnonzero(m > 0)
    jnp.argwhere(m > 0)
    jnp.unique(jnp.array([3, 1, 2, 1, 3]))
    jnp.unique(jnp.array([3, 1, 2, 1, 3]), return_counts=True, return_inverse=True, return_index=True)
    jnp.unique(jnp.array([3, 1, 2, 1, 3]), size=5)
    jnp.isin(i, jnp.array([0, 2]))
    jnp.isclose(x, x + 1e-9)
    jnp.allclose(x, x)
    jnp.allclose(x, p)
    jnp.array_equal(x, x)
    jnp.array_equal(x, m)
    jnp.array_equiv(x, jnp.stack([x, x]))
    jnp.interp(x, jnp.array([-1.0, 0.0, 1.0]), p)
    jnp.interp(x, jnp.array([-1.0, 0.0, 1.0]), p, left=-7.0, right=9.0)
    jnp.polyval(p, x)
    jnp.cov(m)
    jnp.corrcoef(m)
    jnp.gradient(p)
    jnp.matvec(m, x)
    jnp.vecmat(x, s)
    jnp.hanning(5)
    jnp.blackman(4)
    jnp.gradient(m, axis=1)
    jnp.ix_(i, jnp.arange(2))
    jnp.unravel_index(jnp.array([1, 5]), (2, 3))
    jnp.ravel_multi_index((jnp.array([1, 0]), jnp.array([2, 1])), (2, 3))
    jnp.result_type(x, i)
    jnp.result_type(1, 2.0)
    jnp.result_type("int8", "uint8")
    jnp.promote_types("int8", "float16")
    jnp.issubdtype(jnp.float32, jnp.floating)
    jnp.issubdtype(jnp.bfloat16, jnp.floating)
    jnp.issubdtype(jnp.int32, jnp.inexact)
    jnp.float32(1.5)
    jnp.int8(3)
    jnp.int8(300)
    jnp.bool_(x)
    jnp.shape(m)
    jnp.ndim(m)
    jnp.size(m)
    jnp.size(m, 1)
    jnp.apply_along_axis(jnp.sum, 0, m)
    jnp.vectorize(lambda a, b: a + b)(m, x)
    jnp.vectorize(jnp.dot, signature="(n),(n)->()")(m, x)
    jnp.piecewise(x, [x < 0, x > 1], [0.0, lambda a: a * 2, 5.0])
    x[0]
    x[-1]
    x[5]
    x[-7]
    x[1:]
    x[::-1]
    x[::2]
    x[::-2]
    x[2:0:-1]
    x[:0]
    x[1:2:0]
    x[...]
    x[None]
    x[..., None]
    x[0, 0]
    x[1.0]
    x["a"]
    x[[0, 1]]
    x[i]
    x[np.array([0, 7, -9])]
    x[b]
    x[jnp.ones(2, bool)]
    x[i > 0]
    x[True]
    x[u8]
    m[0]
    m[:, 0]
    m[1, 1:]
    m[i[0]]
    m[1:, i[0]]
    m[i % 2]
    m[:, i]
    m[i % 2, i]
    m[0, i]
    m[i % 2, 1:]
    m[i % 2, None]
    m[i % 2, ::-1]
    m[:, b]
    m[b]
    m[jnp.array([[0, 1], [1, 0]])]
    m[m > 0]
    t[i % 2, 0]
    t[0, :, i]
    t[i % 2, :, i]
    t[:, i, i]
    t[..., i, None]
    x.at[0].set(9.0)
    x.at[-1].set(9)
    x.at[5].set(9.0)
    x.at[1:].set(0)
    x.at[1:].multiply(2.0)
    x.at[i].add(1.0)
    x.at[jnp.array([0, 0, 1])].add(1.0)
    x.at[i].set(p)
    x.at[i].max(p)
    x.at[i].min(p)
    x.at[i].subtract(p)
    x.at[i].divide(p)
    x.at[jnp.array([0, 0, 1])].multiply(2.0)
    p.at[i].power(2)
    x.at[i].apply(jnp.sin)
    x.at[jnp.array([0, 0, 1])].apply(lambda y: 2 * y + 1)
    x.at[-1].get(mode="fill", wrap_negative_indices=False)
    x.at[jnp.array([-1, 0])].get(mode="fill", wrap_negative_indices=False)
    x.at[-1].set(9.0, wrap_negative_indices=False)
    x.at[jnp.array([-1, 0])].add(1.0, wrap_negative_indices=False)
    m.at[1, -1].set(9.0, wrap_negative_indices=False)
    x.at[b].set(9.0)
    x.at[b].set(jnp.arange(2.0))
    x.at[0].set(x)
    x.at[:2].set(x)
    i.at[0].set(1.5)
    m.at[:, 0].set(jnp.zeros(2))
    m.at[:, ::-1].set(x)
    m.at[i[:2] % 2, 1:].add(1.0)
    m.at[i[0] % 2].set(0.0)
    m.at[None, 0].set(7.0)
    m.at[m > 0].set(0.0)
    t.at[0, :, i].add(1.0)
    x.at[i].get()
    x.at[jnp.array([5, -1])].get(mode="fill")
    x.at[jnp.array([5, -1])].get(mode="fill", fill_value=0.0)
    x.at[jnp.array([5, -1])].get(mode="clip")
    x.at[jnp.array([5, -1])].add(1.0, mode="clip")
    jnp.median(x, overwrite_input=True)
    jnp.median(x, out=x)
    jnp.median(c)
    jnp.median(x[:0])
    jnp.median(t[:, :0], axis=2)
    jnp.bincount(i, minlength=-1)
    jnp.arange(1j)
    jnp.digitize(x, jnp.array([2.0, 0.25, -1.0]))
    jnp.digitize(x, jnp.array([2.0, 0.25, -1.0]), right=True)
    jnp.repeat(i, -1)
    jnp.argsort(x, dtype=jnp.int8)
    jnp.searchsorted(p, x, method="linear")
    jnp.partition(c, 1)
    jnp.argpartition(c, 1)
    jnp.top_k(n, 3, mode="smallest")
    jnp.top_k(i8, 2, mode="smallest")
    jnp.top_k(m, 1, axis=0, mode="smallest")
    jnp.top_k(x, 4, mode="smallest")
    jnp.top_k(x, 2, mode="middle")
    jnp.vander(x, -1)
    jnp.indices((2, 3), sparse=True)
    jnp.ldexp(c, i)
    jnp.ldexp(x, x)
    jnp.ravel(m, order="K")
    jnp.clip()
    jnp.polyval(3, x)
    jnp.fabs(c)
    jnp.choose(x, [x, p])
    jnp.choose(i % 2, [x, p], mode="nearest")
    jnp.left_shift(b, b)
    jnp.right_shift(b, b)
    jnp.bitwise_left_shift(b, b)
    jnp.bitwise_right_shift(b, b)
    jnp.bitwise_count(b)
    jnp.floor_divide(b, True)
    jnp.unwrap(c)
    jnp.interp(c, p, x)
    jnp.interp(x, p, c)
    jnp.percentile(x, [50])
    jnp.gcd(b, b)
    jnp.gcd([1], 2)
    jnp.nanargmax([1.0])
    jnp.gradient(x, axis=3)
    jnp.matvec(x, x)
    jnp.matvec(m, x)
    jnp.vecmat(x, m)
    jnp.vecmat(x[:2], m)
    jnp.pad(x, 2, mode="linear_ramp", end_values=1)
    jnp.pad(m, ((1, 2), (3, 0)), mode="linear_ramp", end_values=((1, 2), (3, 4)))
    jnp.pad(i, 3, mode="linear_ramp", end_values=(1, 9))
    jnp.linalg.vector_norm(m, axis=(0, 5))
    jnp.linalg.cholesky(jnp.array([[4.0, 9.0], [2.0, 4.0]]), upper=True, symmetrize_input=False)
""")


@pytest.mark.parametrize("line", CASES)
def test_eager(line):
    check_equal(run(line, ours()), run(line, THEIRS), line, 2e-5)


# Functions of one array, jitted.
FUNCTIONS = lines_of("""
    lambda x: jnp.exp(jnp.sin(x)).sum()
    lambda x: jnp.where(x > 0, x, x ** 2)
    lambda x: jnp.concatenate([x, x[::-1]])[1:4]
    lambda x: jnp.einsum("i,j->ij", x, x).sum(0)
    lambda x: jnp.cumsum(x)[jnp.argsort(x)]
    lambda x: jnp.sort(x) @ jnp.arange(3.0)
    lambda x: jnp.var(x) + jnp.std(x)
    lambda x: x.at[1:].add(2.0).at[0].multiply(x[2])
    lambda x: jnp.take(x, jnp.array([2, 0]))
    lambda x: jnp.outer(x, x) @ x
    lambda x: jnp.clip(x, -1, 1) * jnp.maximum(x, 0.5)
    lambda x: jnp.pad(x, 1).reshape(5, 1) + x
    lambda x: jnp.logaddexp(x, 0.0)
    lambda x: jnp.linspace(x, 1.0, 4)
    lambda x: jnp.max(x) - jnp.min(x) + jnp.prod(x)
    lambda x: jnp.stack([x, x * 2]).T.ravel()
    lambda x: jnp.tile(x, 2) - jnp.repeat(x, 2)
    lambda x: jnp.roll(jnp.flip(x), 1) / (1 + x ** 2)
    lambda x: x[jnp.array([0, 0, 1])] + x[2]
    lambda x: jnp.mean(jnp.tanh(x)) * jnp.median(x)
    lambda x: jnp.diag(x) @ jnp.triu(jnp.ones((3, 3)))
    lambda x: jnp.quantile(x, 0.3)
    lambda x: jnp.hypot(x, 2.0)
""")


@pytest.mark.parametrize("line", FUNCTIONS)
def test_jitted(line):
    def result(names):
        return run(f"jax.jit({line})(x)", names)

    check_equal(result(ours()), result(THEIRS), line, 2e-5)


@pytest.mark.parametrize("line", FUNCTIONS)
def test_gradients(line):
    def result(names):
        return run(f"jax.grad(lambda x: jnp.sum(({line})(x) * 1.25))(x)", names)

    check_equal(result(ours()), result(THEIRS), line, 1e-4)


# Gradients where conventions show.
KINKS = lines_of("""
    jax.grad(abs)(0.0)
    jax.grad(jnp.sqrt)(0.0)
    jax.grad(jnp.i0)(0.0)
    jax.grad(jnp.i0)(-2.0)
    jax.grad(lambda a: jnp.top_k(jnp.stack([a, 2.0 * a]), 1, mode="smallest")[0][0])(jnp.float32(3))
    jax.grad(lambda a: jnp.maximum(a, 0))(jnp.float32(0))
    jax.grad(lambda a: jnp.max(jnp.stack([a, a])))(1.0)
    jax.grad(lambda a: jnp.logaddexp(a, 0.0))(0.0)
    jax.grad(lambda a: jnp.clip(a, 0.0, 1.0))(jnp.float32(0))
    jax.grad(lambda a: jnp.where(a > 0, a, 0.0))(0.0)
    jax.grad(lambda a: a ** 2)(3.0)
    jax.grad(lambda a: jnp.prod(jnp.stack([a, 0.0 * a, a])))(2.0)
""")


@pytest.mark.parametrize("line", KINKS)
def test_conventions_of_gradients(line):
    check_equal(run(line, ours()), run(line, THEIRS), line, 1e-5)


def test_batched():
    line = "jax.vmap(lambda a, k: jnp.take(a, k) + jnp.sum(jnp.exp(a)))(s, i)"
    check_equal(run(line, ours()), run(line, THEIRS), line, 1e-5)


def test_facts_tell_weak_types_apart():
    assert facts(ours()["w"]) != facts(ours()["x"][0])


@pytest.mark.parametrize("dtype, exponents", [("float32", (-149, 127)), ("float64", (-1074, 1023))])
def test_hypot_over_all_exponents(dtype, exponents):
    """The length of two numbers of like size, from the least to the greatest, is that of extended precision."""
    sizes = np.ldexp(np.asarray(1.0, dtype), np.arange(*exponents, 3))
    x, y = (np.asarray(factor, dtype) * sizes for factor in (0.75, 0.5))
    with pullback.enable_x64(dtype == "float64"):
        found = np.asarray(pullback.numpy.hypot(x, y))
    expected = np.hypot(x.astype(np.longdouble), y.astype(np.longdouble)).astype(dtype)
    is_normal = expected >= np.finfo(dtype).tiny
    np.testing.assert_allclose(found[is_normal], expected[is_normal], rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_hypot_is_right_for_all_exponents(dtype):
    with pullback.enable_x64(dtype == "float64"):
        limits = np.finfo(dtype)
        x = np.exp2(np.arange(limits.minexp + 1, limits.maxexp - 1, dtype=np.float64)).astype(dtype)
        length = np.asarray(pullback.numpy.hypot(x, 0.75 * x))
        np.testing.assert_allclose(length / x, np.full(x.shape, 1.25), rtol=2 * limits.eps)
