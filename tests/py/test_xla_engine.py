"""Programs on XLA through a PJRT plugin, beside our own engine: values, places, lives of arrays, errors."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
import xla_plugin
from differential import lines_of
from pullback import lax

D = xla_plugin.devices()
CPU = jax.devices("cpu")[0]

X = np.linspace(-2, 3, 12, dtype=np.float32).reshape(3, 4)
I = np.arange(-5, 7, dtype=np.int32)

# With arguments on the plugin's device, and on our own.
LINES = lines_of("""
    x + 1, x * x, -x, x / 3, x ** 2, x > 0, jnp.where(x > 0, x, 0)
    jnp.sin(x), jnp.tanh(x), jnp.exp(x), jnp.log1p(abs(x)), lax.erf(x), lax.rsqrt(abs(x) + 1)
    x.sum(), x.mean(0), x.max(1), x.argmin(), jnp.cumsum(x, 1), jnp.sort(x, 0), jnp.linalg.norm(x)
    x @ x.T, jnp.einsum('ij,kj->ik', x, x), jnp.tensordot(x, x, 2)
    x.reshape(4, 3), x.T, x[1], x[:, ::2], x[::-1], x.at[1].set(0), x.at[:, 2].add(5), jnp.pad(x, 1), jnp.concatenate([x, x])
    i + 1, i * i, i // 3, i % 3, i << 1, i >> 1, i & 6, ~i, lax.population_count(i), i.astype(float), (i > 0).sum()
    jnp.take(x, i % 3, axis=0), x[i % 3, i % 4], jnp.searchsorted(jnp.arange(5), i), jnp.bincount(abs(i), length=8)
    jax.grad(lambda x: (jnp.tanh(x) ** 2).sum())(x), jax.hessian(lambda x: (x ** 3).sum())(x[0])
    jax.vmap(lambda r: r / r.sum())(x + 3), jax.vmap(jax.grad(lambda r: jnp.sin(r).sum()))(x)
    jax.jit(lambda x: {'a': x + 1, 'b': (x.sum(), x[0])})(x)
    lax.fori_loop(0, 5, lambda n, c: c * 1.5 + n, x), lax.scan(lambda c, r: (c + r, c * r), x[0], x), lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x)
    lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * 2, c[1] + 1), (x, 0))
    jax.nn.softmax(x), jax.nn.gelu(x), jax.nn.relu(x), jax.nn.logsumexp(x, 1)
    x.astype(jnp.bfloat16) * 2, x.astype(jnp.float16).sum(), x.astype(jnp.int8), x + 1j, jnp.abs(x + 2j), x.astype(bool)
    jnp.fft.fft(x), jnp.fft.irfft(jnp.fft.rfft(x)), lax.conv_general_dilated(x[None, None], x[None, None, :2, :2], (1, 1), 'SAME')
    lax.conv_general_dilated(jnp.stack([x, -x])[:, None], x[None, None, :2, :2], (1, 1), ((-1, 1), (1, -1)))
    lax.conv_general_dilated(jnp.stack([x, -x])[:, None], x[None, None, :2, :2], (1, 1), ((-2, 1), (0, -1)), lhs_dilation=(2, 3))
    lax.top_k(x, 2), lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 1), 'VALID')
    jnp.linalg.cholesky(x @ x.T + 9 * jnp.eye(3)), jax.scipy.linalg.solve_triangular(x[:, :3] + 5 * jnp.eye(3), x, lower=True)
    jnp.linalg.qr(x.T + jnp.eye(4, 3)), abs(jnp.linalg.qr(x, mode='r')[:, :2]), jnp.linalg.eigh(x @ x.T + jnp.diag(jnp.arange(3.)))[0]
    jnp.linalg.solve(x[:, 1:] + jnp.eye(3), x[:, 0]), jnp.linalg.det(x[:, 1:]), jnp.linalg.inv(x[:, 1:] + jnp.eye(3)), jax.scipy.linalg.lu(x), jax.scipy.linalg.lu_factor(jnp.stack([x[:, 1:] + jnp.eye(3), x[:, :3]]))
    jnp.linalg.slogdet(x[:, 1:] + 2j * jnp.eye(3)), jax.scipy.linalg.lu_factor(jnp.array([[0., 2.], [0., 3.]]) * x[0, 0])
    jnp.zeros((0, 3)) @ x, x[:0].sum(), jnp.float32(2) * x[0, 0]
