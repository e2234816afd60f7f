"""StableHLO texts: parsed, compiled and run by real XLA on the CPU, and compared with our own results.

Every primitive in every application of the battery, and whole programs. XLA is the one inside of the real JAX's jaxlib;
nothing is traced by real JAX.
"""

import functools
import re

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import _core, lax

# What rounds otherwise in XLA: functions, and sums in another order.
RTOL, ATOL = 3e-5, 3e-6


@pytest.fixture(scope="module")
def xla(jax_oracle):
    """Runs a module's text on arrays, by XLA on one CPU device."""
    from jaxlib import xla_client

    device = jax_oracle.devices("cpu")[0]

    def run(text, args):
        options = xla_client.CompileOptions()
        options.device_assignment = xla_client.DeviceAssignment.create(np.zeros((1, 1), int))
        program = device.client.compile_and_load(text, xla_client.DeviceList((device,)), options)
        with jax_oracle.enable_x64(True):
            args = [jax_oracle.device_put(arg, device) for arg in args]
        results = program.execute_sharded(args)
        return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]

    return run


def is_key(x):
    return str(x.dtype).startswith("key")


def words(x):
    """As NumPy has it; keys as their words."""
    return np.asarray(jax.random.key_data(x) if is_key(x) else x)


def check_equal(got, want, what):
    assert len(got) == len(want), what
    for one, other in zip(got, want):
        other = words(other)
        assert (one.shape, one.dtype) == (other.shape, other.dtype), what
        if one.dtype.kind in "biu":
            np.testing.assert_array_equal(one, other, err_msg=what)
        else:
            half = one.dtype.itemsize == 2
            wide = np.complex128 if one.dtype.kind == "c" else np.float64
            rtol = 1e-2 if half else RTOL
            np.testing.assert_allclose(one.astype(wide), other.astype(wide), rtol=rtol, atol=ATOL, err_msg=what)


def elements(rng, aval, domain):
    low, high = domain
    if is_key(aval):
        key = jax.random.key(int(rng.integers(1 << 30)), dtype=aval.dtype)
        return jax.random.split(key, int(np.prod(aval.shape))).reshape(aval.shape)
    if aval.dtype == bool:
        return jnp.asarray(rng.random(aval.shape) < 0.5)
    numbers = rng.uniform(low, high, aval.shape)
    if jnp.issubdtype(aval.dtype, jnp.complexfloating):
        numbers = numbers + 1j * rng.uniform(low, high, aval.shape)
    if jnp.issubdtype(aval.dtype, jnp.unsignedinteger):
        numbers = np.abs(numbers)
    return jnp.asarray(numbers.astype(np.asarray(jnp.zeros((), aval.dtype)).dtype))


# Primitives of which the battery has no application: they hold programs, or functions of the host. Programs below.
WITHOUT_SAMPLES = {
    "all_gather", "all_to_all", "axis_index", "cholesky", "cholesky_update", "cond", "custom_jvp_call", "custom_lin",
    "custom_linear_solve", "custom_vjp_call", "custom_vmap_call", "debug_print", "eig", "eigh", "io_callback", "jit", "linear_call",
    "pbroadcast", "ppermute", "psum_invariant", "pure_callback", "pvary", "reduce", "reduce_scatter", "reduce_window", "remat2", "reshard",
    "scan", "schur", "shard_map", "sharding_constraint", "symmetric_product", "while",
}  # fmt: skip
FACTORIZATIONS = "eig geqp3 hessenberg schur svd tridiagonal tridiagonal_solve".split()
# What cannot be a StableHLO operation, and why.
HOLES = {
    "custom_lin": "a derivative to come: it is gone before a program is lowered",
    "random_gamma": "XLA takes minutes to compile its rejection loops around random bits that are written out",
    **dict.fromkeys(FACTORIZATIONS, "XLA has no operation for it, and the libraries that do are not in its plugins"),
}


