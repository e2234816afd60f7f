"""Writes the sources of the book into a folder: the pages of `docs`, the pages of errors, and a reference made of the docstrings.

    python scripts/book.py out/book-source

`scripts/book` then makes HTML of them with Sphinx. It needs `pullback` to be importable, and nothing else.
"""

import importlib
import inspect
import os
import pkgutil
import re
import shutil
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HELP = ROOT / "python" / "pullback" / "_help"
SECTIONS = ("Args", "Returns", "Raises", "Differentiable", "Example")
CONTENTS = {
    "Begin": ["install", "quickstart", "coming-from-jax", "sharp-bits"],
    "Guides": [
        "guides/transformations", "guides/control-flow", "guides/random-numbers", "guides/trees", "gradients", "guides/sharding",
        "accelerators", "guides/looking-inside", "guides/fast-programs", "guides/custom-rules", "guides/custom-primitives",
        "guides/serving-from-rust",
    ],
    "Reference": ["api/index", "errors", "coverage", "accuracy", "performance", "reliability"],
    "For developers": ["architecture", "contributing", "howto/*", "decisions/README", "decisions/0*", "releasing", "changelog"],
}  # fmt: skip
CONFIGURATION = '''
project = "Pullback"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Pullback {version}"
html_show_copyright = html_copy_source = html_show_sourcelink = False
myst_heading_anchors = 4
exclude_patterns = []
# Fences may hold shortened programs, which no lexer of Python accepts.
suppress_warnings = ["misc.highlighting_failure"]
'''


def pages():
    """Where in the book each file of the tree stands, without its ending."""
    found = {path: str(path.relative_to(ROOT / "docs").with_suffix("")) for path in sorted((ROOT / "docs").rglob("*.md"))}
    found |= {path: f"errors/{path.stem}" for path in sorted(HELP.glob("*.md"))}
    return found | {ROOT / "CHANGELOG.md": "changelog", ROOT / "CONTRIBUTING.md": "contributing"}


