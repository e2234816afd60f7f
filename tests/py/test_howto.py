"""The pages of `docs/howto`: the patch of each applies to the tree and touches the files that the page names, no other."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "howto").glob("*.md"))


def touched(patch):
    """The files that a patch changes."""
    return re.findall(r"^\+\+\+ b/(.+)$", patch.read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_patch_touches_what_the_page_says(page):
    patch = ROOT / "tests" / "howto" / f"{page.stem}.patch"
    said = re.search(r"^Files touched: (.+?)\. The patch", page.read_text(), re.MULTILINE | re.DOTALL)
    assert said and touched(patch) == re.findall(r"`([^`]+)`", said[1])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_patch_applies(page):
    patch = ROOT / "tests" / "howto" / f"{page.stem}.patch"
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: there is no git to apply it with")
    run = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