def test_every_primitive_has_a_form():
    holes = {name for name in _core.primitive_names() if _core.primitive_coverage(name)["stablehlo"] is None}
    assert holes == set(HOLES)
    assert {name for name in _core.primitive_names() if not _core.primitive_samples(name)} == WITHOUT_SAMPLES


@pytest.mark.parametrize("name", sorted(set(_core.primitive_names()) - WITHOUT_SAMPLES - set(HOLES)))
def test_primitive(xla, name):
    rng = np.random.default_rng(0)
    for number, (jaxpr, domains) in enumerate(_core.primitive_samples(name)):
        args = [elements(rng, aval, domain) for aval, domain in zip(jaxpr.in_avals, domains)]
        text = _core.stablehlo(jaxpr, name, [], keep_unused=True).text
        want = jax.jit(jax.core.jaxpr_as_fun(jaxpr))(*args)
        check_equal(xla(text, [words(arg) for arg in args]), want, f"{name} sample {number}\n{jaxpr}\n{text}")


SPECIALS = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5, 3.5, 1e30, -1e-30], np.float32)

SPECIAL_LINES = """
jnp.sign(x)
jnp.maximum(x, y)
jnp.minimum(x, y)
lax.clamp(-1.0, x, 2.0)
x < y
x >= y
x == y
x != y
lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)
jnp.round(x)
jnp.isfinite(x)
jnp.nextafter(x, y)
jnp.max(x)
jnp.min(x[3:])
jnp.argmax(x)
jnp.argmin(x)
jnp.argmax(x[1:])
jnp.sort(x)
jnp.argsort(x)
jnp.sort(x[::-1])
lax.sort((x, y), num_keys=2)
lax.cummax(x)
lax.cumlogsumexp(x)
lax.cumsum(x[3:], reverse=True)
jnp.exp(x), jnp.log(x), jnp.sqrt(x), jnp.tanh(x), lax.rsqrt(x), jnp.expm1(x), jnp.log1p(x), lax.logistic(x)
jnp.exp2(x), jnp.log2(x), lax.erf(x), lax.erf_inv(x), lax.lgamma(x), jnp.arctan(x), jnp.arcsinh(x)
jnp.where(x > 0, x, y)
lax.integer_pow(x, 3), lax.integer_pow(x, -2), x**2
jnp.fmod(x, y), lax.rem(x, y)
x.astype(jnp.int32), x.astype(jnp.uint8), x.astype(bool), x.astype(jnp.bfloat16), x.astype(jnp.complex64)
jnp.abs(x.astype(jnp.int8)), jnp.sign(x.astype(jnp.uint32)), -x.astype(jnp.int16)
x.astype(jnp.bfloat16) * y.astype(jnp.bfloat16), jnp.sum(x[3:].astype(jnp.float16))
lax.reduce_precision(x, 5, 10)
x.astype(jnp.int32) // y.astype(jnp.int32), x.astype(jnp.int32) % y.astype(jnp.int32)
lax.shift_left(x.astype(jnp.int32), jnp.arange(10) * 4), lax.shift_right_arithmetic(x.astype(jnp.int32), jnp.arange(10) * 4)
"""


def lowered(fun, *args, **options):
    return jax.jit(fun, **options).lower(*args)


def check_program(xla, fun, *args):
    program = lowered(fun, *args)
    leaves = [words(jnp.asarray(leaf)) for leaf in jax.tree.leaves(args)]
    kept = [leaf for leaf, used in zip(leaves, kept_arguments(program)) if used]
    check_equal(xla(program.as_text(), kept), jax.tree.leaves(jax.jit(fun)(*args)), program.as_text())


def kept_arguments(program):
    made = program._stablehlo()
    return [i in made.kept for i in range(len(program._staged.flat_in_avals))]


