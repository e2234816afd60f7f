"""The persistent compilation cache of our own engine: the next process loads what one compiled, with the same bits."""

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pullback as jax

PROGRAM = """
import sys
import numpy as np
import pullback as jax
import pullback.numpy as jnp
from pullback import _core

jax.config.update("jax_compilation_cache_dir", sys.argv[1])
for setting in sys.argv[2:]:
    name, value = setting.split("=")
    jax.config.update(name, float(value))
table = np.linspace(0.0, 1.0, 7, dtype=np.float32)

@jax.jit
def step(w, x):
    def loss(w):
        h = jnp.tanh(x @ w["a"]) @ w["b"]
        best = jnp.sort(h, axis=-1)[..., -3:]
        return jnp.where(h > 0, h, 0.1 * h).sum() + best.sum() + (jnp.asarray(table) * 2).sum(), h.shape[0] * 1.5
    (value, extra), grads = jax.value_and_grad(loss, has_aux=True)(w)
    return value, extra, w["a"], jax.tree.map(lambda w, g: w - 0.1 * g, w, grads)

w = {"a": np.arange(12, dtype=np.float32).reshape(3, 4) / 9, "b": np.ones((4, 5), np.float32)}
before = _core.n_loaded()
out = step(w, np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
print(_core.n_loaded() - before, b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(out)).hex())
"""
ALWAYS = "jax_persistent_cache_min_compile_time_secs=0"


def run(folder, *settings, program=PROGRAM, **environment):
    names = {**os.environ, "PYTHONPATH": str(Path(jax.__file__).parent.parent), **environment}
    command = [sys.executable, "-c", program, str(folder), *settings]
    done = subprocess.run(command, env=names, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-2000:]}"
    loaded, bits = done.stdout.split()
    return int(loaded), bits


def files(folder):
    return sorted(Path(folder).glob("*.pullback"))


HAS_OWN_ENGINE = "avx2" in Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else False
own_engine = pytest.mark.skipif(not HAS_OWN_ENGINE, reason="only code of the engine for x86-64 is kept")


@own_engine
def test_the_next_process_loads_what_one_compiled(tmp_path):
    loaded, bits = run(tmp_path, ALWAYS)
    assert loaded == 0 and files(tmp_path)
    loaded, again = run(tmp_path, ALWAYS)
    assert loaded >= 1 and again == bits
    assert not list(tmp_path.glob("*.draft"))


@own_engine
def test_it_has_the_bits_of_a_process_without_it(tmp_path):
    plain = run("", ALWAYS)
    run(tmp_path, ALWAYS)
    assert run(tmp_path, ALWAYS)[1] == plain[1]


def test_nothing_is_written_without_a_folder_or_below_the_limits(tmp_path):
    os.makedirs(tmp_path / "home", exist_ok=True)
    run("", ALWAYS)
    for settings in ([], [ALWAYS, "jax_enable_compilation_cache=0"], [ALWAYS, "jax_persistent_cache_min_entry_size_bytes=1e9"]):
        run(tmp_path, *settings)
        assert not files(tmp_path), settings


@own_engine
def test_files_that_were_changed_are_compiled_anew(tmp_path):
    _, bits = run(tmp_path, ALWAYS)
    for change in (lambda data: data[:-1], lambda data: data[:50], lambda data: b"", lambda data: data[:-9] + b"\\x90" + data[-8:]):
        for file in files(tmp_path):
            file.write_bytes(change(file.read_bytes()))
        assert run(tmp_path, ALWAYS) == (0, bits)
        assert run(tmp_path, ALWAYS)[0] >= 1


@own_engine
def test_another_program_and_other_instructions_do_not_find_it(tmp_path):
    run(tmp_path, ALWAYS)
    assert run(tmp_path, ALWAYS, program=PROGRAM.replace("0.1 * h", "0.2 * h"))[0] == 0
    assert run(tmp_path, ALWAYS, program=PROGRAM.replace("linspace(0.0, 1.0", "linspace(0.0, 1.5"))[0] == 0
    assert run(tmp_path, ALWAYS, PULLBACK_ENGINE="avx2")[0] == 0
    assert run(tmp_path, ALWAYS, PULLBACK_ENGINE="cranelift")[0] == 0


@own_engine
def test_many_processes_may_write_at_once(tmp_path):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: run(tmp_path, ALWAYS), range(6)))
    assert len({bits for _, bits in found}) == 1
    assert run(tmp_path, ALWAYS)[0] >= 1
    assert not list(tmp_path.glob("*.draft"))


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path):
    file = tmp_path / "file"
    file.write_text("no folder")
    assert run(file, ALWAYS) == run("", ALWAYS)
    if os.path.exists("/dev/full"):
        assert run("/dev/full", ALWAYS) == run("", ALWAYS)


@own_engine
def test_the_oldest_go_when_all_are_too_large(tmp_path):
    run(tmp_path, ALWAYS)
    size = max(file.stat().st_size for file in files(tmp_path))
    for number in range(4):
        run(tmp_path, ALWAYS, f"jax_compilation_cache_max_size={2 * size + 100}", program=PROGRAM.replace("0.1 * h", f"0.{number + 2} * h"))
    assert sum(file.stat().st_size for file in files(tmp_path)) <= 2 * size + 100


def test_what_a_text_does_not_tell_is_never_loaded(tmp_path):
    """Functions of the host, and primitives of users, have no text that says what they do."""
    program = """
import sys
import numpy as np
import pullback as jax
from pullback import _core
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
factor = float(sys.argv[2].split("=")[1])
f = jax.jit(lambda x: jax.pure_callback(lambda x: np.float32(factor) * x, jax.ShapeDtypeStruct((), np.float32), x) + 1)
print(0, float(f(np.float32(1.0))))
"""
    for factor in (2.0, 3.0):
        names = {**os.environ, "PYTHONPATH": str(Path(jax.__file__).parent.parent)}
        command = [sys.executable, "-c", program, str(tmp_path), f"factor={factor}"]
        done = subprocess.run(command, env=names, capture_output=True, text=True, timeout=120, check=False)
        assert done.stdout == f"0 {factor + 1}\n", done.stderr[-1500:]
