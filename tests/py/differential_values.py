"""Lines that are run on Pullback and on JAX and must agree in values, dtypes, shapes, weak types and classes of errors.

Owns the tables of what once was silently wrong in the library, with neighbours of each case; `test_library_values.py` runs
them. A line that rightly differs is not here but in `ALLOWED`, with the reason.
"""

RANGES = """
    jnp.arange(0, 1.2, 0.1)
    jnp.arange(0., 2.1, .3)
    jnp.arange(np.float32(0), np.float32(1.2), np.float32(.1))
    jnp.arange(jnp.float32(0), jnp.float32(1.2), jnp.float32(.1))
    jnp.arange(0, jnp.float32(1.2), 0.1)
    jnp.arange(-2.5, dtype=int)
    jnp.arange(0, 2.5, .5, dtype=int)
    jnp.arange(0.5, 4, dtype=int)
    jnp.arange(0, 1, .3, dtype="bfloat16")
    jnp.arange(4294967293, 4294967296, dtype=jnp.uint32)
    jnp.arange(0, 1, 0)
    jnp.arange(0., 1., 0.)
    jnp.arange(0, float("nan"))
    jnp.arange(0, float("inf"))
    jnp.arange(1j)
    jnp.mgrid[0:1.2:.1]
    jnp.mgrid[()]
    jnp.ogrid[()]
    jnp.mgrid[0:1.2:.1, 0:3]
    jnp.ogrid[0:1.2:.1, 0:3]
    jnp.mgrid[0:1:5j]
    jnp.mgrid[0:1:jnp.complex64(5j)]
    jnp.mgrid[5]
    jnp.mgrid[:5]
    jnp.mgrid[:]
    jnp.linspace(0, 1, 1, retstep=True)
    jnp.linspace(0, 1, 0, retstep=True)
    jnp.linspace(jnp.ones(3), 2, 1, retstep=True)
    jnp.linspace(jnp.ones(3), 2, 1, endpoint=False, retstep=True)
    jnp.linspace(jnp.ones(3), 2, 0, endpoint=False, retstep=True)
    jnp.linspace(jnp.ones(3), 2, 1, dtype="bfloat16", retstep=True)
    jnp.r_[0:1.2:.1]
    jnp.r_["r", [1, 2], [3, 4]]
    jnp.r_["c", [1, 2], [3, 4]]
    jnp.c_["r", [1, 2], [3, 4]]
    jnp.c_["c", [1, 2], [3, 4]]
    jnp.r_["r", jnp.ones((2, 2)), jnp.ones((2, 2))]
    jnp.r_["0,3,1", [1, 2], [3, 4]]
    jnp.arange(10)[jax.ds(None, stride=3)]
    jnp.arange(10)[jax.ds(4, stride=3)]
    jnp.arange(10)[jax.ds(None)]
"""

SEGMENTS = "\n".join(
    f"jax.ops.segment_{name}(jnp.arange(5), jnp.array([0, 1, -1, 2, 7]), {options})"
    for name in ("sum", "prod", "max", "min")
    for options in ("", "3", "3, mode='clip'", "3, mode='fill'", "3, bucket_size=2", "num_segments=0", "num_segments=-1")
) + """
    jax.ops.segment_sum(jnp.arange(5), jnp.array([-1, -1, -1, -3, -2]))
    jax.ops.segment_sum(jnp.arange(10.).reshape(5, 2), jnp.array([0, 1, -1, 2, 7]), 3, bucket_size=2)
    jax.ops.segment_sum(100, 2**31)
    jax.ops.segment_sum(100, 3)
    jax.ops.segment_sum([1, 2], [0, 1])
    jax.ops.segment_sum(jnp.zeros((0, 2)), jnp.zeros(0, int))
    jax.ops.segment_sum(jnp.zeros((0, 2)), jnp.zeros(0, int), 2)
"""

