"""Control flow, rules of users, checkpoints and linear solves, against JAX: values, types, exceptions and printed residuals."""

import re
from importlib import import_module

import numpy as np
import pytest

import pullback
from differential import facts

X = np.array([0.5, -1.25, 2.0], np.float32)
A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 1.25, 2.0]], np.float32)


def sub(j, name):
    return import_module(f"{j.__name__}.{name}")


def solve_with(j, symmetric=False, transpose=True):
    """A linear system solved by elimination that is not differentiated."""

    def solve(a, b):
        stopped = j.lax.stop_gradient(a)
        inverse = inverse_of(j, stopped)
        return j.lax.custom_linear_solve(
            lambda x: a @ x, b, lambda matvec, b: inverse @ b,
            transpose_solve=(lambda vecmat, b: inverse.T @ b) if transpose else None, symmetric=symmetric,
        )

    return solve


def inverse_of(j, a):
    """Newton's iteration for the inverse."""
    start = a.T / (abs(a).sum(0).max() * abs(a).sum(1).max())
    return j.lax.fori_loop(0, 30, lambda _, x: x @ (2 * j.numpy.eye(3) - a @ x), start)


def root(j):
    def square_root(c):
        f = lambda x: x * x - c
        newton = lambda f, x: j.lax.fori_loop(0, 20, lambda _, x: x - f(x) / (2 * x), x)
        return j.lax.custom_root(f, 1.0, newton, lambda g, y: y / g(1.0))

    return square_root


def batched_rule(j):
    @sub(j, "custom_batching").custom_vmap
    def f(x, y):
        return j.numpy.sin(x) * y

    @f.def_vmap
    def rule(axis_size, in_batched, x, y):
        return axis_size * j.numpy.cos(x) * y, True

    return f


def tree_rule(j):
    @sub(j, "custom_batching").custom_vmap
    def f(p):
        return {"s": p["a"] + p["b"], "c": p["b"]}

    @f.def_vmap
    def rule(axis_size, in_batched, p):
        marks = in_batched[0]
        return {"s": p["a"] * 2 + p["b"], "c": p["b"]}, {"s": marks["a"] or marks["b"], "c": marks["b"]}

    return f


def zeros_told(j):
    told = []

    @j.custom_vjp
    def f(x, y):
        return x * y, x

    def fwd(x, y):
        told.append((x.perturbed, y.perturbed))
        return (x.value * y.value, x.value), (x.value, y.value)

    def bwd(res, ct):
        told.append([type(c).__name__ == "SymbolicZero" for c in ct])
        return res[1] * 2.0, None

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    results = [
        j.grad(lambda x: f(x, 2.0)[0])(3.0), j.jit(j.grad(lambda x: f(x, 2.0)[1]))(3.0), j.grad(lambda x: f(x, x)[1])(3.0),
        j.vmap(j.grad(lambda x: f(x, 2.0)[0]))(X), j.grad(lambda y: j.jit(f)(1.0, y)[0])(2.0),
    ]
    return results, told


def jvp_zeros_told(j):
    told = []
    f = j.custom_jvp(lambda x, y: (x * y, y))

    def rule(primals, tangents):
        told.append([type(t).__name__ == "SymbolicZero" for t in tangents])
        (x, y), (t, u) = primals, tangents
        return (x * y, y), (t if told[-1][1] else u, u)

    f.defjvp(rule, symbolic_zeros=True)
    results = [
        j.jvp(lambda x: f(x, 2.0), (3.0,), (1.0,)), j.jvp(lambda y: f(3.0, y), (2.0,), (1.0,)),
        j.jit(lambda x: j.jvp(lambda x: f(x, 2)[0], (x,), (1.0,)))(3.0), j.grad(lambda x: f(x, 2.0)[0])(3.0),
    ]
    return results, told


def linear_call(j):
    return lambda r, x: sub(j, "custom_derivatives").linear_call(lambda r, x: x / r, lambda r, t: t / r / 2, r, x)


def closed(j):
    def apply(z, n):
        f, consts = j.closure_convert(lambda x: x * z * n, 1.0)
        return f(2.0, *consts) * len(consts)

    return apply


