"""Traces that Python code defines: `core.Trace`, `core.Tracer` and `Primitive.bind_with_trace`."""

import gc
import weakref

import numpy as np
import pytest

import pullback
import pullback.extend.core
import pullback.numpy


def interpreter(system, slots):
    """A transformation of `system` that lists the primitives that a function performs."""
    core, extend = system.core, system.extend.core

    class Tracer(core.Tracer):
        if slots:
            __slots__ = ["val"]

        def __init__(self, trace, val):
            super().__init__(trace, system.typeof(val))
            self.val = val

    class Listing(core.Trace):
        def __init__(self, parent, seen):
            super().__init__()
            self.parent, self.seen = parent, seen

        def value(self, tracer):
            return tracer.val if isinstance(tracer, Tracer) and tracer._trace is self else tracer

        def process_primitive(self, primitive, tracers, params):
            self.seen.append(str(primitive))
            vals = [self.value(tracer) for tracer in tracers]
            out = primitive.bind_with_trace(self.parent, vals, [system.typeof(val) for val in vals], params)
            return [Tracer(self, val) for val in out] if primitive.multiple_results else Tracer(self, out)

        def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
            return self.inside("custom_jvp", fun, tracers)

        def process_custom_vjp_call(self, primitive, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros):
            return self.inside("custom_vjp", fun, tracers)

        def inside(self, name, fun, tracers):
            self.seen.append(name)
            with extend.set_current_trace(self):
                return fun.call_wrapped(*tracers)

    def listing(fun):
        def listed(*args):
            with extend.take_current_trace() as parent:
                trace = Listing(parent, listed.seen)
                with extend.set_current_trace(trace):
                    out = fun(*(Tracer(trace, arg) for arg in args))
                return system.tree.map(trace.value, out)

        listed.seen = []
        return listed

    listing.Tracer, listing.Trace = Tracer, Listing
    return listing


def doubled_rule(jax):
    @jax.custom_vjp
    def f(v):
        return v * 3

    f.defvjp(lambda v: (v * 3, None), lambda _, g: (g * 3,))
    return f


# A function of the system and the transformation that gives the function to call with a vector.
PROGRAMS = {
    "an operation": lambda jax, listing: listing(jax.numpy.sin),
    "operators": lambda jax, listing: listing(lambda v: (v * 2 + 1)[1:]),
    "jit inside": lambda jax, listing: listing(jax.jit(lambda v: v * 2 + 1)),
    "jit inside that closes over a tracer": lambda jax, listing: listing(lambda v: jax.jit(lambda w: w * v + v)(v)),
    "jit around": lambda jax, listing: jax.jit(listing(lambda v: v * 2)),
    "grad inside": lambda jax, listing: listing(jax.grad(lambda v: (v**2).sum())),
    "grad around": lambda jax, listing: jax.grad(listing(lambda v: (v * v).sum())),
    "vmap inside": lambda jax, listing: listing(jax.vmap(lambda v: v * v)),
    "vmap around": lambda jax, listing: jax.vmap(listing(lambda v: v * v)),
    "one in another": lambda jax, listing: listing(listing(lambda v: v * v)),
    "scan": lambda jax, listing: listing(lambda v: jax.lax.scan(lambda c, t: (c + t, c), v[0], v)),
    "cond": lambda jax, listing: listing(lambda v: jax.lax.cond(v[0] > 1, lambda u: u, lambda u: u * 2, v)),
    "a rule for jvp": lambda jax, listing: listing(jax.nn.relu),
    "a rule for vjp": lambda jax, listing: listing(doubled_rule(jax)),
    "a tree of results": lambda jax, listing: listing(lambda v: {"sum": v.sum(), "v": [v]}),
    "what does not depend on it": lambda jax, listing: listing(lambda v: jax.numpy.zeros(2)),
}


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_trace_of_python_gives_the_values_that_it_gives_in_jax(name, slots, jax_oracle):
    def answer(system):
        __import__(f"{system.__name__}.extend.core")
        out = PROGRAMS[name](system, interpreter(system, slots))(system.numpy.arange(3.0))
        return [np.asarray(leaf).tolist() for leaf in system.tree.leaves(out)]

    np.testing.assert_allclose(np.concatenate([np.ravel(leaf) for leaf in answer(pullback)]),
                               np.concatenate([np.ravel(leaf) for leaf in answer(jax_oracle)]), rtol=1e-6)  # fmt: skip


def test_each_primitive_is_processed():
    listing = interpreter(pullback, False)
    f = listing(lambda v: pullback.jit(lambda w: w + v)(v * v))
    f(pullback.numpy.arange(3.0))
    assert f.seen == ["mul", "jit"]
    relu = listing(pullback.nn.relu)
    relu(pullback.numpy.arange(3.0))
    assert "custom_jvp" in relu.seen or "jit" in relu.seen


def test_a_tracer_of_python_is_an_array_to_look_at():
    listing = interpreter(pullback, True)
    with pullback.extend.core.take_current_trace() as parent:
        trace = listing.Trace(parent, [])
        tracer = listing.Tracer(trace, pullback.numpy.ones((2, 3)))
    assert (tracer.shape, str(tracer.dtype), tracer.ndim) == ((2, 3), "float32", 2)
    assert isinstance(tracer, pullback.Array) and isinstance(tracer, pullback.core.Tracer)
    assert tracer._trace is trace
    assert str(pullback.typeof(tracer)) == "float32[2,3]"
    with pytest.raises(pullback.errors.UnexpectedTracerError):
        _ = tracer + 1
    with pytest.raises(pullback.errors.TracerArrayConversionError):
        np.asarray(tracer)


def test_tracers_of_python_are_freed():
    listing, x = interpreter(pullback, False), pullback.numpy.ones(3)
    with pullback.extend.core.take_current_trace() as parent:
        trace = listing.Trace(parent, [])
        with pullback.extend.core.set_current_trace(trace):
            tracer = listing.Tracer(trace, x)
            out = pullback.jit(lambda v: v + tracer)(tracer)
    gone = weakref.ref(tracer), weakref.ref(out)
    del tracer, out
    gc.collect()
    assert [one() for one in gone] == [None, None]


def test_what_is_no_trace_is_refused():
    with pytest.raises(TypeError, match="expected a trace, got 3"), pullback.extend.core.set_current_trace(3):
        pass
    with pytest.raises(TypeError, match="needs a trace of a subclass"):
        interpreter(pullback, False).Tracer(3, 1.0)


def test_a_trace_without_a_rule_says_so():
    class Bare(pullback.core.Trace):
        pass

    with pytest.raises(NotImplementedError, match="Bare must define process_primitive"):
        with pullback.extend.core.set_current_trace(Bare()):
            pullback.numpy.sin(1.0)