@pytest.mark.parametrize("line", [line for line in SPECIAL_LINES.split("\n") if line])
def test_special_values(xla, line):
    fun = eval(f"lambda x, y: ({line})", {"jnp": jnp, "lax": lax})
    with np.errstate(invalid="ignore"):
        check_program(xla, fun, jnp.asarray(SPECIALS), jnp.asarray(np.roll(SPECIALS, 3)))


def mlp(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss(params, x, y):
    logits = mlp(params, x)
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * jax.nn.one_hot(y, logits.shape[-1]), axis=-1))


def mlp_params(sizes):
    rng = np.random.default_rng(1)
    pairs = zip(sizes, sizes[1:])
    return [(jnp.asarray(rng.normal(0, 0.3, (m, n)), jnp.float32), jnp.zeros(n, jnp.float32)) for m, n in pairs]


def train_step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def rnn(w, xs):
    def step(h, x):
        h = jnp.tanh(w @ h + x)
        return h, h.sum()

    return lax.scan(step, jnp.zeros(w.shape[0]), xs)


def collatz(n):
    return lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))


@jax.custom_jvp
def safe_log(x):
    return jnp.log(jnp.maximum(x, 1e-3))


safe_log.defjvp(lambda xs, ts: (safe_log(*xs), ts[0] / jnp.maximum(xs[0], 1e-3)))


@jax.custom_vjp
def clipped(x):
    return x * x


clipped.defvjp(lambda x: (clipped(x), x), lambda x, ct: (jnp.clip(2 * x * ct, -1, 1),))

M = jnp.asarray(np.random.default_rng(2).normal(size=(4, 6)), jnp.float32)
V = M[0]
I = jnp.array([3, 0, -1, 9, 2])
KEY = jax.random.key(7)
RBG = jax.random.key(7, impl="rbg")

