"""Programs over the eight devices of a PJRT plugin: shardings, collectives, maps over devices."""

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
import xla_plugin
from differential import lines_of
from pullback import lax
from pullback.sharding import Mesh, NamedSharding
from pullback.sharding import PartitionSpec as P

D = xla_plugin.devices()
MESH = Mesh(np.array(D).reshape(4, 2), ("x", "y"))
ROW = Mesh(np.array(D), ("i",))
A = np.arange(64, dtype=np.float32).reshape(8, 8) / 7


def split(x, *spec, mesh=MESH):
    return jax.device_put(x, NamedSharding(mesh, P(*spec)))


def shards(x):
    return [(s.device.id, s.index, np.asarray(s.data).tolist()) for s in x.addressable_shards]


def parts(whole, x):
    return [(s.device.id, s.index, np.asarray(whole)[s.index].tolist()) for s in x.addressable_shards]


SPECS = [(), ("x",), ("y",), ("x", "y"), (None, "x"), (("x", "y"),), (("y", "x"), None), (None, ("x", "y"))]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_arrays_go_to_their_parts_and_back(spec):
    x = split(A, *spec)
    assert x.sharding == NamedSharding(MESH, P(*spec)) and x.committed
    assert shards(x) == parts(A, x)
    np.testing.assert_array_equal(x, A)
    y = jax.jit(lambda a: a * 2 + 1)(x)
    assert y.sharding.is_equivalent_to(x.sharding, 2)
    assert shards(y) == parts(A * 2 + 1, y)
    assert y.addressable_shards[0].data.devices() == {D[0]}


# Programs, their arguments' specs, and the spec of the result.
PROGRAMS = {
    "matmul": (lambda a, b: a @ b, [("x",), (None, "y")], ("x", "y")),
    "contracted": (lambda a, b: a @ b, [(None, "x"), ("x",)], ()),
    "sum": (lambda a: a.sum(0), [("x", "y")], ("y",)),
    "total": (lambda a: (a * a).sum(), [("x", "y")], ()),
    "transpose": (lambda a: a.T, [("x", "y")], ("y", "x")),
    "mixed": (lambda a, b: jnp.sin(a) + b, [("x",), ()], ("x",)),
    "softmax": (lambda a: jax.nn.softmax(a), [("x",)], None),
    "sort": (lambda a: jnp.sort(a, 1), [(None, "x")], None),
    "slice": (lambda a: a[1:3], [("x",)], None),
    "scan": (lambda a: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(8), a)[1], [(None, "y")], None),
    "grad": (jax.grad(lambda a: (jnp.tanh(a @ a.T) ** 2).sum()), [("x",)], None),
    "constraint": (lambda a: lax.with_sharding_constraint(a * 3, NamedSharding(MESH, P(None, "x"))), [("x",)], (None, "x")),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_divided(name):
    function, specs, wanted = PROGRAMS[name]
    args = [A + n for n in range(len(specs))]
    got = jax.jit(function)(*[split(a, *spec) for a, spec in zip(args, specs)])
    want = np.asarray(jax.jit(function)(*args) if name != "constraint" else A * 3)
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)
    assert got.devices() == set(D)
    if wanted is not None:
        assert got.sharding.is_equivalent_to(NamedSharding(MESH, P(*wanted)), got.ndim), got.sharding
    assert [s.data.tolist() for s in got.addressable_shards] == [np.asarray(got)[s.index].tolist() for s in got.addressable_shards]


