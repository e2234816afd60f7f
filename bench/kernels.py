"""Rows that time compiled programs: fused kernels, loops, contractions, one step of small models; and their compilation."""

import time

import numpy as np

from row import Row


def numbers(side, *shape, low=0.1, high=1.0, seed=0):
    """Uniform float32 numbers, the same on both sides."""
    return side.jnp.asarray(np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32))


def compiled(program):
    """A maker that times one call of ``program(side)``, a pair of function and arguments, compiled before."""

    def make(side):
        function, args = program(side)
        run = side.jax.jit(function).lower(*args).compile()
        return lambda: side.jax.block_until_ready(run(*args))

    return make


def compiling(program):
    """A maker that times lowering and compiling of a new, already traced function."""

    def make(side):
        def lower_and_compile():
            function, args = program(side)
            traced = side.jax.jit(lambda *args: function(*args)).trace(*args)
            start = time.perf_counter()
            traced.lower().compile()
            return time.perf_counter() - start

        return lower_and_compile

    return make


# --- elementwise ------------------------------------------------------------------------------------------------------


def black_scholes(side, n=1_000_000):
    jnp, erf = side.jnp, side.jax.lax.erf

    def price(spot, strike, years):
        rate, vol = 0.03, 0.2
        cdf = lambda x: 0.5 * (1.0 + erf(x * 0.7071067811865476))
        root = vol * jnp.sqrt(years)
        d1 = (jnp.log(spot / strike) + (rate + 0.5 * vol * vol) * years) / root
        return spot * cdf(d1) - strike * jnp.exp(-rate * years) * cdf(d1 - root)

    return price, [numbers(side, n, seed=seed) for seed in range(3)]


def gelu(n):
    return lambda side: (side.jax.nn.gelu, [numbers(side, n, low=-3.0, high=3.0)])


def chain(n):
    def program(side):
        jnp = side.jnp
        return lambda x, y: jnp.tanh(jnp.maximum(x * y + 0.5, 0.1) - y) * x + jnp.sqrt(y) * 2.0, [numbers(side, n), numbers(side, n, seed=1)]

    return program


def adam(side, n=1_000_000):
    jnp = side.jnp

    def update(p, m, v, g):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        return p - 1e-3 * (m / 0.1) / (jnp.sqrt(v / 0.001) + 1e-8), m, v

    return update, [numbers(side, n, seed=seed) for seed in range(4)]


# --- reductions and movement ------------------------------------------------------------------------------------------


def softmax(side):
    return lambda x: side.jax.nn.softmax(x, axis=-1), [numbers(side, 512, 2048)]


def layernorm(side):
    def norm(x, scale, shift):
        mean = x.mean(-1, keepdims=True)
        centred = x - mean
        return centred * side.jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + shift

    return norm, [numbers(side, 4096, 512), numbers(side, 512), numbers(side, 512, seed=1)]


def logsumexp(side):
    return lambda x: side.jax.nn.logsumexp(x, axis=-1), [numbers(side, 2048, 1024)]


def summed(axis):
    return lambda side: (lambda x: x.sum(axis), [numbers(side, 4096, 4096)])


def transposed(side):
    return lambda x: x.T + 1.0, [numbers(side, 4096, 4096)]


def n_body(side):
    jnp = side.jnp

    def forces(x):
        apart = x[None] - x[:, None]
        return (apart * ((apart**2).sum(-1) + 1e-3)[..., None] ** -1.5).sum(1)

    return forces, [numbers(side, 512, 3)]


# --- loops ------------------------------------------------------------------------------------------------------------


def lorenz(side):
    jnp, lax = side.jnp, side.jax.lax

    def step(state, _):
        x, y, z = state
        return (x + 0.01 * 10.0 * (y - x), y + 0.01 * (x * (28.0 - z) - y), z + 0.01 * (x * y - 8 / 3 * z)), None

    return lambda x: lax.scan(step, (x, x, x), None, length=100_000)[0], [numbers(side)]


def rnn(side, steps=64, batch=32, width=64):
    jnp, lax = side.jnp, side.jax.lax

    def loss(w, u, xs):
        def step(h, x):
            h = jnp.tanh(h @ w + x @ u)
            return h, None

        return (lax.scan(step, jnp.zeros((batch, width)), xs)[0] ** 2).mean()

    args = [numbers(side, width, width, low=-0.2, high=0.2), numbers(side, width, width, low=-0.2, high=0.2, seed=1), numbers(side, steps, batch, width, seed=2)]
    return side.jax.grad(loss, argnums=(0, 1)), args