SORTS = """
    jnp.partition(jnp.array([0, 6, 4, 0, 2], jnp.uint32), 3)
    jnp.partition(jnp.array([-128, 6, 4, 0, 2], jnp.int8), 3)
    jnp.partition(jnp.array([-2**31, 6, 4, 0, 2], jnp.int32), 3)
    jnp.partition(jnp.array([True, False, True, False]), 1)
    jnp.partition(jnp.array([jnp.nan, 1, -jnp.inf, jnp.nan, -0., 0.]), 2)
    jnp.argpartition(jnp.array([3, 1, 2, 1, 0.]), 2)
    jnp.argpartition(jnp.array([jnp.nan, 1, -jnp.inf, jnp.nan, -0., 0.]), 2)
    jnp.argpartition(jnp.array([[0, 6, 4], [0, 2, 0]], jnp.uint32), 1, axis=0)
    lax.top_k(jnp.array([jnp.nan, -jnp.nan, 1, -0., 0., -0., 0., jnp.inf, -jnp.inf]), 9)
    lax.top_k(jnp.array([jnp.nan, -jnp.nan, 1, -0., 0., -0., 0., jnp.inf, -jnp.inf], "bfloat16"), 9)
    lax.top_k(jnp.array([jnp.nan, -jnp.nan, 1, -0., 0., -0., 0., jnp.inf, -jnp.inf], "float16"), 9)
    jnp.unique(jnp.array([3, 3, 1, 4]), size=1, return_counts=True)
    jnp.unique(jnp.array([3, 3, 1, 4]), size=5, return_counts=True, return_index=True, return_inverse=True)
    jnp.unique(jnp.array([3, 3, 1, 4]), size=0, return_counts=True)
    jnp.unique(jnp.array([jnp.nan, 1 + jnp.nan*1j, jnp.nan + 2j, 1j, 1j]), return_counts=True, return_index=True)
    jnp.unique(jnp.array([[1, jnp.nan], [1, jnp.nan]]), axis=0, return_counts=True, equal_nan=False)
    jnp.unique(jnp.zeros(0), return_index=True, return_inverse=True, return_counts=True, size=2, fill_value=0)
    jnp.intersect1d(jnp.array([jnp.nan, 1]), jnp.array([jnp.nan]))
    jnp.setxor1d(jnp.array([jnp.nan, 1]), jnp.array([jnp.nan]))
    jnp.union1d(jnp.array([jnp.nan, 1 + 1j]), jnp.array([jnp.nan + 1j]))
    jnp.searchsorted(jnp.array([1 + 1j, 2, 2 + 1j]), jnp.array([2j, 2, 3]))
    jnp.searchsorted(jnp.array([1 + 1j, 2, 2 + 1j]), jnp.array([2j, 2, 3]), side="right")
"""