def gradient_of(j, remat=False):
    @j.custom_gradient
    def f(x, y):
        return {"a": x * y}, lambda ct: (ct["a"] * x, 3 * ct["a"])

    return lambda x, y: f(x, y)["a"]


def counting(j):
    """An associative operation on trees: affine maps composed."""
    return lambda p, q: {"m": p["m"] * q["m"], "b": q["m"] * p["b"] + q["b"]}


def affine(j):
    return {"m": j.numpy.arange(1.0, 8.0).reshape(7, 1) * np.ones((7, 2), np.float32), "b": j.numpy.ones((7, 2))}


VALUES = {
    "linear solve": lambda j: solve_with(j)(j.numpy.asarray(A), j.numpy.asarray(X)),
    "grad of linear solve": lambda j: j.grad(lambda a, b: (solve_with(j)(a, b) ** 2).sum(), (0, 1))(A + 0 * j.numpy.asarray(A), j.numpy.asarray(X)),
    "jvp of linear solve": lambda j: j.jvp(solve_with(j), (j.numpy.asarray(A), j.numpy.asarray(X)), (j.numpy.ones((3, 3)), j.numpy.ones(3))),
    "jit of grad of linear solve": lambda j: j.jit(j.grad(lambda a, b: solve_with(j)(a, b).sum()))(j.numpy.asarray(A), j.numpy.asarray(X)),
    "vmap of linear solve": lambda j: j.vmap(solve_with(j), (None, 0))(j.numpy.asarray(A), j.numpy.stack([X, 2 * X])),
    "vmap of linear solve in both": lambda j: j.vmap(solve_with(j))(j.numpy.stack([A, A + 1]), j.numpy.stack([X, 2 * X])),
    "vmap of grad of linear solve": lambda j: j.vmap(j.grad(lambda a, b: solve_with(j)(a, b).sum()), (0, None))(j.numpy.stack([A, A + 1]), j.numpy.asarray(X)),
    "hessian of linear solve": lambda j: j.hessian(lambda b: (solve_with(j)(j.numpy.asarray(A), b) ** 2).sum())(j.numpy.asarray(X)),
    "symmetric linear solve": lambda j: j.grad(lambda b: solve_with(j, symmetric=True, transpose=False)(j.numpy.asarray(A + A.T), b).sum())(j.numpy.asarray(X)),
    "linear solve with aux": lambda j: j.lax.custom_linear_solve(lambda x: 2 * x, X, lambda m, b: (b / 2, {"n": 1}), symmetric=True, has_aux=True),
    "linear solve of trees": lambda j: j.lax.custom_linear_solve(lambda x: {"a": 2 * x["a"], "b": x["b"]}, {"a": X, "b": 1.0}, lambda m, b: {"a": b["a"] / 2, "b": b["b"]}),
    "root": lambda j: [root(j)(4.0), j.grad(root(j))(4.0), j.jvp(root(j), (4.0,), (1.0,)), j.jit(root(j))(2.0)],
    "vmap of root": lambda j: [j.vmap(root(j))(j.numpy.array([1.0, 4.0])), j.vmap(j.grad(root(j)))(j.numpy.array([1.0, 4.0]))],
    "second derivative of root": lambda j: [j.grad(j.grad(root(j)))(4.0), j.jacfwd(j.grad(root(j)))(4.0)],
    "root with aux": lambda j: j.lax.custom_root(lambda x: x - 2.0, 1.0, lambda f, x: (x - f(x), {"n": 3}), lambda g, y: y / g(1.0), has_aux=True),
    "custom_vmap": lambda j: [batched_rule(j)(1.0, 2.0), j.vmap(batched_rule(j), (0, None))(X, 2.0), j.jit(j.vmap(batched_rule(j), (0, None)))(X, 2.0)],
    "custom_vmap twice": lambda j: j.vmap(j.vmap(batched_rule(j), (0, None)), (None, 0))(X, X),
    "custom_vmap of jvp": lambda j: j.vmap(lambda x: j.jvp(batched_rule(j), (x, 2.0), (1.0, 1.0)))(X),
    "custom_vmap of trees": lambda j: j.vmap(tree_rule(j), ({"a": 0, "b": None},), {"s": 0, "c": None})({"a": j.numpy.asarray(X), "b": 1.0}),
    "custom_vmap in scan": lambda j: j.vmap(lambda x: j.lax.scan(lambda c, _: (batched_rule(j)(c, x), None), x, None, length=2)[0])(X),
    "sequential_vmap": lambda j: j.vmap(sub(j, "custom_batching").sequential_vmap(lambda x, y: (x * y, y)), (0, None))(X, 2.0),
    "symbolic zeros of custom_vjp": zeros_told,
    "symbolic zeros of custom_jvp": jvp_zeros_told,
    "linear_call": lambda j: [linear_call(j)(2.0, 3.0), j.grad(linear_call(j), 1)(2.0, 3.0), j.jvp(lambda x: linear_call(j)(2.0, x), (3.0,), (1.0,)), j.jit(j.grad(linear_call(j), 1))(2.0, 3.0)],
    "closure_convert": lambda j: [closed(j)(3.0, 2), j.grad(closed(j))(3.0, 2), j.jit(closed(j))(3.0, 2), j.vmap(closed(j))(X, np.arange(3)), j.jit(j.grad(closed(j)))(3.0, 2)],
    "custom_gradient": lambda j: [gradient_of(j)(2.0, 5.0), j.grad(gradient_of(j), (0, 1))(2.0, 5.0), j.jit(j.grad(gradient_of(j)))(2.0, 5.0), j.vmap(j.grad(gradient_of(j)), (0, None))(X, 5.0)],
    "fwd_and_bwd": lambda j: (lambda fwd, bwd: bwd(fwd(3.0, 2.0)[1], 1.0))(*j.fwd_and_bwd(lambda x, y: x * y * y, argnums=1)),
    "fwd_and_bwd of several": lambda j: (lambda fwd, bwd: bwd(fwd(X, 2.0)[1], X))(*j.fwd_and_bwd(lambda x, y: x * y * y, argnums=(0, 1), jitted=False)),
    "optimization_barrier": lambda j: [j.grad(lambda x: j.lax.optimization_barrier((j.numpy.sin(x), {"x": x}))[1]["x"] * x)(2.0), j.vmap(j.lax.optimization_barrier)(X)],
    "checkpoint static argnums": lambda j: j.grad(j.checkpoint(lambda x, n: x**n, static_argnums=(1,)))(3.0, 2),
    "checkpoint of keywords": lambda j: j.grad(lambda x: j.checkpoint(lambda x, *, y: x * y)(x, y=x))(3.0),
    "checkpoint in scan": lambda j: j.grad(lambda x: j.lax.scan(lambda c, _: (j.checkpoint(j.numpy.sin, policy=j.checkpoint_policies.dots_saveable)(c), None), x, None, length=3)[0])(1.0),
    "associative_scan": lambda j: j.lax.associative_scan(counting(j), affine(j)),
    "associative_scan reversed": lambda j: j.lax.associative_scan(counting(j), affine(j), reverse=True),
    "associative_scan of axis": lambda j: j.lax.associative_scan(lambda a, b: a + b, affine(j)["m"], axis=-1),
    "grad of associative_scan": lambda j: j.grad(lambda x: j.lax.associative_scan(lambda a, b: a * b, x).sum())(X),
    "map in batches": lambda j: j.lax.map(lambda x: (x * 2, x.sum()), j.numpy.arange(14.0).reshape(7, 2), batch_size=3),
    "map in one batch": lambda j: j.lax.map(lambda x: x * 2, j.numpy.arange(3.0), batch_size=8),
    "scan without steps": lambda j: j.lax.scan(lambda c, x: (c + x, c * 2), 1.0, j.numpy.zeros((0,))),
    "grad of scan without steps": lambda j: j.grad(lambda c: j.lax.scan(lambda c, x: (c + x, c * 2), c, j.numpy.zeros((0,)))[0])(1.0),
    "scan of None": lambda j: j.lax.scan(lambda c, _: (c * 2, None), 1.0, None, length=3),
    "scan unrolled": lambda j: [j.lax.scan(lambda c, x: (c + x, c), 0.0, X, unroll=u) for u in (2, True)],
    "scan _split_transpose": lambda j: j.grad(lambda a: j.lax.scan(lambda c, x: (c * a + x, c), 0.0, X, _split_transpose=True)[0])(2.0),
    "nested scan": lambda j: j.grad(lambda a: j.lax.scan(lambda c, x: (j.lax.scan(lambda d, y: (d * a + y, d), c, X)[0], c), j.numpy.float32(1.0), X)[0])(0.5),
    "scan in reverse": lambda j: j.grad(lambda a: j.lax.scan(lambda c, x: (c * a + x, c), 0.0, X, reverse=True)[0])(2.0),
    "fori of traced bounds": lambda j: j.jit(lambda n: j.lax.fori_loop(0, n, lambda i, c: c + i, 0))(5),
    "jvp of while": lambda j: j.jvp(lambda x: j.lax.while_loop(lambda c: c < 10, lambda c: c * x, x), (2.0,), (1.0,)),
    "vmap of while": lambda j: j.vmap(lambda x: j.lax.while_loop(lambda c: c < 10, lambda c: c * 2, x))(j.numpy.array([1.0, 3.0, 20.0])),
    "nested vmap of while": lambda j: j.vmap(j.vmap(lambda n, x: j.lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * 2), (0, x)), (0, None)), (None, 0))(np.arange(3), X),
    "batched predicate": lambda j: j.vmap(lambda x: j.lax.cond(x > 0, lambda x: x * 2, lambda x: x - 1, x))(X),
    "gradient of a branch not taken": lambda j: j.vmap(j.grad(lambda x: j.lax.cond(x > 0, j.numpy.sqrt, lambda x: 0.0 * x, x)))(X),
    "batched switch": lambda j: j.vmap(lambda i: j.lax.switch(i, [lambda: 1.0, lambda: 2.0, lambda: 3.0]))(np.arange(-1, 4)),
    "cond operand": lambda j: j.lax.cond(True, lambda p: p["a"], lambda p: -p["a"], operand={"a": X}),
    "cond of a number": lambda j: [j.lax.cond(p, lambda: 1.0, lambda: 2.0) for p in (0, 3, 0.5)],
    "has_aux everywhere": lambda j: [
        j.vjp(lambda x: (x * x, {"k": x}), 3.0, has_aux=True)[2], j.jvp(lambda x: (x * x, x), (3.0,), (1.0,), has_aux=True),
        j.linearize(lambda x: (x * x, x), 3.0, has_aux=True)[2], j.jacfwd(lambda x: (x * x, x.sum()), has_aux=True)(X),
        j.jacrev(lambda x: (x * x, x.sum()), has_aux=True)(X), j.hessian(lambda x: ((x**3).sum(), x), has_aux=True)(X),
    ],
    "jacobians of several": lambda j: [jac(lambda x, p: {"y": x * p["a"]}, argnums=(0, 1))(X, {"a": X}) for jac in (j.jacfwd, j.jacrev)],
    "hessian of trees": lambda j: j.hessian(lambda p: (p["a"] * p["b"] ** 2).sum())({"a": X, "b": 2.0}),
    "holomorphic": lambda j: [j.grad(lambda z: z**3, holomorphic=True)(1 + 2j), j.jacfwd(lambda z: z**2, holomorphic=True)(np.array([1 + 1j], np.complex64)), j.jacrev(lambda z: z**2, holomorphic=True)(np.array([1 + 1j], np.complex64)), j.hessian(lambda z: z**3, holomorphic=True)(1 + 2j)],
    "allow_int": lambda j: [np.asarray(g).dtype.name for g in j.grad(lambda x, n: x * n, (0, 1), allow_int=True)(2.0, 3)],
    "linear_transpose of trees": lambda j: j.linear_transpose(lambda p: (2 * p["a"], p["b"]), {"a": X, "b": 1.0})((X, 3.0)),
}  # fmt: skip


