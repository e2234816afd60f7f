"""Events that libraries report and listeners that hear them."""

_listeners = {"event": [], "duration": [], "scalar": [], "time_span": []}


def _tell(kind, *args, **kwargs):
    for listener in list(_listeners[kind]):
        listener(*args, **kwargs)


def record_event(event, **kwargs):
    """Reports that something happened."""
    _tell("event", event, **kwargs)


def record_event_duration_secs(event, duration, **kwargs):
    """Reports how long something took, in seconds."""
    _tell("duration", event, duration, **kwargs)


def record_event_time_span(event, start_time, end_time, **kwargs):
    """Reports when something began and ended, in seconds."""
    _tell("time_span", event, start_time, end_time, **kwargs)


def record_scalar(event, value, **kwargs):
    """Reports a number."""
    _tell("scalar", event, value, **kwargs)


def register_event_listener(callback):
    """Calls `callback(event, **kwargs)` at each event."""
    _listeners["event"].append(callback)


def register_event_duration_secs_listener(callback):
    """Calls `callback(event, duration, **kwargs)` at each duration."""
    _listeners["duration"].append(callback)


def register_event_time_span_listener(callback):
    """Calls `callback(event, start_time, end_time, **kwargs)` at each time span."""
    _listeners["time_span"].append(callback)


def register_scalar_listener(callback):
    """Calls `callback(event, value, **kwargs)` at each number."""
    _listeners["scalar"].append(callback)


def unregister_event_listener(callback):
    """Stops calling a listener of events."""
    _listeners["event"].remove(callback)


def unregister_event_duration_listener(callback):
    """Stops calling a listener of durations."""
    _listeners["duration"].remove(callback)


def unregister_event_time_span_listener(callback):
    """Stops calling a listener of time spans."""
    _listeners["time_span"].remove(callback)


def unregister_scalar_listener(callback):
    """Stops calling a listener of numbers."""
    _listeners["scalar"].remove(callback)


def clear_event_listeners():
    """Forgets all listeners."""
    for listeners in _listeners.values():
        listeners.clear()
