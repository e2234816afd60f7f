"""Pages in Markdown: their code blocks, run; their links, looked up.

A block ```` ```python ```` is run, all of a page in one namespace; ```` ```python error=CLASS ```` must raise that class, and
```` ```python skip=REASON ```` is only compiled. A ```` ```text ```` block right after a block of Python is what that printed; `...` in it stands for
anything. ```` ```sh ```` and other languages are for reading.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "python"

FENCE = re.compile(r"^([ ]*)```(.*)$")


@dataclass
class Block:
    """A code block: its language, the options behind that, its text, and the line of the page where the text begins."""

    language: str
    options: dict
    text: str
    line: int
    follows: bool  # directly after the block before it


def blocks(page):
    """The code blocks of a page."""
    found, text, start, opened, last_end = [], [], None, None, -9
    lines = page.splitlines()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if fence and opened is None:
            opened, start = fence, number
            text = []
        elif fence and opened is not None and not fence[2].strip():
            language, _, options = opened[2].strip().partition(" ")
            settings = dict(option.partition("=")[::2] for option in options.split())
            indent = len(opened[1])
            follows = not any(between.strip() for between in lines[last_end : start - 1]) if found else False
            found.append(Block(language, settings, "\n".join(one[indent:] for one in text) + "\n", start + 1, follows))
            opened, last_end = None, number
        elif opened is not None:
            text.append(line)
    assert opened is None, f"a code block that begins at line {start} has no end"
    return found


# Run in a process of its own: argv is the page. Prints nothing when all is well.
RUN = r'''
import contextlib, io, re, sys, traceback
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from pages import blocks

def fits(printed, shown):
    pattern = ".*?".join(re.escape(part) for part in " ".join(shown.split()).split("..."))
    return re.fullmatch(pattern, " ".join(printed.split()), re.DOTALL) is not None

def run(block, names, path):
    # Empty lines in front, so that a traceback names the line of the page. Not its path: what lies in the package is not the user's.
    code = compile("\n" * (block.line - 1) + block.text, Path(path).name, "exec")
    if "skip" in block.options:
        return ""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            exec(code, names)
        except Exception as error:
            wanted = block.options.get("error")
            if wanted is None or wanted not in [base.__name__ for base in type(error).__mro__]:
                raise
        else:
            assert "error" not in block.options, f"{path}:{block.line}: {block.options['error']} was not raised"
    return out.getvalue()

path = sys.argv[1]
names, printed = {"__name__": "__page__"}, None
for block in blocks(Path(path).read_text()):
    if block.language == "python":
        printed = run(block, names, path)
    elif block.language == "text" and block.follows and printed is not None:
        assert fits(printed, block.text), f"{path}:{block.line}: printed\n{printed}"
        printed = None
'''


def check_code(path):
    """Runs the code of a page in a process of its own, with four devices."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "MPLBACKEND": "Agg", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    program = [sys.executable, "-c", RUN, path, Path(__file__).parent]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, cwd=PACKAGE.parent, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def anchors(text):
    """The anchors of a page's headings, as the sites that show Markdown make them."""
    found = set()
    is_code = False
    for line in text.splitlines():
        if FENCE.match(line):
            is_code = not is_code
        heading = re.match(r"#+ (.*)", line)
        if heading and not is_code:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            found.add(re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-"))
    return found


def links(text):
    """The targets of the links and pictures of a page, outside of code."""
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"`[^`\n]*`", lambda code: code[0] if "](" in code[0] else "``", prose)
    return re.findall(r"\]\(([^)\s]+)\)", prose)
