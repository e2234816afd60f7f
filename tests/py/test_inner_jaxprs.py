"""Jaxprs made inside of a trace: tracers that their functions close over are consts, and Python interpreters run them."""

import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import lax


def interpreted(system, jaxpr, consts, *args):
    """An interpreter of jaxprs as libraries write them."""
    known = {}

    def read(atom):
        return atom.val if hasattr(atom, "val") else known[atom]

    known.update(zip(jaxpr.constvars, consts))
    known.update(zip(jaxpr.invars, args))
    for eqn in jaxpr.eqns:
        outs = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
        known.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    return [read(atom) for atom in jaxpr.outvars]



RUNS = {
    "eval_jaxpr": lambda j, closed, *args: j.core.eval_jaxpr(closed.jaxpr, closed.consts, *args),
    "jaxpr_as_fun": lambda j, closed, *args: j.core.jaxpr_as_fun(closed)(*args),
    "interpreter": lambda j, closed, *args: interpreted(j, closed.jaxpr, closed.consts, *args),
    "closed again": lambda j, closed, *args: j.core.eval_jaxpr(
        j.core.ClosedJaxpr(closed.jaxpr, closed.consts).jaxpr, closed.consts, *args),
}


def program(run):
    def outer(x):
        closed = jax.make_jaxpr(lambda y: y * x + jnp.array([1.0, 2.0, 4.0]) * x)(1.0)
        assert len(closed.consts) == len(closed.jaxpr.constvars) and len(closed.jaxpr.invars) == 1 and len(closed.in_avals) == 1
        return run(jax, closed, 2.0)[0].sum()

    return outer


@pytest.mark.parametrize("run", RUNS)
def test_a_jaxpr_closes_over_tracers(run):
    f = program(RUNS[run])
    # The sum of 2 x + c x over c = 1, 2, 4.
    assert f(3.0) == 39.0 and jax.jit(f)(3.0) == 39.0
    assert jax.grad(f)(3.0) == 13.0 and jax.jit(jax.grad(f))(3.0) == 13.0
    assert jax.vmap(f)(jnp.arange(2.0)).tolist() == [0.0, 13.0]
    assert jax.jvp(f, (3.0,), (1.0,)) == (39.0, 13.0)
    assert jax.grad(lambda x: lax.scan(lambda c, y: (c + f(x * y), None), 0.0, jnp.array([1.0, 2.0]))[0])(3.0) == 39.0


def test_the_jaxpr_of_a_traced_call_closes_over_tracers():
    def outer(x):
        closed = jax.jit(lambda y: y * x).trace(1.0).jaxpr
        assert len(closed.consts) == 1 and len(closed.jaxpr.invars) == 1
        return jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 2.0)[0]

    assert jax.jit(outer)(3.0) == 6.0 and jax.grad(outer)(3.0) == 2.0


def test_what_jax_gives(jax_oracle):
    shapes = []
    for system in (jax, jax_oracle):
        def outer(x):
            closed = system.make_jaxpr(lambda y, z: y * x + z)(1.0, system.numpy.ones(2))
            shapes.append((str(closed.jaxpr), [c.aval.str_short() if hasattr(c.aval, "str_short") else str(c.aval) for c in closed.consts][:0], len(closed.consts)))
            return x

        system.jit(outer)(3.0)
    assert shapes[0] == shapes[1]


def test_a_jaxpr_with_tracers_among_its_consts_is_no_parameter():
    def outer(x):
        closed = jax.make_jaxpr(lambda y: y * x)(1.0)
        call = next(eqn for eqn in jax.make_jaxpr(lambda y: jax.jit(lambda z: z * 2)(y))(1.0).eqns)
        return call.primitive.bind(2.0, **{**call.params, "jaxpr": closed})[0]

    with pytest.raises(TypeError, match="tracers among its consts"):
        jax.jit(outer)(3.0)


def test_consts_and_constvars_are_as_many():
    closed = jax.make_jaxpr(lambda y: y * jnp.array([1.0, 2.0, 4.0]))(1.0)
    with pytest.raises((TypeError, ValueError), match="constvars"):
        jax.core.ClosedJaxpr(closed.jaxpr, [1.0, 2.0, 3.0, 4.0])


def test_eval_shape_passes_descriptions_through():
    described = jax.ShapeDtypeStruct((2, 3), jnp.int8)
    assert jax.eval_shape(lambda x: {"a": described, "b": x * 2.0}, jnp.ones(4))["a"] == described
    huge = jax.ShapeDtypeStruct((2**20, 2**20), jnp.float32)
    assert jax.eval_shape(lambda: huge).shape == huge.shape
    with pytest.raises(TypeError):
        jax.jit(lambda x: described)(1.0)


def test_stop_gradient_of_an_integer_is_traced():
    assert str(jax.make_jaxpr(lax.stop_gradient)(3)) == "{ lambda ; a:i32[]. let b:i32[] = stop_gradient a in (b,) }"
    assert isinstance(jax.jit(lambda x: [lax.stop_gradient(x), x][0])(3), jax.Array)
