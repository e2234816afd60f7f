"""What people read is true: the code of every page runs, links lead somewhere, tables are those of the tree."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest

import pullback

ROOT = Path(__file__).resolve().parents[2]
HELP = sorted((ROOT / "python" / "pullback" / "_help").glob("*.md"))
BOOK = sorted(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts)
READ = [ROOT / "README.md", *BOOK]
LINKED = [*READ, *HELP, *sorted((ROOT / "docs" / "decisions").glob("*.md")), ROOT / "CONTRIBUTING.md", *sorted((ROOT / "examples").rglob("*.md")), ROOT / "shim" / "README.md"]


def name_of(path):
    return str(path.relative_to(ROOT).with_suffix(""))


WITH_CODE = [path for path in READ if any(block.language == "python" for block in pages.blocks(path.read_text()))]


@pytest.mark.parametrize("path", WITH_CODE, ids=name_of)
def test_the_code_of_a_page_runs(path):
    pages.check_code(path)


@pytest.mark.parametrize("path", LINKED, ids=name_of)
def test_links_lead_somewhere(path):
    for target in pages.links(path.read_text()):
        if re.match(r"[a-z]+:", target) or target == "api/index.md":  # the reference is made with the book
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        assert goal.exists(), f"{target} leads nowhere"
        assert not anchor or anchor in pages.anchors(goal.read_text()), f"{target}: there is no such heading"


def readme():
    sys.path.insert(0, str(ROOT / "scripts"))
    import readme

    return readme


def test_generated_tables_are_those_of_the_tree():
    environment = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parents[1])}
    done = subprocess.run([sys.executable, ROOT / "scripts" / "readme.py", "--check"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_modules_that_may_be_absent_are_those_of_jax(jax_oracle):
    import importlib
    import pkgutil

    for package, names in readme().MODULES.items():
        found = {module.name for module in pkgutil.iter_modules(importlib.import_module(package).__path__)}
        assert set(names.split()) == {name for name in found if not name.startswith("_")}, package


def test_the_rows_of_times_are_measured():
    rows, sentence = readme().measured()
    assert set(readme().ROWS) <= set(rows) and "JAX 0.12" in sentence


def test_platforms_are_those_of_the_tree():
    import tomllib

    known = tomllib.loads((ROOT / "docs" / "platforms.toml").read_text())
    oldest, newest = known["python"]["oldest"], known["python"]["newest"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    minors = range(int(oldest.split(".")[1]), int(newest.split(".")[1]) + 1)
    assert project["requires-python"] == f">={oldest}"
    assert [line.rpartition(" ")[2] for line in project["classifiers"] if " :: 3." in line] == [f"3.{minor}" for minor in minors]
    assert f"(3, {minors[0]}) <= v < (3, {minors[-1] + 1})" in (ROOT / "scripts" / "python").read_text()
    assert minors[0] <= int(known["tested"]["python"].split(".")[1]) <= minors[-1]
    assert known["tested"]["system"] in {system["target"] for system in known["system"]}
    # Whatever the public CI runs is a system of the table, and the other way round.
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text()
    runners = {system["runner"] for system in known["system"] if "runner" in system}
    assert set(re.findall(r"^ +- system: (\S+)$", workflow, re.MULTILINE)) == runners
    assert re.findall(r"[\"'](3\.\d+)[\"']", re.search(r"python: \[(.*)\]", workflow)[1]) == [f"3.{minor}" for minor in minors]


def test_links_can_be_made_absolute():
    text = readme().absolute("[a](docs/a.md) ![b](b.svg) [c](https://c) [d](#d)", "https://e/f/")
    assert text == "[a](https://e/f/docs/a.md) ![b](https://e/f/b.svg) [c](https://c) [d](#d)"
    assert not [link for link in pages.links(readme().absolute((ROOT / "README.md").read_text(), "https://e")) if not re.match("https:|#", link)]
