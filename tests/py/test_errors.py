"""Bad input: JAX's exception class, what was wrong, the function, the user's line and a way out."""

import gc
import re
import traceback
from pathlib import Path

import numpy as np
import pytest

import pullback


class Plain:
    """A class that nobody registered."""


def traced_bool(j, jnp):
    def branch(x):
        if x > 0:
            return x
        return -x

    return j.jit(branch)(1.0)


def traced_array(j, jnp):
    def convert(x):
        return np.asarray(x + 1)

    return j.jit(convert)(jnp.ones(3))


def leaked(j, jnp):
    kept = []
    j.jit(lambda x: kept.append(x + 1))(1.0)
    return kept[0] + 1


def changed_carry(j, jnp):
    def body(c, x):
        return c.astype(jnp.int32), x

    return j.lax.scan(body, jnp.float32(0), jnp.ones(3))


def donated_twice(j, jnp):
    x = jnp.ones(3)
    j.jit(lambda x: x + 1, donate_argnums=0)(x)
    return x + 1


def strict_promotion(j, jnp):
    with j.numpy_dtype_promotion("strict"):
        return jnp.int32(1) + jnp.float32(1)


def nan_in_log(j, jnp):
    with j.debug_nans(True):
        return jnp.log(jnp.float32(-1))


def cotangent_of_a_rule(j, jnp):
    f = j.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (jnp.ones(3),))
    return j.grad(f)(1.0)


