"""`jax.experimental.roofline` beside live JAX: counts of operations, of nested programs and of collectives."""

import dataclasses
import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")

X, K, V = np.ones((3, 4), "f"), np.ones((4, 5), "f"), np.ones((3,), "f")
IMAGE, KERNEL = np.ones((2, 4, 8, 8), "f"), np.ones((4, 4, 3, 3), "f")
ELEMENTWISE = "sin exp tanh log1p lgamma neg erf logistic floor sqrt rsqrt cbrt abs sign exp2 is_finite digamma asinh atan"
CASES = {
    **{name: (lambda j, x, name=name: getattr(j.lax, name)(x), X) for name in ELEMENTWISE.split()},
    "add": (lambda j, x: x + x, X), "constant": (lambda j, x: x + 1, X), "compare": (lambda j, x: (x > 0) & (x < 1), X),
    "power": (lambda j, x: x**3 + x**x, X), "quotient": (lambda j, x: x / (x + 2), X),
    "dot": (lambda j, x, k: x @ k, X, K), "dots": (lambda j, x, k: (j.numpy.tanh(x @ k) @ k.T).sum(), X, K),
    "batched": (lambda j, x: j.lax.dot_general(x, x, (((1,), (1,)), ((0,), (0,)))), X),
    "sum": (lambda j, x: x.sum(), X), "sum of rows": (lambda j, x: x.sum(0), X), "max": (lambda j, x: x.max() + x.argmin(), X),
    "moved": (lambda j, x: j.numpy.pad(j.numpy.concatenate([x.T, x.T]), 1)[1:].reshape(-1), X),
    "cumulative": (lambda j, x: (j.lax.cumsum(x), j.lax.cumprod(x, 1), j.lax.cumlogsumexp(x)), X),
    "selected": (lambda j, x: j.numpy.where(x > 0, x, -x), X), "indexed": (lambda j, x, i: x[i], X, np.array([0, 1])),
    "taken": (lambda j, x, i: j.numpy.take(x, i, axis=0), X, np.array([0, 1, 2])),
    "added at": (lambda j, x, i: x.at[i].add(1.0), X, np.array([0, 1])), "set at": (lambda j, x, i: x.at[i].set(1.0), X, np.array([0, 1])),
    "convolution": (lambda j, x, k: j.lax.conv(x, k, (1, 1), "SAME"), IMAGE, KERNEL),
    "strided": (lambda j, x, k: j.lax.conv(x, k, (2, 2), "VALID"), IMAGE, KERNEL),
    "grouped": (lambda j, x, k: j.lax.conv_general_dilated(x, k, (1, 1), "SAME", feature_group_count=2), IMAGE, KERNEL[:, :2]),
    "dilated": (lambda j, x, k: j.lax.conv_general_dilated(x, k, (1, 1), ((2, 2), (2, 2)), lhs_dilation=(2, 1), rhs_dilation=(2, 2)), IMAGE, KERNEL),
    "groups of batches": (lambda j, x, k: j.lax.conv_general_dilated(x, k, (1, 1), "SAME", batch_group_count=2), IMAGE, KERNEL),
    "compiled": (lambda j, x: j.jit(lambda y: j.numpy.sin(y) @ y.T)(x) + 1, X),
    "scan": (lambda j, x: j.lax.scan(lambda c, y: (c + y, c), j.numpy.zeros(4), x), X),
    "fori": (lambda j, x: j.lax.fori_loop(0, 3, lambda i, c: c * 2, x), X), "cond": (lambda j, x: j.lax.cond(True, j.numpy.sin, j.numpy.cos, x), X),
    "softmax": (lambda j, x: j.nn.softmax(x), X), "layer": (lambda j, x, k: j.nn.relu(x @ k).sum(), X, K), "unused": (lambda j, x, k: x + 1, X, K),
    "slope": (lambda j, x: j.grad(lambda y: (y @ y.T).sum())(x), X), "remat": (lambda j, x: j.checkpoint(j.numpy.sin)(x), X),
    "half": (lambda j, x: j.numpy.sin(x), np.ones(4, "float16")), "integers": (lambda j, x: x * 2, np.arange(4, dtype="int32")),
    "tree": (lambda j, x: {"a": x + x, "b": [j.numpy.sin(x)]}, X), "same": (lambda j, x: x, X), "both": (lambda j, x: j.numpy.sin(x) + j.numpy.cos(x), X),
}  # fmt: skip
MESHES = {"xy": ((4, 2), ("x", "y")), "x": ((8,), ("x",))}
# Of a case: the mesh, the function, the axes of the argument's and the result's rows.
COLLECTIVES = {
    "psum": ("xy", lambda j, a: j.lax.psum(a, "x"), "x", None), "psum of y": ("x", lambda j, a: j.lax.psum(a, "x"), "x", None),
    "psum of both": ("xy", lambda j, a: j.lax.psum(a, ("x", "y")), ("x", "y"), None), "pmax": ("xy", lambda j, a: j.lax.pmax(a, "x"), "x", None),
    "all_gather": ("xy", lambda j, a: j.lax.all_gather(a, "x"), "x", "x"), "all_gather tiled": ("x", lambda j, a: j.lax.all_gather(a, "x", tiled=True), "x", "x"),
    "scattered": ("xy", lambda j, a: j.lax.psum_scatter(a, "x"), "x", "x"), "exchanged": ("x", lambda j, a: j.lax.all_to_all(a, "x", 1, 1), "x", "x"),
    "permuted": ("x", lambda j, a: j.lax.ppermute(a, "x", [(0, 3), (1, 7)]), "x", "x"),
    "permuted over one link": ("x", lambda j, a: j.lax.ppermute(a, "x", [(0, 3), (1, 4), (2, 5)]), "x", "x"),
    "dot": ("xy", lambda j, a: j.lax.psum(a @ a.T, "y"), "x", "x"), "local": ("xy", lambda j, a: j.numpy.sin(a), "x", "x"),
}  # fmt: skip