def leaves(j, tree):
    return [leaf if not hasattr(leaf, "dtype") else leaf for leaf in j.tree.leaves(tree)]


@pytest.mark.parametrize("name", VALUES)
def test_values(name, jax_oracle):
    ours, theirs = VALUES[name](pullback), VALUES[name](jax_oracle)
    assert str(pullback.tree.structure(ours)) == str(jax_oracle.tree.structure(theirs))
    for a, b in zip(leaves(pullback, ours), leaves(jax_oracle, theirs)):
        if isinstance(b, (float, int)) and not isinstance(b, bool):
            # JAX 0.12 lets Python numbers through rules of users; here they are weak arrays of the same value.
            assert a.weak_type and not a.shape if hasattr(a, "weak_type") else type(a) is type(b)
            np.testing.assert_allclose(np.asarray(a), b, rtol=2e-4)
        elif hasattr(b, "dtype"):
            assert facts(a) == facts(b), (a, b)
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=2e-4, atol=1e-5)
        else:
            assert str(a) == str(b)


ERRORS = {
    "solve of another shape": lambda j: j.lax.custom_linear_solve(lambda x: A @ x, X, lambda m, b: b[:2]),
    "matvec of another structure": lambda j: j.lax.custom_linear_solve(lambda x: (x, x), X, lambda m, b: b),
    "no transpose_solve": lambda j: j.grad(lambda b: solve_with(j, transpose=False)(j.numpy.asarray(A), b).sum())(X),
    "root of another structure": lambda j: j.lax.custom_root(lambda x: (x, x), 1.0, lambda f, x: x, lambda g, y: y),
    "root solver of another structure": lambda j: j.lax.custom_root(lambda x: x, 1.0, lambda f, x: (x, x), lambda g, y: y),
    "tangent solver of another structure": lambda j: j.grad(lambda c: j.lax.custom_root(lambda x: x * c, 1.0, lambda f, x: x, lambda g, y: (y, y)))(1.0),
    "custom_vmap without rule": lambda j: sub(j, "custom_batching").custom_vmap(lambda x: x)(1.0),
    "custom_vmap of another structure": lambda j: j.vmap(ruled(j, lambda n, b, x: ((x, x), (True, True))))(X),
    "custom_vmap marks": lambda j: j.vmap(ruled(j, lambda n, b, x: (x, (True, True))))(X),
    "grad of custom_vmap": lambda j: j.grad(batched_rule(j))(1.0, 2.0),
    "reverse of while": lambda j: j.grad(lambda x: j.lax.while_loop(lambda c: c < 10, lambda c: c * 2, x))(1.0),
    "closure_convert of another structure": lambda j: j.closure_convert(lambda x: x, 1.0)[0](1.0, 2.0),
    "operand twice": lambda j: j.lax.cond(True, lambda x: x, lambda x: x, 1.0, operand=1.0),
    "jvp of custom_vjp": lambda j: j.jvp(gradient_of(j), (1.0, 2.0), (1.0, 1.0)),
    "linear_transpose of what is not linear": lambda j: j.linear_transpose(lambda x: j.numpy.sin(x), 1.0)(1.0),
    "linear_transpose of another shape": lambda j: j.linear_transpose(lambda x: 3 * x, 1.0)(X),
    "linear_transpose of another dtype": lambda j: j.linear_transpose(lambda x: 3 * x, 1.0)(1),
    "empty switch": lambda j: j.lax.switch(0, []),
    "scan body of no pair": lambda j: j.lax.scan(lambda c, x: c, 0.0, X),
    "carry of another structure": lambda j: j.lax.scan(lambda c, x: ((c, c), x), 0.0, X),
    "carry of another dtype": lambda j: j.lax.scan(lambda c, x: ({"a": c["a"], "b": 1}, x), {"a": 0.0, "b": X}, X),
    "branches of another structure": lambda j: j.lax.cond(True, lambda: {"a": (1.0, 2.0)}, lambda: {"a": (1.0, [2.0])}),
    "branches of another type": lambda j: j.lax.cond(True, lambda: {"a": 1.0}, lambda: {"a": 1}),
}  # fmt: skip


