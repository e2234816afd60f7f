"""`precision` of contractions: what is recorded, what is computed, what is refused, and the setting."""

import numpy as np
import pytest

import pullback
from pullback import lax
from pullback import numpy as jnp

ALGORITHMS = [preset.name for preset in lax.DotAlgorithmPreset]
WORDS = ["default", "fastest", "bfloat16", "high", "bfloat16_3x", "tensorfloat32", "highest", "float32"]
# As Python, as both systems read them.
GIVEN = [
    "None", *map(repr, WORDS), *map(repr, ALGORITHMS), "P.HIGH", "P.HIGHEST", "(P.HIGH, P.DEFAULT)", "('high', 'default')",
    "['high', 'highest']", "D.F32_F32_F32", "D.DEFAULT", "'foo'", "3", "('high', None)", "('high',)", "True", "object()",
]
CALLS = [
    "lax.dot(x, x, precision=p)", "lax.dot_general(x, x, (((1,), (0,)), ((), ())), p)",
    "lax.conv(x[None, None], x[None, None], (1, 1), 'SAME', p)", "lax.batch_matmul(x[None], x[None], p)",
    "jnp.dot(x, x, precision=p)", "jnp.vdot(x, x, precision=p)", "jnp.inner(x, x, precision=p)",
    "jnp.tensordot(x, x, precision=p)", "jnp.matmul(x, x, precision=p)", "jnp.einsum('ij,jk', x, x, precision=p)",
    "jnp.vecdot(x, x, precision=p)", "jnp.convolve(x[0], x[0], precision=p)", "jnp.correlate(x[0], x[0], precision=p)",
    "jnp.linalg.multi_dot([x, x], precision=p)", "jnp.linalg.matmul(x, x, precision=p)",
]


def names(system):
    found = {"jax": system, "jnp": system.numpy, "lax": system.lax, "P": system.lax.Precision}
    return found | {"D": system.lax.DotAlgorithmPreset, "x": system.numpy.ones((2, 2))}


def recorded(system, call, given, around=""):
    """The precision that the contraction in a jaxpr has, as text, or the exception's class."""

    def contractions(jaxpr):
        for eqn in jaxpr.eqns:
            for value in eqn.params.values():
                yield from contractions(value.jaxpr) if hasattr(value, "jaxpr") else ()
            if "precision" in eqn.params:
                yield repr(eqn.params["precision"])

    known = names(system)
    x = known.pop("x")
    try:
        jaxpr = system.make_jaxpr(eval(f"lambda x: {call}", known | {"p": eval(given, known)}))(x)  # noqa: S307
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return list(contractions(jaxpr.jaxpr))


@pytest.mark.parametrize("given", GIVEN)
def test_what_is_given_is_recorded(given, jax_oracle):
    for call in CALLS[:3]:
        assert recorded(pullback, call, given) == recorded(jax_oracle, call, given), call


@pytest.mark.parametrize("call", CALLS)
def test_every_function_passes_it_on(call, jax_oracle):
    assert recorded(pullback, call, "('high', 'highest')") == recorded(jax_oracle, call, "('high', 'highest')")
    assert recorded(pullback, call, "'foo'") == "ValueError"


@pytest.mark.parametrize("word", [None, "default", "high", "highest", "float32", "bfloat16", "tensorfloat32", *ALGORITHMS[1:]])
def test_the_setting_is_the_default(word, jax_oracle):
    def all_recorded(system):
        with system.default_matmul_precision(word):
            return [recorded(system, call, given) for call in CALLS[:3] for given in ("None", "'high'")]

    ours, theirs = all_recorded(pullback), all_recorded(jax_oracle)
    assert ours == theirs
    assert recorded(pullback, CALLS[0], "None") == ["None"]


def test_the_setting_is_part_of_the_key_of_jit():
    @pullback.jit
    def f(x):
        return x @ x

    x = jnp.ones((2, 2))
    assert "precision=(Precision.HIGHEST, Precision.HIGHEST)" not in str(f.trace(x).jaxpr)
    with pullback.default_matmul_precision("highest"):
        assert "precision=(Precision.HIGHEST, Precision.HIGHEST)" in str(f.trace(x).jaxpr)
    assert "precision" not in str(f.trace(x).jaxpr)