def fields(result):
    """What a result says; the order of its axes is that of a set, which no run keeps."""
    return dataclasses.asdict(result)


def module(system):
    return importlib.import_module(f"{system.__name__}.experimental.roofline")


@pytest.mark.parametrize("name", CASES)
def test_counts_are_those_of_jax(name):
    function, *arguments = CASES[name]
    found, wanted = (module(system).roofline(lambda *args: function(system, *args))(*arguments) for system in (pullback, jax))
    assert str(found[1]) == str(wanted[1])
    assert [x.shape for x in pullback.tree.leaves(found[0])] == [x.shape for x in jax.tree.leaves(wanted[0])]


@pytest.mark.parametrize("name", COLLECTIVES)
def test_counts_of_collectives_are_those_of_jax(name):
    where, function, rows, out_rows = COLLECTIVES[name]

    def count(system):
        sizes, names = MESHES[where]
        mesh = system.sharding.AbstractMesh(sizes, names, axis_types=(system.sharding.AxisType.Auto,) * len(sizes))
        spec = system.sharding.PartitionSpec
        counted = module(system).roofline(lambda a: function(system, a), mesh=mesh, in_specs=spec(rows), out_specs=spec(out_rows))
        return fields(counted(system.ShapeDtypeStruct((16, 8), np.float32))[1])

    assert count(pullback) == count(jax)


def test_operands_that_are_near_are_not_moved():
    def counts(system):
        one = system.make_mesh((1,), ("x",), axis_types=(system.sharding.AxisType.Auto,))
        options = ({}, {"pin_lhs_in_vmem": True}, {"pin_rhs_in_vmem": True})
        return [str(module(system).roofline(lambda x, k: x @ k, one, system.P(), system.P(), **o)(X, K)[1]) for o in options]

    assert counts(pullback) == counts(jax)


def test_results_add_and_multiply():
    def results(system):
        result = module(system).RooflineResult
        one, two = result(flops=1, ici_bytes={"x": 2}, peak_hbm_bytes=5), result(flops=1, ici_bytes={"x": 3, "y": 1}, peak_hbm_bytes=4)
        return fields(one + two), fields(one.zeros()), fields(result(flops=3, hbm_bytes=2) * 2)

    assert results(pullback) == results(jax)


def test_rules_can_be_set():
    prim = pullback.extend.core.Primitive("counted")
    prim.def_abstract_eval(lambda x: x)
    module(pullback).register_roofline(prim)(lambda ctx, x: module(pullback).RooflineResult(flops=7 * x.size))
    assert module(pullback).roofline(prim.bind)(X)[1].flops == 84
