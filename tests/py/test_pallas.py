"""`jax.experimental.pallas` interpreted, beside live JAX: grids, blocks, accumulation, scratch memory, control flow, errors."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")
X = np.arange(24, dtype="f").reshape(4, 6)
K = np.random.default_rng(0).normal(size=(6, 8)).astype("f")


def pallas(j):
    return importlib.import_module(f"{j.__name__}.experimental.pallas")


def call(j, kernel, shape, *args, dtype=np.float32, **options):
    return pallas(j).pallas_call(kernel, j.ShapeDtypeStruct(shape, dtype), interpret=True, **options)(*args)


def spec(j, *args):
    return pallas(j).BlockSpec(*args)


def copied(j):
    def kernel(x, out):
        out[...] = x[...] * 2

    return kernel


def product(j):
    def kernel(x, k, out):
        @pallas(j).when(pallas(j).program_id(2) == 0)
        def _():
            out[...] = j.numpy.zeros_like(out[...])

        out[...] += x[...] @ k[...]

    blocks = [spec(j, (2, 3), lambda i, k, n: (i, n)), spec(j, (3, 4), lambda i, k, n: (n, k))]
    return call(j, kernel, (4, 8), X, K, grid=(2, 2, 2), in_specs=blocks, out_specs=spec(j, (2, 4), lambda i, k, n: (i, k)))


def positions(j):
    def kernel(out):
        out[...] = j.numpy.full(out.shape, 10 * pallas(j).program_id(0) + pallas(j).program_id(1) + 100 * pallas(j).num_programs(1))

    return call(j, kernel, (2, 3), dtype=np.int32, grid=(2, 3), out_specs=spec(j, (1, 1), lambda i, k: (i, k)))


def hidden_axes(j):
    return call(j, copied(j), (4, 6), X, grid=(4,), in_specs=[spec(j, (None, 6), lambda i: (i, 0))], out_specs=spec(j, (None, 6), lambda i: (3 - i, 0)))


def two_results(j):
    def kernel(x, low, high):
        low[...], high[...] = x[...].min(1), x[...].max(1)

    shapes = [j.ShapeDtypeStruct((4,), np.float32)] * 2
    rows = spec(j, (2,), lambda i: (i,))
    return pallas(j).pallas_call(kernel, shapes, grid=2, in_specs=[spec(j, (2, 6), lambda i: (i, 0))], out_specs=[rows, rows], interpret=True)(X)


def ragged(j):
    return call(j, copied(j), (7,), np.arange(7.0, dtype="f"), grid=2, in_specs=[spec(j, (4,), lambda i: (i,))], out_specs=spec(j, (4,), lambda i: (i,)))


def slices(j):
    def kernel(x, out):
        out[pallas(j).ds(0, 2), :] = x[pallas(j).ds(1, 2), :]
        out[2:, :] = x[:2, :] + x[3, 0]

    return call(j, kernel, (4, 6), X)


def loops(j):
    def kernel(x, out):
        out[...] = j.numpy.zeros_like(out[...])

        def body(i, _):
            out[i] += x[i, 0] * x[i, 5]

        j.lax.fori_loop(0, 4, body, None)

    return call(j, kernel, (4,), X)


def aliased(j):
    def kernel(x, out):
        out[0, 0] = x[1, 1] + 100

    return call(j, kernel, (4, 6), X, input_output_aliases={0: 0})


def a_spec(j):
    given = pallas(j).GridSpec(grid=(2,), in_specs=[spec(j, (2, 6), lambda i: (i, 0))], out_specs=spec(j, (2, 6), lambda i: (i, 0)))
    return call(j, copied(j), (4, 6), X, grid_spec=given)


PROGRAMS = {
    "whole": lambda j: call(j, copied(j), (4, 6), X), "product": product, "positions": positions, "hidden axes": hidden_axes, "two results": two_results,
    "ragged": ragged, "slices": slices, "loops": loops, "aliased": aliased, "grid spec": a_spec, "compiled": lambda j: j.jit(lambda: product(j))(),
    "batch": lambda j: j.vmap(lambda x: call(j, copied(j), (6,), x))(X), "sizes": lambda j: [pallas(j).cdiv(7, 2), pallas(j).next_power_of_2(9), pallas(j).align_to(5, 4)],
    "not interpreted": lambda j: pallas(j).pallas_call(copied(j), j.ShapeDtypeStruct((4, 6), np.float32))(X),
    "a kernel with a result": lambda j: call(j, lambda x, out: x[...], (4, 6), X), "blocks of another rank": lambda j: call(
        j, copied(j), (4, 6), X, grid=2, in_specs=[spec(j, (2,), lambda i: (i,))]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_do_what_they_do_in_jax(name):
    def outcome(system):
        try:
            return [np.asarray(x) for x in system.tree.leaves(PROGRAMS[name](system))]
        except Exception as error:
            return type(error).__name__

    wanted, found = outcome(jax), outcome(pullback)
    if isinstance(wanted, str):
        assert found == wanted
        return
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def test_scratch_memory_lasts_over_the_grid():
    def kernel(x, out, total):
        total[...] += x[...].sum()
        out[...] = total[...] + pullback.numpy.zeros_like(out[...])

    rows = pallas(pullback).BlockSpec((1, 6), lambda i: (i, 0))
    memory = [pallas(pullback).MemoryRef((), np.float32)]
    found = call(pullback, kernel, (4, 6), X, grid=4, in_specs=[rows], out_specs=rows, scratch_shapes=memory)
    np.testing.assert_allclose(found[:, 0], np.cumsum(X.sum(1)))


def test_derivatives_go_through_the_kernel():
    slope = pullback.grad(lambda x: (call(pullback, copied(pullback), (4, 6), x) ** 2).sum())(X)
    np.testing.assert_allclose(slope, 8 * X)
