"""`jax.debug.breakpoint`: what its prompt shows of compiled programs, loops and frames, beside live JAX where it shows the same."""

import io

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")


def session(j, commands, make, *args):
    """What the prompt said for commands."""
    stdin, stdout = io.StringIO("\n".join(commands) + "\n"), io.StringIO()
    function = make(j, lambda: j.debug.breakpoint(stdin=stdin, stdout=stdout, backend="cli"))
    j.block_until_ready(function(*args))
    j.effects_barrier()
    return stdout.getvalue()


def compiled(j, stop):
    @j.jit
    def f(x):
        y = x * 2
        stop()
        return y + 1

    return f


@pytest.mark.parametrize("command", ("p zz", "zz", "p 1 / 0", "pp [1, 2]", "p (1, 'a')"))
def test_answers_are_those_of_jax(command):
    wanted, found = (session(j, [command, "c"], compiled, np.float32(2)) for j in (jax, pullback))
    assert found == wanted


def test_variables_of_frames_have_their_values():
    out = session(pullback, ["u", "p x", "p y", "pp x + y", "d", "u", "w", "l", "c"], compiled, np.float32(2))
    assert "(jdb) Array(2., dtype=float32)" in out and "(jdb) Array(4., dtype=float32)" in out and "(jdb) Array(6., dtype=float32)" in out
    assert "Traceback:" in out and "->          stop()" in out


def test_each_step_of_a_loop_stops():
    def make(j, stop):
        def body(i, total):
            total = total + i
            stop()
            return total

        return lambda: j.jit(lambda: j.lax.fori_loop(0, 3, body, 0))()

    out = session(pullback, ["u", "p total", "c"] * 3, make)
    assert [line.split("Array(")[1][0] for line in out.splitlines() if "Array(" in line] == ["0", "1", "3"]
    assert out.count("Entering jdb:") == 3


def test_quitting_ends_the_program():
    with pytest.raises((SystemExit, pullback.errors.JaxRuntimeError)):
        session(pullback, ["q"], compiled, np.float32(2))


def test_other_prompts_are_refused():
    with pytest.raises(ValueError, match="backend"):
        pullback.debug.breakpoint(backend="web")