""")


@pytest.mark.parametrize("line", LINES)
def test_values_are_those_of_our_engine(line):
    code = compile(f"({line},)", "<line>", "eval")
    names = {"jax": jax, "jnp": jnp, "lax": lax}
    got = eval(code, names | {"x": jax.device_put(X, D[2]), "i": jax.device_put(I, D[2])})
    want = eval(code, names | {"x": jnp.asarray(X), "i": jnp.asarray(I)})
    got, treedef = jax.tree.flatten(got)
    want, other = jax.tree.flatten(want)
    assert treedef == other
    for one, two in zip(got, want):
        assert (one.shape, one.dtype, one.weak_type) == (two.shape, two.dtype, two.weak_type)
        assert one.devices() == {D[2]} and one.committed
        tolerance = 1e-2 if one.dtype.itemsize == 2 else 3e-5
        wide = complex if jnp.issubdtype(one.dtype, jnp.complexfloating) else float
        np.testing.assert_allclose(np.asarray(one).astype(wide), np.asarray(two).astype(wide), rtol=tolerance, atol=tolerance)


def test_random_numbers_are_the_same_bits():
    here, there = jax.random.key(7), jax.device_put(jax.random.key(7), D[1])
    for sample in (jax.random.bits, lambda k, s: jax.random.randint(k, s, 0, 99), lambda k, s: jax.random.permutation(k, 5)):
        np.testing.assert_array_equal(sample(there, (5,)), sample(here, (5,)))
    keys = jax.random.split(there, 3)
    assert keys.devices() == {D[1]}
    np.testing.assert_array_equal(jax.random.key_data(keys), jax.random.key_data(jax.random.split(here, 3)))
    np.testing.assert_allclose(jax.random.normal(there, (9,)), jax.random.normal(here, (9,)), rtol=1e-5)


def test_devices_say_what_they_are():
    assert len(D) == 8 and all(isinstance(d, jax.Device) for d in D)
    assert [d.id for d in D] == list(range(8)) and D[3].platform == "cpu" and D[3].device_kind == "cpu"
    assert D[0].client.device_count() == 8 and D[0].process_index == 0
    assert jax.devices(D[0].client) == D and jax.device_count(xla_plugin.NAME) == 8
    assert D[0].memory("device").device is D[0] and D[0].default_memory().kind
    assert D[0].memory_stats() is None or D[0].memory_stats()["bytes_in_use"] >= 0
    assert jax.devices() == jax.devices("cpu") and jax.default_backend() == "cpu", "the CPU stays the default"
    assert D[0] != CPU and len({*D, CPU}) == 9


def test_computations_follow_the_data():
    x = jax.device_put(X, D[1])
    u = jnp.asarray(X)
    assert (x + u).devices() == {D[1]} and (u + u).devices() == {CPU} and not (u + u).committed
    assert jax.jit(lambda a, b: a @ b.T)(u, x).devices() == {D[1]}
    assert jax.device_put(x, D[4]).devices() == {D[4]} and jax.device_put(x, CPU).devices() == {CPU}
    np.testing.assert_array_equal(jax.device_put(jax.device_put(x, D[4]), CPU) + 1, X + 1)
    assert jax.device_put(x).devices() == {D[1]}
    assert x.sharding == jax.sharding.SingleDeviceSharding(D[1]) and x.device == D[1]
    assert [s.device for s in x.addressable_shards] == [D[1]]
    # An argument that the program does not use stays where it is.
    assert jax.jit(lambda a, b: a + 1)(x, jax.device_put(1.0, D[2])).devices() == {D[1]}
    with jax.default_device(D[3]):
        assert jnp.ones(2).devices() == {D[3]} and not jnp.ones(2).committed
        assert jnp.asarray(np.ones(2)).devices() == {D[3]}
        assert jax.random.key(0).devices() == {D[3]}
        assert (x * 2).devices() == {D[1]}
    assert jnp.ones(2).devices() == {CPU}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + jax.device_put(1.0, D[2]),
        lambda x: x + jax.device_put(1.0, CPU),
        lambda x: jax.jit(lambda a, b: a + b)(x, jax.device_put(X, D[2])),
        lambda x: jnp.concatenate([x, jax.device_put(X, D[2])]),
    ],
)
def test_mixed_devices_are_refused(call):
    with pytest.raises(ValueError, match="incompatible devices.*device ids \\[1\\] on platform XLA_CPU"):
        call(jax.device_put(X, D[1]))


def test_donated_arrays_are_gone():
    double = jax.jit(lambda a: a * 2, donate_argnums=0)
    x = jax.device_put(X, D[0]) + 0
    pointer = x.unsafe_buffer_pointer()
    y = double(x)
    assert x.is_deleted() and y.unsafe_buffer_pointer() == pointer, "the result lies in the argument's memory"
    for use in (lambda: np.asarray(x), lambda: x + 1, lambda: double(x), x.block_until_ready):
        with pytest.raises(RuntimeError, match="deleted"):
            use()
    # What another array holds too is not taken.
    x = jax.device_put(X, D[0]) + 0
    twin = jax.device_put(x, D[0])
    double(x)
    np.testing.assert_array_equal(twin, X)
    # The host's memory is never taken.
    host = jnp.asarray(X) + 0
    x = jax.device_put(host, D[0])
    double(x)
    np.testing.assert_array_equal(host, X)


def test_deleted_arrays_free_only_themselves():
    x = jax.device_put(X, D[0]) + 1
    twin = jax.device_put(x, D[0])
    x.delete()
    assert x.is_deleted() and not twin.is_deleted() and x.shape == (3, 4)
    np.testing.assert_array_equal(twin, X + 1)
    with pytest.raises(RuntimeError, match="Array has been deleted with shape=float32\\[3,4\\]"):
        np.asarray(x)


def test_host_data_outlives_the_array_that_was_put():
    host = np.arange(100_000, dtype=np.float32)
    x = jax.device_put(host, D[5])
    y = jax.jit(lambda a: a + 1)(x)
    del x
    gc.collect()
    host[:] = -1
    np.testing.assert_array_equal(y, np.arange(100_000, dtype=np.float32) + 1)


def test_runs_are_waited_for_by_readers():
    x = jax.device_put(np.ones((500, 500), np.float32), D[0])
    y = jax.jit(lambda a: lax.fori_loop(0, 50, lambda _, c: c @ a / 500, a))(x)
    assert y.block_until_ready() is y and y.is_ready()
    y.copy_to_host_async()
    np.testing.assert_allclose(y, 1, rtol=1e-5)
    results = [None] * 4

    def work(n):
        results[n] = float((x * n).sum())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == [n * 250_000.0 for n in range(4)]


def test_numpy_and_copies():
    x = jax.device_put(X, D[1])
    view = np.asarray(x)
    assert not view.flags.writeable and view is not X
    np.testing.assert_array_equal(view, X)
    assert float(x[0, 0]) == X[0, 0] and x.tolist() == X.tolist() and [r.devices() for r in x] == [{D[1]}] * 3
    for dtype in (bool, np.int8, np.uint16, np.int64, np.complex64, jnp.bfloat16, jnp.float8_e4m3fn, jnp.int4):
        y = jax.device_put(jnp.arange(5).astype(dtype), D[1])
        assert y.dtype == jnp.arange(5).astype(dtype).dtype
        np.testing.assert_array_equal(np.asarray(y).astype(float), np.asarray(jnp.arange(5).astype(dtype)).astype(float))


def test_dlpack_from_and_to_devices():
    host = np.arange(64, dtype=np.float32)
    x = jax.dlpack.from_dlpack(host, device=D[2])
    y = jnp.from_dlpack(host, device=jax.sharding.SingleDeviceSharding(D[3]))
    assert (x.devices(), y.devices()) == ({D[2]}, {D[3]}) and x.committed
    np.testing.assert_array_equal(x, host)
    np.testing.assert_array_equal(y, host)
    np.testing.assert_array_equal(np.from_dlpack(jax.device_put(host, D[1]) + 1), host + 1)
    z = x * 2
    assert z.__dlpack_device__() == (1, 0) and np.from_dlpack(z).ctypes.data == z.unsafe_buffer_pointer()
    assert jax.dlpack.from_dlpack(z).devices() == {CPU}


def test_programs_compile_once():
    from pullback import _core

    x = jax.device_put(X, D[6])
    f = jax.jit(lambda a: jnp.sin(a) + 3)
    f(x), x + 2.0
    before = _core.n_compiled()
    f(x), x + 2.0, f(x + 2.0)
    assert _core.n_compiled() == before
    f(jax.device_put(X, D[7]))
    assert _core.n_compiled() == before + 1, "each device has its program"


PAIR = np.array([[4, 1, 2], [1, 3, 0.5], [2, 0.5, 5]], np.float32)

# What XLA has nothing for: done by our own engine, at the call of the program.
HOST_LINES = lines_of("""
    jnp.linalg.svd(a), jnp.linalg.svd(jnp.stack([a, a @ a]), compute_uv=False), jnp.linalg.eig(a), jax.scipy.linalg.schur(a)
    jax.jit(lambda a: jnp.linalg.svd(a @ a)[1] + 1)(a), jax.grad(lambda a: jnp.linalg.svd(a, compute_uv=False).sum())(a)
    jax.vmap(lambda a: jnp.linalg.pinv(a))(jnp.stack([a, a @ a])), jax.scipy.linalg.hessenberg(a), jax.scipy.linalg.expm(a / 9)
    lax.linalg.tridiagonal_solve(a[0], a[1], a[2], a), jax.random.gamma(jax.random.key(3), a), jax.random.beta(jax.random.key(3), a, a)
    lax.fori_loop(0, 3, lambda i, c: jnp.linalg.svd(c, compute_uv=False)[:, None] + c, a), jnp.linalg.svd(jnp.zeros((0, 3)))[1]
    jax.pure_callback(np.sin, a, a), jax.vmap(lambda r: jax.pure_callback(np.sin, r, r, vmap_method='sequential'))(a)
    jax.jit(lambda a: jax.pure_callback(lambda d: (d['x'] * 2, d['x'].sum()), (a, a[0, 0]), {'x': a + 1}))(a)
    jax.jit(lambda a: jax.pure_callback(lambda a: np.zeros((0, 2), np.float32), jnp.zeros((0, 2)), a))(a)