def mandelbrot(side, n=256):
    jnp, lax = side.jnp, side.jax.lax

    def count(re, im):
        def body(state):
            i, x, y, counts = state
            x, y = jnp.where(x * x + y * y < 4.0, x * x - y * y + re, x), jnp.where(x * x + y * y < 4.0, 2.0 * x * y + im, y)
            return i + 1, x, y, counts + (x * x + y * y < 4.0)

        zero = jnp.zeros_like(re)
        return lax.while_loop(lambda state: state[0] < 50, body, (0, zero, zero, jnp.zeros(re.shape, jnp.int32)))[3]

    re, im = np.meshgrid(np.linspace(-2, 0.5, n, dtype=np.float32), np.linspace(-1.2, 1.2, n, dtype=np.float32))
    return count, [side.jnp.asarray(re), side.jnp.asarray(im)]


def runge_kutta(side, batch=4096, steps=100):
    jnp, lax = side.jnp, side.jax.lax

    def field(s):
        return jnp.stack([s[1], -jnp.sin(s[0])])

    def solve(s):
        def step(_, s, h=0.01):
            k1 = field(s)
            k2 = field(s + 0.5 * h * k1)
            k3 = field(s + 0.5 * h * k2)
            k4 = field(s + h * k3)
            return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        return lax.fori_loop(0, steps, step, s)

    return side.jax.vmap(solve), [numbers(side, batch, 2)]


def jacobi(side, n=256, sweeps=100):
    lax = side.jax.lax

    def solve(u):
        def sweep(_, u):
            inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
            return u.at[1:-1, 1:-1].set(inner)

        return lax.fori_loop(0, sweeps, sweep, u)

    return solve, [numbers(side, n, n)]


# --- contractions and models ------------------------------------------------------------------------------------------


def matmul(n):
    return lambda side: (lambda x, y: x @ y, [numbers(side, n, n), numbers(side, n, n, seed=1)])


def batched_matmul(side):
    return lambda x, y: x @ y, [numbers(side, 64, 128, 128), numbers(side, 64, 128, 128, seed=1)]


def attention(side):
    jnp, jax = side.jnp, side.jax

    def attend(q, k, v):
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 8.0
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)

    return attend, [numbers(side, 4, 128, 8, 64, seed=seed) for seed in range(3)]


def mlp_step(side, width=256, batch=128):
    jax, jnp = side.jax, side.jnp

    def loss(params, x, y):
        for w, b in params[:-1]:
            x = jax.nn.relu(x @ w + b)
        w, b = params[-1]
        return ((x @ w + b - y) ** 2).mean()

    def step(params, x, y):
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))

    params = [(numbers(side, width, width, low=-0.1, high=0.1, seed=i), numbers(side, width, seed=i)) for i in range(4)]
    return step, [params, numbers(side, batch, width), numbers(side, batch, width, seed=1)]


def cnn_step(side, batch=32, pixels=28, channels=(8, 16), classes=10):
    """One step of stochastic gradient descent on images of the size of MNIST's."""
    jax, jnp, lax = side.jax, side.jnp, side.jax.lax

    def pooled(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(params, images, labels):
        x = images
        for kernel, bias in params["convolutions"]:
            x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = pooled(jax.nn.relu(x + bias))
        weights, bias = params["dense"]
        scores = jax.nn.log_softmax(x.reshape(batch, -1) @ weights + bias)
        return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()

    def step(params, images, labels):
        value, gradients = jax.value_and_grad(loss)(params, images, labels)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)

    def small(*shape, seed):
        return numbers(side, *shape, low=-0.1, high=0.1, seed=seed)

    kernels = [(3, 3, n_in, n_out) for n_in, n_out in zip((1, *channels), channels)]
    features = (pixels // 4) ** 2 * channels[-1]
    params = {
        "convolutions": [(small(*shape, seed=i), small(shape[-1], seed=i)) for i, shape in enumerate(kernels)],
        "dense": (small(features, classes, seed=7), small(classes, seed=8)),
    }
    labels = side.jnp.asarray(np.arange(batch, dtype=np.int32) % classes)
    return step, [params, numbers(side, batch, pixels, pixels, 1), labels]


def transformer_loss(side, layers, width, heads):
    """The loss of a decoder-like stack, written with arrays alone."""
    jax, jnp = side.jax, side.jnp

    def norm(x):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)

    def block(p, x):
        batch, length, _ = x.shape
        split = lambda y: y.reshape(batch, length, heads, width // heads)
        q, k, v = (split(norm(x) @ p[name]) for name in ("q", "k", "v"))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v).reshape(x.shape)
        x = x + mixed @ p["o"]
        return x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]

    def loss(params, x):
        for p in params:
            x = block(p, x)
        return (norm(x) ** 2 * x).mean()

    def matrix(rows, columns, seed):
        return numbers(side, rows, columns, low=-0.1, high=0.1, seed=seed)

    params = [
        {**{name: matrix(width, width, i) for name in "qkvo"}, "up": matrix(width, 4 * width, i), "down": matrix(4 * width, width, i)}
        for i in range(layers)
    ]
    return loss, params


