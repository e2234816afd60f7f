"""Transformations of transformations give what JAX 0.12 recorded: values, dtypes, weak types, classes of exceptions.

All ordered triples of eleven transformations over seven functions. `PULLBACK_COMPOSITIONS=N` takes every Nth case only.
"""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback

GOLDEN = Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))

from compositions import FUNCTIONS, TRANSFORMS, cases, program  # noqa: E402

RECORDED = json.loads((GOLDEN / "compositions.json").read_text())
EVERY = int(os.environ.get("PULLBACK_COMPOSITIONS", "1"))


def outcome(function, names):
    """Facts and elements of the results, or the class of the exception; as the recorder gives them."""
    try:
        f, x = program(pullback, function, names)
        leaves = pullback.tree.leaves(f(x))
        elements = [np.asarray(leaf) for leaf in leaves]
    except Exception as error:  # noqa: BLE001
        return next(c.__name__ for c in type(error).__mro__ if not c.__module__.startswith("pullback")), []
    facts = [f"{leaf.dtype}{list(leaf.shape)}{'*' * leaf.weak_type}" for leaf in leaves]
    return " ".join(facts), np.concatenate([one.ravel() for one in elements])


def chosen(function, first):
    """The cases of a function that the current part holds, with what is recorded of them."""
    recorded = iter(RECORDED["results"][function])
    for number, (name, names) in enumerate(cases()):
        if name == function:
            kind, *numbers = next(recorded)
            if number % EVERY == 0 and names[0] == first:
                yield names, RECORDED["kinds"][kind], numbers


@pytest.mark.parametrize("first", TRANSFORMS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_triples_of_transformations(function, first):
    wrong = []
    for names, facts, numbers in chosen(function, first):
        found, elements = outcome(function, names)
        if found != facts or not np.allclose(elements, numbers, rtol=2e-4, atol=2e-5, equal_nan=True):
            wrong.append(f"{' of '.join(reversed(names))}: {found} {list(elements)}, JAX's {facts} {numbers}")
    assert not wrong, f"{len(wrong)} of {function} differ:\n" + "\n".join(wrong)


def test_every_case_is_recorded():
    counts = {function: len(rows) for function, rows in RECORDED["results"].items()}
    assert counts == {function: len(TRANSFORMS) ** 3 for function in FUNCTIONS}
