"""Jaxprs as Python objects: read, interpreted equation by equation, built from parts, pruned."""

import functools
import inspect
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import core, lax
from pullback.api_util import argnums_partial, debug_info, flatten_fun, flatten_fun_nokwargs
from pullback.extend import core as jex_core, linear_util as lu
from pullback.interpreters import partial_eval as pe

sys.path.insert(0, str(Path(__file__).parent / "golden"))
from programs import PROGRAMS  # noqa: E402


def interpret(jaxpr, args):
    """What a library's interpreter does: reads every equation and binds its primitive again."""
    env = dict(zip(jaxpr.constvars, jaxpr.consts)) | dict(zip(jaxpr.invars, args))
    read = lambda atom: atom.val if isinstance(atom, core.Literal) else env[atom]
    for eqn in jaxpr.eqns:
        subfuns, params = eqn.primitive.get_bind_params(eqn.params)
        out = eqn.primitive.bind(*subfuns, *map(read, eqn.invars), **params)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out]))
    return [read(atom) for atom in jaxpr.outvars]


def struct(aval):
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)




@pytest.mark.parametrize("name", PROGRAMS)
def test_binding_every_equation_again_gives_the_same_jaxpr(name):
    jaxpr = PROGRAMS[name](jax)
    again = jax.make_jaxpr(lambda *args: interpret(jaxpr, args))(*map(struct, jaxpr.in_avals))
    assert [eqn.primitive for eqn in again.eqns] == [eqn.primitive for eqn in jaxpr.eqns]
    assert [str(aval) for aval in again.out_avals] == [str(aval) for aval in jaxpr.out_avals]
    for old, new in zip(jaxpr.eqns, again.eqns):
        assert old.params.keys() == new.params.keys()
        for key, value in old.params.items():
            assert str(new.params[key]) == str(value), (old.primitive, key)


def test_a_jaxpr_of_made_parts():
    aval = core.ShapedArray((3,), jnp.float32)
    x, y, z = core.Var(aval), core.Var(aval), core.Var(aval)
    eqns = [
        core.new_jaxpr_eqn([x], [y], lax.sin_p, {"accuracy": None}),
        core.new_jaxpr_eqn([y, core.Literal(np.float32(2))], [z], lax.mul_p, {}),
    ]
    jaxpr = core.Jaxpr([], [x], [z], eqns, core.no_effects)
    assert str(jaxpr).split() == "{ lambda ; a:f32[3]. let b:f32[3] = sin a; c:f32[3] = mul b 2.0:f32[] in (c,) }".split()
    (out,) = core.jaxpr_as_fun(jaxpr)(jnp.ones(3))
    np.testing.assert_allclose(out, 2 * np.sin(np.ones(3, np.float32)), rtol=1e-6)
    assert str(eqns[1].replace(primitive=lax.add_p)).endswith("= add b 2.0:f32[]") or "add" in str(eqns[1].replace(primitive=lax.add_p))


BAD_PARTS = {
    "undefined": lambda x, y: core.Jaxpr([], [x], [y], []),
    "defined twice": lambda x, y: core.Jaxpr([], [x, x], [x], []),
    "no variable": lambda x, y: core.Jaxpr([], [1], [x], []),
    "parts missing": lambda x, y: core.Jaxpr([], [x]),
    "wrong consts": lambda x, y: core.ClosedJaxpr(core.Jaxpr([x], [], [x], []), []),
}


@pytest.mark.parametrize("name", BAD_PARTS)
def test_parts_that_do_not_fit_raise(name):
    aval = core.ShapedArray((), jnp.float32)
    with pytest.raises((TypeError, ValueError)):
        BAD_PARTS[name](core.Var(aval), core.Var(aval))


def test_open_and_closed_jaxprs_are_one_class():
    const = jnp.arange(3.0)
    closed = jax.make_jaxpr(lambda x: x + const)(const)
    assert closed.jaxpr is closed and core.ClosedJaxpr is core.Jaxpr
    rebuilt = core.ClosedJaxpr(core.Jaxpr(closed.constvars, closed.invars, closed.outvars, closed.eqns), closed.consts)
    assert str(rebuilt) == str(closed)
    np.testing.assert_array_equal(core.eval_jaxpr(closed, [2 * const], const)[0], 3 * const)
    gradient = jax.grad(lambda c: core.eval_jaxpr(closed, [c], const)[0].sum())(const)
    np.testing.assert_array_equal(gradient, np.ones(3))
    with pytest.raises(TypeError, match="takes 1 consts and 1 arguments, got 0 consts and 1 arguments"):
        core.eval_jaxpr(closed, [], const)


