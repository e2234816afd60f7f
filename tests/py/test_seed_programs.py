"""The founding programs print what they are recorded to print, but for the differences named in their README."""

import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import pullback

PROGRAMS = Path(__file__).parent / "seed_programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))

# For a program: the recorded line, a pattern of what Pullback prints in its place, and why.
ALLOWED = {
    "s003_faq": [
        ("inf inf", r"inf 100\.0", "log(exp(x)) is x under jit"),
        ("TypeError False", r"TypeError True", "the error says that the class is not a valid JAX type"),
        (
            "JitTracer(~float32[])",
            r"Traced<ShapedArray\(float32\[\], weak_type=True\)>with<\w+>",
            "print of a staged tracer says that it is traced",
        ),
        (
            "<class 'jax._src.interpreters.partial_eval.DynamicJaxprTracer'>",
            r"<class 'pullback\.core\.\w+'>",
            "the tracer's class is our own",
        ),
    ]
}

# For a program: the number that was recorded, the neighbouring float that Pullback gives, and the exact value.
NEARER = {
    # softmax of -10 among (-10, -1, 0, 1, 10): exp(-20) / (exp(-20) + exp(-11) + exp(-10) + exp(-9) + 1).
    "s003_faq": [("2.0607716e-09", "2.0607713e-09", Fraction("2.06077132154666767820855715837e-9"))]
}


def run(name):
    environment = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parent.parent)}
    environment.pop("XLA_FLAGS", None)
    program = str(PROGRAMS / f"{name}.py")
    return subprocess.run([sys.executable, "-m", "pullback", program], env=environment, capture_output=True, text=True)


def expected_lines(name):
    text = (PROGRAMS / f"{name}.out").read_text()
    for recorded, ours, _ in NEARER.get(name, []):
        assert text.count(recorded) == 1
        text = text.replace(recorded, ours)
    return text.splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_the_founding_programs_print_what_was_recorded(name):
    done = run(name)
    assert done.returncode == 0, done.stderr
    allowed = {recorded: pattern for recorded, pattern, _ in ALLOWED.get(name, [])}
    found, wanted = done.stdout.splitlines(), expected_lines(name)
    assert len(found) == len(wanted), done.stdout
    for line, recorded in zip(found, wanted):
        if recorded in allowed:
            assert re.fullmatch(allowed.pop(recorded), line), (line, recorded)
        else:
            assert line == recorded
    assert not allowed, "differences that no recorded line asks for"


@pytest.mark.parametrize("name, recorded, ours, exact", [(name, *row) for name, rows in NEARER.items() for row in rows])
def test_a_number_that_differs_is_the_nearest_float(name, recorded, ours, exact):
    def distance(text):
        return abs(Fraction(float(np.float32(text))) - exact)

    assert np.nextafter(np.float32(ours), np.float32(recorded), dtype=np.float32) == np.float32(recorded)
    assert distance(ours) < distance(recorded)