FUNCTIONS = """
    jnp.piecewise(jnp.arange(4.), [jnp.arange(4.) >= 0, jnp.arange(4.) >= 2], [1., 2.])
    jnp.piecewise(jnp.arange(4.), [jnp.arange(4.) >= 1, jnp.arange(4.) >= 2], [1., 2., 7])
    jnp.piecewise([1, 2], [jnp.arange(2) > 0], [1, 2])
    jnp.ldexp(jnp.array([0.5, 0., 1., 1., 1., jnp.inf, jnp.nan, -0.]), jnp.array([128, 200, -126, -149, -150, -300, 5, -5]))
    jnp.ldexp(jnp.array([0.5, 3., 1., 1.]), jnp.array([2**31 - 1, -2**31, 1000, -1000]))
    jnp.ldexp(jnp.array([0.5, 3., 1.], "float16"), jnp.array([16, -15, -14]))
    jnp.ldexp(2., True)
    jnp.ldexp(jnp.float16(2), jnp.int8(3))
    jnp.ldexp(2., 3.)
    jnp.logaddexp2(jnp.array([1 + 8j, 1 + 1j]), jnp.array([2 - 9j, 1 + 1j]))
    jax.jvp(jnp.logaddexp2, (1 + 8j, 2 - 9j), (1. + 0j, 0j))
    jnp.log10(jnp.array([0j, complex(np.inf, 0), -1 + 0j]))
    jnp.sinc(jnp.array([complex("inf"), complex("-inf"), complex(0, np.inf), 1e-3 + 1e-3j]))
    jnp.round(jnp.array([1.2345, 1e10]), 50)
    jnp.round(jnp.array([1.2345, 1e10]), 39)
    jnp.var(jnp.array([1j, 2]), dtype="float32")
    jnp.spacing(jnp.array([-1., 1., 0., -0., jnp.inf, -jnp.inf, jnp.nan], "float16"))
    jnp.packbits(jnp.array([0, 2, 3, -1]))
    jnp.cov(jnp.ones((2, 0)))
    jnp.cov(jnp.ones(0))
    jnp.cov(jnp.arange(6.).reshape(2, 3), ddof=5)
    jnp.unravel_index(jnp.array([3, 1], "uint8"), (2, 3))
    jnp.unravel_index(jnp.array([200, 1], "uint8"), (200, 3))
    jnp.unravel_index(jnp.array([5], "int8"), (300, 300))
    jnp.ravel_multi_index((jnp.array([1, 5]), jnp.array([1, 2])), (2, 3), mode="ignore")
    jnp.ravel_multi_index((jnp.array([1, 1], "uint8"), jnp.array([1, 2], "uint8")), (300, 300))
    jnp.ravel_multi_index((1, 2), (4, 4))
    jnp.average(jnp.arange(24.).reshape(2, 3, 4), axis=(2, 1), weights=jnp.arange(12.).reshape(4, 3))
    jnp.average(jnp.arange(24.).reshape(2, 3, 4), axis=(-1, 0), weights=jnp.arange(8.).reshape(4, 2), returned=True)
    jnp.average(jnp.arange(24.).reshape(2, 3, 4), axis=(1, 2), weights=jnp.arange(12.).reshape(4, 3))
    jnp.trapezoid(jnp.ones((3, 10)), jnp.ones((2, 3, 10)).cumsum(-1), axis=-1)
    jnp.trim_zeros(jnp.array(3))
    jnp.compress(jnp.ones(5, bool), jnp.arange(3))
    jnp.compress(jnp.ones(2, bool), jnp.arange(3), size=4)
    jax.scipy.special.comb(jnp.array([0, 0, 1, 2, -1, 3]), jnp.array([0, 1, 0, 0, 0, -1]), repetition=True)
    jax.scipy.special.sph_harm_y(jnp.array([1]), jnp.array([-1]), jnp.array([-.4]), jnp.array([.7]), n_max=2)
    jax.scipy.ndimage.map_coordinates(jnp.arange(-5, 5), [jnp.array([.5, 2.5])], order=1)
    jax.scipy.stats.poisson.entropy(3., jnp.array([0, 1]))
    jax.scipy.stats.mode(jnp.zeros((0, 2)), keepdims=True)
    jax.scipy.stats.mode(jnp.zeros((0, 2)), axis=1, keepdims=True)
    jax.scipy.stats.mode(jnp.array(3.), axis=None, keepdims=True)
    jax.scipy.stats.mode(jnp.array([1, jnp.nan, jnp.nan]))
    jax.scipy.stats.rankdata(jnp.array([[3, jnp.nan, 1], [1, 2, 3]]), axis=1)
    jax.scipy.special.exp1(jnp.array([jnp.nan, 1., -1., 0.]))
    jax.scipy.special.expi(jnp.array([jnp.nan, 1.]))
    jax.scipy.special.expn(2, jnp.array([jnp.nan, 1.]))
    jax.scipy.special.rel_entr(jnp.array([jnp.nan, 1.]), 1.)
    jax.scipy.special.kl_div(jnp.array([jnp.nan, 1.]), 1.)
    jax.random.randint(jax.random.key(0), (10, 2), jnp.array([0, 1]), jnp.array([1, 2]))
    jax.random.choice(jax.random.key(0), 5, 3)
    jax.random.choice(jax.random.key(0), 2**40, (2,))
    jax.random.geometric(jax.random.key(0), jnp.bfloat16(.5), (2,))
    jax.random.binomial(jax.random.key(0), jnp.float16(10), jnp.float16(.5), (4,))
    jax.random.binomial(jax.random.key(0), jnp.bfloat16(100), jnp.bfloat16(.5), (4,))
    jax.random.binomial(jax.random.key(0), 100., .5, (4,), dtype="bfloat16")
    jnp.polyadd(jnp.ones(2), jnp.ones((2, 2, 2, 2)))
"""

