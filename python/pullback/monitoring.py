"""Events that libraries report, programs that are traced and compiled among them, and listeners that hear them."""

from pullback import _core

_listeners = {"event": [], "duration": [], "scalar": [], "time_span": []}


def _changed():
    # The core measures only where somebody listens.
    _core.set_monitored(any(_listeners.values()))


def _made_program(name, tracing, compiling):
    """Reports a program that was traced, and compiled if it was."""
    record_event_duration_secs("/jax/core/compile/jaxpr_trace_duration", tracing, fun_name=name)
    if compiling is None:
        return
    # There is no step between: jaxprs are compiled as they are.
    record_event_duration_secs("/jax/core/compile/jaxpr_to_mlir_module_duration", 0.0, fun_name=f"jit({name})")
    record_event("/jax/compilation_cache/compile_requests_use_cache")
    record_event_duration_secs("/jax/core/compile/backend_compile_duration", compiling, fun_name=f"jit({name})")


def _tell(kind, *args, **kwargs):
    for listener in list(_listeners[kind]):
        listener(*args, **kwargs)


def record_event(event, **kwargs):
    """Reports that something happened to the listeners of events.

    Args:
      event: the event's name, a string.
      kwargs: what else listeners are told.
    Returns: None.
    Raises: what a listener raises.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.record_event("/example/started")
    """
    _tell("event", event, **kwargs)


def record_event_duration_secs(event, duration, **kwargs):
    """Reports how long something took to the listeners of durations.

    Args:
      event: the event's name, a string.
      duration: a number of seconds.
      kwargs: what else listeners are told.
    Returns: None.
    Raises: what a listener raises.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.record_event_duration_secs("/example/run", 0.5)
    """
    _tell("duration", event, duration, **kwargs)


def record_event_time_span(event, start_time, end_time, **kwargs):
    """Reports when something began and ended to the listeners of time spans.

    Args:
      event: the event's name, a string.
      start_time, end_time: numbers of seconds.
      kwargs: what else listeners are told.
    Returns: None.
    Raises: what a listener raises.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.record_event_time_span("/example/run", 0.0, 0.5)
    """
    _tell("time_span", event, start_time, end_time, **kwargs)


def record_scalar(event, value, **kwargs):
    """Reports a number to the listeners of numbers.

    Args:
      event: the event's name, a string.
      value: the number.
      kwargs: what else listeners are told.
    Returns: None.
    Raises: what a listener raises.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.record_scalar("/example/loss", 0.5)
    """
    _tell("scalar", event, value, **kwargs)


def register_event_listener(callback):
    """Calls a function at each event, until it is unregistered.

    Args:
      callback: `callback(event, **kwargs)`.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> def listener(event, **kwargs):
      ...     print(event, kwargs)
      >>> jax.monitoring.register_event_listener(listener)
      >>> jax.monitoring.record_event("/example/started", step=1)
      /example/started {'step': 1}
      >>> jax.monitoring.unregister_event_listener(listener)
    """
    _listeners["event"].append(callback)
    _changed()


def register_event_duration_secs_listener(callback):
    """Calls a function at each duration, until it is unregistered.

    Args:
      callback: `callback(event, duration, **kwargs)`.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> def listener(event, duration, **kwargs):
      ...     print(event, duration)
      >>> jax.monitoring.register_event_duration_secs_listener(listener)
      >>> jax.monitoring.record_event_duration_secs("/example/run", 0.5)
      /example/run 0.5
      >>> jax.monitoring.unregister_event_duration_listener(listener)
    """
    _listeners["duration"].append(callback)
    _changed()


def register_event_time_span_listener(callback):
    """Calls a function at each time span, until it is unregistered.

    Args:
      callback: `callback(event, start_time, end_time, **kwargs)`.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> def listener(event, start_time, end_time, **kwargs):
      ...     print(event, end_time - start_time)
      >>> jax.monitoring.register_event_time_span_listener(listener)
      >>> jax.monitoring.record_event_time_span("/example/run", 1.0, 1.5)
      /example/run 0.5
      >>> jax.monitoring.unregister_event_time_span_listener(listener)
    """
    _listeners["time_span"].append(callback)
    _changed()


def register_scalar_listener(callback):
    """Calls a function at each number, until it is unregistered.

    Args:
      callback: `callback(event, value, **kwargs)`.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> def listener(event, value, **kwargs):
      ...     print(event, value)
      >>> jax.monitoring.register_scalar_listener(listener)
      >>> jax.monitoring.record_scalar("/example/loss", 0.5)
      /example/loss 0.5
      >>> jax.monitoring.unregister_scalar_listener(listener)
    """
    _listeners["scalar"].append(callback)
    _changed()


def unregister_event_listener(callback):
    """Stops calling a listener of events.

    Args:
      callback: the function that was registered.
    Returns: None.
    Raises:
      ValueError: it is not registered.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.register_event_listener(print)
      >>> jax.monitoring.unregister_event_listener(print)
    """
    _listeners["event"].remove(callback)
    _changed()


def unregister_event_duration_listener(callback):
    """Stops calling a listener of durations.

    Args:
      callback: the function that was registered.
    Returns: None.
    Raises:
      ValueError: it is not registered.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.register_event_duration_secs_listener(print)
      >>> jax.monitoring.unregister_event_duration_listener(print)
    """
    _listeners["duration"].remove(callback)
    _changed()


def unregister_event_time_span_listener(callback):
    """Stops calling a listener of time spans.

    Args:
      callback: the function that was registered.
    Returns: None.
    Raises:
      ValueError: it is not registered.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.register_event_time_span_listener(print)
      >>> jax.monitoring.unregister_event_time_span_listener(print)
    """
    _listeners["time_span"].remove(callback)
    _changed()


def unregister_scalar_listener(callback):
    """Stops calling a listener of numbers.

    Args:
      callback: the function that was registered.
    Returns: None.
    Raises:
      ValueError: it is not registered.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.register_scalar_listener(print)
      >>> jax.monitoring.unregister_scalar_listener(print)
    """
    _listeners["scalar"].remove(callback)
    _changed()


def clear_event_listeners():
    """Forgets all listeners, of whatever kind.

    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.monitoring.register_event_listener(print)
      >>> jax.monitoring.clear_event_listeners()
      >>> jax.monitoring.record_event("/example/unheard")
    """
    for listeners in _listeners.values():
        listeners.clear()
    _changed()
