"""A server from which traces of this process are fetched by HTTP, on this machine alone: `GET /profile?seconds=3`."""

import http.server as _http
import threading as _threading
import urllib.parse as _parse

from pullback._core import user_error as _user_error

_running = None
_LONGEST = 600.0


class _Handler(_http.BaseHTTPRequestHandler):
    def do_GET(self):
        import time

        from pullback import profiler

        asked = _parse.urlsplit(self.path)
        if asked.path != "/profile":
            return self.send_error(404)
        try:
            seconds = float(_parse.parse_qs(asked.query).get("seconds", ["1"])[0])
            session = profiler.ProfileSession(profiler_options=_host_only(profiler)).start()
        except (RuntimeError, ValueError) as error:
            return self.send_error(409, str(error))
        time.sleep(min(max(seconds, 0.0), _LONGEST))
        self._send(session.stop().serialized())

    def _send(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):  # noqa: A002
        """Nothing is printed."""


def _host_only(profiler):
    options = profiler.ProfileOptions()
    # What follows Python's calls is set for each thread, and this one only waits.
    options.python_tracer_level = 0
    return options


class ProfilerServer:
    """A server that runs until `stop_server`."""

    def __init__(self, port):
        self._server = _http.ThreadingHTTPServer(("127.0.0.1", port), _Handler)
        self._server.daemon_threads = True
        _threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()


def start(port):
    """Begins one; ValueError where one runs."""
    global _running
    if _running is not None:
        raise _user_error(ValueError, "Only one profiler server can be active at a time.")
    _running = ProfilerServer(port)
    return _running


def stop():
    """Ends it; ValueError where none runs."""
    global _running
    if _running is None:
        raise _user_error(ValueError, "No active profiler server.")
    _running.close()
    _running = None