SHAPES = """
    jnp.roll(jnp.arange(5), jnp.array([1, 2]), axis=0)
    jnp.roll(jnp.arange(5), (1, 2), axis=0)
    jnp.roll(jnp.arange(5), ())
    jnp.roll(jnp.arange(5), 1, ())
    jnp.roll(jnp.arange(6).reshape(2, 3), jnp.array([1, 2]))
    jnp.roll(jnp.arange(6).reshape(2, 3), jnp.array([[1, 2]]), axis=0)
    jnp.roll(jnp.arange(6).reshape(2, 3), jnp.array([], int), axis=0)
    jnp.roll(jnp.arange(6).reshape(2, 3), jnp.array([1, 2, 3]), axis=(0, 1))
    jnp.apply_along_axis(lambda v: v.cumsum(), 0, jnp.arange(24).reshape(2, 3, 4))
    jnp.apply_along_axis(lambda v: v[:2, None] * v[None, :1], 1, jnp.arange(120).reshape(2, 3, 4, 5))
    jnp.pad(jnp.arange(24).reshape(2, 3, 4), 1, lambda v, w, a, k: v.at[:w[0]].set(7).at[-w[1]:].set(9))
    jnp.pad(jnp.array([1, 2, 4]), 2, "linear_ramp")
    jnp.pad(jnp.array([10, 2, -9]), 4, "linear_ramp", end_values=5)
    jnp.pad(jnp.array([10, 2, 200], "uint8"), 4, "linear_ramp", end_values=5)
    jnp.pad(jnp.arange(4).reshape(2, 2), 2, "linear_ramp")
    jnp.pad(jnp.array([True, False]), 2, "linear_ramp")
    jnp.pad(jnp.broadcast_to(3, (3,)), 1, mode="constant")
    jnp.pad(jnp.broadcast_to(3, (3,)), 1, mode="maximum")
    jnp.take(jnp.zeros(0), jnp.array([], int))
    jnp.take(jnp.zeros(0), jnp.array([1], int))
    jnp.extract(jnp.zeros(0, bool), jnp.zeros(0))
    jnp.setdiff1d(jnp.zeros(0), jnp.zeros(2))
    jnp.delete(jnp.zeros(0), jnp.array([], int))
    jnp.zeros((0, 5, 1)).at[jnp.array([3])].set(1)
    jnp.zeros((0, 5, 1)).at[3].set(1)
    jnp.zeros((0, 5, 1))[3]
    jnp.zeros((3, 0)).at[:, jnp.array([1])].add(2)
    jnp.ones((3, 4))[np.zeros((0,), bool)]
    jnp.ones((3, 4))[np.zeros((3, 0), bool)]
    jnp.ones((3, 4))[np.zeros((0, 4), bool)]
    jnp.ones((3, 4))[np.zeros((5,), bool)]
    lax.gather(jnp.zeros(0), jnp.zeros((0, 1), int), lax.GatherDimensionNumbers((), (0,), (0,)), (1,))
    lax.gather(jnp.zeros(0), jnp.zeros((2, 1), int), lax.GatherDimensionNumbers((), (0,), (0,)), (1,))
    lax.scatter_add(jnp.zeros(0), jnp.zeros((2, 1), int), jnp.ones(2), lax.ScatterDimensionNumbers((), (0,), (0,)))
    jax.grad(lambda x: jnp.take(x, jnp.zeros(0, int)).sum())(jnp.zeros(0))
"""

