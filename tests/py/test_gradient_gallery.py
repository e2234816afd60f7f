"""The gallery of `docs/gradients.md`: its programs run, and the page shows what they print."""

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples" / "gradients").glob("*.py"))
PAGE = (ROOT / "docs" / "gradients.md").read_text()


@pytest.mark.parametrize("path", PROGRAMS, ids=[path.stem for path in PROGRAMS])
def test_a_program_reaches_what_it_promises(path):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path), run_name="__main__")
    assert f"examples/gradients/{path.name}" in PAGE
    shown = re.findall(rf"<!-- {path.name} -->\n```text\n(.*?)```", PAGE, re.S)
    assert shown, "the page shows nothing of this program"
    text = printed.getvalue().replace(str(path), path.name)
    for block in shown:
        assert block in text, block


def test_every_python_block_of_the_page_runs():
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(compile(block, "docs/gradients.md", "exec"), names)
