"""Long work lets other threads run, listens to Ctrl-C, survives forks and exits, takes the threads it is given, and keeps
its memory for the next call; most programs in a process of their own."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import pullback

pytestmark = pytest.mark.alone

HEAD = """
import os, signal, sys, threading, time
import pullback as jax, pullback.numpy as jnp

x = jnp.arange(4.0)
add = jax.jit(lambda v: v + 1)
"""
FOREVER = "jax.lax.while_loop(lambda c: c[0] >= 0, lambda c: (c + 1) % 1000, x)"


def start(program, **settings):
    folder = str(Path(pullback.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": folder + os.pathsep + os.environ.get("PYTHONPATH", ""), **settings}
    text = textwrap.dedent(HEAD) + textwrap.dedent(program)
    return subprocess.Popen([sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output(program, **settings):
    process = start(program, **settings)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err[-2000:]
    return out.split()


# Programs that would run for long or forever; each says `go` when it is about to.
LONG = {
    "endless loop": f"go(); {FOREVER}",
    "endless loop under jit": f"f = jax.jit(lambda x: {FOREVER}); go(); f(x)",
    "endless loop in a scan": f"go(); jax.lax.scan(lambda c, _: (c + {FOREVER}, None), x, None, length=3)",
    "endless loop under vmap": "go(); jax.vmap(lambda v: jax.lax.while_loop(lambda c: c >= 0, lambda c: (c + 1) % 9, v))(x)",
    "endless loop in its derivative": f"go(); jax.jvp(lambda x: {FOREVER}, (x,), (x,))",
    "endless loop with a callback": (
        "def body(c):\n    jax.debug.callback(lambda c: time.sleep(0.001), c)\n    return c % 1000\n"
        "go(); jax.lax.while_loop(lambda c: c[0] >= 0, body, x)"
    ),
    "long counted loop": "go(); jax.lax.fori_loop(0, 2**31 - 1, lambda i, v: jnp.sin(v) + 1, x)",
    "long reduction on several threads": "f = jax.jit(lambda: jnp.sin(jax.lax.iota('float32', 2**38)).sum()); go(); f()",
    "long rows on several threads": "f = jax.jit(lambda: jnp.sin(jax.lax.broadcasted_iota('float32', (2**19, 2**19), 1)).sum(1)); go(); f()",
    **{
        f"long {name}": (
            f"from pullback.lax import linalg\nimport numpy as np\na = jnp.asarray(np.random.RandomState(0).randn(2500, 2500).astype('{dtype}'))\n"
            f"go()\nfor _ in range(50): {call}.block_until_ready()"
        )
        for name, dtype, call in [
            ("eigh", "float32", "linalg.eigh(a)[0]"), ("svd", "float32", "linalg.svd(a, full_matrices=False)[1]"),
            ("svd of complex matrices", "complex64", "linalg.svd(a, full_matrices=False)[1]"), ("qr", "float32", "linalg.qr(a)[0]"),
            ("eig", "float32", "linalg.eig(a)[0]"), ("schur", "complex64", "linalg.schur(a)[0]"), ("lu", "complex64", "linalg.lu(a)[0]"),
            ("cholesky", "float32", "linalg.cholesky(a)"), ("hessenberg", "float32", "linalg.hessenberg(a)[0]"),
        ]
    },
    "long transform": "y = jnp.zeros(2**23)\ngo()\nfor _ in range(100): jnp.fft.fft(y).block_until_ready()",
    "tracing": "def f(x):\n    go()\n    while True: x = x + 1\njax.jit(f)(x)",
    "compiling": (
        "def f(x):\n    for i in range(40000): x = jnp.sin(x) * i + x[::-1]\n    return x\n"
        "lowered = jax.jit(f).lower(x); go(); lowered.compile()"
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_interrupt_takes_effect_at_once_and_all_works_afterwards(name):
    body = textwrap.indent(LONG[name], "    ")
    process = start(f"""
def go():
    print("go", flush=True)

