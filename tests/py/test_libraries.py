"""Libraries written for JAX run unmodified on Pullback, in an environment without JAX, and give JAX's numbers.

The programs and the recorded answers are in `libraries/`; `scripts/setup libraries` makes the environment.
"""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback

HERE = Path(__file__).parent / "libraries"
GOLDEN = {path.stem: json.loads(path.read_text())["results"] for path in sorted((HERE / "golden").glob("*.json"))}
PYTHON = Path(os.environ.get("PULLBACK_LIBRARIES", HERE.parents[2] / ".venv-libraries")) / "bin" / "python"

# Twelve steps agree to the last bits: measured 7e-7 at most, for an optimizer whose losses grow to 124.
RELATIVE = 2e-6
# In double precision, where a line search decides by comparing losses: measured 7e-15.
SEARCHES = {"lbfgs": 1e-12, "backtracking": 1e-12}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs Python with the arguments in the environment of the libraries, with this Pullback and no other package of ours."""
    if not PYTHON.exists():
        pytest.skip("there is no environment with the libraries; scripts/setup libraries makes it where packages can be had")
    path = tmp_path_factory.mktemp("pullback-only")
    (path / "pullback").symlink_to(Path(pullback.__file__).parent, target_is_directory=True)
    version = "import sys; print(sys.version_info[:2])"
    found = subprocess.run([PYTHON, "-c", version], capture_output=True, text=True, check=True).stdout.strip()
    if found != str(sys.version_info[:2]):
        pytest.skip(f"the libraries are installed for Python {found}, these tests run on {sys.version_info[:2]}")

    @functools.cache
    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([PYTHON, *arguments], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_the_environment_has_the_recorded_versions_and_no_jax(run):
    program = """if True:
        import importlib.metadata, importlib.util, json
        names = {distribution.metadata["Name"]: distribution.version for distribution in importlib.metadata.distributions()}
        print(json.dumps([names, importlib.util.find_spec("jax") is None and importlib.util.find_spec("jaxlib") is None]))
    """
    found, without_jax = json.loads(run("-c", program))
    pins = [line.split("==") for line in (HERE / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    normal = lambda name: name.lower().replace("_", "-")  # noqa: E731
    found = {normal(name): version for name, version in found.items()}
    assert {name: found.get(normal(name)) for name, _ in pins} == dict(pins)
    assert without_jax


@pytest.mark.parametrize("program, case", [(program, case) for program, cases in GOLDEN.items() for case in cases])
def test_results_are_those_of_jax(program, case, run):
    wanted = GOLDEN[program][case]
    found = json.loads(run("-m", "pullback", str(HERE / f"{program}.py")))[case]
    if isinstance(wanted, str):
        assert found == wanted
    else:
        tolerance = SEARCHES.get(case, RELATIVE)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-9)


def test_the_example_learns_to_read(run):
    printed = run("-m", "pullback", str(HERE.parents[2] / "examples" / "optax_digits.py"))
    accuracies = [float(text) for text in re.findall(r"^epoch .* test accuracy ([0-9.]+)$", printed, re.M)]
    assert len(accuracies) == 15 and accuracies[-1] >= 0.95


def test_every_program_is_recorded():
    programs = {path.stem for path in HERE.glob("*.py")} - {"record", "task"}
    assert programs == set(GOLDEN)
    assert all(GOLDEN.values())
