"""How many threads a call may use."""

import contextlib as _contextlib
import operator as _operator

from pullback import _core
from pullback._core import user_error as _user_error


@_contextlib.contextmanager
def max_threads(n):
    """A context in which calls of this thread use at most `n` threads, the calling one among them.

    Without it a call uses as many as the process has cores, or as the environment variable `PULLBACK_NUM_THREADS` says. Inside of
    another such context the lower number holds. Other threads are free, and results have the same bits for any number. It may
    stand before a function as well, as a decorator.

    Args:
      n: a whole number, at least 1; 1 keeps all work on the calling thread.
    Returns: a context manager, which gives how many threads calls inside of it may use.
    Raises:
      TypeError: `n` is no whole number.
      ValueError: `n` is below 1.
    Differentiable: no; nothing is computed. Functions inside of it are as they are outside.
    Example:
      >>> with jax.max_threads(1) as n:
      ...     print(n, jax.jit(jnp.sum)(jnp.arange(4.0)))
      1 6.0
    """
    before = _core.lower_thread_cap(_whole(n))
    try:
        yield _core.thread_count()
    finally:
        _core.restore_thread_cap(before)


def _whole(n):
    try:
        whole = None if isinstance(n, bool) else _operator.index(n)
    except TypeError:
        whole = None
    if whole is None:
        raise _user_error(TypeError, f"max_threads needs a whole number of threads, not {n!r} of type {type(n).__name__}")
    if whole < 1:
        raise _user_error(ValueError, f"max_threads needs at least 1 thread, not {whole}; 1 keeps all work on the calling thread")
    return whole
