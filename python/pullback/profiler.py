"""Names around stretches of a program, for profilers of the process; and what writing traces would be.

`TraceAnnotation` and its kin cost nothing and record nothing by themselves. `start_trace` raises: `pullback.inspect(f)(*args)`
shows what a function compiles to.
"""

import contextlib as _contextlib
import functools as _functools


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
    """`func` inside a `TraceAnnotation`."""

    @_functools.wraps(func)
    def wrapped(*args, **kwargs):
        with TraceAnnotation(name or getattr(func, "__name__", "function")):
            return func(*args, **kwargs)

    return wrapped


def _unsupported(what):
    raise NotImplementedError(
        f"jax.profiler.{what} is not supported: no trace is recorded. pullback.inspect(f)(*args) shows what f compiles to; a "
        "sampling profiler of the process, such as perf or py-spy, shows where time goes"
    )


def start_trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Would begin a trace.

    Raises:
      NotImplementedError: always.
    """
    _unsupported("start_trace")


def stop_trace():
    """Would end a trace.

    Raises:
      RuntimeError: always, since none was begun.
    """
    raise RuntimeError("No profile started")


@_contextlib.contextmanager
def trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Would trace what is inside.

    Raises:
      NotImplementedError: always.
    """
    _unsupported("trace")
    yield


def start_server(port):
    """Would serve traces.

    Raises:
      NotImplementedError: always.
    """
    _unsupported("start_server")


def device_memory_profile(backend=None):
    """Would describe the memory of arrays.

    Raises:
      NotImplementedError: always.
    """
    _unsupported("device_memory_profile")


def save_device_memory_profile(filename, backend=None):
    """Would write what `device_memory_profile` gives.

    Raises:
      NotImplementedError: always.
    """
    _unsupported("save_device_memory_profile")
