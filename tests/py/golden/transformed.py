"""Programs made by transformations, for the golden jaxprs: derivatives, batches, loops, branches, rules of users.

Each entry is a function of the `jax` module (real or ours) that returns a jaxpr, as in `programs.py`.
"""

import numpy as np

X = np.arange(3, dtype=np.float32)
M = np.arange(6, dtype=np.float32).reshape(2, 3)
W = np.ones((3, 3), np.float32)


def rnn(jax):
    def loss(w, xs):
        return jax.lax.scan(lambda h, x: (jax.numpy.tanh(w @ h + x), h.sum()), jax.numpy.zeros(3), xs)[0].sum()

    return loss


def two_layers(jax):
    def loss(params, x):
        return jax.numpy.sum(jax.numpy.tanh(x @ params[0]) @ params[1])

    return loss


def named(jax):
    from importlib import import_module

    name = import_module(jax.__name__ + ".ad_checkpoint").checkpoint_name
    return lambda x, w: jax.numpy.sin(name(jax.numpy.cos(name(jax.numpy.sin(x @ w), "a")), "b") @ w).sum()


def remat(jax, policy=None):
    f = jax.checkpoint(named(jax), policy=policy(jax.checkpoint_policies) if policy else None)
    return jax.make_jaxpr(jax.grad(f))(M, W)


def doubled(jax):
    f = jax.custom_jvp(lambda x, y: x * y)
    f.defjvp(lambda primals, tangents: (f(*primals), 2 * tangents[0] * primals[1]))
    return f


def scaled(jax):
    f = jax.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, (x, y)), lambda res, ct: (ct * res[1], 3 * ct * res[0]))
    return f