# Program, exception class, and what its text must hold.
CASES = {
    "shapes": (lambda j, jnp: jnp.ones(3) + jnp.ones(4), TypeError, ["add got incompatible shapes", r"\(3,\), \(4,\)"]),
    "contraction": (
        lambda j, jnp: jnp.ones((2, 3)) @ jnp.ones((2, 3)), TypeError, ["contracting dimensions", r"\(3,\) and \(2,\)"],
    ),
    "reshape": (lambda j, jnp: jnp.ones(3).reshape(2, 2), TypeError, [r"\(3,\) \(size 3\)", r"\(2, 2\) \(size 4\)"]),
    "list operand": (lambda j, jnp: jnp.ones(3) + [1, 2, 3], TypeError, [r"unsupported operand type\(s\) for \+"]),
    "list argument": (lambda j, jnp: jnp.sin([1.0]), TypeError, ["sin requires ndarray or scalar arguments", "position 0"]),
    "axis": (lambda j, jnp: jnp.ones(3).sum(axis=1), ValueError, ["axis 1 is out of bounds for array of dimension 1"]),
    "item assignment": (
        lambda j, jnp: jnp.ones(3).__setitem__(0, 1.0), TypeError, ["immutable", r"x = x\.at\[idx\]\.set\(y\)"],
    ),
    "too many indices": (lambda j, jnp: jnp.ones(3)[0, 0], IndexError, ["Too many indices: array is 1-dimensional, but 2"]),
    "list index": (lambda j, jnp: jnp.ones(3)[[0, 1]], TypeError, ["Using a non-tuple sequence"]),
    "overflow": (lambda j, jnp: jnp.ones(3) + 2**40, OverflowError, ["Python int 1099511627776 too large to convert to int32"]),
    "trees": (
        lambda j, jnp: j.tree.map(lambda a, b: a, {"w": (1, 2)}, {"w": (1,)}),
        ValueError,
        ["different lengths of tuple", r"tree_map tree\['w'\]"],
    ),
    "text into jit": (
        lambda j, jnp: j.jit(lambda s: s)("a"), TypeError, ["Error interpreting argument", "<class 'str'>", "path s", "static_argnums"],
    ),
    "instance into jit": (
        lambda j, jnp: j.jit(lambda s: 1)({"k": [Plain()]}), TypeError, [r"s\['k'\]\[0\]", "static_argnums"],
    ),
    "text out of jit": (
        lambda j, jnp: j.jit(lambda x: {"a": (x, "b")})(1.0), TypeError, ["returned a value of type <class 'str'>", r"\['a'\]\[1\]"],
    ),
    "unhashable static": (
        lambda j, jnp: j.jit(lambda x: x, static_argnums=0)([1]), ValueError, ["Non-hashable static arguments", "unhashable type"],
    ),
    "bad static_argnums": (
        lambda j, jnp: j.jit(lambda x: x, static_argnums=5), ValueError, [r"static_argnums=\(5,\)", "only accepts 1 positional"],
    ),
    "bad static_argnames": (
        lambda j, jnp: j.jit(lambda x: x, static_argnames="c"), ValueError, [r"invalid argnames \{'c'\} in static_argnames"],
    ),
    "if on a tracer": (
        traced_bool, "TracerBoolConversionError",
        [r"boolean conversion of traced array with shape bool\[\]", r"branch at .*test_errors.py:\d+ for jit", "argument x"],
    ),
    "asarray of a tracer": (
        traced_array, "TracerArrayConversionError", [r"__array__\(\) was called on traced array with shape float32\[3\]", "argument x"],
    ),
    "float of a tracer": (
        lambda j, jnp: j.jit(lambda x: float(x))(1.0), "ConcretizationTypeError", ["`float` function", r"x\.astype\(float\)"],
    ),
    "range of a tracer": (
        lambda j, jnp: j.jit(lambda n: range(n))(3), "TracerIntegerConversionError", [r"__index__\(\) method was called", "argument n"],
    ),
    "slice by a tracer": (
        lambda j, jnp: j.jit(lambda x, n: x[:n])(jnp.ones(3), 2), IndexError, ["static start/stop/step", "lax.dynamic_slice"],
    ),
    "leaked tracer": (leaked, "UnexpectedTracerError", [r"intermediate value with type ~?float32\[\]", r"test_errors.py:\d+"]),
    "hash": (lambda j, jnp: hash(jnp.ones(3)), TypeError, ["unhashable type"]),
    "grad of int": (
        lambda j, jnp: j.grad(lambda x: x)(1), TypeError, ["requires real- or complex-valued inputs", "int32", "allow_int"],
    ),
    "grad of vector": (
        lambda j, jnp: j.grad(lambda x: x)(jnp.ones(3)), TypeError, ["scalar-output functions", r"shape: \(3,\)"],
    ),
    "grad argnums": (
        lambda j, jnp: j.grad(lambda x: x, argnums=1)(1.0), TypeError, ["argnums=1", "only 1 positional arguments"],
    ),
    "jvp dtypes": (
        lambda j, jnp: j.jvp(lambda x: x, (1.0,), (1,)), TypeError, ["primal and tangent arguments to jax.jvp do not match", "int32"],
    ),
    "jvp shapes": (
        lambda j, jnp: j.jvp(lambda x: x, (jnp.ones(3),), (jnp.ones(4),)), ValueError, [r"\(3,\)", r"\(4,\)"],
    ),
    "vjp cotangent": (
        lambda j, jnp: j.vjp(lambda x: x, jnp.ones(3))[1](jnp.ones(4)), ValueError, [r"got float32\[4\], but expected float32\[3\]"],
    ),
    "vmap sizes": (
        lambda j, jnp: j.vmap(lambda a, b: a)(jnp.ones(3), jnp.ones(4)),
        ValueError,
        ["inconsistent sizes", r"size 3: axis 0 of argument a of type float32\[3\]", r"size 4: axis 0 of argument b"],
    ),
    "vmap rank": (
        lambda j, jnp: j.vmap(lambda a: a, in_axes=1)(jnp.ones(3)), ValueError, ["rank should be at least 2, but is only 1", r"\(3,\)"],
    ),
    "vmap in_axes": (
        lambda j, jnp: j.vmap(lambda a: a, in_axes=(0, 0))(jnp.ones(3)), ValueError, [r"len\(in_axes\)=2, len\(args\)=1"],
    ),
    "vmap out_axes": (
        lambda j, jnp: j.vmap(lambda a: a, out_axes=None)(jnp.ones(3)), ValueError, ["at vmap out_axes", "batched on axis 0"],
    ),
    "scan carry type": (
        changed_carry, TypeError,
        ["carry input and carry output must have equal types", r"carry c has type float32\[\]", r"int32\[\], so the dtypes"],
    ),
    "scan carry tree": (
        lambda j, jnp: j.lax.scan(lambda c, a: ((c, c), a), 0.0, jnp.ones(3)), TypeError, ["same pytree structure", "carry c is"],
    ),
    "scan sizes": (
        lambda j, jnp: j.lax.scan(lambda c, a: (c, a), 0.0, (jnp.ones(3), jnp.ones(4))), ValueError, ["axis sizes: 3, 4"],
    ),
    "cond trees": (
        lambda j, jnp: j.lax.cond(True, lambda a: a, lambda a: (a, a), 1.0), TypeError,
        ["same pytree structure", r"true_fun is <lambda> at .*test_errors.py:\d+"],
    ),
    "cond types": (
        lambda j, jnp: j.lax.cond(True, lambda a: a, lambda a: 1, 1.0), TypeError,
        [r"output of true_fun has type float32\[\]", r"output of false_fun has type int32\[\]"],
    ),
    "cond predicate": (
        lambda j, jnp: j.lax.cond(jnp.ones(3), lambda a: a, lambda a: a, 1.0), TypeError, ["Pred must be a scalar", r"\(3,\)"],
    ),
    "while condition": (
        lambda j, jnp: j.lax.while_loop(lambda c: c, lambda c: c, 0.0), TypeError, ["cond_fun must return a boolean scalar"],
    ),
    "custom_vjp without rule": (
        lambda j, jnp: j.custom_vjp(lambda x: x)(1.0), AttributeError, ["No VJP defined for custom_vjp function <lambda>"],
    ),
    "unknown setting": (lambda j, jnp: j.config.update("jax_foo", 1), AttributeError, ["Unrecognized config option: jax_foo"]),
    "unknown backend": (lambda j, jnp: j.devices("tpu"), RuntimeError, ["Unknown backend.*tpu"]),
    "not callable": (lambda j, jnp: j.grad(3), TypeError, ["Expected a callable value, got 3"]),
    "mask in jit": (
        lambda j, jnp: j.jit(lambda x: x[x > 0])(jnp.ones(3)), "NonConcreteBooleanIndexError", [r"bool\[3\]", r"test_errors.py:\d+", "jnp.where"],
    ),
    "nonzero in jit": (
        lambda j, jnp: j.jit(lambda x: jnp.nonzero(x))(jnp.ones(3)), "ConcretizationTypeError", ["jnp.nonzero", "size", "argument x"],
    ),
    "unique in jit": (
        lambda j, jnp: j.jit(lambda x: jnp.unique(x))(jnp.ones(3)), "ConcretizationTypeError", ["jnp.unique", "size", "argument x"],
    ),
    "shape from a tracer": (
        lambda j, jnp: j.jit(lambda n: jnp.ones((2, n)))(3), TypeError, ["Shapes must be 1D sequences of", "argument n"],
    ),
    "arange to a tracer": (
        lambda j, jnp: j.jit(lambda n: jnp.arange(n))(3), "ConcretizationTypeError", ["jnp.arange argument 'stop'", "argument n"],
    ),
    "numpy function of a tracer": (
        lambda j, jnp: j.jit(lambda x: np.sin(x))(1.0), "TracerArrayConversionError", ["argument x"],
    ),
    "bool of several": (lambda j, jnp: bool(jnp.ones(3)), ValueError, ["more than one element is ambiguous"]),
    "loop over a number": (lambda j, jnp: list(jnp.float32(1)), TypeError, ["iteration over a 0-d array"]),
    "float index": (lambda j, jnp: jnp.ones(3)[1.0], TypeError, ["integer", "float"]),
    "shape of an update": (
        lambda j, jnp: jnp.ones(3).at[:2].set(jnp.ones(3)), ValueError, [r"float32\[3\]", r"float32\[2\]"],
    ),
    "ragged list": (lambda j, jnp: jnp.array([[1, 2], [3]]), ValueError, ["inhomogeneous"]),
    "array of text": (lambda j, jnp: jnp.array("text"), TypeError, ["dtype|type"]),
    "negative size": (lambda j, jnp: jnp.zeros(-1), TypeError, [r"nonnegative, got \(-1,\)"]),
    "concatenated ranks": (
        lambda j, jnp: jnp.concatenate([jnp.ones(3), jnp.ones((2, 3))]), TypeError, [r"\(3,\)", r"\(2, 3\)"],
    ),
    "stacked shapes": (lambda j, jnp: jnp.stack([jnp.ones(3), jnp.ones(4)]), ValueError, ["same shape"]),
    "einsum sizes": (
        lambda j, jnp: jnp.einsum("ij,jk->ik", jnp.ones((2, 3)), jnp.ones((4, 2))), ValueError, ["j"],
    ),
    "missing key in a tree": (
        lambda j, jnp: j.tree.map(lambda a, b: a, {"w": 1}, {"v": 1}), ValueError, ["tree_map tree", "w", "v"],
    ),
    "missing argument": (lambda j, jnp: j.jit(lambda x, y: x)(1.0), TypeError, ["missing 1 required positional argument: 'y'"]),
    "a number for a key": (lambda j, jnp: j.random.normal(3), TypeError, ["key"]),
    "a float for a key": (lambda j, jnp: j.random.normal(jnp.ones(2)), TypeError, ["key"]),
    "dtypes of a lax function": (
        lambda j, jnp: j.lax.add(jnp.float32(1), jnp.int32(1)), TypeError, ["add requires arguments to have the same dtypes", "float32, int32"],
    ),
    "while carry": (
        lambda j, jnp: j.lax.while_loop(lambda c: c < 3, lambda c: c + 1.0, jnp.int32(0)), TypeError, [r"int32\[\]", r"float32\[\]"],
    ),
    "reverse of while": (
        lambda j, jnp: j.grad(lambda x: j.lax.while_loop(lambda c: c < 3.0, lambda c: c * 2, x))(1.0), ValueError,
        ["Reverse-mode differentiation does not work for lax.while_loop", "scan"],
    ),
    "donated twice": (donated_twice, RuntimeError, ["deleted|donated"]),
    "unknown axis name": (lambda j, jnp: j.lax.psum(1.0, "i"), NameError, ["unbound axis name", "i"]),
    "bad promotion": (strict_promotion, "TypePromotionError", ["implicit dtype promotion path", "int32", "float32"]),
    "nan": (nan_in_log, FloatingPointError, ["nan", "log"]),
    "cotangent shape of a rule": (
        cotangent_of_a_rule, ValueError, ["Custom VJP bwd rule", r"float32\[3\]", r"float32\[\]"],
    ),
}


