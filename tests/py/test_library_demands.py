"""Small behaviours that libraries rely on, beside live JAX: residuals, owners of tracers, old forms of calls."""

import importlib
import inspect

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")


def kinds_of_residuals(system, transform):
    """What kinds of Python numbers a backward rule gets."""
    kinds = []

    @system.custom_vjp
    def f(x):
        return x

    def backward(residuals, ct):
        _, *numbers = residuals["kept"]
        kinds.extend(next(k.__name__ for k in (bool, int, float, complex) if isinstance(n, k)) for n in numbers)
        return (ct * 2 if numbers[0] else ct,)

    f.defvjp(lambda x: (x, {"kept": (x, True, 3, 2.5, 1j)}), backward)
    return kinds, np.asarray(transform(system, f))


TRANSFORMS = {
    "grad": lambda j, f: j.grad(f)(1.0),
    "jit of grad": lambda j, f: j.jit(j.grad(f))(1.0),
    "grad of jit": lambda j, f: j.grad(j.jit(f))(1.0),
    "vmap of grad": lambda j, f: j.vmap(j.grad(f))(np.ones(2, np.float32)),
    "grad of vmap": lambda j, f: j.grad(lambda x: j.vmap(f)(x).sum())(np.ones(2, np.float32)),
    "grad of scan": lambda j, f: j.grad(lambda x: j.lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0])(1.0),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_numbers_among_residuals_stay_numbers(name):
    (wanted, slope), (found, our_slope) = (kinds_of_residuals(system, TRANSFORMS[name]) for system in (jax, pullback))
    assert set(found) == set(wanted) == {"bool", "int", "float", "complex"}
    np.testing.assert_array_equal(our_slope, slope)


def owners(system):
    """Which of two nested derivatives values belong to."""
    core = importlib.import_module(f"{system.__name__}.extend.core")
    seen = []

    def outer(x):
        level, y = core.find_top_trace([x]).main, 2 * x

        def inner(z):
            top = core.find_top_trace([z]).main
            seen.extend([top is level, x._trace.main is level, y._trace.main is level, (y * z)._trace.main is top, y._trace.main is top])
            return z * y

        system.jvp(inner, (y,), (y,))
        system.vmap(inner)(system.numpy.ones(2))
        return y

    system.jvp(outer, (1.0,), (1.0,))
    system.jit(lambda x: system.jvp(outer, (x,), (x,)))(1.0)
    return seen


def test_tracers_tell_their_trace():
    assert owners(pullback) == owners(jax)


@pytest.mark.parametrize("holds", [True, False])
def test_branches_with_an_operand_each(holds):
    found = [system.lax.cond(holds, 1.0, lambda x: x + 1, 2.0, lambda x: x + 5) for system in (jax, pullback)]
    assert float(found[0]) == float(found[1])


@pytest.mark.parametrize("numbers, names", [(None, None), (0, None), (-1, None), ((0, 2), None), (None, "b"), (None, ("a", "d")), (1, "a"), (5, None), (None, "q")])
def test_positions_follow_from_names(numbers, names):
    functions = [lambda a, b, *c, d=1, **k: 0, lambda a, b, c=2: 0, lambda a, /, b, *, d: 0]
    found = [
        [importlib.import_module(f"{name}._src.api_util").infer_argnums_and_argnames(inspect.signature(f), numbers, names) for f in functions]
        for name in ("jax", "pullback")
    ]
    assert found[0] == found[1]


def test_zeros_of_trees():
    found = [system.custom_derivatives.zero_from_primal({"a": np.ones(2, np.float32), "b": (3, None)}) for system in (jax, pullback)]
    assert [str(x.dtype) for x in jax.tree.leaves(found[0])] == [str(x.dtype) for x in pullback.tree.leaves(found[1])]


def test_a_registered_type_is_an_operand():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.ones(2, np.float32)

    with pytest.raises(TypeError):
        pullback.numpy.sin(Wrapped())
    mappings = pullback.core.pytype_aval_mappings
    mappings[Wrapped] = mappings[np.ndarray]
    np.testing.assert_allclose(pullback.numpy.sin(Wrapped()), np.sin(np.ones(2)), rtol=1e-6)
