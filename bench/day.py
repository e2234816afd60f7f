"""Rows that time the rest of a user's day: convolutions, layers, linear algebra, sorting, Fourier transforms, random numbers."""

import numpy as np

from kernels import compiled, numbers
from row import Row


def integers(side, *shape, high, seed=0):
    """Uniform int32 numbers below ``high``, the same on both sides."""
    return side.jnp.asarray(np.random.default_rng(seed).integers(0, high, shape, dtype=np.int32))


def normal(side, *shape, seed=0, dtype=np.float32):
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return side.jnp.asarray(values).astype(dtype)


def in_double(program):
    """The program with x64 on and its arguments in float64."""

    def make(side):
        with side.jax.enable_x64(True):
            function, args = program(side)
            args = side.jax.tree.map(lambda x: x.astype(np.float64) if x.dtype == np.float32 else x, args)
            run = side.jax.jit(function).lower(*args).compile()
        return lambda: side.jax.block_until_ready(run(*args))

    return make


# --- convolutions -----------------------------------------------------------------------------------------------------

LAYOUTS = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}


def convolution(batch, pixels, n_in, n_out, side_of_kernel, of="forward", groups=1, dtype=np.float32, padding="SAME", **settings):
    """A convolution or one of its gradients; ``of`` is "forward", "input" or "kernel"."""

    def program(side):
        dims, lax = len(pixels), side.jax.lax
        x = normal(side, batch, *pixels, n_in, dtype=dtype)
        kernel = normal(side, *[side_of_kernel] * dims, n_in // groups, n_out, seed=1, dtype=dtype) / side_of_kernel**dims
        strides = settings.get("strides", (1,) * dims)

        def apply(x, kernel):
            return lax.conv_general_dilated(
                x,
                kernel,
                strides,
                padding,
                lhs_dilation=settings.get("lhs_dilation"),
                rhs_dilation=settings.get("rhs_dilation"),
                dimension_numbers=LAYOUTS[dims],
                feature_group_count=groups,
            )

        if of == "forward":
            return apply, [x, kernel]
        places = side.jax.eval_shape(apply, x, kernel).shape
        weight = normal(side, *places, seed=2, dtype=dtype) / np.prod(places[:-1]) ** 0.5
        argnum = {"input": 0, "kernel": 1}[of]
        # The weights make the cotangent an argument, so that nothing of the backward pass is constant.
        return (lambda x, kernel, weight: side.jax.vjp(apply, x, kernel)[1](weight)[argnum]), [x, kernel, weight]

    return program


def pooled(kind, of="forward", batch=64, pixels=28, channels=32):
    def program(side):
        lax, jnp = side.jax.lax, side.jnp
        x = normal(side, batch, pixels, pixels, channels)
        window = ((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        start, combine = {"max": (-jnp.inf, lax.max), "average": (0.0, lax.add)}[kind]
        pool = lambda x: lax.reduce_window(x, start, combine, *window) * (0.25 if kind == "average" else 1.0)
        if of == "forward":
            return pool, [x]
        weight = normal(side, *side.jax.eval_shape(pool, x).shape, seed=1)
        return (lambda x, weight: side.jax.vjp(pool, x)[1](weight)[0]), [x, weight]

    return program


def cnn(batch, kind="average"):
    """A step as flax's example for MNIST writes it: 32 and 64 channels, pooling, a dense layer of 256."""

    def program(side):
        jax, jnp, lax = side.jax, side.jnp, side.jax.lax

        def pool(x):
            start, combine = (0.0, lax.add) if kind == "average" else (-jnp.inf, lax.max)
            x = lax.reduce_window(x, start, combine, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            return x / 4 if kind == "average" else x

        def loss(params, images, labels):
            x = images
            for kernel, bias in params["convolutions"]:
                x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=LAYOUTS[2])
                x = pool(jax.nn.relu(x + bias))
            x = x.reshape(batch, -1)
            (w1, b1), (w2, b2) = params["dense"]
            scores = jax.nn.log_softmax(jax.nn.relu(x @ w1 + b1) @ w2 + b2)
            return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()

        def step(params, images, labels):
            value, gradients = jax.value_and_grad(loss)(params, images, labels)
            return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

        small = lambda *shape: 0.05 * normal(side, *shape)
        params = {
            "convolutions": [(small(3, 3, 1, 32), small(32)), (small(3, 3, 32, 64), small(64))],
            "dense": [(small(7 * 7 * 64, 256), small(256)), (small(256, 10), small(10))],
        }
        return step, [params, normal(side, batch, 28, 28, 1), integers(side, batch, high=10)]

    return program


# --- layers -----------------------------------------------------------------------------------------------------------


def lstm(side, steps=100, batch=32, width=128):
    jax, jnp = side.jax, side.jnp

    def loss(w, u, b, xs):
        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ w + h @ u + b, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), None

        zero = jnp.zeros((batch, width))
        return (jax.lax.scan(step, (zero, zero), xs)[0][0] ** 2).mean()

    small = lambda *shape, seed: 0.1 * normal(side, *shape, seed=seed)
    args = [small(width, 4 * width, seed=0), small(width, 4 * width, seed=1), small(4 * width, seed=2), normal(side, steps, batch, width)]
    return jax.grad(loss, argnums=(0, 1, 2)), args


def gru(side, steps=100, batch=32, width=128):
    jax, jnp = side.jax, side.jnp

    def loss(w, u, xs):
        def step(h, x):
            xr, xz, xn = jnp.split(x @ w, 3, axis=-1)
            hr, hz, hn = jnp.split(h @ u, 3, axis=-1)
            r, z = jax.nn.sigmoid(xr + hr), jax.nn.sigmoid(xz + hz)
            return (1 - z) * jnp.tanh(xn + r * hn) + z * h, None

        return (jax.lax.scan(step, jnp.zeros((batch, width)), xs)[0] ** 2).mean()

    args = [0.1 * normal(side, width, 3 * width), 0.1 * normal(side, width, 3 * width, seed=1), normal(side, steps, batch, width)]
    return jax.grad(loss, argnums=(0, 1)), args


def masked_attention(length, of="forward", heads=8, width=64, batch=1):
    def program(side):
        jax, jnp = side.jax, side.jnp

        def attend(q, k, v):
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * width**-0.5
            scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
            return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)

        args = [normal(side, batch, length, heads, width, seed=seed) for seed in range(3)]
        if of == "forward":
            return attend, args
        return jax.grad(lambda *args: (attend(*args) ** 2).mean(), argnums=(0, 1, 2)), args

    return program


def embedding(of="forward", rows=50_000, width=256, batch=32, length=128):
    def program(side):
        look = lambda table, ids: table[ids]
        table, ids = normal(side, rows, width), integers(side, batch, length, high=rows)
        if of == "forward":
            return look, [table, ids]
        weight = normal(side, batch, length, width, seed=1)
        return (lambda table, ids, weight: side.jax.vjp(lambda t: look(t, ids), table)[1](weight)[0]), [table, ids, weight]

    return program


def norm_gradient(axes, shape):
    """The gradient of a normalisation over ``axes``: layer norm, batch norm or, after a reshape, group norm."""

    def program(side):
        jax, jnp = side.jax, side.jnp

        def norm(x, scale, shift):
            mean = x.mean(axes, keepdims=True)
            var = ((x - mean) ** 2).mean(axes, keepdims=True)
            return (x - mean) * jax.lax.rsqrt(var + 1e-5) * scale + shift

        args = [normal(side, *shape), normal(side, shape[-1], seed=1), normal(side, shape[-1], seed=2)]
        weight = normal(side, *shape, seed=3)
        return (lambda x, s, b, weight: jax.vjp(norm, x, s, b)[1](weight)), [*args, weight]

    return program


def segment_sum(n=1_000_000, segments=1000, width=None):
    def program(side):
        data = normal(side, n) if width is None else normal(side, n, width)
        ids = integers(side, n, high=segments)
        return (lambda data, ids: side.jax.ops.segment_sum(data, ids, num_segments=segments)), [data, ids]

    return program


# --- linear algebra ---------------------------------------------------------------------------------------------------


def definite(side, *shape):
    x = normal(side, *shape)
    return x @ x.mT + shape[-1] * side.jnp.eye(shape[-1])


def of_matrices(name, *shape, symmetric=False):
    def program(side):
        function = getattr(side.jnp.linalg, name)
        x = definite(side, *shape) if symmetric else normal(side, *shape) + 2 * side.jnp.eye(shape[-1])
        if name == "solve":
            return function, [x, normal(side, *shape[:-1], 1, seed=1)]
        return function, [x]

    return program


def gram(side, rows=1000, columns=500):
    def centred(x):
        x = x - x.mean(0)
        return x.T @ x

    return centred, [normal(side, rows, columns)]


def half_matmul(dtype, n):
    return lambda side: (lambda x, y: x @ y, [normal(side, n, n, dtype=dtype), normal(side, n, n, seed=1, dtype=dtype)])


def matvec(side, n=4096):
    return lambda a, x: a @ x, [normal(side, n, n), normal(side, n)]


# --- order and places -------------------------------------------------------------------------------------------------


def of_values(function, *shape, make=normal):
    return lambda side: ((lambda x: function(side, x)), [make(side, *shape)])


def codes(side, n):
    return integers(side, n, high=1 << 30)


def few_codes(side, n):
    return integers(side, n, high=1000)


def searchsorted(side, n=100_000):
    return side.jnp.searchsorted, [side.jnp.sort(normal(side, n)), normal(side, n, seed=1)]


def gather(side, n=1_000_000):
    return lambda x, i: x[i], [normal(side, n), integers(side, n, high=n)]


def scatter_add(side, n=1_000_000):
    return lambda x, i, v: x.at[i].add(v), [normal(side, n), integers(side, n, high=n), normal(side, n, seed=1)]


# --- transforms, random numbers, loops --------------------------------------------------------------------------------


def fourier(name, *shape, complex_input=True):
    def program(side):
        x = normal(side, *shape)
        return getattr(side.jnp.fft, name), [x + 1j * normal(side, *shape, seed=1) if complex_input else x]

    return program


def drawn(name, *args, n=1_000_000, **settings):
    def program(side):
        draw = getattr(side.jax.random, name)
        return (lambda key: draw(key, *args, shape=(n,), **settings)), [side.jax.random.key(0)]

    return program


def shuffled(side, n=1_000_000):
    return lambda key, x: side.jax.random.permutation(key, x), [side.jax.random.key(0), normal(side, n)]


def prefix(function, *shape):
    return lambda side: ((lambda x: side.jax.lax.associative_scan(function(side), x)), [0.01 * normal(side, *shape)])


def linear_recurrence(side, n=10_000, width=64):
    def combine(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    return lambda a, b: side.jax.lax.associative_scan(combine, (a, b)), [numbers(side, n, width), normal(side, n, width)]


def mapped(side, n=1000, width=64):
    jnp = side.jnp
    return lambda xs, w: side.jax.lax.map(lambda x: jnp.tanh(w @ x).sum(), xs), [normal(side, n, width), normal(side, width, width)]


SMALL = (10_000,)
ROWS = [
    *(
        (f"{title}, {name}", convolution(*args, of=of, **settings))
        for title, args, settings in [
            ("3×3 of ResNet-18, 8×56²×64", (8, (56, 56), 64, 64, 3), {}),
            ("3×3 of ResNet-18, 8×14²×256", (8, (14, 14), 256, 256, 3), {}),
            ("7×7 by 2 of ResNet-18, 4×224²×3", (4, (224, 224), 3, 64, 7), {"strides": (2, 2)}),
            ("1×1 by 2, 8×56²×64 to 128", (8, (56, 56), 64, 128, 1), {"strides": (2, 2)}),
            ("3×3 of U-Net, 1×128²×64", (1, (128, 128), 64, 64, 3), {}),
            ("2×2 up by 2 of U-Net, 1×64²×128", (1, (64, 64), 128, 64, 2), {"lhs_dilation": (2, 2), "padding": ((1, 1), (1, 1))}),
            ("dilated 2 of WaveNet, 4×8000×64", (4, (8000,), 64, 64, 2), {"rhs_dilation": (16,)}),
            ("depthwise 3×3, 8×56²×128", (8, (56, 56), 128, 128, 3), {"groups": 128}),
            ("3×3 in 4 groups, 8×28²×128", (8, (28, 28), 128, 128, 3), {"groups": 4}),
            ("3×3×3, 2×16×32²×16", (2, (16, 32, 32), 16, 32, 3), {}),
            ("3×3 of one channel, 64×28²", (64, (28, 28), 1, 32, 3), {}),
            ("3×3, 64×14²×32", (64, (14, 14), 32, 64, 3), {}),
        ]
        for name, of in [("forward", "forward"), ("by the input", "input"), ("by the kernel", "kernel")]
    ),
    ("3×3 of bfloat16, 8×28²×64", convolution(8, (28, 28), 64, 64, 3, dtype="bfloat16")),
    ("3×3 of float16, 8×28²×64", convolution(8, (28, 28), 64, 64, 3, dtype="float16")),
    *((f"{kind} pooling, 64×28²×32, {of}", pooled(kind, of)) for kind in ("max", "average") for of in ("forward", "gradient")),
    ("step of flax's CNN, average pooling, 32", cnn(32)),
    ("step of flax's CNN, average pooling, 128", cnn(128)),
    ("step of flax's CNN, max pooling, 128", cnn(128, "max")),
    ("gradient of an LSTM, 100 steps", lstm),
    ("gradient of a GRU, 100 steps", gru),
    ("causal attention, 512", masked_attention(512)),
    ("causal attention, 512, gradient", masked_attention(512, "gradient")),
    ("causal attention, 2048", masked_attention(2048, heads=4)),
    ("causal attention, 2048, gradient", masked_attention(2048, "gradient", heads=4)),
    ("embedding, 4096 of 50,000 by 256", embedding()),
    ("embedding's gradient", embedding("gradient")),
    ("layer norm's gradient, 4096×512", norm_gradient(-1, (4096, 512))),
    ("batch norm's gradient, 32×28²×64", norm_gradient((0, 1, 2), (32, 28, 28, 64))),
    ("group norm's gradient, 32×28²×8×8", norm_gradient((1, 2, 4), (32, 28, 28, 8, 8))),
    ("segment_sum, 1e6 to 1000", segment_sum()),
    ("segment_sum, 1e5×32 to 1000", segment_sum(100_000, 1000, 32)),
    *((f"{name}, 1e4 of {n}×{n}", of_matrices(name, *SMALL, n, n)) for name in ("solve", "inv", "det") for n in (3, 8)),
    *((f"{name}, 1e4 of {n}×{n}", of_matrices(name, *SMALL, n, n, symmetric=True)) for name in ("cholesky", "eigh") for n in (3, 8)),
    ("cholesky, 1000²", of_matrices("cholesky", 1000, 1000, symmetric=True)),
    ("solve, 1000²", of_matrices("solve", 1000, 1000)),
    ("qr, 500²", of_matrices("qr", 500, 500)),
    ("eigh, 300²", of_matrices("eigh", 300, 300, symmetric=True)),
    ("svd, 300²", of_matrices("svd", 300, 300)),
    ("centred Gram matrix, 1000×500", gram),
    ("matvec, 4096²", matvec),
    ("matmul of bfloat16, 512", half_matmul("bfloat16", 512)),
    ("matmul of float16, 512", half_matmul("float16", 512)),
    ("sort, 1e6", of_values(lambda side, x: side.jnp.sort(x), 1_000_000)),
    ("sort of int32, 1e6", of_values(lambda side, x: side.jnp.sort(x), 1_000_000, make=codes)),
    ("sort of rows, 1000×1000", of_values(lambda side, x: side.jnp.sort(x), 1000, 1000)),
    ("sort of columns, 1000×1000", of_values(lambda side, x: side.jnp.sort(x, axis=0), 1000, 1000)),
    ("argsort, 1e6", of_values(lambda side, x: side.jnp.argsort(x), 1_000_000)),
    ("argsort of rows, 1000×1000", of_values(lambda side, x: side.jnp.argsort(x), 1000, 1000)),
    ("top_k, 10 of 64×10,000", of_values(lambda side, x: side.jax.lax.top_k(x, 10), 64, 10_000)),
    ("top_k, 100 of 1e6", of_values(lambda side, x: side.jax.lax.top_k(x, 100), 1_000_000)),
    ("median, 1e6", of_values(lambda side, x: side.jnp.median(x), 1_000_000)),
    ("unique, 1e6 of 1000", of_values(lambda side, x: side.jnp.unique(x, size=1000), 1_000_000, make=few_codes)),
    ("searchsorted, 1e5 in 1e5", searchsorted),
    ("cumsum, 1e6", of_values(lambda side, x: side.jnp.cumsum(x), 1_000_000)),
    ("argmax of rows, 1000×1000", of_values(lambda side, x: side.jnp.argmax(x, axis=1), 1000, 1000)),
    ("bincount, 1e6 of 1000", of_values(lambda side, x: side.jnp.bincount(x, length=1000), 1_000_000, make=few_codes)),
    ("gather, 1e6 of 1e6", gather),
    ("scatter-add, 1e6 into 1e6", scatter_add),
    ("fft, 1e6", fourier("fft", 1_000_000)),
    ("fft, 1000×1024", fourier("fft", 1000, 1024)),
    ("rfft, 1000×1024", fourier("rfft", 1000, 1024, complex_input=False)),
    ("fft2, 1024²", fourier("fft2", 1024, 1024)),
    ("fftn, 64³", fourier("fftn", 64, 64, 64)),
    ("uniform, 1e6", drawn("uniform")),
    ("normal, 1e6", drawn("normal")),
    ("bernoulli, 1e6", drawn("bernoulli", 0.3)),
    ("exponential, 1e6", drawn("exponential")),
    ("randint, 1e6", lambda side: ((lambda key: side.jax.random.randint(key, (1_000_000,), 0, 1000)), [side.jax.random.key(0)])),
    ("gamma, 1e4", drawn("gamma", 2.5, n=10_000)),
    ("poisson, 1e4", drawn("poisson", 4.0, n=10_000)),
    ("permutation, 1e6", shuffled),
    ("associative_scan of sums, 1e6", prefix(lambda side: side.jnp.add, 1_000_000)),
    ("associative_scan of 100 products of 32×32", prefix(lambda side: side.jnp.matmul, 100, 32, 32)),
    ("associative_scan of a linear recurrence, 1e4×64", linear_recurrence),
    ("lax.map, 1000 of 64×64 by 64", mapped),
]
DOUBLE = [
    ("matmul, 512", half_matmul(np.float32, 512)),
    ("3×3 of ResNet-18, 8×28²×128", convolution(8, (28, 28), 128, 128, 3)),
    ("softmax, 512×2048", lambda side: (side.jax.nn.softmax, [normal(side, 512, 2048)])),
    ("exp, sin and log, 1e6", lambda side: ((lambda x: side.jnp.exp(x) + side.jnp.sin(x) + side.jnp.log(x * x)), [normal(side, 1_000_000)])),
    ("sort, 1e6", of_values(lambda side, x: side.jnp.sort(x), 1_000_000)),
    ("cholesky, 500²", of_matrices("cholesky", 500, 500, symmetric=True)),
    ("eigh, 300²", of_matrices("eigh", 300, 300, symmetric=True)),
    ("fft, 1000×1024", lambda side: (lambda x: side.jnp.fft.fft(x), [normal(side, 1000, 1024)])),
]

# What is chaotic, has free signs, or draws by another algorithm is timed only.
TIMED = ("eigh", "svd", "qr", "gamma", "poisson", "bfloat16", "float16", "permutation")


def kind(title):
    return "timed" if any(word in title for word in TIMED) else "value"


DAY = [
    *(Row(f"day: {title}", "≤ 1.0", "s", compiled(program), kind(title), 1.0) for title, program in ROWS),
    *(Row(f"day: float64 {title}", "≤ 1.0", "s", in_double(program), kind(title), 1.0) for title, program in DOUBLE),
]
