"""Every public function says what it takes and gives, what it raises, whether it has a derivative, and shows an example that runs.

The sections are `Args:`, `Returns:`, `Raises:`, `Differentiable:` and `Example:`, in this order; a function without
arguments needs no `Args:`, one that raises nothing of its own no `Raises:`. The examples are run, and what they print
is compared. `golden/short_docstrings.txt` lists the functions that are not described in full yet; it only shrinks.
"""

import doctest
import importlib
import inspect
import os
import re
from pathlib import Path

import pytest

import pullback
import pullback.numpy

MODULES = ("pullback", "pullback.numpy", "pullback.lax", "pullback.nn", "pullback.nn.initializers", "pullback.random",
           "pullback.tree", "pullback.tree_util", "pullback.numpy.linalg", "pullback.numpy.fft", "pullback.lax.linalg",
           "pullback.scipy.linalg", "pullback.scipy.special", "pullback.debug", "pullback.flatten_util")  # fmt: skip
SHORT = Path(__file__).parent / "golden" / "short_docstrings.txt"
SECTIONS = ("Args:", "Returns:", "Raises:", "Differentiable:", "Example:")
DIRECTIVES = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def functions(module):
    """The public functions that a module shows, by name; aliases of one object once."""
    seen = {}
    for name, value in vars(importlib.import_module(module)).items():
        is_function = inspect.isroutine(value) or (callable(value) and not inspect.isclass(value) and hasattr(value, "__name__"))
        if not name.startswith("_") and is_function and id(value) not in seen:
            seen[id(value)] = (name, value)
    return dict(seen.values())


def wants_arguments(function):
    try:
        return bool(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False


def faults(function):
    """What a docstring lacks."""
    text = inspect.getdoc(function) or ""
    found = [line for line in re.findall(r"^(\w+:)", text, re.MULTILINE) if line in SECTIONS]
    wanted = {"Returns:", "Differentiable:", "Example:"} | ({"Args:"} if wants_arguments(function) else set())
    if missing := sorted(wanted - set(found)):
        yield f"no {', '.join(missing)}"
    if found != sorted(found, key=SECTIONS.index) or len(set(found)) != len(found):
        yield f"sections out of order: {found}"
    if "Example:" in found and ">>> " not in text.split("Example:")[1]:
        yield "an example without `>>>`"


def listed():
    return set(SHORT.read_text().splitlines()) if SHORT.exists() else set()


def short_in(module):
    return {f"{module}.{name}" for name, function in functions(module).items() if any(faults(function))}


@pytest.fixture(scope="module", autouse=True)
def updated():
    """With UPDATE_EXPECT=1, functions that are described now leave the list."""
    if os.environ.get("UPDATE_EXPECT"):
        still = set().union(*map(short_in, MODULES))
        SHORT.write_text("".join(f"{name}\n" for name in sorted((listed() & still) if SHORT.exists() else still)))


@pytest.mark.parametrize("module", MODULES)
def test_functions_are_described(module):
    known = {name for name in listed() if name.rpartition(".")[0] == module}
    short = short_in(module)
    assert not short - known, {name: list(faults(functions(module)[name.rpartition(".")[2]])) for name in sorted(short - known)}
    assert not known - short, f"described now; delete from {SHORT.name}: {sorted(known - short)}"


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    names = {"jax": pullback, "jnp": pullback.numpy, "pullback": pullback, "lax": pullback.lax}
    runner = doctest.DocTestRunner(optionflags=DIRECTIVES)
    report = []
    for name, function in functions(module).items():
        examples = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", dict(names), f"{module}.{name}", None, None)
        runner.run(examples, out=report.append)
    assert not runner.failures, "".join(report)
