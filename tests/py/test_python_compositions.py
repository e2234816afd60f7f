"""`python/compositions.txt` names every public function of arrays that is a Python function, and no other."""

import importlib
import pkgutil
import types
import warnings
from pathlib import Path

LIST = Path(__file__).resolve().parents[2] / "python" / "compositions.txt"
PACKAGES = ("numpy", "scipy", "lax", "nn", "random", "ops")


def modules():
    """The public modules of the packages, with those inside them."""
    for package in PACKAGES:
        module = importlib.import_module(f"pullback.{package}")
        yield module
        for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"pullback.{package}."):
            if not any(part.startswith("_") for part in found.name.split(".")):
                yield importlib.import_module(found.name)


def python_function(found):
    """The Python function behind a public object, if there is one."""
    inner = found if isinstance(found, types.FunctionType) else getattr(found, "__wrapped__", None)
    return inner if isinstance(inner, types.FunctionType) and inner.__module__.startswith("pullback") else None


def in_python():
    """The first name of each public function that Python code is."""
    names = {}
    for module in modules():
        public = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        for name in public:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = python_function(getattr(module, name, None))
            if function is not None:
                names.setdefault(function.__code__, f"{module.__name__.removeprefix('pullback.')}.{name}")
    return set(names.values())


def listed():
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith(("#", "["))]
    return [line.split(": ", 1) for line in lines]


def test_the_list_is_what_the_package_has():
    names = [name for name, _ in listed()]
    assert len(set(names)) == len(names)
    missing, gone = in_python() - set(names), set(names) - in_python()
    assert not missing, f"Python functions that {LIST.name} does not name: {sorted(missing)}"
    assert not gone, f"{LIST.name} names what is no Python function (any more): {sorted(gone)}"


def test_each_function_has_a_reason_that_is_there():
    reasons = dict(listed())
    for name, reason in reasons.items():
        assert reason, name
        assert not reason.startswith("as ") or reason[3:] in reasons, f"{name}: {reason}"
