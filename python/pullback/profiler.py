"""Names around stretches of a program, for profilers of the process; and what writing traces would be.

`TraceAnnotation` and its kin cost nothing and record nothing by themselves. `start_trace` raises: `pullback.inspect(f)(*args)`
shows what a function compiles to.
"""

import contextlib as _contextlib
import functools as _functools

from pullback._core import user_error as _user_error


class TraceAnnotation(_contextlib.ContextDecorator):
    """A named stretch of the program."""

    def __init__(self, name, **kwargs):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def set_metadata(self, **kwargs):
        """Accepted."""


class StepTraceAnnotation(TraceAnnotation):
    """A named step of a training loop."""


def annotate_function(func, name=None, **decorator_kwargs):
    """`func` inside a `TraceAnnotation`, which records nothing by itself.

    Args:
      func: a function.
      name: the name; by default the function's.
      decorator_kwargs: accepted for compatibility; without effect.
    Returns: a function with the arguments and results of `func`.
    Differentiable: as `func` is.
    Example:
      >>> float(jax.profiler.annotate_function(lambda x: 2 * x, name="double")(3.0))
      6.0
    """

    @_functools.wraps(func)
    def wrapped(*args, **kwargs):
        with TraceAnnotation(name or getattr(func, "__name__", "function")):
            return func(*args, **kwargs)

    return wrapped


def _unsupported(what):
    raise _user_error(
        NotImplementedError,
        f"jax.profiler.{what} is not supported: no trace is recorded. pullback.inspect(f)(*args) shows what f compiles to; a "
        "sampling profiler of the process, such as perf or py-spy, shows where time goes"
    )


def start_trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Would begin a trace; use `jax.inspect(f)(*args)`, or a sampling profiler of the process.

    Args:
      log_dir, create_perfetto_link, create_perfetto_trace, profiler_options: not looked at.
    Returns: nothing; it raises.
    Raises:
      NotImplementedError: always.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.start_trace("logs")
      ... except NotImplementedError:
      ...     print("no traces")
      no traces
    """
    _unsupported("start_trace")


def stop_trace():
    """Would end a trace.

    Returns: nothing; it raises.
    Raises:
      RuntimeError: always, since none was begun.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.stop_trace()
      ... except RuntimeError as error:
      ...     print(error)
      No profile started...
    """
    raise _user_error(RuntimeError, "No profile started")


@_contextlib.contextmanager
def trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Would trace what is inside a `with` block; use `jax.inspect(f)(*args)`, or a sampling profiler of the process.

    Args:
      log_dir, create_perfetto_link, create_perfetto_trace, profiler_options: not looked at.
    Returns: a context that cannot be entered.
    Raises:
      NotImplementedError: when entered.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     with jax.profiler.trace("logs"):
      ...         pass
      ... except NotImplementedError:
      ...     print("no traces")
      no traces
    """
    _unsupported("trace")
    yield


def start_server(port):
    """Would serve traces.

    Args:
      port: not looked at.
    Returns: nothing; it raises.
    Raises:
      NotImplementedError: always.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.start_server(9999)
      ... except NotImplementedError:
      ...     print("no traces")
      no traces
    """
    _unsupported("start_server")


def device_memory_profile(backend=None):
    """Would describe the memory of arrays.

    Args:
      backend: not looked at.
    Returns: nothing; it raises.
    Raises:
      NotImplementedError: always.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.device_memory_profile()
      ... except NotImplementedError:
      ...     print("no profiles")
      no profiles
    """
    _unsupported("device_memory_profile")


def save_device_memory_profile(filename, backend=None):
    """Would write what `device_memory_profile` gives.

    Args:
      filename, backend: not looked at.
    Returns: nothing; it raises.
    Raises:
      NotImplementedError: always.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.save_device_memory_profile("memory.prof")
      ... except NotImplementedError:
      ...     print("no profiles")
      no profiles
    """
    _unsupported("save_device_memory_profile")
