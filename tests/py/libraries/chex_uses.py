"""What chex's users reach for: asserts on trees and shapes, counts of traces, dataclasses, variants, fakes."""

import unittest

import chex
import jax
import jax.numpy as jnp
import numpy as np

from task import report


def outcome(function):
    """The result as text, or the class of the error."""
    try:
        return str(function())
    except Exception as error:
        return type(error).__name__


@chex.dataclass
class Point:
    x: chex.Array
    y: chex.Array


@chex.dataclass(frozen=True, mappable_dataclass=False)
class Fixed:
    value: chex.Array
    name: str = "fixed"


tree = {"a": jnp.arange(3.0), "b": (jnp.ones((2, 2)), jnp.int32(4))}
near = jax.tree.map(lambda x: x + 1e-7 if x.dtype == jnp.float32 else x, tree)
far = jax.tree.map(lambda x: x + 1, tree)


def traces(n, calls):
    """Calls with `calls` different shapes of a function that may be traced `n` times."""
    chex.clear_trace_counter()

    @jax.jit
    @chex.assert_max_traces(n=n)
    def f(x):
        return x * 2

    return [f(jnp.ones(size)).sum().item() for size in calls]


class Variants(chex.TestCase):
    """Run under all variants; what they saw is kept."""

    seen = []

    @chex.variants(with_jit=True, without_jit=True, with_device=True, without_device=True)
    def test_sum(self):
        result = self.variant(lambda x: jnp.sum(x * 2))(np.arange(4.0, dtype=np.float32))
        self.seen.append((type(result).__name__ in ("ArrayImpl", "Array"), float(result)))


def run_variants():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Variants)
    result = unittest.TestResult()
    suite.run(result)
    # With a device and without one, jitted and plain: four runs.
    return result.testsRun, len(result.errors), len(result.failures), [value for _, value in Variants.seen]


def fake_maps():
    with chex.fake_pmap():
        total = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(jnp.arange(4.0))
    with chex.fake_jit():
        seen = []
        jax.jit(lambda x: seen.append(float(x)) or x)(1.5)
    return total.tolist(), seen


def point_grad():
    gradient = jax.jit(jax.grad(lambda p: (p.x**2 * p.y).sum()))(Point(x=jnp.arange(3.0), y=jnp.ones(3)))
    return type(gradient).__name__, gradient.x.tolist(), gradient.y.tolist()


def paths():
    return [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(Point(x=1.0, y={"z": 2.0}))[0]]


CASES = {
    "assert_trees_all_close": lambda: chex.assert_trees_all_close(tree, near, atol=1e-6),
    "assert_trees_all_close, far": lambda: chex.assert_trees_all_close(tree, far),
    "assert_trees_all_equal": lambda: chex.assert_trees_all_equal(tree, tree),
    "assert_trees_all_equal, near": lambda: chex.assert_trees_all_equal(tree, near),
    "assert_trees_all_equal_structs": lambda: chex.assert_trees_all_equal_structs(tree, {"a": 1}),
    "assert_trees_all_equal_shapes": lambda: chex.assert_trees_all_equal_shapes(tree, far),
    "assert_trees_all_equal_dtypes": lambda: chex.assert_trees_all_equal_dtypes(tree, jax.tree.map(jnp.float32, tree)),
    "assert_tree_all_finite": lambda: chex.assert_tree_all_finite(tree),
    "assert_tree_all_finite, inf": lambda: chex.assert_tree_all_finite({"a": jnp.inf}),
    "assert_tree_is_on_device": lambda: chex.assert_tree_is_on_device(tree, platform="cpu"),
    "assert_shape": lambda: chex.assert_shape(jnp.ones((2, 3)), (2, None)),
    "assert_shape, other": lambda: chex.assert_shape([jnp.ones(2), jnp.ones(3)], (2,)),
    "assert_rank": lambda: chex.assert_rank(jnp.ones((2, 3)), {1, 2}),
    "assert_type": lambda: chex.assert_type([jnp.ones(2), 3], [float, int]),
    "assert_type, other": lambda: chex.assert_type(jnp.ones(2), int),
    "assert_equal_shape under jit": lambda: jax.jit(lambda x, y: chex.assert_equal_shape([x, y]))(jnp.ones(2), jnp.ones(3)),
    "assert_scalar": lambda: chex.assert_scalar(jnp.float32(2)),
    "assert_axis_dimension": lambda: chex.assert_axis_dimension(jnp.ones((2, 3)), 1, 3),
    "assert_is_broadcastable": lambda: chex.assert_is_broadcastable((3,), (2, 3)),
    "assert_numerical_grads": lambda: chex.assert_numerical_grads(lambda x: jnp.sum(x**2), (jnp.arange(3.0),), order=1, atol=1e-2),
    "assert_devices_available": lambda: chex.assert_devices_available(1, "cpu"),
    "Dimensions": lambda: chex.Dimensions(B=2, C=3)["BC"],
    "one trace": lambda: traces(1, [3, 3]),
    "too many traces": lambda: traces(1, [3, 4]),
    "two traces": lambda: traces(2, [3, 4, 3]),
    "dataclass under grad": point_grad,
    "dataclass paths": paths,
    "dataclass as mapping": lambda: sorted(Point(x=1.0, y=2.0).items()),
    "dataclass replace": lambda: Point(x=1.0, y=2.0).replace(x=3.0),
    "frozen dataclass": lambda: setattr(Fixed(value=1.0), "value", 2.0),
    "vmap over a dataclass": lambda: jax.vmap(lambda p: p.x + p.y)(Point(x=jnp.arange(3.0), y=jnp.ones(3))),
    "fakes": fake_maps,
    "variants": run_variants,
    "dataclass copies": lambda: Fixed(value=1.0).replace(value=2.0),
}

report({name: outcome(case) for name, case in CASES.items()})
