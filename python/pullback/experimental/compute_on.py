"""Where parts of a program are computed: all on the one CPU, so that the wish is checked and met."""

import functools as _functools

from pullback._core import user_error as _user_error

_KINDS = ("device_host", "device", "tpu_sparsecore")


def compute_on(f=None, *, compute_type, out_memory_spaces, compiler_options=None):
    """A function that is computed where `compute_type` says.

    Args:
      f: a function of trees of arrays; a decorator is returned without it.
      compute_type: `"device_host"` or `"device"`, which are one place here; `"tpu_sparsecore"`, or `"gpu_stream:"` and a number,
        are refused.
      out_memory_spaces: a tree of `jax.memory.Space`; they are one memory here.
      compiler_options: accepted for compatibility; without effect.
    Returns: the function, compiled by itself.
    Raises:
      ValueError: there is no such place.
      NotImplementedError: the place is none of the CPU.
    Differentiable: as `f` is.
    Example:
      >>> from pullback.experimental.compute_on import compute_on
      >>> doubled = compute_on(lambda x: 2 * x, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device)
      >>> float(doubled(3.0))
      6.0
    """
    from pullback import jit

    if f is None:
        return _functools.partial(
            compute_on, compute_type=compute_type, out_memory_spaces=out_memory_spaces, compiler_options=compiler_options
        )
    if not isinstance(compute_type, str):
        raise _user_error(TypeError, f"`compute_on`'s compute_type argument must be a string. Got {compute_type}")
    if compute_type not in _KINDS and not compute_type.startswith("gpu_stream:"):
        raise _user_error(ValueError, f"Invalid compute type {compute_type}. Current supported values are `device_host`, `device` and `tpu_sparsecore`")
    if compute_type not in ("device_host", "device"):
        raise _user_error(NotImplementedError, f"compute_on {compute_type!r} needs another device than the CPU")
    return jit(f)
