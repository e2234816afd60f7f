"""First-order optimizers of trees of arrays, as triples of functions, and schedules of their steps.

An optimizer is `(init_fun, update_fun, get_params)`: `init_fun(params)` gives a state, `update_fun(i, grads, state)` the next
one, and `get_params(state)` the parameters of a state.
"""

import collections.abc as _abc
import functools as _functools
import typing as _typing

from pullback import numpy as _jnp
from pullback._core import user_error as _user_error
from pullback.tree_util import register_pytree_node as _register_pytree_node
from pullback.tree_util import tree_flatten as _tree_flatten, tree_leaves as _tree_leaves, tree_map as _tree_map
from pullback.tree_util import tree_structure as _tree_structure, tree_unflatten as _tree_unflatten

Array = _typing.Any
Params = State = Updates = _typing.Any
Step = int
Schedule = _abc.Callable[[Step], float]
InitFn = _abc.Callable[[Params], State]
UpdateFn = _abc.Callable[[Step, Updates, State], State]
ParamsFn = _abc.Callable[[State], Params]


class OptimizerState(_typing.NamedTuple):
    """A state: the leaves of each parameter's own state, the structure of the parameters, and those of the states."""

    packed_state: _typing.Any
    tree_def: _typing.Any
    subtree_defs: _typing.Any


_register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda structures, packed: OptimizerState(packed[0], *structures),
)


class Optimizer(_typing.NamedTuple):
    """The three functions of an optimizer."""

    init_fn: InitFn
    update_fn: UpdateFn
    params_fn: ParamsFn


def optimizer(opt_maker):
    """Makes an optimizer of arrays one of trees.

    Args:
      opt_maker: a function that gives `(init, update, get_params)`: `init(x)` the state of one array, `update(i, grad, state)` the
        next, `get_params(state)` the array.
    Returns: a function with the same signature that gives an `Optimizer` of trees.
    Raises:
      TypeError: when it updates: the gradients have another structure than the parameters, or `update` gives another structure
        than it got.
    Differentiable: as the three functions are.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> @optimizers.optimizer
      ... def plain(rate):
      ...     return lambda x: x, lambda i, g, x: x - rate * g, lambda x: x
      >>> init, update, get_params = plain(0.5)
      >>> get_params(update(0, {"a": 2.0}, init({"a": 3.0})))
      {'a': 2.0}
    """

    @_functools.wraps(opt_maker)
    def tree_opt_maker(*args, **kwargs):
        init, update, get_params = opt_maker(*args, **kwargs)
        return Optimizer(_tree_init(init), _tree_update(update), _tree_params(get_params))

    return tree_opt_maker


def _tree_init(init):
    def tree_init(params):
        leaves, tree = _tree_flatten(params)
        flat, trees = zip(*(_tree_flatten(init(leaf)) for leaf in leaves)) if leaves else ((), ())
        return OptimizerState(tuple(map(tuple, flat)), tree, tuple(trees))

    return tree_init


def _tree_update(update):
    def tree_update(i, grads, opt_state):
        packed, tree, subtrees = opt_state
        leaves, grad_tree = _tree_flatten(grads)
        if grad_tree != tree:
            raise _user_error(
                TypeError,
                "optimizer update function was passed a gradient tree that did not match the parameter tree structure with which "
                f"it was initialized: parameter tree {tree} and grad tree {grad_tree}.",
            )
        found = [update(i, grad, _tree_unflatten(subtree, state)) for grad, subtree, state in zip(leaves, subtrees, packed)]
        flat, trees = zip(*map(_tree_flatten, found)) if found else ((), ())
        for old, new in zip(subtrees, trees):
            if old != new:
                raise _user_error(
                    TypeError,
                    "optimizer update function produced an output structure that did not match its input structure: input "
                    f"{old} and output {new}.",
                )
        return OptimizerState(tuple(map(tuple, flat)), tree, tuple(subtrees))

    return tree_update


def _tree_params(get_params):
    def tree_get_params(opt_state):
        packed, tree, subtrees = opt_state
        return _tree_unflatten(tree, [get_params(_tree_unflatten(subtree, state)) for subtree, state in zip(subtrees, packed)])

    return tree_get_params


def _first(state):
    return state[0]


