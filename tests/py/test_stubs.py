"""The type stubs say what is there: `mypy.stubtest` finds no difference between them and the modules that are imported.

`stubtest_allowlist.txt` has what a stub cannot say; entries that match nothing are themselves a finding.
"""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import pullback

HERE = Path(__file__).parent
PACKAGE = Path(pullback.__file__).parent
MODULES = ("pullback._core", "pullback.numpy", "pullback.lax", "pullback.nn", "pullback.random")
# The first that knows `disjoint_base`.
OLDEST = (1, 18)


@pytest.fixture(scope="module")
def mypy():
    """The program; tests are skipped where it is missing or older than what the stubs say."""
    try:
        found = metadata.version("mypy")
    except metadata.PackageNotFoundError:
        pytest.skip("mypy is not installed")
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST:
        pytest.skip(f"mypy is {found}; the stubs need {'.'.join(map(str, OLDEST))}")
    return (sys.executable, "-m", "mypy.stubtest")


def test_stubs_are_consistent(mypy):
    options = ("--concise", "--mypy-config-file", HERE / "stubtest.ini", "--allowlist", HERE / "stubtest_allowlist.txt")
    root = str(PACKAGE.parent)
    environment = {**os.environ, "PYTHONPATH": root, "MYPYPATH": root}
    done = subprocess.run([*mypy, *options, *MODULES], capture_output=True, text=True, env=environment, cwd=root, timeout=600)
    findings = (done.stdout + done.stderr).strip()
    assert not findings and done.returncode == 0, f"mend scripts/stub_types.py or the signature at run time:\n{findings}"


def test_every_module_of_the_extension_has_a_stub():
    for name in MODULES:
        folder = PACKAGE.joinpath(*name.split(".")[1:])
        assert (folder / "__init__.pyi").exists(), name
        assert name in sys.modules or __import__(name), name
    assert sys.modules["pullback._core.lax"] is pullback._core.lax