def transformer(layers, width=128, heads=4, batch=4, length=64):
    def program(side):
        loss, params = transformer_loss(side, layers, width, heads)
        return side.jax.grad(loss), [params, numbers(side, batch, length, width)]

    return program


def per_example_gradients(side, width=64, batch=256):
    jax, jnp = side.jax, side.jnp

    def loss(w, x):
        return (jnp.tanh(jnp.tanh(x @ w) @ w) ** 2).sum()

    return jax.vmap(jax.grad(loss), in_axes=(None, 0)), [numbers(side, width, width, low=-0.1, high=0.1), numbers(side, batch, width)]


FASTER, EVEN = 0.8, 1.0
RUNS = [
    ("Black-Scholes, 1e6", black_scholes, FASTER),
    ("gelu, 1e4", gelu(10_000), FASTER),
    ("gelu, 1e7", gelu(10_000_000), FASTER),
    ("softmax, 512×2048", softmax, FASTER),
    ("layernorm, 4096×512", layernorm, FASTER),
    ("logsumexp, 2048×1024", logsumexp, FASTER),
    ("chain of 8 operations, 1e4", chain(10_000), FASTER),
    ("chain of 8 operations, 1e7", chain(10_000_000), FASTER),
    ("sum over rows, 4096²", summed(0), FASTER),
    ("sum over columns, 4096²", summed(1), FASTER),
    ("transpose and add, 4096²", transposed, FASTER),
    ("N-body forces, 512", n_body, FASTER),
    ("Adam, 1e6", adam, FASTER),
    ("gradient of an RNN scan, 64 steps", rnn, EVEN),
    ("Mandelbrot by while_loop, 256²", mandelbrot, EVEN),
    ("vmapped Runge-Kutta, 4096 × 100 steps", runge_kutta, EVEN),
    ("Jacobi sweeps by `.at[].set`, 256² × 100", jacobi, EVEN),
    *((f"matmul, {n}", matmul(n), EVEN) for n in (32, 128, 512, 2048)),
    ("batched matmul, 64 × 128²", batched_matmul, EVEN),
    ("attention by einsum, 4×128×8×64", attention, EVEN),
    ("one step of an MLP", mlp_step, EVEN),
    ("one step of a CNN", cnn_step, EVEN),
    ("gradient of a 2-layer transformer", transformer(2), EVEN),
    ("per-example gradients, 256", per_example_gradients, EVEN),
]
COMPILES = [
    ("gradient of a 12-layer transformer", transformer(12)),
    ("Black-Scholes", black_scholes),
    ("gradient of an RNN scan", rnn),
    ("one step of a CNN", cnn_step),
]

KERNELS = [
    *(Row(f"run: {title}", f"≤ {limit}", "s", compiled(program), "value", limit) for title, program, limit in RUNS),
    # Chaotic: the smallest difference in rounding grows to another orbit, so only the time is compared.
    Row("run: Lorenz scan, 1e5 steps", f"≤ {EVEN}", "s", compiled(lorenz), "timed", EVEN),
    *(Row(f"lower and compile: {title}", "≤ 0.02", "s", compiling(program), "asked", 0.02) for title, program in COMPILES),
]