def test_a_wrong_setting_is_refused():
    with pytest.raises(ValueError, match="'foo'|foo"), pullback.default_matmul_precision("foo"):
        pass


def test_transforms_keep_it(jax_oracle):
    def programs(system):
        x, high = system.numpy.ones((3, 2, 2)), (system.lax.Precision.HIGH, system.lax.Precision.DEFAULT)

        def product(x):
            return system.lax.dot(x, x * 2, precision=high).sum()

        def convolution(x):
            return system.lax.conv(x[None, None], 2 * x[None, None], (1, 1), "SAME", high).sum()

        for f in product, convolution:
            yield str(system.make_jaxpr(system.grad(f))(x[0])).count("(Precision.HIGH, Precision.DEFAULT)")
            yield str(system.make_jaxpr(system.vmap(f))(x)).count("(Precision.HIGH, Precision.DEFAULT)")

    assert list(programs(pullback)) == list(programs(jax_oracle))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int32"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_compute_in_their_dtypes(name, dtype, jax_oracle):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 16, 16)).astype(np.float32)

    def product(system):
        a, b = system.numpy.asarray(x).astype(dtype), system.numpy.asarray(y).astype(dtype)
        try:
            out = system.lax.dot(a, b, precision=name)
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        return str(out.dtype), np.asarray(out).astype(np.float32)

    ours, theirs = product(pullback), product(jax_oracle)
    if isinstance(theirs, str):
        assert ours == theirs
        return
    assert ours[0] == theirs[0]
    half = "float16" in (dtype, theirs[0]) or dtype == "bfloat16" or name == "F16_F16_F16"
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-2 if half else 2e-6, atol=6e-2 if half else 4e-6)


@pytest.mark.parametrize("name", ["highest", "F32_F32_F32", "BF16_BF16_F32_X3", "F64_F64_F64", "F16_F16_F16"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_stablehlo_says_it(name, dtype, jax_oracle):
    def text(system):
        x = system.numpy.ones((2, 2), dtype)
        lowered = system.jit(lambda x: system.lax.dot(x, x, precision=name)).lower(x).as_text()
        (line,) = [line for line in lowered.splitlines() if "dot_general" in line]
        return line[line.index("contracting_dims"):]

    assert text(pullback) == text(jax_oracle)


def test_levels_read_words():
    assert lax.Precision("bfloat16_3x") is lax.Precision.HIGH
    assert lax.Precision(None) is lax.Precision.DEFAULT
    assert (repr(lax.Precision.HIGH), str(lax.Precision.HIGH)) == ("Precision.HIGH", "HIGH")
    with pytest.raises(ValueError, match="foo"):
        lax.Precision("foo")


def contractions(system, subscripts, shapes, **options):
    """What `einsum` asks of a contraction of the user's own."""
    calls = []

    def dot_general(lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None):
        calls.append((lhs.shape, rhs.shape, dimension_numbers, precision, preferred_element_type))
        return system.lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)

    operands = [np.arange(np.prod(shape), dtype="float32").reshape(shape) for shape in shapes]
    result = system.numpy.einsum(subscripts, *operands, _dot_general=dot_general, **options)
    return calls, np.asarray(result).tolist()


@pytest.mark.parametrize("subscripts, shapes, options", [
    ("ij,jk", [(2, 3), (3, 4)], {}), ("bij,jk->bik", [(5, 2, 3), (3, 4)], {}), ("ij,ij->ij", [(2, 3), (2, 3)], {}),
    ("i,j->ij", [(3,), (2,)], {}), ("ij,ij->", [(2, 3), (2, 3)], {}), ("ijk,ijk->k", [(5, 2, 3), (5, 2, 3)], {}),
    ("ii->i", [(3, 3)], {}), ("ij,jk", [(2, 3), (3, 4)], {"precision": "highest", "preferred_element_type": "float32"}),
])  # fmt: skip
def test_einsum_contracts_by_the_function_that_is_given(subscripts, shapes, options, jax_oracle):
    assert contractions(pullback, subscripts, shapes, **options) == contractions(jax_oracle, subscripts, shapes, **options)


def test_a_contraction_must_be_callable():
    with pytest.raises(TypeError, match="_dot_general"):
        jnp.einsum("ij,jk", jnp.ones((2, 2)), jnp.ones((2, 2)), _dot_general=3)