PROGRAMS = {
    "train step": (train_step, mlp_params([64, 32, 10]), M[:, :1] * jnp.ones(64), jnp.array([1, 2, 3, 9])),
    "grad of mlp": (jax.grad(loss), mlp_params([6, 5, 3]), M, jnp.array([0, 1, 2, 0])),
    "hessian": (jax.hessian(lambda x: jnp.sum(jnp.sin(x) * x**3)), V),
    "softmax": (jax.nn.softmax, M),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, axis=1), M),
    "scan rnn": (rnn, M[:, :4], M[:4, :4]),
    "grad of scan rnn": (jax.grad(lambda w, xs: rnn(w, xs)[1].sum()), M[:, :4], M[:4, :4]),
    "scan in reverse": (lambda xs: lax.scan(lambda c, x: (c * 0.5 + x, c), 0.0, xs, reverse=True), V),
    "scan of nothing": (lambda xs: lax.scan(lambda c, x: (c + x, c), 1.0, xs), V[:0]),
    "while": (collatz, 27),
    "vmapped while": (jax.vmap(collatz), jnp.array([27, 1, 7, 6])),
    "fori": (lambda n: lax.fori_loop(0, n, lambda i, x: x * 1.5 + i, 0.5), 7),
    "cond": (lambda x: lax.cond(x[0] > 0, jnp.sin, lambda x: -x, x), V),
    "grad of cond": (jax.grad(lambda x: lax.cond(x[0] > 0, jnp.sin, lambda x: -x, x).sum()), V),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), -3, V),
    "vmapped switch": (jax.vmap(lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x)), I[:4], M),
    "cond in a loop": (
        lambda x: lax.fori_loop(0, 4, lambda i, x: lax.cond(i % 2 == 0, lambda x: x * 2, lambda x: x + i, x), x), V
    ),
    "loop in a branch": (
        lambda p, x: lax.cond(p, lambda x: lax.fori_loop(0, 3, lambda i, x: x + i, x), lambda x: x - 1, x), True, V
    ),
    "scan in a scan": (
        lambda xs: lax.scan(lambda c, row: lax.scan(lambda c, x: (c + x, c * x), c, row), 0.0, xs), M
    ),
    "call in a loop": (lambda x: lax.fori_loop(0, 3, lambda i, x: jax.nn.gelu(jax.jit(jnp.sin)(x)), x), V),
    "jacobian of a scan": (jax.jacrev(lambda x: lax.scan(lambda c, r: (jnp.sin(c * r), c), 1.0, x)[1]), V),
    "vmapped while in a scan": (
        lambda ns: lax.scan(lambda c, n: (c + 1, jax.vmap(collatz)(n + c)), 0, ns), jnp.array([[3, 5], [7, 1]])
    ),
    "vmapped cond": (jax.vmap(lambda x: lax.cond(x[0] > 0, jnp.sin, lambda x: -x, x)), M),
    "cond of nothing": (lambda p: lax.cond(p, lambda: 1.0, lambda: 2.0), True),
    "vmapped gather": (jax.vmap(lambda x, i: x[i]), M, jnp.array([1, 5, -1, 0])),
    "gather with fill": (lambda x, i: x.at[i].get(mode="fill", fill_value=-7.0), V, I),
    "gather clipped": (lambda x, i: x.at[i].get(mode="clip"), V, I),
    "gather of rows": (lambda x, i: x[i], M, jnp.array([3, 0, 3])),
    "vmapped scatter": (jax.vmap(lambda x, i: x.at[i].add(2.0)), M, jnp.array([[1, 1], [5, 0], [-1, 9], [0, 2]])),
    "scatter clipped": (lambda x, i: x.at[i].max(0.5, mode="clip"), V, I),
    "scatter dropped": (lambda x, i: x.at[i].set(0.5, mode="drop"), V, I),
    "grad of gather": (jax.grad(lambda x: (x[jnp.array([0, 2, 2])] ** 2).sum()), V),
    "dynamic slice": (lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 1), (2, 3)), (0, i)), M, 9),
    "uniform": (lambda key: jax.random.uniform(key, (3, 5)), KEY),
    "normal": (lambda key: jax.random.normal(key, (7,)), KEY),
    "split and fold in": (lambda key: (jax.random.split(key, 3), jax.random.fold_in(key, 5)), KEY),
    "keys of a batch": (lambda keys: jax.vmap(lambda k: jax.random.uniform(k, (2,)))(keys), jax.random.split(KEY, 3)),
    "keys in a loop": (lambda key: lax.fori_loop(0, 3, lambda i, k: jax.random.split(k)[1], key), KEY),
    "keys from a seed": (lambda seed: jax.random.key(seed), 3),
    "permutation": (lambda key: jax.random.permutation(key, 10), KEY),
    "rbg": (lambda key: (jax.random.normal(key, (7,)), jax.random.split(key, 3), jax.random.fold_in(key, 5)), RBG),
    "unsafe rbg": (lambda key: (jax.random.split(key, (2, 3)), jax.random.fold_in(key, 5)), jax.random.key(7, impl="unsafe_rbg")),
    "rbg keys of a batch": (lambda keys: jax.vmap(lambda k: jax.random.uniform(k, (2,)))(keys), jax.random.split(RBG, 3)),
    "rbg keys moved": (
        lambda keys: (keys.T, keys[1:, ::-1], keys.reshape(3, 2), keys[0, 1], jnp.concatenate([keys, keys]), keys[jnp.array([1, 0, 1])]),
        jax.random.split(RBG, (2, 3)),
    ),
    "rbg keys in a loop": (lambda key: lax.fori_loop(0, 3, lambda i, k: jax.random.split(k)[1], key), RBG),
    "bits": (lambda key: (jax.random.bits(key, (5,), "uint8"), jax.random.bits(key, (2, 3), "uint16")), KEY),
    "custom jvp": (jax.grad(lambda x: safe_log(x).sum()), V),
    "custom vjp": (jax.grad(lambda x: clipped(x).sum()), V),
    "custom jvp alone": (safe_log, V),
    "checkpoint": (jax.grad(lambda x: jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))(x).sum()), V),
    "checkpoint alone": (jax.checkpoint(jnp.sin), V),
    "einsum": (lambda a, b: jnp.einsum("ij,kj->ik", a, b), M, M),
    "batched matmul": (jax.vmap(jnp.matmul), M.reshape(2, 2, 6), M.reshape(2, 6, 2)),
    "complex": (lambda x: (jnp.abs(x + 1j * x), jnp.exp(1j * x), (1j * x).conj() ** 2), V),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(-x)), M),
    "cumsum": (lambda x: (jnp.cumsum(x, axis=1), jnp.cumprod(x, axis=0)), M),
    "constants": (lambda x: x + np.arange(6.0, dtype=np.float32) + np.arange(6)[::-1] % 2, V),
    "large constant": (lambda x: x @ np.linspace(-1, 1, 6 * 40, dtype=np.float32).reshape(6, 40), M),
    "large mask": (lambda x: jnp.where(np.arange(6 * 40).reshape(6, 40) % 3 == 0, x[0][:, None], 0.0), M),
    "unused argument": (lambda x, y, z: y * 2, V, M, V),
    "same function twice": (lambda x: jnp.sqrt(jnp.sum(jax.nn.gelu(x) ** 2)) + jax.nn.gelu(x).sum() + jax.nn.relu(x).sum(), V),
    "no results": (lambda x: (), V),
    "argument as result": (lambda x, y: (y, 3.0, x), V, M),
    "tree": (lambda t: {"c": t["a"][0] * t["b"], "d": [t["a"][1]]}, {"a": (V, M), "b": 2.0}),
    "bool arithmetic": (lambda p: (p & ~p, p.sum(), jnp.any(p), jnp.all(p), p.argmax()), V > 0),
    "newton": (
        lambda x: lax.while_loop(lambda y: jnp.abs(y * y - x) > 1e-5, lambda y: 0.5 * (y + x / y), x), jnp.float32(2.0)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(xla, name):
    fun, *args = PROGRAMS[name]
    check_program(xla, fun, *args)


DTYPE_LINES = """
x + x, x * x, x - 1, -x, jnp.abs(x), jnp.maximum(x, 1), jnp.minimum(x, 1), jnp.sign(x)
jnp.sum(x, dtype=x.dtype), jnp.max(x), jnp.min(x), jnp.prod(x[:2], dtype=x.dtype), jnp.argmax(x), jnp.argmin(x)
x == 1, x != x[0], x < 2, x >= x[1]
jnp.where(x > 1, x, 0), lax.clamp(x[0], x, x[2]), lax.select_n(jnp.array([2, 0, 1, 1]), x, x + 1, x * 2)
jnp.cumsum(x, dtype=x.dtype), lax.cummax(x), jnp.sort(x), jnp.sort(x)[::-1]
x[jnp.array([3, -1])], x.at[1].set(2), x.at[jnp.array([0, 0])].add(1), x.at[jnp.array([9])].get(mode="fill")
jnp.concatenate([x, x[:1]]), jnp.pad(x, 1), jnp.flip(x), jnp.tile(x, 2), jnp.stack([x, x]), jnp.reshape(x, (2, 2)).T
jnp.zeros_like(x), jnp.full_like(x, 3), lax.iota(x.dtype, 4)
x.astype(jnp.float32), x.astype(jnp.int32), x.astype(jnp.uint8), x.astype(bool), x.astype(jnp.bfloat16)
jnp.dot(x, x, preferred_element_type=jnp.float32)
lax.scan(lambda c, y: (c + y, c), x[0], x)
lax.dynamic_slice(x, (jnp.uint8(3),), (2,)), lax.dynamic_update_slice(x, x[:2], (jnp.int8(-1),))
"""


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32", "float16", "bfloat16"])
def test_dtypes(xla, dtype):
    x = jnp.array([3, 1, 2, 1], dtype)
    lines = ", ".join(f"({line})" for line in DTYPE_LINES.split("\n") if line)
    check_program(xla, eval(f"lambda x: ({lines})", {"jnp": jnp, "lax": lax}), x)


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "complex128"])
def test_wide_dtypes(xla, dtype):
    with jax.enable_x64(True):
        x = jnp.array([3, 1, 2, 1], dtype)
        check_program(xla, lambda x: (x + x * x - 1, x.sum(), x[jnp.array([3, -1])], jnp.cumsum(x), -x, x == 1), x)
        check_program(xla, lambda x: lax.scan(lambda c, y: (c + y, c), x[0], x), x)
        if dtype != "complex128":
            check_program(xla, lambda x: (jnp.sort(x), jnp.argmax(x), jnp.max(x), x.astype(jnp.int32)), x)
        if dtype == "float64":
            check_program(xla, lambda x: (jnp.exp(x), lax.lgamma(x), jnp.tanh(x), lax.integer_pow(x, 5)), x)


