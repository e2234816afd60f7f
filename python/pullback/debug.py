"""Looking at values while programs run."""

import functools as _functools
import string as _string
import sys as _sys

from pullback import _core
from pullback._callbacks import call_inside
from pullback.tree_util import tree_flatten, tree_unflatten


def callback(callback=None, *args, ordered=False, partitioned=False, **kwargs):
    """Calls a Python function with concrete values whenever the program reaches this point; its result is ignored.

    Args:
      callback: a function of trees of arrays. Without it, a function that takes it is returned.
      args: trees of arrays.
      ordered: keep the order of calls.
      kwargs: as `args`.

    What it raises inside a program comes out as a `JaxRuntimeError` with that cause.

    Under `vmap` it is called once for each example; derivatives do not see it.
    """
    if callback is None:
        return _functools.partial(_CALLBACK, *args, ordered=ordered, partitioned=partitioned, **kwargs)
    if not callable(callback):
        raise TypeError(f"first argument to jax.debug.callback must be callable, but got an object of type {type(callback)}")
    leaves, tree = tree_flatten((args, kwargs))
    is_inside = not _core.trace_state_clean()

    def run(*flat):
        args, kwargs = tree_unflatten(tree, flat)
        if is_inside:
            call_inside(callback, args, kwargs)
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
            raise ValueError(f"Unused arguments to `jax.debug.print`: {unused}. Did you forget a placeholder such as {{}}?")


def print(fmt, *args, ordered=False, partitioned=False, skip_format_check=False, _use_logging=False, **kwargs):
    """Prints values whenever the program reaches this point.

    Args:
      fmt: a format string as for `str.format`.
      args: what its placeholders show: arrays or trees of them.
      ordered: keep the order of prints.
      skip_format_check: do not look for unused arguments first.
      kwargs: what its named placeholders show.

    >>> import pullback as jax
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
    """Not supported yet; use `jax.debug.callback` with a debugger of your own."""
    raise NotImplementedError("jax.debug.breakpoint is not supported yet; use jax.debug.callback(lambda *a: breakpoint(), ...)")