# On each device `a` is its rows of A, 1 x 8; what comes back, joined by rows, from A.
MAPS = lines_of("""
    a * 2 ;; A * 2
    lax.psum(a, 'i') ;; np.tile(A.sum(0), (8, 1))
    lax.pmax(a, 'i') ;; np.tile(A.max(0), (8, 1))
    lax.pmin(a, 'i') ;; np.tile(A.min(0), (8, 1))
    lax.pmean(a, 'i') ;; np.tile(A.mean(0), (8, 1))
    lax.axis_index('i') + a.astype(int) * 0 ;; np.tile(np.arange(8)[:, None], (1, 8))
    lax.ppermute(a, 'i', [(n, (n + 1) % 8) for n in range(8)]) ;; np.roll(A, 1, 0)
    lax.ppermute(a, 'i', [(0, 3), (5, 1)]) ;; np.stack([A[0] if n == 3 else A[5] if n == 1 else A[0] * 0 for n in range(8)])
    lax.pshuffle(a, 'i', [7, 6, 5, 4, 3, 2, 1, 0]) ;; A[::-1]
    lax.all_gather(a, 'i').sum(0) ;; np.tile(A.sum(0), (8, 1))
    lax.all_gather(a, 'i', axis=1, tiled=True)[:, ::8] ;; np.tile(A[:, 0], (8, 1))
    lax.all_to_all(a, 'i', 1, 0, tiled=True).reshape(1, 8) ;; A.T
    lax.psum_scatter(a, 'i', scatter_dimension=1, tiled=True) * jnp.ones((1, 8)) ;; np.tile(A.sum(0)[:, None], (1, 8))
    lax.psum_scatter(a[0], 'i')[None, None] * jnp.ones((1, 8)) ;; np.tile(A.sum(0)[:, None], (1, 8))
    lax.psum(a, 'i', axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]) ;; np.repeat(np.stack([A[:4].sum(0), A[4:].sum(0)]), 4, 0)
    lax.pbroadcast(a, 'i', 5) ;; np.tile(A[5], (8, 1))
    lax.fori_loop(0, 3, lambda _, c: lax.ppermute(c, 'i', [(n, (n + 1) % 8) for n in range(8)]), a) ;; np.roll(A, 3, 0)
""")


@pytest.mark.parametrize("line", MAPS)
def test_collectives(line):
    got, want = line.split(";;")
    names = {"lax": lax, "jnp": jnp, "np": np, "A": A}
    program = eval(f"lambda a: {got}", names)
    mapped = jax.shard_map(program, mesh=ROW, in_specs=P("i"), out_specs=P("i"), check_vma=False)
    result = jax.jit(mapped)(split(A, "i", mesh=ROW))
    np.testing.assert_allclose(result, eval(want, names), rtol=1e-5, atol=1e-5)
    assert result.sharding.is_equivalent_to(NamedSharding(ROW, P("i")), 2)


def test_collectives_along_one_axis_of_two():
    def program(a):
        return lax.psum(a, "y"), lax.psum(a, "x"), lax.psum(a, ("x", "y")), lax.axis_index("x") * 2 + lax.axis_index("y") + a[:1, :1].astype(int) * 0

    mapped = jax.shard_map(program, mesh=MESH, in_specs=P("x", "y"), out_specs=(P("x"), P(None, "y"), P(), P("x", "y")))
    y, x, both, index = jax.jit(mapped)(split(A, "x", "y"))
    np.testing.assert_allclose(y, A[:, :4] + A[:, 4:], rtol=1e-6)
    np.testing.assert_allclose(x, A.reshape(4, 2, 8).sum(0), rtol=1e-6)
    np.testing.assert_allclose(both, A.reshape(4, 2, 2, 4).sum((0, 2)), rtol=1e-6)
    np.testing.assert_array_equal(index, np.arange(8).reshape(4, 2))


def test_a_data_parallel_step():
    rng = np.random.default_rng(0)
    w, x, y = rng.normal(size=(8, 4)), rng.normal(size=(16, 8)), rng.normal(size=(16, 4))
    w, x, y = (v.astype(np.float32) for v in (w, x, y))

    def step(w, x, y):
        return w - 0.1 * jax.grad(lambda w: ((jnp.tanh(x @ w) - y) ** 2).mean())(w)

    def on_devices(w, x, y):
        return w - 0.1 * lax.pmean(jax.grad(lambda w: ((jnp.tanh(x @ w) - y) ** 2).mean())(lax.pcast(w, "i", to="varying")), "i")

    want = jax.jit(step)(w, x, y)
    data = [split(v, "i", mesh=ROW) for v in (x, y)]
    got = jax.jit(step, donate_argnums=0)(split(w, mesh=ROW), *data)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    mapped = jax.jit(jax.shard_map(on_devices, mesh=ROW, in_specs=(P(), P("i"), P("i")), out_specs=P()))
    np.testing.assert_allclose(mapped(split(w, mesh=ROW), *data), want, rtol=1e-5, atol=1e-6)


