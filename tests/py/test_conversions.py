"""Every way out of a traced value gives what JAX gives: its exception, or a value with the right derivative.

The answers of JAX are recorded, see `conversions.py`; where JAX is installed, a part of them is asked anew.
"""

import conversions
import pytest

import pullback as jax
import pullback.numpy as jnp
from pullback import lax

ANSWERS = conversions.recorded()
# What differs on purpose, with what Pullback gives: a subclass of the exception, which says more.
DIFFERENT = {("int", "jnp.eye", "TypeError"): "TracerIntegerConversionError"}


@pytest.mark.parametrize("given", conversions.INPUTS)
@pytest.mark.parametrize("transform", conversions.TRANSFORMS)
def test_conversions_give_what_jax_gives(transform, given):
    wrong = []
    for conversion in conversions.CONVERSIONS:
        ours, theirs = conversions.outcome(jax, transform, given, conversion), ANSWERS[transform, given, conversion]
        if ours not in (theirs, DIFFERENT.get((given, conversion, theirs))):
            wrong.append(f"{conversion}: {ours}, JAX gives {theirs}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("transform", ["grad", "jvp", "vmap", "closure", "custom_jvp rule", "custom_vjp forward", "make_jaxpr"])
def test_recorded_answers_are_those_of_jax(jax_oracle, transform):
    for conversion in conversions.CONVERSIONS:
        answer = conversions.outcome(jax_oracle, transform, "float", conversion)
        assert answer == ANSWERS[transform, "float", conversion], conversion


LOSING = {
    "float": float, "complex": complex, "tolist": lambda x: x.tolist(), "np.asarray": conversions.np.asarray,
    "np.sin": conversions.np.sin, "pickle": conversions.pickle.dumps, "math": conversions.math.sin,
    "tobytes": lambda x: x.tobytes(), "memoryview": memoryview, "dlpack": lambda x: x.__dlpack__(),
}


@pytest.mark.parametrize("name", LOSING)
def test_the_error_names_the_line_and_a_way_out(name):
    with pytest.raises(TypeError) as caught:
        jax.grad(lambda x: LOSING[name](x) * x)(2.0)
    assert "jax.lax.stop_gradient(x)" in str(caught.value)
    assert "test_conversions.py" in str(caught.value)


def test_the_way_out_works():
    assert jax.grad(lambda x: float(lax.stop_gradient(x)) * x)(2.0) == 2.0


def test_what_keeps_its_derivative_keeps_it():
    assert jax.grad(lambda x: jax.device_get(x * x) * x)(2.0) == 12.0
    assert jax.grad(lambda x: jax.block_until_ready(x * x) * x)(2.0) == 12.0
    assert jax.grad(lambda x: conversions.copy.deepcopy(x * x) * x)(2.0) == 12.0
    assert jax.jit(jax.grad(lambda x: jax.device_get(x * x) * x))(2.0) == 12.0
    key = jax.random.key(0)
    assert jax.device_get({"key": key})["key"] is key


def test_a_rule_runs_in_place_of_a_body_that_looks_at_values():
    calls = []

    @jax.custom_jvp
    def f(x):
        calls.append(x)
        return conversions.np.sin(x)

    f.defjvp(lambda primals, tangents: (f(primals[0]), jnp.cos(primals[0]) * tangents[0]))
    assert abs(jax.grad(f)(2.0) - jnp.cos(2.0)) < 1e-6
    # The rule may be of a derivative around: the inner one does not touch `x`.
    assert abs(jax.grad(lambda x: jax.grad(lambda y: y * f(x))(3.0))(2.0) - jnp.cos(2.0)) < 1e-6
    assert not any(isinstance(x, jax.core.Tracer) for x in calls)
