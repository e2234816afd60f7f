"""Traces of a program's host: named stretches, calls of compiled functions and of Python's, in files for trace viewers.

What happens inside of a compiled program is not recorded; `pullback.inspect(f)(*args)` shows what it is made of.
"""

import contextlib as _contextlib
import dataclasses as _dataclasses
import functools as _functools
import os as _os
import typing as _typing

from pullback._core import user_error as _user_error
from pullback._profiles import recorder as _recorder
from pullback._profiles.data import (
    ProfileData as ProfileData, ProfileEvent as ProfileEvent, ProfileLine as ProfileLine, ProfilePlane as ProfilePlane,
)


class TraceAnnotation(_contextlib.ContextDecorator):
    """A named stretch of the program, with keywords that say more of it; recorded where a trace runs."""

    def __init__(self, name, /, **kwargs):
        if not isinstance(name, str):
            raise _user_error(TypeError, f"{type(self).__name__} takes a name, got {type(name).__name__}")
        self.name, self._metadata = name, kwargs

    def __enter__(self):
        self._recorder = _recorder.current()
        self._start = self._recorder.now() if self._recorder else 0
        return self

    def __exit__(self, *_):
        if self._recorder is not None and self._recorder is _recorder.current():
            self._recorder.add(self.name, self._start, self._metadata.items())

    def set_metadata(self, **kwargs):
        """Adds keywords."""
        self._metadata.update(kwargs)


class StepTraceAnnotation(TraceAnnotation):
    """A named step of a training loop."""

    def __init__(self, name, /, **kwargs):
        super().__init__(name, _r=1, **kwargs)


def annotate_function(func, name=None, **decorator_kwargs):
    """`func` inside a `TraceAnnotation`.

    Args:
      func: a function.
      name: the name; by default the function's.
      decorator_kwargs: what the annotation takes.
    Returns: a function with the arguments and results of `func`.
    Differentiable: as `func` is.
    Example:
      >>> float(jax.profiler.annotate_function(lambda x: 2 * x, name="double")(3.0))
      6.0
    """
    name = name or getattr(func, "__qualname__", None) or getattr(func, "__name__", "function")

    @_functools.wraps(func)
    def wrapped(*args, **kwargs):
        with TraceAnnotation(name, **decorator_kwargs):
            return func(*args, **kwargs)

    return wrapped


@_dataclasses.dataclass(slots=True, init=False, eq=False)
class ProfileOptions:
    """What a trace records.

    `host_tracer_level` 0 records no stretches and calls of compiled functions, `python_tracer_level` 0 no calls of Python's functions.
    `session_id` names the folder. The others are taken for compatibility.
    """

    host_tracer_level: int
    python_tracer_level: int
    device_tracer_level: int
    enable_hlo_proto: bool
    include_dataset_ops: bool
    raise_error_on_start_failure: bool
    start_timestamp_ns: int
    duration_ms: int
    repository_path: str
    session_id: str
    advanced_configuration: dict

    def __init__(self):
        self.host_tracer_level, self.python_tracer_level, self.device_tracer_level = 2, 1, 1
        self.enable_hlo_proto = self.include_dataset_ops = True
        self.raise_error_on_start_failure = False
        self.start_timestamp_ns = self.duration_ms = 0
        self.repository_path = self.session_id = ""
        self.advanced_configuration = {}


