"""Bytes and texts that were tampered with, for every loader: what ends the process, hangs, or is an error of Pullback itself.

Each function makes something whole, tampers with it as its seed says, loads it and, where a program comes out of it, runs that.
`hostile_calls.py --files` runs them in worker processes; what is refused with an exception is as it should be.
"""

import functools
import hashlib
import io
import os
import pickle
import random
import re
import signal
import struct
import tempfile
import threading


def interrupted_soon(fun):
    """The function, ended as by Ctrl-C after two seconds: a loop may rightly have been told to run for hours."""

    @functools.wraps(fun)
    def run(seed):
        timer = threading.Timer(2, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            return fun(seed)
        finally:
            timer.cancel()

    return run


def tampered(data, draw):
    """The bytes with a few changed, taken out or put in."""
    data = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(max(len(data), 1))
        change = draw.random()
        if change < 0.6 and data:
            data[at] = draw.choice([draw.randrange(256), 0, 255, ord(draw.choice("0123456789-[](){},= "))])
        elif change < 0.75:
            del data[at : at + draw.randint(1, 8)]
        elif change < 0.9:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.randint(1, 8)))
        else:
            del data[at:]
    return bytes(data)


NUMBERS = ["0", "1", "-1", "2", "3", "7", "1000000", "2147483647", "-2147483648", "4294967296", "9223372036854775807", "99999999999999999999", "nan", "inf"]


def tampered_text(text, draw):
    """The text with words, numbers or names exchanged, so that much of it is still well formed."""
    words = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(words))
        change = draw.random()
        digits = [place for place, word in enumerate(words) if word.isdigit()]
        if change < 0.45 and digits:
            words[draw.choice(digits)] = draw.choice(NUMBERS)
        elif change < 0.8:
            words[at] = draw.choice(words)
        elif change < 0.9:
            del words[at : at + draw.randint(1, 3)]
        else:
            words[at:at] = draw.choices(words, k=draw.randint(1, 3))
    return "".join(words)


@functools.cache
def _programs():
    import pullback as jax

    jnp, lax = jax.numpy, jax.lax
    x, i, m = jnp.linspace(0.1, 0.9, 4), jnp.array([2, 0, 3]), jnp.ones((4, 4)) + 2 * jnp.eye(4)
    made = [
        (lambda x: lax.scan(lambda c, t: (c * jnp.sin(t), c), 1.0, x)[0] + x[1:3].sum(), (x,)),
        (lambda x, i: x[i] + lax.dynamic_slice(x, (i[0],), (3,)), (x, i)),
        (lambda x, i: x.at[i].add(1.0, mode="drop"), (x, i)),
        (lambda m: jnp.linalg.solve(m, m[0]) @ m.T, (m,)),
        (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1], (x,)),
        (lambda x: lax.cond(x[0] > 0, lambda: jnp.cumsum(x), lambda: jnp.sort(x)), (x,)),
        (lambda x: lax.conv(x.reshape(1, 1, 2, 2), x.reshape(1, 1, 2, 2), (1, 1), "SAME"), (x,)),
        (lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (1,), "SAME"), (x,)),
        (lambda m: jnp.concatenate([m, jnp.pad(m, 1)[:4, :4]]).reshape(2, 16).transpose(), (m,)),
        (lambda m: lax.top_k(m, 2)[0] + jnp.fft.rfft(m).real[:, :2], (m,)),
        (lambda i: lax.bitcast_convert_type(i << 2, jnp.float32) + lax.population_count(i), (i,)),
        (jax.grad(lambda x: jnp.einsum("i,j->ij", x, x)[1:, ::2].sum()), (x,)),
        (lambda x: jax.random.normal(jax.random.key(0), (3,)) + x[:3], (x,)),
    ]
    return [(jax.make_jaxpr(fun)(*args), jax.export.export(jax.jit(fun))(*args).serialize(), args) for fun, args in made]