NUMBERS = """
    jnp.zeros(2, jnp.uint32).at[0].set(4294967295)
    jnp.zeros(2, jnp.uint32).at[0].set(2**32)
    jnp.zeros(2, jnp.uint32).at[0].set(-1)
    jnp.zeros(2, jnp.uint32).at[0].add(4294967295)
    jnp.zeros(2, jnp.uint32).at[0].max(4294967295)
    jnp.zeros(2, jnp.int8).at[0].set(300)
    jnp.zeros(2, jnp.uint32).at[7].get(mode="fill", fill_value=4294967295)
    jnp.zeros(2).at[7].get(mode="fill", fill_value=2**40)
    jnp.take(jnp.zeros(2, jnp.uint32), 7, mode="fill", fill_value=4294967295)
    lax.convert_element_type(2**32, jnp.int32)
    lax.convert_element_type(2**32 + 1, jnp.int8)
    lax.convert_element_type(2**70, jnp.float32)
    lax.convert_element_type(2**70, jnp.int32)
    jnp.full(2, 4294967295, jnp.uint32)
    jnp.full(2, 2**40, jnp.float32)
    jnp.full_like(jnp.zeros(2, jnp.uint32), 4294967295)
    jax.random.key_data(jax.random.split(jax.random.key(0), 3).at[jnp.array([9, 1])].get(mode="fill"))
    jax.random.key_data(jnp.take(jax.random.split(jax.random.key(0), 3), 9))
    jax.random.key_data(jnp.full((2,), 1, dtype=jax.random.key(0).dtype))
    jax.random.key_data(jnp.ones((2,), dtype=jax.random.key(0).dtype))
    jax.random.key_data(jnp.full_like(jax.random.key(0), 4294967295))
    jax.random.key_data(jnp.ones((2,), dtype=jax.random.key(0, impl="rbg").dtype))
    jnp.sum(jnp.ones((2, 3)), dtype=bool)
    jnp.prod(jnp.zeros((2, 3)), dtype=bool)
    jnp.sum(jnp.ones((2, 3), bool), promote_integers=False)
    jnp.cumsum(jnp.array([0, 1, 0]), dtype=bool)
    jnp.cumprod(jnp.array([1, 0, 1]), dtype=bool)
    jnp.cumulative_sum(jnp.array([False, True, False]), dtype=bool, include_initial=True)
    jnp.einsum("ij->i", jnp.ones((2, 3), bool))
    jnp.add.at(jnp.zeros(2, bool), 0, True, inplace=False)
    jnp.bitwise_and.reduce(jnp.array([3, 1], jnp.uint8))
    jnp.bitwise_and.reduce(jnp.zeros((0, 2), jnp.uint8))
    jnp.minimum.accumulate(jnp.array([[3, 1, 2]]), axis=-1)
    jnp.add.reduce(jnp.ones(3), where=jnp.array([1, 0, 1]))
    jnp.sum(jnp.ones((2, 3)), initial=jnp.ones(3))
    jnp.iscomplexobj([1, 2j])
    jnp.iscomplexobj([jnp.ones(2), jnp.ones(2) * 1j])
    jnp.iscomplexobj(None)
    jnp.iscomplexobj(jnp.float32)
    jnp.iscomplexobj(jnp.complex64)
    jnp.iscomplexobj(jax.ShapeDtypeStruct((2,), jnp.complex64))
    jnp.iscomplexobj({})
    jnp.isrealobj([1, 2j])
    jnp.isrealobj(jnp.float32)
    jnp.bool_.__name__
""" + "\n".join(
    f"{function}(jnp.ones(3), where=jnp.array([1, 0, 1]){more})"
    for function, more in [(f"jnp.{name}", "") for name in ("sum", "prod", "mean", "var", "std", "all", "any", "nansum", "nanprod", "nanmean", "nanvar")]
    + [(f"jnp.{name}", ", initial=0") for name in ("max", "min", "nanmax", "nanmin")]
    + [("jax.nn.softmax", ""), ("jax.nn.log_softmax", ""), ("jax.nn.logsumexp", ""), ("jax.nn.standardize", "")]
)

