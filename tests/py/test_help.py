"""`pullback.help`: each class of errors has a page, whose code runs, and texts of errors name pages and no site."""

import re
import sys
from pathlib import Path

import pages
import pytest

import pullback
from pullback import _help

ROOT = Path(__file__).resolve().parents[2]
HELP = sorted((ROOT / "python" / "pullback" / "_help").glob("*.md"))


@pytest.mark.parametrize("path", HELP, ids=lambda path: path.stem)
def test_the_code_of_a_page_runs(path):
    pages.check_code(path)


def test_every_class_of_errors_has_a_page():
    classes = {name for name in vars(pullback.errors) if isinstance(getattr(pullback.errors, name), type)}
    assert classes - set(_help.pages()) == set()


def test_the_book_lists_every_page_of_errors():
    listed = re.findall(r"_help/(\w+)\.md", (ROOT / "docs" / "errors.md").read_text())
    assert sorted(listed) == _help.pages()


@pytest.mark.parametrize("name", _help.pages())
def test_a_page_begins_with_its_title_and_says_what_to_do(name):
    text = _help.page(name)
    assert text.startswith("# ") and (name[0].islower() or text.startswith(f"# {name}\n"))
    assert "## What to do\n" in text or name in ("JAXTypeError", "JAXIndexError")


def test_help_finds_the_page_of_an_error(capsys):
    def title(subject):
        pullback.help(subject)
        return capsys.readouterr().out.splitlines()[0]

    assert title(pullback.errors.TracerBoolConversionError()) == "TracerBoolConversionError"
    assert title(pullback.errors.UnexpectedTracerError) == "UnexpectedTracerError"
    assert title("jax.errors.keyreuseerror") == "KeyReuseError"
    assert title("rank promotion") == "Rank promotion"
    # A class without a page of its own has that of the nearest class above it.
    assert title(type("Special", (pullback.errors.TracerArrayConversionError,), {})) == "TracerArrayConversionError"


def test_help_in_a_terminal_is_plain_text(capsys):
    pullback.help("KeyReuseError")
    shown = capsys.readouterr().out
    assert "```" not in shown and "    import pullback as jax\n" in shown and "What to do\n----------\n" in shown


def test_help_of_the_last_error(monkeypatch, capsys):
    monkeypatch.delattr(sys, "last_value", raising=False)
    monkeypatch.delattr(sys, "last_exc", raising=False)
    with pytest.raises(ValueError, match="there is no last exception"):
        pullback.help()
    monkeypatch.setattr(sys, "last_exc", pullback.errors.KeyReuseError("k"), raising=False)
    pullback.help()
    assert capsys.readouterr().out.startswith("KeyReuseError\n")


@pytest.mark.parametrize("subject", ["nowhere", OSError()])
def test_help_of_what_has_no_page_is_an_error(subject):
    with pytest.raises(ValueError, match="the pages are ConcretizationTypeError, "):
        pullback.help(subject)


def test_help_of_anything_else_is_python_s(capsys):
    pullback.help(pullback.grad)
    assert "function grad in module pullback" in capsys.readouterr().out


def test_an_error_names_its_page():
    with pytest.raises(TypeError) as raised:
        pullback.jit(lambda x: 1 if x else 2)(1.0)
    assert str(raised.value).endswith('What to do: pullback.help("TracerBoolConversionError")')


def test_texts_lead_to_our_pages():
    link = re.compile(r"docs\.jax\.dev|jax\.readthedocs|github\.com/(jax-ml|google)/jax")
    found = [path for pattern in ("python/**/*.py", "crates/**/*.rs") for path in ROOT.glob(pattern) if link.search(path.read_text())]
    assert not found


def test_pages_that_texts_name_are_there():
    named = re.compile(r"pullback\.help\(\\*[\"'](\w+)\\*[\"']\)")
    for pattern in ("python/**/*.py", "crates/**/*.rs", "docs/**/*.md"):
        for path in ROOT.glob(pattern):
            assert set(named.findall(path.read_text())) <= set(_help.pages()), path