TRANSFORMED = {
    "grad_two_layers": lambda jax: jax.make_jaxpr(jax.grad(two_layers(jax)))((W, W), M),
    "value_and_grad": lambda jax: jax.make_jaxpr(jax.value_and_grad(lambda x: (x * x).sum()))(X),
    "grad_argnums": lambda jax: jax.make_jaxpr(jax.grad(lambda x, y: (x * y).sum(), argnums=(0, 1)))(X, X),
    "grad_unused": lambda jax: jax.make_jaxpr(jax.grad(lambda x, y: (x * x).sum(), argnums=(0, 1)))(X, X),
    "grad_where": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.numpy.where(x > 0, x * 2, 0.0).sum()))(X),
    "grad_index": lambda jax: jax.make_jaxpr(jax.grad(lambda x: x[1] * x[2]))(X),
    "grad_broadcast": lambda jax: jax.make_jaxpr(jax.grad(lambda b: (b + M).sum()))(X),
    "grad_transpose": lambda jax: jax.make_jaxpr(jax.grad(lambda m: (m.T @ m).sum()))(M),
    "grad_stop_gradient": lambda jax: jax.make_jaxpr(jax.grad(lambda x: (x * jax.lax.stop_gradient(x)).sum()))(X),
    "grad_cumsum": lambda jax: jax.make_jaxpr(jax.grad(lambda x: (jax.numpy.cumsum(x) * x).sum()))(X),
    "grad_concatenate": lambda jax: jax.make_jaxpr(
        jax.grad(lambda x: (jax.numpy.concatenate([x, 2 * x]) ** 2).sum())
    )(X),
    "grad_log_softmax": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.nn.log_softmax(x)[0]))(X),
    "grad_relu": lambda jax: jax.make_jaxpr(jax.grad(lambda x: jax.nn.relu(x).sum()))(X),
    "vjp": lambda jax: jax.make_jaxpr(lambda x, ct: jax.vjp(jax.numpy.sin, x)[1](ct))(X, X),
    "linearize": lambda jax: jax.make_jaxpr(lambda x, t: jax.linearize(lambda x: jax.numpy.sin(x) * x, x)[1](t))(X, X),
    "linear_transpose": lambda jax: jax.make_jaxpr(
        lambda ct: jax.linear_transpose(lambda x: 2.0 * x[::-1], X)(ct)
    )(X),
    "jvp_unused": lambda jax: jax.make_jaxpr(lambda x, t: jax.jvp(lambda x, y: x * y, (x, x), (t, t)))(X, X),
    "jvp_zero": lambda jax: jax.make_jaxpr(lambda x, t: jax.jvp(lambda x: (x, X), (x,), (t,)))(X, X),
    "jvp_tanh": lambda jax: jax.make_jaxpr(lambda x, t: jax.jvp(jax.numpy.tanh, (x,), (t,)))(X, X),
    "jvp_jit": lambda jax: jax.make_jaxpr(lambda x, t: jax.jvp(jax.jit(lambda x: x * x), (x,), (t,)))(X, X),
    "jvp_of_grad": lambda jax: jax.make_jaxpr(
        lambda x, t: jax.jvp(jax.grad(lambda x: jax.numpy.sin(x).sum()), (x,), (t,))
    )(X, X),
    "hessian_vector": lambda jax: jax.make_jaxpr(
        lambda x, t: jax.jvp(jax.grad(lambda x: (x**3).sum()), (x,), (t,))[1]
    )(X, X),
    "vmap_sum": lambda jax: jax.make_jaxpr(jax.vmap(lambda x: x.sum()))(M),
    "vmap_constant": lambda jax: jax.make_jaxpr(jax.vmap(lambda x: jax.numpy.ones(2)))(M),
    "vmap_outer": lambda jax: jax.make_jaxpr(jax.vmap(jax.vmap(lambda x, y: x * y, (None, 0)), (0, None)))(X, X),
    "vmap_in_axes": lambda jax: jax.make_jaxpr(jax.vmap(lambda x, y: x + y, in_axes=(0, 1)))(M, M.T),
    "vmap_out_axes": lambda jax: jax.make_jaxpr(jax.vmap(lambda x: x, out_axes=1))(M),
    "vmap_grad": lambda jax: jax.make_jaxpr(jax.vmap(jax.grad(lambda x: (x * x).sum())))(M),
    "vmap_where": lambda jax: jax.make_jaxpr(jax.vmap(lambda x: jax.lax.select(x > 0, x, -x)))(X),
    "vmap_transpose": lambda jax: jax.make_jaxpr(jax.vmap(lambda m: m.T))(np.ones((4, 2, 3), np.float32)),
    "vmap_jit": lambda jax: jax.make_jaxpr(jax.vmap(jax.jit(lambda x: x * 2.0)))(M),
    "vmap_cond": lambda jax: jax.make_jaxpr(
        jax.vmap(lambda p, x: jax.lax.cond(p, lambda x: x * 2, lambda x: x + 1, x), (0, 0))
    )(X > 0, X),
    "vmap_cond_operand": lambda jax: jax.make_jaxpr(
        jax.vmap(lambda p, x: jax.lax.cond(p, lambda x: x * 2, lambda x: x + 1, x), (None, 0))
    )(True, X),
    "vmap_scan": lambda jax: jax.make_jaxpr(
        jax.vmap(lambda x: jax.lax.scan(lambda c, a: (c + a, c), 0.0, x)[0])
    )(M),
    "vmap_while": lambda jax: jax.make_jaxpr(
        jax.vmap(lambda x: jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1])
    )(X),
    "jvp_while": lambda jax: jax.make_jaxpr(
        lambda x, t: jax.jvp(lambda x: jax.lax.while_loop(lambda c: c < 3, lambda c: c * 2, x), (x,), (t,))
    )(1.0, 1.0),
    "jvp_cond": lambda jax: jax.make_jaxpr(
        lambda x, t: jax.jvp(lambda x: jax.lax.cond(x[0] > 0, lambda x: x * x, lambda x: x, x), (x,), (t,))
    )(X, X),
    "switch": lambda jax: jax.make_jaxpr(
        lambda i, x: jax.lax.switch(i, [lambda x: x, lambda x: x + 1, lambda x: x * 2], x)
    )(1, X),
    "scan_reverse": lambda jax: jax.make_jaxpr(
        lambda x: jax.lax.scan(lambda c, a: (c * a, c), 1.0, x, reverse=True)
    )(X),
    "map": lambda jax: jax.make_jaxpr(lambda x: jax.lax.map(lambda a: a * 2, x))(X),
    "while_closure": lambda jax: jax.make_jaxpr(
        lambda x, y: jax.lax.while_loop(lambda c: c.sum() < y, lambda c: c + x, x)
    )(X, 3.0),
    "checkpoint_args": lambda jax: jax.make_jaxpr(jax.checkpoint(named(jax)))(M, W),
    "grad_checkpoint": remat,
    "grad_checkpoint_names": lambda jax: remat(jax, lambda p: p.save_only_these_names("a")),
    "grad_checkpoint_other_names": lambda jax: remat(jax, lambda p: p.save_any_names_but_these("a")),
    "grad_checkpoint_dots": lambda jax: remat(jax, lambda p: p.dots_saveable),
    "grad_checkpoint_everything": lambda jax: remat(jax, lambda p: p.everything_saveable),
    "grad_checkpoint_both": lambda jax: remat(
        jax, lambda p: p.save_from_both_policies(p.dots_saveable, p.save_only_these_names("a"))
    ),
    "custom_jvp": lambda jax: jax.make_jaxpr(doubled(jax))(2.0, 3.0),
    "jvp_custom_jvp": lambda jax: jax.make_jaxpr(lambda x, t: jax.jvp(doubled(jax), (x, 3.0), (t, 1.0)))(2.0, 1.0),
    "grad_custom_jvp": lambda jax: jax.make_jaxpr(jax.grad(doubled(jax)))(2.0, 3.0),
    "vmap_grad_custom_jvp": lambda jax: jax.make_jaxpr(jax.vmap(jax.grad(doubled(jax)), (0, None)))(X, 3.0),
    "grad_custom_vjp": lambda jax: jax.make_jaxpr(jax.grad(scaled(jax), (0, 1)))(2.0, 3.0),
    "vmap_grad_custom_vjp": lambda jax: jax.make_jaxpr(jax.vmap(jax.grad(scaled(jax)), (0, None)))(X, 3.0),
    "optimization_barrier": lambda jax: jax.make_jaxpr(
        jax.grad(lambda x: jax.lax.optimization_barrier((jax.numpy.sin(x), x))[0])
    )(1.0),
    "custom_vmap_batched": lambda jax: jax.make_jaxpr(jax.vmap(ruled(jax), (0, None)))(X, 2.0),
    "second_order_sin": lambda jax: jax.make_jaxpr(jax.grad(jax.grad(jax.numpy.sin)))(1.0),
    "third_order": lambda jax: jax.make_jaxpr(jax.grad(jax.grad(jax.grad(lambda x: x**4))))(1.0),
    "jacfwd_rows": lambda jax: jax.make_jaxpr(
        lambda x, t: jax.vmap(lambda t: jax.jvp(jax.numpy.sin, (x,), (t,))[1])(t)
    )(X, W),
    "jacrev_rows": lambda jax: jax.make_jaxpr(lambda x, t: jax.vmap(jax.vjp(jax.numpy.sin, x)[1])(t))(X, W),
}


def ruled(jax):
    from importlib import import_module

    f = import_module(jax.__name__ + ".custom_batching").custom_vmap(lambda x, y: jax.numpy.sin(x) * y)
    f.def_vmap(lambda axis_size, in_batched, x, y: (jax.numpy.cos(x) * y, True))
    return f