""")


@pytest.mark.parametrize("line", HOST_LINES)
def test_what_xla_lacks_is_done_by_our_engine(line):
    code = compile(f"({line},)", "<line>", "eval")
    names = {"jax": jax, "jnp": jnp, "lax": lax, "np": np}
    with jax.default_device(D[2]):
        got = jax.tree.leaves(eval(code, names | {"a": jax.device_put(PAIR, D[2])}))
    want = jax.tree.leaves(eval(code, names | {"a": jnp.asarray(PAIR)}))
    assert len(got) == len(want)
    for one, two in zip(got, want):
        assert (one.shape, one.dtype, one.devices()) == (two.shape, two.dtype, {D[2]})
        np.testing.assert_allclose(one, two, rtol=3e-5, atol=3e-5)


def test_effects_keep_their_order():
    def program(note):
        def f(x):
            jax.debug.callback(note, x, ordered=True)
            y = lax.fori_loop(0, 9, lambda i, c: (jax.debug.callback(note, i, ordered=True), c + 1)[1], x)
            branch = lambda n: lambda v: (jax.debug.callback(note, n, ordered=True), v * 2)[1]
            y = lax.cond(y > 5, branch(100), branch(200), y)
            z = jax.jit(lambda v: io_callback(lambda v: (note(v), v)[1], v, v, ordered=True))(y)
            y, _ = lax.scan(lambda c, i: (lax.cond(i > 1, branch(7), branch(8), c), i), y, jnp.arange(3))
            jax.debug.callback(note, -1, ordered=True)
            return y + z

        return f

    from pullback._callbacks import io_callback

    logs = []
    for device in (D[1], CPU):
        log = []
        note = lambda v: log.append(int(v))
        run = jax.jit(program(note))
        x = jax.device_put(np.int32(1), device)
        assert [int(run(x)), int(run(x))] == [180, 180] and len(log) == 32
        logs.append(log)
    assert logs[0] == logs[1] and logs[0][:16] == [1, *range(9), 100, 20, 8, 8, 7, -1]


def test_what_callbacks_raise_comes_out_of_the_call():
    def fail(v):
        raise KeyError("mine")

    for f in (lambda v: jax.pure_callback(fail, v, v), lambda v: (jax.debug.callback(fail, v), v)[1]):
        texts = []
        for device in (D[1], CPU):
            with pytest.raises(jax.errors.JaxRuntimeError) as caught:
                jax.jit(f)(jax.device_put(X, device))
            texts.append(str(caught.value).splitlines())
        assert texts[0][0] == texts[1][0] and any("in fail" in line for line in texts[0])
    assert float(jax.device_put(X, D[1]).sum()) == pytest.approx(float(X.sum())), "the device goes on"
    with pytest.raises(NotImplementedError, match="int4"):
        jax.jit(lambda v: jax.pure_callback(lambda v: v, v, v))(jax.device_put(jnp.arange(3, dtype=jnp.int4), D[1]))
    count = lambda c: (jax.debug.callback(print, c, ordered=True), c < 3)[1]
    with pytest.raises(NotImplementedError, match="condition of a while loop"):
        jax.jit(lambda v: lax.while_loop(count, lambda c: c + 1, v))(jax.device_put(np.int32(0), D[1]))


def test_callbacks_are_freed_with_their_program():
    import weakref

    class Host:
        def __call__(self, v):
            return v

    host = Host()
    seen = weakref.ref(host)
    y = jax.jit(lambda v: jax.pure_callback(host, v, v))(jax.device_put(X, D[1]))
    del host
    jax.clear_caches()
    gc.collect()
    assert seen() is None and y.shape == X.shape


PRELUDE = """
import os, sys
import numpy as np
import pullback as jax, pullback.numpy as jnp
"""


def run(program, **environment):
    path = os.pathsep.join([*sys.path])
    env = {**os.environ, "PYTHONPATH": path, **environment}
    return subprocess.run([sys.executable, "-c", PRELUDE + program], env=env, capture_output=True, text=True, timeout=60)


def test_plugins_of_the_environment():
    program = """
