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
    # What is no array goes to the function as it is.
    traced = [i for i, leaf in enumerate(leaves) if _is_array(leaf)]

    def run(*arrays):
        flat = list(leaves)
        for i, array in zip(traced, arrays):
            flat[i] = array
        args, kwargs = _tree_unflatten(tree, flat)
        if is_inside:
            _call_inside(callback, args, kwargs)
        else:
            callback(*args, **kwargs)

    _core.debug_callback(run, getattr(callback, "__name__", "callback"), bool(ordered), tuple(_core.to_array(leaves[i]) for i in traced))


# The parameter of the function hides its name.
_CALLBACK = callback


def _is_array(leaf):
    return isinstance(leaf, (bool, int, float, complex)) or hasattr(leaf, "__array__") or hasattr(leaf, "__jax_array__")


class _Checked(_string.Formatter):
    """Formats only what is there: placeholders without argument are an error before anything runs."""

    def format_field(self, value, format_spec):
        # How a value is shown is known when it is.
        return ""

    def convert_field(self, value, conversion):
        return value

    def check_unused_args(self, used_args, args, kwargs):
        unused = [i for i in range(len(args)) if i not in used_args] + [k for k in kwargs if k not in used_args]
        if unused:
            raise _user_error(ValueError, f"Unused arguments to `jax.debug.print`: {unused}. Did you forget a placeholder such as {{}}?")


class _WithKeys(_string.Formatter):
    """Formats random keys too, which have no format of their own."""

    def format_field(self, value, format_spec):
        is_key = isinstance(value, _core.Array) and "key<" in str(value.dtype)
        return format(str(value) if is_key else value, format_spec)


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

    has_placeholders = any(field is not None for _, field, _, _ in _string.Formatter().parse(fmt))

    def show(*args, **kwargs):
        _sys.stdout.write((_WithKeys().format(fmt, *args, **kwargs) if has_placeholders else fmt) + "\n")

    show.__name__ = fmt
    callback(show, *args, ordered=ordered, **kwargs)


def breakpoint(*, backend=None, filter_frames=True, num_frames=None, ordered=False, token=None, **kwargs):
    """Stops whenever the program reaches this point, with a prompt at which variables of the frames can be looked at.

    Commands: `p` and `pp` print an expression, `u` and `d` go to the calling and called frame, `l` lists lines, `w` frames, `c` goes on,
    `q` ends the program.

    Args:
      backend: None or `"cli"`, the terminal.
      filter_frames: leave out frames of this library.
      num_frames: how many frames are kept; all when None.
      ordered: as for `debug.callback`.
      token: refused; order is kept by `ordered`.
      **kwargs: `stdin` and `stdout`, files in place of the terminal.
    Returns: None.
    Raises:
      ValueError: there is no such backend.
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> import io
      >>> out = io.StringIO()
      >>> def f(x):
      ...     y = 2 * x
      ...     jax.debug.breakpoint(stdin=io.StringIO("p y\\nc\\n"), stdout=out)
      ...     return y
      >>> _ = jax.jit(f)(3.0)
      >>> "(jdb) Array(6." in out.getvalue()
      True
    """
    from pullback import _debugger

    if backend not in (None, "cli"):
        raise _user_error(ValueError, f"Invalid debugger backend: {backend}; there is 'cli'")
    if token is not None:
        raise _user_error(NotImplementedError, "tokens are not supported; use ordered=True")
    frames = _debugger.frames_here(num_frames, filter_frames)
    arrays, filled = _debugger.split(frames)
    callback(lambda *values: _debugger.stop(filled(values), **kwargs), *arrays, ordered=ordered)



