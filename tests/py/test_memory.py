"""Memory: flat however many programs a process sees; limits; and what its end says. Each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pullback as jax
import pullback.numpy as jnp

HEAD = """
import gc, sys
import numpy as np
import pullback as jax
import pullback.numpy as jnp
from pullback import _core

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20

def growth(step, before, after):
    for number in range(before):
        step(number)
    first = resident()
    for number in range(before, before + after):
        step(number)
    return resident() - first
"""


def run(program, **environment):
    names = {**os.environ, "PYTHONPATH": str(Path(jax.__file__).parent.parent), **environment}
    done = subprocess.run([sys.executable, "-c", HEAD + program], env=names, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


# What a loop may grow by beyond its first rounds, in MiB, for as many rounds again.
LOOPS = {
    "shapes": ("f = jax.jit(lambda x: jnp.sin(x).sum() + 1)", "f(np.ones(number + 1, np.float32))", 5000, 5000, 24),
    "eager shapes": ("", "jnp.cumsum(np.ones(number + 1, np.float32))", 5000, 5000, 24),
    "new functions": ("", "jax.jit(lambda x: jnp.sin(x) + number % 5)(1.0)", 1000, 2000, 4),
    "gradients of new functions": ("", "jax.grad(lambda x: jnp.sin(x) * (number % 5))(1.0)", 1000, 2000, 4),
    "new sources": (
        "", "names = {}; exec('def f(x):\\n    return x * 2 + 1', names); jax.jit(names['f'])(1.0)", 5000, 3000, 30),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads resident memory from /proc")
@pytest.mark.parametrize("name", LOOPS)
def test_memory_stays_flat(name):
    prepare, step, before, after, most = LOOPS[name]
    program = f"{prepare}\ndef step(number):\n    {step}\nprint(growth(step, {before}, {after}), _core.executable_stats()[0])"
    grown, count = run(program).split()
    assert float(grown) < most
    assert int(count) <= 4096


def test_executables_go_with_what_was_compiled():
    out = run("""
f = jax.jit(lambda x: jnp.sin(x).sum())
for n in range(1, 60):
    f(np.ones(n, np.float32))
many = _core.executable_stats()
assert many[0] >= 59 and many[1] > 59 * 100, many
jax.clear_caches()
jnp.ones(3) + 1
few = _core.executable_stats()
assert few[0] < 10 and few[1] < many[1] / 4, (many, few)
print(float(f(np.ones(3, np.float32))))
""")
    assert float(out) == pytest.approx(2.524413)


def test_a_program_that_was_forgotten_is_compiled_again():
    """More shapes than are kept, twice, with the same results."""
    out = run("""
f = jax.jit(lambda x: (x * 2).sum())
before = [float(f(np.ones(n, np.float32))) for n in range(1, 4400)]
assert _core.executable_stats()[0] <= 4096
assert [float(f(np.ones(n, np.float32))) for n in (1, 2, 4399, 3)] == [2.0, 4.0, 8798.0, 6.0]
print(_core.n_compiled() >= 4399)
""")
    assert out == "True\n"


def test_small_objects_find_memory_when_it_is_gone():
    """Address space is used up in small pieces while programs are traced: an exception, and the process goes on."""
    out = run("""
import resource
f = jax.jit(lambda x: jnp.sin(x).sum())
f(np.ones(3, np.float32))
size = int(open("/proc/self/statm").read().split()[0]) * 4096
hoard, seen = [], set()
resource.setrlimit(resource.RLIMIT_AS, (size + (100 << 20), size + (100 << 20)))
n = 0
while len(seen) < 3 and n < 3000:
    n += 1
    try:
        hoard.append(jax.make_jaxpr(lambda x: [x + k for k in range(1000)])(1.0))
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        seen.add(f"{type(error).__name__} {n}")
        if len(seen) == 2:
            hoard.clear()
            gc.collect()
hoard.clear()
gc.collect()
print(len(seen) > 0, float(f(np.ones(3, np.float32))))
""")
    assert out.startswith("True 2.52")


def test_a_heap_of_holes_ends_no_process():
    """Objects go here and there while address space is used up again and again: what is refused is refused by an error."""
    out = run("""
import random, resource
f = jax.jit(lambda x: jnp.sin(x).sum())
f(np.ones(3, np.float32))
size = int(open("/proc/self/statm").read().split()[0]) * 4096
hoard, refused = [], 0
random.seed(0)
resource.setrlimit(resource.RLIMIT_AS, (size + (60 << 20), size + (60 << 20)))
for n in range(1500):
    try:
        hoard.append(jax.make_jaxpr(lambda x: [x + k for k in range(1000)])(1.0))
    except (MemoryError, jax.errors.JaxRuntimeError):
        refused += 1
        hoard = [jaxpr for jaxpr in hoard if random.random() < 0.8]
hoard.clear()
gc.collect()
print(refused > 3, float(f(np.ones(3, np.float32))))
""")
    assert out.startswith("True 2.52")


def test_a_limit_is_an_error_that_lists_what_lives():
    kept = [jnp.ones((64, 64)), jnp.ones((64, 64)), jnp.zeros(10, jnp.int8)]
    with jax.memory_limit(1 << 10) as limit:
        assert limit == 1 << 10
        with pytest.raises(jax.errors.JaxRuntimeError) as info:
            kept[0] + 1
    text = str(info.value)
    assert text.startswith("RESOURCE_EXHAUSTED: Out of memory allocating 16384 bytes (16.0 KiB). The limit is 1024 bytes (1.0 KiB), of which ")
    assert f"{Path(__file__).name}:" in text
    assert "x float32[64,64]: " in text or "x f32[64,64]: " in text
    assert float((kept[0] + 1)[0, 0]) == 2.0


def test_limits_nest_and_end():
    assert jax.config.pullback_memory_limit is None
    with jax.memory_limit(2**40) as outer, jax.memory_limit(2**50) as inner:
        assert (outer, inner) == (2**40, 2**40)
        with jax.memory_limit(None) as same:
            assert same == 2**40
    with pytest.raises(ZeroDivisionError), jax.memory_limit(0):
        1 / 0
    assert float(jnp.ones(3).sum()) == 3.0
    for wrong, kind in ((1.5, TypeError), (True, TypeError), ("1", TypeError), (-1, ValueError)):
        with pytest.raises(kind, match="memory_limit needs a"), jax.memory_limit(wrong):
            pass


def test_the_limit_of_a_program_in_compiled_code_and_threads():
    @jax.jit
    def needs_temporaries(x):
        return jnp.sort(jnp.outer(x, x), axis=0).sum()

    x = jnp.ones(512)
    assert float(needs_temporaries(x)) == 512 * 512
    with jax.memory_limit(1 << 16), pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED"):
        needs_temporaries(x)
    assert float(needs_temporaries(x)) == 512 * 512


def test_the_environment_variable_and_the_setting():
    program = """
try:
    jnp.ones((1024, 1024)) + 1
except jax.errors.JaxRuntimeError:
    jax.config.update("pullback_memory_limit", None)
    print(float(jnp.ones((1024, 1024)).sum()))
"""
    assert run(program, PULLBACK_MEMORY_LIMIT="1000000") == "1048576.0\n"
    names = {**os.environ, "PYTHONPATH": str(Path(jax.__file__).parent.parent), "PULLBACK_MEMORY_LIMIT": "much"}
    done = subprocess.run([sys.executable, "-c", "import pullback"], env=names, capture_output=True, text=True, check=False)
    assert "invalid value 'much' for environment 'PULLBACK_MEMORY_LIMIT'" in done.stderr