def raised(module, case):
    with pytest.raises(Exception) as info:
        case[0](module, module.numpy)
    return info.value


@pytest.mark.parametrize("name", CASES)
def test_error_says_who_what_where_and_the_way_out(name):
    _, wanted, patterns = CASES[name]
    error = raised(pullback, CASES[name])
    wanted = getattr(pullback.errors, wanted) if isinstance(wanted, str) else wanted
    assert isinstance(error, wanted), f"{type(error).__name__}: {error}"
    for pattern in patterns:
        assert re.search(pattern, str(error), re.DOTALL), f"{pattern!r} is not in:\n{error}"


@pytest.mark.parametrize("name", CASES)
def test_error_leads_to_the_users_line(name):
    """The line is named, or is the last of the traceback: no frame of ours stands below it."""
    from pullback import _refs

    if name == "missing argument" and _refs._n_alive:
        gc.collect()
        if _refs._n_alive:
            pytest.skip("references of another test are alive, for which functions are wrapped in Python")
    error = raised(pullback, CASES[name])
    frames = traceback.extract_tb(error.__traceback__)
    assert frames[-1].filename == __file__ or Path(__file__).name in str(error), [frame.filename for frame in frames]


@pytest.mark.parametrize("name", CASES)
def test_error_class_is_that_of_jax(name, jax_oracle):
    ours, theirs = raised(pullback, CASES[name]), raised(jax_oracle, CASES[name])
    assert type(ours).__name__ == type(theirs).__name__


def test_errors_of_operations_name_the_users_line():
    def add(x):
        return x + pullback.numpy.ones(4)

    line = add.__code__.co_firstlineno + 1
    with pytest.raises(TypeError, match=rf"{re.escape(Path(__file__).name)}:{line}"):
        pullback.jit(add)(pullback.numpy.ones(3))


def test_a_failed_trace_leaves_nothing_behind():
    with pytest.raises(TypeError):
        pullback.jit(lambda x: x + pullback.numpy.ones(4))(pullback.numpy.ones(3))
    assert float(pullback.numpy.ones(3).sum()) == 3.0
    assert pullback.core.trace_state_clean()