def ruled(j, rule):
    f = sub(j, "custom_batching").custom_vmap(lambda x: x)
    f.def_vmap(rule)
    return f


def exception(run, j):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        run(j)
    return caught.value


# Errors that JAX words badly or not at all; only the class is compared.
OWN_WORDS = {
    "linear_transpose of what is not linear", "linear_transpose of another shape", "linear_transpose of another dtype",
    "jvp of custom_vjp", "empty switch", "scan body of no pair",
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, jax_oracle):
    ours, theirs = exception(ERRORS[name], pullback), exception(ERRORS[name], jax_oracle)
    assert facts(ours) == facts(theirs), f"{ours!r}\nJAX's {theirs!r}"
    if name not in OWN_WORDS:
        first = str(theirs).split("\n")[0].split(". ")[0]
        assert re.sub(r"\d+", "", str(ours)).startswith(re.sub(r"\d+", "", first)), f"{ours}\nJAX's {theirs}"


def test_static_argnames_are_passed_as_they_are():
    def f(x, n):
        return x**n if n > 1 else x

    for call in (lambda x: pullback.checkpoint(f, static_argnames="n")(x, n=2), lambda x: pullback.checkpoint(f, static_argnames="n")(x, 2)):
        assert float(pullback.grad(call)(3.0)) == 6.0


