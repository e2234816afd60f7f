"""What is linear transposes as in JAX; what is not linear is an error, never a number."""

import numpy as np
import pytest

import pullback

# Functions of three numbers, as Python.
LINEAR = [
    "3.0 * x", "x + x", "x.sum()", "x[1]", "x[::-1]", "jnp.where(jnp.arange(3) > 1, x, 0)", "x @ jnp.ones((3, 2))",
    "lax.stop_gradient(2 * x)", "jax.jit(lambda x: x - 2 * x)(x)", "jnp.concatenate([x, 2 * x])",
    "lax.scan(lambda c, t: (2 * c, c), x, None, length=3)", "lax.cond(True, lambda x: x, lambda x: 2 * x, x)",
    "lax.fori_loop(0, 3, lambda i, c: c * 2, x)", "jnp.cumsum(x)", "jnp.real(lax.complex(x, x))", "jnp.fft.fft(x)",
    "jax.checkpoint(lambda x: 2 * x)(x)", "jnp.convolve(x, jnp.ones(2))", "jnp.take(x, jnp.array([0, 0, 2]))",
    "jax.custom_jvp(lambda x: 5 * x)(x)", "jax.custom_vjp(lambda x: 5 * x)(x)", "jnp.ones(3)", "x / 2",
    "jax.vmap(lambda x: 2 * x)(x)", "jnp.zeros(5).at[jnp.array([1, 1, 4])].add(x)",
    "lax.fori_loop(0, 3, lambda i, c: c * i, x)", "lax.scan(lambda c, t: ((c[0] * c[1], c[1] * 2), c[0]), (x, 1.5), None, length=3)",
    "jax.jit(lambda x, k: x[k + 1])(x, 1)", "x.astype(jnp.float16)",
]
# The class that JAX raises; where it stops at an assertion, ours says that the function is not linear.
NOT_LINEAR = [
    "jnp.sin(x)", "x * x", "jnp.exp(x)", "1 / x", "x / x", "jnp.maximum(x, 0)", "jnp.cumprod(x)", "jnp.sort(x)",
    "jnp.where(x > 0, x, 0)", "x @ x", "x[x.astype(int)]", "jnp.convolve(x, x)", "jnp.abs(x)", "x ** 2", "x.prod()",
    "x.max()", "lax.cond(x[0] > 0, lambda x: x, lambda x: 2 * x, x)", "jax.jit(jnp.sin)(x)", "jax.nn.relu(x)",
    "lax.scan(lambda c, t: (c * c, c), x, None, length=2)[0]", "lax.fori_loop(0, 3, lambda i, c: c * x, x)",
    "lax.while_loop(lambda c: c[0] < 3, lambda c: c * 2, x)", "jnp.logaddexp(x, x)", "jnp.clip(x, 0, 1)",
    "x.astype(int)", "x > 0", "jnp.argmax(x)", "(x, x > 0)", "jax.checkpoint(jnp.sin)(x)", "lax.dynamic_slice(x, (x[0].astype(int),), (2,))",
    "jnp.zeros(5).at[x.astype(int)].add(x)", "jnp.ones(3).at[1].multiply(x[0]) * x",
]


def transposed(system, expression, x):
    names = {"jax": system, "jnp": system.numpy, "lax": system.lax}
    f = eval("lambda x: " + expression, names)  # noqa: S307
    out = system.eval_shape(f, x)
    transpose = system.linear_transpose(f, x)
    return transpose(system.tree.map(lambda leaf: system.numpy.ones(leaf.shape, leaf.dtype), out))


@pytest.mark.parametrize("expression", LINEAR)
def test_linear(expression, jax_oracle):
    x = np.array([1.0, 2.0, 3.0], np.float32)
    try:
        (theirs,) = transposed(jax_oracle, expression, x)
    except Exception as error:  # noqa: BLE001
        with pytest.raises(Exception) as raised:
            transposed(pullback, expression, x)
        assert raised.type.__name__ == type(error).__name__
        return
    (ours,) = transposed(pullback, expression, x)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("expression", NOT_LINEAR)
def test_not_linear(expression, jax_oracle):
    x = np.array([1.0, 2.0, 3.0], np.float32)
    with pytest.raises(Exception) as theirs:
        transposed(jax_oracle, expression, x)
    wanted = NotImplementedError if theirs.type is AssertionError else theirs.type
    with pytest.raises(wanted) as ours:
        transposed(pullback, expression, x)
    assert __file__ in str(ours.value) or "<string>" in str(ours.value)


def test_whole_numbers(jax_oracle):
    x = np.array([1, 2, 3], np.int32)
    for expression in ("3 * x", "x.sum()", "x - x[0]"):
        (theirs,), (ours,) = transposed(jax_oracle, expression, x), transposed(pullback, expression, x)
        assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())


@pytest.mark.parametrize("expression", ["jax.nn.relu(x)", "jax.checkpoint(jnp.sin)(x)"])
def test_errors_name_this_line_not_where_a_library_function_was_traced_first(expression):
    x = np.ones(5, np.float32)
    names = {"jax": pullback, "jnp": pullback.numpy, "x": x}
    exec(compile(f"jax.grad(lambda x: {expression}.sum())(x)", "first.py", "exec"), names)
    with pytest.raises(NotImplementedError) as error:
        exec(compile(f"jax.linear_transpose(lambda x: {expression}, x)(x)", "second.py", "exec"), names)
    assert "second.py" in str(error.value) and "first.py" not in str(error.value)
