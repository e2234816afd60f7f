"""A step along a direction that decreases a function enough and leaves it flat enough: Wolfe's conditions.

One loop widens an interval and narrows it, since an interval without an upper end is treated like any other (J. Nocedal and
S. Wright, "Numerical Optimization", 2006, algorithms 3.5 and 3.6). Where differences of values are rounding, slopes decide
(W. Hager and H. Zhang, "A new conjugate gradient method with guaranteed descent and an efficient line search", 2005).
"""

from typing import Any, NamedTuple

from pullback import _core, lax
from pullback.dtypes import finfo as _finfo

_n = _core.numpy

# Nocedal and Wright's constants for quasi-Newton methods: what part of the decrease that the slope promises is enough, and what
# part of the slope may be left.
_DECREASE, _CURVATURE = 1e-4, 0.9
_GROWTH = 4.0
# Differences of values of so many units in the last place say nothing.
_NOISE_ULPS = 10


class Point(NamedTuple):
    """A step with the function's value and slope there."""

    step: Any
    value: Any
    slope: Any


class Search(NamedTuple):
    """An interval between the best step so far and one that is too long, and the next step to try."""

    low: Point
    gradient: Any
    high: Point
    trial: Any
    n_calls: Any
    is_found: Any

    @property
    def has_end(self):
        """Whether a step was too long and the function known there."""
        return _n.isfinite(self.high.value)


def _chosen(condition, x, y):
    return type(x)(*(_n.where(condition, one, other) for one, other in zip(x, y)))


def _cubic_share(low, high):
    """Where between both the cubic through their values and slopes is least (Nocedal and Wright, equation 3.59), as a share."""
    width = high.step - low.step
    d1 = low.slope + high.slope - 3 * (high.value - low.value) / width
    d2 = _n.sign(width) * _n.sqrt(_n.maximum(d1 * d1 - low.slope * high.slope, 0))
    return 1 - (high.slope + d2 - d1) / (high.slope - low.slope + 2 * d2)


def _between(low, high, noise):
    slopes_say = low.slope / (low.slope - high.slope)
    share = _n.where(_n.abs(high.value - low.value) <= noise, slopes_say, _cubic_share(low, high))
    share = _n.where(_n.isfinite(share), _n.clip(share, 0.1, 0.9), 0.5)
    return low.step + share * (high.step - low.step)


def _next_step(low, high, noise):
    return _n.where(_n.isinf(high.step), _GROWTH * low.step, _between(low, high, noise))


def search(evaluate, start, gradient, first_step, max_calls):
    """The search from `start`, a `Point` of step 0 with a negative slope and `gradient`.

    `evaluate(step)` gives a `Point` and the gradient there. The result's `low` is the step to take, 0 if none is better.
    """
    noise = _NOISE_ULPS * float(_finfo(start.value.dtype).eps) * _n.abs(start.value)

    def decreases(tried):
        by_value = tried.value <= start.value + _DECREASE * tried.step * start.slope
        by_slope = (tried.value <= start.value + noise) & (tried.slope <= (2 * _DECREASE - 1) * start.slope)
        return by_value | by_slope

    def goes_on(state):
        return ~state.is_found & (state.n_calls < max_calls)

    def narrowed(state):
        low, high = state.low, state.high
        tried, gradient = evaluate(state.trial)
        is_low = decreases(tried) & (tried.value <= low.value + noise)
        is_found = is_low & (_n.abs(tried.slope) <= -_CURVATURE * start.slope)
        # Behind the better step the function rises towards the other end: the minimum is before it.
        rises = is_low & (tried.slope * (high.step - low.step) >= 0)
        next_low = _chosen(is_low, tried, low)
        next_high = _chosen(rises, low, _chosen(is_low, high, tried))
        gradient = _n.where(is_low, gradient, state.gradient)
        return Search(next_low, gradient, next_high, _next_step(next_low, next_high, noise), state.n_calls + 1, is_found)

    infinite = _n.full_like(start.step, float("inf"))
    first = Search(start, gradient, Point(infinite, infinite, infinite), first_step, 0, _n.asarray(False))
    return lax.while_loop(goes_on, narrowed, first)