def test_structures_that_differ_are_shown_with_their_paths():
    with pytest.raises(TypeError) as caught:
        pullback.lax.scan(lambda c, x: ({"a": c["a"], "b": (1.0, [2.0])}, x), {"a": 0.0, "b": (1.0, 2.0)}, X)
    lines = [line.strip() for line in str(caught.value).splitlines()]
    assert "carry input   PyTreeDef({'a': *, 'b': (*, *)})" in lines
    assert "carry output  PyTreeDef({'a': *, 'b': (*, [*])})" in lines
    assert "they differ at ['b'][1]" in lines


def test_policies_that_offload_say_so():
    policy = pullback.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")
    with pytest.raises(NotImplementedError, match="one memory"):
        pullback.grad(pullback.checkpoint(lambda x: pullback.numpy.sin(A @ x).sum(), policy=policy))(X)


POLICIES = {
    "none": lambda p: None,
    "everything": lambda p: p.everything_saveable,
    "nothing": lambda p: p.nothing_saveable,
    "dots": lambda p: p.dots_saveable,
    "dots without batch": lambda p: p.dots_with_no_batch_dims_saveable,
    "only a": lambda p: p.save_only_these_names("a"),
    "all but a": lambda p: p.save_anything_except_these_names("a"),
    "names but a": lambda p: p.save_any_names_but_these("a"),
    "both": lambda p: p.save_from_both_policies(p.dots_saveable, p.save_only_these_names("a")),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_saved_residuals_are_those_of_jax(policy, jax_oracle, capsys):
    texts = []
    for j in (pullback, jax_oracle):
        remat = sub(j, "ad_checkpoint")

        def f(x, w):
            y = remat.checkpoint_name(j.numpy.sin(x @ w), "a")
            return j.numpy.sin(remat.checkpoint_name(j.numpy.cos(y), "b") @ w).sum()

        remat.print_saved_residuals(j.checkpoint(f, policy=POLICIES[policy](j.checkpoint_policies)), A, A)
        # Columns are not known here.
        texts.append(re.sub(r"(:\d+):\d+", r"\1", capsys.readouterr().out))
    assert texts[0] == texts[1]


def test_operands_are_no_results_of_a_differentiated_cond():
    """What the backward pass needs and already has is passed to it, not copied through the choice."""
    jaxpr = pullback.make_jaxpr(pullback.grad(lambda y: pullback.lax.cond(y > 0, lambda z: z * z + y, lambda z: z * y * y, y)))(1.0)
    forward, backward = [eqn for eqn in jaxpr.jaxpr.eqns if eqn.primitive.name == "cond"]
    computed = [branch.jaxpr.outvars for branch in forward.params["branches"]]
    inputs = [branch.jaxpr.invars for branch in forward.params["branches"]]
    assert not any(out in ins for outs, ins in zip(computed, inputs) for out in outs)
    assert len(forward.outvars) == 2
    assert len(backward.outvars) == 2