@optimizer
def sgd(step_size):
    """Steps down the gradient: `x - step * g`.

    Args:
      step_size: a number, or a function from the number of the step to one.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.sgd(0.1)
      >>> round(float(get_params(update(0, 1.0, init(3.0)))), 6)
      2.9
    """
    step_size = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - step_size(i) * g, lambda x: x


@optimizer
def momentum(step_size, mass):
    """Steps down a decaying sum of gradients: `v = mass * v + g`, `x - step * v`.

    Args:
      step_size: a number, or a function from the number of the step to one.
      mass: how much of the sum each step keeps.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.momentum(0.1, 0.9)
      >>> round(float(get_params(update(0, 1.0, init(3.0)))), 6)
      2.9
    """
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, velocity = state
        velocity = mass * velocity + g
        return x - step_size(i) * velocity, velocity

    return lambda x: (x, _jnp.zeros_like(x)), update, _first


@optimizer
def nesterov(step_size, mass):
    """As `momentum`, with the gradient's step taken ahead: `x - step * (mass * v + g)`.

    Args:
      step_size: a number, or a function from the number of the step to one.
      mass: how much of the sum each step keeps.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.nesterov(0.1, 0.9)
      >>> round(float(get_params(update(0, 1.0, init(3.0)))), 6)
      2.81
    """
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, velocity = state
        velocity = mass * velocity + g
        return x - step_size(i) * (mass * velocity + g), velocity

    return lambda x: (x, _jnp.zeros_like(x)), update, _first


def _inverse_root(sums):
    """One over the square root; nothing where nothing was summed."""
    return _jnp.where(sums > 0, 1.0 / _jnp.sqrt(sums), 0.0)


@optimizer
def adagrad(step_size, momentum=0.9):
    """Steps scaled by the root of the sum of all squared gradients so far.

    Args:
      step_size: a number, or a function from the number of the step to one.
      momentum: how much of the last step each keeps.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.adagrad(0.1)
      >>> round(float(get_params(update(0, 2.0, init(3.0)))), 6)
      2.99
    """
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, squares, step = state
        squares = squares + _jnp.square(g)
        step = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * step
        return x - step_size(i) * step, squares, step

    return lambda x: (x, _jnp.zeros_like(x), _jnp.zeros_like(x)), update, _first


@optimizer
def rmsprop(step_size, gamma=0.9, eps=1e-8):
    """Steps scaled by the root of a decaying mean of squared gradients.

    Args:
      step_size: a number, or a function from the number of the step to one.
      gamma: how much of the mean each step keeps.
      eps: is added to the mean before the root.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.rmsprop(0.1, gamma=0.75)
      >>> round(float(get_params(update(0, 2.0, init(3.0)))), 6)
      2.8
    """
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, mean = state
        mean = mean * gamma + _jnp.square(g) * (1.0 - gamma)
        return x - step_size(i) * g / _jnp.sqrt(mean + eps), mean

    return lambda x: (x, _jnp.zeros_like(x)), update, _first


@optimizer
def rmsprop_momentum(step_size, gamma=0.9, eps=1e-8, momentum=0.9):
    """As `rmsprop`, with a decaying sum of steps.

    Args:
      step_size: a number, or a function from the number of the step to one.
      gamma: how much of the mean each step keeps.
      eps: is added to the mean before the root.
      momentum: how much of the last step each keeps.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.rmsprop_momentum(0.1, gamma=0.75)
      >>> round(float(get_params(update(0, 2.0, init(3.0)))), 6)
      2.8
    """
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, mean, step = state
        mean = mean * gamma + _jnp.square(g) * (1.0 - gamma)
        step = momentum * step + step_size(i) * g / _jnp.sqrt(mean + eps)
        return x - step, mean, step

    return lambda x: (x, _jnp.zeros_like(x), _jnp.zeros_like(x)), update, _first


def _unbiased(mean, kept, i):
    """A decaying mean that began at zero, as the mean of what it has seen."""
    return mean / (1 - _jnp.asarray(kept, mean.dtype) ** (i + 1))


