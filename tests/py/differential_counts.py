"""Counts the tests whose expected answer is JAX's, by file: ``python tests/py/differential_counts.py`` prints them.

A test counts when what it runs reaches real JAX (*live*) or a table named `RECORDED` (*recorded*); one that is given a list
of `cases` counts as that many. Collecting tells it: nothing is run. Counts are rounded down, so that a new case seldom moves
them.
"""

import contextlib
import io
import sys
import types
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def is_real_jax(value):
    """Whether a global is a module of JAX, or a table of names that has one."""
    if isinstance(value, dict):
        return any(isinstance(one, types.ModuleType) and is_real_jax(one) for one in value.values())
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == "jax"


def names_in(code):
    """Global names that a function loads, its inner functions included."""
    inner = (names_in(const) for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*inner)


def reached(function, seen):
    """Globals that a function uses, directly or through functions of its own file."""
    for name in names_in(function.__code__) & set(function.__globals__) - seen:
        seen.add(name)
        value = function.__globals__[name]
        yield name, value
        if isinstance(value, types.FunctionType) and value.__module__ == function.__module__:
            yield from reached(value, seen)


def kind_of(item):
    """`live`, `recorded`, or None for a test that does not ask JAX."""
    used = list(reached(item.function, set()))
    if "jax_oracle" in item.fixturenames or any(is_real_jax(value) for _, value in used):
        return "live"
    return "recorded" if any(name == "RECORDED" for name, _ in used) else None


def cases_in(item):
    """How many comparisons a test makes, as far as its parameters say."""
    cases = getattr(item, "callspec", None) and item.callspec.params.get("cases")
    return len(cases) if isinstance(cases, (list, tuple)) else 1


def rounded(n):
    """Down to hundreds, below a hundred to tens."""
    return n - n % (100 if n >= 100 else 10)


class Counts:
    """A plugin that counts what is collected."""

    def __init__(self):
        self.found = Counter()

    def pytest_collection_finish(self, session):
        for item in session.items:
            kind = kind_of(item)
            if kind:
                self.found[item.path.name, kind] += cases_in(item)


def text():
    """One line for each file and kind: the file, the kind, the rounded count."""
    counts = Counts()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", str(HERE)], plugins=[counts])
    if status:
        raise RuntimeError(f"the tests cannot be collected:\n{said.getvalue()[-2000:]}")
    rows = ((file, kind, rounded(n)) for (file, kind), n in sorted(counts.found.items()))
    return "".join(f"{file} {kind} {n}\n" for file, kind, n in rows if n)


if __name__ == "__main__":
    sys.stdout.write(text())