def test_unused_results_are_drop_vars():
    jaxpr = jax.make_jaxpr(lambda x: (jnp.sin(x), x + 1.0)[1])(1.0)
    kinds = [type(eqn.outvars[0]) for eqn in jaxpr.eqns]
    assert kinds == [core.DropVar, core.Var] and issubclass(core.DropVar, core.Var)
    assert repr(jaxpr.eqns[0].outvars[0]) == "_"


def test_vars_are_keys_and_literals_are_not():
    jaxpr = jax.make_jaxpr(lambda x: x * 2.0 + x)(1.0)
    assert jaxpr.eqns[0].outvars[0] == jaxpr.eqns[1].invars[0]
    assert {jaxpr.invars[0]: 1}[jaxpr.eqns[0].invars[0]] == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(jaxpr.eqns[0].invars[1])


def test_dce_keeps_what_is_wanted():
    jaxpr = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y)))(1.0, 2.0)
    lean, used = pe.dce_jaxpr(jaxpr, [False, True])
    assert used == [False, True] and [eqn.primitive.name for eqn in lean.eqns] == ["cos"]
    same, used = pe.dce_jaxpr(jaxpr, [False, True], instantiate=True)
    assert used == [True, True] and len(same.invars) == 2


def test_tracing_by_hand_through_wrapped_functions():
    def f(x, *, scale):
        return {"a": jnp.sin(x["b"]) * scale}

    leaves, tree = jax.tree.flatten((({"b": jnp.arange(2.0)},), {"scale": np.float32(3)}))
    flat, out_tree = flatten_fun(lu.wrap_init(f, debug_info=debug_info("test", f, (), {})), tree)
    jaxpr, out_avals, consts = pe.trace_to_jaxpr_dynamic(flat, [jax.typeof(leaf) for leaf in leaves])
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["sin", "mul"] and consts == []
    assert out_tree() == jax.tree.structure({"a": 0}) and str(out_avals[0]) == "float32[2]"

    flat, out_tree = flatten_fun_nokwargs(lu.wrap_init(lambda x, y: (x, [y])), jax.tree.structure((0, 0)))
    assert flat.call_wrapped(1, 2) == [1, 2] and out_tree() == jax.tree.structure((0, [0]))

    partial, args = argnums_partial(lu.wrap_init(lambda a, b, c: (a, b, c)), (0, 2), ("a", "b", "c"))
    assert args == ("a", "c") and partial.call_wrapped(1, 3) == (1, "b", 3)


def test_partial_evaluation_keeps_known_results_known():
    f = lu.wrap_init(lambda x, y: [x * 2, x + y])
    pvals = [pe.PartialVal.known(3.0), pe.PartialVal.unknown(core.ShapedArray((), jnp.float32))]
    jaxpr, outs, consts = pe.trace_to_jaxpr_nounits(f, pvals)
    assert outs[0].is_known() and outs[0].get_known() == 6.0 and not outs[1].is_known()
    assert len(jaxpr.eqns) == 1 and len(jaxpr.invars) == 1


def test_known_work_runs_at_once_inside_a_traced_function():
    @jax.jit
    def f(x):
        with jax.ensure_compile_time_eval():
            n = int(jnp.arange(3).sum())
        assert not core.trace_state_clean()
        return x * n

    assert f(2.0) == 6.0


def test_the_trace_state_is_equal_within_a_trace_only():
    states = [jex_core.get_opaque_trace_state()]
    jax.jit(lambda x: (states.append(jex_core.get_opaque_trace_state()), states.append(jex_core.get_opaque_trace_state())) and x)(1.0)
    assert states[0] == jex_core.get_opaque_trace_state() and states[1] == states[2] != states[0]


@pytest.mark.parametrize(
    ("size", "axis", "shape", "wanted"), [(2, 0, (3,), (2, 3)), (2, -1, (3,), (3, 2)), (2, None, (3,), (3,))]
)
def test_avals_with_and_without_an_axis(size, axis, shape, wanted):
    aval = core.ShapedArray(shape, jnp.float32)
    wide = core.unmapped_aval(size, axis, aval)
    assert wide.shape == wanted and core.mapped_aval(size, axis, wide) == aval