@interrupted_soon
def jaxpr(seed):
    """A program's text with words exchanged: parsed and run."""
    from pullback import _core, core

    draw = random.Random(f"jaxpr {seed}")
    closed, _, args = draw.choice(_programs())
    found = _core.jaxpr_from_text(tampered_text(closed.jaxpr._full_text(), draw))
    return core.eval_jaxpr(found, closed.consts, *args)


@interrupted_soon
def artefact(seed):
    """An exported function whose bytes were tampered with behind its checksum: loaded and called."""
    import pullback as jax
    from pullback._export import wire

    draw = random.Random(f"artefact {seed}")
    _, blob, args = draw.choice(_programs())
    if draw.random() < 0.3:
        return jax.export.deserialize(bytearray(tampered(blob, draw))).call(*args)
    start = len(wire.MAGIC) + 2 + 32
    body = blob[start:]
    length = struct.unpack_from("<Q", body)[0]
    head = body[8 : 8 + length]
    if draw.random() < 0.7:
        head = tampered_text(head.decode(), draw).encode(errors="replace")
        body = struct.pack("<Q", len(head)) + head + body[8 + length :]
    else:
        body = tampered(body, draw)
    blob = blob[: start - 32] + hashlib.sha256(body).digest() + body
    return jax.export.deserialize(bytearray(blob)).call(*args)


def npy(seed):
    """A file of an array: loaded."""
    import numpy as np
    import pullback as jax

    draw = random.Random(f"npy {seed}")
    file = io.BytesIO()
    np.save(file, draw.choice([np.ones((2, 3), np.float32), np.arange(5), np.zeros(0), np.array([True])]))
    return jax.numpy.load(io.BytesIO(tampered(file.getvalue(), draw)), allow_pickle=False) + 1


class Careful(pickle.Unpickler):
    """Finds only what the untampered bytes name, so that no command of the system is called."""

    def __init__(self, file, allowed):
        super().__init__(file)
        self.allowed = allowed

    def find_class(self, module, name):
        if (module, name) not in self.allowed:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return super().find_class(module, name)


@functools.cache
def _pickles():
    import pullback as jax

    jnp = jax.numpy
    objects = [
        jnp.arange(6.0).reshape(2, 3), jnp.ones(2, jnp.bfloat16), jnp.ones(3, jnp.int4), jax.tree.structure({"a": [1, (2, None)], "b": 0}),
        jax.random.split(jax.random.key(0)), jax.typeof(jnp.ones(2)), {"w": jnp.ones(2), "b": [jnp.zeros(())]},
    ]
    return [(data, _names(data)) for data in map(pickle.dumps, objects)]


def _names(data):
    found = set()

    class Listing(pickle.Unpickler):
        def find_class(self, module, name):
            found.add((module, name))
            return super().find_class(module, name)

    Listing(io.BytesIO(data)).load()
    return frozenset(found)


def pickled(seed):
    """A pickled array, key or treedef: loaded and read."""
    import pullback as jax

    draw = random.Random(f"pickled {seed}")
    data, allowed = draw.choice(_pickles())
    found = Careful(io.BytesIO(tampered(data, draw)), allowed).load()
    return repr(found), jax.tree.leaves(found)


def cached(seed):
    """A file of the persistent cache: a program that finds it gives the right numbers all the same."""
    import pullback as jax

    draw = random.Random(f"cached {seed}")
    with tempfile.TemporaryDirectory() as folder:
        fun = lambda x: jax.numpy.sin(x) * 2 + draw.random()
        before = {name: jax.config.read(name) for name in ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")}
        jax.config.update("jax_compilation_cache_dir", folder)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        try:
            state = draw.getstate()
            first = jax.jit(fun)(jax.numpy.ones(3))
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    data = file.read()
                with open(path, "wb") as file:
                    file.write(tampered(data, draw))
            draw.setstate(state)
            jax.clear_caches()
            second = jax.jit(fun)(jax.numpy.ones(3))
        finally:
            for name, value in before.items():
                jax.config.update(name, value)
    if not (first == second).all():
        raise SystemError("a tampered file changed a result")


TARGETS = {"jaxpr": jaxpr, "artefact": artefact, "npy": npy, "pickled": pickled, "cached": cached}