assert "pullback._plugins" not in sys.modules
x = jnp.arange(3.) * 2
print(jax.default_backend(), jax.devices()[:1], x.devices(), x.committed, jax.devices("cpu"), (x + 1).tolist())
print(jax.device_put(x, jax.devices("cpu")[0]).devices() == {jax.devices("cpu")[0]})
"""
    done = run(program, PJRT_NAMES_AND_LIBRARY_PATHS=f"mine:{xla_plugin.library()}", JAX_PLATFORMS="mine,cpu")
    want = "cpu [CpuDevice(id=0)] {CpuDevice(id=0)} False [CpuDevice(id=0)] [1.0, 3.0, 5.0]\nTrue\n"
    assert done.stdout == want, done.stderr
    # Without being asked for it is only there by name.
    program = "print(jnp.ones(1).device == jax.devices('cpu')[0], jax.devices('mine') == jax.devices('cpu'))"
    assert run(program, PJRT_NAMES_AND_LIBRARY_PATHS=f"mine:{xla_plugin.library()}").stdout == "True False\n"


@pytest.mark.parametrize("content", [b"", b"no library", b"\x7fELF" + bytes(100)])
def test_wrong_files_are_errors(tmp_path, content):
    file = tmp_path / "plugin.so"
    file.write_bytes(content)
    program = "try: jnp.ones(1) + 1\nexcept RuntimeError as e: print(e)\nprint(2 + 2)"
    done = run(program, PJRT_NAMES_AND_LIBRARY_PATHS=f"bad:{file}", JAX_PLATFORMS="bad")
    assert "Unable to initialize backend 'bad'" in done.stdout and str(file) in done.stdout, done
    assert done.stdout.endswith("4\n") and done.returncode == 0


def test_missing_platforms_say_what_to_install():
    done = run("try: jax.devices()\nexcept RuntimeError as e: print(e)", JAX_PLATFORMS="cuda")
    assert "Unknown backend cuda" in done.stdout and "pip install jax-cuda13-pjrt" in done.stdout, done
    done = run("try: jax.devices()\nexcept RuntimeError as e: print(e)", PJRT_NAMES_AND_LIBRARY_PATHS="nonsense", JAX_PLATFORMS="a")
    assert "it should be 'name:path'" in done.stdout, done


def test_executables_are_kept_on_disk(tmp_path):
    program = """