def kinds_in_evaluation(jax, jnp):
    """Which values inside `ensure_compile_time_eval` of a traced function are known."""
    known = {}

    @jax.jit
    def f(x):
        def note(name, value):
            known[name] = not isinstance(value, jax.core.Tracer)

        with jax.ensure_compile_time_eval():
            note("of a tracer", jnp.sin(x))
            note("of numbers", jnp.arange(3) + 1)
            note("of both", x + jnp.arange(3))
            note("jit of a tracer", jax.jit(lambda y: jnp.ones(2) * y)(x))
            note("grad of a closure", jax.grad(lambda y: y * x)(1.0))
            note("grad of numbers", jax.grad(lambda y: y * 3)(1.0))
            note("vmap of a closure", jax.vmap(lambda y: y * x)(jnp.ones(2)))
            note("cond on a tracer", jax.lax.cond(x > 0, lambda: 1, lambda: 2))
            result = jnp.sin(x) + jnp.arange(3)
        return result

    return known, f(2.0).tolist()


def test_evaluation_inside_a_trace_is_of_known_values_only(jax_oracle):
    assert kinds_in_evaluation(jax, jnp) == kinds_in_evaluation(jax_oracle, jax_oracle.numpy)


def test_traced_by_hand_a_function_brings_what_it_closes_over():
    def outer(a, b):
        f = lu.wrap_init(lambda x: [a * 2 + b, a.sum()], debug_info=debug_info("test", outer, (), {}))
        jaxpr, _, consts = pe.trace_to_jaxpr_dynamic(f, [core.ShapedArray((3,), jnp.float32)])
        lean, used = pe.dce_jaxpr(jaxpr, [True, False])
        assert used == [True, True, False] and len(consts) == 2
        return core.eval_jaxpr(lean, consts)

    for wrap in (lambda f: f, jax.jit):
        assert wrap(outer)(jnp.ones(3), jnp.arange(3.0))[0].tolist() == [2.0, 3.0, 4.0]


def _functions():
    def plain(a, b=1, *c, d=2, **e):
        return a

    def positional(a, /, b, *, c=3):
        return a

    @functools.wraps(positional)
    def wrapped(*args, **kwargs):
        return positional(*args, **kwargs)

    def signed(*args):
        return args[0]

    signed.__signature__ = inspect.signature(lambda g, h: 0)

    class Callable:
        def __call__(self, u):
            return u

        def method(self, z, y=1):
            return z

    one = Callable()
    return [
        (plain, (1.0, 2.0, 3.0), dict(d=5.0, x=6.0), ("a", "b", "c[0]", "d", "e['x']")),
        (positional, (1.0, 2.0), dict(c=1.0), ("a", "b", "c")),
        (wrapped, (1.0,), dict(b=1.0), ("a", "b")),
        (signed, (1.0, 2.0), {}, ("g", "h")),
        (one, (1.0,), {}, ("u",)),
        (one.method, (1.0,), dict(y=2.0), ("z", "y")),
        (lambda t, *r: t, (1.0, {"k": 2.0}), {}, ("t", "r[0]['k']")),
        (functools.partial(plain, 1.0), (2.0, 3.0), {}, ("b", "c[0]")),
    ]


@pytest.mark.parametrize("fun, args, kwargs, names", _functions())
def test_arguments_are_named_as_the_function_names_them(fun, args, kwargs, names, jax_oracle):
    for j in (jax, jax_oracle):
        assert tuple(j.make_jaxpr(fun)(*args, **kwargs).jaxpr.debug_info.arg_names) == names


def test_layouts_of_a_map_over_devices_are_the_user_s_objects(jax_oracle):
    def described(system):
        mesh = system.make_mesh((1,), ("x",), axis_types=(system.sharding.AxisType.Auto,), devices=system.devices()[:1])
        mapped = system.shard_map(lambda v: v * 2, mesh=mesh, in_specs=system.P("x"), out_specs=system.P(None, "x"))
        (eqn,) = system.make_jaxpr(mapped)(system.numpy.ones((2, 2))).eqns
        params = eqn.params
        again = eqn.primitive.bind(system.numpy.ones((2, 2)), **params) if system is jax else [mapped(system.numpy.ones((2, 2)))]
        kinds = {name: type(value).__name__ for name, value in params.items() if name != "jaxpr"}
        assert params["mesh"].axis_names == ("x",)
        return kinds, str(params["in_specs"]), str(params["out_specs"]), params["newly_manual_axes"], again[0].tolist()

    assert described(jax) == described(jax_oracle)


def test_every_primitive_of_the_reference_has_an_object(jax_oracle):
    from jax.extend.core import primitives as theirs

    from pullback.extend.core import primitives as ours

    for name in (name for name in dir(theirs) if name.endswith("_p")):
        assert getattr(ours, name).multiple_results == getattr(theirs, name).multiple_results, name


def test_avals_say_which_memory(jax_oracle):
    assert str(jax.typeof(1.0).memory_space) == str(jax_oracle.typeof(1.0).memory_space)