def relinked(text, path, page, places):
    """The text of a file with its links leading to pages of the book; what is not in the book is named, not linked."""
    def link(found):
        mark, words, target = found.groups()
        file, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not file:
            return found[0]
        goal = (path.parent / file).resolve()
        goal = goal / "README.md" if goal.is_dir() else goal
        here = os.path.dirname(page) or "."
        if goal in places:
            return f"{mark}[{words}]({os.path.relpath(places[goal] + '.md', here)}{'#' + anchor if anchor else ''})"
        if goal.is_relative_to(ROOT / "docs"):
            return f"{mark}[{words}]({os.path.relpath(goal.relative_to(ROOT / 'docs'), here)})"
        shown = str(goal.relative_to(ROOT)) if goal.is_relative_to(ROOT) else target
        return words if shown.strip("/") in words else f"{words} (`{shown}`)"

    parts = re.split(r"(^ *```.*?^ *```)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.lstrip().startswith("```") else re.sub(r"(!?)\[([^\]\[]*)\]\(([^)\s]+)\)", link, part) for part in parts)


def contents(places):
    """The tables of contents, for the end of the first page."""
    known = set(places.values()) | {"api/index"}
    lines = []
    for caption, entries in CONTENTS.items():
        names = []
        for entry in entries:
            wanted = re.compile(re.escape(entry).replace(r"\*", ".*") + "$")
            names += sorted(name for name in known if wanted.match(name) and name not in names)
        lines += ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *names, "```"]
    lines += ["", "```{toctree}", ":hidden:", "", *sorted(name for name in known if name.startswith("errors/")), "```"]
    return "\n".join(lines) + "\n"


def public_modules():
    """The names of the public modules, each after its package."""
    import pullback

    names = ["pullback"]
    for module in pkgutil.walk_packages(pullback.__path__, "pullback."):
        if not any(part.startswith("_") for part in module.name.split(".")):
            names.append(module.name)
    return sorted(names)


def shown(module):
    """The public functions and classes of a module, by name."""
    late = getattr(module, "_NAMES", ())
    names = getattr(module, "__all__", None) or [name for name in [*vars(module), *late] if not name.startswith("_")]
    found = {}
    for name in sorted(set(names)):
        value = getattr(module, name, None)
        is_ours = (getattr(value, "__module__", None) or "").startswith("pullback") or type(value).__module__.startswith("pullback")
        if callable(value) and is_ours and not isinstance(value, types.ModuleType) and inspect.getdoc(value):
            found[name] = value
    return found


def prose(line):
    """A line of a docstring as Markdown: what looks like HTML is text."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([<*|])", r"\\\1", part) for part in parts)


def described(text):
    """A docstring as Markdown."""
    lines, section = [], None
    for line in inspect.cleandoc(text).splitlines():
        begins = re.match(rf"({'|'.join(SECTIONS)}):\s*(.*)$", line)
        if section == "Example" and begins is None:
            lines.append(line.removeprefix("  "))
            continue
        if section == "Example":
            lines.append("```\n")
        if begins:
            section = begins[1]
            lines += ["", f"**{section}**" + (f": {prose(begins[2])}" if begins[2] else ""), ""]
            lines += ["```pycon"] if section == "Example" else []
        elif section in ("Args", "Raises") and re.match(r" {2}\S[^:]*: ", line):
            name, _, rest = line.strip().partition(": ")
            lines.append(f"- `{name.replace('`', '')}`: {prose(rest)}")
        elif section in ("Args", "Raises") and line.strip():
            lines.append(f"  {prose(line.strip())}")
        else:
            lines.append(prose(line))
    if section == "Example":
        lines.append("```")
    return "\n".join(lines)


def signature(name, value):
    """How a function or class is called; None where that is not told."""
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return None
    return f"{name}{re.sub(r'<[^<>]*>', '...', text)}"


def members(class_):
    """The public methods and properties that a class describes."""
    for name, member in sorted(vars(class_).items()):
        if not name.startswith("_") and (getattr(member, "__doc__", None) or "").strip() and not isinstance(member, type):
            yield name, member


def entry(name, value):
    """What the reference says of a function or class."""
    called = signature(name, value)
    parts = [f"## {prose(name)}", f"```python\n{called}\n```" if called else "", described(inspect.getdoc(value) or "")]
    if inspect.isclass(value):
        for inner, member in members(value):
            head = signature(inner, member) if callable(member) else inner
            parts.append(f"**`{head or inner}`**\n\n{described(member.__doc__)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def reference(folder):
    """Writes a page for each module that has something to say, and the list of them; gives how many functions they hold."""
    listed, count = [], 0
    for name in public_modules():
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        found = shown(module)
        if not found:
            continue
        page = [f"# {name}", described(module.__doc__ or ""), *(entry(inner, value) for inner, value in found.items())]
        (folder / f"{name}.md").write_text("\n\n".join(page))
        listed.append((name, (module.__doc__ or "").strip().splitlines()[:1], len(found)))
        count += len(found)
    rows = [f"| [`{name}`]({name}.md) | {prose(summary[0]) if summary else ''} | {size} |" for name, summary, size in listed]
    head = "# Reference\n\nMade from the docstrings; `help(pullback.grad)` shows the same. The Rust front is described by\n`cargo doc -p pullback --no-deps --open`.\n\n"
    tree = "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(name for name, _, _ in listed) + "\n```\n"
    (folder / "index.md").write_text(head + "| module | | names |\n|---|---|---|\n" + "\n".join(rows) + tree)
    return count


def write(folder):
    """Writes everything into a folder, which is made anew."""
    import pullback

    shutil.rmtree(folder, ignore_errors=True)
    (folder / "api").mkdir(parents=True)
    places = pages()
    for path, page in places.items():
        text = relinked(path.read_text(), path, page, places)
        goal = folder / f"{page}.md"
        goal.parent.mkdir(parents=True, exist_ok=True)
        goal.write_text(text + contents(places) if page == "index" else text)
    shutil.copytree(ROOT / "docs" / "images", folder / "images", dirs_exist_ok=True)
    (folder / "conf.py").write_text(CONFIGURATION.format(version=pullback.__version__))
    return len(places), reference(folder / "api")


if __name__ == "__main__":
    n_pages, n_names = write(Path(sys.argv[1]))
    print(f"{n_pages} pages, and {n_names} names in the reference")
