"""A few of the calls of `tests/fuzz/hostile_calls.py`, and objects unpickled from bytes that were tampered with."""

import importlib.util
import os
import pickle
import subprocess
import sys

import pullback as jax
import pullback.numpy as jnp

DRIVER = os.path.join(os.path.dirname(__file__), "..", "fuzz", "hostile_calls.py")


def driver():
    spec = importlib.util.spec_from_file_location("hostile_calls", DRIVER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_hostile_calls_raise_exceptions():
    fuzz = driver()
    found, count = fuzz.campaign(seed=3, n_calls=1200, kind=fuzz.MODEST)
    assert count > 1000
    assert not found, "\n".join(f"{line}\n    {what}" for what, line in found)


def test_what_was_found_before_stays_mended():
    fuzz = driver()
    found, count = fuzz.campaign(seed=0, n_calls=len(fuzz.corpus()), kind=fuzz.KNOWN)
    assert count == len(fuzz.corpus())
    assert not found, "\n".join(f"{line}\n    {what}" for what, line in found)


def test_tampered_files_raise_or_give_something_that_can_be_read():
    fuzz = driver()
    found, count = fuzz.campaign(seed=3, n_calls=500, kind=fuzz.FILES)
    assert count > 450
    assert not found, "\n".join(f"{line}\n    {what}" for what, line in found)


def test_findings_are_made_smaller():
    fuzz = driver()
    line = "jax.jit(lambda x: jax._core._panic('here', *[m, m][:0]))(x)"
    what = fuzz.finding_of(line, 4 << 30, 5)
    assert "Pullback: here" in what
    assert fuzz.shrink(line, what, 4 << 30, 5) == "jax._core._panic('here')"


def test_the_driver_sees_what_it_looks_for():
    fuzz = driver()
    names = {"jax": jax, "panic": jax._core._panic}
    assert fuzz.outcome("panic('here')", names).startswith("internal")
    assert fuzz.outcome("1 / 0", names) == "ZeroDivisionError"
    lines = ["import os; os.abort()", "import time; time.sleep(60)"]
    for line, word in zip(lines, ("status -6", "hangs")):
        worker = fuzz.Worker(0, 0, 1, 4 << 30, patience=1)
        worker.process.kill()
        worker.process.communicate()
        program = f"import sys; print('0\\tline', flush=True); {line}"
        worker.process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert [what for what, _ in worker.findings() if word in what]


PICKLED = {
    "array": lambda: jnp.arange(6.0).reshape(2, 3), "integers": lambda: jnp.arange(4, dtype=jnp.int8), "half": lambda: jnp.ones(2, jnp.bfloat16),
    "structure": lambda: jax.tree.structure({"a": [1, (2, None)], "b": 0}),
    "keys": lambda: jax.random.split(jax.random.key(0)), "type": lambda: jax.typeof(jnp.ones(2)), "small": lambda: jnp.ones(3, jnp.int4),
    "shape": lambda: jax.ShapeDtypeStruct((2, 3), jnp.float32), "tree": lambda: {"w": jnp.ones(2), "b": [jnp.zeros(())]},
}


class Careful(pickle.Unpickler):
    """Finds only what the untampered bytes name, so that no command of the system is called."""

    def __init__(self, file, allowed):
        super().__init__(file)
        self.allowed = allowed

    def find_class(self, module, name):
        if (module, name) not in self.allowed:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


def _names(data):
    import io

    found = set()

    class Listing(pickle.Unpickler):
        def find_class(self, module, name):
            found.add((module, name))
            return super().find_class(module, name)

    Listing(io.BytesIO(data)).load()
    return found


def tamper(data, draw):
    data = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(data))
        change = draw.random()
        if change < 0.6:
            data[at] = draw.randrange(256)
        elif change < 0.8:
            del data[at : at + draw.randint(1, 8)]
        else:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 8)))
        if not data:
            return b"."
    return bytes(data)


def test_tampered_pickles_raise_or_give_something_that_can_be_read():
    """In a process of its own, as a fault ends it."""
    program = f"""
import io, random, resource, sys, warnings
sys.path.insert(0, {os.path.dirname(__file__)!r})
import test_hostile_calls as t
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
warnings.simplefilter("ignore")
for name, make in t.PICKLED.items():
    data = t.pickle.dumps(make())
    allowed, draw = t._names(data), random.Random(name)
    for _ in range(400):
        try:
            found = t.Careful(io.BytesIO(t.tamper(data, draw)), allowed).load()
            repr(found), t.jax.tree.leaves(found)
        except Exception as error:
            assert "internal error" not in str(error), (name, error)
print("done")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.stdout == "done\n", f"status {done.returncode}: {done.stderr[-1500:]}"