from pullback._src.xla_bridge import register_plugin
register_plugin("mine", library_path=os.environ["LIBRARY"])
x = jax.device_put(np.arange(4.), jax.devices("mine")[0])
print(jax.jit(lambda a: jnp.cos(a).sum())(x))
"""
    settings = dict(LIBRARY=xla_plugin.library(), JAX_COMPILATION_CACHE_DIR=str(tmp_path), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0")
    first = run(program, **settings)
    files = sorted(tmp_path.iterdir())
    assert files and first.stdout, first.stderr
    times = [file.stat().st_mtime_ns for file in files]
    assert run(program, **settings).stdout == first.stdout
    assert times == [file.stat().st_mtime_ns for file in sorted(tmp_path.iterdir())], "they are read, not written again"
    for file in files:
        file.write_bytes(file.read_bytes()[:-7])
    assert run(program, **settings).stdout == first.stdout
    assert times != [file.stat().st_mtime_ns for file in sorted(tmp_path.iterdir())], "what was cut short is made anew"


def test_debugging_settings_look_at_plugins_too():
    x = jax.device_put(np.zeros(3, np.float32), D[0])
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="nan"):
        jax.jit(lambda a: a / a)(x)
    with jax.debug_nans(True):
        np.testing.assert_array_equal(jax.jit(lambda a: a + 1, donate_argnums=0)(x), 1)


def test_lowered_programs_run_on_the_plugin():
    x = jax.device_put(X, D[3])
    compiled = jax.jit(lambda a: a @ a.T).lower(x).compile()
    assert compiled(x).devices() == {D[3]}
    np.testing.assert_allclose(compiled(x), X @ X.T, rtol=1e-5)