# The words that tools look for


def test_module_argument_and_result_names_are_those_of_jax(jax_oracle):
    def f(x, y, *, unused, k):
        return {"a": x * 2, "b": (jnp_of(x).sin(y), k)}

    def jnp_of(x):
        return jnp if isinstance(x, jax.Array) else jax_oracle.numpy

    def heads(system):
        x = system.numpy.ones(3)
        text = system.jit(f).lower(x, x + 1, unused=x, k=system.numpy.ones((2, 2))).as_text()
        return [line for line in text.split("\n") if line.startswith("module") or "func public @main" in line]

    ours, theirs = heads(jax), heads(jax_oracle)
    assert len(ours) == 2 and ours == theirs


def donation_heads(system):
    x, w = system.numpy.ones((8, 16)), system.numpy.ones((16, 4))
    jit = system.jit
    programs = [
        jit(lambda x, w: (w + 1, x * 2), donate_argnums=0).lower(x, w),
        jit(lambda x, **k: (x + 1, k["a"] * 2), donate_argnames="a").lower(x, a=w, b=x),
        jit(lambda n, t: (t["p"][0] + n, t["q"]), static_argnums=0, donate_argnums=1).lower(3.0, {"p": (w, x), "q": x}),
        jit(lambda x, y: x + y, donate_argnums=(0, 1), keep_unused=True).lower(x, x[0]),
    ]
    return [next(line for line in p.as_text().split("\n") if "@main" in line) for p in programs]


