"""Programs whose jaxprs are compared, as text, with what JAX 0.12 printed for them.

Each entry is a function of the `jax` module (real or ours) that returns a jaxpr. `record.py` beside this file writes
`jaxprs.json` with real JAX; `test_golden_jaxprs.py` compares.
"""

import numpy as np

from transformed import TRANSFORMED

X = np.arange(3, dtype=np.float32)
M = np.arange(6, dtype=np.float32).reshape(2, 3)


def mlp(jax):
    jnp = jax.numpy
    params = {"w": jnp.ones((3, 4)), "b": jnp.ones(4)}

    def loss(params, x):
        return jnp.sum(jnp.tanh(x @ params["w"] + params["b"]) ** 2)

    return loss, params, jnp.ones((5, 3))


PROGRAMS = {
    "sin_mul": lambda jax: jax.make_jaxpr(lambda x, y: jax.numpy.sin(x) * y + 1.0)(X, 2.0),
    "identity": lambda jax: jax.make_jaxpr(lambda x: x)(1),
    "one_line": lambda jax: jax.make_jaxpr(lambda x: x * 2.0)(X),
    "literal_out": lambda jax: jax.make_jaxpr(lambda x: (x, 1.0, 2))(X),
    "no_outputs": lambda jax: jax.make_jaxpr(lambda x: ())(X),
    "constant": lambda jax: (lambda c: jax.make_jaxpr(lambda x: x + c)(X))(jax.numpy.asarray(X)),
    "jit": lambda jax: jax.make_jaxpr(jax.jit(lambda x, y: (jax.numpy.sin(x) * y, x)))(X, 2.0),
    "jit_repeated_operand": lambda jax: jax.make_jaxpr(lambda x: jax.jit(lambda a, b, c: (a + b + c, a))(x, x, 3.0))(X),
    "nested_jit": lambda jax: jax.make_jaxpr(jax.jit(lambda x: jax.jit(jax.numpy.cos)(x) + jax.jit(jax.numpy.cos)(x)))(X),
    "dead_result": lambda jax: jax.make_jaxpr(lambda x: (jax.numpy.sin(x), x + 1.0)[1])(X),
    "comparison": lambda jax: jax.make_jaxpr(lambda x: (x > 0, x == x, x != 1.0))(X),
    "promotion": lambda jax: jax.make_jaxpr(lambda x, i: x + i)(X, np.arange(3, dtype=np.int32)),
    "integer_pow": lambda jax: jax.make_jaxpr(lambda x: x**3)(X),
    "power": lambda jax: jax.make_jaxpr(lambda x: x**0.5)(X),
    "division": lambda jax: jax.make_jaxpr(lambda x: (x / 2, 1 / x))(X),
    "negative": lambda jax: jax.make_jaxpr(lambda x: -x - 1)(X),
    "sum": lambda jax: jax.make_jaxpr(lambda x: (x.sum(), x.sum(axis=1), x.sum(axis=0, keepdims=True)))(M),
    "mean": lambda jax: jax.make_jaxpr(lambda x: x.mean(axis=1))(M),
    "max": lambda jax: jax.make_jaxpr(lambda x: (x.max(), x.min(axis=0)))(M),
    "argmax": lambda jax: jax.make_jaxpr(lambda x: (jax.numpy.argmax(x), jax.numpy.argmax(x, axis=1)))(M),
    "matmul": lambda jax: jax.make_jaxpr(lambda x, y: x @ y)(M, M.T),
    "vector_matmul": lambda jax: jax.make_jaxpr(lambda x, y: x @ y)(X, M.T),
    "dot": lambda jax: jax.make_jaxpr(jax.numpy.dot)(X, X),
    "transpose": lambda jax: jax.make_jaxpr(lambda x: x.T)(M),
    "reshape": lambda jax: jax.make_jaxpr(lambda x: x.reshape(3, 2))(M),
    "ravel": lambda jax: jax.make_jaxpr(lambda x: x.ravel())(M),
    "broadcast": lambda jax: jax.make_jaxpr(lambda x, y: x + y)(M, X),
    "zeros": lambda jax: jax.make_jaxpr(lambda: (jax.numpy.zeros((2, 3)), jax.numpy.ones(3, int)))(),
    "arange": lambda jax: jax.make_jaxpr(lambda: jax.numpy.arange(5))(),
    "where": lambda jax: jax.make_jaxpr(lambda x: jax.numpy.where(x > 0, x, 1.0))(X),
    "maximum": lambda jax: jax.make_jaxpr(lambda x: jax.numpy.maximum(x, 0))(X),
    "static_index": lambda jax: jax.make_jaxpr(lambda x: x[0])(X),
    "static_slice": lambda jax: jax.make_jaxpr(lambda x: x[1:, :2])(M),
    "array_index": lambda jax: jax.make_jaxpr(lambda x, i: x[i])(X, np.array([0, 2])),
    "take": lambda jax: jax.make_jaxpr(lambda x: jax.numpy.take(x, 1))(X),
    "at_set": lambda jax: jax.make_jaxpr(lambda x: x.at[0].set(1.0))(X),
    "concatenate": lambda jax: jax.make_jaxpr(lambda x: jax.numpy.concatenate([x, x]))(X),
    "stack": lambda jax: jax.make_jaxpr(lambda x: jax.numpy.stack([x, x]))(X),
    "astype": lambda jax: jax.make_jaxpr(lambda x: x.astype("int32"))(X),
    "relu": lambda jax: jax.make_jaxpr(jax.nn.relu)(X),
    "log_softmax": lambda jax: jax.make_jaxpr(jax.nn.log_softmax)(X),
    "softmax": lambda jax: jax.make_jaxpr(jax.nn.softmax)(X),
    "one_hot": lambda jax: jax.make_jaxpr(lambda i: jax.nn.one_hot(i, 3))(np.array([0, 2])),
    "sigmoid": lambda jax: jax.make_jaxpr(jax.nn.sigmoid)(X),
    "random_uniform": lambda jax: jax.make_jaxpr(lambda k: jax.random.uniform(k, (3,)))(jax.random.key(0)),
    "random_split": lambda jax: jax.make_jaxpr(lambda k: jax.random.split(k))(jax.random.key(0)),
    "random_fold_in": lambda jax: jax.make_jaxpr(lambda k: jax.random.fold_in(k, 1))(jax.random.key(0)),
    "while_loop": lambda jax: jax.make_jaxpr(
        lambda x: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))
    )(X),
    "fori_loop": lambda jax: jax.make_jaxpr(lambda x: jax.lax.fori_loop(0, 3, lambda i, c: c * x + i, x))(X),
    "scan": lambda jax: jax.make_jaxpr(
        lambda x: jax.lax.scan(lambda c, a: (c + a, c * x), jax.numpy.zeros(3), jax.numpy.ones((4, 3)))
    )(X),
    "cond": lambda jax: jax.make_jaxpr(lambda x: jax.lax.cond(x[0] > 0, lambda: x, lambda: x * 2))(X),
    "checkpoint": lambda jax: jax.make_jaxpr(lambda x: jax.checkpoint(jax.numpy.sin)(x))(X),
    "grad_square": lambda jax: jax.make_jaxpr(jax.grad(lambda x: (x**2).sum()))(X),
    "grad_sin": lambda jax: jax.make_jaxpr(jax.grad(jax.numpy.sin))(1.0),
    "grad_mlp": lambda jax: (lambda loss, p, x: jax.make_jaxpr(jax.grad(loss))(p, x))(*mlp(jax)),
    "grad_jit": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.jit(lambda x: jax.numpy.sin(x) * x)(x)))(1.0),
    "grad_tanh": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.numpy.tanh(x).sum()))(X),
    "grad_exp_log": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.numpy.log(jax.numpy.exp(x) + 1).sum()))(X),
    "grad_division": lambda jax: jax.make_jaxpr(jax.grad(lambda x: (1.0 / x).sum()))(X),
    "grad_max": lambda jax: jax.make_jaxpr(jax.grad(lambda x: x.max()))(X),
    "grad_sqrt": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.numpy.sqrt(x).sum()))(X),
    "grad_logistic": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.lax.logistic(x).sum()))(X),
    "jvp_sin": lambda jax: jax.make_jaxpr(lambda x, t: jax.jvp(jax.numpy.sin, (x,), (t,)))(1.0, 1.0),
    "jvp_mul": lambda jax: jax.make_jaxpr(lambda x, t: jax.jvp(lambda x: x * x, (x,), (t,)))(X, X),
    "vmap_sin": lambda jax: jax.make_jaxpr(jax.vmap(jax.numpy.sin))(M),
    "vmap_matvec": lambda jax: jax.make_jaxpr(jax.vmap(lambda x, w: w @ x, in_axes=(0, None)))(M, M),
    "hessian_diagonal": lambda jax: jax.make_jaxpr(jax.grad(jax.grad(lambda x: jax.numpy.sin(x) * x)))(1.0),
}
PROGRAMS |= TRANSFORMED
