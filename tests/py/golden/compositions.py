"""Transformations applied to transformations: what `compositions.json` records of JAX 0.12 and the test compares.

Each entry of `TRANSFORMS` takes a system and a function from a tree of arrays to a tree of the same structure and types,
and gives another such function; so any number of them compose, in any order. `FUNCTIONS` gives the innermost function
and its argument.
"""

import itertools


def total(system, tree):
    """The sum of all elements."""
    leaves = system.tree.leaves(tree)
    result = leaves[0].sum()
    for leaf in leaves[1:]:
        result = result + leaf.sum()
    return result


def like(system, tree, pattern):
    """`tree` with the dtypes of `pattern`, strongly typed where it is."""
    return system.tree.map(lambda y, x: system.lax.convert_element_type(y, x.dtype), tree, pattern)


def jit(system, f):
    return system.jit(f)


def grad(system, f):
    return system.grad(lambda x: total(system, f(x)))


def jvp(system, f):
    return lambda x: system.jvp(f, (x,), (system.tree.map(system.numpy.cos, x),))[1]


def vmap(system, f):
    def mapped(x):
        pair = system.tree.map(lambda a: system.numpy.stack([a, 0.5 * a]), x)
        return system.tree.map(lambda y: y.sum(0), system.vmap(f)(pair))

    return mapped


def linearize_transpose(system, f):
    def pulled(x):
        out, push = system.linearize(f, x)
        return system.linear_transpose(push, x)(out)[0]

    return pulled


def checkpoint(system, f):
    return system.checkpoint(f)


def scan(system, f):
    def scanned(x):
        step = lambda c, t: (like(system, system.tree.map(lambda y: t * y, f(c)), x), total(system, c))
        carry, ys = system.lax.scan(step, x, system.numpy.array([0.5, 0.75]))
        return system.tree.map(lambda c: c + ys.sum(), carry)

    return scanned


def cond(system, f):
    def chosen(x):
        half = lambda x: system.tree.map(lambda a: 0.5 * a, x)
        return system.lax.cond(total(system, x) > 0.5, lambda x: like(system, f(x), x), half, x)

    return chosen


def while_loop(system, f):
    def looped(x):
        body = lambda c: (c[0] + 1, like(system, f(c[1]), x))
        return system.lax.while_loop(lambda c: c[0] < 2, body, (0, x))[1]

    return looped


def custom_jvp(system, f):
    """Its rule gives twice the derivative, so that its use shows."""
    g = system.custom_jvp(f)

    @g.defjvp
    def rule(primals, tangents):
        out, dot = system.jvp(f, primals, tangents)
        return out, system.tree.map(lambda t: 2 * t, dot)

    return g


def custom_vjp(system, f):
    """Its rule gives three times the derivative."""
    g = system.custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, ct: (system.tree.map(lambda t: 3 * t, system.vjp(f, x)[1](ct)[0]),))
    return g


TRANSFORMS = {
    "jit": jit, "grad": grad, "jvp": jvp, "vmap": vmap, "linearize_transpose": linearize_transpose,
    "checkpoint": checkpoint, "scan": scan, "cond": cond, "while": while_loop, "custom_jvp": custom_jvp,
    "custom_vjp": custom_vjp,
}  # fmt: skip


def vector(system):
    return system.numpy.array([0.5, -0.25, 1.5])


def matrix(system):
    return system.numpy.array([[0.5, -0.2, 0.1], [0.3, 0.4, -0.6], [-0.1, 0.2, 0.7]])


FUNCTIONS = {
    "elementwise": lambda s: (lambda x: s.numpy.sin(x) * x, vector(s)),
    "matmul": lambda s: (lambda x: s.numpy.tanh(matrix(s) @ x), vector(s)),
    "reduction": lambda s: (lambda x: x / (1 + (x * x).sum()), vector(s)),
    "selection": lambda s: (lambda x: s.numpy.where(x > 0, x**2, s.numpy.exp(x) - x), vector(s)),
    "weak scalar": lambda s: (lambda x: 2.0 * s.numpy.sin(x) + x * x, s.numpy.asarray(0.75)),
    "tree": lambda s: (
        lambda p: {"a": p["a"] * s.numpy.cos(p["b"]), "b": 0.5 * p["b"] * p["a"][0] + 0.25 * p["a"].sum()},
        {"a": s.numpy.array([0.5, 1.25]), "b": s.numpy.float32(0.75)},
    ),
    "indexing": lambda s: (lambda x: x.at[1].set(x[0] * x[2])[::-1] + s.numpy.cumsum(x), vector(s)),
}


def cases(depth=3):
    """Names of a function and of the transformations over it, the innermost first."""
    for function in FUNCTIONS:
        for names in itertools.product(TRANSFORMS, repeat=depth):
            yield function, names


def program(system, function, names):
    """The composed function and its argument."""
    f, x = FUNCTIONS[function](system)
    for name in names:
        f = TRANSFORMS[name](system, f)
    return f, x