try:
{body}
    print("ended")
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert add(x).tolist() == [1.0, 2.0, 3.0, 4.0]
assert jax.jit(lambda v: v * 3)(x).tolist() == [0.0, 3.0, 6.0, 9.0]
assert int(jax.lax.while_loop(lambda c: c < 10, lambda c: c + 3, 0)) == 12
print("works")
""")
    assert process.stdout.readline() == "go\n"
    time.sleep(0.3)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - started < 0.5
    # Not `communicate`, which does not see what `readline` has read ahead.
    out, err = process.stdout.read(), process.stderr.read()
    assert (out, process.wait(timeout=30)) == ("works\n", 0), err


def test_a_handler_that_goes_on_lets_the_program_end():
    out = output("""
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    done = float(jax.lax.fori_loop(0, 200_000_000, lambda i, v: v * 0.5 + 1.0, 0.0))
    print(done, len(seen))
    """)
    assert out == ["2.0", "1"]


def test_an_interrupt_is_for_the_main_thread_alone():
    out = output("""
    results = []
    def work():
        results.append(float(jax.lax.fori_loop(0, 150_000_000, lambda i, v: v * 0.5 + 1.0, 0.0)))
    thread = threading.Thread(target=work)
    thread.start()
    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        jax.lax.while_loop(lambda c: c >= 0, lambda c: (c + 1) % 7, 0)
    except KeyboardInterrupt:
        print("interrupted")
    thread.join()
    print(results)
    """)
    assert out == ["interrupted", "[2.0]"]


def test_other_threads_run_during_long_work():
    out = output("""
    counted, done = [0], []
    def count():
        while not done:
            counted[0] += 1
            time.sleep(0.001)
    thread = threading.Thread(target=count)
    thread.start()
    before, started = counted[0], time.monotonic()
    jax.lax.fori_loop(0, 100_000_000, lambda i, v: v * 0.5 + 1.0, 0.0)
    seconds, after = time.monotonic() - started, counted[0]
    done.append(1)
    thread.join()
    # Held through the run, the lock would give the thread nothing.
    print(after - before > 20 * seconds)
    """)
    assert out == ["True"]


def test_threads_trace_compile_and_run_side_by_side():
    out = output("""
    from concurrent.futures import ThreadPoolExecutor
    def work(n):
        with jax.disable_jit(False):
            f = jax.jit(lambda v: jax.lax.fori_loop(0, 1000 + n, lambda i, s: s + jnp.tanh(v).sum(), 0.0))
            g = jax.grad(lambda v: f(v) if n < 0 else jnp.sum(v ** 2 * n))
            return [float(f(jnp.zeros(n + 1))), float(g(jnp.ones(3))[0])]
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(work, range(24)))
    print(results == [[0.0, 2.0 * n] for n in range(24)])
    """)
    assert out == ["True"]


def test_callbacks_take_the_lock_back():
    out = output("""
    import numpy as np
    def host(v):
        time.sleep(0.001)
        return np.asarray(v) + 1
    def step(c, _):
        return jax.pure_callback(host, jax.ShapeDtypeStruct((), jnp.float32), c), None
    run = jax.jit(lambda c: jax.lax.scan(step, c, None, length=50)[0])
    results = []
    threads = [threading.Thread(target=lambda n=n: results.append(float(run(float(n))))) for n in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(sorted(results) == [50.0 + n for n in range(6)])
    """)
    assert out == ["True"]


def test_a_callback_may_use_the_system():
    out = output("""
    import numpy as np
    def host(v):
        return np.asarray(jax.jit(lambda v: jnp.sin(v) + jnp.ones((300, 300)).sum())(jnp.asarray(v)))
    print(float(jax.jit(lambda v: jax.pure_callback(host, jax.ShapeDtypeStruct((), jnp.float32), v))(0.0)))
    """)
    assert out == ["90000.0"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_computes():
    out = output("""
    big = jnp.ones((600, 600))
    (big @ big).block_until_ready()
    child = os.fork()
    if child == 0:
        ok = float((big @ big).sum()) == 600.0**3 and add(x).tolist() == [1.0, 2.0, 3.0, 4.0]
        ok = ok and float(jax.jit(lambda v: jnp.cos(v).sum() * 3)(x * 0)) == 12.0
        os._exit(0 if ok else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(add(x)[0]))
    """)
    assert out == ["0", "1.0"]


def test_multiprocessing_by_fork_and_by_spawn():
    out = output("""
    import multiprocessing
    add(x)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(sum(pool.map(len, [jnp.ones(n).tolist() for n in range(5)])))
    """)
    assert out == ["10"]


def test_the_process_ends_while_threads_run():
    process = start(f"""
    thread = threading.Thread(target=lambda: {FOREVER}, daemon=True)
    thread.start()
    time.sleep(0.2)
    print("end", flush=True)
    """)
    out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("end\n", 0), err


def test_a_panic_is_an_exception():
    with pytest.raises(Exception) as info:
        pullback._core._panic("on purpose")
    assert isinstance(info.value, pullback.errors.JaxRuntimeError)
    assert "internal error" in str(info.value) and "on purpose" in str(info.value) and ".rs:" in str(info.value)


def test_a_cap_of_threads_changes_no_bit():
    jnp = pullback.numpy
    big = pullback.random.normal(pullback.random.key(0), (700, 700))
    programs = [lambda v: v @ v, lambda v: jnp.sum(jnp.sin(v)), lambda v: jnp.sort(v.ravel()), lambda v: pullback.nn.softmax(v)]
    for program in programs:
        free = np.asarray(pullback.jit(program)(big))
        for n in (1, 2, 3):
            with pullback.max_threads(n):
                assert np.asarray(pullback.jit(program)(big)).tobytes() == free.tobytes(), n
                assert np.asarray(program(big)).tobytes() == free.tobytes(), n


def test_caps_of_threads_nest_end_and_belong_to_their_thread():
    out = output("""
    from concurrent.futures import ThreadPoolExecutor
    count = jax._core.thread_count
    seen = [count()]
    with jax.max_threads(3) as three:
        with jax.max_threads(2) as two, jax.max_threads(7) as still_two:
            with ThreadPoolExecutor(1) as pool:
                seen += [three, two, still_two, count(), pool.submit(count).result()]
        seen.append(count())
        try:
            with jax.max_threads(1):
                seen.append(count())
                raise KeyError
        except KeyError:
            seen.append(count())
    @jax.max_threads(1)
    def decorated():
        return count()
    print(*seen, decorated(), decorated(), count())
    """, PULLBACK_NUM_THREADS="8")
    assert out == "8 3 2 2 2 8 3 1 3 1 1 8".split()


def test_a_capped_call_runs_on_the_calling_thread_alone():
    out = output("""
    import resource
    x = jnp.ones(1 << 22)
    f = jax.jit(lambda v: jnp.sum(jnp.tanh(jnp.sin(v) * jnp.cos(v))))
    def elsewhere():
        # Processor time of all threads but this one.
        spent = lambda who: sum(resource.getrusage(who)[:2])
        before = spent(resource.RUSAGE_SELF) - spent(resource.RUSAGE_THREAD)
        for _ in range(20):
            f(x).block_until_ready()
        return spent(resource.RUSAGE_SELF) - spent(resource.RUSAGE_THREAD) - before
    f(x).block_until_ready()
    free = elsewhere()
    with jax.max_threads(1):
        capped = elsewhere()
    print(free > 0.01, capped < free / 10)
    """, PULLBACK_NUM_THREADS="2")
    assert out == ["True", "True"]


@pytest.mark.parametrize("n, error", [(0, ValueError), (-1, ValueError), (1.0, TypeError), (True, TypeError), ("2", TypeError), (None, TypeError)])
def test_bad_caps_of_threads(n, error):
    with pytest.raises(error, match="max_threads needs"), pullback.max_threads(n):
        pass


MEMORY_HEAD = """
import resource
MIB = 1 << 20
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts faults as Linux does")
@pytest.mark.parametrize("pool_bytes, is_reused", [(None, True), (0, False)])
def test_results_are_filled_without_page_faults(pool_bytes, is_reused):
    settings = {} if pool_bytes is None else {"PULLBACK_POOL_BYTES": str(pool_bytes)}
    out = output(MEMORY_HEAD + """
x = jnp.ones(16 * MIB, jnp.float32)
f = jax.jit(lambda v: v * 2 + 1)
for _ in range(3):
    f(x).block_until_ready()
before = faults()
for _ in range(10):
    f(x).block_until_ready()
# A result of 64 MiB has 16384 small pages, or 32 huge ones.
print((faults() - before) / 10)
""", **settings)
    per_call = float(out[0])
    assert per_call < 8 if is_reused else per_call >= 32


@pytest.mark.skipif(sys.platform != "linux", reason="counts memory as Linux does")
def test_waiting_memory_is_given_back():
    # Beyond the limit at once; below it, when the system has no more.
    out = output(MEMORY_HEAD + """
arrays = [jnp.full(16 * MIB, i, jnp.float32) + 1 for i in range(6)]
full = resident()
del arrays
print(full - resident() >= 4 * 64 * MIB)
""", PULLBACK_POOL_BYTES=str(100 << 20))
    assert out == ["True"]
    out = output(MEMORY_HEAD + """
before = resident()
arrays = [jnp.full(16 * MIB, i, jnp.float32) + 1 for i in range(6)]
del arrays
kept = resident() - before
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 32 * MIB, resource.RLIM_INFINITY))
big = jnp.full(64 * MIB, 1, jnp.float32)
print(kept >= 4 * 64 * MIB, float(big[-1]))
""", PULLBACK_POOL_BYTES=str(1 << 30))
    assert out == ["True", "1.0"]
