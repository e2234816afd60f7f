"""The sources of the book: every page stands in a table of contents, every link leads somewhere, the reference has what is public."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pages
import pytest

import pullback

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    environment = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parents[1])}
    done = subprocess.run([sys.executable, ROOT / "scripts" / "book.py", folder], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_stands_in_the_contents(book):
    named = set()
    for path in book.rglob("*.md"):
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text(), re.DOTALL):
            entries = [line for line in tree.splitlines() if line and not line.startswith(":")]
            named |= {os.path.normpath(path.relative_to(book).parent / entry) for entry in entries}
    assert {str(path.relative_to(book).with_suffix("")) for path in book.rglob("*.md")} - named == {"index"}
    assert all((book / f"{name}.md").exists() for name in named)


def test_links_lead_somewhere(book):
    for path in book.rglob("*.md"):
        for target in pages.links(path.read_text()):
            file, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target) or path.parent.name == "api" and path.stem != "index":
                continue
            goal = (path.parent / file).resolve() if file else path
            assert goal.exists(), f"{path}: {target}"
            assert not anchor or anchor in pages.anchors(goal.read_text()), f"{path}: {target}"


@pytest.mark.parametrize("module, least", [("pullback", 100), ("pullback.numpy", 350), ("pullback.lax", 150), ("pullback.random", 40), ("pullback.scipy.special", 50)])
def test_the_reference_has_what_is_public(book, module, least):
    page = (book / "api" / f"{module}.md").read_text()
    assert page.count("\n## ") >= least
    assert "**Returns**" in page and "```pycon" in page


def test_a_function_is_described_in_full(book):
    page = (book / "api" / "pullback.numpy.md").read_text()
    part = page.split("\n## cumsum\n")[1].split("\n## ")[0]
    assert "```python\ncumsum(a, axis=None, dtype=None, out=None)\n```" in part
    places = [part.index(f"**{section}**") for section in ("Args", "Returns", "Raises", "Differentiable", "Example")]
    assert places == sorted(places) and "- `axis`: " in part
