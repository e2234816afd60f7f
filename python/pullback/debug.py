"""Looking at values while programs run."""

import functools as _functools
import string as _string
import sys as _sys

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._callbacks import call_inside as _call_inside
from pullback.tree_util import tree_flatten as _tree_flatten, tree_unflatten as _tree_unflatten


def callback(callback=None, *args, ordered=False, partitioned=False, **kwargs):
    """Calls a Python function with concrete values whenever the program reaches this point; its result is ignored.

    Args:
      callback: a function of trees of arrays. Without it, a function that takes it is returned.
      args: trees of arrays.
      ordered: keep the order of calls. Without it the order is that of the program too, on this engine.
      partitioned: accepted for compatibility; without effect.
      kwargs: as `args`.
    Returns: None.
    Raises:
      TypeError: `callback` is not callable.
      JaxRuntimeError: the function raised inside a program; what it raised is the cause.
    Differentiable: yes, in that derivatives do not see it. Under `vmap` it is called once for each example.
    Example:
      >>> seen = []
      >>> _ = jax.jit(lambda x: jax.debug.callback(lambda v: seen.append(int(v)), x) or x)(3)
      >>> seen
      [3]
    """
    if callback is None:
        return _functools.partial(_CALLBACK, *args, ordered=ordered, partitioned=partitioned, **kwargs)
    if not callable(callback):
        raise _user_error(TypeError, f"first argument to jax.debug.callback must be callable, but got an object of type {type(callback)}")
    leaves, tree = _tree_flatten((args, kwargs))
    is_inside = not _core.trace_state_clean()

    def run(*flat):
        args, kwargs = _tree_unflatten(tree, flat)
        if is_inside:
            _call_inside(callback, args, kwargs)
        else:
            callback(*args, **kwargs)

    _core.debug_callback(run, getattr(callback, "__name__", "callback"), bool(ordered), tuple(leaves))


# The parameter of the function hides its name.
_CALLBACK = callback


class _Checked(_string.Formatter):
    """Formats only what is there: placeholders without argument are an error before anything runs."""

    def check_unused_args(self, used_args, args, kwargs):
        unused = [i for i in range(len(args)) if i not in used_args] + [k for k in kwargs if k not in used_args]
        if unused:
            raise _user_error(ValueError, f"Unused arguments to `jax.debug.print`: {unused}. Did you forget a placeholder such as {{}}?")


def print(fmt, *args, ordered=False, partitioned=False, skip_format_check=False, _use_logging=False, **kwargs):
    """Prints values whenever the program reaches this point.

    Args:
      fmt: a format string as for `str.format`.
      args: what its placeholders show: arrays or trees of them.
      ordered: keep the order of prints.
      partitioned: accepted for compatibility; without effect.
      skip_format_check: do not look for unused arguments first.
      kwargs: what its named placeholders show.
    Returns: None.
    Raises:
      ValueError: an argument has no placeholder.
      IndexError, KeyError: a placeholder has no argument.
    Differentiable: yes, in that derivatives do not see it. Under `vmap` it prints once for each example.
    Example:
      >>> jax.jit(lambda x: jax.debug.print("x is {}", x))(3.0)
      x is 3.0
    """
    if not skip_format_check:
        _Checked().format(fmt, *args, **kwargs)

    def show(*args, **kwargs):
        _sys.stdout.write(fmt.format(*args, **kwargs) + "\n")

    show.__name__ = fmt
    callback(show, *args, ordered=ordered, **kwargs)


def breakpoint(**kwargs):
    """Stops the program for a debugger: not supported; use `jax.debug.callback` with a debugger of your own.

    Args:
      kwargs: accepted for compatibility.
    Returns: nothing; it raises.
    Raises:
      NotImplementedError: always.
    Differentiable: no.
    Example:
      >>> jax.debug.breakpoint()
      Traceback (most recent call last):
      NotImplementedError: jax.debug.breakpoint is not supported yet; use jax.debug.callback(lambda *a: breakpoint(), ...)
    """
    raise _user_error(NotImplementedError, "jax.debug.breakpoint is not supported yet; use jax.debug.callback(lambda *a: breakpoint(), ...)")