@pytest.mark.filterwarnings("ignore:Some donated buffers")
def test_donations_are_marked_as_jax_marks_them(jax_oracle):
    ours = donation_heads(jax)
    assert ours == donation_heads(jax_oracle)
    assert "tf.aliasing_output = 1" in ours[0]


def test_a_donation_that_no_result_can_use_is_said():
    with pytest.warns(UserWarning, match=re.escape("Some donated buffers were not usable: float32[4,6]")):
        jax.jit(jnp.sum, donate_argnums=0).lower(M)
    info = jax.jit(lambda x, y: (x, y), donate_argnums=1).lower(M, V).args_info
    assert [leaf.donated for leaf in jax.tree.leaves(info)] == [False, True]


def helper(x):
    return jnp.sin(x)  # the line


def test_locations_are_the_lines_of_the_user(xla):
    program = lowered(lambda x: helper(x) + 1.0, V)
    text = program.as_text(debug_info=True)
    line = helper.__code__.co_firstlineno + 1
    assert re.search(rf'stablehlo.sine .* loc\("jit\(<lambda>\)/sin"\("helper"\(".*test_stablehlo.py":{line}:0\)\)\)', text)
    assert 'loc("x")' in text
    assert "loc(" not in program.as_text()
    check_equal(xla(text, [words(V)]), [jnp.sin(V) + 1.0], text)


