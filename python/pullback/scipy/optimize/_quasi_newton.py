"""Descent along directions that are learned from how gradients change: BFGS, with a matrix or with the last few steps.

Both methods are one loop; they differ in what they remember. After J. Nocedal and S. Wright, "Numerical Optimization" (2006),
algorithms 6.1, 7.4 and 7.5. For complex arguments inner products are real parts, so that a step is one of the real plane.
"""

from typing import Any, NamedTuple

from pullback import _core, lax
from pullback.scipy.optimize._line_search import Point, search

_n = _core.numpy

# Why a descent ends other than at a minimum or a limit: the line search found nothing better within an interval, or no end of it.
ZOOM_FAILED, NO_END = 3, 5


class State(NamedTuple):
    """Where a descent is. `decrease` is that of the last step relative to the value, `fault` why there cannot be another one."""

    x: Any
    value: Any
    gradient: Any
    memory: Any
    n_steps: Any
    n_calls: Any
    decrease: Any
    fault: Any


def inner(x, y):
    return _n.real(_n.vdot(x, y))


class Matrix:
    """The inverse of the Hessian as a matrix."""

    @staticmethod
    def start(x):
        return _n.eye(x.size, dtype=x.dtype)

    @staticmethod
    def applied(inverse, gradient):
        return inverse @ gradient

    @staticmethod
    def learned(inverse, s, y, is_first):
        """The matrix nearest to `inverse` that takes the change `y` of the gradient to the step `s`."""
        sy = inner(s, y)
        is_convex = sy > 0
        safe = _n.where(is_convex, sy, 1).astype(s.dtype)
        # The scale of the first step, of which the unit matrix knows nothing (equation 6.20).
        scale = _n.where(is_first & is_convex, sy / _n.where(is_convex, inner(y, y), 1), 1).astype(s.dtype)
        inverse = inverse * scale
        image = inverse @ y
        outer = _n.outer(s, _n.conj(image)) / safe
        more = (1 + _n.vdot(y, image) / safe) / safe * _n.outer(s, _n.conj(s))
        return _n.where(is_convex, inverse + more - outer - _n.conj(outer).T, inverse)


class LastSteps:
    """The inverse of the Hessian by the last few steps and changes of the gradient, the latest last."""

    def __init__(self, n_kept):
        self.n_kept = n_kept

    def start(self, x):
        zeros = _n.zeros((self.n_kept, x.size), x.dtype)
        return zeros, zeros

    def applied(self, memory, gradient):
        steps, changes = memory
        weights = _n.real((_n.conj(steps) * changes).sum(-1))
        # A place that holds no step yet has no influence.
        rates = _n.where(weights > 0, 1 / _n.where(weights > 0, weights, 1), 0).astype(gradient.dtype)

        def back(i, carry):
            k = self.n_kept - 1 - i
            direction, parts = carry
            part = rates[k] * inner(steps[k], direction).astype(gradient.dtype)
            return direction - part * changes[k], parts.at[k].set(part)

        def forth(k, carry):
            direction, parts = carry
            part = rates[k] * inner(changes[k], direction).astype(gradient.dtype)
            return direction + (parts[k] - part) * steps[k], parts

        direction, parts = lax.fori_loop(0, self.n_kept, back, (gradient, _n.zeros(self.n_kept, gradient.dtype)))
        return lax.fori_loop(0, self.n_kept, forth, (direction * self._scale(memory), parts))[0]

    def _scale(self, memory):
        """The size of the Hessian along the last step (equation 7.20)."""
        (s, y) = (kept[-1] for kept in memory)
        sy, yy = inner(s, y), inner(y, y)
        return _n.where(sy > 0, sy / _n.where(yy > 0, yy, 1), 1).astype(s.dtype)

    def learned(self, memory, s, y, is_first):
        is_convex = inner(s, y) > 0
        return tuple(_n.where(is_convex, _n.concatenate([kept[1:], new[None]]), kept) for kept, new in zip(memory, (s, y)))


def _along(fun, x, direction, real):
    """The function along a direction, as a line search wants it."""

    def evaluate(step):
        value, gradient = fun(x + step.astype(x.dtype) * direction)
        return Point(step, value, inner(gradient, direction).astype(real)), gradient

    return evaluate


def _stepped(fun, curvature, state, max_calls):
    x, value, gradient = state.x, state.value, state.gradient
    real = value.dtype
    direction = -curvature.applied(state.memory, gradient)
    # Rounding can turn a direction uphill; the steepest one is not.
    direction = _n.where(inner(gradient, direction) < 0, direction, -gradient)
    start = Point(_n.zeros((), real), value, inner(gradient, direction).astype(real))
    size = _n.abs(gradient).sum().astype(real)
    first = _n.where(state.n_steps == 0, _n.minimum(1 / size, 1), 1).astype(real)
    found = search(_along(fun, x, direction, real), start, gradient, first, max_calls)
    # Where the value is better by rounding alone, the gradient has to be.
    is_flatter = (found.low.step > 0) & (inner(found.gradient, found.gradient) < inner(gradient, gradient))
    is_stuck = ~found.is_found & (~(found.low.value < value) & ~is_flatter | ~found.has_end)
    fault = _n.where(is_stuck, _n.where(found.has_end, ZOOM_FAILED, NO_END), 0)
    step = _n.where(is_stuck, 0, found.low.step).astype(x.dtype) * direction
    next_value = _n.where(is_stuck, value, found.low.value)
    next_gradient = _n.where(is_stuck, gradient, found.gradient)
    memory = curvature.learned(state.memory, step, next_gradient - gradient, state.n_steps == 0)
    scale = _n.maximum(_n.maximum(_n.abs(value), _n.abs(next_value)), 1)
    decrease = _n.where(is_stuck, float("inf"), (value - next_value) / scale).astype(real)
    return State(x + step, next_value, next_gradient, memory, state.n_steps + 1, state.n_calls + found.n_calls, decrease, fault)


def descend(fun, x, curvature, goes_on, max_calls):
    """The last state of a descent from `x` for as long as `goes_on(state)`, with at most so many calls a step.

    `fun` gives the value, of one floating dtype, and the direction of steepest ascent.
    """
    value, gradient = fun(x)
    infinite = _n.full_like(value, float("inf"))
    start = State(x, value, gradient, curvature.start(x), 0, 1, infinite, 0)
    return lax.while_loop(lambda s: goes_on(s) & (s.fault == 0), lambda s: _stepped(fun, curvature, s, max_calls), start)
