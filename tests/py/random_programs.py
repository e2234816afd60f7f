"""Random programs of `lax` with loops, branches, calls and rules of users, for differential tests.

A program is data: a list of steps, each an operation with the positions of its operands among the values so far, and
inner lists for what holds functions. So it can be run by any system, printed, and shrunk. Values are small float32
vectors of three elements and stay bounded: every operation maps [-4, 4] into it.
"""

import random

UNARY = ["sin", "cos", "tanh", "neg", "abs", "logistic", "square_small", "rev", "cumsum_small", "mean", "floor", "stop"]
BINARY = ["add_small", "mul_small", "sub_small", "max", "min", "select", "dot_small"]
HOLDERS = ["jit", "checkpoint", "scan", "scan_reverse", "fori", "while", "cond", "switch", "vmap", "custom_jvp", "custom_vjp"]


def body(rng, n_values, depth, n_steps):
    """Steps over `n_values` values that are there, and the number of the result."""
    steps = []
    for _ in range(n_steps):
        steps.append(step(rng, n_values + len(steps), depth))
    return steps


def step(rng, n_values, depth):
    pick = lambda: rng.randrange(n_values)
    kind = rng.random()
    if depth > 0 and kind < 0.35:
        name = rng.choice(HOLDERS)
        n_inner = 2 if name in ("cond", "switch") else 1
        inner = [body(rng, n_values + 1, depth - 1, rng.randrange(1, 4)) for _ in range(n_inner + (name == "switch"))]
        return (name, [pick(), pick()], inner)
    if kind < 0.7:
        return (rng.choice(BINARY), [pick(), pick()], [])
    return (rng.choice(UNARY), [pick()], [])


def program(seed):
    """The program of a seed: over two inputs."""
    rng = random.Random(seed)
    return body(rng, 2, 2, rng.randrange(2, 7))


def simple(s, name, args):
    jnp, lax = s.numpy, s.lax
    x = args[0]
    match name:
        case "sin" | "cos" | "tanh" | "neg" | "abs" | "floor" | "logistic":
            return getattr(lax, name)(x)
        case "square_small":
            return 0.25 * x * x
        case "rev":
            return x[::-1]
        case "cumsum_small":
            return jnp.cumsum(x) / 3
        case "mean":
            return jnp.full(3, 1.0, jnp.float32) * x.mean()
        case "stop":
            return lax.stop_gradient(x)
        case "add_small":
            return 0.5 * (x + args[1])
        case "sub_small":
            return 0.5 * (x - args[1])
        case "mul_small":
            return 0.25 * x * args[1]
        case "max" | "min":
            return getattr(lax, name)(x, args[1])
        case "select":
            return jnp.where(x > args[1], x, -args[1])
        case "dot_small":
            return x * (jnp.dot(x, args[1]) / 16)
    raise AssertionError(name)


def holder(s, name, args, inner, values):
    """A call, loop or branch around inner programs, which see all values so far and one more."""
    lax, values = s.lax, list(values)
    run = lambda steps: lambda c: execute(s, steps, [*values, c])
    f = run(inner[0])
    x, y = args
    match name:
        case "jit":
            return s.jit(f)(x)
        case "checkpoint":
            return s.checkpoint(f)(x)
        case "scan" | "scan_reverse":
            xs = s.numpy.stack([y, 0.5 * y])
            step = lambda c, t: (0.5 * (f(c) + t), c)
            c, ys = lax.scan(step, x, xs, reverse=name == "scan_reverse")
            return 0.5 * (c + ys[0])
        case "fori":
            return lax.fori_loop(0, 2, lambda i, c: f(c), x)
        case "while":
            return lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1])), (0, x))[1]
        case "cond":
            return lax.cond(y[0] > 0.1, f, run(inner[1]), x)
        case "switch":
            index = lax.convert_element_type(lax.floor(y[1]), s.numpy.int32)
            return lax.switch(index, [f, run(inner[1]), run(inner[2])], x)
        case "vmap":
            return s.vmap(f)(s.numpy.stack([x, y])).sum(0) / 2
        case "custom_jvp":
            g = s.custom_jvp(lambda c, *rest: execute(s, inner[0], [*rest, c]))
            g.defjvp(lambda primals, tangents: (g(*primals), 0.5 * tangents[0]))
            return g(x, *values)
        case "custom_vjp":
            g = s.custom_vjp(lambda c, *rest: execute(s, inner[0], [*rest, c]))
            g.defvjp(lambda c, *rest: (g(c, *rest), len(rest)), lambda n, ct: (0.5 * ct, *[None] * len(values)))
            return g(x, *values)
    raise AssertionError(name)


def execute(s, steps, values):
    """The last value of a program."""
    values = list(values)
    for name, operands, inner in steps:
        args = [values[i] for i in operands]
        values.append(holder(s, name, args, inner, values) if inner else simple(s, name, args))
    return values[-1]


def names_in(steps):
    """Names of all operations, inner ones too."""
    return {name for name, _, inner in steps} | {name for _, _, parts in steps for part in parts for name in names_in(part)}


def smaller(steps):
    """Programs with one step less, or with a step replaced by what is inside it."""
    for i in range(len(steps) - 1, -1, -1):
        if len(steps) > 1 and i == len(steps) - 1:
            yield steps[:i]
        name, operands, inner = steps[i]
        if inner:
            yield [*steps[:i], ("sin", operands[:1], []), *steps[i + 1 :]]
            for k, part in enumerate(inner):
                for less in smaller(part):
                    yield [*steps[:i], (name, operands, [*inner[:k], less, *inner[k + 1 :]]), *steps[i + 1 :]]
        elif name != "sin":
            yield [*steps[:i], ("sin", operands[:1], []), *steps[i + 1 :]]


def shrink(steps, fails):
    """The smallest program found that still fails."""
    while True:
        for less in smaller(steps):
            if fails(less):
                steps = less
                break
        else:
            return steps