class ProfileSession:
    """A trace from `start` to `stop`, or inside of a `with` block; it goes to `log_dir` where that is given."""

    def __init__(self, log_dir=None, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
        if profiler_options is not None and not isinstance(profiler_options, ProfileOptions):
            raise _user_error(TypeError, f"profiler_options must be ProfileOptions, got {type(profiler_options).__name__}")
        _check_link(create_perfetto_link)
        self._log_dir, self._perfetto = log_dir, create_perfetto_trace
        self._options = profiler_options or ProfileOptions()
        self._recorder = self._data = None

    @property
    def is_running(self):
        """Whether it records now."""
        return self._recorder is not None

    @property
    def profile_data(self):
        """What was recorded, after `stop`; None before."""
        return self._data

    def start(self):
        """Begins to record.

        Returns: the session.
        Raises:
          RuntimeError: another session records.
        Differentiable: no; it takes no arrays.
        Example:
          >>> session = jax.profiler.ProfileSession().start()
          >>> session.stop().find_plane_with_name("/host:CPU").name
          '/host:CPU'
        """
        recorder = _recorder.Recorder(self._options)
        recorder.start()
        self._recorder = recorder
        return self

    def stop(self):
        """Ends the recording.

        Returns: a `ProfileData`.
        Raises:
          RuntimeError: it does not record.
        Differentiable: no; it takes no arrays.
        Example:
          >>> jax.profiler.ProfileSession().start().stop() is not None
          True
        """
        if self._recorder is None:
            raise _user_error(RuntimeError, "No profile started")
        recorder, self._recorder = self._recorder, None
        recorder.stop()
        self._data = ProfileData.from_serialized_xspace(recorder.serialized())
        if self._log_dir is not None:
            self.export_profile_data(self._log_dir, create_perfetto_trace=self._perfetto)
        return self._data

    def export_profile_data(self, log_dir, create_perfetto_link=False, create_perfetto_trace=False, session_id=None):
        """Writes what was recorded.

        Args:
          log_dir: a folder.
          create_perfetto_link: not served; False.
          create_perfetto_trace: whether a file for Perfetto is written too.
          session_id: the name of the folder of this trace; the time by default.
        Returns: None.
        Raises:
          RuntimeError: nothing was recorded. NotImplementedError: a link is asked for.
        Differentiable: no; it takes no arrays.
        Example:
          >>> import tempfile
          >>> with tempfile.TemporaryDirectory() as folder:
          ...     session = jax.profiler.ProfileSession().start()
          ...     _ = session.stop()
          ...     session.export_profile_data(folder)
        """
        if self._data is None:
            raise _user_error(RuntimeError, "No profile data: the session was not stopped")
        export_profile_data(self._data, log_dir, create_perfetto_link, create_perfetto_trace, session_id or self._options.session_id)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()


_session = None


def start_trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """Begins a trace; `stop_trace` ends it.

    Args:
      log_dir: the folder to which it goes; None keeps it in memory.
      create_perfetto_link: not served; False.
      create_perfetto_trace: whether a file for Perfetto is written too.
      profiler_options: `ProfileOptions`.
    Returns: a `ProfileSession`.
    Raises:
      RuntimeError: a trace runs. NotImplementedError: a link is asked for.
    Differentiable: no; it takes no arrays.
    Example:
      >>> _ = jax.profiler.start_trace(None)
      >>> with jax.profiler.TraceAnnotation("step"):
      ...     pass
      >>> jax.profiler.stop_trace().find_plane_with_name("/host:CPU").name
      '/host:CPU'
    """
    global _session
    _session = ProfileSession(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options).start()
    return _session


def stop_trace():
    """Ends the trace that `start_trace` began.

    Returns: a `ProfileData`, written to the folder too.
    Raises:
      RuntimeError: no trace runs.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.stop_trace()
      ... except RuntimeError as error:
      ...     print(error)
      No profile started...
    """
    global _session
    if _session is None:
        raise _user_error(RuntimeError, "No profile started")
    ended, _session = _session, None
    return ended.stop()


@_contextlib.contextmanager
def trace(log_dir=None, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """A trace of what is inside a `with` block.

    Args:
      log_dir, create_perfetto_link, create_perfetto_trace, profiler_options: as `start_trace` takes them.
    Returns: a context with a `ProfileSession`.
    Raises:
      RuntimeError: a trace runs. NotImplementedError: a link is asked for.
    Differentiable: no; it takes no arrays.
    Example:
      >>> with jax.profiler.trace() as session:
      ...     with jax.profiler.TraceAnnotation("step"):
      ...         pass
      >>> "step" in [event.name for plane in session.profile_data.planes for line in plane.lines for event in line.events]
      True
    """
    session = start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield session
    finally:
        stop_trace()


def _check_link(create_perfetto_link):
    if create_perfetto_link:
        raise _user_error(
            NotImplementedError,
            "create_perfetto_link is not implemented; create_perfetto_trace=True writes a file that https://ui.perfetto.dev opens"
        )


def export_profile_data(profile_data, log_dir, create_perfetto_link=False, create_perfetto_trace=False, session_id=None):
    """Writes a trace: `plugins/profile/<session>/<host>.xplane.pb` and `.trace.json.gz`.

    Args:
      profile_data: a `ProfileData`, or a `ProfileSession` that was stopped.
      log_dir: a folder.
      create_perfetto_link: not served; False.
      create_perfetto_trace: whether `perfetto_trace.json.gz` is written too.
      session_id: the name of the folder of this trace; the time by default.
    Returns: None.
    Raises:
      TypeError: `profile_data` is something else. NotImplementedError: a link is asked for.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import tempfile
      >>> data = jax.profiler.ProfileSession().start().stop()
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     jax.profiler.export_profile_data(data, folder)
    """
    import gzip
    import json
    import time

    _check_link(create_perfetto_link)
    data = profile_data.profile_data if isinstance(profile_data, ProfileSession) else profile_data
    if not isinstance(data, ProfileData):
        raise _user_error(TypeError, f"Expected ProfileData or ProfileSession, got {type(profile_data).__name__}")
    folder = _os.path.join(_os.fspath(log_dir), "plugins", "profile", session_id or time.strftime("%Y_%m_%d_%H_%M_%S"))
    _os.makedirs(folder, exist_ok=True)
    host = _recorder.host_name()
    with open(_os.path.join(folder, f"{host}.xplane.pb"), "wb") as file:
        file.write(data.serialized())
    for name in [f"{host}.trace.json.gz"] + ["perfetto_trace.json.gz"] * bool(create_perfetto_trace):
        with gzip.open(_os.path.join(folder, name), "wt") as file:
            json.dump(data.chrome_trace(), file)


def start_server(port, requires_backend=True):
    """Begins to serve traces of this process on this machine, by HTTP: `GET /profile?seconds=3` gives an XSpace.

    Args:
      port: the number of the port; 0 for any that is free.
      requires_backend: taken for compatibility and ignored.
    Returns: the server.
    Raises:
      ValueError: one runs. OSError: the port is taken.
    Differentiable: no; it takes no arrays.
    Example:
      >>> server = jax.profiler.start_server(0)
      >>> jax.profiler.stop_server()
    """
    from pullback._profiles import server

    return server.start(port)


def stop_server():
    """Ends the server of traces.

    Returns: None.
    Raises:
      ValueError: none runs.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.stop_server()
      ... except ValueError as error:
      ...     print(error)
      No active profiler server...
    """
    from pullback._profiles import server

    server.stop()


def register_subprocess(pid, port) -> _typing.Callable[[], None]:
    """Would add the traces of a subprocess to those of this one.

    Args:
      pid, port: not looked at.
    Returns: nothing; it raises.
    Raises:
      NotImplementedError: always; fetch the trace of each process from its server.
    Differentiable: no; it takes no arrays.
    Example:
      >>> try:
      ...     jax.profiler.register_subprocess(1, 2)
      ... except NotImplementedError:
      ...     print("each process has its own trace")
      each process has its own trace
    """
    raise _user_error(
        NotImplementedError, "jax.profiler.register_subprocess is not implemented; fetch the trace of each process from its own server"
    )


def device_memory_profile(backend=None):
    """The memory of the arrays that live, by type and device: a profile for pprof, compressed by gzip.

    Args:
      backend: the platform whose arrays count; all by default.
    Returns: bytes.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import gzip
      >>> kept = jnp.arange(7, dtype=jnp.uint16)
      >>> b"uint16[7]" in gzip.decompress(jax.profiler.device_memory_profile())
      True
    """
    import gzip

    import pullback
    from pullback._profiles import memory

    return gzip.compress(memory.profile(pullback.live_arrays(backend)))


def save_device_memory_profile(filename, backend=None):
    """Writes what `device_memory_profile` gives.

    Args:
      filename: the path of a file.
      backend: the platform whose arrays count; all by default.
    Returns: None.
    Raises:
      OSError: the file cannot be written.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import os, tempfile
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     jax.profiler.save_device_memory_profile(os.path.join(folder, "memory.prof"))
    """
    with open(filename, "wb") as file:
        file.write(device_memory_profile(backend))
