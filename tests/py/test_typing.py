"""What checkers of types see: `examples` and the programs of `tests/typing` are clean when they are strict, and mistakes are found."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pullback

ROOT = Path(__file__).resolve().parents[2]
TYPING = ROOT / "tests" / "typing"
# The libraries that `optax_digits.py` uses do not say their types.
CLEAN = [TYPING / "program.py", TYPING / "answers.py", ROOT / "examples" / "digits.py", *sorted((ROOT / "examples" / "gradients").glob("*.py"))]
MISTAKES = TYPING / "mistakes.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parents[1]), "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}


def wanted():
    """The lines of `mistakes.py` that hold one."""
    return {number for number, line in enumerate(MISTAKES.read_text().splitlines(), 1) if line.endswith("# mistake")}


def run(*arguments):
    return subprocess.run([sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, env=ENVIRONMENT, cwd=ROOT, timeout=600)


@pytest.fixture(scope="module")
def by_mypy(tmp_path_factory):
    """What mypy finds, as pairs of a file and a line."""
    pytest.importorskip("mypy")
    options = ("--config-file", TYPING / "mypy.ini", "--no-error-summary", "--cache-dir", tmp_path_factory.mktemp("mypy"))
    done = run("mypy", *options, *CLEAN, MISTAKES)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    return [((ROOT / line.split(":")[0]).resolve(), int(line.split(":")[1]), line) for line in lines]


@pytest.fixture(scope="module")
def by_pyright():
    """What pyright finds, in the same form."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    done = run("pyright", "-p", TYPING, "--pythonpath", sys.executable, "--outputjson")
    try:
        found = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        pytest.skip(f"pyright does not run here: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    found = [one for one in found if one["severity"] == "error"]
    return [(Path(one["file"]).resolve(), one["range"]["start"]["line"] + 1, one["message"]) for one in found]


def check_clean(found):
    outside = [text for file, _, text in found if file != MISTAKES]
    assert not outside, "\n".join(outside)


def check_mistakes(found):
    assert {line for file, line, _ in found if file == MISTAKES} == wanted()


def test_mypy_finds_nothing_in_what_is_right(by_mypy):
    check_clean(by_mypy)


def test_mypy_finds_mistakes(by_mypy):
    check_mistakes(by_mypy)


def test_pyright_finds_nothing_in_what_is_right(by_pyright):
    check_clean(by_pyright)


def test_pyright_finds_mistakes(by_pyright):
    check_mistakes(by_pyright)


@pytest.mark.parametrize("path", [TYPING / "program.py", TYPING / "answers.py"], ids=lambda path: path.stem)
def test_the_programs_run(path):
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr


def stub_names(path):
    """The public names that a stub defines or hands on."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname for alias in node.names if alias.asname == alias.name or alias.asname}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found |= {ast.unparse(target) for target in (node.targets if isinstance(node, ast.Assign) else [node.target])}
    return {name for name in found if not name.startswith("_")}


def test_the_stub_of_the_package_has_all_its_names():
    import types

    folder = Path(pullback.__file__).parent
    # Names that JAX's package has not are there, and not in `dir`.
    named = {name for name in [*dir(pullback), *pullback._NAMES] if not name.startswith("_")}
    # Modules of the table that are not written yet are not there for an editor either.
    there = {name for name in named if getattr(pullback, name, None) is not None}
    assert stub_names(folder / "__init__.pyi") - {"Any"} == there - {"annotations"}
    assert all(isinstance(getattr(pullback, name), types.ModuleType) for name in there if (folder / f"{name}.py").exists())


@pytest.mark.parametrize("module", ["_api", "_jit", "_control", "_device", "custom_derivatives", "sharding", "tree_util", "debug"])
def test_functions_of_stubs_have_the_parameters_of_the_source(module):
    folder = Path(pullback.__file__).parent
    parameters = {}
    for suffix in ("py", "pyi"):
        for node in ast.parse((folder / f"{module}.{suffix}").read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                arguments = node.args
                names = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
                parameters.setdefault(node.name, {}).setdefault(suffix, set()).update(names)
    for name, found in parameters.items():
        if "py" not in found:  # the function is the core's, or another name of one
            continue
        assert "pyi" in found, name
        # An overload may name a positional parameter that the source has behind a star.
        assert found["py"] <= found["pyi"] | {"fun"} and found["pyi"] - found["py"] <= {"rest", "other"}, name


def test_stubs_carry_documentation():
    folder = Path(pullback.__file__).parent
    for file, function in (("_core/numpy/__init__.pyi", "cumsum"), ("_api.pyi", "grad"), ("_control.pyi", "scan"), ("custom_derivatives.pyi", "custom_jvp")):
        nodes = [node for node in ast.parse((folder / file).read_text()).body if getattr(node, "name", None) == function]
        assert any(ast.get_docstring(node) for node in nodes), function
