"""`jax.experimental.buffer_callback` beside live JAX: what callbacks see and write, batches, aliases, errors."""

import importlib

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")
X = np.arange(6, dtype="f").reshape(2, 3)


def made(j, callback, shape=(3,), **options):
    struct = j.ShapeDtypeStruct(shape, np.float32) if isinstance(shape, tuple) else shape
    return importlib.import_module(f"{j.__name__}.experimental.buffer_callback").buffer_callback(callback, struct, **options)


def double(context, out, x):
    assert context.stage.name == "EXECUTE" and out.writeable and not x.writeable and x.shape == np.asarray(x).shape and x.ndim == len(x.shape)
    np.asarray(out)[...] = 2 * np.asarray(x)


def both(context, out, x, *, y):
    np.asarray(out["sum"])[...] = np.asarray(x["a"]) + np.asarray(y)
    np.asarray(out["last"])[...] = np.from_dlpack(x["a"])[-1]


def bump(context, out, x):
    np.asarray(out)[...] += 1


def into_arguments(context, out, x):
    np.asarray(x)[...] = 1


def raises(context, out, x):
    raise ValueError("no")


CASES = {
    "called": lambda j: made(j, double)(X[0]), "compiled": lambda j: j.jit(made(j, double))(X[0]),
    "trees": lambda j: made(j, both, {"sum": j.ShapeDtypeStruct((3,), np.float32), "last": j.ShapeDtypeStruct((), np.float32)})({"a": X[0]}, y=X[1]),
    **{f"batch {m}": lambda j, m=m: j.vmap(made(j, double, vmap_method=m))(X) for m in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")},
    "alias": lambda j: made(j, bump, input_output_aliases={0: 0})(X[0]), "effect": lambda j: j.jit(made(j, double, has_side_effect=True))(X[0]),
    "scan": lambda j: j.lax.scan(lambda c, x: (c, made(j, double)(x)), 0, X)[1], "batch": lambda j: j.vmap(made(j, double))(X),
    "slope": lambda j: j.grad(lambda x: made(j, double)(x).sum())(X[0]), "a result": lambda j: made(j, lambda c, o, x: 1)(X[0]),
    "raises": lambda j: made(j, raises)(X[0]),
    "equations": lambda j: [e.primitive.name for e in j.make_jaxpr(made(j, double))(X[0]).eqns],
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_callbacks_do_what_they_do_in_jax(name):
    def outcome(system):
        try:
            result = CASES[name](system)
            system.block_until_ready(result)
            return result if isinstance(result, list) and isinstance(result[0], str) else [np.asarray(x) for x in system.tree.leaves(result)]
        except Exception as error:
            return type(error).__name__

    wanted, found = outcome(jax), outcome(pullback)
    if isinstance(wanted, str) or isinstance(wanted[0], str):
        assert found == wanted
        return
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(x, y)


def test_arguments_cannot_be_written():
    with pytest.raises(pullback.errors.JaxRuntimeError, match="read-only"):
        pullback.block_until_ready(made(pullback, into_arguments)(X[0]))
