"""brax: bodies that move, environments, and gradients through them."""

import contextlib
import sys

import jax
import jax.numpy as jnp
from task import report

with contextlib.redirect_stdout(sys.stderr):  # It prints what else could be installed.
    from brax import envs, math
    from brax.base import Transform

jax.config.update("jax_enable_x64", True)


def geometry():
    """Turns and places."""
    turn = math.quat_rot_axis(jnp.array([0.0, 0.6, 0.8]), jnp.float64(0.7))
    yield "rotated", math.rotate(jnp.array([1.0, 2.0, 3.0]), turn)
    yield "placed", Transform(jnp.ones(3), turn).do(Transform.create(pos=jnp.arange(3.0))).pos


def worlds():
    """Observations after a few steps in each world."""
    for name, backend in (("inverted_pendulum", "generalized"), ("inverted_pendulum", "positional"), ("reacher", "spring"), ("fast", "generalized")):
        world = envs.get_environment(name, backend=backend)
        state = jax.jit(world.reset)(jax.random.PRNGKey(0))
        step = jax.jit(world.step)
        for i in range(4):
            state = step(state, 0.1 * i * jnp.ones(world.action_size))
        yield f"{name}_{backend}", [*state.obs, state.reward, state.done]


def gradients():
    """How the reward of two steps moves with the force."""
    world = envs.get_environment("inverted_pendulum", backend="generalized")

    def reward(force):
        state = world.reset(jax.random.PRNGKey(0))
        for _ in range(2):
            state = world.step(state, force)
        return jnp.sum(state.obs**2)

    return jax.jit(jax.grad(reward))(jnp.array([0.2]))


if __name__ == "__main__":
    report({**{name: value for part in (geometry, worlds) for name, value in part()}, "gradients": gradients()})
