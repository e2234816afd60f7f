"""Looking at values while programs run."""

import builtins as _builtins
import functools as _functools
import logging as _logging
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
            # Inside programs random keys are their words.
            flat[i] = _words(array) if is_inside else array
        args, kwargs = _tree_unflatten(tree, flat)
        if is_inside:
            _call_inside(callback, args, kwargs)
        else:
            callback(*args, **kwargs)

    _core.debug_callback(run, getattr(callback, "__name__", "callback"), bool(ordered), tuple(_core.to_array(leaves[i]) for i in traced))


# The parameter of the function hides its name.
_CALLBACK = callback


def _words(array):
    from pullback import random

    return random.key_data(array) if "key<" in str(array.dtype) else array


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
        if unused := [arg for i, arg in enumerate(args) if i not in used_args]:
            raise _user_error(ValueError, f"Unused positional arguments to `jax.debug.print`: {unused}")
        if unused := [key for key in kwargs if key not in used_args]:
            raise _user_error(
                ValueError,
                f"Unused keyword arguments to `jax.debug.print`: {unused}. You may be passing an f-string (i.e, `f\"{{x}}\"`) into "
                "`jax.debug.print` and instead should pass in a regular string."
            )


class _WithKeys(_string.Formatter):
    """Formats random keys too, which have no format of their own."""

    def format_field(self, value, format_spec):
        is_key = isinstance(value, _core.Array) and "key<" in str(value.dtype)
        return format(str(value) if is_key else value, format_spec)


def print(fmt=None, *args, ordered=False, partitioned=False, skip_format_check=False, _use_logging=False, **kwargs):
    """Prints values whenever the program reaches this point.

    Args:
      fmt: a format string as for `str.format`.
      args: what its placeholders show: arrays or trees of them.
      ordered: keep the order of prints.
      partitioned: accepted for compatibility; without effect.
      skip_format_check: do not look for unused arguments first.
      _use_logging: log the text at level INFO rather than print it.
      kwargs: what its named placeholders show.
    Returns: None; without `fmt` a function that takes it.
    Raises:
      ValueError: an argument has no placeholder.
      IndexError, KeyError: a placeholder has no argument.
    Differentiable: yes, in that derivatives do not see it. Under `vmap` it prints once for each example.
    Example:
      >>> jax.jit(lambda x: jax.debug.print("x is {}", x))(3.0)
      x is 3.0
    """
    if fmt is None:
        options = {"ordered": ordered, "partitioned": partitioned, "skip_format_check": skip_format_check, "_use_logging": _use_logging}
        return _functools.partial(_PRINT, *args, **options, **kwargs)
    if not isinstance(fmt, str):
        raise _user_error(TypeError, f"the format of jax.debug.print must be a string, got {type(fmt)}")
    if not skip_format_check:
        _Checked().format(fmt, *args, **kwargs)

    has_placeholders = any(field is not None for _, field, _, _ in _string.Formatter().parse(fmt))

    def show(*args, **kwargs):
        text = _WithKeys().format(fmt, *args, **kwargs) if has_placeholders else fmt
        if _use_logging:
            _logger.info("%s", text)
        else:
            _sys.stdout.write(text + "\n")

    show.__name__ = fmt
    callback(show, *args, ordered=ordered, **kwargs)


_PRINT, _PRINT_NOW = print, _builtins.print
_logger = _logging.getLogger(__name__)


def log(fmt=None, *args, ordered=False, partitioned=False, skip_format_check=False, **kwargs):
    """Logs values at level INFO whenever the program reaches this point.

    Args:
      fmt, args, kwargs: as for `print`.
      ordered: keep the order of calls.
      partitioned: accepted for compatibility; without effect.
      skip_format_check: do not look for unused arguments first.
    Returns: None; without `fmt` a function that takes it.
    Raises:
      ValueError: an argument has no placeholder.
      IndexError, KeyError: a placeholder has no argument.
    Differentiable: yes, in that derivatives do not see it. Under `vmap` it logs once for each example.
    Example:
      >>> jax.jit(lambda x: jax.debug.log("x is {}", x))(3.0)
    """
    options = {"ordered": ordered, "partitioned": partitioned, "skip_format_check": skip_format_check, "_use_logging": True}
    return _PRINT(fmt, *args, **options, **kwargs)


def inspect_array_sharding(value, *, callback):
    """Calls a function with the sharding of a value; inside a program, once it runs.

    Args:
      value: an array.
      callback: a function of a `Sharding`.
    Returns: None.
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> jax.debug.inspect_array_sharding(jnp.ones(2), callback=lambda sharding: print(type(sharding).__name__))
      SingleDeviceSharding
    """
    if isinstance(value, _core.Tracer):
        _CALLBACK(lambda array: callback(array.sharding), value)
    else:
        callback(_core.to_array(value).sharding)


def visualize_sharding(shape, sharding, *, use_color=True, scale=1.0, min_width=9, max_width=80, color_map=None):
    """Prints which device holds which part of an array of one or two axes.

    Args:
      shape: sizes of the array's one or two axes.
      sharding: how it is divided.
      use_color, color_map: accepted for compatibility; parts are told apart by lines.
      scale: stretches the picture in both directions.
      min_width, max_width: bounds of its width, in characters.
    Returns: None.
    Raises:
      ValueError: the array has no axis, or more than two.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.debug.visualize_sharding((4,), jnp.ones(4).sharding, min_width=9, max_width=9)
      ┌───────┐
      │ CPU 0 │
      └───────┘
    """
    from pullback import _sharding_pictures

    _PRINT_NOW(_sharding_pictures.picture(tuple(shape), sharding, scale, min_width, max_width))


def visualize_array_sharding(arr, **kwargs):
    """Prints which device holds which part of an array; inside a program, once it runs.

    Args:
      arr: an array of one or two axes.
      kwargs: as those of `visualize_sharding`.
    Returns: None.
    Raises:
      ValueError: the array has no axis, or more than two.
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> jax.debug.visualize_array_sharding(jnp.ones(4), min_width=9, max_width=9)
      ┌───────┐
      │ CPU 0 │
      └───────┘
    """
    inspect_array_sharding(arr, callback=lambda sharding: visualize_sharding(arr.shape, sharding, **kwargs))


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



