"""What is recorded between the start and the end of a trace: named stretches, calls of compiled functions, calls of Python."""

import os as _os
import sys as _sys
import threading as _threading
import time as _time

from pullback import _core
from pullback._core import user_error as _user_error
from pullback._profiles import wire as _wire

# So many events of Python's functions are kept: a trace that runs on must not fill the memory.
_MOST_PYTHON_EVENTS = 1_000_000
_lock = _threading.Lock()
_now = None


def current():
    """The recorder that runs, or None."""
    return _now


class Recorder:
    """Events of each thread: `(name, start, duration, stats)` in nanoseconds from the start of the recording."""

    def __init__(self, options):
        self._options = options
        self.lines, self._depth, self._python_events = {}, {}, 0
        self.began = self.ended = 0
        self._call = None

    def start(self):
        """Begins; RuntimeError where another one runs."""
        global _now
        with _lock:
            if _now is not None:
                raise _user_error(RuntimeError, "Profile has already been started. Only one profile may be run at a time.")
            _now = self
        self.began, self._zero = _time.time_ns(), _time.perf_counter_ns()
        if self._options.host_tracer_level > 0:
            self._watch_calls()
        if self._options.python_tracer_level > 0:
            _threading.setprofile(self._python_event)
            _sys.setprofile(self._python_event)

    def stop(self):
        """Ends."""
        global _now
        if self._options.python_tracer_level > 0:
            _sys.setprofile(None)
            _threading.setprofile(None)
        if self._call is not None:
            _core.PjitFunction.__call__ = self._call
        self.ended = _time.time_ns()
        with _lock:
            _now = None

    def now(self):
        """Nanoseconds since the start."""
        return _time.perf_counter_ns() - self._zero

    def add(self, name, start, stats=()):
        """A stretch from `start` until now."""
        if self._options.host_tracer_level > 0:
            self._keep(name, start, stats)

    def _keep(self, name, start, stats=()):
        thread = _threading.current_thread().name
        self.lines.setdefault((_threading.get_ident(), thread), []).append((name, start, self.now() - start, tuple(stats)))

    def _watch_calls(self):
        original = self._call = _core.PjitFunction.__call__

        def __call__(function, *args, **kwargs):
            start = self.now()
            try:
                return original(function, *args, **kwargs)
            finally:
                self._keep(f"PjitFunction({getattr(function, '__name__', 'function')})", start)

        _core.PjitFunction.__call__ = __call__

    def _python_event(self, frame, event, arg):
        open_calls = self._depth.setdefault(_threading.get_ident(), [])
        if event in ("call", "c_call"):
            open_calls.append(self.now())
        elif open_calls:
            start = open_calls.pop()
            if self._python_events < _MOST_PYTHON_EVENTS:
                self._python_events += 1
                self._keep(_name_of(frame, event, arg), start)

    def serialized(self):
        """What was recorded, as the bytes of an XSpace."""
        import pullback

        host = _plane(1, "/host:CPU", [("process_id", _os.getpid())], self.lines)
        about = _plane(2, "/host:metadata", [("jax_version", pullback.__version__)], {})
        task = _plane(3, "Task Environment", [("profile_start_time", self.began), ("profile_stop_time", self.ended)], {})
        return _wire.encode("XSpace", {"planes": [about, host, task], "hostnames": [host_name()]})


def host_name():
    """The name of this machine, as files of traces bear it."""
    import socket

    return socket.gethostname() or "localhost"


def _name_of(frame, event, arg):
    if event.startswith("c_"):
        return f"${getattr(arg, '__module__', None) or 'builtins'} {getattr(arg, '__name__', arg)}"
    code = frame.f_code
    return f"${_os.path.basename(code.co_filename)}:{code.co_firstlineno} {code.co_name}"


class _Numbers:
    """Numbers for names, from 1 on."""

    def __init__(self):
        self.of = {}

    def __call__(self, name):
        return self.of.setdefault(name, len(self.of) + 1)

    def entries(self):
        return [{"key": number, "value": {"id": number, "name": name}} for name, number in self.of.items()]


def _stat(number, value):
    if isinstance(value, (bool, int)):
        return {"metadata_id": number, "int64_value": int(value)}
    if isinstance(value, float):
        return {"metadata_id": number, "double_value": value}
    return {"metadata_id": number, "str_value": str(value)}


def _plane(number, name, stats, lines):
    events, keys = _Numbers(), _Numbers()
    made = [_line(at, thread, found, events, keys) for at, (thread, found) in enumerate(lines.items(), 1)]
    plane_stats = [_stat(keys(key), value) for key, value in stats]
    return {
        "id": number, "name": name, "lines": made, "event_metadata": events.entries(), "stat_metadata": keys.entries(),
        "stats": plane_stats,
    }


def _line(number, thread, found, events, keys):
    ordered = sorted(found, key=lambda event: (event[1], -event[2]))
    return {
        "id": number, "name": "python" if thread[1] == "MainThread" else thread[1],
        "events": [
            {
                "metadata_id": events(name), "offset_ps": start * 1000, "duration_ps": duration * 1000,
                "stats": [_stat(keys(key), value) for key, value in stats],
            }
            for name, start, duration, stats in ordered
        ],
    }