def test_arrays_of_parts():
    sharding = NamedSharding(ROW, P("i"))
    pieces = [jax.device_put(A[n : n + 1], D[n]) for n in range(8)]
    x = jax.make_array_from_single_device_arrays((8, 8), sharding, pieces)
    y = jax.make_array_from_callback((8, 8), sharding, lambda index: A[index])
    for array in (x, y):
        np.testing.assert_array_equal(array, A)
        assert array.sharding == sharding
        np.testing.assert_array_equal(jax.jit(lambda a: a + 1)(array), A + 1)
    resharded = jax.device_put(x, NamedSharding(MESH, P("y", "x")))
    assert shards(resharded) == parts(A, resharded)
    np.testing.assert_array_equal(jax.device_put(x, jax.devices("cpu")[0]), A)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="divisible|evenly"):
        split(A[:7], "x")
    with pytest.raises(ValueError, match="incompatible devices"):
        jnp.add(split(A, "x"), jax.device_put(A, D[0]))
    with pytest.raises(ValueError, match="is not found in mesh"):
        split(A, "z")


def test_the_text_names_the_mesh():
    mapped = jax.shard_map(lambda a: lax.psum(a, "i"), mesh=ROW, in_specs=P("i"), out_specs=P())
    text = jax.jit(mapped).lower(A).as_text()
    for word in ('sdy.mesh @mesh = <["i"=8]>', "mhlo.num_partitions = 8", "sdy.manual_computation", "stablehlo.all_reduce"):
        assert word in text


def test_effects_are_those_of_the_first_device(capfd):
    log = []
    note = lambda v: log.append(np.asarray(v).tolist())
    f = jax.jit(lambda x: (jax.debug.callback(note, x.sum()), jax.debug.callback(note, x[:2]), x + 1)[2])
    got = f(split(A, "x"))
    np.testing.assert_array_equal(got, A + 1)
    assert sorted(map(np.ndim, log)) == [0, 2] and sum(np.ndim(v) == 0 and v == A.sum() for v in log) == 1
    jax.jit(lambda x: (jax.debug.print("total {}", x.sum()), x)[1])(split(A, None, "y"))
    assert capfd.readouterr().out == f"total {A.sum()}\n"
    pure = jax.jit(lambda x: jax.pure_callback(lambda v: np.sin(v), x, x) + 1)(split(A, "x"))
    np.testing.assert_allclose(pure, np.sin(A) + 1, rtol=1e-6)
    seen = []
    jax.jit(jax.shard_map(lambda a: (jax.debug.callback(lambda v: seen.append(float(v)), a.sum()), a)[1], mesh=ROW, in_specs=P("i"), out_specs=P("i")))(split(A, "i", mesh=ROW))
    np.testing.assert_allclose(sorted(seen), sorted(A.sum(1)), rtol=1e-6)


@pytest.mark.parametrize(
    "f, kind, text",
    [
        (lambda x: (jax.debug.print("{}", x, ordered=True), x)[1], ValueError, "Ordered effects are not supported for more than 1 device"),
        (lambda x: jax.experimental.io_callback(np.sin, x, x), NotImplementedError, "with effects and results .* for several devices"),
    ],
)
def test_effects_that_several_devices_cannot_have(f, kind, text):
    import pullback.experimental

    with pytest.raises(kind, match=text):
        jax.jit(f)(split(A, "x"))


def test_factorizations_of_divided_matrices():
    a = np.stack([A[:4, :4] @ A[:4, :4].T + n * np.eye(4, dtype=np.float32) for n in range(1, 9)])
    f = jax.jit(lambda a: jnp.linalg.svd(a, compute_uv=False))
    got = f(split(a, "i", mesh=ROW))
    np.testing.assert_allclose(got, f(jnp.asarray(a)), rtol=1e-5, atol=1e-5)
    assert got.sharding.is_equivalent_to(NamedSharding(ROW, P("i")), 2)


def test_types_of_partial_sums_stay():
    mesh = jax.make_mesh((8,), ("i",), devices=D, axis_types=(jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x = split(A, "i", mesh=mesh)
        y = jax.jit(lambda a: jnp.einsum("ij,ik->jk", a, a, out_sharding=P(unreduced={"i"})))(x)
        assert str(jax.typeof(y)) == "float32[8,8]{U:i}"
        whole = jax.sharding.reshard(y, P(None, None))
        np.testing.assert_allclose(whole, A.T @ A, rtol=1e-5)
        assert str(jax.typeof(whole)) == "float32[8,8]"