@optimizer
def adam(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """Steps along a decaying mean of gradients, scaled by the root of one of their squares.

    Args:
      step_size: a number, or a function from the number of the step to one.
      b1, b2: how much of the means of gradients and of squares each step keeps.
      eps: is added to the root.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.adam(0.1)
      >>> round(float(get_params(update(0, 2.0, init(3.0)))), 5)
      2.9
    """
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, mean, square = state
        mean = (1 - b1) * g + b1 * mean
        square = (1 - b2) * _jnp.square(g) + b2 * square
        step = _unbiased(mean, b1, i) / (_jnp.sqrt(_unbiased(square, b2, i)) + eps)
        return x - step_size(i) * step, mean, square

    return lambda x: (x, _jnp.zeros_like(x), _jnp.zeros_like(x)), update, _first


@optimizer
def adamax(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """As `adam`, scaled by a decaying maximum of the gradients' sizes.

    Args:
      step_size: a number, or a function from the number of the step to one.
      b1, b2: how much of mean and maximum each step keeps.
      eps: is added to the maximum.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.adamax(0.1)
      >>> round(float(get_params(update(0, 2.0, init(3.0)))), 5)
      2.9
    """
    step_size = make_schedule(step_size)

    def update(i, g, state):
        x, mean, greatest = state
        mean = (1 - b1) * g + b1 * mean
        greatest = _jnp.maximum(b2 * greatest, _jnp.abs(g))
        rate = step_size(i) / (1 - _jnp.asarray(b1, mean.dtype) ** (i + 1))
        return x - rate * mean / (greatest + eps), mean, greatest

    return lambda x: (x, _jnp.zeros_like(x), _jnp.zeros_like(x)), update, _first


@optimizer
def sm3(step_size, momentum=0.9):
    """As `adagrad`, with sums of squares kept for each slice of an array instead of each element.

    Args:
      step_size: a number, or a function from the number of the step to one.
      momentum: how much of the last step each keeps.
    Returns: an `Optimizer`.
    Differentiable: yes, in state and gradients.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, update, get_params = optimizers.sm3(0.1)
      >>> get_params(update(0, jnp.ones(2), init(jnp.ones(2)))).round(4)
      Array([0.99, 0.99], dtype=float32)
    """
    step_size = make_schedule(step_size)

    def init(x):
        x = _jnp.asarray(x)
        return x, _jnp.zeros_like(x), [_jnp.zeros(size, x.dtype) for size in x.shape]

    def update(i, g, state):
        x, step, slices = state
        bounds = [_jnp.expand_dims(sums, [a for a in range(x.ndim) if a != axis]) for axis, sums in enumerate(slices)]
        squares = _functools.reduce(_jnp.minimum, bounds) + _jnp.square(g)
        step = (1.0 - momentum) * (g * _inverse_root(squares)) + momentum * step
        slices = [squares.max([a for a in range(x.ndim) if a != axis]) for axis in range(x.ndim)]
        return x - step_size(i) * step, step, slices

    return init, update, _first


# Schedules


def constant(step_size):
    """The schedule that is the same at every step.

    Args:
      step_size: a number.
    Returns: a function from the number of the step to it.
    Differentiable: yes, in `step_size`.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> optimizers.constant(0.1)(7)
      0.1
    """
    return lambda i: step_size


def exponential_decay(step_size, decay_steps, decay_rate):
    """The schedule `step_size * decay_rate ** (i / decay_steps)`.

    Args:
      step_size, decay_steps, decay_rate: numbers.
    Returns: a function of the number of the step.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> optimizers.exponential_decay(0.5, 2, 0.5)(4)
      0.125
    """
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size, decay_steps, decay_rate, staircase=False):
    """The schedule `step_size / (1 + decay_rate * i / decay_steps)`.

    Args:
      step_size, decay_steps, decay_rate: numbers.
      staircase: whether the quotient is rounded down.
    Returns: a function of the number of the step.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> optimizers.inverse_time_decay(0.5, 2, 0.5)(4)
      0.25
    """
    if staircase:
        return lambda i: step_size / (1 + decay_rate * _jnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(step_size, decay_steps, final_step_size, power=1.0):
    """The schedule from `step_size` to `final_step_size`, as a power of what is left of the steps.

    Args:
      step_size, decay_steps, final_step_size, power: numbers.
    Returns: a function of the number of the step.
    Differentiable: yes.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> float(optimizers.polynomial_decay(0.5, 4, 0.25)(2))
      0.375
    """

    def schedule(i):
        left = (1 - _jnp.minimum(i, decay_steps) / decay_steps) ** power
        return left * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries, values):
    """The schedule of values that change after certain steps.

    Args:
      boundaries: the last steps of all values but the last.
      values: one more than boundaries.
    Returns: a function of the number of the step.
    Raises:
      ValueError: the sizes do not fit.
    Differentiable: yes, in `values`.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> float(optimizers.piecewise_constant([2, 5], [0.5, 0.25, 0.125])(3))
      0.25
    """
    boundaries, values = _jnp.array(boundaries), _jnp.array(values)
    if not boundaries.ndim == values.ndim == 1:
        raise _user_error(ValueError, "boundaries and values must be sequences")
    if boundaries.shape[0] != values.shape[0] - 1:
        raise _user_error(ValueError, "boundaries length must be one shorter than values length")
    return lambda i: values[_jnp.sum(i > boundaries)]


def make_schedule(scalar_or_schedule):
    """A schedule as it is, a number as the constant one.

    Args:
      scalar_or_schedule: a function of the number of the step, or a scalar.
    Returns: a function of the number of the step.
    Raises:
      TypeError: it is neither.
    Differentiable: as the schedule is.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> optimizers.make_schedule(0.1)(3)
      0.1
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if _jnp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise _user_error(TypeError, type(scalar_or_schedule))


# Trees of gradients


def l2_norm(tree):
    """The root of the sum of squares of all elements of a tree.

    Args:
      tree: a tree of arrays.
    Returns: a scalar.
    Differentiable: yes, where it is not zero.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> float(optimizers.l2_norm({"a": 3.0, "b": jnp.array([4.0])}))
      5.0
    """
    return _jnp.sqrt(sum(_jnp.vdot(leaf, leaf) for leaf in _tree_leaves(tree)))


def clip_grads(grad_tree, max_norm):
    """A tree of gradients, shortened to a norm if it is longer.

    Args:
      grad_tree: a tree of arrays.
      max_norm: the greatest `l2_norm`.
    Returns: a tree of the same structure.
    Differentiable: yes, where its norm is not zero.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> optimizers.clip_grads(jnp.array([3.0, 4.0]), 1.0)
      Array([0.6, 0.8], dtype=float32)
    """
    norm = l2_norm(grad_tree)
    return _tree_map(lambda g: _jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)


# States as trees


class JoinPoint:
    """Where, in a tree of parameters, the tree of one parameter's state begins."""

    def __init__(self, subtree):
        self.subtree = subtree

    def __iter__(self):
        yield self.subtree


def unpack_optimizer_state(opt_state):
    """A state as a tree of the parameters' structure, with a `JoinPoint` of its own state for each.

    Args:
      opt_state: an `OptimizerState`.
    Returns: a tree, for libraries that write trees to files.
    Differentiable: yes; values are passed unchanged.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, _, _ = optimizers.momentum(0.1, 0.9)
      >>> optimizers.unpack_optimizer_state(init({"a": 1.0}))["a"].subtree
      (1.0, Array(0., dtype=float32, weak_type=True))
    """
    packed, tree, subtrees = opt_state
    return _tree_unflatten(tree, [JoinPoint(_tree_unflatten(subtree, state)) for subtree, state in zip(subtrees, packed)])


def pack_optimizer_state(marked_pytree):
    """The inverse of `unpack_optimizer_state`.

    Args:
      marked_pytree: a tree whose leaves are `JoinPoint`.
    Returns: an `OptimizerState`.
    Raises:
      TypeError: a leaf is something else.
    Differentiable: yes; values are passed unchanged.
    Example:
      >>> from pullback.example_libraries import optimizers
      >>> init, _, get_params = optimizers.momentum(0.1, 0.9)
      >>> get_params(optimizers.pack_optimizer_state(optimizers.unpack_optimizer_state(init({"a": 1.0}))))
      {'a': 1.0}
    """
    marks, tree = _tree_flatten(marked_pytree)
    for mark in marks:
        if not isinstance(mark, JoinPoint):
            raise _user_error(TypeError, f"pack_optimizer_state takes a tree of JoinPoint, got a leaf of type {type(mark)}")
    flat = [_tree_flatten(mark.subtree) for mark in marks]
    return OptimizerState(tuple(tuple(leaves) for leaves, _ in flat), tree, tuple(_tree_structure(mark.subtree) for mark in marks))
