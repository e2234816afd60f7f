"""`debug_nans` and `debug_infs`: which primitive made the number, on which line; the same primitives as in JAX outside of
loops, and the one inside the body where JAX names the loop."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pullback

# Program over `j`, `jnp` and `x`, the primitive at fault (None: nothing is), and the primitive that JAX names if another.
NANS = {
    "eager": (lambda j, jnp, x: jnp.log(-x - 1), "log", None),
    "operator": (lambda j, jnp, x: x * 0 / (x * 0), "div", None),
    "jit": (lambda j, jnp, x: j.jit(lambda v: jnp.sin(v) + jnp.log(-v - 1))(x), "log", None),
    "nested jit": (lambda j, jnp, x: j.jit(lambda v: j.jit(lambda w: jnp.sqrt(w - 5))(v) + 1)(x), "sqrt", None),
    "scan": (lambda j, jnp, x: j.lax.scan(lambda c, v: (c + jnp.log(v - 5), v), 0.0, x), "log", "scan"),
    "reverse scan": (lambda j, jnp, x: j.lax.scan(lambda c, v: (c / v, v), 0.0, x, reverse=True), "div", "scan"),
    "while": (lambda j, jnp, x: j.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, jnp.log(c[1] - 2)), (0, 3.0)), "log", "while"),
    "cond": (lambda j, jnp, x: j.lax.cond(True, lambda v: jnp.log(v - 5), lambda v: v, 1.0), "log", "cond"),
    "vmap": (lambda j, jnp, x: j.vmap(lambda v: jnp.log(v - 5))(x), "log", None),
    "backward": (lambda j, jnp, x: j.grad(lambda v: jnp.where(v > 0, jnp.sqrt(v), 0.0))(0.0), "mul", None),
    "backward under jit": (lambda j, jnp, x: j.jit(j.grad(lambda v: jnp.where(v > 0, jnp.sqrt(v), 0.0)))(0.0), "mul", None),
    "backward of jit": (lambda j, jnp, x: j.grad(j.jit(lambda v: jnp.where(v > 0, jnp.sqrt(v), 0.0)))(0.0), "mul", None),
    "cotangent": (lambda j, jnp, x: j.vjp(lambda v: v * jnp.float32(jnp.inf), 1.0)[1](0.0), "mul", None),
    "half precision": (lambda j, jnp, x: jnp.log(-x.astype(jnp.bfloat16) - 1), "log", None),
    "infinity is allowed": (lambda j, jnp, x: 1 / x, None, None),
    "masked": (lambda j, jnp, x: j.jit(lambda v: jnp.where(v > 0, jnp.log(v - 0.5), 0.0).sum())(x), None, None),
    "integers": (lambda j, jnp, x: jnp.arange(3) + 1, None, None),
}
INFS = {
    "eager": (lambda j, jnp, x: 1 / x, "div", None),
    "jit": (lambda j, jnp, x: j.jit(lambda v: 2 * (1 / v))(x), "div", None),
    "inner infinities are allowed": (lambda j, jnp, x: (x.max(), j.nn.logsumexp(x)), None, None),
}


def raised(j, case, setting):
    jnp = j.numpy
    x = jnp.array([0.0, 1.0])
    with setting(True):
        try:
            case(j, jnp, x)
        except FloatingPointError as error:
            return str(error)
    return None


@pytest.mark.parametrize("kind, name", [("nan", name) for name in NANS] + [("inf", name) for name in INFS])
def test_the_primitive_and_the_line_are_named(kind, name, jax_oracle):
    case, primitive, jax_primitive = (NANS if kind == "nan" else INFS)[name]
    j = pullback
    text = raised(j, case, j.debug_nans if kind == "nan" else j.debug_infs)
    theirs = raised(jax_oracle, case, jax_oracle.debug_nans if kind == "nan" else jax_oracle.debug_infs)
    if primitive is None:
        assert text is None and theirs is None
        return
    assert re.match(rf"invalid value \({kind}\) encountered in {primitive}\n", text), text
    assert theirs.startswith(f"invalid value ({kind}) encountered in {jax_primitive or primitive}"), theirs
    line = case.__code__.co_firstlineno
    assert f"{Path(__file__).name}:{line}" in text, text


def test_results_are_as_without_the_setting():
    jnp = pullback.numpy
    x = jnp.array([0.5, 1.0])
    f = pullback.jit(lambda v: pullback.lax.scan(lambda c, w: (c * w, jnp.sin(c)), 1.0, v))
    plain = f(x)
    with pullback.debug_nans(True), pullback.debug_infs(True):
        checked = f(x)
    assert (float(plain[0]), plain[1].tolist()) == (float(checked[0]), checked[1].tolist())
    assert jnp.isnan(jnp.log(-x)).all()


def test_donated_arguments_are_there_to_look_again():
    jnp = pullback.numpy
    f = pullback.jit(lambda v: jnp.log(v - 5), donate_argnums=0)
    x = jnp.ones(3)
    with pullback.debug_nans(True), pytest.raises(FloatingPointError, match="encountered in log"):
        f(x)
    x = jnp.full(3, 6.0)
    with pullback.debug_nans(True):
        f(x)
    assert x.is_deleted()


# Program over `j` and `jnp`, and lines of the error beside the primitive.
DETAILS = {
    "element": (lambda j, jnp: jnp.log(jnp.array([[1.0, 2.0], [3.0, -4.0]])), ["element (1, 1) of float32[2,2]", "operands there: -4.0"]),
    "scalar": (lambda j, jnp: jnp.log(-4.0), ["operands there: -4.0"]),
    "scan": (lambda j, jnp: j.lax.scan(lambda c, v: (c / v, v), 1.0, jnp.array([1.0, jnp.inf, 0.0, 1.0])), ["operands there: 0.0, 0.0", "in iteration 2 of a loop"]),
    "reverse scan": (lambda j, jnp: j.lax.scan(lambda c, v: (c, jnp.log(v)), 1.0, jnp.array([1.0, -2.0, 3.0]), reverse=True), ["in iteration 1 of a loop"]),
    "fori_loop": (lambda j, jnp: j.jit(lambda x: j.lax.fori_loop(0, 5, lambda i, c: jnp.sqrt(c - 1), x))(3.0), ["operands there: -0.35", "in iteration 2 of a loop"]),
    "batch": (lambda j, jnp: j.jit(j.vmap(lambda v: jnp.log(v).sum()))(jnp.array([[1.0, 2.0], [-1.0, 2.0]])), ["element (1, 0) of float32[2,2]"]),
    "behind a where": (lambda j, jnp: j.grad(lambda v: jnp.where(v > 0, jnp.sqrt(v), 0.0))(0.0), ["operands there: 0.0, inf", "pullback.explain_grad says which one"]),
    "behind a where under jit": (lambda j, jnp: j.jit(j.grad(lambda v: jnp.where(v > 0, jnp.sqrt(v), 0.0)))(0.0), ["0 times infinity", "safe_grads"]),
    "half precision": (lambda j, jnp: jnp.log(jnp.array([1, -1], "bfloat16")), ["element (1,)"]),
    "complex": (lambda j, jnp: jnp.array([1.0, 0.0j]) / jnp.array([1.0, 0.0j]), ["element (1,)"]),
}


@pytest.mark.parametrize("name", DETAILS)
def test_the_element_the_operands_and_the_iteration_are_named(name):
    program, wanted = DETAILS[name]
    with pullback.watch_nans(), pytest.raises(FloatingPointError) as raised:
        program(pullback, pullback.numpy)
    for line in wanted:
        assert line in str(raised.value)


def test_infinities_are_watched_when_asked_for():
    jnp = pullback.numpy
    with pullback.watch_nans():
        assert jnp.isinf(jnp.log(0.0))
    with pullback.watch_nans(nans=False, infs=True):
        assert jnp.isnan(jnp.log(-1.0))
        with pytest.raises(FloatingPointError, match=r"invalid value \(inf\) encountered in log"):
            jnp.log(0.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("at", [0, 1, 1023, 1024, 4999])
def test_numbers_are_told_apart_by_their_bits(dtype, at):
    jnp = pullback.numpy
    with pullback.enable_x64(True):
        plain = jnp.full(5000, -2.0, dtype)
        for value in (jnp.nan, -jnp.inf) if jnp.isinf(jnp.array(jnp.inf, dtype)) else (jnp.nan,):
            bad = plain.at[at].set(value)
            with pullback.watch_nans(infs=True), pytest.raises(FloatingPointError, match=rf"element \({at},\)"):
                jnp.negative(bad)
        with pullback.watch_nans(infs=True):
            jnp.negative(plain)


@pytest.mark.parametrize("how", ["environment", "update"])
def test_the_setting_for_the_process(how):
    update = "jax.config.update('jax_debug_nans', True)" if how == "update" else ""
    program = f"import pullback as jax\n{update}\nassert jax.config.jax_debug_nans\njax.numpy.log(-1.0)"
    environment = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parent.parent)}
    if how == "environment":
        environment["JAX_DEBUG_NANS"] = "1"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert "FloatingPointError: invalid value (nan) encountered in log" in done.stderr


# Program over `j` and `jnp`, and what is printed before the exception.
OUTPUT = "Invalid nan value encountered in the output of a jax.jit function. Calling the de-optimized version.\n"
BACKWARD = "Invalid nan value encountered in the backward pass of a jax.jit function. Calling the de-optimized backward pass.\n"
PRINTED = {
    "output of jit": (lambda j, jnp: j.jit(lambda v: j.lax.log(v))(-1.0), OUTPUT),
    "backward pass": (lambda j, jnp: j.grad(lambda v: jnp.where(v > 0, v**0.5, 7.0))(0.0), BACKWARD),
    "backward pass of jit": (lambda j, jnp: j.grad(j.jit(lambda v: jnp.where(v > 0, v**0.5, 7.0)))(0.0), BACKWARD),
    "vjp": (lambda j, jnp: j.vjp(lambda v: jnp.sqrt(v) * 0.0, 0.0)[1](1.0), BACKWARD),
    "no jit": (lambda j, jnp: j.lax.log(-1.0), ""),
    "no nan": (lambda j, jnp: j.grad(j.jit(lambda v: v * v))(1.0), ""),
}


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_printed_first(name, jax_oracle, capsys):
    program, wanted = PRINTED[name]
    for j in (pullback, jax_oracle):
        with j.debug_nans(True):
            try:
                program(j, j.numpy)
            except FloatingPointError:
                pass
        assert capsys.readouterr().out == wanted