@pytest.mark.parametrize("name", ["scan rnn", "grad of cond", "vmapped scatter", "while", "uniform"])
def test_text_with_locations_runs(xla, name):
    fun, *args = PROGRAMS[name]
    text = lowered(fun, *args).as_text(debug_info=True)
    leaves = [words(jnp.asarray(leaf)) for leaf in jax.tree.leaves(args)]
    check_equal(xla(text, leaves), jax.tree.leaves(jax.jit(fun)(*args)), text)


def test_dialects():
    program = lowered(jnp.sin, V)
    module = program.compiler_ir("stablehlo")
    assert str(module) == program.as_text() == program.as_text("stablehlo") == program.compiler_ir().operation.get_asm()
    assert "loc(" in module.operation.get_asm(enable_debug_info=True)
    assert "sin a" in program.as_text("jaxpr")
    assert program.compiler_ir("jaxpr") is not None
    assert program.as_text("hlo").startswith("HloModule jit_sin")
    with pytest.raises(ValueError, match="unknown dialect: tosa"):
        program.as_text("tosa")


def test_a_call_of_the_host_is_a_custom_call():
    def f(x):
        jax.debug.print("x = {}", x)
        return x + 1

    text = lowered(f, V).as_text()
    assert 'call_target_name = "pullback_host_callback"' in text and "has_side_effect = true" in text


def test_equal_inner_functions_are_written_once():
    g = jax.jit(lambda x: jnp.sin(x) * 2)
    text = lowered(lambda x: g(g(x)) + jax.vmap(g)(x.reshape(2, 3)).reshape(6), V).as_text()
    assert text.count("func.func private") == 2
    gelu = lowered(lambda x: jax.nn.gelu(jax.nn.gelu(x)), V).as_text()
    assert len(re.findall("func.func private @gelu", gelu)) <= 1


def test_text_is_linear_in_the_program():
    def chain(n):
        def f(x):
            for _ in range(n):
                x = jax.nn.softmax(jnp.sin(x) * 2.0)
            return x

        return len(lowered(f, V).as_text().split("\n"))

    assert chain(60) - chain(40) == chain(40) - chain(20)


@functools.cache
def costs(system):
    x, w = system.numpy.ones((8, 16)), system.numpy.ones((16, 4))
    names = {"jnp": system.numpy, "lax": system.lax}
    lines = ["jnp.tanh(x @ w) + 1", "jnp.sum(x * x)", "jnp.sort(x)", "x[1:]", "jnp.exp(x) - x", "x @ w @ w.T", "jnp.pad(x, 1)"]
    return [system.jit(eval(f"lambda x, w: {line}", names)).lower(x, w).cost_analysis() for line in lines]


@pytest.mark.parametrize("number", range(7))
def test_costs_are_those_that_xla_counts(jax_oracle, number):
    ours, theirs = costs(jax)[number], costs(jax_oracle)[number]
    for key, value in ours.items():
        assert value == theirs.get(key, 0.0), key


def test_known_loops_count_as_often_as_they_run():
    once, often = (lowered(lambda x: lax.scan(lambda c, r: (c + r, None), x[0], x), jnp.ones((n, 4))).cost_analysis()
                   for n in (1, 100))  # fmt: skip
    assert often["flops"] == 100 * once["flops"]


def test_compiled_costs_and_memory(jax_oracle):
    def stats(system):
        x, w = system.numpy.ones((8, 16)), system.numpy.ones((16, 4))
        compiled = system.jit(lambda x, w: system.numpy.tanh(x @ w) + 1).lower(x, w).compile()
        return compiled.cost_analysis(), compiled.memory_analysis()

    (cost, memory), (their_cost, their_memory) = stats(jax), stats(jax_oracle)
    assert {key: cost[key] for key in cost} == {key: their_cost[key] for key in cost}
    for name in ("argument_size_in_bytes", "output_size_in_bytes", "alias_size_in_bytes"):
        assert getattr(memory, name) == getattr(their_memory, name)
    assert memory.temp_size_in_bytes >= 0
