"""The names of `named_scope` on each equation, through every transform, beside live JAX."""

import importlib

import pytest

import pullback
import pullback.numpy
import pullback.lax


def programs(jax, jnp, lax):
    """Functions and arguments whose jaxprs are read."""
    scope = jax.named_scope

    def f(x):
        with scope("layer"):
            y = jnp.sin(x)
            with scope("inner"):
                return jnp.cos(y) * y

    def out(f):
        def g(x):
            with scope("out"):
                return f(x)

        return g

    def loop(x):
        def body(c, _):
            with scope("step"):
                return f(c) * 2.0, None

        with scope("loop"):
            return lax.scan(body, x, None, length=3)[0]

    def branch(x):
        with scope("c"):
            return lax.cond(x > 0, f, lambda x: x * 2, x)

    def until(x):
        with scope("w"):
            return lax.while_loop(lambda c: c < 3.0, lambda c: f(c) + 1, x)

    @jax.custom_vjp
    def ruled(x):
        with scope("primal"):
            return jnp.sin(x)

    def forward(x):
        with scope("fwd"):
            return jnp.sin(x), x

    def backward(x, ct):
        with scope("bwd"):
            return (jnp.cos(x) * ct,)

    ruled.defvjp(forward, backward)
    called = jax.jit(f)
    x, xs = 1.0, jnp.ones(3)
    return {
        "plain": (f, x),
        "grad": (jax.grad(f), x),
        "grad inside": (out(jax.grad(f)), x),
        "grad around": (jax.grad(out(f)), x),
        "vmap": (jax.vmap(f), xs),
        "vmap inside": (out(jax.vmap(f)), xs),
        "vmap of grad": (jax.vmap(jax.grad(f)), xs),
        "grad of vmap": (jax.grad(lambda x: jax.vmap(f)(x).sum()), xs),
        "jvp": (lambda x: jax.jvp(f, (x,), (x,)), x),
        "jvp inside": (out(lambda x: jax.jvp(f, (x,), (x,))), x),
        "linearize": (lambda x: jax.linearize(f, x)[1](x), x),
        "pullback in a scope": (lambda x: (lambda y, back: out(back)(y))(*jax.vjp(f, x)), x),
        "jit": (out(called), x),
        "grad of jit": (jax.grad(out(called)), x),
        "vmap of jit": (jax.vmap(out(called)), xs),
        "scan": (loop, x),
        "grad of scan": (jax.grad(loop), x),
        "vmap of scan": (jax.vmap(loop), xs),
        "cond": (branch, x),
        "while": (until, x),
        "vmap of while": (jax.vmap(until), xs),
        "jvp of while": (lambda x: jax.jvp(until, (x,), (x,)), x),
        "custom_vjp": (out(ruled), x),
        "grad of custom_vjp": (jax.grad(out(ruled)), x),
        "named_call": (jax.named_call(f, name="call"), x),
        "decorator": (scope("decorator")(f), x),
        "forward over reverse": (lambda x: jax.jvp(jax.grad(f), (x,), (x,)), x),
    }


NAMES = list(programs(pullback, pullback.numpy, pullback.lax))


def stacks(jaxpr, depth=0):
    """The primitive and the names of each equation, indented inside of others."""
    for eqn in jaxpr.eqns:
        yield f"{'  ' * depth}{eqn.primitive.name}: {eqn.source_info.name_stack}"
        for param in eqn.params.values():
            for inner in param if isinstance(param, (tuple, list)) else [param]:
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from stacks(inner, depth + 1)


def all_stacks(jax, jnp, lax, name):
    function, argument = programs(jax, jnp, lax)[name]
    return "\n".join(stacks(jax.make_jaxpr(function)(argument).jaxpr))


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_jax(name, jax_oracle):
    wanted = all_stacks(jax_oracle, importlib.import_module("jax.numpy"), jax_oracle.lax, name)
    assert all_stacks(pullback, pullback.numpy, pullback.lax, name) == wanted


def test_names_end_with_their_block_also_by_an_exception():
    with pytest.raises(ZeroDivisionError), pullback.named_scope("a"):
        1 / 0
    assert not str(pullback.make_jaxpr(pullback.numpy.sin)(1.0).eqns[0].source_info.name_stack)


def test_printing_and_lowering_show_the_names():
    def f(x):
        with pullback.named_scope("layer"):
            return pullback.numpy.cos(pullback.numpy.sin(x) * 2)

    text = pullback.make_jaxpr(f)(1.0).pretty_print(name_stack=True)
    assert text.count("# [layer]") == 3
    assert len({line.index("#") for line in text.splitlines() if "#" in line}) == 1
    assert "test_name_stacks.py" in pullback.make_jaxpr(f)(1.0).pretty_print(source_info=True)
    assert 'loc("jit(f)/layer/sin"' in pullback.jit(f).lower(1.0).as_text(debug_info=True)
