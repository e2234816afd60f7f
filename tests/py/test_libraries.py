"""Libraries written for JAX run unmodified on Pullback, in an environment without JAX, and give JAX's numbers.

Networks and what trains and keeps them; others are in `test_numerical_libraries.py` and `test_probability_libraries.py`.
"""

import json
import re

import pytest
from library_programs import GOLDEN, HERE, cases, check, run

__all__ = ["run"]
PROGRAMS = ["optimizers", "chex_uses", "haiku_train", "linen_train", "nnx_train", "equinox_train", "orbax_checkpoints"]


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


@pytest.mark.parametrize("program, case", cases(*PROGRAMS))
def test_results_are_those_of_jax(program, case, run):
    check(run, program, case)


def test_the_example_learns_to_read(run):
    printed = run("-m", "pullback", str(HERE.parents[2] / "examples" / "optax_digits.py"))
    accuracies = [float(text) for text in re.findall(r"^epoch .* test accuracy ([0-9.]+)$", printed, re.M)]
    assert len(accuracies) == 15 and accuracies[-1] >= 0.95


def test_every_program_is_recorded():
    programs = {path.stem for path in HERE.glob("*.py")} - {"record", "task"}
    assert programs == set(GOLDEN)
    assert all(GOLDEN.values())
