"""`explain_grad`: the operation that made the trouble, its line, its cause and its cure."""

import inspect
import re
import sys
import types

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp
from nan_programs import DROPPED, REAL
from pullback import explain_grad, lax


def line_of(function, text):
    """The line of this file in `function` that contains `text`."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def only(report):
    assert len(report.troubles) == 1, str(report)
    return report.troubles[0]


def hidden_log(x):
    y = jnp.log(x)
    return jnp.where(x > 0, y, 0.0).sum()


def masked_mean(x, mask):
    total = (x * mask).sum()
    return total / mask.sum()


def norm(x):
    return jnp.linalg.norm(x)


def loop(x):
    def step(carry, t):
        carry = carry + jnp.sqrt(t)
        return carry, None

    return lax.scan(step, 0.0, x)[0]


def overflow(x):
    return jnp.log(1 + jnp.exp(x)).sum()


def later(x):
    scale = 1 / x
    return (scale * 0.0).sum()


def branch(x):
    return lax.cond(x[0] > 0, lambda t: jnp.sqrt(t[1]), lambda t: t.sum(), x)


def called(x):
    inner = jax.jit(jnp.arccos)
    return jnp.where(x < 1, inner(x), 0.0).sum()


def recomputed(x):
    return jax.checkpoint(lambda t: jnp.sum(t**0.5))(x)


def batched(x):
    return jax.vmap(lambda t: jnp.where(t > 0, 1 / t, 0.0))(x).sum()


TROUBLES = [
    (hidden_log, ([0.0, 2.0],), "nan", "log", "jnp.log(x)", [(0,)], "jnp.where(x > 0, x, 1.)"),
    (masked_mean, ([1.0, 2.0], [0.0, 0.0]), "nan", "div", "mask.sum()", [(0,), (1,)], "jnp.maximum(mask.sum(), 1)"),
    (norm, ([0.0, 0.0],), "nan", "sqrt", "linalg.norm(x)", [(0,), (1,)], "jnp.where(square > 0"),
    (loop, ([1.0, 0.0],), "inf", "sqrt", "jnp.sqrt(t)", [(1,)], "jnp.sqrt(t + eps)"),
    (overflow, ([1.0, 1000.0],), "nan", "exp", "jnp.exp(x)", [(1,)], "logsumexp"),
    (later, ([0.0, 1.0],), "nan", "div", "1 / x", [(0,)], "x"),
    (branch, ([1.0, 0.0],), "inf", "sqrt", "jnp.sqrt(t[1])", [(1,)], "jnp.sqrt(t[1] + eps)"),
    (called, ([1.0, 0.5],), "nan", "acos", "inner(x)", [(0,)], "safe_grads"),
    (recomputed, ([0.0, 1.0],), "inf", "pow", "t**0.5", [(0,)], "eps"),
    (batched, ([0.0, 1.0],), "nan", "div", "1 / t", [(0,)], "t"),
]


@pytest.mark.parametrize("function,args,kind,primitive,text,elements,cure", TROUBLES, ids=[row[0].__name__ for row in TROUBLES])
def test_it_names_the_operation_that_made_it(function, args, kind, primitive, text, elements, cure):
    trouble = only(explain_grad(function)(*map(jnp.array, args)))
    assert (trouble.kind, trouble.primitive, trouble.leaf) == (kind, primitive, list(inspect.signature(function).parameters)[0])
    assert trouble.file == __file__ and trouble.line == line_of(function, text)
    assert list(trouble.elements) == elements
    assert cure in trouble.cure, trouble.cure
    assert trouble.chain and trouble.values


def test_it_tells_what_dropped_the_value():
    trouble = only(explain_grad(hidden_log)(jnp.array([0.0, 2.0])))
    assert f"where at {__file__}:{line_of(hidden_log, 'jnp.where')}" in trouble.dropped_by
    assert trouble.values["operand"] == "0.0 at [0]" and trouble.values["cotangent"] == "0.0 at [0]"
    assert only(explain_grad(loop)(jnp.array([1.0, 0.0]))).dropped_by is None


CURES = [
    ("taken when true", "jnp.where(x > 0, jnp.log(x), 0.)", "safe = jnp.where(x > 0, x, 1.); then jnp.log(safe)"),
    ("taken when false", "jnp.where(x <= 0, 0., 1 / x)", "safe = jnp.where(x <= 0, 1., x); then 1 / safe"),
    ("a name inside of a name", "jnp.where(p > 0, jnp.log(p), 0.)", "safe = jnp.where(p > 0, p, 1.); then jnp.log(safe)"),
    ("a power", "jnp.where(x > 0, (2 * x) ** 0.5, 7.)", "safe = jnp.where(x > 0, 2 * x, 1.); then (safe) ** 0.5"),
    ("a square root of a power", "jnp.sqrt((x**2).sum())", "square = (x**2).sum(); jnp.where(square > 0, jnp.sqrt("),
    ("a standard deviation", "jnp.std(x)", "pullback.masked.std"),
    ("two of a kind", "jnp.where(x > 0, jnp.log(x) + jnp.log(2 * x), 0.)", "filter the operand of log before"),
]


@pytest.mark.parametrize("name,text,cure", CURES, ids=[row[0] for row in CURES])
def test_a_cure_is_in_the_words_of_the_user(name, text, cure, tmp_path):
    variable = "p" if "p" in text.replace("jnp", "").replace("exp", "") else "x"
    path = tmp_path / "program.py"
    path.write_text(f"def program({variable}):\n    return ({text}).sum()\n")
    names = {"jnp": jnp}
    exec(compile(path.read_text(), str(path), "exec"), names)
    report = explain_grad(names["program"])(jnp.array([0.0, 0.0]))
    assert cure in report.troubles[0].cure, report.troubles[0].cure


def test_it_tells_iterations_and_branches():
    assert any("iteration 1 of scan" in where for where in only(explain_grad(loop)(jnp.array([1.0, 0.0, 2.0]))).context)
    assert only(explain_grad(loop)(jnp.array([1.0, 0.0, 2.0]))).iteration == 1
    assert any("branch 1 of cond" in where for where in only(explain_grad(branch)(jnp.array([1.0, 0.0]))).context)


def test_it_tells_the_member_of_a_batch():
    def of_row(row):
        return jnp.where(row[0] > 0, jnp.sqrt(row[0]), 0.0)

    report = explain_grad(lambda x: jax.vmap(of_row)(x).sum())(jnp.array([[1.0], [4.0], [0.0]]))
    assert only(report).position == (2,) and only(report).iteration is None


@pytest.mark.parametrize("name,text,filtered,point", DROPPED, ids=[row[0] for row in DROPPED])
def test_every_program_of_the_collection_has_its_operation(name, text, filtered, point):
    """With a file: the texts are evaluated, so it is none that exists, but there is a line."""
    names = {"jax": jax, "jnp": jnp, "lax": lax}
    program, point = eval(compile(text, "<program>", "eval"), names), eval(point, names)
    if np.isfinite(jax.grad(program)(point)).all():
        return
    report = explain_grad(program)(point)
    assert report.troubles and not report.notes, str(report)
    for trouble in report.troubles:
        assert trouble.kind in ("nan", "inf") and trouble.line == 1, str(report)
        reads = "holds" in trouble.cause
        assert reads or trouble.primitive not in ("select_n", "add_any", "reduce_sum", "broadcast_in_dim"), str(report)


@pytest.mark.parametrize("name,text,point", REAL, ids=[row[0] for row in REAL])
def test_real_trouble_is_told_too(name, text, point):
    names = {"jax": jax, "jnp": jnp, "lax": lax}
    report = explain_grad(eval(compile(text, "<program>", "eval"), names))(eval(point, names))
    assert report.troubles and report.troubles[0].kind in ("nan", "inf")


def rounded(x):
    return (jnp.round(x) * 2).sum()


def compared(x):
    return jnp.where(x > 1, 1.0, 0.0).sum()


def cast(x):
    return x.astype(int).sum().astype(float)


def stopped(x):
    return (lax.stop_gradient(x) ** 2).sum()


def chosen(x):
    return jnp.argmax(x).astype(float)


def signed(x):
    return jnp.sign(x).sum() + jnp.floor(x).sum()


def unused(x, y=1.0):
    return jnp.float32(y)


STRUCTURAL = [
    (rounded, ["round"], "straight through"),
    (compared, ["gt"], "sigmoid"),
    (cast, ["convert_element_type"], "floating"),
    (stopped, ["stop_gradient"], "stop_gradient"),
    (chosen, ["argmax"], "softmax"),
    (signed, ["sign", "floor"], "tanh"),
    (unused, ["none"], "use it"),
]


@pytest.mark.parametrize("function,primitives,cure", STRUCTURAL, ids=[row[0].__name__ for row in STRUCTURAL])
def test_structural_zeros(function, primitives, cure):
    report = explain_grad(function)(jnp.array([1.5, -0.5]))
    assert [trouble.primitive for trouble in report.troubles] == primitives
    assert {trouble.kind for trouble in report.troubles} == {"zero (structural)"}
    assert cure in report.troubles[0].cure
    if primitives != ["none"]:
        assert report.troubles[0].line is not None


NUMERIC = [
    ("sigmoid", lambda x: jax.nn.sigmoid(x * 1000).sum(), [1.0, 2.0], "logistic", "saturated"),
    ("tanh", lambda x: jnp.tanh(x * 100).sum(), [1.0, 2.0], "tanh", "saturated"),
    ("relu", lambda x: jax.nn.relu(x).sum(), [-1.0, -2.0], "custom_jvp_call", "gives 0"),
    ("maximum", lambda x: jnp.maximum(x, 0.0).sum(), [-1.0, -2.0], "max", "other operand"),
    ("clip", lambda x: lax.clamp(0.0, x, 1.0).sum(), [5.0, 7.0], "clamp", "cut"),
    ("masked", lambda x: jnp.where(jnp.zeros(2, bool), x, 0.0).sum(), [5.0, 7.0], "select_n", "other case"),
    ("underflow", lambda x: jnp.exp(-x).sum(), [500.0, 700.0], "exp", "underflows"),
    ("factor", lambda x: (x * jnp.zeros(2)).sum(), [5.0, 7.0], "mul", "factor"),
    ("cancelled", lambda x: (x - x).sum(), [5.0, 7.0], "add_any", "cancel"),
    ("square", lambda x: (x**2).sum(), [0.0, 0.0], "integer_pow", "power"),
    ("branch", lambda x: lax.cond(x[0] > 0, lambda t: 1.0, lambda t: t.sum(), x), [5.0, 7.0], "cond", "branch"),
]


@pytest.mark.parametrize("name,function,point,primitive,cause", NUMERIC, ids=[row[0] for row in NUMERIC])
def test_numeric_zeros(name, function, point, primitive, cause):
    trouble = only(explain_grad(function)(jnp.array(point)))
    assert (trouble.kind, trouble.primitive) == ("zero (numeric)", primitive)
    assert cause in trouble.cause


def test_empty_reductions():
    report = explain_grad(lambda x: jnp.mean(x[:0]) + x.sum())(jnp.ones(3))
    assert [trouble.kind for trouble in report.troubles] == ["empty"] and "(0,)" in report.troubles[0].cause
    report = explain_grad(jnp.sum)(jnp.zeros((0,)))
    assert str(report.leaves[0]) == "array: float32[0]: no elements" or "no elements" in str(report.leaves[0])


def test_leaves_are_named_and_counted():
    def loss(params, x):
        return (jnp.sqrt(params["w"]) @ x + params["b"][0]).sum()

    report = explain_grad(loss)({"w": jnp.array([0.0, 4.0]), "b": [jnp.float32(1.0)]}, jnp.ones(2))
    assert [leaf.name for leaf in report.leaves] == ["params['b'][0]", "params['w']"]
    assert (report.leaves[1].finite, report.leaves[1].infinite) == (1, 1)
    assert only(report).leaf == "params['w']"
    assert not explain_grad(loss)({"w": jnp.ones(2), "b": [jnp.float32(1.0)]}, jnp.ones(2))


def test_arguments_and_auxiliary_results():
    f = lambda x, y: (jnp.log(x) * y, {"x": x})
    report = explain_grad(f, argnums=(0, 1), has_aux=True)(0.0, 0.0)
    assert {trouble.leaf for trouble in report.troubles} == {"x", "y"}
    assert np.isnan(report.value) and len(report.gradient) == 2


def test_a_nan_that_was_given_is_told_as_such():
    trouble = only(explain_grad(lambda x, y: (x * y).sum())(jnp.ones(2), jnp.array([1.0, jnp.nan])))
    assert "holds NaN" in trouble.cause and trouble.elements == ((1,),)


def test_a_terminal_shows_it_in_colours(monkeypatch):
    report = explain_grad(jnp.log)(0.0)
    assert repr(report) == str(report)
    monkeypatch.setattr(sys, "stdout", types.SimpleNamespace(isatty=lambda: True))
    assert "\x1b[31m  made by  log" in repr(report) and "\x1b[32m  cure" in repr(report) and "\x1b" not in str(report)
    assert re.sub(r"\x1b\[\d+m", "", repr(report)) == str(report)
    monkeypatch.setenv("NO_COLOR", "1")
    assert repr(report) == str(report)


def test_the_report_is_text_html_and_a_picture():
    report = explain_grad(hidden_log)(jnp.array([0.0, 2.0]))
    assert "1 trouble" in str(report) and "jnp.log(safe)" in str(report) and str(report) == repr(report)
    html = report._repr_html_()
    assert html.count("<svg") == 1 and "&gt;" in html
    import xml.etree.ElementTree as tree

    drawing = tree.fromstring(report.to_svg())
    assert any("#c81e1e" == part.get("stroke") for part in drawing.iter())
    assert any("log" in (part.text or "") for part in drawing.iter())
    assert tree.fromstring(explain_grad(lambda x: x * x)(3.0).to_svg()) is not None


@pytest.mark.parametrize(
    "function,args",
    [(lambda x: x, (jnp.ones(2),)), (lambda x: x * 1.0, (jnp.int32(3),)), (lambda x: 1 + 1j * x, (1.0,)), (lambda x: "a", (1.0,))],
    ids=["vector", "integer", "complex", "no number"],
)
def test_bad_use_has_the_class_and_words_of_grad(function, args):
    with pytest.raises(Exception) as ours:
        jax.grad(function)(*args)
    with pytest.raises(type(ours.value)) as found:
        explain_grad(function)(*args)
    assert str(found.value).splitlines()[0] == str(ours.value).splitlines()[0]


def test_an_error_of_the_function_passes():
    with pytest.raises(ZeroDivisionError):
        explain_grad(lambda x: x / (1 // 0))(1.0)


def by_value(x):
    if x > -1:
        return jnp.log(x)
    return x


def by_mask(x):
    roots = x**0.5
    return roots[x > 0].sum()


def test_control_flow_of_python_is_followed():
    trouble = only(explain_grad(by_value)(0.0))
    assert (trouble.kind, trouble.primitive, trouble.line) == ("inf", "log", line_of(by_value, "jnp.log"))
    trouble = only(explain_grad(by_mask)(jnp.array([0.0, 4.0])))
    assert (trouble.kind, trouble.primitive, trouble.line) == ("nan", "pow", line_of(by_mask, "x**0.5"))
    assert "an index" in trouble.dropped_by and f":{line_of(by_mask, 'roots[')}" in trouble.dropped_by


def long_scan(length, at, reverse=False):
    def function(w, x):
        def body(c, x):
            gone = jnp.sqrt(jnp.where(x == at, 0.0, 1.0) * jnp.abs(w))
            return jnp.tanh(w * c + x) + 0.1 * gone, gone

        c, ys = lax.scan(body, 0.5, x, reverse=reverse)
        return c + ys.sum()

    return function, (0.3, jnp.arange(float(length)))


def nested_scans(w):
    def outer(c, x):
        inner = lambda c, y: (jnp.sqrt(jnp.where((x == 40) & (y == 93), 0.0, 1.0) * w) * 0.1 + c, None)
        return lax.scan(inner, c, jnp.arange(100))

    return lax.scan(lambda c, x: outer(c, x), 1.0, jnp.arange(64))[0]


def long_fori(x):
    return lax.fori_loop(0, 30_000, lambda i, c: c + jnp.sqrt(jnp.where(i == 20_001, 0.0, 1.0) * x), x)


def behind_a_while(x):
    grown = lax.while_loop(lambda c: c < 3e38, lambda c: c * c, lax.stop_gradient(x))
    return x * grown


LONG_LOOPS = [
    ("scan", *long_scan(1000, 777), "sqrt", 777),
    ("a scan of 100,000 steps", *long_scan(100_000, 54_321), "sqrt", 54_321),
    ("a scan from its end", *long_scan(1000, 21, reverse=True), "sqrt", 21),
    ("the last step", *long_scan(1001, 1000), "sqrt", 1000),
    ("a scan of scans", nested_scans, (1.0,), "sqrt", 93),
    ("fori_loop", long_fori, (2.0,), "sqrt", 20_001),
    ("a while in front", behind_a_while, (2.0,), "mul", 6),
]


@pytest.mark.parametrize("name,function,args,primitive,iteration", LONG_LOOPS, ids=[row[0] for row in LONG_LOOPS])
def test_a_step_of_a_long_loop_is_found(name, function, args, primitive, iteration):
    report = explain_grad(function)(*args)
    (trouble,) = report.troubles
    assert (trouble.primitive, trouble.iteration) == (primitive, iteration), str(report)


def test_of_many_steps_in_trouble_one_is_told():
    def function(x):
        return lax.scan(lambda c, x: (c + jnp.sqrt(x * 0.0), None), 0.0, x)[0]

    report = explain_grad(function)(jnp.ones(1000))
    (trouble,) = report.troubles
    assert trouble.primitive == "sqrt" and trouble.iteration is not None
    assert any("more iterations of the loop" in note for note in report.notes)


def test_a_saturated_step_of_a_long_loop_is_a_numeric_zero():
    def function(x):
        return lax.fori_loop(0, 500, lambda i, c: jnp.where(i == 321, jnp.tanh(c * 100.0), c * 1.01), x)

    report = explain_grad(function)(jnp.float32(3.0))
    found = [(trouble.kind, trouble.primitive, trouble.iteration) for trouble in report.troubles]
    assert found == [("zero (numeric)", "select_n", 321), ("zero (numeric)", "tanh", 321)]
    assert len(report.troubles[0].chain) > 10 and "more → " in str(report)


STRANGE = [
    ("bfloat16", lambda x: jnp.log(x).sum(), jnp.zeros(2, jnp.bfloat16), "log"),
    ("complex inside", lambda x: jnp.abs(jnp.sqrt(x + 0j)).sum(), jnp.zeros(2), "sqrt"),
    ("fft", lambda x: jnp.log(jnp.abs(jnp.fft.fft(x))).sum(), jnp.zeros(4), "log"),
    ("eigenvectors", lambda x: jnp.linalg.eigh(x)[1].sum(), jnp.eye(3), "eigh"),
    ("a solver's rule", lambda x: jnp.linalg.solve(x, jnp.ones(3)).sum(), jnp.zeros((3, 3)), "custom_jvp_call"),
    ("associative scan", lambda x: lax.associative_scan(jnp.multiply, jnp.log(x)).sum(), jnp.array([1.0, 0.0, 2.0]), "log"),
    ("a gradient of a gradient", lambda x: jax.grad(jnp.linalg.norm)(x).sum(), jnp.zeros(2), "div"),
    ("a reference", lambda x: _through_a_reference(x), jnp.float32(0.0), "log"),
    ("a tree with holes", lambda d: jnp.log(d["a"]), {"a": 0.0, "b": None}, "log"),
    ("an axis with a name", lambda x: jax.vmap(lambda t: lax.psum(jnp.log(t), "i"), axis_name="i")(x).sum(), jnp.zeros(3), "log"),
    ("a callback", lambda x: jnp.log(x) + _called_back(lax.stop_gradient(x)), jnp.float32(0.0), "log"),
]


def _through_a_reference(x):
    reference = jax.new_ref(jnp.float32(0.0))
    reference[...] = jnp.log(x)
    return reference[...]


def _called_back(x):
    return jax.pure_callback(lambda value: np.float32(value), jax.ShapeDtypeStruct((), jnp.float32), x)


@pytest.mark.parametrize("name,function,point,primitive", STRANGE, ids=[row[0] for row in STRANGE])
def test_strange_programs_are_followed(name, function, point, primitive):
    report = explain_grad(function)(point)
    assert [trouble.primitive for trouble in report.troubles] == [primitive], str(report)
    assert not report.notes and report._repr_html_()


def test_what_cannot_be_followed_is_a_note(monkeypatch):
    def refuse(*args):
        raise NotImplementedError("no such thing")

    monkeypatch.setattr(jax._core, "record_call", refuse)
    report = explain_grad(jnp.log)(0.0)
    assert report.notes == ("the program could not be followed: NotImplementedError: no such thing",)
    assert report.leaves[0].infinite == 1 and "no such thing" in str(report)


def test_rules_of_users():
    @jax.custom_vjp
    def rule(x):
        return x * 2

    rule.defvjp(lambda x: (x * 2, None), lambda _, ct: (ct * jnp.nan,))
    trouble = only(explain_grad(lambda x: rule(x).sum())(jnp.ones(2)))
    assert trouble.primitive == "custom_vjp_call"
