"""Ten more programs of public reports: what the gradient is, what made it, and what it is under `safe_grads`."""

from collections.abc import Callable
from typing import Any

import pullback as jax
import pullback.numpy as jnp

PROGRAMS: dict[str, tuple[Callable[[Any], jax.Array], Any]] = {
    # The norm at zero, jax#3058.
    "norm at zero": (lambda x: jnp.linalg.norm(x), jnp.zeros(3)),
    # Distances of points to themselves.
    "pairwise distances": (lambda x: jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)).sum(), jnp.array([[0.0, 0.0], [3.0, 4.0]])),
    # The entropy of a distribution with a zero, jax#1052.
    "entropy": (lambda p: -jnp.where(p > 0, p * jnp.log(p), 0.0).sum(), jnp.array([0.0, 0.25, 0.75])),
    # The sinc function by hand, jax#1052.
    "sinc": (lambda x: jnp.where(x == 0, 1.0, jnp.sin(x) / x), 0.0),
    # Softplus by hand: exp overflows in the case that is not taken.
    "softplus": (lambda x: jnp.where(x > 20, x, jnp.log(1 + jnp.exp(x))), 100.0),
    # The standard deviation of equal numbers.
    "std of equals": (lambda x: jnp.std(x), jnp.full(4, 2.0)),
    # The angle between two vectors that are equal.
    "angle": (lambda x: jnp.where(x >= 1, 0.0, jnp.arccos(x)), 1.0),
    # Padding that holds NaN, masked after the product.
    "padded batch": (lambda w: jnp.where(jnp.array([True, False]), jnp.array([[1.0, 2.0], [jnp.nan, jnp.nan]]) @ w, 0.0).sum(), jnp.ones(2)),
    # A logarithm that is clipped afterwards.
    "clipped log": (lambda p: jnp.clip(jnp.log(p), -100.0, 0.0).sum(), jnp.array([0.0, 0.5])),
    # A ragged loop: steps after the end are masked in the carry.
    "masked scan": (
        lambda x: jax.lax.scan(lambda c, i: (jnp.where(i < 2, c, jnp.log(c)), None), x, jnp.arange(3))[0][1],
        jnp.array([0.0, 2.0]),
    ),
}

for name, (program, point) in PROGRAMS.items():
    gradient: Callable[[Any], jax.Array] = jax.grad(program)
    ordinary = gradient(point)
    with jax.safe_grads():
        safe = gradient(point)
    report = jax.explain_grad(program)(point)
    print(f"{name}: {ordinary.tolist()} -> {safe.tolist()}")
    for trouble in report.troubles:
        print(f"    {trouble.primitive} at line {trouble.line}: {trouble.cause}\n    cure: {trouble.cure}")
    assert not jnp.isfinite(ordinary).all() and jnp.isfinite(safe).all(), name
    assert report.troubles, name
