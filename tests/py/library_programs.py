"""What the tests of libraries share: the environment that has them and no JAX, and programs that run in it.

The programs and the recorded answers are in `libraries/`; `scripts/setup libraries` makes the environment.
"""

import functools
import json
import os
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
SEARCHES = {("optimizers", "lbfgs"): 1e-12, ("optimizers", "backtracking"): 1e-12}


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


def cases(*programs):
    """The recorded cases of programs."""
    return [(program, case) for program in programs for case in GOLDEN[program]]


def check(run, program, case):
    """Compares what a program prints of a case with what JAX gave."""
    wanted = GOLDEN[program][case]
    found = json.loads(run("-m", "pullback", str(HERE / f"{program}.py")))[case]
    if isinstance(wanted, str):
        assert found == wanted
    else:
        tolerance = SEARCHES.get((program, case), RELATIVE)
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-9)
