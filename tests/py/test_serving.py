"""A function compiled in Python runs in a program without Python."""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp

ROOT = Path(__file__).resolve().parents[2]


def build():
    """The server, built as the tests of Rust are."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    subprocess.run(["cargo", "build", "-q", "-p", "serve"], cwd=ROOT, check=True)
    return target / "debug" / "serve"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A function of 64 numbers, and the address at which it is served."""
    weights = jax.random.normal(jax.random.key(0), (64, 10))
    function = jax.jit(lambda image: jax.nn.softmax(jnp.tanh(image) @ weights))
    path = tmp_path_factory.mktemp("serving") / "function.pullback"
    function.lower(jnp.zeros(64)).compile().save(path)
    server = subprocess.Popen([build(), path, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        yield function, re.search(r"http://\S+", server.stdout.readline())[0]
        assert server.poll() is None, "the server ended by itself"
    finally:
        server.kill()
        server.wait()


def ask(url, body):
    with urllib.request.urlopen(urllib.request.Request(url, body.encode(), method="POST"), timeout=20) as response:
        return json.loads(response.read())


def test_answers_are_those_of_python(served):
    function, url = served
    images = np.random.default_rng(0).random((8, 64), np.float32)
    found = [None] * len(images)

    def one(at):
        found[at] = ask(url, " ".join(map(str, images[at])))

    threads = [threading.Thread(target=one, args=(at,)) for at in range(len(images))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for image, answer in zip(images, found):
        assert np.array(answer, np.float32).tolist() == function(image).tolist()


@pytest.mark.parametrize("body", ["", "1 2 3", "a " * 64, "1 " * 65, "1 " * 2_000_000, "\0\0"])
def test_a_bad_request_is_told_so(served, body):
    with pytest.raises(urllib.error.HTTPError) as error:
        ask(served[1], body)
    assert error.value.code == 400
    assert re.search("numbers in place of 64|is no number", error.value.read().decode())


@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b[:10], lambda b: b"", lambda b: b[:99] + b"!" + b[100:], lambda b: b"x" * 1000])
def test_a_bad_file_is_refused(tmp_path, change):
    path = tmp_path / "bad.pullback"
    jax.jit(jnp.sin).lower(jnp.zeros(64)).compile().save(path)
    path.write_bytes(change(path.read_bytes()))
    ended = subprocess.run([build(), path, "--once"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "cut short or changed" in ended.stderr


def test_what_cannot_be_saved_says_why(tmp_path):
    calls = jax.jit(lambda x: jax.pure_callback(np.sin, x, x)).lower(jnp.zeros(3)).compile()
    with pytest.raises(NotImplementedError, match="calls back into the host"):
        calls.save(tmp_path / "callback.pullback")
    prints = jax.jit(lambda x: (jax.debug.print("{}", x), x)[1]).lower(jnp.zeros(3)).compile()
    with pytest.raises(NotImplementedError, match="effects"):
        prints.save(tmp_path / "effects.pullback")
    assert not list(tmp_path.iterdir())


def test_the_digits_example(tmp_path):
    path = tmp_path / "digits.pullback"
    ended = subprocess.run(
        [sys.executable, ROOT / "examples" / "save_digits.py", path], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    assert float(re.search(r"test accuracy ([\d.]+)\n$", ended.stdout)[1]) > 0.95
    ended = subprocess.run([build(), path, "--once"], capture_output=True, text=True, timeout=60)
    assert abs(sum(json.loads(ended.stdout.splitlines()[0])) - 1) < 1e-5


@pytest.mark.parametrize(
    "function, feature",
    [
        (lambda x: jnp.abs(jnp.fft.rfft(x)), "fft"),
        (jnp.sort, "sort"),
        (lambda x: jnp.linalg.inv(x.reshape(8, 8)), "linalg"),
        (lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3,), (1,), "SAME"), "window"),
        (lambda x: jnp.convolve(x, x), "conv"),
        (lambda x: jnp.abs(jnp.outer(x, x + 1j) @ jnp.outer(x, x + 1j)), "complex"),
    ],
)
def test_kernels_that_were_left_out_are_named(tmp_path, function, feature):
    path = tmp_path / "function.pullback"
    jax.jit(function).lower(jnp.zeros(64)).compile().save(path)
    ended = subprocess.run([build(), path, "--once"], capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0 and f"the feature `{feature}`" in ended.stderr
