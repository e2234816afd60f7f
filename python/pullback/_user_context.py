"""`make_user_context`: values of the user's own that decide, with the arguments, which trace of a function is used.

It owns the values of each context on each thread; the core knows all of them together by one number.
"""

import itertools as _itertools
import threading as _threading

from pullback import _core

_now = _threading.local()
_numbers = {}
_count = _itertools.count(1)


def _values():
    """The contexts that are not at their defaults on this thread, with their values."""
    return getattr(_now, "values", {})


def _put(values):
    """Puts values in force on this thread. Equal ones have one number, so that they share traces."""
    key = frozenset(values.items())
    if key not in _numbers:
        _numbers[key] = next(_count)
    _core.set_user_contexts(_numbers[key] if key else 0)
    _now.values = values


class UserContext:
    """A value of a context, in force inside `with`."""

    def __init__(self, context, value):
        self._context, self._value = context, value

    def __enter__(self):
        self._before = _values()
        _put({**self._before, self._context: self._value})

    def __exit__(self, *exception):
        _put(self._before)


class UserConfig:
    """A context of the user: called with a value it gives what puts that in force."""

    def __init__(self, default_value=None):
        self._default = default_value

    @property
    def value(self):
        """The value in force on this thread."""
        return _values().get(self, self._default)

    def __call__(self, new_value):
        return UserContext(self, new_value)


def make_user_context(default_value=None):
    """A context whose value jitted functions depend on: with another value they are traced anew.

    Args:
      default_value: the value where nothing else is in force.
    Returns: an object. Called with a hashable value it gives a context manager in which that is the value on this thread;
      its attribute `value` is the value in force.
    Raises:
      TypeError: when a context is entered, the value cannot be hashed.
    Differentiable: no; it takes no arrays.
    Example:
      >>> scale = jax.make_user_context(1.0)
      >>> f = jax.jit(lambda x: x * scale.value)
      >>> with scale(3.0):
      ...     inside = f(2.0)
      >>> float(inside), float(f(2.0))
      (6.0, 2.0)
    """
    return UserConfig(default_value)


make_user_context.__module__ = "pullback"