INDICES = """
    jnp.argsort(i)
    jnp.argsort(f, descending=True)
    jnp.argsort(m, axis=None)
    jnp.lexsort((i, f))
    jnp.lexsort((i[0],))
    jnp.argpartition(f, 1)
    jnp.argmax(f)
    jnp.argmin(m, axis=1, keepdims=True)
    jnp.nanargmax(f)
    jnp.nonzero(f)
    jnp.nonzero(f, size=3)
    jnp.flatnonzero(f, size=2)
    jnp.argwhere(f, size=2)
    jnp.where(f > 1, size=2)
    jnp.where(f > 1)
    jnp.searchsorted(jnp.sort(f), f)
    jnp.digitize(f, jnp.sort(f))
    jnp.unique(i, return_index=True, return_inverse=True, return_counts=True)
    jnp.unique(i, return_index=True, return_inverse=True, return_counts=True, size=3)
    jnp.unique(m, axis=0, return_index=True, return_inverse=True, return_counts=True)
    jnp.unique_all(i)
    jnp.intersect1d(i, i, return_indices=True)
    jnp.intersect1d(i, i, return_indices=True, size=2)
    jnp.bincount(i)
    lax.top_k(f, 2)
    jnp.indices((2, 3))
    jnp.diag_indices(2)
    jnp.tril_indices(2)
    jnp.unravel_index(i, (2, 3))
    jnp.unravel_index(3, (2, 3))
    jnp.ravel_multi_index((1, 2), (4, 4))
    jnp.count_nonzero(m, axis=0)
    jnp.median(i)
    jnp.quantile(i, .5)
    jnp.percentile(i, 50)
    jnp.ldexp(i, 2)
    jnp.rint(i)
    jnp.gradient(i)
    jnp.sort_complex(i)
    jnp.histogram_bin_edges(i)
    jax.scipy.stats.rankdata(i)
    jax.scipy.stats.mode(i)
"""

ALLOWED = {
    "jnp.sinc(1.)": "the sign of a zero: -0 here, 0 there",
    "jnp.ldexp(jnp.float16(1), -24)": "NumPy's subnormal number here, 0 there",
    "jnp.sort(jnp.array([1e-40, -1e-40]))": "subnormal numbers are in order here, all equal there",
    "jax.grad(jax.scipy.special.spence)(1.)": "-1, the limit of log(x) / (1 - x), here, 0 there",
    "jax.scipy.special.expi(3.4e38), spence(jnp.inf)": "SciPy's infinities here, NaN there",
    "jax.scipy.special.gammainc(0., 0.5)": "SciPy's 1 here, NaN there",
    "jax.scipy.special.beta(-7.5, 10.)": "61.10583 here, as mpmath has it, 61.0990 there",
    "jnp.round(jnp.array([1.5]), 38)": "1.5 here, 0 there, where the power of ten overflows in between",
    "jnp.round(jnp.array([1.5]), -50)": "0 here, NaN there",
    "jax.scipy.stats.gumbel_r.logsf(100.)": "-100 here, -inf there",
    "jnp.nonzero(jnp.zeros((0, 2)), size=2, fill_value=7)": "the fill value here, 0 there",
    "jnp.take(jnp.zeros((0, 3)), jnp.zeros((2, 0), int), axis=0)": "shape (2, 0, 3), as NumPy's, here, (0, 3) there",
    "jnp.unique(jnp.array([jnp.nan + 1j, jnp.nan]), equal_nan=False)": "each NaN as it was given here, the first of them repeated there",
    "lax.argsort of unsorted input in jnp.searchsorted": "any answer is right",
}
