"""What exceptions say of the frames that their tracebacks lack: those of the library, most of which is compiled."""

from pullback._config import config

_NOTE = (
    "--------------------\nFor simplicity, JAX has removed its internal frames from the traceback of the following exception. "
    "They are compiled code, so no setting brings them back; JAX_TRACEBACK_FILTERING=off leaves out this note."
)


class UnfilteredStackTrace(Exception):
    """The cause of an exception whose traceback was filtered, with the traceback as it was."""


def tell(exception):
    """Puts on an exception what `jax_traceback_filtering` asks for: a note, the unfiltered traceback as its cause, or nothing."""
    mode = config.jax_traceback_filtering
    if not isinstance(exception, Exception) or mode in ("off", "tracebackhide"):
        return
    if mode == "remove_frames":
        _give_cause(exception)
    elif _NOTE not in getattr(exception, "__notes__", ()):
        exception.add_note(_NOTE)


def _give_cause(exception):
    if isinstance(exception.__cause__, UnfilteredStackTrace):
        return
    unfiltered = UnfilteredStackTrace("The stack trace below excludes JAX-internal frames.")
    unfiltered.__cause__, unfiltered.__context__ = exception.__cause__, exception.__context__
    exception.__cause__ = unfiltered.with_traceback(exception.__traceback__)
