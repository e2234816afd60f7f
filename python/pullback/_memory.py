"""How much memory arrays may take, and what an error of memory says of those that live."""

import contextlib as _contextlib
import operator as _operator

from pullback import _core
from pullback._core import user_error as _user_error

# Types of live arrays that an error lists.
_LISTED = 6


@_contextlib.contextmanager
def memory_limit(n_bytes):
    """A context in which the arrays and temporaries of the process may take at most `n_bytes` bytes.

    What would take more is an error like that of a machine without memory: it says how much was asked for, how much is in use, and
    which live arrays are the largest. Arrays that were made before the context count as well, memory that waits for reuse does not.
    The limit is that of the process, so other threads keep it too; inside of another such context the lower limit holds. Without
    a context the setting `pullback_memory_limit` says how much, or the environment variable `PULLBACK_MEMORY_LIMIT`; at first there
    is no limit.

    Args:
      n_bytes: a whole number of bytes, or None for no other limit than the one that holds already.
    Returns: a context manager, which gives the limit inside of it, or None.
    Raises:
      TypeError: `n_bytes` is no whole number.
      ValueError: `n_bytes` is negative.
    Differentiable: no; nothing is computed. Functions inside of it are as they are outside.
    Example:
      >>> with jax.memory_limit(2**20):
      ...     try:
      ...         jnp.ones((1024, 1024))
      ...     except jax.errors.JaxRuntimeError as error:
      ...         print(str(error).split(" (")[0])
      RESOURCE_EXHAUSTED: Out of memory allocating 4194304 bytes
    """
    wanted = checked_limit("memory_limit", n_bytes)
    before = _core.memory_limit()
    limits = [limit for limit in (wanted, before) if limit is not None]
    _core.set_memory_limit(min(limits, default=None))
    try:
        yield _core.memory_limit()
    finally:
        _core.set_memory_limit(before)


def checked_limit(name, n_bytes):
    """A number of bytes, or None."""
    if n_bytes is None:
        return None
    try:
        whole = None if isinstance(n_bytes, bool) else _operator.index(n_bytes)
    except TypeError:
        whole = None
    if whole is None:
        raise _user_error(TypeError, f"{name} needs a whole number of bytes, or None, not {n_bytes!r} of type {type(n_bytes).__name__}")
    if whole < 0:
        raise _user_error(ValueError, f"{name} needs a number of bytes that is not negative, not {whole}")
    # More than an address space holds is no limit.
    return min(whole, 2**62)


def _size(n_bytes):
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if n_bytes < 1024 or unit == "TiB":
            return f"{n_bytes} bytes" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024


def _largest_live():
    """The lines of an error of memory about live arrays: types with their numbers and bytes, the largest first."""
    import collections

    from pullback._device import live_arrays

    bytes_of, number = collections.Counter(), collections.Counter()
    for array in live_arrays():
        kind = _core.typeof(array).str_short()
        bytes_of[kind] += array.nbytes
        number[kind] += 1
    if not bytes_of:
        return ""
    lines = [f"\nLive arrays: {number.total()} of {_size(bytes_of.total())} in all; the largest:"]
    lines += [f"  {number[kind]} x {kind}: {_size(size)}" for kind, size in bytes_of.most_common(_LISTED)]
    return "\n".join(lines)
