"""`jax.export` beside live JAX: values over symbolic sizes after a round trip through bytes, dimension arithmetic, errors."""

import collections
import importlib
import re

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")

# Of a case: the symbolic shape of the argument, and the function of a system and the array.
PROGRAMS = {
    "arange": ("a", lambda j, x: j.numpy.arange(x.shape[0]) * x.shape[0]),
    "mean and var": ("a, b", lambda j, x: (x.mean(0), x.var())),
    "softmax": ("a, b", lambda j, x: j.nn.softmax(x)),
    "flat": ("a, b", lambda j, x: x.reshape(-1)),
    "halves": ("a, 4", lambda j, x: x.reshape(-1, 2)),
    "by sizes": ("a, b", lambda j, x: x.reshape((x.shape[1], x.shape[0]))),
    "product": ("a, b", lambda j, x: x @ x.T),
    "parts": ("a", lambda j, x: (x[1:], x[:-1], x[::2], x[::-1], x[0], x[-1], x[None, :, None])),
    "updates": ("a", lambda j, x: x.at[1:].add(2.0).at[0].set(1.0)),
    "padded": ("a", lambda j, x: j.numpy.pad(j.numpy.concatenate([x, x]), (1, 2))),
    "sorted": ("a", lambda j, x: (j.numpy.sort(x), j.numpy.argsort(x), j.numpy.cumsum(x), j.numpy.argmax(x))),
    "made": ("a", lambda j, x: (j.numpy.ones(x.shape), j.numpy.zeros((x.shape[0], 3)), j.numpy.eye(x.shape[0]))),
    "repeated": ("a", lambda j, x: (j.numpy.tile(x, 3), j.numpy.repeat(x, 2), j.numpy.roll(x, 1), j.numpy.broadcast_to(x, (3, x.shape[0])))),
    "batch": ("a, b", lambda j, x: j.vmap(lambda y: y / y.sum())(x)),
    "scan": ("a, b", lambda j, x: j.lax.scan(lambda c, y: (c + y, c.sum()), j.numpy.zeros(x.shape[1]), x)),
    "fori": ("a", lambda j, x: j.lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], 0.0)),
    "cond": ("a", lambda j, x: j.lax.cond(x.sum() > 0, lambda y: y, lambda y: -y, x)),
    "slope": ("a", lambda j, x: j.grad(lambda y: (j.nn.relu(j.numpy.sin(y)) ** 2).sum())(x)),
    "convolution": ("1, a, a, 3", lambda j, x: j.lax.conv_general_dilated(
        x, j.numpy.ones((3, 3, 3, 4)), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))),
    "numbers": ("a, b", lambda j, x: x * x.shape[0] ** 2 + x / x.size + x * (x.shape[0] // 2) + x * (x.shape[1] % 3)),
    "of arrays": ("a, b", lambda j, x: j.numpy.array(x.shape[0]) + x.sum() / (x.shape[0] * x.shape[1])),
    "random": ("a", lambda j, x: j.random.normal(j.random.key(0), (x.shape[0], 2))),
    "solve": ("b, 3, 3", lambda j, x: j.numpy.linalg.solve(x + 9 * j.numpy.eye(3), j.numpy.ones((x.shape[0], 3, 1)))),
    "attention": ("b, a, 4", lambda j, x: j.nn.softmax(j.numpy.einsum("bid,bjd->bij", x, x)) @ x),
    "known branch": ("a", lambda j, x: x if x.shape[0] >= 1 else -x),
    "other sizes": ("a, b", lambda j, x: x if x.shape[0] == x.shape[1] else -x),
}
ODD_SHAPES = {
    "pool": lambda j, x: j.lax.reduce_window(x, -np.inf, j.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "strides": lambda j, x: j.lax.conv_general_dilated(x, np.ones((3, 3, 3, 4), "f"), (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
}
REFUSED = {
    "comparison": ("a", lambda j, x: x if x.shape[0] > 5 else -x),
    "sizes that differ": ("a", lambda j, x: x + j.numpy.ones(3)),
    "indivisible": ("a", lambda j, x: x.reshape(2, -1)),
    "length": ("a", lambda j, x: x * len(x)),
    "an integer of a size": ("a", lambda j, x: x * int(x.shape[0])),
}
SIZES = ({"a": 4, "b": 3}, {"a": 33, "b": 5})


def exporter(system):
    return importlib.import_module(f"{system.__name__}.export")


def exported(system, spec, function):
    export = exporter(system)
    shape = export.symbolic_shape(spec)
    return export.export(system.jit(lambda x: function(system, x)))(system.ShapeDtypeStruct(shape, np.float32))


def argument(spec, sizes):
    shape = [eval(size, {}, sizes) for size in spec.split(",")]
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values_over_symbolic_sizes(name):
    spec, function = PROGRAMS[name]
    ours = exporter(pullback).deserialize(exported(pullback, spec, function).serialize())
    assert str(ours.out_avals) == str(exported(jax, spec, function).out_avals)
    for sizes in SIZES:
        x = argument(spec, sizes)
        wanted, found = (system.tree.leaves(result) for system, result in ((jax, function(jax, jax.numpy.asarray(x))), (pullback, ours.call(x))))
        for y, z in zip(wanted, found, strict=True):
            assert (y.shape, y.dtype) == (z.shape, z.dtype)
            np.testing.assert_allclose(np.asarray(z), np.asarray(y), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", ODD_SHAPES)
def test_sizes_that_are_rounded_are_right_for_every_remainder(name):
    function = ODD_SHAPES[name]
    ours = exported(pullback, "1, a, a, 3", function)
    for size in range(3, 12):
        x = argument("1, a, a, 3", {"a": size})
        wanted = np.asarray(function(pullback, pullback.numpy.asarray(x)))
        assert [aval.shape[1] for aval in ours.out_avals][0] is not None
        np.testing.assert_array_equal(np.asarray(ours.call(x)), wanted)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_one_answer_is_refused_with_the_class_of_jax(name):
    def kind(system):
        with pytest.raises(Exception) as caught:
            exported(system, *REFUSED[name])
        return type(caught.value).__name__

    assert kind(pullback) == kind(jax)


def test_a_program_that_follows_a_size_is_refused():
    with pytest.raises(NotImplementedError, match="depend on the value of a dimension variable"):
        exported(pullback, "a", lambda j, x: sum(x * k for k in range(min(x.shape[0].__index__(), 20))))


DIMENSIONS = (
    "a + 1 == 1 + a", "a == 3", "a == b", "a != b", "a >= 1", "a > 0", "a > 1", "a < b", "a <= a + 1", "2*a + b", "a // 2", "a % 3", "-a", "a*b + a**2",
    "a - b", "3 - a", "(a + b) * (a - b)", "(a*2) // 2", "(a*4 + 2) // 2", "a * 0", "a - a >= 0", "a // 2 <= a", "a % 3 <= 2", "divmod(a, 2)",
    "int(a)", "float(a)", "bool(a)", "range(a)", "[1, 2][a]", "a & 1", "a / 2", "2 ** a", "-a + 3*b - 2*a*b + 5", "hash(a) == hash(a + 0)",
    "c >= 4", "c >= d", "c % 2", "c >= 5", "d <= c", "c - d >= 0", "c + a", "export.symbolic_shape('a b')", "export.symbolic_shape('1a')",
    "export.symbolic_shape('(a, b)')", "export.symbolic_shape('')", "export.symbolic_shape('a,')", "export.symbolic_shape('a, ...', like=(1, 2, 3))",
    "export.symbolic_shape('_, a', like=(1, 2))", "export.symbolic_shape('2*a + 3, b - 1, max(a, b), mod(a, 3), floordiv(a, 2), min(a, 3), a^2')",
    "export.symbolic_shape('a', constraints=['a == b'])", "export.symbolic_shape('a', constraints=['a > b'])", "export.is_symbolic_dim(a)",
    "export.symbolic_dim_bounds(2*a)", "export.symbolic_dim_bounds(a - b)", "export.symbolic_dim_bounds(a % 5)", "[a, 2][0]", "max(a, 1)", "a**0",
    "export.symbolic_args_specs((np.ones((3, 4), 'f'), np.ones(4, 'f')), 'a, ...')", "export.symbolic_args_specs((np.ones((3, 4), 'f'),), 'a, 5')",
)  # fmt: skip


@pytest.mark.parametrize("expression", DIMENSIONS)
def test_dimension_arithmetic_is_that_of_jax(expression):
    def result(system):
        export = exporter(system)
        a, b = export.symbolic_shape("a, b")
        c, d = export.symbolic_shape("a, b", scope=export.SymbolicScope(["a >= 4", "b <= a", "mod(a, 2) == 0"]))
        try:
            return str(eval(expression, {"export": export, "a": a, "b": b, "c": c, "d": d, "np": np}))
        except Exception as error:
            return type(error).__name__

    assert result(pullback) == result(jax)


CALLS = {
    "another size": ("a, a", lambda j: (j.numpy.ones((3, 4)),)),
    "another rank": ("a, b", lambda j: (j.numpy.ones(3),)),
    "a remainder": ("2*a", lambda j: (j.numpy.ones(3),)),
    "nothing": ("a", lambda j: (j.numpy.ones(0),)),
    "negative": ("a + b, b", lambda j: (j.numpy.ones((3, 5)),)),
    "a constant": ("a, 3", lambda j: (j.numpy.ones((3, 5)),)),
    "another dtype": ("a", lambda j: (j.numpy.ones(3, int),)),
    "more arguments": ("a", lambda j: (j.numpy.ones(3), 1)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_that_do_not_fit_are_refused_in_the_words_of_jax(name):
    spec, arguments = CALLS[name]

    def text(system):
        with pytest.raises(ValueError) as caught:
            exported(system, spec, lambda j, x: x).call(*arguments(system))
        # Where more is told differs: theirs is on their site, ours in `pullback.help`.
        said = re.sub(r"https://docs\.jax\.dev\S*", 'pullback.help("symbolic_shapes")', str(caught.value))
        return said.split("\n  at ")[0].strip()

    assert text(pullback) == text(jax)


def test_unsolvable_sizes_are_refused():
    with pytest.raises(ValueError, match="Cannot solve for values of dimension variables"):
        exported(pullback, "a + b", lambda j, x: x)


Point = collections.namedtuple("Point", "x y")


def test_trees_and_derivatives_survive_the_bytes():
    export, jnp = exporter(pullback), pullback.numpy
    export.register_namedtuple_serialization(Point, serialized_name="point of a test")
    made = export.export(pullback.jit(lambda p, d: Point(p.x * d["k"][0], (p.y, None))))
    made = made(Point(*[pullback.ShapeDtypeStruct((3,), np.float32)] * 2), {"k": [pullback.ShapeDtypeStruct((), np.float32)]})
    back = export.deserialize(made.serialize(vjp_order=2))
    x = jnp.arange(3.0)
    result = back.call(Point(x, x), {"k": [2.0 * jnp.ones(())]})
    assert type(result) is Point and result.y[1] is None
    slope = pullback.grad(lambda x: (back.call(Point(x, x), {"k": [x.sum()]}).x ** 2).sum())
    np.testing.assert_allclose(slope(x), pullback.grad(lambda x: ((x * x.sum()) ** 2).sum())(x), rtol=1e-6)
    twice = pullback.grad(lambda x: (slope(x) ** 2).sum())(x)
    np.testing.assert_allclose(twice, pullback.grad(lambda x: (pullback.grad(lambda x: ((x * x.sum()) ** 2).sum())(x) ** 2).sum())(x), rtol=1e-5)
    with pytest.raises(ValueError, match="No VJP is available"):
        pullback.grad(lambda x: export.deserialize(made.serialize()).call(Point(x, x), {"k": [x.sum()]}).x.sum())(x)


def test_derivatives_over_symbolic_sizes():
    made = exported(pullback, "a, b", lambda j, x: j.numpy.sin(x).sum(1))
    back = exporter(pullback).deserialize(made.serialize(vjp_order=1))
    assert [str(aval) for aval in made.vjp().in_avals] == ["ShapedArray(float32[a,b])", "ShapedArray(float32[a])"]
    x = pullback.numpy.ones((2, 5))
    np.testing.assert_allclose(pullback.grad(lambda x: back.call(x).sum())(x), np.cos(np.ones((2, 5))), rtol=1e-6)


FIELDS = (
    "fun_name", "in_tree", "in_avals", "out_tree", "out_avals", "nr_devices", "platforms", "ordered_effects", "unordered_effects",
    "disabled_safety_checks", "calling_convention_version", "module_kept_var_idx", "uses_global_constants", "in_shardings_hlo",
)  # fmt: skip


@pytest.mark.parametrize("function", (lambda x, y: {"a": x + y}, lambda x, y: x, lambda x, y: (x, [y, None])))
def test_fields_are_those_of_jax(function):
    def fields(system):
        made = exporter(system).export(system.jit(function))(system.ShapeDtypeStruct((3,), np.float32), 1.0)
        return {name: str(getattr(made, name)) for name in FIELDS}

    assert fields(pullback) == fields(jax)


def test_changed_bytes_are_an_error():
    export = exporter(pullback)
    blob = export.export(pullback.jit(lambda x: x + np.arange(3.0, dtype="f")))(np.ones(3, "f")).serialize()
    np.testing.assert_array_equal(export.deserialize(blob).call(np.ones(3, "f")), [1, 2, 3])
    for at in range(0, len(blob), 7):
        with pytest.raises(ValueError):
            export.deserialize(blob[:at])
        changed = bytearray(blob)
        changed[at] ^= 1
        with pytest.raises(ValueError):
            export.deserialize(changed)


def test_host_callbacks_cannot_be_written():
    made = exporter(pullback).export(pullback.jit(lambda x: pullback.pure_callback(np.sin, x, x)))(np.ones(3, "f"))
    np.testing.assert_allclose(made.call(np.ones(3, "f")), np.sin(np.ones(3, "f")))
    with pytest.raises(NotImplementedError, match="pure_callback"):
        made.serialize()


def test_two_variables_in_any_order():
    """What is `min(c, d)` in JAX is never one of the two: it is right, or refused."""
    export = exporter(pullback)

    def exported_over(names, function, **constraints):
        c, d = export.symbolic_shape(names, **constraints)
        shapes = [pullback.ShapeDtypeStruct((size,), np.float32) for size in (c, d)]
        return export.export(pullback.jit(function))(*shapes)

    made = exported_over("c, d", lambda x, y: x[: y.shape[0]] + y, constraints=("c >= d",))
    assert str(made.out_avals) == "(ShapedArray(float32[d]),)"
    assert made.call(np.ones(5, "f"), np.ones(3, "f")).tolist() == [2, 2, 2]
    longer = exported_over("c, d", lambda x, y: pullback.numpy.zeros(pullback.core.max_dim(x.shape[0], y.shape[0])))
    assert str(longer.out_avals) == "(ShapedArray(float32[max(c, d)]),)"
    assert [longer.call(np.ones(m, "f"), np.ones(n, "f")).shape for m, n in ((2, 5), (5, 2))] == [(5,), (5,)]
    with pytest.raises(NotImplementedError, match="depend on the value of a dimension variable"):
        exported_over("c, d", lambda x, y: x[: y.shape[0]])
