"""Small programs on both systems: right ones give the same values and output, wrong ones the same class of error and its words.

`programs/*.txt` hold the programs, with an empty line between two. A program leaves what it is about in `r`. Before it runs
here, the word `jax` is replaced by `pullback`; texts are compared after the replacement is undone.
"""

import contextlib
import functools
import io
import linecache
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import pullback
import pullback.experimental
import pullback.numpy

jax = pytest.importorskip("jax")
import jax.experimental  # noqa: E402
import jax.numpy  # noqa: E402


def programs_of(path):
    blocks = [block.strip() for block in re.split(r"\n\s*\n", path.read_text())]
    return [pytest.param(block, id=f"{path.stem} {i}") for i, block in enumerate(blocks) if block]


PROGRAMS = [param for path in sorted((Path(__file__).parent / "programs").glob("*.txt")) for param in programs_of(path)]

# What texts hold that tells nothing: where objects and files are, and in which module a class is.
NOISE = [
    (r"pullback", "jax"), (r"0x[0-9a-f]+", "0x"), (r"\d{9,}", "N"), (r"/[\w./-]*\.py:\d+(:\d+)?", "FILE"),
    (r"<program of \w+>(:\d+)*", "FILE"), (r"jax\.(_src\.)?[\w.]*?(\w+)\b", r"\2"), (r"\bcore\.|\bjax\.", ""),
]  # fmt: skip


def plain(text):
    for pattern, place in NOISE:
        text = re.sub(pattern, place, text)
    return text


def words(text):
    """The words and numbers of an error's text, without those that carry little and without where to read more."""
    small = set("the a an of to is in and or for with be got was that it on by as at this from not but are".split())
    return {word for word in re.findall(r"[A-Za-z_]{3,}|\d+", text.split("\nSee https")[0].lower())} - small


def namespace(system):
    names = {"jax": system, system.__name__: system, "jnp": system.numpy, "lax": system.lax, "np": np, "partial": functools.partial}
    return names | {"x": system.numpy.arange(3.0), "__name__": "program", "warnings": warnings}


def outcome(program, system):
    """The kind of outcome, its text, and what was printed."""
    code, file = re.sub(r"\bjax\b", system.__name__, program), f"<program of {system.__name__}>"
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    names, printed, settings = namespace(system), io.StringIO(), dict(system.config.values)
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, file, "exec"), names)
            system.effects_barrier()
            kind, text = "value", repr(names.get("r"))
        except Exception as error:  # noqa: BLE001
            kind, text = type(error).__name__, str(error)
        finally:
            for name, value in system.config.values.items():
                if value != settings[name]:
                    system.config.update(name, settings[name])
    return kind, plain(text), plain(printed.getvalue())


@pytest.mark.parametrize("program", PROGRAMS)
def test_same_outcome(program):
    theirs, ours = outcome(program, jax), outcome(program, pullback)
    assert ours[0] == theirs[0], f"{program}\n ours  {ours}\n JAX's {theirs}"
    assert ours[2] == theirs[2]
    if theirs[0] == "value":
        assert ours[1] == theirs[1]
        return
    wanted = words(theirs[1])
    missing = wanted - words(ours[1])
    assert len(missing) <= len(wanted) / 4, f"{sorted(missing)} are not in\n{ours[1]}\nbut in JAX's\n{theirs[1]}"


def test_outcomes_tell_programs_apart():
    programs = ["r = 1", "r = 2", "print(1)", "raise ValueError('a')", "raise TypeError('a')", "raise TypeError('b')"]
    assert len({outcome(program, pullback) for program in programs}) == len(programs)
    assert "pullback" in sys.modules


WARNING = """
jnp.ndim([1, 2])
jnp.ndim(None)
jnp.shape(None)
jnp.zeros(3, jnp.int32).at[0].set(jnp.array(1.5))
jnp.zeros(3, jnp.int32).at[0].add(1.5)
jnp.zeros(3, jnp.bfloat16).at[0].add(jnp.float32(1.5))
jnp.zeros(3, jnp.int8).at[0].add(jnp.int32(2))
jnp.zeros(3, jnp.uint8).at[0].set(jnp.int8(1))
jnp.zeros(3, jnp.float32).at[0].add(2)
jnp.zeros(3, jnp.float32).at[0].add(jnp.bfloat16(2))
jnp.zeros(3, jnp.int8).at[0].add(2)
jnp.zeros(3, bool).at[0].set(True)
jnp.zeros(3, jnp.complex64).at[0].set(1.0)
(jnp.ones(2) * 1j).astype('float32')
(jnp.ones(2) * 1j).astype(int)
(jnp.ones(2) * 1j).astype('complex64')
(jnp.ones(2) * 1j).astype(bool)
""".strip().splitlines()


@pytest.mark.parametrize("line", WARNING)
def test_same_warnings(line):
    def warned(system):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(line, namespace(system))
        if system is pullback:
            assert all(one.filename == "<string>" for one in caught), "the warning is about the user's line"
        return {one.category.__name__: words(plain(str(one.message))) for one in caught}

    theirs, ours = warned(jax), warned(pullback)
    assert ours.keys() == theirs.keys()
    for key, wanted in theirs.items():
        assert len(wanted - ours[key]) <= len(wanted) / 4, f"{wanted - ours[key]}"
