"""Strict promotion of dtypes and of ranks: rules about what the user combines, beside JAX.

What a function makes inside of operands that go together never raises; operands that do not go together still do.
"""

import importlib

import pytest
from differential import check_equal, lines_of, names_of, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402

STRICT = """
jnp.fft.fft(jnp.ones(3))
[jnp.fft.ifft(x), jnp.fft.fftn(m), jnp.fft.rfft(x), jnp.fft.irfft(x), jnp.fft.hfft(x), jnp.fft.ihfft(x), jnp.fft.fft2(m, norm="ortho")]
[jnp.fft.ifft(x, norm=norm) for norm in ("ortho", "forward", "backward")]
[jnp.fft.fftfreq(5), jnp.fft.rfftfreq(5), jnp.fft.fftfreq(5, 0.5), jnp.fft.fftshift(x)]
[jnp.median(i), jnp.median(h), jnp.percentile(x, 30.0)]
[jnp.histogram_bin_edges(i), jnp.histogram(i)]
[jnp.convolve(i, i), jnp.correlate(i, i), jnp.convolve(x, x)]
jnp.ediff1d(x, to_end=jnp.array([1]))
jnp.pad(i, 2, "linear_ramp")
[jnp.sort_complex(x), jnp.sort_complex(i)]
[scipy.fft.dct(x), scipy.fft.dctn(m), scipy.fft.idct(x), scipy.fft.idctn(m), scipy.fft.dct(x, norm="ortho")]
scipy.signal.istft(scipy.signal.stft(jnp.ones(512))[2])
scipy.stats.rankdata(x)
[scipy.special.logsumexp(c), jax.nn.logsumexp(x), scipy.special.logsumexp(x, b=x * x)]
[scipy.linalg.expm(jnp.eye(2, dtype=int)), scipy.linalg.expm(s)]
[jnp.linalg.matrix_power(jnp.eye(2, dtype=bool), 3), jnp.linalg.matrix_power(s, 3)]
[jnp.mean(i), jnp.var(i), jnp.std(x), jnp.linalg.norm(i), jnp.linalg.inv(s), jnp.linalg.det(s), jnp.average(i)]
[jnp.sinc(x), jnp.i0(x), jnp.nan_to_num(n), jnp.unwrap(x), jnp.gradient(x), jnp.trapezoid(x), jnp.cov(m), jnp.corrcoef(m)]
[jax.nn.gelu(x), jax.nn.softmax(x), jax.nn.standardize(x), jax.nn.one_hot(i, 3), jax.nn.celu(x), jax.nn.log_softmax(x)]
jnp.add(x, i)
x + i
x * 1.5
i * 1.5
x - u
jnp.where(b, x, i)
jnp.concatenate([x, i])
jnp.stack([x, i])
jnp.maximum(x, i)
jnp.matmul(s, i)
jnp.dot(x, i)
jnp.einsum("i,i", x, i)
jnp.power(x, i)
jnp.arctan2(x, i)
jnp.convolve(x, i)
jnp.interp(x, x, i)
lax.add(x, i)
jnp.linalg.solve(s, i)
scipy.stats.norm.logpdf(x, i)
scipy.special.xlogy(x, i)
"""
RANKS = """
jnp.linalg.slogdet(jnp.eye(2)[None])
[jnp.packbits(jnp.ones((2, 9), bool)), jnp.unpackbits(jnp.ones((2, 3), jnp.uint8)), jnp.packbits(jnp.ones((2, 9), bool), axis=0)]
[jnp.add.outer(x, x), jnp.multiply.outer(m, x), jnp.add.reduceat(x, jnp.array([0, 1]))]
jnp.polyfit(x, m.T, 1)
[jnp.quantile(m, 0.5, axis=0), jnp.percentile(m, jnp.array([10, 20.0]), axis=1)]
[jnp.sum(m, where=jnp.array([True, False, True])), jnp.max(m, axis=0, where=jnp.array([True, False, True]), initial=-1)]
[jnp.linalg.det(s[None]), jnp.linalg.det(jnp.eye(5)[None]), jnp.linalg.inv(s[None]), jnp.linalg.pinv(s), jnp.linalg.pinv(s[None])]
lax.index_take(m, (i[:2] // 2,), (0,))
scipy.special.multigammaln(x * x + 4, 2)
[scipy.fft.dctn(m, s=(3, 3)), scipy.fft.dctn(m, norm="ortho")]
[scipy.signal.welch(jnp.ones(512)), scipy.signal.detrend(m)]
jax.random.multivariate_normal(jax.random.key(0), x, jnp.eye(3), (2,))
[jnp.var(m, axis=1), jnp.cov(m), jnp.median(m, axis=0), jnp.nanmean(m, axis=0), jax.nn.softmax(m), jax.nn.standardize(m)]
jnp.add(m, x)
m + x
m * 2.0
m + w
jnp.where(b, m, 0.0)
jnp.where(b, m, x)
jnp.maximum(m, x)
jnp.power(m, x)
jnp.arctan2(m, x)
jnp.logical_and(m, x)
jnp.equal(m, x)
m == x
jnp.matmul(m, x)
jnp.dot(m, x)
jnp.take(x, jnp.array([[0, 1]]))
jnp.searchsorted(jnp.sort(x), m)
jnp.interp(m, jnp.sort(x), x)
scipy.stats.norm.logpdf(m, x)
jnp.vectorize(lambda a, b: a + b)(x, m)
jnp.vectorize(lambda a, b: a + b)(1.0, m)
jnp.linalg.solve(s, x)
"""
RULES = [("numpy_dtype_promotion", "strict", STRICT), ("numpy_rank_promotion", "raise", RANKS)]
CASES = [(rule, value, line) for rule, value, lines in RULES for line in lines_of(lines)]


def under(system, rule, value, line):
    names = names_of(system)
    for module in ("fft", "linalg", "signal", "special", "stats"):
        importlib.import_module(f"{system.__name__}.scipy.{module}")
    with getattr(system, rule)(value):
        return run(line, names | {"scipy": system.scipy})


@pytest.mark.parametrize("rule, value, line", CASES, ids=[f"{value}: {line}" for _, value, line in CASES])
def test_as_jax(rule, value, line):
    check_equal(under(pullback, rule, value, line), under(jax, rule, value, line), line, 1e-4)


def test_the_rules_hold_in_functions_of_the_user():
    jnp = pullback.numpy
    mixes = pullback.jit(lambda x: jnp.apply_along_axis(lambda v: v + jnp.arange(3), 0, x))
    with pullback.numpy_dtype_promotion("strict"), pytest.raises(pullback.errors.TypePromotionError):
        mixes(jnp.ones((3, 2)))
    mixes(jnp.ones((3, 2)))


def test_a_refused_call_leaves_the_rules_in_force():
    jnp = pullback.numpy
    with pullback.numpy_dtype_promotion("strict"):
        with pytest.raises(TypeError):
            jnp.fft.fft("no array")
        with pytest.raises(pullback.errors.TypePromotionError):
            jnp.ones(3) + jnp.arange(3)
