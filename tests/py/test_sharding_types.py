"""Shardings in types on an explicit mesh, against JAX in processes with 8 CPU devices."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from differential import lines_of

HERE = pathlib.Path(__file__).parent
LINES = lines_of((HERE / "sharding_types.txt").read_text())

# What a text of an error must share with JAX's: those of its words that name what to do, where it has them.
WORDS = (
    "out_sharding", "sharded", "incompatible shardings", "contracting", "unreduced", "reshard", "divide", "replicated", "nested tuple",
    "Subclassing", "duplicate", "not found in mesh",
)


def results(system):
    paths = [str(HERE.parents[1] / "python"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("XLA_FLAGS", None)
    program = [sys.executable, str(HERE / "sharding_program.py"), system]
    done = subprocess.run(program, input=json.dumps(LINES), capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    return dict(zip(LINES, json.loads(done.stdout.splitlines()[-1])))


@pytest.fixture(scope="module")
def both(jax_oracle):
    return results("pullback"), results("jax")


def check_same(ours, theirs):
    if isinstance(theirs, dict) and "error" in theirs:
        assert isinstance(ours, dict) and ours.get("error") == theirs["error"], f"\n ours  {ours!r}\n JAX's {theirs!r}"
        missing = [word for word in WORDS if word in theirs["text"] and word not in ours["text"]]
        assert not missing, f"{missing}\n ours  {ours['text']}\n JAX's {theirs['text']}"
    elif isinstance(theirs, dict) and "type" in theirs:
        assert isinstance(ours, dict) and "type" in ours, f"\n ours  {ours!r}\n JAX's {theirs!r}"
        for key in ("type", "spec", "shards"):
            assert ours.get(key) == theirs.get(key), f"{key}\n ours  {ours.get(key)!r}\n JAX's {theirs.get(key)!r}"
        np.testing.assert_allclose(ours.get("elements", []), theirs.get("elements", []), rtol=1e-5, atol=1e-5)
    elif isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs), f"\n ours  {ours!r}\n JAX's {theirs!r}"
        for one, other in zip(ours, theirs):
            check_same(one, other)
    else:
        assert ours == theirs, f"\n ours  {ours!r}\n JAX's {theirs!r}"


@pytest.mark.parametrize("line", LINES)
def test_types_as_in_jax(line, both):
    check_same(both[0][line], both[1][line])
